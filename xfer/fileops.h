/* xfer/fileops.h: the file calls of both SFTP engines. Paths are taken from a base folder and modes are given explicitly:
 * the process's own folder and umask are never changed, for other sessions live in the same process.
 *
 * Calls return what the system's do (-1 and errno), since statuses are made of errno. None of them touches anything but
 * its arguments, so they may run on the helper thread. None follows into a wait: files are opened so that a fifo without
 * a partner, or a terminal, blocks nobody. */
#ifndef XFER_FILEOPS_H
#define XFER_FILEOPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include "base/err.h"
#include "xfer/sftp_proto.h"

struct fileops {
	int dir;                 /* AT_FDCWD, or a descriptor of the start folder */
	char *dir_path;          /* its absolute name; NULL with AT_FDCWD */
	mode_t umask;            /* the one to obey */
	mode_t process_umask;    /* the one that the kernel obeys anyway */
};
/* start_dir NULL: the process's folder. umask -1: the process's. A start_dir that cannot be opened is an error and leaves
 * the process's folder in use. */
int fileops_init(struct fileops *f, const char *start_dir, int umask, struct err *e) MUST_USE;
void fileops_clear(struct fileops *f);

/* Opens with O_CLOEXEC, O_NOCTTY and O_NONBLOCK. A file that this call created has mode & ~umask. */
int fileops_open(const struct fileops *f, const char *path, int flags, mode_t mode) MUST_USE;
int fileops_mkdir(const struct fileops *f, const char *path, mode_t mode) MUST_USE;
int fileops_stat(const struct fileops *f, const char *path, bool follow, struct stat *st) MUST_USE;
int fileops_statvfs(const struct fileops *f, const char *path, struct sftp_statvfs *v) MUST_USE;
int fileops_fstatvfs(int fd, struct sftp_statvfs *v) MUST_USE;
int fileops_unlink(const struct fileops *f, const char *path) MUST_USE;
int fileops_rmdir(const struct fileops *f, const char *path) MUST_USE;
/* Fails with EEXIST when there is something at `to`; files are linked and unlinked, so that nothing can slip in between. */
int fileops_rename_new(const struct fileops *f, const char *from, const char *to) MUST_USE;
int fileops_rename(const struct fileops *f, const char *from, const char *to) MUST_USE;     /* replaces */
int fileops_link(const struct fileops *f, const char *from, const char *to) MUST_USE;
int fileops_symlink(const struct fileops *f, const char *target, const char *path) MUST_USE;
/* The target, terminated; size > 0. Returns its length, or -1 (ENAMETOOLONG if it does not fit). */
ssize_t fileops_readlink(const struct fileops *f, const char *path, char *dst, size_t size) MUST_USE;
/* An open folder (dirfd of a DIR). */
int fileops_opendir(const struct fileops *f, const char *path) MUST_USE;
/* Canonical absolute name: "" is ".", the last component may be missing. Allocated; NULL and errno. */
char *fileops_realpath(const struct fileops *f, const char *path) MUST_USE;

/* What is set of an ATTRS, in the order size, mode, times, owner. All are tried; the errno of the last one that failed, 0 if
 * none did. */
int fileops_setstat(const struct fileops *f, const char *path, bool follow, const struct sftp_attrs *a) MUST_USE;
int fileops_fsetstat(int fd, const struct sftp_attrs *a) MUST_USE;

/* Reads until all spaces are full or the file ends. Bytes read; -1 only if there was an error before the first of them. */
ssize_t fileops_preadv(int fd, const struct iovec *iov, int count, off_t offset) MUST_USE;
/* Writes all: 0 or -1. append: at the end, offset is ignored. */
int fileops_pwrite(int fd, const void *p, size_t n, off_t offset, bool append) MUST_USE;

/* Copies up to *left bytes, at most about `slice`, between files of this machine; advances all three. 1 when there may be
 * more, 0 when *left is 0 or the source ended, -1 on an error. */
struct fileops_copy { int from, to; off_t from_offset, to_offset; uint64_t left; bool append, no_kernel_copy; };
int fileops_copy_slice(struct fileops_copy *c, size_t slice) MUST_USE;

#endif
