/* keys/key_rfc4716.h: public keys in the format of RFC 4716, which other programs exchange. */
#ifndef KEYS_KEY_RFC4716_H
#define KEYS_KEY_RFC4716_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "keys/key.h"
#include "wire/buf.h"

/* Whether the text starts with the BEGIN line. */
bool key_rfc4716_is(const char *text, size_t n);
/* Headers are skipped. ERR_PEER if malformed, ERR_NONE_FOUND for an unknown key type. */
int key_rfc4716_parse(const char *text, size_t n, struct key **out, struct err *e) MUST_USE;
/* The comment is cut to 60 bytes so that its line stays short enough (RFC 4716 §3.3); quotes are left out of it. */
void key_rfc4716_put(const struct key *k, const char *comment, struct buf *out);

#endif
