/* crypto/workers.c: threads that share the pieces of one call.
 *
 * A run is a number that is open or closed, and a count of threads inside it, all in one word: a thread enters only a run that
 * is open, by one compare-and-swap, so it can never meet the pieces of a run that is over. Pieces are taken from a counter. */
#include "crypto/workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "crypto/pause_simd.h"

enum {
	STACK_SIZE = 512 * 1024,         /* of address space; a few pages are touched */
	/* How long to look for what is about to happen before sleeping: a sleep and the way back cost some 10 to 50 us. */
	SPIN_RUN_US = 150, SPIN_END_US = 100,
	SPINS_PER_LOOK = 32
};

/* The word: bit 0 open, bits 1 to 15 threads inside, from bit 16 the run's number. */
enum { RUN_OPEN = 1, RUN_THREAD = 2, RUN_THREADS = 0xfffe, RUN_SHIFT = 16 };

struct workers_thread {
	struct workers *owner;
	unsigned lane;
	pthread_t thread;
};

struct workers {
	unsigned wanted, running;        /* the caller's side only */
	struct workers_thread thread[WORKERS_MAX];
	_Atomic uint64_t run;
	_Atomic size_t next;             /* piece */
	/* Written while no run is open, read inside one. */
	workers_job *job;
	void *ctx;
	size_t n;

	pthread_mutex_t lock;
	pthread_cond_t more, left;
	_Atomic unsigned expected;       /* goes up when threads are to wake */
	_Atomic unsigned sleepers;
	_Atomic bool stopping, joining;  /* joining: the caller sleeps until the run is empty */
};

static uint64_t run_number(uint64_t run)
{
	return run >> RUN_SHIFT;
}

static void run_pieces(struct workers *w, unsigned lane)
{
	size_t i;

	while ((i = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed)) < w->n)
		w->job(w->ctx, lane, i);
}

/* ---- threads ---- */

/* An open run that this thread has not been in; the number is left in *seen. */
static bool enter_run(struct workers *w, uint64_t *seen)
{
	uint64_t run = atomic_load(&w->run);

	while ((run & RUN_OPEN) != 0 && run_number(run) != *seen)
		if (atomic_compare_exchange_weak(&w->run, &run, run + RUN_THREAD)) {
			*seen = run_number(run);
			return true;
		}
	return false;
}

static void leave_run(struct workers *w)
{
	uint64_t run = atomic_fetch_sub(&w->run, RUN_THREAD) - RUN_THREAD;

	/* Closed, and this was the last one: the caller may have gone to sleep over it. */
	if ((run & (RUN_OPEN | RUN_THREADS)) != 0 || !atomic_load(&w->joining))
		return;
	(void)pthread_mutex_lock(&w->lock);
	(void)pthread_cond_signal(&w->left);
	(void)pthread_mutex_unlock(&w->lock);
}

static bool run_to_enter(struct workers *w, uint64_t seen)
{
	uint64_t run = atomic_load(&w->run);

	return (run & RUN_OPEN) != 0 && run_number(run) != seen;
}

/* Looks for a run for a while. */
static bool spin_for_run(struct workers *w, uint64_t seen)
{
	uint64_t until = clock_mono_us() + SPIN_RUN_US;

	do {
		for (int i = 0; i < SPINS_PER_LOOK; i++) {
			if (run_to_enter(w, seen) || atomic_load(&w->stopping))
				return true;
			cpu_pause();
		}
	} while (clock_mono_us() < until);
	return false;
}

static void sleep_for_run(struct workers *w, uint64_t seen, unsigned expected)
{
	(void)pthread_mutex_lock(&w->lock);
	/* In this order: who opens a run looks for sleepers after that. */
	atomic_fetch_add(&w->sleepers, 1);
	while (!run_to_enter(w, seen) && atomic_load(&w->expected) == expected && !atomic_load(&w->stopping))
		(void)pthread_cond_wait(&w->more, &w->lock);
	atomic_fetch_sub(&w->sleepers, 1);
	(void)pthread_mutex_unlock(&w->lock);
}

static void *thread_main(void *arg)
{
	const struct workers_thread *t = arg;
	struct workers *w = t->owner;
	uint64_t seen = 0;               /* no run has this number */
	unsigned expected;

	while (!atomic_load(&w->stopping)) {
		expected = atomic_load(&w->expected);
		if (enter_run(w, &seen)) {
			run_pieces(w, t->lane);
			leave_run(w);
		} else if (!spin_for_run(w, seen)) {
			sleep_for_run(w, seen, expected);
		}
	}
	return NULL;
}

static void start_threads(struct workers *w)
{
	sigset_t all, before;
	pthread_attr_t attr;
	unsigned i;

	if (w->running == w->wanted || pthread_attr_init(&attr) != 0)
		return;
	(void)pthread_attr_setstacksize(&attr, STACK_SIZE);
	/* Signals are the caller's: a thread inherits the mask it is made with. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	for (i = w->running; i < w->wanted; i++) {
		w->thread[i] = (struct workers_thread){ .owner = w, .lane = i + 1 };
		if (pthread_create(&w->thread[i].thread, &attr, thread_main, &w->thread[i]) != 0)
			break;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attr);
	/* Where no thread can be had the work is done without; it is not asked for again. */
	w->running = w->wanted = i;
}

static void wake_threads(struct workers *w)
{
	if (atomic_load(&w->sleepers) == 0)
		return;
	(void)pthread_mutex_lock(&w->lock);
	(void)pthread_cond_broadcast(&w->more);
	(void)pthread_mutex_unlock(&w->lock);
}

/* ---- the caller ---- */

struct workers *workers_new(unsigned helpers)
{
	struct workers *w = mem_zalloc(sizeof(*w));

	w->wanted = helpers < WORKERS_MAX ? helpers : WORKERS_MAX;
	(void)pthread_mutex_init(&w->lock, NULL);
	(void)pthread_cond_init(&w->more, NULL);
	(void)pthread_cond_init(&w->left, NULL);
	return w;
}

void workers_free(struct workers *w)
{
	if (w == NULL)
		return;
	workers_stop(w);
	(void)pthread_cond_destroy(&w->left);
	(void)pthread_cond_destroy(&w->more);
	(void)pthread_mutex_destroy(&w->lock);
	free(w);
}

unsigned workers_lanes(const struct workers *w)
{
	return w->wanted + 1;
}

bool workers_running(const struct workers *w)
{
	return w != NULL && w->running != 0;
}

void workers_expect(struct workers *w)
{
	start_threads(w);
	if (atomic_load(&w->sleepers) == 0)
		return;
	atomic_fetch_add(&w->expected, 1);
	wake_threads(w);
}

/* Until nobody is inside the run, which is closed. */
static void join_run(struct workers *w)
{
	uint64_t until = 0;
	unsigned i;

	for (i = 1; (atomic_load(&w->run) & RUN_THREADS) != 0; i++) {
		cpu_pause();
		if (i % SPINS_PER_LOOK != 0)
			continue;
		if (until == 0)
			until = clock_mono_us() + SPIN_END_US;
		if (clock_mono_us() >= until)
			break;
	}
	if ((atomic_load(&w->run) & RUN_THREADS) == 0)
		return;
	/* A thread has lost its processor with a piece in hand. */
	(void)pthread_mutex_lock(&w->lock);
	atomic_store(&w->joining, true);
	while ((atomic_load(&w->run) & RUN_THREADS) != 0)
		(void)pthread_cond_wait(&w->left, &w->lock);
	atomic_store(&w->joining, false);
	(void)pthread_mutex_unlock(&w->lock);
}

void workers_run(struct workers *w, workers_job *job, void *ctx, size_t n)
{
	uint64_t run = atomic_load(&w->run);

	w->job = job;
	w->ctx = ctx;
	w->n = n;
	atomic_store_explicit(&w->next, 0, memory_order_relaxed);
	if (n > 1)
		start_threads(w);
	if (n <= 1 || w->running == 0) {
		run_pieces(w, 0);
		return;
	}
	run = (run_number(run) + 1) << RUN_SHIFT;
	atomic_store(&w->run, run | RUN_OPEN);
	wake_threads(w);
	run_pieces(w, 0);
	atomic_fetch_and(&w->run, ~(uint64_t)RUN_OPEN);
	join_run(w);
}

void workers_stop(struct workers *w)
{
	unsigned i;

	if (w == NULL || w->running == 0)
		return;
	atomic_store(&w->stopping, true);
	wake_threads(w);
	for (i = 0; i < w->running; i++)
		(void)pthread_join(w->thread[i].thread, NULL);
	w->running = 0;
	atomic_store(&w->stopping, false);
}
