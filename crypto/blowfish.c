/* crypto/blowfish.c: Schneier's Blowfish; expansion with salt after Provos and Mazieres, "A Future-Adaptable Password
 * Scheme" (1999). */
#include "crypto/blowfish.h"

#include <string.h>
#include "crypto/blowfish_tables.h"

enum { ROUNDS = 16 };

void blowfish_init(struct blowfish *b)
{
	memcpy(b->p, blowfish_pi_p, sizeof(b->p));
	memcpy(b->s, blowfish_pi_s, sizeof(b->s));
}

static inline uint32_t mix(const struct blowfish *b, uint32_t x)
{
	return ((b->s[0][x >> 24] + b->s[1][x >> 16 & 0xff]) ^ b->s[2][x >> 8 & 0xff]) + b->s[3][x & 0xff];
}

static inline void encrypt(const struct blowfish *b, uint32_t *left, uint32_t *right)
{
	uint32_t l = *left ^ b->p[0], r = *right;

	for (size_t i = 1; i <= ROUNDS; i += 2) {
		r ^= mix(b, l) ^ b->p[i];
		l ^= mix(b, r) ^ b->p[i + 1];
	}
	*left = r ^ b->p[ROUNDS + 1];
	*right = l;
}

void blowfish_encrypt(const struct blowfish *b, uint32_t *left, uint32_t *right)
{
	encrypt(b, left, right);
}

/* Replaces `count` words of the state by running the cipher over itself; l and r go on from call to call. */
static void replace(struct blowfish *b, uint32_t *words, size_t count, uint32_t *l, uint32_t *r)
{
	for (size_t i = 0; i < count; i += 2) {
		encrypt(b, l, r);
		words[i] = *l;
		words[i + 1] = *r;
	}
}

static void add_key(struct blowfish *b, const uint32_t *key)
{
	for (size_t i = 0; i < ROUNDS + 2; i++)
		b->p[i] ^= key[i % BLOWFISH_KEY_WORDS];
}

void blowfish_expand(struct blowfish *b, const uint32_t *key)
{
	uint32_t l = 0, r = 0;

	add_key(b, key);
	replace(b, b->p, ROUNDS + 2, &l, &r);
	for (size_t i = 0; i < 4; i++)
		replace(b, b->s[i], 256, &l, &r);
}

static size_t replace_salted(struct blowfish *b, uint32_t *words, size_t count, const uint32_t *salt, size_t at,
	uint32_t *chain)
{
	for (size_t i = 0; i < count; i += 2) {
		chain[0] ^= salt[at];
		chain[1] ^= salt[at + 1];
		at = (at + 2) % BLOWFISH_KEY_WORDS;
		replace(b, words + i, 2, &chain[0], &chain[1]);
	}
	return at;
}

void blowfish_expand_salted(struct blowfish *b, const uint32_t *salt, const uint32_t *key)
{
	uint32_t chain[2] = { 0, 0 };
	size_t at;

	add_key(b, key);
	at = replace_salted(b, b->p, ROUNDS + 2, salt, 0, chain);
	for (size_t i = 0; i < 4; i++)
		at = replace_salted(b, b->s[i], 256, salt, at, chain);
}
