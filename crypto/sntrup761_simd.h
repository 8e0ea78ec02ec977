/* crypto/sntrup761_simd.h: the two costly operations of sntrup761, for the processor at hand. For crypto/ only.
 *
 * Polynomials of R/q = Z/q[x] / (x^P - x - 1), lowest coefficient first. */
#ifndef CRYPTO_SNTRUP761_SIMD_H
#define CRYPTO_SNTRUP761_SIMD_H

#include <stddef.h>
#include <stdint.h>

enum {
	SNTRUP_P = 761, SNTRUP_Q = 4591,
	SNTRUP_HALF = (SNTRUP_Q - 1) / 2,        /* coefficients are -HALF..HALF */
	SNTRUP_ROOM = 768                        /* coefficients in an array; those from P on are zero */
};

/* One way to compute. Times and addresses do not depend on coefficients. */
struct sntrup_math {
	const char *name;
	/* out = a * b; b has coefficients -1, 0 and 1. out may be a. */
	void (*multiply)(int16_t *out, const int16_t *a, const int8_t *b);
	/* out = 1 / (3 * a); a has coefficients -1, 0 and 1, not all of them 0. */
	void (*invert)(int16_t *out, const int8_t *a);
};

/* Kind i of those that run on this processor, best first; NULL past the end. The last is for any. */
const struct sntrup_math *sntrup_math_at(size_t i);

/* What is congruent to x mod q in -HALF..HALF; |x| < 2^23. */
int16_t sntrup_mod_q(int32_t x);

#endif
