/* Requests of the SFTP client engine. */
#include "xfer/sftp_client_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/link.h"
#include "xfer/fileops.h"

/* An id is a place in the table and a generation, so that a late or repeated reply finds nobody. */
enum { INDEX_BITS = 20, REQUESTS_MAX = 1 << INDEX_BITS, GENERATION_MASK = 0xfff };
enum { NO_REQUEST = UINT32_MAX };

/* ---- the table */

struct client_request *client_request_new(struct sftp_client *c, uint8_t expect, sftp_reply_fn *fn, void *ctx, uint32_t *id)
{
	struct client_request *q;
	uint32_t i = c->request_free, generation;

	if (i != (uint32_t)NO_REQUEST)
		c->request_free = c->request[i].next_free;
	else {
		/* Callers bound what they have under way; beyond this, ids could not tell requests apart. */
		if (c->request_count == REQUESTS_MAX)
			client_fail(c, ERR_MEMORY, "too many SFTP requests at once");
		if (c->request_count == c->request_room) {
			c->request_room = c->request_room != 0 ? c->request_room * 2 : 64;
			c->request = mem_resize(c->request, c->request_room, sizeof c->request[0]);
		}
		i = c->request_count++;
		c->request[i] = (struct client_request){ 0 };
	}
	q = &c->request[i];
	generation = q->generation;
	*q = (struct client_request){ .used = true, .expect = expect, .generation = generation, .fn = fn, .ctx = ctx };
	c->outstanding++;
	*id = generation << INDEX_BITS | i;
	return q;
}

struct client_request *client_request_find(struct sftp_client *c, uint32_t id)
{
	uint32_t i = id & (REQUESTS_MAX - 1);

	if (i >= c->request_count || !c->request[i].used || c->request[i].generation != id >> INDEX_BITS)
		return NULL;
	return &c->request[i];
}

void client_request_release(struct sftp_client *c, struct client_request *q)
{
	q->used = false;
	q->generation = (q->generation + 1) & GENERATION_MASK;
	q->next_free = c->request_free;
	c->request_free = (uint32_t)(q - c->request);
	c->outstanding--;
}

/* ---- messages */

/* Begins a message; NULL if there is nobody to send it to (its answer is on its way then). */
static struct client_request *begin(struct sftp_client *c, uint8_t type, uint8_t expect, sftp_reply_fn *fn, void *ctx,
	size_t *mark)
{
	struct client_request *q;
	uint32_t id;

	q = client_request_new(c, expect, fn, ctx, &id);
	if (c->dead) {
		client_answer_lost_soon(c);
		return NULL;
	}
	*mark = buf_begin_string(&c->out);
	buf_put_u8(&c->out, type);
	buf_put_u32(&c->out, id);
	return q;
}

static void end(struct sftp_client *c, size_t mark)
{
	buf_end_string(&c->out, mark);
	client_flush_soon(c);
}

static uint8_t reply_type(uint8_t request)
{
	switch (request) {
	case SFTP_LSTAT:
	case SFTP_STAT:
	case SFTP_FSTAT:
		return SFTP_ATTRS;
	case SFTP_OPEN:
	case SFTP_OPENDIR:
		return SFTP_HANDLE;
	case SFTP_READDIR:
	case SFTP_REALPATH:
	case SFTP_READLINK:
		return SFTP_NAME;
	default:
		return SFTP_STATUS;
	}
}

void sftp_client_path(struct sftp_client *c, uint8_t type, const char *path, sftp_reply_fn *fn, void *ctx)
{
	size_t mark;

	if (!begin(c, type, reply_type(type), fn, ctx, &mark))
		return;
	buf_put_cstring(&c->out, path);
	end(c, mark);
}

void sftp_client_handle(struct sftp_client *c, uint8_t type, struct view handle, sftp_reply_fn *fn, void *ctx)
{
	size_t mark;

	if (!begin(c, type, reply_type(type), fn, ctx, &mark))
		return;
	buf_put_string(&c->out, handle.p, handle.n);
	end(c, mark);
}

void sftp_client_open(struct sftp_client *c, const char *path, uint32_t pflags, const struct sftp_attrs *a,
	sftp_reply_fn *fn, void *ctx)
{
	size_t mark;

	if (!begin(c, SFTP_OPEN, SFTP_HANDLE, fn, ctx, &mark))
		return;
	buf_put_cstring(&c->out, path);
	buf_put_u32(&c->out, pflags);
	sftp_attrs_put(&c->out, a);
	end(c, mark);
}

static void path_attrs(struct sftp_client *c, uint8_t type, const char *path, const struct sftp_attrs *a, sftp_reply_fn *fn,
	void *ctx)
{
	size_t mark;

	if (!begin(c, type, SFTP_STATUS, fn, ctx, &mark))
		return;
	buf_put_cstring(&c->out, path);
	sftp_attrs_put(&c->out, a);
	end(c, mark);
}

void sftp_client_mkdir(struct sftp_client *c, const char *path, const struct sftp_attrs *a, sftp_reply_fn *fn, void *ctx)
{
	path_attrs(c, SFTP_MKDIR, path, a, fn, ctx);
}

void sftp_client_setstat(struct sftp_client *c, const char *path, const struct sftp_attrs *a, sftp_reply_fn *fn, void *ctx)
{
	path_attrs(c, SFTP_SETSTAT, path, a, fn, ctx);
}

void sftp_client_fsetstat(struct sftp_client *c, struct view handle, const struct sftp_attrs *a, sftp_reply_fn *fn,
	void *ctx)
{
	size_t mark;

	if (!begin(c, SFTP_FSETSTAT, SFTP_STATUS, fn, ctx, &mark))
		return;
	buf_put_string(&c->out, handle.p, handle.n);
	sftp_attrs_put(&c->out, a);
	end(c, mark);
}

static void two_paths(struct sftp_client *c, uint8_t type, const char *a, const char *b, sftp_reply_fn *fn, void *ctx)
{
	size_t mark;

	if (!begin(c, type, SFTP_STATUS, fn, ctx, &mark))
		return;
	buf_put_cstring(&c->out, a);
	buf_put_cstring(&c->out, b);
	end(c, mark);
}

void sftp_client_rename(struct sftp_client *c, const char *from, const char *to, sftp_reply_fn *fn, void *ctx)
{
	two_paths(c, SFTP_RENAME, from, to, fn, ctx);
}

/* Target first, as every server expects it whatever the draft says (OpenSSH's PROTOCOL). */
void sftp_client_symlink(struct sftp_client *c, const char *target, const char *path, sftp_reply_fn *fn, void *ctx)
{
	two_paths(c, SFTP_SYMLINK, target, path, fn, ctx);
}

static uint8_t extension_reply(enum sftp_extension x)
{
	switch (x) {
	case SFTP_EXT_STATVFS:
	case SFTP_EXT_FSTATVFS:
	case SFTP_EXT_LIMITS:
	case SFTP_EXT_USERS_GROUPS:
		return SFTP_EXTENDED_REPLY;
	case SFTP_EXT_EXPAND_PATH:
	case SFTP_EXT_HOME_DIRECTORY:
		return SFTP_NAME;
	default:
		return SFTP_STATUS;
	}
}

void sftp_client_extended(struct sftp_client *c, enum sftp_extension x, const struct buf *body, sftp_reply_fn *fn, void *ctx)
{
	size_t mark;

	if (!begin(c, SFTP_EXTENDED, extension_reply(x), fn, ctx, &mark))
		return;
	buf_put_cstring(&c->out, sftp_extensions[x].name);
	if (body != NULL)
		buf_put(&c->out, body->data, body->size);
	end(c, mark);
}

/* A limit of 0 means that the server names none; what it names is kept within what a message can hold. */
static uint64_t limit_of(uint64_t named, uint64_t otherwise)
{
	if (named == 0)
		return otherwise;
	return named < SFTP_DATA_MAX ? named : SFTP_DATA_MAX;
}

static void on_limits(void *ctx, const struct sftp_result *r)
{
	struct sftp_client *c = ctx;
	struct reader body;
	struct sftp_limits l;

	if (r->status != SFTP_OK)
		return;                          /* asked on suspicion: the draft's limits stay */
	reader_init(&body, r->body.p, r->body.n);
	l = sftp_limits_get(&body);
	if (!reader_ok(&body))
		return;
	c->limits.packet = l.packet;
	c->limits.read = limit_of(l.read, SFTP_DATA_DEFAULT);
	c->limits.write = limit_of(l.write, SFTP_DATA_DEFAULT);
	if (l.packet > 1024 && c->limits.read > l.packet - 1024)
		c->limits.read = l.packet - 1024;
	if (l.packet > 1024 && c->limits.write > l.packet - 1024)
		c->limits.write = l.packet - 1024;
	c->limits.handles = l.handles;
}

void client_ask_limits(struct sftp_client *c)
{
	sftp_client_extended(c, SFTP_EXT_LIMITS, NULL, on_limits, c);
}

/* ---- READ, WRITE */

void sftp_client_read(struct sftp_client *c, const struct sftp_read *r, sftp_data_fn *data, sftp_reply_fn *fn, void *ctx)
{
	size_t mark;
	struct client_request *q = begin(c, SFTP_READ, SFTP_DATA, fn, ctx, &mark);

	if (q == NULL)
		return;
	q->data = data;
	q->offset = r->offset;
	q->length = r->length;
	buf_put_string(&c->out, r->handle.p, r->handle.n);
	buf_put_u64(&c->out, r->offset);
	buf_put_u32(&c->out, r->length);
	end(c, mark);
}

struct spaces {
	struct iovec iov[LINK_IOV];
	int count;
	size_t head, room;               /* bytes of the message before the data; bytes for data behind it */
};

enum { WORTHWHILE = 64 * 1024, PAGE = 4096 };

/* Room for a WRITE, lent by the link; 0, or what to return from the request. */
static long lend_write(struct sftp_client *c, const struct sftp_write *w, struct spaces *s)
{
	uint64_t max = w->max;
	size_t want, lent;

	if (c->dead)
		return ERR_CLOSED;
	if (w->handle.n > SFTP_HANDLE_MAX)
		return ERR_USAGE;
	if (!(c->ready || c->early) || !client_flush(c))
		return c->dead ? ERR_CLOSED : ERR_AGAIN;
	if (max > c->limits.write) {
		max = c->limits.write;
		max -= max > PAGE ? max % PAGE : 0;      /* a file is read and written best in its pages */
	}
	s->head = 25 + w->handle.n;
	want = s->head + (size_t)max;
	s->count = 0;
	lent = link_lend(c->link, want, s->iov, &s->count);
	if (lent == 0)
		return ERR_AGAIN;
	s->room = lent > s->head ? lent - s->head : 0;
	/* A crumb of room is left to grow, unless nothing is under way that could make it grow. */
	if (s->room < max && s->room < WORTHWHILE && (s->room == 0 || link_pending(c->link) > 0)) {
		if (link_commit(c->link, 0) < 0) {
			client_fail(c, ERR_CLOSED, "Connection closed");
			return ERR_CLOSED;
		}
		return ERR_AGAIN;
	}
	if (s->room > max)
		s->room = (size_t)max;
	if (s->room > PAGE && s->room < max)
		s->room -= s->room % PAGE;
	return 0;
}

/* Copies n bytes into the spaces from position `at` on. */
static void put_at(const struct spaces *s, size_t at, const uint8_t *p, size_t n)
{
	for (int i = 0; i < s->count && n > 0; i++) {
		size_t k = s->iov[i].iov_len;

		if (at >= k) {
			at -= k;
			continue;
		}
		k = k - at < n ? k - at : n;
		memcpy((uint8_t *)s->iov[i].iov_base + at, p, k);
		at = 0;
		p += k;
		n -= k;
	}
}

static long commit_write(struct sftp_client *c, const struct sftp_write *w, const struct spaces *s, size_t n,
	sftp_reply_fn *fn, void *ctx)
{
	uint8_t head[SFTP_WRITE_HEAD_MAX];
	struct client_request *q;
	uint32_t id;

	q = n > 0 && !c->dead ? client_request_new(c, SFTP_STATUS, fn, ctx, &id) : NULL;
	if (q == NULL) {
		if (link_commit(c->link, 0) < 0)
			client_fail(c, ERR_CLOSED, "Connection closed");
		return c->dead ? ERR_CLOSED : 0;
	}
	q->length = (uint32_t)n;
	q->offset = w->offset;
	put_at(s, 0, head, sftp_write_head(head, id, w->handle, w->offset, (uint32_t)n));
	if (link_commit(c->link, s->head + n) < 0)
		client_fail(c, ERR_CLOSED, "Connection closed"); /* the callback tells of it */
	return (long)n;
}

long sftp_client_write(struct sftp_client *c, const struct sftp_write *w, sftp_reply_fn *fn, void *ctx)
{
	struct spaces s;
	struct iovec data[LINK_IOV];
	size_t skip, room;
	int count = 0;
	ssize_t got;
	long r = lend_write(c, w, &s);

	if (r < 0)
		return r;
	skip = s.head;
	room = s.room;
	for (int i = 0; i < s.count && room > 0; i++) {
		size_t k = s.iov[i].iov_len;

		if (skip >= k) {
			skip -= k;
			continue;
		}
		k = k - skip < room ? k - skip : room;
		data[count++] = (struct iovec){ (uint8_t *)s.iov[i].iov_base + skip, k };
		skip = 0;
		room -= k;
	}
	got = fileops_preadv(w->fd, data, count, (off_t)w->offset);
	if (got <= 0) {
		int saved = errno;

		r = commit_write(c, w, &s, 0, NULL, NULL);
		errno = saved;
		return r < 0 ? r : got < 0 ? ERR_IO : 0;
	}
	return commit_write(c, w, &s, (size_t)got, fn, ctx);
}

long sftp_client_write_bytes(struct sftp_client *c, const struct sftp_write *w, const uint8_t *p, sftp_reply_fn *fn,
	void *ctx)
{
	struct spaces s;
	long r = lend_write(c, w, &s);

	if (r < 0)
		return r;
	put_at(&s, s.head, p, s.room);
	return commit_write(c, w, &s, s.room, fn, ctx);
}

void sftp_client_write_small(struct sftp_client *c, const struct sftp_write *w, struct view bytes, sftp_reply_fn *fn, void *ctx)
{
	size_t mark;
	struct client_request *q = begin(c, SFTP_WRITE, SFTP_STATUS, fn, ctx, &mark);

	if (q == NULL)
		return;
	q->offset = w->offset;
	q->length = (uint32_t)bytes.n;
	buf_put_string(&c->out, w->handle.p, w->handle.n);
	buf_put_u64(&c->out, w->offset);
	buf_put_string(&c->out, bytes.p, bytes.n);
	end(c, mark);
}
