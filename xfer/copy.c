/* The copy engine over SFTP: the job, what drives it, and what all kinds of jobs share. */
#include "xfer/copy_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/path.h"
#include "io/link.h"
#include "io/loop.h"
#include "xfer/rcp.h"

enum {
	FILES_MAX = 512,                         /* under way at once */
	BACKLOG_MAX = 256 * 1024,
	FDS_KEPT = 64,
	STATUS_BROKEN = 255
};

/* ---- words */

static void say(struct copy *c, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);
static void say(struct copy *c, const char *fmt, va_list ap)
{
	struct buf text = BUF_INIT(64 * 1024);
	char raw[4096], *shown;

	(void)vsnprintf(raw, sizeof raw, fmt, ap);
	/* Names come from file systems and peers; whatever is in them, this is one line. */
	for (char *p = raw; *p != '\0'; p++)
		if (*p == '\n')
			*p = ' ';
	shown = str_escape_terminal(raw, strlen(raw));
	buf_printf(&text, "%s: %s\n", c->o.program != NULL ? c->o.program : "scp", shown);
	meter_clear(c->meter);
	(void)fputs(buf_cstr(&text), stderr);
	free(shown);
	buf_free(&text);
}

void copy_error(struct copy *c, const char *fmt, ...)
{
	va_list ap;

	c->errors++;
	if (c->lost)
		return;
	va_start(ap, fmt);
	say(c, fmt, ap);
	va_end(ap);
}

void copy_note(struct copy *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(c, fmt, ap);
	va_end(ap);
}

void copy_verbose(struct copy *c, const char *fmt, ...)
{
	va_list ap;

	if (!c->o.verbose)
		return;
	va_start(ap, fmt);
	say(c, fmt, ap);
	va_end(ap);
}

/* ---- the end */

static void tell_done(void *ctx)
{
	struct copy *c = ctx;

	if (c->told)
		return;
	c->told = true;
	c->done(c->ctx, c->status);
}

void copy_stop(struct copy *c, int status)
{
	if (c->stopped)
		return;
	c->stopped = true;
	c->status = status;
	meter_end(c->meter, false);
	c->shown = NULL;
	loop_defer(c->loop, tell_done, c);
}

/* ---- folders */

void copy_item_clear(struct copy_item *it)
{
	free(it->from);
	free(it->to);
	free(it->real);
	if (it->fd >= 0)
		close(it->fd);
	*it = (struct copy_item){ .fd = -1 };
}

struct copy_dir *copy_dir_new(struct copy *c, struct copy_item *it)
{
	struct copy_dir *d = mem_zalloc(sizeof *d);

	(void)c;
	d->parent = it->dir;
	d->from = it->from;
	d->to = it->to;
	d->real = it->real;
	d->attrs = it->attrs;
	d->dev = it->dev;
	d->ino = it->ino;
	d->refs = 1;
	d->depth = it->dir != NULL ? it->dir->depth + 1 : 0;
	if (d->parent != NULL)
		d->parent->refs++;
	it->from = it->to = it->real = NULL;
	copy_item_clear(it);
	return d;
}

void copy_dir_release(struct copy *c, struct copy_dir *d)
{
	while (d != NULL && --d->refs == 0) {
		struct copy_dir *parent = d->parent;

		if (!d->broken && !c->stopped)
			c->ops->finish_dir(c, d);
		free(d->from);
		free(d->to);
		free(d->real);
		free(d);
		d = parent;
	}
}

void copy_wait_begin(struct copy *c)
{
	c->waiting++;
}

void copy_wait_end(struct copy *c)
{
	c->waiting--;
	copy_pump_soon(c);
}

/* ---- files */

struct view copy_file_handle(const struct copy_file *f)
{
	return (struct view){ f->handle, f->handle_size };
}

void copy_file_fail(struct copy_file *f, const char *fmt, ...)
{
	struct copy *c = f->copy;
	va_list ap;

	if (f->failed)
		return;
	f->failed = true;
	f->at_end = true;
	if (c->lost || (f->dir != NULL && f->dir->broken))
		return;
	c->errors++;
	va_start(ap, fmt);
	say(c, fmt, ap);
	va_end(ap);
}

/* The meter shows the oldest file; those that end before their turn get their line when it comes. */
static void show_oldest(struct copy *c)
{
	struct copy_file *f = c->first;
	char *name;

	if (c->meter == NULL || c->shown != NULL || f == NULL)
		return;
	name = copy_base_name(f->from);
	meter_begin(c->meter, name, f->size, 0);
	meter_move(c->meter, f->moved);
	free(name);
	c->shown = f;
}

static void unshow(struct copy_file *f)
{
	struct copy *c = f->copy;

	if (c->meter == NULL)
		return;
	if (c->shown != f && !f->failed) {
		/* Done before those in front of it: its line comes now, theirs again. */
		char *name = copy_base_name(f->from);

		meter_end(c->meter, false);
		c->shown = NULL;
		meter_begin(c->meter, name, f->size, 0);
		meter_move(c->meter, f->moved);
		meter_end(c->meter, true);
		free(name);
	} else if (c->shown == f) {
		meter_move(c->meter, f->moved);
		meter_end(c->meter, !f->failed);
		c->shown = NULL;
	}
}

static void file_add(struct copy *c, struct copy_file *f)
{
	f->prev = c->last;
	if (c->last != NULL)
		c->last->next = f;
	else
		c->first = f;
	c->last = f;
	c->open_files++;
	f->ahead = f->size;
	c->ahead += f->ahead;
	show_oldest(c);
}

static void file_free(struct copy_file *f)
{
	struct copy *c = f->copy;

	copy_file_unready(f);
	copy_file_closed(f);
	unshow(f);
	if (f->prev != NULL)
		f->prev->next = f->next;
	else
		c->first = f->next;
	if (f->next != NULL)
		f->next->prev = f->prev;
	else
		c->last = f->prev;
	if (c->ops->end_file != NULL)
		c->ops->end_file(c, f);
	free(f->parts);
	while (f->reads != NULL) {
		struct copy_read *next = f->reads->next;

		free(f->reads);
		f->reads = next;
	}
	if (f->fd >= 0)
		close(f->fd);
	copy_dir_release(c, f->dir);
	free(f->from);
	free(f->to);
	free(f);
	show_oldest(c);
}

void copy_file_took_ahead(struct copy_file *f, uint64_t n)
{
	if (n > f->ahead)
		n = f->ahead;
	f->ahead -= n;
	f->copy->ahead -= n;
}

void copy_file_closed(struct copy_file *f)
{
	if (f->state == COPY_CLOSED)
		return;
	f->state = COPY_CLOSED;
	copy_file_took_ahead(f, f->ahead);
	f->copy->open_files--;
	copy_pump_soon(f->copy);
}

void copy_file_settle(struct copy_file *f)
{
	struct copy *c = f->copy;

	if (f->state == COPY_CLOSED && f->outstanding == 0) {
		file_free(f);
		copy_pump_soon(c);
	}
}

void copy_file_ready(struct copy_file *f)
{
	struct copy *c = f->copy;

	if (f->ready || f->state != COPY_MOVING)
		return;
	f->ready = true;
	f->ready_next = NULL;
	if (c->ready_last != NULL)
		c->ready_last->ready_next = f;
	else
		c->ready_first = f;
	c->ready_last = f;
	copy_pump_soon(c);
}

void copy_file_unready(struct copy_file *f)
{
	struct copy *c = f->copy;
	struct copy_file **at = &c->ready_first, *before = NULL;

	if (!f->ready)
		return;
	while (*at != NULL && *at != f) {
		before = *at;
		at = &before->ready_next;
	}
	*at = f->ready_next;
	if (c->ready_last == f)
		c->ready_last = before;
	f->ready = false;
	f->ready_next = NULL;
}

void copy_file_moved(struct copy_file *f, uint64_t n)
{
	f->moved += n;
	if (f->copy->shown == f)
		meter_move(f->copy->meter, f->moved);
}

static void start_file(struct copy *c, struct copy_item *it)
{
	struct copy_file *f = mem_zalloc(sizeof *f);

	f->copy = c;
	f->dir = it->dir;
	f->from = it->from;
	f->to = it->to;
	f->attrs = it->attrs;
	f->fd = it->fd;
	f->size = it->attrs.flags & SFTP_ATTR_SIZE ? it->attrs.size : 0;
	if (f->dir != NULL)
		f->dir->refs++;
	it->from = it->to = NULL;
	it->fd = -1;
	copy_item_clear(it);
	file_add(c, f);
	copy_verbose(c, "%s -> %s", f->from, f->to);
	c->ops->start_file(c, f);
}

static void start_dir(struct copy *c, struct copy_item *it)
{
	struct copy_dir *d = copy_dir_new(c, it);

	copy_verbose(c, "%s -> %s", d->from, d->to);
	c->ops->start_dir(c, d);
	if (d->broken)
		copy_dir_release(c, d);
	else
		c->ops->enter(c, d);
}

/* ---- requests for data */

void copy_request_sent(struct copy *c, uint64_t bytes)
{
	c->requests++;
	depth_sent(&c->depth, clock_mono_us(), bytes);
	throttle_took(&c->throttle, bytes);
}

void copy_request_done(struct copy *c, uint64_t bytes)
{
	c->requests--;
	depth_answered(&c->depth, clock_mono_us(), bytes);
	copy_pump_soon(c);
}

uint32_t copy_piece(const struct copy *c, uint64_t limit)
{
	uint64_t piece = c->o.buffer != 0 && c->o.buffer < limit ? c->o.buffer : limit;

	return throttle_piece(&c->throttle, piece < UINT32_MAX ? (uint32_t)piece : UINT32_MAX);
}

/* May another READ or WRITE go out now? */
static bool may_move(struct copy *c)
{
	uint64_t wait;

	if (c->o.requests != 0 ? c->requests >= c->o.requests : !depth_has_room(&c->depth))
		return false;
	if (sftp_client_backlog(c->client) > BACKLOG_MAX || sftp_client_backlog(c->client_to) > BACKLOG_MAX)
		return false;
	wait = throttle_wait(&c->throttle, clock_mono_us());
	if (wait > 0) {
		loop_timer_arm(c->timer, (wait + 999) / 1000);
		return false;
	}
	return true;
}

/* ---- the drive */

static uint64_t files_max(const struct copy *c)
{
	uint64_t max = c->local_files_max, far = sftp_client_limits(c->client)->handles;

	if (far > 8 && far - 8 < max)
		max = far - 8;
	far = sftp_client_limits(c->client_to)->handles;
	if (far > 8 && far - 8 < max)
		max = far - 8;
	return max;
}

/* While what waits in open files fills the path, no more are opened. What is closed may still wait for its last answers, but
 * not without end. */
static bool may_start(const struct copy *c)
{
	return c->open_files < files_max(c) && c->ahead < c->depth.limit &&
		sftp_client_backlog(c->client) < BACKLOG_MAX &&
		sftp_client_backlog(c->client_to) < BACKLOG_MAX && sftp_client_outstanding(c->client_to) < 16384;
}

/* "name/" can only be a folder. One that were there had given the file its own name in it; systems say rather different things
 * when such a name is opened. */
static bool wants_folder(struct copy *c, const struct copy_item *it)
{
	bool far = c->ops != &copy_ops_down, missing;
	const char *why;
	struct stat st;

	if (!str_ends(it->to, "/"))
		return false;
	errno = ENOTDIR;
	missing = far ? c->target_status == SFTP_NO_SUCH_FILE : stat(it->to, &st) < 0 && errno == ENOENT;
	why = missing ? "no such folder" : far && c->target_status != SFTP_OK ? sftp_status_text(c->target_status) : strerror(errno);
	copy_error(c, "%s \"%s\": %s", far ? "remote" : "local", it->to, why);
	return true;
}

/* Starts what may start. */
static void walk(struct copy *c)
{
	while (!c->stopped && !c->walk_ended && may_start(c)) {
		struct copy_item it = { .fd = -1 };
		enum copy_walk r = c->ops->walk(c, &it);

		if (r == COPY_END)
			c->walk_ended = true;
		if (r != COPY_ITEM)
			return;
		if (it.is_dir)
			start_dir(c, &it);
		else if (wants_folder(c, &it))
			copy_item_clear(&it);
		else
			start_file(c, &it);
	}
}

static void pump(void *ctx)
{
	struct copy *c = ctx;

	c->pump_wanted = false;
	if (c->stopped || c->lost || c->leaving || !c->planned)
		return;
	walk(c);
	while (!c->stopped && c->ready_first != NULL && may_move(c)) {
		if (!c->ops->move(c, c->ready_first))
			break;
		walk(c);
	}
	if (c->walk_ended && c->first == NULL && c->waiting == 0 && !c->stopped)
		copy_stop(c, c->status_at_end != 0 ? c->status_at_end : c->errors > 0 ? 1 : 0);
}

void copy_pump_soon(struct copy *c)
{
	if (c->pump_wanted || c->stopped)
		return;
	c->pump_wanted = true;
	loop_defer(c->loop, pump, c);
}

void copy_planned(struct copy *c)
{
	c->planned = true;
	copy_pump_soon(c);
}

static void on_event(void *ctx)
{
	copy_pump_soon(ctx);
}

/* An OpenSSH that starts another SFTP server than its own keeps no promise about order: all of its own have this. */
static void on_ready(void *ctx)
{
	struct copy *c = ctx;

	c->ready_count++;
	if (c->ready_count < (c->client_to == c->client ? 1u : 2u))
		return;
	if (!sftp_client_has(c->client, SFTP_EXT_FSTATVFS) || !sftp_client_has(c->client_to, SFTP_EXT_FSTATVFS))
		c->o.known_server = false;
	copy_pump_soon(c);
}

/* Answers "connection lost" to everything follow: one line about it is enough. */
static void on_lost(void *ctx)
{
	struct copy *c = ctx;

	c->lost = true;
}

static void on_closed(void *ctx, const struct err *e)
{
	struct copy *c = ctx;

	c->lost = false;
	if (!c->stopped)
		copy_error(c, "%s", err_text(e));
	copy_stop(c, STATUS_BROKEN);
}

/* ---- begin, interrupt, free */

static uint64_t local_files_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > FILES_MAX + FDS_KEPT)
		return FILES_MAX;
	return limit.rlim_cur > FDS_KEPT + 8 ? limit.rlim_cur - FDS_KEPT : 8;
}

static void copy_of_job(struct copy *c, const struct copy_job *job)
{
	c->job = *job;
	c->job.sources = (struct str_list){ 0 };
	str_list_copy(&c->job.sources, &job->sources);
	c->job.target = mem_strdup(job->target);
	if (c->job.sources.count > 1)
		c->job.target_must_be_dir = true;
}

struct copy *copy_new_bare(const struct copy_setup *s)
{
	struct copy *c = mem_zalloc(sizeof *c);

	c->loop = s->loop;
	c->o = *s->options;
	c->o.program = mem_strdup(s->options->program != NULL ? s->options->program : "scp");
	c->done = s->done;
	c->ctx = s->ctx;
	copy_of_job(c, s->job);
	throttle_init(&c->throttle, c->o.limit_bits, clock_mono_us());
	c->meter = c->o.quiet ? NULL : meter_new(c->loop, c->o.meter_fd);
	return c;
}

struct copy *copy_start_sftp(const struct copy_setup *s, struct err *e)
{
	struct copy *c = copy_new_bare(s);
	struct sftp_client_events events = { .ready = on_ready, .writable = on_event, .lost = on_lost,
		.closed = on_closed, .ctx = c };

	(void)e;
	c->ops = s->link_to != NULL ? &copy_ops_relay : s->job->upload ? &copy_ops_up : &copy_ops_down;
	c->local_files_max = local_files_max();
	depth_init(&c->depth, DEPTH_START, DEPTH_MAX);
	c->timer = loop_timer_add(c->loop, on_event, c);
	c->client = sftp_client_new(s->loop, s->link, c->o.known_server, &events);
	c->client_to = s->link_to != NULL ? sftp_client_new(s->loop, s->link_to, c->o.known_server, &events) : c->client;
	if (c->ops == &copy_ops_up)
		c->stripes = copy_stripes_new(c, &s->more);
	c->ops->plan(c);
	return c;
}

enum { NAMED_AT_MOST = 8, LEAVE_MS = 2000 };

static void tell_incomplete(struct copy *c)
{
	unsigned named = 0, more = 0;

	for (struct copy_file *f = c->first; f != NULL; f = f->next) {
		if (f->failed || f->state == COPY_CLOSED)
			continue;
		if (named++ >= NAMED_AT_MOST) {
			more++;
			continue;
		}
		copy_error(c, "interrupted: \"%s\" is not complete (%llu of %llu bytes)", f->to, (unsigned long long)f->moved,
			(unsigned long long)f->size);
	}
	if (more > 0)
		copy_error(c, "interrupted: and %u more files", more);
	else if (named == 0)
		copy_error(c, "interrupted");
}

static void on_leave_late(void *ctx)
{
	copy_stop(ctx, STATUS_BROKEN);
}

void copy_left(struct copy *c)
{
	if (c->leaving && !copy_stripes_leave(c))
		copy_stop(c, STATUS_BROKEN);
}

void copy_interrupt(struct copy *c)
{
	if (c->stopped)
		return;
	if (c->leaving) {
		copy_stop(c, STATUS_BROKEN);
		return;
	}
	tell_incomplete(c);
	c->leaving = true;
	c->leave_timer = loop_timer_add(c->loop, on_leave_late, c);
	loop_timer_arm(c->leave_timer, LEAVE_MS);
	copy_left(c);
}

void copy_abandon(struct copy *c)
{
	copy_stop(c, STATUS_BROKEN);
}

void copy_window_changed(struct copy *c)
{
	meter_resized(c->meter);
}

void copy_free(struct copy *c)
{
	if (c == NULL)
		return;
	c->stopped = c->lost = true;
	rcp_free(c->rcp);
	loop_defer_cancel(c->loop, pump, c);
	loop_defer_cancel(c->loop, tell_done, c);
	/* What answers make files do may be asked of the other client. */
	while (c->client != NULL && sftp_client_stop(c->client) + sftp_client_stop(c->client_to) + copy_stripes_stop(c->stripes) > 0)
		;
	copy_stripes_free(c->stripes);
	if (c->client_to != c->client)
		sftp_client_free(c->client_to);
	sftp_client_free(c->client);
	c->shown = NULL;
	meter_free(c->meter);
	c->meter = NULL;
	while (c->first != NULL)
		file_free(c->first);
	copy_far_free(c);
	copy_plan_free(c->plan);
	copy_walker_free(c->walker);
	copy_lister_free(c->lister);
	loop_timer_remove(c->timer);
	loop_timer_remove(c->leave_timer);
	str_list_clear(&c->job.sources);
	free((char *)c->job.target);
	free(c->walk_target);
	free((char *)c->o.program);
	free(c);
}

/* ---- names */

char *copy_join(const char *path, const char *name)
{
	size_t n = strlen(path);

	if (n == 0)
		return mem_strdup(name);
	return str_printf("%s%s%s", path, path[n - 1] == '/' ? "" : "/", name);
}

char *copy_place(const char *folder, const char *name)
{
	return strcmp(name, ".") == 0 ? mem_strdup(folder) : copy_join(folder, name);
}

char *copy_base_name(const char *path)
{
	size_t end = strlen(path), start;

	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/'; start--)
		;
	/* The root, the folder itself, and what lies above it give no name. */
	if (end == start || (end - start == 1 && path[start] == '.') || (end - start == 2 && memcmp(path + start, "..", 2) == 0))
		return mem_strdup(".");
	return mem_strndup(path + start, end - start);
}
