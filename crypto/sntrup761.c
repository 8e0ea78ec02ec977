/* crypto/sntrup761.c: Streamlined NTRU Prime 761. Layer: crypto.
 *
 * R is Z[x] / (x^761 - x - 1); R/3 and R/q are the same mod 3 and q = 4591. "Small" has coefficients -1, 0 and 1; "short" is
 * small with exactly 286 of them not 0. The secret key is a short f and a small g with an inverse in R/3, the public key
 * h = g / 3f in R/q. A message is a short r: it is sent as hr with every coefficient rounded to a multiple of 3. f * 3 * that
 * is gr + 3f * (what rounding changed), a polynomial so small that no coefficient wraps mod q; so mod 3 it is gr, and 1/g yields r.
 *
 * No branch and no address depends on a secret, and there is no division of one. What travels (public key, ciphertext) is public:
 * decode() divides. The exception is which draws of g are thrown away, which tells nothing of the one that is kept. */
#include "crypto/sntrup761.h"

#include <string.h>
#include "base/mem.h"
#include "crypto/digest.h"
#include "crypto/rand.h"
#include "crypto/sntrup761_simd.h"

enum {
	P = SNTRUP_P, Q = SNTRUP_Q, HALF = SNTRUP_HALF, ROOM = SNTRUP_ROOM,
	WEIGHT = 286,
	ROUNDED = Q / 3 + 1,             /* multiples of 3 in -HALF..HALF */
	SMALL_SIZE = (P + 3) / 4, ROUNDED_SIZE = 1007, HASH_SIZE = 32,
	RADIX_LIMIT = 1 << 14,           /* encode(): numbers that large give bytes away */
	WORDS = ROOM / 64
};
_Static_assert(ROUNDED_SIZE + HASH_SIZE == SNTRUP761_CIPHERTEXT, "a ciphertext is a rounded polynomial and a hash");

/* The first byte of what is hashed. */
enum { HASH_REJECTED, HASH_SECRET, HASH_CONFIRM, HASH_MESSAGE, HASH_PUBLIC };

struct sntrup761 {
	const struct sntrup_math *math;
	int16_t h[ROOM];
	int8_t f[ROOM], g_inverse[ROOM];
	uint8_t public[SNTRUP761_PUBLIC], public_hash[HASH_SIZE];
	uint8_t rejected[SMALL_SIZE];    /* in place of the message of a ciphertext that is wrong */
};

static void fill_random(void *ctx, void *p, size_t n)
{
	(void)ctx;
	rand_bytes(p, n);
}

static struct sntrup761_source source_or_default(const struct sntrup761_source *s)
{
	return s != NULL ? *s : (struct sntrup761_source){ fill_random, NULL, sntrup_math_at(0) };
}

/* What is congruent to x mod 3 in -1..1, for |x| < 2^14. */
static int8_t mod_3(int32_t x)
{
	return (int8_t)(x - 3 * ((x * 10923 + (1 << 14)) >> 15));
}

/* ---- bytes ---- */

/* The first 32 bytes of SHA-512(kind || a || b). */
static int hash(uint8_t kind, const uint8_t *a, size_t a_n, const uint8_t *b, size_t b_n, uint8_t out[HASH_SIZE])
{
	const struct view all[] = { { &kind, 1 }, { a, a_n }, { b, b_n } };
	uint8_t full[DIGEST_MAX];
	int r = digest_of(DIGEST_SHA512, all, MEM_COUNT(all), full);

	memcpy(out, full, HASH_SIZE);
	mem_wipe(full, sizeof(full));
	return r;
}

/* Four coefficients a byte; those beyond the last one are 0 bits, not zeros. */
static void encode_small(uint8_t out[SMALL_SIZE], const int8_t *f)
{
	memset(out, 0, SMALL_SIZE);
	for (size_t i = 0; i < P; i++)
		out[i / 4] = (uint8_t)(out[i / 4] | (f[i] + 1) << (i % 4 * 2));
}

/* What is left of a range of numbers when bytes that carry their lowest bits are taken off. */
static uint32_t shrink(uint32_t range, unsigned *bytes)
{
	for (*bytes = 0; range >= RADIX_LIMIT; ++*bytes)
		range = (range + 255) >> 8;
	return range;
}

/* Numbers below m, n of them, as bytes: neighbours become one number of both ranges, of which low bytes are written, and so on
 * with the half as many numbers that are left. All have the same range but the last one, which may be an odd one from below.
 * r is used up. */
static void encode(uint8_t *out, uint16_t *r, size_t n, uint32_t m)
{
	uint32_t last = m, v;
	unsigned bytes, of_last;

	for (; n > 1; n = (n + 1) / 2) {
		size_t pairs = n / 2;
		uint32_t merged = shrink(m * m, &bytes), merged_last = shrink(m * last, &of_last);

		for (size_t i = 0; i < pairs; i++) {
			v = r[2 * i] + m * r[2 * i + 1];
			for (unsigned b = 2 * i + 2 == n ? of_last : bytes; b > 0; b--, v >>= 8)
				*out++ = (uint8_t)v;
			r[i] = (uint16_t)v;
		}
		if (n % 2 != 0)
			r[pairs] = r[n - 1];
		else
			last = merged_last;
		m = merged;
	}
	for (v = r[0]; last > 1; last = (last + 255) >> 8, v >>= 8)
		*out++ = (uint8_t)v;
}

/* The same backwards. Whatever the bytes are, every number is below its range. */
static void decode(uint16_t *r, const uint8_t *in, size_t n, uint32_t m, uint32_t last)
{
	uint32_t v = 0, low[P / 2], range, range_last;
	uint16_t high[P / 2 + 1];
	unsigned bytes, of_last, shift = 0;

	if (n == 1) {
		for (range = last; range > 1; range = (range + 255) >> 8, shift += 8)
			v |= (uint32_t)*in++ << shift;
		r[0] = (uint16_t)(v % last);
		return;
	}
	range = shrink(m * m, &bytes);
	range_last = shrink(m * last, &of_last);
	for (size_t i = 0; i < n / 2; i++) {
		low[i] = 0;
		for (unsigned b = 0; b < (2 * i + 2 == n ? of_last : bytes); b++)
			low[i] |= (uint32_t)*in++ << 8 * b;
	}
	decode(high, in, (n + 1) / 2, range, n % 2 != 0 ? last : range_last);
	for (size_t i = 0; i < n / 2; i++) {
		bool at_end = 2 * i + 2 == n;

		v = low[i] + ((uint32_t)high[i] << 8 * (at_end ? of_last : bytes));
		r[2 * i] = (uint16_t)(v % m);
		r[2 * i + 1] = (uint16_t)(v / m % (at_end ? last : m));
	}
	if (n % 2 != 0)
		r[n - 1] = high[n / 2];
}

static void encode_public(uint8_t out[SNTRUP761_PUBLIC], const int16_t *h)
{
	uint16_t r[P];

	for (size_t i = 0; i < P; i++)
		r[i] = (uint16_t)(h[i] + HALF);
	encode(out, r, P, Q);
}

static void decode_public(int16_t *h, const uint8_t *in)
{
	uint16_t r[P];

	decode(r, in, P, Q, Q);
	for (size_t i = 0; i < ROOM; i++)
		h[i] = (int16_t)(i < P ? r[i] - HALF : 0);
}

/* c: multiples of 3 */
static void encode_rounded(uint8_t out[ROUNDED_SIZE], const int16_t *c)
{
	uint16_t r[P];

	for (size_t i = 0; i < P; i++)
		r[i] = (uint16_t)(((c[i] + HALF) * 10923) >> 15);        /* a third, exactly */
	encode(out, r, P, ROUNDED);
	mem_wipe(r, sizeof(r));
}

static void decode_rounded(int16_t *c, const uint8_t *in)
{
	uint16_t r[P];

	decode(r, in, P, ROUNDED, ROUNDED);
	for (size_t i = 0; i < ROOM; i++)
		c[i] = (int16_t)(i < P ? 3 * r[i] - HALF : 0);
}

/* ---- random polynomials ---- */

static void order_two(uint32_t *a, uint32_t *b)
{
	uint32_t swap = 0U - (uint32_t)(((uint64_t)*b - *a) >> 63), differ = (*a ^ *b) & swap;

	*a ^= differ;
	*b ^= differ;
}

/* Batcher's odd-even merging network for any n (Knuth, The Art of Computer Programming 3, 5.2.2, algorithm M): which numbers
 * are compared depends on n only. */
static void sort(uint32_t *v, size_t n)
{
	size_t top = 1;

	while (2 * top < n)
		top *= 2;
	for (size_t p = top; p > 0; p /= 2) {
		size_t r = 0, d = p;

		for (size_t q = top; ; q /= 2) {
			/* all i with bit p of i like that of r */
			for (size_t from = r; from + d < n; from += 2 * p)
				for (size_t i = from; i < from + p && i + d < n; i++)
					order_two(&v[i], &v[i + d]);
			if (q == p)
				break;
			d = q - p;
			r = p;
		}
	}
}

/* Numbers whose last two bits are a coefficient + 1, sorted by the others, which are random. */
static void draw_short(const struct sntrup761_source *s, int8_t *f)
{
	uint32_t v[P];

	s->fill(s->ctx, v, sizeof(v));
	for (size_t i = 0; i < P; i++)
		v[i] = i < WEIGHT ? v[i] & ~1U : (v[i] & ~2U) | 1;
	sort(v, P);
	for (size_t i = 0; i < ROOM; i++)
		f[i] = (int8_t)(i < P ? (int)(v[i] & 3) - 1 : 0);
	mem_wipe(v, sizeof(v));
}

static void draw_small(const struct sntrup761_source *s, int8_t *g)
{
	uint32_t v[P];

	s->fill(s->ctx, v, sizeof(v));
	for (size_t i = 0; i < ROOM; i++)        /* 30 bits times 3 */
		g[i] = (int8_t)(i < P ? (int)(((v[i] & 0x3fffffff) * 3) >> 30) - 1 : 0);
	mem_wipe(v, sizeof(v));
}

/* ---- inverses in R/3, 64 coefficients at a time ---- */

/* Bit i of `plus` or `minus`: coefficient i is 1 or -1. */
struct trits { uint64_t plus[WORDS], minus[WORDS]; };

static void times_x(uint64_t *w)
{
	for (size_t i = WORDS - 1; i > 0; i--)
		w[i] = w[i] << 1 | w[i - 1] >> 63;
	w[0] <<= 1;
}

static void divide_by_x(uint64_t *w)
{
	for (size_t i = 0; i + 1 < WORDS; i++)
		w[i] = w[i] >> 1 | w[i + 1] << 63;
	w[WORDS - 1] >>= 1;
}

static void swap_if(uint64_t *a, uint64_t *b, uint64_t swap)
{
	for (size_t i = 0; i < WORDS; i++) {
		uint64_t differ = (a[i] ^ b[i]) & swap;

		a[i] ^= differ;
		b[i] ^= differ;
	}
}

/* b += a where add is -1, b -= a where sub is. */
static void add_multiple(struct trits *b, const struct trits *a, uint64_t add, uint64_t sub)
{
	for (size_t i = 0; i < WORDS; i++) {
		uint64_t plus = (a->plus[i] & add) | (a->minus[i] & sub), minus = (a->minus[i] & add) | (a->plus[i] & sub);
		uint64_t either = (plus | b->minus[i]) ^ (minus | b->plus[i]);
		uint64_t sum_plus = (minus | b->minus[i]) ^ either;

		b->minus[i] = (plus | b->plus[i]) ^ either;
		b->plus[i] = sum_plus;
	}
}

static uint64_t lowest(const uint64_t *w)
{
	return 0U - (w[0] & 1);
}

static void put_trit(struct trits *t, size_t i, int value)
{
	t->plus[i / 64] |= (uint64_t)(value == 1) << i % 64;
	t->minus[i / 64] |= (uint64_t)(value == -1) << i % 64;
}

/* As invert() in sntrup761_simd.c. False: g has no inverse. */
static bool invert_small(int8_t *out, const int8_t *in)
{
	struct trits f = { 0 }, g = { 0 }, v = { 0 }, r = { 0 };
	int32_t delta = 1;
	int sign;

	put_trit(&f, 0, 1);
	put_trit(&f, P - 1, -1);
	put_trit(&f, P, -1);
	put_trit(&r, 0, 1);
	for (size_t i = 0; i < P; i++)
		put_trit(&g, i, in[P - 1 - i]);
	for (size_t step = 0; step < 2 * P - 1; step++) {
		uint64_t g_plus = lowest(g.plus), g_minus = lowest(g.minus);
		uint64_t f_plus = lowest(f.plus), f_minus = lowest(f.minus);
		uint64_t add = (g_plus & f_minus) | (g_minus & f_plus), sub = (g_plus & f_plus) | (g_minus & f_minus);
		int32_t swap = (-delta >> 31) & (int32_t)(uint32_t)(add | sub);
		uint64_t swap_all = (uint64_t)(int64_t)swap;

		times_x(v.plus);
		times_x(v.minus);
		delta = (delta ^ swap) - swap + 1;
		swap_if(f.plus, g.plus, swap_all);
		swap_if(f.minus, g.minus, swap_all);
		swap_if(v.plus, r.plus, swap_all);
		swap_if(v.minus, r.minus, swap_all);
		add_multiple(&g, &f, add, sub);
		add_multiple(&r, &v, add, sub);
		divide_by_x(g.plus);
		divide_by_x(g.minus);
	}
	sign = (int)(f.plus[0] & 1) - (int)(f.minus[0] & 1);
	for (size_t i = 0; i < ROOM; i++) {
		size_t at = i < P ? P - 1 - i : ROOM - 1;        /* the last one is always 0 */
		int value = (int)(v.plus[at / 64] >> at % 64 & 1) - (int)(v.minus[at / 64] >> at % 64 & 1);

		out[i] = (int8_t)(sign * value);
	}
	mem_wipe(&f, sizeof(f));
	mem_wipe(&g, sizeof(g));
	mem_wipe(&v, sizeof(v));
	mem_wipe(&r, sizeof(r));
	return delta == 0;
}

/* ---- the mechanism ---- */

struct sntrup761 *sntrup761_new(const struct sntrup761_source *source, struct err *e)
{
	struct sntrup761_source s = source_or_default(source);
	struct sntrup761 *k = mem_zalloc(sizeof(*k));
	int8_t g[ROOM];
	int r;

	k->math = s.math;
	do {
		draw_small(&s, g);
	} while (!invert_small(k->g_inverse, g));
	draw_short(&s, k->f);
	s.fill(s.ctx, k->rejected, sizeof(k->rejected));
	s.math->invert(k->h, k->f);
	s.math->multiply(k->h, k->h, g);
	mem_wipe(g, sizeof(g));
	encode_public(k->public, k->h);
	r = hash(HASH_PUBLIC, k->public, sizeof(k->public), NULL, 0, k->public_hash);
	if (r < 0) {
		err_set(e, r, "sntrup761: SHA-512 is not available");
		sntrup761_free(k);
		return NULL;
	}
	return k;
}

void sntrup761_free(struct sntrup761 *k)
{
	mem_free_secret(k, sizeof(*k));
}

struct view sntrup761_public(const struct sntrup761 *k)
{
	return (struct view){ k->public, sizeof(k->public) };
}

/* The ciphertext of message r for public key h, and the hash of r. */
static int encrypt(const struct sntrup_math *math, const int16_t *h, const uint8_t public_hash[HASH_SIZE], const int8_t *r,
	uint8_t message_hash[HASH_SIZE], uint8_t ciphertext[SNTRUP761_CIPHERTEXT])
{
	int16_t c[ROOM];
	uint8_t message[SMALL_SIZE];
	int code;

	math->multiply(c, h, r);
	for (size_t i = 0; i < P; i++)
		c[i] = (int16_t)(c[i] - mod_3(c[i]));
	encode_rounded(ciphertext, c);
	encode_small(message, r);
	code = hash(HASH_MESSAGE, message, sizeof(message), NULL, 0, message_hash);
	if (code == 0)
		code = hash(HASH_CONFIRM, message_hash, HASH_SIZE, public_hash, HASH_SIZE, ciphertext + ROUNDED_SIZE);
	mem_wipe(c, sizeof(c));
	mem_wipe(message, sizeof(message));
	return code;
}

int sntrup761_encapsulate(const struct sntrup761_source *source, struct view public, uint8_t ciphertext[SNTRUP761_CIPHERTEXT],
	uint8_t secret[SNTRUP761_SECRET], struct err *e)
{
	struct sntrup761_source s = source_or_default(source);
	uint8_t public_hash[HASH_SIZE], message_hash[HASH_SIZE];
	int16_t h[ROOM];
	int8_t r[ROOM];
	int code;

	if (public.n != SNTRUP761_PUBLIC)
		return err_set(e, ERR_PEER, "sntrup761: the peer's public key has %zu bytes, not %d", public.n, SNTRUP761_PUBLIC);
	decode_public(h, public.p);
	draw_short(&s, r);
	code = hash(HASH_PUBLIC, public.p, public.n, NULL, 0, public_hash);
	if (code == 0)
		code = encrypt(s.math, h, public_hash, r, message_hash, ciphertext);
	if (code == 0)
		code = hash(HASH_SECRET, message_hash, HASH_SIZE, ciphertext, SNTRUP761_CIPHERTEXT, secret);
	mem_wipe(r, sizeof(r));
	mem_wipe(message_hash, sizeof(message_hash));
	return code < 0 ? err_set(e, code, "sntrup761: SHA-512 is not available") : 0;
}

/* The message in a rounded polynomial; if it is not short, a fixed one that is. */
static void decrypt(const struct sntrup761 *k, int16_t *c, int8_t *r)
{
	int32_t weight = 0, wrong;

	k->math->multiply(c, c, k->f);
	for (size_t i = 0; i < P; i++)
		c[i] = mod_3(sntrup_mod_q(3 * c[i]));
	/* No coefficient of this product of small ones reaches q / 2. */
	k->math->multiply(c, c, k->g_inverse);
	for (size_t i = 0; i < ROOM; i++) {
		r[i] = mod_3(c[i]);
		weight += r[i] & 1;
	}
	wrong = -(weight - WEIGHT) >> 31 | (weight - WEIGHT) >> 31;
	for (size_t i = 0; i < P; i++)
		r[i] = (int8_t)((r[i] & ~wrong) | (wrong & (i < WEIGHT)));
}

int sntrup761_decapsulate(const struct sntrup761 *k, struct view ciphertext, uint8_t secret[SNTRUP761_SECRET], struct err *e)
{
	uint8_t again[SNTRUP761_CIPHERTEXT], message_hash[HASH_SIZE], rejected[HASH_SIZE];
	uint8_t differ = 0, wrong;
	int16_t c[ROOM];
	int8_t r[ROOM];
	int code;

	if (ciphertext.n != SNTRUP761_CIPHERTEXT)
		return err_set(e, ERR_PEER, "sntrup761: the peer's ciphertext has %zu bytes, not %d", ciphertext.n,
			SNTRUP761_CIPHERTEXT);
	decode_rounded(c, ciphertext.p);
	decrypt(k, c, r);
	code = encrypt(k->math, k->h, k->public_hash, r, message_hash, again);
	if (code == 0)
		code = hash(HASH_MESSAGE, k->rejected, sizeof(k->rejected), NULL, 0, rejected);
	/* Both hashes are made, one is taken, and nobody can tell which by time. */
	for (size_t i = 0; i < sizeof(again); i++)
		differ |= again[i] ^ ciphertext.p[i];
	wrong = (uint8_t)(-(int)differ >> 8);
	for (size_t i = 0; i < HASH_SIZE; i++)
		message_hash[i] = (uint8_t)((message_hash[i] & ~wrong) | (rejected[i] & wrong));
	if (code == 0)
		code = hash((uint8_t)((HASH_SECRET & ~wrong) | (HASH_REJECTED & wrong)), message_hash, HASH_SIZE,
			ciphertext.p, ciphertext.n, secret);
	mem_wipe(again, sizeof(again));
	mem_wipe(message_hash, sizeof(message_hash));
	mem_wipe(rejected, sizeof(rejected));
	mem_wipe(c, sizeof(c));
	mem_wipe(r, sizeof(r));
	return code < 0 ? err_set(e, code, "sntrup761: SHA-512 is not available") : 0;
}
