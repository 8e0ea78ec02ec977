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

/* How a login went, for the next one (client/peer_memory.h). Nothing of it is secret; "" where nothing is known. */
struct auth_login {
	char method[32];                         /* the first that the server took: "publickey", "none", ... */
	char key[64];                            /* publickey: fingerprint of the key */
	char alg[64];                            /* and its signature algorithm */
	char before[33];                         /* digest of the keys that are tried before it, which did not do */
};

struct client_auth_setup {
	struct carrier *carrier;                 /* messages go out through its transport; borrowed */
	const struct client_options *options;
	const struct client_tokens *tokens;
	/* The next three are copied. */
	const char *user;                        /* remote user */
	const char *prompt_host;                 /* HostKeyAlias or host, for "user@host's password: " */
	const char *via;                         /* "[1.2.3.4]:22" or "via proxy", for the verbose line */
	bool weakened;                           /* no password, no keyboard-interactive (client/hostkey.h) */
	/* Of the last login as this user, for the first request; NULL: nothing is known. Borrowed by client_auth_new. */
	const struct auth_login *remembered;
	void *ctx;
	void (*success)(void *ctx);              /* USERAUTH_SUCCESS was received; the message was the last one taken */
	void (*failure)(void *ctx, const struct err *e);  /* "user@host: Permission denied (methods)." and the like */
};

/* Sends SERVICE_REQUEST and, without waiting for its answer, the first request: "none", or by a key that needs no question,
 * or about a key (docs/PROTOCOL.md). Never a password. The host key must have been accepted and our NEWKEYS be on their way; the
 * server's, and its EXT_INFO, may still be missing. */
struct client_auth *client_auth_new(const struct client_auth_setup *s, struct err *e);
void client_auth_free(struct client_auth *a);
/* One message from the transport (SERVICE_ACCEPT, 50 to 79). Negative: recorded with carrier_fail. May block in prompts and
 * in the agent. */
int client_auth_message(struct client_auth *a, const struct message *m) MUST_USE;
/* Method that succeeded, "publickey" ... */
const char *client_auth_method(const struct client_auth *a);
/* After success: what to remember. */
void client_auth_login(const struct client_auth *a, struct auth_login *out);

#endif
