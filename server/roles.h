/* server/roles.h: the processes of a server (SECURITY.md). One binary; each role begins in a fresh process image and ends with it:
 * these functions do not return. */
#ifndef SERVER_ROLES_H
#define SERVER_ROLES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "base/err.h"
#include "base/str.h"
#include "platform/procname.h"
#include "server/handover.h"

/* What is common to all. */
struct role_start {
	struct procname *procname;
	int self_fd;                     /* O_PATH descriptor of the binary, -1: none */
	int log_fd;                      /* -E file, -1: none */
	bool stderr_too;                 /* processes that this one starts may write to stderr */
};

struct listener_start {
	struct role_start common;
	struct handover handover;        /* of this generation; owned by the role from now on */
	bool foreground;                 /* -D, -d */
	bool one_connection;             /* -d */
	const char *path;                /* absolute, for SIGHUP */
	const struct str_list *argv;     /* as started */
};
_Noreturn void role_listener(struct listener_start *s);

/* Decides about one connection. in and out: the socket, or two pipes (inetd). notify: one byte is written there after
 * authentication; -1: nobody wants to know. */
struct monitor_start {
	struct role_start common;
	struct handover handover;
	int in, out, notify;
};
_Noreturn void role_monitor(struct monitor_start *s);

/* The exec'd forms: `sshd -R ROLE:FD,FD,...`. The monitor finds its hand-over in a descriptor, the others get a setup
 * message. Returns false if spec is no role or descriptors are missing. */
bool role_run(const char *spec, struct procname *procname);

struct worker_start { struct role_start common; int monitor, in, out; };
_Noreturn void role_preauth(struct worker_start *s);
_Noreturn void role_user(struct worker_start *s);

/* Sets up the log of a process that talks to people itself. */
void role_start_log(const struct role_start *c, const struct handover *h, const char *ident);
/* Lines go to the monitor as MON_LOG. The descriptor is borrowed. */
void role_log_to_monitor(int *monitor_fd, int level);
/* Starts this binary again as a role; keep: descriptors that go along, at the same numbers. Returns the pid. */
pid_t role_spawn(const struct role_start *c, const char *spec, const int *keep, size_t keep_count, struct err *e) MUST_USE;

#endif
