/* crypto/blowfish.h: Blowfish with the key schedule that bcrypt makes of it. libcrypto 3 has Blowfish in its legacy provider
 * only, and this schedule nowhere. For crypto/ only. */
#ifndef CRYPTO_BLOWFISH_H
#define CRYPTO_BLOWFISH_H

#include <stddef.h>
#include <stdint.h>

struct blowfish { uint32_t p[18], s[4][256]; };  /* secret: the owner wipes it */

enum { BLOWFISH_KEY_WORDS = 16 };                /* of keys and salts here: 64 bytes as big-endian words */

void blowfish_init(struct blowfish *b);                          /* the digits of pi */
void blowfish_expand(struct blowfish *b, const uint32_t *key);   /* the original schedule, on any state */
void blowfish_expand_salted(struct blowfish *b, const uint32_t *salt, const uint32_t *key);
void blowfish_encrypt(const struct blowfish *b, uint32_t *left, uint32_t *right);

#endif
