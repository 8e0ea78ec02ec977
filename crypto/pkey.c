/* crypto/pkey.c: asymmetric keys as EVP_PKEY: import, export, generation. Signatures: pkey_sign.c; PEM: pkey_pem.c. */
#include "crypto/pkey.h"

#include <string.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include "base/mem.h"
#include "crypto/crypto.h"
#include "crypto/libcrypto.h"
#include "crypto/pkey_evp.h"

enum { RSA_BITS_MIN = 1024, RSA_BITS_MAX = 16384, ED25519_SIZE = 32 };

/* The order is that of enum pkey_kind. */
static const struct pkey_curve curves[] = {
	[PKEY_ECDSA_P256] = { "P-256", "prime256v1", 32, 256 },
	[PKEY_ECDSA_P384] = { "P-384", "secp384r1", 48, 384 },
	[PKEY_ECDSA_P521] = { "P-521", "secp521r1", 66, 521 },
};

const struct pkey_curve *pkey_curve(enum pkey_kind kind)
{
	return kind == PKEY_RSA || kind == PKEY_ED25519 ? NULL : &curves[kind];
}

struct pkey *pkey_wrap(enum pkey_kind kind, EVP_PKEY *evp, bool is_private)
{
	struct pkey *k = mem_zalloc(sizeof(*k));

	k->kind = kind;
	k->evp = evp;
	k->is_private = is_private;
	k->size = (size_t)EVP_PKEY_get_size(evp);
	k->bits = kind == PKEY_RSA ? (unsigned)EVP_PKEY_get_bits(evp) :
		kind == PKEY_ED25519 ? 256 : curves[kind].bits;
	return k;
}

void pkey_free(struct pkey *k)
{
	if (k == NULL)
		return;
	EVP_PKEY_free(k->evp);           /* wipes when the last reference goes */
	mem_free_secret(k, sizeof(*k));
}

struct pkey *pkey_dup(const struct pkey *k)
{
	if (EVP_PKEY_up_ref(k->evp) != 1)
		return NULL;
	return pkey_wrap(k->kind, k->evp, k->is_private);
}

enum pkey_kind pkey_kind(const struct pkey *k)
{
	return k->kind;
}

unsigned pkey_bits(const struct pkey *k)
{
	return k->bits;
}

bool pkey_is_private(const struct pkey *k)
{
	return k->is_private;
}

struct pkey *pkey_generate(enum pkey_kind kind, unsigned rsa_bits, struct err *e)
{
	EVP_PKEY *evp;

	crypto_init();
	if (kind == PKEY_RSA) {
		if (rsa_bits < RSA_BITS_MIN || rsa_bits > RSA_BITS_MAX) {
			err_set(e, ERR_USAGE, "an rsa key must have %d to %d bits", RSA_BITS_MIN, RSA_BITS_MAX);
			return NULL;
		}
		evp = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)rsa_bits);
	} else if (kind == PKEY_ED25519) {
		evp = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	} else {
		evp = EVP_PKEY_Q_keygen(NULL, NULL, "EC", curves[kind].name);
	}
	if (evp == NULL) {
		libcrypto_error(e, "making a key");
		return NULL;
	}
	return pkey_wrap(kind, evp, true);
}

/* ---- import ---- */

static EVP_PKEY *from_params(const char *type, int selection, OSSL_PARAM_BLD *bld)
{
	OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(bld);
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
	EVP_PKEY *evp = NULL;

	if (params == NULL || ctx == NULL || EVP_PKEY_fromdata_init(ctx) != 1 ||
	    EVP_PKEY_fromdata(ctx, &evp, selection, params) != 1)
		evp = NULL;
	OSSL_PARAM_free(params);         /* wipes the numbers that are BN_secure_new's */
	EVP_PKEY_CTX_free(ctx);
	return evp;
}

/* The numbers of an RSA key; from d on they are secret. */
struct rsa_numbers {
	BIGNUM *n, *e;
	BIGNUM *d, *p, *q, *iqmp, *dmp1, *dmq1;
};

static void rsa_numbers_clear(struct rsa_numbers *x)
{
	BN_free(x->n);
	BN_free(x->e);
	BN_clear_free(x->d);
	BN_clear_free(x->p);
	BN_clear_free(x->q);
	BN_clear_free(x->iqmp);
	BN_clear_free(x->dmp1);
	BN_clear_free(x->dmq1);
}

static BIGNUM *bn_of(struct view v)
{
	return v.n > RSA_BITS_MAX / 8 + 1 ? NULL : BN_bin2bn(v.p, (int)v.n, NULL);
}

/* Computed with in constant time, and wiped wherever libcrypto copies it. */
static BIGNUM *bn_secret_new(void)
{
	BIGNUM *b = BN_secure_new();

	if (b != NULL)
		BN_set_flags(b, BN_FLG_CONSTTIME);
	return b;
}

static BIGNUM *bn_secret_of(struct view v)
{
	BIGNUM *b = v.n > RSA_BITS_MAX / 8 + 1 ? NULL : bn_secret_new();

	if (b != NULL && BN_bin2bn(v.p, (int)v.n, b) == NULL) {
		BN_clear_free(b);
		return NULL;
	}
	return b;
}

static bool rsa_public_is_sane(const struct rsa_numbers *x)
{
	int bits = BN_num_bits(x->n);

	return bits >= RSA_BITS_MIN && bits <= RSA_BITS_MAX && BN_is_odd(x->n) && BN_is_odd(x->e) &&
		!BN_is_one(x->e) && BN_cmp(x->e, x->n) < 0;
}

/* e * d == 1 modulo prime - 1; also leaves d mod (prime - 1) in *reduced. */
static bool rsa_exponents_fit(const struct rsa_numbers *x, const BIGNUM *prime, BIGNUM **reduced, BN_CTX *bn)
{
	BIGNUM *less = bn_secret_new(), *t = bn_secret_new();
	bool ok;

	*reduced = bn_secret_new();
	ok = less != NULL && t != NULL && *reduced != NULL && BN_copy(less, prime) != NULL && BN_sub_word(less, 1) == 1 &&
		BN_mod(*reduced, x->d, less, bn) == 1 && BN_mod_mul(t, *reduced, x->e, less, bn) == 1 && BN_is_one(t);
	BN_clear_free(less);
	BN_clear_free(t);
	return ok;
}

/* The private part is that of this public one: n = pq, ed = 1 mod p-1 and q-1, iqmp q = 1 mod p. */
static bool rsa_private_fits(struct rsa_numbers *x, BN_CTX *bn)
{
	BIGNUM *t = bn_secret_new();
	bool ok;

	ok = t != NULL && BN_is_odd(x->p) && BN_is_odd(x->q) && !BN_is_one(x->p) && !BN_is_one(x->q) &&
		BN_mul(t, x->p, x->q, bn) == 1 && BN_cmp(t, x->n) == 0 && BN_cmp(x->iqmp, x->p) < 0 &&
		BN_mod_mul(t, x->iqmp, x->q, x->p, bn) == 1 && BN_is_one(t) && BN_cmp(x->d, x->n) < 0 &&
		rsa_exponents_fit(x, x->p, &x->dmp1, bn) && rsa_exponents_fit(x, x->q, &x->dmq1, bn);
	BN_clear_free(t);
	return ok;
}

static EVP_PKEY *rsa_build(const struct rsa_numbers *x, bool is_private)
{
	OSSL_PARAM_BLD *bld = OSSL_PARAM_BLD_new();
	EVP_PKEY *evp = NULL;
	bool ok = bld != NULL && OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_N, x->n) == 1 &&
		OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_E, x->e) == 1;

	if (ok && is_private)
		ok = OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_D, x->d) == 1 &&
			OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_FACTOR1, x->p) == 1 &&
			OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_FACTOR2, x->q) == 1 &&
			OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_EXPONENT1, x->dmp1) == 1 &&
			OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_EXPONENT2, x->dmq1) == 1 &&
			OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_COEFFICIENT1, x->iqmp) == 1;
	if (ok)
		evp = from_params("RSA", is_private ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY, bld);
	OSSL_PARAM_BLD_free(bld);
	return evp;
}

static EVP_PKEY *import_rsa(const struct pkey_parts *parts, struct err *e)
{
	struct rsa_numbers x = { .n = bn_of(parts->n), .e = bn_of(parts->e) };
	BN_CTX *bn = BN_CTX_new();
	EVP_PKEY *evp = NULL;
	bool is_private = parts->d.n != 0;

	if (bn == NULL || x.n == NULL || x.e == NULL || !rsa_public_is_sane(&x)) {
		err_set(e, ERR_PEER, "rsa key: modulus not of %d to %d bits, or bad exponent", RSA_BITS_MIN,
			RSA_BITS_MAX);
		goto out;
	}
	if (is_private) {
		x.d = bn_secret_of(parts->d);
		x.p = bn_secret_of(parts->p);
		x.q = bn_secret_of(parts->q);
		x.iqmp = bn_secret_of(parts->iqmp);
		if (x.d == NULL || x.p == NULL || x.q == NULL || x.iqmp == NULL || !rsa_private_fits(&x, bn)) {
			err_set(e, ERR_PEER, "rsa key: the private part does not fit the public one");
			goto out;
		}
	}
	evp = rsa_build(&x, is_private);
	if (evp == NULL)
		libcrypto_error(e, "rsa key");
out:
	rsa_numbers_clear(&x);
	BN_CTX_free(bn);
	return evp;
}

static bool ecdsa_checks(EVP_PKEY *evp, bool is_private)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, evp, NULL);
	bool ok = ctx != NULL && EVP_PKEY_public_check(ctx) == 1 &&
		(!is_private || (EVP_PKEY_private_check(ctx) == 1 && EVP_PKEY_pairwise_check(ctx) == 1));

	EVP_PKEY_CTX_free(ctx);
	return ok;
}

static EVP_PKEY *import_ecdsa(const struct pkey_curve *curve, const struct pkey_parts *parts, struct err *e)
{
	OSSL_PARAM_BLD *bld = OSSL_PARAM_BLD_new();
	EVP_PKEY *evp = NULL;
	BIGNUM *d = NULL;
	bool is_private = parts->d.n != 0, ok;

	/* RFC 5656 §3.1: uncompressed points only. */
	ok = bld != NULL && parts->q.n == 2 * curve->size + 1 && parts->q.p[0] == 4 && parts->d.n <= curve->size + 1 &&
		OSSL_PARAM_BLD_push_utf8_string(bld, OSSL_PKEY_PARAM_GROUP_NAME, curve->name, 0) == 1 &&
		OSSL_PARAM_BLD_push_octet_string(bld, OSSL_PKEY_PARAM_PUB_KEY, parts->q.p, parts->q.n) == 1;
	if (ok && is_private) {
		d = bn_secret_of(parts->d);
		ok = d != NULL && OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_PRIV_KEY, d) == 1;
	}
	if (ok)
		evp = from_params("EC", is_private ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY, bld);
	if (evp == NULL || !ecdsa_checks(evp, is_private)) {
		libcrypto_error(NULL, "");
		err_set(e, ERR_PEER, "ecdsa key: not a point on its curve, or the private part does not fit it");
		EVP_PKEY_free(evp);
		evp = NULL;
	}
	BN_clear_free(d);
	OSSL_PARAM_BLD_free(bld);
	return evp;
}

static EVP_PKEY *import_ed25519(const struct pkey_parts *parts, struct err *e)
{
	EVP_PKEY *evp;
	uint8_t derived[ED25519_SIZE];
	size_t n = sizeof(derived);

	if (parts->d.n == 0) {
		evp = parts->q.n != ED25519_SIZE ? NULL :
			EVP_PKEY_new_raw_public_key_ex(NULL, "ED25519", NULL, parts->q.p, parts->q.n);
		if (evp == NULL) {
			libcrypto_error(NULL, "");
			err_set(e, ERR_PEER, "ed25519 key: a public key has 32 bytes");
		}
		return evp;
	}
	evp = parts->d.n != ED25519_SIZE || parts->q.n != ED25519_SIZE ? NULL :
		EVP_PKEY_new_raw_private_key_ex(NULL, "ED25519", NULL, parts->d.p, parts->d.n);
	if (evp == NULL || EVP_PKEY_get_raw_public_key(evp, derived, &n) != 1 || n != sizeof(derived) ||
	    !mem_equal_ct(derived, parts->q.p, sizeof(derived))) {
		libcrypto_error(NULL, "");
		err_set(e, ERR_PEER, "ed25519 key: the private part does not fit the public one");
		EVP_PKEY_free(evp);
		return NULL;
	}
	return evp;
}

struct pkey *pkey_import(enum pkey_kind kind, const struct pkey_parts *parts, struct err *e)
{
	EVP_PKEY *evp;

	crypto_init();
	if (kind == PKEY_RSA)
		evp = import_rsa(parts, e);
	else if (kind == PKEY_ED25519)
		evp = import_ed25519(parts, e);
	else
		evp = import_ecdsa(&curves[kind], parts, e);
	return evp == NULL ? NULL : pkey_wrap(kind, evp, parts->d.n != 0);
}

/* ---- export ---- */

/* Where the parts will lie in the store: its memory may move while it grows, so views are made at the end. */
struct part_place { size_t at, n; };

/* Appends the number called `name`; left-padded with zeros to `size` bytes if that is not 0. */
static int put_number(EVP_PKEY *evp, const char *name, size_t size, struct buf *store, struct part_place *place)
{
	BIGNUM *b = NULL;
	int r = ERR_CRYPTO;

	if (EVP_PKEY_get_bn_param(evp, name, &b) == 1) {
		size_t n = size != 0 ? size : (size_t)BN_num_bytes(b);
		uint8_t *to;

		place->at = store->size;
		place->n = n;
		to = buf_reserve(store, n);
		if (to != NULL && BN_bn2binpad(b, to, (int)n) == (int)n)
			r = 0;
	}
	BN_clear_free(b);
	return r;
}

static struct view place_view(const struct buf *store, struct part_place place)
{
	return (struct view){ place.n != 0 ? store->data + place.at : NULL, place.n };
}

static int export_rsa(const struct pkey *k, bool with_private, struct pkey_export *out)
{
	static const char *const names[] = {
		OSSL_PKEY_PARAM_RSA_N, OSSL_PKEY_PARAM_RSA_E, OSSL_PKEY_PARAM_RSA_D, OSSL_PKEY_PARAM_RSA_FACTOR1,
		OSSL_PKEY_PARAM_RSA_FACTOR2, OSSL_PKEY_PARAM_RSA_COEFFICIENT1
	};
	struct view *views[] = {
		&out->parts.n, &out->parts.e, &out->parts.d, &out->parts.p, &out->parts.q, &out->parts.iqmp
	};
	struct part_place places[MEM_COUNT(names)] = { { 0, 0 } };
	size_t count = with_private ? MEM_COUNT(names) : 2;

	for (size_t i = 0; i < count; i++)
		if (put_number(k->evp, names[i], 0, &out->store, &places[i]) < 0)
			return ERR_CRYPTO;
	for (size_t i = 0; i < count; i++)
		*views[i] = place_view(&out->store, places[i]);
	return 0;
}

static int export_ecdsa(const struct pkey *k, bool with_private, struct pkey_export *out)
{
	size_t size = curves[k->kind].size;
	struct part_place x, y, d = { 0, 0 };

	/* By coordinates, not as libcrypto would encode the point: a key from a file may prefer compressed points. */
	buf_put_u8(&out->store, 4);
	if (put_number(k->evp, OSSL_PKEY_PARAM_EC_PUB_X, size, &out->store, &x) < 0 ||
	    put_number(k->evp, OSSL_PKEY_PARAM_EC_PUB_Y, size, &out->store, &y) < 0 ||
	    (with_private && put_number(k->evp, OSSL_PKEY_PARAM_PRIV_KEY, size, &out->store, &d) < 0))
		return ERR_CRYPTO;
	out->parts.q = (struct view){ out->store.data, 1 + 2 * size };
	out->parts.d = place_view(&out->store, d);
	return 0;
}

static int export_ed25519(const struct pkey *k, bool with_private, struct pkey_export *out)
{
	size_t n = ED25519_SIZE;
	uint8_t *at = buf_reserve(&out->store, (size_t)ED25519_SIZE * 2);

	if (at == NULL || EVP_PKEY_get_raw_public_key(k->evp, at, &n) != 1 || n != ED25519_SIZE)
		return ERR_CRYPTO;
	out->parts.q = (struct view){ at, ED25519_SIZE };
	memset(at + ED25519_SIZE, 0, ED25519_SIZE);
	if (!with_private)
		return 0;
	if (EVP_PKEY_get_raw_private_key(k->evp, at + ED25519_SIZE, &n) != 1 || n != ED25519_SIZE)
		return ERR_CRYPTO;
	out->parts.d = (struct view){ at + ED25519_SIZE, ED25519_SIZE };
	return 0;
}

int pkey_export(const struct pkey *k, bool with_private, struct pkey_export *out, struct err *e)
{
	int r;

	memset(out, 0, sizeof(*out));
	if (with_private && !k->is_private)
		return err_set(e, ERR_USAGE, "the key has no private part");
	buf_init(&out->store, 16 * 1024);
	if (k->kind == PKEY_RSA)
		r = export_rsa(k, with_private, out);
	else if (k->kind == PKEY_ED25519)
		r = export_ed25519(k, with_private, out);
	else
		r = export_ecdsa(k, with_private, out);
	if (r < 0) {
		pkey_export_free(out);
		return libcrypto_error(e, "reading a key's parts");
	}
	return 0;
}

void pkey_export_free(struct pkey_export *x)
{
	buf_free(&x->store);
	memset(&x->parts, 0, sizeof(x->parts));
}
