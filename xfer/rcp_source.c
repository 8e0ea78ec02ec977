/* The end of the old scp protocol that sends: records for files and folders, each answered before the next. */
#include "xfer/rcp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/link.h"
#include "xfer/fileops.h"

enum source_state {
	SRC_START,               /* the sink says that it is there */
	SRC_NEXT,                /* nothing is under way: choose what comes */
	SRC_TIMES,               /* T was sent */
	SRC_RECORD,              /* C or D was sent */
	SRC_DATA,
	SRC_DATA_END,            /* the byte behind the data was sent */
	SRC_LEAVE                /* E was sent */
};

struct source_level { DIR *stream; char *path; dev_t dev; ino_t ino; };

struct source {
	enum source_state state;
	struct source_level level[COPY_DEPTH_MAX + 1];
	size_t depth, next_source;
	/* the file or folder at hand */
	int fd;
	char *path;
	struct stat st;
	uint64_t at;
	int error;                       /* of reading: zeros are sent instead */
	bool reply_open, reply_fatal;    /* an error record is coming in: its text */
};

static void choose_next(struct rcp *r, struct source *s);

/* ---- the item at hand */

static void item_end(struct source *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	free(s->path);
	s->path = NULL;
}

/* A line feed in a name would end the record: it is shown instead. */
static char *record_name(const char *path)
{
	char *base = copy_base_name(path), *name, *out;

	name = out = mem_alloc(3 * strlen(base) + 1);
	for (const char *p = base; *p != '\0'; p++) {
		if (*p == '\n') {
			memcpy(out, "\\^J", 3);
			out += 3;
		} else
			*out++ = *p;
	}
	*out = '\0';
	free(base);
	return name;
}

static void send_record(struct rcp *r, struct source *s)
{
	char *name = record_name(s->path), *record;
	bool dir = S_ISDIR(s->st.st_mode);

	record = str_printf("%c%04o %lld %s\n", dir ? 'D' : 'C', (unsigned)(s->st.st_mode & 07777),
		dir ? 0LL : (long long)s->st.st_size, name);
	rcp_send(r, record, strlen(record));
	free(record);
	free(name);
	s->state = SRC_RECORD;
}

static void send_item(struct rcp *r, struct source *s)
{
	char times[96];
	int64_t mtime = s->st.st_mtime > 0 ? s->st.st_mtime : 0, atime = s->st.st_atime > 0 ? s->st.st_atime : 0;

	if (!r->copy->o.preserve) {
		send_record(r, s);
		return;
	}
	(void)snprintf(times, sizeof times, "T%lld 0 %lld 0\n", (long long)mtime, (long long)atime);
	rcp_send(r, times, strlen(times));
	s->state = SRC_TIMES;
}

static bool in_own_tree(const struct source *s)
{
	for (size_t i = 0; i < s->depth; i++)
		if (s->level[i].dev == s->st.st_dev && s->level[i].ino == s->st.st_ino)
			return true;
	return false;
}

/* Looks at s->path; true when it was begun. */
static bool begin_item(struct rcp *r, struct source *s)
{
	s->at = 0;
	s->error = 0;
	if (stat(s->path, &s->st) < 0) {
		rcp_error(r, "%s: %s", s->path, strerror(errno));
		return false;
	}
	if (S_ISDIR(s->st.st_mode) && r->copy->o.recursive) {
		if (in_own_tree(s))
			rcp_error(r, "%s: a link to a folder that it lies in", s->path);
		else if (s->depth > COPY_DEPTH_MAX)
			rcp_error(r, "%s: more than %d levels of folders", s->path, COPY_DEPTH_MAX);
		else {
			send_item(r, s);
			return true;
		}
		return false;
	}
	if (!S_ISREG(s->st.st_mode)) {
		rcp_error(r, "%s: not a regular file", s->path);
		return false;
	}
	s->fd = open(s->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (s->fd < 0 || fstat(s->fd, &s->st) < 0 || !S_ISREG(s->st.st_mode)) {
		rcp_error(r, "%s: %s", s->path, s->fd < 0 ? strerror(errno) : "not a regular file");
		return false;
	}
	send_item(r, s);
	return true;
}

/* ---- folders */

static void enter(struct rcp *r, struct source *s)
{
	DIR *stream = opendir(s->path);

	if (stream == NULL) {
		/* The sink is in the folder already: it is left again. */
		rcp_error(r, "%s: %s", s->path, strerror(errno));
		item_end(s);
		rcp_send(r, "E\n", 2);
		s->state = SRC_LEAVE;
		return;
	}
	s->level[s->depth++] = (struct source_level){ stream, s->path, s->st.st_dev, s->st.st_ino };
	s->path = NULL;
	s->state = SRC_NEXT;
}

static void leave(struct rcp *r, struct source *s)
{
	struct source_level *l = &s->level[--s->depth];

	closedir(l->stream);
	free(l->path);
	rcp_send(r, "E\n", 2);
	s->state = SRC_LEAVE;
}

/* The next thing to send goes into s->path; false: there is none here. */
static bool find_next(struct rcp *r, struct source *s)
{
	struct source_level *l;
	struct dirent *entry;

	if (s->depth == 0) {
		if (s->next_source >= r->copy->job.sources.count)
			return false;
		s->path = mem_strdup(r->copy->job.sources.v[s->next_source++]);
		return true;
	}
	l = &s->level[s->depth - 1];
	do
		entry = readdir(l->stream);
	while (entry != NULL && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
	if (entry == NULL)
		return false;
	s->path = copy_join(l->path, entry->d_name);
	return true;
}

static void choose_next(struct rcp *r, struct source *s)
{
	while (s->state == SRC_NEXT && !r->over) {
		if (find_next(r, s)) {
			if (!begin_item(r, s))
				item_end(s);
		} else if (s->depth > 0)
			leave(r, s);
		else
			rcp_end(r, r->copy->errors > 0 ? 1 : 0);
	}
}

/* ---- data */

/* Reads straight into the link. What the file no longer has is sent as zeros: the size was announced. */
static bool send_piece(struct rcp *r, struct source *s)
{
	struct copy *c = r->copy;
	uint64_t left = (uint64_t)s->st.st_size - s->at;
	uint32_t piece = copy_piece(c, left < 256 * 1024 ? left : 256 * 1024);
	struct iovec iov[LINK_IOV];
	int count = 0;
	size_t lent = link_lend(r->link, piece, iov, &count);
	ssize_t got = 0;

	if (lent == 0)
		return false;
	if (lent > piece) {
		lent = piece;
		iov[0].iov_len = iov[0].iov_len < lent ? iov[0].iov_len : lent;
	}
	if (s->error == 0) {
		got = fileops_preadv(s->fd, iov, count, (off_t)s->at);
		if (got < 0)
			s->error = errno;
		else if (got == 0)
			s->error = ENODATA;
	}
	if (s->error != 0) {
		for (int i = 0; i < count; i++)
			memset(iov[i].iov_base, 0, iov[i].iov_len);
		got = (ssize_t)lent;
	}
	if (link_commit(r->link, (size_t)got) < 0) {
		rcp_end(r, 1);
		return false;
	}
	s->at += (uint64_t)got;
	throttle_took(&c->throttle, (uint64_t)got);
	meter_move(c->meter, s->at);
	return true;
}

static void send_data(struct rcp *r, struct source *s)
{
	while (s->at < (uint64_t)s->st.st_size) {
		if (!rcp_may_move(r) || !send_piece(r, s))
			return;
	}
	meter_end(r->copy->meter, s->error == 0);
	s->state = SRC_DATA_END;
	if (s->error == 0)
		rcp_send(r, "", 1);
	else
		rcp_error(r, "%s: %s", s->path, s->error == ENODATA ? "has become shorter while it was sent" : strerror(s->error));
}

/* ---- replies */

/* 0: go on; 1: refused, has been said; -1: not there yet, or the end. */
static int take_reply(struct rcp *r, struct source *s)
{
	int byte;
	char *text;

	if (!s->reply_open) {
		byte = rcp_take_byte(r);
		if (byte <= 0)
			return byte;
		if (byte != 1 && byte != 2) {
			/* Not a reply: what a start-up file of the shell printed, most likely. Its line is shown. */
			char first = (char)byte;

			buf_put(&r->line, &first, 1);
		}
		s->reply_open = true;
		s->reply_fatal = byte != 1;
	}
	text = rcp_take_line(r);
	if (text == NULL)
		return -1;
	s->reply_open = false;
	rcp_peer_error(r, text);
	free(text);
	if (s->reply_fatal) {
		rcp_end(r, 1);
		return -1;
	}
	return 1;
}

static void after_reply(struct rcp *r, struct source *s, int reply)
{
	switch (s->state) {
	case SRC_TIMES:
		if (reply == 0)
			send_record(r, s);
		else {
			item_end(s);
			s->state = SRC_NEXT;
		}
		break;
	case SRC_RECORD:
		if (reply != 0) {
			item_end(s);
			s->state = SRC_NEXT;
		} else if (S_ISDIR(s->st.st_mode))
			enter(r, s);
		else {
			char *name = copy_base_name(s->path);

			meter_begin(r->copy->meter, name, (uint64_t)s->st.st_size, 0);
			free(name);
			s->state = SRC_DATA;
		}
		break;
	case SRC_DATA_END:
		item_end(s);
		s->state = SRC_NEXT;
		break;
	default:
		s->state = SRC_NEXT;
		break;
	}
}

static struct source *source_of(struct rcp *r)
{
	return r->end;
}

static void source_run(struct rcp *r)
{
	struct source *s = source_of(r);

	while (!r->over) {
		int reply;

		if (s->state == SRC_NEXT) {
			choose_next(r, s);
			continue;
		}
		if (s->state == SRC_DATA) {
			if (!rcp_flush(r))
				return;
			send_data(r, s);
			if (s->state == SRC_DATA)
				return;
		}
		reply = take_reply(r, s);
		if (reply < 0) {
			if (!r->over && link_at_end(r->link)) {
				/* A far side that said why it ends needs no comment. */
				if (!r->server && r->copy->errors == 0)
					(void)fputs("lost connection\n", stderr);
				rcp_end(r, 1);
			}
			return;
		}
		after_reply(r, s, reply);
	}
}

static void source_free(struct rcp *r)
{
	struct source *s = source_of(r);

	item_end(s);
	while (s->depth > 0) {
		s->depth--;
		closedir(s->level[s->depth].stream);
		free(s->level[s->depth].path);
	}
	free(s);
}

void rcp_source_init(struct rcp *r)
{
	struct source *s = mem_zalloc(sizeof *s);

	s->fd = -1;
	r->end = s;
	r->run = source_run;
	r->free_end = source_free;
}
