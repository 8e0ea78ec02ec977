/* io/loop.h: one event loop a process: descriptors, timers, children, signals. Callbacks return, never wait. */
#ifndef IO_LOOP_H
#define IO_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"

/* After a plain fork() one of the two processes alone may go on with the loop; the other must neither run nor free it. */
struct loop;
struct loop *loop_new(struct err *e);                    /* epoll where there is one, else poll */
struct loop *loop_new_poll(struct err *e);
/* What is still registered goes with it: no loop_fd, timer or child may be used afterwards. */
void loop_free(struct loop *l);
/* Runs until loop_stop or until nothing is left that could call anyone: no descriptor of which something is wanted, no armed
 * timer, no child waited for, nothing deferred (signals do not count). 0, or ERR_IO. A stop before it runs counts. */
int loop_run(struct loop *l, struct err *e) MUST_USE;
/* One turn: waits at most timeout_ms (-1: as long as it takes). */
int loop_turn(struct loop *l, int timeout_ms, struct err *e) MUST_USE;
void loop_stop(struct loop *l);

enum { LOOP_READ = 1, LOOP_WRITE = 2 };
/* what: which of LOOP_READ, LOOP_WRITE are possible now (errors and hang-ups show as both that are wanted). */
typedef void loop_fd_fn(void *ctx, int fd, unsigned what);
struct loop_fd;
/* Watches fd for `what` (0: nothing for now). Regular files and /dev/null are always ready. fd is borrowed; it must be
 * removed before it is closed. */
struct loop_fd *loop_fd_add(struct loop *l, int fd, unsigned what, loop_fd_fn *fn, void *ctx, struct err *e);
void loop_fd_want(struct loop_fd *f, unsigned what);     /* cheap when unchanged */
void loop_fd_remove(struct loop_fd *f);                  /* allowed inside any callback; NULL is fine */

typedef void loop_fn(void *ctx);
struct loop_timer;
struct loop_timer *loop_timer_add(struct loop *l, loop_fn *fn, void *ctx);       /* not armed */
void loop_timer_arm(struct loop_timer *t, uint64_t after_ms);    /* once; re-arming replaces */
void loop_timer_disarm(struct loop_timer *t);
void loop_timer_remove(struct loop_timer *t);            /* NULL is fine */

/* Runs fn(ctx) once before the loop waits again, however often it was asked for meanwhile. */
void loop_defer(struct loop *l, loop_fn *fn, void *ctx);
void loop_defer_cancel(struct loop *l, loop_fn *fn, void *ctx);

/* Calls fn once with the wait status when child pid ends; the child is reaped by the loop, and the struct is gone then. */
typedef void loop_child_fn(void *ctx, pid_t pid, int wait_status);
struct loop_child;
struct loop_child *loop_child_add(struct loop *l, pid_t pid, loop_child_fn *fn, void *ctx, struct err *e);
void loop_child_remove(struct loop_child *c);            /* the child is not killed; it will still be reaped */

/* Calls fn in the loop after signal signo came; replaces the disposition until loop_free. Of several loops in a process
 * only the one that asked last gets signals. */
typedef void loop_signal_fn(void *ctx, int signo);
int loop_signal_add(struct loop *l, int signo, loop_signal_fn *fn, void *ctx, struct err *e) MUST_USE;

#endif
