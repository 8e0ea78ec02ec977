/* The packet ciphers: rows, round trips of streams of packets, peeking, tampering, hand-off. */
#include "cipher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "crypto/block.h"
#include "wire/buf.h"

enum { LARGEST = 261120, ROOM = LARGEST + 64 };

static struct view name_view(const char *z)
{
	return (struct view){ (const uint8_t *)z, strlen(z) };
}

/* What is configured out, or needs a provider that is not here, is not there at all. */
static bool is_built(const char *legacy_name)
{
#ifdef WITH_LEGACY_CIPHERS
	if (strstr(legacy_name, "aes") != NULL || strstr(legacy_name, "3des") != NULL)
		return true;
	return cipher_prepare(legacy_name, NULL) == 0;
#else
	(void)legacy_name;
	return false;
#endif
}

static void needs_to_be_prepared(void **state)
{
	(void)state;
	assert_null(cipher_find(name_view("arcfour256")));
	assert_null(cipher_find(name_view("blowfish-cbc")));
	assert_int_equal(cipher_prepare("aes128-ctr,whatever,aes256-gcm@openssh.com", NULL), 0);
	assert_null(cipher_find(name_view("arcfour256")));
	if (!is_built("arcfour256")) {
		assert_null(cipher_find(name_view("arcfour256")));
		return;
	}
	assert_non_null(cipher_find(name_view("arcfour256")));
	assert_non_null(cipher_find(name_view("blowfish-cbc")));
	assert_int_equal(cipher_prepare("aes128-ctr,arcfour", NULL), 0);
}

static void rows(void **state)
{
	static const struct { const char *name; unsigned key, iv, block, tag; bool legacy; } want[] = {
		{ "3des-cbc", 24, 8, 8, 0, true },
		{ "aes128-cbc", 16, 16, 16, 0, true },
		{ "aes192-cbc", 24, 16, 16, 0, true },
		{ "aes256-cbc", 32, 16, 16, 0, true },
		{ "blowfish-cbc", 16, 8, 8, 0, true },
		{ "cast128-cbc", 16, 8, 8, 0, true },
		{ "arcfour", 16, 0, 8, 0, true },
		{ "arcfour128", 16, 0, 8, 0, true },
		{ "arcfour256", 32, 0, 8, 0, true },
		{ "aes128-ctr", 16, 16, 16, 0, false },
		{ "aes192-ctr", 24, 16, 16, 0, false },
		{ "aes256-ctr", 32, 16, 16, 0, false },
		{ "aes128-gcm@openssh.com", 16, 12, 16, 16, false },
		{ "aes256-gcm@openssh.com", 32, 12, 16, 16, false },
		{ "chacha20-poly1305@openssh.com", 64, 0, 8, 16, false },
	};

	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(want); i++) {
		const struct cipher_alg *a = cipher_at(n);

		if (want[i].legacy && !is_built(want[i].name))
			continue;
		n++;
		assert_non_null(a);
		assert_string_equal(a->name, want[i].name);
		assert_ptr_equal(cipher_find(name_view(want[i].name)), a);
		assert_int_equal(a->key_size, want[i].key);
		assert_int_equal(a->iv_size, want[i].iv);
		assert_int_equal(a->block_size, want[i].block);
		assert_int_equal(a->tag_size, want[i].tag);
		assert_int_equal(a->legacy, want[i].legacy);
		assert_int_equal(cipher_is_aead(a), want[i].tag != 0);
	}
	assert_null(cipher_at(n));
	assert_null(cipher_at(1000));
	assert_non_null(cipher_find(name_view("none")));
	assert_int_equal(cipher_find(name_view("none"))->mode, CIPHER_NONE);
	assert_null(cipher_find(name_view("")));
	assert_null(cipher_find(name_view("aes128-ct")));
	assert_null(cipher_find(name_view("aes128-ctrx")));
	assert_null(cipher_find(name_view("AES128-CTR")));
	assert_null(cipher_find((struct view){ (const uint8_t *)"none\0x", 6 }));
}

static uint8_t key[64], iv[16];

static struct cipher *make(const struct cipher_alg *alg, bool encrypt)
{
	struct err e = { 0 };
	struct cipher *c;

	for (unsigned i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)(i * 11 + 1);
	for (unsigned i = 0; i < sizeof(iv); i++)
		iv[i] = (uint8_t)(0xf8 + i);     /* the counters wrap soon */
	c = cipher_new(alg, encrypt, key, iv, &e);
	if (c == NULL)
		fail_msg("%s: %s", alg->name, err_text(&e));
	assert_ptr_equal(cipher_alg(c), alg);
	return c;
}

/* The n that the packet format allows with this cipher, at or over `n`. */
static size_t fit(const struct cipher_alg *alg, bool length_clear, size_t n)
{
	size_t extra = cipher_is_aead(alg) || length_clear || alg->mode == CIPHER_NONE ? 0 : 4;

	while ((n + extra) % alg->block_size != 0)
		n++;
	return n;
}

static void fill(uint8_t *p, size_t n, uint32_t seq)
{
	wire_store_u32(p, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		p[4 + i] = (uint8_t)(i * 3 + (i >> 8) + seq);
}

/* As the engine does it: length first, then the packet. */
static int open_as_engine(struct cipher *c, uint32_t seq, uint8_t *p, bool length_clear, uint32_t *length)
{
	const struct cipher_alg *alg = cipher_alg(c);
	size_t peek = cipher_peek_size(c, length_clear);

	*length = cipher_peek_length(c, seq, p, length_clear);
	if (*length > LARGEST + 16)
		return ERR_PEER;
	if (peek > 4)
		return cipher_open_rest(c, p + peek, 4 + *length - peek);
	if (alg->mode == CIPHER_CHACHAPOLY || alg->mode == CIPHER_GCM || length_clear || alg->mode == CIPHER_NONE)
		return cipher_open(c, seq, p, *length, length_clear);
	return ERR_USAGE;
}

static void round_trip(const struct cipher_alg *alg, bool length_clear)
{
	static const size_t large[] = { 1024, 4096, 32768, 65536, LARGEST };
	struct cipher *seal = make(alg, true), *open = make(alg, false), *peeker = make(alg, false);
	uint8_t *p = mem_alloc(ROOM), *q = mem_alloc(ROOM), *plain = mem_alloc(ROOM);
	uint32_t seq = 0xfffffff0U, length;

	for (size_t i = 0; i <= 300 + MEM_COUNT(large); i++, seq++) {
		size_t n = fit(alg, length_clear, i <= 300 ? (i < 12 ? 12 : i) : large[i - 301]);

		fill(plain, n, seq);
		memcpy(p, plain, 4 + n);
		memset(p + 4 + n, 0xee, 16);
		assert_int_equal(cipher_seal(seal, seq, p, n, length_clear), 0);
		if (alg->tag_size == 0)
			assert_int_equal(p[4 + n], 0xee);        /* nothing behind the packet is touched */
		if (alg->mode != CIPHER_NONE)
			assert_memory_not_equal(p + 4, plain + 4, n);
		if ((length_clear && alg->mode != CIPHER_CHACHAPOLY) || alg->mode == CIPHER_GCM)
			assert_memory_equal(p, plain, 4);
		memcpy(q, p, 4 + n + 16);
		assert_int_equal(cipher_open(open, seq, p, n, length_clear), 0);
		assert_memory_equal(p, plain, 4 + n);
		assert_int_equal(open_as_engine(peeker, seq, q, length_clear, &length), 0);
		assert_int_equal(length, n);
		assert_memory_equal(q, plain, 4 + n);
	}
	free(p);
	free(q);
	free(plain);
	cipher_free(seal);
	cipher_free(open);
	cipher_free(peeker);
}

static void round_trips(void **state)
{
	(void)state;
	for (size_t i = 0; cipher_at(i) != NULL; i++) {
		round_trip(cipher_at(i), false);
		round_trip(cipher_at(i), true);
	}
	round_trip(cipher_find(name_view("none")), false);
	cipher_free(NULL);
}

/* Packets are pieces of one stream: the same as the concatenation sealed at once by the layer below. */
static void packets_are_one_stream(void **state)
{
	(void)state;
	for (size_t i = 0; cipher_at(i) != NULL; i++) {
		const struct cipher_alg *alg = cipher_at(i);
		uint8_t whole[4 * 64], parts[4 * 64];
		struct cipher *c;
		struct block *b;

		if (alg->mode != CIPHER_CTR && alg->mode != CIPHER_CBC)
			continue;
		c = make(alg, true);
		b = block_new(alg->libcrypto_name, true, key, iv, NULL);
		for (size_t j = 0; j < sizeof(whole); j++)
			whole[j] = parts[j] = (uint8_t)j;
		assert_int_equal(block_run(b, whole, sizeof(whole)), 0);
		for (uint32_t j = 0; j < 4; j++)
			assert_int_equal(cipher_seal(c, j, parts + j * 64, 60, false), 0);
		assert_memory_equal(parts, whole, sizeof(whole));
		cipher_free(c);
		block_free(b);
	}
}

static void aead_tampering(void **state)
{
	(void)state;
	for (size_t i = 0; cipher_at(i) != NULL; i++) {
		const struct cipher_alg *alg = cipher_at(i);
		uint8_t p[128], copy[128];
		size_t n = 48, total = 4 + n + alg->tag_size;

		if (!cipher_is_aead(alg))
			continue;
		struct cipher *seal = make(alg, true);
		fill(p, n, 9);
		assert_int_equal(cipher_seal(seal, 9, p, n, false), 0);
		for (size_t at = 0; at < total; at++) {
			struct cipher *open = make(alg, false);

			memcpy(copy, p, total);
			copy[at] ^= 0x80;
			assert_int_equal(cipher_open(open, 9, copy, n, false), ERR_CRYPTO);
			cipher_free(open);
		}
		/* a shorter packet with the tag in the wrong place, and a second opening (replay) */
		struct cipher *open = make(alg, false);
		memcpy(copy, p, total);
		assert_int_equal(cipher_open(open, 9, copy, n - 16, false), ERR_CRYPTO);
		cipher_free(open);
		open = make(alg, false);
		memcpy(copy, p, total);
		assert_int_equal(cipher_open(open, 9, copy, n, false), 0);
		assert_int_equal(cipher_open(open, 10, p, n, false), ERR_CRYPTO);
		cipher_free(open);
		cipher_free(seal);
	}
}

static void wrong_key(void **state)
{
	(void)state;
	for (size_t i = 0; cipher_at(i) != NULL; i++) {
		const struct cipher_alg *alg = cipher_at(i);
		struct cipher *seal = make(alg, true), *open;
		uint8_t p[128], plain[128];
		size_t n = fit(alg, false, 64);
		int r;

		key[3] ^= 2;
		open = cipher_new(alg, false, key, iv, NULL);
		fill(plain, n, 1);
		memcpy(p, plain, sizeof(p));
		assert_int_equal(cipher_seal(seal, 1, p, n, false), 0);
		r = cipher_open(open, 1, p, n, false);
		assert_int_equal(r, cipher_is_aead(alg) ? ERR_CRYPTO : 0);
		assert_memory_not_equal(p + 4, plain + 4, n);
		cipher_free(seal);
		cipher_free(open);
	}
}

/* A cipher rebuilt from keys and cipher_save goes on as the old one would have. */
static void hand_off(void **state)
{
	(void)state;
	for (size_t i = 0; cipher_at(i) != NULL; i++) {
		const struct cipher_alg *alg = cipher_at(i);

		for (unsigned packets = 0; packets < 20; packets++) {
			struct cipher *old[2] = { make(alg, true), make(alg, false) };
			struct cipher *new[2] = { make(alg, true), make(alg, false) };
			size_t n = fit(alg, packets & 1, 32);
			uint8_t p[128], q[128];

			for (uint32_t seq = 0; seq < packets; seq++) {
				fill(p, n, seq);
				assert_int_equal(cipher_seal(old[0], seq, p, n, packets & 1), 0);
				assert_int_equal(cipher_open(old[1], seq, p, n, packets & 1), 0);
			}
			for (int d = 0; d < 2; d++) {
				struct buf saved = BUF_INIT(100);
				struct reader r;

				cipher_save(old[d], &saved);
				reader_init(&r, saved.data, saved.size);
				assert_int_equal(cipher_restore(new[d], &r), 0);
				assert_int_equal(reader_end(&r, NULL, "state"), 0);
				buf_free(&saved);
			}
			fill(p, n, packets);
			fill(q, n, packets);
			assert_int_equal(cipher_seal(old[0], packets, p, n, packets & 1), 0);
			assert_int_equal(cipher_seal(new[0], packets, q, n, packets & 1), 0);
			assert_memory_equal(p, q, 4 + n + alg->tag_size);
			assert_int_equal(cipher_open(new[1], packets, p, n, packets & 1), 0);
			fill(q, n, packets);
			assert_memory_equal(p, q, 4 + n);
			for (int d = 0; d < 2; d++) {
				cipher_free(old[d]);
				cipher_free(new[d]);
			}
		}
	}
}

static void bad_hand_off(void **state)
{
	static const uint8_t state_bytes[8 + 4 + 16] = { [7] = 3, [11] = 16 };

	(void)state;
	for (size_t i = 0; cipher_at(i) != NULL; i++) {
		bool cbc16 = cipher_at(i)->mode == CIPHER_CBC && cipher_at(i)->block_size == 16;

		for (size_t n = 0; n <= sizeof(state_bytes); n++) {
			struct cipher *c = make(cipher_at(i), true);
			struct reader r;

			reader_init(&r, state_bytes, n);
			assert_int_equal(cipher_restore(c, &r), cbc16 && n == sizeof(state_bytes) ? 0 : ERR_PEER);
			cipher_free(c);
		}
	}
}

/* Nobody makes a process walk along a stream for hours. */
static void far_arcfour_hand_off(void **state)
{
	static const uint8_t far[12] = { [0] = 0x7f };
	struct cipher *c;
	struct reader r;

	(void)state;
	if (!is_built("arcfour"))
		skip();
	c = make(cipher_find(name_view("arcfour")), true);
	reader_init(&r, far, sizeof(far));
	assert_int_equal(cipher_restore(c, &r), ERR_PEER);
	cipher_free(c);
}

/* RFC 4345 §4 on packets: what leaves first was made by the key stream behind 1536 bytes (RFC 6229). */
static void arcfour_skips(void **state)
{
	static const uint8_t at_1536[8] = { 0xff, 0xa0, 0xb5, 0x14, 0x64, 0x7e, 0xc0, 0x4f };
	uint8_t rfc_key[16], p[16] = { 0 };
	struct cipher *c;

	(void)state;
	if (!is_built("arcfour128"))
		skip();
	for (unsigned i = 0; i < sizeof(rfc_key); i++)
		rfc_key[i] = (uint8_t)(i + 1);
	c = cipher_new(cipher_find(name_view("arcfour128")), true, rfc_key, NULL, NULL);
	assert_int_equal(cipher_seal(c, 0, p, 12, false), 0);
	assert_memory_equal(p, at_1536, 8);
	cipher_free(c);
}

static void open_rest_is_for_streams(void **state)
{
	struct cipher *c = make(cipher_find(name_view("aes128-gcm@openssh.com")), false);
	uint8_t p[16] = { 0 };

	(void)state;
	assert_int_equal(cipher_open_rest(c, p, 16), ERR_USAGE);
	assert_int_equal(cipher_peek_size(c, false), 4);
	cipher_free(c);
	if (is_built("3des-cbc")) {
		c = make(cipher_find(name_view("3des-cbc")), false);
		assert_int_equal(cipher_peek_size(c, false), 8);
		assert_int_equal(cipher_peek_size(c, true), 4);
		cipher_free(c);
	}
	c = make(cipher_find(name_view("aes256-ctr")), false);
	assert_int_equal(cipher_peek_size(c, false), 16);
	cipher_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(needs_to_be_prepared),
		cmocka_unit_test(rows),
		cmocka_unit_test(round_trips),
		cmocka_unit_test(packets_are_one_stream),
		cmocka_unit_test(aead_tampering),
		cmocka_unit_test(wrong_key),
		cmocka_unit_test(hand_off),
		cmocka_unit_test(bad_hand_off),
		cmocka_unit_test(far_arcfour_hand_off),
		cmocka_unit_test(arcfour_skips),
		cmocka_unit_test(open_rest_is_for_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
