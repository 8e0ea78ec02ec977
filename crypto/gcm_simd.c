/* crypto/gcm_simd.c: AES-GCM (NIST SP 800-38D) with VAES and VPCLMULQDQ on AVX-512, four blocks an instruction.
 *
 * libcrypto has this from 3.2 on; in 3.0 a gigabyte costs three times as much. Sixteen blocks are encrypted side by side, and
 * hashed with H^16 .. H^1 so that their sum is reduced once. A block as a polynomial has its bits in reverse order (section
 * 6.3): blocks are byte-swapped when loaded, and the powers of H are kept multiplied by x, which takes out the shift by one
 * that products of reversed numbers need (Gueron and Kounavis, "Intel carry-less multiplication instruction", algorithm 4 and
 * what follows it). No branch and no address depends on secrets. */
#include "crypto/gcm_simd.h"

#include <string.h>
#include "base/mem.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

#include <cpuid.h>
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,vaes,vpclmulqdq,aes,pclmul,ssse3,sse4.1")))
#define INLINE inline __attribute__((always_inline)) TARGET
/* Short loops over arrays of vectors: unrolled, the vectors are registers. */
#define UNROLLED _Pragma("GCC unroll 16")

enum {
	BLOCK = 16, VECTOR = 64, STRIDE = 256, NONCE_SIZE = 12,
	ROUNDS_128 = 10, ROUNDS_256 = 14,
	POWERS = STRIDE / BLOCK,
	BEHIND = VECTOR / BLOCK          /* zeros, so that a vector of powers may begin at the last one */
};

struct gcm_simd {
	__m128i round_key[ROUNDS_256 + 1];
	__m128i power[POWERS + BEHIND];  /* H^16 .. H^1, times x */
	int rounds;
};

/* What goes from step to step of one message. */
struct run {
	__m512i counter;                 /* of the next four blocks, as numbers */
	__m128i hash;
};

/* ---- arithmetic ---- */

static INLINE __m128i swap_128(__m128i v)
{
	return _mm_shuffle_epi8(v, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

static INLINE __m512i swap_512(__m512i v)
{
	return _mm512_shuffle_epi8(v, _mm512_broadcast_i32x4(
		_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)));
}

/* x^128 + x^127 + x^126 + x^121 + 1 in reverse; the upper half is what a reduction multiplies by. */
static INLINE __m128i polynomial(void)
{
	return _mm_set_epi64x((long long)0xc200000000000000ULL, 1);
}

/* A product of 255 bits in three parts, reduced: the low 64 bits are folded into the middle, these into the high ones. */
static INLINE __m128i reduce(__m128i lo, __m128i mid, __m128i hi)
{
	__m128i p = polynomial();

	mid = _mm_ternarylogic_epi64(mid, _mm_shuffle_epi32(lo, 0x4e), _mm_clmulepi64_si128(p, lo, 0x01), 0x96);
	return _mm_ternarylogic_epi64(hi, _mm_shuffle_epi32(mid, 0x4e), _mm_clmulepi64_si128(p, mid, 0x01), 0x96);
}

static INLINE __m128i multiply(__m128i a, __m128i h)
{
	__m128i mid = _mm_xor_si128(_mm_clmulepi64_si128(a, h, 0x01), _mm_clmulepi64_si128(a, h, 0x10));

	return reduce(_mm_clmulepi64_si128(a, h, 0x00), mid, _mm_clmulepi64_si128(a, h, 0x11));
}

static INLINE __m128i sum_lanes(__m512i v)
{
	__m256i w = _mm256_xor_si256(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));

	return _mm_xor_si128(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
}

/* The hash behind `count` vectors, which were byte-swapped: the first block takes the highest power, power[0]. */
static INLINE __m128i hash_vectors(__m128i hash, const __m512i *v, const __m128i *power, size_t count)
{
	__m512i lo = _mm512_setzero_si512(), mid = lo, hi = lo;

	UNROLLED for (size_t i = 0; i < count; i++) {
		__m512i h = _mm512_loadu_si512(power + 4 * i);
		__m512i a = i == 0 ? _mm512_xor_si512(v[0], _mm512_zextsi128_si512(hash)) : v[i];

		lo = _mm512_xor_si512(lo, _mm512_clmulepi64_epi128(a, h, 0x00));
		mid = _mm512_ternarylogic_epi64(mid, _mm512_clmulepi64_epi128(a, h, 0x01),
			_mm512_clmulepi64_epi128(a, h, 0x10), 0x96);
		hi = _mm512_xor_si512(hi, _mm512_clmulepi64_epi128(a, h, 0x11));
	}
	return reduce(sum_lanes(lo), sum_lanes(mid), sum_lanes(hi));
}

/* ---- AES ---- */

static INLINE __m128i encrypt_block(const struct gcm_simd *g, __m128i b)
{
	b = _mm_xor_si128(b, g->round_key[0]);
	for (int i = 1; i < g->rounds; i++)
		b = _mm_aesenc_si128(b, g->round_key[i]);
	return _mm_aesenclast_si128(b, g->round_key[g->rounds]);
}

/* The next `count` vectors of key stream. */
static INLINE void key_stream(const struct gcm_simd *g, int rounds, struct run *r, __m512i *out, size_t count)
{
	__m512i k = _mm512_broadcast_i32x4(g->round_key[0]);

	UNROLLED for (size_t i = 0; i < count; i++) {
		out[i] = _mm512_xor_si512(swap_512(r->counter), k);
		/* inc32 of the standard: the lowest 32 bits of each number alone. */
		r->counter = _mm512_add_epi32(r->counter, _mm512_set_epi32(0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4));
	}
	UNROLLED for (int j = 1; j < rounds; j++) {
		k = _mm512_broadcast_i32x4(g->round_key[j]);
		UNROLLED for (size_t i = 0; i < count; i++)
			out[i] = _mm512_aesenc_epi128(out[i], k);
	}
	k = _mm512_broadcast_i32x4(g->round_key[rounds]);
	UNROLLED for (size_t i = 0; i < count; i++)
		out[i] = _mm512_aesenclast_epi128(out[i], k);
}

/* FIPS 197, section 5.2. AESKEYGENASSIST is SubWord and RotWord for two words. */
static TARGET void expand_key(struct gcm_simd *g, const uint8_t *key, size_t size)
{
	static const uint8_t constants[] = { 0, 1, 2, 4, 8, 16, 32, 64, 128, 27, 54 };
	uint32_t w[4 * (ROUNDS_256 + 1)];
	size_t nk = size / 4, n = 4 * (size_t)(g->rounds + 1);

	memcpy(w, key, size);
	for (size_t i = nk; i < n; i++) {
		__m128i t = _mm_aeskeygenassist_si128(_mm_set_epi32(0, 0, (int)w[i - 1], 0), 0);
		uint32_t word = w[i - 1];

		if (i % nk == 0)
			word = (uint32_t)_mm_extract_epi32(t, 1) ^ constants[i / nk];
		else if (nk > 6 && i % nk == 4)
			word = (uint32_t)_mm_extract_epi32(t, 0);
		w[i] = w[i - nk] ^ word;
	}
	memcpy(g->round_key, w, 4 * n);
	mem_wipe(w, sizeof(w));
}

/* H times x, in reversed order of bits: a shift to the left, and what falls out comes back by the polynomial. */
static TARGET __m128i times_x(__m128i h)
{
	uint64_t lo = (uint64_t)_mm_extract_epi64(h, 0), hi = (uint64_t)_mm_extract_epi64(h, 1), out = hi >> 63;

	hi = hi << 1 | lo >> 63;
	lo = lo << 1;
	return _mm_set_epi64x((long long)(hi ^ (0xc200000000000000ULL & (0 - out))), (long long)(lo ^ out));
}

static TARGET void prepare(struct gcm_simd *g, const uint8_t *key, size_t size)
{
	__m128i h;

	g->rounds = size == 16 ? ROUNDS_128 : ROUNDS_256;
	expand_key(g, key, size);
	h = times_x(swap_128(encrypt_block(g, _mm_setzero_si128())));
	g->power[POWERS - 1] = h;
	for (int i = POWERS - 2; i >= 0; i--)
		g->power[i] = multiply(g->power[i + 1], h);
}

/* ---- messages ---- */

/* 256 bytes at a time. */
static INLINE size_t run_strides(const struct gcm_simd *g, int rounds, bool seal, struct run *r, uint8_t *p, size_t n)
{
	size_t at = 0;

	for (; n - at >= STRIDE; at += STRIDE) {
		__m512i stream[4], v[4];

		key_stream(g, rounds, r, stream, 4);
		UNROLLED for (size_t i = 0; i < 4; i++) {
			__m512i in = _mm512_loadu_si512(p + at + VECTOR * i), out = _mm512_xor_si512(in, stream[i]);

			_mm512_storeu_si512(p + at + VECTOR * i, out);
			v[i] = swap_512(seal ? out : in);
		}
		r->hash = hash_vectors(r->hash, v, g->power, 4);
	}
	return at;
}

/* Up to 64 bytes; what lacks of the last block counts as zeros. */
static INLINE void run_vector(const struct gcm_simd *g, bool seal, struct run *r, uint8_t *p, size_t n)
{
	__mmask64 mask = n == VECTOR ? ~(__mmask64)0 : ((__mmask64)1 << n) - 1;
	size_t blocks = (n + BLOCK - 1) / BLOCK;
	__m512i stream, in = _mm512_maskz_loadu_epi8(mask, p), out, v;

	key_stream(g, g->rounds, r, &stream, 1);
	out = _mm512_maskz_mov_epi8(mask, _mm512_xor_si512(in, stream));
	_mm512_mask_storeu_epi8(p, mask, out);
	v = swap_512(seal ? out : in);
	r->hash = hash_vectors(r->hash, &v, g->power + POWERS - blocks, 1);
}

static INLINE __m128i run_begin(const struct gcm_simd *g, const uint8_t *nonce, struct run *r)
{
	uint8_t first[BLOCK] = { 0 };
	__m128i number;

	memcpy(first, nonce, NONCE_SIZE);
	first[BLOCK - 1] = 1;
	number = swap_128(_mm_loadu_si128((const __m128i *)first));
	r->counter = _mm512_add_epi32(_mm512_broadcast_i32x4(number),
		_mm512_set_epi32(0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1));
	r->hash = _mm_setzero_si128();
	return encrypt_block(g, _mm_loadu_si128((const __m128i *)first));
}

static INLINE void hash_aad(const struct gcm_simd *g, struct run *r, const uint8_t *aad, size_t n)
{
	for (size_t at = 0; at < n; at += BLOCK) {
		uint8_t block[BLOCK] = { 0 };

		memcpy(block, aad + at, n - at < BLOCK ? n - at : BLOCK);
		r->hash = multiply(_mm_xor_si128(r->hash, swap_128(_mm_loadu_si128((const __m128i *)block))),
			g->power[POWERS - 1]);
	}
}

static INLINE void run_end(const struct gcm_simd *g, struct run *r, __m128i mask, const struct gcm_message *m)
{
	/* The lengths in bits, as one block. */
	__m128i sizes = _mm_set_epi64x((long long)(m->aad_n * 8), (long long)(m->n * 8));

	r->hash = multiply(_mm_xor_si128(r->hash, sizes), g->power[POWERS - 1]);
	_mm_storeu_si128((__m128i *)m->tag, _mm_xor_si128(mask, swap_128(r->hash)));
}

static INLINE void run_message(const struct gcm_simd *g, bool seal, const struct gcm_message *m)
{
	struct run r;
	__m128i mask = run_begin(g, m->nonce, &r);
	size_t at;

	hash_aad(g, &r, m->aad, m->aad_n);
	/* The number of rounds is a constant in either call, so that the keys stay in registers. */
	at = g->rounds == ROUNDS_128 ? run_strides(g, ROUNDS_128, seal, &r, m->p, m->n) :
		run_strides(g, ROUNDS_256, seal, &r, m->p, m->n);
	for (; at < m->n; at += VECTOR)
		run_vector(g, seal, &r, m->p + at, m->n - at < VECTOR ? m->n - at : VECTOR);
	run_end(g, &r, mask, m);
}

TARGET void gcm_simd_seal(const struct gcm_simd *g, const struct gcm_message *m)
{
	run_message(g, true, m);
	_mm256_zeroupper();
}

TARGET void gcm_simd_open(const struct gcm_simd *g, const struct gcm_message *m)
{
	run_message(g, false, m);
	_mm256_zeroupper();
}

static bool runs_here(void)
{
	unsigned a, b, c = 0, d;

	/* VAES and VPCLMULQDQ by number: not every compiler knows their names here. That the system keeps wide registers is
	 * part of what it says about AVX-512. */
	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(c & 1U << 9) || !(c & 1U << 10))
		return false;
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
		__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
}

struct gcm_simd *gcm_simd_new(const uint8_t *key, size_t key_size)
{
	struct gcm_simd *g;

	if ((key_size != 16 && key_size != 32) || !runs_here())
		return NULL;
	g = mem_zalloc(sizeof(*g));      /* malloc aligns to 16, which is what __m128i wants */
	prepare(g, key, key_size);
	return g;
}

void gcm_simd_free(struct gcm_simd *g)
{
	if (g != NULL)
		mem_free_secret(g, sizeof(*g));
}

#else

struct gcm_simd *gcm_simd_new(const uint8_t *key, size_t key_size)
{
	(void)key;
	(void)key_size;
	return NULL;
}

void gcm_simd_free(struct gcm_simd *g)
{
	(void)g;
}

/* Never called: there is no g. */
void gcm_simd_seal(const struct gcm_simd *g, const struct gcm_message *m)
{
	(void)g;
	(void)m;
}

void gcm_simd_open(const struct gcm_simd *g, const struct gcm_message *m)
{
	(void)g;
	(void)m;
}

#endif
