/* The end of the old scp protocol that receives. It believes nothing: names must be names, folders need -r, and in a
 * download only what was asked for is taken. */
#include "xfer/rcp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/link.h"
#include "xfer/fileops.h"

enum sink_state { SINK_RECORD, SINK_DATA, SINK_DATA_END };

struct sink_level {
	char *path;                      /* where what comes now goes; the first is the target */
	bool is_dir;
	bool set_mode, set_times;        /* when it is left */
	mode_t mode;
	struct rcp_times times;
};

struct sink {
	enum sink_state state;
	struct sink_level level[COPY_DEPTH_MAX + 2];
	size_t depth;                    /* levels in use, 1 at least */
	struct rcp_times times;
	bool have_times;
	mode_t umask;
	/* the file at hand */
	int fd;
	char *path;
	mode_t mode;
	bool existed, want_times, reply_open;
	uint64_t size, at;
	int error;                       /* of writing */
};

static struct sink *sink_of(struct rcp *r)
{
	return r->end;
}

static void accept_record(struct rcp *r)
{
	rcp_send(r, "", 1);
}

static void set_times(struct rcp *r, int fd, const char *path, const struct rcp_times *t)
{
	struct timespec ts[2] = { { .tv_sec = (time_t)t->atime }, { .tv_sec = (time_t)t->mtime } };

	if ((fd >= 0 ? futimens(fd, ts) : utimensat(AT_FDCWD, path, ts, 0)) < 0)
		rcp_error(r, "%s: set times: %s", path, strerror(errno));
}

/* ---- folders */

static void enter(struct rcp *r, struct sink *s, char *path, const struct rcp_record *record)
{
	mode_t mode = r->copy->o.preserve ? record->mode : record->mode & 0777 & ~s->umask;
	struct sink_level *l;
	struct stat st;

	if (s->depth > COPY_DEPTH_MAX) {
		rcp_error(r, "%s: more than %d levels of folders", path, COPY_DEPTH_MAX);
		free(path);
		rcp_end(r, 1);
		return;
	}
	l = &s->level[s->depth];
	*l = (struct sink_level){ .path = path, .is_dir = true, .mode = mode, .set_times = s->have_times, .times = s->times };
	s->have_times = false;
	if (stat(path, &st) == 0) {
		l->set_mode = r->copy->o.preserve;
		errno = ENOTDIR;
	} else {
		/* Ours to fill, whatever its mode will be. */
		l->set_mode = r->copy->o.preserve || (mode & 0700) != 0700;
		st.st_mode = mkdir(path, mode | 0700) == 0 ? S_IFDIR : 0;
	}
	if (!S_ISDIR(st.st_mode)) {
		rcp_error(r, "%s: %s", path, strerror(errno));
		free(path);
		return;
	}
	s->depth++;
	accept_record(r);
}

static void leave(struct rcp *r, struct sink *s)
{
	struct sink_level *l;

	if (s->depth <= 1) {
		rcp_error(r, "protocol error: end of a folder that was not begun");
		rcp_end(r, 1);
		return;
	}
	l = &s->level[--s->depth];
	if (l->set_times)
		set_times(r, -1, l->path, &l->times);
	if (l->set_mode && chmod(l->path, l->mode) < 0)
		rcp_error(r, "%s: set mode: %s", l->path, strerror(errno));
	free(l->path);
	accept_record(r);
}

/* ---- files */

static void open_file(struct rcp *r, struct sink *s, char *path, const struct rcp_record *record)
{
	struct stat st;
	bool missing;

	s->existed = stat(path, &st) == 0;
	missing = !s->existed && errno == ENOENT;
	/* Without -p no special bits, and the umask counts. */
	s->mode = r->copy->o.preserve ? record->mode : record->mode & 0777 & ~s->umask;
	s->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, s->mode | S_IWUSR);
	if (s->fd < 0) {
		/* open() says of "name/" that it is a folder, also where nothing has that name. */
		rcp_error(r, "%s: %s", path, missing && str_ends(path, "/") ? "no such folder" : strerror(errno));
		free(path);
		s->have_times = false;
		return;
	}
	s->path = path;
	s->size = record->size;
	s->at = 0;
	s->error = 0;
	s->want_times = s->have_times;
	s->have_times = false;
	s->state = SINK_DATA;
	meter_begin(r->copy->meter, record->name, s->size, 0);
	accept_record(r);
}

/* The data is complete, as far as it could be written. */
static void finish_file(struct rcp *r, struct sink *s)
{
	mode_t mode = s->mode;
	struct stat st;
	bool regular = fstat(s->fd, &st) == 0 && S_ISREG(st.st_mode);

	if (s->error == 0 && regular && ftruncate(s->fd, (off_t)s->size) < 0)
		s->error = errno;
	if (s->error == 0 && regular && (r->copy->o.preserve || (!s->existed && (mode & S_IWUSR) == 0)) && fchmod(s->fd, mode) < 0)
		s->error = errno;
	if (s->error == 0 && s->want_times && regular)
		set_times(r, s->fd, s->path, &s->times);
	if (close(s->fd) < 0 && errno != EINTR && s->error == 0)
		s->error = errno;
	s->fd = -1;
}

static bool take_data(struct rcp *r, struct sink *s)
{
	const uint8_t *p;
	size_t n;

	while (s->at < s->size) {
		if (!rcp_may_move(r))
			return false;
		n = link_peek(r->link, &p);
		if (n == 0)
			return false;
		if (n > s->size - s->at)
			n = (size_t)(s->size - s->at);
		n = copy_piece(r->copy, n);
		if (s->error == 0 && fileops_pwrite(s->fd, p, n, (off_t)s->at, false) < 0)
			s->error = errno;
		link_consume(r->link, n);
		s->at += n;
		throttle_took(&r->copy->throttle, n);
		meter_move(r->copy->meter, s->at);
	}
	s->state = SINK_DATA_END;
	return true;
}

/* Behind the data: what the source thinks of it. */
static bool take_data_end(struct rcp *r, struct sink *s)
{
	int byte;
	char *text;

	if (!s->reply_open) {
		byte = rcp_take_byte(r);
		if (byte < 0)
			return false;
		s->reply_open = byte != 0;
	}
	if (s->reply_open) {
		text = rcp_take_line(r);
		if (text == NULL)
			return false;
		s->reply_open = false;
		rcp_peer_error(r, text);
		free(text);
		meter_end(r->copy->meter, false);
	} else
		meter_end(r->copy->meter, s->error == 0);
	finish_file(r, s);
	if (s->error != 0)
		rcp_error(r, "%s: %s", s->path, strerror(s->error));
	else
		accept_record(r);
	free(s->path);
	s->path = NULL;
	s->state = SINK_RECORD;
	return true;
}

/* ---- records */

static bool name_wanted(struct rcp *r, const struct sink *s, const char *name)
{
	const struct copy *c = r->copy;

	/* With -r what lies below is the source's business, and a server takes what its user sends. */
	if (r->server || c->o.no_name_check || s->depth > 1)
		return true;
	return rcp_name_matches(c->job.sources.v[0], name) || (c->o.recursive && rcp_name_is_open(c->job.sources.v[0]));
}

static void take_item(struct rcp *r, struct sink *s, const char *line)
{
	struct rcp_record record;
	const char *why;
	struct sink_level *in = &s->level[s->depth - 1];
	char *path;

	if (rcp_parse_record(line, &record, &why) < 0) {
		rcp_error(r, "protocol error: %s", why);
		rcp_end(r, 1);
		return;
	}
	if (!rcp_name_acceptable(record.name)) {
		rcp_error(r, "error: unexpected filename: %s", record.name);
		rcp_end(r, 1);
		return;
	}
	if (!name_wanted(r, s, record.name)) {
		rcp_error(r, "filename does not match request");
		rcp_end(r, 1);
		return;
	}
	if (record.is_dir && !r->copy->o.recursive) {
		rcp_error(r, "received directory without -r");
		rcp_end(r, 1);
		return;
	}
	path = in->is_dir ? copy_join(in->path, record.name) : mem_strdup(in->path);
	if (record.is_dir)
		enter(r, s, path, &record);
	else
		open_file(r, s, path, &record);
}

static bool take_record(struct rcp *r, struct sink *s)
{
	char *line = rcp_take_line(r);

	if (line == NULL)
		return false;
	switch (*line) {
	case '\001':
	case '\002':
		rcp_peer_error(r, line + 1);
		if (*line == '\002')
			rcp_end(r, 1);
		break;
	case 'E':
		leave(r, s);
		break;
	case 'T':
		s->have_times = rcp_parse_times(line, &s->times) == 0;
		if (s->have_times)
			accept_record(r);
		else {
			rcp_error(r, "protocol error: times not delimited");
			rcp_end(r, 1);
		}
		break;
	case 'C':
	case 'D':
		take_item(r, s, line);
		break;
	default:
		/* What a start-up file of the shell printed, most likely. */
		rcp_error(r, "protocol error: %s", line);
		rcp_end(r, 1);
		break;
	}
	free(line);
	return true;
}

static void sink_run(struct rcp *r)
{
	struct sink *s = sink_of(r);
	bool more = true;

	while (!r->over && more)
		more = s->state == SINK_RECORD ? take_record(r, s) : s->state == SINK_DATA ? take_data(r, s) : take_data_end(r, s);
	if (r->over || !link_at_end(r->link))
		return;
	/* Between records, out of all folders, is where a source may end. */
	if (s->state == SINK_RECORD && s->depth == 1 && r->line.size == 0)
		rcp_end(r, r->copy->errors > 0 ? 1 : 0);
	else {
		if (!r->server)
			(void)fputs("lost connection\n", stderr);
		rcp_end(r, 1);
	}
}

static void sink_free(struct rcp *r)
{
	struct sink *s = sink_of(r);

	if (s->fd >= 0)
		close(s->fd);
	free(s->path);
	while (s->depth > 0)
		free(s->level[--s->depth].path);
	free(s);
}

void rcp_sink_init(struct rcp *r)
{
	struct sink *s = mem_zalloc(sizeof *s);
	struct copy *c = r->copy;
	const char *target = *c->job.target != '\0' ? c->job.target : ".";
	struct fileops files;
	struct stat st;

	s->fd = -1;
	if (fileops_init(&files, NULL, -1, NULL) == 0)
		s->umask = files.umask;
	s->depth = 1;
	s->level[0] = (struct sink_level){ .path = mem_strdup(target), .is_dir = stat(target, &st) == 0 && S_ISDIR(st.st_mode) };
	r->end = s;
	r->run = sink_run;
	r->free_end = sink_free;
	if (c->job.target_must_be_dir && !s->level[0].is_dir) {
		rcp_error(r, "%s: %s", target, strerror(stat(target, &st) < 0 ? errno : ENOTDIR));
		rcp_end(r, 1);
		return;
	}
	accept_record(r);
}
