/* crypto/hmac.h: HMAC (RFC 2104) under one key for many messages. For a single one see digest_hmac. */
#ifndef CRYPTO_HMAC_H
#define CRYPTO_HMAC_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "crypto/digest.h"
#include "wire/reader.h"

struct hmac;
struct hmac *hmac_new(enum digest_alg alg, const void *key, size_t key_size, struct err *e);
void hmac_free(struct hmac *h);                          /* wipes */
/* Of the concatenation of `count` views; out holds digest_size bytes. */
int hmac_compute(struct hmac *h, const struct view *v, size_t count, uint8_t *out) MUST_USE;

#endif
