/* The requests of SFTP version 3 itself (draft-ietf-secsh-filexfer-02, sections 6.3 to 6.11). */
#include "xfer/sftp_server_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "xfer/listing.h"

/* Replies of READDIR stay below this: more names in one reply would overrun the buffers of old clients. */
enum { READDIR_BYTES = 32 * 1024, ENTRY_MAX = 2048, LOG_NAME_MAX = 1024 };

char *server_parse_path(struct reader *r)
{
	char *path = reader_cstring(r, SFTP_MESSAGE_MAX);

	return path;
}

/* For a line of the log: valid until the next call with the same slot, which the caller frees. */
static char *shown(const char *path)
{
	return str_escape_log(path, strlen(path), LOG_NAME_MAX);
}

static void log_path(struct sftp_server *s, enum log_level level, const char *what, const char *path)
{
	char *name;

	if ((int)level > s->o.log_level)
		return;
	name = shown(path);
	server_log(s, level, "%s \"%s\"", what, name);
	free(name);
}

static void log_two_paths(struct sftp_server *s, const char *what, const char *between, const struct job *j)
{
	char *a, *b;

	if (LOG_LEVEL_INFO > s->o.log_level)
		return;
	a = shown(j->path);
	b = shown(j->path2);
	server_log(s, LOG_LEVEL_INFO, "%s \"%s\" %s \"%s\"", what, a, between, b);
	free(a);
	free(b);
}

/* For calls that give -1 and errno. */
static void take_errno(struct job *j, int r)
{
	if (r < 0)
		j->error = errno;
}

static uint32_t parse_path(struct sftp_server *s, struct job *j, struct reader *r)
{
	j->path = server_parse_path(r);
	if (j->path == NULL)
		return SFTP_BAD_MESSAGE;
	log_path(s, LOG_LEVEL_DEBUG1, j->row->name, j->path);
	return SFTP_OK;
}

static uint32_t parse_two_paths(struct job *j, struct reader *r)
{
	j->path = server_parse_path(r);
	j->path2 = server_parse_path(r);
	return j->path != NULL && j->path2 != NULL ? SFTP_OK : SFTP_BAD_MESSAGE;
}

static uint32_t parse_handle(struct sftp_server *s, struct job *j, struct reader *r)
{
	j->file = server_file_find(s, reader_string(r));
	return j->file != NULL ? SFTP_OK : SFTP_FAILURE;
}

/* ---- OPEN, CLOSE */

static void log_open(struct sftp_server *s, const struct job *j, mode_t mode)
{
	static const struct { uint32_t flag; const char *word; } words[] = {
		{ SFTP_OPEN_READ, "READ" }, { SFTP_OPEN_WRITE, "WRITE" }, { SFTP_OPEN_APPEND, "APPEND" },
		{ SFTP_OPEN_CREAT, "CREATE" }, { SFTP_OPEN_TRUNC, "TRUNCATE" }, { SFTP_OPEN_EXCL, "EXCL" },
	};
	struct buf text = BUF_INIT(256);
	char *name;

	if (LOG_LEVEL_INFO > s->o.log_level)
		return;
	for (size_t i = 0; i < MEM_COUNT(words); i++)
		if (j->pflags & words[i].flag)
			buf_printf(&text, "%s%s", text.size > 0 ? "," : "", words[i].word);
	name = shown(j->path);
	server_log(s, LOG_LEVEL_INFO, "open \"%s\" flags %s mode 0%o", name, buf_cstr(&text), (unsigned)mode);
	free(name);
	buf_free(&text);
}

static mode_t mode_or(const struct sftp_attrs *a, mode_t otherwise)
{
	return a->flags & SFTP_ATTR_MODE ? a->mode & 07777 : otherwise;
}

static uint32_t open_parse(struct sftp_server *s, struct job *j, struct reader *r)
{
	int flags;

	j->path = server_parse_path(r);
	j->pflags = reader_u32(r);
	j->attrs = sftp_attrs_get(r);
	if (!reader_ok(r))
		return SFTP_BAD_MESSAGE;
	flags = sftp_flags_to_open(j->pflags);
	log_open(s, j, mode_or(&j->attrs, 0666));
	if (s->o.read_only && ((flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC)))
		return SFTP_PERMISSION_DENIED;
	if (s->files_open >= s->files_max)
		return SFTP_FAILURE;
	return SFTP_OK;
}

static void open_run(struct job *j)
{
	j->fd = fileops_open(&j->server->files, j->path, sftp_flags_to_open(j->pflags), mode_or(&j->attrs, 0666));
	take_errno(j, j->fd);
}

static void send_handle(struct sftp_server *s, struct job *j, int flags)
{
	struct server_file *f = server_file_add(s, j->fd, j->dir, j->path, flags);
	uint8_t handle[4];
	size_t mark;

	if (f == NULL) {
		j->error = EMFILE;
		server_finish_status(s, j);
		return;
	}
	j->fd = -1;
	j->dir = NULL;
	wire_store_u32(handle, server_file_handle(s, f));
	mark = server_reply_begin(s, SFTP_HANDLE, j->id);
	buf_put_string(&s->out, handle, sizeof handle);
	server_reply_end(s, mark);
}

static void open_finish(struct sftp_server *s, struct job *j)
{
	if (j->error != 0)
		server_finish_status(s, j);
	else
		send_handle(s, j, sftp_flags_to_open(j->pflags));
}

static uint32_t close_parse(struct sftp_server *s, struct job *j, struct reader *r)
{
	struct server_file *f = server_file_find(s, reader_string(r));

	if (f == NULL)
		return SFTP_NO_SUCH_FILE;
	server_file_release(s, f, &j->fd, &j->dir);
	return SFTP_OK;
}

static void close_run(struct job *j)
{
	int r = j->dir != NULL ? closedir(j->dir) : close(j->fd);

	if (r < 0 && errno != EINTR)
		j->error = errno;
	j->dir = NULL;
	j->fd = -1;
}

/* ---- attributes */

static void lstat_run(struct job *j)
{
	take_errno(j, fileops_stat(&j->server->files, j->path, false, &j->st));
}

static void stat_run(struct job *j)
{
	take_errno(j, fileops_stat(&j->server->files, j->path, true, &j->st));
}

static void fstat_run(struct job *j)
{
	take_errno(j, fstat(j->file->fd, &j->st));
}

static void attrs_finish(struct sftp_server *s, struct job *j)
{
	struct sftp_attrs a;
	size_t mark;

	if (j->error != 0) {
		server_finish_status(s, j);
		return;
	}
	a = sftp_attrs_of_stat(&j->st);
	mark = server_reply_begin(s, SFTP_ATTRS, j->id);
	sftp_attrs_put(&s->out, &a);
	server_reply_end(s, mark);
}

static void log_attrs(struct sftp_server *s, const char *path, const struct sftp_attrs *a)
{
	char *name, date[32];
	time_t t = (time_t)a->mtime;
	struct tm tm;

	if (LOG_LEVEL_INFO > s->o.log_level)
		return;
	name = shown(path);
	if (a->flags & SFTP_ATTR_SIZE)
		server_log(s, LOG_LEVEL_INFO, "set \"%s\" size %llu", name, (unsigned long long)a->size);
	if (a->flags & SFTP_ATTR_MODE)
		server_log(s, LOG_LEVEL_INFO, "set \"%s\" mode %04o", name, (unsigned)a->mode & 07777);
	if (a->flags & SFTP_ATTR_TIMES && localtime_r(&t, &tm) != NULL && strftime(date, sizeof date, "%Y%m%d-%H:%M:%S", &tm) > 0)
		server_log(s, LOG_LEVEL_INFO, "set \"%s\" modtime %s", name, date);
	if (a->flags & SFTP_ATTR_UIDGID)
		server_log(s, LOG_LEVEL_INFO, "set \"%s\" owner %lu group %lu", name, (unsigned long)a->uid, (unsigned long)a->gid);
	free(name);
}

static uint32_t setstat_parse(struct sftp_server *s, struct job *j, struct reader *r)
{
	j->path = server_parse_path(r);
	j->attrs = sftp_attrs_get(r);
	if (!reader_ok(r))
		return SFTP_BAD_MESSAGE;
	log_attrs(s, j->path, &j->attrs);
	return SFTP_OK;
}

static void setstat_run(struct job *j)
{
	bool follow = j->row->type == SFTP_SETSTAT;      /* else lsetstat@openssh.com */

	j->error = fileops_setstat(&j->server->files, j->path, follow, &j->attrs);
}

static uint32_t fsetstat_parse(struct sftp_server *s, struct job *j, struct reader *r)
{
	uint32_t status = parse_handle(s, j, r);

	j->attrs = sftp_attrs_get(r);
	if (reader_ok(r) && status == SFTP_OK)
		log_attrs(s, j->file->path, &j->attrs);
	return status;
}

static void fsetstat_run(struct job *j)
{
	j->error = fileops_fsetstat(j->file->fd, &j->attrs);
}

/* ---- folders */

static uint32_t opendir_parse(struct sftp_server *s, struct job *j, struct reader *r)
{
	uint32_t status = parse_path(s, j, r);

	if (status == SFTP_OK)
		log_path(s, LOG_LEVEL_INFO, "opendir", j->path);
	if (status == SFTP_OK && s->files_open >= s->files_max)
		return SFTP_FAILURE;
	return status;
}

static void opendir_run(struct job *j)
{
	j->fd = fileops_opendir(&j->server->files, j->path);
	take_errno(j, j->fd);
	if (j->fd < 0)
		return;
	j->dir = fdopendir(j->fd);
	if (j->dir == NULL)
		j->error = errno;
}

static void opendir_finish(struct sftp_server *s, struct job *j)
{
	if (j->error != 0)
		server_finish_status(s, j);
	else
		send_handle(s, j, O_RDONLY);
}

static uint32_t readdir_parse(struct sftp_server *s, struct job *j, struct reader *r)
{
	uint32_t status = parse_handle(s, j, r);

	return status == SFTP_OK && j->file->dir == NULL ? SFTP_FAILURE : status;
}

static void put_entry(struct job *j, const char *name, const struct stat *st, int64_t now)
{
	struct owners *owners = j->server->owners;
	struct sftp_attrs a = sftp_attrs_of_stat(st);
	struct listing_entry entry = {
		.name = name, .user = owners_user(owners, st->st_uid), .group = owners_group(owners, st->st_gid),
		.mode = st->st_mode, .links = st->st_nlink, .size = (uint64_t)st->st_size, .mtime = st->st_mtime,
	};
	char *line = listing_line(&entry, now);

	sftp_name_put(&j->body, name, line, &a);
	free(line);
}

static void readdir_run(struct job *j)
{
	int64_t now = clock_wall();

	while (j->body.size < READDIR_BYTES - ENTRY_MAX) {
		struct dirent *d;
		struct stat st;

		errno = 0;
		d = readdir(j->file->dir);
		if (d == NULL) {
			j->error = j->length == 0 ? errno : 0;
			return;
		}
		/* Gone meanwhile: it is no longer an entry. */
		if (fstatat(dirfd(j->file->dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		put_entry(j, d->d_name, &st, now);
		j->length++;
	}
}

static void readdir_finish(struct sftp_server *s, struct job *j)
{
	size_t mark;

	if (j->length == 0) {
		if (j->error == 0)
			j->status = SFTP_EOF;
		server_finish_status(s, j);
		return;
	}
	mark = server_reply_begin(s, SFTP_NAME, j->id);
	buf_put_u32(&s->out, (uint32_t)j->length);
	buf_put(&s->out, j->body.data, j->body.size);
	server_reply_end(s, mark);
}

static uint32_t mkdir_parse(struct sftp_server *s, struct job *j, struct reader *r)
{
	char *name;

	j->path = server_parse_path(r);
	j->attrs = sftp_attrs_get(r);
	if (!reader_ok(r))
		return SFTP_BAD_MESSAGE;
	name = shown(j->path);
	server_log(s, LOG_LEVEL_INFO, "mkdir name \"%s\" mode 0%o", name, (unsigned)mode_or(&j->attrs, 0777));
	free(name);
	return SFTP_OK;
}

static void mkdir_run(struct job *j)
{
	take_errno(j, fileops_mkdir(&j->server->files, j->path, mode_or(&j->attrs, 0777)));
}

static uint32_t rmdir_parse(struct sftp_server *s, struct job *j, struct reader *r)
{
	uint32_t status = parse_path(s, j, r);

	if (status == SFTP_OK)
		log_path(s, LOG_LEVEL_INFO, "rmdir name", j->path);
	return status;
}

static void rmdir_run(struct job *j)
{
	take_errno(j, fileops_rmdir(&j->server->files, j->path));
}

static uint32_t remove_parse(struct sftp_server *s, struct job *j, struct reader *r)
{
	uint32_t status = parse_path(s, j, r);

	if (status == SFTP_OK)
		log_path(s, LOG_LEVEL_INFO, "remove name", j->path);
	return status;
}

static void remove_run(struct job *j)
{
	take_errno(j, fileops_unlink(&j->server->files, j->path));
}

/* ---- names */

static void realpath_run(struct job *j)
{
	j->text = fileops_realpath(&j->server->files, j->path);
	if (j->text == NULL)
		j->error = errno;
}

void server_finish_name(struct sftp_server *s, struct job *j)
{
	static const struct sftp_attrs none;
	size_t mark;

	if (j->text == NULL) {
		server_finish_status(s, j);
		return;
	}
	mark = server_reply_begin(s, SFTP_NAME, j->id);
	buf_put_u32(&s->out, 1);
	sftp_name_put(&s->out, j->text, j->text, &none);
	server_reply_end(s, mark);
}

static void readlink_run(struct job *j)
{
	char target[PATH_MAX];

	if (fileops_readlink(&j->server->files, j->path, target, sizeof target) < 0)
		j->error = errno;
	else
		j->text = mem_strdup(target);
}

static uint32_t rename_parse(struct sftp_server *s, struct job *j, struct reader *r)
{
	uint32_t status = parse_two_paths(j, r);

	if (status == SFTP_OK)
		log_two_paths(s, "rename old", "new", j);
	return status;
}

static void rename_run(struct job *j)
{
	take_errno(j, fileops_rename_new(&j->server->files, j->path, j->path2));
}

/* The draft says linkpath, target; every implementation does it the other way round (OpenSSH's PROTOCOL). */
static uint32_t symlink_parse(struct sftp_server *s, struct job *j, struct reader *r)
{
	uint32_t status = parse_two_paths(j, r);

	if (status == SFTP_OK)
		log_two_paths(s, "symlink old", "new", j);
	return status;
}

static void symlink_run(struct job *j)
{
	take_errno(j, fileops_symlink(&j->server->files, j->path, j->path2));
}

/* In the order of -Q requests. */
const struct request_row server_rows_plain[] = {
	{ .name = "open", .type = SFTP_OPEN, .parse = open_parse, .run = open_run, .finish = open_finish },
	{ .name = "close", .type = SFTP_CLOSE, .parse = close_parse, .run = close_run },
	{ .name = "read", .type = SFTP_READ, .parse = server_read_parse, .run = server_read_run, .direct = true,
	  .finish = server_read_finish },
	{ .name = "write", .type = SFTP_WRITE, .writes = true }, /* never comes this way: server_write_begin */
	{ .name = "lstat", .type = SFTP_LSTAT, .parse = parse_path, .run = lstat_run, .finish = attrs_finish },
	{ .name = "fstat", .type = SFTP_FSTAT, .parse = parse_handle, .run = fstat_run, .finish = attrs_finish },
	{ .name = "setstat", .type = SFTP_SETSTAT, .writes = true, .parse = setstat_parse, .run = setstat_run },
	{ .name = "fsetstat", .type = SFTP_FSETSTAT, .writes = true, .parse = fsetstat_parse, .run = fsetstat_run },
	{ .name = "opendir", .type = SFTP_OPENDIR, .parse = opendir_parse, .run = opendir_run, .finish = opendir_finish },
	{ .name = "readdir", .type = SFTP_READDIR, .parse = readdir_parse, .run = readdir_run, .finish = readdir_finish },
	{ .name = "remove", .type = SFTP_REMOVE, .writes = true, .parse = remove_parse, .run = remove_run },
	{ .name = "mkdir", .type = SFTP_MKDIR, .writes = true, .parse = mkdir_parse, .run = mkdir_run },
	{ .name = "rmdir", .type = SFTP_RMDIR, .writes = true, .parse = rmdir_parse, .run = rmdir_run },
	{ .name = "realpath", .type = SFTP_REALPATH, .parse = parse_path, .run = realpath_run, .finish = server_finish_name },
	{ .name = "stat", .type = SFTP_STAT, .parse = parse_path, .run = stat_run, .finish = attrs_finish },
	{ .name = "rename", .type = SFTP_RENAME, .writes = true, .parse = rename_parse, .run = rename_run },
	{ .name = "readlink", .type = SFTP_READLINK, .parse = parse_path, .run = readlink_run, .finish = server_finish_name },
	{ .name = "symlink", .type = SFTP_SYMLINK, .writes = true, .parse = symlink_parse, .run = symlink_run },
	{ .name = NULL },
};
