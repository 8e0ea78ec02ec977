/* Kinds of file systems: the local ones of this machine, and what is not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "platform/fskind.h"

static void test_local(void **state)
{
	(void)state;
	assert_false(fskind_may_block("/proc"));
	assert_false(fskind_may_block("/dev"));
	assert_false(fskind_may_block("/nonexistent/folder"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_local) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
