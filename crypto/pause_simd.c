/* crypto/pause_simd.c: a hint for loops that wait. */
#include "crypto/pause_simd.h"

void cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#endif
}
