/* regress/unit/xfer/test_sftp_proto.c: attributes, names, heads; statuses. */
#include "xfer/sftp_proto.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_attrs_round(void **state)
{
	(void)state;
	for (uint32_t flags = 0; flags < 16; flags++) {
		struct sftp_attrs a = { .flags = flags, .size = UINT64_C(0x123456789abcdef0), .uid = 1, .gid = 0xffffffff,
			.mode = 0100644, .atime = 7, .mtime = 0x80000001 }, b;
		struct buf out = BUF_INIT(100);
		struct reader r;

		sftp_attrs_put(&out, &a);
		reader_init(&r, out.data, out.size);
		b = sftp_attrs_get(&r);
		assert_int_equal(reader_end(&r, NULL, "attrs"), 0);
		assert_int_equal(b.flags, flags);
		if (flags & SFTP_ATTR_SIZE)
			assert_true(b.size == a.size);
		if (flags & SFTP_ATTR_UIDGID)
			assert_true(b.uid == a.uid && b.gid == a.gid);
		if (flags & SFTP_ATTR_MODE)
			assert_int_equal(b.mode, a.mode);
		if (flags & SFTP_ATTR_TIMES)
			assert_true(b.atime == a.atime && b.mtime == a.mtime);
		/* Cut short anywhere it is refused. */
		for (size_t n = 0; n < out.size; n++) {
			reader_init(&r, out.data, n);
			b = sftp_attrs_get(&r);
			assert_false(reader_ok(&r));
			assert_int_equal(b.flags, 0);
		}
		buf_free(&out);
	}
}

/* draft-ietf-secsh-filexfer-02, section 5: the bytes themselves. */
static void test_attrs_bytes(void **state)
{
	static const uint8_t want[] = { 0, 0, 0, 0x0d, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0x81, 0xa4, 0, 0, 0, 5, 0, 0, 0, 6 };
	struct sftp_attrs a = { .flags = SFTP_ATTR_SIZE | SFTP_ATTR_MODE | SFTP_ATTR_TIMES, .size = 0x102, .mode = 0100644,
		.atime = 5, .mtime = 6 };
	struct buf out = BUF_INIT(100);

	(void)state;
	sftp_attrs_put(&out, &a);
	assert_int_equal(out.size, sizeof want);
	assert_memory_equal(out.data, want, sizeof want);
	buf_free(&out);
}

static void test_attrs_extended(void **state)
{
	struct buf b = BUF_INIT(100);
	struct reader r;
	struct sftp_attrs a;

	(void)state;
	buf_put_u32(&b, SFTP_ATTR_EXTENDED | SFTP_ATTR_MODE | 0x10);
	buf_put_u32(&b, 0600);
	buf_put_u32(&b, 1);
	buf_put_cstring(&b, "x");
	buf_put_cstring(&b, "y");
	reader_init(&r, b.data, b.size);
	a = sftp_attrs_get(&r);
	assert_int_equal(reader_end(&r, NULL, "attrs"), 0);
	assert_int_equal(a.flags, SFTP_ATTR_MODE);
	/* A count that lies must not cost time or memory. */
	buf_poke_u32(&b, 8, 0xffffffff);
	reader_init(&r, b.data, b.size);
	(void)sftp_attrs_get(&r);
	assert_false(reader_ok(&r));
	buf_free(&b);
}

static void test_heads(void **state)
{
	uint8_t data[SFTP_DATA_HEAD], head[SFTP_WRITE_HEAD_MAX];
	static const uint8_t want_data[] = { 0, 0, 0x10, 9, 103, 0, 0, 0, 3, 0, 0, 0x10, 0 };
	static const uint8_t want_write[] = { 0, 0, 0, 24 + 9, 6, 0, 0, 0, 1, 0, 0, 0, 3, 'a', 'b', 'c', 0, 0, 0, 1, 0, 0, 0, 2,
		0, 0, 0, 9 };
	uint8_t long_handle[SFTP_HANDLE_MAX];

	(void)state;
	sftp_data_head(data, 3, 4096);
	assert_memory_equal(data, want_data, sizeof want_data);
	assert_int_equal(sftp_write_head(head, 1, (struct view){ (const uint8_t *)"abc", 3 }, UINT64_C(0x100000002), 9),
		sizeof want_write);
	assert_memory_equal(head, want_write, sizeof want_write);
	memset(long_handle, 'h', sizeof long_handle);
	assert_int_equal(sftp_write_head(head, 1, (struct view){ long_handle, sizeof long_handle }, 0, 0), SFTP_WRITE_HEAD_MAX);
}

static void test_names_limits_statvfs(void **state)
{
	struct buf b = BUF_INIT(1000);
	struct sftp_attrs none = { 0 };
	struct sftp_limits l = { 1, 2, 3, UINT64_MAX }, l2;
	struct sftp_statvfs v = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 }, v2;
	struct sftp_name n;
	struct reader r;

	(void)state;
	sftp_name_put(&b, "a", "long a", &none);
	sftp_limits_put(&b, &l);
	sftp_statvfs_put(&b, &v);
	reader_init(&r, b.data, b.size);
	n = sftp_name_get(&r);
	assert_true(view_is(n.name, "a") && view_is(n.longname, "long a") && n.attrs.flags == 0);
	l2 = sftp_limits_get(&r);
	assert_memory_equal(&l, &l2, sizeof l);
	v2 = sftp_statvfs_get(&r);
	assert_memory_equal(&v, &v2, sizeof v);
	assert_int_equal(reader_end(&r, NULL, "all"), 0);
	buf_free(&b);
}

static void test_statuses(void **state)
{
	static const struct { int error; uint32_t status; } rows[] = {
		{ 0, 0 }, { ENOENT, 2 }, { ENOTDIR, 2 }, { EBADF, 2 }, { ELOOP, 2 }, { EPERM, 3 }, { EACCES, 3 }, { EFAULT, 3 },
		{ ENAMETOOLONG, 5 }, { EINVAL, 5 }, { ENOSYS, 8 }, { EEXIST, 4 }, { ENOSPC, 4 }, { EIO, 4 }, { EISDIR, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(sftp_status_of_errno(rows[i].error), rows[i].status);
	assert_string_equal(sftp_status_text(SFTP_PERMISSION_DENIED), "Permission denied");
	assert_non_null(sftp_status_text(4711));
}

static void test_flags(void **state)
{
	(void)state;
	assert_int_equal(sftp_flags_to_open(SFTP_OPEN_READ), O_RDONLY);
	assert_int_equal(sftp_flags_to_open(0), O_RDONLY);
	assert_int_equal(sftp_flags_to_open(SFTP_OPEN_READ | SFTP_OPEN_WRITE), O_RDWR);
	assert_int_equal(sftp_flags_to_open(SFTP_OPEN_WRITE | SFTP_OPEN_CREAT | SFTP_OPEN_TRUNC), O_WRONLY | O_CREAT | O_TRUNC);
	assert_int_equal(sftp_flags_to_open(0xffffffc0), O_RDONLY);
	assert_int_equal(sftp_flags_to_open(SFTP_OPEN_WRITE | SFTP_OPEN_APPEND), O_WRONLY | O_APPEND);
	assert_int_equal(sftp_flags_to_open(SFTP_OPEN_READ | SFTP_OPEN_TRUNC), O_RDONLY | O_TRUNC);
	assert_int_equal(sftp_flags_to_open(63), O_RDWR | O_APPEND | O_CREAT | O_TRUNC | O_EXCL);
}

static void test_extensions(void **state)
{
	static const char *const order[] = { "posix-rename@openssh.com", "statvfs@openssh.com", "fstatvfs@openssh.com",
		"hardlink@openssh.com", "fsync@openssh.com", "lsetstat@openssh.com", "limits@openssh.com", "expand-path@openssh.com",
		"copy-data", "home-directory", "users-groups-by-id@openssh.com" };

	(void)state;
	for (int i = 0; i < SFTP_EXT_COUNT; i++) {
		struct view v = { (const uint8_t *)order[i], strlen(order[i]) };

		assert_string_equal(sftp_extensions[i].name, order[i]);
		assert_int_equal(sftp_extension_find(v), i);
	}
	assert_int_equal(sftp_extension_find((struct view){ (const uint8_t *)"copy-dat", 8 }), SFTP_EXT_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attrs_round), cmocka_unit_test(test_attrs_bytes), cmocka_unit_test(test_attrs_extended),
		cmocka_unit_test(test_heads), cmocka_unit_test(test_names_limits_statvfs), cmocka_unit_test(test_statuses),
		cmocka_unit_test(test_flags), cmocka_unit_test(test_extensions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
