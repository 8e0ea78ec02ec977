/* server/listener_sockets.c: which sockets to listen on. */
#include "server/listener.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"

static int family_of(const struct server_options *o)
{
	return o->address_family == SERVER_INET ? AF_INET : o->address_family == SERVER_INET6 ? AF_INET6 : AF_UNSPEC;
}

static bool same_address(int fd, const struct net_address *a)
{
	char host[128], want_host[128];
	uint16_t port, want_port;

	net_local(fd, host, sizeof(host), &port);
	net_format(a, want_host, sizeof(want_host), &want_port);
	return port == want_port && strcmp(host, want_host) == 0;
}

/* Moves sockets that are open already and still wanted. False: some address has none. */
static bool take_inherited(const char *host, uint16_t port, int family, struct net_listeners *from,
	struct net_listeners *to)
{
	struct net_addresses want = { 0 };
	bool all = true;

	if (from->count == 0 || net_resolve(host, port, family, true, &want, NULL) < 0)
		return false;
	for (size_t i = 0; i < want.count; i++) {
		bool found = false;

		for (size_t k = 0; k < from->count && !found && to->count < NET_LISTEN_MAX; k++)
			if (from->fd[k] >= 0 && same_address(from->fd[k], &want.v[i])) {
				to->fd[to->count++] = from->fd[k];
				from->fd[k] = -1;
				found = true;
			}
		all &= found;
	}
	net_addresses_free(&want);
	return all;
}

static void open_one(const char *host, uint16_t port, const struct net_listen_options *o, struct net_listeners *inherited,
	struct net_listeners *out)
{
	struct err e = { 0 };
	int r;

	if (take_inherited(host, port, o->family, inherited, out))
		return;
	/* That no address could be bound was logged for each of them. */
	r = net_listen(host, port, o, out, &e);
	if (r < 0)
		log_at(r == ERR_IO ? LOG_LEVEL_VERBOSE : LOG_LEVEL_ERROR, "%s", err_text(&e));
}

int listener_open_sockets(const struct server_options *o, const struct net_listeners *inherited, struct net_listeners *out,
	struct err *e)
{
	struct net_listen_options lo = { .family = family_of(o), .mptcp = o->use_mptcp };
	struct net_listeners old = *inherited;
	static const struct server_listen everywhere = { NULL, 0 };
	size_t specs = o->listen_address.count > 0 ? o->listen_address.count : 1;

	out->count = 0;
	for (size_t i = 0; i < specs; i++) {
		const struct server_listen *spec = o->listen_address.count > 0 ? &o->listen_address.v[i] : &everywhere;

		if (spec->port != 0) {
			open_one(spec->host, (uint16_t)spec->port, &lo, &old, out);
			continue;
		}
		for (size_t p = 0; p < o->port.count; p++)
			open_one(spec->host, (uint16_t)o->port.v[p], &lo, &old, out);
	}
	for (size_t k = 0; k < old.count; k++)
		if (old.fd[k] >= 0)
			close(old.fd[k]);
	if (out->count == 0)
		return err_set(e, ERR_IO, "Cannot bind any address.");
	for (size_t i = 0; i < out->count; i++) {
		char host[128];
		uint16_t port;

		net_local(out->fd[i], host, sizeof(host), &port);
		log_info("Server listening on %s port %u.", host, port);
	}
	return 0;
}
