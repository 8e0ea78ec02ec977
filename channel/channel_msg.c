/* channel/channel_msg.c: messages of the connection protocol as they come in. Layer: channel. RFC 4254 §4 and §5. */
#include "channel/channel_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "transport.h"
#include "wire/messages.h"

enum { TYPE_NAME_MAX = 128, REMOTE_PACKET_LEAST = 256, REMOTE_PACKET_MOST = 255 * 1024, EXTENDED_STDERR = 1 };

/* ---- opening ---- */

static int channels_refuse(struct channels *cs, uint32_t remote_id, uint32_t reason, const char *text)
{
	struct buf b = BUF_INIT(4096);
	int rc;

	buf_put_u32(&b, remote_id);
	buf_put_u32(&b, reason);
	buf_put_cstring(&b, text);
	buf_put_cstring(&b, "");
	rc = transport_send(cs->transport, MSG_CHANNEL_OPEN_FAILURE, &b);
	buf_free(&b);
	carrier_kick(cs->carrier);
	return rc;
}

static int channels_confirm(struct channel *c)
{
	struct buf b = BUF_INIT(64);
	int rc;

	/* A window of 0 until something takes the data: attach or link opened it already if it is otherwise. */
	if (c->window_open)
		c->window.left = c->window.size;
	c->state = CHANNEL_OPEN;
	buf_put_u32(&b, c->id);
	buf_put_u32(&b, c->window.left);
	buf_put_u32(&b, c->window.max_packet);
	rc = channel_send(c, MSG_CHANNEL_OPEN_CONFIRMATION, &b);
	buf_free(&b);
	return rc;
}

static void channel_set_remote(struct channel *c, uint32_t id, uint32_t window, uint32_t max_packet)
{
	c->remote_id = id;
	c->remote_left = window;
	c->remote_max_packet = max_packet > REMOTE_PACKET_MOST ? REMOTE_PACKET_MOST : max_packet;
}

/* channel-echo@wirespeed: a session's number is the client's choice. */
static bool keeps_number(const struct channels *cs, struct view type, uint32_t id)
{
	return cs->opt.server && cs->opt.echo_window != 0 && id < CHANNEL_ECHO_NUMBERS && view_is(type, "session");
}

static bool number_is_refused(const struct channels *cs, uint32_t id)
{
	return id < CHANNEL_ECHO_NUMBERS && (cs->refused[id / 8] >> id % 8 & 1) != 0;
}

static void set_number_refused(struct channels *cs, uint32_t id, bool refused)
{
	uint8_t bit = (uint8_t)(1u << id % 8);

	cs->refused[id / 8] = (uint8_t)(refused ? cs->refused[id / 8] | bit : cs->refused[id / 8] & ~bit);
}

/* Its first window was stated before it was opened. */
static struct channel *make_with_number(struct channels *cs, uint32_t id, bool *taken)
{
	struct channel *c = channel_make_as(cs, id, taken);

	if (!c)
		return NULL;
	if (c->window.size < cs->opt.echo_window)
		c->window.size = cs->opt.echo_window;
	if (c->window.cap < c->window.size)
		c->window.cap = c->window.size;
	c->window_open = true;
	return c;
}

static int take_open(struct channels *cs, struct reader *r)
{
	struct view type = reader_string(r);
	uint32_t id = reader_u32(r), window = reader_u32(r), max_packet = reader_u32(r), reason;
	struct channel_answer answer = { 0 };
	bool keep = reader_ok(r) && keeps_number(cs, type, id), taken = false;
	struct channel *c;

	if (!reader_ok(r) || type.n > TYPE_NAME_MAX)
		return channel_fail(cs, "malformed channel open");
	/* What the client has sent behind the open is passed over until it opens the number again. */
	if (keep)
		set_number_refused(cs, id, true);
	if (max_packet < REMOTE_PACKET_LEAST)
		return channels_refuse(cs, id, OPEN_CONNECT_FAILED, "maximum packet size too small");
	c = !cs->opt.user.open ? NULL : keep ? make_with_number(cs, id, &taken) : channel_make(cs);
	if (taken)
		return channel_fail(cs, "channel %u opened twice", id);
	if (!c)
		return channels_refuse(cs, id, OPEN_RESOURCE_SHORTAGE, "no more channels");
	channel_set_remote(c, id, window, max_packet);
	c->session = view_is(type, "session");
	reason = cs->opt.user.open(cs->opt.user.ctx, c, type, r, &answer);
	if (reason != 0) {
		channel_discard(c);
		return channels_refuse(cs, id, reason, answer.text);
	}
	if (keep)
		set_number_refused(cs, id, false);
	c->user = answer.user;
	return channels_confirm(c);
}

/* What was sent ahead counts against the window that the server says it opened with. */
static int confirm_all_ahead(struct channel *c, uint32_t id, uint32_t *window)
{
	uint64_t sent = c->cs->opt.echo_window - c->remote_left;

	if (id != c->id)
		return channel_fail(c->cs, "channel %u did not keep its number", c->id);
	if (*window < sent)
		return channel_fail(c->cs, "channel %u: its window is smaller than was stated", c->id);
	*window -= (uint32_t)sent;
	return 0;
}

static int confirm_ahead(struct channel *c, uint32_t id, uint32_t *window)
{
	enum channel_ahead ahead = c->ahead;

	c->ahead = AHEAD_NOTHING;
	channel_tell_first(c, id == 0 ? CHANNEL_FIRST_ZERO : CHANNEL_FIRST_OTHER);
	if (ahead == AHEAD_ALL)
		return confirm_all_ahead(c, id, window);
	/* Who knows what became of the requests? Sent once more, a command might run twice. */
	if (ahead == AHEAD_REQUESTS && id != c->remote_id)
		return channel_fail(c->cs, "the server numbers its channels in another way than last time, so what was asked of it "
			"went astray: please try again");
	return 0;
}

static int take_open_confirmation(struct channels *cs, struct channel *c, struct reader *r)
{
	uint32_t id = reader_u32(r), window = reader_u32(r), max_packet = reader_u32(r);

	if (!reader_ok(r))
		return channel_fail(cs, "malformed channel confirmation");
	if (c->state != CHANNEL_OPENING)
		return channel_fail(cs, "channel %u confirmed out of turn", c->id);
	if (confirm_ahead(c, id, &window) < 0)
		return ERR_PEER;
	channel_set_remote(c, id, window, max_packet);
	if (c->remote_max_packet < REMOTE_PACKET_LEAST)
		return channel_fail(cs, "channel %u: maximum packet size too small", c->id);
	c->state = CHANNEL_OPEN;
	channel_flush_early(c);
	if (c->user.opened)
		c->user.opened(c->user.ctx, c, r);
	channel_run(c);
	channel_advance_close(c);
	return 0;
}

static int take_open_failure(struct channels *cs, struct channel *c, struct reader *r)
{
	uint32_t reason = reader_u32(r);
	struct view text = reader_string(r);
	char *shown;

	if (!reader_ok(r))
		return channel_fail(cs, "malformed channel open failure");
	if (c->state != CHANNEL_OPENING)
		return channel_fail(cs, "channel %u refused out of turn", c->id);
	shown = str_escape_log(text.p, text.n, 512);
	channel_refused(c, reason, shown);
	free(shown);
	return 0;
}

/* ---- data ---- */

static void write_all(int fd, const void *p, size_t n)
{
	const uint8_t *from = p;
	ssize_t w;

	for (; n > 0; n -= (size_t)w, from += w) {
		w = write(fd, from, n);
		if (w < 0 && errno == EINTR)
			w = 0;
		if (w < 0) {
			log_debug("stderr could not be written");
			return;
		}
	}
}

/* Who has a link has no terminal at the far end, so nothing there has business steering the one here. */
static void show_stderr(int fd, struct view data)
{
	char *shown;

	if (fd < 0)
		return;
	if (!isatty(fd)) {
		write_all(fd, data.p, data.n);
		return;
	}
	shown = str_escape_terminal(data.p, data.n);
	write_all(fd, shown, strlen(shown));
	free(shown);
}

static int take_bytes(struct channel *c, bool extended, struct view data)
{
	struct byte_queue *q = extended ? &c->err_in : &c->in;
	size_t took;

	if (data.n > c->window.max_packet) {
		log_info("channel %u: packet of %zu bytes is over the maximum of %u: dropped", c->id, data.n,
			c->window.max_packet);
		return 0;
	}
	if (!window_received(&c->window, (uint32_t)data.n))
		return channel_fail(c->cs, "channel %u: peer sent more than its window", c->id);
	channel_moved(c);
	if (c->sent_close || (c->got_eof && !extended)) {
		channel_consumed(c, data.n);
		return 0;
	}
	if (c->pump) {
		took = pump_take(c, extended, data.p, data.n);
		byte_queue_add(q, data.p + took, data.n - took);
		channel_consumed(c, took);
		return 0;
	}
	if (c->has_link && !extended) {
		c->now = data;
		channel_link_input(c);
		return 0;
	}
	if (c->has_link) {
		show_stderr(c->link_stderr, data);
		channel_consumed(c, data.n);
		return 0;
	}
	byte_queue_add(q, data.p, data.n);
	return 0;
}

static int take_data(struct channels *cs, struct channel *c, struct reader *r)
{
	struct view data = reader_string(r);

	if (reader_end(r, NULL, "data") < 0)
		return channel_fail(cs, "malformed channel data");
	return take_bytes(c, false, data);
}

static int take_extended_data(struct channels *cs, struct channel *c, struct reader *r)
{
	uint32_t code = reader_u32(r);
	struct view data = reader_string(r);

	if (reader_end(r, NULL, "data") < 0)
		return channel_fail(cs, "malformed extended data");
	if (code != EXTENDED_STDERR) {
		if (!window_received(&c->window, (uint32_t)data.n))
			return channel_fail(cs, "channel %u: peer sent more than its window", c->id);
		channel_consumed(c, data.n);
		return 0;
	}
	return take_bytes(c, true, data);
}

static int take_window_adjust(struct channels *cs, struct channel *c, struct reader *r)
{
	uint32_t n = reader_u32(r);

	if (reader_end(r, NULL, "window adjust") < 0)
		return channel_fail(cs, "malformed window adjust");
	/* RFC 4254 §5.2: a window never exceeds 2^32-1. */
	if (c->remote_left + n > UINT32_MAX)
		return channel_fail(cs, "channel %u: window overflow", c->id);
	c->remote_left += n;
	channel_run(c);
	return 0;
}

/* ---- the end ---- */

static void channel_take_eof(struct channel *c)
{
	if (c->got_eof)
		return;
	c->got_eof = true;
	if (c->pump)
		pump_peer_eof(c);
	else if (c->has_link)
		channel_link_input(c);
	if (c->user.eof)
		c->user.eof(c->user.ctx, c);
}

static int take_eof(struct channels *cs, struct channel *c, struct reader *r)
{
	(void)cs;
	(void)r;
	channel_take_eof(c);
	return 0;
}

static int take_close(struct channels *cs, struct channel *c, struct reader *r)
{
	(void)r;
	if (c->got_close)
		return channel_fail(cs, "channel %u closed twice", c->id);
	c->got_close = true;
	channel_take_eof(c);
	channel_advance_close(c);
	channel_maybe_free(c);
	return 0;
}

static int take_request(struct channels *cs, struct channel *c, struct reader *r)
{
	return channels_take_request(cs, c, r);
}

static int take_success(struct channels *cs, struct channel *c, struct reader *r)
{
	(void)cs;
	(void)r;
	return channels_take_reply(c, true);
}

static int take_failure(struct channels *cs, struct channel *c, struct reader *r)
{
	(void)cs;
	(void)r;
	return channels_take_reply(c, false);
}

/* Messages that name a channel of ours. opening: legal before the confirmation. */
static const struct {
	uint8_t type;
	bool opening, open;
	int (*take)(struct channels *cs, struct channel *c, struct reader *r);
} messages[] = {
	{ MSG_CHANNEL_OPEN_CONFIRMATION, true, false, take_open_confirmation },
	{ MSG_CHANNEL_OPEN_FAILURE, true, false, take_open_failure },
	{ MSG_CHANNEL_WINDOW_ADJUST, false, true, take_window_adjust },
	{ MSG_CHANNEL_DATA, false, true, take_data },
	{ MSG_CHANNEL_EXTENDED_DATA, false, true, take_extended_data },
	{ MSG_CHANNEL_EOF, false, true, take_eof },
	{ MSG_CHANNEL_CLOSE, false, true, take_close },
	{ MSG_CHANNEL_REQUEST, false, true, take_request },
	{ MSG_CHANNEL_SUCCESS, false, true, take_success },
	{ MSG_CHANNEL_FAILURE, false, true, take_failure },
};

static int take_channel_message(struct channels *cs, const struct message *m, struct reader *r)
{
	for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
		struct channel *c;
		uint32_t id;

		if (messages[i].type != m->type)
			continue;
		id = reader_u32(r);
		if (reader_ok(r) && number_is_refused(cs, id))
			return 0;
		c = reader_ok(r) ? channels_find(cs, id) : NULL;
		/* A peer whose reader runs beside what closes its channels (paramiko) gives room once more after its CLOSE:
		 * that harms nobody. */
		if (m->type == MSG_CHANNEL_WINDOW_ADJUST && reader_ok(r) && (!c || c->got_close))
			return 0;
		if (!c)
			return channel_fail(cs, "message %u for a channel that does not exist", m->type);
		/* Freed at the end of this turn: the peer cannot know yet, unless it has sent CLOSE itself. */
		if (c->state == CHANNEL_DEAD)
			return 0;
		if ((c->state == CHANNEL_OPENING && !messages[i].opening) || c->got_close)
			return channel_fail(cs, "message %u out of turn on channel %u", m->type, id);
		return messages[i].take(cs, c, r);
	}
	return transport_unimplemented(cs->transport, m);
}

int channels_message(void *ctx, const struct message *m)
{
	struct channels *cs = ctx;
	struct reader r;

	if (cs->ended)
		return 0;
	reader_init(&r, m->body.p, m->body.n);
	switch (m->type) {
	case MSG_GLOBAL_REQUEST:
		return channels_take_global_request(cs, &r);
	case MSG_REQUEST_SUCCESS:
		return channels_take_global_reply(cs, true, &r);
	case MSG_REQUEST_FAILURE:
		return channels_take_global_reply(cs, false, &r);
	case MSG_CHANNEL_OPEN:
		return take_open(cs, &r);
	default:
		return take_channel_message(cs, m, &r);
	}
}
