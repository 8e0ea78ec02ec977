/* Two byte links joined. Each direction moves what the far one has room for; the rest stays where it came from, and so slows
 * the sender down. */
#include "xfer/splice.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/link.h"
#include "io/loop.h"

struct splice_end { struct splice *splice; struct link *link; bool finished; };

struct splice {
	struct loop *loop;
	struct splice_end end[2];
	void (*done)(void *ctx);
	void *ctx;
	bool told;
};

static void tell(void *ctx)
{
	struct splice *s = ctx;

	if (s->told)
		return;
	s->told = true;
	s->done(s->ctx);
}

static void finish(struct splice *s, struct splice_end *to)
{
	if (to->finished)
		return;
	to->finished = true;
	if (to->link != NULL)
		link_finish(to->link);
	if (s->end[0].finished && s->end[1].finished)
		loop_defer(s->loop, tell, s);
}

static void move(struct splice *s, struct splice_end *from, struct splice_end *to)
{
	while (from->link != NULL && to->link != NULL && !to->finished) {
		const uint8_t *p;
		size_t n = link_peek(from->link, &p), used = 0, lent;
		struct iovec iov[LINK_IOV];
		int count = 0;

		if (n == 0)
			break;
		lent = link_lend(to->link, n, iov, &count);
		if (lent == 0)
			return;                  /* writable will be called */
		for (int i = 0; i < count && used < n; i++) {
			size_t k = n - used < iov[i].iov_len ? n - used : iov[i].iov_len;

			memcpy(iov[i].iov_base, p + used, k);
			used += k;
		}
		if (link_commit(to->link, used) < 0) {
			finish(s, from);
			finish(s, to);
			return;
		}
		link_consume(from->link, used);
	}
	if (from->link == NULL || link_at_end(from->link))
		finish(s, to);
}

static void on_event(void *ctx)
{
	struct splice_end *e = ctx;
	struct splice *s = e->splice;

	move(s, &s->end[0], &s->end[1]);
	move(s, &s->end[1], &s->end[0]);
}

static void on_closed(void *ctx, const struct err *e)
{
	struct splice_end *end = ctx;

	(void)e;
	end->link = NULL;                        /* the carrier frees it now */
	end->finished = true;
	on_event(ctx);
	if (end->splice->end[0].finished && end->splice->end[1].finished)
		loop_defer(end->splice->loop, tell, end->splice);
}

struct splice *splice_new(struct loop *l, struct link *a, struct link *b, void (*done)(void *ctx), void *ctx)
{
	struct splice *s = mem_zalloc(sizeof *s);

	s->loop = l;
	s->done = done;
	s->ctx = ctx;
	for (int i = 0; i < 2; i++) {
		s->end[i].splice = s;
		s->end[i].link = i == 0 ? a : b;
		s->end[i].link->user = (struct link_user){ .readable = on_event, .writable = on_event, .closed = on_closed,
			.ctx = &s->end[i] };
	}
	return s;
}

void splice_free(struct splice *s)
{
	if (s == NULL)
		return;
	for (int i = 0; i < 2; i++)
		if (s->end[i].link != NULL)
			s->end[i].link->user = (struct link_user){ 0 };
	loop_defer_cancel(s->loop, tell, s);
	free(s);
}
