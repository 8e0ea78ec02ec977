/* crypto/block.h: AES and 3DES in CTR and CBC mode: one long-lived stream a direction. */
#ifndef CRYPTO_BLOCK_H
#define CRYPTO_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

struct block;

/* libcrypto_name: "AES-128-CTR", "DES-EDE3-CBC", ... key and iv have that cipher's sizes. NULL: not offered. */
struct block *block_new(const char *libcrypto_name, bool encrypt, const uint8_t *key, const uint8_t *iv, struct err *e);
void block_free(struct block *b);                        /* wipes */
/* In place; the stream goes on where the last call ended. CBC: n is a multiple of the block size. */
int block_run(struct block *b, uint8_t *p, size_t n) MUST_USE;
/* CBC: the block that the next one is chained to. CTR: the next counter block. Nothing else changes. */
int block_set_iv(struct block *b, const uint8_t *iv) MUST_USE;
/* CTR: goes to where the stream is `bytes` after its first IV (RFC 4344 §4: a 128-bit counter that wraps). */
int block_seek(struct block *b, const uint8_t *first_iv, uint64_t bytes) MUST_USE;

#endif
