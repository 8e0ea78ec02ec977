/* regress/unit/io/test_loop.c: both backends of the event loop: descriptors, timers, children, signals, deferred calls. */
#include "io/loop.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct loop *new_loop(void **state)
{
	struct err e = { 0 };
	struct loop *l = *state != NULL ? loop_new_poll(&e) : loop_new(&e);

	assert_non_null(l);
	return l;
}

struct seen {
	struct loop *l;
	struct loop_fd *self, *other;
	struct loop_timer *timer, *other_timer;
	int calls;
	unsigned what;
	int fd;
	char order[64];
	size_t n;
	bool stop;
};

static void on_fd(void *ctx, int fd, unsigned what)
{
	struct seen *s = ctx;

	s->calls++;
	s->what = what;
	s->fd = fd;
	if (s->other != NULL) {
		loop_fd_remove(s->other);
		s->other = NULL;
	}
	if (s->stop)
		loop_stop(s->l);
}

static void test_readable_writable(void **state)
{
	struct loop *l = new_loop(state);
	struct seen s = { .l = l };
	struct err e = { 0 };
	struct loop_fd *f;
	int sv[2];
	char c;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	f = loop_fd_add(l, sv[0], LOOP_READ, on_fd, &s, &e);
	assert_non_null(f);
	assert_int_equal(loop_turn(l, 0, &e), 0);
	assert_int_equal(s.calls, 0);
	assert_int_equal(write(sv[1], "x", 1), 1);
	assert_int_equal(loop_turn(l, 0, &e), 0);
	assert_int_equal(s.calls, 1);
	assert_int_equal(s.what, LOOP_READ);
	assert_int_equal(s.fd, sv[0]);
	loop_fd_want(f, LOOP_READ | LOOP_WRITE);
	assert_int_equal(loop_turn(l, -1, &e), 0);
	assert_int_equal(s.what, LOOP_READ | LOOP_WRITE);
	loop_fd_want(f, LOOP_WRITE);
	assert_int_equal(loop_turn(l, -1, &e), 0);
	assert_int_equal(s.what, LOOP_WRITE);
	assert_int_equal(s.calls, 3);
	/* Off, on and off again within a turn, and nothing wanted: silence, even on a hang-up. */
	loop_fd_want(f, 0);
	loop_fd_want(f, LOOP_READ);
	loop_fd_want(f, 0);
	close(sv[1]);
	assert_int_equal(loop_turn(l, 0, &e), 0);
	assert_int_equal(s.calls, 3);
	loop_fd_want(f, LOOP_READ);
	assert_int_equal(loop_turn(l, -1, &e), 0);
	assert_int_equal(s.what, LOOP_READ);
	assert_int_equal(read(sv[0], &c, 1), 1);
	loop_fd_want(f, LOOP_READ);
	assert_int_equal(loop_turn(l, -1, &e), 0);
	assert_int_equal(s.calls, 5);
	assert_int_equal(read(sv[0], &c, 1), 0);
	loop_fd_remove(f);
	loop_fd_remove(NULL);
	assert_int_equal(loop_run(l, &e), 0);
	close(sv[0]);
	loop_free(l);
}

static void test_remove_other_in_callback(void **state)
{
	struct loop *l = new_loop(state);
	struct seen a = { .l = l }, b = { .l = l };
	struct err e = { 0 };
	int p[2][2], i;

	for (i = 0; i < 2; i++) {
		assert_int_equal(pipe(p[i]), 0);
		assert_int_equal(write(p[i][1], "x", 1), 1);
	}
	/* Both are ready; whoever comes first removes the other, which must then not be called. */
	a.self = b.other = loop_fd_add(l, p[0][0], LOOP_READ, on_fd, &a, &e);
	b.self = a.other = loop_fd_add(l, p[1][0], LOOP_READ, on_fd, &b, &e);
	assert_int_equal(loop_turn(l, -1, &e), 0);
	assert_int_equal(a.calls + b.calls, 1);
	if (a.calls == 1)
		loop_fd_remove(a.self);
	else
		loop_fd_remove(b.self);
	for (i = 0; i < 2; i++) {
		close(p[i][0]);
		close(p[i][1]);
	}
	loop_free(l);
}

static void on_fd_self(void *ctx, int fd, unsigned what)
{
	struct seen *s = ctx;
	struct err e = { 0 };

	(void)fd;
	(void)what;
	s->calls++;
	loop_fd_remove(s->self);
	/* The same descriptor again, from inside the callback; and a turn inside a turn. */
	s->self = s->calls < 3 ? loop_fd_add(s->l, fd, LOOP_READ, on_fd_self, s, &e) : NULL;
	assert_int_equal(loop_turn(s->l, 0, &e), 0);
}

static void test_remove_self_and_nest(void **state)
{
	struct loop *l = new_loop(state);
	struct seen s = { .l = l };
	struct err e = { 0 };
	int p[2];

	assert_int_equal(pipe(p), 0);
	assert_int_equal(write(p[1], "x", 1), 1);
	s.self = loop_fd_add(l, p[0], LOOP_READ, on_fd_self, &s, &e);
	assert_int_equal(loop_run(l, &e), 0);
	assert_int_equal(s.calls, 3);
	close(p[0]);
	close(p[1]);
	loop_free(l);
}

static void test_always_ready(void **state)
{
	struct loop *l = new_loop(state);
	struct seen file = { .l = l }, null = { .l = l }, quiet = { .l = l };
	struct err e = { 0 };
	char name[] = "/tmp/wsloopXXXXXX";
	int fd = mkstemp(name), devnull = open("/dev/null", O_RDWR), p[2];
	struct loop_fd *f, *n, *q;

	assert_true(fd >= 0 && devnull >= 0);
	unlink(name);
	assert_int_equal(pipe(p), 0);
	q = loop_fd_add(l, p[0], LOOP_READ, on_fd, &quiet, &e);
	f = loop_fd_add(l, fd, LOOP_READ, on_fd, &file, &e);
	n = loop_fd_add(l, devnull, 0, on_fd, &null, &e);
	assert_true(q != NULL && f != NULL && n != NULL);
	assert_int_equal(loop_turn(l, -1, &e), 0);
	assert_int_equal(file.calls, 1);
	assert_int_equal(file.what, LOOP_READ);
	assert_int_equal(null.calls, 0);
	loop_fd_want(n, LOOP_WRITE);
	assert_int_equal(loop_turn(l, -1, &e), 0);
	assert_int_equal(loop_turn(l, -1, &e), 0);
	assert_int_equal(file.calls, 3);
	assert_true(null.calls >= 1);
	assert_int_equal(null.what, LOOP_WRITE);
	loop_fd_want(f, 0);
	loop_fd_want(n, 0);
	assert_int_equal(loop_turn(l, 0, &e), 0);
	assert_int_equal(file.calls, 3);
	loop_fd_remove(q);
	assert_int_equal(loop_run(l, &e), 0);
	/* An always ready one that removes another of its kind. */
	loop_fd_want(f, LOOP_READ);
	loop_fd_want(n, LOOP_READ);
	file.other = n;
	null.other = f;
	file.calls = null.calls = 0;
	assert_int_equal(loop_turn(l, -1, &e), 0);
	assert_int_equal(file.calls + null.calls, 1);
	loop_fd_remove(file.other);
	loop_fd_remove(null.other);
	close(fd);
	close(devnull);
	close(p[0]);
	close(p[1]);
	loop_free(l);
}

static void test_bad_fd(void **state)
{
	struct loop *l = new_loop(state);
	struct err e = { 0 };

	assert_null(loop_fd_add(l, -1, LOOP_READ, on_fd, NULL, &e));
	assert_int_equal(e.code, ERR_USAGE);
	err_clear(&e);
	assert_null(loop_fd_add(l, 1023, LOOP_READ, on_fd, NULL, &e));
	assert_int_equal(e.code, ERR_IO);
	err_clear(&e);
	assert_int_equal(loop_run(l, &e), 0);
	loop_free(l);
}

static void test_many_ready(void **state)
{
	enum { N = 200 };
	struct loop *l = new_loop(state);
	struct seen s[N];
	struct loop_fd *f[N];
	struct err e = { 0 };
	int p[2], fd[N], i, least = 0, turns = 0;

	assert_int_equal(pipe(p), 0);
	assert_int_equal(write(p[1], "x", 1), 1);
	memset(s, 0, sizeof(s));
	for (i = 0; i < N; i++) {
		fd[i] = dup(p[0]);
		assert_true(fd[i] >= 0);
		s[i].l = l;
		f[i] = loop_fd_add(l, fd[i], LOOP_READ, on_fd, &s[i], &e);
		assert_non_null(f[i]);
	}
	/* More are ready than a turn takes: nobody may be left out for long. */
	for (turns = 0; turns < 8 && least == 0; turns++) {
		assert_int_equal(loop_turn(l, -1, &e), 0);
		for (least = 1, i = 0; i < N; i++)
			if (s[i].calls == 0)
				least = 0;
	}
	assert_true(least);
	for (i = 0; i < N; i += 3) {
		loop_fd_remove(f[i]);
		f[i] = NULL;
	}
	assert_int_equal(loop_turn(l, -1, &e), 0);
	for (i = 0; i < N; i++) {
		loop_fd_remove(f[i]);
		close(fd[i]);
	}
	close(p[0]);
	close(p[1]);
	loop_free(l);
}

/* ---- timers */

struct note { struct seen *s; char letter; struct loop_timer *t; };

static void on_note(void *ctx)
{
	struct note *n = ctx;

	n->s->order[n->s->n++] = n->letter;
}

static void on_note_remove(void *ctx)
{
	struct note *n = ctx;

	on_note(ctx);
	loop_timer_remove(n->t);
	if (n->s->other_timer != NULL)
		loop_timer_remove(n->s->other_timer);
	n->s->other_timer = NULL;
}

static void test_timer_order(void **state)
{
	struct loop *l = new_loop(state);
	struct seen s = { .l = l };
	struct note n[6];
	static const uint64_t after[6] = { 12, 3, 6, 3, 0, 9 };
	struct err e = { 0 };
	uint64_t start = clock_mono_us();
	int i;

	for (i = 0; i < 6; i++) {
		n[i] = (struct note){ &s, (char)('a' + i), NULL };
		n[i].t = loop_timer_add(l, on_note, &n[i]);
		loop_timer_arm(n[i].t, 1000000 + i);
	}
	for (i = 0; i < 6; i++)
		loop_timer_arm(n[i].t, after[i]);
	loop_timer_disarm(n[5].t);
	loop_timer_disarm(n[5].t);
	assert_int_equal(loop_run(l, &e), 0);
	assert_string_equal(s.order, "ebdca");
	assert_true(clock_mono_us() - start >= 12000);
	for (i = 0; i < 6; i++)
		loop_timer_remove(n[i].t);
	loop_timer_remove(NULL);
	loop_free(l);
}

static void test_timer_remove_in_callback(void **state)
{
	struct loop *l = new_loop(state);
	struct seen s = { .l = l };
	struct note a = { &s, 'a', NULL }, b = { &s, 'b', NULL };
	struct err e = { 0 };

	a.t = loop_timer_add(l, on_note_remove, &a);
	b.t = s.other_timer = loop_timer_add(l, on_note, &b);
	loop_timer_arm(a.t, 0);
	loop_timer_arm(b.t, 0);
	assert_int_equal(loop_run(l, &e), 0);
	assert_string_equal(s.order, "a");
	loop_free(l);
}

static void test_timer_many(void **state)
{
	enum { N = 500 };
	struct loop *l = new_loop(state);
	struct seen s = { .l = l };
	struct loop_timer *t[N];
	struct note n = { &s, 'x', NULL };
	struct err e = { 0 };
	unsigned r = 1, i, left = 0;

	/* The order is seen by a due time that never falls: what is armed fires once, what is disarmed never. */
	for (i = 0; i < N; i++) {
		t[i] = loop_timer_add(l, on_note, &n);
		r = r * 1103515245 + 12345;
		loop_timer_arm(t[i], UINT64_MAX - r % 7);
	}
	for (i = 0; i < N; i++) {
		r = r * 1103515245 + 12345;
		if (r >> 16 & 1)
			loop_timer_disarm(t[i]);
		else
			loop_timer_arm(t[i], r >> 16 & 3 ? 1000000 : 0);
	}
	for (i = 0; i < N; i++) {
		loop_timer_disarm(t[i]);
		if (i % 25 == 0) {
			loop_timer_arm(t[i], i % 2);
			left++;
		}
	}
	assert_int_equal(loop_run(l, &e), 0);
	assert_int_equal(s.n, left);
	for (i = 0; i < N; i++)
		loop_timer_remove(t[i]);
	loop_free(l);
}

static void on_rearm(void *ctx)
{
	struct seen *s = ctx;

	if (++s->calls < 5)
		loop_timer_arm(s->timer, 0);
}

static void test_timer_does_not_starve(void **state)
{
	struct loop *l = new_loop(state);
	struct seen s = { .l = l };
	struct err e = { 0 };

	s.timer = loop_timer_add(l, on_rearm, &s);
	loop_timer_arm(s.timer, 0);
	assert_int_equal(loop_turn(l, -1, &e), 0);
	assert_int_equal(s.calls, 1);
	assert_int_equal(loop_run(l, &e), 0);
	assert_int_equal(s.calls, 5);
	loop_free(l);            /* frees the timer too */
}

/* ---- deferred calls */

static void on_defer(void *ctx)
{
	struct seen *s = ctx;

	if (++s->calls < 3)
		loop_defer(s->l, on_defer, s);
}

static void on_other_defer(void *ctx)
{
	struct seen *s = ctx;

	s->n++;
}

static void test_defer(void **state)
{
	struct loop *l = new_loop(state);
	struct seen s = { .l = l }, t = { .l = l };
	struct err e = { 0 };

	loop_defer(l, on_other_defer, &s);
	loop_defer(l, on_other_defer, &s);
	loop_defer(l, on_other_defer, &t);
	loop_defer(l, on_defer, &s);
	loop_defer_cancel(l, on_other_defer, &t);
	assert_int_equal(loop_run(l, &e), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(t.n, 0);
	assert_int_equal(s.calls, 3);
	loop_free(l);
}

static void on_stop(void *ctx)
{
	loop_stop(ctx);
}

static void test_stop(void **state)
{
	struct loop *l = new_loop(state);
	struct seen s = { .l = l };
	struct err e = { 0 };
	int p[2];

	assert_int_equal(pipe(p), 0);
	assert_non_null(loop_fd_add(l, p[0], LOOP_READ, on_fd, &s, &e));
	loop_stop(l);
	assert_int_equal(loop_run(l, &e), 0);
	loop_defer(l, on_stop, l);
	assert_int_equal(loop_run(l, &e), 0);
	loop_free(l);
	loop_free(NULL);
	close(p[0]);
	close(p[1]);
}

/* ---- children and signals */

struct ended { int count, status; pid_t pid; };

static void on_child(void *ctx, pid_t pid, int status)
{
	struct ended *c = ctx;

	c->count++;
	c->pid = pid;
	c->status = status;
}

static pid_t child_exit(int code, int wait_fd)
{
	char c;
	pid_t pid = fork();

	if (pid == 0) {
		if (wait_fd >= 0 && read(wait_fd, &c, 1) < 0)
			_exit(99);
		_exit(code);
	}
	assert_true(pid > 0);
	return pid;
}

static void test_children(void **state)
{
	struct loop *l = new_loop(state);
	struct ended a = { 0 }, b = { 0 }, gone = { 0 };
	struct err e = { 0 };
	int p[2], status;
	pid_t early, late, removed;
	siginfo_t si;

	assert_int_equal(pipe(p), 0);
	early = child_exit(3, -1);
	/* It has ended (but is not reaped) before the loop hears of it. */
	assert_int_equal(waitid(P_PID, (id_t)early, &si, WEXITED | WNOWAIT), 0);
	late = child_exit(4, p[0]);
	removed = child_exit(5, p[0]);
	assert_non_null(loop_child_add(l, early, on_child, &a, &e));
	assert_non_null(loop_child_add(l, late, on_child, &b, &e));
	loop_child_remove(loop_child_add(l, removed, on_child, &gone, &e));
	while (a.count == 0)
		assert_int_equal(loop_turn(l, -1, &e), 0);
	assert_int_equal(a.pid, early);
	assert_true(WIFEXITED(a.status) && WEXITSTATUS(a.status) == 3);
	assert_int_equal(b.count, 0);
	assert_int_equal(kill(late, SIGKILL), 0);
	assert_int_equal(loop_run(l, &e), 0);
	assert_true(WIFSIGNALED(b.status) && WTERMSIG(b.status) == SIGKILL);
	assert_int_equal(b.count, 1);
	assert_int_equal(a.count, 1);
	/* The removed one is still reaped: wait for that without the loop taking it for work. */
	assert_int_equal(write(p[1], "x", 1), 1);
	while (waitid(P_PID, (id_t)removed, &si, WEXITED | WNOWAIT | WNOHANG) == 0)
		assert_int_equal(loop_turn(l, 1, &e), 0);
	assert_int_equal(gone.count, 0);
	assert_int_equal(waitpid(removed, &status, WNOHANG), -1);
	close(p[0]);
	close(p[1]);
	loop_free(l);
}

static void test_child_reaped_elsewhere(void **state)
{
	struct loop *l = new_loop(state);
	struct ended a = { 0 };
	struct err e = { 0 };
	pid_t pid = child_exit(0, -1);
	int status;

	assert_non_null(loop_child_add(l, pid, on_child, &a, &e));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(loop_run(l, &e), 0);
	assert_int_equal(a.count, 1);
	assert_true(WIFEXITED(a.status) && WEXITSTATUS(a.status) == 255);
	loop_free(l);
}

static void on_signal(void *ctx, int signo)
{
	struct seen *s = ctx;

	s->order[s->n++] = signo == SIGUSR1 ? '1' : '2';
}

static void test_signals(void **state)
{
	struct loop *l = new_loop(state);
	struct seen s = { .l = l }, s2 = { .l = l };
	struct err e = { 0 };
	struct sigaction before = { .sa_handler = SIG_IGN }, now;
	int i;

	assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
	assert_int_equal(loop_signal_add(l, SIGUSR1, on_signal, &s, &e), 0);
	assert_int_equal(loop_signal_add(l, SIGUSR2, on_signal, &s, &e), 0);
	assert_int_equal(loop_signal_add(l, SIGUSR1, on_signal, &s2, &e), 0);
	assert_int_equal(loop_signal_add(l, SIGKILL, on_signal, &s, &e), ERR_IO);
	err_clear(&e);
	assert_int_equal(loop_signal_add(l, 0, on_signal, &s, &e), ERR_USAGE);
	/* Signals alone do not keep the loop going. */
	assert_int_equal(loop_run(l, &e), 0);
	raise(SIGUSR1);
	raise(SIGUSR2);
	assert_int_equal(s.n, 0);
	assert_int_equal(loop_turn(l, -1, &e), 0);
	assert_string_equal(s.order, "12");
	assert_string_equal(s2.order, "1");
	assert_int_equal(loop_turn(l, 0, &e), 0);
	assert_int_equal(s.n, 2);
	/* More than the pipe holds: nothing blocks, nothing is lost. */
	for (i = 0; i < 70000; i++)
		raise(SIGUSR2);
	for (i = 0; i < 2000; i++)
		assert_int_equal(loop_turn(l, 0, &e), 0);
	assert_true(s.n >= 3);
	loop_free(l);
	assert_int_equal(sigaction(SIGUSR1, NULL, &now), 0);
	assert_ptr_equal(now.sa_handler, SIG_IGN);
	assert_int_equal(sigaction(SIGUSR2, NULL, &now), 0);
	assert_ptr_equal(now.sa_handler, SIG_DFL);
}

#define BOTH(f) { #f "/epoll", f, NULL, NULL, NULL }, { #f "/poll", f, NULL, NULL, (void *)1 }

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_readable_writable), BOTH(test_remove_other_in_callback), BOTH(test_remove_self_and_nest),
		BOTH(test_always_ready), BOTH(test_bad_fd), BOTH(test_many_ready), BOTH(test_timer_order),
		BOTH(test_timer_remove_in_callback), BOTH(test_timer_many), BOTH(test_timer_does_not_starve),
		BOTH(test_defer), BOTH(test_stop), BOTH(test_children), BOTH(test_child_reaped_elsewhere), BOTH(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
