/* channel/channel_request.c: requests on channels and on the connection, and who waits for their replies. Layer: channel.
 * RFC 4254 §4, §5.4: replies carry no number, they come in the order of the requests. */
#include "channel/channel_private.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "transport.h"
#include "wire/messages.h"

void reply_queue_add(struct reply_queue *q, const struct reply_wait *w)
{
	struct reply_wait *copy = mem_dup(w, sizeof *w);

	copy->next = NULL;
	*q->last = copy;
	q->last = &copy->next;
}

bool reply_queue_take(struct reply_queue *q, struct reply_wait *out)
{
	struct reply_wait *w = q->first;

	if (!w)
		return false;
	*out = *w;
	q->first = w->next;
	if (!q->first)
		q->last = &q->first;
	free(w);
	return true;
}

static int channel_request_now(struct channel *c, const char *name, const struct buf *body,
	void (*reply)(void *ctx, struct channel *c, bool ok), void *ctx)
{
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);
	struct reply_wait w = { .channel_reply = reply, .ctx = ctx };
	int rc;

	buf_put_cstring(&b, name);
	buf_put_bool(&b, reply != NULL);
	if (body)
		buf_put(&b, body->data, body->size);
	rc = buf_ok(&b) ? channel_send(c, MSG_CHANNEL_REQUEST, &b) : ERR_MEMORY;
	buf_free(&b);
	if (rc == 0 && reply)
		reply_queue_add(&c->replies, &w);
	return rc;
}

static void channel_request_early(struct channel *c, const char *name, const struct buf *body,
	void (*reply)(void *ctx, struct channel *c, bool ok), void *ctx)
{
	struct early_request *r = mem_zalloc(sizeof *r);

	r->name = mem_strdup(name);
	r->body = BUF_INIT(BUF_LIMIT_DEFAULT);
	r->has_body = body != NULL;
	if (body)
		buf_put(&r->body, body->data, body->size);
	r->reply = reply;
	r->ctx = ctx;
	*c->early_last = r;
	c->early_last = &r->next;
}

int channel_request(struct channel *c, const char *name, const struct buf *body,
	void (*reply)(void *ctx, struct channel *c, bool ok), void *ctx)
{
	if (c->state == CHANNEL_DEAD || c->sent_close || c->cs->ended)
		return ERR_CLOSED;
	if (!channel_may_ask(c)) {
		channel_request_early(c, name, body, reply, ctx);
		return 0;
	}
	return channel_request_now(c, name, body, reply, ctx);
}

static void early_request_free(struct early_request *r)
{
	buf_free(&r->body);
	free(r->name);
	free(r);
}

void channel_flush_early(struct channel *c)
{
	struct early_request *r;

	while ((r = c->early) != NULL) {
		c->early = r->next;
		if (channel_request_now(c, r->name, r->has_body ? &r->body : NULL, r->reply, r->ctx) < 0)
			log_debug("channel %u: request %s could not be sent", c->id, r->name);
		early_request_free(r);
	}
	c->early_last = &c->early;
}

/* Nobody will answer any more. */
void channel_drop_requests(struct channel *c)
{
	struct reply_wait w;
	struct early_request *r;

	while (reply_queue_take(&c->replies, &w))
		w.channel_reply(w.ctx, c, false);
	while ((r = c->early) != NULL) {
		c->early = r->next;
		if (r->reply)
			r->reply(r->ctx, c, false);
		early_request_free(r);
	}
}

int channels_take_reply(struct channel *c, bool ok)
{
	struct reply_wait w;

	if (!reply_queue_take(&c->replies, &w))
		return channel_fail(c->cs, "reply without a request on channel %u", c->id);
	w.channel_reply(w.ctx, c, ok);
	return 0;
}

/* Requests that the channel layer knows by itself. */
static bool channel_own_request(struct channel *c, struct view name)
{
	if (!view_is(name, "eow@openssh.com"))
		return false;
	pump_stop_source(c);
	byte_queue_drop(&c->out, c->out.size);
	channel_send_eof(c);
	return true;
}

int channels_take_request(struct channels *cs, struct channel *c, struct reader *r)
{
	struct view name = reader_string(r);
	bool want_reply = reader_bool(r), ok = false;

	if (!reader_ok(r))
		return channel_fail(cs, "malformed channel request");
	if (c->sent_close)
		return 0;
	if (channel_own_request(c, name))
		ok = true;
	else if (c->user.request)
		ok = c->user.request(c->user.ctx, c, name, r, want_reply);
	if (!want_reply || c->sent_close || c->state != CHANNEL_OPEN)
		return 0;
	return channel_send(c, ok ? MSG_CHANNEL_SUCCESS : MSG_CHANNEL_FAILURE, NULL);
}

int channels_global_request(struct channels *cs, const char *name, const struct buf *body,
	void (*reply)(void *ctx, bool ok, struct reader *body), void *ctx)
{
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);
	struct reply_wait w = { .global_reply = reply, .ctx = ctx };
	int rc;

	if (cs->ended)
		return ERR_CLOSED;
	/* It could be for a forward, whose listener gets a number at OpenSSH. */
	cs->begun = true;
	buf_put_cstring(&b, name);
	buf_put_bool(&b, reply != NULL);
	if (body)
		buf_put(&b, body->data, body->size);
	rc = buf_ok(&b) ? transport_send(cs->transport, MSG_GLOBAL_REQUEST, &b) : ERR_MEMORY;
	buf_free(&b);
	if (rc == 0 && reply)
		reply_queue_add(&cs->replies, &w);
	carrier_kick(cs->carrier);
	return rc;
}

int channels_take_global_request(struct channels *cs, struct reader *r)
{
	struct view name = reader_string(r);
	bool want_reply = reader_bool(r), ok = false;
	struct buf reply = BUF_INIT(BUF_LIMIT_DEFAULT);
	int rc = 0;

	if (!reader_ok(r))
		return channel_fail(cs, "malformed global request");
	if (cs->opt.user.global_request)
		ok = cs->opt.user.global_request(cs->opt.user.ctx, name, r, want_reply, &reply);
	if (want_reply && !cs->ended) {
		if (!ok)
			buf_reset(&reply);
		rc = transport_send(cs->transport, ok ? MSG_REQUEST_SUCCESS : MSG_REQUEST_FAILURE, &reply);
		carrier_kick(cs->carrier);
	}
	buf_free(&reply);
	return rc;
}

int channels_take_global_reply(struct channels *cs, bool ok, struct reader *r)
{
	struct reply_wait w;

	/* A reply that nobody waits for is no reason to lose the session. */
	if (reply_queue_take(&cs->replies, &w))
		w.global_reply(w.ctx, ok, r);
	else
		log_debug2("global reply without a request");
	return 0;
}

void channels_drop_global(struct channels *cs)
{
	struct reply_wait w;
	struct reader none;

	reader_init(&none, NULL, 0);
	while (reply_queue_take(&cs->replies, &w))
		w.global_reply(w.ctx, false, &none);
}
