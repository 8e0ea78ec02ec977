/* crypto/workers.h: a few threads beside the caller's for work that falls into equal pieces: packets to seal and open.
 *
 * Fork-join: everything happens within workers_run, so whoever calls it stays a program of one thread. Threads start at the
 * first run or when one is announced, sleep between runs and touch nothing there. They take no signals. */
#ifndef CRYPTO_WORKERS_H
#define CRYPTO_WORKERS_H

#include <stdbool.h>
#include <stddef.h>

enum { WORKERS_MAX = 3, WORKERS_LANES_MAX = WORKERS_MAX + 1 };

/* One piece. lane: which thread this is, below workers_lanes; 0 is the caller of workers_run. Two pieces with the same lane
 * never run at the same time: what belongs to a lane needs no lock. */
typedef void workers_job(void *ctx, unsigned lane, size_t item);

struct workers;
struct workers *workers_new(unsigned helpers);           /* threads beside the caller, WORKERS_MAX at most; starts none */
void workers_free(struct workers *w);                    /* stops them; w may be NULL */
/* Highest lane and one, as it is now: fewer than asked for where the system gave no more threads, 1 if it gave none. */
unsigned workers_lanes(const struct workers *w);
bool workers_running(const struct workers *w);           /* threads are there; w may be NULL */
/* A run will come within some hundred microseconds: starts or wakes the threads, so that it need not wait for them. */
void workers_expect(struct workers *w);
/* job(ctx, lane, item) once for each item below n, in any order, by whoever is free; returns when all have been done. A thread
 * that is late misses the run and nobody waits for it. */
void workers_run(struct workers *w, workers_job *job, void *ctx, size_t n);
/* Joins the threads; the next run starts them again. Before every fork that is not followed by exec. */
void workers_stop(struct workers *w);

#endif
