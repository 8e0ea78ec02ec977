/* server/authorized.h: the files that say whose keys may log in: RevokedKeys and AuthorizedKeysFile (sshd_config(5)).
 * Opened in the name of the user. */
#ifndef SERVER_AUTHORIZED_H
#define SERVER_AUTHORIZED_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "keys/authorized_keys.h"
#include "keys/key.h"
#include "server/account.h"
#include "server/server_options.h"

struct authorized_query {
	const struct server_options *options;
	const struct account *account;
	struct key *key;
	const char *host, *ip;           /* for from= */
	int64_t now;
};
/* 0: the key is in a file and its options let this peer in: *out holds them (clear it). ERR_NONE_FOUND: it is not there;
 * ERR_DENIED: it is, but may not be used, or it is revoked. Logs as the spec says. */
int authorized_find(const struct authorized_query *q, struct key_options *out, struct err *e) MUST_USE;

/* A log text for a key: "ED25519 SHA256:..." by FingerprintHash. Allocated. */
char *authorized_key_text(const struct key *k, const struct server_options *o);

/* Puts both into one: what either forbids is forbidden. ERR_DENIED if they force different commands. For several keys. */
int key_options_restrict(struct key_options *o, const struct key_options *more, struct err *e) MUST_USE;

#endif
