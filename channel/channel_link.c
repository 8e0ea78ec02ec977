/* channel/channel_link.c: a channel seen as a byte link (io/link.h). Layer: channel. */
#include "channel/channel_private.h"

#include <unistd.h>

#include "transport.h"

static struct channel *of(struct link *l)
{
	return (struct channel *)l;      /* the link is its first member */
}

static size_t channel_link_lend(struct link *l, size_t want, struct iovec *iov, int *count)
{
	struct channel *c = of(l);
	size_t n = channel_lend_bytes(c, false, want, iov, count);

	/* Outside of a pull the channel has to be in the run queue to hear of room. */
	if (n < want && c->remote_left > 0)
		channel_run(c);
	return n;
}

static int channel_link_commit(struct link *l, size_t n)
{
	return channel_commit_bytes(of(l), n);
}

static size_t channel_link_room(struct link *l)
{
	return channel_send_room(of(l));
}

/* What is queued lies before what is being dispatched: dispatch puts the new bytes behind the queue when there is one. */
static size_t channel_link_peek(struct link *l, const uint8_t **p)
{
	struct channel *c = of(l);

	if (c->in.size > 0)
		return byte_queue_run(&c->in, p);
	*p = c->now.p;
	return c->now.n;
}

static void channel_link_consume(struct link *l, size_t n)
{
	struct channel *c = of(l);

	if (c->in.size > 0) {
		byte_queue_drop(&c->in, n);
	} else {
		c->now.p += n;
		c->now.n -= n;
	}
	channel_consumed(c, n);
	if (c->in.size == 0)
		channel_maybe_free(c);
}

static bool channel_link_at_end(struct link *l)
{
	const struct channel *c = of(l);

	return (c->got_eof || c->got_close || c->cs->ended) && c->in.size == 0 && c->now.n == 0;
}

static void channel_link_finish(struct link *l)
{
	channel_send_eof(of(l));
}

static void channel_link_close(struct link *l)
{
	struct channel *c = of(l);

	c->link.user = (struct link_user){ 0 };
	c->link_told_end = true;
	if (c->in.size > 0)
		channel_link_consume(l, c->in.size);
	channel_close(c);
}

static size_t channel_link_pending(struct link *l)
{
	return transport_out_pending(of(l)->cs->transport);
}

static size_t channel_link_window(struct link *l)
{
	return of(l)->remote_left;
}

static uint32_t channel_link_rtt_us(struct link *l)
{
	return carrier_rtt(of(l)->cs->carrier).least_us;
}

const struct link_ops channel_link_ops = {
	.lend = channel_link_lend, .commit = channel_link_commit, .room = channel_link_room, .peek = channel_link_peek,
	.consume = channel_link_consume, .at_end = channel_link_at_end, .finish = channel_link_finish,
	.close = channel_link_close, .pending = channel_link_pending, .window = channel_link_window,
	.rtt_us = channel_link_rtt_us,
};

struct link *channel_link(struct channel *c, int stderr_fd)
{
	c->has_link = true;
	c->link_stderr = stderr_fd;
	channel_open_window(c);
	return &c->link;
}

/* New bytes, or the end of them. What the user leaves of the message is copied to the channel's own queue, so that the
 * shared buffer is free at once: one stalled sink never stops another channel. */
void channel_link_input(struct channel *c)
{
	if (c->link_told_end) {
		channel_consumed(c, c->now.n);
		c->now.n = 0;
		return;
	}
	if (c->in.size > 0 && c->now.n > 0) {
		byte_queue_add(&c->in, c->now.p, c->now.n);
		c->now.n = 0;
	}
	if (c->link.user.readable)
		c->link.user.readable(c->link.user.ctx);
	if (c->now.n > 0) {
		if (c->link_told_end)
			channel_consumed(c, c->now.n);
		else
			byte_queue_add(&c->in, c->now.p, c->now.n);
		c->now.n = 0;
	}
}

void channel_link_closed(struct channel *c)
{
	const struct err *e = carrier_err(c->cs->carrier);
	struct err none = { 0 };

	if (!c->has_link || c->link_told_end)
		return;
	c->link_told_end = true;
	if (c->link.user.closed)
		c->link.user.closed(c->link.user.ctx, c->cs->ended && e->code ? e : &none);
}
