/* io/link_pair.c: two byte links in memory, joined: for tests of what runs over a link. */
#include "io/link.h"

#include <stdlib.h>

#include "base/mem.h"
#include "io/loop.h"
#include "io/ring.h"

struct link_pair;

struct link_end {
	struct link link;                /* first: the address of both is the same */
	struct link_pair *pair;
	struct link_end *other;
	struct ring in;                  /* what the other committed */
	size_t visible;                  /* of it, may be peeked at */
	bool wrote;                      /* tell the other that there is more */
	bool ended;                      /* the other has finished; becomes visible with the bytes before it */
	bool end_visible;
	bool finished;                   /* this end has finished */
	bool starved;                    /* a lend came out short */
	bool closed;                     /* link_close was called */
	bool told;                       /* user.closed was called */
};

struct link_pair {
	struct loop *loop;
	struct link_end end[2];
};

static struct link_end *link_end_of(struct link *l)
{
	return (struct link_end *)l;
}

static void link_pair_turn(void *ctx);

static void link_pair_wake(struct link_pair *p)
{
	loop_defer(p->loop, link_pair_turn, p);
}

static size_t link_end_lend(struct link *l, size_t want, struct iovec *iov, int *count)
{
	struct link_end *e = link_end_of(l);
	size_t n;

	*count = 0;
	if (e->finished || e->closed)
		return 0;
	n = ring_lend(&e->other->in, want, iov, count);
	if (n < want)
		e->starved = true;
	return n;
}

static int link_end_commit(struct link *l, size_t n)
{
	struct link_end *e = link_end_of(l);

	if (n == 0)
		return 0;
	if (e->finished || e->closed || e->other->closed)
		return ERR_CLOSED;
	ring_commit(&e->other->in, n);
	e->wrote = true;
	link_pair_wake(e->pair);
	return 0;
}

static size_t link_end_room(struct link *l)
{
	struct link_end *e = link_end_of(l);

	return e->finished || e->closed ? 0 : e->other->in.limit - e->other->in.size;
}

static size_t link_end_peek(struct link *l, const uint8_t **p)
{
	struct link_end *e = link_end_of(l);
	size_t n = ring_peek(&e->in, p);

	return n < e->visible ? n : e->visible;
}

static void link_end_consume(struct link *l, size_t n)
{
	struct link_end *e = link_end_of(l);

	ring_consume(&e->in, n);
	e->visible -= n;
	link_pair_wake(e->pair);
}

static bool link_end_at_end(struct link *l)
{
	struct link_end *e = link_end_of(l);

	return e->end_visible && e->in.size == 0;
}

static void link_end_finish(struct link *l)
{
	struct link_end *e = link_end_of(l);

	e->finished = true;
	e->other->ended = true;
	link_pair_wake(e->pair);
}

static size_t link_end_pending(struct link *l)
{
	struct link_end *e = link_end_of(l);

	return e->other->in.size - e->other->visible;
}

static void link_end_close(struct link *l)
{
	struct link_end *e = link_end_of(l);

	e->closed = true;
	ring_clear(&e->in);
	e->visible = 0;
	e->other->ended = true;
	link_pair_wake(e->pair);
}

static const struct link_ops link_end_ops = {
	.lend = link_end_lend, .commit = link_end_commit, .room = link_end_room, .peek = link_end_peek,
	.consume = link_end_consume, .at_end = link_end_at_end, .finish = link_end_finish, .close = link_end_close,
	.pending = link_end_pending,
};

/* What this end is to hear: bytes, room, the end. */
static void link_end_turn(struct link_end *e)
{
	bool news = e->other->wrote || (e->ended && !e->end_visible);
	const struct err none = { 0 };

	if (e->closed || e->told)
		return;
	e->other->wrote = false;
	e->visible = e->in.size;
	e->end_visible = e->ended;
	if (news && e->link.user.readable != NULL)
		e->link.user.readable(e->link.user.ctx);
	if (!e->closed && e->starved && e->other->in.size < e->other->in.limit && !e->finished) {
		e->starved = false;
		if (e->link.user.writable != NULL)
			e->link.user.writable(e->link.user.ctx);
	}
	/* Gone in both directions, once everything that came was consumed. */
	if (!e->closed && link_end_at_end(&e->link) && (e->finished || e->other->closed)) {
		e->told = true;
		if (e->link.user.closed != NULL)
			e->link.user.closed(e->link.user.ctx, &none);
	}
}

static void link_pair_turn(void *ctx)
{
	struct link_pair *p = ctx;
	int i;

	for (i = 0; i < 2; i++)
		link_end_turn(&p->end[i]);
	if (!p->end[0].closed || !p->end[1].closed)
		return;
	loop_defer_cancel(p->loop, link_pair_turn, p);
	ring_clear(&p->end[0].in);
	ring_clear(&p->end[1].in);
	free(p);
}

int link_pair_new(struct loop *l, size_t limit, struct link **a, struct link **b, struct err *e)
{
	struct link_pair *p = mem_zalloc(sizeof(*p));
	int i;

	(void)e;
	p->loop = l;
	for (i = 0; i < 2; i++) {
		p->end[i].link.ops = &link_end_ops;
		p->end[i].pair = p;
		p->end[i].other = &p->end[1 - i];
		p->end[i].in.limit = limit;
	}
	*a = &p->end[0].link;
	*b = &p->end[1].link;
	return 0;
}
