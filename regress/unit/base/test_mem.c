/* regress/unit/base/test_mem.c: memory, wiping, constant-time comparison; and the clock. */
#include "base/mem.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_alloc(void **state)
{
	uint8_t *p = mem_array(10, 3), zero[30] = { 0 };
	char *s;

	assert_memory_equal(p, zero, 30);
	p = mem_resize(p, 100, 10);
	assert_memory_equal(p, zero, 30);
	free(p);
	p = mem_alloc(0);
	assert_non_null(p);
	free(p);
	p = mem_zalloc(4);
	assert_memory_equal(p, zero, 4);
	free(p);
	s = mem_strdup("abc");
	assert_string_equal(s, "abc");
	free(s);
	s = mem_strndup("abc", 2);
	assert_string_equal(s, "ab");
	free(s);
	s = mem_strndup("abc", 9);
	assert_string_equal(s, "abc");
	free(s);
	s = mem_dup("a\0b", 3);
	assert_memory_equal(s, "a\0b", 3);
	free(s);
	p = mem_try(5);
	assert_memory_equal(p, zero, 5);
	free(p);
}

static void test_overflow_aborts(void **state)
{
	int status, null = -1;
	volatile size_t half = SIZE_MAX / 2;
	pid_t pid = fork();

	if (pid == 0) {
		null = dup2(STDOUT_FILENO, STDERR_FILENO);
		close(null);
		signal(SIGABRT, SIG_DFL);
		free(mem_array(half, 3));
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void test_wipe(void **state)
{
	uint8_t a[33], zero[33] = { 0 };
	char *s = mem_strdup("secret");

	memset(a, 0xaa, sizeof(a));
	mem_wipe(a, sizeof(a));
	assert_memory_equal(a, zero, sizeof(a));
	mem_wipe(NULL, 0);
	mem_free_secret(NULL, 3);
	mem_free_string(NULL);
	mem_free_string(s);
	mem_free_secret(mem_alloc(8), 8);
}

static void test_equal_ct(void **state)
{
	uint8_t a[64], b[64];
	unsigned i, bit;

	memset(a, 0x5a, sizeof(a));
	memcpy(b, a, sizeof(a));
	assert_true(mem_equal_ct(a, b, sizeof(a)));
	assert_true(mem_equal_ct(a, b, 0));
	for (i = 0; i < sizeof(a); i++) {
		for (bit = 0; bit < 8; bit++) {
			b[i] = (uint8_t)(a[i] ^ (1u << bit));
			assert_false(mem_equal_ct(a, b, sizeof(a)));
			assert_true(mem_equal_ct(a, b, i));
		}
		b[i] = a[i];
	}
}

static void test_clock(void **state)
{
	uint64_t before = clock_mono_us(), ms = clock_mono_ms(), after = clock_mono_us();
	int64_t wall = clock_wall();

	assert_true(before / 1000 <= ms && ms <= after / 1000);
	assert_true(wall <= time(NULL) && wall > 1600000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alloc), cmocka_unit_test(test_overflow_aborts), cmocka_unit_test(test_wipe),
		cmocka_unit_test(test_equal_ct), cmocka_unit_test(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
