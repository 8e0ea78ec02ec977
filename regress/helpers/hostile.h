/* hostile.h: what the hostile peers of regress/e2e share: one connection, either with a bare packet layer (everything in
 * clear, before there are keys) or with our own engine, whose rules can be broken through its private parts. */
#ifndef HOSTILE_H
#define HOSTILE_H

#include <sys/socket.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auth/userauth_msg.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "crypto/crypto.h"
#include "crypto/rand.h"
#include "keys/key.h"
#include "keys/key_file.h"
#include "packet_private.h"
#include "transport_private.h"
#include "wire/messages.h"

enum hostile_end {
	END_OPEN = 1,            /* the other side has not ended it */
	END_CLOSED = 2, END_RESET = 4,
	END_DISCONNECT = 8,      /* it said DISCONNECT first */
	END_ANY = END_CLOSED | END_RESET | END_DISCONNECT
};

enum { HOSTILE_WAIT_MS = 20000, HOSTILE_BODY_MAX = 1 << 20 };

struct hostile {
	int fd;
	const char *user;
	struct key *key;
	struct packet *p;        /* bare */
	struct transport *t;     /* or an engine, whose packet layer p then is */
	bool deaf;               /* reads nothing */
	bool quiet_engine;       /* messages of the other side are counted, and the engine handles none of them */
	struct buf ident;        /* bare: everything before the first packet */
	bool ident_over;
	enum hostile_end end;
	uint32_t reason;
	char *text;              /* of its DISCONNECT */
	unsigned got[256];
	uint8_t last;            /* the last message of the layers above */
	struct buf body[256];    /* the last of each kind */
	uint64_t bytes_out;
};

static inline void hostile_die(const char *what, const struct err *e)
{
	fprintf(stderr, "hostile: %s: %s\n", what, e != NULL ? err_text(e) : strerror(errno));
	exit(2);
}

/* ---- bytes ---- */

static inline void hostile_message(struct hostile *h, const struct message *m)
{
	struct buf *b = &h->body[m->type];
	struct reader r;
	struct view text;

	h->got[m->type]++;
	h->last = m->type;
	if (b->limit == 0)
		*b = BUF_INIT(HOSTILE_BODY_MAX);
	buf_reset(b);
	buf_put(b, m->body.p, m->body.n);
	if (m->type != MSG_DISCONNECT)
		return;
	reader_init(&r, m->body.p, m->body.n);
	h->end = END_DISCONNECT;
	h->reason = reader_u32(&r);
	text = reader_string(&r);
	free(h->text);
	h->text = str_escape_log(text.p, text.n, 1000);
}

static inline void hostile_take_bare(struct hostile *h)
{
	struct view v = packet_in_peek(h->p);
	struct message m;
	size_t n;

	while (!h->ident_over && v.n != 0) {
		const uint8_t *lf = memchr(v.p, '\n', v.n);

		n = lf != NULL ? (size_t)(lf - v.p) + 1 : v.n;
		h->ident_over = lf != NULL && n >= 4 && memcmp(v.p, "SSH-", 4) == 0;
		buf_put(&h->ident, v.p, n);
		packet_in_take(h->p, n);
		v = packet_in_peek(h->p);
	}
	while (h->ident_over && packet_next(h->p, &m) == 1)
		hostile_message(h, &m);
}

static inline void hostile_take_engine(struct hostile *h)
{
	struct message m;
	int r;

	while ((r = h->quiet_engine ? packet_next(h->p, &m) : transport_next(h->t, &m)) == 1)
		hostile_message(h, &m);
	if (r == ERR_CLOSED && transport_disconnect_reason(h->t) != 0 && h->end == END_OPEN) {
		h->end = END_DISCONNECT;
		h->reason = transport_disconnect_reason(h->t);
		free(h->text);
		h->text = mem_strdup(transport_disconnect_text(h->t));
	}
}

static inline void hostile_ended(struct hostile *h, enum hostile_end how)
{
	if (h->end == END_OPEN)
		h->end = how;
	/* What comes after a DISCONNECT is of no interest. */
	close(h->fd);
	h->fd = -1;
}

static inline void hostile_read(struct hostile *h)
{
	uint8_t *at, waste[4096];
	size_t room;
	ssize_t n;

	if (packet_in_space(h->p, &at, &room) < 0) {
		at = waste;
		room = sizeof(waste);
	}
	n = read(h->fd, at, room);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		hostile_ended(h, n == 0 ? END_CLOSED : END_RESET);
		return;
	}
	if (at == waste)
		return;
	packet_in_added(h->p, (size_t)n);
	if (h->t != NULL)
		hostile_take_engine(h);
	else
		hostile_take_bare(h);
}

static inline void hostile_write(struct hostile *h)
{
	struct iovec iov[2];
	int count = packet_out_view(h->p, iov, 2);
	ssize_t n = count > 0 ? writev(h->fd, iov, count) : 0;

	if (n < 0 && errno == EAGAIN)
		return;
	if (n < 0) {
		/* Its last words may still be there. */
		packet_out_sent(h->p, packet_out_pending(h->p));
		if (h->deaf)
			hostile_ended(h, END_RESET);
		return;
	}
	packet_out_sent(h->p, (size_t)n);
	h->bytes_out += (uint64_t)n;
}

/* One turn of at most ms. False: the connection has ended. */
static inline bool hostile_turn(struct hostile *h, int ms)
{
	struct pollfd f = { .fd = h->fd };

	if (h->fd < 0)
		return false;
	f.events = (short)((h->deaf ? POLLRDHUP : POLLIN) | (packet_out_pending(h->p) != 0 ? POLLOUT : 0));
	if (poll(&f, 1, ms) > 0) {
		/* Even the deaf notice when the other side has gone. */
		if (f.revents & POLLRDHUP)
			h->deaf = false;
		if (f.revents & POLLOUT)
			hostile_write(h);
		if (h->fd >= 0 && !h->deaf && (f.revents & (POLLIN | POLLHUP | POLLERR)))
			hostile_read(h);
		else if (h->fd >= 0 && h->deaf && (f.revents & (POLLHUP | POLLERR)))
			hostile_ended(h, END_RESET);
	}
	return h->fd >= 0;
}

/* Until `count` messages of a type have come, or the end. */
static inline bool hostile_until(struct hostile *h, uint8_t type, unsigned count)
{
	uint64_t end = clock_mono_ms() + HOSTILE_WAIT_MS;

	while (h->got[type] < count && h->fd >= 0 && clock_mono_ms() < end)
		(void)hostile_turn(h, 100);
	return h->got[type] >= count;
}

/* Until everything has left, the end, or the other side takes nothing for stall_ms. True: it has left. */
static inline bool hostile_flush(struct hostile *h, unsigned stall_ms)
{
	uint64_t end = clock_mono_ms() + stall_ms, sent = h->bytes_out;

	while (h->fd >= 0 && packet_out_pending(h->p) != 0 && clock_mono_ms() < end) {
		(void)hostile_turn(h, 50);
		if (h->bytes_out != sent) {
			sent = h->bytes_out;
			end = clock_mono_ms() + stall_ms;
		}
	}
	return h->fd >= 0 && packet_out_pending(h->p) == 0;
}

/* Reads until the end, at most ms. */
static inline void hostile_until_end(struct hostile *h, unsigned ms)
{
	uint64_t end = clock_mono_ms() + ms;

	while (h->fd >= 0 && clock_mono_ms() < end)
		(void)hostile_turn(h, 50);
}

/* ---- sending what should not be sent ---- */

static inline void hostile_raw(struct hostile *h, const void *bytes, size_t n)
{
	packet_out_raw(h->p, bytes, n);
}

static inline void hostile_text(struct hostile *h, const char *text)
{
	hostile_raw(h, text, strlen(text));
}

/* One message at once, whatever state the engine is in. Waits while too much output is there. */
static inline void hostile_say_view(struct hostile *h, uint8_t type, struct view body)
{
	uint8_t *at;

	while (h->fd >= 0 && packet_out_pending(h->p) > PACKET_BULK_MAX / 2)
		if (!hostile_flush(h, 2000))
			return;
	at = packet_begin(h->p, type, body.n);
	if (at == NULL)
		hostile_die("packet", packet_err(h->p));
	if (body.n != 0)
		memcpy(at, body.p, body.n);
	if (packet_end(h->p, body.n) < 0)
		hostile_die("packet", packet_err(h->p));
}

static inline void hostile_say(struct hostile *h, uint8_t type, struct buf *b)
{
	if (!buf_ok(b))
		hostile_die("message", &(struct err){ .code = ERR_MEMORY });
	hostile_say_view(h, type, (struct view){ b->data, b->size });
	buf_free(b);
}

/* A sealed packet of any payload and padding; the whole must be a multiple of the block. */
static inline void hostile_sealed(struct hostile *h, const void *payload, size_t n, size_t padding)
{
	struct packet_side *s = &h->p->side[PACKET_OUT];
	uint8_t *at = mem_zalloc(SEAL_HEAD + n + SEAL_TAIL_MAX + padding);
	size_t total = 0;

	memcpy(at + SEAL_HEAD, payload, n);
	if (seal_packet(s->seal, s->seq, at, n, padding, &total) < 0)
		hostile_die("seal", NULL);
	packet_count(s, 1 + n + padding);
	packet_out_raw(h->p, at, total);
	free(at);
}

/* ---- start and end ---- */

static inline void hostile_init(struct hostile *h, int fd)
{
	int one = 1;

	h->fd = fd;
	h->end = END_OPEN;
	h->ident = BUF_INIT(HOSTILE_BODY_MAX);
	(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static inline void hostile_start_bare(struct hostile *h)
{
	h->p = packet_new();
}

static inline void hostile_start_engine(struct hostile *h, const struct transport_options *o)
{
	struct err e = { 0 };

	h->t = transport_new(o, &e);
	if (h->t == NULL || transport_start(h->t) < 0)
		hostile_die("start", &e);
	h->p = h->t->packet;
}

static inline void hostile_clear(struct hostile *h)
{
	if (h->fd >= 0)
		close(h->fd);
	if (h->t != NULL)
		transport_free(h->t);
	else if (h->p != NULL)
		packet_free(h->p);
	for (int i = 0; i < 256; i++)
		buf_free(&h->body[i]);
	buf_free(&h->ident);
	free(h->text);
}

static inline const char *hostile_end_name(enum hostile_end e)
{
	switch (e) {
	case END_OPEN: return "open";
	case END_CLOSED: return "closed";
	case END_RESET: return "reset";
	case END_DISCONNECT: return "disconnect";
	default: return "?";
	}
}

static inline int hostile_connect(int port)
{
	struct sockaddr_in sa = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)
	};
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (s < 0 || connect(s, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		hostile_die("connect", NULL);
	return s;
}

/* The default lists, for one end. */
static inline void hostile_proposal(struct proposal *p, const char *host_key)
{
	proposal_set(p, PROPOSAL_KEX, proposal_default_kex(false));
	proposal_set(p, PROPOSAL_HOST_KEY, host_key);
	for (int i = 0; i < 2; i++) {
		proposal_set(p, (enum proposal_list)(PROPOSAL_CIPHER_C2S + i), proposal_default_ciphers());
		proposal_set(p, (enum proposal_list)(PROPOSAL_MAC_C2S + i), proposal_default_macs());
		proposal_set(p, (enum proposal_list)(PROPOSAL_COMPRESS_C2S + i), "none");
		proposal_set(p, (enum proposal_list)(PROPOSAL_LANG_C2S + i), "");
	}
}

#endif
