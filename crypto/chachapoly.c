/* crypto/chachapoly.c: chacha20-poly1305@openssh.com (OpenSSH's PROTOCOL) over libcrypto's ChaCha20 and Poly1305.
 *
 * libcrypto takes 16 bytes as IV: the block counter, 8 bytes little-endian, and the 8-byte nonce. */
#include "crypto/chachapoly.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <openssl/evp.h>
#include "base/mem.h"
#include "crypto/libcrypto.h"
#include "wire/buf.h"

enum { HALF_KEY = 32, IV_SIZE = 16, NONCE_AT = 8, BLOCK_SIZE = 64, POLY_KEY_SIZE = 32, HEADER_SIZE = 4 };

struct chachapoly {
	EVP_CIPHER_CTX *main, *header;
	EVP_MAC_CTX *poly;
	/* The header's key stream, made once for peek and open of one packet. */
	uint64_t mask_seq;
	bool mask_valid;
	uint8_t mask[HEADER_SIZE];
};

static EVP_CIPHER_CTX *keyed(const EVP_CIPHER *cipher, const uint8_t *key)
{
	static const uint8_t iv[IV_SIZE];
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

	if (ctx != NULL && EVP_EncryptInit_ex2(ctx, cipher, key, iv, NULL) != 1) {
		EVP_CIPHER_CTX_free(ctx);
		return NULL;
	}
	return ctx;
}

struct chachapoly *chachapoly_new(const uint8_t *key, struct err *e)
{
	const EVP_CIPHER *cipher = libcrypto_cipher("ChaCha20");
	EVP_MAC *mac = libcrypto_mac("POLY1305");
	struct chachapoly *c;

	if (cipher == NULL || mac == NULL) {
		err_set(e, ERR_CRYPTO, "libcrypto does not offer chacha20 and poly1305");
		return NULL;
	}
	c = mem_zalloc(sizeof(*c));
	c->main = keyed(cipher, key);
	c->header = keyed(cipher, key + HALF_KEY);
	c->poly = EVP_MAC_CTX_new(mac);
	if (c->main == NULL || c->header == NULL || c->poly == NULL) {
		libcrypto_error(e, "chacha20-poly1305");
		chachapoly_free(c);
		return NULL;
	}
	return c;
}

void chachapoly_free(struct chachapoly *c)
{
	if (c == NULL)
		return;
	EVP_CIPHER_CTX_free(c->main);
	EVP_CIPHER_CTX_free(c->header);
	EVP_MAC_CTX_free(c->poly);
	mem_free_secret(c, sizeof(*c));
}

/* Counter 0 of the stream of packet seq, then n bytes of it over p. */
static int start_stream(EVP_CIPHER_CTX *ctx, uint64_t seq, uint8_t *p, size_t n)
{
	uint8_t iv[IV_SIZE] = { 0 };
	int done;

	wire_store_u64(iv + NONCE_AT, seq);
	return EVP_EncryptInit_ex2(ctx, NULL, NULL, iv, NULL) == 1 &&
		EVP_EncryptUpdate(ctx, p, &done, p, (int)n) == 1 ? 0 : ERR_CRYPTO;
}

static int header_mask(struct chachapoly *c, uint64_t seq)
{
	if (c->mask_valid && c->mask_seq == seq)
		return 0;
	memset(c->mask, 0, sizeof(c->mask));
	c->mask_seq = seq;
	c->mask_valid = start_stream(c->header, seq, c->mask, sizeof(c->mask)) == 0;
	return c->mask_valid ? 0 : ERR_CRYPTO;
}

static int mask_header(struct chachapoly *c, uint64_t seq, uint8_t *p, size_t n)
{
	if (n == 0)
		return 0;
	if (header_mask(c, seq) < 0)
		return ERR_CRYPTO;
	for (size_t i = 0; i < n; i++)
		p[i] ^= c->mask[i];
	return 0;
}

/* Starts the main stream: its first block gives the MAC key; the body goes on from counter 1. */
static int start_packet(struct chachapoly *c, uint64_t seq)
{
	uint8_t block[BLOCK_SIZE] = { 0 };
	int r = start_stream(c->main, seq, block, sizeof(block));

	if (r == 0 && EVP_MAC_init(c->poly, block, POLY_KEY_SIZE, NULL) != 1)
		r = ERR_CRYPTO;
	mem_wipe(block, sizeof(block));
	return r;
}

static int body(struct chachapoly *c, uint8_t *p, size_t n)
{
	int done;

	return n == 0 || EVP_EncryptUpdate(c->main, p, &done, p, (int)n) == 1 ? 0 : ERR_CRYPTO;
}

static int tag_of(struct chachapoly *c, const uint8_t *p, size_t n, uint8_t *tag)
{
	size_t size;

	return EVP_MAC_update(c->poly, p, n) == 1 && EVP_MAC_final(c->poly, tag, &size, CHACHAPOLY_TAG_SIZE) == 1 ?
		0 : ERR_CRYPTO;
}

int chachapoly_seal(struct chachapoly *c, uint64_t seq, uint8_t *p, size_t header_n, size_t n)
{
	if (header_n > HEADER_SIZE || n > INT_MAX)
		return ERR_USAGE;
	if (start_packet(c, seq) < 0 || mask_header(c, seq, p, header_n) < 0 || body(c, p + header_n, n) < 0 ||
	    tag_of(c, p, header_n + n, p + header_n + n) < 0)
		return libcrypto_error(NULL, "chacha20-poly1305");
	return 0;
}

int chachapoly_open(struct chachapoly *c, uint64_t seq, uint8_t *p, size_t header_n, size_t n)
{
	uint8_t tag[CHACHAPOLY_TAG_SIZE];

	if (header_n > HEADER_SIZE || n > INT_MAX)
		return ERR_USAGE;
	if (start_packet(c, seq) < 0 || tag_of(c, p, header_n + n, tag) < 0 ||
	    !mem_equal_ct(tag, p + header_n + n, sizeof(tag)))
		return libcrypto_error(NULL, "chacha20-poly1305");
	if (mask_header(c, seq, p, header_n) < 0 || body(c, p + header_n, n) < 0)
		return libcrypto_error(NULL, "chacha20-poly1305");
	return 0;
}

int chachapoly_peek(struct chachapoly *c, uint64_t seq, const uint8_t *p, uint32_t *length)
{
	if (header_mask(c, seq) < 0)
		return libcrypto_error(NULL, "chacha20-poly1305");
	*length = wire_load_u32(p) ^ wire_load_u32(c->mask);
	return 0;
}
