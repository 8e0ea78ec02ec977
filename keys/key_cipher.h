/* keys/key_cipher.h: the ciphers of encrypted private key files: the names of the packet ciphers, one message each. */
#ifndef KEYS_KEY_CIPHER_H
#define KEYS_KEY_CIPHER_H

#include <stdint.h>
#include "base/err.h"
#include "wire/reader.h"

enum key_cipher_mode { KEY_CIPHER_NONE, KEY_CIPHER_BLOCK, KEY_CIPHER_GCM, KEY_CIPHER_CHACHAPOLY };

enum { KEY_CIPHER_SECRET_MAX = 64 };     /* key and IV together; no row needs more */

struct key_cipher {
	const char *name;
	enum key_cipher_mode mode;
	uint8_t key_size, iv_size, block_size, tag_size;
	const char *libcrypto_name;
};

/* "none" is found too; NULL if unknown. */
const struct key_cipher *key_cipher_find(struct view name);

/* secret: key_size bytes of key, then iv_size of IV. n is a multiple of block_size; behind p[n] lie tag_size bytes of
 * room or tag. In place. open: ERR_CRYPTO if the tag is wrong. */
int key_cipher_seal(const struct key_cipher *c, const uint8_t *secret, uint8_t *p, size_t n, struct err *e) MUST_USE;
int key_cipher_open(const struct key_cipher *c, const uint8_t *secret, uint8_t *p, size_t n, struct err *e) MUST_USE;

#endif
