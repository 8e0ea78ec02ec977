/* xfer/sftp_proto.h: SFTP version 3 (draft-ietf-secsh-filexfer-02) with OpenSSH's extensions: numbers, attributes and
 * names on the wire. Both engines stand on it. */
#ifndef XFER_SFTP_PROTO_H
#define XFER_SFTP_PROTO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include "wire/buf.h"
#include "wire/reader.h"

enum { SFTP_VERSION = 3 };

enum {
	SFTP_INIT = 1, SFTP_VERSION_REPLY = 2, SFTP_OPEN = 3, SFTP_CLOSE = 4, SFTP_READ = 5, SFTP_WRITE = 6, SFTP_LSTAT = 7,
	SFTP_FSTAT = 8, SFTP_SETSTAT = 9, SFTP_FSETSTAT = 10, SFTP_OPENDIR = 11, SFTP_READDIR = 12, SFTP_REMOVE = 13,
	SFTP_MKDIR = 14, SFTP_RMDIR = 15, SFTP_REALPATH = 16, SFTP_STAT = 17, SFTP_RENAME = 18, SFTP_READLINK = 19,
	SFTP_SYMLINK = 20, SFTP_STATUS = 101, SFTP_HANDLE = 102, SFTP_DATA = 103, SFTP_NAME = 104, SFTP_ATTRS = 105,
	SFTP_EXTENDED = 200, SFTP_EXTENDED_REPLY = 201
};

enum {
	SFTP_OK = 0, SFTP_EOF = 1, SFTP_NO_SUCH_FILE = 2, SFTP_PERMISSION_DENIED = 3, SFTP_FAILURE = 4, SFTP_BAD_MESSAGE = 5,
	SFTP_NO_CONNECTION = 6, SFTP_CONNECTION_LOST = 7, SFTP_UNSUPPORTED = 8
};

enum {   /* pflags of OPEN */
	SFTP_OPEN_READ = 1, SFTP_OPEN_WRITE = 2, SFTP_OPEN_APPEND = 4, SFTP_OPEN_CREAT = 8, SFTP_OPEN_TRUNC = 16, SFTP_OPEN_EXCL = 32
};

enum {   /* flags of ATTRS */
	SFTP_ATTR_SIZE = 1, SFTP_ATTR_UIDGID = 2, SFTP_ATTR_MODE = 4, SFTP_ATTR_TIMES = 8
};
#define SFTP_ATTR_EXTENDED 0x80000000u

enum {   /* flags of the statvfs reply */
	SFTP_STATVFS_RDONLY = 1, SFTP_STATVFS_NOSUID = 2
};

enum {
	SFTP_MESSAGE_MAX = 256 * 1024,           /* value of the length field */
	SFTP_DATA_MAX = SFTP_MESSAGE_MAX - 1024, /* bytes in one READ or WRITE between OpenSSH's ends: 261120 */
	SFTP_DATA_DEFAULT = 32 * 1024,           /* what every server must take */
	SFTP_HANDLE_MAX = 256,                   /* the draft's limit on a handle */
	SFTP_DATA_HEAD = 13                      /* length, type, id, length of the data */
};

/* The extensions, in the order in which the server advertises them. The row's place in sftp_extensions is the number. */
enum sftp_extension {
	SFTP_EXT_POSIX_RENAME, SFTP_EXT_STATVFS, SFTP_EXT_FSTATVFS, SFTP_EXT_HARDLINK, SFTP_EXT_FSYNC, SFTP_EXT_LSETSTAT,
	SFTP_EXT_LIMITS, SFTP_EXT_EXPAND_PATH, SFTP_EXT_COPY_DATA, SFTP_EXT_HOME_DIRECTORY, SFTP_EXT_USERS_GROUPS, SFTP_EXT_COUNT
};
extern const struct sftp_extension_row { const char *name, *version; } sftp_extensions[SFTP_EXT_COUNT];
/* SFTP_EXT_COUNT if it is none of ours. */
enum sftp_extension sftp_extension_find(struct view name);

struct sftp_attrs {
	uint32_t flags;          /* which of the rest are there: SFTP_ATTR_* */
	uint64_t size;
	uint32_t uid, gid;
	uint32_t mode;           /* st_mode with the file type */
	uint32_t atime, mtime;   /* seconds since 1970, unsigned */
};
void sftp_attrs_put(struct buf *b, const struct sftp_attrs *a);
struct sftp_attrs sftp_attrs_get(struct reader *r);      /* extended pairs are read over */
struct sftp_attrs sftp_attrs_of_stat(const struct stat *st);
static inline bool sftp_attrs_is_dir(const struct sftp_attrs *a) { return a->flags & SFTP_ATTR_MODE && S_ISDIR(a->mode); }

/* One entry of a NAME message. */
struct sftp_name { struct view name, longname; struct sftp_attrs attrs; };
void sftp_name_put(struct buf *b, const char *name, const char *longname, const struct sftp_attrs *a);
struct sftp_name sftp_name_get(struct reader *r);

struct sftp_limits { uint64_t packet, read, write, handles; };
void sftp_limits_put(struct buf *b, const struct sftp_limits *l);
struct sftp_limits sftp_limits_get(struct reader *r);

struct sftp_statvfs { uint64_t bsize, frsize, blocks, bfree, bavail, files, ffree, favail, fsid, flag, namemax; };
void sftp_statvfs_put(struct buf *b, const struct sftp_statvfs *v);
struct sftp_statvfs sftp_statvfs_get(struct reader *r);

/* The first bytes of the two messages whose payload does not go through a struct buf; the sizes are those of the enum. */
void sftp_data_head(uint8_t head[SFTP_DATA_HEAD], uint32_t id, uint32_t data_bytes);
/* Head of a WRITE up to the data; returns its size. head holds SFTP_WRITE_HEAD_MAX bytes. */
enum { SFTP_WRITE_HEAD_MAX = 25 + SFTP_HANDLE_MAX };
size_t sftp_write_head(uint8_t *head, uint32_t id, struct view handle, uint64_t offset, uint32_t data_bytes);

uint32_t sftp_status_of_errno(int error);
/* For people: "no such file or directory", ... Never NULL. */
const char *sftp_status_text(uint32_t status);

/* open(2) flags of pflags; without READ and WRITE they open for reading. */
int sftp_flags_to_open(uint32_t pflags);

#endif
