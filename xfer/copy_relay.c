/* From one far side to another through here (scp -3). What a READ brings goes on as WRITEs at once, and waits in memory only
 * while the other link has no room: no more than a few MiB a job, since READs stop while more waits. */
#include "xfer/copy_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { HELD_MAX = 4 * 1024 * 1024 };

struct held { struct held *next; uint64_t offset; size_t size, sent; uint8_t data[]; };

struct copy_relay_file {
	uint8_t handle[SFTP_HANDLE_MAX]; /* of the target */
	size_t handle_size;
	bool from_open, to_open;
	unsigned opening;
	struct held *first, *last;
	size_t held;                     /* bytes */
	unsigned writes;                 /* under way */
};

static const char *reason(const struct sftp_result *r)
{
	static char text[300];           /* one thread, used at once */

	return sftp_result_text(r, text, sizeof text);
}

/* ---- plan */

static char *relay_place(struct copy *c, const char *name, size_t matches)
{
	if (c->walk_to_dir)
		return copy_place(c->walk_target, name);
	if (matches > 1) {
		copy_error(c, "several files match, but \"%s\" is no folder", c->walk_target);
		return NULL;
	}
	return mem_strdup(c->walk_target);
}

static void relay_target(struct copy *c, const char *target, bool is_dir)
{
	c->walk_target = mem_strdup(target);
	c->walk_to_dir = is_dir;
	copy_plan_sources(c, relay_place);
}

static void relay_plan(struct copy *c)
{
	copy_far_plan_target(c, relay_target);
}

/* ---- files */

static void on_source_closed(void *ctx, const struct sftp_result *r)
{
	struct copy_file *f = ctx;

	(void)r;
	f->outstanding--;
	copy_file_settle(f);
}

/* Both ends are closed when all has been read and written. */
static void end_if_complete(struct copy *c, struct copy_file *f)
{
	struct copy_relay_file *y = f->relay;

	if (f->state == COPY_CLOSED || y->opening > 0 || f->reads != NULL || y->writes > 0)
		return;
	if (!f->failed && (!f->at_end || y->first != NULL))
		return;
	copy_file_unready(f);
	if (y->from_open) {
		f->outstanding++;
		sftp_client_handle(c->client, SFTP_CLOSE, copy_file_handle(f), on_source_closed, f);
	}
	if (y->to_open)
		copy_far_close(c, f, (struct view){ y->handle, y->handle_size });
	copy_file_closed(f);
}

static void on_written(void *ctx, const struct sftp_result *r)
{
	struct copy_file *f = ctx;

	f->outstanding--;
	f->relay->writes--;
	if (r->status != SFTP_OK)
		copy_file_fail(f, "remote write \"%s\": %s", f->to, reason(r));
	else
		copy_file_moved(f, r->bytes);
	end_if_complete(f->copy, f);
	copy_file_settle(f);
}

/* Sends on what it can of n bytes; returns how many. */
static size_t send_on(struct copy_file *f, uint64_t offset, const uint8_t *p, size_t n)
{
	struct copy_relay_file *y = f->relay;
	size_t done = 0;

	while (done < n) {
		struct sftp_write w = { .handle = { y->handle, y->handle_size }, .fd = -1, .offset = offset + done, .max = n - done };
		long k = sftp_client_write_bytes(f->copy->client_to, &w, p + done, on_written, f);

		if (k <= 0)
			break;
		f->outstanding++;
		y->writes++;
		done += (size_t)k;
	}
	return done;
}

static void hold(struct copy_file *f, uint64_t offset, const uint8_t *p, size_t n)
{
	struct copy_relay_file *y = f->relay;
	struct held *h = mem_alloc(sizeof *h + n);

	*h = (struct held){ .offset = offset, .size = n };
	memcpy(h->data, p, n);
	if (y->last != NULL)
		y->last->next = h;
	else
		y->first = h;
	y->last = h;
	y->held += n;
	f->copy->held += n;
	copy_file_ready(f);
}

static void drop_first(struct copy_file *f)
{
	struct copy_relay_file *y = f->relay;
	struct held *h = y->first;

	y->first = h->next;
	if (y->first == NULL)
		y->last = NULL;
	y->held -= h->size;
	f->copy->held -= h->size;
	free(h);
}

/* False: the other link has no room. */
static bool send_held(struct copy_file *f)
{
	struct copy_relay_file *y = f->relay;

	while (y->first != NULL) {
		struct held *h = y->first;

		if (!f->failed)
			h->sent += send_on(f, h->offset + h->sent, h->data + h->sent, h->size - h->sent);
		if (!f->failed && h->sent < h->size)
			return false;
		drop_first(f);
	}
	return true;
}

static void on_data(void *ctx, uint64_t offset, const uint8_t *p, size_t n)
{
	struct copy_read *q = ctx;
	struct copy_file *f = q->file;
	size_t sent;

	if (f->failed)
		return;
	sent = f->relay->first == NULL ? send_on(f, offset, p, n) : 0;
	if (sent < n)
		hold(f, offset + sent, p + sent, n - sent);
}

static void on_read(void *ctx, const struct sftp_result *r);

static void ask(struct copy_file *f, uint64_t offset, uint32_t length)
{
	struct copy_read *q = mem_zalloc(sizeof *q);
	struct sftp_read read = { copy_file_handle(f), offset, length };

	*q = (struct copy_read){ .file = f, .offset = offset, .length = length, .next = f->reads };
	f->reads = q;
	f->outstanding++;
	copy_request_sent(f->copy, length);
	sftp_client_read(f->copy->client, &read, on_data, on_read, q);
}

static void on_read(void *ctx, const struct sftp_result *r)
{
	struct copy_read *q = ctx, **at;
	struct copy_file *f = q->file;
	struct copy *c = f->copy;
	uint64_t offset = q->offset, end = q->offset + r->bytes;
	uint32_t length = q->length;

	for (at = &f->reads; *at != q; at = &(*at)->next)
		;
	*at = q->next;
	free(q);
	f->outstanding--;
	copy_request_done(c, length);
	if (r->status == SFTP_EOF)
		f->eof_at = f->eof_at < offset ? f->eof_at : offset;
	else if (r->status != SFTP_OK)
		copy_file_fail(f, "read remote \"%s\": %s", f->from, reason(r));
	else if (r->bytes < length && end == f->size && end > 0)
		f->eof_at = f->eof_at < end ? f->eof_at : end;
	else if (r->bytes < length && end < f->eof_at && !f->failed)
		ask(f, end, length - r->bytes);
	if (end > f->size)
		f->size = end;
	f->at_end = f->eof_at != UINT64_MAX || f->failed;
	copy_file_ready(f);
	end_if_complete(c, f);
	copy_file_settle(f);
}

/* What other files hold goes on first. */
static bool make_room(struct copy *c)
{
	for (struct copy_file *f = c->first; f != NULL; f = f->next)
		if (f->relay != NULL && f->relay->first != NULL && !send_held(f))
			break;
	return c->held <= HELD_MAX;
}

/* One step of the file in front: what is held goes on, then more is asked for. */
static bool relay_move(struct copy *c, struct copy_file *f)
{
	uint32_t piece;

	if (!send_held(f))
		return false;
	if (f->at_end || f->at > f->size) {
		copy_file_unready(f);
		end_if_complete(c, f);
		copy_file_settle(f);
		return true;
	}
	if (c->held > HELD_MAX && !make_room(c))
		return false;
	piece = copy_piece(c, sftp_client_limits(c->client)->read);
	if (f->size - f->at + 1 < piece)
		piece = (uint32_t)(f->size - f->at + 1);
	ask(f, f->at, piece);
	f->at += piece;
	copy_file_took_ahead(f, piece);
	if (f->at > f->size)
		copy_file_unready(f);
	return true;
}

static void opened(struct copy_file *f)
{
	struct copy *c = f->copy;

	f->outstanding--;
	if (--f->relay->opening > 0)
		return;
	if (!f->failed)
		f->state = COPY_MOVING;
	copy_file_ready(f);
	end_if_complete(c, f);
	copy_file_settle(f);
}

static void on_target_opened(void *ctx, const struct sftp_result *r)
{
	struct copy_file *f = ctx;

	if (r->status != SFTP_OK)
		copy_file_fail(f, "remote open \"%s\": %s", f->to, reason(r));
	else {
		memcpy(f->relay->handle, r->handle.p, r->handle.n);
		f->relay->handle_size = r->handle.n;
		f->relay->to_open = true;
	}
	opened(f);
}

/* The target is opened, and emptied, only when the source could be. */
static void on_source_opened(void *ctx, const struct sftp_result *r)
{
	struct copy_file *f = ctx;

	if (r->status != SFTP_OK)
		copy_file_fail(f, "remote open \"%s\": %s", f->from, reason(r));
	else {
		memcpy(f->handle, r->handle.p, r->handle.n);
		f->handle_size = r->handle.n;
		f->relay->from_open = true;
		f->relay->opening++;
		copy_far_open(f->copy, f, on_target_opened);
	}
	opened(f);
}

static void relay_start_file(struct copy *c, struct copy_file *f)
{
	struct sftp_attrs none = { 0 };

	f->eof_at = UINT64_MAX;
	f->relay = mem_zalloc(sizeof *f->relay);
	f->relay->opening = 1;
	f->outstanding++;
	sftp_client_open(c->client, f->from, SFTP_OPEN_READ, &none, on_source_opened, f);
}

static void relay_end_file(struct copy *c, struct copy_file *f)
{
	(void)c;
	if (f->relay == NULL)
		return;
	while (f->relay->first != NULL)
		drop_first(f);
	free(f->relay);
	f->relay = NULL;
}

const struct copy_ops copy_ops_relay = {
	.plan = relay_plan, .walk = copy_lister_next, .enter = copy_lister_enter, .start_dir = copy_far_start_dir,
	.finish_dir = copy_far_finish_dir, .start_file = relay_start_file, .move = relay_move, .end_file = relay_end_file,
};
