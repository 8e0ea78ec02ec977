/* regress/unit/base/test_match.c: patterns, lists, address ranges. */
#include "base/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_pattern(void **state)
{
	static const struct { const char *s, *p; bool want; } t[] = {
		{ "", "", true }, { "", "*", true }, { "", "?", false }, { "a", "", false }, { "abc", "abc", true },
		{ "abc", "a?c", true }, { "abc", "a*", true }, { "abc", "*c", true }, { "abc", "*b*", true }, { "abc", "a*d", false },
		{ "abc", "***", true }, { "abc", "????", false }, { "abc", "???", true }, { "aXbXc", "a*b*c", true },
		{ "mississippi", "m*iss*ip*i", true }, { "mississippi", "m*iss*ipz*", false }, { "a*c", "a[*]c", false },
		{ "Abc", "abc", false }, { "abc", "abcd", false }, { "abcd", "abc", false }, { "ab", "*?*?*", true }, { "a", "*?*?*", false },
	};
	char s[2001], p[401];
	size_t i;

	for (i = 0; i < MEM_COUNT(t); i++)
		assert_true(match_pattern(t[i].s, t[i].p) == t[i].want);
	/* A pattern that takes naive matchers more than the age of the universe. */
	memset(s, 'a', 2000);
	s[2000] = '\0';
	for (i = 0; i < 400; i++)
		p[i] = i % 2 ? '*' : 'a';
	p[399] = 'b';
	p[400] = '\0';
	assert_false(match_pattern(s, p));
}

static void test_list(void **state)
{
	char *longest = mem_array(1, 1100);

	assert_int_equal(match_list("b", "a,b", false), 1);
	assert_int_equal(match_list("c", "a,b", false), 0);
	assert_int_equal(match_list("b", "*,!b", false), -1);
	assert_int_equal(match_list("b", "!b,*", false), -1);
	assert_int_equal(match_list("c", "*,!b", false), 1);
	assert_int_equal(match_list("c", "!b", false), 0);
	assert_int_equal(match_list("c", "", false), 0);
	assert_int_equal(match_list("c", ",,c,", false), 1);
	assert_int_equal(match_list("c", "C", false), 0);
	assert_int_equal(match_list("c", "C", true), 1);
	memset(longest, 'x', 1022);
	assert_int_equal(match_list(longest, longest, false), 1);
	longest[1022] = 'x';
	assert_int_equal(match_list(longest, longest, false), 0);
	memcpy(longest + 1023, ",*", 3);
	assert_int_equal(match_list("y", longest, false), 0);
	free(longest);
}

static void test_address(void **state)
{
	static const struct { const char *addr, *list; int want; } t[] = {
		{ "192.168.1.7", "192.168.1.0/24", 1 }, { "192.168.2.7", "192.168.1.0/24", 0 }, { "10.0.0.1", "0.0.0.0/0", 1 },
		{ "10.0.0.1", "10.0.0.1/32", 1 }, { "10.0.0.2", "10.0.0.1/32", 0 }, { "10.0.0.1", "10.0.0.1", 1 },
		{ "10.0.0.1", "10.0.0.*", 1 }, { "10.0.0.11", "10.0.0.1?", 1 }, { "10.0.0.1", "10.0.0.0/8", 1 },
		{ "10.0.0.1", "10.0.0.1/8", -2 }, { "10.0.0.1", "10.0.0.0/33", -2 }, { "10.0.0.1", "10.0.0.0/", -2 },
		{ "10.0.0.1", "10.0.0.0/-1", -2 }, { "10.0.0.1", "10.0.0/8", -2 }, { "10.0.0.1", "x/8", -2 },
		{ "10.0.0.1", "10.0.0.0/8,!10.0.0.1", -1 }, { "10.0.0.1", "!10.0.0.1,10.0.0.1/8", -2 },
		{ "10.0.0.1", "!11.0.0.0/8", 0 }, { "172.20.3.4", "172.16.0.0/12", 1 }, { "172.32.3.4", "172.16.0.0/12", 0 },
		{ "::1", "0:0:0::0001", 1 }, { "::1", "::/0", 1 }, { "::1", "0.0.0.0/0", 0 }, { "10.0.0.1", "::/0", 0 },
		{ "2001:db8::5", "2001:db8::/32", 1 }, { "2001:db9::5", "2001:db8::/32", 0 }, { "2001:db8:8000::1", "2001:db8::/33", 0 },
		{ "2001:db8::1", "2001:db8::1/127", -2 }, { "2001:db8::1", "2001:db8::/127", 1 }, { "2001:db8::", "2001:db8::/129", -2 },
		{ "fe80::1%eth0", "fe80::/10", 1 }, { "fe80::1%eth0", "fe80::1%eth1", 0 }, { "fe80::1%eth0", "fe80::1%eth0", 1 },
		{ "fe80::1%eth0", "fe80::1", 1 }, { "UNKNOWN", "UNK*", 1 }, { "UNKNOWN", "0.0.0.0/0", 0 }, { "10.0.0.1", "", 0 },
		{ NULL, "*,10.0.0.0/8", 0 }, { NULL, "*,10.0.0.1/8", -2 },
	};
	size_t i;

	for (i = 0; i < MEM_COUNT(t); i++) {
		if (match_address(t[i].addr, t[i].list) != t[i].want)
			print_error("%s in %s\n", t[i].addr, t[i].list);
		assert_int_equal(match_address(t[i].addr, t[i].list), t[i].want);
	}
}

static void test_host_or_address(void **state)
{
	assert_int_equal(match_host_or_address("h.example", "10.0.0.1", "*.EXAMPLE"), 1);
	assert_int_equal(match_host_or_address("h.example", "10.0.0.1", "10.0.0.0/8"), 1);
	assert_int_equal(match_host_or_address("h.example", "10.0.0.1", "*.org"), 0);
	assert_int_equal(match_host_or_address("h.example", "10.0.0.1", "10.0.0.0/8,!h.example"), -1);
	assert_int_equal(match_host_or_address("h.example", "10.0.0.1", "*.example,!10.0.0.0/8"), -1);
	assert_int_equal(match_host_or_address("h.example", "10.0.0.1", "*.example,10.0.0.1/8"), -2);
	assert_int_equal(match_host_or_address(NULL, "10.0.0.1", "10.0.0.?"), 1);
	assert_int_equal(match_host_or_address("h", NULL, "h"), 1);
}

static void test_user_host(void **state)
{
	assert_int_equal(match_user_host("u", NULL, NULL, "u"), 1);
	assert_int_equal(match_user_host("u", NULL, NULL, "v*"), 0);
	assert_int_equal(match_user_host("u", "h", "10.0.0.1", "u@h"), 1);
	assert_int_equal(match_user_host("u", "h", "10.0.0.1", "u@10.0.0.0/8"), 1);
	assert_int_equal(match_user_host("u", "h", "10.0.0.1", "v@10.0.0.0/8"), 0);
	assert_int_equal(match_user_host("u", "h", "10.0.0.1", "u@g"), 0);
	assert_int_equal(match_user_host("u", "h", "10.0.0.1", "u@*,!h"), 0);
	assert_int_equal(match_user_host("a@b", "h", "10.0.0.1", "a@b@h"), 1);
	assert_int_equal(match_user_host("v", "h", "10.0.0.1", "u@10.0.0.1/8"), -2);
	assert_int_equal(match_user_host(NULL, NULL, NULL, "u@10.0.0.1/8"), -2);
	assert_int_equal(match_user_host(NULL, NULL, NULL, "u@10.0.0.0/8"), 0);
	assert_int_equal(match_user_host(NULL, NULL, NULL, "u"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pattern), cmocka_unit_test(test_list), cmocka_unit_test(test_address),
		cmocka_unit_test(test_host_or_address), cmocka_unit_test(test_user_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
