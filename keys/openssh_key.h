/* keys/openssh_key.h: the openssh-key-v1 file (OpenSSH's PROTOCOL.key). Only for keys/. */
#ifndef KEYS_OPENSSH_KEY_H
#define KEYS_OPENSSH_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include "keys/key_file.h"

/* Whether the text starts with the BEGIN line. */
bool openssh_key_is(const char *text, size_t n);
/* As key_private_parse. */
int openssh_key_parse(const char *text, size_t n, const char *passphrase, struct key **out, char **comment,
	struct err *e) MUST_USE;
/* The public key, which is never encrypted. */
int openssh_key_parse_public(const char *text, size_t n, struct key **out, struct err *e) MUST_USE;
/* As key_private_write. */
int openssh_key_write(const struct key *k, const struct key_write_options *o, struct buf *out, struct err *e) MUST_USE;

#endif
