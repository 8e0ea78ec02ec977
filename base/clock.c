/* base/clock.c: time. */
#include "base/clock.h"

#include <time.h>

uint64_t clock_mono_ns(void)
{
	struct timespec ts;

	/* Cannot fail for a valid clock and address. */
	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t clock_mono_us(void)
{
	return clock_mono_ns() / 1000;
}

uint64_t clock_mono_ms(void)
{
	return clock_mono_us() / 1000;
}

uint64_t clock_thread_ns(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

int64_t clock_wall(void)
{
	return (int64_t)time(NULL);
}
