/* The target on the far side: what is there, making folders, opening and closing files; and names there. */
#include "xfer/copy_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "xfer/glob.h"

static const char *reason(const struct sftp_result *r)
{
	static char text[300];           /* one thread, used at once */

	return sftp_result_text(r, text, sizeof text);
}

/* ---- names */

char *copy_far_plain_path(const char *path)
{
	if (*path == '~') {
		const char *rest = path + 1;

		if (*rest != '\0' && *rest != '/')
			return NULL;
		while (*rest == '/')
			rest++;
		path = rest;
	}
	return mem_strdup(*path == '\0' ? "." : path);
}

struct expand { struct copy *copy; char *path; bool pattern; copy_path_fn *fn; void *ctx; };

static void expand_done(struct expand *x, char *result)
{
	copy_path_fn *fn = x->fn;
	void *ctx = x->ctx;

	free(x->path);
	free(x);
	fn(ctx, result);
}

/* Where the home is, which is all that was asked, and what stands behind it here: so what is to be copied keeps its name. */
static void on_expanded(void *ctx, const struct sftp_result *r)
{
	struct expand *x = ctx;
	struct reader names = r->names;
	struct sftp_name n;
	char *home, *whole;

	copy_wait_end(x->copy);
	if (r->status == SFTP_OK && r->count >= 1) {
		n = sftp_name_get(&names);
		if (reader_ok(&names) && !view_has_nul(n.name)) {
			whole = view_strdup(n.name);
			home = x->pattern ? glob_escape(whole) : mem_strdup(whole);
			free(whole);
			whole = str_printf("%s%s", home, x->path + strcspn(x->path, "/"));
			free(home);
			expand_done(x, whole);
			return;
		}
	}
	copy_error(x->copy, "%s: %s", x->path, r->status == SFTP_UNSUPPORTED || r->status == SFTP_OK ?
		"the server cannot expand the home folder of another user" : reason(r));
	expand_done(x, NULL);
}

void copy_far_expand_path(struct copy *c, struct sftp_client *client, const struct copy_path *path, copy_path_fn *fn,
	void *ctx)
{
	char *plain = copy_far_plain_path(path->given);
	struct buf body = BUF_INIT(SFTP_MESSAGE_MAX);
	struct expand *x;

	if (plain != NULL) {
		fn(ctx, plain);
		return;
	}
	x = mem_zalloc(sizeof *x);
	*x = (struct expand){ .copy = c, .path = mem_strdup(path->given), .pattern = path->pattern, .fn = fn, .ctx = ctx };
	buf_put_string(&body, path->given, strcspn(path->given, "/"));
	copy_wait_begin(c);
	sftp_client_extended(client, SFTP_EXT_EXPAND_PATH, &body, on_expanded, x);
	buf_free(&body);
}

char *copy_far_name(const char *given, const char *path)
{
	size_t user = strcspn(given, "/");

	/* "~ada" and "~ada/": the server has said where that is; what it is called here is what was typed. */
	if (*given == '~' && user > 1 && given[user + strspn(given + user, "/")] == '\0') {
		char *name = mem_strndup(given + 1, user - 1), *base = copy_base_name(name);

		free(name);
		return base;
	}
	return copy_base_name(path);
}

/* ---- the target of the job */

typedef void copy_target_fn(struct copy *c, const char *target, bool is_dir);
struct target { struct copy *copy; char *path; copy_target_fn *then; };

static void target_done(struct target *t, bool is_dir)
{
	t->then(t->copy, t->path, is_dir);
	free(t->path);
	free(t);
}

static void target_failed(struct target *t)
{
	copy_stop(t->copy, 255);
	free(t->path);
	free(t);
}

static void on_target_made(void *ctx, const struct sftp_result *r)
{
	struct target *t = ctx;

	if (r->status == SFTP_OK) {
		target_done(t, true);
		return;
	}
	copy_error(t->copy, "remote mkdir \"%s\": %s", t->path, reason(r));
	target_failed(t);
}

static void on_target(void *ctx, const struct sftp_result *r)
{
	struct target *t = ctx;
	struct sftp_attrs a = { .flags = SFTP_ATTR_MODE, .mode = 0777 };

	t->copy->target_status = r->status;
	if (r->status == SFTP_OK && sftp_attrs_is_dir(&r->attrs))
		target_done(t, true);
	else if (!t->copy->job.target_must_be_dir)
		target_done(t, false);
	else if (r->status == SFTP_OK) {
		copy_error(t->copy, "remote \"%s\": Not a directory", t->path);
		target_failed(t);
	} else
		sftp_client_mkdir(t->copy->client_to, t->path, &a, on_target_made, t);
}

static void on_target_path(void *ctx, char *path)
{
	struct target *t = ctx;

	t->path = path;
	if (path == NULL)
		target_failed(t);
	else
		sftp_client_path(t->copy->client_to, SFTP_STAT, path, on_target, t);
}

void copy_far_plan_target(struct copy *c, copy_target_fn *then)
{
	struct target *t = mem_zalloc(sizeof *t);

	t->copy = c;
	t->then = then;
	copy_far_expand_path(c, c->client_to, &(struct copy_path){ .given = c->job.target }, on_target_path, t);
}

/* ---- folders */

static void dir_made(struct copy_dir *d, struct copy *c, bool broken)
{
	d->creating = false;
	d->broken = d->broken || broken;
	copy_wait_end(c);
	copy_dir_release(c, d);
}

struct making { struct copy *copy; struct copy_dir *dir; uint32_t status; };

/* There is no status "exists": what stands there says whether the MKDIR was needed. */
static void on_dir_looked_at(void *ctx, const struct sftp_result *r)
{
	struct making *m = ctx;
	bool fine = r->status == SFTP_OK && sftp_attrs_is_dir(&r->attrs);

	if (!fine && !(m->dir->parent != NULL && m->dir->parent->broken))
		copy_error(m->copy, "remote mkdir \"%s\": %s", m->dir->to, r->status == SFTP_OK ? "it is there and no folder" :
			sftp_status_text(m->status));
	dir_made(m->dir, m->copy, !fine);
	free(m);
}

static void on_dir_made(void *ctx, const struct sftp_result *r)
{
	struct making *m = ctx;

	if (r->status == SFTP_OK) {
		m->dir->created = true;
		dir_made(m->dir, m->copy, false);
		free(m);
		return;
	}
	m->status = r->status;
	sftp_client_path(m->copy->client_to, SFTP_STAT, m->dir->to, on_dir_looked_at, m);
}

void copy_far_start_dir(struct copy *c, struct copy_dir *d)
{
	struct making *m = mem_zalloc(sizeof *m);
	/* Writable while it is being filled; its own mode comes at the end. */
	struct sftp_attrs a = { .flags = SFTP_ATTR_MODE, .mode = (d->attrs.mode & 01777) | 0300 };

	if (!(d->attrs.flags & SFTP_ATTR_MODE))
		a.mode = 0777;
	m->copy = c;
	m->dir = d;
	d->creating = true;
	d->refs++;
	copy_wait_begin(c);
	sftp_client_mkdir(c->client_to, d->to, &a, on_dir_made, m);
}

struct finishing { struct copy *copy; char *path; };

static void on_dir_set(void *ctx, const struct sftp_result *r)
{
	struct finishing *x = ctx;

	if (r->status != SFTP_OK && x->copy->o.preserve)
		copy_error(x->copy, "remote setstat \"%s\": %s", x->path, reason(r));
	copy_wait_end(x->copy);
	free(x->path);
	free(x);
}

/* A folder gets the mode of its source also without -p, whatever the umask there, as it always did. */
void copy_far_finish_dir(struct copy *c, struct copy_dir *d)
{
	struct sftp_attrs a = { .flags = d->attrs.flags & SFTP_ATTR_MODE, .mode = d->attrs.mode & 01777 };
	struct finishing *x;

	if (c->o.preserve && d->attrs.flags & SFTP_ATTR_TIMES) {
		a.flags |= SFTP_ATTR_TIMES;
		a.atime = d->attrs.atime;
		a.mtime = d->attrs.mtime;
	}
	if (a.flags == 0)
		return;
	x = mem_zalloc(sizeof *x);
	x->copy = c;
	x->path = mem_strdup(d->to);
	copy_wait_begin(c);
	sftp_client_setstat(c->client_to, d->to, &a, on_dir_set, x);
}

/* ---- files */

/* The first bytes of a file go along with its OPEN, to the handle that a server gives first. OpenSSH's and ours number their handles
 * from 0, and nothing else is open yet: a wrong guess, or an OPEN that fails, finds no handle and changes nothing. All of it
 * shall leave without an answer of TCP (RFC 6928: ten segments, of which the login has used some): else the OPEN would wait for one. */
enum { ALONG_MAX = 10 * 1024 };
static const uint8_t first_handle[4];

enum along { ALONG_NOTHING, ALONG_UNDER_WAY, ALONG_WRITTEN, ALONG_FAILED };

struct copy_early {
	struct copy *copy;
	char *path;
	sftp_reply_fn *fn;               /* of the file that waits for the answer */
	struct copy_file *file;
	bool answered, taken;
	struct sftp_result result;       /* what it shows lies here: */
	uint8_t handle[SFTP_HANDLE_MAX];
	char text[300];
	enum along along;
	uint32_t along_bytes;
	struct stat along_of;            /* the source when they were read */
	sftp_reply_fn *along_fn;         /* of the file that counts them, in its own hands */
	struct copy_file *along_file;
};

static void early_free(struct copy_early *e)
{
	e->copy->early = NULL;
	free(e->path);
	free(e);
}

/* Taken, or of no use: it goes when no answer can come any more. */
static void early_settle(struct copy_early *e)
{
	if (e->taken && e->answered && e->along != ALONG_UNDER_WAY)
		early_free(e);
}

/* The file may be gone afterwards. */
static void early_answer(struct copy_early *e)
{
	struct copy_file *f = e->file;

	e->fn(f, &e->result);
	e->file = NULL;
	early_settle(e);
}

/* A folder stands there. Should it have been opened all the same, it is closed. */
static void early_discard(struct copy_early *e)
{
	if (e->answered && e->result.status == SFTP_OK)
		sftp_client_handle(e->copy->client_to, SFTP_CLOSE, e->result.handle, NULL, NULL);
	e->taken = true;
	early_settle(e);
}

static void on_early_opened(void *ctx, const struct sftp_result *r)
{
	struct copy_early *e = ctx;
	size_t n = r->message.n < sizeof e->text ? r->message.n : sizeof e->text;

	copy_wait_end(e->copy);
	e->answered = true;
	e->result.status = r->status;
	memcpy(e->text, r->message.p != NULL ? (const char *)r->message.p : "", n);
	e->result.message = (struct view){ (const uint8_t *)e->text, n };
	memcpy(e->handle, r->handle.p != NULL ? r->handle.p : (const uint8_t *)"", r->handle.n);
	e->result.handle = (struct view){ e->handle, r->handle.n };
	if (e->file != NULL)
		early_answer(e);
	else if (e->taken)
		early_discard(e);
}

static void on_early_written(void *ctx, const struct sftp_result *r)
{
	struct copy_early *e = ctx;

	copy_wait_end(e->copy);
	e->along = r->status == SFTP_OK ? ALONG_WRITTEN : ALONG_FAILED;
	if (e->along_file != NULL)
		e->along_fn(e->along_file, r);
	early_settle(e);
}

static void send_along(struct copy_early *e, int fd)
{
	struct copy *c = e->copy;
	struct sftp_write w = { .handle = { first_handle, sizeof first_handle } };
	uint8_t bytes[ALONG_MAX];
	size_t max = c->o.buffer != 0 && c->o.buffer < sizeof bytes ? c->o.buffer : sizeof bytes;
	ssize_t n;

	if (c->o.limit_bits != 0 || fstat(fd, &e->along_of) < 0)
		return;
	n = pread(fd, bytes, max, 0);
	if (n <= 0)
		return;
	e->along = ALONG_UNDER_WAY;
	e->along_bytes = (uint32_t)n;
	copy_wait_begin(c);
	sftp_client_write_small(c->client_to, &w, (struct view){ bytes, (size_t)n }, on_early_written, e);
}

void copy_far_open_early(struct copy *c, const char *path, const struct sftp_attrs *attrs, int fd)
{
	struct sftp_attrs a = { .flags = attrs->flags & SFTP_ATTR_MODE, .mode = attrs->mode & 0777 };
	struct copy_early *e = mem_zalloc(sizeof *e);

	e->copy = c;
	e->path = mem_strdup(path);
	c->early = e;
	copy_wait_begin(c);
	sftp_client_open(c->client_to, path, SFTP_OPEN_WRITE | SFTP_OPEN_CREAT | SFTP_OPEN_TRUNC, &a, on_early_opened, e);
	send_along(e, fd);
}

/* What went along is what f's descriptor gives. */
static bool same_source(const struct stat *before, int fd)
{
	struct stat now;

	return fstat(fd, &now) == 0 && now.st_dev == before->st_dev && now.st_ino == before->st_ino &&
		now.st_size == before->st_size && now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
		now.st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

static void on_emptied(void *ctx, const struct sftp_result *r)
{
	struct copy_file *f = ctx;

	if (r->status != SFTP_OK)
		copy_file_fail(f, "remote setstat \"%s\": %s", f->to, reason(r));
	copy_up_answered(f, r);
}

/* What went along was of another file, which may have been longer. */
static void empty(struct copy *c, struct copy_file *f)
{
	struct sftp_attrs none = { .flags = SFTP_ATTR_SIZE, .size = 0 };

	f->outstanding++;
	sftp_client_fsetstat(c->client_to, copy_file_handle(f), &none, on_emptied, f);
}

uint64_t copy_far_went_along(struct copy *c, struct copy_file *f, sftp_reply_fn *fn)
{
	struct copy_early *e = c->early;

	if (e == NULL || e->file != f || e->along == ALONG_NOTHING || e->along == ALONG_FAILED ||
	    !view_equal(e->result.handle, (struct view){ first_handle, sizeof first_handle }))
		return 0;
	if (!same_source(&e->along_of, f->fd)) {
		empty(c, f);
		return 0;
	}
	/* Out of order, they may have come before the file was made empty. */
	if (!c->o.known_server)
		return 0;
	if (e->along == ALONG_WRITTEN)
		copy_file_moved(f, e->along_bytes);
	else {
		e->along_fn = fn;
		e->along_file = f;
		f->outstanding++;
		copy_request_sent(c, e->along_bytes);
		copy_stripes_sent(c, e->along_bytes);
	}
	return e->along_bytes;
}

void copy_far_free(struct copy *c)
{
	if (c->early != NULL)
		early_free(c->early);
}

/* True: the answer is there or will come. */
static bool take_early(struct copy *c, const char *path, sftp_reply_fn *fn, struct copy_file *f)
{
	struct copy_early *e = c->early;

	if (e == NULL || e->taken)
		return false;
	if (strcmp(path, e->path) != 0) {
		early_discard(e);
		return false;
	}
	e->taken = true;
	e->fn = fn;
	e->file = f;
	if (e->answered)
		early_answer(e);
	return true;
}

void copy_far_open(struct copy *c, struct copy_file *f, sftp_reply_fn *fn)
{
	struct sftp_attrs a = { .flags = f->attrs.flags & SFTP_ATTR_MODE, .mode = f->attrs.mode & 0777 };

	f->outstanding++;
	if (take_early(c, f->to, fn, f))
		return;
	sftp_client_open(c->client_to, f->to, SFTP_OPEN_WRITE | SFTP_OPEN_CREAT | SFTP_OPEN_TRUNC, &a, fn, f);
}

static void on_file_set(void *ctx, const struct sftp_result *r)
{
	struct copy_file *f = ctx;

	f->outstanding--;
	if (r->status != SFTP_OK)
		copy_file_fail(f, "remote setstat \"%s\": %s", f->to, reason(r));
	copy_file_settle(f);
}

static void on_file_closed(void *ctx, const struct sftp_result *r)
{
	struct copy_file *f = ctx;

	f->outstanding--;
	if (r->status != SFTP_OK)
		copy_file_fail(f, "remote close \"%s\": %s", f->to, reason(r));
	copy_file_settle(f);
}

void copy_far_close(struct copy *c, struct copy_file *f, struct view handle)
{
	struct sftp_attrs a = { .flags = f->attrs.flags & (SFTP_ATTR_MODE | SFTP_ATTR_TIMES), .mode = f->attrs.mode & 0777,
		.atime = f->attrs.atime, .mtime = f->attrs.mtime };

	if (c->o.preserve && !f->failed && a.flags != 0) {
		f->outstanding++;
		sftp_client_fsetstat(c->client_to, handle, &a, on_file_set, f);
	}
	f->outstanding++;
	sftp_client_handle(c->client_to, SFTP_CLOSE, handle, on_file_closed, f);
}
