/* client/hostkey_private.h: what the parts of the host key check share. Only for client/hostkey*.c. */
#ifndef CLIENT_HOSTKEY_PRIVATE_H
#define CLIENT_HOSTKEY_PRIVATE_H

#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"
#include "client/hostkey.h"
#include "keys/known_hosts.h"

/* ---- hostkey_files.c: where keys are looked up */

/* The names a key is filed under, and the files. Owned; zero-initialised is empty. */
struct hostkey_files {
	const struct hostkey_where *w;    /* borrowed */
	struct str_list user, all;       /* the user's files; these and the system's */
	char *name;                      /* "host", "[host]:port", or the alias as it is */
	char *plain_name;                /* the host without its port, where that may be asked too; else NULL */
	char *address_name;              /* of the address, with CheckHostIP; else NULL */
};
int hostkey_files_make(const struct hostkey_where *w, struct hostkey_files *out, struct err *e) MUST_USE;
void hostkey_files_clear(struct hostkey_files *f);
bool hostkey_files_is_user(const struct hostkey_files *f, const struct known_hosts_entry *entry);

/* Why KnownHostsCommand is run (%I). */
#define HOSTKEY_REASON_ADDRESS "ADDRESS"
#define HOSTKEY_REASON_HOSTNAME "HOSTNAME"
#define HOSTKEY_REASON_ORDER "ORDER"
/* Every line for name: of the files, then of KnownHostsCommand. k: the presented key, NULL when there is none yet. */
int hostkey_files_load(const struct hostkey_files *f, const char *name, const char *reason,
	const struct key *k, struct known_hosts *out, struct err *e) MUST_USE;

/* RevokedHostKeys. 0: not in any of them. ERR_DENIED: the key is revoked, or a file cannot be used, which refuses all. */
int hostkey_check_revoked(const struct hostkey_where *w, const struct key *k, struct err *e) MUST_USE;

/* ---- hostkey_ask.c: what the user reads and answers */

enum digest_alg hostkey_digest(const struct client_options *o);
/* The key is unknown under this name. plain: a line for the plain host name that holds another key, or NULL. True: go on. */
bool hostkey_ask_new(const struct hostkey_files *f, const struct key *k,
	const struct known_hosts_entry *plain);
/* The address is filed with another key; the name is fine. */
bool hostkey_ask_address(const struct hostkey_files *f, const struct key *k);

struct hostkey_change {                  /* what there is to say about a key that is not the one on file */
	const struct known_hosts_entry *entry;
	const struct known_hosts_entry *address_entry;   /* offending line of the address, or NULL */
};
void hostkey_warn_changed(const struct hostkey_files *f, const struct key *k,
	const struct hostkey_change *change);
void hostkey_warn_revoked(const struct hostkey_files *f, const struct key *k,
	const struct known_hosts_entry *entry);
void hostkey_warn_address(const struct hostkey_files *f, const struct key *k, const struct known_hosts_entry *entry,
	const struct known_hosts_entry *host_entry);
/* VisualHostKey: fingerprint and picture of a key that is known. */
void hostkey_show(const struct hostkey_files *f, const struct key *k);

#endif
