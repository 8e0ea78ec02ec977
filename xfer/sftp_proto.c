/* SFTP version 3 on the wire. */
#include "xfer/sftp_proto.h"

#include <errno.h>
#include <fcntl.h>

const struct sftp_extension_row sftp_extensions[SFTP_EXT_COUNT] = {
	[SFTP_EXT_POSIX_RENAME] = { "posix-rename@openssh.com", "1" },
	[SFTP_EXT_STATVFS] = { "statvfs@openssh.com", "2" },
	[SFTP_EXT_FSTATVFS] = { "fstatvfs@openssh.com", "2" },
	[SFTP_EXT_HARDLINK] = { "hardlink@openssh.com", "1" },
	[SFTP_EXT_FSYNC] = { "fsync@openssh.com", "1" },
	[SFTP_EXT_LSETSTAT] = { "lsetstat@openssh.com", "1" },
	[SFTP_EXT_LIMITS] = { "limits@openssh.com", "1" },
	[SFTP_EXT_EXPAND_PATH] = { "expand-path@openssh.com", "1" },
	[SFTP_EXT_COPY_DATA] = { "copy-data", "1" },
	[SFTP_EXT_HOME_DIRECTORY] = { "home-directory", "1" },
	[SFTP_EXT_USERS_GROUPS] = { "users-groups-by-id@openssh.com", "1" },
};

enum sftp_extension sftp_extension_find(struct view name)
{
	for (int i = 0; i < SFTP_EXT_COUNT; i++)
		if (view_is(name, sftp_extensions[i].name))
			return (enum sftp_extension)i;
	return SFTP_EXT_COUNT;
}

void sftp_attrs_put(struct buf *b, const struct sftp_attrs *a)
{
	buf_put_u32(b, a->flags & ~SFTP_ATTR_EXTENDED);
	if (a->flags & SFTP_ATTR_SIZE)
		buf_put_u64(b, a->size);
	if (a->flags & SFTP_ATTR_UIDGID) {
		buf_put_u32(b, a->uid);
		buf_put_u32(b, a->gid);
	}
	if (a->flags & SFTP_ATTR_MODE)
		buf_put_u32(b, a->mode);
	if (a->flags & SFTP_ATTR_TIMES) {
		buf_put_u32(b, a->atime);
		buf_put_u32(b, a->mtime);
	}
}

struct sftp_attrs sftp_attrs_get(struct reader *r)
{
	struct sftp_attrs a = { .flags = reader_u32(r) };

	if (a.flags & SFTP_ATTR_SIZE)
		a.size = reader_u64(r);
	if (a.flags & SFTP_ATTR_UIDGID) {
		a.uid = reader_u32(r);
		a.gid = reader_u32(r);
	}
	if (a.flags & SFTP_ATTR_MODE)
		a.mode = reader_u32(r);
	if (a.flags & SFTP_ATTR_TIMES) {
		a.atime = reader_u32(r);
		a.mtime = reader_u32(r);
	}
	if (a.flags & SFTP_ATTR_EXTENDED) {
		uint32_t pairs = reader_u32(r);

		/* Each pair takes 8 bytes at least: a count that cannot be true ends the loop early. */
		for (uint32_t i = 0; i < pairs && reader_ok(r); i++) {
			(void)reader_string(r);
			(void)reader_string(r);
		}
	}
	a.flags &= SFTP_ATTR_SIZE | SFTP_ATTR_UIDGID | SFTP_ATTR_MODE | SFTP_ATTR_TIMES;
	if (!reader_ok(r))
		a = (struct sftp_attrs){ 0 };
	return a;
}

struct sftp_attrs sftp_attrs_of_stat(const struct stat *st)
{
	return (struct sftp_attrs){
		.flags = SFTP_ATTR_SIZE | SFTP_ATTR_UIDGID | SFTP_ATTR_MODE | SFTP_ATTR_TIMES,
		.size = (uint64_t)st->st_size,
		.uid = st->st_uid,
		.gid = st->st_gid,
		.mode = st->st_mode,
		.atime = (uint32_t)st->st_atime,
		.mtime = (uint32_t)st->st_mtime,
	};
}

void sftp_name_put(struct buf *b, const char *name, const char *longname, const struct sftp_attrs *a)
{
	buf_put_cstring(b, name);
	buf_put_cstring(b, longname);
	sftp_attrs_put(b, a);
}

struct sftp_name sftp_name_get(struct reader *r)
{
	struct sftp_name n;

	n.name = reader_string(r);
	n.longname = reader_string(r);
	n.attrs = sftp_attrs_get(r);
	return n;
}

void sftp_limits_put(struct buf *b, const struct sftp_limits *l)
{
	buf_put_u64(b, l->packet);
	buf_put_u64(b, l->read);
	buf_put_u64(b, l->write);
	buf_put_u64(b, l->handles);
}

struct sftp_limits sftp_limits_get(struct reader *r)
{
	struct sftp_limits l;

	l.packet = reader_u64(r);
	l.read = reader_u64(r);
	l.write = reader_u64(r);
	l.handles = reader_u64(r);
	return l;
}

void sftp_statvfs_put(struct buf *b, const struct sftp_statvfs *v)
{
	buf_put_u64(b, v->bsize);
	buf_put_u64(b, v->frsize);
	buf_put_u64(b, v->blocks);
	buf_put_u64(b, v->bfree);
	buf_put_u64(b, v->bavail);
	buf_put_u64(b, v->files);
	buf_put_u64(b, v->ffree);
	buf_put_u64(b, v->favail);
	buf_put_u64(b, v->fsid);
	buf_put_u64(b, v->flag);
	buf_put_u64(b, v->namemax);
}

struct sftp_statvfs sftp_statvfs_get(struct reader *r)
{
	struct sftp_statvfs v;

	v.bsize = reader_u64(r);
	v.frsize = reader_u64(r);
	v.blocks = reader_u64(r);
	v.bfree = reader_u64(r);
	v.bavail = reader_u64(r);
	v.files = reader_u64(r);
	v.ffree = reader_u64(r);
	v.favail = reader_u64(r);
	v.fsid = reader_u64(r);
	v.flag = reader_u64(r);
	v.namemax = reader_u64(r);
	return v;
}

void sftp_data_head(uint8_t head[SFTP_DATA_HEAD], uint32_t id, uint32_t data_bytes)
{
	wire_store_u32(head, SFTP_DATA_HEAD - 4 + data_bytes);
	head[4] = SFTP_DATA;
	wire_store_u32(head + 5, id);
	wire_store_u32(head + 9, data_bytes);
}

size_t sftp_write_head(uint8_t *head, uint32_t id, struct view handle, uint64_t offset, uint32_t data_bytes)
{
	uint8_t *p = head + 4;

	*p++ = SFTP_WRITE;
	wire_store_u32(p, id);
	wire_store_u32(p + 4, (uint32_t)handle.n);
	p += 8;
	for (size_t i = 0; i < handle.n && i < SFTP_HANDLE_MAX; i++)
		*p++ = handle.p[i];
	wire_store_u64(p, offset);
	wire_store_u32(p + 8, data_bytes);
	p += 12;
	wire_store_u32(head, (uint32_t)(p - head) - 4 + data_bytes);
	return (size_t)(p - head);
}

/* Which errors have a status of their own (those of OpenSSH); every other one is a failure. */
static const struct { int error; uint32_t status; } errno_statuses[] = {
	{ 0, SFTP_OK },
	{ ENOENT, SFTP_NO_SUCH_FILE }, { ENOTDIR, SFTP_NO_SUCH_FILE }, { EBADF, SFTP_NO_SUCH_FILE }, { ELOOP, SFTP_NO_SUCH_FILE },
	{ EPERM, SFTP_PERMISSION_DENIED }, { EACCES, SFTP_PERMISSION_DENIED }, { EFAULT, SFTP_PERMISSION_DENIED },
	{ ENAMETOOLONG, SFTP_BAD_MESSAGE }, { EINVAL, SFTP_BAD_MESSAGE },
	{ ENOSYS, SFTP_UNSUPPORTED },
};

uint32_t sftp_status_of_errno(int error)
{
	for (size_t i = 0; i < sizeof errno_statuses / sizeof errno_statuses[0]; i++)
		if (errno_statuses[i].error == error)
			return errno_statuses[i].status;
	return SFTP_FAILURE;
}

static const char *const status_texts[] = {
	[SFTP_OK] = "success",
	[SFTP_EOF] = "end of file",
	[SFTP_NO_SUCH_FILE] = "No such file or directory",
	[SFTP_PERMISSION_DENIED] = "Permission denied",
	[SFTP_FAILURE] = "Failure",
	[SFTP_BAD_MESSAGE] = "the server found the request malformed",
	[SFTP_NO_CONNECTION] = "no connection",
	[SFTP_CONNECTION_LOST] = "connection lost",
	[SFTP_UNSUPPORTED] = "the server does not support this",
};

const char *sftp_status_text(uint32_t status)
{
	return status < sizeof status_texts / sizeof status_texts[0] ? status_texts[status] : "unknown status";
}

static const struct { uint32_t pflag; int flag; } open_flags[] = {
	{ SFTP_OPEN_APPEND, O_APPEND }, { SFTP_OPEN_CREAT, O_CREAT }, { SFTP_OPEN_TRUNC, O_TRUNC }, { SFTP_OPEN_EXCL, O_EXCL },
};

int sftp_flags_to_open(uint32_t pflags)
{
	int flags = O_RDONLY;

	if (pflags & SFTP_OPEN_WRITE)
		flags = pflags & SFTP_OPEN_READ ? O_RDWR : O_WRONLY;
	for (size_t i = 0; i < sizeof open_flags / sizeof open_flags[0]; i++)
		if (pflags & open_flags[i].pflag)
			flags |= open_flags[i].flag;
	return flags;
}

