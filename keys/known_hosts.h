/* keys/known_hosts.h: the files of host keys. */
#ifndef KEYS_KNOWN_HOSTS_H
#define KEYS_KNOWN_HOSTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"
#include "keys/key.h"

/* "host", or "[host]:port" when port is not 22; lower case; allocated. */
char *known_hosts_name(const char *host, uint16_t port);

struct known_hosts_entry {       /* one line that matched the name */
	const char *path;        /* borrowed */
	unsigned line;
	struct key *key;         /* NULL if the type is unknown to us */
	char *key_type;
	enum { KNOWN_PLAIN, KNOWN_REVOKED, KNOWN_CA } marker;
};
struct known_hosts { struct known_hosts_entry *v; size_t count; };

/* Collects the lines of the files (missing ones are skipped; invalid lines are skipped with a debug line naming
 * file:line) whose hosts field matches name (hashed names too). */
int known_hosts_load(const struct str_list *paths, const char *name, struct known_hosts *out, struct err *e) MUST_USE;
/* The same lines out of memory (KnownHostsCommand), added to what out holds. label stands for the path; borrowed. */
void known_hosts_load_text(const char *label, const char *text, size_t n, const char *name, struct known_hosts *out);
void known_hosts_free(struct known_hosts *k);

enum known_hosts_verdict { KNOWN_HOSTS_NEW, KNOWN_HOSTS_OK, KNOWN_HOSTS_CHANGED, KNOWN_HOSTS_REVOKED };
/* Verdict for a presented plain key; *entry (may be NULL) is the line that decided. */
enum known_hosts_verdict known_hosts_check(const struct known_hosts *k, const struct key *key,
	const struct known_hosts_entry **entry);
/* Other names under which the same key is filed, "path:line: names", for the question to the user. */
void known_hosts_other_names(const struct str_list *paths, const struct key *key, struct str_list *out);

/* Appends `name type base64` (name hashed if hash), creating file and ~/.ssh as the spec says, adding a missing
 * final newline. Names with any of @?*#[]|'"\ other than the [host]:port form are refused. */
int known_hosts_append(const char *path, const char *name, const struct key *key, bool hash, struct err *e) MUST_USE;
/* `|1|salt|hash`; allocated. */
char *known_hosts_hash_name(const char *name);

#endif
