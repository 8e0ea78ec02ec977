/* base/mem.c: memory, and the handling of secrets. */
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void mem_exhausted(void)
{
	static const char text[] = "out of memory\r\n";
	ssize_t n = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)n;
	abort();
}

static size_t mem_product(size_t count, size_t size)
{
	size_t n;

	if (__builtin_mul_overflow(count, size, &n))
		mem_exhausted();
	return n != 0 ? n : 1;
}

void *mem_alloc(size_t n)
{
	void *p = malloc(n != 0 ? n : 1);

	if (p == NULL)
		mem_exhausted();
	return p;
}

void *mem_zalloc(size_t n)
{
	return mem_array(1, n);
}

void *mem_array(size_t count, size_t size)
{
	void *p = calloc(1, mem_product(count, size));

	if (p == NULL)
		mem_exhausted();
	return p;
}

void *mem_resize(void *p, size_t count, size_t size)
{
	void *q = realloc(p, mem_product(count, size));

	if (q == NULL)
		mem_exhausted();
	return q;
}

char *mem_strdup(const char *s)
{
	return mem_dup(s, strlen(s) + 1);
}

char *mem_strndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *p = mem_alloc(len + 1);

	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

void *mem_dup(const void *p, size_t n)
{
	void *q = mem_alloc(n);

	if (n != 0)
		memcpy(q, p, n);
	return q;
}

void *mem_try(size_t n)
{
	return calloc(1, n != 0 ? n : 1);
}

void mem_wipe(void *p, size_t n)
{
	if (n == 0)
		return;
	memset(p, 0, n);
	/* The barrier claims to read what p points to, so the compiler cannot drop the stores as dead. */
	__asm__ volatile("" : : "r"(p) : "memory");
}

void mem_free_secret(void *p, size_t n)
{
	if (p == NULL)
		return;
	mem_wipe(p, n);
	free(p);
}

void mem_free_string(char *s)
{
	if (s != NULL)
		mem_free_secret(s, strlen(s));
}

bool mem_equal_ct(const void *a, const void *b, size_t n)
{
	const volatile uint8_t *x = a, *y = b;
	uint8_t diff = 0;
	size_t i;

	for (i = 0; i < n; i++)
		diff = (uint8_t)(diff | (x[i] ^ y[i]));
	return diff == 0;
}
