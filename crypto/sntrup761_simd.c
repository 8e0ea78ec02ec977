/* crypto/sntrup761_simd.c: products and inverses in R/q, in C that compilers turn into vectors of 16-bit numbers: once for any
 * processor, once for AVX2. Nothing here branches on coefficients, uses them as an index or divides by or through them. */
#include "crypto/sntrup761_simd.h"

#include <string.h>
#include "base/mem.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define MATH_X86 1
#else
#define MATH_X86 0
#endif

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
#define UNROLLED _Pragma("GCC unroll 16")
#define ALIGNED __attribute__((aligned(64)))

enum {
	P = SNTRUP_P, Q = SNTRUP_Q, ROOM = SNTRUP_ROOM,
	Q_INVERSE = 15631,               /* Q * Q_INVERSE = 1 mod 2^16 */
	THIRD = -1530,                   /* 3 * THIRD = 1 mod q */
	ROWS = 12,                       /* coefficients of b that are multiplied between two reductions */
	WIDTH = ROOM + 16,               /* what a block of rows reaches, in whole vectors */
	STEPS = 2 * P - 1
};

int16_t sntrup_mod_q(int32_t x)
{
	/* 2^42 / q, rounded: the quotient is off by less than 2^-20, and no x lies nearer than 2^-14 to the next one. */
	int64_t quotient = ((int64_t)x * 957971359 + ((int64_t)1 << 41)) >> 42;

	return (int16_t)(x - (int32_t)quotient * Q);
}

/* ---- products ---- */

/* A sum of 30467 at most, congruent mod q, to 2927 at most. 14 / 2^16 is a little less than 1 / q; adding q / 2 first makes
 * rounding down rounding to the nearest. */
static ALWAYS_INLINE int16_t lower(int16_t x)
{
	int16_t quotient = (int16_t)(((int16_t)(x + SNTRUP_HALF + 1) * 14) >> 16);

	return (int16_t)(x - (int16_t)(quotient * Q));
}

/* to[k] += the sum of a[k - i] * row[i]. */
static ALWAYS_INLINE void add_rows(int16_t *restrict to, const int16_t *restrict a, const int16_t *restrict row)
{
	for (size_t k = 0; k < WIDTH; k++) {
		int16_t sum = to[k];

		UNROLLED for (size_t i = 0; i < ROWS; i++)
			sum = (int16_t)(sum + (int16_t)(a[k + ROWS - i] * row[i]));
		to[k] = lower(sum);
	}
}

static ALWAYS_INLINE void multiply(int16_t *out, const int16_t *a, const int8_t *b)
{
	ALIGNED int16_t shifted[ROWS + WIDTH] = { 0 }, sum[2 * ROOM + WIDTH] = { 0 }, row[ROWS];

	memcpy(shifted + ROWS, a, ROOM * sizeof(a[0]));
	for (size_t j = 0; j < ROOM; j += ROWS) {
		for (size_t i = 0; i < ROWS; i++)
			row[i] = b[j + i];
		add_rows(sum + j, shifted, row);
	}
	/* x^P = x + 1 */
	for (size_t i = 0; i < P; i++)
		out[i] = sntrup_mod_q(sum[i] + sum[i + P] + (i > 0 ? sum[i + P - 1] : 0));
	for (size_t i = P; i < ROOM; i++)
		out[i] = 0;
	mem_wipe(shifted, sizeof(shifted));
	mem_wipe(sum, sizeof(sum));
	mem_wipe(row, sizeof(row));
}

/* ---- inverses ---- */

/* x * y / 2^16 mod q (Montgomery), |x * y| / 2^16 + q / 2 at most. y_q: the low half of y * Q_INVERSE. The low half of x * y
 * is that of (x * y_q) * q as well, so the difference of the high halves is exact. */
static ALWAYS_INLINE int16_t product(int16_t x, int16_t y, int16_t y_q)
{
	int16_t high = (int16_t)((x * y) >> 16), m = (int16_t)(x * y_q);

	return (int16_t)(high - (int16_t)((m * Q) >> 16));
}

/* Swaps a and b where swap is -1; then b = (b * by_a - a * by_b) / 2^16. With |by| <= q / 2, what is 4940 at most stays so. */
static ALWAYS_INLINE void divide_step(int16_t *restrict a, int16_t *restrict b, int16_t swap, int16_t by_a, int16_t by_b)
{
	int16_t by_a_q = (int16_t)(by_a * Q_INVERSE), by_b_q = (int16_t)(by_b * Q_INVERSE);

	for (size_t i = 0; i < ROOM; i++) {
		int16_t differ = (int16_t)((a[i] ^ b[i]) & swap);
		int16_t x = (int16_t)(a[i] ^ differ), y = (int16_t)(b[i] ^ differ);

		a[i] = x;
		b[i] = (int16_t)(product(y, by_a, by_a_q) - product(x, by_b, by_b_q));
	}
}

/* A function of its own in each kind: inlined in a loop it is no longer vectors to clang. */
typedef void divide_step_fn(int16_t *restrict a, int16_t *restrict b, int16_t swap, int16_t by_a, int16_t by_b);

/* x^(q-2) mod q */
static int16_t reciprocal(int16_t x)
{
	int16_t power = 1;

	for (int bit = 12; bit >= 0; bit--) {
		power = sntrup_mod_q(power * power);
		if (((Q - 2) >> bit & 1) != 0)
			power = sntrup_mod_q(power * x);
	}
	return power;
}

/* Division steps of Bernstein and Yang ("Fast constant-time gcd computation and modular inversion", 2019, section 7): f and g
 * begin as modulus and argument with their coefficients in reverse order; after 2P-1 steps f is a constant. Each step
 * subtracts multiples so that g loses its lowest coefficient, and divides it by x. v and r are what f and g are multiples of
 * the argument by. Factors that all of g and r take along do no harm: in the end v is divided by f. g moves down one
 * coefficient a step and v up, here by moving the pointers. */
static ALWAYS_INLINE void invert(int16_t *out, const int8_t *a, divide_step_fn *divide)
{
	ALIGNED int16_t f[ROOM] = { 0 }, r[ROOM] = { 0 }, g_all[ROOM + STEPS] = { 0 }, v_all[ROOM + STEPS] = { 0 };
	int16_t *g = g_all, *v = v_all + STEPS;
	int32_t delta = 1;
	int16_t scale;

	f[0] = 1;
	f[P - 1] = f[P] = -1;
	r[0] = THIRD;
	for (size_t i = 0; i < P; i++)
		g[i] = a[P - 1 - i];
	for (size_t step = 0; step < STEPS; step++) {
		int16_t f0 = sntrup_mod_q(f[0]), g0 = sntrup_mod_q(g[0]);
		int32_t swap = (-delta >> 31) & ((-(int32_t)g0 | g0) >> 31);
		int32_t differ = (f0 ^ g0) & swap;

		v--;
		delta = (delta ^ swap) - swap + 1;
		f0 = (int16_t)(f0 ^ differ);
		g0 = (int16_t)(g0 ^ differ);
		divide(f, g, (int16_t)swap, f0, g0);
		divide(v, r, (int16_t)swap, f0, g0);
		g++;
	}
	scale = reciprocal(sntrup_mod_q(f[0]));
	for (size_t i = 0; i < P; i++)
		out[i] = sntrup_mod_q(scale * sntrup_mod_q(v[P - 1 - i]));
	for (size_t i = P; i < ROOM; i++)
		out[i] = 0;
	mem_wipe(f, sizeof(f));
	mem_wipe(r, sizeof(r));
	mem_wipe(g_all, sizeof(g_all));
	mem_wipe(v_all, sizeof(v_all));
}

/* ---- the choice ---- */

static void multiply_any(int16_t *out, const int16_t *a, const int8_t *b)
{
	multiply(out, a, b);
}

static NOINLINE void divide_step_any(int16_t *restrict a, int16_t *restrict b, int16_t swap, int16_t by_a, int16_t by_b)
{
	divide_step(a, b, swap, by_a, by_b);
}

static void invert_any(int16_t *out, const int8_t *a)
{
	invert(out, a, divide_step_any);
}

static const struct sntrup_math any = { "c", multiply_any, invert_any };

#if MATH_X86

#define TARGET_AVX2 __attribute__((target("avx2")))

static TARGET_AVX2 void multiply_avx2(int16_t *out, const int16_t *a, const int8_t *b)
{
	multiply(out, a, b);
}

static NOINLINE TARGET_AVX2 void divide_step_avx2(int16_t *restrict a, int16_t *restrict b, int16_t swap,
	int16_t by_a, int16_t by_b)
{
	divide_step(a, b, swap, by_a, by_b);
}

static TARGET_AVX2 void invert_avx2(int16_t *out, const int8_t *a)
{
	invert(out, a, divide_step_avx2);
}

static const struct sntrup_math with_avx2 = { "avx2", multiply_avx2, invert_avx2 };
static const struct sntrup_math *const kinds[] = { &with_avx2, &any };

static int runs_here(const struct sntrup_math *m)
{
	return m != &with_avx2 || __builtin_cpu_supports("avx2");
}

#else

static const struct sntrup_math *const kinds[] = { &any };

static int runs_here(const struct sntrup_math *m)
{
	(void)m;
	return 1;
}

#endif

const struct sntrup_math *sntrup_math_at(size_t i)
{
	for (size_t at = 0; at < MEM_COUNT(kinds); at++)
		if (runs_here(kinds[at]) && i-- == 0)
			return kinds[at];
	return NULL;
}
