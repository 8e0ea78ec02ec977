/* The extensions of OpenSSH (its PROTOCOL, section 4). */
#include "xfer/sftp_server_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { COPY_SLICE = 4 * 1024 * 1024, IDS_SLICE = 64 };

static void take_errno(struct job *j, int r)
{
	if (r < 0)
		j->error = errno;
}

static uint32_t parse_two_paths(struct sftp_server *s, struct job *j, struct reader *r)
{
	char *a, *b;

	j->path = server_parse_path(r);
	j->path2 = server_parse_path(r);
	if (j->path == NULL || j->path2 == NULL)
		return SFTP_BAD_MESSAGE;
	a = str_escape_log(j->path, strlen(j->path), 1024);
	b = str_escape_log(j->path2, strlen(j->path2), 1024);
	server_log(s, LOG_LEVEL_INFO, "%s old \"%s\" new \"%s\"", j->row->name, a, b);
	free(a);
	free(b);
	return SFTP_OK;
}

static uint32_t parse_one_path(struct sftp_server *s, struct job *j, struct reader *r)
{
	j->path = server_parse_path(r);
	return j->path != NULL ? SFTP_OK : SFTP_BAD_MESSAGE;
}

static void posix_rename_run(struct job *j)
{
	take_errno(j, fileops_rename(&j->server->files, j->path, j->path2));
}

static void hardlink_run(struct job *j)
{
	take_errno(j, fileops_link(&j->server->files, j->path, j->path2));
}

/* ---- statvfs, fstatvfs */

static void statvfs_run(struct job *j)
{
	take_errno(j, fileops_statvfs(&j->server->files, j->path, &j->vfs));
}

static uint32_t fstatvfs_parse(struct sftp_server *s, struct job *j, struct reader *r)
{
	j->file = server_file_find(s, reader_string(r));
	return j->file != NULL ? SFTP_OK : SFTP_FAILURE;
}

static void fstatvfs_run(struct job *j)
{
	take_errno(j, fileops_fstatvfs(j->file->fd, &j->vfs));
}

static void statvfs_finish(struct sftp_server *s, struct job *j)
{
	size_t mark;

	if (j->error != 0) {
		server_finish_status(s, j);
		return;
	}
	mark = server_reply_begin(s, SFTP_EXTENDED_REPLY, j->id);
	sftp_statvfs_put(&s->out, &j->vfs);
	server_reply_end(s, mark);
}

/* ---- fsync, lsetstat */

static uint32_t fsync_parse(struct sftp_server *s, struct job *j, struct reader *r)
{
	j->file = server_file_find(s, reader_string(r));
	return j->file != NULL ? SFTP_OK : SFTP_NO_SUCH_FILE;
}

static void fsync_run(struct job *j)
{
	take_errno(j, fsync(j->file->fd));
}

static uint32_t lsetstat_parse(struct sftp_server *s, struct job *j, struct reader *r)
{
	j->path = server_parse_path(r);
	j->attrs = sftp_attrs_get(r);
	return reader_ok(r) ? SFTP_OK : SFTP_BAD_MESSAGE;
}

static void lsetstat_run(struct job *j)
{
	j->error = fileops_setstat(&j->server->files, j->path, false, &j->attrs);
}

/* ---- limits */

static void limits_finish(struct sftp_server *s, struct job *j)
{
	struct sftp_limits l = { SFTP_MESSAGE_MAX, SFTP_DATA_MAX, SFTP_DATA_MAX, s->files_max };
	size_t mark = server_reply_begin(s, SFTP_EXTENDED_REPLY, j->id);

	sftp_limits_put(&s->out, &l);
	server_reply_end(s, mark);
}

/* ---- expand-path, home-directory */

/* Behind a chroot there may be no account database: the own home is known anyway. */
static char *home_of(const struct sftp_server_options *o, const char *user)
{
	bool own = *user == '\0' || (o->user != NULL && strcmp(user, o->user) == 0);

	return own && o->home != NULL ? mem_strdup(o->home) : owners_home(user);
}

/* ~ and ~/x: the current folder of the engine; ~user/x: that user's home. */
static void expand_run(struct job *j)
{
	const char *path = j->path;
	char *expanded = NULL;

	if (strcmp(path, "~") == 0 || str_starts(path, "~/")) {
		path += path[1] == '/' ? 2 : 1;
		while (*path == '/')
			path++;
	} else if (*path == '~') {
		size_t n = strcspn(path + 1, "/");
		char *user = mem_strndup(path + 1, n), *home = home_of(&j->server->o, user);

		free(user);
		if (home == NULL) {
			j->status = SFTP_NO_SUCH_FILE;
			j->message = "no such user";
			return;
		}
		path = expanded = str_printf("%s%s", home, path + 1 + n);
		free(home);
	}
	j->text = fileops_realpath(&j->server->files, path);
	if (j->text == NULL)
		j->error = errno;
	free(expanded);
}

static void home_run(struct job *j)
{
	j->text = home_of(&j->server->o, j->path);
	if (j->text == NULL) {
		j->status = SFTP_FAILURE;
		j->message = "no such user";
	}
}

/* ---- copy-data */

static bool same_file(const struct server_file *a, const struct server_file *b)
{
	struct stat x, y;

	if (a == b || strcmp(a->path, b->path) == 0)
		return true;
	return fstat(a->fd, &x) == 0 && fstat(b->fd, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static uint32_t copy_parse(struct sftp_server *s, struct job *j, struct reader *r)
{
	uint64_t from, to, length;

	j->file = server_file_find(s, reader_string(r));
	from = reader_u64(r);
	length = reader_u64(r);
	j->file2 = server_file_find(s, reader_string(r));
	to = reader_u64(r);
	if (!reader_ok(r))
		return SFTP_BAD_MESSAGE;
	if (j->file == NULL || j->file2 == NULL || j->file->dir != NULL || j->file2->dir != NULL)
		return SFTP_NO_SUCH_FILE;
	if (same_file(j->file, j->file2) || from > INT64_MAX || to > INT64_MAX)
		return SFTP_FAILURE;
	j->length = length;
	j->copy = (struct fileops_copy){
		.from = j->file->fd, .to = j->file2->fd, .from_offset = (off_t)from, .to_offset = (off_t)to,
		.left = length != 0 ? length : UINT64_MAX, .append = j->file2->flags & O_APPEND,
	};
	return SFTP_OK;
}

static void copy_run(struct job *j)
{
	int r = fileops_copy_slice(&j->copy, COPY_SLICE);

	j->more = r > 0;
	if (r < 0)
		j->error = errno;
	else if (r == 0 && j->length != 0 && j->copy.left > 0)
		j->status = SFTP_EOF;            /* fewer bytes than asked for */
}

static void copy_finish(struct sftp_server *s, struct job *j)
{
	uint64_t n = (j->length != 0 ? j->length : UINT64_MAX) - j->copy.left;

	j->file->bytes_read += n;
	j->file2->bytes_written += n;
	server_finish_status(s, j);
}

/* ---- users-groups-by-id */

static uint32_t ids_parse(struct sftp_server *s, struct job *j, struct reader *r)
{
	struct view uids = reader_string(r), gids = reader_string(r);

	if (uids.n % 4 != 0 || gids.n % 4 != 0) {
		reader_fail(r);
		return SFTP_BAD_MESSAGE;
	}
	j->data_size = uids.n + gids.n;
	j->data = mem_alloc(j->data_size + 1);   /* bounded by the message */
	if (uids.n > 0)
		memcpy(j->data, uids.p, uids.n);
	if (gids.n > 0)
		memcpy(j->data + uids.n, gids.p, gids.n);
	j->length = uids.n;
	return SFTP_OK;
}

/* Looking a name up may take a directory service: a few at a time. */
static void ids_run(struct job *j)
{
	struct owners *owners = j->server->owners;

	for (int i = 0; i < IDS_SLICE && j->done < j->data_size; i++, j->done += 4) {
		bool group = j->done >= j->length;
		uint32_t id = wire_load_u32(j->data + j->done);
		const char *name = group ? owners_group_known(owners, id) : owners_user_known(owners, id);

		buf_put_cstring(group ? &j->body2 : &j->body, name != NULL ? name : "");
	}
	j->more = j->done < j->data_size && buf_ok(&j->body) && buf_ok(&j->body2);
}

static void ids_finish(struct sftp_server *s, struct job *j)
{
	size_t mark;

	if (!buf_ok(&j->body) || !buf_ok(&j->body2) || j->body.size + j->body2.size > SFTP_DATA_MAX) {
		j->status = SFTP_FAILURE;
		j->message = "too many ids in one question";
		server_finish_status(s, j);
		return;
	}
	mark = server_reply_begin(s, SFTP_EXTENDED_REPLY, j->id);
	buf_put_buf_string(&s->out, &j->body);
	buf_put_buf_string(&s->out, &j->body2);
	server_reply_end(s, mark);
}

/* In the order in which they are advertised, which is that of -Q requests too. The names of -p and -P are without domain. */
#define EXTENDED(word, number) .name = word, .type = SFTP_EXTENDED, .extension = number
const struct request_row server_rows_extended[] = {
	{ EXTENDED("posix-rename", SFTP_EXT_POSIX_RENAME), .writes = true, .parse = parse_two_paths, .run = posix_rename_run },
	{ EXTENDED("statvfs", SFTP_EXT_STATVFS), .parse = parse_one_path, .run = statvfs_run, .finish = statvfs_finish },
	{ EXTENDED("fstatvfs", SFTP_EXT_FSTATVFS), .parse = fstatvfs_parse, .run = fstatvfs_run, .finish = statvfs_finish },
	{ EXTENDED("hardlink", SFTP_EXT_HARDLINK), .writes = true, .parse = parse_two_paths, .run = hardlink_run },
	{ EXTENDED("fsync", SFTP_EXT_FSYNC), .writes = true, .parse = fsync_parse, .run = fsync_run },
	{ EXTENDED("lsetstat", SFTP_EXT_LSETSTAT), .writes = true, .parse = lsetstat_parse, .run = lsetstat_run },
	{ EXTENDED("limits", SFTP_EXT_LIMITS), .finish = limits_finish },
	{ EXTENDED("expand-path", SFTP_EXT_EXPAND_PATH), .parse = parse_one_path, .run = expand_run, .finish = server_finish_name },
	{ EXTENDED("copy-data", SFTP_EXT_COPY_DATA), .writes = true, .parse = copy_parse, .run = copy_run, .finish = copy_finish },
	{ EXTENDED("home-directory", SFTP_EXT_HOME_DIRECTORY), .parse = parse_one_path, .run = home_run,
	  .finish = server_finish_name },
	{ EXTENDED("users-groups-by-id", SFTP_EXT_USERS_GROUPS), .parse = ids_parse, .run = ids_run, .finish = ids_finish },
	{ .name = NULL },
};
