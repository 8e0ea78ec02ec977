/* io/link_fd.c: a byte link over descriptors: pipes, sockets, files, terminals.
 *
 * Input lies in one linear buffer, so that what is peeked at is all there is; output in a ring that is written by the loop.
 * The user hears "closed" when nothing more can come or go and he has consumed what came. */
#include "io/link.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/loop.h"
#include "io/net.h"
#include "io/ring.h"

enum {
	LINK_IN_ROOM = 288 * 1024,       /* an SFTP message of the largest kind and what follows it */
	LINK_OUT_LIMIT = 1024 * 1024,
	LINK_TTY_WRITE = 512,            /* a terminal blocks: not more at once */
	LINK_READS_A_TURN = 4
};

struct link_side {
	int fd;
	struct loop_fd *watch;           /* the same for both sides if fd is */
	bool tty, restore;               /* restore: it was blocking before */
};

struct link_fd {
	struct link link;                /* first: the address of both is the same */
	struct loop *loop;
	struct link_side in, out;
	uint8_t *buf;                    /* LINK_IN_ROOM bytes, of which [start, end) are unconsumed */
	size_t start, end;
	struct ring queue;
	struct err why;                  /* the first failure of either side */
	bool in_ended, out_ended;        /* nothing more comes; nothing more can go */
	bool finishing;                  /* link_finish was called */
	bool starved;                    /* a lend came out short */
	bool told, closed;
	unsigned busy;                   /* callbacks under way: it may not be freed */
};

static struct link_fd *link_fd_of(struct link *l)
{
	return (struct link_fd *)l;
}

static void link_fd_settle(void *ctx);

static void link_fd_wake(struct link_fd *f)
{
	loop_defer(f->loop, link_fd_settle, f);
}

/* ---- descriptors */

/* What the loop shall look for now. */
static void link_fd_watch(struct link_fd *f)
{
	unsigned in = 0, out = 0;

	if (!f->in_ended && f->end - f->start < LINK_IN_ROOM)
		in = LOOP_READ;
	if (!f->out_ended && f->queue.size != 0)
		out = LOOP_WRITE;
	if (f->in.watch == f->out.watch) {
		if (f->in.watch != NULL)
			loop_fd_want(f->in.watch, in | out);
		return;
	}
	if (f->in.watch != NULL)
		loop_fd_want(f->in.watch, in);
	if (f->out.watch != NULL)
		loop_fd_want(f->out.watch, out);
}

static void link_side_close(struct link_side *s, bool shared)
{
	if (s->fd < 0)
		return;
	if (!shared) {
		loop_fd_remove(s->watch);
		if (s->restore)
			(void)net_set_nonblocking(s->fd, false);
		close(s->fd);
	}
	s->fd = -1;
	s->watch = NULL;
}

/* No more output: the other end is told where that is possible. */
static void link_fd_end_output(struct link_fd *f)
{
	bool shared = f->out.fd == f->in.fd;

	if (f->out_ended)
		return;
	f->out_ended = true;
	ring_clear(&f->queue);
	if (shared) {
		(void)shutdown(f->out.fd, SHUT_WR);
		return;
	}
	link_side_close(&f->out, false);
}

static void link_fd_free(struct link_fd *f)
{
	bool shared = f->out.fd == f->in.fd;

	loop_defer_cancel(f->loop, link_fd_settle, f);
	link_side_close(&f->out, shared);
	link_side_close(&f->in, false);
	ring_clear(&f->queue);
	mem_free_secret(f->buf, LINK_IN_ROOM);
	free(f);
}

/* ---- output */

static void link_fd_flush(struct link_fd *f)
{
	struct iovec iov[RING_IOV];
	size_t max = f->out.tty ? LINK_TTY_WRITE : SSIZE_MAX;
	ssize_t n;
	int count;

	while (!f->out_ended && (count = ring_pieces(&f->queue, max, iov)) != 0) {
		n = writev(f->out.fd, iov, count);
		if (n > 0)
			ring_consume(&f->queue, (size_t)n);
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		else {
			err_set_errno(&f->why, "write");
			link_fd_end_output(f);
			f->starved = true;       /* whoever waits for room shall hear that there will be none */
		}
		if (f->out.tty)
			break;
	}
	if (f->finishing && f->queue.size == 0)
		link_fd_end_output(f);
}

/* ---- input */

static void link_fd_fill(struct link_fd *f, bool *news)
{
	ssize_t n;
	int i;

	for (i = 0; i < LINK_READS_A_TURN && !f->in_ended; i++) {
		if (f->end == LINK_IN_ROOM) {
			memmove(f->buf, f->buf + f->start, f->end - f->start);
			f->end -= f->start;
			f->start = 0;
		}
		if (f->end == LINK_IN_ROOM)
			return;
		n = read(f->in.fd, f->buf + f->end, LINK_IN_ROOM - f->end);
		if (n > 0) {
			f->end += (size_t)n;
			*news = true;
			/* A short read has emptied it; a blocking terminal must not be asked again. */
			if (f->in.tty || (size_t)n < 4096)
				return;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		/* A pseudo terminal whose other side is gone says EIO. */
		if (n < 0 && !(errno == EIO && f->in.tty))
			err_set_errno(&f->why, "read");
		f->in_ended = true;
		*news = true;
	}
}

/* ---- callbacks */

/* Calls back what has come about. f may be gone afterwards. */
static void link_fd_tell(struct link_fd *f, bool news)
{
	struct link_user *u = &f->link.user;

	f->busy++;
	if (news && !f->closed && u->readable != NULL)
		u->readable(u->ctx);
	if (!f->closed && f->starved && (f->out_ended || f->queue.size <= f->queue.limit / 2)) {
		f->starved = false;
		if (u->writable != NULL)
			u->writable(u->ctx);
	}
	if (!f->closed && !f->told && f->in_ended && f->start == f->end && f->out_ended) {
		f->told = true;
		if (u->closed != NULL)
			u->closed(u->ctx, &f->why);
	}
	f->busy--;
	if (!f->closed)
		link_fd_watch(f);
	else if (f->busy == 0)
		link_fd_free(f);
}

static void link_fd_ready(void *ctx, int fd, unsigned what)
{
	struct link_fd *f = ctx;
	bool news = false;

	(void)fd;
	if (what & LOOP_WRITE)
		link_fd_flush(f);
	if (what & LOOP_READ)
		link_fd_fill(f, &news);
	link_fd_tell(f, news);
}

/* After commits, consumption, finish: outside of whatever the user was doing. */
static void link_fd_settle(void *ctx)
{
	struct link_fd *f = ctx;

	/* A terminal waits until the loop says that it takes something. */
	if (!f->out.tty || f->queue.size == 0)
		link_fd_flush(f);
	link_fd_tell(f, false);
}

/* ---- the link */

static size_t link_fd_lend(struct link *l, size_t want, struct iovec *iov, int *count)
{
	struct link_fd *f = link_fd_of(l);
	size_t n;

	*count = 0;
	if (f->finishing || f->closed)
		return 0;
	/* Space is lent even when nothing can be written any more: the commit tells. */
	n = ring_lend(&f->queue, want, iov, count);
	if (n < want)
		f->starved = true;
	return n;
}

static int link_fd_commit(struct link *l, size_t n)
{
	struct link_fd *f = link_fd_of(l);

	if (n == 0)
		return 0;
	if (f->out_ended || f->finishing || f->closed)
		return ERR_CLOSED;
	ring_commit(&f->queue, n);
	link_fd_wake(f);
	return 0;
}

static size_t link_fd_room(struct link *l)
{
	struct link_fd *f = link_fd_of(l);

	return f->finishing || f->closed ? 0 : f->queue.limit - f->queue.size;
}

static size_t link_fd_peek(struct link *l, const uint8_t **p)
{
	struct link_fd *f = link_fd_of(l);

	*p = f->buf + f->start;
	return f->end - f->start;
}

static void link_fd_consume(struct link *l, size_t n)
{
	struct link_fd *f = link_fd_of(l);

	f->start += n;
	if (f->start == f->end)
		f->start = f->end = 0;
	link_fd_wake(f);
}

static bool link_fd_at_end(struct link *l)
{
	struct link_fd *f = link_fd_of(l);

	return f->in_ended && f->start == f->end;
}

static void link_fd_finish(struct link *l)
{
	struct link_fd *f = link_fd_of(l);

	f->finishing = true;
	link_fd_wake(f);
}

static void link_fd_close(struct link *l)
{
	struct link_fd *f = link_fd_of(l);

	if (f->closed)
		return;
	f->closed = true;
	/* What the descriptor takes at once still goes. */
	if (!f->out.tty)
		link_fd_flush(f);
	if (f->busy == 0)
		link_fd_free(f);
}

static size_t link_fd_pending(struct link *l)
{
	return link_fd_of(l)->queue.size;
}

static const struct link_ops link_fd_ops = {
	.lend = link_fd_lend, .commit = link_fd_commit, .room = link_fd_room, .peek = link_fd_peek,
	.consume = link_fd_consume, .at_end = link_fd_at_end, .finish = link_fd_finish, .close = link_fd_close,
	.pending = link_fd_pending,
};

static int link_side_open(struct link_side *s, struct err *e)
{
	int flags = fcntl(s->fd, F_GETFL);

	if (flags < 0)
		return err_set_errno(e, "descriptor %d", s->fd);
	/* The modes of a terminal belong to all who have it open, the shell among them. */
	s->tty = isatty(s->fd);
	if (s->tty || (flags & O_NONBLOCK) != 0)
		return 0;
	if (net_set_nonblocking(s->fd, true) != 0)
		return err_set_errno(e, "descriptor %d", s->fd);
	s->restore = true;
	return 0;
}

struct link *link_fd_new(struct loop *l, int fd_in, int fd_out, size_t out_limit, struct err *e)
{
	struct link_fd *f = mem_zalloc(sizeof(*f));
	bool shared = fd_in == fd_out;

	f->link.ops = &link_fd_ops;
	f->loop = l;
	f->in.fd = fd_in;
	f->out.fd = fd_out;
	f->queue.limit = out_limit != 0 ? out_limit : LINK_OUT_LIMIT;
	if (link_side_open(&f->in, e) != 0 || (!shared && link_side_open(&f->out, e) != 0))
		goto fail;
	if (shared)
		f->out.tty = f->in.tty;
	f->in.watch = loop_fd_add(l, fd_in, LOOP_READ, link_fd_ready, f, e);
	if (f->in.watch == NULL)
		goto fail;
	f->out.watch = shared ? f->in.watch : loop_fd_add(l, fd_out, 0, link_fd_ready, f, e);
	if (f->out.watch == NULL)
		goto fail;
	f->buf = mem_alloc(LINK_IN_ROOM);
	return &f->link;
fail:
	/* The descriptors stay the caller's. */
	loop_fd_remove(f->in.watch);
	if (f->in.restore)
		(void)net_set_nonblocking(fd_in, false);
	if (f->out.restore)
		(void)net_set_nonblocking(fd_out, false);
	free(f);
	return NULL;
}
