/* cipher.h: the packet ciphers of RFC 4253 §6.3 by their names; what cipher.c, mac.c and seal.c agree on. */
#ifndef CIPHER_H
#define CIPHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "wire/buf.h"
#include "wire/reader.h"

enum cipher_mode { CIPHER_NONE, CIPHER_CTR, CIPHER_CBC, CIPHER_GCM, CIPHER_CHACHAPOLY, CIPHER_STREAM };

/* One row a cipher. */
struct cipher_alg {
	const char *name;
	enum cipher_mode mode;
	uint16_t key_size, iv_size;      /* bytes that key derivation must give */
	uint16_t block_size;             /* for padding and rekey accounting: 8 or 16 */
	uint16_t tag_size;               /* AEAD tag, 0 otherwise */
	bool legacy;                     /* never in a default list */
	const char *libcrypto_name;
	uint16_t skip;                   /* bytes of key stream that are thrown away first (RFC 4345 §4) */
};

/* By exact name; NULL if unknown or if libcrypto does not offer it. "none" is found too: callers decide. */
const struct cipher_alg *cipher_find(struct view name);
/* Rows for -Q, in OpenSSH's order; NULL past the end. "none" is not among them. */
const struct cipher_alg *cipher_at(size_t i);
const char *cipher_name_at(size_t i);                    /* the same, its name */
/* Ciphers that are not offered unless they are made ready, since nobody needs them as a rule (crypto_load_legacy): does so
 * for one name, or for all of a comma separated list. Before threads, chroot and sandbox. 0: offered now, as far as these
 * names are known at all; ERR_CRYPTO: not, and the first reason. */
int cipher_prepare(const char *names, struct err *e);
/* The same for all of them, to show what can be had. */
void cipher_prepare_all(void);
static inline bool cipher_is_aead(const struct cipher_alg *c) { return c->tag_size != 0; }

/* A keyed cipher of one direction. GCM and chacha include their authentication. */
struct cipher;
struct cipher *cipher_new(const struct cipher_alg *alg, bool encrypt, const uint8_t *key, const uint8_t *iv,
	struct err *e);
void cipher_free(struct cipher *c);                      /* wipes */
const struct cipher_alg *cipher_alg(const struct cipher *c);

/* A packet lies at p: 4 bytes of length field, then n bytes of body; for AEAD tag_size bytes of room (or tag) after
 * it. Everything happens in place.
 *   AEAD            seal: writes the tag; open: checks it first, ERR_CRYPTO.
 *                   GCM leaves the length in clear, chacha seals it (OpenSSH's PROTOCOL.chacha20poly1305).
 *   CTR, CBC        length_clear (EtM): only the body is worked on; otherwise length and body together.
 *   none            nothing.
 * seq is the packet's sequence number (chacha's nonce). */
int cipher_seal(struct cipher *c, uint32_t seq, uint8_t *p, size_t n, bool length_clear) MUST_USE;
int cipher_open(struct cipher *c, uint32_t seq, uint8_t *p, size_t n, bool length_clear) MUST_USE;
/* How many bytes at the start of a packet must be there before its length is known: 4, or the block size for ciphers
 * that encrypt the length with the body. */
size_t cipher_peek_size(const struct cipher *c, bool length_clear);
/* The packet_length of the packet at p, of which cipher_peek_size bytes are there. For CTR and CBC without length_clear
 * the first block is decrypted IN PLACE, once (the caller remembers that), and cipher_open_rest does what follows it;
 * for chacha the bytes at p stay sealed. */
uint32_t cipher_peek_length(struct cipher *c, uint32_t seq, uint8_t *p, bool length_clear);
int cipher_open_rest(struct cipher *c, uint8_t *p, size_t n) MUST_USE;   /* p after the first block, n bytes */

/* For packets that are worked on out of turn, by several ciphers with the same key. Where the stream is or will be: GCM counts
 * packets, CTR bytes, chacha nothing (it has seq). Ciphers that need the packet before (CBC) cannot be moved. */
static inline bool cipher_can_move(const struct cipher_alg *c)
{
	return c->mode == CIPHER_CTR || c->mode == CIPHER_GCM || c->mode == CIPHER_CHACHAPOLY || c->mode == CIPHER_NONE;
}
uint64_t cipher_position(const struct cipher *c);
/* The position behind a packet with a body of n bytes that is sealed or opened at `position`. */
uint64_t cipher_position_after(const struct cipher *c, uint64_t position, size_t n, bool length_clear);
int cipher_move(struct cipher *c, uint64_t position) MUST_USE;

/* Hand-off: where the stream stands since it was keyed, as uint64 position (GCM: packets, CTR: bytes) and string
 * last sealed block (CBC). Arcfour walks there, so its position is bounded. Put back into a new cipher made from the same row, direction, key and first IV. */
void cipher_save(const struct cipher *c, struct buf *out);
int cipher_restore(struct cipher *c, struct reader *r) MUST_USE;

#endif
