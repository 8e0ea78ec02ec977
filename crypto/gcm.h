/* crypto/gcm.h: AES-GCM as RFC 5647 counts its nonces: 4 fixed bytes, 8 bytes of big-endian counter. */
#ifndef CRYPTO_GCM_H
#define CRYPTO_GCM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

enum { GCM_IV_SIZE = 12, GCM_TAG_SIZE = 16 };

struct gcm;

/* libcrypto_name: "AES-128-GCM" or "AES-256-GCM". iv is that of the first message. */
struct gcm *gcm_new(const char *libcrypto_name, bool encrypt, const uint8_t *key, const uint8_t *iv, struct err *e);
/* The same with the choice made by the caller: libcrypto alone (simd false), or wide AES where the processor has it. For tests
 * and measurements. */
struct gcm *gcm_new_with(bool simd, const char *libcrypto_name, bool encrypt, const uint8_t *key, const uint8_t *iv, struct err *e);
void gcm_free(struct gcm *g);                            /* wipes */
/* One message in place; tag has 16 bytes. The counter goes up by one after each, whatever the result. n may be 0;
 * at most INT_MAX. open: ERR_CRYPTO if the tag is wrong, and then p is zeros, never unverified plaintext. */
int gcm_seal(struct gcm *g, const uint8_t *aad, size_t aad_n, uint8_t *p, size_t n, uint8_t *tag) MUST_USE;
int gcm_open(struct gcm *g, const uint8_t *aad, size_t aad_n, uint8_t *p, size_t n, const uint8_t *tag) MUST_USE;
/* As if `messages` more had passed. */
void gcm_skip(struct gcm *g, uint64_t messages);

#endif
