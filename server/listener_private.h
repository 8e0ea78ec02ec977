/* server/listener_private.h: the listener's state; for listener.c only. */
#ifndef SERVER_LISTENER_PRIVATE_H
#define SERVER_LISTENER_PRIVATE_H

#include "server/listener.h"
#include "server/peer_source.h"
#include "server/penalties.h"
#include "server/startups.h"

struct loop;
struct loop_fd;
struct loop_timer;
struct loop_child;

struct connection {
	struct connection *next;
	struct listener *listener;
	pid_t pid;
	int notify;                      /* the monitor writes a byte there when somebody was let in */
	struct loop_fd *watch;
	struct loop_timer *timer;        /* LoginGraceTime */
	struct loop_child *child;
	struct source source;
	char *address, *local_address;
	bool starting;                   /* counts for MaxStartups */
	bool authenticated, grace_over, adopted;
};

struct listener {
	struct listener_start *start;
	struct loop *loop;
	struct net_listeners sockets;
	struct loop_fd *watches[NET_LISTEN_MAX];
	struct loop_timer *pause;        /* accepts again after running out of descriptors */
	int handover_fd;
	struct startups_limits limits;
	unsigned v4_bits, v6_bits;
	uint64_t grace_ms;
	struct penalties *penalties;     /* NULL: off */
	struct drop_log penalty_drops, startup_drops;
	struct connection *connections;
	bool served;
	int signo, status;
	enum listener_end why;
};

#endif
