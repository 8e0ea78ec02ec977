/* The SFTP server engine: framing, the order of work, replies. Requests themselves: sftp_server_plain.c and
 * sftp_server_extended.c; the data of READ and WRITE: sftp_server_data.c.
 *
 * Memory is bounded whatever the client does: a message is assembled up to SFTP_MESSAGE_MAX (the data of a WRITE never is),
 * and no request is taken while more than OUT_LOW bytes of replies wait for room on the link. */
#include "xfer/sftp_server_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/link.h"
#include "io/loop.h"
#include "io/worker.h"

enum {
	OUT_LOW = 16 * 1024,                     /* small replies are gathered up to here, then sent together */
	OUT_LIMIT = 3 * SFTP_MESSAGE_MAX,
	TURN_US = 5000,                          /* then others on the loop get their turn */
	STATUS_TOO_LONG = 11, STATUS_BROKEN = 255
};

void server_log(const struct sftp_server *s, enum log_level level, const char *fmt, ...)
{
	va_list ap;

	if ((int)level > s->o.log_level)
		return;
	/* -l is this subsystem's own: a process that logs less elsewhere still writes these lines. */
	if (level > log_level_get())
		level = log_level_get();
	va_start(ap, fmt);
	log_vat(level, fmt, ap);
	va_end(ap);
}

/* ---- the end */

static void report(void *ctx)
{
	struct sftp_server *s = ctx;

	if (s->reported)
		return;
	s->reported = true;
	if (s->o.peer != NULL)
		server_log(s, LOG_LEVEL_INFO, "session closed for local user %s from [%s]",
			s->o.user != NULL ? s->o.user : "unknown", s->o.peer);
	s->done(s->ctx, s->status);
}

void server_end(struct sftp_server *s, int status)
{
	if (s->ended)
		return;
	s->ended = true;
	s->status = status;
	/* The owner frees us when told, so this must not happen while our own functions are on the stack. */
	loop_defer(s->loop, report, s);
}

/* ---- replies */

bool server_flush(struct sftp_server *s)
{
	while (s->out_sent < s->out.size) {
		struct iovec iov[LINK_IOV];
		int count = 0;
		size_t lent = link_lend(s->link, s->out.size - s->out_sent, iov, &count), used = 0;

		if (lent == 0) {
			/* Behind what was sent new replies gather: it must not grow for ever. */
			if (s->out_sent > s->out.size / 2) {
				buf_consume(&s->out, s->out_sent);
				s->out_sent = 0;
			}
			return false;
		}
		for (int i = 0; i < count && used < lent; i++) {
			size_t n = s->out.size - s->out_sent - used;

			if (n > iov[i].iov_len)
				n = iov[i].iov_len;
			memcpy(iov[i].iov_base, s->out.data + s->out_sent + used, n);
			used += n;
		}
		if (link_commit(s->link, used) < 0) {
			server_end(s, STATUS_BROKEN);
			return false;
		}
		s->out_sent += used;
	}
	buf_reset(&s->out);
	s->out_sent = 0;
	return true;
}

size_t server_reply_begin(struct sftp_server *s, uint8_t type, uint32_t id)
{
	size_t mark = buf_begin_string(&s->out);

	buf_put_u8(&s->out, type);
	buf_put_u32(&s->out, id);
	return mark;
}

void server_reply_end(struct sftp_server *s, size_t mark)
{
	buf_end_string(&s->out, mark);
	if (!buf_ok(&s->out))
		server_end(s, STATUS_BROKEN);
}

void server_send_status(struct sftp_server *s, uint32_t id, uint32_t status, const char *message)
{
	size_t mark = server_reply_begin(s, SFTP_STATUS, id);

	if (status > SFTP_EOF)
		server_log(s, LOG_LEVEL_VERBOSE, "sent status %s", message != NULL ? message : sftp_status_text(status));
	buf_put_u32(&s->out, status);
	if (s->version >= 3) {
		buf_put_cstring(&s->out, message != NULL ? message : sftp_status_text(status));
		buf_put_cstring(&s->out, "");    /* language */
	}
	server_reply_end(s, mark);
}

void server_finish_status(struct sftp_server *s, struct job *j)
{
	const char *message = j->message;

	if (j->status == SFTP_OK && j->error != 0)
		j->status = sftp_status_of_errno(j->error);
	/* "Failure" alone helps nobody: a full disk shall be called so. */
	if (message == NULL && j->error != 0 && j->status == SFTP_FAILURE)
		message = strerror(j->error);
	server_send_status(s, j->id, j->status, message);
}

/* ---- jobs */

struct job *server_job_new(struct sftp_server *s)
{
	struct job *j = mem_zalloc(sizeof *j);

	j->server = s;
	j->fd = -1;
	j->body = BUF_INIT(SFTP_MESSAGE_MAX);
	j->body2 = BUF_INIT(SFTP_MESSAGE_MAX);
	return j;
}

void server_job_clear(struct job *j)
{
	struct sftp_server *s = j->server;

	free(j->path);
	free(j->path2);
	free(j->text);
	if (j->dir != NULL)
		closedir(j->dir);
	else if (j->fd >= 0)
		close(j->fd);
	buf_free(&j->body);
	buf_free(&j->body2);
	if (j->data != NULL)
		mem_free_secret(j->data, j->data_size);
	*j = (struct job){ .server = s, .fd = -1, .body = BUF_INIT(SFTP_MESSAGE_MAX), .body2 = BUF_INIT(SFTP_MESSAGE_MAX) };
}

void sftp_server_set_slow(struct sftp_server *s, bool slow) { s->o.slow_files = slow; }

bool server_is_slow(const struct sftp_server *s) { return s->o.slow_files && s->worker != NULL; }

static void job_finish(struct sftp_server *s, struct job *j)
{
	if (!s->ended && j->row == NULL)
		;                                /* a piece of a WRITE, which looks at the job itself */
	else if (!s->ended && j->row->finish != NULL)
		j->row->finish(s, j);
	else if (!s->ended)
		server_finish_status(s, j);
	server_job_clear(j);
}

static void job_run_helper(void *ctx)
{
	struct job *j = ctx;

	if (j->row != NULL)
		j->row->run(j);
	else if (fileops_pwrite(j->file->fd, j->data, j->data_size, (off_t)j->offset, j->file->flags & O_APPEND) < 0)
		j->error = errno;
}

static void job_next_slice(void *ctx);

/* On the loop, after the helper thread or a slice. */
static void job_done(void *ctx)
{
	struct job *j = ctx;
	struct sftp_server *s = j->server;

	if (s == NULL) {                         /* freed meanwhile */
		server_job_clear(j);
		free(j);
		return;
	}
	s->at_worker = false;
	if (j->more && !s->ended) {
		loop_defer(s->loop, job_next_slice, s);
		return;
	}
	if (j->row == NULL && j->error != 0 && s->write.status == SFTP_OK) {
		s->write.error = j->error;
		s->write.status = sftp_status_of_errno(j->error);
	}
	s->busy = false;
	job_finish(s, j);
	server_pump(s);
}

void server_job_start(struct sftp_server *s, struct job *j)
{
	j->more = false;
	if (server_is_slow(s) && (j->row == NULL || j->row->run != NULL)) {
		s->busy = s->at_worker = true;
		worker_submit(s->worker, job_run_helper, job_done, j);
		return;
	}
	job_run_helper(j);
	if (j->more) {
		s->busy = true;
		loop_defer(s->loop, job_next_slice, s);
	} else if (s->busy)
		job_done(j);
	else
		job_finish(s, j);
}

static void job_next_slice(void *ctx)
{
	struct sftp_server *s = ctx;

	server_job_start(s, s->job);
}

/* ---- requests */

const struct request_row *server_row_of_type(uint8_t type)
{
	for (const struct request_row *row = server_rows_plain; row->name != NULL; row++)
		if (row->type == type)
			return row;
	return NULL;
}

static const struct request_row *row_of_extension(struct view name)
{
	enum sftp_extension x = sftp_extension_find(name);

	for (const struct request_row *row = server_rows_extended; row->name != NULL; row++)
		if (row->extension == x)
			return row;
	return NULL;
}

const char *sftp_server_request_at(size_t i)
{
	for (const struct request_row *row = server_rows_plain; row->name != NULL; row++)
		if (i-- == 0)
			return row->name;
	for (const struct request_row *row = server_rows_extended; row->name != NULL; row++)
		if (i-- == 0)
			return row->name;
	return NULL;
}

/* Deny is looked at before allow (sftp-server(8)). */
bool server_permits(const struct sftp_server *s, const struct request_row *row)
{
	if (s->o.read_only && row->writes)
		return false;
	if (str_list_has(&s->o.deny, row->name))
		return false;
	return s->o.allow.count == 0 || str_list_has(&s->o.allow, row->name);
}

static void broken(struct sftp_server *s, const char *what)
{
	log_error("sftp: %s", what);
	server_end(s, STATUS_BROKEN);
}

static void greet(struct sftp_server *s, struct reader *r)
{
	size_t mark;

	s->version = reader_u32(r);
	if (!reader_ok(r)) {
		broken(s, "malformed hello of the client");
		return;
	}
	s->greeted = true;
	server_log(s, LOG_LEVEL_VERBOSE, "received client version %u", s->version);
	mark = buf_begin_string(&s->out);
	buf_put_u8(&s->out, SFTP_VERSION_REPLY);
	buf_put_u32(&s->out, SFTP_VERSION);
	for (const struct request_row *row = server_rows_extended; row->name != NULL; row++) {
		if (!server_permits(s, row))
			continue;
		buf_put_cstring(&s->out, sftp_extensions[row->extension].name);
		buf_put_cstring(&s->out, sftp_extensions[row->extension].version);
	}
	server_reply_end(s, mark);
}

static void begin_request(struct sftp_server *s, const struct request_row *row, uint32_t id, struct reader *r)
{
	struct job *j = s->job;
	uint32_t status;

	if (!server_permits(s, row)) {
		server_log(s, LOG_LEVEL_VERBOSE, "refused request %s", row->name);
		server_send_status(s, id, SFTP_PERMISSION_DENIED, NULL);
		return;
	}
	j->row = row;
	j->id = id;
	status = row->parse != NULL ? row->parse(s, j, r) : SFTP_OK;
	if (!reader_ok(r)) {
		server_job_clear(j);
		broken(s, "malformed request");
	} else if (status != SFTP_OK) {
		j->status = status;
		server_finish_status(s, j);
		server_job_clear(j);
	} else if (row->run != NULL && (!row->direct || server_is_slow(s)))
		server_job_start(s, j);
	else
		job_finish(s, j);
}

/* s->in holds a whole message that is not a WRITE. What stands behind the fields that we know is ignored, as ever. */
static void take_message(struct sftp_server *s)
{
	struct reader r;
	uint8_t type;
	uint32_t id;
	const struct request_row *row;

	reader_init(&r, s->in.data + 4, s->in.size - 4);
	type = reader_u8(&r);
	if (type == SFTP_INIT) {
		greet(s, &r);
		return;
	}
	id = reader_u32(&r);
	if (!reader_ok(&r) || !s->greeted) {
		broken(s, s->greeted ? "message without a number" : "request before the hello");
		return;
	}
	if (type == SFTP_EXTENDED) {
		row = row_of_extension(reader_string(&r));
		if (!reader_ok(&r))
			broken(s, "malformed request");
		else if (row == NULL)
			server_send_status(s, id, SFTP_UNSUPPORTED, NULL);
		else
			begin_request(s, row, id, &r);
		return;
	}
	row = server_row_of_type(type);
	if (row == NULL)
		log_error("sftp: unknown message type %u", type);
	else
		begin_request(s, row, id, &r);
}

bool server_take(struct sftp_server *s, size_t n)
{
	while (s->in.size < n) {
		const uint8_t *p;
		size_t have = link_peek(s->link, &p), want = n - s->in.size;

		if (have == 0)
			return false;
		if (have > want)
			have = want;
		buf_put(&s->in, p, have);
		link_consume(s->link, have);
		if (!buf_ok(&s->in)) {
			broken(s, "out of memory");
			return false;
		}
	}
	return true;
}

enum { WRITE_FIXED = 4 + 1 + 4 + 4, WRITE_BEHIND_HANDLE = 8 + 4 };

/* The head of a WRITE is in s->in up to the length of the data, or false if it is not there yet. */
static bool take_write(struct sftp_server *s, uint32_t length)
{
	uint32_t id, handle_size;
	struct reader r;
	size_t head;

	if (length < WRITE_FIXED - 4 + WRITE_BEHIND_HANDLE || !s->greeted) {
		broken(s, s->greeted ? "malformed request" : "request before the hello");
		return false;
	}
	if (!server_take(s, WRITE_FIXED))
		return false;
	id = wire_load_u32(s->in.data + 5);
	handle_size = wire_load_u32(s->in.data + 9);
	if (handle_size > length - (WRITE_FIXED - 4) - WRITE_BEHIND_HANDLE) {
		broken(s, "malformed request");
		return false;
	}
	head = WRITE_FIXED + handle_size + WRITE_BEHIND_HANDLE;
	if (!server_take(s, head))
		return false;
	reader_init(&r, s->in.data + 9, head - 9);
	server_write_begin(s, id, &r, length + 4 - (uint32_t)head);
	if (!reader_ok(&r))
		broken(s, "malformed request");
	buf_reset(&s->in);
	return !s->ended;
}

/* Takes one message, or what has come of it. False: there is not enough input. */
static bool next_message(struct sftp_server *s)
{
	uint32_t length;

	if (!server_take(s, 5))
		return false;
	length = wire_load_u32(s->in.data);
	if (length > SFTP_MESSAGE_MAX || length == 0) {
		log_error("sftp: bad message length %u", length);
		server_end(s, STATUS_TOO_LONG);
		return false;
	}
	if (s->in.data[4] == SFTP_WRITE)
		return take_write(s, length);
	if (!server_take(s, 4 + (size_t)length))
		return false;
	take_message(s);
	buf_reset(&s->in);
	return !s->ended;
}

void server_pump(void *ctx)
{
	struct sftp_server *s = ctx;
	uint64_t until = clock_mono_us() + TURN_US;
	bool input = true;

	while (!s->ended && !s->busy && input) {
		if (s->out.size - s->out_sent >= OUT_LOW && !server_flush(s))
			return;                  /* writable will be called */
		if (clock_mono_us() > until) {
			loop_defer(s->loop, server_pump, s);
			break;
		}
		input = s->write.active ? server_write_step(s) : next_message(s);
	}
	if (s->ended)
		return;
	if (server_flush(s) && !input && !s->busy && !s->ended && link_at_end(s->link))
		server_end(s, 0);
}

/* ---- from the link */

static void on_ready(void *ctx)
{
	server_pump(ctx);
}

static void on_closed(void *ctx, const struct err *e)
{
	struct sftp_server *s = ctx;

	s->link = NULL;                          /* the carrier frees it now */
	server_end(s, e != NULL && e->code != 0 ? 1 : 0);
}

struct sftp_server *sftp_server_new(struct loop *l, struct link *link, struct worker *w,
	const struct sftp_server_options *o, void (*done)(void *ctx, int status), void *ctx)
{
	struct sftp_server *s = mem_zalloc(sizeof *s);
	struct err e = { 0 };

	s->loop = l;
	s->link = link;
	s->worker = w;
	s->done = done;
	s->ctx = ctx;
	s->o = *o;
	s->o.start_dir = NULL;
	s->o.home = o->home != NULL ? mem_strdup(o->home) : NULL;
	s->o.user = o->user != NULL ? mem_strdup(o->user) : NULL;
	s->o.peer = o->peer != NULL ? mem_strdup(o->peer) : NULL;
	s->o.allow = s->o.deny = (struct str_list){ 0 };
	str_list_copy(&s->o.allow, &o->allow);
	str_list_copy(&s->o.deny, &o->deny);
	s->in = BUF_INIT(SFTP_MESSAGE_MAX + 4);
	s->out = BUF_INIT(OUT_LIMIT);
	s->owners = owners_new();
	s->job = server_job_new(s);
	server_files_init(s);
	if (fileops_init(&s->files, o->start_dir, o->umask, &e) < 0)
		log_error("sftp: %s", err_text(&e));     /* goes on in the current folder, as ever */
	if (s->o.peer != NULL)
		server_log(s, LOG_LEVEL_INFO, "session opened for local user %s from [%s]",
			s->o.user != NULL ? s->o.user : "unknown", s->o.peer);
	link->user = (struct link_user){ .readable = on_ready, .writable = on_ready, .closed = on_closed, .ctx = s };
	loop_defer(l, server_pump, s);           /* input may be there already */
	return s;
}

void sftp_server_free(struct sftp_server *s)
{
	if (s == NULL)
		return;
	if (s->link != NULL)
		s->link->user = (struct link_user){ 0 };
	loop_defer_cancel(s->loop, server_pump, s);
	loop_defer_cancel(s->loop, report, s);
	loop_defer_cancel(s->loop, job_next_slice, s);
	if (s->at_worker) {
		/* The helper thread may be using our files just now. Its done comes later and finds no server. */
		worker_stop(s->worker);
		s->job->server = NULL;
	} else {
		server_job_clear(s->job);
		free(s->job);
	}
	server_files_clear(s);
	fileops_clear(&s->files);
	owners_free(s->owners);
	buf_free(&s->in);
	buf_free(&s->out);
	str_list_clear(&s->o.allow);
	str_list_clear(&s->o.deny);
	free((char *)s->o.home);
	free((char *)s->o.user);
	free((char *)s->o.peer);
	free(s);
}
