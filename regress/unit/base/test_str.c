/* regress/unit/base/test_str.c: strings, numbers, times, sizes, lists, escapes, base64. */
#include "base/str.h"

#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_basics(void **state)
{
	char dst[4], up[] = "AbZ[`z";
	char *s;

	assert_true(str_copy(dst, 4, "abc"));
	assert_string_equal(dst, "abc");
	assert_false(str_copy(dst, 4, "wxyz"));
	assert_string_equal(dst, "wxy");
	assert_true(str_copy(dst, 1, ""));
	assert_false(str_copy(dst, 1, "q"));
	assert_string_equal(dst, "");
	s = str_printf("%d-%s", 5, "x");
	assert_string_equal(s, "5-x");
	free(s);
	assert_true(str_starts("abc", "ab") && str_starts("abc", "") && !str_starts("ab", "abc"));
	assert_true(str_ends("abc", "bc") && str_ends("abc", "") && !str_ends("bc", "abc"));
	assert_true(str_equal_nocase("HoSt", "hOsT") && !str_equal_nocase("a", "ab") && !str_equal_nocase("[", "{"));
	str_lower(up);
	assert_string_equal(up, "abz[`z");
	assert_true(str_is("abc", 3, "abc") && !str_is("abcd", 4, "abc") && !str_is("ab", 2, "abc"));
	assert_true(!str_is("abc\0", 4, "abc") && str_is(NULL, 0, ""));
}

static void test_u64(void **state)
{
	static const char *bad[] = { "", " 1", "1 ", "+1", "-1", "0x1", "1a", "18446744073709551616", "99999999999999999999999" };
	uint64_t v = 77;
	size_t i;

	assert_int_equal(str_to_u64("18446744073709551615", 0, UINT64_MAX, &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(str_to_u64("007", 0, 10, &v), 0);
	assert_int_equal(v, 7);
	assert_int_equal(str_to_u64("0", 1, 10, &v), ERR_USAGE);
	assert_int_equal(str_to_u64("11", 1, 10, &v), ERR_USAGE);
	for (i = 0; i < MEM_COUNT(bad); i++)
		assert_int_equal(str_to_u64(bad[i], 0, UINT64_MAX, &v), ERR_USAGE);
	assert_int_equal(v, 7);
}

static void test_seconds(void **state)
{
	static const struct { const char *s; uint64_t v; } good[] = {
		{ "0", 0 }, { "90", 90 }, { "90s", 90 }, { "1h30m", 5400 }, { "1H30M", 5400 }, { "1w", 604800 },
		{ "2d1s", 172801 }, { "1m30", 90 }, { "1.9", 1 }, { "1.9s", 1 }, { "1m0.5s", 60 }, { "1h1h", 7200 },
		{ "4294967295", 4294967295u },
	};
	static const char *bad[] = { "", "s", "1x", "1.5m", "1 m", "-1", "1s1s", "1s2", "4294967296", "7102w",
		"99999999999999999999w", "none", "1m ", ".5" };
	char text[24];
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < MEM_COUNT(good); i++) {
		assert_int_equal(str_to_seconds(good[i].s, &v), 0);
		assert_true(v == good[i].v);
	}
	for (i = 0; i < MEM_COUNT(bad); i++)
		assert_int_equal(str_to_seconds(bad[i], &v), ERR_USAGE);
	str_from_seconds(text, sizeof(text), 0);
	assert_string_equal(text, "00:00:00");
	str_from_seconds(text, sizeof(text), 86399);
	assert_string_equal(text, "23:59:59");
	str_from_seconds(text, sizeof(text), 86400 + 3600 * 2 + 60 * 3 + 4);
	assert_string_equal(text, "1d02h03m");
	str_from_seconds(text, sizeof(text), 604800 * 3 + 86400 * 2 + 3600 * 5);
	assert_string_equal(text, "03w2d05h");
}

static void test_bytes(void **state)
{
	static const struct { const char *s; uint64_t v; } good[] = {
		{ "0", 0 }, { "16", 16 }, { "16b", 16 }, { "1.5K", 1536 }, { "64M", 64 << 20 }, { "4G", UINT64_C(4) << 30 },
		{ "1t", UINT64_C(1) << 40 }, { "0.5P", UINT64_C(1) << 49 }, { "1.999999999E", UINT64_C(2305843008060772447) },
		{ "15E", UINT64_C(15) << 60 }, { "2.K", 2048 }, { "18446744073709551615", UINT64_MAX },
	};
	static const char *bad[] = { "", "K", "1KB", "1Q", "-1", "16E", "1 K", "1.5.5K", "18446744073709551616", "default" };
	uint64_t v;
	size_t i;

	for (i = 0; i < MEM_COUNT(good); i++) {
		assert_int_equal(str_to_bytes(good[i].s, &v), 0);
		if (v != good[i].v)
			print_error("%s: %" PRIu64 "\n", good[i].s, v);
		assert_true(v == good[i].v);
	}
	for (i = 0; i < MEM_COUNT(bad); i++)
		assert_int_equal(str_to_bytes(bad[i], &v), ERR_USAGE);
}

static void test_list(void **state)
{
	struct str_list l = { 0 }, m = { 0 };
	char *s;
	int i;

	s = str_list_join(&l, ",");
	assert_string_equal(s, "");
	free(s);
	assert_false(str_list_has(&l, "a"));
	for (i = 0; i < 100; i++) {
		str_list_add_take(&l, str_printf("n%d", i));
		assert_int_equal(l.count, i + 1);
		assert_null(l.v[l.count]);
	}
	assert_true(str_list_has(&l, "n63"));
	str_list_add(&m, "gone");
	str_list_copy(&m, &l);
	str_list_copy(&m, &m);
	assert_int_equal(m.count, 100);
	assert_string_equal(m.v[99], "n99");
	str_list_clear(&l);
	assert_null(l.v);
	str_list_clear(&m);
	str_list_add(&l, "a");
	str_list_add_n(&l, "bcd", 2);
	s = str_list_join(&l, ", ");
	assert_string_equal(s, "a, bc");
	free(s);
	str_list_clear(&l);
}

static void test_names(void **state)
{
	const char *cursor = ",,a,bb,,ccc,", *name;
	size_t n, i;
	static const char *want[] = { "a", "bb", "ccc" };

	for (i = 0; i < 3; i++) {
		assert_true(str_next_name(&cursor, &name, &n));
		assert_true(str_is(name, n, want[i]));
	}
	assert_false(str_next_name(&cursor, &name, &n));
	assert_false(str_next_name(&cursor, &name, &n));
	assert_true(str_names_has("a,bb,ccc", "bb", 2));
	assert_false(str_names_has("a,bb,ccc", "bb", 1));
	assert_false(str_names_has("a,bb,ccc", "cccc", 4));
	assert_false(str_names_has("", "a", 1));
	assert_false(str_names_has("a", "", 0));
}

static void check_escaped(char *got, const char *want)
{
	assert_string_equal(got, want);
	free(got);
}

static void test_escape_log(void **state)
{
	check_escaped(str_escape_log("a b~", 4, 10), "a b~");
	check_escaped(str_escape_log("a\\b\n\r\t\033\177\200\377", 10, 100), "a\\\\b\\012\\015\\011\\033\\177\\200\\377");
	check_escaped(str_escape_log("a\0b", 3, 100), "a\\000b");
	check_escaped(str_escape_log("abcdef", 6, 3), "abc...");
	check_escaped(str_escape_log("abc", 3, 3), "abc");
	check_escaped(str_escape_log(NULL, 0, 3), "");
}

static void test_escape_terminal(void **state)
{
	/* Too long forms, surrogates, beyond U+10FFFF, cut sequences; then C1 controls, direction overrides, and
	 * characters without width. */
	static const char *bad_utf8[] = { "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc3", "\x80", "\xff",
		"\xe2\x82", "\xf8\x88\x80\x80\x80", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\x8b", "\xef\xbb\xbf" };
	size_t i, j;
	char *s;

	assert_non_null(setlocale(LC_CTYPE, "C"));
	check_escaped(str_escape_terminal("a\\b\n\tc\r\nd\re\033[1m", 15), "a\\b\n\tc\nd\\015e\\033[1m");
	check_escaped(str_escape_terminal("\0\177\r", 3), "\\000\\177\\015");
	check_escaped(str_escape_terminal("\xc3\xa4", 2), "\\303\\244");
	if (setlocale(LC_CTYPE, "C.UTF-8") == NULL && setlocale(LC_CTYPE, "en_US.UTF-8") == NULL)
		skip();
	check_escaped(str_escape_terminal("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80.", 10), "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80.");
	for (i = 0; i < MEM_COUNT(bad_utf8); i++) {
		s = str_escape_terminal(bad_utf8[i], strlen(bad_utf8[i]));
		assert_int_equal(strlen(s), 4 * strlen(bad_utf8[i]));
		for (j = 0; j < strlen(s); j += 4)
			assert_int_equal(strtoul(s + j + 1, NULL, 8), (uint8_t)bad_utf8[i][j / 4]);
		free(s);
	}
	setlocale(LC_CTYPE, "C");
}

static void test_base64(void **state)
{
	/* RFC 4648 section 10 */
	static const struct { const char *plain, *coded; } known[] = {
		{ "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" }, { "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" }, { "\xff\xef\xbe~?", "/+++fj8=" },
	};
	static const char *bad[] = { "Z", "Zg", "Zg=", "Zg===", "=", "====", "Z===", "Zh==", "Zm9=", "Zm8=Zm8=", "Zm 9", "Zm9v\n",
		"Zm9v\n\n\n\n", "Zg=a", "Zm-v", "Zm_v", "\xffm9v", ("Zm9\0" "aaaa") };
	uint8_t out[64], all[256];
	char *s;
	size_t i, n;

	for (i = 0; i < MEM_COUNT(known); i++) {
		s = str_base64_encode(known[i].plain, strlen(known[i].plain));
		assert_string_equal(s, known[i].coded);
		assert_int_equal(str_base64_decode(s, strlen(s), out), strlen(known[i].plain));
		assert_memory_equal(out, known[i].plain, strlen(known[i].plain));
		free(s);
	}
	for (i = 0; i < MEM_COUNT(bad); i++) {
		n = strlen(bad[i]);
		assert_int_equal(str_base64_decode(bad[i], i == MEM_COUNT(bad) - 1 ? 8 : n, out), ERR_PEER);
	}
	for (i = 0; i < sizeof(all); i++)
		all[i] = (uint8_t)(i * 7);
	for (n = 0; n <= sizeof(all); n++) {
		uint8_t *back;

		s = str_base64_encode(all, n);
		back = mem_alloc(3 * (strlen(s) / 4)); /* exactly what the contract asks for */
		assert_int_equal(str_base64_decode(s, strlen(s), back), n);
		assert_memory_equal(back, all, n);
		free(back);
		free(s);
	}
}

static void test_hex(void **state)
{
	check_escaped(str_hex("\x00\x9a\xff", 3), "009aff");
	check_escaped(str_hex("", 0), "");
}

static void test_unhex(void **state)
{
	uint8_t out[3] = { 1, 1, 1 };

	assert_true(str_unhex("009aff", out, 3));
	assert_memory_equal(out, "\x00\x9a\xff", 3);
	assert_true(str_unhex("", out, 0));
	assert_false(str_unhex("009AFF", out, 3));
	assert_false(str_unhex("009af", out, 3));
	assert_false(str_unhex("009aff0", out, 3));
	assert_false(str_unhex("009afg", out, 3));
	assert_false(str_unhex("009af ", out, 3));
}

static void test_next_line(void **state)
{
	static const char text[] = "one\n\nthree\nrest";
	const char *at = text;
	size_t left = sizeof(text) - 1;
	char line[6];

	assert_int_equal(str_next_line(&at, &left, line, sizeof(line)), 1);
	assert_string_equal(line, "one");
	assert_int_equal(str_next_line(&at, &left, line, sizeof(line)), 1);
	assert_string_equal(line, "");
	assert_int_equal(str_next_line(&at, &left, line, 5), ERR_PEER);         /* no room for the end */
	assert_int_equal(str_next_line(&at, &left, line, sizeof(line)), 1);
	assert_string_equal(line, "three");
	assert_int_equal(left, 4);
	assert_int_equal(str_next_line(&at, &left, line, sizeof(line)), ERR_PEER);
	left = 0;
	assert_int_equal(str_next_line(&at, &left, line, sizeof(line)), 0);
	at = "a\0b\n";
	left = 4;
	assert_int_equal(str_next_line(&at, &left, line, sizeof(line)), ERR_PEER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_basics), cmocka_unit_test(test_u64), cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_bytes), cmocka_unit_test(test_list), cmocka_unit_test(test_names),
		cmocka_unit_test(test_escape_log), cmocka_unit_test(test_escape_terminal), cmocka_unit_test(test_base64),
		cmocka_unit_test(test_hex), cmocka_unit_test(test_unhex), cmocka_unit_test(test_next_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
