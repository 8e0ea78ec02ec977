/* crypto/umac_simd.h: NH, the inner hash of UMAC (RFC 4418 §5.2.2), for the processor at hand. For crypto/ only. */
#ifndef CRYPTO_UMAC_SIMD_H
#define CRYPTO_UMAC_SIMD_H

#include <stddef.h>
#include <stdint.h>

enum {
	NH_BLOCK = 1024,                 /* bytes hashed at once */
	NH_STREAMS_MAX = 4,
	NH_KEY_WORDS = (NH_BLOCK + (NH_STREAMS_MAX - 1) * 16) / 4,
	NH_KEY_SIZE = NH_KEY_WORDS / 4 * 64,     /* as prepared, the largest of all kinds */
	NH_ALIGN = 64
};

/* One way to compute NH. `streams` hashes (2 or 4) are made in one pass; stream j uses the key from word 4j on. */
struct nh {
	const char *name;
	/* words: NH_KEY_WORDS key words as numbers. key: NH_KEY_SIZE bytes aligned to NH_ALIGN. */
	void (*prepare)(const uint32_t *words, void *key);
	/* `count` messages of `size` bytes (a multiple of 32, at most NH_BLOCK), one after the other at m. out holds
	 * count * streams sums, those of one message together. */
	void (*hash)(const void *key, size_t streams, const uint8_t *m, size_t size, size_t count, uint64_t *out);
};

/* Kind i of those that run on this processor, best first; NULL past the end. The last is plain C. */
const struct nh *nh_at(size_t i);

#endif
