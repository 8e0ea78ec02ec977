/* client/connect.h: how the bytes reach the server: a socket, a proxy command, our own stdin and stdout. */
#ifndef CLIENT_CONNECT_H
#define CLIENT_CONNECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"
#include "client/client_options.h"
#include "client/tokens.h"

struct client_route {
	int fd_in, fd_out;       /* owned; the same for a socket */
	pid_t proxy;             /* 0: none */
	char address[64];        /* numeric peer, "UNKNOWN" through a proxy */
	uint16_t port;           /* of the peer; 65535 through a proxy */
	uint16_t used_port;      /* the one known_hosts files it under */
};

/* Blocking, with ConnectTimeout. The text of an error is what the user shall read, without the program's name. */
int client_connect(const struct client_options *o, const struct client_tokens *t, const char *program,
	struct client_route *out, struct err *e) MUST_USE;
/* Closes the descriptors; the proxy ends by that. */
void client_route_close(struct client_route *r);

#endif
