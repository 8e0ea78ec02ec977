/* platform/cores.c: how many processors this process may run on. */
#include "platform/cores.h"

#include <sched.h>
#include <unistd.h>

#include "platform/sockinfo.h"

unsigned cores_usable(void)
{
	long online;
#ifdef CPU_COUNT
	cpu_set_t set;

	/* Fails on machines with more processors than the set has places. */
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return CPU_COUNT(&set) > 1 ? (unsigned)CPU_COUNT(&set) : 1;
#endif
	online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 1 ? (unsigned)online : 1;
}

unsigned cores_to_spare(int fd)
{
	unsigned taken = sockinfo_is_local(fd) ? 2 : 1, cores = cores_usable();

	return cores > taken ? cores - taken : 0;
}
