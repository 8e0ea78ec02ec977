/* regress/unit/io/test_link.c: byte links over descriptors and in memory, and the ring below them. */
#include "io/link.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/loop.h"
#include "io/ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_ring(void **state)
{
	struct ring r = { .limit = 50000 };
	struct iovec iov[RING_IOV];
	uint8_t next_in = 0, next_out = 0;
	const uint8_t *p;
	unsigned seed = 7, i;
	size_t n, k, total = 0, wrapped = 0;
	int count, c;

	/* Random lends and takes: what goes in comes out, in order, within the limit. */
	for (i = 0; i < 20000; i++) {
		seed = seed * 1103515245 + 12345;
		n = ring_lend(&r, seed >> 16 & 8191, iov, &count);
		assert_true(r.size + n <= r.limit);
		n = n != 0 && (seed & 0x100) ? n / 2 : n;
		for (c = 0, k = 0; c < count && k < n; c++)
			for (size_t j = 0; j < iov[c].iov_len && k < n; j++, k++)
				((uint8_t *)iov[c].iov_base)[j] = next_in++;
		wrapped += count == 2;
		ring_commit(&r, n);
		total += n;
		seed = seed * 1103515245 + 12345;
		n = ring_peek(&r, &p);
		if (n > (seed >> 16 & 8191))
			n = seed >> 16 & 8191;
		for (k = 0; k < n; k++)
			assert_int_equal(p[k], next_out++);
		ring_consume(&r, n);
		assert_true(r.room <= r.limit);
	}
	assert_true(total > 1000000 && wrapped > 10);
	ring_clear(&r);
	assert_int_equal(ring_lend(&r, 100000, iov, &count), 50000);
	ring_commit(&r, 50000);
	assert_int_equal(ring_lend(&r, 1, iov, &count), 0);
	assert_int_equal(ring_pieces(&r, 10, iov), 1);
	assert_int_equal(iov[0].iov_len, 10);
	ring_clear(&r);
	assert_int_equal(ring_pieces(&r, 10, iov), 0);
}

struct end {
	struct link *l;
	int readable, writable, closed;
	struct err why;
	char got[200000];
	size_t n;
	bool hold;                       /* does not consume */
	bool close_when_readable, finish_at_end;
};

static void on_readable(void *ctx)
{
	struct end *e = ctx;
	const uint8_t *p;
	size_t n;

	e->readable++;
	assert_int_equal(e->closed, 0);
	while (!e->hold && (n = link_peek(e->l, &p)) != 0) {
		assert_true(e->n + n <= sizeof(e->got));
		memcpy(e->got + e->n, p, n);
		e->n += n;
		link_consume(e->l, n);
	}
	if (e->finish_at_end && link_at_end(e->l))
		link_finish(e->l);
	if (e->close_when_readable) {
		link_close(e->l);
		e->l = NULL;
	}
}

static void on_writable(void *ctx)
{
	((struct end *)ctx)->writable++;
}

static void on_closed(void *ctx, const struct err *why)
{
	struct end *e = ctx;

	e->closed++;
	e->why = *why;
}

static void end_init(struct end *e, struct link *l)
{
	memset(e, 0, sizeof(*e));
	e->l = l;
	l->user = (struct link_user){ on_readable, on_writable, on_closed, e };
}

struct two {
	struct loop *loop;
	struct end a, b;
};

static struct two t;

static void two_links(void **state, size_t limit)
{
	struct err e = { 0 };
	struct link *a, *b;
	int sv[2];

	t.loop = loop_new(&e);
	if (*state == NULL) {
		assert_int_equal(link_pair_new(t.loop, limit, &a, &b, &e), 0);
	} else {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
		a = link_fd_new(t.loop, sv[0], sv[0], limit, &e);
		b = link_fd_new(t.loop, sv[1], sv[1], limit, &e);
	}
	assert_true(a != NULL && b != NULL);
	end_init(&t.a, a);
	end_init(&t.b, b);
}

static void turns(int n)
{
	struct err e = { 0 };

	while (n-- > 0)
		assert_int_equal(loop_turn(t.loop, 0, &e), 0);
}

static void both_close(void)
{
	if (t.a.l != NULL)
		link_close(t.a.l);
	if (t.b.l != NULL)
		link_close(t.b.l);
	turns(2);
	loop_free(t.loop);
}

static void test_both_ways(void **state)
{
	two_links(state, 1000);
	assert_true(link_write(t.a.l, "hello ", 6));
	assert_true(link_write(t.a.l, "", 0));
	assert_true(link_write(t.a.l, "world", 5));
	assert_true(link_write(t.b.l, "back", 4));
	assert_int_equal(t.b.n, 0);
	turns(4);
	assert_int_equal(t.b.n, 11);
	assert_memory_equal(t.b.got, "hello world", 11);
	assert_int_equal(t.a.n, 4);
	assert_int_equal(link_pending(t.a.l), 0);
	assert_int_equal(t.a.closed + t.b.closed, 0);
	both_close();
}

static void test_end(void **state)
{
	struct iovec iov[LINK_IOV];
	int count;

	two_links(state, 1000);
	assert_true(link_write(t.a.l, "last", 4));
	link_finish(t.a.l);
	assert_false(link_write(t.a.l, "x", 1));
	assert_int_equal(link_lend(t.a.l, 1, iov, &count), 0);
	turns(4);
	assert_int_equal(t.b.n, 4);
	assert_true(link_at_end(t.b.l));
	assert_false(link_at_end(t.a.l));
	assert_int_equal(t.b.closed, 0);
	/* The other direction is still open. */
	assert_true(link_write(t.b.l, "reply", 5));
	link_finish(t.b.l);
	turns(4);
	assert_memory_equal(t.a.got, "reply", 5);
	assert_int_equal(t.a.closed, 1);
	assert_int_equal(t.b.closed, 1);
	assert_int_equal(t.a.why.code, 0);
	assert_int_equal(t.b.why.code, 0);
	both_close();
}

static void test_closed_after_all_is_consumed(void **state)
{
	const uint8_t *p;

	two_links(state, 1000);
	t.b.hold = true;
	assert_true(link_write(t.a.l, "tail", 4));
	link_finish(t.b.l);
	turns(3);
	link_close(t.a.l);
	t.a.l = NULL;
	turns(4);
	assert_false(link_at_end(t.b.l));
	assert_int_equal(t.b.closed, 0);
	assert_int_equal(link_peek(t.b.l, &p), 4);
	assert_memory_equal(p, "tail", 4);
	link_consume(t.b.l, 4);
	turns(4);
	assert_true(link_at_end(t.b.l));
	assert_int_equal(t.b.closed, 1);
	both_close();
}

static void test_back_pressure(void **state)
{
	struct iovec iov[LINK_IOV];
	size_t sent = 0, n, k, fed = 0;
	const uint8_t *p;
	uint8_t v = 0;
	int count, i;

	two_links(state, 5000);
	t.b.hold = true;
	/* Until nothing more fits anywhere. */
	for (i = 0; i < 2000; i++) {
		n = link_lend(t.a.l, 3000, iov, &count);
		if (n == 0) {
			turns(1);
			if (link_room(t.a.l) == 0 && i > 1000)
				break;
			continue;
		}
		for (k = 0; k < (size_t)count; k++)
			for (size_t j = 0; j < iov[k].iov_len; j++)
				((uint8_t *)iov[k].iov_base)[j] = v++;
		assert_int_equal(link_commit(t.a.l, n), 0);
		sent += n;
	}
	assert_true(sent >= 5000);
	assert_int_equal(link_room(t.a.l), 0);
	assert_false(link_write(t.a.l, "x", 1));
	t.a.writable = 0;
	turns(3);
	assert_int_equal(t.a.writable, 0);
	/* The sink sets the pace. */
	for (i = 0; i < 100000 && fed < sent; i++) {
		n = link_peek(t.b.l, &p);
		for (k = 0; k < n; k++)
			assert_int_equal(p[k], (uint8_t)(fed + k));
		fed += n;
		link_consume(t.b.l, n);
		turns(1);
	}
	assert_int_equal(fed, sent);
	turns(2);
	assert_true(t.a.writable > 0);
	assert_int_equal(link_room(t.a.l), 5000);
	both_close();
}

static void test_close_in_callback(void **state)
{
	two_links(state, 1000);
	t.b.close_when_readable = true;
	assert_true(link_write(t.a.l, "x", 1));
	turns(4);
	assert_null(t.b.l);
	assert_int_equal(t.b.closed, 0);
	assert_true(link_at_end(t.a.l));
	/* Nobody is there to take it. */
	(void)link_write(t.a.l, "y", 1);
	turns(4);
	assert_false(link_write(t.a.l, "z", 1));
	both_close();
}

static void test_commit_nothing(void **state)
{
	struct iovec iov[LINK_IOV];
	int count;

	two_links(state, 1000);
	assert_int_equal(link_lend(t.a.l, 100, iov, &count), 100);
	assert_int_equal(link_commit(t.a.l, 0), 0);
	turns(2);
	assert_int_equal(t.b.readable, 0);
	both_close();
}

/* ---- descriptors only */

static void test_pipes_to_program(void **state)
{
	struct err e = { 0 };
	struct link *l;
	int to[2], from[2];
	char b[100];

	/* Two pipes; the one for output breaks while input still has something to say. */
	t.loop = loop_new(&e);
	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	l = link_fd_new(t.loop, from[0], to[1], 0, &e);
	assert_non_null(l);
	end_init(&t.a, l);
	assert_true(link_write(l, "question", 8));
	turns(2);
	assert_int_equal(read(to[0], b, sizeof(b)), 8);
	close(to[0]);
	assert_int_equal(write(from[1], "broken", 6), 6);
	assert_true(link_write(l, "more", 4));
	turns(3);
	assert_int_equal(t.a.n, 6);
	assert_int_equal(t.a.closed, 0);
	assert_true(t.a.writable > 0);
	assert_false(link_write(l, "more", 4));
	close(from[1]);
	turns(3);
	assert_int_equal(t.a.closed, 1);
	assert_int_equal(t.a.why.code, ERR_IO);
	assert_non_null(strstr(err_text(&t.a.why), strerror(EPIPE)));
	t.b.l = NULL;
	both_close();
}

static void test_blocking_is_restored(void **state)
{
	struct err e = { 0 };
	int p[2], copy;
	struct link *l;

	t.loop = loop_new(&e);
	assert_int_equal(pipe(p), 0);
	copy = dup(p[0]);
	assert_null(link_fd_new(t.loop, p[0], 1000, 0, &e));
	assert_int_equal(fcntl(copy, F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(fcntl(p[0], F_GETFD), 0);
	l = link_fd_new(t.loop, p[0], p[1], 0, &e);
	end_init(&t.a, l);
	assert_int_equal(fcntl(copy, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	link_close(l);
	assert_int_equal(fcntl(copy, F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(fcntl(p[1], F_GETFD), -1);
	loop_free(t.loop);
	close(copy);
}

static void test_file(void **state)
{
	struct err e = { 0 };
	char name[] = "/tmp/wslinkXXXXXX";
	int fd = mkstemp(name), out[2];
	char *text = mem_alloc(150000), *got = mem_alloc(150000);
	size_t n = 0;
	ssize_t r;

	unlink(name);
	memset(text, 'q', 150000);
	assert_int_equal(write(fd, text, 150000), 150000);
	lseek(fd, 0, SEEK_SET);
	t.loop = loop_new(&e);
	assert_int_equal(pipe(out), 0);
	end_init(&t.a, link_fd_new(t.loop, fd, out[1], 0, &e));
	t.a.finish_at_end = true;
	assert_true(link_write(t.a.l, text, 150000));
	while (t.a.closed == 0) {
		turns(1);
		fcntl(out[0], F_SETFL, O_NONBLOCK);
		while ((r = read(out[0], got + n, 150000 - n)) > 0)
			n += (size_t)r;
	}
	assert_int_equal(n, 150000);
	assert_memory_equal(got, text, n);
	assert_int_equal(t.a.n, 150000);
	assert_int_equal(t.a.why.code, 0);
	t.b.l = NULL;
	both_close();
	close(out[0]);
	free(text);
	free(got);
}

static int setup(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

#define BOTH(f) { #f "/memory", f, NULL, NULL, NULL }, { #f "/socket", f, NULL, NULL, (void *)1 }

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring), BOTH(test_both_ways), BOTH(test_end), BOTH(test_closed_after_all_is_consumed),
		BOTH(test_back_pressure), BOTH(test_close_in_callback), BOTH(test_commit_nothing),
		cmocka_unit_test(test_pipes_to_program), cmocka_unit_test(test_blocking_is_restored), cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
