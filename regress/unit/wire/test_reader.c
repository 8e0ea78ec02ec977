/* regress/unit/wire/test_reader.c: reads, their bounds, the sticky error, name-lists. */
#include "wire/reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wire/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define READ(r, bytes) reader_init((r), (bytes), sizeof(bytes) - 1)

static void test_types(void **state)
{
	struct reader r, c;
	struct view v;
	char *s;

	READ(&r, "\xfe\x01\x00\x80\x29\xb7\xf4\xaa\x01\x02\x03\x04\x05\x06\x07\x08\0\0\0\2xy\0\0\0\1z\0\0\0\5\0\0\0\1crest");
	assert_int_equal(reader_u8(&r), 0xfe);
	assert_true(reader_bool(&r));
	assert_false(reader_bool(&r));
	assert_true(reader_bool(&r));
	assert_int_equal(reader_u32(&r), 699921578);
	assert_true(reader_u64(&r) == UINT64_C(0x0102030405060708));
	v = reader_string(&r);
	assert_true(view_is(v, "xy"));
	assert_false(view_is(v, "xyz"));
	s = view_strdup(v);
	assert_string_equal(s, "xy");
	free(s);
	s = reader_cstring(&r, 1);
	assert_string_equal(s, "z");
	free(s);
	c = reader_child(&r);
	v = reader_string(&c);
	assert_true(view_is(v, "c"));
	assert_int_equal(reader_end(&c, NULL, "child"), 0);
	v = reader_bytes(&r, 1);
	assert_true(view_is(v, "r"));
	v = reader_rest(&r);
	assert_true(view_is(v, "est"));
	assert_int_equal(reader_end(&r, NULL, "all"), 0);
	v = reader_rest(&r);
	assert_int_equal(v.n, 0);
	assert_true(reader_ok(&r));
}

/* One message cut at every place: what is missing fails, and nothing beyond the cut is read (ASan sees to that). */
static void test_cut_anywhere(void **state)
{
	static const char whole[] = "\1\0\0\0\2\0\0\0\0\0\0\0\3\0\0\0\2ab\0\0\0\1\x7f\0\0\0\1c\0\0\0\5\0\0\0\1q";
	size_t cut, n = sizeof(whole) - 1;

	for (cut = 0; cut <= n; cut++) {
		uint8_t *copy = mem_dup(whole, cut);
		struct reader r, c;
		struct err e = { 0 };
		char *s;

		reader_init(&r, copy, cut);
		(void)reader_u8(&r);
		(void)reader_u32(&r);
		(void)reader_u64(&r);
		(void)reader_string(&r);
		(void)reader_mpint(&r, 10);
		s = reader_cstring(&r, 10);
		c = reader_child(&r);
		(void)reader_string(&c);
		assert_int_equal(reader_end(&r, &e, "message"), cut == n ? 0 : ERR_PEER);
		assert_int_equal(reader_end(&c, NULL, "child"), cut == n ? 0 : ERR_PEER);
		if (cut < n)
			assert_string_equal(err_text(&e), "message is too short or malformed");
		free(s);
		free(copy);
	}
}

static void test_sticky(void **state)
{
	struct reader r;
	struct err e = { 0 };
	struct view v;

	READ(&r, "\0\0\0\4abc");
	v = reader_string(&r);
	assert_int_equal(v.n, 0);
	assert_non_null(v.p);
	assert_false(reader_ok(&r));
	assert_int_equal(reader_left(&r), 0);
	assert_int_equal(reader_u8(&r), 0);
	assert_int_equal(reader_u32(&r), 0);
	assert_true(reader_u64(&r) == 0);
	assert_int_equal(reader_bytes(&r, 0).n, 0);
	assert_null(reader_cstring(&r, 10));
	assert_int_equal(reader_end(&r, &e, "it"), ERR_PEER);
	READ(&r, "\xff\xff\xff\xff" "abc");
	assert_int_equal(reader_string(&r).n, 0);
	assert_false(reader_ok(&r));
	READ(&r, "ab");
	assert_int_equal(reader_bytes(&r, SIZE_MAX).n, 0);
	assert_false(reader_ok(&r));
	READ(&r, "ab");
	reader_u8(&r);
	err_clear(&e);
	assert_int_equal(reader_end(&r, &e, "it"), ERR_PEER);
	assert_string_equal(err_text(&e), "it has 1 bytes too many");
	reader_init(&r, NULL, 0);
	assert_int_equal(reader_end(&r, &e, "nothing"), 0);
	assert_int_equal(reader_rest(&r).n, 0);
	reader_fail(&r);
	assert_int_equal(reader_end(&r, NULL, "x"), ERR_PEER);
}

static void test_mpint(void **state)
{
	static const struct { const char *in; size_t n, max; const char *want; long m; } t[] = {
		{ "\0\0\0\0", 4, 8, "", 0 },
		{ "\0\0\0\1\x7f", 5, 8, "\x7f", 1 },
		{ "\0\0\0\2\0\x80", 6, 8, "\x80", 1 },
		{ "\0\0\0\2\0\x80", 6, 1, "\x80", 1 },
		{ "\0\0\0\2\1\0", 6, 2, "\1\0", 2 },
		{ "\0\0\0\2\1\0", 6, 1, "", -1 },        /* longer than allowed */
		{ "\0\0\0\1\0", 5, 8, "", -1 },          /* zero is the empty string */
		{ "\0\0\0\2\0\x7f", 6, 8, "", -1 },      /* not minimal */
		{ "\0\0\0\3\0\0\x80", 7, 8, "", -1 },    /* not minimal */
		{ "\0\0\0\1\x80", 5, 8, "", -1 },        /* negative: RFC 4251 has -1234 and such */
		{ "\0\0\0\2\xed\xcc", 6, 8, "", -1 },
		{ "\0\0\0\5\xff\x21\x52\x41\x11", 9, 8, "", -1 },
	};
	struct buf b = BUF_INIT(100);
	struct reader r;
	struct view v;
	size_t i;

	for (i = 0; i < MEM_COUNT(t); i++) {
		reader_init(&r, t[i].in, t[i].n);
		v = reader_mpint(&r, t[i].max);
		assert_true(reader_ok(&r) == (t[i].m >= 0));
		assert_int_equal(v.n, t[i].m < 0 ? 0 : t[i].m);
		assert_memory_equal(v.p, t[i].want, v.n);
		if (t[i].m < 0)
			continue;
		buf_reset(&b);
		buf_put_mpint(&b, v.p, v.n);
		assert_int_equal(b.size, t[i].n);
		assert_memory_equal(b.data, t[i].in, b.size);
	}
	buf_free(&b);
}

static void test_cstring(void **state)
{
	struct reader r;

	READ(&r, "\0\0\0\3a\0b");
	assert_null(reader_cstring(&r, 10));
	assert_false(reader_ok(&r));
	READ(&r, "\0\0\0\3abc");
	assert_null(reader_cstring(&r, 2));
	assert_false(reader_ok(&r));
}

static void test_views(void **state)
{
	struct view a = { (const uint8_t *)"ab", 2 }, b = { (const uint8_t *)"abc", 3 }, none = { NULL, 0 };

	assert_false(view_equal(a, b));
	b.n = 2;
	assert_true(view_equal(a, b));
	assert_true(view_equal(none, (struct view){ a.p, 0 }));
	assert_false(view_has_nul(a));
	assert_false(view_has_nul(none));
	a.n = 3;
	assert_true(view_has_nul(a));
}

static bool valid(const char *s, size_t n)
{
	return namelist_valid((struct view){ (const uint8_t *)s, n });
}

static void test_namelist(void **state)
{
	char name[70];
	char *s;

	assert_true(valid("", 0));
	assert_true(valid("zlib,none", 9));
	assert_true(valid("a@b.c", 5));
	assert_false(valid(",", 1));
	assert_false(valid("a,", 2));
	assert_false(valid(",a", 2));
	assert_false(valid("a,,b", 4));
	assert_false(valid("a b", 3));
	assert_false(valid("a\0b", 3));
	assert_false(valid("a\x7f", 2));
	assert_false(valid("a\xc3\xa4", 3));
	assert_false(valid("a\n", 2));
	memset(name, 'n', sizeof(name));
	assert_true(valid(name, 64));
	assert_false(valid(name, 65));
	name[64] = ',';
	assert_true(valid(name, 66));

	s = namelist_first_common("c,b,a", "a,b");
	assert_string_equal(s, "b");
	free(s);
	assert_null(namelist_first_common("a", "ab,b"));
	assert_null(namelist_first_common("", "a"));
	assert_null(namelist_first_common("a", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types), cmocka_unit_test(test_cut_anywhere), cmocka_unit_test(test_sticky),
		cmocka_unit_test(test_mpint), cmocka_unit_test(test_cstring), cmocka_unit_test(test_views),
		cmocka_unit_test(test_namelist),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
