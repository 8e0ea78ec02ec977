/* Costs and orders: by figures that the test chooses; and that measuring yields figures for every suite. */
#include "config.h"
#include "preference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "base/str.h"
#include "crypto/cpu.h"
#include "proposal.h"
#include "speed.h"

#define CHACHA "chacha20-poly1305@openssh.com"
#define GCM "aes128-gcm@openssh.com"

static struct preference costs(const char *text)
{
	struct preference p = { .count = 0 };
	const char *name;
	size_t n;

	while (str_next_name(&text, &name, &n)) {
		char *word = mem_strndup(name, n), *equals = strchr(word, '=');

		*equals = '\0';
		assert_true(preference_put(&p, word, (uint64_t)atoi(equals + 1)));
		free(word);
	}
	return p;
}

static void ciphers(void **state)
{
	static const struct { const char *costs, *list, *macs, *want; } t[] = {
		/* with AES in hardware, and without */
		{ CHACHA "=20," GCM "=10", CHACHA "," GCM, "", GCM "," CHACHA },
		{ CHACHA "=20," GCM "=90", CHACHA "," GCM, "", CHACHA "," GCM },
		{ CHACHA "=20," GCM "=90", GCM "," CHACHA, "", CHACHA "," GCM },
		/* the cheapest MAC counts for who needs one */
		{ "aes128-ctr=6," GCM "=10,umac-64=3,hmac-sha1=30", GCM ",aes128-ctr", "hmac-sha1,umac-64@openssh.com",
			"aes128-ctr," GCM },
		{ "aes128-ctr=6," GCM "=10,umac-64=3,hmac-sha1=30", "aes128-ctr," GCM, "hmac-sha1-etm@openssh.com",
			GCM ",aes128-ctr" },
		/* hardly faster is no reason */
		{ "aes128-ctr=96,aes192-ctr=100", "aes192-ctr,aes128-ctr", "", "aes192-ctr,aes128-ctr" },
		{ "aes128-ctr=95,aes192-ctr=100", "aes192-ctr,aes128-ctr", "", "aes128-ctr,aes192-ctr" },
#ifdef WITH_LEGACY_CIPHERS
		/* legacy ones stay behind, in order of their speed */
		{ "3des-cbc=90,aes128-cbc=1," GCM "=50", "3des-cbc,aes128-cbc," GCM, "", GCM ",aes128-cbc,3des-cbc" },
#endif
		/* what is not known goes behind what is; names nobody knows stay in the list */
		{ GCM "=50", "aes256-ctr," GCM ",strange", "", GCM ",aes256-ctr,strange" },
		{ "", CHACHA "," GCM, "", CHACHA "," GCM },
		{ "", "", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(t); i++) {
		struct preference p = costs(t[i].costs);
		char *got = preference_ciphers(&p, t[i].list, t[i].macs);

		assert_string_equal(got, t[i].want);
		free(got);
	}
}

static void macs(void **state)
{
	static const struct { const char *costs, *list, *want; } t[] = {
		/* both forms have one cost, and their order stays */
		{ "umac-64=3,hmac-sha1=9", "hmac-sha1-etm@openssh.com,hmac-sha1,umac-64-etm@openssh.com,umac-64@openssh.com",
			"umac-64-etm@openssh.com,umac-64@openssh.com,hmac-sha1-etm@openssh.com,hmac-sha1" },
		{ "umac-64=3,hmac-sha1=9", "umac-64@openssh.com,umac-64-etm@openssh.com", "umac-64@openssh.com,umac-64-etm@openssh.com" },
		/* other lengths of key are other MACs */
		{ "umac-64=9,umac-128=3", "umac-64@openssh.com,umac-128@openssh.com", "umac-128@openssh.com,umac-64@openssh.com" },
#ifdef WITH_LEGACY_CIPHERS
		{ "hmac-md5=1,hmac-sha2-512=90", "hmac-md5,hmac-sha2-512", "hmac-sha2-512,hmac-md5" },
#endif
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(t); i++) {
		struct preference p = costs(t[i].costs);
		char *got = preference_macs(&p, t[i].list);

		assert_string_equal(got, t[i].want);
		free(got);
	}
}

static void long_lists(void **state)
{
	struct preference p = costs(GCM "=1");
	struct str_list l = { 0 };
	char *list, *got;

	(void)state;
	for (int i = 0; i < 200; i++)
		str_list_add_take(&l, str_printf("name%d", i));
	str_list_add(&l, GCM);
	list = str_list_join(&l, ",");
	got = preference_ciphers(&p, list, "");
	assert_string_equal(got, list);
	free(got);
	free(list);
	str_list_clear(&l);
}

static void puts_refused(void **state)
{
	struct preference p = { .count = 0 };
	char name[PREFERENCE_NAME_MAX + 1];

	(void)state;
	assert_false(preference_put(&p, "", 1));
	assert_false(preference_put(&p, "a b", 1));
	assert_false(preference_put(&p, "a,b", 1));
	assert_false(preference_put(&p, "a", 0));
	assert_false(preference_put(&p, "a", (uint64_t)UINT32_MAX + 1));
	memset(name, 'x', sizeof(name));
	name[PREFERENCE_NAME_MAX] = '\0';
	assert_false(preference_put(&p, name, 1));
	name[PREFERENCE_NAME_MAX - 1] = '\0';
	assert_true(preference_put(&p, name, 1));
	for (int i = 1; i < PREFERENCE_COSTS_MAX; i++) {
		char *one = str_printf("n%d", i);

		assert_true(preference_put(&p, one, 1));
		free(one);
	}
	assert_false(preference_put(&p, "more", 1));
	assert_true(preference_put(&p, "n1", 7));        /* what is there is replaced */
	assert_int_equal(p.count, PREFERENCE_COSTS_MAX);
}

static size_t count_names(const char *list)
{
	const char *name;
	size_t n, count = 0;

	while (str_next_name(&list, &name, &n))
		count++;
	return count;
}

static void measured(void **state)
{
	const char *list = proposal_default_ciphers(), *mac_list = proposal_default_macs(), *cursor = list, *name;
	struct preference p = { .count = 0 };
	char *got;
	size_t n;

	(void)state;
	assert_true(preference_measure(&p, list, mac_list));
	assert_int_equal(p.count, count_names(list) + count_names(mac_list) / 2);
	/* Once is enough. */
	assert_false(preference_measure(&p, list, mac_list));
	got = preference_ciphers(&p, list, mac_list);
	assert_int_equal(strlen(got), strlen(list));
	while (str_next_name(&cursor, &name, &n))
		assert_true(str_names_has(got, name, n));
	free(got);
	/* What nobody can measure is left out. */
	assert_false(preference_measure(&p, "strange", "stranger"));
}

static void every_suite(void **state)
{
	const struct cipher_alg *none = cipher_find((struct view){ (const uint8_t *)"none", 4 });
	const struct cipher_alg *c;
	const struct mac_alg *m = NULL;
	struct speed s;

	(void)state;
	cipher_prepare_all();
	for (size_t i = 0; (c = cipher_at(i)) != NULL; i++) {
		struct packet_suite suite = { .cipher = c };

		s = (struct speed){ 0, 0 };
		assert_int_equal(speed_measure(&suite, 1, &s, NULL), 0);
		assert_true(s.seal_ns > 0 && s.open_ns > 0);
		assert_int_equal(speed_hardware(&suite) & ~cpu_features(), 0);
	}
	for (size_t i = 0; (m = mac_at(i)) != NULL; i++) {
		struct packet_suite suites[] = { { .cipher = none, .mac = m }, { .cipher = cipher_at(0), .mac = m } };

		for (size_t j = 0; j < MEM_COUNT(suites); j++)
			assert_int_equal(speed_measure(&suites[j], 1, &s, NULL), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ciphers), cmocka_unit_test(macs), cmocka_unit_test(long_lists), cmocka_unit_test(puts_refused),
		cmocka_unit_test(measured), cmocka_unit_test(every_suite),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
