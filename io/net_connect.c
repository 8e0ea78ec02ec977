/* io/net_connect.c: a connection to the first of several addresses that answers, in turn or raced (RFC 8305). */
#include "io/net.h"

#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

enum {
	NET_HAPPY_DELAY_MS = 250,        /* RFC 8305 section 5 */
	NET_HAPPY_DELAY_MIN_MS = 10,     /* RFC 8305 section 5: never less */
	NET_ROUND_PAUSE_MS = 1000
};

struct net_race {
	const char *host;                /* as it was asked for */
	const struct net_connect_options *o;
	const struct net_addresses *list;
	uint64_t deadline_ms;            /* of everything; UINT64_MAX: none */
	size_t next;                     /* address to be tried next */
	struct pollfd *tries;            /* connects under way */
	size_t *which;                   /* their addresses */
	size_t count;
	uint64_t started_ms;             /* when the latest was begun */
	int last_errno;
	struct err bind;                 /* why a source address could not be had */
};

static int net_deadline_wait(uint64_t deadline_ms)
{
	uint64_t now;

	if (deadline_ms == UINT64_MAX)
		return -1;
	now = clock_mono_ms();
	if (now >= deadline_ms)
		return 0;
	return deadline_ms - now > INT_MAX ? INT_MAX : (int)(deadline_ms - now);
}

/* ---- source address */

/* 2: of use anywhere, 1: only on the link or the host, 0: not of this family. */
static int net_interface_rank(const struct sockaddr *sa, int family)
{
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	if (sa == NULL || sa->sa_family != family)
		return 0;
	if (family == AF_INET) {
		memcpy(&four, sa, sizeof(four));
		return ntohl(four.sin_addr.s_addr) >> 24 == 127 ? 1 : 2;
	}
	memcpy(&six, sa, sizeof(six));
	return IN6_IS_ADDR_LOOPBACK(&six.sin6_addr) || IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr) ? 1 : 2;
}

static int net_interface_address(const char *name, int family, struct net_address *out, struct err *e)
{
	struct ifaddrs *list, *i;
	int rank, best = 0;

	if (getifaddrs(&list) != 0)
		return err_set_errno(e, "cannot list interfaces");
	for (i = list; i != NULL; i = i->ifa_next) {
		if (strcmp(i->ifa_name, name) != 0 || !(i->ifa_flags & IFF_UP))
			continue;
		rank = net_interface_rank(i->ifa_addr, family);
		if (rank <= best)
			continue;
		best = rank;
		out->size = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
		memcpy(&out->sa, i->ifa_addr, out->size);
	}
	freeifaddrs(list);
	if (best == 0)
		return err_set(e, ERR_NONE_FOUND, "interface %s has no suitable address", name);
	return 0;
}

static int net_bind_source(int fd, int family, const struct net_connect_options *o, struct err *e)
{
	struct net_addresses found = { 0 };
	struct net_address source = { 0 };
	int r;

	if (o->bind_address != NULL) {
		r = net_resolve(o->bind_address, 0, family, true, &found, e);
		if (r == 0)
			source = found.v[0];
		net_addresses_free(&found);
	} else {
		r = net_interface_address(o->bind_interface, family, &source, e);
	}
	if (r != 0)
		return r;
	if (bind(fd, (const struct sockaddr *)&source.sa, source.size) != 0)
		return err_set_errno(e, "bind %s", o->bind_address != NULL ? o->bind_address : o->bind_interface);
	return 0;
}

/* ---- tries */

static int net_socket(int family, bool mptcp)
{
#if HAVE_DECL_IPPROTO_MPTCP
	int protocol = mptcp ? IPPROTO_MPTCP : 0;
#else
	int protocol = 0;

	if (mptcp) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
#endif
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
}

static int net_try_socket(struct net_race *r, const struct net_address *a)
{
	const struct net_connect_options *o = r->o;
	int fd = net_socket(a->sa.ss_family, o->mptcp);

	if (fd < 0) {
		r->last_errno = errno;
		return -1;
	}
	/* Before connect: the window scale is settled by the first segment (RFC 7323 section 2.2). */
	if (o->rcvbuf_bytes > 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &o->rcvbuf_bytes, sizeof(o->rcvbuf_bytes));
	net_set_nodelay(fd);
	if (o->keepalive)
		net_set_keepalive(fd, true);
	net_set_tos(fd, o->tos);
	err_clear(&r->bind);
	if ((o->bind_address != NULL || o->bind_interface != NULL) &&
	    net_bind_source(fd, a->sa.ss_family, o, &r->bind) != 0) {
		log_debug("%s", err_text(&r->bind));
		close(fd);
		return -1;
	}
	return fd;
}

/* Begins the next connect. The socket if it is there at once; -1 otherwise. */
static int net_race_start(struct net_race *r)
{
	const struct net_address *a = &r->list->v[r->next++];
	char host[128];
	uint16_t port;
	int fd;

	net_format(a, host, sizeof(host), &port);
	log_debug("Connecting to %s [%s] port %u.", r->host, host, (unsigned)port);
	r->started_ms = clock_mono_ms();
	fd = net_try_socket(r, a);
	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)&a->sa, a->size) == 0)
		return fd;
	if (errno == EINPROGRESS || errno == EINTR) {
		r->which[r->count] = r->next - 1;
		r->tries[r->count++] = (struct pollfd){ .fd = fd, .events = POLLOUT };
		return -1;
	}
	r->last_errno = errno;
	log_debug("connect to address %s port %u: %s", host, (unsigned)port, strerror(errno));
	close(fd);
	return -1;
}

static void net_race_drop(struct net_race *r, size_t i)
{
	r->count--;
	r->tries[i] = r->tries[r->count];
	r->which[i] = r->which[r->count];
}

/* Looks at the tries that poll() reported: the socket of one that is connected, or -1. */
static int net_race_look(struct net_race *r)
{
	char host[128];
	uint16_t port;
	size_t i = 0;
	int fd, why;
	socklen_t size;

	while (i < r->count) {
		if (r->tries[i].revents == 0) {
			i++;
			continue;
		}
		fd = r->tries[i].fd;
		size = sizeof(why);
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size) != 0)
			why = errno;
		net_format(&r->list->v[r->which[i]], host, sizeof(host), &port);
		net_race_drop(r, i);
		if (why == 0)
			return fd;
		r->last_errno = why;
		log_debug("connect to address %s port %u: %s", host, (unsigned)port, strerror(why));
		close(fd);
	}
	return -1;
}

/* Is it time for the next address? */
static bool net_race_may_start(const struct net_race *r, uint64_t delay_ms)
{
	if (r->next == r->list->count)
		return false;
	return r->count == 0 || (r->o->happy_eyes && clock_mono_ms() - r->started_ms >= delay_ms);
}

/* One round over all addresses: a connected socket or -1. */
static int net_race_round(struct net_race *r)
{
	uint64_t delay = NET_HAPPY_DELAY_MS, until;
	int fd = -1, n;

	if (r->o->happy_delay_ms > 0)
		delay = r->o->happy_delay_ms < NET_HAPPY_DELAY_MIN_MS ? NET_HAPPY_DELAY_MIN_MS : (uint64_t)r->o->happy_delay_ms;
	r->next = 0;
	while (fd < 0 && (r->count != 0 || r->next < r->list->count)) {
		if (net_race_may_start(r, delay)) {
			fd = net_race_start(r);
			continue;
		}
		until = r->deadline_ms;
		if (r->o->happy_eyes && r->next < r->list->count && r->started_ms + delay < until)
			until = r->started_ms + delay;
		n = poll(r->tries, (nfds_t)r->count, net_deadline_wait(until));
		if (n < 0 && errno != EINTR) {
			r->last_errno = errno;
			break;
		}
		if (n > 0)
			fd = net_race_look(r);
		if (fd < 0 && net_deadline_wait(r->deadline_ms) == 0) {
			r->last_errno = ETIMEDOUT;
			break;
		}
	}
	while (r->count != 0)
		close(r->tries[--r->count].fd);
	return fd;
}

/* RFC 8305 section 4: families take turns, beginning with that of the resolver's first choice. */
static void net_interleave(struct net_addresses *a)
{
	struct net_address *v = mem_array(a->count, sizeof(*v));
	size_t at[2] = { 0, 0 }, n = 0, side = 0;
	sa_family_t first = a->v[0].sa.ss_family;

	while (n < a->count) {
		while (at[side] < a->count && (a->v[at[side]].sa.ss_family == first) != (side == 0))
			at[side]++;
		if (at[side] < a->count)
			v[n++] = a->v[at[side]++];
		side = 1 - side;
	}
	free(a->v);
	a->v = v;
}

/* All rounds: a connected socket or -1. */
static int net_race_run(struct net_race *r)
{
	unsigned rounds = r->o->attempts != 0 ? r->o->attempts : 1, i;
	uint64_t until;
	int fd = -1;

	r->tries = mem_array(r->list->count, sizeof(r->tries[0]));
	r->which = mem_array(r->list->count, sizeof(r->which[0]));
	for (i = 0; i < rounds && fd < 0; i++) {
		if (i != 0) {
			until = clock_mono_ms() + NET_ROUND_PAUSE_MS;
			if (until >= r->deadline_ms)
				break;
			log_debug("Trying again...");
			(void)poll(NULL, 0, net_deadline_wait(until));
		}
		fd = net_race_round(r);
	}
	free(r->tries);
	free(r->which);
	return fd;
}

int net_connect(const char *host, uint16_t port, const struct net_connect_options *o, struct err *e)
{
	struct net_addresses list;
	struct net_race race = { .host = host, .o = o, .list = &list, .deadline_ms = UINT64_MAX };
	int fd;

	if (o->timeout_ms > 0)
		race.deadline_ms = clock_mono_ms() + (uint64_t)o->timeout_ms;
	fd = net_resolve(host, port, o->family, false, &list, e);
	if (fd != 0)
		return fd;
	if (o->happy_eyes)
		net_interleave(&list);
	fd = net_race_run(&race);
	net_addresses_free(&list);
	if (fd >= 0) {
		(void)net_set_nonblocking(fd, false);
		return fd;
	}
	if (race.bind.code != 0)
		return err_set(e, ERR_IO, "connect to host %s port %u: %s", host, (unsigned)port, err_text(&race.bind));
	errno = race.last_errno;
	return err_set_errno(e, "connect to host %s port %u", host, (unsigned)port);
}

int net_connect_start(const struct net_address *a, struct err *e)
{
	int fd = net_socket(a->sa.ss_family, false);

	if (fd < 0)
		return err_set_errno(e, "socket");
	net_set_nodelay(fd);
	if (connect(fd, (const struct sockaddr *)&a->sa, a->size) == 0 || errno == EINPROGRESS || errno == EINTR)
		return fd;
	err_set(e, ERR_IO, "%s", strerror(errno));
	close(fd);
	return ERR_IO;
}

int net_connect_finish(int fd, struct err *e)
{
	int why = 0;
	socklen_t size = sizeof(why);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size) != 0)
		why = errno;
	return why == 0 ? 0 : err_set(e, ERR_IO, "%s", strerror(why));
}
