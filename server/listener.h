/* server/listener.h: accepts connections, limits them, starts a monitor for each and watches how it ends (SECURITY.md). */
#ifndef SERVER_LISTENER_H
#define SERVER_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "base/err.h"
#include "io/net.h"
#include "server/roles.h"

struct listener;

/* Opens what ListenAddress and Port say; sockets that are inherited already (from before a SIGHUP) are used again, those of
 * them that are not wanted any more are closed. Logs "Server listening on ..." for each. */
int listener_open_sockets(const struct server_options *o, const struct net_listeners *inherited, struct net_listeners *out,
	struct err *e) MUST_USE;

/* Takes over the sockets; start is borrowed. The keys in it are not needed any more and wiped. */
struct listener *listener_new(struct listener_start *start, const struct net_listeners *sockets, struct err *e);
void listener_free(struct listener *l);
/* Children of an earlier image of this process: reaped, not counted. */
void listener_adopt(struct listener *l, const pid_t *pids, size_t count);

enum listener_end {
	LISTENER_STOPPED,        /* SIGTERM, SIGQUIT, SIGINT: listener_signal says which */
	LISTENER_RESTART,        /* SIGHUP */
	LISTENER_SERVED          /* the one connection of -d has ended: listener_status */
};
/* Runs until one of these. After LISTENER_RESTART it may be run again, when the restart could not be done. */
int listener_run(struct listener *l, enum listener_end *why, struct err *e) MUST_USE;
int listener_signal(const struct listener *l);
int listener_status(const struct listener *l);
const struct net_listeners *listener_sockets(const struct listener *l);
/* Pids of all monitors, for the next image. Allocated, comma separated. */
char *listener_children(const struct listener *l);

#endif
