/* regress/unit/xfer/test_sftp_server.c: the server engine against a client that speaks byte by byte: every request, wrong
 * ones, hostile ones; bounded memory; permissions. */
#include "raw_client.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/link.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct sftp_server_options quiet = { .umask = -1, .log_level = LOG_LEVEL_QUIET };

static void begin_session(struct raw *c, const struct sftp_server_options *o, size_t limit, bool slow)
{
	struct buf b;
	struct reader r;
	uint32_t id;

	raw_start(c, o, limit, slow);
	raw_hello(c, 3);
	assert_int_equal(raw_reply_any(c, &b, &r, &id), SFTP_VERSION_REPLY);
	assert_int_equal(id, SFTP_VERSION);      /* the version stands where others have the id */
	buf_free(&b);
}

static void finish_session(struct raw *c)
{
	raw_end_input(c);
	assert_int_equal(raw_wait_end(c), 0);
	raw_stop(c);
}

static void test_hello(void **state)
{
	struct raw c;
	struct buf b;
	struct reader r;
	uint32_t id;

	(void)state;
	raw_start(&c, NULL, 1 << 20, false);
	raw_hello(&c, 6);
	assert_int_equal(raw_reply_any(&c, &b, &r, &id), SFTP_VERSION_REPLY);
	assert_int_equal(id, 3);
	for (int i = 0; i < SFTP_EXT_COUNT; i++) {
		assert_true(view_is(reader_string(&r), sftp_extensions[i].name));
		assert_true(view_is(reader_string(&r), sftp_extensions[i].version));
	}
	assert_int_equal(reader_end(&r, NULL, "hello"), 0);
	buf_free(&b);
	finish_session(&c);
}

static void test_order_of_requests(void **state)
{
	static const char *const names[] = { "open", "close", "read", "write", "lstat", "fstat", "setstat", "fsetstat", "opendir",
		"readdir", "remove", "mkdir", "rmdir", "realpath", "stat", "rename", "readlink", "symlink", "posix-rename", "statvfs",
		"fstatvfs", "hardlink", "fsync", "lsetstat", "limits", "expand-path", "copy-data", "home-directory",
		"users-groups-by-id" };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(names); i++)
		assert_string_equal(sftp_server_request_at(i), names[i]);
	assert_null(sftp_server_request_at(MEM_COUNT(names)));
}

/* Sizes around what fits, over links from tiny to roomy, direct and through the helper thread. */
static void test_read_write(void **state)
{
	static const size_t limits[] = { 64, 5000, 40000, 262144 + 13, 1 << 20 };
	static const uint32_t sizes[] = { 1, 100, 32768, 261119, 261120 };
	size_t n = 600000;
	uint8_t *data = mem_alloc(n), handle[4];

	(void)state;
	for (size_t i = 0; i < n; i++)
		data[i] = (uint8_t)(i * 7 + i / 256 + i / 65536);
	for (size_t l = 0; l < MEM_COUNT(limits); l++)
	for (int slow = 0; slow < 2; slow++) {
		struct raw c;
		struct buf b;
		struct reader r;
		struct view v;

		begin_session(&c, NULL, limits[l], slow);
		assert_int_equal(raw_open(&c, "f", SFTP_OPEN_WRITE | SFTP_OPEN_READ | SFTP_OPEN_CREAT | SFTP_OPEN_TRUNC, 0640, handle), 0);
		/* Not in order, with a hole that the last one fills. */
		assert_int_equal(raw_write(&c, handle, 200000, data + 200000, 200000), 0);
		assert_int_equal(raw_write(&c, handle, 400000, data + 400000, 200000), 0);
		assert_int_equal(raw_write(&c, handle, 0, data, 200000), 0);
		assert_int_equal(raw_write(&c, handle, 0, data, 0), 0);
		for (size_t s = 0; s < MEM_COUNT(sizes); s++) {
			raw_ask_read(&c, handle, 12345, sizes[s]);
			assert_int_equal(raw_reply(&c, &b, &r), SFTP_DATA);
			v = reader_string(&r);
			assert_int_equal(reader_end(&r, NULL, "data"), 0);
			assert_int_equal(v.n, sizes[s]);
			assert_memory_equal(v.p, data + 12345, v.n);
			buf_free(&b);
		}
		/* More than the limit is cut, near the end it is what there is, at the end it is EOF. */
		raw_ask_read(&c, handle, 0, UINT32_MAX);
		assert_int_equal(raw_reply(&c, &b, &r), SFTP_DATA);
		assert_int_equal(reader_string(&r).n, 261120);
		buf_free(&b);
		raw_ask_read(&c, handle, n - 10, 1000);
		assert_int_equal(raw_reply(&c, &b, &r), SFTP_DATA);
		v = reader_string(&r);
		assert_int_equal(v.n, 10);
		assert_memory_equal(v.p, data + n - 10, 10);
		buf_free(&b);
		raw_ask_read(&c, handle, n, 1000);
		assert_int_equal(raw_status(&c), SFTP_EOF);
		raw_ask_read(&c, handle, 0, 0);
		assert_int_equal(raw_reply(&c, &b, &r), SFTP_DATA);
		assert_int_equal(reader_string(&r).n, 0);
		buf_free(&b);
		raw_ask_read(&c, handle, UINT64_MAX, 5);
		assert_int_equal(raw_status(&c), SFTP_BAD_MESSAGE);
		assert_int_equal(raw_write(&c, handle, UINT64_MAX, "x", 1), SFTP_BAD_MESSAGE);
		assert_int_equal(raw_handle(&c, SFTP_CLOSE, handle), 0);
		finish_session(&c);
	}
	free(data);
}

/* Many reads at once come back whole and in order, also when the replies do not fit the link. */
static void test_read_pipeline(void **state)
{
	enum { COUNT = 40, SIZE = 30000 };
	struct raw c;
	struct buf b;
	struct reader r;
	uint8_t handle[4], *data = mem_alloc(COUNT * SIZE);
	uint32_t first, id;

	(void)state;
	for (size_t i = 0; i < COUNT * SIZE; i++)
		data[i] = (uint8_t)(i ^ i >> 9);
	begin_session(&c, NULL, 100000, false);
	assert_int_equal(raw_open(&c, "f", SFTP_OPEN_WRITE | SFTP_OPEN_READ | SFTP_OPEN_CREAT, -1, handle), 0);
	for (size_t at = 0; at < COUNT * SIZE; at += 200000)
		assert_int_equal(raw_write(&c, handle, at, data + at, 200000), 0);
	first = c.id + 1;
	for (uint32_t i = 0; i < COUNT; i++)
		raw_ask_read(&c, handle, (uint64_t)i * SIZE, SIZE);
	for (uint32_t i = 0; i < COUNT; i++) {
		struct view v;

		assert_int_equal(raw_reply_any(&c, &b, &r, &id), SFTP_DATA);
		assert_int_equal(id, first + i);
		v = reader_string(&r);
		assert_int_equal(v.n, SIZE);
		assert_memory_equal(v.p, data + (size_t)i * SIZE, SIZE);
		buf_free(&b);
	}
	free(data);
	finish_session(&c);
}

/* A client that asks and does not read: the server stops taking requests. */
static void test_deaf_client(void **state)
{
	struct raw c;
	struct buf b;
	uint8_t handle[4];
	size_t taken = 0, mark;

	(void)state;
	begin_session(&c, NULL, 64 * 1024, false);
	assert_int_equal(raw_open(&c, "f", SFTP_OPEN_WRITE | SFTP_OPEN_READ | SFTP_OPEN_CREAT, -1, handle), 0);
	assert_int_equal(raw_write(&c, handle, 200000, "x", 1), 0);
	c.deaf = true;
	mark = raw_begin(&c, &b, SFTP_READ);
	buf_put_string(&b, handle, 4);
	buf_put_u64(&b, 0);
	buf_put_u32(&b, 200000);
	buf_end_string(&b, mark);
	for (int idle = 0; idle < 50; ) {
		if (link_write(c.here, b.data, b.size)) {
			taken++;
			idle = 0;
		} else {
			raw_turns(&c, 1);
			idle++;
		}
		assert_true(taken < 5000);       /* 64 KiB of link hold 1,700 of these */
	}
	buf_free(&b);
	/* One reply in the link, one waiting: not a queue of replies. */
	assert_int_equal(c.status, -1);
	raw_stop(&c);
}

static void test_append(void **state)
{
	struct raw c;
	struct buf b;
	struct reader r;
	uint8_t handle[4];
	struct view v;

	(void)state;
	begin_session(&c, NULL, 1 << 20, false);
	assert_int_equal(raw_open(&c, "f", SFTP_OPEN_WRITE | SFTP_OPEN_CREAT | SFTP_OPEN_APPEND | SFTP_OPEN_READ, -1, handle), 0);
	assert_int_equal(raw_write(&c, handle, 0, "one", 3), 0);
	assert_int_equal(raw_write(&c, handle, 0, "two", 3), 0);
	raw_ask_read(&c, handle, 0, 100);
	assert_int_equal(raw_reply(&c, &b, &r), SFTP_DATA);
	v = reader_string(&r);
	assert_true(view_is(v, "onetwo"));
	buf_free(&b);
	finish_session(&c);
}

static void test_handles(void **state)
{
	struct raw c;
	uint8_t one[4], two[4], bad[4];
	struct buf b;
	size_t mark;

	(void)state;
	begin_session(&c, NULL, 1 << 20, false);
	assert_int_equal(raw_open(&c, "f", SFTP_OPEN_WRITE | SFTP_OPEN_CREAT, -1, one), 0);
	assert_int_equal(raw_handle(&c, SFTP_CLOSE, one), 0);
	assert_int_equal(raw_handle(&c, SFTP_CLOSE, one), SFTP_NO_SUCH_FILE);
	/* The place is used again, the handle is another. */
	assert_int_equal(raw_open(&c, "f", SFTP_OPEN_WRITE | SFTP_OPEN_CREAT, -1, two), 0);
	assert_int_not_equal(memcmp(one, two, 4), 0);
	assert_int_equal(raw_handle(&c, SFTP_FSTAT, one), SFTP_FAILURE);
	assert_int_equal(raw_write(&c, one, 0, "lost", 4), SFTP_FAILURE);
	assert_int_equal(raw_handle(&c, SFTP_READDIR, two), SFTP_FAILURE);
	memset(bad, 0xff, 4);
	raw_ask_read(&c, bad, 0, 1);
	assert_int_equal(raw_status(&c), SFTP_FAILURE);
	mark = raw_begin(&c, &b, SFTP_CLOSE);
	buf_put_string(&b, "a handle that is much longer", 28);
	raw_send(&c, &b, mark);
	assert_int_equal(raw_status(&c), SFTP_NO_SUCH_FILE);
	/* A write-only handle. */
	raw_ask_read(&c, two, 0, 1);
	assert_int_equal(raw_status(&c), SFTP_NO_SUCH_FILE);
	finish_session(&c);
}

static void test_handles_bounded(void **state)
{
	struct raw c;
	struct rlimit old, few;
	uint8_t handle[4];
	unsigned n = 0;
	uint32_t status;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = 64;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	begin_session(&c, NULL, 1 << 20, false);
	while ((status = raw_open(&c, "f", SFTP_OPEN_WRITE | SFTP_OPEN_CREAT, -1, handle)) == 0)
		assert_true(++n < 64);
	assert_int_equal(status, SFTP_FAILURE);
	assert_true(n > 30);
	assert_int_equal(raw_handle(&c, SFTP_CLOSE, handle), 0);
	assert_int_equal(raw_open(&c, "f", SFTP_OPEN_WRITE, -1, handle), 0);
	finish_session(&c);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

static struct sftp_attrs ask_attrs(struct raw *c, uint8_t type, const char *path, const uint8_t *handle)
{
	struct buf b;
	struct reader r;
	struct sftp_attrs a;
	size_t mark = raw_begin(c, &b, type);

	if (path != NULL)
		buf_put_cstring(&b, path);
	else
		buf_put_string(&b, handle, 4);
	raw_send(c, &b, mark);
	assert_int_equal(raw_reply(c, &b, &r), SFTP_ATTRS);
	a = sftp_attrs_get(&r);
	assert_int_equal(reader_end(&r, NULL, "attrs"), 0);
	buf_free(&b);
	return a;
}

static uint32_t set_attrs(struct raw *c, uint8_t type, const char *path, const uint8_t *handle, const struct sftp_attrs *a)
{
	struct buf b;
	size_t mark = raw_begin(c, &b, type);

	if (path != NULL)
		buf_put_cstring(&b, path);
	else
		buf_put_string(&b, handle, 4);
	sftp_attrs_put(&b, a);
	raw_send(c, &b, mark);
	return raw_status(c);
}

static void test_attributes(void **state)
{
	struct raw c;
	uint8_t handle[4];
	struct sftp_attrs a, set = { .flags = SFTP_ATTR_MODE | SFTP_ATTR_TIMES | SFTP_ATTR_SIZE, .mode = 0751, .size = 77,
		.atime = 100, .mtime = 200 };

	(void)state;
	for (int slow = 0; slow < 2; slow++) {
		begin_session(&c, NULL, 1 << 20, slow);
		assert_int_equal(raw_open(&c, "f", SFTP_OPEN_WRITE | SFTP_OPEN_CREAT, 0604, handle), 0);
		a = ask_attrs(&c, SFTP_FSTAT, NULL, handle);
		assert_int_equal(a.flags, 15);
		assert_int_equal(a.mode, 0100604);
		assert_int_equal(set_attrs(&c, SFTP_SETSTAT, "f", NULL, &set), 0);
		a = ask_attrs(&c, SFTP_STAT, "f", NULL);
		assert_true(a.mode == 0100751 && a.size == 77 && a.atime == 100 && a.mtime == 200);
		set.mode = 0600;
		set.size = 5;
		assert_int_equal(set_attrs(&c, SFTP_FSETSTAT, NULL, handle, &set), 0);
		a = ask_attrs(&c, SFTP_LSTAT, "f", NULL);
		assert_true(a.mode == 0100600 && a.size == 5);
		assert_int_equal(raw_two(&c, SFTP_SYMLINK, "f", "s"), 0);
		a = ask_attrs(&c, SFTP_LSTAT, "s", NULL);
		assert_true(S_ISLNK(a.mode));
		a = ask_attrs(&c, SFTP_STAT, "s", NULL);
		assert_true(S_ISREG(a.mode));
		assert_int_equal(raw_path(&c, SFTP_STAT, "missing"), SFTP_NO_SUCH_FILE);
		assert_int_equal(raw_path(&c, SFTP_STAT, "f/x"), SFTP_NO_SUCH_FILE);
		assert_int_equal(set_attrs(&c, SFTP_SETSTAT, "missing", NULL, &set), SFTP_NO_SUCH_FILE);
		set.mode = 0751;
		set.size = 77;
		finish_session(&c);
	}
}

static struct view ask_name(struct raw *c, uint8_t type, const char *path, struct buf *b)
{
	struct reader r;
	struct sftp_name n;
	size_t mark = raw_begin(c, b, type);

	buf_put_cstring(b, path);
	raw_send(c, b, mark);
	assert_int_equal(raw_reply(c, b, &r), SFTP_NAME);
	assert_int_equal(reader_u32(&r), 1);
	n = sftp_name_get(&r);
	assert_int_equal(reader_end(&r, NULL, "name"), 0);
	assert_true(view_equal(n.name, n.longname));
	assert_int_equal(n.attrs.flags, 0);
	return n.name;
}

static void test_names(void **state)
{
	struct raw c;
	struct buf b;
	uint8_t handle[4];

	(void)state;
	begin_session(&c, NULL, 1 << 20, false);
	assert_true(view_is(ask_name(&c, SFTP_REALPATH, "", &b), c.dir));
	buf_free(&b);
	assert_true(view_is(ask_name(&c, SFTP_REALPATH, "./.", &b), c.dir));
	buf_free(&b);
	assert_true(view_is(ask_name(&c, SFTP_REALPATH, "new", &b), raw_in_dir(&c, "new")));
	buf_free(&b);
	assert_int_equal(raw_path(&c, SFTP_REALPATH, "no/such"), SFTP_NO_SUCH_FILE);
	/* Reversed from the draft: target first. */
	assert_int_equal(raw_two(&c, SFTP_SYMLINK, "the target", "the link"), 0);
	assert_true(view_is(ask_name(&c, SFTP_READLINK, "the link", &b), "the target"));
	buf_free(&b);
	assert_int_equal(raw_path(&c, SFTP_READLINK, "missing"), SFTP_NO_SUCH_FILE);
	assert_int_equal(raw_open(&c, "a", SFTP_OPEN_WRITE | SFTP_OPEN_CREAT, -1, handle), 0);
	assert_int_equal(raw_open(&c, "b", SFTP_OPEN_WRITE | SFTP_OPEN_CREAT, -1, handle), 0);
	assert_int_equal(raw_open(&c, "b", SFTP_OPEN_WRITE | SFTP_OPEN_CREAT | SFTP_OPEN_EXCL, -1, handle), SFTP_FAILURE);
	assert_int_equal(raw_two(&c, SFTP_RENAME, "a", "b"), SFTP_FAILURE);
	assert_int_equal(raw_two(&c, SFTP_RENAME, "a", "c"), 0);
	assert_int_equal(raw_two(&c, SFTP_RENAME, "a", "d"), SFTP_NO_SUCH_FILE);
	assert_int_equal(raw_path(&c, SFTP_REMOVE, "c"), 0);
	assert_int_equal(raw_path(&c, SFTP_REMOVE, "c"), SFTP_NO_SUCH_FILE);
	assert_int_equal(raw_path(&c, SFTP_READLINK, "b"), SFTP_BAD_MESSAGE);
	finish_session(&c);
}

static void test_folders(void **state)
{
	enum { COUNT = 700 };
	struct raw c;
	struct buf b;
	struct reader r;
	uint8_t handle[4], file[4], type;
	bool seen[COUNT] = { false }, dot = false, dotdot = false;
	unsigned replies = 0, entries = 0;
	size_t mark;
	struct sftp_attrs a = { .flags = SFTP_ATTR_MODE, .mode = 0700 };

	(void)state;
	begin_session(&c, NULL, 1 << 20, false);
	assert_int_equal(set_attrs(&c, SFTP_MKDIR, "d", NULL, &a), 0);
	assert_int_equal(set_attrs(&c, SFTP_MKDIR, "d", NULL, &a), SFTP_FAILURE);
	assert_int_equal(ask_attrs(&c, SFTP_STAT, "d", NULL).mode, 040700);
	for (int i = 0; i < COUNT; i++) {
		char name[16];

		(void)snprintf(name, sizeof name, "d/%d", i);
		assert_int_equal(raw_open(&c, name, SFTP_OPEN_WRITE | SFTP_OPEN_CREAT, -1, file), 0);
		assert_int_equal(raw_handle(&c, SFTP_CLOSE, file), 0);
	}
	mark = raw_begin(&c, &b, SFTP_OPENDIR);
	buf_put_cstring(&b, "d");
	raw_send(&c, &b, mark);
	assert_int_equal(raw_reply(&c, &b, &r), SFTP_HANDLE);
	memcpy(handle, reader_string(&r).p, 4);
	buf_free(&b);
	raw_ask_read(&c, handle, 0, 10);
	assert_int_equal(raw_status(&c), SFTP_FAILURE);
	assert_int_equal(raw_write(&c, handle, 0, "x", 1), SFTP_FAILURE);
	for (;;) {
		mark = raw_begin(&c, &b, SFTP_READDIR);
		buf_put_string(&b, handle, 4);
		raw_send(&c, &b, mark);
		type = raw_reply(&c, &b, &r);
		if (type == SFTP_STATUS) {
			assert_int_equal(reader_u32(&r), SFTP_EOF);
			buf_free(&b);
			break;
		}
		assert_true(b.size <= 34000);
		replies++;
		for (uint32_t i = reader_u32(&r); i > 0; i--) {
			struct sftp_name n = sftp_name_get(&r);
			char name[16] = "";

			assert_true(reader_ok(&r) && n.name.n < sizeof name && n.attrs.flags == 15);
			memcpy(name, n.name.p, n.name.n);
			entries++;
			/* The long name ends with the name and begins with the mode. */
			assert_memory_equal(n.longname.p + n.longname.n - n.name.n, n.name.p, n.name.n);
			assert_true(n.longname.p[0] == (S_ISDIR(n.attrs.mode) ? 'd' : '-'));
			if (strcmp(name, ".") == 0)
				dot = true;
			else if (strcmp(name, "..") == 0)
				dotdot = true;
			else
				seen[atoi(name)] = true;
		}
		assert_int_equal(reader_end(&r, NULL, "names"), 0);
		buf_free(&b);
	}
	assert_true(dot && dotdot && replies > 1);
	assert_int_equal(entries, COUNT + 2);
	for (int i = 0; i < COUNT; i++)
		assert_true(seen[i]);
	assert_int_equal(raw_handle(&c, SFTP_CLOSE, handle), 0);
	assert_int_equal(raw_path(&c, SFTP_RMDIR, "d"), SFTP_FAILURE);
	assert_int_equal(raw_path(&c, SFTP_OPENDIR, "d/1"), SFTP_NO_SUCH_FILE);
	finish_session(&c);
}

/* ---- extensions */

static size_t begin_extended(struct raw *c, struct buf *b, const char *name)
{
	size_t mark = raw_begin(c, b, SFTP_EXTENDED);

	buf_put_cstring(b, name);
	return mark;
}

static uint32_t extended_two(struct raw *c, const char *name, const char *x, const char *y)
{
	struct buf b;
	size_t mark = begin_extended(c, &b, name);

	buf_put_cstring(&b, x);
	buf_put_cstring(&b, y);
	raw_send(c, &b, mark);
	return raw_status(c);
}

static uint32_t copy_data(struct raw *c, const uint8_t *from, uint64_t offset, uint64_t n, const uint8_t *to, uint64_t at)
{
	struct buf b;
	size_t mark = begin_extended(c, &b, "copy-data");

	buf_put_string(&b, from, 4);
	buf_put_u64(&b, offset);
	buf_put_u64(&b, n);
	buf_put_string(&b, to, 4);
	buf_put_u64(&b, at);
	raw_send(c, &b, mark);
	return raw_status(c);
}

static void test_copy_data(void **state)
{
	struct raw c;
	uint8_t from[4], to[4], again[4], bad[4] = { 9, 9, 9, 9 };

	(void)state;
	for (int slow = 0; slow < 2; slow++) {
		begin_session(&c, NULL, 1 << 20, slow);
		assert_int_equal(raw_open(&c, "f", SFTP_OPEN_WRITE | SFTP_OPEN_READ | SFTP_OPEN_CREAT, -1, from), 0);
		assert_int_equal(raw_open(&c, "f", SFTP_OPEN_WRITE | SFTP_OPEN_READ, -1, again), 0);
		assert_int_equal(raw_open(&c, "g", SFTP_OPEN_WRITE | SFTP_OPEN_READ | SFTP_OPEN_CREAT, -1, to), 0);
		/* Longer than a slice. */
		assert_int_equal(raw_write(&c, from, 9 * 1024 * 1024, "end", 3), 0);
		assert_int_equal(copy_data(&c, from, 0, 0, to, 0), 0);
		assert_true(ask_attrs(&c, SFTP_STAT, "g", NULL).size == 9 * 1024 * 1024 + 3);
		assert_int_equal(copy_data(&c, from, 9 * 1024 * 1024, 3, to, 5), 0);
		assert_int_equal(copy_data(&c, from, 9 * 1024 * 1024, 4, to, 5), SFTP_EOF);
		assert_int_equal(copy_data(&c, from, 0, 0, from, 5), SFTP_FAILURE);
		assert_int_equal(copy_data(&c, from, 0, 0, again, 5), SFTP_FAILURE);
		assert_int_equal(copy_data(&c, bad, 0, 0, to, 5), SFTP_NO_SUCH_FILE);
		assert_int_equal(copy_data(&c, from, 0, 0, bad, 5), SFTP_NO_SUCH_FILE);
		finish_session(&c);
	}
}

static unsigned threads(void)
{
	DIR *d = opendir("/proc/self/task");
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n - 2;                    /* . and .. */
}

/* Sessions come and go beside this one: file calls move to the helper thread and back, and nothing is lost or done twice. */
static void test_set_slow(void **state)
{
	struct raw c;
	uint8_t h[4];
	unsigned before;
	char text[32];
	struct reader r;
	struct buf b;

	(void)state;
	begin_session(&c, NULL, 1 << 20, true);
	sftp_server_set_slow(c.server, false);
	before = threads();
	assert_int_equal(raw_open(&c, "f", SFTP_OPEN_WRITE | SFTP_OPEN_READ | SFTP_OPEN_CREAT, -1, h), 0);
	assert_int_equal(raw_write(&c, h, 0, "0000", 4), 0);
	assert_int_equal(threads(), before);
	for (unsigned i = 1; i < 50; i++) {
		sftp_server_set_slow(c.server, i % 3 > 0);
		(void)snprintf(text, sizeof text, "%04u", i);
		assert_int_equal(raw_write(&c, h, 4 * i, text, 4), 0);
		sftp_server_set_slow(c.server, i % 2 > 0);
		raw_ask_read(&c, h, 4 * i, 8);
		assert_int_equal(raw_reply(&c, &b, &r), SFTP_DATA);
		assert_true(view_is(reader_string(&r), text));
		buf_free(&b);
	}
	assert_int_equal(threads(), before + 1);
	finish_session(&c);
}

/* Names of homes, users and groups. */
static void test_extensions_names(void **state)
{
	struct sftp_server_options o = quiet;
	struct raw c;
	struct buf b;
	struct reader r, part;
	size_t mark;

	(void)state;
	o.user = "me";
	o.home = "/home/of/me";
	begin_session(&c, &o, 1 << 20, false);
	static const struct { const char *name, *path, *want; } rows[] = {
		{ "home-directory", "", "/home/of/me" }, { "home-directory", "me", "/home/of/me" },
		{ "home-directory", "root", "/root" }, { "expand-path@openssh.com", "~root", "/root" },
		{ "expand-path@openssh.com", "~root/new", "/root/new" },
		{ "expand-path@openssh.com", "~", NULL }, { "expand-path@openssh.com", "~/", NULL },
		{ "expand-path@openssh.com", ".", NULL },
	};
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		mark = begin_extended(&c, &b, rows[i].name);
		buf_put_cstring(&b, rows[i].path);
		raw_send(&c, &b, mark);
		assert_int_equal(raw_reply(&c, &b, &r), SFTP_NAME);
		assert_int_equal(reader_u32(&r), 1);
		assert_true(view_is(reader_string(&r), rows[i].want != NULL ? rows[i].want : c.dir));
		buf_free(&b);
	}
	mark = begin_extended(&c, &b, "home-directory");
	buf_put_cstring(&b, "no such user");
	raw_send(&c, &b, mark);
	assert_int_equal(raw_status(&c), SFTP_FAILURE);
	mark = begin_extended(&c, &b, "expand-path@openssh.com");
	buf_put_cstring(&b, "~no_such_user/x");
	raw_send(&c, &b, mark);
	assert_int_equal(raw_reply(&c, &b, &r), SFTP_STATUS);
	assert_int_equal(reader_u32(&r), SFTP_NO_SUCH_FILE);
	assert_true(view_is(reader_string(&r), "no such user"));
	buf_free(&b);

	mark = begin_extended(&c, &b, "users-groups-by-id@openssh.com");
	{
		size_t inner = buf_begin_string(&b);

		buf_put_u32(&b, 0);
		for (uint32_t i = 0; i < 200; i++)
			buf_put_u32(&b, 4000000000u + i);
		buf_end_string(&b, inner);
		inner = buf_begin_string(&b);
		buf_put_u32(&b, 4000000000u);
		buf_put_u32(&b, 0);
		buf_end_string(&b, inner);
	}
	raw_send(&c, &b, mark);
	assert_int_equal(raw_reply(&c, &b, &r), SFTP_EXTENDED_REPLY);
	part = reader_child(&r);
	assert_true(view_is(reader_string(&part), "root"));
	for (int i = 0; i < 200; i++)
		assert_true(view_is(reader_string(&part), ""));
	assert_int_equal(reader_end(&part, NULL, "users"), 0);
	part = reader_child(&r);
	assert_true(view_is(reader_string(&part), ""));
	assert_true(view_is(reader_string(&part), "root"));
	assert_int_equal(reader_end(&part, NULL, "groups"), 0);
	buf_free(&b);
	finish_session(&c);
}

static void test_extensions(void **state)
{
	struct sftp_server_options o = quiet;
	struct sftp_attrs set = { .flags = SFTP_ATTR_TIMES, .mtime = 5 }, size = { .flags = SFTP_ATTR_SIZE };
	struct sftp_limits l;
	struct sftp_statvfs v;
	struct raw c;
	struct buf b;
	struct reader r;
	uint8_t handle[4];
	size_t mark;

	(void)state;
	o.user = "me";
	o.home = "/home/of/me";
	begin_session(&c, &o, 1 << 20, false);
	assert_int_equal(raw_open(&c, "a", SFTP_OPEN_WRITE | SFTP_OPEN_CREAT, -1, handle), 0);
	assert_int_equal(raw_open(&c, "b", SFTP_OPEN_WRITE | SFTP_OPEN_CREAT, -1, handle), 0);
	assert_int_equal(extended_two(&c, "posix-rename@openssh.com", "a", "b"), 0);
	assert_int_equal(extended_two(&c, "hardlink@openssh.com", "b", "c"), 0);
	assert_int_equal(extended_two(&c, "hardlink@openssh.com", "b", "c"), SFTP_FAILURE);

	mark = begin_extended(&c, &b, "fsync@openssh.com");
	buf_put_string(&b, handle, 4);
	raw_send(&c, &b, mark);
	assert_int_equal(raw_status(&c), 0);
	mark = begin_extended(&c, &b, "fsync@openssh.com");
	buf_put_string(&b, "none", 4);
	raw_send(&c, &b, mark);
	assert_int_equal(raw_status(&c), SFTP_NO_SUCH_FILE);

	mark = begin_extended(&c, &b, "lsetstat@openssh.com");
	buf_put_cstring(&b, "b");
	sftp_attrs_put(&b, &set);
	raw_send(&c, &b, mark);
	assert_int_equal(raw_status(&c), 0);
	assert_int_equal(ask_attrs(&c, SFTP_STAT, "b", NULL).mtime, 5);
	mark = begin_extended(&c, &b, "lsetstat@openssh.com");
	buf_put_cstring(&b, "b");
	sftp_attrs_put(&b, &size);
	raw_send(&c, &b, mark);
	assert_int_equal(raw_status(&c), SFTP_BAD_MESSAGE);

	mark = begin_extended(&c, &b, "limits@openssh.com");
	raw_send(&c, &b, mark);
	assert_int_equal(raw_reply(&c, &b, &r), SFTP_EXTENDED_REPLY);
	l = sftp_limits_get(&r);
	assert_int_equal(reader_end(&r, NULL, "limits"), 0);
	assert_true(l.packet == 262144 && l.read == 261120 && l.write == 261120 && l.handles > 10);
	buf_free(&b);

	for (int by_handle = 0; by_handle < 2; by_handle++) {
		mark = begin_extended(&c, &b, by_handle ? "fstatvfs@openssh.com" : "statvfs@openssh.com");
		if (by_handle)
			buf_put_string(&b, handle, 4);
		else
			buf_put_cstring(&b, "b");
		raw_send(&c, &b, mark);
		assert_int_equal(raw_reply(&c, &b, &r), SFTP_EXTENDED_REPLY);
		v = sftp_statvfs_get(&r);
		assert_int_equal(reader_end(&r, NULL, "statvfs"), 0);
		assert_true(v.namemax >= 255 && v.bsize > 0);
		buf_free(&b);
	}

	mark = begin_extended(&c, &b, "unheard-of@example.com");
	raw_send(&c, &b, mark);
	assert_int_equal(raw_status(&c), SFTP_UNSUPPORTED);
	finish_session(&c);
}

/* ---- permissions */

static void test_read_only(void **state)
{
	struct sftp_server_options o = quiet;
	struct raw c;
	struct buf b;
	struct reader r;
	uint8_t handle[4];
	uint32_t id;
	size_t names = 0;

	(void)state;
	o.read_only = true;
	raw_start(&c, &o, 1 << 20, false);
	raw_hello(&c, 3);
	assert_int_equal(raw_reply_any(&c, &b, &r, &id), SFTP_VERSION_REPLY);
	while (reader_left(&r) > 0) {
		struct view name = reader_string(&r);

		(void)reader_string(&r);
		assert_false(view_is(name, "posix-rename@openssh.com") || view_is(name, "copy-data") ||
			view_is(name, "hardlink@openssh.com") || view_is(name, "fsync@openssh.com") ||
			view_is(name, "lsetstat@openssh.com"));
		names++;
	}
	assert_int_equal(names, SFTP_EXT_COUNT - 5);
	buf_free(&b);
	close(open(raw_in_dir(&c, "f"), O_CREAT | O_WRONLY, 0644));
	static const uint32_t writing[] = { SFTP_OPEN_WRITE, SFTP_OPEN_READ | SFTP_OPEN_WRITE, SFTP_OPEN_READ | SFTP_OPEN_TRUNC,
		SFTP_OPEN_READ | SFTP_OPEN_CREAT, SFTP_OPEN_CREAT | SFTP_OPEN_APPEND | SFTP_OPEN_WRITE, SFTP_OPEN_TRUNC };
	for (size_t i = 0; i < MEM_COUNT(writing); i++)
		assert_int_equal(raw_open(&c, "f", writing[i], -1, handle), SFTP_PERMISSION_DENIED);
	assert_int_equal(raw_open(&c, "f", SFTP_OPEN_READ, -1, handle), 0);
	assert_int_equal(raw_write(&c, handle, 0, "x", 1), SFTP_PERMISSION_DENIED);
	assert_int_equal(raw_path(&c, SFTP_REMOVE, "f"), SFTP_PERMISSION_DENIED);
	assert_int_equal(raw_path(&c, SFTP_RMDIR, "f"), SFTP_PERMISSION_DENIED);
	assert_int_equal(raw_two(&c, SFTP_RENAME, "f", "g"), SFTP_PERMISSION_DENIED);
	assert_int_equal(raw_two(&c, SFTP_SYMLINK, "f", "g"), SFTP_PERMISSION_DENIED);
	assert_int_equal(extended_two(&c, "posix-rename@openssh.com", "f", "g"), SFTP_PERMISSION_DENIED);
	assert_int_equal(extended_two(&c, "hardlink@openssh.com", "f", "g"), SFTP_PERMISSION_DENIED);
	assert_int_equal(copy_data(&c, handle, 0, 0, handle, 0), SFTP_PERMISSION_DENIED);
	struct sftp_attrs a = { .flags = SFTP_ATTR_MODE, .mode = 0 };
	assert_int_equal(set_attrs(&c, SFTP_SETSTAT, "f", NULL, &a), SFTP_PERMISSION_DENIED);
	assert_int_equal(set_attrs(&c, SFTP_FSETSTAT, NULL, handle, &a), SFTP_PERMISSION_DENIED);
	assert_int_equal(set_attrs(&c, SFTP_MKDIR, "d", NULL, &a), SFTP_PERMISSION_DENIED);
	assert_int_equal(ask_attrs(&c, SFTP_STAT, "f", NULL).mode, 0100644);
	finish_session(&c);
}

static void test_lists(void **state)
{
	char *argv[] = { (char *)"sftp-server", (char *)"-P", (char *)"remove,statvfs", (char *)"-p",
		(char *)"open,close,remove,statvfs,limits", NULL };
	char *none[] = { (char *)"sftp-server", (char *)"-p", (char *)"", NULL };
	struct sftp_server_options o;
	struct raw c;
	uint8_t handle[4];
	struct err e = { 0 };
	int facility;
	bool to_stderr;

	(void)state;
	assert_int_equal(sftp_server_parse_args(5, argv, &o, &facility, &to_stderr, &e), 0);
	o.log_level = LOG_LEVEL_QUIET;
	begin_session(&c, &o, 1 << 20, false);
	assert_int_equal(raw_open(&c, "f", SFTP_OPEN_WRITE | SFTP_OPEN_CREAT, -1, handle), 0);
	assert_int_equal(raw_write(&c, handle, 0, "x", 1), SFTP_PERMISSION_DENIED);
	assert_int_equal(raw_path(&c, SFTP_REMOVE, "f"), SFTP_PERMISSION_DENIED);
	assert_int_equal(raw_path(&c, SFTP_STAT, "f"), SFTP_PERMISSION_DENIED);
	assert_int_equal(raw_handle(&c, SFTP_CLOSE, handle), 0);
	finish_session(&c);
	str_list_clear(&o.allow);
	str_list_clear(&o.deny);
	/* An empty list permits nothing. */
	assert_int_equal(sftp_server_parse_args(3, none, &o, &facility, &to_stderr, &e), 0);
	o.log_level = LOG_LEVEL_QUIET;
	begin_session(&c, &o, 1 << 20, false);
	assert_int_equal(raw_open(&c, "f", SFTP_OPEN_WRITE | SFTP_OPEN_CREAT, -1, handle), SFTP_PERMISSION_DENIED);
	finish_session(&c);
	str_list_clear(&o.allow);
	str_list_clear(&o.deny);
}

/* ---- bad input */

static int ends_with(const void *p, size_t n, bool hello)
{
	struct raw c;
	int status;

	if (hello)
		begin_session(&c, NULL, 1 << 20, false);
	else
		raw_start(&c, NULL, 1 << 20, false);
	raw_send_bytes(&c, p, n);
	raw_end_input(&c);
	status = raw_wait_end(&c);
	raw_stop(&c);
	return status;
}

static void test_bad_input(void **state)
{
	(void)state;
	log_init("test", LOG_LEVEL_QUIET);
	assert_int_equal(ends_with("", 0, false), 0);
	assert_int_equal(ends_with("", 0, true), 0);
	assert_int_equal(ends_with("\0\0\0", 3, true), 0);
	/* Too long: 11, whatever is to come. */
	assert_int_equal(ends_with("\0\4\0\1\3", 5, true), 11);
	assert_int_equal(ends_with("\xff\xff\xff\xff\x06", 5, true), 11);
	assert_int_equal(ends_with("GET / HTTP/1.0\r\n", 16, false), 11);
	assert_int_equal(ends_with("\0\0\0\0\0", 5, true), 11);
	/* The longest that is allowed waits for the rest. */
	assert_int_equal(ends_with("\0\4\0\0\3", 5, true), 0);
	/* Before the hello. */
	assert_int_equal(ends_with("\0\0\0\x0a\x11\0\0\0\1\0\0\0\1.", 14, false), 255);
	assert_int_equal(ends_with("\0\0\0\x19\x06\0\0\0\1\0\0\0\4abcd\0\0\0\0\0\0\0\0\0\0\0\0", 29, false), 255);
	/* Hello without a version. */
	assert_int_equal(ends_with("\0\0\0\1\1", 5, false), 255);
	/* No id; a string that is longer than the message; a NUL in a path; a WRITE whose parts do not fit. */
	assert_int_equal(ends_with("\0\0\0\1\3", 5, true), 255);
	assert_int_equal(ends_with("\0\0\0\x0a\x11\0\0\0\1\0\0\0\2.", 14, true), 255);
	assert_int_equal(ends_with("\0\0\0\x0b\x11\0\0\0\1\0\0\0\2.\0", 15, true), 255);
	assert_int_equal(ends_with("\0\0\0\x05\x06\0\0\0\1", 9, true), 255);
	assert_int_equal(ends_with("\0\0\0\x15\x06\0\0\0\1\0\0\0\5\0\0\0\0\0\0\0\0\0\0\0\0", 25, true), 255);
	assert_int_equal(ends_with("\0\0\0\x15\x06\0\0\0\1\xff\xff\xff\xff\0\0\0\0\0\0\0\0\0\0\0\0", 25, true), 255);
	assert_int_equal(ends_with("\0\0\0\x19\x06\0\0\0\1\0\0\0\4abcd\0\0\0\0\0\0\0\0\0\0\0\1", 29, true), 255);
	/* Unknown types get no reply and harm nothing. */
	assert_int_equal(ends_with("\0\0\0\5\x63\0\0\0\1", 9, true), 0);
}

static void test_trailing_bytes(void **state)
{
	struct raw c;
	struct buf b;
	uint8_t handle[4];
	size_t mark;

	(void)state;
	begin_session(&c, NULL, 1 << 20, false);
	assert_int_equal(raw_open(&c, "f", SFTP_OPEN_WRITE | SFTP_OPEN_CREAT, -1, handle), 0);
	mark = raw_begin(&c, &b, SFTP_WRITE);
	buf_put_string(&b, handle, 4);
	buf_put_u64(&b, 0);
	buf_put_string(&b, "data", 4);
	buf_put(&b, "behind", 6);
	raw_send(&c, &b, mark);
	assert_int_equal(raw_status(&c), 0);
	assert_true(ask_attrs(&c, SFTP_STAT, "f", NULL).size == 4);
	mark = raw_begin(&c, &b, SFTP_REMOVE);
	buf_put_cstring(&b, "f");
	buf_put(&b, "behind", 6);
	raw_send(&c, &b, mark);
	assert_int_equal(raw_status(&c), 0);
	finish_session(&c);
}

/* Every request, cut at every byte: the session ends and nothing else. */
static void test_bytewise(void **state)
{
	struct raw c;
	struct buf b;
	uint8_t handle[4];
	size_t mark;

	(void)state;
	begin_session(&c, NULL, 1 << 20, false);
	assert_int_equal(raw_open(&c, "f", SFTP_OPEN_WRITE | SFTP_OPEN_CREAT, -1, handle), 0);
	mark = raw_begin(&c, &b, SFTP_WRITE);
	buf_put_string(&b, handle, 4);
	buf_put_u64(&b, 0);
	buf_put_string(&b, "some data", 9);
	buf_end_string(&b, mark);
	for (size_t i = 0; i < b.size; i++) {
		raw_send_bytes(&c, b.data + i, 1);
		raw_turns(&c, 2);
	}
	buf_free(&b);
	assert_int_equal(raw_status(&c), 0);
	assert_true(ask_attrs(&c, SFTP_STAT, "f", NULL).size == 9);
	finish_session(&c);
}

/* Freed while requests are with the helper thread. */
static void test_freed_while_busy(void **state)
{
	struct raw c;
	struct buf b;
	uint8_t handle[4], *data = mem_zalloc(200000);
	size_t mark;

	(void)state;
	for (int i = 0; i < 20; i++) {
		begin_session(&c, NULL, 1 << 20, true);
		assert_int_equal(raw_open(&c, "f", SFTP_OPEN_WRITE | SFTP_OPEN_CREAT | SFTP_OPEN_READ, -1, handle), 0);
		mark = raw_begin(&c, &b, SFTP_WRITE);
		buf_put_string(&b, handle, 4);
		buf_put_u64(&b, 0);
		buf_put_string(&b, data, 200000);
		raw_send(&c, &b, mark);
		raw_ask_read(&c, handle, 0, 100000);
		raw_turns(&c, 1 + i % 5);
		raw_stop(&c);
	}
	free(data);
}

static void test_old_client(void **state)
{
	struct raw c;
	struct buf b;
	struct reader r;
	uint32_t id;
	size_t mark;

	(void)state;
	raw_start(&c, NULL, 1 << 20, false);
	raw_hello(&c, 2);
	assert_int_equal(raw_reply_any(&c, &b, &r, &id), SFTP_VERSION_REPLY);
	assert_int_equal(id, 3);
	buf_free(&b);
	mark = raw_begin(&c, &b, SFTP_REMOVE);
	buf_put_cstring(&b, "missing");
	raw_send(&c, &b, mark);
	assert_int_equal(raw_reply(&c, &b, &r), SFTP_STATUS);
	assert_int_equal(reader_u32(&r), SFTP_NO_SUCH_FILE);
	assert_int_equal(reader_left(&r), 0);    /* no words for clients before version 3 */
	buf_free(&b);
	finish_session(&c);
}

static void test_args(void **state)
{
	static const struct { const char *args[6]; int want; } rows[] = {
		{ { "-e", "-R", "-l", "INFO" }, 0 }, { { "-eR", "-lDEBUG3" }, 0 }, { { "-u", "027" }, 0 }, { { "-u0077" }, 0 },
		{ { "-c", "anything", "-Z" }, 0 }, { { "operand", "-Z" }, 0 }, { { "-f", "LOCAL3", "-d", "/tmp" }, 0 },
		{ { "-u", "8" }, ERR_USAGE }, { { "-u", "" }, ERR_USAGE }, { { "-u", "1777" }, ERR_USAGE }, { { "-l", "LOUD" }, ERR_USAGE },
		{ { "-f", "NOWHERE" }, ERR_USAGE }, { { "-p" }, ERR_USAGE }, { { "-p", "open", "-p", "read" }, ERR_USAGE },
		{ { "-x" }, ERR_USAGE }, { { "-h" }, ERR_NONE_FOUND },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		char *argv[8] = { (char *)"sftp-server" };
		int argc = 1, facility;
		bool to_stderr;
		struct sftp_server_options o;
		struct err e = { 0 };

		while (argc < 7 && rows[i].args[argc - 1] != NULL) {
			argv[argc] = (char *)rows[i].args[argc - 1];
			argc++;
		}
		assert_int_equal(sftp_server_parse_args(argc, argv, &o, &facility, &to_stderr, &e), rows[i].want);
		if (i == 0)
			assert_true(to_stderr && o.read_only && o.log_level == LOG_LEVEL_INFO && o.umask == -1);
		if (i == 2)
			assert_int_equal(o.umask, 027);
		str_list_clear(&o.allow);
		str_list_clear(&o.deny);
	}
	struct err e = { 0 };
	char *dir = sftp_server_start_dir("%d/in/%u%%", "/home/x", "x", &e);
	assert_string_equal(dir, "/home/x/in/x%");
	free(dir);
	dir = sftp_server_start_dir("~/in", "/home/x", "x", &e);
	assert_string_equal(dir, "/home/x/in");
	free(dir);
	assert_null(sftp_server_start_dir("%q", "/home/x", "x", &e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hello), cmocka_unit_test(test_order_of_requests), cmocka_unit_test(test_read_write),
		cmocka_unit_test(test_read_pipeline), cmocka_unit_test(test_deaf_client), cmocka_unit_test(test_append),
		cmocka_unit_test(test_handles), cmocka_unit_test(test_handles_bounded), cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_names), cmocka_unit_test(test_folders), cmocka_unit_test(test_copy_data),
		cmocka_unit_test(test_set_slow),
		cmocka_unit_test(test_extensions), cmocka_unit_test(test_extensions_names),
		cmocka_unit_test(test_read_only), cmocka_unit_test(test_lists),
		cmocka_unit_test(test_bad_input), cmocka_unit_test(test_trailing_bytes), cmocka_unit_test(test_bytewise),
		cmocka_unit_test(test_freed_while_busy), cmocka_unit_test(test_old_client), cmocka_unit_test(test_args),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
