/* regress/unit/xfer/test_operand.c: operands of scp. */
#include "xfer/operand.h"

#include <string.h>

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void check_text(const char *got, const char *want)
{
	if (want == NULL)
		assert_null(got);
	else {
		assert_non_null(got);
		assert_string_equal(got, want);
	}
}

static void test_good(void **state)
{
	static const struct { const char *s; bool remote; const char *user, *host, *path; int port; } rows[] = {
		{ "file", false, NULL, NULL, "file", -1 }, { "./a:b", false, NULL, NULL, "./a:b", -1 }, { ":x", false, NULL, NULL, ":x", -1 },
		{ "/a:b", false, NULL, NULL, "/a:b", -1 }, { "d/a:b", false, NULL, NULL, "d/a:b", -1 }, { "", false, NULL, NULL, "", -1 },
		{ "h:", true, NULL, "h", "", -1 }, { "h:p", true, NULL, "h", "p", -1 }, { "u@h:p", true, "u", "h", "p", -1 },
		{ "h:a:b", true, NULL, "h", "a:b", -1 }, { "h:/a b", true, NULL, "h", "/a b", -1 }, { "u@d@h:p", true, "u@d", "h", "p", -1 },
		{ "[::1]:p", true, NULL, "::1", "p", -1 }, { "u@[fe80::1%e]:p", true, "u", "fe80::1%e", "p", -1 },
		{ "[::1]", false, NULL, NULL, "[::1]", -1 }, { "[h]:p", true, NULL, "h", "p", -1 }, { "h:~u/x", true, NULL, "h", "~u/x", -1 },
		{ "a@b", false, NULL, NULL, "a@b", -1 }, { "d/[x]:y", false, NULL, NULL, "d/[x]:y", -1 },
		{ "scp://h", true, NULL, "h", "", -1 }, { "scp://h/", true, NULL, "h", "", -1 }, { "scp://h/p", true, NULL, "h", "p", -1 },
		{ "scp://h//p", true, NULL, "h", "/p", -1 }, { "scp://u@h:2222/p/q", true, "u", "h", "p/q", 2222 },
		{ "scp://u@[::1]:22/x", true, "u", "::1", "x", 22 }, { "scp://[::1]/x", true, NULL, "::1", "x", -1 },
		{ "scp://h/a%20b", true, NULL, "h", "a b", -1 }, { "scp://u%40d@h/x", true, "u@d", "h", "x", -1 },
		{ "scp:x", true, NULL, "scp", "x", -1 },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct operand o;
		struct err e = { 0 };

		if (operand_parse(rows[i].s, &o, &e) != 0)
			fail_msg("%s: %s", rows[i].s, e.text);
		assert_int_equal(o.remote, rows[i].remote);
		assert_int_equal(o.port, rows[i].port);
		check_text(o.user, rows[i].user);
		check_text(o.host, rows[i].host);
		check_text(o.path, rows[i].path);
		operand_clear(&o);
	}
}

static void test_bad(void **state)
{
	static const char *const rows[] = {
		"@h:p", "u@:p", "[]:p", "-h:p", "u@-oProxyCommand=x:p", "-u@h:p", "u\x80@h:p", "a b@h:p", "a'@h:p", "a\"@h:p", "a`@h:p", "a#@h:p",
		"a\n@h:p", "scp://", "scp:///p", "scp://h:0/p", "scp://h:65536/p", "scp://h:x/p", "scp://h:/p", "scp://h/%", "scp://h/%0",
		"scp://h/%zz", "scp://h/%00", "scp://%/x", "scp://-h/p",
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct operand o;
		struct err e = { 0 };

		if (operand_parse(rows[i], &o, &e) != ERR_USAGE)
			fail_msg("%s was accepted", rows[i]);
		assert_true(e.text[0] != '\0');
		assert_null(o.host);
	}
}

static void test_same_host(void **state)
{
	static const struct { const char *a, *b; bool want; } rows[] = {
		{ "h:a", "h:b", true }, { "u@h:a", "u@h:b", true }, { "u@h:a", "h:b", false }, { "u@h:a", "v@h:b", false }, { "h:a", "g:a", false },
		{ "a", "a", false }, { "scp://h:1/a", "scp://h:1/b", true }, { "scp://h:1/a", "scp://h:2/a", false }, { "h:a", "scp://h/a", true },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct operand a, b;

		assert_int_equal(operand_parse(rows[i].a, &a, NULL), 0);
		assert_int_equal(operand_parse(rows[i].b, &b, NULL), 0);
		assert_int_equal(operand_same_host(&a, &b), rows[i].want);
		operand_clear(&a);
		operand_clear(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_good), cmocka_unit_test(test_bad), cmocka_unit_test(test_same_host) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
