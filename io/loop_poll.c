/* io/loop_poll.c: waiting by poll, for systems without epoll. */
#include "io/loop_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>

#include "base/mem.h"

struct loop_poll {
	struct pollfd *fds;              /* [i] belongs to owners[i], whose slot is i */
	struct loop_fd **owners;
	size_t count, room, start;       /* start: where the last search for ready ones ended */
};

static int loop_poll_set(void *self, struct loop_fd *f, unsigned want, struct err *e)
{
	struct loop_poll *p = self;

	if (want == 0) {
		p->count--;
		p->fds[f->slot] = p->fds[p->count];
		p->owners[f->slot] = p->owners[p->count];
		p->owners[f->slot]->slot = f->slot;
		return 0;
	}
	if (f->have == 0) {
		if (fcntl(f->fd, F_GETFD) < 0)
			return err_set_errno(e, "cannot watch descriptor %d", f->fd);
		if (p->count == p->room) {
			p->room = p->room != 0 ? p->room * 2 : 16;
			p->fds = mem_resize(p->fds, p->room, sizeof(p->fds[0]));
			p->owners = mem_resize(p->owners, p->room, sizeof(p->owners[0]));
		}
		f->slot = p->count++;
		p->owners[f->slot] = f;
		p->fds[f->slot] = (struct pollfd){ .fd = f->fd };
	}
	p->fds[f->slot].events = (short)((want & LOOP_READ ? POLLIN : 0) | (want & LOOP_WRITE ? POLLOUT : 0));
	return 0;
}

static int loop_poll_wait(void *self, int timeout_ms, struct loop_ready *ready, struct err *e)
{
	struct loop_poll *p = self;
	size_t i, at;
	int n, found = 0;
	short got;

	n = poll(p->fds, (nfds_t)p->count, timeout_ms);
	if (n < 0)
		return errno == EINTR ? 0 : err_set_errno(e, "poll");
	/* Begins behind the last one found, so that nobody is left out when more are ready than are taken. */
	for (i = 0; i < p->count && found < n && found < LOOP_READY_MAX; i++) {
		at = (p->start + i) % p->count;
		got = p->fds[at].revents;
		if (got == 0)
			continue;
		ready[found].f = p->owners[at];
		ready[found].what = (got & POLLIN ? LOOP_READ : 0) | (got & POLLOUT ? LOOP_WRITE : 0);
		if (got & (POLLERR | POLLHUP | POLLNVAL))
			ready[found].what = LOOP_READ | LOOP_WRITE;
		found++;
	}
	if (p->count != 0)
		p->start = (p->start + i) % p->count;
	return found;
}

static void loop_poll_free(void *self)
{
	struct loop_poll *p = self;

	free(p->fds);
	free(p->owners);
	free(p);
}

static const struct loop_backend loop_poll_backend = {
	.name = "poll", .set = loop_poll_set, .wait = loop_poll_wait, .free = loop_poll_free,
};

int loop_poll_new(const struct loop_backend **ops, void **self, struct err *e)
{
	(void)e;
	*ops = &loop_poll_backend;
	*self = mem_zalloc(sizeof(struct loop_poll));
	return 0;
}
