/* Downloads: files of the far side to local ones. What comes is written to the file from where it lies. */
#include "xfer/copy_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "xfer/fileops.h"

enum { PAGE = 4096 };

static const char *reason(const struct sftp_result *r)
{
	static char text[300];           /* one thread, used at once */

	return sftp_result_text(r, text, sizeof text);
}

/* ---- plan */

static bool local_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static const char *local_target(const struct copy *c)
{
	return *c->job.target != '\0' ? c->job.target : ".";
}

static char *down_place(struct copy *c, const char *name, size_t matches)
{
	const char *target = local_target(c);
	bool dir = local_is_dir(target);

	/* Several files need a folder: for those of one pattern it is made. */
	if (!dir && matches > 1) {
		if (access(target, F_OK) == 0) {
			copy_error(c, "several files match, but \"%s\" is no folder", target);
			return NULL;
		}
		if (mkdir(target, 0777) < 0) {
			copy_error(c, "local mkdir \"%s\": %s", target, strerror(errno));
			return NULL;
		}
		dir = true;
	}
	return dir ? copy_place(target, name) : mem_strdup(target);
}

static void down_plan(struct copy *c)
{
	const char *target = local_target(c);
	struct stat st;

	if (c->job.target_must_be_dir && !local_is_dir(target)) {
		copy_error(c, "%s: %s", target, strerror(stat(target, &st) < 0 ? errno : ENOTDIR));
		copy_stop(c, 1);
		return;
	}
	copy_plan_sources(c, down_place);
}

/* ---- folders */

static void down_start_dir(struct copy *c, struct copy_dir *d)
{
	mode_t mode = d->attrs.flags & SFTP_ATTR_MODE ? d->attrs.mode & 01777 : 0777;
	int error;

	if (mkdir(d->to, mode | 0300) == 0) {
		d->created = true;
		return;
	}
	error = errno;
	if (error == EEXIST && local_is_dir(d->to))
		return;
	copy_error(c, "local mkdir \"%s\": %s", d->to, strerror(error));
	d->broken = true;
}

static void set_local_times(struct copy *c, int fd, const char *path, const struct sftp_attrs *a)
{
	struct timespec ts[2] = { { .tv_sec = (time_t)a->atime }, { .tv_sec = (time_t)a->mtime } };

	if (!(a->flags & SFTP_ATTR_TIMES))
		return;
	if ((fd >= 0 ? futimens(fd, ts) : utimensat(AT_FDCWD, path, ts, 0)) < 0)
		copy_error(c, "set times of local \"%s\": %s", path, strerror(errno));
}

static void down_finish_dir(struct copy *c, struct copy_dir *d)
{
	mode_t mode = d->attrs.mode & 01777;
	bool was_widened = d->created && (mode & 0300) != 0300;

	if (c->o.preserve)
		set_local_times(c, -1, d->to, &d->attrs);
	if (d->attrs.flags & SFTP_ATTR_MODE && (c->o.preserve || was_widened) && chmod(d->to, mode) < 0)
		copy_error(c, "set mode of local \"%s\": %s", d->to, strerror(errno));
}

/* ---- files */

/* Where the file is known to be whole up to. */
static uint64_t whole_until(const struct copy_file *f)
{
	return f->reads != NULL ? f->reads->offset : f->at;
}

/* What is behind a gap would look like data. */
static void cut_incomplete(struct copy_file *f)
{
	if (f->fd >= 0 && ftruncate(f->fd, (off_t)whole_until(f)) < 0)
		copy_verbose(f->copy, "truncate local \"%s\": %s", f->to, strerror(errno));
}

static void close_local(struct copy *c, struct copy_file *f)
{
	int fd = f->fd;

	if (fd < 0)
		return;
	if (f->failed)
		cut_incomplete(f);
	else if (c->o.preserve) {
		if (f->attrs.flags & SFTP_ATTR_MODE && fchmod(fd, f->attrs.mode & 0777) < 0)
			copy_file_fail(f, "set mode of local \"%s\": %s", f->to, strerror(errno));
		set_local_times(c, fd, f->to, &f->attrs);
	}
	f->fd = -1;
	if (close(fd) < 0 && errno != EINTR)
		copy_file_fail(f, "close local \"%s\": %s", f->to, strerror(errno));
}

static void end_file(struct copy *c, struct copy_file *f)
{
	copy_file_unready(f);
	close_local(c, f);
	/* All data is here: what the server says to this does not matter, and is not waited for. */
	sftp_client_handle(c->client, SFTP_CLOSE, copy_file_handle(f), NULL, NULL);
	copy_file_closed(f);
}

static void on_data(void *ctx, uint64_t offset, const uint8_t *p, size_t n)
{
	struct copy_read *q = ctx;
	struct copy_file *f = q->file;

	if (f->failed)
		return;
	if (fileops_pwrite(f->fd, p, n, (off_t)offset, false) < 0) {
		copy_file_fail(f, "write local \"%s\": %s", f->to, strerror(errno));
		return;
	}
	copy_file_moved(f, n);
}

static void on_read(void *ctx, const struct sftp_result *r);

static void ask(struct copy_file *f, uint64_t offset, uint32_t length, uint32_t before)
{
	struct copy_read *q = mem_zalloc(sizeof *q), **at = &f->reads;
	struct sftp_read read = { copy_file_handle(f), offset, length };

	q->file = f;
	q->offset = offset;
	q->length = length;
	q->before = before;
	while (*at != NULL && (*at)->offset < offset)
		at = &(*at)->next;
	q->next = *at;
	*at = q;
	f->outstanding++;
	copy_request_sent(f->copy, length);
	sftp_client_read(f->copy->client, &read, on_data, on_read, q);
}

static void forget(struct copy_file *f, struct copy_read *q)
{
	struct copy_read **at = &f->reads;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	f->outstanding--;
	copy_request_done(f->copy, q->length);
	free(q);
}

/* Fewer bytes came than were asked for: the end, if it is where the end was expected; else the rest is asked for. */
static void take_short(struct copy_file *f, uint64_t end, uint32_t missing, uint32_t came)
{
	if (end == f->size && end > 0) {
		if (f->eof_at > end)
			f->eof_at = end;
		return;
	}
	if (end >= f->eof_at)
		return;
	ask(f, end, missing, came);
}

static void on_read(void *ctx, const struct sftp_result *r)
{
	struct copy_read *q = ctx;
	struct copy_file *f = q->file;
	struct copy *c = f->copy;
	uint64_t offset = q->offset, end = q->offset + r->bytes;
	uint32_t length = q->length, before = q->before;

	if (r->status != SFTP_OK && r->status != SFTP_EOF)
		copy_file_fail(f, "read remote \"%s\": %s", f->from, reason(r));
	if (f->failed && f->state == COPY_MOVING) {
		/* Before the read is forgotten: what is whole ends here at the latest. */
		close_local(c, f);
		copy_file_unready(f);
		f->state = COPY_SETTLING;
	}
	forget(f, q);
	if (!f->failed && r->status == SFTP_EOF) {
		if (f->eof_at > offset)
			f->eof_at = offset;
	} else if (!f->failed) {
		/* A server that gives less than it was asked for in the middle of a file will do so again. */
		if (before >= 512 && (c->read_limit == 0 || before < c->read_limit))
			c->read_limit = before;
		if (r->bytes < length)
			take_short(f, end, length - r->bytes, r->bytes);
		if (end > f->size)
			f->size = end;           /* it grows while it is read */
	}
	f->at_end = f->eof_at != UINT64_MAX || f->failed;
	if (f->state == COPY_MOVING && !f->at_end && f->at <= f->size)
		copy_file_ready(f);
	if (f->outstanding == 0 && f->at_end && f->state != COPY_CLOSED)
		end_file(c, f);
	copy_file_settle(f);
}

/* Asks up to the size and one byte more, so that the last answer shows whether the file has grown. */
static bool down_move(struct copy *c, struct copy_file *f)
{
	uint64_t limit = sftp_client_limits(c->client)->read, left;
	uint32_t piece;

	if (f->at_end || f->at > f->size) {
		copy_file_unready(f);
		return true;
	}
	if (c->read_limit != 0 && limit > c->read_limit)
		limit = c->read_limit;
	piece = copy_piece(c, limit);
	if (piece > PAGE)
		piece -= piece % PAGE;
	left = f->size - f->at + 1;
	if (left < piece)
		piece = left + PAGE < piece ? (uint32_t)(left + PAGE) / PAGE * PAGE : piece;
	ask(f, f->at, piece, 0);
	f->at += piece;
	copy_file_took_ahead(f, piece);
	if (f->at > f->size)
		copy_file_unready(f);
	return true;
}

static int open_target(const struct copy_file *f)
{
	mode_t mode = f->attrs.flags & SFTP_ATTR_MODE ? f->attrs.mode & 0777 : 0666;

	/* O_NONBLOCK: a fifo that nobody reads is an error, and no wait. */
	return open(f->to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, mode | S_IWUSR);
}

static void on_opened(void *ctx, const struct sftp_result *r)
{
	struct copy_file *f = ctx;
	struct copy *c = f->copy;

	f->outstanding--;
	if (r->status != SFTP_OK) {
		copy_file_fail(f, "remote open \"%s\": %s", f->from, reason(r));
		copy_file_closed(f);
		copy_file_settle(f);
		return;
	}
	memcpy(f->handle, r->handle.p, r->handle.n);
	f->handle_size = r->handle.n;
	f->state = COPY_MOVING;
	f->fd = open_target(f);
	if (f->fd < 0) {
		copy_file_fail(f, "open local \"%s\": %s", f->to, strerror(errno));
		end_file(c, f);
		copy_file_settle(f);
		return;
	}
	copy_file_ready(f);
}

static void down_start_file(struct copy *c, struct copy_file *f)
{
	struct sftp_attrs none = { 0 };

	f->eof_at = UINT64_MAX;
	f->outstanding++;
	sftp_client_open(c->client, f->from, SFTP_OPEN_READ, &none, on_opened, f);
}

/* Interrupted, or the connection is gone. */
static void down_end_file(struct copy *c, struct copy_file *f)
{
	(void)c;
	if (f->fd >= 0)
		cut_incomplete(f);
}

const struct copy_ops copy_ops_down = {
	.plan = down_plan, .walk = copy_lister_next, .enter = copy_lister_enter, .start_dir = down_start_dir,
	.finish_dir = down_finish_dir, .start_file = down_start_file, .move = down_move, .end_file = down_end_file,
};
