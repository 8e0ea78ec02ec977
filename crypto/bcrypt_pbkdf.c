/* crypto/bcrypt_pbkdf.c: PBKDF2 with bcrypt inside and an interleaved output (OpenSSH's PROTOCOL.key). */
#include "crypto/bcrypt_pbkdf.h"

#include <string.h>
#include "base/mem.h"
#include "crypto/blowfish.h"
#include "crypto/digest.h"
#include "wire/buf.h"

enum { HASH_SIZE = 64, OUT_WORDS = 8, OUT_SIZE = OUT_WORDS * 4, COST = 64 };

/* All that is secret in one place, to be wiped once. */
struct work {
	struct blowfish blowfish;
	uint8_t pass_hash[HASH_SIZE], salt_hash[HASH_SIZE];
	uint32_t pass_words[BLOWFISH_KEY_WORDS], salt_words[BLOWFISH_KEY_WORDS];
	uint32_t text[OUT_WORDS];
	uint8_t t[OUT_SIZE], out[OUT_SIZE];
};

static void load_words(uint32_t *words, const uint8_t *p, size_t count)
{
	for (size_t i = 0; i < count; i++)
		words[i] = wire_load_u32(p + 4 * i);
}

/* t = H(pass_hash, salt_hash): eksblowfish, then 64 encryptions of a fixed text. */
static void hash(struct work *w)
{
	static const uint8_t text[OUT_SIZE + 1] = "OxychromaticBlowfishSwatDynamite";

	load_words(w->salt_words, w->salt_hash, BLOWFISH_KEY_WORDS);
	blowfish_init(&w->blowfish);
	blowfish_expand_salted(&w->blowfish, w->salt_words, w->pass_words);
	for (size_t i = 0; i < COST; i++) {
		blowfish_expand(&w->blowfish, w->salt_words);
		blowfish_expand(&w->blowfish, w->pass_words);
	}
	load_words(w->text, text, OUT_WORDS);
	for (size_t i = 0; i < COST; i++)
		for (size_t j = 0; j < OUT_WORDS; j += 2)
			blowfish_encrypt(&w->blowfish, &w->text[j], &w->text[j + 1]);
	for (size_t j = 0; j < OUT_WORDS; j++)           /* little-endian, unlike everything else */
		for (size_t b = 0; b < 4; b++)
			w->t[4 * j + b] = (uint8_t)(w->text[j] >> 8 * b);
}

/* The 32 bytes that block `count` gives, in w->out. */
static int make_block(struct work *w, struct view salt, uint32_t count, uint32_t rounds)
{
	uint8_t number[4];
	const struct view first[] = { salt, { number, sizeof(number) } };

	wire_store_u32(number, count);
	if (digest_of(DIGEST_SHA512, first, 2, w->salt_hash) < 0)
		return ERR_CRYPTO;
	hash(w);
	memcpy(w->out, w->t, OUT_SIZE);
	for (uint32_t i = 1; i < rounds; i++) {
		if (digest_bytes(DIGEST_SHA512, w->t, OUT_SIZE, w->salt_hash) < 0)
			return ERR_CRYPTO;
		hash(w);
		for (size_t j = 0; j < OUT_SIZE; j++)
			w->out[j] ^= w->t[j];
	}
	return 0;
}

static int derive(struct work *w, struct view salt, uint32_t rounds, uint8_t *key, size_t key_size)
{
	size_t stride = (key_size + OUT_SIZE - 1) / OUT_SIZE, amount = (key_size + stride - 1) / stride;

	for (size_t block = 0, left = key_size; left > 0; block++) {
		size_t take = amount < left ? amount : left;

		if (make_block(w, salt, (uint32_t)block + 1, rounds) < 0)
			return ERR_CRYPTO;
		/* Blocks are interleaved, so that every part of the key costs all of the work. */
		for (size_t i = 0; i < take; i++) {
			size_t at = i * stride + block;

			if (at >= key_size) {
				take = i;
				break;
			}
			key[at] = w->out[i];
		}
		left -= take;
	}
	return 0;
}

int bcrypt_pbkdf(struct view pass, struct view salt, uint32_t rounds, uint8_t *key, size_t key_size, struct err *e)
{
	struct work *w;
	int r;

	if (pass.n == 0 || salt.n == 0 || salt.n > BCRYPT_PBKDF_SALT_MAX || rounds == 0 || key_size == 0 ||
	    key_size > BCRYPT_PBKDF_KEY_MAX)
		return err_set(e, ERR_USAGE, "bcrypt: passphrase, salt, rounds or key size out of range");
	w = mem_zalloc(sizeof(*w));
	r = digest_bytes(DIGEST_SHA512, pass.p, pass.n, w->pass_hash);
	load_words(w->pass_words, w->pass_hash, BLOWFISH_KEY_WORDS);
	if (r == 0)
		r = derive(w, salt, rounds, key, key_size);
	mem_free_secret(w, sizeof(*w));
	return r == 0 ? 0 : err_set(e, ERR_CRYPTO, "bcrypt: no sha512");
}
