/* io/worker.h: one helper thread for calls that block (name lookups, slow file systems). Started at the first job. */
#ifndef IO_WORKER_H
#define IO_WORKER_H

#include "base/err.h"

struct loop;
struct worker;
struct worker *worker_new(struct loop *l, struct err *e);
/* run(ctx) on the thread, then done(ctx) on the loop; jobs finish in order. Where no thread can be had, run is called here
 * and now, so this does not fail. */
void worker_submit(struct worker *w, void (*run)(void *), void (*done)(void *), void *ctx);
/* Waits for the running job, joins the thread; jobs not begun get done() without run() at the next turn. Call before any
 * plain fork. The thread starts again with the next job. */
void worker_stop(struct worker *w);
/* Stops it, and calls done() for all jobs that are left. Allowed inside done(). */
void worker_free(struct worker *w);

#endif
