#include "raw_client.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/link.h"
#include "io/loop.h"
#include "io/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void on_readable(void *ctx)
{
	struct raw *c = ctx;
	const uint8_t *p;
	size_t n;

	while (!c->deaf && (n = link_peek(c->here, &p)) > 0) {
		buf_put(&c->got, p, n);
		link_consume(c->here, n);
	}
}

static void on_done(void *ctx, int status)
{
	struct raw *c = ctx;

	assert_int_equal(c->status, -1);
	c->status = status;
}

void raw_start(struct raw *c, const struct sftp_server_options *o, size_t limit, bool slow)
{
	struct sftp_server_options mine = { .umask = -1, .log_level = LOG_LEVEL_QUIET };
	struct err e = { 0 };

	memset(c, 0, sizeof *c);
	if (o != NULL)
		mine = *o;
	c->status = -1;
	c->got = BUF_INIT(SIZE_MAX);
	(void)str_copy(c->dir, sizeof c->dir, "/tmp/ws-sftp-XXXXXX");
	assert_non_null(mkdtemp(c->dir));
	if (mine.start_dir == NULL)
		mine.start_dir = c->dir;
	c->loop = loop_new(&e);
	assert_non_null(c->loop);
	assert_int_equal(link_pair_new(c->loop, limit, &c->here, &c->there, &e), 0);
	c->here->user = (struct link_user){ .readable = on_readable, .ctx = c };
	if (slow) {
		c->worker = worker_new(c->loop, &e);
		assert_non_null(c->worker);
		mine.slow_files = true;
	}
	c->server = sftp_server_new(c->loop, c->there, c->worker, &mine, on_done, c);
	assert_non_null(c->server);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *w)
{
	(void)st;
	(void)flag;
	(void)w;
	return remove(path);
}

void raw_stop(struct raw *c)
{
	sftp_server_free(c->server);
	if (c->worker != NULL)
		worker_free(c->worker);
	link_close(c->there);
	link_close(c->here);
	raw_turns(c, 3);
	loop_free(c->loop);
	buf_free(&c->got);
	(void)nftw(c->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void raw_turns(struct raw *c, int n)
{
	struct err e = { 0 };

	while (n-- > 0)
		assert_int_equal(loop_turn(c->loop, 0, &e), 0);
}

void raw_send_bytes(struct raw *c, const void *p, size_t n)
{
	const uint8_t *at = p;
	int idle = 0;

	while (n > 0 && c->status < 0) {
		size_t room = link_room(c->here), k = n < room ? n : room;

		if (k == 0) {
			raw_turns(c, 1);
			assert_true(++idle < 100000);
			continue;
		}
		idle = 0;
		/* The room may be there in a form that takes less. */
		while (k > 0 && !link_write(c->here, at, k))
			k /= 2;
		at += k;
		n -= k;
	}
}

size_t raw_begin(struct raw *c, struct buf *b, uint8_t type)
{
	size_t mark;

	*b = BUF_INIT(SIZE_MAX);
	mark = buf_begin_string(b);
	buf_put_u8(b, type);
	buf_put_u32(b, ++c->id);
	return mark;
}

void raw_send(struct raw *c, struct buf *b, size_t mark)
{
	buf_end_string(b, mark);
	assert_true(buf_ok(b));
	raw_send_bytes(c, b->data, b->size);
	buf_free(b);
}

void raw_hello(struct raw *c, uint32_t version)
{
	struct buf b = BUF_INIT(100);

	buf_put_u32(&b, 5);
	buf_put_u8(&b, SFTP_INIT);
	buf_put_u32(&b, version);
	raw_send_bytes(c, b.data, b.size);
	buf_free(&b);
}

void raw_end_input(struct raw *c)
{
	link_finish(c->here);
}

uint8_t raw_reply_any(struct raw *c, struct buf *b, struct reader *r, uint32_t *id)
{
	struct err e = { 0 };
	uint32_t length;
	uint8_t type;

	for (int i = 0; c->got.size < 4 || c->got.size < 4 + (size_t)wire_load_u32(c->got.data); i++) {
		assert_int_equal(loop_turn(c->loop, c->worker != NULL ? 1000 : 0, &e), 0);
		assert_true(i < 100000);
	}
	length = wire_load_u32(c->got.data);
	assert_true(length >= 5);
	type = c->got.data[4];
	*id = wire_load_u32(c->got.data + 5);
	*b = BUF_INIT(SIZE_MAX);
	buf_put(b, c->got.data + 9, length - 5);
	buf_consume(&c->got, 4 + (size_t)length);
	reader_init(r, b->data, b->size);
	return type;
}

uint8_t raw_reply(struct raw *c, struct buf *b, struct reader *r)
{
	uint32_t id;
	uint8_t type = raw_reply_any(c, b, r, &id);

	assert_int_equal(id, c->id);
	return type;
}

uint32_t raw_status(struct raw *c)
{
	struct buf b;
	struct reader r;
	uint32_t status;

	assert_int_equal(raw_reply(c, &b, &r), SFTP_STATUS);
	status = reader_u32(&r);
	(void)reader_string(&r);
	(void)reader_string(&r);
	assert_int_equal(reader_end(&r, NULL, "status"), 0);
	buf_free(&b);
	return status;
}

int raw_wait_end(struct raw *c)
{
	for (int i = 0; c->status < 0; i++) {
		raw_turns(c, 1);
		assert_true(i < 100000);
	}
	return c->status;
}

uint32_t raw_open(struct raw *c, const char *path, uint32_t pflags, int mode, uint8_t handle[4])
{
	struct sftp_attrs a = { .flags = mode >= 0 ? SFTP_ATTR_MODE : 0, .mode = (uint32_t)mode };
	struct reader r;
	struct buf b;
	struct view v;
	size_t mark = raw_begin(c, &b, SFTP_OPEN);
	uint32_t status = 0;

	buf_put_cstring(&b, path);
	buf_put_u32(&b, pflags);
	sftp_attrs_put(&b, &a);
	raw_send(c, &b, mark);
	if (raw_reply(c, &b, &r) == SFTP_STATUS) {
		status = reader_u32(&r);
		assert_int_not_equal(status, 0);
	} else {
		v = reader_string(&r);
		assert_int_equal(v.n, 4);
		memcpy(handle, v.p, 4);
	}
	buf_free(&b);
	return status;
}

uint32_t raw_path(struct raw *c, uint8_t type, const char *path)
{
	struct buf b;
	size_t mark = raw_begin(c, &b, type);

	buf_put_cstring(&b, path);
	raw_send(c, &b, mark);
	return raw_status(c);
}

uint32_t raw_handle(struct raw *c, uint8_t type, const uint8_t handle[4])
{
	struct buf b;
	size_t mark = raw_begin(c, &b, type);

	buf_put_string(&b, handle, 4);
	raw_send(c, &b, mark);
	return raw_status(c);
}

uint32_t raw_two(struct raw *c, uint8_t type, const char *x, const char *y)
{
	struct buf b;
	size_t mark = raw_begin(c, &b, type);

	buf_put_cstring(&b, x);
	buf_put_cstring(&b, y);
	raw_send(c, &b, mark);
	return raw_status(c);
}

uint32_t raw_write(struct raw *c, const uint8_t handle[4], uint64_t offset, const void *p, size_t n)
{
	struct buf b;
	size_t mark = raw_begin(c, &b, SFTP_WRITE);

	buf_put_string(&b, handle, 4);
	buf_put_u64(&b, offset);
	buf_put_string(&b, p, n);
	raw_send(c, &b, mark);
	return raw_status(c);
}

void raw_ask_read(struct raw *c, const uint8_t handle[4], uint64_t offset, uint32_t n)
{
	struct buf b;
	size_t mark = raw_begin(c, &b, SFTP_READ);

	buf_put_string(&b, handle, 4);
	buf_put_u64(&b, offset);
	buf_put_u32(&b, n);
	raw_send(c, &b, mark);
}

char *raw_in_dir(struct raw *c, const char *name)
{
	static char path[512];

	(void)snprintf(path, sizeof path, "%s/%s", c->dir, name);
	return path;
}
