/* crypto/block.c: CTR (RFC 4344 §4), CBC and RC4 (RFC 4345) streams over libcrypto. */
#include "crypto/block.h"

#include <limits.h>
#include <string.h>
#include <openssl/evp.h>
#include "base/mem.h"
#include "crypto/libcrypto.h"

enum { COUNTER_SIZE = 16, SKIP_STEP = 4096 };

struct block {
	EVP_CIPHER_CTX *ctx;
};

struct block *block_new(const char *libcrypto_name, bool encrypt, const uint8_t *key, const uint8_t *iv, struct err *e)
{
	const EVP_CIPHER *cipher = libcrypto_cipher(libcrypto_name);
	struct block *b;

	if (cipher == NULL) {
		err_set(e, ERR_CRYPTO, "libcrypto does not offer %s", libcrypto_name);
		return NULL;
	}
	b = mem_zalloc(sizeof(*b));
	b->ctx = EVP_CIPHER_CTX_new();
	if (b->ctx == NULL || EVP_CipherInit_ex2(b->ctx, cipher, key, iv, encrypt, NULL) != 1 ||
	    EVP_CIPHER_CTX_set_padding(b->ctx, 0) != 1) {
		libcrypto_error(e, libcrypto_name);
		block_free(b);
		return NULL;
	}
	return b;
}

struct block *block_new_arcfour(const uint8_t *key, size_t key_size, uint64_t skip, struct err *e)
{
	const EVP_CIPHER *cipher = libcrypto_cipher("RC4");
	struct block *b;
	bool ok;

	if (cipher == NULL) {
		err_set(e, ERR_CRYPTO, "libcrypto does not offer RC4");
		return NULL;
	}
	b = mem_zalloc(sizeof(*b));
	b->ctx = EVP_CIPHER_CTX_new();
	/* The size of the key is set before the key (RC4's own is 16 bytes). */
	ok = b->ctx != NULL && EVP_CipherInit_ex2(b->ctx, cipher, NULL, NULL, 1, NULL) == 1 &&
		EVP_CIPHER_CTX_set_key_length(b->ctx, (int)key_size) == 1 &&
		EVP_CipherInit_ex2(b->ctx, NULL, key, NULL, 1, NULL) == 1;
	if (ok && block_skip(b, skip) == 0)
		return b;
	libcrypto_error(e, "RC4");
	block_free(b);
	return NULL;
}

void block_free(struct block *b)
{
	if (b == NULL)
		return;
	EVP_CIPHER_CTX_free(b->ctx);     /* wipes the key schedule */
	mem_free_secret(b, sizeof(*b));
}

int block_run(struct block *b, uint8_t *p, size_t n)
{
	int done = 0;

	if (n == 0)
		return 0;
	if (n > INT_MAX)
		return ERR_USAGE;
	/* CBC with a broken block would be held back by libcrypto: done tells. */
	if (EVP_CipherUpdate(b->ctx, p, &done, p, (int)n) != 1 || (size_t)done != n)
		return libcrypto_error(NULL, "cipher");
	return 0;
}

int block_set_iv(struct block *b, const uint8_t *iv)
{
	if (EVP_CipherInit_ex2(b->ctx, NULL, NULL, iv, -1, NULL) != 1)
		return libcrypto_error(NULL, "cipher");
	return 0;
}

int block_seek(struct block *b, const uint8_t *first_iv, uint64_t bytes)
{
	uint8_t counter[COUNTER_SIZE], skipped[COUNTER_SIZE] = { 0 };
	uint64_t blocks = bytes / COUNTER_SIZE;
	unsigned carry = 0;
	int r;

	memcpy(counter, first_iv, sizeof(counter));
	for (size_t i = COUNTER_SIZE; i-- > 0; blocks >>= 8) {
		carry += counter[i] + (unsigned)(blocks & 0xff);
		counter[i] = (uint8_t)carry;
		carry >>= 8;
	}
	r = block_set_iv(b, counter);
	if (r == 0)
		r = block_run(b, skipped, (size_t)(bytes % COUNTER_SIZE));
	mem_wipe(skipped, sizeof(skipped));
	return r;
}

int block_skip(struct block *b, uint64_t bytes)
{
	uint8_t skipped[SKIP_STEP];
	size_t step;
	int r = 0;

	memset(skipped, 0, sizeof(skipped));
	for (; r == 0 && bytes != 0; bytes -= step) {
		step = bytes < sizeof(skipped) ? (size_t)bytes : sizeof(skipped);
		r = block_run(b, skipped, step);
	}
	mem_wipe(skipped, sizeof(skipped));
	return r;
}
