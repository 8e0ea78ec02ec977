/* io/spawn.h: starting programs. Everything is prepared before fork; the child makes only async-signal-safe calls. */
#ifndef IO_SPAWN_H
#define IO_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>
#include "base/err.h"

struct spawn_options {
	const char *path;                /* of the program; exec'd as it is, no PATH search */
	int exec_fd;                     /* >= 0: execveat on this O_PATH descriptor instead of path; -1: none */
	char *const *argv, *const *envp; /* envp NULL: ours */
	int fd_in, fd_out, fd_err;       /* become 0, 1, 2; -1: /dev/null; the child gets no other descriptors but: */
	const int *keep;                 /* these, at these same numbers (CLOEXEC is cleared in the child) */
	size_t keep_count;
	const char *cwd;                 /* NULL: stays; failing is not an error (cwd_failed tells the child nothing) */
	bool new_session;                /* setsid */
	int controlling_tty;             /* slave to become the controlling terminal (implies new_session); -1: none */
	bool drop;                       /* drop to uid, gid, groups for good before exec */
	uid_t uid; gid_t gid; const gid_t *groups; size_t group_count;
	int umask;                       /* -1: stays */
};
#define SPAWN_OPTIONS_INIT { .exec_fd = -1, .fd_in = -1, .fd_out = -1, .fd_err = -1, .controlling_tty = -1, .umask = -1 }

/* Starts it; all signal dispositions and the mask are reset in the child. A failing exec is reported here as ERR_IO with
 * the path. Returns the pid. The caller keeps its own copies of the descriptors. */
pid_t spawn_start(const struct spawn_options *o, struct err *e) MUST_USE;
/* Runs and waits; stdout into out up to max bytes when out is not NULL (allocated, NUL-terminated;
 * ERR_PEER if there is a NUL in it). wait status in *status. */
int spawn_wait(const struct spawn_options *o, char **out, size_t max, int *status, struct err *e) MUST_USE;

/* At the start of a program: descriptors 0 to 2 that are closed become /dev/null, so that no socket or key file gets their
 * numbers. */
void spawn_fill_stdio(void);
/* A pipe to or from another program: larger means fewer turns between the two. Not to be had is fine. */
void spawn_widen_pipe(int fd);

#endif
