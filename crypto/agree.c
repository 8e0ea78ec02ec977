/* crypto/agree.c: ephemeral Diffie-Hellman over libcrypto's EVP_PKEY: RFC 8731, RFC 5656 §4, RFC 4253 §8. */
#include "crypto/agree.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include "base/mem.h"
#include "crypto/crypto.h"
#include "crypto/dh_group.h"
#include "crypto/libcrypto.h"

enum { PUBLIC_MAX = 1024 };      /* 8192 bits */

struct agree_row {
	const char *type, *group;        /* libcrypto's names; DH without a name: given by numbers */
	size_t public_size;              /* X25519, ECDH: exactly; DH: at most */
	int exponent_bits;               /* DH */
};

static const struct agree_row rows[] = {
	[AGREE_X25519] = { "X25519", NULL, 32, 0 },
	[AGREE_P256] = { "EC", "P-256", 65, 0 },
	[AGREE_P384] = { "EC", "P-384", 97, 0 },
	[AGREE_P521] = { "EC", "P-521", 133, 0 },
	/* RFC 3526 §8: exponents of at least twice the strength; these are its higher estimates. */
	[AGREE_DH14] = { "DH", "modp_2048", 256, 320 },
	[AGREE_DH16] = { "DH", "modp_4096", 512, 480 },
	[AGREE_DH18] = { "DH", "modp_8192", 1024, 620 },
};

struct agree {
	const struct agree_row *row;
	struct agree_row own;            /* what row is where a group is given by numbers */
	EVP_PKEY *key;
	uint8_t public[PUBLIC_MAX];
	size_t public_size;
};

static bool is_dh(const struct agree_row *row)
{
	return row->exponent_bits != 0;
}

static bool is_raw(const struct agree_row *row)
{
	return row->group == NULL && !is_dh(row);
}

/* The group as libcrypto keeps it, without a key; or NULL. */
static EVP_PKEY *group_of(struct view p, struct view g)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "DH", NULL);
	OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
	BIGNUM *prime = BN_bin2bn(p.p, (int)p.n, NULL), *generator = BN_bin2bn(g.p, (int)g.n, NULL);
	OSSL_PARAM *params = NULL;
	EVP_PKEY *group = NULL;

	if (ctx != NULL && build != NULL && prime != NULL && generator != NULL &&
	    OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_FFC_P, prime) == 1 &&
	    OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_FFC_G, generator) == 1)
		params = OSSL_PARAM_BLD_to_param(build);
	if (params == NULL || EVP_PKEY_fromdata_init(ctx) != 1 ||
	    EVP_PKEY_fromdata(ctx, &group, EVP_PKEY_KEY_PARAMETERS, params) != 1)
		group = NULL;
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(build);
	BN_free(prime);
	BN_free(generator);
	EVP_PKEY_CTX_free(ctx);
	return group;
}

/* group: NULL, or the parameters to make a key for. */
static EVP_PKEY *generate(const struct agree_row *row, EVP_PKEY *group)
{
	EVP_PKEY_CTX *ctx = group != NULL ? EVP_PKEY_CTX_new_from_pkey(NULL, group, NULL)
		: EVP_PKEY_CTX_new_from_name(NULL, row->type, NULL);
	OSSL_PARAM params[3];
	EVP_PKEY *key = NULL;
	int bits = row->exponent_bits, n = 0;

	if (row->group != NULL)
		params[n++] = OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)row->group, 0);
	if (is_dh(row))
		params[n++] = OSSL_PARAM_construct_int(OSSL_PKEY_PARAM_DH_PRIV_LEN, &bits);
	params[n] = OSSL_PARAM_construct_end();
	if (ctx == NULL || EVP_PKEY_keygen_init(ctx) != 1 || EVP_PKEY_CTX_set_params(ctx, params) != 1 ||
	    EVP_PKEY_generate(ctx, &key) != 1)
		key = NULL;
	EVP_PKEY_CTX_free(ctx);
	return key;
}

/* Fills public and public_size from the key. */
static int take_public(struct agree *a)
{
	BIGNUM *y = NULL;
	size_t n = sizeof(a->public);
	int ok;

	if (!is_dh(a->row)) {
		ok = EVP_PKEY_get_octet_string_param(a->key, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, a->public, n, &n);
		a->public_size = n;
		return ok == 1 && n == a->row->public_size ? 0 : ERR_CRYPTO;
	}
	ok = EVP_PKEY_get_bn_param(a->key, OSSL_PKEY_PARAM_PUB_KEY, &y);
	if (ok == 1 && (size_t)BN_num_bytes(y) <= a->row->public_size)
		a->public_size = (size_t)BN_bn2bin(y, a->public);
	BN_free(y);
	return a->public_size > 0 ? 0 : ERR_CRYPTO;
}

struct agree *agree_new_group(struct view p, struct view g, struct err *e)
{
	unsigned bits = dh_group_bits(p);
	struct agree *a;
	EVP_PKEY *group;

	if (bits == 0 || bits > 8 * PUBLIC_MAX || p.n > PUBLIC_MAX + 1 || g.n > p.n) {
		err_set(e, ERR_PEER, "key agreement: a group of %u bits", bits);
		return NULL;
	}
	crypto_init();
	a = mem_zalloc(sizeof(*a));
	a->own = (struct agree_row){ "DH", NULL, (bits + 7) / 8, (int)dh_group_exponent_bits(bits) };
	a->row = &a->own;
	group = group_of(p, g);
	a->key = group != NULL ? generate(a->row, group) : NULL;
	EVP_PKEY_free(group);
	if (a->key == NULL || take_public(a) < 0) {
		libcrypto_error(e, "key agreement: making an ephemeral key");
		agree_free(a);
		return NULL;
	}
	return a;
}

/* libcrypto has no name for it. */
static struct agree *new_group1(struct err *e)
{
	struct buf p = BUF_INIT(PUBLIC_MAX), g = BUF_INIT(1);
	struct agree *a = NULL;

	if (dh_group_builtin(1024, &p, &g) < 0)
		err_set(e, ERR_CRYPTO, "key agreement: the group of 1024 bits is not there");
	else
		a = agree_new_group((struct view){ p.data, p.size }, (struct view){ g.data, g.size }, e);
	buf_free(&p);
	buf_free(&g);
	return a;
}

struct agree *agree_new(enum agree_alg alg, struct err *e)
{
	struct agree *a;

	if (alg == AGREE_DH1)
		return new_group1(e);
	a = mem_zalloc(sizeof(*a));
	crypto_init();
	a->row = &rows[alg];
	a->key = generate(a->row, NULL);
	if (a->key == NULL || take_public(a) < 0) {
		libcrypto_error(e, "key agreement: making an ephemeral key");
		agree_free(a);
		return NULL;
	}
	return a;
}

void agree_free(struct agree *a)
{
	if (a == NULL)
		return;
	EVP_PKEY_free(a->key);           /* libcrypto wipes the secret */
	mem_free_secret(a, sizeof(*a));
}

struct view agree_public(const struct agree *a)
{
	return (struct view){ a->public, a->public_size };
}

/* RFC 4253 §8: e and f lie in [1, p-1]; the ends 1 and p-1 give the secret away and are refused as well, and so are
 * values with hardly a bit set, which no honest exponent yields. */
static int check_dh_value(const struct agree *a, const BIGNUM *value, struct err *e)
{
	BIGNUM *p = NULL;
	int ones = 0, r = 0;

	if (EVP_PKEY_get_bn_param(a->key, OSSL_PKEY_PARAM_FFC_P, &p) != 1)
		return libcrypto_error(e, "key agreement");
	for (int i = 0; i < BN_num_bits(value); i++)
		ones += BN_is_bit_set(value, i);
	/* p is odd, so p-1 is p without its last bit; value <= p-2 is value+1 < p. */
	if (BN_sub_word(p, 1) != 1)
		r = libcrypto_error(e, "key agreement");
	else if (BN_is_zero(value) || BN_is_one(value) || BN_cmp(value, p) >= 0 || ones < 4)
		r = err_set(e, ERR_PEER, "key agreement: the peer's diffie-hellman value is out of range");
	BN_free(p);
	return r;
}

/* The group of our key with the peer's value in it, or NULL. */
static EVP_PKEY *with_public(const struct agree *a, const uint8_t *value, size_t n)
{
	EVP_PKEY *key;

	if (is_raw(a->row))
		return EVP_PKEY_new_raw_public_key_ex(NULL, a->row->type, NULL, value, n);
	key = EVP_PKEY_new();
	/* For curves this also checks that the point is on it. */
	if (key != NULL && EVP_PKEY_copy_parameters(key, a->key) == 1 &&
	    EVP_PKEY_set1_encoded_public_key(key, value, n) == 1)
		return key;
	EVP_PKEY_free(key);
	return NULL;
}

static int peer_key_dh(const struct agree *a, struct view peer, EVP_PKEY **out, struct err *e)
{
	BIGNUM *value;
	uint8_t padded[PUBLIC_MAX] = { 0 };
	int r, size = (int)a->row->public_size;

	if (peer.n == 0 || peer.n > a->row->public_size)
		return err_set(e, ERR_PEER, "key agreement: the peer's diffie-hellman value has a wrong size");
	value = BN_bin2bn(peer.p, (int)peer.n, NULL);
	if (value == NULL || BN_bn2binpad(value, padded, size) != size)
		r = libcrypto_error(e, "key agreement");
	else
		r = check_dh_value(a, value, e);
	BN_free(value);
	if (r < 0)
		return r;
	*out = with_public(a, padded, a->row->public_size);
	return *out != NULL ? 0 : libcrypto_error(e, "key agreement: the peer's diffie-hellman value");
}

static int peer_key_curve(const struct agree *a, struct view peer, EVP_PKEY **out, struct err *e)
{
	bool ec = a->row->group != NULL;

	/* RFC 5656 §4 with uncompressed points only; RFC 8731 §3: exactly 32 bytes. */
	if (peer.n != a->row->public_size || (ec && peer.p[0] != 4))
		return err_set(e, ERR_PEER, "key agreement: the peer's public value has a wrong size or form");
	*out = with_public(a, peer.p, peer.n);
	if (*out != NULL)
		return 0;
	libcrypto_error(NULL, "");
	return err_set(e, ERR_PEER, "key agreement: the peer's public value is not on the curve");
}

static int derive(const struct agree *a, EVP_PKEY *peer, uint8_t *secret, size_t *n)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, a->key, NULL);
	unsigned pad = 1;
	/* Padded to the size of p, so that the time does not tell leading zeros; mpint drops them later. */
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_uint(OSSL_EXCHANGE_PARAM_PAD, &pad), OSSL_PARAM_construct_end()
	};
	/* Not validated again: sizes, ranges and curve membership are checked above. For DH libcrypto would also check the
	 * order, at ten times the cost of everything else, for one bit of a secret that is used once. */
	int ok = ctx != NULL && EVP_PKEY_derive_init_ex(ctx, is_dh(a->row) ? params : NULL) == 1 &&
		EVP_PKEY_derive_set_peer_ex(ctx, peer, 0) == 1 && EVP_PKEY_derive(ctx, secret, n) == 1;

	EVP_PKEY_CTX_free(ctx);
	return ok ? 0 : ERR_CRYPTO;
}

int agree_shared(const struct agree *a, struct view peer, struct buf *out, struct err *e)
{
	EVP_PKEY *key = NULL;
	uint8_t secret[PUBLIC_MAX], any = 0;
	size_t n = sizeof(secret);
	int r = is_dh(a->row) ? peer_key_dh(a, peer, &key, e) : peer_key_curve(a, peer, &key, e);

	if (r < 0)
		return r;
	if (derive(a, key, secret, &n) < 0) {
		/* libcrypto refuses an all-zero X25519 result itself, with a reason that says little. */
		libcrypto_error(NULL, "");
		r = err_set(e, ERR_PEER, "key agreement: no secret can be made with the peer's public value");
		goto out;
	}
	for (size_t i = 0; i < n; i++)
		any |= secret[i];
	if (any == 0) {          /* RFC 8731 §3 */
		r = err_set(e, ERR_PEER, "key agreement: the peer's public value gives an all-zero secret");
		goto out;
	}
	buf_put(out, secret, n);
	if (!buf_ok(out))
		r = err_set(e, ERR_MEMORY, "key agreement: no room for the secret");
out:
	mem_wipe(secret, sizeof(secret));
	EVP_PKEY_free(key);
	return r;
}
