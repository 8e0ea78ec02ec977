/* crypto/pkey_sign.c: raw signatures: RFC 8332 (RSA), RFC 5656 §3.1.2 (ECDSA), RFC 8709 (Ed25519). */
#include "crypto/pkey.h"

#include <string.h>
#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include "base/mem.h"
#include "crypto/libcrypto.h"
#include "crypto/pkey_evp.h"

enum { SIGNATURE_MAX = 16384 / 8 + 16 };         /* RSA; DER of ECDSA is far smaller */

/* The hash's name for libcrypto, "" for Ed25519 (which hashes by itself), NULL where no signature may use it. */
static const char *hash_name(const struct pkey *k, enum digest_alg hash)
{
	if (k->kind == PKEY_ED25519)
		return "";
	if (hash == DIGEST_MD5 || libcrypto_md(hash) == NULL)
		return NULL;
	return digest_name(hash);
}

/* DER to the two mpints of SSH. */
static int put_ecdsa(const uint8_t *der, size_t n, struct buf *out)
{
	ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &der, (long)n);
	uint8_t number[80];
	const BIGNUM *parts[2];

	if (sig == NULL)
		return ERR_CRYPTO;
	parts[0] = ECDSA_SIG_get0_r(sig);
	parts[1] = ECDSA_SIG_get0_s(sig);
	for (size_t i = 0; i < 2; i++) {
		size_t size = (size_t)BN_num_bytes(parts[i]);

		if (size > sizeof(number)) {
			ECDSA_SIG_free(sig);
			return ERR_CRYPTO;
		}
		BN_bn2bin(parts[i], number);
		buf_put_mpint(out, number, size);
	}
	ECDSA_SIG_free(sig);
	return 0;
}

/* Two mpints and nothing else to DER; *n is the room and then the size. */
static int ecdsa_to_der(const struct pkey *k, struct view sig, uint8_t *der, size_t *n)
{
	size_t max = pkey_curve(k->kind)->size;
	struct reader rd;
	struct view r, s;
	ECDSA_SIG *x;
	BIGNUM *br, *bs;
	int size = -1;

	reader_init(&rd, sig.p, sig.n);
	r = reader_mpint(&rd, max);
	s = reader_mpint(&rd, max);
	if (reader_end(&rd, NULL, "signature") < 0)
		return ERR_CRYPTO;
	x = ECDSA_SIG_new();
	br = BN_bin2bn(r.p, (int)r.n, NULL);
	bs = BN_bin2bn(s.p, (int)s.n, NULL);
	if (x != NULL && br != NULL && bs != NULL && ECDSA_SIG_set0(x, br, bs) == 1) {
		br = bs = NULL;          /* x owns them */
		size = i2d_ECDSA_SIG(x, NULL);
		if (size > 0 && (size_t)size <= *n)
			size = i2d_ECDSA_SIG(x, &der);
		else
			size = -1;
	}
	BN_free(br);
	BN_free(bs);
	ECDSA_SIG_free(x);
	if (size <= 0)
		return ERR_CRYPTO;
	*n = (size_t)size;
	return 0;
}

int pkey_sign(const struct pkey *k, enum digest_alg hash, struct view message, struct buf *out, struct err *e)
{
	const char *name = hash_name(k, hash);
	uint8_t sig[SIGNATURE_MAX];
	size_t n = sizeof(sig);
	EVP_MD_CTX *ctx;
	int r = 0;

	if (!k->is_private)
		return err_set(e, ERR_USAGE, "signing needs a private key");
	if (name == NULL)
		return err_set(e, ERR_CRYPTO, "%s is not offered for signatures", digest_name(hash));
	ctx = EVP_MD_CTX_new();
	if (ctx == NULL ||
	    EVP_DigestSignInit_ex(ctx, NULL, *name != '\0' ? name : NULL, NULL, NULL, k->evp, NULL) != 1 ||
	    EVP_DigestSign(ctx, sig, &n, message.p, message.n) != 1)
		r = ERR_CRYPTO;
	else if (pkey_curve(k->kind) != NULL)
		r = put_ecdsa(sig, n, out);
	else
		buf_put(out, sig, n);
	EVP_MD_CTX_free(ctx);
	mem_wipe(sig, sizeof(sig));
	if (r < 0)
		return libcrypto_error(e, "signing");
	return buf_ok(out) ? 0 : err_set(e, ERR_MEMORY, "no room for the signature");
}

int pkey_verify(const struct pkey *k, enum digest_alg hash, struct view message, struct view sig)
{
	const char *name = hash_name(k, hash);
	uint8_t bytes[SIGNATURE_MAX] = { 0 };
	size_t n = sizeof(bytes);
	EVP_MD_CTX *ctx;
	int r;

	if (name == NULL || sig.n == 0)
		return ERR_CRYPTO;
	if (k->kind == PKEY_RSA) {
		/* Some write the number without its leading zeros. */
		if (sig.n > k->size)
			return ERR_CRYPTO;
		n = k->size;
		memcpy(bytes + n - sig.n, sig.p, sig.n);
	} else if (k->kind == PKEY_ED25519) {
		if (sig.n != 64)
			return ERR_CRYPTO;
		n = sig.n;
		memcpy(bytes, sig.p, n);
	} else if (ecdsa_to_der(k, sig, bytes, &n) < 0) {
		return libcrypto_error(NULL, "");
	}
	ctx = EVP_MD_CTX_new();
	r = ctx != NULL &&
		EVP_DigestVerifyInit_ex(ctx, NULL, *name != '\0' ? name : NULL, NULL, NULL, k->evp, NULL) == 1 &&
		EVP_DigestVerify(ctx, bytes, n, message.p, message.n) == 1 ? 0 : ERR_CRYPTO;
	EVP_MD_CTX_free(ctx);
	if (r < 0)
		libcrypto_error(NULL, "");
	return r;
}
