/* Memory is given back, and nothing that is in use with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

enum { PAGE_MOST = 64 * 1024 };

/* What is there now, whatever the compiler knows of constants. */
static char look(const char *p)
{
	return *(const volatile char *)p;
}

static void change(const char *p, char c)
{
	*(volatile char *)(uintptr_t)p = c;
}

/* Read only, from the file, as code is. */
static const char page[PAGE_MOST] __attribute__((aligned(PAGE_MOST))) = { 'f', 'i', 'l', 'e' };

/* As a debugger does with breakpoints, and who patches running programs. */
static void keeps_what_was_written_into_code(void **state)
{
	(void)state;
	assert_int_equal(look(page), 'f');
	assert_int_equal(mprotect((void *)(uintptr_t)page, PAGE_MOST, PROT_READ | PROT_WRITE), 0);
	change(page, 'p');
	change(page + PAGE_MOST - 1, 'q');
	assert_int_equal(mprotect((void *)(uintptr_t)page, PAGE_MOST, PROT_READ), 0);
	giveback();
	assert_int_equal(look(page), 'p');
	assert_int_equal(look(page + 1), 'i');
	assert_int_equal(look(page + PAGE_MOST - 1), 'q');
}

/* Code that was moved to memory of its own, at the place where it was. */
static void keeps_code_that_was_moved(void **state)
{
	static const char moved[PAGE_MOST] __attribute__((aligned(PAGE_MOST))) = { 'f' };

	(void)state;
	assert_int_equal(look(moved), 'f');
	assert_ptr_equal(mmap((void *)(uintptr_t)moved, PAGE_MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), moved);
	change(moved, 'm');
	assert_int_equal(mprotect((void *)(uintptr_t)moved, PAGE_MOST, PROT_READ), 0);
	giveback();
	assert_int_equal(look(moved), 'm');
}

/* Resident KiB of the mapping that holds an address, by smaps; -1: not known. */
static long resident_at(const void *address)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long from = 0, to = 0;
	char line[512];
	long kib = -1;

	while (f != NULL && kib < 0 && fgets(line, sizeof(line), f) != NULL) {
		(void)sscanf(line, "%lx-%lx ", &from, &to);
		if ((unsigned long)address >= from && (unsigned long)address < to)
			(void)sscanf(line, "Rss: %ld", &kib);
	}
	if (f != NULL)
		(void)fclose(f);
	return kib;
}

static void gives_clean_pages_back(void **state)
{
	enum { CLEAN = 1024 * 1024 };
	static const char clean[CLEAN] __attribute__((aligned(PAGE_MOST))) = { 'c' };
	long before, after;

	(void)state;
	for (size_t i = 0; i < CLEAN; i += 4096)
		assert_int_equal(look(clean + i), i == 0 ? 'c' : 0);
	before = resident_at(&clean[CLEAN / 2]);
	giveback();
	after = resident_at(&clean[CLEAN / 2]);
	assert_int_equal(look(clean), 'c');
#if defined(__linux__) && !defined(WITH_SANITIZERS)
	if (before >= CLEAN / 1024)
		assert_true(after <= before - CLEAN / 1024 / 2);
#else
	(void)before;
	(void)after;
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_clean_pages_back), cmocka_unit_test(gives_back),
		cmocka_unit_test(keeps_what_was_written_into_code), cmocka_unit_test(keeps_code_that_was_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
