/* crypto/pkey_pem.c: private keys in PEM: traditional (PKCS#1, SEC 1) and PKCS#8, encrypted or not. */
#include "crypto/pkey.h"

#include <limits.h>
#include <string.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/decoder.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include "base/mem.h"
#include "crypto/crypto.h"
#include "crypto/libcrypto.h"
#include "crypto/pkey_evp.h"

enum { PEM_TEXT_MAX = 1 << 20, PASSPHRASE_MIN = 5 };

/* What libcrypto's wish for a passphrase is answered with. It never leads to a question. */
struct passphrase { const char *text; bool wanted; };

static int give_passphrase(char *to, size_t room, size_t *n, const OSSL_PARAM params[], void *arg)
{
	struct passphrase *pass = arg;

	(void)params;
	pass->wanted = true;
	if (pass->text == NULL || strlen(pass->text) > room)
		return 0;
	*n = strlen(pass->text);
	memcpy(to, pass->text, *n);
	return 1;
}

static EVP_PKEY *decode(const char *text, size_t n, struct passphrase *pass)
{
	EVP_PKEY *evp = NULL;
	const unsigned char *at = (const unsigned char *)text;
	OSSL_DECODER_CTX *ctx = OSSL_DECODER_CTX_new_for_pkey(&evp, "PEM", NULL, NULL, EVP_PKEY_KEYPAIR, NULL, NULL);

	if (ctx == NULL || OSSL_DECODER_CTX_set_passphrase_cb(ctx, give_passphrase, pass) != 1 ||
	    OSSL_DECODER_from_data(ctx, &at, &n) != 1) {
		EVP_PKEY_free(evp);
		evp = NULL;
	}
	OSSL_DECODER_CTX_free(ctx);
	return evp;
}

static int kind_of(EVP_PKEY *evp, enum pkey_kind *kind)
{
	char group[32] = "";
	int explicit_params = 0;

	if (EVP_PKEY_is_a(evp, "RSA")) {
		*kind = PKEY_RSA;
		return 0;
	}
	if (EVP_PKEY_is_a(evp, "ED25519")) {
		*kind = PKEY_ED25519;
		return 0;
	}
	/* A curve that the file spells out as numbers is not taken for the named one that it resembles. */
	if (!EVP_PKEY_is_a(evp, "EC") ||
	    EVP_PKEY_get_utf8_string_param(evp, OSSL_PKEY_PARAM_GROUP_NAME, group, sizeof(group), NULL) != 1 ||
	    (EVP_PKEY_get_int_param(evp, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &explicit_params) == 1 &&
	     explicit_params))
		return ERR_NONE_FOUND;
	for (int i = PKEY_ECDSA_P256; i <= PKEY_ECDSA_P521; i++) {
		const struct pkey_curve *c = pkey_curve((enum pkey_kind)i);

		if (strcmp(group, c->name) == 0 || strcmp(group, c->other_name) == 0) {
			*kind = (enum pkey_kind)i;
			return 0;
		}
	}
	return ERR_NONE_FOUND;
}

struct pkey *pkey_pem_read(const char *text, size_t n, const char *passphrase, struct err *e)
{
	struct passphrase pass = { passphrase, false };
	struct pkey_export parts;
	struct pkey *raw, *k = NULL;
	enum pkey_kind kind;
	EVP_PKEY *evp;

	crypto_init_signing();
	evp = n > PEM_TEXT_MAX ? NULL : decode(text, n, &pass);
	libcrypto_error(NULL, "");
	if (evp == NULL) {
		/* As OpenSSH has it: with a passphrase at hand whatever does not parse counts as a wrong one. */
		if (pass.wanted || passphrase != NULL)
			err_set(e, ERR_DENIED, passphrase != NULL ? "incorrect passphrase" : "passphrase needed");
		else
			err_set(e, ERR_PEER, "not a private key in pem format");
		return NULL;
	}
	if (kind_of(evp, &kind) < 0) {
		EVP_PKEY_free(evp);
		err_set(e, ERR_PEER, "key of a type or curve that is not supported");
		return NULL;
	}
	/* Through pkey_import, so that a key from a file meets the same checks as any other. */
	raw = pkey_wrap(kind, evp, true);
	if (pkey_export(raw, true, &parts, NULL) == 0) {
		k = pkey_import(kind, &parts.parts, e);
		pkey_export_free(&parts);
	} else {
		err_set(e, ERR_PEER, "the pem file holds no private key");
	}
	pkey_free(raw);
	return k;
}

int pkey_pem_write(const struct pkey *k, bool pkcs8, const char *passphrase, struct buf *out, struct err *e)
{
	size_t n = passphrase != NULL ? strlen(passphrase) : 0;
	const EVP_CIPHER *cipher = n != 0 ? libcrypto_cipher("AES-128-CBC") : NULL;
	const unsigned char *pass = n != 0 ? (const unsigned char *)passphrase : NULL;
	char *data;
	long size;
	BIO *bio;
	int ok;

	if (!k->is_private)
		return err_set(e, ERR_USAGE, "the key has no private part");
	if (!pkcs8 && k->kind == PKEY_ED25519)
		return err_set(e, ERR_USAGE, "ed25519 keys have no traditional pem format");
	if (n != 0 && (n < PASSPHRASE_MIN || n > INT_MAX / 2))
		return err_set(e, ERR_USAGE, "the passphrase must have at least %d characters", PASSPHRASE_MIN);
	if (n != 0 && cipher == NULL)
		return err_set(e, ERR_CRYPTO, "libcrypto does not offer the cipher of encrypted pem files");
	bio = BIO_new(BIO_s_secmem());
	if (bio == NULL)
		return libcrypto_error(e, "writing pem");
	if (pkcs8)
		ok = PEM_write_bio_PKCS8PrivateKey(bio, k->evp, cipher, (const char *)pass, (int)n, NULL, NULL);
	else
		ok = PEM_write_bio_PrivateKey_traditional(bio, k->evp, cipher, pass, (int)n, NULL, NULL);
	if (ok != 1) {
		BIO_free(bio);
		return libcrypto_error(e, "writing pem");
	}
	size = BIO_get_mem_data(bio, &data);
	buf_put(out, data, (size_t)size);
	BIO_free(bio);
	return buf_ok(out) ? 0 : err_set(e, ERR_MEMORY, "no room for the key");
}
