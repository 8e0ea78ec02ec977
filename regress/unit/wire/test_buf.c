/* regress/unit/wire/test_buf.c: writes, limits, the sticky error, wiping. */
#include "wire/buf.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void check_bytes(const struct buf *b, const void *want, size_t n)
{
	assert_true(buf_ok(b));
	assert_int_equal(b->size, n);
	assert_memory_equal(b->data, want, n);
}

static void test_types(void **state)
{
	struct buf b = BUF_INIT(1000), v = BUF_INIT(10);

	buf_put_u8(&b, 0xfe);
	buf_put_bool(&b, true);
	buf_put_bool(&b, false);
	buf_put_u32(&b, 699921578);
	buf_put_u64(&b, UINT64_C(0x0102030405060708));
	/* RFC 4251 section 5: "testing" */
	buf_put_cstring(&b, "testing");
	buf_put_string(&b, NULL, 0);
	buf_put(&b, NULL, 0);
	buf_put(&v, "xy", 2);
	buf_put_buf_string(&b, &v);
	buf_printf(&b, "%d!", 42);
	check_bytes(&b, "\xfe\x01\x00\x29\xb7\xf4\xaa\x01\x02\x03\x04\x05\x06\x07\x08\x00\x00\x00\x07testing"
		    "\x00\x00\x00\x00\x00\x00\x00\x02xy42!", 39);
	assert_true(wire_load_u64(b.data + 7) == UINT64_C(0x0102030405060708));
	assert_true(wire_load_u32(b.data + 3) == 699921578);
	buf_free(&b);
	buf_free(&v);
}

static void test_mpint(void **state)
{
	/* RFC 4251 section 5, and the edges around the sign bit. */
	static const struct { const char *in; size_t n; const char *out; size_t m; } t[] = {
		{ NULL, 0, "\0\0\0\0", 4 },
		{ "\0", 1, "\0\0\0\0", 4 },
		{ "\0\0\0", 3, "\0\0\0\0", 4 },
		{ "\x09\xa3\x78\xf9\xb2\xe3\x32\xa7", 8, "\0\0\0\x08\x09\xa3\x78\xf9\xb2\xe3\x32\xa7", 12 },
		{ "\x80", 1, "\0\0\0\x02\0\x80", 6 },
		{ "\x7f", 1, "\0\0\0\x01\x7f", 5 },
		{ "\0\0\x80\x01", 4, "\0\0\0\x03\0\x80\x01", 7 },
		{ "\0\x7f\0", 3, "\0\0\0\x02\x7f\0", 6 },
		{ "\x01", 1, "\0\0\0\x01\x01", 5 },
		{ "\xff\xff", 2, "\0\0\0\x03\0\xff\xff", 7 },
	};
	struct buf b = BUF_INIT(100);
	size_t i;

	for (i = 0; i < MEM_COUNT(t); i++) {
		buf_put_mpint(&b, t[i].in, t[i].n);
		check_bytes(&b, t[i].out, t[i].m);
		buf_reset(&b);
	}
	buf_free(&b);
	b = BUF_INIT(5);
	buf_put_mpint(&b, "\x80", 1);
	assert_false(buf_ok(&b));
	buf_free(&b);
}

static void test_limit_is_sticky(void **state)
{
	struct buf b = BUF_INIT(10);

	buf_put(&b, "0123456789", 10);
	check_bytes(&b, "0123456789", 10);
	buf_put(&b, "x", 0);
	assert_true(buf_ok(&b));
	assert_string_equal(buf_cstr(&b), "0123456789");
	buf_put_u8(&b, 1);
	assert_false(buf_ok(&b));
	assert_int_equal(b.size, 10);
	buf_consume(&b, 5);
	buf_put_u8(&b, 1);
	assert_int_equal(b.size, 5);
	assert_null(buf_reserve(&b, 1));
	buf_reset(&b);
	buf_put_cstring(&b, "abcdef");
	check_bytes(&b, "\0\0\0\6abcdef", 10);
	buf_reset(&b);
	buf_put_cstring(&b, "abcdefg");
	assert_false(buf_ok(&b));
	assert_int_equal(b.size, 0);
	buf_free(&b);
	assert_true(buf_ok(&b));
	buf_put_u8(&b, 7);
	check_bytes(&b, "\7", 1);
	buf_free(&b);
	/* Zero-initialised: nothing may be put, nothing breaks. */
	b = (struct buf){ 0 };
	buf_put(&b, "", 0);
	assert_true(buf_ok(&b));
	buf_put_u8(&b, 1);
	assert_false(buf_ok(&b));
	buf_free(&b);
}

static void test_huge_sizes(void **state)
{
	struct buf b = BUF_INIT(SIZE_MAX), v = BUF_INIT(1);

	buf_put_u8(&b, 1);
	assert_null(buf_reserve(&b, SIZE_MAX - 1));
	assert_false(buf_ok(&b));
	buf_reset(&b);
	assert_null(buf_reserve(&b, SIZE_MAX));
	assert_false(buf_ok(&b));
	buf_reset(&b);
	/* These must fail before a byte of p is read. */
	buf_put_string(&b, "x", (size_t)UINT32_MAX + 1);
	assert_false(buf_ok(&b));
	buf_reset(&b);
	buf_put_string(&b, "x", SIZE_MAX);
	assert_false(buf_ok(&b));
	buf_free(&b);
	v.failed = true;
	buf_put_buf_string(&b, &v);
	assert_false(buf_ok(&b));
	buf_free(&b);
}

static void test_growth(void **state)
{
	struct buf b = BUF_INIT(100000);
	uint32_t i;

	for (i = 0; i < 25000; i++)
		buf_put_u32(&b, i);
	assert_true(buf_ok(&b));
	for (i = 0; i < 25000; i++)
		assert_int_equal(wire_load_u32(b.data + 4 * i), i);
	assert_true(b.room <= b.limit);
	buf_put_u8(&b, 0);
	assert_false(buf_ok(&b));
	buf_free(&b);
	assert_null(b.data);
}

static void test_children(void **state)
{
	struct buf b = BUF_INIT(100);
	size_t a, c, d;

	a = buf_begin_string(&b);
	buf_put_u8(&b, 1);
	c = buf_begin_string(&b);
	buf_put_cstring(&b, "x");
	buf_end_string(&b, c);
	d = buf_begin_string(&b);
	buf_end_string(&b, d);
	buf_end_string(&b, a);
	check_bytes(&b, "\0\0\0\x0e\1\0\0\0\5\0\0\0\1x\0\0\0\0", 18);
	buf_poke_u32(&b, 14, 0x61626364);
	assert_memory_equal(b.data + 14, "abcd", 4);
	buf_poke_u32(&b, 15, 0);
	assert_false(buf_ok(&b));
	buf_reset(&b);
	buf_end_string(&b, 0);
	assert_false(buf_ok(&b));
	buf_reset(&b);
	buf_poke_u32(&b, SIZE_MAX, 0);
	assert_false(buf_ok(&b));
	buf_end_string(&b, 0);
	buf_free(&b);
}

static void test_reserve_and_consume(void **state)
{
	struct buf b = BUF_INIT(100);
	uint8_t *p;

	assert_string_equal(buf_cstr(&b), "");
	assert_non_null(buf_reserve(&b, 0));
	p = buf_reserve(&b, 6);
	memcpy(p, "secret", 6);
	buf_consume(&b, 0);
	buf_consume(&b, 2);
	check_bytes(&b, "cret", 4);
	assert_memory_equal(b.data + 4, "\0\0", 2);
	p = b.data;
	buf_reset(&b);
	assert_memory_equal(p, "\0\0\0\0", 4);
	buf_consume(&b, 1);
	assert_false(buf_ok(&b));
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types), cmocka_unit_test(test_mpint), cmocka_unit_test(test_limit_is_sticky),
		cmocka_unit_test(test_huge_sizes), cmocka_unit_test(test_growth), cmocka_unit_test(test_children),
		cmocka_unit_test(test_reserve_and_consume),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
