/* io/net.c: names, addresses, and the tuning of sockets. */
#include "io/net.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

int net_resolve(const char *host, uint16_t port, int family, bool passive, struct net_addresses *out, struct err *e)
{
	struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM }, *list = NULL, *ai;
	char service[8];
	size_t n = 0;
	int r;

	*out = (struct net_addresses){ 0 };
	snprintf(service, sizeof(service), "%u", (unsigned)port);
	hints.ai_flags = AI_NUMERICSERV;
	if (passive)
		hints.ai_flags |= AI_PASSIVE;
	else if (host != NULL)
		hints.ai_flags |= AI_CANONNAME;
	r = getaddrinfo(host, service, &hints, &list);
	if (r != 0)
		return err_set(e, ERR_NONE_FOUND, "Could not resolve hostname %.100s: %s", host != NULL ? host : "*",
			       r == EAI_SYSTEM ? strerror(errno) : gai_strerror(r));
	for (ai = list; ai != NULL; ai = ai->ai_next)
		n++;
	out->v = mem_array(n, sizeof(out->v[0]));
	for (ai = list; ai != NULL; ai = ai->ai_next) {
		if ((ai->ai_family != AF_INET && ai->ai_family != AF_INET6) || ai->ai_addrlen > sizeof(out->v[0].sa))
			continue;
		memcpy(&out->v[out->count].sa, ai->ai_addr, ai->ai_addrlen);
		out->v[out->count++].size = ai->ai_addrlen;
	}
	if (list->ai_canonname != NULL)
		out->canonical = mem_strdup(list->ai_canonname);
	freeaddrinfo(list);
	if (out->count != 0)
		return 0;
	net_addresses_free(out);
	return err_set(e, ERR_NONE_FOUND, "Could not resolve hostname %.100s: no internet address", host != NULL ? host : "*");
}

void net_addresses_free(struct net_addresses *a)
{
	free(a->v);
	free(a->canonical);
	*a = (struct net_addresses){ 0 };
}

/* ::ffff:a.b.c.d is what an IPv4 peer looks like on an IPv6 socket: rules and logs want a.b.c.d. */
static struct net_address net_unmap(const struct net_address *a)
{
	struct net_address out = *a;
	struct sockaddr_in6 six;
	struct sockaddr_in four = { .sin_family = AF_INET };

	if (a->sa.ss_family != AF_INET6 || a->size < sizeof(six))
		return out;
	memcpy(&six, &a->sa, sizeof(six));
	if (!IN6_IS_ADDR_V4MAPPED(&six.sin6_addr))
		return out;
	memcpy(&four.sin_addr, &six.sin6_addr.s6_addr[12], 4);
	four.sin_port = six.sin6_port;
	memcpy(&out.sa, &four, sizeof(four));
	out.size = sizeof(four);
	return out;
}

void net_format(const struct net_address *a, char *host, size_t host_size, uint16_t *port)
{
	struct net_address plain = net_unmap(a);
	char service[8];

	if ((plain.sa.ss_family == AF_INET || plain.sa.ss_family == AF_INET6) &&
	    getnameinfo((const struct sockaddr *)&plain.sa, plain.size, host, (socklen_t)host_size, service, sizeof(service),
			NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
		*port = (uint16_t)strtoul(service, NULL, 10);
		return;
	}
	(void)str_copy(host, host_size, "UNKNOWN");
	*port = 65535;
}

static void net_format_end(int fd, int (*get)(int, struct sockaddr *, socklen_t *), char *host, size_t host_size,
	uint16_t *port)
{
	struct net_address a = { .size = sizeof(a.sa) };

	if (get(fd, (struct sockaddr *)&a.sa, &a.size) != 0)
		a.sa.ss_family = AF_UNSPEC;
	net_format(&a, host, host_size, port);
}

static int net_getsockname(int fd, struct sockaddr *sa, socklen_t *size)
{
	return getsockname(fd, sa, size);
}

static int net_getpeername(int fd, struct sockaddr *sa, socklen_t *size)
{
	return getpeername(fd, sa, size);
}

void net_local(int fd, char *host, size_t host_size, uint16_t *port)
{
	net_format_end(fd, net_getsockname, host, host_size, port);
}

void net_peer(int fd, char *host, size_t host_size, uint16_t *port)
{
	net_format_end(fd, net_getpeername, host, host_size, port);
}

/* ---- tuning: each of these may be refused without harm, as by a socket that is no TCP socket */

int net_set_nonblocking(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return ERR_IO;
	if (((flags & O_NONBLOCK) != 0) == on)
		return 0;
	return fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) == 0 ? 0 : ERR_IO;
}

void net_set_nodelay(int fd)
{
	int one = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

void net_set_keepalive(int fd, bool on)
{
	int v = on;

	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &v, sizeof(v));
}

void net_set_tos(int fd, int tos)
{
	struct sockaddr_storage sa;
	socklen_t size = sizeof(sa);

	if (tos < 0 || getsockname(fd, (struct sockaddr *)&sa, &size) != 0)
		return;
#ifdef IPV6_TCLASS
	if (sa.ss_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos));
#endif
	/* On an IPv6 socket this is for a peer that speaks IPv4. */
	if (sa.ss_family == AF_INET || sa.ss_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
}

bool net_set_notsent_lowat(int fd, int bytes)
{
#if HAVE_DECL_TCP_NOTSENT_LOWAT
	return setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof(bytes)) == 0;
#else
	(void)fd;
	(void)bytes;
	return false;
#endif
}

void net_ack_now(int fd)
{
#ifdef TCP_QUICKACK
	int on = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
#else
	(void)fd;
#endif
}

void net_open_receive_window(int fd, int bytes)
{
	int one = 1;

	/* On Linux a socket whose low-water mark is raised gets a buffer that can hold as much, and keeps it. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes)) == 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof(one));
}
