/* crypto/block.h: AES in CTR and CBC mode, 3DES, Blowfish and CAST-128 in CBC mode, and RC4, which has no blocks: one
 * long-lived stream a direction. */
#ifndef CRYPTO_BLOCK_H
#define CRYPTO_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

struct block;

/* libcrypto_name: "AES-128-CTR", "DES-EDE3-CBC", ... key and iv have that cipher's sizes. NULL: not offered. */
struct block *block_new(const char *libcrypto_name, bool encrypt, const uint8_t *key, const uint8_t *iv, struct err *e);
/* RC4 with a key of any of its sizes, `skip` bytes of key stream thrown away. */
struct block *block_new_arcfour(const uint8_t *key, size_t key_size, uint64_t skip, struct err *e);
void block_free(struct block *b);                        /* wipes */
/* In place; the stream goes on where the last call ended. CBC: n is a multiple of the block size. */
int block_run(struct block *b, uint8_t *p, size_t n) MUST_USE;
/* CBC: the block that the next one is chained to. CTR: the next counter block. Nothing else changes. */
int block_set_iv(struct block *b, const uint8_t *iv) MUST_USE;
/* CTR: goes to where the stream is `bytes` after its first IV (RFC 4344 §4: a 128-bit counter that wraps). */
int block_seek(struct block *b, const uint8_t *first_iv, uint64_t bytes) MUST_USE;
/* RC4: the stream goes on `bytes` later. It has to be walked, so this takes its time. */
int block_skip(struct block *b, uint64_t bytes) MUST_USE;

#endif
