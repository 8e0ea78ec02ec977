/* sntrup761: its arithmetic against a slow one, fixed answers (which stock OpenSSH and PuTTY agree with: regress/interop), round trips
 * in every way of computing, ciphertexts and keys that nobody made. */
#include "crypto/sntrup761.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "crypto/digest.h"
#include "crypto/rand.h"
#include "crypto/sntrup761_simd.h"
#include "regress/unit/crypto/unhex.h"

/* ---- bytes that are the same each time: SHA-512 of a text and a number, one after the other ---- */

struct stream { const char *text; uint64_t block; uint8_t stock[64]; size_t left; };

static void fill(void *ctx, void *p, size_t n)
{
	struct stream *s = ctx;

	for (uint8_t *to = p; n > 0; n--) {
		if (s->left == 0) {
			uint8_t number[8];
			const struct view all[] = { { (const uint8_t *)s->text, strlen(s->text) }, { number, 8 } };

			for (size_t i = 0; i < 8; i++)
				number[i] = (uint8_t)(s->block >> 8 * i);
			assert_int_equal(digest_of(DIGEST_SHA512, all, 2, s->stock), 0);
			s->block++;
			s->left = sizeof(s->stock);
		}
		*to++ = s->stock[sizeof(s->stock) - s->left--];
	}
}

static struct sntrup761_source source(struct stream *s, const char *text, size_t kind)
{
	*s = (struct stream){ .text = text };
	return (struct sntrup761_source){ fill, s, sntrup_math_at(kind) };
}

static struct view view(const uint8_t *p, size_t n)
{
	return (struct view){ p, n };
}

static void check_digest(const uint8_t *p, size_t n, const char *hex)
{
	uint8_t got[DIGEST_MAX], want[DIGEST_MAX];

	assert_int_equal(digest_bytes(DIGEST_SHA256, p, n, got), 0);
	assert_int_equal(unhex(hex, want), 32);
	assert_memory_equal(got, want, 32);
}

/* ---- arithmetic ---- */

static int mod_q(long x)
{
	x %= SNTRUP_Q;
	if (x > SNTRUP_HALF)
		x -= SNTRUP_Q;
	return (int)(x < -SNTRUP_HALF ? x + SNTRUP_Q : x);
}

static void reduction(void **state)
{
	(void)state;
	for (int32_t x = -(1 << 23); x <= 1 << 23; x += x % 1000 == 0 ? 1 : 7)
		if (sntrup_mod_q(x) != mod_q(x))
			fail_msg("%d", x);
}

static void slow_multiply(int16_t *out, const int16_t *a, const int8_t *b)
{
	long sum[2 * SNTRUP_P] = { 0 };

	for (size_t i = 0; i < SNTRUP_P; i++)
		for (size_t j = 0; j < SNTRUP_P; j++)
			sum[i + j] += a[i] * b[j];
	for (size_t i = 2 * SNTRUP_P - 2; i >= SNTRUP_P; i--) {
		sum[i - SNTRUP_P] += sum[i];
		sum[i - SNTRUP_P + 1] += sum[i];
	}
	memset(out, 0, SNTRUP_ROOM * sizeof(out[0]));
	for (size_t i = 0; i < SNTRUP_P; i++)
		out[i] = (int16_t)mod_q(sum[i]);
}

/* shape 0: random; 1, 2: as large as can be, all of one sign or of changing ones; 3: a single coefficient */
static void make(int shape, int16_t *a, int8_t *b)
{
	memset(a, 0, SNTRUP_ROOM * sizeof(a[0]));
	memset(b, 0, SNTRUP_ROOM);
	for (size_t i = 0; i < SNTRUP_P; i++) {
		int sign = shape == 2 && i % 2 != 0 ? -1 : 1;

		a[i] = (int16_t)(shape == 0 ? (int)rand_below(SNTRUP_Q) - SNTRUP_HALF : sign * SNTRUP_HALF);
		b[i] = (int8_t)(shape == 0 ? (int)rand_below(3) - 1 : shape == 3 ? i == 700 : sign);
	}
}

static void products_and_inverses(void **state)
{
	int16_t a[SNTRUP_ROOM], got[SNTRUP_ROOM], want[SNTRUP_ROOM];
	int8_t b[SNTRUP_ROOM];
	const struct sntrup_math *m;

	(void)state;
	for (size_t k = 0; (m = sntrup_math_at(k)) != NULL; k++)
		for (int run = 0; run < 12; run++) {
			make(run < 4 ? run : 0, a, b);
			slow_multiply(want, a, b);
			m->multiply(got, a, b);
			assert_memory_equal(got, want, sizeof(got));
			m->multiply(a, a, b);            /* in place */
			assert_memory_equal(a, want, sizeof(a));
			m->invert(a, b);
			slow_multiply(got, a, b);
			for (size_t i = 0; i < SNTRUP_P; i++)
				assert_int_equal(mod_q(3 * got[i]), i == 0);
		}
}

/* ---- the mechanism ---- */

/* SHA-256 of what comes out. */
static const struct { const char *text, *public, *ciphertext, *secret, *rejected; } answers[] = {
	{ "one",
		"0cbb26d53597591b0b5d37fb595dc9874c8e7a46987a6c4c7c2e69b597e6a63a",
		"3c66373a1bda8d839edf14ec738259f302b62691bfb6580f192283583719da57",
		"00d139653f35ac77bc2eb0ee46a5be5d3f9662fafaa41dfb9858b6671a18391e",
		"d30fd6c55b21dbb590a68d913404816510918a8f97ca96153c49e0311c57aecf" },
	{ "two",
		"83fdf6347400652e7558564a5fde39b1b0f0d2d31ce3e211b788f6eb578ae7f9",
		"f3262bc4e7f54f2ce90699af5d361c889d58df53dc08de5902e53c10457b2877",
		"14184ca1bc49b32b75e127037f1ed9500ae00184fde9feaad3e5ee2163859887",
		"be7ffdd2e0013fa2d59586df00d774da108e0d3a7bb3cb3288d3454b775e7d0e" },
};

static void known_answers(void **state)
{
	uint8_t ciphertext[SNTRUP761_CIPHERTEXT], secret[SNTRUP761_SECRET], got[SNTRUP761_SECRET];

	(void)state;
	for (size_t k = 0; sntrup_math_at(k) != NULL; k++)
		for (size_t i = 0; i < MEM_COUNT(answers); i++) {
			struct stream stream;
			struct sntrup761_source s = source(&stream, answers[i].text, k);
			struct sntrup761 *key = sntrup761_new(&s, NULL);

			assert_int_equal(sntrup761_encapsulate(&s, sntrup761_public(key), ciphertext, secret, NULL), 0);
			check_digest(sntrup761_public(key).p, SNTRUP761_PUBLIC, answers[i].public);
			check_digest(ciphertext, sizeof(ciphertext), answers[i].ciphertext);
			check_digest(secret, sizeof(secret), answers[i].secret);
			assert_int_equal(sntrup761_decapsulate(key, view(ciphertext, sizeof(ciphertext)), got, NULL), 0);
			assert_memory_equal(got, secret, sizeof(secret));
			ciphertext[500] ^= 1;
			assert_int_equal(sntrup761_decapsulate(key, view(ciphertext, sizeof(ciphertext)), got, NULL), 0);
			check_digest(got, sizeof(got), answers[i].rejected);
			sntrup761_free(key);
		}
}

static void round_trips(void **state)
{
	uint8_t ciphertext[SNTRUP761_CIPHERTEXT], secret[SNTRUP761_SECRET], got[SNTRUP761_SECRET];
	int keys = getenv("WS_FULL") != NULL ? 1000 : 60;

	(void)state;
	for (int i = 0; i < keys; i++) {
		struct sntrup761 *key = sntrup761_new(NULL, NULL);

		for (int j = 0; j < 20; j++) {
			assert_int_equal(sntrup761_encapsulate(NULL, sntrup761_public(key), ciphertext, secret, NULL), 0);
			assert_int_equal(sntrup761_decapsulate(key, view(ciphertext, sizeof(ciphertext)), got, NULL), 0);
			assert_memory_equal(got, secret, sizeof(secret));
		}
		sntrup761_free(key);
	}
}

/* Each way of computing gives the same from the same random bytes. */
static void every_way_is_equal(void **state)
{
	uint8_t public[SNTRUP761_PUBLIC], ciphertext[2][SNTRUP761_CIPHERTEXT], secret[2][SNTRUP761_SECRET];
	char text[16];

	(void)state;
	for (int i = 0; i < 30; i++) {
		snprintf(text, sizeof(text), "number %d", i);
		for (size_t k = 0; sntrup_math_at(k) != NULL; k++) {
			struct stream stream;
			struct sntrup761_source s = source(&stream, text, k);
			struct sntrup761 *key = sntrup761_new(&s, NULL);
			size_t at = k > 0;

			if (k == 0)
				memcpy(public, sntrup761_public(key).p, sizeof(public));
			assert_memory_equal(public, sntrup761_public(key).p, sizeof(public));
			assert_int_equal(sntrup761_encapsulate(&s, view(public, sizeof(public)), ciphertext[at], secret[at], NULL), 0);
			ciphertext[at][i] ^= (uint8_t)(i & 1);
			assert_int_equal(sntrup761_decapsulate(key, view(ciphertext[at], SNTRUP761_CIPHERTEXT), secret[at], NULL), 0);
			assert_memory_equal(ciphertext[0], ciphertext[at], SNTRUP761_CIPHERTEXT);
			assert_memory_equal(secret[0], secret[at], SNTRUP761_SECRET);
			sntrup761_free(key);
		}
	}
}

/* A changed ciphertext: another secret, the same one each time, another for each change, and not one of another key. */
static void damaged_ciphertexts(void **state)
{
	uint8_t ciphertext[SNTRUP761_CIPHERTEXT], secret[SNTRUP761_SECRET], got[SNTRUP761_SECRET], last[SNTRUP761_SECRET];
	struct sntrup761 *key = sntrup761_new(NULL, NULL), *other = sntrup761_new(NULL, NULL);

	(void)state;
	assert_int_equal(sntrup761_encapsulate(NULL, sntrup761_public(key), ciphertext, secret, NULL), 0);
	memcpy(last, secret, sizeof(last));
	for (size_t i = 0; i < sizeof(ciphertext); i += 7) {
		struct view v = view(ciphertext, sizeof(ciphertext));
		uint8_t bit = (uint8_t)(1 << i % 8), again[SNTRUP761_SECRET];

		ciphertext[i] ^= bit;
		assert_int_equal(sntrup761_decapsulate(key, v, got, NULL), 0);
		assert_int_equal(sntrup761_decapsulate(key, v, again, NULL), 0);
		assert_memory_equal(got, again, sizeof(got));
		assert_int_equal(sntrup761_decapsulate(other, v, again, NULL), 0);
		assert_memory_not_equal(got, again, sizeof(got));
		assert_memory_not_equal(got, secret, sizeof(got));
		assert_memory_not_equal(got, last, sizeof(got));
		memcpy(last, got, sizeof(last));
		ciphertext[i] ^= bit;
	}
	sntrup761_free(key);
	sntrup761_free(other);
}

/* Any bytes are a key or a ciphertext, of the right size only. */
static void any_bytes(void **state)
{
	uint8_t bytes[SNTRUP761_PUBLIC + 1], ciphertext[SNTRUP761_CIPHERTEXT], secret[SNTRUP761_SECRET];
	struct sntrup761 *key = sntrup761_new(NULL, NULL);
	struct err e = { 0 };

	(void)state;
	for (int shape = 0; shape < 10; shape++) {
		memset(bytes, shape == 0 ? 0 : 0xff, sizeof(bytes));
		if (shape > 1)
			rand_bytes(bytes, sizeof(bytes));
		assert_int_equal(sntrup761_encapsulate(NULL, view(bytes, SNTRUP761_PUBLIC), ciphertext, secret, &e), 0);
		assert_int_equal(sntrup761_decapsulate(key, view(bytes, SNTRUP761_CIPHERTEXT), secret, &e), 0);
	}
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		if (n != SNTRUP761_PUBLIC)
			assert_int_equal(sntrup761_encapsulate(NULL, view(bytes, n), ciphertext, secret, NULL), ERR_PEER);
		if (n != SNTRUP761_CIPHERTEXT)
			assert_int_equal(sntrup761_decapsulate(key, view(bytes, n), secret, NULL), ERR_PEER);
	}
	assert_int_equal(sntrup761_decapsulate(key, view(bytes, 7), secret, &e), ERR_PEER);
	assert_non_null(strstr(err_text(&e), "7 bytes, not 1039"));
	sntrup761_free(key);
	sntrup761_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reduction),
		cmocka_unit_test(products_and_inverses),
		cmocka_unit_test(known_answers),
		cmocka_unit_test(round_trips),
		cmocka_unit_test(every_way_is_equal),
		cmocka_unit_test(damaged_ciphertexts),
		cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
