/* crypto/bcrypt_pbkdf.h: the passphrase hash of openssh-key-v1 files (OpenSSH's PROTOCOL.key). */
#ifndef CRYPTO_BCRYPT_PBKDF_H
#define CRYPTO_BCRYPT_PBKDF_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "wire/reader.h"

enum { BCRYPT_PBKDF_KEY_MAX = 1024, BCRYPT_PBKDF_SALT_MAX = 1 << 20 };

/* Fills key[0..key_size). ERR_USAGE: empty pass or salt, rounds 0, key_size 0 or over BCRYPT_PBKDF_KEY_MAX, salt too
 * long. Takes some milliseconds a round and 32 bytes of key: the caller bounds rounds that a file states. */
int bcrypt_pbkdf(struct view pass, struct view salt, uint32_t rounds, uint8_t *key, size_t key_size,
	struct err *e) MUST_USE;

#endif
