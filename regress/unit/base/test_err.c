/* regress/unit/base/test_err.c: the first error stays, with class and text. */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_first_stays(void **state)
{
	struct err e = { 0 };

	assert_string_equal(err_text(&e), "no error");
	assert_int_equal(err_set(&e, ERR_PEER, "bad length %d", 7), ERR_PEER);
	assert_int_equal(err_set(&e, ERR_CRYPTO, "later"), ERR_CRYPTO);
	assert_int_equal(e.code, ERR_PEER);
	assert_string_equal(err_text(&e), "bad length 7");
	err_clear(&e);
	assert_int_equal(e.code, 0);
	assert_int_equal(err_set(&e, ERR_CRYPTO, "%s", ""), ERR_CRYPTO);
	assert_string_equal(err_text(&e), err_class_name(ERR_CRYPTO));
}

static void test_null(void **state)
{
	assert_int_equal(err_set(NULL, ERR_AGAIN, "x"), ERR_AGAIN);
	assert_int_equal(err_set_errno(NULL, "x"), ERR_IO);
	err_prefix(NULL, "x");
	err_clear(NULL);
	assert_string_equal(err_text(NULL), "no error");
}

static void test_errno(void **state)
{
	struct err e = { 0 };
	char want[100];

	errno = ENOENT;
	assert_int_equal(err_set_errno(&e, "open %s", "f"), ERR_IO);
	assert_int_equal(errno, ENOENT);
	snprintf(want, sizeof(want), "open f: %s", strerror(ENOENT));
	assert_string_equal(e.text, want);
	errno = EIO;
	err_set_errno(&e, "second");
	assert_string_equal(e.text, want);
}

static void test_prefix(void **state)
{
	struct err e = { 0 };
	char longer[2 * ERR_TEXT_SIZE];

	err_prefix(&e, "nothing");
	assert_int_equal(e.code, 0);
	err_set(&e, ERR_DENIED, "no");
	err_prefix(&e, "line %d", 3);
	assert_string_equal(e.text, "line 3: no");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	err_prefix(&e, "%s", longer);
	assert_int_equal(strlen(e.text), ERR_TEXT_SIZE - 1);
	err_clear(&e);
	err_set(&e, ERR_USAGE, "%s", longer);
	assert_int_equal(strlen(e.text), ERR_TEXT_SIZE - 1);
}

static void test_class_names(void **state)
{
	int code, other;

	for (code = ERR_NONE_FOUND; code < 0; code++) {
		assert_string_not_equal(err_class_name(code), "unknown error");
		for (other = ERR_NONE_FOUND; other < code; other++)
			assert_string_not_equal(err_class_name(code), err_class_name(other));
	}
	assert_string_equal(err_class_name(0), "no error");
	assert_string_equal(err_class_name(-1000), "unknown error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_stays), cmocka_unit_test(test_null), cmocka_unit_test(test_errno),
		cmocka_unit_test(test_prefix), cmocka_unit_test(test_class_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
