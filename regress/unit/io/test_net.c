/* regress/unit/io/test_net.c: names, connections, listeners, descriptors over sockets; on loopback. */
#include "io/net.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct net_connect_options plain = { .family = AF_UNSPEC, .tos = -1 };
static const struct net_listen_options any = { .family = AF_UNSPEC };

static int setup(void **state)
{
	(void)state;
	log_init("test_net", LOG_LEVEL_QUIET);
	return 0;
}

static uint16_t listen_on(const char *host, struct net_listeners *l)
{
	struct err e = { 0 };
	char name[128];
	uint16_t port;

	*l = (struct net_listeners){ .count = 0 };
	if (net_listen(host, 0, &any, l, &e) != 0)
		return 0;
	net_local(l->fd[0], name, sizeof(name), &port);
	return port;
}

static void close_all(struct net_listeners *l)
{
	while (l->count != 0)
		close(l->fd[--l->count]);
}

static int accept_one(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int c;

	assert_int_equal(poll(&p, 1, 10000), 1);
	c = accept(fd, NULL, NULL);
	assert_true(c >= 0);
	return c;
}

static void test_resolve(void **state)
{
	struct net_addresses a;
	struct err e = { 0 };
	char host[128];
	uint16_t port;

	assert_int_equal(net_resolve("127.0.0.1", 22, AF_UNSPEC, false, &a, &e), 0);
	assert_int_equal(a.count, 1);
	assert_string_equal(a.canonical, "127.0.0.1");
	net_format(&a.v[0], host, sizeof(host), &port);
	assert_string_equal(host, "127.0.0.1");
	assert_int_equal(port, 22);
	net_addresses_free(&a);
	assert_null(a.v);
	assert_int_equal(net_resolve("::1", 65535, AF_UNSPEC, false, &a, &e), 0);
	net_format(&a.v[0], host, sizeof(host), &port);
	assert_string_equal(host, "::1");
	assert_int_equal(port, 65535);
	net_addresses_free(&a);
	assert_int_equal(net_resolve("::ffff:10.1.2.3", 1, AF_INET6, false, &a, &e), 0);
	net_format(&a.v[0], host, sizeof(host), &port);
	assert_string_equal(host, "10.1.2.3");
	net_addresses_free(&a);
	assert_int_equal(net_resolve(NULL, 22, AF_INET, true, &a, &e), 0);
	net_format(&a.v[0], host, sizeof(host), &port);
	assert_string_equal(host, "0.0.0.0");
	net_addresses_free(&a);
	assert_int_equal(net_resolve("127.0.0.1", 22, AF_INET6, false, &a, &e), ERR_NONE_FOUND);
	assert_true(strncmp(err_text(&e), "Could not resolve hostname 127.0.0.1: ", 38) == 0);
	assert_null(a.v);
	err_clear(&e);
	assert_int_equal(net_resolve("no such.host", 22, AF_UNSPEC, false, &a, &e), ERR_NONE_FOUND);
}

static void test_connect(void **state)
{
	struct net_listeners l;
	struct net_connect_options o = plain;
	uint16_t port = listen_on("127.0.0.1", &l), there;
	struct err e = { 0 };
	char host[128], host2[128];
	int fd, peer, v;
	socklen_t n = sizeof(v);

	assert_int_not_equal(port, 0);
	assert_true(fcntl(l.fd[0], F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(l.fd[0], F_GETFD) & FD_CLOEXEC);
	o.keepalive = true;
	o.tos = 0x10;
	o.rcvbuf_bytes = 50000;
	o.bind_address = "127.0.0.9";
	o.timeout_ms = 5000;
	fd = net_connect("127.0.0.1", port, &o, &e);
	assert_true(fd >= 0);
	peer = accept_one(l.fd[0]);
	assert_false(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &v, &n), 0);
	assert_int_not_equal(v, 0);
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &v, &n), 0);
	assert_int_not_equal(v, 0);
	assert_int_equal(getsockopt(fd, IPPROTO_IP, IP_TOS, &v, &n), 0);
	assert_int_equal(v, 0x10);
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &v, &n), 0);
	assert_int_equal(v, 100000);
	net_peer(fd, host, sizeof(host), &there);
	assert_string_equal(host, "127.0.0.1");
	assert_int_equal(there, port);
	net_peer(peer, host, sizeof(host), &there);
	assert_string_equal(host, "127.0.0.9");
	net_local(fd, host2, sizeof(host2), &port);
	assert_string_equal(host2, host);
	assert_int_equal(port, there);
	net_set_notsent_lowat(fd, 65536);
	net_set_keepalive(fd, false);
	net_set_tos(fd, -1);
	assert_int_equal(net_set_nonblocking(fd, true), 0);
	assert_int_equal(net_set_nonblocking(-1, true), ERR_IO);
	close(fd);
	close(peer);
	o.bind_address = NULL;
	o.bind_interface = "lo";
	net_local(l.fd[0], host, sizeof(host), &port);
	fd = net_connect("127.0.0.1", port, &o, &e);
	assert_true(fd >= 0);
	close(fd);
	o.bind_interface = "no-such-if";
	assert_int_equal(net_connect("127.0.0.1", port, &o, &e), ERR_IO);
	assert_non_null(strstr(err_text(&e), "interface no-such-if has no suitable address"));
	close_all(&l);
}

static void test_refused(void **state)
{
	struct net_listeners l;
	uint16_t port = listen_on("127.0.0.1", &l);
	struct net_connect_options o = plain;
	struct err e = { 0 };
	char want[100];
	uint64_t start = clock_mono_ms();

	close_all(&l);
	snprintf(want, sizeof(want), "connect to host 127.0.0.1 port %u: %s", (unsigned)port, strerror(ECONNREFUSED));
	assert_int_equal(net_connect("127.0.0.1", port, &o, &e), ERR_IO);
	assert_string_equal(err_text(&e), want);
	assert_true(clock_mono_ms() - start < 900);
	/* A second round comes a second later. */
	o.attempts = 2;
	err_clear(&e);
	start = clock_mono_ms();
	assert_int_equal(net_connect("127.0.0.1", port, &o, &e), ERR_IO);
	assert_string_equal(err_text(&e), want);
	assert_true(clock_mono_ms() - start >= 1000);
	/* Unless the time is up before. */
	o.timeout_ms = 100;
	start = clock_mono_ms();
	assert_int_equal(net_connect("127.0.0.1", port, &o, NULL), ERR_IO);
	assert_true(clock_mono_ms() - start < 900);
}

/* A listener whose queue is full lets SYNs go unanswered: the kernel's own black hole. */
static int fill_queue(struct net_listeners *l, uint16_t *port, int *fds, int max)
{
	struct net_listen_options o = { .family = AF_INET, .backlog = 1 };
	struct sockaddr_in sin = { .sin_family = AF_INET };
	char name[128];
	int n;

	*l = (struct net_listeners){ .count = 0 };
	assert_int_equal(net_listen("127.0.0.1", 0, &o, l, NULL), 0);
	net_local(l->fd[0], name, sizeof(name), port);
	sin.sin_port = htons(*port);
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (n = 0; n < max; n++) {
		struct pollfd p = { .events = POLLOUT };

		fds[n] = p.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)!connect(fds[n], (const struct sockaddr *)&sin, sizeof(sin));
		if (poll(&p, 1, 50) == 0)
			return n + 1;
	}
	return -1;
}

static void test_timeout(void **state)
{
	struct net_listeners l;
	struct net_connect_options o = plain;
	struct err e = { 0 };
	int fds[16], n;
	uint16_t port;
	uint64_t start;

	n = fill_queue(&l, &port, fds, 16);
	if (n < 0)
		skip();
	o.timeout_ms = 150;
	start = clock_mono_ms();
	assert_int_equal(net_connect("127.0.0.1", port, &o, &e), ERR_IO);
	assert_non_null(strstr(err_text(&e), strerror(ETIMEDOUT)));
	assert_true(clock_mono_ms() - start >= 150);
	o.happy_eyes = true;
	err_clear(&e);
	assert_int_equal(net_connect("127.0.0.1", port, &o, &e), ERR_IO);
	assert_non_null(strstr(err_text(&e), strerror(ETIMEDOUT)));
	while (n-- != 0)
		close(fds[n]);
	close_all(&l);
}

static void test_happy(void **state)
{
	struct net_listeners l;
	struct net_connect_options o = plain;
	uint16_t port = listen_on("127.0.0.1", &l);
	struct err e = { 0 };
	int fd;

	/* localhost is ::1 (refused) and 127.0.0.1 on most machines, in any order. */
	o.happy_eyes = true;
	o.happy_delay_ms = 20;
	fd = net_connect("localhost", port, &o, &e);
	assert_true(fd >= 0);
	close(fd);
	fd = net_connect("localhost", port, &plain, &e);
	assert_true(fd >= 0);
	close(fd);
	close_all(&l);
	assert_int_equal(net_connect("localhost", port, &o, &e), ERR_IO);
	assert_non_null(strstr(err_text(&e), strerror(ECONNREFUSED)));
}

static void test_listen(void **state)
{
	struct net_listeners l = { .count = 0 }, l2 = { .count = 0 };
	struct err e = { 0 };
	uint16_t port, other;
	char host[128];
	size_t i;
	int fd;

	/* All addresses, any port: the same port for each. */
	assert_int_equal(net_listen(NULL, 0, &any, &l, &e), 0);
	net_local(l.fd[0], host, sizeof(host), &port);
	assert_int_not_equal(port, 0);
	for (i = 0; i < l.count; i++) {
		net_local(l.fd[i], host, sizeof(host), &other);
		assert_int_equal(other, port);
	}
	fd = net_connect("127.0.0.1", port, &plain, &e);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(net_listen(NULL, port, &any, &l2, &e), ERR_IO);
	assert_int_equal(l2.count, 0);
	close_all(&l);
	err_clear(&e);
	assert_int_equal(net_listen("not a host", 1, &any, &l2, &e), ERR_NONE_FOUND);
	l2.count = NET_LISTEN_MAX;
	assert_int_equal(net_listen("127.0.0.1", 0, &any, &l2, NULL), ERR_IO);
}

static void test_not_internet(void **state)
{
	int sv[2];
	char host[32];
	uint16_t port;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	net_peer(sv[0], host, sizeof(host), &port);
	assert_string_equal(host, "UNKNOWN");
	assert_int_equal(port, 65535);
	net_local(-1, host, sizeof(host), &port);
	assert_string_equal(host, "UNKNOWN");
	/* Tuning of what cannot be tuned does no harm. */
	net_set_nodelay(sv[0]);
	net_set_tos(sv[0], 8);
	net_set_notsent_lowat(sv[0], 1);
	close(sv[0]);
	close(sv[1]);
}

static void test_fds(void **state)
{
	struct err e = { 0 };
	int sv[2], p[2], got[4], many[4], i;
	size_t n;
	char c;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	assert_int_equal(pipe(p), 0);
	assert_int_equal(net_send_fds(sv[0], p, 2, &e), 0);
	assert_int_equal(net_recv_fds(sv[1], got, 4, &n, &e), 0);
	assert_int_equal(n, 2);
	assert_true(fcntl(got[0], F_GETFD) & FD_CLOEXEC);
	assert_int_equal(write(got[1], "z", 1), 1);
	assert_int_equal(read(p[0], &c, 1), 1);
	assert_int_equal(c, 'z');
	close(got[0]);
	close(got[1]);
	/* Too many for the receiver: none stays open. */
	for (i = 0; i < 4; i++)
		many[i] = p[0];
	assert_int_equal(net_send_fds(sv[0], many, 4, &e), 0);
	i = dup(p[0]);
	close(i);
	assert_int_equal(net_recv_fds(sv[1], got, 3, &n, &e), ERR_PEER);
	assert_int_equal(n, 0);
	assert_int_equal(dup(p[0]), i);
	close(i);
	err_clear(&e);
	assert_int_equal(net_send_fds(sv[0], many, 0, &e), ERR_USAGE);
	assert_int_equal(net_send_fds(sv[0], many, 5, NULL), ERR_USAGE);
	/* A byte that brings nothing; nothing yet; the end. */
	assert_int_equal(write(sv[0], "x", 1), 1);
	assert_int_equal(net_recv_fds(sv[1], got, 3, &n, NULL), ERR_PEER);
	assert_int_equal(net_set_nonblocking(sv[1], true), 0);
	assert_int_equal(net_recv_fds(sv[1], got, 3, &n, NULL), ERR_AGAIN);
	close(sv[0]);
	assert_int_equal(net_recv_fds(sv[1], got, 3, &n, NULL), ERR_CLOSED);
	assert_int_equal(net_send_fds(sv[1], p, 1, NULL), ERR_IO);
	close(sv[1]);
	close(p[0]);
	close(p[1]);
}

static int wait_connect(int fd, struct err *e)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	assert_int_equal(poll(&p, 1, 10000), 1);
	return net_connect_finish(fd, e);
}

static void test_start_and_finish(void **state)
{
	struct net_listeners l;
	struct net_addresses a;
	uint16_t port = listen_on("127.0.0.1", &l);
	struct err e = { 0 };
	int fd;

	assert_int_equal(net_resolve("127.0.0.1", port, AF_INET, false, &a, &e), 0);
	fd = net_connect_start(&a.v[0], &e);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(wait_connect(fd, &e), 0);
	close(fd);
	close_all(&l);
	fd = net_connect_start(&a.v[0], &e);
	if (fd >= 0) {
		assert_int_equal(wait_connect(fd, &e), ERR_IO);
		close(fd);
	}
	assert_string_equal(err_text(&e), strerror(ECONNREFUSED));
	net_addresses_free(&a);
}

static void test_unix(void **state)
{
	char path[64], far[200];
	struct err e = { 0 };
	struct stat st;
	mode_t before = umask(077);
	int l, fd, c;

	snprintf(path, sizeof(path), "/tmp/wsnetunix.%d", (int)getpid());
	memset(far, 'x', sizeof(far) - 1);
	far[sizeof(far) - 1] = '\0';
	l = net_unix_listen(path, 0620, 0, &e);
	assert_true(l >= 0);
	assert_int_equal(umask(before), 077);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0620);
	assert_true(fcntl(l, F_GETFL) & O_NONBLOCK);
	fd = net_unix_connect(path, &e);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	c = accept_one(l);
	close(c);
	close(fd);
	assert_int_equal(net_unix_listen(path, 0600, 0, &e), ERR_IO);
	assert_int_equal(access(path, F_OK), 0);
	close(l);
	err_clear(&e);
	assert_int_equal(net_unix_connect(path, &e), ERR_IO);
	unlink(path);
	assert_int_equal(net_unix_connect(path, NULL), ERR_IO);
	assert_int_equal(net_unix_connect(far, NULL), ERR_USAGE);
	assert_int_equal(net_unix_listen(far, 0600, 0, NULL), ERR_USAGE);
	assert_int_equal(net_unix_listen("", 0600, 0, NULL), ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resolve), cmocka_unit_test(test_connect), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_timeout), cmocka_unit_test(test_happy), cmocka_unit_test(test_listen),
		cmocka_unit_test(test_not_internet), cmocka_unit_test(test_fds),
		cmocka_unit_test(test_start_and_finish), cmocka_unit_test(test_unix),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
