/* io/loop_internal.h: what the files of the event loop share. Nobody else includes it. */
#ifndef IO_LOOP_INTERNAL_H
#define IO_LOOP_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/loop.h"

struct loop_fd {
	struct loop *loop;
	struct loop_fd *next, *prev;     /* of loop.fds, then of loop.dead */
	struct loop_fd *next_changed;    /* of loop.changed */
	loop_fd_fn *fn;
	void *ctx;
	int fd;
	size_t slot;                     /* for the backend */
	unsigned want;                   /* what the owner asked for */
	unsigned have;                   /* what the backend was told */
	bool changed;                    /* is in loop.changed */
	bool internal;                   /* the loop's own: does not keep loop_run() going */
	bool always;                     /* a file that cannot be waited for, because it is always ready */
	bool dead;                       /* removed; freed when no turn can hold a pointer to it */
};

/* loop_fd_add() for reading by the loop itself. */
struct loop_fd *loop_fd_add_internal(struct loop *l, int fd, loop_fd_fn *fn, void *ctx, struct err *e);

struct loop_ready { struct loop_fd *f; unsigned what; };
enum { LOOP_READY_MAX = 128 };

/* One way to wait. set: f->want becomes f->have; 1 if the system says that such a file is always ready. wait: fills ready
 * and returns the count; 0 also when a signal came. */
struct loop_backend {
	const char *name;
	int (*set)(void *self, struct loop_fd *f, unsigned want, struct err *e);
	int (*wait)(void *self, int timeout_ms, struct loop_ready *ready, struct err *e);
	void (*free)(void *self);
};
int loop_epoll_new(const struct loop_backend **ops, void **self, struct err *e) MUST_USE;
int loop_poll_new(const struct loop_backend **ops, void **self, struct err *e) MUST_USE;

struct loop_timer {
	struct loop *loop;
	loop_fn *fn;
	void *ctx;
	uint64_t due_us;
	uint64_t order;                  /* of those due together, the one armed first goes first */
	size_t place;                    /* in the heap, counted from 1; 0: not armed */
	struct loop_timer *next, *prev;  /* of loop.timers.all */
};

struct loop_timers {
	struct loop_timer **heap;        /* heap[1..count] */
	size_t count, room;
	uint64_t order;
	struct loop_timer *all;
};
/* Microseconds until the next timer is due; UINT64_MAX without one. */
uint64_t loop_timers_wait(const struct loop_timers *t, uint64_t now_us);
void loop_timers_run(struct loop_timers *t, uint64_t now_us);
void loop_timers_free(struct loop_timers *t);
struct loop_timers *loop_timers_of(struct loop *l);

struct loop_child {
	struct loop *loop;
	struct loop_child *next, *prev;
	pid_t pid;
	int pidfd;                       /* -1: SIGCHLD tells */
	struct loop_fd *watch;
	loop_child_fn *fn;               /* NULL once removed: only reaped */
	void *ctx;
};

struct loop_signal {
	struct loop_signal *next;
	int signo;
	loop_signal_fn *fn;
	void *ctx;
	bool restores;                   /* this one, the first for its signal, holds what was before */
	struct sigaction old;
};

struct loop_signals {
	struct loop_signal *list;
	struct loop_child *children;
	size_t children_awaited;
	int pipe[2];
	struct loop_fd *watch;
	bool have_pipe;
	bool no_pidfd, have_sigchld;     /* children are told of by SIGCHLD */
};
/* Calls what signals that came ask for. */
void loop_signals_run(struct loop *l);
void loop_signals_free(struct loop *l);
struct loop_signals *loop_signals_of(struct loop *l);

#endif
