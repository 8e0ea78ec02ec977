/* READ and WRITE of the SFTP server: one copy between kernel and user (docs/OVERVIEW.md). A READ is read straight into
 * the spaces that the link lends, and only then gets its header, with the count really read. The data of a WRITE goes to the
 * file piece by piece as it comes. Through the helper thread (slow files) both take one more copy. */
#include "xfer/sftp_server_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/link.h"

/* ---- READ */

uint32_t server_read_parse(struct sftp_server *s, struct job *j, struct reader *r)
{
	j->file = server_file_find(s, reader_string(r));
	j->offset = reader_u64(r);
	j->length = reader_u32(r);
	if (j->length > SFTP_DATA_MAX)
		j->length = SFTP_DATA_MAX;
	if (j->file == NULL || j->file->dir != NULL)
		return SFTP_FAILURE;
	server_log(s, LOG_LEVEL_DEBUG1, "read \"%s\" off %llu len %u", j->file->path, (unsigned long long)j->offset,
		(unsigned)j->length);
	return SFTP_OK;
}

/* The spaces behind the first `skip` bytes. Returns their number. */
static int spaces_behind(const struct iovec *from, int count, size_t skip, struct iovec *to)
{
	int n = 0;

	for (int i = 0; i < count; i++) {
		if (skip >= from[i].iov_len) {
			skip -= from[i].iov_len;
			continue;
		}
		to[n].iov_base = (uint8_t *)from[i].iov_base + skip;
		to[n++].iov_len = from[i].iov_len - skip;
		skip = 0;
	}
	return n;
}

static void put_into(const struct iovec *iov, int count, const uint8_t *p, size_t n)
{
	for (int i = 0; i < count && n > 0; i++) {
		size_t k = n < iov[i].iov_len ? n : iov[i].iov_len;

		memcpy(iov[i].iov_base, p, k);
		p += k;
		n -= k;
	}
}

static void read_failed(struct sftp_server *s, struct job *j, ssize_t got)
{
	j->status = got == 0 ? SFTP_EOF : sftp_status_of_errno(errno);
	j->error = got == 0 ? 0 : errno;
	server_finish_status(s, j);
}

static void read_counted(struct job *j, ssize_t got)
{
	j->file->bytes_read += (uint64_t)got;
}

/* Everything into the queue of replies, when the link has no room at all. */
static void read_queued(struct sftp_server *s, struct job *j)
{
	size_t before = s->out.size;
	uint8_t *p = buf_reserve(&s->out, SFTP_DATA_HEAD + (size_t)j->length);
	struct iovec iov;
	ssize_t got;

	if (p == NULL) {
		server_end(s, 255);
		return;
	}
	iov = (struct iovec){ p + SFTP_DATA_HEAD, (size_t)j->length };
	got = fileops_preadv(j->file->fd, &iov, 1, (off_t)j->offset);
	if (got < 0 || (got == 0 && j->length > 0)) {
		int saved = errno;

		s->out.size = before;
		errno = saved;
		read_failed(s, j, got);
		return;
	}
	sftp_data_head(p, j->id, (uint32_t)got);
	s->out.size = before + SFTP_DATA_HEAD + (size_t)got;
	read_counted(j, got);
}

/* Lent spaces first, and what exceeds them into the (empty) queue of replies: one preadv for both. */
static void read_lent(struct sftp_server *s, struct job *j)
{
	size_t want = SFTP_DATA_HEAD + (size_t)j->length, lent, total;
	struct iovec iov[LINK_IOV + 1], data[LINK_IOV + 1];
	uint8_t head[SFTP_DATA_HEAD], *rest = NULL;
	int count = 0, data_count;
	ssize_t got;

	lent = link_lend(s->link, want, iov, &count);
	if (lent < want) {
		rest = buf_reserve(&s->out, want - lent);
		if (rest == NULL || lent < SFTP_DATA_HEAD) {
			if (link_commit(s->link, 0) < 0)
				server_end(s, 255);
			buf_reset(&s->out);
			if (!s->ended)
				read_queued(s, j);
			return;
		}
		iov[count++] = (struct iovec){ rest, want - lent };
	}
	data_count = spaces_behind(iov, count, SFTP_DATA_HEAD, data);
	got = fileops_preadv(j->file->fd, data, data_count, (off_t)j->offset);
	if (got < 0 || (got == 0 && j->length > 0)) {
		int saved = errno;

		s->out.size = 0;
		if (link_commit(s->link, 0) < 0)
			server_end(s, 255);
		errno = saved;
		if (!s->ended)
			read_failed(s, j, got);
		return;
	}
	sftp_data_head(head, j->id, (uint32_t)got);
	put_into(iov, count, head, sizeof head);
	total = SFTP_DATA_HEAD + (size_t)got;
	s->out.size = total > lent ? total - lent : 0;
	read_counted(j, got);
	if (link_commit(s->link, total < lent ? total : lent) < 0)
		server_end(s, 255);
}

void server_read_run(struct job *j)
{
	struct iovec iov;
	ssize_t got;

	j->data = mem_alloc((size_t)j->length + 1);      /* at most SFTP_DATA_MAX, and never empty */
	iov = (struct iovec){ j->data, (size_t)j->length };
	got = fileops_preadv(j->file->fd, &iov, 1, (off_t)j->offset);
	if (got < 0)
		j->error = errno;
	j->data_size = got > 0 ? (size_t)got : 0;
}

static void read_through_memory(struct sftp_server *s, struct job *j)
{
	size_t mark;

	if (j->error != 0 || (j->data_size == 0 && j->length > 0)) {
		errno = j->error;
		read_failed(s, j, j->error != 0 ? -1 : 0);
		return;
	}
	mark = server_reply_begin(s, SFTP_DATA, j->id);
	buf_put_string(&s->out, j->data, j->data_size);
	server_reply_end(s, mark);
	read_counted(j, (ssize_t)j->data_size);
}

void server_read_finish(struct sftp_server *s, struct job *j)
{
	if (j->data != NULL)
		read_through_memory(s, j);
	else if (s->out.size > 0 && !server_flush(s)) {
		if (!s->ended)
			read_queued(s, j);
	} else
		read_lent(s, j);
}

/* ---- WRITE */

void server_write_begin(struct sftp_server *s, uint32_t id, struct reader *r, uint32_t message_left)
{
	struct server_write *w = &s->write;
	const struct request_row *row = server_row_of_type(SFTP_WRITE);

	*w = (struct server_write){ .active = true, .id = id };
	w->file = server_file_find(s, reader_string(r));
	w->offset = reader_u64(r);
	w->left = reader_u32(r);
	if (!reader_ok(r) || w->left > message_left) {
		reader_fail(r);
		return;
	}
	w->behind = message_left - w->left;
	if (!server_permits(s, row))
		w->status = SFTP_PERMISSION_DENIED;
	else if (w->file == NULL || w->file->dir != NULL)
		w->status = SFTP_FAILURE;
	else
		server_log(s, LOG_LEVEL_DEBUG1, "write \"%s\" off %llu len %u", w->file->path, (unsigned long long)w->offset,
			w->left);
}

/* Takes n bytes at p to the file. True if the helper thread has them now. */
static bool write_piece(struct sftp_server *s, const uint8_t *p, size_t n)
{
	struct server_write *w = &s->write;
	struct job *j = s->job;

	if (w->status != SFTP_OK)
		return false;
	w->file->bytes_written += n;
	if (server_is_slow(s)) {
		j->row = NULL;
		j->file = w->file;
		j->offset = w->offset;
		j->data = mem_dup(p, n);
		j->data_size = n;
		return true;
	}
	if (fileops_pwrite(w->file->fd, p, n, (off_t)w->offset, w->file->flags & O_APPEND) < 0) {
		w->error = errno;
		w->status = sftp_status_of_errno(errno);
	}
	return false;
}

bool server_write_step(struct sftp_server *s)
{
	struct server_write *w = &s->write;
	const uint8_t *p;
	size_t n;

	if (w->left > 0) {
		bool helper;

		n = link_peek(s->link, &p);
		if (n == 0)
			return false;
		if (n > w->left)
			n = w->left;
		helper = write_piece(s, p, n);
		link_consume(s->link, n);
		w->left -= (uint32_t)n;
		w->offset += n;
		if (helper)
			server_job_start(s, s->job);
		return true;
	}
	while (w->behind > 0) {
		n = link_peek(s->link, &p);
		if (n == 0)
			return false;
		if (n > w->behind)
			n = w->behind;
		link_consume(s->link, n);
		w->behind -= (uint32_t)n;
	}
	w->active = false;
	server_send_status(s, w->id, w->status,
		w->status == SFTP_FAILURE && w->error != 0 ? strerror(w->error) : NULL);
	return true;
}
