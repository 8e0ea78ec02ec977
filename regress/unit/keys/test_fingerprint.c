/* regress/unit/keys/test_fingerprint.c: fingerprints, randomart and bubble babble against those of the stock ssh-keygen. */
#include "keys/key.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "key_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const char *const files[] = { "ed25519", "ecdsa256", "ecdsa384", "ecdsa521", "rsa" };
static const enum digest_alg algs[] = { DIGEST_SHA256, DIGEST_MD5, DIGEST_SHA1, DIGEST_SHA512 };

static void test_fingerprints(void **state)
{
	for (size_t f = 0; f < MEM_COUNT(files); f++) {
		char *name = str_printf("%s.fp", files[f]);
		struct key *k = data_public(files[f]);

		for (size_t i = 0; i < MEM_COUNT(algs); i++) {
			char *want = data_line(name, i + 1), *have = key_fingerprint(k, algs[i]), *whole;

			whole = str_printf("%u %s test %s (%s)", key_bits(k), have, files[f], key_display_name(k));
			assert_string_equal(whole, want);
			free(whole);
			free(have);
			free(want);
		}
		key_free(k);
		free(name);
	}
}

static void test_randomart(void **state)
{
	for (size_t f = 0; f < MEM_COUNT(files); f++) {
		char *name = str_printf("%s.art", files[f]), *have, *want;
		struct key *k = data_public(files[f]);
		size_t n;

		want = data_read(name, &n);
		have = key_randomart(k, DIGEST_SHA256);
		/* The file starts with the line of -l and ends with a newline. */
		want[n - 1] = '\0';
		assert_string_equal(have, strchr(want, '\n') + 1);
		free(have);
		free(want);
		free(name);
		key_free(k);
	}
}

static void test_bubblebabble(void **state)
{
	/* The examples that the scheme's description gives, and real keys. */
	static const struct { const char *in, *out; } known[] = {
		{ "", "xexax" }, { "1234567890", "xesef-disof-gytuf-katof-movif-baxux" },
		{ "Pineapple", "xigak-nyryk-humil-bosek-sonax" }
	};

	for (size_t i = 0; i < MEM_COUNT(known); i++) {
		char *have = key_bubblebabble((struct view){ (const uint8_t *)known[i].in, strlen(known[i].in) });

		assert_string_equal(have, known[i].out);
		free(have);
	}
	for (size_t f = 0; f < MEM_COUNT(files); f++) {
		char *name = str_printf("%s.bubble", files[f]), *want = data_line(name, 1), *have, *whole;
		struct key *k = data_public(files[f]);
		uint8_t d[DIGEST_MAX];

		assert_int_equal(digest_bytes(DIGEST_SHA1, key_blob(k).p, key_blob(k).n, d), 0);
		have = key_bubblebabble((struct view){ d, 20 });
		whole = str_printf("%u %s test %s (%s)", key_bits(k), have, files[f], key_display_name(k));
		assert_string_equal(whole, want);
		free(whole);
		free(have);
		free(want);
		free(name);
		key_free(k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fingerprints), cmocka_unit_test(test_randomart), cmocka_unit_test(test_bubblebabble)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
