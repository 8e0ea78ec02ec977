/* crypto/pause_simd.h: what a processor likes to be told inside a loop that waits for another one. */
#ifndef CRYPTO_PAUSE_SIMD_H
#define CRYPTO_PAUSE_SIMD_H

void cpu_pause(void);

#endif
