/* AES-GCM: answers of the GCM specification (McGrew and Viega, appendix B), the packet counter, tampering. */
#include "crypto/gcm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "regress/unit/crypto/unhex.h"

#define PLAIN_60 "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72" \
	"1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
#define AAD_20 "feedfacedeadbeeffeedfacedeadbeefabaddad2"

static const struct {
	const char *cipher, *key, *iv, *aad, *plain, *sealed, *tag;
} vectors[] = {
	/* 1, 2 and 4 */
	{ "AES-128-GCM", "00000000000000000000000000000000", "000000000000000000000000", "", "", "",
	  "58e2fccefa7e3061367f1d57a4e7455a" },
	{ "AES-128-GCM", "00000000000000000000000000000000", "000000000000000000000000", "",
	  "00000000000000000000000000000000", "0388dace60b6a392f328c2b971b2fe78", "ab6e47d42cec13bdf53a67b21257bddf" },
	{ "AES-128-GCM", "feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888", AAD_20, PLAIN_60,
	  "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
	  "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091", "5bc94fbc3221a5db94fae95ae7121a47" },
	/* 13, 14 and 16 */
	{ "AES-256-GCM", "0000000000000000000000000000000000000000000000000000000000000000",
	  "000000000000000000000000", "", "", "", "530f8afbc74536b9a963b4f1c4cb738b" },
	{ "AES-256-GCM", "0000000000000000000000000000000000000000000000000000000000000000",
	  "000000000000000000000000", "", "00000000000000000000000000000000", "cea7403d4d606b6e074ec5d3baf39d18",
	  "d0d1c8a799996bf0265b98b5d48ab919" },
	{ "AES-256-GCM", "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
	  "cafebabefacedbaddecaf888", AAD_20, PLAIN_60,
	  "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
	  "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662", "76fc6ece0f4e1768cddf8853bb2d551b" },
};

/* Every test runs with what this processor has, and with libcrypto alone. */
static bool kinds[] = { true, false };

static struct gcm *make(void **state, const char *name, bool encrypt, const uint8_t *key, const uint8_t *iv)
{
	return gcm_new_with(*(bool *)*state, name, encrypt, key, iv, NULL);
}

static void known_answers(void **state)
{
	uint8_t key[32], iv[12], aad[20], plain[64], want[64], p[64], tag[16], want_tag[16];

	for (size_t i = 0; i < MEM_COUNT(vectors); i++) {
		size_t n = unhex(vectors[i].plain, plain), an = unhex(vectors[i].aad, aad);
		struct gcm *seal, *open;

		unhex(vectors[i].key, key);
		unhex(vectors[i].iv, iv);
		unhex(vectors[i].sealed, want);
		unhex(vectors[i].tag, want_tag);
		seal = make(state, vectors[i].cipher, true, key, iv);
		open = make(state, vectors[i].cipher, false, key, iv);
		memcpy(p, plain, n);
		assert_int_equal(gcm_seal(seal, aad, an, p, n, tag), 0);
		assert_memory_equal(tag, want_tag, 16);
		assert_memory_equal(p, want, n);
		assert_int_equal(gcm_open(open, aad, an, p, n, tag), 0);
		assert_memory_equal(p, plain, n);
		gcm_free(seal);
		gcm_free(open);
	}
}

/* A fresh object at a given IV is the reference for the counter: it must not reach the fixed field (RFC 5647 §7.1). */
static void counter(void **state)
{
	static const struct { const char *first, *later; uint64_t skip; } cases[] = {
		{ "01020304 0000000000000000", "01020304 0000000000000001", 0 },
		{ "01020304 00000000000000ff", "01020304 0000000000000100", 0 },
		{ "ffffffff ffffffffffffffff", "ffffffff 0000000000000000", 0 },
		{ "ffffffff fffffffffffffff0", "ffffffff 0000000000000002", 17 },
		{ "aabbccdd 0000000000000005", "aabbccdd 0000000100000006", 0x100000000ULL },
	};
	uint8_t key[16] = { 1 }, first[12], later[12], a[32] = { 0 }, b[32] = { 0 }, c[16] = { 0 }, tag[2][16];

	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		struct gcm *g, *reference;

		unhex(cases[i].first, first);
		unhex(cases[i].later, later);
		g = make(state, "AES-128-GCM", true, key, first);
		reference = make(state, "AES-128-GCM", true, key, later);
		assert_int_equal(gcm_seal(g, NULL, 0, c, sizeof(c), tag[0]), 0);
		gcm_skip(g, cases[i].skip);
		memset(a, 0, sizeof(a));
		memset(b, 0, sizeof(b));
		assert_int_equal(gcm_seal(g, NULL, 0, a, sizeof(a), tag[0]), 0);
		assert_int_equal(gcm_seal(reference, NULL, 0, b, sizeof(b), tag[1]), 0);
		assert_memory_equal(a, b, sizeof(a));
		assert_memory_equal(tag[0], tag[1], 16);
		gcm_free(g);
		gcm_free(reference);
	}
}

/* After a refusal no plaintext is left, and the next message still opens. */
static void tampering(void **state)
{
	uint8_t key[16] = { 2 }, iv[12] = { 0 }, zeros[80] = { 0 };
	struct gcm *seal = make(state, "AES-128-GCM", true, key, iv);

	for (size_t n = 0; n <= 80; n += 16) {
		uint8_t aad[4] = { 1, 2, 3, 4 }, p[80], copy[80], tag[16];

		memset(iv, 0, sizeof(iv));
		iv[11] = (uint8_t)(n / 16);
		memset(p, 0x5a, n);
		assert_int_equal(gcm_seal(seal, aad, 4, p, n, tag), 0);
		for (size_t bit = 0; bit < (4 + n + 16) * 8; bit++) {
			struct gcm *open = make(state, "AES-128-GCM", false, key, iv);
			size_t at = bit / 8;
			uint8_t *byte = at < 4 ? &aad[at] : at < 4 + n ? &copy[at - 4] : &tag[at - 4 - n];
			uint8_t flip = (uint8_t)(1 << bit % 8);

			memcpy(copy, p, n);
			*byte ^= flip;
			assert_int_equal(gcm_open(open, aad, 4, copy, n, tag), ERR_CRYPTO);
			assert_memory_equal(copy, zeros, n);
			if (at < 4 || at >= 4 + n)
				*byte ^= flip;
			gcm_free(open);
		}
	}
	gcm_free(seal);
}

static void goes_on_after_refusal(void **state)
{
	uint8_t key[16] = { 3 }, iv[12] = { 0 }, p[2][16] = { { 0 } }, tag[2][16], aad[4] = { 0 };
	struct gcm *seal = make(state, "AES-128-GCM", true, key, iv);
	struct gcm *open = make(state, "AES-128-GCM", false, key, iv);

	for (int i = 0; i < 2; i++)
		assert_int_equal(gcm_seal(seal, aad, 4, p[i], 16, tag[i]), 0);
	tag[0][0] ^= 1;
	assert_int_equal(gcm_open(open, aad, 4, p[0], 16, tag[0]), ERR_CRYPTO);
	assert_int_equal(gcm_open(open, aad, 4, p[1], 16, tag[1]), 0);
	gcm_free(seal);
	gcm_free(open);
	gcm_free(NULL);
}

/* All lengths up to some strides and the longest packets: each kind opens what the other sealed, and seals the same. */
static void same_as_libcrypto(void **state)
{
	static const struct { const char *name; size_t from, to, step; } rows[] = {
		{ "AES-128-GCM", 0, 1100, 1 }, { "AES-256-GCM", 0, 1100, 1 }, { "AES-128-GCM", 65000, 262144, 32749 },
		{ "AES-256-GCM", 65000, 262144, 49157 },
	};
	uint8_t key[32] = "0123456789abcdef0123456789abcde", iv[12] = "iv", aad[40], tag[2][16];
	uint8_t *plain = mem_alloc(262144 + 1), *p = mem_alloc(262144 + 1), *q = mem_alloc(262144 + 1);

	(void)state;
	for (size_t i = 0; i < 262144 + 1; i++)
		plain[i] = (uint8_t)(i * 7 + i / 251);
	memcpy(aad, plain + 77, sizeof(aad));
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct gcm *a = gcm_new_with(true, rows[i].name, true, key, iv, NULL);
		struct gcm *b = gcm_new_with(false, rows[i].name, true, key, iv, NULL);
		struct gcm *open = gcm_new_with(true, rows[i].name, false, key, iv, NULL);

		for (size_t n = rows[i].from; n <= rows[i].to; n += rows[i].step) {
			/* One byte off, so that nothing is aligned; what lies behind must stay. */
			size_t aad_n = n % 3 == 0 ? n % sizeof(aad) : 4;

			memcpy(p + 1, plain + 1, 262144);
			memcpy(q + 1, plain + 1, 262144);
			assert_int_equal(gcm_seal(a, aad, aad_n, p + 1, n, tag[0]), 0);
			assert_int_equal(gcm_seal(b, aad, aad_n, q + 1, n, tag[1]), 0);
			assert_memory_equal(tag[0], tag[1], 16);
			assert_memory_equal(p + 1, q + 1, n < 262144 - 64 ? n + 64 : n);
			assert_int_equal(gcm_open(open, aad, aad_n, p + 1, n, tag[0]), 0);
			assert_memory_equal(p + 1, plain + 1, n < 262144 - 64 ? n + 64 : n);
		}
		gcm_free(a);
		gcm_free(b);
		gcm_free(open);
	}
	free(plain);
	free(p);
	free(q);
}

static void not_offered(void **state)
{
	struct err e = { 0 };
	uint8_t key[32] = { 0 };

	(void)state;
	assert_null(gcm_new("AES-000-GCM", true, key, key, &e));
	assert_int_equal(e.code, ERR_CRYPTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(known_answers, &kinds[0]),
		cmocka_unit_test_prestate(known_answers, &kinds[1]),
		cmocka_unit_test_prestate(counter, &kinds[0]),
		cmocka_unit_test_prestate(counter, &kinds[1]),
		cmocka_unit_test_prestate(tampering, &kinds[0]),
		cmocka_unit_test_prestate(tampering, &kinds[1]),
		cmocka_unit_test_prestate(goes_on_after_refusal, &kinds[0]),
		cmocka_unit_test_prestate(goes_on_after_refusal, &kinds[1]),
		cmocka_unit_test(same_as_libcrypto),
		cmocka_unit_test(not_offered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
