/* What the processor offers, out of libcrypto's text. The texts were made by hand from the bits that each of them names. */
#include "crypto/cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"

static void texts(void **state)
{
	static const struct { const char *text; uint32_t want; } t[] = {
		{ "", 0 }, { "N/A", 0 }, { "OPENSSL_ia32cap", 0 }, { "OPENSSL_ia32cap=", 0 }, { "OPENSSL_ia32cap=x:y", 0 },
		{ "OPENSSL_ia32cap=0x0200000000000000:0x0", CPU_BIT(CPU_AES) },
		{ "OPENSSL_ia32cap=0x0200000200000000:0x0", CPU_BIT(CPU_AES) | CPU_BIT(CPU_CLMUL) },
		{ "OPENSSL_ia32cap=0x0:0x20000000", CPU_BIT(CPU_SHA1) | CPU_BIT(CPU_SHA256) },
		{ "OPENSSL_ia32cap=0x0:0x20010020 env:~0x200000200000000", CPU_BIT(CPU_SHA1) | CPU_BIT(CPU_SHA256) |
			CPU_BIT(CPU_AVX2) | CPU_BIT(CPU_AVX512) },
		{ "OPENSSL_ia32cap=0x0:0x20000000000:0x1:0x2", CPU_BIT(CPU_VAES) },
		{ "OPENSSL_ia32cap=0x0200000000000000", CPU_BIT(CPU_AES) },
		{ "OPENSSL_armcap=0x7d", CPU_BIT(CPU_NEON) | CPU_BIT(CPU_AES) | CPU_BIT(CPU_SHA1) | CPU_BIT(CPU_SHA256) |
			CPU_BIT(CPU_CLMUL) | CPU_BIT(CPU_SHA512) },
		{ "OPENSSL_armcap=0x1", CPU_BIT(CPU_NEON) },
		{ "OPENSSL_s390xcap=stfle:0x1", 0 },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(t); i++)
		assert_int_equal(cpu_features_parse(t[i].text), t[i].want);
}

static void names(void **state)
{
	(void)state;
	for (int f = 0; f < CPU_FEATURES; f++)
		assert_true(cpu_feature_name((enum cpu_feature)f)[0] != '\0');
	assert_string_equal(cpu_feature_name(CPU_FEATURES), "");
	assert_int_equal(cpu_features(), cpu_features_parse(cpu_settings()));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(texts), cmocka_unit_test(names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
