/* regress/unit/xfer/test_glob.c: patterns of one component; names against what the old protocol asked for. */
#include "xfer/glob.h"
#include "xfer/rcp.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_match(void **state)
{
	static const struct { const char *pattern, *name; bool want; } rows[] = {
		{ "*", "a", true }, { "*", "", true }, { "*", ".a", false }, { ".*", ".a", true }, { "?a", ".a", false },
		{ "\\.a", ".a", true }, { "[.]a", ".a", false }, { "a*b", "ab", true }, { "a*b", "aXXb", true }, { "a*b", "aXXbc", false },
		{ "*a*b*", "xaybz", true }, { "*a*b*", "xbya", false }, { "a?c", "abc", true }, { "a?c", "ac", false },
		{ "[abc]", "b", true }, { "[abc]", "d", false }, { "[!abc]", "d", true }, { "[!abc]", "a", false }, { "[a-c]x", "bx", true },
		{ "[c-a]x", "bx", false }, { "[]]", "]", true }, { "[!]]", "]", false }, { "[a-]", "-", true }, { "[", "[", true },
		{ "[a", "[a", true }, { "[[:digit:]]", "7", true }, { "[[:digit:]]", "x", false }, { "[[:alpha:]0]", "0", true },
		{ "[[:alpha:]0]", "Q", true }, { "[[:space:]]", " ", true }, { "[[:punct:]]", "!", true }, { "[[:nosuch:]]", "n", false },
		{ "[\\]a]", "]", true }, { "\\*", "*", true }, { "\\*", "a", false }, { "\\[a]", "[a]", true }, { "a\\", "a\\", true },
		{ "", "", true }, { "", "a", false }, { "a**b", "acb", true }, { "*.c", "x.c.c", true }, { "[\xe4-\xf6]", "\xe5", true },
		{ "aaaaaaaaaaaa*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++)
		if (glob_match(rows[i].pattern, strlen(rows[i].pattern), rows[i].name) != rows[i].want)
			fail_msg("%s against %s", rows[i].pattern, rows[i].name);
}

static void test_magic(void **state)
{
	static const struct { const char *s; bool want; const char *plain; } rows[] = {
		{ "abc", false, "abc" }, { "a*c", true, NULL }, { "a\\*c", false, "a*c" }, { "a?", true, NULL }, { "[a]", true, NULL },
		{ "[a", false, "[a" }, { "\\[a]", false, "[a]" }, { "a\\", false, "a\\" }, { "a\\ b", false, "a b" }, { "a\\\\b", false, "a\\b" },
		{ "", false, "" }, { "\\a\\?", false, "a?" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		size_t n = strlen(rows[i].s);

		assert_int_equal(glob_has_magic(rows[i].s, n), rows[i].want);
		if (rows[i].plain != NULL) {
			char *plain = glob_unescape(rows[i].s, n);

			assert_string_equal(plain, rows[i].plain);
			free(plain);
		}

		char *pattern = glob_escape(rows[i].s), *back = glob_unescape(pattern, strlen(pattern));

		assert_false(glob_has_magic(pattern, strlen(pattern)));
		assert_string_equal(back, rows[i].s);
		free(back);
		free(pattern);
	}
}

static void test_requested_names(void **state)
{
	static const struct { const char *asked, *name; bool want; } rows[] = {
		{ "f", "f", true }, { "f", "g", false }, { "dir/f", "f", true }, { "dir/*.c", "x.c", true }, { "dir/*.c", "x.h", false },
		{ "~/f", "f", true }, { "/f/", "f", true }, { "{a,b}", "a", true }, { "{a,b}", "b", true }, { "{a,b}", "c", false },
		{ "x{a,b{c,d}}y", "xay", true }, { "x{a,b{c,d}}y", "xbdy", true }, { "x{a,b{c,d}}y", "xby", false },
		{ "d/{a,b/c}", "c", true }, { "{a,}b", "b", true }, { "{}", "{}", true }, { "{a", "{a", true }, { "a}", "a}", true },
		{ "\\{a,b\\}", "{a,b}", true }, { "*{a,b}", "zzb", true }, { "*", ".profile", false }, { "*", "../x", false }, { "", "x", false },
		{ "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "x", false },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		/* "*" alone would match anything; that the name is a name is checked before. */
		bool got = rcp_name_acceptable(rows[i].name) && rcp_name_matches(rows[i].asked, rows[i].name);

		if (got != rows[i].want)
			fail_msg("%s against %s", rows[i].asked, rows[i].name);
	}
	/* Of what no name can be told beforehand. */
	static const struct { const char *asked; bool open; } opens[] = {
		{ "", true }, { ".", true }, { "a/.", true }, { "..", true }, { "../", true }, { "/", true }, { "~", true }, { "~ada/", true },
		{ "$DIR", true }, { "a/`x`", true }, { "a", false }, { "a/", false }, { "~/a", false }, { "*", false }, { "...", false }, { "a/..b", false },
	};
	for (size_t i = 0; i < MEM_COUNT(opens); i++)
		if (rcp_name_is_open(opens[i].asked) != opens[i].open)
			fail_msg("%s", opens[i].asked);
	assert_false(rcp_name_acceptable(""));
	assert_false(rcp_name_acceptable("."));
	assert_false(rcp_name_acceptable(".."));
	assert_false(rcp_name_acceptable("a/b"));
	assert_true(rcp_name_acceptable("..."));
}

static void test_records(void **state)
{
	struct rcp_record r;
	struct rcp_times t;
	const char *why;

	(void)state;
	assert_int_equal(rcp_parse_record("C0644 12 a name", &r, &why), 0);
	assert_true(!r.is_dir && r.mode == 0644 && r.size == 12);
	assert_string_equal(r.name, "a name");
	assert_int_equal(rcp_parse_record("D4755 0 d", &r, &why), 0);
	assert_true(r.is_dir && r.mode == 04755);
	assert_int_equal(rcp_parse_record("C0644 9223372036854775807 f", &r, &why), 0);
	assert_true(r.size == INT64_MAX);
	static const char *const bad[] = { "C0644 9223372036854775808 f", "C0644 99999999999999999999999 f", "C0644 -1 f", "C064 1 f",
		"C06444 1 f", "C0684 1 f", "C0644  f", "C0644 1", "C0644", "C", "", "X0644 1 f", "C0644 1x f" };
	for (size_t i = 0; i < MEM_COUNT(bad); i++)
		assert_int_equal(rcp_parse_record(bad[i], &r, &why), ERR_PEER);
	assert_int_equal(rcp_parse_times("T1183828267 0 1183828268 999999", &t), 0);
	assert_true(t.mtime == 1183828267 && t.atime == 1183828268);
	static const char *const bad_times[] = { "T", "T1", "T1 0 2", "T1 0 2 ", "T1 0 2 0 ", "T-1 0 2 0", "T1 1000000 2 0", "T 0 2 0",
		"T9223372036854775808 0 2 0" };
	for (size_t i = 0; i < MEM_COUNT(bad_times); i++)
		assert_int_equal(rcp_parse_times(bad_times[i], &t), ERR_PEER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match), cmocka_unit_test(test_magic), cmocka_unit_test(test_requested_names),
		cmocka_unit_test(test_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
