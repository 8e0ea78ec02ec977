/* seal.h: whole packets sealed and opened (RFC 4253 §6): padding, cipher and MAC of one direction together. Engine.
 * No queues and no buffers here: a packet lies at p and stays there. */
#ifndef SEAL_H
#define SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "cipher.h"
#include "mac.h"
#include "wire/buf.h"
#include "wire/reader.h"

struct compress_alg;

/* The algorithms of one direction. mac is NULL for AEAD; cipher none with mac none is both "none" rows. */
struct packet_suite {
	const struct cipher_alg *cipher;
	const struct mac_alg *mac;
	const struct compress_alg *compress;     /* negotiated, NULL: none; runs only after packet_start_compression */
};
struct packet_keys { const uint8_t *iv, *key, *mac_key; };       /* sizes as the rows say */

enum {
	SEAL_HEAD = 5,           /* packet_length and padding_length */
	SEAL_PADDING_MIN = 4,    /* RFC 4253 §6 */
	SEAL_PADDING_MAX = 255,
	SEAL_TAIL_MAX = SEAL_PADDING_MAX + 64    /* padding and MAC or tag behind a payload */
};

struct seal;
/* keys may be NULL only where no key is needed (both none). */
struct seal *seal_new(const struct packet_suite *s, const struct packet_keys *k, bool sealing, struct err *e);
void seal_free(struct seal *s);                          /* wipes */
size_t seal_tag_size(const struct seal *s);              /* bytes behind the packet: MAC or AEAD tag */
size_t seal_block_size(const struct seal *s);            /* for padding and accounting */
/* Bytes of padding for a payload. pad_to: the whole is filled up to a multiple of it too, as far as the 255 bytes of
 * padding go; 0: the least. */
size_t seal_padding(const struct seal *s, size_t payload, size_t pad_to);
/* Payload lies at p + SEAL_HEAD, with room for padding and tag behind. Everything else is filled in and sealed. *total:
 * size of the packet with its tag. */
int seal_packet(struct seal *s, uint32_t seq, uint8_t *p, size_t payload, size_t padding, size_t *total) MUST_USE;

/* The packet_length of the packet that begins at p, of which n bytes are there. 1: *length is known and possible;
 * 0: more bytes are needed; ERR_PEER: no packet of that length can be. Part of the packet may have been opened in place:
 * after 1 or ERR_PEER it is not asked again for the same packet. */
int seal_peek(struct seal *s, uint32_t seq, uint8_t *p, size_t n, uint32_t max, uint32_t *length) MUST_USE;
/* Bytes of a packet that seal_peek needs, and may open. */
size_t seal_peek_size(const struct seal *s);
bool seal_length_possible(const struct seal *s, uint32_t length, uint32_t max);
/* Opens the packet at p in place; 4 + length + tag bytes are there. Checks MAC or tag and padding. *payload: how much lies
 * at p + SEAL_HEAD. ERR_CRYPTO: a tag or an encrypt-then-mac MAC is wrong; ERR_PEER: anything else. */
int seal_open(struct seal *s, uint32_t seq, uint8_t *p, uint32_t length, size_t *payload) MUST_USE;

/* ---- several packets at once ----
 *
 * Packets that follow each other are sealed or opened side by side; what comes out is what one after the other gives. Each
 * thread beside the caller's has a cipher and a MAC of its own with the same key, made when it is first needed. */
struct workers;
struct seal_item {
	uint8_t *p;              /* the packet, as for seal_packet or seal_open */
	uint32_t seq, length;    /* length: packet_length */
	size_t payload;          /* opened: bytes at p + SEAL_HEAD */
	int result;
	uint64_t position;       /* of the cipher before it; for seal.c */
};
/* Called right after seal_new with the same keys: keeps a copy for more threads. Without it nothing is shared. */
void seal_allow_sharing(struct seal *s, const struct packet_keys *k);
/* Whether packets can be sealed, or opened, out of turn: no cipher that chains them, for opening a length that is not sealed
 * in one stream with the packet, and something to do at all. False also where seal_allow_sharing was not called. */
bool seal_can_share(const struct seal *s);
/* The first half of seal_packet: everything but cipher and MAC. Returns packet_length; *total as there. */
uint32_t seal_fill(struct seal *s, uint8_t *p, size_t payload, size_t padding, size_t *total);
/* Packets after seal_fill: the second half. */
int seal_finish_all(struct seal *s, struct workers *w, struct seal_item *items, size_t n) MUST_USE;
/* Packets after seal_peek. Each item has its own result, as seal_open gives it: what lies behind one that failed is of no use. */
void seal_open_all(struct seal *s, struct workers *w, struct seal_item *items, size_t n);

/* For hand-off: where the cipher is in its stream, as a string; and the contents of that string into a seal that was made
 * with the same keys and first IV. */
void seal_save(const struct seal *s, struct buf *out);
int seal_restore(struct seal *s, struct reader *r) MUST_USE;

/* True if a wrong length or MAC must not show at once, since the cipher would be an oracle (CBC without
 * encrypt-then-mac). */
bool seal_hides_failure(const struct seal *s);
/* Spends the time that opening n bytes of a packet at p takes, which are garbage afterwards; so is the cipher's stream. */
void seal_waste(struct seal *s, uint32_t seq, uint8_t *p, size_t n);

#endif
