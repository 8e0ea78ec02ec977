/* regress/unit/xfer/test_sftp_client.c: the client engine against our server engine, and against servers that lie, talk
 * nonsense, or go away. */
#include "xfer/sftp_client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "io/link.h"
#include "io/loop.h"
#include "xfer/sftp_dir.h"
#include "xfer/sftp_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct answer { int count; uint32_t status, bytes, names; uint8_t handle[256]; size_t handle_size; struct sftp_attrs attrs; char text[300]; };

struct session {
	struct loop *loop;
	struct link *here, *there;
	struct sftp_client *client;
	struct sftp_server *server;
	bool ready, closed, lost, server_done;
	struct err error;
	struct buf sent;                 /* what a hand-made server got */
	struct buf data;                 /* what READs brought */
	uint64_t data_start;
};

static void on_ready(void *ctx) { ((struct session *)ctx)->ready = true; }
static void on_lost(void *ctx) { ((struct session *)ctx)->lost = true; }

static void on_closed(void *ctx, const struct err *e)
{
	struct session *s = ctx;

	assert_true(s->lost);
	assert_false(s->closed);
	s->closed = true;
	s->error = *e;
}

static void on_server_input(void *ctx)
{
	struct session *s = ctx;
	const uint8_t *p;
	size_t n;

	while ((n = link_peek(s->there, &p)) > 0) {
		buf_put(&s->sent, p, n);
		link_consume(s->there, n);
	}
}

static void turns(struct session *s, int n)
{
	struct err e = { 0 };

	while (n-- > 0)
		assert_int_equal(loop_turn(s->loop, 0, &e), 0);
}

static void begin_link(struct session *s, size_t limit)
{
	struct err e = { 0 };

	memset(s, 0, sizeof *s);
	s->sent = BUF_INIT(SIZE_MAX);
	s->data = BUF_INIT(SIZE_MAX);
	log_init("test", LOG_LEVEL_ERROR);
	s->loop = loop_new(&e);
	assert_non_null(s->loop);
	assert_int_equal(link_pair_new(s->loop, limit, &s->here, &s->there, &e), 0);
}

static void begin_client(struct session *s, bool early)
{
	struct sftp_client_events events = { .ready = on_ready, .lost = on_lost, .closed = on_closed, .ctx = s };

	s->client = sftp_client_new(s->loop, s->here, early, &events);
}

/* Against a server that the test plays. */
static void begin_raw(struct session *s, bool early)
{
	begin_link(s, 1 << 20);
	s->there->user = (struct link_user){ .readable = on_server_input, .ctx = s };
	begin_client(s, early);
	turns(s, 4);
}

static void on_server_done(void *ctx, int status)
{
	struct session *s = ctx;

	assert_int_equal(status, 0);
	s->server_done = true;
}

static void begin_real(struct session *s, size_t limit, const char *dir)
{
	struct sftp_server_options o = { .umask = -1, .log_level = LOG_LEVEL_QUIET, .start_dir = dir };

	begin_link(s, limit);
	s->server = sftp_server_new(s->loop, s->there, NULL, &o, on_server_done, s);
	begin_client(s, true);
}

static void end_session(struct session *s)
{
	sftp_client_free(s->client);
	if (s->server != NULL) {
		link_finish(s->here);
		for (int i = 0; !s->server_done; i++) {
			turns(s, 1);
			assert_true(i < 1000);
		}
		sftp_server_free(s->server);
	}
	link_close(s->here);
	link_close(s->there);
	turns(s, 3);
	loop_free(s->loop);
	buf_free(&s->sent);
	buf_free(&s->data);
}

static void say(struct session *s, const void *p, size_t n)
{
	assert_true(link_write(s->there, p, n));
	turns(s, 4);
}

static void say_hello(struct session *s)
{
	say(s, "\0\0\0\5\2\0\0\0\3", 9);
	assert_true(s->ready);
	buf_reset(&s->sent);
}

static void on_answer(void *ctx, const struct sftp_result *r)
{
	struct answer *a = ctx;

	a->count++;
	a->status = r->status;
	a->bytes = r->bytes;
	a->names = r->count;
	a->attrs = r->attrs;
	a->handle_size = r->handle.n;
	if (r->handle.n > 0)
		memcpy(a->handle, r->handle.p, r->handle.n);
	(void)sftp_result_text(r, a->text, sizeof a->text);
}

static void wait_for(struct session *s, struct answer *a, int count)
{
	for (int i = 0; a->count < count; i++) {
		turns(s, 1);
		assert_true(i < 100000);
	}
	assert_int_equal(a->count, count);
}

static struct view handle_of(const struct answer *a)
{
	return (struct view){ a->handle, a->handle_size };
}

/* ---- hello */

static void test_waits_for_hello(void **state)
{
	struct session s;
	struct answer a = { 0 };

	(void)state;
	begin_raw(&s, false);
	sftp_client_path(s.client, SFTP_STAT, "x", on_answer, &a);
	turns(&s, 4);
	assert_int_equal(s.sent.size, 9);
	assert_memory_equal(s.sent.data, "\0\0\0\5\1\0\0\0\3", 9);
	/* limits@openssh.com in another version is not what we know. */
	say(&s, "\0\0\0\x20\2\0\0\0\3\0\0\0\x12limits@openssh.com\0\0\0\1" "2", 37 - 1);
	assert_true(s.ready);
	assert_false(sftp_client_has(s.client, SFTP_EXT_LIMITS));
	/* Now the STAT has left. */
	assert_int_equal(s.sent.size, 9 + 14);
	assert_int_equal(s.sent.data[9 + 4], SFTP_STAT);
	end_session(&s);
	assert_int_equal(a.count, 1);
	assert_int_equal(a.status, SFTP_CONNECTION_LOST);
}

static void test_early(void **state)
{
	struct session s;
	struct answer a = { 0 };

	(void)state;
	begin_raw(&s, true);
	sftp_client_path(s.client, SFTP_STAT, "x", on_answer, &a);
	turns(&s, 4);
	/* INIT, limits, STAT in one go. */
	assert_true(s.sent.size > 9 + 14);
	assert_int_equal(s.sent.data[9 + 4], SFTP_EXTENDED);
	end_session(&s);
}

static void check_hello_fails(const void *p, size_t n, const char *text)
{
	struct session s;
	struct answer a = { 0 };

	begin_raw(&s, true);
	sftp_client_path(s.client, SFTP_STAT, "x", on_answer, &a);
	say(&s, p, n);
	assert_true(s.closed);
	assert_int_equal(s.error.code, ERR_PEER);
	if (strstr(s.error.text, text) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", s.error.text, text);
	assert_int_equal(a.count, 1);
	assert_int_equal(a.status, SFTP_CONNECTION_LOST);
	end_session(&s);
}

static void test_bad_hello(void **state)
{
	(void)state;
	check_hello_fails("Welcome to host!\nquota 80%\n", 27, "Welcome to host!");
	check_hello_fails("\033[31mred\n", 9, "\\033[31mred");
	check_hello_fails("\0\0\0\5\2\0\0\0\2", 9, "version 2");
	check_hello_fails("\0\0\0\5\2\0\0\0\6", 9, "version 6");
	check_hello_fails("\0\0\0\4\2\0\0\0", 8, "text instead");
	check_hello_fails("\0\0\0\5\x65\0\0\0\3", 9, "text instead");
	check_hello_fails("\0\0\0\6\2\0\0\0\3x", 10, "malformed hello");
	check_hello_fails("\0\4\0\1\2", 5, "text instead");
}

/* ---- replies that do not fit */

static void check_reply_fails(const void *p, size_t n, const char *text)
{
	struct session s;
	struct answer a = { 0 };

	begin_raw(&s, false);
	say_hello(&s);
	sftp_client_path(s.client, SFTP_STAT, "x", on_answer, &a);       /* the first request has id 0 */
	turns(&s, 4);
	assert_memory_equal(s.sent.data + 5, "\0\0\0\0", 4);
	say(&s, p, n);
	assert_true(s.closed);
	assert_int_equal(s.error.code, ERR_PEER);
	if (strstr(s.error.text, text) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", s.error.text, text);
	assert_int_equal(a.count, 1);
	end_session(&s);
}

static void test_bad_replies(void **state)
{
	(void)state;
	check_reply_fails("\0\0\0\x09\x65\0\0\0\1\0\0\0\0", 13, "not asked");
	check_reply_fails("\0\0\0\x09\x65\0\x10\0\0\0\0\0\0", 13, "not asked");
	check_reply_fails("\0\0\0\x09\x66\0\0\0\0\0\0\0\0", 13, "message type 102, expected 105");
	check_reply_fails("\0\0\0\x09\x67\0\0\0\0\0\0\0\0", 13, "data that was not asked");
	check_reply_fails("\0\0\0\x09\x65\0\0\0\0\0\0\0\0", 13, "malformed reply");      /* success, and no attributes */
	check_reply_fails("\0\0\0\x09\x69\0\0\0\0\0\0\0\1", 13, "malformed reply");      /* no size behind the flag */
	check_reply_fails("\0\0\0\x08\x65\0\0\0\0\0\0\0", 12, "malformed reply");
	check_reply_fails("\0\4\0\1\x65", 5, "message of 262145 bytes");
	check_reply_fails("\0\0\0\4\x65\0\0\0", 8, "message of 4 bytes");
	check_reply_fails("\0\0\0\5\x02\0\0\0\3", 9, "not asked");
}

static void test_answered_once(void **state)
{
	struct session s;
	struct answer a = { 0 };

	(void)state;
	begin_raw(&s, false);
	say_hello(&s);
	sftp_client_path(s.client, SFTP_REMOVE, "x", on_answer, &a);
	turns(&s, 4);
	say(&s, "\0\0\0\x09\x65\0\0\0\0\0\0\0\2", 13);
	assert_int_equal(a.count, 1);
	assert_int_equal(a.status, SFTP_NO_SUCH_FILE);
	assert_string_equal(a.text, "No such file or directory");
	say(&s, "\0\0\0\x09\x65\0\0\0\0\0\0\0\2", 13);
	assert_int_equal(a.count, 1);
	assert_true(s.closed);
	/* After the end requests are still answered, once and later. */
	sftp_client_path(s.client, SFTP_REMOVE, "x", on_answer, &a);
	assert_int_equal(a.count, 1);
	turns(&s, 4);
	assert_int_equal(a.count, 2);
	assert_int_equal(a.status, SFTP_CONNECTION_LOST);
	end_session(&s);
	assert_int_equal(a.count, 2);
}

static void test_words(void **state)
{
	struct session s;
	struct answer a = { 0 };

	(void)state;
	begin_raw(&s, false);
	say_hello(&s);
	for (int i = 0; i < 3; i++)
		sftp_client_path(s.client, SFTP_REMOVE, "x", on_answer, &a);
	turns(&s, 4);
	say(&s, "\0\0\0\x14\x65\0\0\0\0\0\0\0\4\0\0\0\3" "a\033b\0\0\0\0", 24);
	assert_string_equal(a.text, "a\\033b");
	say(&s, "\0\0\0\x18\x65\0\0\0\1\0\0\0\4\0\0\0\7" "Failure\0\0\0\0", 28);
	assert_string_equal(a.text, "Failure");
	say(&s, "\0\0\0\x13\x65\0\0\0\2\0\0\0\3\0\0\0\2" "xx\0\0\0\0", 23);
	assert_string_equal(a.text, "Permission denied");
	assert_false(s.closed);
	end_session(&s);
}

static void on_data(void *ctx, uint64_t offset, const uint8_t *p, size_t n)
{
	(void)ctx;
	(void)offset;
	(void)p;
	(void)n;
}

static void test_bad_data(void **state)
{
	static const struct { const char *p; size_t n; const char *text; } rows[] = {
		{ "\0\0\0\x14\x67\0\0\0\0\0\0\0\x0b" "01234567890", 24, "11 bytes of data, asked for were 10" },
		{ "\0\0\0\x0c\x67\0\0\0\0\0\0\0\4xyz", 16, "asked for were 10" },
		{ "\0\0\0\x08\x67\0\0\0\0\0\0\0", 12, "malformed" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct session s;
		struct answer a = { 0 };
		struct sftp_read r = { { (const uint8_t *)"h", 1 }, 0, 10 };

		begin_raw(&s, false);
		say_hello(&s);
		sftp_client_read(s.client, &r, on_data, on_answer, &a);
		turns(&s, 4);
		say(&s, rows[i].p, rows[i].n);
		assert_true(s.closed);
		assert_non_null(strstr(s.error.text, rows[i].text));
		assert_int_equal(a.count, 1);
		end_session(&s);
	}
}

/* No data where some was asked for would be asked for again, for ever. */
static void test_empty_data(void **state)
{
	struct session s;
	struct answer a = { 0 };
	struct sftp_read r = { { (const uint8_t *)"h", 1 }, 0, 10 };

	(void)state;
	begin_raw(&s, false);
	say_hello(&s);
	sftp_client_read(s.client, &r, on_data, on_answer, &a);
	turns(&s, 4);
	say(&s, "\0\0\0\x09\x67\0\0\0\0\0\0\0\0", 13);
	assert_int_equal(a.count, 1);
	assert_int_equal(a.status, SFTP_EOF);
	end_session(&s);
}

static void test_limits(void **state)
{
	struct session s;

	(void)state;
	begin_raw(&s, false);
	say(&s, "\0\0\0\x20\2\0\0\0\3\0\0\0\x12limits@openssh.com\0\0\0\1" "1", 36);
	assert_int_equal(sftp_client_limits(s.client)->read, 32768);
	say(&s, "\0\0\0\x25\xc9\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\x20\0\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\0\x64", 41);
	assert_false(s.closed);
	assert_int_equal(sftp_client_limits(s.client)->read, 0x2000);
	/* More than a message of ours can hold, then more than the packet that the server names. */
	assert_int_equal(sftp_client_limits(s.client)->write, 65536 - 1024);
	assert_int_equal(sftp_client_limits(s.client)->handles, 100);
	end_session(&s);
}

static void test_connection_goes(void **state)
{
	struct session s;
	struct answer a = { 0 };

	(void)state;
	begin_raw(&s, false);
	say_hello(&s);
	for (int i = 0; i < 100; i++)
		sftp_client_path(s.client, SFTP_STAT, "x", on_answer, &a);
	turns(&s, 4);
	link_finish(s.there);
	turns(&s, 6);
	assert_true(s.closed);
	assert_int_equal(s.error.code, ERR_CLOSED);
	assert_string_equal(s.error.text, "Connection closed");
	assert_int_equal(a.count, 100);
	end_session(&s);
}

/* ---- with our server */

static void keep_data(void *ctx, uint64_t offset, const uint8_t *p, size_t n)
{
	struct session *s = ((void **)ctx)[0];

	assert_true(offset == s->data_start + s->data.size);
	buf_put(&s->data, p, n);
}

static void count_answer(void *ctx, const struct sftp_result *r)
{
	on_answer(((void **)ctx)[1], r);
}

static void test_round_trip(void **state)
{
	static const size_t limits[] = { 300, 5000, 70000, 262200, 1 << 20 };
	enum { SIZE = 700000 };
	uint8_t *content = mem_alloc(SIZE);
	char dir[] = "/tmp/ws-client-XXXXXX", path[64];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < SIZE; i++)
		content[i] = (uint8_t)(i * 31 + i / 251);
	(void)str_copy(path, sizeof path, dir);
	strcat(path, "/local");
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, content, SIZE), SIZE);
	for (size_t l = 0; l < MEM_COUNT(limits); l++) {
		struct session s;
		struct answer opened = { 0 }, wrote = { 0 }, other = { 0 }, got = { 0 };
		struct sftp_attrs mode = { .flags = SFTP_ATTR_MODE, .mode = 0640 };
		struct sftp_write w = { .fd = fd, .max = UINT64_MAX };
		void *both[2] = { &s, &got };
		int writes = 0, idle = 0;
		long n;

		begin_real(&s, limits[l], dir);
		sftp_client_open(s.client, "far", SFTP_OPEN_READ | SFTP_OPEN_WRITE | SFTP_OPEN_CREAT | SFTP_OPEN_TRUNC, &mode, on_answer,
			&opened);
		wait_for(&s, &opened, 1);
		assert_int_equal(opened.status, 0);
		w.handle = handle_of(&opened);
		while ((n = sftp_client_write(s.client, &w, on_answer, &wrote)) != 0) {
			if (n == ERR_AGAIN) {
				turns(&s, 1);
				assert_true(++idle < 1000000);
				continue;
			}
			assert_true(n > 0 && n <= 261120);
			w.offset += (uint64_t)n;
			writes++;
		}
		assert_true(w.offset == SIZE);
		if (limits[l] == 1 << 20)
			assert_int_equal(writes, 3);     /* as large as they may be */
		wait_for(&s, &wrote, writes);
		assert_int_equal(wrote.status, 0);
		sftp_client_handle(s.client, SFTP_FSTAT, handle_of(&opened), on_answer, &other);
		wait_for(&s, &other, 1);
		assert_true(other.attrs.size == SIZE && (other.attrs.mode & 07777) == 0640);
		for (uint64_t at = 0; at <= SIZE; at += 200000) {
			struct sftp_read r = { handle_of(&opened), at, 200000 };

			sftp_client_read(s.client, &r, keep_data, count_answer, both);
		}
		wait_for(&s, &got, 4);
		assert_int_equal(s.data.size, SIZE);
		assert_memory_equal(s.data.data, content, SIZE);
		assert_int_equal(got.bytes, 100000);
		sftp_client_handle(s.client, SFTP_CLOSE, handle_of(&opened), on_answer, &other);
		sftp_client_path(s.client, SFTP_REMOVE, "far", on_answer, &other);
		wait_for(&s, &other, 3);
		assert_int_equal(other.status, 0);
		assert_int_equal(sftp_client_outstanding(s.client), 0);
		end_session(&s);
	}
	/* A file that cannot be read: nothing was sent, the stream is whole. */
	close(fd);
	struct session s;
	struct answer a = { 0 };
	struct sftp_write w = { .handle = { (const uint8_t *)"0000", 4 }, .fd = -1, .max = 100 };
	begin_real(&s, 1 << 20, dir);
	turns(&s, 10);
	assert_int_equal(sftp_client_write(s.client, &w, on_answer, &a), ERR_IO);
	assert_int_equal(errno, EBADF);
	sftp_client_path(s.client, SFTP_REMOVE, "local", on_answer, &a);
	wait_for(&s, &a, 1);
	assert_int_equal(a.status, 0);
	end_session(&s);
	assert_int_equal(rmdir(dir), 0);
	free(content);
}

struct listing { unsigned names; bool ended; uint32_t status; unsigned bad; struct str_list seen; };

static void on_entry(void *ctx, const char *name, const struct sftp_name *n)
{
	struct listing *l = ctx;

	(void)n;
	l->names++;
	str_list_add(&l->seen, name);
}

static void on_end(void *ctx, uint32_t status, const char *text, unsigned bad)
{
	struct listing *l = ctx;

	(void)text;
	l->ended = true;
	l->status = status;
	l->bad = bad;
}

static void test_folder(void **state)
{
	struct session s;
	struct listing l = { 0 };
	struct sftp_dir *d;
	char dir[] = "/tmp/ws-client-XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < 500; i++) {
		(void)snprintf(path, sizeof path, "%s/%d", dir, i);
		close(open(path, O_CREAT | O_WRONLY, 0600));
	}
	begin_real(&s, 1 << 20, dir);
	d = sftp_dir_start(s.client, ".", on_entry, on_end, &l);
	for (int i = 0; !l.ended; i++) {
		turns(&s, 1);
		assert_true(i < 1000);
	}
	assert_int_equal(l.names, 502);
	assert_int_equal(l.status, SFTP_OK);
	sftp_dir_free(d);
	str_list_clear(&l.seen);
	l = (struct listing){ 0 };
	d = sftp_dir_start(s.client, "none", on_entry, on_end, &l);
	turns(&s, 10);
	assert_true(l.ended);
	assert_int_equal(l.status, SFTP_NO_SUCH_FILE);
	sftp_dir_free(d);
	end_session(&s);
	for (int i = 0; i < 500; i++) {
		(void)snprintf(path, sizeof path, "%s/%d", dir, i);
		(void)unlink(path);
	}
	assert_int_equal(rmdir(dir), 0);
}

/* Names that would lead elsewhere reach nobody; counts that lie end the listing. */
static void test_evil_names(void **state)
{
	static const char *const names[] = { "../up", "a/b", "/etc/passwd", "", "fine", ".." };
	struct session s;
	struct listing l = { 0 };
	struct sftp_attrs none = { 0 };
	struct sftp_dir *d;
	struct buf b = BUF_INIT(1000);
	size_t mark;

	(void)state;
	for (int lie = 0; lie < 2; lie++) {
		begin_raw(&s, false);
		say_hello(&s);
		d = sftp_dir_start(s.client, "x", on_entry, on_end, &l);
		turns(&s, 4);
		say(&s, "\0\0\0\x0a\x66\0\0\0\0\0\0\0\1h", 14);
		/* Two READDIRs: ids with generation. */
		mark = buf_begin_string(&b);
		buf_put_u8(&b, SFTP_NAME);
		buf_put(&b, s.sent.data + s.sent.size - 2 * 14 + 5, 4);
		buf_put_u32(&b, MEM_COUNT(names) + (lie ? 1000000 : 0));
		for (size_t i = 0; i < MEM_COUNT(names); i++)
			sftp_name_put(&b, names[i], "", &none);
		buf_end_string(&b, mark);
		say(&s, b.data, b.size);
		assert_int_equal(l.names, 2);
		assert_string_equal(l.seen.v[0], "fine");
		end_session(&s);
		assert_true(l.ended);
		assert_int_equal(l.bad, 4);
		assert_int_equal(l.status, lie ? SFTP_BAD_MESSAGE : SFTP_CONNECTION_LOST);
		sftp_dir_free(d);
		str_list_clear(&l.seen);
		l = (struct listing){ 0 };
		buf_reset(&b);
	}
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits_for_hello), cmocka_unit_test(test_early), cmocka_unit_test(test_bad_hello),
		cmocka_unit_test(test_bad_replies), cmocka_unit_test(test_answered_once), cmocka_unit_test(test_words),
		cmocka_unit_test(test_bad_data), cmocka_unit_test(test_empty_data), cmocka_unit_test(test_limits),
		cmocka_unit_test(test_connection_goes), cmocka_unit_test(test_round_trip), cmocka_unit_test(test_folder),
		cmocka_unit_test(test_evil_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
