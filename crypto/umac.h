/* crypto/umac.h: UMAC-64 and UMAC-128 (RFC 4418) with AES-128 and 8-byte nonces. */
#ifndef CRYPTO_UMAC_H
#define CRYPTO_UMAC_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

enum { UMAC_KEY_SIZE = 16, UMAC_MESSAGE_MAX = 1 << 24 };

struct umac;
struct nh;       /* umac_simd.h */
struct umac *umac_new(const uint8_t *key, size_t tag_size, struct err *e);       /* tag_size 8 or 16 */
/* The same with a given NH, for tests and measurements. */
struct umac *umac_new_with(const struct nh *nh, const uint8_t *key, size_t tag_size, struct err *e);
void umac_free(struct umac *u);                          /* wipes */
/* nonce: as 8 bytes big-endian; never the same for two messages under one key. n up to UMAC_MESSAGE_MAX: longer
 * messages would need another hash, which no packet does (ERR_USAGE). */
int umac_compute(struct umac *u, uint64_t nonce, const void *p, size_t n, uint8_t *tag) MUST_USE;

#endif
