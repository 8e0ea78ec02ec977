/* crypto/umac_simd.c: NH in plain C, SSE2, AVX2 and AVX-512, chosen at run time.
 *
 * NH adds up (m[i] + k[i]) * (m[i+4] + k[i+4]) for i = 0..3 of every 8 words: 32-bit sums, 64-bit products and total. The
 * key of stream j is that of stream 0 moved by 4 words, so with u(s) the s-th 16 bytes of key, chunk c of the message
 * (32 bytes, halves a and b) meets u(2c+j) and u(2c+j+1): all streams of a pass share loads. */
#include "crypto/umac_simd.h"

#include <string.h>
#include "base/mem.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define NH_X86 1
#include <immintrin.h>
#else
#define NH_X86 0
#endif

#define ALWAYS_INLINE inline __attribute__((always_inline))

enum { CHUNK = 32, UNIT = 16, UNITS = NH_KEY_WORDS / 4 };

/* ---- plain C ---- */

static uint32_t load_le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void prepare_words(const uint32_t *words, void *key)
{
	memcpy(key, words, NH_KEY_WORDS * sizeof(words[0]));
}

static void hash_plain(const void *key, size_t streams, const uint8_t *m, size_t size, size_t count, uint64_t *out)
{
	for (; count > 0; count--, out += streams) {
		const uint32_t *k = key;

		memset(out, 0, streams * sizeof(out[0]));
		for (size_t at = 0; at < size; at += CHUNK, k += 8, m += CHUNK) {
			for (size_t i = 0; i < 4; i++) {
				uint32_t a = load_le32(m + 4 * i), b = load_le32(m + 16 + 4 * i);

				for (size_t j = 0; j < streams; j++)
					out[j] += (uint64_t)(a + k[i + 4 * j]) * (b + k[i + 4 * j + 4]);
			}
		}
	}
}

static const struct nh plain = { "c", prepare_words, hash_plain };

#if NH_X86

/* ---- SSE2: the key as words in order ---- */

#define TARGET_SSE2 __attribute__((target("sse2")))

/* sum + the four products of one chunk, as two 64-bit lanes */
static ALWAYS_INLINE TARGET_SSE2 __m128i add_products_128(__m128i sum, __m128i a, __m128i b)
{
	__m128i even = _mm_mul_epu32(a, b);
	__m128i odd = _mm_mul_epu32(_mm_srli_epi64(a, 32), _mm_srli_epi64(b, 32));

	return _mm_add_epi64(sum, _mm_add_epi64(even, odd));
}

static ALWAYS_INLINE TARGET_SSE2 void chunk_128(const __m128i *u, size_t streams, const uint8_t *m, __m128i *sum)
{
	__m128i a = _mm_loadu_si128((const __m128i *)m);
	__m128i b = _mm_loadu_si128((const __m128i *)(m + UNIT));

	for (size_t j = 0; j < streams; j++)
		sum[j] = add_products_128(sum[j], _mm_add_epi32(a, u[j]), _mm_add_epi32(b, u[j + 1]));
}

static ALWAYS_INLINE TARGET_SSE2 uint64_t total_128(__m128i v)
{
	return (uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(v, _mm_unpackhi_epi64(v, v)));
}

static ALWAYS_INLINE TARGET_SSE2 void sse2(const void *key, size_t streams, const uint8_t *m, size_t size, size_t count,
	uint64_t *out)
{
	for (; count > 0; count--, out += streams) {
		const __m128i *u = key;
		__m128i sum[NH_STREAMS_MAX];

		for (size_t j = 0; j < streams; j++)
			sum[j] = _mm_setzero_si128();
		for (size_t at = 0; at < size; at += CHUNK, u += 2, m += CHUNK)
			chunk_128(u, streams, m, sum);
		for (size_t j = 0; j < streams; j++)
			out[j] = total_128(sum[j]);
	}
}

static TARGET_SSE2 void hash_sse2(const void *key, size_t streams, const uint8_t *m, size_t size, size_t count,
	uint64_t *out)
{
	if (streams == 2)
		sse2(key, 2, m, size, count, out);
	else
		sse2(key, 4, m, size, count, out);
}

static const struct nh with_sse2 = { "sse2", prepare_words, hash_sse2 };

/* ---- AVX2: two chunks at once, a of both in one vector, b in another; so the key holds u(s) beside u(s+2) ---- */

#define TARGET_AVX2 __attribute__((target("avx2")))

static void prepare_avx2(const uint32_t *words, void *key)
{
	uint8_t *to = key;
	const uint8_t *u = (const uint8_t *)words;

	for (size_t s = 0; s + 2 < UNITS; s++, to += 2 * UNIT) {
		memcpy(to, u + s * UNIT, UNIT);
		memcpy(to + UNIT, u + (s + 2) * UNIT, UNIT);
	}
}

static ALWAYS_INLINE TARGET_AVX2 __m256i add_products_256(__m256i sum, __m256i a, __m256i b)
{
	__m256i even = _mm256_mul_epu32(a, b);
	/* one shift and one shuffle, which run on different ports */
	__m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), _mm256_shuffle_epi32(b, 0xf5));

	return _mm256_add_epi64(sum, _mm256_add_epi64(even, odd));
}

/* p[0..16) and p[far..far+16) in one vector */
static ALWAYS_INLINE TARGET_AVX2 __m256i load_two(const uint8_t *p)
{
	__m256i low = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)p));

	return _mm256_inserti128_si256(low, _mm_loadu_si128((const __m128i *)(p + CHUNK)), 1);
}

/* The single chunk at the end of a message that is no multiple of 64; its key is in the lower lanes. */
static ALWAYS_INLINE TARGET_AVX2 void last_chunk(const __m256i *u, size_t streams, const uint8_t *m, uint64_t *out)
{
	__m128i a = _mm_loadu_si128((const __m128i *)m);
	__m128i b = _mm_loadu_si128((const __m128i *)(m + UNIT));

	for (size_t j = 0; j < streams; j++) {
		__m128i x = _mm_add_epi32(a, _mm256_castsi256_si128(u[j]));
		__m128i y = _mm_add_epi32(b, _mm256_castsi256_si128(u[j + 1]));
		__m128i sum = _mm_add_epi64(_mm_mul_epu32(x, y),
			_mm_mul_epu32(_mm_srli_epi64(x, 32), _mm_srli_epi64(y, 32)));

		out[j] += (uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(sum, _mm_unpackhi_epi64(sum, sum)));
	}
}

static ALWAYS_INLINE TARGET_AVX2 void avx2(const void *key, size_t streams, const uint8_t *m, size_t size, size_t count,
	uint64_t *out)
{
	for (; count > 0; count--, out += streams) {
		const __m256i *u = key;
		__m256i sum[NH_STREAMS_MAX];
		size_t left = size;

		for (size_t j = 0; j < streams; j++)
			sum[j] = _mm256_setzero_si256();
		for (; left >= 2 * CHUNK; left -= 2 * CHUNK, u += 4, m += 2 * CHUNK) {
			__m256i a = load_two(m), b = load_two(m + UNIT);

			for (size_t j = 0; j < streams; j++)
				sum[j] = add_products_256(sum[j], _mm256_add_epi32(a, u[j]),
					_mm256_add_epi32(b, u[j + 1]));
		}
		for (size_t j = 0; j < streams; j++) {
			__m128i v = _mm_add_epi64(_mm256_castsi256_si128(sum[j]), _mm256_extracti128_si256(sum[j], 1));

			out[j] = (uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(v, _mm_unpackhi_epi64(v, v)));
		}
		if (left != 0) {
			last_chunk(u, streams, m, out);
			m += CHUNK;
		}
	}
}

static TARGET_AVX2 void hash_avx2(const void *key, size_t streams, const uint8_t *m, size_t size, size_t count,
	uint64_t *out)
{
	if (streams == 2)
		avx2(key, 2, m, size, count, out);
	else
		avx2(key, 4, m, size, count, out);
}

static const struct nh with_avx2 = { "avx2", prepare_avx2, hash_avx2 };

/* ---- AVX-512: the same with four chunks; the key holds u(s), u(s+2), u(s+4), u(s+6) ---- */

#define TARGET_AVX512 __attribute__((target("avx512f")))

static void prepare_avx512(const uint32_t *words, void *key)
{
	uint8_t *to = key;
	const uint8_t *u = (const uint8_t *)words;

	for (size_t s = 0; s < UNITS; s++)
		for (size_t lane = 0; lane < 4; lane++, to += UNIT) {
			/* What would lie beyond the key is never used: only lower lanes serve the last chunks. */
			if (s + 2 * lane < UNITS)
				memcpy(to, u + (s + 2 * lane) * UNIT, UNIT);
			else
				memset(to, 0, UNIT);
		}
}

static ALWAYS_INLINE TARGET_AVX512 void last_chunks(const __m512i *u, size_t streams, const uint8_t *m, size_t left,
	uint64_t *out)
{
	for (; left != 0; left -= CHUNK, m += CHUNK, u += 2) {
		__m128i a = _mm_loadu_si128((const __m128i *)m);
		__m128i b = _mm_loadu_si128((const __m128i *)(m + UNIT));

		for (size_t j = 0; j < streams; j++) {
			__m128i x = _mm_add_epi32(a, _mm512_castsi512_si128(u[j]));
			__m128i y = _mm_add_epi32(b, _mm512_castsi512_si128(u[j + 1]));
			__m128i sum = _mm_add_epi64(_mm_mul_epu32(x, y),
				_mm_mul_epu32(_mm_srli_epi64(x, 32), _mm_srli_epi64(y, 32)));

			out[j] += (uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(sum, _mm_unpackhi_epi64(sum, sum)));
		}
	}
}

static ALWAYS_INLINE TARGET_AVX512 void avx512(const void *key, size_t streams, const uint8_t *m, size_t size,
	size_t count, uint64_t *out)
{
	for (; count > 0; count--, out += streams) {
		const __m512i *u = key;
		__m512i sum[NH_STREAMS_MAX];
		size_t left = size;

		for (size_t j = 0; j < streams; j++)
			sum[j] = _mm512_setzero_si512();
		for (; left >= 4 * CHUNK; left -= 4 * CHUNK, u += 8, m += 4 * CHUNK) {
			__m512i front = _mm512_loadu_si512(m), back = _mm512_loadu_si512(m + 2 * CHUNK);
			__m512i a = _mm512_shuffle_i64x2(front, back, 0x88);
			__m512i b = _mm512_shuffle_i64x2(front, back, 0xdd);

			for (size_t j = 0; j < streams; j++) {
				__m512i x = _mm512_add_epi32(a, u[j]), y = _mm512_add_epi32(b, u[j + 1]);
				__m512i even = _mm512_mul_epu32(x, y);
				__m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(x, 32),
					_mm512_shuffle_epi32(y, (_MM_PERM_ENUM)0xf5));

				sum[j] = _mm512_add_epi64(sum[j], _mm512_add_epi64(even, odd));
			}
		}
		for (size_t j = 0; j < streams; j++) {
			/* not _mm512_reduce_add_epi64, which gcc adds up as signed numbers */
			__m256i v = _mm256_add_epi64(_mm512_castsi512_si256(sum[j]), _mm512_extracti64x4_epi64(sum[j], 1));
			__m128i w = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

			out[j] = (uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(w, _mm_unpackhi_epi64(w, w)));
		}
		last_chunks(u, streams, m, left, out);
		m += left;
	}
}

static TARGET_AVX512 void hash_avx512(const void *key, size_t streams, const uint8_t *m, size_t size, size_t count,
	uint64_t *out)
{
	if (streams == 2)
		avx512(key, 2, m, size, count, out);
	else
		avx512(key, 4, m, size, count, out);
}

static const struct nh with_avx512 = { "avx512", prepare_avx512, hash_avx512 };

/* ---- the choice ---- */

static const struct nh *const kinds[] = { &with_avx512, &with_avx2, &with_sse2, &plain };

static int runs_here(const struct nh *n)
{
	/* Processors with VBMI2 are those that do not slow down for wide multiplications. */
	if (n == &with_avx512)
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vbmi2");
	if (n == &with_avx2)
		return __builtin_cpu_supports("avx2");
	if (n == &with_sse2)
		return __builtin_cpu_supports("sse2");
	return 1;
}

#else

static const struct nh *const kinds[] = { &plain };

static int runs_here(const struct nh *n)
{
	(void)n;
	return 1;
}

#endif

const struct nh *nh_at(size_t i)
{
	for (size_t at = 0; at < MEM_COUNT(kinds); at++)
		if (runs_here(kinds[at]) && i-- == 0)
			return kinds[at];
	return NULL;
}
