/* io/loop_signal.c: signals and children of the event loop.
 *
 * Handlers set a flag and write a byte into a pipe that the loop watches. Children are watched by pidfd; where there is
 * none, SIGCHLD makes the loop ask for each of them. */
#include "io/loop_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HAVE_SYS_SYSCALL_H
#include <sys/syscall.h>
#endif

#include "base/mem.h"

/* A handler has no argument of ours: this is the one thing it can reach. There is one loop with signals a process. */
static volatile sig_atomic_t loop_signal_came[NSIG], loop_signal_any;
static volatile sig_atomic_t loop_signal_pipe = -1;

static void loop_signal_handler(int signo)
{
	int saved = errno, fd = (int)loop_signal_pipe;
	ssize_t n = 0;

	loop_signal_came[signo] = 1;
	loop_signal_any = 1;
	/* A full pipe wakes the loop as well. */
	if (fd >= 0)
		n = write(fd, "", 1);
	(void)n;
	errno = saved;
}

static void loop_signal_drain(void *ctx, int fd, unsigned what)
{
	char b[64];

	(void)what;
	while (read(fd, b, sizeof(b)) == (ssize_t)sizeof(b))
		;
	/* The flags are looked at after the bytes are gone: a signal from now on has both. */
	loop_signals_run(ctx);
}

static int loop_signal_open(struct loop *l, struct err *e)
{
	struct loop_signals *s = loop_signals_of(l);
	int i;

	if (s->have_pipe)
		return 0;
	if (pipe(s->pipe) != 0)
		return err_set_errno(e, "pipe");
	for (i = 0; i < 2; i++) {
		(void)fcntl(s->pipe[i], F_SETFD, FD_CLOEXEC);
		(void)fcntl(s->pipe[i], F_SETFL, O_NONBLOCK);
	}
	s->watch = loop_fd_add_internal(l, s->pipe[0], loop_signal_drain, l, e);
	if (s->watch == NULL) {
		close(s->pipe[0]);
		close(s->pipe[1]);
		return ERR_IO;
	}
	s->have_pipe = true;
	loop_signal_pipe = s->pipe[1];
	return 0;
}

int loop_signal_add(struct loop *l, int signo, loop_signal_fn *fn, void *ctx, struct err *e)
{
	struct loop_signals *s = loop_signals_of(l);
	struct sigaction sa = { .sa_handler = loop_signal_handler, .sa_flags = SA_RESTART };
	struct loop_signal *g, *other;

	if (signo <= 0 || signo >= NSIG)
		return err_set(e, ERR_USAGE, "no signal %d", signo);
	if (loop_signal_open(l, e) != 0)
		return ERR_IO;
	g = mem_zalloc(sizeof(*g));
	*g = (struct loop_signal){ .signo = signo, .fn = fn, .ctx = ctx, .restores = true, .next = s->list };
	for (other = s->list; other != NULL; other = other->next)
		if (other->signo == signo)
			g->restores = false;
	if (g->restores) {
		sigfillset(&sa.sa_mask);
		loop_signal_came[signo] = 0;
		if (sigaction(signo, &sa, &g->old) != 0) {
			free(g);
			return err_set_errno(e, "cannot catch signal %d", signo);
		}
	}
	s->list = g;
	return 0;
}

void loop_signals_run(struct loop *l)
{
	struct loop_signals *s = loop_signals_of(l);
	struct loop_signal *g;
	int signo;

	if (!s->have_pipe || !loop_signal_any)
		return;
	loop_signal_any = 0;
	for (signo = 1; signo < NSIG; signo++) {
		if (!loop_signal_came[signo])
			continue;
		loop_signal_came[signo] = 0;
		/* New entries come in front of the list, so walking on is safe. */
		for (g = s->list; g != NULL; g = g->next)
			if (g->signo == signo)
				g->fn(g->ctx, signo);
	}
}

/* ---- children */

static void loop_child_unlink(struct loop_child *c)
{
	struct loop_signals *s = loop_signals_of(c->loop);

	if (c->prev != NULL)
		c->prev->next = c->next;
	else
		s->children = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	loop_fd_remove(c->watch);
	if (c->pidfd >= 0)
		close(c->pidfd);
	free(c);
}

/* true if it had ended; c is gone then. */
static bool loop_child_reap(struct loop_child *c)
{
	struct loop_signals *s = loop_signals_of(c->loop);
	loop_child_fn *fn = c->fn;
	void *ctx = c->ctx;
	pid_t pid = c->pid, r;
	int status = 0;

	do
		r = waitpid(pid, &status, WNOHANG);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return false;
	/* Someone else has reaped it: how it ended cannot be known, and is not called a success. */
	if (r < 0)
		status = 255 << 8;
	loop_child_unlink(c);
	if (fn != NULL) {
		s->children_awaited--;
		fn(ctx, pid, status);
	}
	return true;
}

static void loop_child_ended(void *ctx, int fd, unsigned what)
{
	(void)fd;
	(void)what;
	(void)loop_child_reap(ctx);
}

static void loop_child_signal(void *ctx, int signo)
{
	struct loop_signals *s = loop_signals_of(ctx);
	struct loop_child *c;

	(void)signo;
	/* From the start again after each that had ended: its callback may have changed the list. */
	c = s->children;
	while (c != NULL)
		c = c->pidfd < 0 && loop_child_reap(c) ? s->children : c->next;
}

/* 0 if the child is watched by a descriptor, 1 if signals have to do. */
static int loop_child_watch_fd(struct loop_child *c, struct err *e)
{
	long fd = -1;

#ifdef SYS_pidfd_open
	if (!loop_signals_of(c->loop)->no_pidfd)
		fd = syscall(SYS_pidfd_open, c->pid, 0);
#endif
	if (fd < 0)
		return 1;
	c->pidfd = (int)fd;
	c->watch = loop_fd_add_internal(c->loop, c->pidfd, loop_child_ended, c, e);
	return c->watch != NULL ? 0 : ERR_IO;
}

struct loop_child *loop_child_add(struct loop *l, pid_t pid, loop_child_fn *fn, void *ctx, struct err *e)
{
	struct loop_signals *s = loop_signals_of(l);
	struct loop_child *c = mem_zalloc(sizeof(*c));
	int r;

	*c = (struct loop_child){ .loop = l, .pid = pid, .pidfd = -1, .fn = fn, .ctx = ctx, .next = s->children };
	if (s->children != NULL)
		s->children->prev = c;
	s->children = c;
	r = loop_child_watch_fd(c, e);
	if (r == 1) {
		r = 0;
		if (!s->have_sigchld)
			r = loop_signal_add(l, SIGCHLD, loop_child_signal, l, e);
		s->have_sigchld |= r == 0;
		/* It may have ended before anyone listened: as if the signal came now. */
		if (r == 0)
			(void)raise(SIGCHLD);
	}
	if (r != 0) {
		loop_child_unlink(c);
		return NULL;
	}
	s->children_awaited++;
	return c;
}

void loop_child_remove(struct loop_child *c)
{
	if (c == NULL || c->fn == NULL)
		return;
	c->fn = NULL;
	loop_signals_of(c->loop)->children_awaited--;
}

void loop_signals_free(struct loop *l)
{
	struct loop_signals *s = loop_signals_of(l);
	struct loop_signal *g;

	while (s->children != NULL)
		loop_child_unlink(s->children);
	while ((g = s->list) != NULL) {
		s->list = g->next;
		if (g->restores)
			(void)sigaction(g->signo, &g->old, NULL);
		free(g);
	}
	if (!s->have_pipe)
		return;
	loop_signal_pipe = -1;
	loop_fd_remove(s->watch);
	close(s->pipe[0]);
	close(s->pipe[1]);
	s->have_pipe = false;
}
