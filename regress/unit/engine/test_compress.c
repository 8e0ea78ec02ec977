/* Compression of payloads: round trips at every level, the bound, streams of another implementation, bombs, garbage. */
#include "compress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>
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

static const struct compress_alg *alg_of(const char *name)
{
	const struct compress_alg *a = compress_find((struct view){ (const uint8_t *)name, strlen(name) });

	assert_non_null(a);
	return a;
}

static const struct compress_alg *zlib_stock(void) { return alg_of("zlib@openssh.com"); }

/* A payload as a sender of our own would put it: packed at a level, or raw if that is 0. */
static size_t send_payload(struct deflater *d, const struct compress_alg *a, int level, struct view plain, uint8_t *out)
{
	size_t n, bound = deflater_bound(plain.n);

	if (level != 0 || plain.n > a->raw_max) {
		assert_int_equal(deflater_run(d, level != 0 ? level : 1, plain, out, bound, &n), 0);
	} else if (!deflater_raw_ready(d)) {
		assert_int_equal(deflater_enter_raw(d, plain, out, bound, &n), 0);
		assert_true(deflater_raw_ready(d));
	} else {
		deflater_put_raw_head(d, plain.n, out);
		memcpy(out + a->raw_head, plain.p, plain.n);
		n = a->raw_head + plain.n;
	}
	return n;
}

static void receive_payload(struct inflater *i, struct view packed, struct buf *out, struct view plain)
{
	struct err e = { 0 };
	struct view got;

	if (inflater_run(i, packed, out, &got, &e) != 0)
		fail_msg("size %zu: %s", plain.n, err_text(&e));
	assert_int_equal(got.n, plain.n);
	if (plain.n != 0)
		assert_memory_equal(got.p, plain.p, plain.n);
}

static void round_trips_of(const struct compress_alg *a)
{
	uint8_t *plain = mem_alloc(LARGE), *packed = mem_alloc(deflater_bound(LARGE));

	for (int level = 1; level <= COMPRESS_LEVELS; level++) {
		struct deflater *d = deflater_new(a);
		struct inflater *i = inflater_new(a);
		struct buf out = BUF_INIT(LARGE);
		uint32_t seed = (uint32_t)level;

		for (size_t n = 0; n <= LARGE; n = n < 300 ? n + 1 : n * 2 - n / 7) {
			for (int kind = 0; kind < (n < 20000 || level == 1 ? 4 : 2); kind++) {
				size_t packed_n;

				fill(plain, n, kind, &seed);
				packed_n = send_payload(d, a, level, (struct view){ plain, n }, packed);
				assert_true(packed_n <= deflater_bound(n));
				if (kind == 0 && n > 1000)
					assert_true(packed_n < n / 10);
				receive_payload(i, (struct view){ packed, packed_n }, &out, (struct view){ plain, n });
			}
		}
		deflater_free(d);
		inflater_free(i);
		buf_free(&out);
	}
	free(plain);
	free(packed);
}

static void round_trips(void **state)
{
	(void)state;
	for (size_t i = 0; compress_at(i) != NULL; i++)
		round_trips_of(compress_at(i));
	deflater_free(NULL);
	inflater_free(NULL);
}

/* Levels and raw stretches follow each other at random, at the beginning too; each receiver is one that knows nothing of it. */
static void levels_change(void **state)
{
	uint8_t *plain = mem_alloc(LARGE), *packed = mem_alloc(deflater_bound(LARGE));
	uint32_t seed = 77;

	(void)state;
	for (size_t run = 0; run < 300; run++) {
		const struct compress_alg *a = compress_at(run % (compress_at(2) != NULL ? 3 : 2));
		struct deflater *d = deflater_new(a);
		struct inflater *i = inflater_new(a);
		struct buf out = BUF_INIT(LARGE);

		for (int at = 0; at < 12; at++) {
			size_t n = next_random(&seed) % 70000;
			int level = next_random(&seed) % 3 == 0 ? 0 : (int)(next_random(&seed) % 10);

			fill(plain, n, (int)(next_random(&seed) % 4), &seed);
			receive_payload(i, (struct view){ packed, send_payload(d, a, level, (struct view){ plain, n }, packed) },
				&out, (struct view){ plain, n });
		}
		deflater_free(d);
		inflater_free(i);
		buf_free(&out);
	}
	free(plain);
	free(packed);
}

/* A raw payload in a stream that another implementation reads: known bytes. */
static void raw_bytes(void **state)
{
	const struct compress_alg *a = zlib_stock();
	struct deflater *d = deflater_new(a);
	uint8_t out[64];
	size_t n;

	(void)state;
	assert_false(deflater_raw_ready(d));
	assert_int_equal(deflater_enter_raw(d, (struct view){ (const uint8_t *)"ab", 2 }, out, sizeof(out), &n), 0);
	assert_int_equal(n, 9);
	assert_memory_equal(out, "\x78\x9c\0\2\0\xfd\xff" "ab", 9);
	assert_int_equal(deflater_enter_raw(d, (struct view){ (const uint8_t *)"ab", 2 }, out, 6, &n), ERR_MEMORY);
	deflater_put_raw_head(d, 0x1234, out);
	assert_memory_equal(out, "\0\x34\x12\xcb\xed", 5);
	deflater_free(d);
	a = alg_of("zlib@wirespeed");
	d = deflater_new(a);
	assert_true(deflater_raw_ready(d));
	deflater_put_raw_head(d, 0x1234, out);
	assert_memory_equal(out, "\0", 1);
	deflater_free(d);
}

/* More than a stored block holds, as the first payload of a stream. */
static void raw_begins_large(void **state)
{
	const struct compress_alg *a = zlib_stock();
	struct deflater *d = deflater_new(a);
	struct inflater *i = inflater_new(a);
	struct buf out = BUF_INIT(LARGE);
	uint8_t *plain = mem_zalloc(LARGE), *packed = mem_alloc(deflater_bound(LARGE));
	struct view all = { plain, LARGE }, some = { plain, 100 };
	size_t n;

	(void)state;
	assert_true(LARGE > a->raw_max);
	assert_int_equal(deflater_enter_raw(d, all, packed, deflater_bound(LARGE), &n), 0);
	receive_payload(i, (struct view){ packed, n }, &out, all);
	assert_true(deflater_raw_ready(d));
	n = send_payload(d, a, 0, some, packed);
	receive_payload(i, (struct view){ packed, n }, &out, some);
	deflater_free(d);
	inflater_free(i);
	buf_free(&out);
	free(plain);
	free(packed);
}

static void probes(void **state)
{
	uint8_t *plain = mem_alloc(LARGE), *packed = mem_alloc(deflater_bound(LARGE));
	uint32_t seed = 3;

	(void)state;
	fill(plain, LARGE, 2, &seed);
	for (size_t at = 0; compress_at(at) != NULL; at++) {
		const struct compress_alg *a = compress_at(at);
		struct deflater *d = deflater_new(a);
		struct inflater *i = inflater_new(a);
		struct buf out = BUF_INIT(LARGE);
		const struct view dict = { plain, 1000 }, sample = { plain + 1000, 10000 };

		for (int level = 1; level <= COMPRESS_LEVELS; level++) {
			uint64_t ns;
			size_t n;

			assert_int_equal(deflater_probe(d, level, dict, sample, &n, &ns), 0);
			assert_true(n > 0 && n < 500);
			assert_int_equal(deflater_probe(d, level, (struct view){ NULL, 0 }, sample, &n, &ns), 0);
			assert_true(n < 500);
			/* The stream knows nothing of it. */
			receive_payload(i, (struct view){ packed, send_payload(d, a, level, sample, packed) }, &out, sample);
			if (level % 3 == 0)
				deflater_trim(d);
		}
		assert_int_equal(deflater_probe(d, 1, dict, (struct view){ plain, COMPRESS_SAMPLE_MAX + 1 }, &(size_t){ 0 },
			&(uint64_t){ 0 }), ERR_USAGE);
		deflater_free(d);
		inflater_free(i);
		buf_free(&out);
	}
	free(plain);
	free(packed);
}

static void marks(void **state)
{
	struct buf out = BUF_INIT(100);
	struct view got;

	(void)state;
	for (size_t at = 0; compress_at(at) != NULL; at++) {
		struct inflater *i = inflater_new(compress_at(at));
		struct err e = { 0 };

		if (compress_at(at)->marked) {
			assert_int_equal(inflater_run(i, (struct view){ (const uint8_t *)"", 0 }, &out, &got, &e), ERR_PEER);
			assert_int_equal(inflater_run(i, (struct view){ (const uint8_t *)"\2ab", 3 }, &out, &got, &e), ERR_PEER);
			assert_int_equal(inflater_run(i, (struct view){ (const uint8_t *)"\0ab", 3 }, &out, &got, &e), 0);
			assert_int_equal(got.n, 2);
			assert_memory_equal(got.p, "ab", 2);
			assert_int_equal(inflater_run(i, (struct view){ (const uint8_t *)"\0", 1 }, &out, &got, &e), 0);
			assert_int_equal(got.n, 0);
			assert_int_equal(inflater_run(i, (struct view){ (const uint8_t *)"\1\xff\xff\xff\xff\xff", 6 }, &out, &got, &e), ERR_PEER);
		}
		inflater_free(i);
	}
	buf_free(&out);
}

static void other_implementation(void **state)
{
	/* Python's zlib module, partial flush; the second payload is empty */
	static const struct { const char *packed, *plain; } packets[] = {
		{ "789cca48cdc9c957c84027b90002", "hello hello hello hello\n" }, { "08", "" },
		{ "20083b313d31330f20", "hello again" },
	};
	struct inflater *i = inflater_new(zlib_stock());
	struct buf out = BUF_INIT(1000);
	uint8_t packed[100];

	(void)state;
	for (size_t at = 0; at < MEM_COUNT(packets); at++) {
		size_t n = unhex(packets[at].packed, packed);

		receive_payload(i, (struct view){ packed, n }, &out,
			(struct view){ (const uint8_t *)packets[at].plain, strlen(packets[at].plain) });
	}
	inflater_free(i);
	buf_free(&out);
}

/* The limit of the output holds exactly: one byte more is refused, and nothing beyond it is allocated. */
static void bombs_of(const struct compress_alg *a)
{
	static const size_t limits[] = { 1, 100, 4095, 4096, 4097, 65536, LARGE };
	uint8_t *zeros = mem_zalloc(LARGE + 1), *packed = mem_alloc(deflater_bound(LARGE + 1));

	for (size_t at = 0; at < MEM_COUNT(limits); at++) {
		for (size_t extra = 0; extra <= 1; extra++) {
			struct err e = { 0 };
			struct deflater *d = deflater_new(a);
			struct inflater *i = inflater_new(a);
			struct buf out = BUF_INIT(limits[at]);
			struct view got;
			size_t n = send_payload(d, a, 9, (struct view){ zeros, limits[at] + extra }, packed);

			assert_int_equal(inflater_run(i, (struct view){ packed, n }, &out, &got, &e), extra == 0 ? 0 : ERR_PEER);
			if (extra == 0)
				assert_int_equal(got.n, limits[at]);
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

static void bombs(void **state)
{
	(void)state;
	for (size_t i = 0; compress_at(i) != NULL; i++)
		bombs_of(compress_at(i));
}

static void large_bombs(void **state)
{
	/* 64 MiB in some 64 KiB */
	size_t n = (size_t)64 << 20, packed_n;
	uint8_t *zeros = mem_zalloc(n), *packed = mem_alloc(deflater_bound(n));

	(void)state;
	for (size_t at = 0; compress_at(at) != NULL; at++) {
		const struct compress_alg *a = compress_at(at);
		struct err e = { 0 };
		struct deflater *d = deflater_new(a);
		struct inflater *i = inflater_new(a);
		struct buf out = BUF_INIT(LARGE);
		struct view got;

		packed_n = send_payload(d, a, 6, (struct view){ zeros, n }, packed);
		assert_true(packed_n < 400000);
		assert_int_equal(inflater_run(i, (struct view){ packed, packed_n }, &out, &got, &e), ERR_PEER);
		assert_true(out.room <= LARGE);
		deflater_free(d);
		inflater_free(i);
		buf_free(&out);
	}
	free(zeros);
	free(packed);
}

static void too_little_room(void **state)
{
	uint8_t plain[2000], packed[4000];
	uint32_t seed = 5;

	(void)state;
	fill(plain, sizeof(plain), 1, &seed);
	for (size_t at = 0; compress_at(at) != NULL; at++) {
		for (size_t room = 0; room < sizeof(plain); room += 37) {
			struct deflater *d = deflater_new(compress_at(at));
			size_t n;

			memset(packed, 0xee, sizeof(packed));
			assert_int_equal(deflater_run(d, 6, (struct view){ plain, sizeof(plain) }, packed, room, &n), ERR_MEMORY);
			assert_true(n <= room);
			assert_int_equal(packed[room], 0xee);
			deflater_free(d);
		}
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
		struct inflater *i = inflater_new(zlib_stock());
		struct buf out = BUF_INIT(1000);
		struct view got;
		size_t n = unhex(bad[at], p);
		int r = inflater_run(i, (struct view){ p, n }, &out, &got, &e);

		/* one or two bytes are a stream that has only begun */
		if (n < 2)
			assert_true(r == 0 && got.n == 0);
		else
			assert_int_equal(r, ERR_PEER);
		inflater_free(i);
		buf_free(&out);
	}
}

static void levels_and_names(void **state)
{
	struct deflater *d = deflater_new(zlib_stock());
	uint8_t out[100];
	size_t n;

	(void)state;
	for (int level = -1; level <= 10; level += level == 0 ? 10 : 1)
		assert_int_equal(deflater_run(d, level, (struct view){ out, 1 }, out, sizeof(out), &n), ERR_USAGE);
	deflater_free(d);
	assert_null(compress_find((struct view){ (const uint8_t *)"none", 4 }));
	assert_null(compress_find((struct view){ (const uint8_t *)"zlib", 4 }));
	assert_null(compress_at(99));
}

/* How often the bytes lie in the heap, freed or not. The system is asked, for freed memory is nobody's to look at. */
static int found_in_heap(const uint8_t *what, size_t n)
{
	FILE *maps = fopen("/proc/self/maps", "r"), *mem = fopen("/proc/self/mem", "r");
	unsigned long from = 0, to = 0;
	uint8_t *heap;
	char line[300];
	int found = 0;

	if (maps == NULL || mem == NULL)
		skip();
	while (fgets(line, sizeof(line), maps) != NULL && strstr(line, "[heap]") == NULL)
		;
	if (sscanf(line, "%lx-%lx", &from, &to) != 2 || strstr(line, "[heap]") == NULL)
		skip();
	heap = mmap(NULL, to - from, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(heap, MAP_FAILED);
	setvbuf(mem, NULL, _IONBF, 0);
	assert_int_equal(fseek(mem, (long)from, SEEK_SET), 0);
	assert_int_equal(fread(heap, 1, to - from, mem), to - from);
	for (const uint8_t *p = heap; (p = memmem(p, (size_t)(heap + (to - from) - p), what, n)) != NULL; p++)
		found++;
	munmap(heap, to - from);
	fclose(maps);
	fclose(mem);
	return found;
}

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define OTHER_HEAP
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define OTHER_HEAP
#endif

/* All allocations shall lie in it, and stay there when they are freed. */
static void keep_heap(void)
{
#ifdef OTHER_HEAP
	skip();
#else
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_MMAP_THRESHOLD, 1 << 25);
#endif
}

static void windows_are_wiped(void **state)
{
	uint8_t secret[40], packed[4096];
	uint32_t seed = (uint32_t)(uintptr_t)&secret;
	struct deflater *d;
	struct inflater *i;
	struct buf out = BUF_INIT(LARGE);
	struct view payload;
	struct err e = { 0 };
	size_t n;

	(void)state;
	keep_heap();
	d = deflater_new(zlib_stock());
	i = inflater_new(zlib_stock());
	fill(secret, sizeof(secret), 1, &seed);
	assert_int_equal(found_in_heap(secret, sizeof(secret)), 0);
	assert_int_equal(deflater_run(d, 6, (struct view){ secret, sizeof(secret) }, packed, sizeof(packed), &n), 0);
	assert_int_equal(inflater_run(i, (struct view){ packed, n }, &out, &payload, &e), 0);
	mem_wipe(packed, sizeof(packed));
	assert_true(found_in_heap(secret, sizeof(secret)) >= 2);
	deflater_free(d);
	inflater_free(i);
	buf_free(&out);
	assert_int_equal(found_in_heap(secret, sizeof(secret)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trips),
		cmocka_unit_test(levels_change),
		cmocka_unit_test(raw_bytes), cmocka_unit_test(raw_begins_large),
		cmocka_unit_test(probes),
		cmocka_unit_test(marks),
		cmocka_unit_test(other_implementation),
		cmocka_unit_test(bombs),
		cmocka_unit_test(large_bombs),
		cmocka_unit_test(too_little_room),
		cmocka_unit_test(bad_input),
		cmocka_unit_test(levels_and_names),
		cmocka_unit_test(windows_are_wiped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
