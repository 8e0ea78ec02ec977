/* The packet MACs: rows, what is authenticated, tampering. The functions below have known answers of their own. */
#include "mac.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "crypto/digest.h"
#include "crypto/umac.h"
#include "regress/unit/crypto/unhex.h"
#include "wire/buf.h"

static struct view name_view(const char *z)
{
	return (struct view){ (const uint8_t *)z, strlen(z) };
}

static void rows(void **state)
{
	static const struct { const char *name; unsigned key, tag; bool legacy; } want[] = {
		{ "hmac-sha1", 20, 20, false }, { "hmac-sha1-96", 20, 12, true },
		{ "hmac-sha2-256", 32, 32, false }, { "hmac-sha2-512", 64, 64, false },
		{ "hmac-md5", 16, 16, true }, { "hmac-md5-96", 16, 12, true },
		{ "umac-64@openssh.com", 16, 8, false }, { "umac-128@openssh.com", 16, 16, false },
	};
	size_t count = MEM_COUNT(want), n = 0;

	(void)state;
	for (size_t i = 0; i < 2 * count; i++) {
		const struct mac_alg *a = mac_at(n);
		char name[64];

#ifndef WITH_LEGACY_CIPHERS
		if (want[i % count].legacy)
			continue;
#endif
		n++;
		assert_non_null(a);
		if (i < count) {
			snprintf(name, sizeof(name), "%s", want[i].name);
		} else {         /* the same names with -etm before the at sign, or -etm@openssh.com */
			const char *plain = want[i - count].name, *at = strchr(plain, '@');

			snprintf(name, sizeof(name), "%.*s-etm@openssh.com",
				(int)(at != NULL ? (size_t)(at - plain) : strlen(plain)), plain);
		}
		assert_string_equal(a->name, name);
		assert_ptr_equal(mac_find(name_view(name)), a);
		assert_int_equal(a->key_size, want[i % count].key);
		assert_int_equal(a->tag_size, want[i % count].tag);
		assert_int_equal(a->legacy, want[i % count].legacy);
		assert_int_equal(a->etm, i >= count);
	}
	assert_null(mac_at(n));
	assert_non_null(mac_find(name_view("none")));
	assert_int_equal(mac_find(name_view("none"))->tag_size, 0);
	assert_null(mac_find(name_view("")));
	assert_null(mac_find(name_view("umac-64")));
	assert_null(mac_find(name_view("hmac-sha1-etm")));
}

static uint8_t key[64];

static struct mac *make(const struct mac_alg *alg)
{
	struct err e = { 0 };
	struct mac *m;

	for (unsigned i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)(i * 5 + 9);
	m = mac_new(alg, key, &e);
	if (m == NULL)
		fail_msg("%s: %s", alg->name, err_text(&e));
	assert_ptr_equal(mac_alg(m), alg);
	return m;
}

static void covers_sequence_number_and_packet(void **state)
{
	static const struct { const char *name; enum digest_alg hash; } hmacs[] = {
		{ "hmac-sha1", DIGEST_SHA1 }, { "hmac-sha2-256", DIGEST_SHA256 }, { "hmac-sha2-512", DIGEST_SHA512 },
		{ "hmac-sha2-256-etm@openssh.com", DIGEST_SHA256 },
#ifdef WITH_LEGACY_CIPHERS
		{ "hmac-sha1-96", DIGEST_SHA1 }, { "hmac-md5", DIGEST_MD5 }, { "hmac-md5-96", DIGEST_MD5 },
		{ "hmac-md5-96-etm@openssh.com", DIGEST_MD5 },
#endif
	};
	uint8_t data[4 + 100], want[64], tag[80];

	(void)state;
	wire_store_u32(data, 0xfffefdfc);
	memset(data + 4, 0x33, 100);
	for (size_t i = 0; i < MEM_COUNT(hmacs); i++) {
		const struct mac_alg *alg = mac_find(name_view(hmacs[i].name));
		struct mac *m = make(alg);

		memset(tag, 0xee, sizeof(tag));
		assert_int_equal(digest_hmac(hmacs[i].hash, key, alg->key_size, data, sizeof(data), want), 0);
		assert_int_equal(mac_compute(m, 0xfffefdfc, data + 4, 100, tag), 0);
		assert_memory_equal(tag, want, alg->tag_size);
		assert_int_equal(tag[alg->tag_size], 0xee);
		mac_free(m);
	}
	for (size_t size = 8; size <= 16; size += 8) {
		struct mac *m = make(mac_find(name_view(size == 8 ? "umac-64@openssh.com" : "umac-128-etm@openssh.com")));
		struct umac *u = umac_new(key, size, NULL);

		assert_int_equal(umac_compute(u, 0xfffefdfc, data + 4, 100, want), 0);
		assert_int_equal(mac_compute(m, 0xfffefdfc, data + 4, 100, tag), 0);
		assert_memory_equal(tag, want, size);
		umac_free(u);
		mac_free(m);
	}
}

static void every_size(void **state)
{
	uint8_t *p = mem_zalloc(262144), tag[64];

	(void)state;
	for (size_t i = 0; mac_at(i) != NULL; i++) {
		struct mac *a = make(mac_at(i)), *b = make(mac_at(i));

		for (size_t n = 0; n <= 262144; n = n < 300 ? n + 1 : n * 2) {
			p[n == 0 ? 0 : n - 1] ^= 1;
			assert_int_equal(mac_compute(a, (uint32_t)n, p, n, tag), 0);
			assert_int_equal(mac_check(b, (uint32_t)n, p, n, tag), 0);
			assert_int_equal(mac_check(b, (uint32_t)n + 1, p, n, tag), ERR_CRYPTO);
			if (n > 0) {
				assert_int_equal(mac_check(b, (uint32_t)n, p, n - 1, tag), ERR_CRYPTO);
				p[n / 2] ^= 4;
				assert_int_equal(mac_check(b, (uint32_t)n, p, n, tag), ERR_CRYPTO);
				p[n / 2] ^= 4;
			}
		}
		mac_free(a);
		mac_free(b);
	}
	free(p);
}

static void tampering(void **state)
{
	uint8_t p[64] = { 0 }, tag[64];

	(void)state;
	for (size_t i = 0; mac_at(i) != NULL; i++) {
		const struct mac_alg *alg = mac_at(i);
		struct mac *m = make(alg), *other;

		assert_int_equal(mac_compute(m, 3, p, sizeof(p), tag), 0);
		for (size_t bit = 0; bit < sizeof(p) * 8; bit++) {
			p[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_int_equal(mac_check(m, 3, p, sizeof(p), tag), ERR_CRYPTO);
			p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		for (size_t bit = 0; bit < alg->tag_size * 8U; bit++) {
			tag[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_int_equal(mac_check(m, 3, p, sizeof(p), tag), ERR_CRYPTO);
			tag[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		assert_int_equal(mac_check(m, 3, p, sizeof(p), tag), 0);
		key[alg->key_size - 1] ^= 1;     /* the last byte of the key counts, and none behind it */
		other = mac_new(alg, key, NULL);
		assert_int_equal(mac_check(other, 3, p, sizeof(p), tag), ERR_CRYPTO);
		mac_free(other);
		mac_free(m);
	}
}

static void none_does_nothing(void **state)
{
	struct mac *m = make(mac_find(name_view("none")));
	uint8_t tag[1] = { 7 };

	(void)state;
	assert_int_equal(mac_compute(m, 0, tag, 1, tag), 0);
	assert_int_equal(tag[0], 7);
	assert_int_equal(mac_check(m, 0, tag, 1, tag), 0);
	mac_free(m);
	mac_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(covers_sequence_number_and_packet),
		cmocka_unit_test(every_size),
		cmocka_unit_test(tampering),
		cmocka_unit_test(none_does_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
