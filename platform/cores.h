/* platform/cores.h: how many processors this process may run on. */
#ifndef PLATFORM_CORES_H
#define PLATFORM_CORES_H

/* At least 1. As taskset(1) and cpusets leave them; how busy they are, and shares of time, are another matter. */
unsigned cores_usable(void);
/* How many of them are left for threads that help with the connection on fd: not the one that the caller runs on, nor, if it
 * is on this machine, the one that the other end needs. */
unsigned cores_to_spare(int fd);

#endif
