/* Memory is given back, and nothing that is in use with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/giveback.h"

enum { PIECES = 2000, PIECE = 4000, DEEP = 300 * 1024 };

static long resident_kib(void)
{
	long pages = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f == NULL)
		return -1;
	if (fscanf(f, "%ld %ld", &pages, &resident) != 2)
		resident = -1;
	(void)fclose(f);
	return resident < 0 ? -1 : resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static int __attribute__((noinline)) use_stack(void)
{
	volatile char deep[DEEP];

	for (size_t i = 0; i < sizeof(deep); i += 64)
		deep[i] = (char)i;
	return deep[DEEP / 2];
}

static void gives_back(void **state)
{
	static char *pieces[PIECES];
	char here[2048];
	long before, after;

	(void)state;
	memset(here, 'h', sizeof(here));
	for (size_t i = 0; i < PIECES; i++) {
		pieces[i] = malloc(PIECE);
		assert_non_null(pieces[i]);
		memset(pieces[i], (int)(i % 251), PIECE);
	}
	(void)use_stack();
	/* Pieces in use lie between those that are not. */
	for (size_t i = 0; i < PIECES; i++)
		if (i % 8 != 0) {
			free(pieces[i]);
			pieces[i] = NULL;
		}
	before = resident_kib();
	giveback();
	after = resident_kib();
	for (size_t i = 0; i < sizeof(here); i++)
		assert_int_equal(here[i], 'h');
	for (size_t i = 0; i < PIECES; i += 8)
		for (size_t k = 0; k < PIECE; k += 100)
			assert_int_equal((unsigned char)pieces[i][k], i % 251);
#if defined(__linux__) && defined(HAVE_MALLOC_TRIM) && !defined(WITH_SANITIZERS)
	assert_true(before < 0 || after < before - 4000);
#else
	(void)before;
	(void)after;
#endif
	for (size_t i = 0; i < PIECES; i += 8)
		free(pieces[i]);
	/* The stack is there when it is wanted again. */
	(void)use_stack();
	giveback();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(gives_back) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
