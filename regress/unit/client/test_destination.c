/* [user@]host and ssh:// operands. */
#include "client/destination.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *text(const char *s)
{
	return s ? s : "-";
}

static void test_table(void **state)
{
	static const struct { const char *in, *user, *host, *port; } rows[] = {
		{ "host", "-", "host", "-" }, { "me@host", "me", "host", "-" }, { "a@b@host", "a@b", "host", "-" },
		{ "ssh://host", "-", "host", "-" }, { "ssh://me@host:22", "me", "host", "22" }, { "ssh://host/", "-", "host", "-" },
		{ "ssh://m%40e@host", "m@e", "host", "-" }, { "ssh://me;fingerprint=x@host:1", "me", "host", "1" },
		{ "ssh://[::1]:22", "-", "::1", "22" }, { "ssh://[fe80::1]", "-", "fe80::1", "-" }, { "::1", "-", "::1", "-" },
		{ "ssh", "-", "ssh", "-" }, { "sshd.example", "-", "sshd.example", "-" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct destination d;

		assert_int_equal(destination_parse(rows[i].in, "ssh", &d, NULL), 0);
		assert_string_equal(text(d.user), rows[i].user);
		assert_string_equal(text(d.host), rows[i].host);
		assert_string_equal(text(d.port), rows[i].port);
		destination_clear(&d);
	}
}

static void test_refused(void **state)
{
	static const char *const rows[] = { "", "me@", "@host", "ssh://", "ssh://host/path", "ssh://host:", "ssh://me@",
		"ssh://m%4@host", "ssh://m%00e@host", "ssh://m%zze@host", "ssh://[::1]x" };

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct destination d;
		struct err e = { 0 };

		if (destination_parse(rows[i], "ssh", &d, &e) == 0)
			fail_msg("%s", rows[i]);
		assert_true(e.code != 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_table), cmocka_unit_test(test_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
