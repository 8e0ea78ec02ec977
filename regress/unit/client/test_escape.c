/* The escape character: only after a new line, twice for once, the rest goes through. */
#include "client/escape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Feeds text, returns what is sent; *last is the last action that was not "nothing". */
static const char *feed(struct escape *e, const char *text, enum escape_action *last)
{
	static char sent[100];
	size_t total = 0, n;

	*last = ESCAPE_NOTHING;
	for (const char *p = text; *p; p++) {
		enum escape_action a = escape_take(e, (uint8_t)*p, (uint8_t *)sent + total, &n);

		total += n;
		if (a != ESCAPE_NOTHING)
			*last = a;
	}
	sent[total] = '\0';
	return sent;
}

static void test_table(void **state)
{
	static const struct { const char *typed, *sent; enum escape_action action; } rows[] = {
		{ "ls\r", "ls\r", ESCAPE_NOTHING }, { "~.", "", ESCAPE_QUIT }, { "a~.", "a~.", ESCAPE_NOTHING },
		{ "\r~.", "\r", ESCAPE_QUIT }, { "\n~?", "\n", ESCAPE_HELP }, { "~~", "~", ESCAPE_NOTHING },
		{ "~~.", "~.", ESCAPE_NOTHING }, { "~x", "~x", ESCAPE_NOTHING }, { "~?~.", "", ESCAPE_QUIT },
		{ "~\r~.", "~\r", ESCAPE_QUIT }, { "~B", "", ESCAPE_BREAK }, { "~R", "", ESCAPE_REKEY },
		{ "~\x1a", "", ESCAPE_SUSPEND }, { "~", "", ESCAPE_NOTHING },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct escape e;
		enum escape_action a;

		escape_init(&e, '~');
		assert_string_equal(feed(&e, rows[i].typed, &a), rows[i].sent);
		assert_int_equal(a, rows[i].action);
	}
}

static void test_other_character(void **state)
{
	struct escape e;
	enum escape_action a;

	escape_init(&e, 2);
	assert_string_equal(feed(&e, "~.\r\x02.", &a), "~.\r");
	assert_int_equal(a, ESCAPE_QUIT);
	escape_init(&e, -1);
	assert_string_equal(feed(&e, "~.\r~.", &a), "~.\r~.");
	assert_int_equal(a, ESCAPE_NOTHING);
}

static void test_help_names_every_one(void **state)
{
	char *help = escape_help('~');

	assert_non_null(strstr(help, " ~.    "));
	assert_non_null(strstr(help, " ~~    "));
	free(help);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table), cmocka_unit_test(test_other_character),
		cmocka_unit_test(test_help_names_every_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
