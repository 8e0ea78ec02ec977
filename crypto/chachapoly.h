/* crypto/chachapoly.h: chacha20-poly1305@openssh.com (OpenSSH's PROTOCOL): ChaCha20 with 64-bit nonce and counter,
 * a second key for the packet length, Poly1305 over everything that is sealed. */
#ifndef CRYPTO_CHACHAPOLY_H
#define CRYPTO_CHACHAPOLY_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

enum { CHACHAPOLY_KEY_SIZE = 64, CHACHAPOLY_TAG_SIZE = 16 };

struct chachapoly;       /* serves both directions: it has no state but the keys */
struct chachapoly *chachapoly_new(const uint8_t *key, struct err *e);
void chachapoly_free(struct chachapoly *c);              /* wipes */

/* One message in place: at p header_n bytes (0 or 4) under the header key, n bytes under the main key, then room for
 * the tag, or the tag, of 16 bytes. open: the tag is checked before anything is decrypted; ERR_CRYPTO, and p is as it was. */
int chachapoly_seal(struct chachapoly *c, uint64_t seq, uint8_t *p, size_t header_n, size_t n) MUST_USE;
int chachapoly_open(struct chachapoly *c, uint64_t seq, uint8_t *p, size_t header_n, size_t n) MUST_USE;
/* The four sealed bytes at p as a number; p is not changed, nothing is verified. */
int chachapoly_peek(struct chachapoly *c, uint64_t seq, const uint8_t *p, uint32_t *length) MUST_USE;

#endif
