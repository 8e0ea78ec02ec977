/* platform/giveback.c: memory that a process at rest need not keep. */
#include "platform/giveback.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef HAVE_MALLOC_TRIM
#include <malloc.h>
#endif
#include "platform/fskind.h"

#if defined(__linux__) && !defined(WITH_SANITIZERS)

enum { STACK_KEPT = 16 * 1024, STACK_LOOK = 1024 * 1024, STACK_PAGES = 16 };

/* size: STACK_PAGES pages at most */
static bool is_mapped(uintptr_t page, size_t size)
{
	unsigned char in_core[STACK_PAGES];

	return mincore((void *)page, size, in_core) == 0;
}

/* From here down to where the stack has not grown to; the kernel keeps a gap below it, so nothing else is met on the way. */
static void give_back_stack(uintptr_t page_size)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t top = (here - STACK_KEPT) & ~(page_size - 1), low = top;

	for (size_t step = STACK_PAGES * page_size; step >= page_size; step /= STACK_PAGES)
		while (top - low < STACK_LOOK && is_mapped(low - step, step))
			low -= step;
	if (low < top)
		(void)madvise((void *)low, top - low, MADV_DONTNEED);
}

/* ---- code
 *
 * A page of a private mapping that nobody has written to is the file's, and comes back from there. One that somebody has written
 * to is this process's own and would be lost: relocations, a debugger's breakpoints and probes, patches that are put into running
 * programs, code that was moved to large pages. Only the kernel knows, and tells in /proc/self/smaps: a mapping is given back
 * if it says of the whole of it that there is no such page. */

enum {
	HAS_NO_ANONYMOUS = 1, HAS_NO_SWAP = 2, HAS_NO_HUGE = 4, IS_CLEAN = 7,
	SMAPS_BYTES = 8 * 1024,
	CLEAN_MAX = 64                   /* what is more is kept */
};

struct mapping {
	uintptr_t from, to;
	bool of_file;            /* readable, private, not writable, of a file that is there, on a disk here */
	unsigned has;
};

/* Given back together in the end: reading on would bring pages in again of what was given back before. */
struct clean {
	struct mapping m;        /* the one being read about */
	size_t n;
	struct { uintptr_t from, to; } v[CLEAN_MAX];
};

static const struct { const char *name; unsigned bit; } clean_fields[] = {
	{ "Anonymous:", HAS_NO_ANONYMOUS }, { "Swap:", HAS_NO_SWAP }, { "Private_Hugetlb:", HAS_NO_HUGE },
};

static void end_mapping(struct clean *c)
{
	if (!c->m.of_file || c->m.has != IS_CLEAN || c->n == CLEAN_MAX)
		return;
	c->v[c->n].from = c->m.from;
	c->v[c->n++].to = c->m.to;
}

/* "7f0a4000-7f0b2000 r-xp 0000b000 fe:01 12345   /usr/lib/libc.so.6" */
static void begin_mapping(struct mapping *m, const char *line)
{
	static const char gone[] = " (deleted)";
	unsigned long from, to, inode;
	char rights[5];
	int path = 0;
	size_t n = strlen(line);

	*m = (struct mapping){ .of_file = false };
	if (sscanf(line, "%lx-%lx %4s %*x %*x:%*x %lu %n", &from, &to, rights, &inode, &path) != 4 || path == 0)
		return;
	m->from = from;
	m->to = to;
	/* What was replaced, or lies on another machine, may not be there any more when it is wanted. */
	m->of_file = rights[0] == 'r' && rights[1] == '-' && rights[3] == 'p' && inode != 0 && line[path] == '/' &&
		(n < sizeof(gone) || strcmp(line + n - (sizeof(gone) - 1), gone) != 0) && !fskind_may_block(line + path);
}

static void take_line(struct clean *c, const char *line)
{
	if ((*line >= '0' && *line <= '9') || (*line >= 'a' && *line <= 'f')) {
		end_mapping(c);
		begin_mapping(&c->m, line);
		return;
	}
	for (size_t i = 0; i < sizeof(clean_fields) / sizeof(clean_fields[0]); i++) {
		size_t n = strlen(clean_fields[i].name);

		if (strncmp(line, clean_fields[i].name, n) == 0 && strtoul(line + n, NULL, 10) == 0)
			c->m.has |= clean_fields[i].bit;
	}
}

/* Takes the whole lines of n bytes at text; returns how many bytes are left, at its front. */
static size_t take_lines(struct clean *c, char *text, size_t n)
{
	char *at = text, *end;

	while ((end = memchr(at, '\n', n)) != NULL) {
		*end = '\0';
		take_line(c, at);
		n -= (size_t)(end + 1 - at);
		at = end + 1;
	}
	memmove(text, at, n);
	return n;
}

/* Without /proc, as behind a chroot, nothing is given back. */
static void give_back_code(void)
{
	int fd = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
	struct clean c = { .n = 0 };
	char text[SMAPS_BYTES];
	size_t n = 0;
	ssize_t got;

	if (fd < 0)
		return;
	while (n < sizeof(text) && (got = read(fd, text + n, sizeof(text) - n)) > 0)
		n = take_lines(&c, text, n + (size_t)got);
	end_mapping(&c);
	close(fd);
	for (size_t i = 0; i < c.n; i++)
		(void)madvise((void *)c.v[i].from, c.v[i].to - c.v[i].from, MADV_DONTNEED);
}

void giveback(void)
{
#ifdef HAVE_MALLOC_TRIM
	(void)malloc_trim(0);
#endif
	give_back_stack((uintptr_t)sysconf(_SC_PAGESIZE));
	give_back_code();
}

#else

void giveback(void)
{
#ifdef HAVE_MALLOC_TRIM
	(void)malloc_trim(0);
#endif
}

#endif
