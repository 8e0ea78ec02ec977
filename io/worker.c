/* io/worker.c: one helper thread for calls that block.
 *
 * Jobs wait in one list and move to another when they have run. The thread touches nothing but these lists and the job it
 * runs; the loop is told by a byte in a pipe, and does the rest. */
#include "io/worker.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/loop.h"

struct worker_job {
	struct worker_job *next;
	void (*run)(void *);
	void (*done)(void *);
	void *ctx;
};

struct worker_list { struct worker_job *head, **tail; };

struct worker {
	struct loop *loop;
	struct loop_fd *watch;
	int pipe[2];
	size_t outstanding;              /* submitted, not done; the loop's side only */
	bool running;                    /* the thread is there; the loop's side only */
	bool busy, dead;                 /* in worker_readable(); freed by one of its callbacks */
	pthread_t thread;
	pthread_mutex_t lock;            /* guards what follows */
	pthread_cond_t more;
	struct worker_list waiting, finished;
	bool stopping;
};

static void worker_list_init(struct worker_list *l)
{
	l->head = NULL;
	l->tail = &l->head;
}

static void worker_list_put(struct worker_list *l, struct worker_job *j)
{
	j->next = NULL;
	*l->tail = j;
	l->tail = &j->next;
}

static struct worker_job *worker_list_take(struct worker_list *l)
{
	struct worker_job *j = l->head;

	if (j == NULL)
		return NULL;
	l->head = j->next;
	if (l->head == NULL)
		l->tail = &l->head;
	return j;
}

/* A full pipe wakes the loop as well. */
static void worker_wake(struct worker *w)
{
	ssize_t n = write(w->pipe[1], "", 1);

	(void)n;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct worker_job *j;

	(void)pthread_mutex_lock(&w->lock);
	while (!w->stopping) {
		j = worker_list_take(&w->waiting);
		if (j == NULL) {
			(void)pthread_cond_wait(&w->more, &w->lock);
			continue;
		}
		(void)pthread_mutex_unlock(&w->lock);
		j->run(j->ctx);
		(void)pthread_mutex_lock(&w->lock);
		worker_list_put(&w->finished, j);
		worker_wake(w);
	}
	(void)pthread_mutex_unlock(&w->lock);
	return NULL;
}

static struct worker_job *worker_take_finished(struct worker *w)
{
	struct worker_job *j;

	(void)pthread_mutex_lock(&w->lock);
	j = worker_list_take(&w->finished);
	(void)pthread_mutex_unlock(&w->lock);
	return j;
}

static void worker_destroy(struct worker *w)
{
	close(w->pipe[0]);
	close(w->pipe[1]);
	(void)pthread_cond_destroy(&w->more);
	(void)pthread_mutex_destroy(&w->lock);
	free(w);
}

static void worker_readable(void *ctx, int fd, unsigned what)
{
	struct worker *w = ctx;
	struct worker_job *j;
	char b[64];

	(void)what;
	while (read(fd, b, sizeof(b)) == (ssize_t)sizeof(b))
		;
	w->busy = true;
	/* Any of these may free the worker. */
	while (!w->dead && (j = worker_take_finished(w)) != NULL) {
		if (--w->outstanding == 0)
			loop_fd_want(w->watch, 0);
		j->done(j->ctx);
		free(j);
	}
	w->busy = false;
	if (w->dead)
		worker_destroy(w);
}

struct worker *worker_new(struct loop *l, struct err *e)
{
	struct worker *w = mem_zalloc(sizeof(*w));
	int i;

	w->loop = l;
	if (pipe(w->pipe) != 0) {
		err_set_errno(e, "pipe");
		free(w);
		return NULL;
	}
	for (i = 0; i < 2; i++) {
		(void)fcntl(w->pipe[i], F_SETFD, FD_CLOEXEC);
		(void)fcntl(w->pipe[i], F_SETFL, O_NONBLOCK);
	}
	/* Watched while jobs are out: an idle worker does not keep loop_run() going. */
	w->watch = loop_fd_add(l, w->pipe[0], 0, worker_readable, w, e);
	if (w->watch == NULL) {
		close(w->pipe[0]);
		close(w->pipe[1]);
		free(w);
		return NULL;
	}
	worker_list_init(&w->waiting);
	worker_list_init(&w->finished);
	(void)pthread_mutex_init(&w->lock, NULL);
	(void)pthread_cond_init(&w->more, NULL);
	return w;
}

static bool worker_start(struct worker *w)
{
	sigset_t all, before;

	if (w->running)
		return true;
	w->stopping = false;
	/* Signals are the loop's: none may be delivered to the helper. */
	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	w->running = pthread_create(&w->thread, NULL, worker_main, w) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return w->running;
}

void worker_submit(struct worker *w, void (*run)(void *), void (*done)(void *), void *ctx)
{
	struct worker_job *j = mem_zalloc(sizeof(*j));

	*j = (struct worker_job){ .run = run, .done = done, .ctx = ctx };
	if (w->outstanding++ == 0)
		loop_fd_want(w->watch, LOOP_READ);
	if (!worker_start(w)) {
		/* No thread to be had: slow is better than not at all. */
		run(ctx);
		worker_list_put(&w->finished, j);
		worker_wake(w);
		return;
	}
	(void)pthread_mutex_lock(&w->lock);
	worker_list_put(&w->waiting, j);
	(void)pthread_cond_signal(&w->more);
	(void)pthread_mutex_unlock(&w->lock);
}

void worker_stop(struct worker *w)
{
	struct worker_job *j;

	if (w == NULL || !w->running)
		return;
	(void)pthread_mutex_lock(&w->lock);
	w->stopping = true;
	(void)pthread_cond_signal(&w->more);
	(void)pthread_mutex_unlock(&w->lock);
	(void)pthread_join(w->thread, NULL);
	w->running = false;
	while ((j = worker_list_take(&w->waiting)) != NULL)
		worker_list_put(&w->finished, j);
	if (w->finished.head != NULL)
		worker_wake(w);
}

void worker_free(struct worker *w)
{
	struct worker_job *j;

	if (w == NULL)
		return;
	worker_stop(w);
	loop_fd_remove(w->watch);
	w->watch = NULL;
	/* Whoever waits for a job owns memory that done() frees. */
	while ((j = worker_list_take(&w->finished)) != NULL) {
		j->done(j->ctx);
		free(j);
	}
	if (w->busy)
		w->dead = true;
	else
		worker_destroy(w);
}
