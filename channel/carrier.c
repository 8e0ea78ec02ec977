/* channel/carrier.c: bytes between a transport and its socket, on a loop. Layer: channel. */
#include "channel/carrier.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "channel/line_rate.h"
#include "io/loop.h"
#include "io/net.h"
#include "transport.h"
#include "wire/messages.h"

enum {
	READS_PER_TURN = 4,
	WRITES_PER_TURN = 8,
	TURN_BYTES = 512 * 1024,         /* then others get their turn: a key typed, and the echo of it, each wait for one */
	WRITE_IOV = 64,
	/* Output that may wait in this process. Large enough to seal and send in batches, small enough to stay in the
	 * cache; on a slow line it is what the line takes in OUT_MS. */
	OUT_HIGH_MAX = 768 * 1024,
	OUT_HIGH_MIN = 12 * 1024,
	OUT_MS = 6,
	/* Output that may wait unsent in the kernel, behind which a key waits too. */
	UNSENT_MAX = 256 * 1024,
	UNSENT_MIN = 12 * 1024,
	UNSENT_MS = 10,
	UNSENT_WATCHED = 128 * 1024,     /* less than this the kernel does not keep by itself: it fills its last piece, of up to 64 KiB */
	HIGH_UNKNOWN = 64 * 1024,        /* both, as long as nobody knows what the line takes */
	RTT_FRESH_MS = 20,
	YOUNG_READS = 32         /* so many reads make up key exchange, authentication and the opening of a channel */
};

struct carrier {
	struct loop *loop;
	struct transport *transport;
	struct loop_fd *watch_in, *watch_out;    /* the same when in and out are */
	struct loop_timer *timer;
	int fd_in, fd_out;
	struct carrier_user user;
	struct err err;
	bool paused, ended, ended_told, kicked, in_flush, write_blocked, write_broken;
	uint64_t last_input_ms;
	unsigned young;          /* reads left of the beginning, where each side waits for the other in turn */
	struct net_rtt rtt;
	uint64_t rtt_read_ms;
	struct line_rate line;
	bool idle;               /* all was written since: the system may have sent all of it by now */
	uint64_t sent;
	size_t unsent_high;      /* as the socket was told */
	bool unsent_heeded;      /* and it tells when it may be written to by that */
};

static void carrier_readable_writable(void *ctx, int fd, unsigned what);
static void carrier_turn(void *ctx);
static void carrier_resume(void *ctx);

static void carrier_tell_ended(void *ctx)
{
	struct carrier *c = ctx;

	if (c->ended_told)
		return;
	c->ended_told = true;
	if (c->user.ended)
		c->user.ended(c->user.ctx);
}

static void carrier_unwatch(struct carrier *c)
{
	if (c->watch_out && c->watch_out != c->watch_in)
		loop_fd_remove(c->watch_out);
	loop_fd_remove(c->watch_in);
	c->watch_in = c->watch_out = NULL;
}

/* Ends the connection once; the user hears of it from the loop, not from within its own calls. */
static void carrier_end(struct carrier *c)
{
	if (c->ended)
		return;
	c->ended = true;
	loop_timer_disarm(c->timer);
	carrier_unwatch(c);
	loop_defer(c->loop, carrier_tell_ended, c);
}

static void carrier_want(struct carrier *c)
{
	unsigned write = c->write_blocked ? LOOP_WRITE : 0;
	unsigned read = c->paused ? 0 : LOOP_READ;

	if (c->ended)
		return;
	if (c->watch_in == c->watch_out) {
		loop_fd_want(c->watch_in, read | write);
	} else {
		loop_fd_want(c->watch_in, read);
		loop_fd_want(c->watch_out, write);
	}
}

static size_t carrier_high(const struct carrier *c, unsigned ms, size_t min, size_t max)
{
	uint64_t high = c->line.rate * ms / 1000;

	if (c->line.rate == 0)
		return HIGH_UNKNOWN;
	return high > max ? max : high < min ? min : (size_t)high;
}

/* The rate is another. */
static void carrier_limit_unsent(struct carrier *c)
{
	size_t high = carrier_high(c, UNSENT_MS, UNSENT_MIN, UNSENT_MAX);

	if (high == c->unsent_high)
		return;
	c->unsent_high = high;
	c->unsent_heeded = net_set_notsent_lowat(c->fd_out, (int)high);
}

static void carrier_measure_sent(struct carrier *c, size_t n, bool ran_dry)
{
	c->idle = false;
	if (line_rate_sent(&c->line, n, clock_mono_us(), ran_dry, carrier_rtt(c).now_us))
		carrier_limit_unsent(c);
}

/* A slow line: what waits in the kernel is counted, for it takes more than it was asked to. */
static bool carrier_kernel_full(const struct carrier *c)
{
	return c->line.rate != 0 && c->unsent_heeded && c->unsent_high < UNSENT_WATCHED && net_unsent(c->fd_out) >= c->unsent_high;
}

/* One writev. 1: progress; 0: nothing to send or the socket is full; negative: broken. */
static int carrier_write(struct carrier *c)
{
	struct iovec iov[WRITE_IOV];
	int count = transport_out_view(c->transport, iov, WRITE_IOV);
	bool ran_dry;
	ssize_t n;

	if (count == 0)
		return 0;
	if (carrier_kernel_full(c)) {
		c->write_blocked = true;
		return 0;
	}
	ran_dry = c->idle && net_unsent(c->fd_out) == 0;
	n = writev(c->fd_out, iov, count);
	if (n < 0) {
		if (errno == EINTR)
			return 1;
		if (errno == EAGAIN || errno == EWOULDBLOCK) {
			c->write_blocked = true;
			return 0;
		}
		/* The peer's last words may still be in our receive buffer: reading goes on until it ends too. */
		err_set_errno(&c->err, "write");
		c->write_broken = true;
		return ERR_IO;
	}
	transport_out_sent(c->transport, (size_t)n);
	c->sent += (uint64_t)n;
	carrier_measure_sent(c, (size_t)n, ran_dry);
	return 1;
}

/* Compression that adapts wants to know what the line takes. */
static void carrier_tell_line(struct carrier *c)
{
	uint64_t due = transport_line_due(c->transport);
	struct transport_line l = { .drained = c->sent };
	struct net_line n;

	if (due == UINT64_MAX || (l.now_us = clock_mono_us()) < due)
		return;
	if (net_line(c->fd_out, &n) == 0)
		l = (struct transport_line){ .drained = n.acked, .unsent = n.unsent, .inflight = n.inflight, .rate = n.rate,
			.queue_us = n.queue_us, .now_us = l.now_us };
	transport_line_told(c->transport, &l);
}

static void carrier_tick(struct carrier *c)
{
	uint64_t next, now = clock_mono_ms();

	if (c->ended)
		return;
	if (transport_tick(c->transport, now, &next) < 0) {
		err_set(&c->err, transport_err(c->transport)->code, "%s", err_text(transport_err(c->transport)));
		(void)carrier_write(c);
		carrier_end(c);
		return;
	}
	if (next == UINT64_MAX)
		loop_timer_disarm(c->timer);
	else
		loop_timer_arm(c->timer, next > now ? next - now : 0);
}

static void carrier_pull(struct carrier *c)
{
	if (c->user.pull && !c->ended && !c->paused && !transport_exchanging(c->transport) &&
	    transport_authenticated(c->transport) && transport_out_pending(c->transport) < carrier_out_high(c) / 2)
		c->user.pull(c->user.ctx);
}

static void carrier_flush_some(struct carrier *c)
{
	size_t before, left = TURN_BYTES;
	int rc = 0;

	if (c->in_flush || c->ended || c->write_broken)
		return;
	c->in_flush = true;
	c->write_blocked = false;
	for (int i = 0; i < WRITES_PER_TURN; i++) {
		carrier_tell_line(c);
		carrier_pull(c);
		before = transport_out_pending(c->transport);
		rc = carrier_write(c);
		if (rc <= 0 || before - transport_out_pending(c->transport) >= left)
			break;
		left -= before - transport_out_pending(c->transport);
	}
	if (!c->write_blocked && rc == 0)
		c->idle = true;
	c->in_flush = false;
	if (rc > 0)
		carrier_kick(c);
	carrier_want(c);
}

static void carrier_turn(void *ctx)
{
	struct carrier *c = ctx;

	c->kicked = false;
	carrier_flush_some(c);
	carrier_tick(c);
}

void carrier_kick(struct carrier *c)
{
	if (c->kicked || c->ended)
		return;
	c->kicked = true;
	loop_defer(c->loop, carrier_turn, c);
}

static void carrier_fail_transport(struct carrier *c)
{
	const struct err *e = transport_err(c->transport);

	err_set(&c->err, e->code ? e->code : ERR_PEER, "%s", err_text(e));
	if (!c->write_broken)
		(void)carrier_write(c);
	carrier_end(c);
}

static void carrier_dispatch(struct carrier *c)
{
	struct message m;
	int rc;

	while (!c->paused && !c->ended) {
		rc = transport_next(c->transport, &m);
		if (rc == 0)
			return;
		if (rc < 0) {
			carrier_fail_transport(c);
			return;
		}
		if (!c->user.message) {
			IGNORE_RESULT(transport_unimplemented(c->transport, &m));
			continue;
		}
		if (c->user.message(c->user.ctx, &m) < 0) {
			/* Without a reason of its own it is the transport's: an answer could not be sent. */
			if (transport_err(c->transport)->code != 0)
				err_set(&c->err, transport_err(c->transport)->code, "%s", err_text(transport_err(c->transport)));
			err_set(&c->err, ERR_PEER, "message %u could not be handled", m.type);
			if (!c->write_broken)
				(void)carrier_write(c);
			carrier_end(c);
			return;
		}
	}
}

/* One read. 1: the buffer was filled, there may be more; 0: enough for now. */
static int carrier_read(struct carrier *c)
{
	uint8_t *at;
	size_t room;
	ssize_t n;

	if (transport_in_space(c->transport, &at, &room) < 0) {
		carrier_fail_transport(c);
		return 0;
	}
	n = read(c->fd_in, at, room);
	if (n < 0) {
		if (errno == EINTR)
			return 1;
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			return 0;
		if (errno == ECONNRESET)
			err_set(&c->err, ERR_IO, "connection reset by peer");
		else
			err_set_errno(&c->err, "read");
		carrier_end(c);
		return 0;
	}
	if (n == 0) {
		err_set(&c->err, ERR_CLOSED, "connection closed by remote host");
		carrier_end(c);
		return 0;
	}
	c->last_input_ms = clock_mono_ms();
	transport_in_added(c->transport, (size_t)n);
	carrier_dispatch(c);
	return (size_t)n == room;
}

static void carrier_read_some(struct carrier *c)
{
	uint64_t from = transport_bytes(c->transport, PACKET_IN);

	for (int i = 0; i < READS_PER_TURN && !c->ended && !c->paused; i++)
		if (carrier_read(c) == 0 || transport_bytes(c->transport, PACKET_IN) - from >= TURN_BYTES)
			break;
}

static void carrier_readable_writable(void *ctx, int fd, unsigned what)
{
	struct carrier *c = ctx;
	uint64_t sent = c->sent;

	if ((what & LOOP_READ) && !c->paused)
		carrier_read_some(c);
	carrier_flush_some(c);
	/* Servers that send their messages piece by piece through a socket without TCP_NODELAY wait for this. */
	if ((what & LOOP_READ) && c->young > 0 && !c->ended) {
		c->young--;
		if (c->sent == sent)
			net_ack_now(fd);
	}
	carrier_tick(c);
}

struct carrier *carrier_new(struct loop *l, struct transport *t, int fd_in, int fd_out, struct err *e)
{
	struct carrier *c = mem_zalloc(sizeof *c);

	c->loop = l;
	c->transport = t;
	c->fd_in = fd_in;
	c->fd_out = fd_out;
	c->last_input_ms = clock_mono_ms();
	c->young = YOUNG_READS;
	c->timer = loop_timer_add(l, carrier_turn, c);
	net_set_nonblocking(fd_in, true);
	if (fd_out != fd_in)
		net_set_nonblocking(fd_out, true);
	carrier_limit_unsent(c);
	c->watch_in = loop_fd_add(l, fd_in, LOOP_READ, carrier_readable_writable, c, e);
	c->watch_out = fd_out == fd_in ? c->watch_in : loop_fd_add(l, fd_out, 0, carrier_readable_writable, c, e);
	if (!c->watch_in || !c->watch_out) {
		carrier_free(c);
		return NULL;
	}
	carrier_kick(c);
	return c;
}

void carrier_free(struct carrier *c)
{
	if (!c)
		return;
	loop_defer_cancel(c->loop, carrier_turn, c);
	loop_defer_cancel(c->loop, carrier_tell_ended, c);
	loop_defer_cancel(c->loop, carrier_resume, c);
	loop_timer_remove(c->timer);
	carrier_unwatch(c);
	free(c);
}

void carrier_set_user(struct carrier *c, const struct carrier_user *u)
{
	c->user = *u;
}

static void carrier_resume(void *ctx)
{
	struct carrier *c = ctx;

	carrier_dispatch(c);
	carrier_flush_some(c);
}

void carrier_pause(struct carrier *c, bool paused)
{
	c->paused = paused;
	carrier_want(c);
	if (!paused)
		loop_defer(c->loop, carrier_resume, c);
	else
		loop_defer_cancel(c->loop, carrier_resume, c);
}

int carrier_fail(struct carrier *c, int code, uint32_t reason, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vset(&c->err, code, fmt, ap);
	va_end(ap);
	if (reason)
		transport_disconnect(c->transport, reason, c->err.text);
	if (!c->write_broken && !c->in_flush)
		(void)carrier_write(c);
	carrier_end(c);
	return code;
}

int carrier_flush(struct carrier *c, int timeout_ms, struct err *e)
{
	uint64_t until = clock_mono_ms() + (uint64_t)(timeout_ms < 0 ? 0 : timeout_ms);

	while (transport_out_pending(c->transport) > 0) {
		struct pollfd p = { .fd = c->fd_out, .events = POLLOUT };
		uint64_t now = clock_mono_ms();
		int rc = c->write_broken ? ERR_IO : carrier_write(c);

		if (rc < 0)
			return err_set(e, ERR_IO, "%s", err_text(&c->err));
		if (rc > 0)
			continue;
		if (timeout_ms >= 0 && now >= until)
			return err_set(e, ERR_IO, "the peer takes no data");
		if (poll(&p, 1, timeout_ms < 0 ? -1 : (int)(until - now)) < 0 && errno != EINTR)
			return err_set_errno(e, "poll");
	}
	return 0;
}

void carrier_disconnect(struct carrier *c, uint32_t reason, const char *text, int timeout_ms)
{
	if (c->ended)
		return;
	transport_disconnect(c->transport, reason, text);
	IGNORE_RESULT(carrier_flush(c, timeout_ms, NULL));
	err_set(&c->err, ERR_CLOSED, "%s", text);
	carrier_end(c);
}

const struct err *carrier_err(const struct carrier *c) { return &c->err; }
struct transport *carrier_transport(const struct carrier *c) { return c->transport; }
struct loop *carrier_loop(const struct carrier *c) { return c->loop; }
uint64_t carrier_rate(const struct carrier *c) { return c->line.rate; }
uint64_t carrier_last_input_ms(const struct carrier *c) { return c->last_input_ms; }
int carrier_fd(const struct carrier *c) { return c->fd_in; }

size_t carrier_out_high(const struct carrier *c)
{
	size_t high = carrier_high(c, OUT_MS, OUT_HIGH_MIN, OUT_HIGH_MAX), most = transport_out_max(c->transport);

	return high < most ? high : most;
}

struct net_rtt carrier_rtt(struct carrier *c)
{
	uint64_t now = clock_mono_ms();

	if (c->rtt_read_ms && now - c->rtt_read_ms < RTT_FRESH_MS)
		return c->rtt;
	c->rtt_read_ms = now;
	c->rtt = net_rtt(c->fd_in);
	return c->rtt;
}
