/* Uploads: local files to a far target. The data of a WRITE is read straight into the link. */
#include "xfer/copy_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static const char *reason(const struct sftp_result *r)
{
	static char text[300];           /* one thread, used at once */

	return sftp_result_text(r, text, sizeof text);
}

static void up_target(struct copy *c, const char *target, bool is_dir)
{
	copy_walker_target(c->walker, target, is_dir);
	copy_planned(c);
}

/* One file to a name: unless a folder has that name, this is what will be opened, and a folder cannot be. The question, the open and
 * the first bytes take one round trip together where requests are served in order. */
static void up_open_early(struct copy *c)
{
	const char *target = c->job.target, *last = strrchr(target, '/');
	char *path;
	struct stat st;
	struct sftp_attrs a;
	int fd;

	last = last != NULL ? last + 1 : target;
	if (!c->o.known_server || c->job.sources.count != 1 || c->job.target_must_be_dir || *last == '\0' || *last == '~' ||
	    strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
		return;
	path = copy_far_plain_path(target);
	if (path == NULL)
		return;
	/* Nothing is made there for a file that cannot be read here. */
	fd = open(c->job.sources.v[0], O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		a = sftp_attrs_of_stat(&st);
		copy_far_open_early(c, path, &a, fd);
	}
	if (fd >= 0)
		close(fd);
	free(path);
}

static void up_plan(struct copy *c)
{
	c->walker = copy_walker_new(c);
	copy_far_plan_target(c, up_target);
	up_open_early(c);
}

static void close_local(struct copy_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

/* Everything was sent. Behind it go mode, times and CLOSE: at once where requests are served in order, else after the
 * answers to all WRITEs. */
static void up_all_sent(struct copy *c, struct copy_file *f)
{
	copy_file_unready(f);
	close_local(f);
	if (f->state == COPY_MOVING)
		f->state = COPY_SETTLING;
	if (f->state != COPY_SETTLING || (!c->o.known_server && f->outstanding > 0) || !copy_stripes_settled(c, f))
		return;
	copy_far_close(c, f, copy_file_handle(f));
	copy_file_closed(f);
}

void copy_up_answered(void *file, const struct sftp_result *r)
{
	struct copy_file *f = file;

	(void)r;
	f->outstanding--;
	if ((f->failed && f->state == COPY_MOVING) || (f->state == COPY_SETTLING && f->outstanding == 0))
		up_all_sent(f->copy, f);
	copy_file_settle(f);
}

static void on_written(void *ctx, const struct sftp_result *r)
{
	struct copy_file *f = ctx;
	struct copy *c = f->copy;

	copy_request_done(c, r->bytes);
	copy_stripes_answered(c, r->bytes);
	if (r->status == SFTP_OK)
		copy_file_moved(f, r->bytes);
	else
		copy_file_fail(f, "remote write \"%s\": %s", f->to, reason(r));
	copy_up_answered(f, r);
}

/* The size may have changed since the file was opened: it is sent up to where it ends. */
static bool has_more(struct copy_file *f)
{
	struct stat st;

	if (f->at < f->size)
		return true;
	if (fstat(f->fd, &st) < 0 || (uint64_t)st.st_size <= f->at)
		return false;
	f->size = (uint64_t)st.st_size;
	return true;
}

static bool up_move(struct copy *c, struct copy_file *f)
{
	struct sftp_write w = { .handle = copy_file_handle(f), .fd = f->fd, .offset = f->at };
	uint64_t left = f->size > f->at ? f->size - f->at : 0;
	uint32_t piece = copy_piece(c, UINT32_MAX);
	long n;

	/* A file that says it is empty may still give something (proc). */
	w.max = left > 0 && left < piece ? left : piece;
	n = copy_stripes_write(c, f, &w, on_written);
	if (n == ERR_AGAIN)
		return false;
	if (n > 0) {
		f->outstanding++;
		f->at += (uint64_t)n;
		copy_request_sent(c, (uint64_t)n);
		copy_file_took_ahead(f, (uint64_t)n);
	} else if (n == ERR_IO)
		copy_file_fail(f, "read local \"%s\": %s", f->from, strerror(errno));
	if (n <= 0 || !has_more(f))
		up_all_sent(c, f);
	copy_file_settle(f);
	return true;
}

static void on_opened(void *ctx, const struct sftp_result *r)
{
	struct copy_file *f = ctx;

	f->outstanding--;
	if (r->status != SFTP_OK) {
		copy_file_fail(f, "remote open \"%s\": %s", f->to, reason(r));
		close_local(f);
		copy_file_closed(f);
		copy_file_settle(f);
		return;
	}
	memcpy(f->handle, r->handle.p, r->handle.n);
	f->handle_size = r->handle.n;
	f->state = COPY_MOVING;
	f->at = copy_far_went_along(f->copy, f, on_written);
	copy_file_took_ahead(f, f->at);
	copy_file_ready(f);
}

static void up_start_file(struct copy *c, struct copy_file *f)
{
	copy_far_open(c, f, on_opened);
}

const struct copy_ops copy_ops_up = {
	.plan = up_plan, .walk = copy_walker_next, .enter = copy_walker_enter, .start_dir = copy_far_start_dir,
	.finish_dir = copy_far_finish_dir, .start_file = up_start_file, .move = up_move,
};
