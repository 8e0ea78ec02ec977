/* io/net_listen.c: listening sockets, and descriptors sent over unix sockets. */
#include "io/net.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/log.h"

enum { NET_BACKLOG = 128, NET_FDS_MAX = 4 };

static void net_set_port(struct net_address *a, uint16_t port)
{
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	if (a->sa.ss_family == AF_INET) {
		memcpy(&four, &a->sa, sizeof(four));
		four.sin_port = htons(port);
		memcpy(&a->sa, &four, sizeof(four));
	} else {
		memcpy(&six, &a->sa, sizeof(six));
		six.sin6_port = htons(port);
		memcpy(&a->sa, &six, sizeof(six));
	}
}

/* One socket, or -1 after logging. */
static int net_listen_one(const struct net_address *a, const struct net_listen_options *o)
{
	char host[128];
	uint16_t port;
	int fd, one = 1, protocol = 0;

	net_format(a, host, sizeof(host), &port);
#if HAVE_DECL_IPPROTO_MPTCP
	if (o->mptcp)
		protocol = IPPROTO_MPTCP;
#endif
	fd = socket(a->sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
	if (fd < 0) {
		/* A kernel without IPv6 is no error: getaddrinfo names :: all the same. */
		log_at(errno == EAFNOSUPPORT ? LOG_LEVEL_VERBOSE : LOG_LEVEL_ERROR, "socket for port %u on %s: %s",
		       (unsigned)port, host, strerror(errno));
		return -1;
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (a->sa.ss_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (bind(fd, (const struct sockaddr *)&a->sa, a->size) != 0) {
		log_error("Bind to port %u on %s failed: %s.", (unsigned)port, host, strerror(errno));
		close(fd);
		return -1;
	}
	if (listen(fd, o->backlog > 0 ? o->backlog : NET_BACKLOG) != 0) {
		log_error("listen on port %u of %s: %s", (unsigned)port, host, strerror(errno));
		close(fd);
		return -1;
	}
	return fd;
}

int net_listen(const char *host, uint16_t port, const struct net_listen_options *o, struct net_listeners *out, struct err *e)
{
	struct net_addresses list;
	char name[128];
	size_t i, made = 0;
	int fd, r;

#if !HAVE_DECL_IPPROTO_MPTCP
	if (o->mptcp)
		return err_set(e, ERR_USAGE, "this system has no MPTCP");
#endif
	r = net_resolve(host, port, o->family, true, &list, e);
	if (r != 0)
		return r;
	for (i = 0; i < list.count && out->count < NET_LISTEN_MAX; i++) {
		fd = net_listen_one(&list.v[i], o);
		if (fd < 0)
			continue;
		out->fd[out->count++] = fd;
		made++;
		/* Any port will do, but the same one for every address. */
		if (port == 0) {
			net_local(fd, name, sizeof(name), &port);
			for (size_t j = i + 1; j < list.count; j++)
				net_set_port(&list.v[j], port);
		}
	}
	net_addresses_free(&list);
	if (made == 0)
		return err_set(e, ERR_IO, "cannot listen on %s port %u", host != NULL ? host : "any address", (unsigned)port);
	return 0;
}

/* ---- descriptors */

union net_control {
	struct cmsghdr align;
	/* Room for more than we take, so that what came too much can be closed. */
	char bytes[CMSG_SPACE(sizeof(int) * NET_FDS_MAX * 4)];
};

int net_send_fds(int sock, const int *fds, size_t count, struct err *e)
{
	union net_control control;
	char byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;
	ssize_t n;

	if (count == 0 || count > NET_FDS_MAX)
		return err_set(e, ERR_USAGE, "1 to %d descriptors can be sent, not %zu", (int)NET_FDS_MAX, count);
	memset(&control, 0, sizeof(control));
	msg.msg_control = control.bytes;
	msg.msg_controllen = CMSG_SPACE(sizeof(int) * count);
	c = CMSG_FIRSTHDR(&msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int) * count);
	memcpy(CMSG_DATA(c), fds, sizeof(int) * count);
	do
		n = sendmsg(sock, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return ERR_AGAIN;
	return n == 1 ? 0 : err_set_errno(e, "cannot send descriptors");
}

/* Takes the descriptors out of a message; those that are too many are closed. */
static size_t net_take_fds(struct msghdr *msg, int *fds, size_t max, bool *too_many)
{
	struct cmsghdr *c;
	size_t got = 0, n, i;
	int fd;

	for (c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (got < max) {
				fds[got++] = fd;
			} else {
				close(fd);
				*too_many = true;
			}
		}
	}
	return got;
}

int net_recv_fds(int sock, int *fds, size_t max, size_t *count, struct err *e)
{
	union net_control control;
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	bool too_many = false;
	ssize_t n;
	size_t i;

	*count = 0;
	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return ERR_AGAIN;
	if (n < 0)
		return err_set_errno(e, "cannot receive descriptors");
	if (n == 0)
		return err_set(e, ERR_CLOSED, "closed where descriptors were awaited");
	*count = net_take_fds(&msg, fds, max, &too_many);
	if (*count != 0 && !too_many && !(msg.msg_flags & MSG_CTRUNC))
		return 0;
	for (i = 0; i < *count; i++)
		close(fds[i]);
	*count = 0;
	return err_set(e, ERR_PEER, too_many ? "more descriptors came than were awaited" : "descriptors did not arrive");
}
