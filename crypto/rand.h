/* crypto/rand.h: random bytes. */
#ifndef CRYPTO_RAND_H
#define CRYPTO_RAND_H

#include <stddef.h>
#include <stdint.h>

/* Fills p from libcrypto's generator; the process is aborted if there is no randomness. Must have been called once
 * before a chroot or sandbox (rand_prepare). */
void rand_bytes(void *p, size_t n);
uint32_t rand_u32(void);
uint32_t rand_below(uint32_t bound);     /* uniform in [0, bound) */
void rand_prepare(void);
/* Padding and other bytes that must differ but need not be secret: a buffered stream, cheap per packet. */
void rand_padding(uint8_t *p, size_t n);

#endif
