/* crypto/gcm_simd.h: AES-GCM with 96-bit nonces by wide AES and carry-less multiplication instructions. For crypto/ only. */
#ifndef CRYPTO_GCM_SIMD_H
#define CRYPTO_GCM_SIMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gcm_simd;

/* A key of 16 or 32 bytes; NULL where this processor lacks the instructions. */
struct gcm_simd *gcm_simd_new(const uint8_t *key, size_t key_size);
void gcm_simd_free(struct gcm_simd *g);                  /* wipes */

/* One message in place at p; a nonce of 12 bytes. tag gets the 16 bytes that belong to it: whoever opens compares them. */
struct gcm_message {
	const uint8_t *nonce, *aad;
	size_t aad_n;
	uint8_t *p;
	size_t n;
	uint8_t *tag;
};
void gcm_simd_seal(const struct gcm_simd *g, const struct gcm_message *m);
void gcm_simd_open(const struct gcm_simd *g, const struct gcm_message *m);

#endif
