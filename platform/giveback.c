/* platform/giveback.c: memory that a process at rest need not keep. */
#include "platform/giveback.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef HAVE_MALLOC_TRIM
#include <malloc.h>
#endif
#ifdef __linux__
#include <link.h>
#endif

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

/* Segments that were never writable hold what the file holds. Relocated ones are writable at the start, and left alone. */
static int give_back_code(struct dl_phdr_info *o, size_t size, void *ctx)
{
	uintptr_t page_size = *(const uintptr_t *)ctx, from, to;

	(void)size;
	for (int i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_DYNAMIC)
			for (const ElfW(Dyn) *d = (const void *)(o->dlpi_addr + o->dlpi_phdr[i].p_vaddr); d->d_tag != DT_NULL; d++)
				if (d->d_tag == DT_TEXTREL)
					return 0;
	for (int i = 0; i < o->dlpi_phnum; i++) {
		if (o->dlpi_phdr[i].p_type != PT_LOAD || (o->dlpi_phdr[i].p_flags & PF_W))
			continue;
		from = (o->dlpi_addr + o->dlpi_phdr[i].p_vaddr) & ~(page_size - 1);
		to = (o->dlpi_addr + o->dlpi_phdr[i].p_vaddr + o->dlpi_phdr[i].p_memsz + page_size - 1) & ~(page_size - 1);
		(void)madvise((void *)from, to - from, MADV_DONTNEED);
	}
	return 0;
}

void giveback(void)
{
	uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE);

#ifdef HAVE_MALLOC_TRIM
	(void)malloc_trim(0);
#endif
	give_back_stack(page_size);
	(void)dl_iterate_phdr(give_back_code, &page_size);
}

#else

void giveback(void)
{
#ifdef HAVE_MALLOC_TRIM
	(void)malloc_trim(0);
#endif
}

#endif
