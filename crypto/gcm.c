/* crypto/gcm.c: AES-GCM for packets (RFC 5647 §7.1) over libcrypto.
 *
 * A packet costs one IV, one pass over its bytes and one tag: some 300 ns beside the pass. Nothing is allocated or
 * scheduled anew. Where the processor has wide AES that libcrypto does not use, gcm_simd.c takes its place. */
#include "crypto/gcm.h"

#include <limits.h>
#include <string.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include "base/mem.h"
#include "crypto/crypto.h"
#include "crypto/gcm_simd.h"
#include "crypto/libcrypto.h"
#include "wire/buf.h"

enum { FIXED_SIZE = 4 };

struct gcm {
	struct gcm_simd *simd;           /* NULL: libcrypto does it */
	EVP_CIPHER_CTX *ctx;
	uint8_t iv[GCM_IV_SIZE];         /* of the next message */
};

/* From 3.2 on libcrypto uses wide AES itself; and who asks for validated code (FIPS) shall have no other. */
static bool libcrypto_is_slow(void)
{
	enum { WIDE_AES_SINCE = 0x30200000 };

	return OpenSSL_version_num() < WIDE_AES_SINCE && !crypto_is_fips();
}

struct gcm *gcm_new(const char *libcrypto_name, bool encrypt, const uint8_t *key, const uint8_t *iv, struct err *e)
{
	return gcm_new_with(libcrypto_is_slow(), libcrypto_name, encrypt, key, iv, e);
}

struct gcm *gcm_new_with(bool simd, const char *libcrypto_name, bool encrypt, const uint8_t *key, const uint8_t *iv, struct err *e)
{
	const EVP_CIPHER *cipher = libcrypto_cipher(libcrypto_name);
	struct gcm *g;

	if (cipher == NULL) {
		err_set(e, ERR_CRYPTO, "libcrypto does not offer %s", libcrypto_name);
		return NULL;
	}
	g = mem_zalloc(sizeof(*g));
	memcpy(g->iv, iv, sizeof(g->iv));
	if (simd && (g->simd = gcm_simd_new(key, (size_t)EVP_CIPHER_get_key_length(cipher))) != NULL)
		return g;
	g->ctx = EVP_CIPHER_CTX_new();
	if (g->ctx == NULL || EVP_CipherInit_ex2(g->ctx, cipher, key, NULL, encrypt, NULL) != 1) {
		libcrypto_error(e, libcrypto_name);
		gcm_free(g);
		return NULL;
	}
	return g;
}

void gcm_free(struct gcm *g)
{
	if (g == NULL)
		return;
	gcm_simd_free(g->simd);
	EVP_CIPHER_CTX_free(g->ctx);     /* wipes the key schedule */
	mem_free_secret(g, sizeof(*g));
}

void gcm_skip(struct gcm *g, uint64_t messages)
{
	/* RFC 5647 §7.1: the counter is a 64-bit number, the fixed field never changes. */
	wire_store_u64(g->iv + FIXED_SIZE, wire_load_u64(g->iv + FIXED_SIZE) + messages);
}

/* AAD and body; NULL AAD pointers must not reach libcrypto with size 0, which it would take for the end. */
static int run(struct gcm *g, const uint8_t *aad, size_t aad_n, uint8_t *p, size_t n)
{
	int done;

	if (aad_n != 0 && EVP_CipherUpdate(g->ctx, NULL, &done, aad, (int)aad_n) != 1)
		return ERR_CRYPTO;
	if (n != 0 && EVP_CipherUpdate(g->ctx, p, &done, p, (int)n) != 1)
		return ERR_CRYPTO;
	return 0;
}

int gcm_seal(struct gcm *g, const uint8_t *aad, size_t aad_n, uint8_t *p, size_t n, uint8_t *tag)
{
	OSSL_PARAM want_tag[] = {
		OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, tag, GCM_TAG_SIZE),
		OSSL_PARAM_construct_end()
	};
	int r = ERR_CRYPTO, done;

	if (n > INT_MAX || aad_n > INT_MAX)
		return ERR_USAGE;
	if (g->simd != NULL) {
		gcm_simd_seal(g->simd, &(struct gcm_message){ g->iv, aad, aad_n, p, n, tag });
		gcm_skip(g, 1);
		return 0;
	}
	if (EVP_EncryptInit_ex2(g->ctx, NULL, NULL, g->iv, NULL) == 1 && run(g, aad, aad_n, p, n) == 0 &&
	    EVP_EncryptFinal_ex(g->ctx, p + n, &done) == 1 && EVP_CIPHER_CTX_get_params(g->ctx, want_tag) == 1)
		r = 0;
	gcm_skip(g, 1);
	return r == 0 ? 0 : libcrypto_error(NULL, "gcm");
}

static int open_simd(struct gcm *g, const struct gcm_message *m, const uint8_t *tag)
{
	bool right;

	gcm_simd_open(g->simd, m);
	right = mem_equal_ct(m->tag, tag, GCM_TAG_SIZE);
	mem_wipe(m->tag, GCM_TAG_SIZE);
	gcm_skip(g, 1);
	if (right)
		return 0;
	mem_wipe(m->p, m->n);            /* as below */
	return libcrypto_error(NULL, "gcm");
}

int gcm_open(struct gcm *g, const uint8_t *aad, size_t aad_n, uint8_t *p, size_t n, const uint8_t *tag)
{
	OSSL_PARAM expected_tag[] = {
		OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, (void *)tag, GCM_TAG_SIZE),
		OSSL_PARAM_construct_end()
	};
	uint8_t right_tag[GCM_TAG_SIZE];
	int r = ERR_CRYPTO, done;

	if (n > INT_MAX || aad_n > INT_MAX)
		return ERR_USAGE;
	if (g->simd != NULL)
		return open_simd(g, &(struct gcm_message){ g->iv, aad, aad_n, p, n, right_tag }, tag);
	/* libcrypto compares the tags in constant time when it finishes. */
	if (EVP_DecryptInit_ex2(g->ctx, NULL, NULL, g->iv, expected_tag) == 1 && run(g, aad, aad_n, p, n) == 0 &&
	    EVP_DecryptFinal_ex(g->ctx, p + n, &done) == 1)
		r = 0;
	gcm_skip(g, 1);
	if (r == 0)
		return 0;
	/* Decryption goes along with hashing: what came out before the tag was known to be wrong must not be seen. */
	mem_wipe(p, n);
	return libcrypto_error(NULL, "gcm");
}
