/* io/loop_timer.c: timers of the event loop: a binary heap by due time. */
#include "io/loop_internal.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

struct loop_timer *loop_timer_add(struct loop *l, loop_fn *fn, void *ctx)
{
	struct loop_timers *ts = loop_timers_of(l);
	struct loop_timer *t = mem_zalloc(sizeof(*t));

	t->loop = l;
	t->fn = fn;
	t->ctx = ctx;
	t->next = ts->all;
	if (ts->all != NULL)
		ts->all->prev = t;
	ts->all = t;
	return t;
}

static bool loop_timer_before(const struct loop_timer *a, const struct loop_timer *b)
{
	return a->due_us != b->due_us ? a->due_us < b->due_us : a->order < b->order;
}

static void loop_heap_put(struct loop_timers *ts, size_t i, struct loop_timer *t)
{
	ts->heap[i] = t;
	t->place = i;
}

/* Puts t at place i, or where it belongs above or below it. */
static void loop_heap_settle(struct loop_timers *ts, size_t i, struct loop_timer *t)
{
	size_t child;

	while (i > 1 && loop_timer_before(t, ts->heap[i / 2])) {
		loop_heap_put(ts, i, ts->heap[i / 2]);
		i /= 2;
	}
	while ((child = 2 * i) <= ts->count) {
		if (child < ts->count && loop_timer_before(ts->heap[child + 1], ts->heap[child]))
			child++;
		if (!loop_timer_before(ts->heap[child], t))
			break;
		loop_heap_put(ts, i, ts->heap[child]);
		i = child;
	}
	loop_heap_put(ts, i, t);
}

void loop_timer_arm(struct loop_timer *t, uint64_t after_ms)
{
	struct loop_timers *ts = loop_timers_of(t->loop);

	loop_timer_disarm(t);
	if (__builtin_mul_overflow(after_ms, (uint64_t)1000, &t->due_us) ||
	    __builtin_add_overflow(t->due_us, clock_mono_us(), &t->due_us))
		t->due_us = UINT64_MAX;
	t->order = ts->order++;
	if (ts->count + 2 > ts->room) {
		ts->room = ts->room != 0 ? ts->room * 2 : 16;
		ts->heap = mem_resize(ts->heap, ts->room, sizeof(ts->heap[0]));
	}
	ts->count++;
	loop_heap_settle(ts, ts->count, t);
}

void loop_timer_disarm(struct loop_timer *t)
{
	struct loop_timers *ts = loop_timers_of(t->loop);
	struct loop_timer *last;
	size_t i = t->place;

	if (i == 0)
		return;
	t->place = 0;
	last = ts->heap[ts->count--];
	if (last != t)
		loop_heap_settle(ts, i, last);
}

void loop_timer_remove(struct loop_timer *t)
{
	struct loop_timers *ts;

	if (t == NULL)
		return;
	ts = loop_timers_of(t->loop);
	loop_timer_disarm(t);
	if (t->prev != NULL)
		t->prev->next = t->next;
	else
		ts->all = t->next;
	if (t->next != NULL)
		t->next->prev = t->prev;
	free(t);
}

uint64_t loop_timers_wait(const struct loop_timers *ts, uint64_t now_us)
{
	if (ts->count == 0)
		return UINT64_MAX;
	return ts->heap[1]->due_us <= now_us ? 0 : ts->heap[1]->due_us - now_us;
}

void loop_timers_run(struct loop_timers *ts, uint64_t now_us)
{
	uint64_t limit = ts->order;
	struct loop_timer *t;

	/* Not those armed by the callbacks themselves: a timer that re-arms itself with 0 gets its next go after the
	 * descriptors. */
	while (ts->count != 0 && (t = ts->heap[1])->due_us <= now_us && t->order < limit) {
		loop_timer_disarm(t);
		t->fn(t->ctx);
	}
}

void loop_timers_free(struct loop_timers *ts)
{
	while (ts->all != NULL)
		loop_timer_remove(ts->all);
	free(ts->heap);
	ts->heap = NULL;
}
