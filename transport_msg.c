/* transport_msg.c: what is sent and when, and the messages of RFC 4253 §11 that need no exchange. Which message may come
 * at which moment is decided here too (transport_handle). */
#include "transport.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "transport_private.h"

enum {
	PAD_MULTIPLE = 64,
	TEXT_SHOWN = 4096,               /* bytes of the peer's text in logs */
	/* padding_length, type, and the most padding that a packet without pad_next has. */
	BODY_OVERHEAD = 1 + 1 + SEAL_PADDING_MIN + 16,
	HPN_ZLIB_BODY = 28 * 1024
};

/* ---- the end ---- */

static void emit_disconnect(struct transport *t, uint32_t reason, const char *text)
{
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);

	buf_put_u32(&b, reason);
	buf_put_cstring(&b, text);
	buf_put_cstring(&b, "");         /* language */
	packet_cancel(t->packet);
	/* Best effort: the connection is over anyway. */
	if (buf_ok(&b) && transport_emit(t, MSG_DISCONNECT, transport_view(&b), false) < 0)
		log_debug("DISCONNECT could not be sent");
	buf_free(&b);
}

int transport_fail_err(struct transport *t, uint32_t reason, const char *text)
{
	if (reason != 0 && !t->ended)
		emit_disconnect(t, reason, text);
	t->ended = true;
	return t->err.code;
}

int transport_fail(struct transport *t, int code, uint32_t reason, const char *fmt, ...)
{
	va_list ap;

	if (t->err.code != 0)
		return t->err.code;
	va_start(ap, fmt);
	err_vset(&t->err, code, fmt, ap);
	va_end(ap);
	return transport_fail_err(t, reason, err_text(&t->err));
}

int transport_fail_packet(struct transport *t)
{
	const struct err *e = packet_err(t->packet);

	if (t->err.code != 0)
		return t->err.code;
	err_set(&t->err, e->code != 0 ? e->code : ERR_MEMORY, "%s", err_text(e));
	/* As in OpenSSH: "Packet corrupt" goes out unless a tag or an encrypt-then-mac MAC was wrong. The packet layer
	 * takes nothing more, but a broken packet of the peer's does not hinder what we say. */
	return transport_fail_err(t, t->err.code == ERR_PEER ? DISCONNECT_PROTOCOL_ERROR : 0, "Packet corrupt");
}

void transport_disconnect(struct transport *t, uint32_t reason, const char *text)
{
	if (t->ended)
		return;
	emit_disconnect(t, reason, text);
	t->ended = true;
	err_set(&t->err, ERR_CLOSED, "disconnected: %s", text);
}

static int got_disconnect(struct transport *t, const struct message *m)
{
	struct reader r;
	struct view text;

	reader_init(&r, m->body.p, m->body.n);
	t->disconnect_reason = reader_u32(&r);
	text = reader_string(&r);        /* a language may follow, or not */
	free(t->disconnect_text);
	t->disconnect_text = str_escape_log(text.p, text.n, TEXT_SHOWN);
	t->ended = true;
	return err_set(&t->err, ERR_CLOSED, "peer disconnected: %u: %s", t->disconnect_reason, t->disconnect_text);
}

/* ---- sending ---- */

bool transport_exchanging(const struct transport *t)
{
	/* From our KEXINIT to our NEWKEYS; in the first exchange from the beginning. */
	return (t->exchanges == 0 || t->x.sent_kexinit) && !t->x.sent_newkeys;
}

int transport_emit(struct transport *t, uint8_t type, struct view body, bool padded)
{
	uint8_t *at;

	/* Numbers must not come round before there are keys. */
	if (t->exchanges == 0 && packet_seq(t->packet, PACKET_OUT) == UINT32_MAX)
		return transport_fail(t, ERR_USAGE, 0, "sequence numbers ran out during the first key exchange");
	if (padded)
		packet_pad_next(t->packet, PAD_MULTIPLE);
	at = packet_begin(t->packet, type, body.n);
	if (at == NULL)
		return transport_fail_packet(t);
	if (body.n != 0)
		memcpy(at, body.p, body.n);
	if (packet_end(t->packet, body.n) < 0)
		return transport_fail_packet(t);
	return 0;
}

static int enqueue(struct transport *t, uint8_t type, struct view body, bool padded)
{
	buf_put_u8(&t->queue, type);
	buf_put_bool(&t->queue, padded);
	buf_put_string(&t->queue, body.p, body.n);
	if (!buf_ok(&t->queue))
		return transport_fail(t, ERR_MEMORY, DISCONNECT_PROTOCOL_ERROR,
			"more than %d bytes of messages wait for the end of a key exchange", TRANSPORT_QUEUE_MAX);
	return 0;
}

int transport_flush_queue(struct transport *t)
{
	struct reader r;
	struct view body;
	uint8_t type;
	bool padded;
	int code = 0;

	reader_init(&r, t->queue.data, t->queue.size);
	while (code == 0 && reader_left(&r) != 0) {
		type = reader_u8(&r);
		padded = reader_bool(&r);
		body = reader_string(&r);
		code = transport_emit(t, type, body, padded);
	}
	buf_free(&t->queue);
	return code;
}

/* What fits into a packet that an HPN peer can take (HPN-README 2); compressed, whatever grows most. */
static size_t hpn_body_max(const struct transport *t)
{
	return packet_suite(t->packet, PACKET_OUT)->compress != NULL ? HPN_ZLIB_BODY : PACKET_BODY_SAFE - BODY_OVERHEAD;
}

static int send_message(struct transport *t, uint8_t type, const struct buf *body, bool padded)
{
	static const struct buf nothing;

	if (body == NULL)
		body = &nothing;
	if (t->ended)
		return t->err.code != 0 ? t->err.code : ERR_CLOSED;
	if (!buf_ok(body) || body->size >= PACKET_PAYLOAD_MAX) {
		log_error("message %u of %zu bytes is too long to be sent", type, body->size);
		return ERR_USAGE;
	}
	/* A longer one ends the connection there, or worse. */
	if (t->kind == PEER_HPN && t->authenticated && body->size > hpn_body_max(t)) {
		log_error("message %u of %zu bytes is longer than this HPN peer can take (%d bytes)", type, body->size,
			(int)hpn_body_max(t));
		return ERR_USAGE;
	}
	if (transport_exchanging(t))
		return enqueue(t, type, transport_view(body), padded);
	if (transport_emit(t, type, transport_view(body), padded) < 0)
		return t->err.code;
	return transport_check_limits(t);
}

int transport_send(struct transport *t, uint8_t type, const struct buf *body)
{
	return send_message(t, type, body, false);
}

int transport_send_padded(struct transport *t, uint8_t type, const struct buf *body)
{
	return send_message(t, type, body, true);
}

/* RekeyLimit is met to a packet, also by one who offers more than it at once. */
static size_t bytes_to_limit(const struct transport *t, size_t body_max, size_t want)
{
	const struct cipher_alg *cipher = packet_suite(t->packet, PACKET_OUT)->cipher;
	uint64_t used = packet_counters(t->packet, PACKET_OUT).blocks * (cipher->block_size < 8 ? 8 : cipher->block_size);
	uint64_t left = used < t->opt.rekey_bytes ? t->opt.rekey_bytes - used : 0;

	if (t->opt.rekey_bytes == 0)
		return want;
	if (left < body_max)
		left = body_max;
	return want < left ? want : (size_t)left;
}

int transport_lend(struct transport *t, const struct packet_bulk *b, size_t body_max, size_t want, struct iovec *iov,
	int iov_max)
{
	int n;

	if (t->ended)
		return t->err.code != 0 ? t->err.code : ERR_CLOSED;
	if (transport_exchanging(t))
		return 0;
	if (t->kind == PEER_HPN && body_max + b->head_size > hpn_body_max(t))
		body_max = hpn_body_max(t) - b->head_size;
	n = packet_lend(t->packet, b, body_max, bytes_to_limit(t, body_max, want), iov, iov_max);
	return n < 0 ? transport_fail_packet(t) : n;
}

int transport_commit(struct transport *t, size_t used)
{
	if (packet_commit(t->packet, used) < 0)
		return transport_fail_packet(t);
	return transport_check_limits(t);
}

static int reply_unimplemented(struct transport *t, uint32_t seq)
{
	uint8_t body[4];

	wire_store_u32(body, seq);
	return transport_emit(t, MSG_UNIMPLEMENTED, (struct view){ body, sizeof(body) }, false);
}

int transport_unimplemented(struct transport *t, const struct message *m)
{
	if (t->ended)
		return t->err.code != 0 ? t->err.code : ERR_CLOSED;
	log_debug("message %u is unknown here", m->type);
	return reply_unimplemented(t, m->seq);
}

/* ---- messages that may come at any time ---- */

static int got_debug(struct transport *t, const struct message *m)
{
	struct reader r;
	struct view text;
	bool show;
	char *shown;

	reader_init(&r, m->body.p, m->body.n);
	show = reader_bool(&r);
	text = reader_string(&r);
	if (!reader_ok(&r))
		return 0;        /* RFC 4253 §11.3: may be ignored */
	shown = str_escape_log(text.p, text.n, TEXT_SHOWN);
	if (show && t->opt.cb.peer_debug != NULL)
		t->opt.cb.peer_debug(t->opt.cb.ctx, shown);
	else
		log_debug("the peer says: %s", shown);
	free(shown);
	return 0;
}

static int got_unimplemented(struct transport *t, const struct message *m)
{
	struct reader r;

	(void)t;
	reader_init(&r, m->body.p, m->body.n);
	log_debug("the peer does not know our message %u", reader_u32(&r));
	return 0;
}

static int got_ping(struct transport *t, const struct message *m)
{
	struct reader r;
	struct view data;
	struct buf b = BUF_INIT(TRANSPORT_BODY_MAX);
	int code = 0;

	reader_init(&r, m->body.p, m->body.n);
	data = reader_string(&r);
	if (!reader_ok(&r))
		return transport_fail(t, ERR_PEER, DISCONNECT_PROTOCOL_ERROR, "malformed ping");
	/* An answer that would have to wait is none at all (CVE-2025-26466). */
	if (!t->authenticated || transport_exchanging(t) || t->x.got_kexinit)
		return 0;
	buf_put_string(&b, data.p, data.n);
	if (buf_ok(&b))
		code = transport_emit(t, MSG_PONG, transport_view(&b), false);
	buf_free(&b);
	return code;
}

static int got_service(struct transport *t, const struct message *m)
{
	uint8_t expected = t->opt.server ? MSG_SERVICE_REQUEST : MSG_SERVICE_ACCEPT;

	if (m->type != expected)
		return reply_unimplemented(t, m->seq);
	t->service_seen = true;
	return 1;
}

/* ---- which message when ---- */

static bool is_plain(uint8_t type)
{
	return type >= MSG_IGNORE && type <= MSG_DEBUG;
}

static bool is_kex(uint8_t type)
{
	return type == MSG_KEXINIT || type == MSG_NEWKEYS || (type >= MSG_KEX_FIRST && type <= MSG_KEX_LAST);
}

static int out_of_turn(struct transport *t, uint8_t type, uint32_t reason)
{
	return transport_fail(t, ERR_PEER, reason, "message %u came out of turn", type);
}

/* Whether m may come now; a refusal ends the connection. */
static int check_turn(struct transport *t, const struct message *m)
{
	const struct transport_exchange *x = &t->x;
	uint8_t type = m->type;

	if (t->exchanges == 0) {
		if (m->seq == UINT32_MAX)
			return transport_fail(t, ERR_PEER, 0, "sequence numbers ran out during the first key exchange");
		/* Strict: nothing but what the exchange expects next, which transport_got_* check.
		 * Otherwise: nothing that needs keys. */
		if (is_kex(type) || (!t->strict && type < 50 && type != MSG_SERVICE_REQUEST &&
		    type != MSG_SERVICE_ACCEPT && type != MSG_EXT_INFO))
			return 0;
		return out_of_turn(t, type, DISCONNECT_PROTOCOL_ERROR);
	}
	/* Between the peer's KEXINIT and its NEWKEYS; before that its data may still be on the way. RFC 4253 §7.1 forbids the
	 * peer to send any there, but asyncssh does; under the old keys it is as good as before, so after authentication
	 * messages of the connection protocol are taken, as OpenSSH takes them. */
	if (x->got_kexinit && !(t->authenticated && type >= MSG_GLOBAL_REQUEST) && !(type < MSG_SERVICE_REQUEST || (type > MSG_EXT_INFO && type < 50) || type == MSG_PING ||
	    type == MSG_PONG))
		return out_of_turn(t, type, 0);
	return 0;
}

static int handle_plain(struct transport *t, const struct message *m)
{
	switch (m->type) {
	case MSG_IGNORE:
		return 0;
	case MSG_UNIMPLEMENTED:
		return got_unimplemented(t, m);
	default:
		return got_debug(t, m);
	}
}

int transport_handle(struct transport *t, const struct message *m)
{
	if (m->type == MSG_DISCONNECT)
		return got_disconnect(t, m);
	if (check_turn(t, m) < 0)
		return t->err.code;
	if (is_plain(m->type))
		return handle_plain(t, m);
	switch (m->type) {
	case MSG_KEXINIT:
		return transport_got_kexinit(t, m);
	case MSG_NEWKEYS:
		return transport_got_newkeys(t, m);
	case MSG_SERVICE_REQUEST:
	case MSG_SERVICE_ACCEPT:
		return got_service(t, m);
	case MSG_EXT_INFO:
		return transport_got_ext(t, m);
	case MSG_PING:
		return got_ping(t, m);
	case MSG_PONG:
		return 1;        /* to whoever pinged */
	case MSG_USERAUTH_REQUEST:
		/* RFC 4252 §5.1: what was on its way when success left is ignored in silence. */
		return t->opt.server && t->authenticated ? 0 : 1;
	default:
		break;
	}
	if (is_kex(m->type))
		return transport_got_kex(t, m);
	/* RFC 4253 §11.4. 0 has no meaning anywhere. */
	return m->type < 50 ? reply_unimplemented(t, m->seq) : 1;
}
