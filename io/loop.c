/* io/loop.c: the event loop: descriptors, deferred calls, and the order of a turn. */
#include "io/loop.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/loop_internal.h"

struct loop_deferred { loop_fn *fn; void *ctx; };

struct loop {
	const struct loop_backend *ops;
	void *backend;
	struct loop_fd *fds, *always, *dead, *changed;
	size_t wanting;                  /* descriptors that want something */
	size_t always_wanting;           /* those of them that are always ready */
	struct loop_timers timers;
	struct loop_signals signals;
	struct loop_deferred *deferred;
	size_t deferred_count, deferred_room;
	unsigned depth;                  /* turns under way: a callback may run a turn of its own */
	bool stopped;
};

struct loop_timers *loop_timers_of(struct loop *l)
{
	return &l->timers;
}

struct loop_signals *loop_signals_of(struct loop *l)
{
	return &l->signals;
}

static struct loop *loop_create(void)
{
	struct loop *l = mem_zalloc(sizeof(*l));

	l->signals.pipe[0] = l->signals.pipe[1] = -1;
	return l;
}

struct loop *loop_new(struct err *e)
{
	struct loop *l = loop_create();

	if (loop_epoll_new(&l->ops, &l->backend, NULL) == 0)
		return l;
	free(l);
	return loop_new_poll(e);
}

struct loop *loop_new_poll(struct err *e)
{
	struct loop *l = loop_create();

	/* Who has no epoll has no pidfd either. */
	l->signals.no_pidfd = true;
	if (loop_poll_new(&l->ops, &l->backend, e) == 0)
		return l;
	free(l);
	return NULL;
}

static void loop_list_add(struct loop_fd **head, struct loop_fd *f)
{
	f->prev = NULL;
	f->next = *head;
	if (*head != NULL)
		(*head)->prev = f;
	*head = f;
}

/* f->next stays as it is: whoever stands at f while walking a list still gets to the rest of it. */
static void loop_list_remove(struct loop_fd **head, struct loop_fd *f)
{
	if (f->prev != NULL)
		f->prev->next = f->next;
	else
		*head = f->next;
	if (f->next != NULL)
		f->next->prev = f->prev;
}

static void loop_bury(struct loop *l)
{
	struct loop_fd *f;

	if (l->depth != 0)
		return;
	while ((f = l->dead) != NULL) {
		l->dead = f->next_changed;
		free(f);
	}
}

void loop_free(struct loop *l)
{
	if (l == NULL)
		return;
	loop_signals_free(l);
	while (l->fds != NULL)
		loop_fd_remove(l->fds);
	while (l->always != NULL)
		loop_fd_remove(l->always);
	l->depth = 0;
	loop_bury(l);
	loop_timers_free(&l->timers);
	l->ops->free(l->backend);
	free(l->deferred);
	free(l);
}

/* ---- descriptors */

static void loop_count(struct loop_fd *f, unsigned before, unsigned after)
{
	size_t add = (size_t)(after != 0) - (size_t)(before != 0);      /* 1, 0, or -1 modulo the size of a size_t */

	if (!f->internal)
		f->loop->wanting += add;
	if (f->always)
		f->loop->always_wanting += add;
}

/* Tells the backend. */
static int loop_fd_sync(struct loop_fd *f, struct err *e)
{
	struct loop *l = f->loop;
	int r;

	if (f->always || f->have == f->want)
		return 0;
	r = l->ops->set(l->backend, f, f->want, e);
	if (r < 0)
		return r;
	f->have = f->want;
	if (r == 1) {
		loop_list_remove(&l->fds, f);
		loop_list_add(&l->always, f);
		f->always = true;
		f->have = 0;
		l->always_wanting += f->want != 0;
	}
	return 0;
}

static struct loop_fd *loop_fd_insert(struct loop *l, struct loop_fd template, struct err *e)
{
	struct loop_fd *f;

	if (template.fd < 0) {
		err_set(e, ERR_USAGE, "no descriptor to watch");
		return NULL;
	}
	f = mem_dup(&template, sizeof(template));
	f->loop = l;
	loop_list_add(&l->fds, f);
	loop_count(f, 0, f->want);
	/* At once, so that a bad descriptor is reported to the one who brought it. */
	if (loop_fd_sync(f, e) != 0) {
		loop_count(f, f->want, 0);
		loop_list_remove(&l->fds, f);
		free(f);
		return NULL;
	}
	return f;
}

struct loop_fd *loop_fd_add(struct loop *l, int fd, unsigned what, loop_fd_fn *fn, void *ctx, struct err *e)
{
	return loop_fd_insert(l, (struct loop_fd){ .fd = fd, .want = what, .fn = fn, .ctx = ctx }, e);
}

struct loop_fd *loop_fd_add_internal(struct loop *l, int fd, loop_fd_fn *fn, void *ctx, struct err *e)
{
	return loop_fd_insert(l, (struct loop_fd){ .fd = fd, .want = LOOP_READ, .fn = fn, .ctx = ctx, .internal = true }, e);
}

void loop_fd_want(struct loop_fd *f, unsigned what)
{
	if (f->want == what || f->dead)
		return;
	loop_count(f, f->want, what);
	f->want = what;
	/* The system is told before the next wait: what is turned off and on again within a turn costs no call. */
	if (!f->changed && !f->always) {
		f->changed = true;
		f->next_changed = f->loop->changed;
		f->loop->changed = f;
	}
}

void loop_fd_remove(struct loop_fd *f)
{
	struct loop *l;
	struct loop_fd **p;

	if (f == NULL || f->dead)
		return;
	l = f->loop;
	loop_count(f, f->want, 0);
	f->want = 0;
	if (f->changed) {
		for (p = &l->changed; *p != f; p = &(*p)->next_changed)
			;
		*p = f->next_changed;
	}
	/* At once, for the owner is about to close it. */
	if (f->have != 0)
		(void)l->ops->set(l->backend, f, 0, NULL);
	loop_list_remove(f->always ? &l->always : &l->fds, f);
	f->dead = true;
	f->next_changed = l->dead;
	l->dead = f;
	loop_bury(l);
}

static int loop_sync_changed(struct loop *l, struct err *e)
{
	struct loop_fd *f;
	int r = 0;

	while ((f = l->changed) != NULL && r == 0) {
		l->changed = f->next_changed;
		f->changed = false;
		r = loop_fd_sync(f, e);
	}
	return r;
}

/* ---- deferred calls */

void loop_defer(struct loop *l, loop_fn *fn, void *ctx)
{
	size_t i;

	for (i = 0; i < l->deferred_count; i++)
		if (l->deferred[i].fn == fn && l->deferred[i].ctx == ctx)
			return;
	if (l->deferred_count == l->deferred_room) {
		l->deferred_room = l->deferred_room != 0 ? l->deferred_room * 2 : 16;
		l->deferred = mem_resize(l->deferred, l->deferred_room, sizeof(l->deferred[0]));
	}
	l->deferred[l->deferred_count++] = (struct loop_deferred){ fn, ctx };
}

static void loop_deferred_drop(struct loop *l, size_t i)
{
	for (l->deferred_count--; i < l->deferred_count; i++)
		l->deferred[i] = l->deferred[i + 1];
}

void loop_defer_cancel(struct loop *l, loop_fn *fn, void *ctx)
{
	size_t i = 0;

	while (i < l->deferred_count) {
		if (l->deferred[i].fn == fn && l->deferred[i].ctx == ctx)
			loop_deferred_drop(l, i);
		else
			i++;
	}
}

/* Those that are there now; what they defer in turn comes after the next look at descriptors, so that two who always
 * defer each other do not shut out the rest. */
static void loop_deferred_run(struct loop *l)
{
	size_t n = l->deferred_count;
	struct loop_deferred d;

	l->depth++;
	while (n-- != 0 && l->deferred_count != 0) {
		d = l->deferred[0];
		loop_deferred_drop(l, 0);
		d.fn(d.ctx);
	}
	l->depth--;
	loop_bury(l);
}

/* ---- turns */

static int loop_wait_ms(struct loop *l, int timeout_ms)
{
	uint64_t us;

	if (l->deferred_count != 0 || l->always_wanting != 0 || l->stopped)
		return 0;
	us = loop_timers_wait(&l->timers, clock_mono_us());
	if (us == UINT64_MAX)
		return timeout_ms;
	/* Rounded up: a timer must not find that it is not due yet. */
	us = us / 1000 + (us % 1000 != 0);
	if (timeout_ms >= 0 && us > (uint64_t)timeout_ms)
		return timeout_ms;
	return us > INT_MAX ? INT_MAX : (int)us;
}

static void loop_dispatch(struct loop *l, const struct loop_ready *ready, int n)
{
	struct loop_fd *f;
	unsigned what;
	int i;

	for (i = 0; i < n; i++) {
		f = ready[i].f;
		/* A callback before this one may have removed it or turned it off. */
		what = ready[i].what & f->want;
		if (!f->dead && what != 0)
			f->fn(f->ctx, f->fd, what);
	}
	for (f = l->always; f != NULL; f = f->next)
		if (!f->dead && f->want != 0)
			f->fn(f->ctx, f->fd, f->want);
}

/* A turn without the deferred calls in front. */
static int loop_half_turn(struct loop *l, int timeout_ms, struct err *e)
{
	struct loop_ready ready[LOOP_READY_MAX];
	int n;

	l->depth++;
	n = loop_sync_changed(l, e);
	if (n == 0)
		n = l->ops->wait(l->backend, loop_wait_ms(l, timeout_ms), ready, e);
	if (n >= 0) {
		loop_signals_run(l);
		loop_dispatch(l, ready, n);
		loop_timers_run(&l->timers, clock_mono_us());
		loop_deferred_run(l);
	}
	l->depth--;
	loop_bury(l);
	return n < 0 ? n : 0;
}

int loop_turn(struct loop *l, int timeout_ms, struct err *e)
{
	loop_deferred_run(l);
	return loop_half_turn(l, timeout_ms, e);
}

/* Is there anything that could still call somebody, signals apart? */
static bool loop_has_work(const struct loop *l)
{
	return l->wanting != 0 || l->timers.count != 0 || l->deferred_count != 0 || l->signals.children_awaited != 0;
}

int loop_run(struct loop *l, struct err *e)
{
	int r = 0;

	while (r == 0) {
		/* These may end the work, so they come before the question whether there is any. */
		if (!l->stopped)
			loop_deferred_run(l);
		if (l->stopped || !loop_has_work(l))
			break;
		r = loop_half_turn(l, -1, e);
	}
	l->stopped = false;
	return r;
}

void loop_stop(struct loop *l)
{
	l->stopped = true;
}
