/* client/hostkey.h: is this the host's key? StrictHostKeyChecking and known_hosts (ssh(1), HOST KEYS). */
#ifndef CLIENT_HOSTKEY_H
#define CLIENT_HOSTKEY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "client/client_options.h"
#include "client/tokens.h"
#include "keys/key.h"

struct hostkey_where {
	const struct client_options *options;
	const struct client_tokens *tokens;
	const char *host;                /* HostKeyAlias or host name, lower case */
	const char *address;             /* numeric, NULL through a proxy */
	uint16_t port;
	bool loopback;                   /* the peer's address is one */
};

struct hostkey_verdict {
	bool weakened;                   /* accepted although changed or revoked (StrictHostKeyChecking no): password,
					  * keyboard-interactive and forwardings are off */
	bool from_user_file;             /* known or confirmed through a user's file */
};

/* Loads known_hosts files, decides, asks the user if need be (tty or askpass; blocking), appends. 0 accepted. ERR_DENIED:
 * refused; what the user should read has been printed; text "Host key verification failed." */
int hostkey_check(const struct hostkey_where *w, struct key *k, struct hostkey_verdict *out, struct err *e) MUST_USE;

/* The list to offer: HostKeyAlgorithms with those types first that known_hosts has for the host.
 * Allocated. */
char *hostkey_order(const struct hostkey_where *w);
/* Whether known_hosts has a key of alg's type for the host. */
bool hostkey_has_type(const struct hostkey_where *w, const struct sig_alg *alg);

#endif
