/* Hashes (FIPS 180-4, RFC 1321) and HMAC (RFC 4231, RFC 2202) against known answers. */
#include "crypto/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "crypto/crypto.h"
#include "crypto/hmac.h"
#include "regress/unit/crypto/unhex.h"

static const struct { enum digest_alg alg; size_t size; const char *name, *abc, *empty; } known[] = {
	{ DIGEST_MD5, 16, "MD5", "900150983cd24fb0d6963f7d28e17f72", "d41d8cd98f00b204e9800998ecf8427e" },
	{ DIGEST_SHA1, 20, "SHA1", "a9993e364706816aba3e25717850c26c9cd0d89d",
	  "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
	{ DIGEST_SHA256, 32, "SHA256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
	{ DIGEST_SHA384, 48, "SHA384",
	  "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
	  "38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b" },
	{ DIGEST_SHA512, 64, "SHA512",
	  "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
	  "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
	  "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
	  "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e" },
};

static void known_hashes(void **state)
{
	uint8_t want[DIGEST_MAX], got[DIGEST_MAX];

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(known); i++) {
		struct view parts[3] = { { (const uint8_t *)"a", 1 }, { NULL, 0 }, { (const uint8_t *)"bc", 2 } };
		struct digest *d;

		assert_int_equal(digest_size(known[i].alg), known[i].size);
		assert_string_equal(digest_name(known[i].alg), known[i].name);
		assert_int_equal(unhex(known[i].abc, want), known[i].size);
		assert_int_equal(digest_bytes(known[i].alg, "abc", 3, got), 0);
		assert_memory_equal(got, want, known[i].size);
		memset(got, 0, sizeof(got));
		assert_int_equal(digest_of(known[i].alg, parts, 3, got), 0);
		assert_memory_equal(got, want, known[i].size);
		d = digest_new(known[i].alg);
		assert_non_null(d);
		digest_update(d, "ab", 2);
		digest_update(d, NULL, 0);
		digest_update(d, "c", 1);
		assert_int_equal(digest_final(d, got), 0);
		assert_memory_equal(got, want, known[i].size);
		assert_int_equal(digest_final(d, got), ERR_CRYPTO);
		digest_free(d);
		unhex(known[i].empty, want);
		assert_int_equal(digest_of(known[i].alg, NULL, 0, got), 0);
		assert_memory_equal(got, want, known[i].size);
	}
}

static void names(void **state)
{
	enum digest_alg alg;

	(void)state;
	assert_int_equal(digest_parse("sha256", &alg), 0);
	assert_int_equal(alg, DIGEST_SHA256);
	assert_int_equal(digest_parse("Md5", &alg), 0);
	assert_int_equal(alg, DIGEST_MD5);
	assert_int_equal(digest_parse("SHA25", &alg), ERR_USAGE);
	assert_int_equal(digest_parse("", &alg), ERR_USAGE);
	assert_int_equal(digest_parse("SHA2567", &alg), ERR_USAGE);
}

static const struct { enum digest_alg alg; const char *key, *data, *mac; } macs[] = {
	/* RFC 4231 test cases 1, 2, 3, 6 (key longer than a block) */
	{ DIGEST_SHA256, "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "4869205468657265",
	  "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7" },
	{ DIGEST_SHA512, "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "4869205468657265",
	  "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
	  "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854" },
	{ DIGEST_SHA256, "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
	  "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
	{ DIGEST_SHA512, "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
	  "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
	  "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737" },
	/* RFC 2202 test case 2 */
	{ DIGEST_MD5, "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
	  "750c783e6ab0b503eaa86e310a5db738" },
	{ DIGEST_SHA1, "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
	  "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79" },
};

static void known_hmacs(void **state)
{
	uint8_t key[64], data[64], want[DIGEST_MAX], got[DIGEST_MAX];

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(macs); i++) {
		size_t kn = unhex(macs[i].key, key), dn = unhex(macs[i].data, data);
		size_t n = unhex(macs[i].mac, want);
		struct hmac *h;

		assert_int_equal(digest_hmac(macs[i].alg, key, kn, data, dn, got), 0);
		assert_memory_equal(got, want, n);
		h = hmac_new(macs[i].alg, key, kn, NULL);
		assert_non_null(h);
		for (size_t cut = 0; cut <= dn; cut++) {         /* one key, many messages, in two parts */
			struct view v[2] = { { data, cut }, { data + cut, dn - cut } };

			memset(got, 0, sizeof(got));
			assert_int_equal(hmac_compute(h, v, 2, got), 0);
			assert_memory_equal(got, want, n);
		}
		hmac_free(h);
	}
}

static void hmac_of_long_key(void **state)
{
	/* RFC 4231 test case 6 */
	static const char data[] = "Test Using Larger Than Block-Size Key - Hash Key First";
	uint8_t key[131], want[DIGEST_MAX], got[DIGEST_MAX];

	(void)state;
	memset(key, 0xaa, sizeof(key));
	unhex("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54", want);
	assert_int_equal(digest_hmac(DIGEST_SHA256, key, sizeof(key), data, sizeof(data) - 1, got), 0);
	assert_memory_equal(got, want, 32);
	unhex("80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f3526b56d037e05f2598bd0fd2215d6a1e52"
		"95e64f73f63f0aec8b915a985d786598", want);
	assert_int_equal(digest_hmac(DIGEST_SHA512, key, sizeof(key), data, sizeof(data) - 1, got), 0);
	assert_memory_equal(got, want, 64);
	/* an empty key is a key */
	unhex("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad", want);
	assert_int_equal(digest_hmac(DIGEST_SHA256, "", 0, "", 0, got), 0);
	assert_memory_equal(got, want, 32);
}

static void offers(void **state)
{
	(void)state;
	crypto_init();
	assert_true(crypto_has_cipher("AES-128-GCM"));
	assert_false(crypto_has_cipher("ROT13"));
	assert_true(crypto_has_mac("HMAC"));
	assert_false(crypto_has_mac(""));
	assert_non_null(strstr(crypto_version(), "SSL"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_hashes),
		cmocka_unit_test(names),
		cmocka_unit_test(known_hmacs),
		cmocka_unit_test(hmac_of_long_key),
		cmocka_unit_test(offers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
