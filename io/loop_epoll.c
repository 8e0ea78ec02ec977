/* io/loop_epoll.c: waiting by epoll. */
#include "io/loop_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

#ifdef HAVE_SYS_EPOLL_H
#include <sys/epoll.h>

struct loop_epoll { int fd; };

static int loop_epoll_set(void *self, struct loop_fd *f, unsigned want, struct err *e)
{
	struct loop_epoll *ep = self;
	struct epoll_event ev = { .data.ptr = f };
	int op;

	/* Hang-ups are reported even for a descriptor of which nothing is wanted, so it is taken out then. */
	if (want == 0)
		op = EPOLL_CTL_DEL;
	else
		op = f->have == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
	if (want & LOOP_READ)
		ev.events |= EPOLLIN;
	if (want & LOOP_WRITE)
		ev.events |= EPOLLOUT;
	if (epoll_ctl(ep->fd, op, f->fd, &ev) == 0)
		return 0;
	/* Regular files, folders and some devices (/dev/null) have nothing to wait for. */
	if (errno == EPERM && op == EPOLL_CTL_ADD)
		return 1;
	/* Closed already by someone who forgot to remove it: the system has forgotten it too. */
	if (op == EPOLL_CTL_DEL)
		return 0;
	return err_set_errno(e, "cannot watch descriptor %d", f->fd);
}

static int loop_epoll_wait(void *self, int timeout_ms, struct loop_ready *ready, struct err *e)
{
	struct loop_epoll *ep = self;
	struct epoll_event ev[LOOP_READY_MAX];
	int i, n;

	n = epoll_wait(ep->fd, ev, LOOP_READY_MAX, timeout_ms);
	if (n < 0)
		return errno == EINTR ? 0 : err_set_errno(e, "epoll_wait");
	for (i = 0; i < n; i++) {
		ready[i].f = ev[i].data.ptr;
		ready[i].what = (ev[i].events & EPOLLIN ? LOOP_READ : 0) | (ev[i].events & EPOLLOUT ? LOOP_WRITE : 0);
		if (ev[i].events & (EPOLLERR | EPOLLHUP))
			ready[i].what = LOOP_READ | LOOP_WRITE;
	}
	return n;
}

static void loop_epoll_free(void *self)
{
	struct loop_epoll *ep = self;

	close(ep->fd);
	free(ep);
}

static const struct loop_backend loop_epoll_backend = {
	.name = "epoll", .set = loop_epoll_set, .wait = loop_epoll_wait, .free = loop_epoll_free,
};

int loop_epoll_new(const struct loop_backend **ops, void **self, struct err *e)
{
	struct loop_epoll *ep;
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return err_set_errno(e, "epoll_create1");
	ep = mem_zalloc(sizeof(*ep));
	ep->fd = fd;
	*ops = &loop_epoll_backend;
	*self = ep;
	return 0;
}

#else

int loop_epoll_new(const struct loop_backend **ops, void **self, struct err *e)
{
	*ops = NULL;
	*self = NULL;
	return err_set(e, ERR_NONE_FOUND, "this system has no epoll");
}

#endif
