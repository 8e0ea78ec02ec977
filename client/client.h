/* client/client.h: one connection to a server as an object: connect, keys, host key, authentication, the none switch; then
 * channels. Several live in one process on one loop; every failure returns. */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "channel/channel.h"
#include "client/client_options.h"
#include "client/tokens.h"

struct loop;
struct client;

struct client_events {
	void *ctx;
	/* Authenticated, and a none switch that was asked for is in force or given up: channels may be opened. */
	void (*ready)(void *ctx, struct client *c);
	/* The connection is over, after or before ready. e->code is 0 or ERR_CLOSED when it ended in order. What a user
	 * should read has not been printed yet: client_report_end does. Once; the object is freed by its owner later. */
	void (*ended)(void *ctx, struct client *c, const struct err *e);
	/* Requests and channel opens of the server that are not the client's own business; may be NULL: refused. */
	const struct channels_user *channels;
};

struct client_setup {
	const struct client_options *options;    /* filled and expanded; borrowed for the life of the client */
	const struct client_tokens *tokens;      /* borrowed likewise */
	const char *program;                     /* name in messages: "ssh", "scp" */
	bool wants_tty;                          /* a terminal will be asked for: no none switch (HPN-README 1) */
	struct client_events events;
};

/* Connects (blocking, with timeout), starts the exchange; the rest happens on the loop. NULL and the text that the user
 * shall see otherwise. */
struct client *client_new(struct loop *l, const struct client_setup *s, struct err *e);
void client_free(struct client *c);

struct channels *client_channels(struct client *c);      /* NULL before ready */
struct carrier *client_carrier(struct client *c);
struct transport *client_transport(struct client *c);
const struct client_options *client_options(const struct client *c);
/* Peer's address as text and port; "UNKNOWN" 65535 through a proxy. */
const char *client_peer_address(const struct client *c, uint16_t *port);
/* The user-visible lines for how it ended ("Connection to HOST closed by remote host." ...). */
void client_report_end(struct client *c, const struct err *e);
/* DISCONNECT "disconnected by user" (11), waits shortly for it to leave. */
void client_disconnect(struct client *c);
/* Ends the threads that seal and open, until there is bulk data again. Before a fork that no exec follows. */
void client_stop_threads(struct client *c);
/* Verbose figures at the end: Transferred, Bytes per second. */
void client_log_totals(struct client *c);

#endif
