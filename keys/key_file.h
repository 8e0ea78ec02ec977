/* keys/key_file.h: private and public key files (ssh-keygen(1), FILES). */
#ifndef KEYS_KEY_FILE_H
#define KEYS_KEY_FILE_H

#include <stdbool.h>
#include "base/err.h"
#include "keys/key.h"

/* From the text of a file: openssh-key-v1 first, then PEM and PKCS#8. passphrase NULL: none given.
 * ERR_DENIED: a passphrase is needed or wrong. ERR_PEER: not a private key file ("invalid format").
 * *comment (may be NULL) is allocated; "" if none. */
int key_private_parse(const char *text, size_t n, const char *passphrase, struct key **out, char **comment,
	struct err *e) MUST_USE;
/* Opens, checks the permissions (owned by the caller and mode & 077: ERR_USAGE after the usual UNPROTECTED PRIVATE KEY
 * FILE banner went to the log; asking for a passphrase is no use then), parses. ERR_IO if it cannot be read. */
int key_private_load(const char *path, const char *passphrase, struct key **out, char **comment, struct err *e) MUST_USE;
/* The public key of FILE, looked for where OpenSSH does: FILE, FILE.pub, the public part inside an openssh-key-v1 file. A public
 * key line without comment gives the name of its file; a private key file its comment, "" if that is encrypted. */
int key_public_load(const char *path, struct key **out, char **comment, struct err *e) MUST_USE;
/* One line `[blanks]TYPE BASE64 [comment]`. ERR_PEER if malformed, ERR_NONE_FOUND for an unknown type. */
int key_public_parse(const char *line, struct key **out, char **comment, struct err *e) MUST_USE;
/* A line of any file that lists keys: a public key, authorized_keys (options in front), known_hosts (names in front, maybe
 * a marker). *comment is the comment, else what stood in front, else "". */
int key_listed_parse(const char *line, struct key **out, char **comment, struct err *e) MUST_USE;

struct key_write_options {
	const char *passphrase;  /* NULL or "": unencrypted */
	const char *comment;
	const char *cipher;      /* NULL: aes256-ctr */
	unsigned rounds;         /* 0: 24 */
	enum { KEY_FORMAT_OPENSSH, KEY_FORMAT_PEM, KEY_FORMAT_PKCS8 } format;
};
/* Text of a private key file. */
int key_private_write(const struct key *k, const struct key_write_options *o, struct buf *out, struct err *e) MUST_USE;
/* Writes such a text to a file that only the owner may read. An old file is replaced as a whole or not at all; its owner
 * is kept if that can be done. What is no regular file (a pipe, a device) is written to. */
int key_private_save(const char *path, const struct key *k, const struct key_write_options *o, struct err *e) MUST_USE;
/* The public line with comment (NULL or "": none), mode 0644 under the umask. */
int key_public_save(const char *path, const struct key *k, const char *comment, struct err *e) MUST_USE;

#endif
