/* crypto/sntrup761.h: the key encapsulation mechanism sntrup761 (Streamlined NTRU Prime: Bernstein, Brumley, Chen,
 * Chuengsatiansup, Lange, Marotzke, Peng, Tuveri, van Vredendaal, Yang, "NTRU Prime: round 3", 2020), which is believed to
 * withstand quantum computers. libcrypto has none. */
#ifndef CRYPTO_SNTRUP761_H
#define CRYPTO_SNTRUP761_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "wire/reader.h"

enum { SNTRUP761_PUBLIC = 1158, SNTRUP761_CIPHERTEXT = 1039, SNTRUP761_SECRET = 32 };    /* bytes */

struct sntrup_math;

/* What an operation draws on: fill like rand_bytes, and one of sntrup_math_at. NULL in place of all: the generator of
 * crypto/rand.h and the best way; others are for tests. */
struct sntrup761_source {
	void (*fill)(void *ctx, void *p, size_t n);
	void *ctx;
	const struct sntrup_math *math;
};

struct sntrup761;        /* a key pair */
struct sntrup761 *sntrup761_new(const struct sntrup761_source *s, struct err *e);
void sntrup761_free(struct sntrup761 *k);                /* wipes */
struct view sntrup761_public(const struct sntrup761 *k); /* SNTRUP761_PUBLIC bytes, borrowed */

/* A fresh secret and its ciphertext for whoever has the secret key that belongs to `public`. Any bytes are a public key: numbers
 * out of range are reduced. ERR_PEER: wrong size. */
int sntrup761_encapsulate(const struct sntrup761_source *s, struct view public, uint8_t ciphertext[SNTRUP761_CIPHERTEXT],
	uint8_t secret[SNTRUP761_SECRET], struct err *e) MUST_USE;
/* The secret of a ciphertext. ERR_PEER: wrong size. A ciphertext that nobody made by encapsulation yields a secret as well, which
 * only the key's owner can know (implicit rejection): what is built on it fails. */
int sntrup761_decapsulate(const struct sntrup761 *k, struct view ciphertext, uint8_t secret[SNTRUP761_SECRET],
	struct err *e) MUST_USE;

#endif
