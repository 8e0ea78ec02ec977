/* zlib over payloads: round trips at every level, the bound, streams of another implementation, bombs, garbage. */
#include "compress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "regress/unit/crypto/unhex.h"

enum { LARGE = 262144 };

/* Reproducible bytes of little sense */
static uint32_t next_random(uint32_t *s)
{
	*s = *s * 1664525U + 1013904223U;
	return *s >> 8;
}

static void fill(uint8_t *p, size_t n, int kind, uint32_t *s)
{
	for (size_t i = 0; i < n; i++)
		p[i] = kind == 0 ? 0 : kind == 1 ? (uint8_t)next_random(s) : (uint8_t)("the quick brown fox\n"[i % 20]);
	if (kind == 3)           /* hardly compressible, but not random: 7 bits */
		for (size_t i = 0; i < n; i++)
			p[i] = (uint8_t)(next_random(s) & 0x7f);
}

static void round_trips(void **state)
{
	uint8_t *plain = mem_alloc(LARGE), *packed = mem_alloc(deflater_bound(LARGE));

	(void)state;
	for (int level = 1; level <= 9; level++) {
		struct err e = { 0 };
		struct deflater *d = deflater_new(level, &e);
		struct inflater *i = inflater_new(&e);
		struct buf out = BUF_INIT(LARGE);
		uint32_t seed = (uint32_t)level;

		assert_non_null(d);
		assert_non_null(i);
		for (size_t n = 0; n <= LARGE; n = n < 300 ? n + 1 : n * 2 - n / 7) {
			for (int kind = 0; kind < (n < 20000 || level == 1 ? 4 : 2); kind++) {
				size_t packed_n = 99;

				fill(plain, n, kind, &seed);
				assert_int_equal(deflater_run(d, (struct view){ plain, n }, packed, deflater_bound(n),
					&packed_n), 0);
				if (kind == 0 && n > 1000)
					assert_true(packed_n < n / 10);
				if (inflater_run(i, (struct view){ packed, packed_n }, &out, &e) != 0)
					fail_msg("level %d size %zu: %s", level, n, err_text(&e));
				assert_int_equal(out.size, n);
				if (n != 0)
					assert_memory_equal(out.data, plain, n);
			}
		}
		deflater_free(d);
		inflater_free(i);
		buf_free(&out);
	}
	free(plain);
	free(packed);
	deflater_free(NULL);
	inflater_free(NULL);
}

static void other_implementation(void **state)
{
	/* Python's zlib module, partial flush; the second payload is empty */
	static const struct { const char *packed, *plain; } packets[] = {
		{ "789cca48cdc9c957c84027b90002", "hello hello hello hello\n" }, { "08", "" },
		{ "20083b313d31330f20", "hello again" },
	};
	struct err e = { 0 };
	struct inflater *i = inflater_new(&e);
	struct buf out = BUF_INIT(1000);
	uint8_t packed[100];

	(void)state;
	for (size_t at = 0; at < MEM_COUNT(packets); at++) {
		size_t n = unhex(packets[at].packed, packed);

		assert_int_equal(inflater_run(i, (struct view){ packed, n }, &out, &e), 0);
		assert_int_equal(out.size, strlen(packets[at].plain));
		assert_memory_equal(out.data, packets[at].plain, out.size);
	}
	inflater_free(i);
	buf_free(&out);
}

/* The limit of the output holds exactly: one byte more is refused, and nothing beyond it is allocated. */
static void bombs(void **state)
{
	static const size_t limits[] = { 1, 100, 4095, 4096, 4097, 65536, LARGE };
	uint8_t *zeros = mem_zalloc(LARGE + 1), *packed = mem_alloc(deflater_bound(LARGE + 1));

	(void)state;
	for (size_t at = 0; at < MEM_COUNT(limits); at++) {
		for (size_t extra = 0; extra <= 1; extra++) {
			struct err e = { 0 };
			struct deflater *d = deflater_new(9, &e);
			struct inflater *i = inflater_new(&e);
			struct buf out = BUF_INIT(limits[at]);
			size_t n;

			assert_int_equal(deflater_run(d, (struct view){ zeros, limits[at] + extra }, packed,
				deflater_bound(limits[at] + 1), &n), 0);
			assert_int_equal(inflater_run(i, (struct view){ packed, n }, &out, &e), extra == 0 ? 0 : ERR_PEER);
			if (extra == 0)
				assert_int_equal(out.size, limits[at]);
			else
				assert_non_null(strstr(err_text(&e), "limit"));
			assert_true(out.room <= limits[at]);
			deflater_free(d);
			inflater_free(i);
			buf_free(&out);
		}
	}
	free(zeros);
	free(packed);
}

static void large_bomb(void **state)
{
	/* 64 MiB in some 64 KiB */
	size_t n = (size_t)64 << 20, packed_n;
	uint8_t *zeros = mem_zalloc(n), *packed = mem_alloc(deflater_bound(n));
	struct err e = { 0 };
	struct deflater *d = deflater_new(9, &e);
	struct inflater *i = inflater_new(&e);
	struct buf out = BUF_INIT(LARGE);

	(void)state;
	assert_int_equal(deflater_run(d, (struct view){ zeros, n }, packed, deflater_bound(n), &packed_n), 0);
	assert_true(packed_n < 100000);
	assert_int_equal(inflater_run(i, (struct view){ packed, packed_n }, &out, &e), ERR_PEER);
	assert_true(out.room <= LARGE);
	deflater_free(d);
	inflater_free(i);
	buf_free(&out);
	free(zeros);
	free(packed);
}

static void too_little_room(void **state)
{
	uint8_t plain[2000], packed[4000];
	uint32_t seed = 5;

	(void)state;
	fill(plain, sizeof(plain), 1, &seed);
	for (size_t room = 0; room < sizeof(plain); room += 37) {
		struct deflater *d = deflater_new(6, NULL);
		size_t n;

		memset(packed, 0xee, sizeof(packed));
		assert_int_equal(deflater_run(d, (struct view){ plain, sizeof(plain) }, packed, room, &n), ERR_MEMORY);
		assert_true(n <= room);
		assert_int_equal(packed[room], 0xee);
		deflater_free(d);
	}
}

static void bad_input(void **state)
{
	static const char *const bad[] = {
		"00", "78", "7800", "ffffffffffff", "789c07",
		"78bb00000001",                                   /* wants a dictionary */
		"789c03000000000100",                             /* ends, then more */
		"789c030000000001",                               /* ends (RFC 1950): never in SSH */
	};
	uint8_t p[100];

	(void)state;
	for (size_t at = 0; at < MEM_COUNT(bad); at++) {
		struct err e = { 0 };
		struct inflater *i = inflater_new(&e);
		struct buf out = BUF_INIT(1000);
		size_t n = unhex(bad[at], p);
		int r = inflater_run(i, (struct view){ p, n }, &out, &e);

		/* one or two bytes are a stream that has only begun */
		if (n < 2)
			assert_true(r == 0 && out.size == 0);
		else
			assert_int_equal(r, ERR_PEER);
		inflater_free(i);
		buf_free(&out);
	}
}

static void levels(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_null(deflater_new(0, &e));
	assert_int_equal(e.code, ERR_USAGE);
	assert_null(deflater_new(10, NULL));
	assert_null(deflater_new(-1, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trips),
		cmocka_unit_test(other_implementation),
		cmocka_unit_test(bombs),
		cmocka_unit_test(large_bomb),
		cmocka_unit_test(too_little_room),
		cmocka_unit_test(bad_input),
		cmocka_unit_test(levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
