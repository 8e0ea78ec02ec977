/* crypto/cpu.c: what the processor offers, out of libcrypto's own description of it. */
#include "crypto/cpu.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <openssl/crypto.h>
#include "base/mem.h"

enum { WORDS_MAX = 2 };

/* bit `bit` of word `word` behind the name means `has`. */
struct cap { unsigned word, bit; uint32_t has; };

/* x86: word 0 is CPUID leaf 1 (EDX, then ECX), word 1 leaf 7 (EBX, then ECX). */
static const struct cap x86[] = {
	{ 0, 32 + 25, CPU_BIT(CPU_AES) }, { 0, 32 + 1, CPU_BIT(CPU_CLMUL) },
	{ 1, 29, CPU_BIT(CPU_SHA1) | CPU_BIT(CPU_SHA256) },
	{ 1, 32 + 9, CPU_BIT(CPU_VAES) }, { 1, 5, CPU_BIT(CPU_AVX2) }, { 1, 16, CPU_BIT(CPU_AVX512) },
};
static const struct cap arm[] = {
	{ 0, 0, CPU_BIT(CPU_NEON) }, { 0, 2, CPU_BIT(CPU_AES) }, { 0, 3, CPU_BIT(CPU_SHA1) },
	{ 0, 4, CPU_BIT(CPU_SHA256) }, { 0, 5, CPU_BIT(CPU_CLMUL) }, { 0, 6, CPU_BIT(CPU_SHA512) },
};

static const struct { const char *prefix; const struct cap *caps; size_t count; } kinds[] = {
	{ "OPENSSL_ia32cap=", x86, MEM_COUNT(x86) },
	{ "OPENSSL_armcap=", arm, MEM_COUNT(arm) },
};

/* "0x12:0x34 env:...": the words before anything else. */
static void read_words(const char *text, unsigned long long words[WORDS_MAX])
{
	char *end;

	for (size_t i = 0; i < WORDS_MAX; i++) {
		words[i] = strtoull(text, &end, 16);
		if (*end != ':')
			return;
		text = end + 1;
	}
}

uint32_t cpu_features_parse(const char *settings)
{
	uint32_t features = 0;

	for (size_t i = 0; i < MEM_COUNT(kinds); i++) {
		unsigned long long words[WORDS_MAX] = { 0 };
		size_t n = strlen(kinds[i].prefix);

		if (strncmp(settings, kinds[i].prefix, n) != 0)
			continue;
		read_words(settings + n, words);
		for (size_t j = 0; j < kinds[i].count; j++)
			if ((words[kinds[i].caps[j].word] >> kinds[i].caps[j].bit & 1) != 0)
				features |= kinds[i].caps[j].has;
	}
	return features;
}

const char *cpu_settings(void)
{
	const char *text = OPENSSL_info(OPENSSL_INFO_CPU_SETTINGS);

	return text != NULL ? text : "";
}

uint32_t cpu_features(void)
{
	return cpu_features_parse(cpu_settings());
}

const char *cpu_feature_name(enum cpu_feature f)
{
	static const char *const names[CPU_FEATURES] = {
		[CPU_AES] = "aes", [CPU_CLMUL] = "clmul", [CPU_SHA1] = "sha1", [CPU_SHA256] = "sha256",
		[CPU_SHA512] = "sha512", [CPU_VAES] = "vaes", [CPU_AVX2] = "avx2", [CPU_AVX512] = "avx512",
		[CPU_NEON] = "neon"
	};

	return f < CPU_FEATURES ? names[f] : "";
}
