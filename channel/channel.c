/* channel/channel.c: the table of channels, their life and their windows. Layer: channel. RFC 4254 §5. */
#include "channel/channel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "channel/channel_private.h"
#include "io/loop.h"
#include "io/net.h"
#include "transport.h"
#include "wire/messages.h"

enum {
	CHANNELS_MAX = 4096,
	TYPING_MS = 10 * 1000,           /* so long after its last byte a terminal is still in use */
	PACKET_OTHERS = 32 * 1024        /* never more to peers not of our kind (docs/PROTOCOL.md) */
};

/* ---- the connection ---- */

static void channels_carrier_ended(void *ctx)
{
	struct channels *cs = ctx;

	channels_end(cs);
	if (cs->opt.user.ended)
		cs->opt.user.ended(cs->opt.user.ctx);
}

struct channels *channels_new(struct carrier *carrier, const struct channels_options *o, struct err *e)
{
	struct channels *cs = mem_zalloc(sizeof *cs);
	struct carrier_user u = { .ctx = cs, .message = channels_message, .pull = channels_pull,
		.ended = channels_carrier_ended };

	(void)e;
	cs->carrier = carrier;
	cs->transport = carrier_transport(carrier);
	cs->loop = carrier_loop(carrier);
	cs->opt = *o;
	cs->growth_left = WINDOW_GROWTH_BUDGET;
	cs->interactive.last = &cs->interactive.first;
	cs->bulk.last = &cs->bulk.first;
	cs->replies.last = &cs->replies.first;
	cs->moved_ms = clock_mono_ms();
	carrier_set_user(carrier, &u);
	if (!o->window_fixed)
		net_open_receive_window(carrier_fd(carrier), WINDOW_DEFAULT);
	return cs;
}

size_t channels_count(const struct channels *cs)
{
	return cs->count;
}

int channel_fail(struct channels *cs, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return carrier_fail(cs->carrier, ERR_PEER, DISCONNECT_PROTOCOL_ERROR, "%s", text);
}

struct channel *channels_find(struct channels *cs, uint32_t id)
{
	/* A channel that lingers may be in another's slot. */
	return id < cs->room && cs->v[id] && cs->v[id]->id == id ? cs->v[id] : NULL;
}

static uint32_t channels_max_packet(struct channels *cs)
{
	size_t max = transport_data_max(cs->transport);

	return transport_peer_kind(cs->transport) == PEER_WIRESPEED ? (uint32_t)max : PACKET_OTHERS;
}

static uint32_t channels_window_cap(struct channels *cs)
{
	if (cs->opt.window_cap)
		return cs->opt.window_cap;
	return transport_peer_kind(cs->transport) == PEER_OPENSSH ? WINDOW_CAP_STOCK : WINDOW_CAP;
}

/* The first free slot from `from` on, made if need be; CHANNELS_MAX: there is none. */
static size_t channels_free_slot(struct channels *cs, size_t from)
{
	size_t slot = from, room = cs->room ? cs->room : 4;

	while (slot < cs->room && cs->v[slot])
		slot++;
	if (slot >= CHANNELS_MAX || slot < cs->room)
		return slot;
	while (room <= slot)
		room *= 2;
	cs->v = mem_resize(cs->v, room, sizeof *cs->v);
	memset(cs->v + cs->room, 0, (room - cs->room) * sizeof *cs->v);
	cs->room = room;
	return slot;
}

static struct channel *channel_new(struct channels *cs, size_t slot)
{
	struct channel *c = mem_zalloc(sizeof *c);
	uint32_t size = cs->opt.window_initial ? cs->opt.window_initial : WINDOW_DEFAULT;

	c->link.ops = &channel_link_ops;
	c->cs = cs;
	c->id = (uint32_t)slot;
	c->slot = slot;
	c->link_stderr = -1;
	c->replies.last = &c->replies.first;
	c->early_last = &c->early;
	c->moved_ms = clock_mono_ms();
	window_init(&c->window, size, channels_window_cap(cs), channels_max_packet(cs));
	c->window.fixed = cs->opt.window_fixed;
	cs->v[slot] = c;
	cs->count++;
	c->first = !cs->begun;
	cs->begun = true;
	return c;
}

struct channel *channel_make(struct channels *cs)
{
	/* Where numbers are the client's choice, those that it may choose are not given away. */
	size_t slot = channels_free_slot(cs, cs->opt.server && cs->opt.echo_window ? CHANNEL_ECHO_NUMBERS : 0);

	return slot < CHANNELS_MAX ? channel_new(cs, slot) : NULL;
}

/* CLOSE has gone both ways, so the number is free, but the channel is still busy with what was received. */
static bool channel_lingers(const struct channel *c)
{
	return c->state == CHANNEL_DEAD || (c->sent_close && c->got_close);
}

struct channel *channel_make_as(struct channels *cs, uint32_t id, bool *taken)
{
	struct channel *old = channels_find(cs, id);
	size_t slot;

	*taken = old && !channel_lingers(old);
	if (*taken)
		return NULL;
	if (old) {
		slot = channels_free_slot(cs, CHANNEL_ECHO_NUMBERS);
		if (slot >= CHANNELS_MAX)
			return NULL;
		cs->v[slot] = old;
		cs->v[old->slot] = NULL;
		old->slot = slot;
	}
	slot = channels_free_slot(cs, id);
	return slot == id ? channel_new(cs, slot) : NULL;
}

void channel_moved(struct channel *c)
{
	c->moved_ms = c->cs->moved_ms = clock_mono_ms();
	if (c->interactive)
		c->cs->typed_ms = c->moved_ms;
}

uint64_t channel_idle_ms(const struct channel *c)
{
	return clock_mono_ms() - c->moved_ms;
}

uint64_t channels_idle_ms(const struct channels *cs)
{
	return clock_mono_ms() - cs->moved_ms;
}

static void run_queue_remove(struct run_queue *q, struct channel *c)
{
	for (struct channel **p = &q->first; *p; p = &(*p)->run_next) {
		if (*p != c)
			continue;
		*p = c->run_next;
		if (q->last == &c->run_next)
			q->last = p;
		return;
	}
}

static void channel_reap(void *ctx);

static void channel_free(struct channel *c)
{
	struct channels *cs = c->cs;

	run_queue_remove(&cs->interactive, c);
	run_queue_remove(&cs->bulk, c);
	cs->v[c->slot] = NULL;
	cs->count--;
	cs->growth_left += c->window.size > WINDOW_DEFAULT ? c->window.size - WINDOW_DEFAULT : 0;
	channel_drop_requests(c);
	pump_free(c);
	byte_queue_free(&c->in);
	byte_queue_free(&c->err_in);
	byte_queue_free(&c->out);
	byte_queue_free(&c->err_out);
	free(c);
}

void channel_discard(struct channel *c)
{
	loop_defer_cancel(c->cs->loop, channel_reap, c);
	channel_free(c);
}

void channel_tell_first(struct channel *c, enum channel_first what)
{
	if (c->first && c->cs->opt.user.first)
		c->cs->opt.user.first(c->cs->opt.user.ctx, what);
	c->first = false;
}

void channel_refused(struct channel *c, uint32_t reason, const char *text)
{
	struct channels *cs = c->cs;

	if (c->ahead == AHEAD_REQUESTS)
		channel_tell_first(c, CHANNEL_FIRST_REFUSED);
	if (c->user.open_failed)
		c->user.open_failed(c->user.ctx, c, reason, text);
	channel_link_closed(c);
	channel_discard(c);
	if (cs->count == 0 && cs->opt.user.all_closed)
		cs->opt.user.all_closed(cs->opt.user.ctx);
}

static void channel_reap(void *ctx)
{
	struct channel *c = ctx;
	struct channels *cs = c->cs;

	channel_link_closed(c);
	if (c->user.closed)
		c->user.closed(c->user.ctx, c);
	channel_free(c);
	if (cs->count == 0 && cs->opt.user.all_closed)
		cs->opt.user.all_closed(cs->opt.user.ctx);
}

static bool channel_input_left(const struct channel *c)
{
	if (c->pump)
		return pump_sink_busy(c);
	return c->has_link && c->in.size > 0;
}

/* Freed from the loop, never under the feet of whoever called. Only once everything of the peer's was delivered, however
 * slow the sink (all data before the end: RFC 4254 §5.3). */
void channel_maybe_free(struct channel *c)
{
	if (c->state == CHANNEL_DEAD)
		return;
	if (!c->cs->ended && !(c->sent_close && c->got_close))
		return;
	if (channel_input_left(c))
		return;
	c->state = CHANNEL_DEAD;
	loop_defer(c->cs->loop, channel_reap, c);
}

void channels_end(struct channels *cs)
{
	if (cs->ended)
		return;
	cs->ended = true;
	for (size_t i = 0; i < cs->room; i++) {
		struct channel *c = cs->v[i];

		if (!c)
			continue;
		if (c->state == CHANNEL_OPENING && c->ahead == AHEAD_REQUESTS)
			channel_tell_first(c, CHANNEL_FIRST_LOST);
		c->got_eof = true;
		pump_stop_source(c);
		if (c->pump)
			pump_peer_eof(c);
		channel_maybe_free(c);
	}
	channels_drop_global(cs);
}

void channels_free(struct channels *cs)
{
	struct carrier_user none = { 0 };

	if (!cs)
		return;
	for (size_t i = 0; i < cs->room; i++) {
		if (!cs->v[i])
			continue;
		loop_defer_cancel(cs->loop, channel_reap, cs->v[i]);
		channel_free(cs->v[i]);
	}
	channels_drop_global(cs);
	carrier_set_user(cs->carrier, &none);
	free(cs->v);
	free(cs);
}

/* ---- one channel ---- */

int channel_send(struct channel *c, uint8_t type, const struct buf *rest)
{
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);
	int rc;

	buf_put_u32(&b, c->remote_id);
	if (rest)
		buf_put(&b, rest->data, rest->size);
	rc = transport_send(c->cs->transport, type, &b);
	buf_free(&b);
	carrier_kick(c->cs->carrier);
	return rc;
}

static void channel_halve_for_tty(struct channel *c)
{
	if (!c->interactive)
		return;
	c->window.size /= 2;
	if (c->window.max_packet >= PACKET_OTHERS)
		c->window.max_packet = PACKET_OTHERS / 2;
}

/* Client: what the confirmation will say is known before it comes, or at least the number. That a channel exists once its open
 * was taken, and that messages are taken in order, is what makes it safe. */
static void channel_go_ahead(struct channel *c)
{
	if (c->cs->opt.server || !c->session)
		return;
	if (c->cs->opt.echo_window != 0 && c->id < CHANNEL_ECHO_NUMBERS) {
		c->ahead = AHEAD_ALL;
		c->remote_id = c->id;
		c->remote_left = c->cs->opt.echo_window;
		c->remote_max_packet = CHANNEL_ECHO_PACKET;
	} else if (c->cs->opt.first_is_zero && c->first) {
		c->ahead = AHEAD_REQUESTS;
		c->remote_id = 0;
	}
}

bool channel_is_ahead(const struct channel *c)
{
	return c->state == CHANNEL_OPENING && c->ahead == AHEAD_ALL;
}

bool channel_may_ask(const struct channel *c)
{
	return c->state == CHANNEL_OPEN || (c->state == CHANNEL_OPENING && c->ahead != AHEAD_NOTHING);
}

bool channel_may_send(const struct channel *c)
{
	return c->state == CHANNEL_OPEN || channel_is_ahead(c);
}

uint32_t channel_echo_window(const char *value)
{
	uint64_t window;

	return value && str_to_u64(value, CHANNEL_ECHO_PACKET, UINT32_MAX, &window) == 0 ? (uint32_t)window : 0;
}

struct channel *channel_open(struct channels *cs, const char *type, const struct buf *extra, bool interactive,
	const struct channel_user *u, struct err *e)
{
	struct channel *c = cs->ended ? NULL : channel_make(cs);
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);
	int rc;

	if (!c) {
		err_set(e, ERR_MEMORY, "too many channels");
		return NULL;
	}
	c->user = *u;
	c->interactive = interactive;
	c->session = strcmp(type, "session") == 0;
	channel_halve_for_tty(c);
	c->window.left = c->window.size;         /* announced in the open itself */
	c->window_open = true;
	channel_go_ahead(c);
	buf_put_cstring(&b, type);
	buf_put_u32(&b, c->id);
	buf_put_u32(&b, c->window.size);
	buf_put_u32(&b, c->window.max_packet);
	if (extra)
		buf_put(&b, extra->data, extra->size);
	rc = transport_send(cs->transport, MSG_CHANNEL_OPEN, &b);
	buf_free(&b);
	if (rc < 0) {
		err_set(e, rc, "%s", err_text(transport_err(cs->transport)));
		channel_free(c);
		return NULL;
	}
	carrier_kick(cs->carrier);
	return c;
}

void channel_set_interactive(struct channel *c, bool on)
{
	c->interactive = on;
}

uint32_t channel_id(const struct channel *c) { return c->id; }
bool channel_is_open(const struct channel *c) { return c->state == CHANNEL_OPEN && !c->sent_close && !c->got_close; }
bool channel_sources_done(const struct channel *c) { return pump_sources_done(c) && c->out.size == 0 && c->err_out.size == 0; }

/* The window of an accepted channel opens when somebody takes its data. */
void channel_open_window(struct channel *c)
{
	c->window_open = true;
	if (c->state == CHANNEL_OPEN)
		channel_grant(c);
}

/* Does somebody use a terminal beside this channel? */
static bool channel_has_typist(const struct channel *c)
{
	uint64_t typed_ms = c->cs->typed_ms;

	return !c->interactive && typed_ms != 0 && clock_mono_ms() - typed_ms < TYPING_MS;
}

void channel_grant(struct channel *c)
{
	struct buf b = BUF_INIT(16);
	uint32_t grant;

	if (!c->window_open || c->state != CHANNEL_OPEN || c->got_eof || c->got_close || c->sent_close)
		return;
	/* Recomputed after the exchange rather than queued. */
	if (transport_exchanging(c->cs->transport)) {
		c->grant_late = true;
		return;
	}
	c->grant_late = false;
	c->window.typing = channel_has_typist(c);
	grant = window_grant(&c->window);
	if (grant == 0)
		return;
	buf_put_u32(&b, grant);
	(void)channel_send(c, MSG_CHANNEL_WINDOW_ADJUST, &b);
	buf_free(&b);
}

void channel_consumed(struct channel *c, size_t n)
{
	struct net_rtt rtt;
	uint32_t grown;

	if (n == 0)
		return;
	rtt = carrier_rtt(c->cs->carrier);
	if (c->cs->growth_left < c->window.size)
		c->window.fixed = true;
	grown = window_consumed(&c->window, (uint32_t)n, clock_mono_us(),
		&(struct window_path){ .least_rtt_us = rtt.least_us, .rtt_us = rtt.now_us });
	if (grown) {
		c->cs->growth_left -= grown < c->cs->growth_left ? grown : c->cs->growth_left;
		log_debug2("channel %u: Window growth to %u by %u bytes", c->id, c->window.size, grown);
	}
	channel_grant(c);
}

void channel_advance_close(struct channel *c)
{
	bool quiet = c->out.size == 0 && c->err_out.size == 0;

	if (!channel_may_send(c) || c->sent_close)
		return;
	if (c->want_eof && quiet && !c->sent_eof && !c->got_close) {
		c->sent_eof = true;
		(void)channel_send(c, MSG_CHANNEL_EOF, NULL);
	}
	if (c->state != CHANNEL_OPEN)
		return;
	if (c->got_close)
		pump_stop_source(c);
	if ((c->want_close && (quiet || c->got_close)) || (c->got_close && !c->hold_close)) {
		c->sent_close = true;
		pump_stop_source(c);
		(void)channel_send(c, MSG_CHANNEL_CLOSE, NULL);
		channel_maybe_free(c);
	}
}

void channel_send_eof(struct channel *c)
{
	c->want_eof = true;
	channel_advance_close(c);
}

void channel_close(struct channel *c)
{
	c->want_eof = c->want_close = true;
	channel_advance_close(c);
}

void channel_hold_close(struct channel *c, bool on)
{
	c->hold_close = on;
	channel_advance_close(c);
}

void channel_stop_source(struct channel *c)
{
	pump_stop_source(c);
}

void channel_write(struct channel *c, const void *p, size_t n)
{
	if (c->want_eof || c->state == CHANNEL_DEAD)
		return;
	byte_queue_add(&c->out, p, n);
	channel_run(c);
}

void channel_write_stderr(struct channel *c, const void *p, size_t n)
{
	if (c->want_eof || c->state == CHANNEL_DEAD)
		return;
	byte_queue_add(&c->err_out, p, n);
	channel_run(c);
}
