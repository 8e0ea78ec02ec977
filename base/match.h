/* base/match.h: patterns of configuration files and key files (ssh_config(5), Values). */
#ifndef BASE_MATCH_H
#define BASE_MATCH_H

#include <stdbool.h>
#include "base/err.h"

/* '*' and '?' only. */
bool match_pattern(const char *s, const char *pattern);
/* 1 a positive match and no negated one, -1 a negated match, 0 none. Comma separated; '!' negates.
 * lower: the pattern is lower-cased before comparing (s must be lower case already). */
int match_list(const char *s, const char *list, bool lower);
/* Like match_list for a numeric address; entries with a slash are CIDR (IPv4 and IPv6), others are patterns.
 * Returns -2 if the list holds a bad CIDR (bits over the mask, bad length). addr may be NULL: the list is only checked. */
int match_address(const char *addr, const char *list);
/* Host name or address against one list: name as pattern, address as pattern or CIDR. 1, 0, -1, -2 as above. */
int match_host_or_address(const char *host, const char *addr, const char *list);
/* "user", "user@host" as in AllowUsers. host may be NULL. 1, 0, -2. */
int match_user_host(const char *user, const char *host, const char *addr, const char *pattern);

#endif
