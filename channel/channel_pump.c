/* channel/channel_pump.c: descriptors at this end of a channel: a command's pipes, a pty, stdin and stdout, a socket.
 * Layer: channel.
 *
 * Sources are read straight into packets; what the peer sent is written to the sink from where it lies, and only what the
 * sink did not take at once is kept. */
#include "channel/channel_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/loop.h"
#include "transport.h"

enum {
	BULK_READ = 256 * 1024,
	TTY_READ = 16 * 1024,
	FILTER_READ = 4096,
	TTY_WRITE = 1024,        /* a blocking terminal is given little at a time */
	PIPE_WANTED = 1024 * 1024,
	SHORT_READ = 16 * 1024   /* less than this: probably drained, wait for more */
};

struct pump_end {
	int fd;                  /* -1: none, or ended */
	struct loop_fd *watch;
	int saved_flags;         /* of a descriptor that is not ours; -1: untouched */
	bool careful;            /* a terminal that may not be made non-blocking */
	bool ready;              /* source: readable now */
	bool broken;             /* sink: takes no more */
	bool done;               /* sink: EOF was passed on */
};

struct pump {
	struct channel *c;
	struct pump_end source[2], sink[2];      /* 0 data, 1 extended */
	bool own, told_sources, told_sink;
	int sink_error;          /* errno that broke the data sink; 0: none */
	size_t (*filter)(void *ctx, const uint8_t *in, size_t n, uint8_t *out);
	void *filter_ctx;
};

static struct byte_queue *queue_of(struct channel *c, int i)
{
	return i ? &c->err_in : &c->in;
}

static void pump_end_close(struct pump *p, struct pump_end *end)
{
	if (end->fd < 0)
		return;
	loop_fd_remove(end->watch);
	end->watch = NULL;
	if (end->saved_flags >= 0)
		(void)fcntl(end->fd, F_SETFL, end->saved_flags);
	if (p->own)
		close(end->fd);
	end->fd = -1;
	end->ready = false;
}

/* ---- sources ---- */

bool pump_sources_done(const struct channel *c)
{
	return !c->pump || (c->pump->source[0].fd < 0 && c->pump->source[1].fd < 0);
}

bool pump_has_source(const struct channel *c)
{
	return c->pump && (c->pump->source[0].ready || c->pump->source[1].ready);
}

static void pump_check_sources(struct pump *p)
{
	struct channel *c = p->c;

	if (p->told_sources || p->source[0].fd >= 0 || p->source[1].fd >= 0)
		return;
	p->told_sources = true;
	if (c->user.sources_ended)
		c->user.sources_ended(c->user.ctx, c);
	else
		channel_send_eof(c);
}

static void pump_source_ended(struct pump *p, struct pump_end *s)
{
	pump_end_close(p, s);
	pump_check_sources(p);
}

static void pump_source_wait(struct pump_end *s)
{
	s->ready = false;
	loop_fd_want(s->watch, LOOP_READ);
}

/* True when the source has (or may have) more. */
static void pump_source_result(struct pump *p, struct pump_end *s, ssize_t n, int error)
{
	if (n >= SHORT_READ)
		return;
	if (n > 0 || (n < 0 && (error == EAGAIN || error == EWOULDBLOCK || error == EINTR))) {
		pump_source_wait(s);
		return;
	}
	/* EIO is how a pty says that its last user has gone. */
	if (n < 0 && error != EIO)
		log_debug("channel %u: read: error %d", p->c->id, error);
	pump_source_ended(p, s);
}

static void pump_read_filtered(struct pump *p, struct pump_end *s)
{
	uint8_t in[FILTER_READ], out[2 * FILTER_READ + 16];
	ssize_t n = read(s->fd, in, sizeof in);
	int error = errno;

	if (n > 0) {
		size_t m = p->filter(p->filter_ctx, in, (size_t)n, out);

		byte_queue_add(&p->c->out, out, m);
	}
	mem_wipe(in, sizeof in);
	mem_wipe(out, sizeof out);
	if (s->fd >= 0)          /* the filter may have ended the channel */
		pump_source_result(p, s, n, error);
}

static void pump_read(struct pump *p, int i)
{
	struct pump_end *s = &p->source[i];
	struct channel *c = p->c;
	struct iovec iov[LINK_IOV];
	int count, error;
	ssize_t n;

	if (i == 0 && p->filter) {
		if (c->out.size == 0 && channel_send_room(c) > 0)
			pump_read_filtered(p, s);
		return;
	}
	if (channel_lend_bytes(c, i == 1, c->interactive ? TTY_READ : BULK_READ, iov, &count) == 0)
		return;
	n = readv(s->fd, iov, count);
	error = errno;
	if (channel_commit_bytes(c, n > 0 ? (size_t)n : 0) < 0)
		return;
	pump_source_result(p, s, n, error);
}

void pump_produce(struct channel *c)
{
	struct pump *p = c->pump;

	if (p->source[1].ready)
		pump_read(p, 1);
	if (p->source[0].ready)
		pump_read(p, 0);
}

static void pump_source_readable(void *ctx, int fd, unsigned what)
{
	struct pump *p = ctx;

	(void)what;
	for (int i = 0; i < 2; i++) {
		if (p->source[i].fd != fd)
			continue;
		p->source[i].ready = true;
		loop_fd_want(p->source[i].watch, 0);
	}
	channel_run(p->c);
}

void pump_stop_source(struct channel *c)
{
	struct pump *p = c->pump;

	if (!p)
		return;
	for (int i = 0; i < 2; i++)
		pump_end_close(p, &p->source[i]);
	p->told_sources = true;
}

/* ---- sinks ---- */

static ssize_t pump_write(const struct pump_end *s, const uint8_t *p, size_t n)
{
	struct pollfd f = { .fd = s->fd, .events = POLLOUT };
	ssize_t w, done = 0;

	if (!s->careful)
		return write(s->fd, p, n);
	while ((size_t)done < n && poll(&f, 1, 0) == 1) {
		size_t piece = n - (size_t)done < TTY_WRITE ? n - (size_t)done : TTY_WRITE;

		w = write(s->fd, p + done, piece);
		if (w < 0)
			return done > 0 ? done : -1;
		done += w;
	}
	if (done == 0)
		errno = EAGAIN;
	return done > 0 ? done : -1;
}

static void pump_sink_told(struct pump *p)
{
	struct channel *c = p->c;

	if (p->told_sink)
		return;
	p->told_sink = true;
	if (c->user.sink_ended)
		c->user.sink_ended(c->user.ctx, c);
}

int channel_sink_error(const struct channel *c)
{
	return c->pump ? c->pump->sink_error : 0;
}

/* errno tells why. */
static void pump_sink_broke(struct pump *p, int i)
{
	struct channel *c = p->c;
	struct byte_queue *q = queue_of(c, i);
	size_t left = q->size;

	if (i == 0)
		p->sink_error = errno;

	p->sink[i].broken = true;
	pump_end_close(p, &p->sink[i]);
	byte_queue_drop(q, left);
	channel_consumed(c, left);
	/* The peer may stop sending what nobody reads (OpenSSH's PROTOCOL, eow). */
	if (i == 0 && c->session && channel_is_open(c) && !c->got_eof &&
	    transport_peer_kind(c->cs->transport) != PEER_OTHER)
		IGNORE_RESULT(channel_request(c, "eow@openssh.com", NULL, NULL, NULL));
	if (i == 0)
		pump_sink_told(p);
	channel_maybe_free(c);
}

/* EOF is passed on when everything before it was. */
static void pump_sink_finish(struct pump *p, int i)
{
	struct pump_end *s = &p->sink[i];

	if (!p->c->got_eof || queue_of(p->c, i)->size > 0 || s->done)
		return;
	s->done = true;
	if (s->fd >= 0 && p->own)
		(void)shutdown(s->fd, SHUT_WR);
	pump_end_close(p, s);
	if (i == 0)
		pump_sink_told(p);
	channel_maybe_free(p->c);
}

size_t pump_take(struct channel *c, bool extended, const uint8_t *p, size_t n)
{
	int i = extended ? 1 : 0;
	struct pump_end *s = &c->pump->sink[i];
	ssize_t w;

	if (s->fd < 0)
		return n;
	if (queue_of(c, i)->size > 0)
		return 0;
	w = pump_write(s, p, n);
	if (w < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
		pump_sink_broke(c->pump, i);
		return n;
	}
	if (w < 0)
		w = 0;
	if ((size_t)w < n)
		loop_fd_want(s->watch, LOOP_WRITE);
	return (size_t)w;
}

static void pump_sink_writable(void *ctx, int fd, unsigned what)
{
	struct pump *p = ctx;
	int i = p->sink[0].fd == fd ? 0 : 1;
	struct pump_end *s = &p->sink[i];
	struct byte_queue *q = queue_of(p->c, i);
	const uint8_t *bytes;
	size_t n;
	ssize_t w;

	(void)what;
	while ((n = byte_queue_run(q, &bytes)) > 0) {
		w = pump_write(s, bytes, n);
		if (w < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
			return;
		if (w < 0) {
			pump_sink_broke(p, i);
			return;
		}
		byte_queue_drop(q, (size_t)w);
		channel_consumed(p->c, (size_t)w);
	}
	loop_fd_want(s->watch, 0);
	pump_sink_finish(p, i);
	channel_maybe_free(p->c);
}

bool pump_sink_busy(const struct channel *c)
{
	return (c->in.size > 0 && c->pump->sink[0].fd >= 0) || (c->err_in.size > 0 && c->pump->sink[1].fd >= 0);
}

void pump_peer_eof(struct channel *c)
{
	pump_sink_finish(c->pump, 1);
	pump_sink_finish(c->pump, 0);
}

/* ---- life ---- */

static void pump_end_prepare(struct pump *p, struct pump_end *end)
{
	struct stat st;
	int flags = fcntl(end->fd, F_GETFL);

	end->saved_flags = -1;
	if (fstat(end->fd, &st) < 0 || flags < 0)
		return;
	if (!p->own && isatty(end->fd)) {
		end->careful = true;
		return;
	}
#ifdef F_SETPIPE_SZ
	if (S_ISFIFO(st.st_mode))
		(void)fcntl(end->fd, F_SETPIPE_SZ, PIPE_WANTED);
#endif
	if (S_ISREG(st.st_mode) || (flags & O_NONBLOCK))
		return;
	if (fcntl(end->fd, F_SETFL, flags | O_NONBLOCK) == 0 && !p->own)
		end->saved_flags = flags;
}

static int pump_end_start(struct pump *p, struct pump_end *end, unsigned want, loop_fd_fn *fn, struct err *e)
{
	if (end->fd < 0)
		return 0;
	pump_end_prepare(p, end);
	end->watch = loop_fd_add(p->c->cs->loop, end->fd, want, fn, p, e);
	return end->watch ? 0 : ERR_IO;
}

/* A socket is source and sink at once; the loop watches a descriptor once. */
static int pump_split(int source, int sink)
{
	return sink >= 0 && sink == source ? fcntl(sink, F_DUPFD_CLOEXEC, 0) : sink;
}

static void pump_deliver_early(struct channel *c)
{
	for (int i = 0; i < 2; i++) {
		struct byte_queue *q = queue_of(c, i);
		struct pump_end *s = &c->pump->sink[i];
		size_t n = q->size;

		if (n > 0 && s->fd >= 0) {
			loop_fd_want(s->watch, LOOP_WRITE);
		} else if (n > 0) {
			byte_queue_drop(q, n);
			channel_consumed(c, n);
		}
	}
	if (c->got_eof)
		pump_peer_eof(c);
}

int channel_attach(struct channel *c, const struct channel_pump *o, struct err *e)
{
	struct pump *p = mem_zalloc(sizeof *p);

	*p = (struct pump){ .c = c, .own = o->own, .filter = o->filter, .filter_ctx = o->filter_ctx,
		.source = { { .fd = o->source, .saved_flags = -1 }, { .fd = o->err_source, .saved_flags = -1 } },
		.sink = { { .fd = pump_split(o->source, o->sink), .saved_flags = -1 },
			{ .fd = o->err_sink, .saved_flags = -1 } } };
	c->pump = p;
	for (int i = 0; i < 2; i++)
		if (pump_end_start(p, &p->source[i], LOOP_READ, pump_source_readable, e) < 0 ||
		    pump_end_start(p, &p->sink[i], 0, pump_sink_writable, e) < 0) {
			pump_free(c);
			return ERR_IO;
		}
	channel_open_window(c);
	pump_deliver_early(c);
	return 0;
}

void pump_free(struct channel *c)
{
	struct pump *p = c->pump;

	if (!p)
		return;
	for (int i = 0; i < 2; i++) {
		pump_end_close(p, &p->source[i]);
		pump_end_close(p, &p->sink[i]);
	}
	free(p);
	c->pump = NULL;
}
