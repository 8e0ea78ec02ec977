/* client/client_auth.h: the client's side of RFC 4252: which methods and keys are tried, in which order. */
#ifndef CLIENT_CLIENT_AUTH_H
#define CLIENT_CLIENT_AUTH_H

#include <stdbool.h>
#include "base/err.h"
#include "client/client_options.h"
#include "client/tokens.h"
#include "packet.h"

struct carrier;
struct client_auth;

struct client_auth_setup {
	struct carrier *carrier;                 /* messages go out through its transport; borrowed */
	const struct client_options *options;
	const struct client_tokens *tokens;
	/* The next three are copied. */
	const char *user;                        /* remote user */
	const char *prompt_host;                 /* HostKeyAlias or host, for "user@host's password: " */
	const char *via;                         /* "[1.2.3.4]:22" or "via proxy", for the verbose line */
	bool weakened;                           /* no password, no keyboard-interactive (client/hostkey.h) */
	void *ctx;
	void (*success)(void *ctx);              /* USERAUTH_SUCCESS was received; the message was the last one taken */
	void (*failure)(void *ctx, const struct err *e);  /* "user@host: Permission denied (methods)." and the like */
};

/* Sends SERVICE_REQUEST and goes on from there. */
struct client_auth *client_auth_new(const struct client_auth_setup *s, struct err *e);
void client_auth_free(struct client_auth *a);
/* One message from the transport (SERVICE_ACCEPT, 50 to 79). Negative: recorded with carrier_fail. May block in prompts and
 * in the agent. */
int client_auth_message(struct client_auth *a, const struct message *m) MUST_USE;
/* Method that succeeded, "publickey" ... */
const char *client_auth_method(const struct client_auth *a);

#endif
