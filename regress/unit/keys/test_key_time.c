/* regress/unit/keys/test_key_time.c: times in key files. */
#include "keys/key_time.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_utc(void **state)
{
	static const struct { const char *s; int64_t t; } good[] = {
		{ "19700101Z", 0 }, { "20240229Z", 1709164800 }, { "202402291530z", 1709220600 },
		{ "20240229153045UTC", 1709220645 }, { "20240229153045utc", 1709220645 }, { "20380119031408Z", 2147483648 },
		{ "99991231235959Z", INT64_C(253402300799) }
	};

	for (size_t i = 0; i < MEM_COUNT(good); i++) {
		int64_t t = -1;

		assert_int_equal(key_time_parse(good[i].s, &t), 0);
		assert_true(t == good[i].t);
	}
}

static void test_local(void **state)
{
	int64_t t;
	char text[32];

	setenv("TZ", "XXX-5:30", 1);
	tzset();
	assert_int_equal(key_time_parse("20240229", &t), 0);
	assert_true(t == 1709164800 - 19800);
	key_time_format(t, text, sizeof(text));
	assert_string_equal(text, "2024-02-29T00:00:00");
	unsetenv("TZ");
	tzset();
}

static void test_bad(void **state)
{
	static const char *const bad[] = {
		"", "Z", "2024", "2024022", "202402290", "2024022915", "20240229153", "202402291530450", "20230229Z", "20240431Z",
		"20241301Z", "20240001Z", "20240100Z", "202401012400Z", "202401012360Z", "20240101000060Z", "20240101X", "20240101ZZ",
		" 20240101Z", "20240101 Z", "-0240101Z", "19691231Z", "2024-01-01", "00000101Z"
	};

	for (size_t i = 0; i < MEM_COUNT(bad); i++) {
		int64_t t = 77;

		assert_int_equal(key_time_parse(bad[i], &t), ERR_USAGE);
		assert_true(t == 77);
	}
}

static void test_format_range(void **state)
{
	char text[32];

	key_time_format(INT64_MAX, text, sizeof(text));
	assert_int_not_equal(text[0], '\0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utc), cmocka_unit_test(test_local), cmocka_unit_test(test_bad),
		cmocka_unit_test(test_format_range)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
