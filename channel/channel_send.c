/* channel/channel_send.c: who may send next, and how its bytes get into packets. Layer: channel. RFC 4254 §5.2.
 *
 * Sends are pulled: the carrier asks when output runs low; interactive channels go first, the others in turn. */
#include "channel/channel_private.h"

#include "base/log.h"
#include "transport.h"
#include "wire/messages.h"

enum {
	HEAD_DATA = 8,           /* recipient, length of the string */
	HEAD_EXTENDED = 12,      /* recipient, data type, length */
	EXTENDED_STDERR = 1,
	PACKET_LEAST = 4096,
	PACKET_MS = 2,           /* a packet holds about this much of the line */
	INTERACTIVE_ROOM = 32 * 1024     /* beyond the mark */
};

static void channel_write_head(void *ctx, uint8_t *head, size_t size)
{
	const struct channel *c = ctx;

	wire_store_u32(head, c->remote_id);
	head += 4;
	if (c->lent_extended) {
		wire_store_u32(head, EXTENDED_STDERR);
		head += 4;
	}
	wire_store_u32(head, (uint32_t)size);
}

/* Body of one packet: what the peer takes, and no more than some 2 ms of the line so that a keystroke soon gets through. */
static size_t channel_packet_max(struct channel *c)
{
	size_t max = transport_data_max(c->cs->transport);
	uint64_t rate = carrier_rate(c->cs->carrier);
	uint64_t slice = rate * PACKET_MS / 1000;

	if (max > c->remote_max_packet)
		max = c->remote_max_packet;
	if (slice < PACKET_LEAST)
		slice = PACKET_LEAST;
	/* What compression makes smaller may be larger. */
	slice = slice * transport_swell(c->cs->transport) / 16;
	if (rate && slice < max)
		max = (size_t)slice;
	return max > c->remote_max_packet ? c->remote_max_packet : max;
}

size_t channel_send_room(struct channel *c)
{
	size_t high = carrier_out_high(c->cs->carrier), pending = transport_out_pending(c->cs->transport);
	size_t room;

	/* Interactive bytes are few; bulk data that waits already shall not keep them out. */
	if (c->interactive)
		high += INTERACTIVE_ROOM;
	room = pending < high ? high - pending : 0;

	if (!channel_may_send(c) || c->sent_eof || c->sent_close || c->got_close || c->cs->ended ||
	    transport_exchanging(c->cs->transport))
		return 0;
	return room < c->remote_left ? room : (size_t)c->remote_left;
}

size_t channel_lend_bytes(struct channel *c, bool extended, size_t want, struct iovec *iov, int *count)
{
	struct packet_bulk b = { .type = extended ? MSG_CHANNEL_EXTENDED_DATA : MSG_CHANNEL_DATA,
		.head_size = extended ? HEAD_EXTENDED : HEAD_DATA, .write_head = channel_write_head, .ctx = c };
	size_t room = channel_send_room(c), total = 0, most = want < room ? want : room;
	int n;

	*count = 0;
	if (most < want)
		c->blocked = true;
	if (most == 0)
		return 0;
	c->lent_extended = extended;
	n = transport_lend(c->cs->transport, &b, channel_packet_max(c), most, iov, LINK_IOV);
	if (n <= 0) {
		c->blocked = true;
		return 0;
	}
	for (int i = 0; i < n; i++)
		total += iov[i].iov_len;
	if (total < want)
		c->blocked = true;
	*count = n;
	return total;
}

int channel_commit_bytes(struct channel *c, size_t n)
{
	int rc = transport_commit(c->cs->transport, n);

	if (rc < 0)
		return rc;
	if (n > 0) {
		c->remote_left -= n;
		channel_moved(c);
		carrier_kick(c->cs->carrier);
	}
	return 0;
}

static void channel_send_queue(struct channel *c, struct byte_queue *q, bool extended)
{
	struct iovec iov[LINK_IOV];
	size_t lent;
	int count;

	if (q->size == 0)
		return;
	lent = channel_lend_bytes(c, extended, q->size, iov, &count);
	if (lent == 0)
		return;
	for (int i = 0; i < count; i++)
		byte_queue_take(q, iov[i].iov_base, iov[i].iov_len);
	IGNORE_RESULT(channel_commit_bytes(c, lent));
}

static void channel_send_queues(struct channel *c)
{
	channel_send_queue(c, &c->out, false);
	channel_send_queue(c, &c->err_out, true);
}

void channel_run(struct channel *c)
{
	struct run_queue *q = c->interactive ? &c->cs->interactive : &c->cs->bulk;

	if (c->ready || c->state == CHANNEL_DEAD)
		return;
	c->ready = true;
	c->run_next = NULL;
	*q->last = c;
	q->last = &c->run_next;
	if (!c->cs->in_pull)
		carrier_kick(c->cs->carrier);
}

static bool channel_wants_more(const struct channel *c)
{
	return c->out.size > 0 || c->err_out.size > 0 || c->blocked || pump_has_source(c);
}

/* One turn of one channel. What it could not send for want of window it tries again after WINDOW_ADJUST; for want of
 * room in the output, at the next pull. */
static void channel_produce(struct channel *c)
{
	if (!channel_may_send(c))
		return;
	c->blocked = false;
	channel_send_queues(c);
	if (c->out.size == 0 && c->err_out.size == 0) {
		if (c->pump)
			pump_produce(c);
		else if (c->has_link && c->link.user.writable && !c->link_told_end)
			c->link.user.writable(c->link.user.ctx);
		channel_send_queues(c);  /* what a filter made of the source */
	}
	channel_advance_close(c);
	if (channel_wants_more(c) && c->remote_left > 0)
		channel_run(c);
}

/* Each channel of the queue once, at most; those that made themselves ready again wait for the next round. */
static bool run_queue_round(struct channels *cs, struct run_queue *q, size_t low)
{
	struct channel *last = NULL;
	bool ran = false;

	for (struct channel *c = q->first; c; c = c->run_next)
		last = c;
	while (q->first && transport_out_pending(cs->transport) < low && !transport_exchanging(cs->transport)) {
		struct channel *c = q->first;
		bool final = c == last;

		q->first = c->run_next;
		if (!q->first)
			q->last = &q->first;
		c->ready = false;
		channel_produce(c);
		ran = true;
		if (final)
			break;
	}
	return ran;
}

static void channels_late_grants(struct channels *cs)
{
	for (size_t i = 0; i < cs->room; i++)
		if (cs->v[i] && cs->v[i]->grant_late)
			channel_grant(cs->v[i]);
}

void channels_pull(void *ctx)
{
	struct channels *cs = ctx;
	size_t low = carrier_out_high(cs->carrier), before;

	if (cs->ended || cs->in_pull)
		return;
	cs->in_pull = true;
	channels_late_grants(cs);
	do {
		before = transport_out_pending(cs->transport);
		run_queue_round(cs, &cs->interactive, low + INTERACTIVE_ROOM);
		run_queue_round(cs, &cs->bulk, low);
	} while (transport_out_pending(cs->transport) > before && transport_out_pending(cs->transport) < low / 2);
	cs->in_pull = false;
}
