/* server/host_keys.h: the server's own keys: loaded by the listener, handed over as bytes, made into usable private keys only
 * in a monitor and only when one has to sign. */
#ifndef SERVER_HOST_KEYS_H
#define SERVER_HOST_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"
#include "keys/key.h"
#include "wire/buf.h"
#include "wire/reader.h"

enum { HOST_KEYS_MAX = 32 };
struct host_key {
	struct key *public_key;
	struct buf secret;       /* private fields (key_put_private), wiped when freed */
	struct key *private_key; /* NULL until host_keys_sign needs it */
};
struct host_keys { struct host_key v[HOST_KEYS_MAX]; size_t count; };

/* Loads the files in order. What is wrong with one is logged; files that are only defaults may be missing. A second key of
 * the same kind is left out. Returns how many there are. */
size_t host_keys_load(struct host_keys *k, const struct str_list *paths, bool are_defaults);
/* Takes its own reference. */
int host_keys_add(struct host_keys *k, struct key *private_key) MUST_USE;
void host_keys_clear(struct host_keys *k);

/* Hand-over with the secrets. */
void host_keys_put(const struct host_keys *k, struct buf *out);
int host_keys_get(struct reader *r, struct host_keys *out, struct err *e) MUST_USE;

/* The names for KEXINIT that allowed (comma separated) permits: ed25519 first, which is what a guessing client expects, then
 * in the order of the files. Allocated; "" if nothing is left. */
char *host_keys_algorithms(const struct host_keys *k, const char *allowed);
/* The key with exactly this blob; -1 if there is none. */
int host_keys_find_blob(const struct host_keys *k, struct view blob);
/* Appends a signature blob. */
int host_keys_sign(struct host_keys *k, int at, const struct sig_alg *alg, struct view message, struct buf *out,
	struct err *e) MUST_USE;

#endif
