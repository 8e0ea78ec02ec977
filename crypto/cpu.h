/* crypto/cpu.h: instructions of the processor that were made for ciphers and hashes, as libcrypto uses them: what its
 * environment variables (OPENSSL_ia32cap, OPENSSL_armcap) switch off is not there. */
#ifndef CRYPTO_CPU_H
#define CRYPTO_CPU_H

#include <stdint.h>

enum cpu_feature {
	CPU_AES, CPU_CLMUL,              /* AES rounds; multiplication without carries, for GCM */
	CPU_SHA1, CPU_SHA256, CPU_SHA512,
	CPU_VAES, CPU_AVX2, CPU_AVX512, CPU_NEON,
	CPU_FEATURES
};
#define CPU_BIT(f) (1U << (f))

/* Bits of what is there; 0 also where libcrypto does not tell. */
uint32_t cpu_features(void);
/* The same from libcrypto's description, as cpu_settings gives it. */
uint32_t cpu_features_parse(const char *settings);
const char *cpu_feature_name(enum cpu_feature f);
/* libcrypto's description of the processor; "" if it has none. For a processor of the same kind it is the same text. */
const char *cpu_settings(void);

#endif
