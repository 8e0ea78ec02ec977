/* keys/revoked.h: files that list keys which nobody may use any more (RevokedKeys, RevokedHostKeys): public keys, one a line. */
#ifndef KEYS_REVOKED_H
#define KEYS_REVOKED_H

#include "base/err.h"
#include "keys/key.h"

/* 0: k is not among them. ERR_DENIED: it is, e says at which "path:line". Any other: the file is not understood as a whole
 * (a binary list, a line that is no key, a NUL), or cannot be read; e says why and where. That k is good must not follow from it. */
int key_revoked_by_text(const char *path, const char *text, size_t n, const struct key *k, struct err *e) MUST_USE;
int key_revoked_by_file(const char *path, const struct key *k, struct err *e) MUST_USE;

#endif
