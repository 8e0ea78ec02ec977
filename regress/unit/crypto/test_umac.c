/* UMAC: the answers of RFC 4418, and every kind of NH against a slow computation written after the RFC's text. */
#include "crypto/umac.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "crypto/block.h"
#include "crypto/umac_simd.h"
#include "regress/unit/crypto/unhex.h"
#include "wire/buf.h"

/* RFC 4418 appendix: key and nonce "abcdefghijklmnop", "bcdefghi"; tags of 8 bytes, and of 12, which are the first 12 of
 * the 16-byte tag. (Its message of 2^25 bytes is over our limit.) */
static const struct { const char *unit; size_t times; const char *tag64, *tag96; } vectors[] = {
	{ "", 0, "6e155fad26900be1", "32fedb100c79ad58f07ff764" },
	{ "a", 3, "44b5cb542f220104", "185e4fe905cba7bd85e4c2dc" },
	{ "a", 1 << 10, "26bf2f5d60118bd9", "7a54abe04af82d60fb298c3c" },
	{ "a", 1 << 15, "27f8ef643b0d118d", "7b136bd911e4b734286ef2be" },
	{ "a", 1 << 20, "a4477e87e9f55853", "f8acfa3ac31cfeea047f7b11" },
	{ "abc", 1, "d4d7b9f6bd4fbfcf", "883c3d4b97a61976ffcf2323" },
	{ "abc", 500, "d4cf26ddefd5c01a", "8824a260c53c66a36c9260a6" },
};

static void known_answers(void **state)
{
	uint64_t nonce = wire_load_u64((const uint8_t *)"bcdefghi");
	uint8_t *m = mem_alloc(1 << 20), want[16], tag[16];

	(void)state;
	for (size_t k = 0; nh_at(k) != NULL; k++) {
		struct umac *u64 = umac_new_with(nh_at(k), (const uint8_t *)"abcdefghijklmnop", 8, NULL);
		struct umac *u128 = umac_new_with(nh_at(k), (const uint8_t *)"abcdefghijklmnop", 16, NULL);

		assert_non_null(u64);
		assert_non_null(u128);
		for (size_t i = 0; i < MEM_COUNT(vectors); i++) {
			size_t unit = strlen(vectors[i].unit), n = unit * vectors[i].times;

			for (size_t j = 0; j < n; j++)
				m[j] = (uint8_t)vectors[i].unit[j % unit];
			unhex(vectors[i].tag64, want);
			assert_int_equal(umac_compute(u64, nonce, m, n, tag), 0);
			assert_memory_equal(tag, want, 8);
			unhex(vectors[i].tag96, want);
			assert_int_equal(umac_compute(u128, nonce, m, n, tag), 0);
			assert_memory_equal(tag, want, 12);
		}
		umac_free(u64);
		umac_free(u128);
	}
	free(m);
}

/* ---- the slow computation: bytes and formulas as in the RFC, no shortcuts ---- */

static void slow_kdf(const uint8_t *key, uint64_t index, uint8_t *out, size_t n)
{
	struct block *aes = block_new("AES-128-ECB", true, key, NULL, NULL);

	for (uint64_t i = 1; n > 0; i++) {
		uint8_t t[16];
		size_t take = n < 16 ? n : 16;

		wire_store_u64(t, index);
		wire_store_u64(t + 8, i);
		assert_int_equal(block_run(aes, t, 16), 0);
		memcpy(out, t, take);
		out += take;
		n -= take;
	}
	block_free(aes);
}

static uint64_t slow_nh(const uint8_t *key, const uint8_t *m, size_t n)
{
	uint8_t padded[1024] = { 0 };
	size_t size = n == 0 ? 32 : (n + 31) / 32 * 32;
	uint64_t y = 0;

	if (n != 0)
		memcpy(padded, m, n);
	for (size_t i = 0; i < size / 4; i++) {
		uint32_t low, high;

		if (i % 8 >= 4)
			continue;
		low = (uint32_t)(padded[4 * i] | padded[4 * i + 1] << 8 | padded[4 * i + 2] << 16 |
			(uint32_t)padded[4 * i + 3] << 24);
		high = (uint32_t)(padded[4 * i + 16] | padded[4 * i + 17] << 8 | padded[4 * i + 18] << 16 |
			(uint32_t)padded[4 * i + 19] << 24);
		low += wire_load_u32(key + 4 * i);
		high += wire_load_u32(key + 4 * i + 16);
		y += (uint64_t)low * high;
	}
	return y + n * 8;
}

static uint64_t slow_poly(uint64_t y, uint64_t k, uint64_t m)
{
	const unsigned __int128 p = ((unsigned __int128)1 << 64) - 59;

	if (m >= 0xffffffff00000000ULL) {
		y = (uint64_t)(((unsigned __int128)k * y + (p - 1)) % p);
		m -= 59;
	}
	return (uint64_t)(((unsigned __int128)k * y + m) % p);
}

static void slow_umac(const uint8_t *key, size_t tag_size, uint64_t nonce, const uint8_t *m, size_t n, uint8_t *tag)
{
	uint8_t l1[1024 + 48], l2[96], l31[256], l32[16], pdf_key[16], pad[16] = { 0 };
	struct block *pdf;

	slow_kdf(key, 0, pdf_key, 16);
	slow_kdf(key, 1, l1, sizeof(l1));
	slow_kdf(key, 2, l2, sizeof(l2));
	slow_kdf(key, 3, l31, sizeof(l31));
	slow_kdf(key, 4, l32, sizeof(l32));
	for (size_t j = 0; j < tag_size / 4; j++) {
		uint64_t k64 = wire_load_u64(l2 + 24 * j) & 0x01ffffff01ffffffULL, b, sum = 0;

		if (n <= 1024) {
			b = slow_nh(l1 + 16 * j, m, n);
		} else {
			b = 1;
			for (size_t at = 0; at < n; at += 1024)
				b = slow_poly(b, k64, slow_nh(l1 + 16 * j, m + at, n - at < 1024 ? n - at : 1024));
		}
		for (size_t i = 0; i < 4; i++)
			sum += (b >> (48 - 16 * i) & 0xffff) * (wire_load_u64(l31 + 64 * j + 32 + 8 * i) % 0xffffffffbULL);
		wire_store_u32(tag + 4 * j, (uint32_t)(sum % 0xffffffffbULL) ^ wire_load_u32(l32 + 4 * j));
	}
	wire_store_u64(pad, tag_size == 8 ? nonce & ~1ULL : nonce);
	pdf = block_new("AES-128-ECB", true, pdf_key, NULL, NULL);
	assert_int_equal(block_run(pdf, pad, 16), 0);
	block_free(pdf);
	for (size_t i = 0; i < tag_size; i++)
		tag[i] ^= pad[tag_size == 8 ? (nonce & 1) * 8 + i : i];
}

static void every_kind_and_size(void **state)
{
	static const size_t large[] = { 1023, 1024, 1025, 1056, 2047, 2048, 2049, 5000, 16383, 16384, 16385, 17408, 32772,
		65536 + 36, 261124 };
	uint8_t key[16], *room = mem_alloc(300000), want[16], tag[16];

	(void)state;
	for (size_t i = 0; i < 300000; i++)
		room[i] = (uint8_t)(i * 167 + (i >> 8) * 13);
	for (size_t k = 0; nh_at(k) != NULL; k++) {
		for (size_t tag_size = 8; tag_size <= 16; tag_size += 8) {
			struct umac *u;

			for (unsigned i = 0; i < sizeof(key); i++)
				key[i] = (uint8_t)(i * 31 + k + tag_size);
			u = umac_new_with(nh_at(k), key, tag_size, NULL);
			for (size_t i = 0; i <= 300 + MEM_COUNT(large); i++) {
				size_t n = i <= 300 ? i : large[i - 301];
				const uint8_t *m = room + i % 17;        /* any alignment */

				slow_umac(key, tag_size, i, m, n, want);
				memset(tag, 0, sizeof(tag));
				assert_int_equal(umac_compute(u, i, m, n, tag), 0);
				if (memcmp(tag, want, tag_size) != 0)
					fail_msg("%s, %zu bytes of tag, %zu of message", nh_at(k)->name, tag_size, n);
			}
			umac_free(u);
		}
	}
	free(room);
}

/* A block whose products under stream 0's key add up to `sum` (at most 2^64 - 2^33): (2^32-1) * q + remainder * 1. */
static void block_with_sum(const uint8_t *l1, uint64_t sum, uint8_t *m)
{
	for (size_t i = 0; i < 256; i++) {
		uint32_t word = 0U - wire_load_u32(l1 + 4 * i);          /* zero times zero */

		word += i == 0 ? 0xffffffffU : i == 4 ? (uint32_t)(sum / 0xffffffffU) :
			i == 1 ? (uint32_t)(sum % 0xffffffffU) : i == 5 ? 1 : 0;
		for (size_t b = 0; b < 4; b++)
			m[4 * i + b] = (uint8_t)(word >> 8 * b);
	}
}

static void assert_same_tags(const uint8_t *key, const uint8_t *m, size_t n)
{
	uint8_t want[16], tag[16];

	for (size_t k = 0; nh_at(k) != NULL; k++) {
		for (size_t tag_size = 8; tag_size <= 16; tag_size += 8) {
			struct umac *u = umac_new_with(nh_at(k), key, tag_size, NULL);

			slow_umac(key, tag_size, 7, m, n, want);
			assert_int_equal(umac_compute(u, 7, m, n, tag), 0);
			assert_memory_equal(tag, want, tag_size);
			umac_free(u);
		}
	}
}

/* Sums that the polynomial must split (over 2^64 - 2^32) come by chance once in 2^32, results between the prime and 2^64
 * once in 2^58: these messages are built to give them. */
static void rare_words(void **state)
{
	const uint64_t prime = 0xffffffffffffffc5ULL;
	uint8_t key[16] = "some key or othe", l1[1024 + 48], l2[96], m[2048] = { 0 };
	uint64_t k, y, sum;

	(void)state;
	slow_kdf(key, 1, l1, sizeof(l1));
	slow_kdf(key, 2, l2, sizeof(l2));
	k = wire_load_u64(l2) & 0x01ffffff01ffffffULL;
	block_with_sum(l1, 0xfffffffdffffffffULL, m);
	sum = (uint64_t)0xffffffffU * 0xffffffffU + 0xffffffffU;         /* the largest, 2^64 - 2^32: by hand */
	for (size_t i = 0; i < 8; i++) {
		uint32_t word = 0U - wire_load_u32(l1 + 4 * i) + (i == 0 || i == 4 || i == 1 ? 0xffffffffU : i == 5);

		for (size_t b = 0; b < 4; b++)
			m[4 * i + b] = (uint8_t)(word >> 8 * b);
	}
	assert_true(slow_nh(l1, m, 1024) == sum + 8192 && sum >= 0xffffffff00000000ULL);
	for (size_t n = 1025; n <= 2048; n += 341)
		assert_same_tags(key, m, n);
	/* the last step: k y + m between the prime and 2^64, so that one more subtraction is due */
	y = slow_poly(1, k, slow_nh(l1, m, 1024));
	for (uint64_t over = 0; over < 59; over++) {
		unsigned __int128 r = (unsigned __int128)k * y % prime;

		/* r + sum is to be prime + over */
		sum = (uint64_t)(prime - r) + over;
		block_with_sum(l1, sum - 8192, m + 1024);
		assert_true(slow_nh(l1, m + 1024, 1024) == sum);
		assert_same_tags(key, m, 2048);
	}
}

/* Tags do not depend on what was computed before: forwards, backwards, far jumps, the last nonces. */
static void any_order_of_nonces(void **state)
{
	static const uint64_t nonces[] = { 0, 1, 2, 15, 16, 17, 31, 32, 33, 30, 1, 0, 0xfffffffe, 0xffffffff, 0x100000000ULL,
		0xffffffff, 5, 0xffffffffffffffffULL, 0, 0xfffffffffffffff0ULL };
	uint8_t key[16] = { 1 }, want[16], tag[16];

	(void)state;
	for (size_t tag_size = 8; tag_size <= 16; tag_size += 8) {
		struct umac *u = umac_new(key, tag_size, NULL);

		for (size_t i = 0; i < MEM_COUNT(nonces); i++) {
			slow_umac(key, tag_size, nonces[i], key, 16, want);
			assert_int_equal(umac_compute(u, nonces[i], key, 16, tag), 0);
			assert_memory_equal(tag, want, tag_size);
		}
		for (uint64_t i = 0; i < 100; i++) {
			slow_umac(key, tag_size, i, key, 16, want);
			assert_int_equal(umac_compute(u, i, key, 16, tag), 0);
			assert_memory_equal(tag, want, tag_size);
		}
		umac_free(u);
	}
}

static void every_bit_counts(void **state)
{
	uint8_t key[16] = { 2 }, m[1100] = { 0 }, tag[16], other[16];

	(void)state;
	for (size_t tag_size = 8; tag_size <= 16; tag_size += 8) {
		struct umac *u = umac_new(key, tag_size, NULL);

		assert_int_equal(umac_compute(u, 1, m, sizeof(m), tag), 0);
		for (size_t at = 0; at < sizeof(m); at++) {
			m[at] ^= 0x10;
			assert_int_equal(umac_compute(u, 1, m, sizeof(m), other), 0);
			assert_memory_not_equal(tag, other, tag_size);
			m[at] ^= 0x10;
		}
		assert_int_equal(umac_compute(u, 1, m, sizeof(m) - 1, other), 0);
		assert_memory_not_equal(tag, other, tag_size);
		assert_int_equal(umac_compute(u, 2, m, sizeof(m), other), 0);
		assert_memory_not_equal(tag, other, tag_size);
		umac_free(u);
	}
}

static void limits(void **state)
{
	uint8_t key[16] = { 0 }, tag[16];
	struct err e = { 0 };
	struct umac *u;

	(void)state;
	assert_null(umac_new(key, 4, &e));
	assert_int_equal(e.code, ERR_USAGE);
	assert_null(umac_new(key, 12, NULL));
	u = umac_new(key, 8, NULL);
	assert_int_equal(umac_compute(u, 0, key, UMAC_MESSAGE_MAX + 1, tag), ERR_USAGE);
	assert_int_equal(umac_compute(u, 0, NULL, 0, tag), 0);
	umac_free(u);
	umac_free(NULL);
	/* plain C is always there, and is the last */
	size_t k = 0;
	while (nh_at(k + 1) != NULL)
		k++;
	assert_string_equal(nh_at(k)->name, "c");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(every_kind_and_size),
		cmocka_unit_test(rare_words),
		cmocka_unit_test(any_order_of_nonces),
		cmocka_unit_test(every_bit_counts),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
