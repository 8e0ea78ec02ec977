/* AuthenticationMethods, and delays of refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/str.h"
#include "server/auth_methods.h"
#include "server/monitor_private.h"

static struct auth_methods start(const char *a, const char *b, const char *enabled, int want)
{
	struct auth_methods m;
	struct str_list l = { 0 };
	struct err e = { 0 };

	if (a != NULL)
		str_list_add(&l, a);
	if (b != NULL)
		str_list_add(&l, b);
	assert_int_equal(auth_methods_start(&m, &l, enabled, &e), want);
	str_list_clear(&l);
	return m;
}

static void assert_offer(const struct auth_methods *m, const char *want)
{
	char *s = auth_methods_offer(m);

	assert_string_equal(s, want);
	free(s);
}

static void test_any(void **state)
{
	struct auth_methods m = start(NULL, NULL, "publickey,password,", 0);

	(void)state;
	assert_offer(&m, "publickey,password");
	assert_true(auth_methods_may(&m, "password", NULL));
	assert_false(auth_methods_may(&m, "keyboard-interactive", NULL));
	assert_true(auth_methods_strike(&m, "publickey", NULL));
	auth_methods_clear(&m);
	assert_false(auth_methods_may(&m, "password", NULL));    /* nothing is permitted before it is started */
	assert_offer(&m, "");
	m = start("any", NULL, "publickey", 0);
	assert_offer(&m, "publickey");
	auth_methods_clear(&m);
}

static void test_lists(void **state)
{
	struct auth_methods m = start("publickey,password", "publickey,keyboard-interactive:pam",
		"publickey,password,keyboard-interactive", 0);

	(void)state;
	assert_offer(&m, "publickey");
	assert_false(auth_methods_may(&m, "password", NULL));
	assert_false(auth_methods_strike(&m, "publickey", NULL));
	assert_offer(&m, "password,keyboard-interactive");
	assert_false(auth_methods_may(&m, "publickey", NULL));
	assert_false(auth_methods_may(&m, "keyboard-interactive", "bsdauth"));
	assert_true(auth_methods_strike(&m, "keyboard-interactive", "pam"));
	auth_methods_clear(&m);

	m = start("publickey,publickey,password", NULL, "publickey,password", 0);
	assert_false(auth_methods_strike(&m, "publickey", NULL));
	assert_offer(&m, "publickey");
	assert_false(auth_methods_strike(&m, "publickey", NULL));
	assert_offer(&m, "password");
	assert_false(auth_methods_strike(&m, "publickey", NULL)); /* not its turn */
	assert_true(auth_methods_strike(&m, "password", NULL));
	auth_methods_clear(&m);
}

static void test_disabled(void **state)
{
	struct auth_methods m = start("publickey,password", "password", "password", 0);

	(void)state;
	assert_offer(&m, "password");
	assert_true(auth_methods_strike(&m, "password", NULL));
	auth_methods_clear(&m);
	m = start("publickey,password", "hostbased", "password", ERR_USAGE);
	assert_false(auth_methods_may(&m, "password", NULL));
	auth_methods_clear(&m);
}

static void test_delay(void **state)
{
	static const struct { uint64_t base, elapsed, want; } cases[] = {
		{ 6000, 0, 6000 }, { 6000, 5999, 1 }, { 6000, 6000, 0 }, { 6000, 6001, 5999 }, { 6000, 12001, 11999 },
		{ 6000, 5000001, 0 }, { 6000, 4000000, 6000 * 1024 - 4000000 },
	};
	static const uint8_t a[4] = "abc", b[4] = "abd";
	uint64_t d = auth_delay_base_us(a, 4, "ada");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(auth_delay_us(cases[i].base, cases[i].elapsed), cases[i].want);
	assert_int_equal(d, auth_delay_base_us(a, 4, "ada"));
	assert_true(d >= 5000 && d < 9000);
	assert_true(d != auth_delay_base_us(b, 4, "ada") || d != auth_delay_base_us(a, 4, "eve"));
}

static void test_password_dates(void **state)
{
	static const struct { struct password_dates d; int64_t today; bool expired, change; } cases[] = {
		{ { 19000, 99999, -1, -1 }, 20000, false, false },
		{ { 0, 99999, -1, -1 }, 20000, false, true },            /* chage -d 0 */
		{ { 19000, 90, -1, -1 }, 19090, false, false },
		{ { 19000, 90, -1, -1 }, 19091, false, true },
		{ { 19000, 90, 7, -1 }, 19097, false, true },
		{ { 19000, 90, 7, -1 }, 19098, true, true },
		{ { 19000, 99999, -1, 19500 }, 19500, false, false },
		{ { 19000, 99999, -1, 19500 }, 19501, true, false },
		{ { -1, -1, -1, -1 }, 20000, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct password_entry p = { 0 };

		password_judge_dates(&cases[i].d, cases[i].today, &p);
		assert_int_equal(p.expired_account, cases[i].expired);
		assert_int_equal(p.must_change, cases[i].change);
	}
}

static void test_password_check(void **state)
{
	/* "right horse" */
	struct password_entry p = { .hash = (char *)"$5$saltsalt$5ChoQkXolxmoQrpitaOco1JEQY0U0NK9qcshyKrz5v5" };
	struct password_entry nobody = { 0 }, empty = { .hash = (char *)"" };
	struct password_entry locked = { .hash = (char *)"!" }, star = { .hash = (char *)"*" };
	char *fake = pam_fake_password("x");

	(void)state;
	assert_true(password_check(&p, "right horse", false));
	assert_false(password_check(&p, "right horsf", false));
	assert_false(password_check(&p, "", true));
	assert_false(password_check(&nobody, "right horse", true));
	assert_false(password_check(&nobody, "", true));
	assert_true(password_check(&empty, "", true));
	assert_false(password_check(&empty, "", false));
	assert_false(password_check(&empty, "x", true));
	assert_false(password_check(&locked, "!", false));
	assert_false(password_check(&star, "*", false));
	assert_true(strlen(fake) >= 12);
	free(fake);
	fake = pam_fake_password("a much longer password than that");
	assert_int_equal(strlen(fake), strlen("a much longer password than that"));
	free(fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any), cmocka_unit_test(test_lists), cmocka_unit_test(test_disabled),
		cmocka_unit_test(test_delay), cmocka_unit_test(test_password_dates), cmocka_unit_test(test_password_check),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
