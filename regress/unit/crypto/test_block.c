/* CTR and CBC streams: NIST SP 800-38A appendix F, cut anywhere; seeking. */
#include "crypto/block.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "crypto/crypto.h"
#include "regress/unit/crypto/unhex.h"

#define PLAIN "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51" \
	"30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
#define KEY_128 "2b7e151628aed2a6abf7158809cf4f3c"
#define KEY_192 "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b"
#define KEY_256 "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
#define COUNTER "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
#define CBC_IV "000102030405060708090a0b0c0d0e0f"

static const struct { const char *cipher, *key, *iv, *sealed; size_t step; } vectors[] = {
	{ "AES-128-CTR", KEY_128, COUNTER, "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
	  "5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee", 1 },
	{ "AES-192-CTR", KEY_192, COUNTER, "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94"
	  "1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050", 1 },
	{ "AES-256-CTR", KEY_256, COUNTER, "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
	  "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6", 1 },
	{ "AES-128-CBC", KEY_128, CBC_IV, "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
	  "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7", 16 },
	{ "AES-192-CBC", KEY_192, CBC_IV, "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
	  "571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd", 16 },
	{ "AES-256-CBC", KEY_256, CBC_IV, "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
	  "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b", 16 },
};

static void known_answers(void **state)
{
	uint8_t key[32], iv[16], plain[64], want[64], p[64];

	(void)state;
	unhex(PLAIN, plain);
	for (size_t i = 0; i < MEM_COUNT(vectors); i++) {
		unhex(vectors[i].key, key);
		unhex(vectors[i].iv, iv);
		unhex(vectors[i].sealed, want);
		for (size_t cut = 0; cut <= 64; cut += vectors[i].step) {
			struct block *seal = block_new(vectors[i].cipher, true, key, iv, NULL);
			struct block *open = block_new(vectors[i].cipher, false, key, iv, NULL);

			memcpy(p, plain, 64);
			assert_int_equal(block_run(seal, p, cut), 0);
			assert_int_equal(block_run(seal, p + cut, 64 - cut), 0);
			assert_memory_equal(p, want, 64);
			assert_int_equal(block_run(open, p, 64 - cut), 0);
			assert_int_equal(block_run(open, p + 64 - cut, cut), 0);
			assert_memory_equal(p, plain, 64);
			block_free(seal);
			block_free(open);
		}
	}
}

static void des_known_answer(void **state)
{
	/* Three equal keys make single DES: FIPS 81's example of CBC. */
	uint8_t key[24], iv[8], p[24], want[24];
	struct block *b;

	(void)state;
	unhex("0123456789abcdef 0123456789abcdef 0123456789abcdef", key);
	unhex("1234567890abcdef", iv);
	memcpy(p, "Now is the time for all ", 24);
	unhex("e5c7cdde872bf27c 43e934008c389c0f 683788499a7c05f6", want);
	b = block_new("DES-EDE3-CBC", true, key, iv, NULL);
	assert_non_null(b);
	assert_int_equal(block_run(b, p, 24), 0);
	assert_memory_equal(p, want, 24);
	block_free(b);
}

static bool have_legacy(void)
{
	struct err e = { 0 };

	if (crypto_load_legacy(&e) == 0)
		return true;
	print_message("skipped: %s\n", err_text(&e));
	return false;
}

static void triple_des_known_answer(void **state)
{
	/* NIST SP 800-67's example, which is of ECB: CBC from an IV of zeros each time. */
	uint8_t key[24], zero[8] = { 0 }, p[24], want[24];
	struct block *b;

	(void)state;
	unhex("0123456789abcdef 23456789abcdef01 456789abcdef0123", key);
	memcpy(p, "The qufck brown fox jump", 24);
	unhex("a826fd8ce53b855f cce21c8112256fe6 68d5c05dd9b6b900", want);
	b = block_new("DES-EDE3-CBC", true, key, zero, NULL);
	assert_non_null(b);
	for (size_t i = 0; i < 24; i += 8) {
		assert_int_equal(block_set_iv(b, zero), 0);
		assert_int_equal(block_run(b, p + i, 8), 0);
	}
	assert_memory_equal(p, want, 24);
	block_free(b);
}

/* Schneier's vector for Blowfish in CBC mode, and RFC 2144 B.1 for CAST-128. */
static void old_blocks_known_answers(void **state)
{
	static const struct { const char *cipher, *key, *iv, *plain, *sealed; size_t n; } known[] = {
		{ "BF-CBC", "0123456789abcdeff0e1d2c3b4a59687", "fedcba9876543210",
		  "37363534333231204e6f77206973207468652074696d6520666f722000000000",
		  "6b77b4d63006dee605b156e27403979358deb9e7154616d959f1652bd5ff92cc", 32 },
		{ "CAST5-CBC", "0123456712345678234567893456789a", "0000000000000000", "0123456789abcdef",
		  "238b4fe5847e44b2", 8 },
	};
	uint8_t key[16], iv[8], plain[32], want[32], p[32];

	(void)state;
	if (!have_legacy())
		skip();
	for (size_t i = 0; i < MEM_COUNT(known); i++) {
		struct block *seal, *open;

		unhex(known[i].key, key);
		unhex(known[i].iv, iv);
		unhex(known[i].plain, plain);
		unhex(known[i].sealed, want);
		memcpy(p, plain, sizeof(p));
		seal = block_new(known[i].cipher, true, key, iv, NULL);
		open = block_new(known[i].cipher, false, key, iv, NULL);
		assert_non_null(seal);
		assert_int_equal(block_run(seal, p, known[i].n), 0);
		assert_memory_equal(p, want, known[i].n);
		assert_int_equal(block_run(open, p, known[i].n), 0);
		assert_memory_equal(p, plain, known[i].n);
		block_free(seal);
		block_free(open);
	}
}

static void expect_stream(const char *key_hex, size_t key_size, uint64_t skip_first, const char *want_hex)
{
	uint8_t key[32], p[16] = { 0 }, want[16];
	struct err e = { 0 };
	struct block *b;

	unhex(key_hex, key);
	unhex(want_hex, want);
	b = block_new_arcfour(key, key_size, skip_first, &e);
	assert_non_null(b);
	assert_int_equal(block_run(b, p, 16), 0);
	assert_memory_equal(p, want, 16);
	block_free(b);
}

/* RFC 6229: the stream at the start and behind what RFC 4345 skips, for the two sizes of key of SSH, and farther. */
static void arcfour_known_answers(void **state)
{
	static const char k40[] = "0102030405", k128[] = "0102030405060708090a0b0c0d0e0f10",
		k256[] = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
	uint8_t key[16] = { 1 }, whole[9000] = { 0 }, part[9000];
	struct block *b;

	(void)state;
	if (!have_legacy())
		skip();
	expect_stream(k40, 5, 0, "b2396305f03dc027ccc3524a0a1118a8");
	expect_stream(k40, 5, 1536, "d8729db41882259bee4f825325f5a130");
	expect_stream(k128, 16, 0, "9ac7cc9a609d1ef7b2932899cde41b97");
	expect_stream(k128, 16, 16, "5248c4959014126a6e8a84f11d1a9e1c");
	expect_stream(k128, 16, 1536, "ffa0b514647ec04f6306b892ae661181");
	expect_stream(k128, 16, 4096, "a36a4c301ae8ac13610ccbc12256cacc");
	expect_stream(k256, 32, 0, "eaa6bd25880bf93d3f5d1e4ca2611d91");
	expect_stream(k256, 32, 1536, "3e34135c79db010200767651cf263073");
	expect_stream(k256, 32, 4096, "f3e4c0a2e02d1d01f7f0a74618af2b48");
	b = block_new_arcfour(key, 16, 0, NULL);
	assert_int_equal(block_run(b, whole, sizeof(whole)), 0);
	block_free(b);
	for (size_t at = 0; at < sizeof(whole); at += 1499) {
		memset(part, 0, sizeof(part));
		b = block_new_arcfour(key, 16, 0, NULL);
		assert_int_equal(block_skip(b, at), 0);
		assert_int_equal(block_run(b, part, sizeof(whole) - at), 0);
		assert_memory_equal(part, whole + at, sizeof(whole) - at);
		block_free(b);
	}
}

static void seek(void **state)
{
	uint8_t key[16] = { 9 }, iv[16], whole[400] = { 0 }, part[400];
	static const char *const ivs[] = {
		"00000000000000000000000000000000", "000000000000000000000000fffffffe",
		"0000000000000000ffffffffffffffff", "fffffffffffffffffffffffffffffffe",
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(ivs); i++) {
		struct block *b;

		unhex(ivs[i], iv);
		b = block_new("AES-128-CTR", true, key, iv, NULL);
		memset(whole, 0, sizeof(whole));
		assert_int_equal(block_run(b, whole, sizeof(whole)), 0);
		for (size_t at = 0; at < sizeof(whole); at += 7) {
			memset(part, 0, sizeof(part));
			assert_int_equal(block_seek(b, iv, at), 0);
			assert_int_equal(block_run(b, part, sizeof(whole) - at), 0);
			assert_memory_equal(part, whole + at, sizeof(whole) - at);
		}
		block_free(b);
	}
}

static void far_seek(void **state)
{
	/* 2^36 + 32 bytes are 2^32 + 2 blocks: the carry reaches the fifth byte. */
	uint8_t key[16] = { 9 }, iv[16] = { 0 }, later[16] = { 0 }, a[16] = { 0 }, b[16] = { 0 };
	struct block *x = block_new("AES-128-CTR", true, key, iv, NULL), *y;

	(void)state;
	later[11] = 1;
	later[15] = 2;
	y = block_new("AES-128-CTR", true, key, later, NULL);
	assert_int_equal(block_seek(x, iv, ((uint64_t)1 << 36) + 32), 0);
	assert_int_equal(block_run(x, a, 16), 0);
	assert_int_equal(block_run(y, b, 16), 0);
	assert_memory_equal(a, b, 16);
	block_free(x);
	block_free(y);
}

static void broken_blocks(void **state)
{
	uint8_t key[16] = { 0 }, iv[16] = { 0 }, p[40] = { 0 };
	struct block *b = block_new("AES-128-CBC", true, key, iv, NULL);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(block_run(b, p, 0), 0);
	assert_int_equal(block_run(b, p, 17), ERR_CRYPTO);
	block_free(b);
	block_free(NULL);
	assert_null(block_new("AES-128-XYZ", true, key, iv, &e));
	assert_int_equal(e.code, ERR_CRYPTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(des_known_answer),
		cmocka_unit_test(triple_des_known_answer),
		cmocka_unit_test(old_blocks_known_answers),
		cmocka_unit_test(arcfour_known_answers),
		cmocka_unit_test(seek),
		cmocka_unit_test(far_seek),
		cmocka_unit_test(broken_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
