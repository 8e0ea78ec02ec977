/* The SFTP client engine: framing and the replies. Requests: sftp_client_request.c.
 *
 * What the server sends is checked against what was asked: a reply to nothing, of the wrong kind, or with more data than
 * was asked for, ends the session. Memory is bounded: a message is assembled up to SFTP_MESSAGE_MAX, file data never is. */
#include "xfer/sftp_client_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "io/link.h"
#include "io/loop.h"

enum { TURN_US = 5000, NOISE_MAX = 400, OUT_LIMIT = 64 * 1024 * 1024, ASK_AGAIN_MAX = 1000 };

static void pump(void *ctx);

/* ---- the end */

static void answer_all_lost(struct sftp_client *c)
{
	struct sftp_result lost = { .status = SFTP_CONNECTION_LOST };

	/* Who is answered may ask again; that is answered in its turn. */
	for (uint32_t i = 0; i < c->request_count; i++) {
		struct client_request *q = &c->request[i], copy;

		if (!q->used)
			continue;
		copy = *q;
		client_request_release(c, q);
		if (copy.fn != NULL)
			copy.fn(copy.ctx, &lost);
	}
}

static void tell_closed(void *ctx)
{
	struct sftp_client *c = ctx;

	if (!c->closed_told && c->events.lost != NULL)
		c->events.lost(c->events.ctx);
	answer_all_lost(c);
	if (c->outstanding > 0)
		loop_defer(c->loop, tell_closed, c);
	else if (!c->closed_told) {
		c->closed_told = true;
		c->events.closed(c->events.ctx, &c->error);
	}
}

void client_answer_lost_soon(struct sftp_client *c)
{
	if (!c->freeing)
		loop_defer(c->loop, tell_closed, c);
}

void sftp_client_fail(struct sftp_client *c, const struct err *e)
{
	if (c->dead)
		return;
	c->dead = true;
	c->error = *e;
	loop_defer(c->loop, tell_closed, c);
}

void client_fail(struct sftp_client *c, int code, const char *fmt, ...)
{
	struct err e = { 0 };
	va_list ap;

	va_start(ap, fmt);
	err_vset(&e, code, fmt, ap);
	va_end(ap);
	sftp_client_fail(c, &e);
}

/* ---- sending */

bool client_flush(struct sftp_client *c)
{
	size_t end = c->out.size < c->out_free ? c->out.size : c->out_free;

	while (!c->dead && c->out_sent < end) {
		struct iovec iov[LINK_IOV];
		int count = 0;
		size_t lent = link_lend(c->link, end - c->out_sent, iov, &count), used = 0;

		if (lent == 0) {
			if (c->out_sent > c->out.size / 2) {
				buf_consume(&c->out, c->out_sent);
				c->out_free -= c->out_free != SIZE_MAX ? c->out_sent : 0;
				c->out_sent = 0;
			}
			return false;
		}
		for (int i = 0; i < count && c->out_sent + used < end; i++) {
			size_t n = end - c->out_sent - used;

			if (n > iov[i].iov_len)
				n = iov[i].iov_len;
			memcpy(iov[i].iov_base, c->out.data + c->out_sent + used, n);
			used += n;
		}
		if (link_commit(c->link, used) < 0) {
			client_fail(c, ERR_CLOSED, "Connection closed");
			return false;
		}
		c->out_sent += used;
	}
	if (c->out_sent < c->out.size)
		return false;
	if (c->out_free != SIZE_MAX)
		c->out_free -= c->out_sent;
	buf_reset(&c->out);
	c->out_sent = 0;
	return !c->dead;
}

static void flush_now(void *ctx)
{
	struct sftp_client *c = ctx;

	c->flush_wanted = false;
	(void)client_flush(c);
}

void client_flush_soon(struct sftp_client *c)
{
	if (!buf_ok(&c->out))
		client_fail(c, ERR_MEMORY, "too many requests wait to be sent");
	if (c->flush_wanted || c->in_pump)       /* the pump flushes at its end */
		return;
	c->flush_wanted = true;
	loop_defer(c->loop, flush_now, c);
}

/* ---- replies */

static void answer(struct sftp_client *c, struct client_request *q, const struct sftp_result *r)
{
	struct client_request copy = *q;

	client_request_release(c, q);
	if (copy.fn != NULL)
		copy.fn(copy.ctx, r);
}

/* Text before the hello is what a start-up file of the login shell printed. */
static void fail_with_noise(struct sftp_client *c)
{
	uint8_t noise[NOISE_MAX];
	const uint8_t *p;
	size_t n = c->in.size < sizeof noise ? c->in.size : sizeof noise, more = link_peek(c->link, &p);
	char *shown;

	memcpy(noise, c->in.data, n);
	if (more > sizeof noise - n)
		more = sizeof noise - n;
	if (more > 0)
		memcpy(noise + n, p, more);
	n += more;
	while (n > 0 && (noise[n - 1] == '\n' || noise[n - 1] == '\r'))
		n--;
	shown = str_escape_terminal(noise, n);
	client_fail(c, ERR_PEER, "the server sent text instead of SFTP: \"%s\"; a start-up file of the login shell there "
		"must print nothing when there is no terminal", shown);
	free(shown);
}

static void take_version(struct sftp_client *c, struct reader *r)
{
	uint32_t version = reader_u32(r);

	while (reader_ok(r) && reader_left(r) > 0) {
		struct view name = reader_string(r), value = reader_string(r);
		enum sftp_extension x = sftp_extension_find(name);

		if (reader_ok(r) && x < SFTP_EXT_COUNT && view_is(value, sftp_extensions[x].version))
			c->extensions |= 1u << x;
	}
	if (!reader_ok(r)) {
		client_fail(c, ERR_PEER, "malformed hello of the SFTP server");
		return;
	}
	if (version != SFTP_VERSION) {
		client_fail(c, ERR_PEER, "the server speaks SFTP version %u, version 3 is needed", version);
		return;
	}
	c->ready = true;
	c->out_free = SIZE_MAX;
	if (!c->early && sftp_client_has(c, SFTP_EXT_LIMITS))
		client_ask_limits(c);
	c->events.ready(c->events.ctx);
}

static void take_content(struct sftp_client *c, struct client_request *q, uint8_t type, struct reader *r)
{
	struct sftp_result result = { .status = SFTP_OK };

	switch (type) {
	case SFTP_STATUS:
		result.status = reader_u32(r);
		/* Servers before version 3 send no words, and some never do. */
		if (reader_ok(r) && reader_left(r) > 0)
			result.message = reader_string(r);
		if (reader_ok(r) && result.status == SFTP_OK && q->expect != SFTP_STATUS)
			reader_fail(r);
		break;
	case SFTP_HANDLE:
		result.handle = reader_string(r);
		if (result.handle.n > SFTP_HANDLE_MAX)
			reader_fail(r);
		break;
	case SFTP_ATTRS:
		result.attrs = sftp_attrs_get(r);
		break;
	case SFTP_NAME:
		result.count = reader_u32(r);
		result.names = *r;
		break;
	default:
		result.body = reader_rest(r);
		break;
	}
	if (!reader_ok(r)) {
		client_fail(c, ERR_PEER, "malformed reply of the SFTP server");
		return;
	}
	if (type == SFTP_STATUS && q->data == NULL && q->expect == SFTP_STATUS)
		result.bytes = q->length;
	answer(c, q, &result);
}

/* c->in holds a whole message that is not DATA. */
static void take_message(struct sftp_client *c)
{
	struct reader r;
	struct client_request *q;
	uint8_t type;
	uint32_t id;

	reader_init(&r, c->in.data + 4, c->in.size - 4);
	type = reader_u8(&r);
	if (!c->ready) {                         /* next_message lets nothing else through */
		take_version(c, &r);
		return;
	}
	id = reader_u32(&r);
	q = reader_ok(&r) ? client_request_find(c, id) : NULL;
	if (q == NULL)
		client_fail(c, ERR_PEER, "the SFTP server answered what was not asked (type %u)", type);
	else if (type != SFTP_STATUS && type != q->expect)
		client_fail(c, ERR_PEER, "the SFTP server answered with message type %u, expected %u", type, q->expect);
	else
		take_content(c, q, type, &r);
}

static bool take(struct sftp_client *c, size_t n)
{
	while (c->in.size < n) {
		const uint8_t *p;
		size_t have = link_peek(c->link, &p), want = n - c->in.size;

		if (have == 0)
			return false;
		if (have > want)
			have = want;
		buf_put(&c->in, p, have);
		link_consume(c->link, have);
		if (!buf_ok(&c->in)) {
			client_fail(c, ERR_MEMORY, "out of memory");
			return false;
		}
	}
	return true;
}

static bool take_data_head(struct sftp_client *c, uint32_t length)
{
	struct client_request *q;
	uint32_t id, n;

	if (length < SFTP_DATA_HEAD - 4) {
		client_fail(c, ERR_PEER, "malformed reply of the SFTP server");
		return false;
	}
	if (!take(c, SFTP_DATA_HEAD))
		return false;
	id = wire_load_u32(c->in.data + 5);
	n = wire_load_u32(c->in.data + 9);
	buf_reset(&c->in);
	q = c->ready ? client_request_find(c, id) : NULL;
	if (q == NULL || q->expect != SFTP_DATA) {
		client_fail(c, ERR_PEER, "the SFTP server sent data that was not asked for");
		return false;
	}
	if (n > q->length || n > length - (SFTP_DATA_HEAD - 4)) {
		client_fail(c, ERR_PEER, "the SFTP server sent %u bytes of data, asked for were %u", n, q->length);
		return false;
	}
	c->data = (struct client_data){ .active = true, .index = (uint32_t)(q - c->request), .left = n, .total = n,
		.behind = length - (SFTP_DATA_HEAD - 4) - n };
	return true;
}

/* False: no more input. */
static bool data_step(struct sftp_client *c)
{
	struct client_data *d = &c->data;
	struct client_request *q = &c->request[d->index];
	struct sftp_result result = { .status = SFTP_OK, .bytes = d->total };
	const uint8_t *p;
	size_t n;

	if (d->left > 0) {
		n = link_peek(c->link, &p);
		if (n == 0)
			return false;
		if (n > d->left)
			n = d->left;
		q->data(q->ctx, q->offset + (d->total - d->left), p, n);
		link_consume(c->link, n);
		d->left -= (uint32_t)n;
		return true;
	}
	while (d->behind > 0) {
		n = link_peek(c->link, &p);
		if (n == 0)
			return false;
		if (n > d->behind)
			n = d->behind;
		link_consume(c->link, n);
		d->behind -= (uint32_t)n;
	}
	d->active = false;
	if (d->total == 0 && q->length > 0)
		result.status = SFTP_EOF;        /* a server that should have said so, or would be asked for ever */
	answer(c, q, &result);
	return true;
}

static bool next_message(struct sftp_client *c)
{
	uint32_t length;

	if (!take(c, 5))
		return false;
	length = wire_load_u32(c->in.data);
	if (!c->ready && (length > SFTP_MESSAGE_MAX || length < 5 || c->in.data[4] != SFTP_VERSION_REPLY)) {
		fail_with_noise(c);
		return false;
	}
	if (length > SFTP_MESSAGE_MAX || length < 5) {
		client_fail(c, ERR_PEER, "the SFTP server sent a message of %u bytes", length);
		return false;
	}
	if (c->in.data[4] == SFTP_DATA)
		return take_data_head(c, length);
	if (!take(c, 4 + (size_t)length))
		return false;
	take_message(c);
	buf_reset(&c->in);
	return !c->dead;
}

static void pump(void *ctx)
{
	struct sftp_client *c = ctx;
	uint64_t until = clock_mono_us() + TURN_US;
	bool input = true;

	c->in_pump = true;
	while (!c->dead && input) {
		if (clock_mono_us() > until) {
			loop_defer(c->loop, pump, c);
			break;
		}
		input = c->data.active ? data_step(c) : next_message(c);
	}
	c->in_pump = false;
	(void)client_flush(c);
	if (!c->dead && !input && link_at_end(c->link))
		client_fail(c, ERR_CLOSED, "Connection closed");
}

/* ---- from the link */

static void on_writable(void *ctx)
{
	struct sftp_client *c = ctx;

	if (client_flush(c) && c->ready && c->events.writable != NULL)
		c->events.writable(c->events.ctx);
}

static void on_closed(void *ctx, const struct err *e)
{
	struct sftp_client *c = ctx;

	c->link = NULL;                          /* the carrier frees it now */
	if (e != NULL && e->code != 0 && e->code != ERR_CLOSED)
		sftp_client_fail(c, e);
	else
		client_fail(c, ERR_CLOSED, "Connection closed");
}

struct sftp_client *sftp_client_new(struct loop *l, struct link *link, bool early, const struct sftp_client_events *events)
{
	struct sftp_client *c = mem_zalloc(sizeof *c);

	c->loop = l;
	c->link = link;
	c->early = early;
	c->events = *events;
	c->in = BUF_INIT(SFTP_MESSAGE_MAX + 4);
	c->out = BUF_INIT(OUT_LIMIT);
	c->request_free = UINT32_MAX;
	c->limits = (struct sftp_limits){ .packet = SFTP_DATA_DEFAULT + 1024, .read = SFTP_DATA_DEFAULT,
		.write = SFTP_DATA_DEFAULT };
	link->user = (struct link_user){ .readable = pump, .writable = on_writable, .closed = on_closed, .ctx = c };
	buf_put_u32(&c->out, 5);
	buf_put_u8(&c->out, SFTP_INIT);
	buf_put_u32(&c->out, SFTP_VERSION);
	c->out_free = early ? SIZE_MAX : c->out.size;
	if (early)
		client_ask_limits(c);
	client_flush_soon(c);
	loop_defer(l, pump, c);                  /* input may be there already */
	return c;
}

size_t sftp_client_stop(struct sftp_client *c)
{
	c->freeing = c->dead = true;
	answer_all_lost(c);
	return c->outstanding;
}

void sftp_client_free(struct sftp_client *c)
{
	if (c == NULL)
		return;
	for (int i = 0; i < ASK_AGAIN_MAX && sftp_client_stop(c) > 0; i++)
		;
	if (c->link != NULL)
		c->link->user = (struct link_user){ 0 };
	loop_defer_cancel(c->loop, pump, c);
	loop_defer_cancel(c->loop, flush_now, c);
	loop_defer_cancel(c->loop, tell_closed, c);
	buf_free(&c->in);
	buf_free(&c->out);
	free(c->request);
	free(c);
}

bool sftp_client_has(const struct sftp_client *c, enum sftp_extension x)
{
	return c->extensions >> x & 1;
}

const struct sftp_limits *sftp_client_limits(const struct sftp_client *c) { return &c->limits; }
size_t sftp_client_outstanding(const struct sftp_client *c) { return c->outstanding; }
size_t sftp_client_backlog(const struct sftp_client *c) { return c->out.size - c->out_sent; }
struct link *sftp_client_link(const struct sftp_client *c) { return c->link; }
size_t sftp_client_window(const struct sftp_client *c) { return c->link != NULL ? link_window(c->link) : 0; }
uint32_t sftp_client_rtt_us(const struct sftp_client *c) { return c->link != NULL ? link_rtt_us(c->link) : 0; }

const char *sftp_result_text(const struct sftp_result *r, char *dst, size_t size)
{
	/* The words of statuses that say it all would only differ in spelling from server to server. */
	static const char *const empty_words[] = { "Failure", "failure", "SSH_FX_FAILURE", "Error", "error" };
	char *shown;
	bool useful = r->message.n > 0 && r->status >= SFTP_FAILURE;

	for (size_t i = 0; useful && i < MEM_COUNT(empty_words); i++)
		if (view_is(r->message, empty_words[i]))
			useful = false;
	if (!useful) {
		(void)str_copy(dst, size, sftp_status_text(r->status));
		return dst;
	}
	/* One line, so that none of the server's looks like one of ours. */
	shown = str_escape_log(r->message.p, r->message.n, 256);
	(void)str_copy(dst, size, shown);
	free(shown);
	return dst;
}
