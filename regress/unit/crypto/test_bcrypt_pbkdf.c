/* bcrypt_pbkdf: known answers, others from Python's bcrypt module, limits; Blowfish itself against
 * Schneier's vectors. */
#include "crypto/bcrypt_pbkdf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "crypto/blowfish.h"
#include "crypto/digest.h"
#include "regress/unit/crypto/unhex.h"
#include "wire/buf.h"

static const struct { const char *pass, *salt; uint32_t rounds; const char *key; } vectors[] = {
	{ "70617373776f7264", "73616c74", 4, "5bbf0cc293587f1c3635555c27796598d47e579071bf427e9d8fbe842aba34d9" },
	{ "70617373776f7264", "73616c74", 4,
	  "5ba4bfc60c7ac272931458407f4c1c4936ea356c55125c5a279b791d65bf9842d49d7e1b572a9052715ebfa9421e7e94" },
	{ "70", "73", 1,
	  "ca" },
	{ "7061737320706872617365", "000102030405060708090a0b0c0d0e0f", 2,
	  "0c1edbc095cdfe6ebb873f2304c1a98bfcda751d8133af6c625b02b9761e00" },
	{ "7061737320706872617365", "000102030405060708090a0b0c0d0e0f", 3,
	  "df93c231ed0149b89af527a386751e3b6ace9b1548e0a650a0efaa1252947a451b" },
	{ "7878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878"
	  "7878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878787878",
	  "00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff", 1,
	  "547194a090d39b6ede6b7cf2af31bcd48e4a45fe746c260a2e4565f442626c4d093be5bde6bed5fe81e7e06f12f4d4a39dbb"
	  "2b67af19a72290421c05b2b6b47a" },
	{ "00", "00", 2,
	  "612078a73600933d1d3bb03e300c0459982861251a2ea878ce00a06e1a5390be6273546d04d9fbf6c8427953b98191305858"
	  "d680ec1c24f25cf05ac66acbf8babfe27139b86c4f95b03847fb9068b365" },
	{ "636166c3a9", "30313233343536373839616263646566", 24,
	  "23bedca4b0fbd9248900b181cde86e7a3322c36c6fc448da561ba78b7e7295ff933745a19ddcae45a8af02faaf3362eb" },
};

static void known_answers(void **state)
{
	uint8_t pass[128], salt[128], want[128], key[129];

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(vectors); i++) {
		struct view p = { pass, unhex(vectors[i].pass, pass) }, s = { salt, unhex(vectors[i].salt, salt) };
		size_t n = unhex(vectors[i].key, want);

		memset(key, 0xee, sizeof(key));
		assert_int_equal(bcrypt_pbkdf(p, s, vectors[i].rounds, key, n, NULL), 0);
		assert_memory_equal(key, want, n);
		assert_int_equal(key[n], 0xee);
	}
}

static void large_keys(void **state)
{
	static const struct { size_t n; const char *sha256; } large[] = {
		{ 512, "c722de609b8af4be01557af9c495f49438b5fbb53b6e010756269e7cef9048ca" },
		{ 500, "a3e457ab58c0d7987496d1bbcbb6fb716877901ede6ffc36ca88e14b46709145" },
	};
	const struct view p = { (const uint8_t *)"pass", 4 }, s = { (const uint8_t *)"salt", 4 };
	uint8_t key[512], want[32], got[32];

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(large); i++) {
		assert_int_equal(bcrypt_pbkdf(p, s, 1, key, large[i].n, NULL), 0);
		assert_int_equal(digest_bytes(DIGEST_SHA256, key, large[i].n, got), 0);
		unhex(large[i].sha256, want);
		assert_memory_equal(got, want, 32);
	}
}

static void limits(void **state)
{
	const struct view v = { (const uint8_t *)"x", 1 }, empty = { NULL, 0 };
	const struct view huge = { (const uint8_t *)"x", BCRYPT_PBKDF_SALT_MAX + 1 };
	uint8_t key[1025];
	struct err e = { 0 };

	(void)state;
	assert_int_equal(bcrypt_pbkdf(empty, v, 1, key, 32, &e), ERR_USAGE);
	assert_int_equal(bcrypt_pbkdf(v, empty, 1, key, 32, NULL), ERR_USAGE);
	assert_int_equal(bcrypt_pbkdf(v, huge, 1, key, 32, NULL), ERR_USAGE);
	assert_int_equal(bcrypt_pbkdf(v, v, 0, key, 32, NULL), ERR_USAGE);
	assert_int_equal(bcrypt_pbkdf(v, v, 1, key, 0, NULL), ERR_USAGE);
	assert_int_equal(bcrypt_pbkdf(v, v, 1, key, 1025, NULL), ERR_USAGE);
	assert_int_equal(bcrypt_pbkdf(v, v, 1, key, 1024, NULL), 0);
	assert_true(strlen(e.text) > 0);
}

static void blowfish_known_answers(void **state)
{
	/* Eric Young's set: 8-byte keys, here repeated to 64 bytes, which the schedule cannot tell from the short key as
	 * 64 is a multiple of 8 and it runs through the key cyclically. */
	static const struct { const char *key, *plain, *sealed; } known[] = {
		{ "0000000000000000", "0000000000000000", "4ef997456198dd78" },
		{ "ffffffffffffffff", "ffffffffffffffff", "51866fd5b85ecb8a" },
		{ "3000000000000000", "1000000000000001", "7d856f9a613063f2" },
		{ "0123456789abcdef", "1111111111111111", "61f9c3802281b096" },
		{ "fedcba9876543210", "0123456789abcdef", "0aceab0fc6a0a28d" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(known); i++) {
		uint32_t words[BLOWFISH_KEY_WORDS], zero[BLOWFISH_KEY_WORDS] = { 0 }, l, r;
		uint8_t key[8], block[8], want[8];
		struct blowfish b;

		unhex(known[i].key, key);
		unhex(known[i].sealed, want);
		for (size_t j = 0; j < BLOWFISH_KEY_WORDS; j++)
			words[j] = wire_load_u32(key + j % 2 * 4);
		for (int salted = 0; salted < 2; salted++) {
			unhex(known[i].plain, block);
			blowfish_init(&b);
			if (salted)      /* a salt of zeros is none */
				blowfish_expand_salted(&b, zero, words);
			else
				blowfish_expand(&b, words);
			l = wire_load_u32(block);
			r = wire_load_u32(block + 4);
			blowfish_encrypt(&b, &l, &r);
			wire_store_u32(block, l);
			wire_store_u32(block + 4, r);
			assert_memory_equal(block, want, 8);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blowfish_known_answers),
		cmocka_unit_test(known_answers),
		cmocka_unit_test(large_keys),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
