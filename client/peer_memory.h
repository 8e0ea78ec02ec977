/* client/peer_memory.h: what earlier connections have learnt about servers, to need fewer round trips (docs/PROTOCOL.md). A cache:
 * nothing of it is secret or believed. It says what is tried first, never what is accepted; without it all works as well.
 *
 * $XDG_CACHE_HOME/wirespeed/peers, or ~/.cache/wirespeed/peers, mode 0600: a line with a salt, then one line a server and user,
 * the latest first, by a salted hash of user, host and port, so that the file does not tell where its owner has been. */
#ifndef CLIENT_PEER_MEMORY_H
#define CLIENT_PEER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "client/client_auth.h"
#include "transport.h"

enum {
	PEER_MEMORY_NAME_MAX = 64,               /* of a field, with its NUL */
	PEER_MEMORY_HASH = 16, PEER_MEMORY_SALT = 16,    /* bytes */
	PEER_MEMORY_RECORDS_MAX = 256,
	PEER_MEMORY_FILE_MAX = 128 * 1024
};

/* The number that the server gave the first channel of a connection. OpenSSH gives 0; one that ever did otherwise is not relied on
 * any more. */
enum peer_first { PEER_FIRST_UNKNOWN, PEER_FIRST_ZERO, PEER_FIRST_OTHER };

struct peer_record {
	enum peer_kind kind;
	/* What our lists, in the order that is configured, would have agreed on with the server's; "": unknown. */
	char kex[PEER_MEMORY_NAME_MAX], host_key[PEER_MEMORY_NAME_MAX];
	bool guess;                              /* the server would take the first packet of these for a right guess */
	struct auth_login login;
	enum peer_first first;
};

struct peer_entry { uint8_t hash[PEER_MEMORY_HASH]; struct peer_record record; };

/* The file as it was read; embedded, zero-initialised is empty. Owned by whoever made it. */
struct peer_memory {
	uint8_t salt[PEER_MEMORY_SALT];
	bool salted;
	struct peer_entry *v;
	size_t count;
};

/* Whose. host as known_hosts files it (HostKeyAlias or name, lower case). Borrowed. */
struct peer_name { const char *user, *host; uint16_t port; };

/* Path of the file by the environment and home; NULL if neither says. Allocated. */
char *peer_memory_path(const char *home);
/* Reads the file. What is not ours alone, too long or not understood counts as empty; why is a debug line. */
void peer_memory_load(struct peer_memory *m, const char *path);
void peer_memory_clear(struct peer_memory *m);
/* Text of a file; ERR_PEER and empty if there is anything wrong with it. */
int peer_memory_parse(struct peer_memory *m, const char *text, size_t n, struct err *e) MUST_USE;
/* The same as text; allocated. */
char *peer_memory_text(const struct peer_memory *m);
/* NULL: nothing is known. Borrowed until m changes. */
const struct peer_record *peer_memory_find(const struct peer_memory *m, const struct peer_name *who);
/* Puts r first in place of what was known; the oldest are dropped beyond PEER_MEMORY_RECORDS_MAX. False: r was there as it
 * is and not far from the front, so that nothing has to be written. */
bool peer_memory_put(struct peer_memory *m, const struct peer_name *who, const struct peer_record *r);
/* The file is read anew, r put into it, and the file replaced as a whole if that changed anything. Folders are made. Failing
 * is a debug line. */
void peer_memory_store(const char *path, const struct peer_name *who, const struct peer_record *r);

#endif
