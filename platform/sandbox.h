/* platform/sandbox.h: takes rights from a process that talks to unauthenticated peers. One file per kind; configure chooses. */
#ifndef PLATFORM_SANDBOX_H
#define PLATFORM_SANDBOX_H

#include <stdbool.h>
#include "base/err.h"

struct sandbox_options {
	/* A forbidden call is reported before the process dies of it. Always so in builds with sanitizers. */
	bool trap;
	/* Gets "name (number)" of such a call, in a signal handler; NULL: a line to stderr. The process dies when it returns. */
	void (*violation)(const char *call);
	/* Leaves RLIMIT_FSIZE alone: for debugging with stderr in a file. */
	bool may_write_files;
};

/* For good: no new privileges, rlimits (no file may grow, no core, no new process, no new descriptor), and where the system can,
 * only these calls: reading, writing and waiting on descriptors that are open now (epoll or poll), closing them,
 * anonymous memory without execution, clocks, randomness, exit. Looking for files or making sockets fails with EACCES;
 * anything else kills the process. The event loop, providers, randomness, time zone and log must be ready before.
 * Call after chroot and privdrop_forever. With root's uid the process limit does not bind. */
int sandbox_enter(const struct sandbox_options *o, struct err *e) MUST_USE;

/* "seccomp" or "none". */
const char *sandbox_kind(void);

#endif
