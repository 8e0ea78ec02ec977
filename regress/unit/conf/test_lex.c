/* regress/unit/conf/test_lex.c: keywords and words of a line. */
#include "conf/lex.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* keyword|word|word...|=rest, or EMPTY, or QUOTES. */
static char *shown(const char *line)
{
	struct conf_lexed x;
	enum conf_lex_result r = conf_lex(line, &x);
	char *words, *out;

	if (r == CONF_LEX_EMPTY)
		return mem_strdup("EMPTY");
	words = x.words.count != 0 ? str_list_join(&x.words, "|") : mem_strdup("");
	out = r == CONF_LEX_BAD_QUOTES ? mem_strdup("QUOTES") : str_printf("%s|%s|=%s", x.keyword, words, x.rest);
	free(words);
	conf_lexed_clear(&x);
	return out;
}

static void test_lines(void **state)
{
	static const struct { const char *line, *want; } t[] = {
		{ "", "EMPTY" }, { "   \t", "EMPTY" }, { "# a", "EMPTY" }, { "  #a b", "EMPTY" }, { "\"Port 22", "EMPTY" },
		{ "\"\" x", "EMPTY" }, { "\r\n", "EMPTY" },
		{ "Port 22", "Port|22|=22" }, { "Port=22", "Port|22|=22" }, { "Port = 22", "Port|22|=22" },
		{ " \tPort\t 22 \t\r\n", "Port|22|=22" }, { "Port==22", "Port|=22|==22" }, { "\"Port\" 22", "Port|22|=22" },
		{ "\"Port\"=22", "Port|22|=22" }, { "Port", "Port||=" }, { "Port =", "Port||=" },
		{ "Port 22\f", "Port|22|=22" }, { "Port 22 # c", "Port|22|=22 # c" }, { "Port 22#c", "Port|22#c|=22#c" },
		{ "Port #c", "Port||=#c" }, { "Host a b  c", "Host|a|b|c|=a b  c" }, { "Host \"a b\" c", "Host|a b|c|=\"a b\" c" },
		{ "Host 'a \"b' c", "Host|a \"b|c|='a \"b' c" }, { "Host a\"b c\"d", "Host|ab cd|=a\"b c\"d" },
		{ "Host \"a\\\"b\"", "Host|a\"b|=\"a\\\"b\"" }, { "Host a\\ b", "Host|a b|=a\\ b" },
		{ "Host \"a\\ b\"", "Host|a\\ b|=\"a\\ b\"" }, { "Host a\\b", "Host|a\\b|=a\\b" }, { "Host a\\\\b", "Host|a\\b|=a\\\\b" },
		{ "Host \\'a", "Host|'a|=\\'a" }, { "Host a\\", "Host|a\\|=a\\" }, { "Host \"#a\" #b", "Host|#a|=\"#a\" #b" },
		{ "Host \"a", "QUOTES" }, { "Host 'a", "QUOTES" }, { "Host a # \"b", "Host|a|=a # \"b" }, { "Host \"\" a", "Host||a|=\"\" a" },
		{ "=x", "|x|=x" },
	};
	size_t i;

	for (i = 0; i < MEM_COUNT(t); i++) {
		char *got = shown(t[i].line);

		assert_string_equal(got, t[i].want);
		free(got);
	}
}

static void test_comment(void **state)
{
	static const struct { const char *text; size_t want; } t[] = {
		{ "a b", 3 }, { "a #b", 2 }, { "a#b", 3 }, { "#", 0 }, { "\"a #b\" c #d", 9 }, { "'a #", 4 }, { "", 0 },
	};
	size_t i;

	for (i = 0; i < MEM_COUNT(t); i++)
		assert_int_equal(conf_comment_start(t[i].text), t[i].want);
}

static void test_split(void **state)
{
	struct str_list l = { 0 };

	assert_int_equal(conf_split_words("a 'b c' #d", false, &l), 0);
	assert_int_equal(l.count, 3);
	assert_string_equal(l.v[1], "b c");
	assert_string_equal(l.v[2], "#d");
	str_list_clear(&l);
	assert_int_equal(conf_split_words("a 'b c", false, &l), ERR_USAGE);
	assert_int_equal(l.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines), cmocka_unit_test(test_comment), cmocka_unit_test(test_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
