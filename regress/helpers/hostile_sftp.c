/* hostile_sftp: an SFTP server on stdin and stdout that misbehaves, for scp -S and sftp -S.
 *
 *   hostile_sftp list      "NAME<tab>STDERR" for every case: an extended regular expression of what the client must say
 *   hostile_sftp NAME      serves a folder "dir" with what the case puts in it, or a file "file" */
#include <sys/stat.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "wire/buf.h"
#include "wire/reader.h"

enum {
	FXP_INIT = 1, FXP_VERSION = 2, FXP_OPEN = 3, FXP_CLOSE = 4, FXP_READ = 5, FXP_WRITE = 6, FXP_LSTAT = 7, FXP_FSTAT = 8,
	FXP_OPENDIR = 11, FXP_READDIR = 12, FXP_REALPATH = 16, FXP_STAT = 17, FXP_STATUS = 101, FXP_HANDLE = 102, FXP_DATA = 103,
	FXP_NAME = 104, FXP_ATTRS = 105, FXP_EXTENDED = 200
};
enum { FX_OK = 0, FX_EOF = 1, FX_FAILURE = 4, REQUEST_MAX = 1 << 20 };

struct request { uint8_t type; uint32_t id; struct view path; };

static struct {
	const char *const *names;        /* of the folder */
	size_t count;
	bool endless_folder, endless_file, empty_data, long_data, other_id, big_handle, no_handle, close_early, name_count_lies,
		deep, tilde, size_lies, odd_status, garbage, length_huge, length_zero, old_version, unasked;
} evil;
static bool folder_read;
static unsigned reads;

/* ---- out ---- */

static void out(const void *p, size_t n)
{
	const char *at = p;

	while (n > 0) {
		ssize_t w = write(1, at, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			exit(0);
		at += w;
		n -= (size_t)w;
	}
}

static void answer(uint8_t type, uint32_t id, struct buf *rest)
{
	uint8_t head[9];

	wire_store_u32(head, (uint32_t)rest->size + 5);
	head[4] = type;
	wire_store_u32(head + 5, evil.other_id ? id + 77 : id);
	out(head, sizeof(head));
	out(rest->data, rest->size);
	buf_free(rest);
}

static void status(uint32_t id, uint32_t code)
{
	struct buf b = BUF_INIT(10000);

	buf_put_u32(&b, code);
	buf_put_cstring(&b, evil.odd_status ? "it \033[31mfailed\a\r\n\033]0;x\a" : "status");
	buf_put_cstring(&b, "");
	answer(FXP_STATUS, id, &b);
}

static void put_attrs(struct buf *b, mode_t mode, uint64_t size)
{
	buf_put_u32(b, 1 | 4);           /* size, permissions */
	buf_put_u64(b, size);
	buf_put_u32(b, mode);
}

/* ---- requests ---- */

static bool is_folder(struct view path)
{
	return evil.deep || (path.n >= 3 && memcmp(path.p + path.n - 3, "dir", 3) == 0) || path.n == 0 || view_is(path, ".");
}

static void attrs(const struct request *q)
{
	struct buf b = BUF_INIT(100);

	if (is_folder(q->path))
		put_attrs(&b, S_IFDIR | 0755, 0);
	else
		put_attrs(&b, S_IFREG | 0644, evil.size_lies ? UINT64_MAX : 5);
	answer(FXP_ATTRS, q->id, &b);
}

static void handle(uint32_t id)
{
	struct buf b = BUF_INIT(1 << 20);
	size_t n = evil.big_handle ? 100000 : evil.no_handle ? 0 : 4;

	buf_put_u32(&b, (uint32_t)n);
	if (n > 0)
		memset(buf_reserve(&b, n), 'h', n);
	folder_read = false;
	answer(FXP_HANDLE, id, &b);
}

static void put_name(struct buf *b, const char *name, mode_t mode)
{
	/* What stands behind a | is a NUL. */
	char *copy = mem_strdup(name), *nul = strchr(copy, '|');

	if (nul != NULL)
		*nul = '\0';
	buf_put_string(b, copy, strlen(name));
	buf_put_cstring(b, "-rw-r--r-- long \033[31mname");
	put_attrs(b, mode, 5);
	free(copy);
}

static void list(uint32_t id)
{
	struct buf b = BUF_INIT(1 << 20);

	if (folder_read && !evil.endless_folder) {
		status(id, FX_EOF);
		return;
	}
	folder_read = true;
	if (evil.endless_folder) {
		char name[300];
		static unsigned n;

		buf_put_u32(&b, 100);
		for (int i = 0; i < 100; i++) {
			(void)snprintf(name, sizeof(name), "%0250u", n++);
			put_name(&b, name, S_IFREG | 0644);
		}
	} else if (evil.deep) {
		buf_put_u32(&b, 1);
		put_name(&b, "d", S_IFDIR | 0755);
	} else {
		buf_put_u32(&b, evil.name_count_lies ? 0xffffffff : (uint32_t)evil.count);
		for (size_t i = 0; i < evil.count; i++)
			put_name(&b, evil.names[i], S_IFREG | 0644);
	}
	answer(FXP_NAME, id, &b);
}

static void data(uint32_t id)
{
	struct buf b = BUF_INIT(1 << 20);
	size_t n = evil.long_data ? 200000 : evil.empty_data ? 0 : evil.endless_file ? 1000 : 5;

	if (reads++ > 0 && !evil.endless_file && !evil.empty_data && !evil.long_data) {
		status(id, FX_EOF);
		return;
	}
	if (evil.close_early)
		exit(0);
	buf_put_u32(&b, (uint32_t)n);
	if (n > 0)
		memset(buf_reserve(&b, n), 'x', n);
	answer(FXP_DATA, id, &b);
}

static void one_name(uint32_t id, struct view name)
{
	struct buf b = BUF_INIT(1 << 20);

	buf_put_u32(&b, 1);
	buf_put_string(&b, name.p, name.n);
	buf_put_cstring(&b, "long");
	buf_put_u32(&b, 0);
	answer(FXP_NAME, id, &b);
}

static void real_path(const struct request *q)
{
	one_name(q->id, q->path.n > 0 ? q->path : (struct view){ (const uint8_t *)".", 1 });
}

/* The home that was asked for is called as we like, and is a pattern besides. */
static void extended(const struct request *q)
{
	static const char home[] = "/far/.e*l";

	if (evil.tilde && view_is(q->path, "expand-path@openssh.com"))
		one_name(q->id, (struct view){ (const uint8_t *)home, sizeof(home) - 1 });
	else
		status(q->id, 8);
}

static void serve(const struct request *q)
{
	struct buf none = BUF_INIT(10);

	if (evil.unasked)
		answer(FXP_DATA, 4711, &none);
	switch (q->type) {
	case FXP_STAT: case FXP_LSTAT: case FXP_FSTAT:
		attrs(q);
		break;
	case FXP_OPEN: case FXP_OPENDIR:
		if (evil.odd_status)
			status(q->id, FX_FAILURE);
		else
			handle(q->id);
		break;
	case FXP_READDIR:
		list(q->id);
		break;
	case FXP_READ:
		data(q->id);
		break;
	case FXP_REALPATH:
		real_path(q);
		break;
	case FXP_EXTENDED:
		extended(q);
		break;
	default:
		status(q->id, FX_OK);
		break;
	}
}

static bool read_all(void *p, size_t n)
{
	char *at = p;

	while (n > 0) {
		ssize_t r = read(0, at, n);

		if (r <= 0)
			return false;
		at += r;
		n -= (size_t)r;
	}
	return true;
}

static bool next(struct request *q, uint8_t *body)
{
	uint8_t head[5];
	struct reader r;
	uint32_t n;

	if (!read_all(head, 5))
		return false;
	n = wire_load_u32(head) - 1;
	if (n > REQUEST_MAX || !read_all(body, n))
		return false;
	reader_init(&r, body, n);
	*q = (struct request){ .type = head[4], .id = reader_u32(&r), .path = reader_string(&r) };
	return true;
}

static void greet(void)
{
	if (evil.garbage)
		out("\033[31mWelcome to this server!\r\n", 28);
	else if (evil.length_huge)
		out("\377\377\377\377\2", 5);
	else if (evil.length_zero)
		out("\0\0\0\0\0\0\0\0", 8);
	else if (evil.old_version)
		out("\0\0\0\5\2\0\0\0\1", 9);
	else
		out("\0\0\0\5\2\0\0\0\3", 9);
}

/* ---- cases ---- */

static const char *const names_up[] = { "../evil" }, *const names_root[] = { "/tmp/evil" }, *const names_dots[] = { "..", ".", "good" },
	*const names_slash[] = { "sub/evil" }, *const names_none[] = { "" }, *const names_nul[] = { "good|/../../evil" },
	*const names_evil[] = { ".evil" }, *const names_odd[] = { "a\033[31mred\a\rb" };

static const struct {
	const char *name, *says;
	const char *const *names;
	size_t count;
	size_t flag;             /* offset in evil, 0: none */
} cases[] = {
#define FLAG(x) __builtin_offsetof(__typeof__(evil), x)
	{ "up", "unacceptable file names", names_up, 1, 0 },
	{ "root", "unacceptable file names", names_root, 1, 0 },
	{ "dots", "", names_dots, 3, 0 },
	{ "slash", "unacceptable file names", names_slash, 1, 0 },
	{ "none", "unacceptable file names", names_none, 1, 0 },
	{ "nul", "unacceptable file names", names_nul, 1, 0 },
	{ "odd", "", names_odd, 1, 0 },
	{ "name-count-lies", "malformed list of names", names_dots, 3, FLAG(name_count_lies) },
	{ "deep", "more than 64 levels of folders|not a regular file", NULL, 0, FLAG(deep) },
	{ "empty-data", "", NULL, 0, FLAG(empty_data) },
	{ "long-data", "sent 200000 bytes of data, asked for were", NULL, 0, FLAG(long_data) },
	{ "endless-file", "sent 1000 bytes of data, asked for were", NULL, 0, FLAG(endless_file) },
	{ "other-id", "answered what was not asked", NULL, 0, FLAG(other_id) },
	{ "unasked", "malformed reply|answered what was not asked", NULL, 0, FLAG(unasked) },
	{ "big-handle", "malformed reply", NULL, 0, FLAG(big_handle) },
	{ "no-handle", "", NULL, 0, FLAG(no_handle) },
	{ "close-early", "Connection closed", NULL, 0, FLAG(close_early) },
	{ "size-lies", "", NULL, 0, FLAG(size_lies) },
	{ "odd-status", "it .033\\[31mfailed", NULL, 0, FLAG(odd_status) },
	{ "garbage", "the server sent text instead of SFTP", NULL, 0, FLAG(garbage) },
	{ "length-huge", "instead of SFTP|malformed|too long", NULL, 0, FLAG(length_huge) },
	{ "length-zero", "instead of SFTP|malformed", NULL, 0, FLAG(length_zero) },
	{ "old-version", "SFTP version 1", NULL, 0, FLAG(old_version) },
	/* Not for the loop: other operands. */
	{ ".tilde", "", names_evil, 1, FLAG(tilde) },
	/* Goes on as long as one lets it. */
	{ ".endless-folder", "", NULL, 0, FLAG(endless_folder) },
};

int main(int argc, char **argv)
{
	static uint8_t body[REQUEST_MAX];
	struct request q;
	uint8_t head[5];

	(void)alarm(100);
	for (size_t i = 0; argc == 2 && i < MEM_COUNT(cases); i++) {
		if (strcmp(argv[1], "list") == 0)
			printf("%s\t%s\n", cases[i].name, cases[i].says);
		if (strcmp(argv[1], cases[i].name) != 0)
			continue;
		evil.names = cases[i].names;
		evil.count = cases[i].count;
		if (cases[i].flag != 0)
			*(bool *)((char *)&evil + cases[i].flag) = true;
	}
	if (argc != 2 || strcmp(argv[1], "list") == 0)
		return 0;
	/* INIT */
	if (!read_all(head, 5) || !read_all(body, wire_load_u32(head) - 1 < REQUEST_MAX ? wire_load_u32(head) - 1 : 0))
		return 1;
	greet();
	while (next(&q, body))
		serve(&q);
	return 0;
}
