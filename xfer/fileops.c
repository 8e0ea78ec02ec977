/* The file calls of the SFTP engines. */
#include "xfer/fileops.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

#ifndef O_PATH
#define O_PATH O_RDONLY
#endif

/* The kernel shows the umask without changing it. Where it does not, there is only the old way, at start. */
static mode_t read_process_umask(void)
{
	char *text = NULL;
	size_t n;
	const char *at;
	unsigned value = 0;
	mode_t mask;

	if (path_read_file("/proc/self/status", 64 * 1024, &text, &n, NULL) == 0) {
		at = strstr(text, "\nUmask:");
		if (at != NULL) {
			for (at += 7; *at == ' ' || *at == '\t'; at++)
				;
			for (; *at >= '0' && *at <= '7'; at++)
				value = value * 8 + (unsigned)(*at - '0');
			free(text);
			return (mode_t)(value & 0777);
		}
		free(text);
	}
	mask = umask(077);
	umask(mask);
	return mask;
}

int fileops_init(struct fileops *f, const char *start_dir, int umask_wanted, struct err *e)
{
	*f = (struct fileops){ .dir = AT_FDCWD };
	f->process_umask = read_process_umask();
	f->umask = umask_wanted >= 0 ? (mode_t)umask_wanted & 0777 : f->process_umask;
	if (start_dir == NULL)
		return 0;
	f->dir_path = fileops_realpath(f, start_dir);
	f->dir = open(start_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (f->dir < 0 || f->dir_path == NULL) {
		int r = err_set_errno(e, "start folder \"%s\"", start_dir);

		fileops_clear(f);
		return r;
	}
	return 0;
}

void fileops_clear(struct fileops *f)
{
	if (f->dir >= 0)
		close(f->dir);
	free(f->dir_path);
	f->dir = AT_FDCWD;
	f->dir_path = NULL;
}

/* True if the kernel's own masking gives what our umask asks for. Then the mode is passed whole: with a default ACL on the
 * folder the kernel does not use the umask at all, and must not find the mode cut down by us. */
static bool kernel_masks_right(const struct fileops *f) { return f->umask == f->process_umask; }

/* Bits that the mode should have but the process's umask takes away. */
static bool kernel_takes_too_much(const struct fileops *f, mode_t mode)
{
	return (mode & f->process_umask & ~f->umask) != 0;
}

int fileops_open(const struct fileops *f, const char *path, int flags, mode_t mode)
{
	int fd;

	flags |= O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	if (!(flags & O_CREAT) || kernel_masks_right(f))
		return openat(f->dir, path, flags, mode);
	mode &= ~f->umask;
	if (!kernel_takes_too_much(f, mode))
		return openat(f->dir, path, flags, mode);
	/* Only a file that is ours from its birth gets its mode set. */
	for (int tries = 0; tries < 100; tries++) {
		fd = openat(f->dir, path, flags | O_EXCL, mode);
		if (fd >= 0) {
			if (fchmod(fd, mode & 07777) < 0) {
				int saved = errno;

				close(fd);
				errno = saved;
				return -1;
			}
			return fd;
		}
		if (errno != EEXIST || flags & O_EXCL)
			return -1;
		fd = openat(f->dir, path, flags & ~O_CREAT, 0);
		if (fd >= 0 || errno != ENOENT)
			return fd;
		/* A dangling symbolic link: O_EXCL sees the link, opening sees nothing. The kernel creates what it points to. */
		struct stat st;
		if (fstatat(f->dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
			return openat(f->dir, path, flags, mode);
	}
	errno = EEXIST;
	return -1;
}

int fileops_mkdir(const struct fileops *f, const char *path, mode_t mode)
{
	if (kernel_masks_right(f))
		return mkdirat(f->dir, path, mode);
	mode &= ~f->umask;
	if (mkdirat(f->dir, path, mode) < 0)
		return -1;
	if (kernel_takes_too_much(f, mode)) {
		/* The setgid bit that the folder may have inherited stays. */
		int fd = openat(f->dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		struct stat st;

		if (fd >= 0) {
			if (fstat(fd, &st) == 0 && fchmod(fd, (mode & 07777) | (st.st_mode & S_ISGID)) < 0)
				errno = 0;      /* made, with fewer rights than asked for: not an error worth undoing it */
			close(fd);
		}
	}
	return 0;
}

int fileops_stat(const struct fileops *f, const char *path, bool follow, struct stat *st)
{
	return fstatat(f->dir, path, st, follow ? 0 : AT_SYMLINK_NOFOLLOW);
}

int fileops_fstatvfs(int fd, struct sftp_statvfs *v)
{
	struct statvfs s;

	if (fstatvfs(fd, &s) < 0)
		return -1;
	*v = (struct sftp_statvfs){
		.bsize = s.f_bsize, .frsize = s.f_frsize, .blocks = s.f_blocks, .bfree = s.f_bfree, .bavail = s.f_bavail,
		.files = s.f_files, .ffree = s.f_ffree, .favail = s.f_favail, .fsid = s.f_fsid,
		.flag = (s.f_flag & ST_RDONLY ? SFTP_STATVFS_RDONLY : 0u) | (s.f_flag & ST_NOSUID ? SFTP_STATVFS_NOSUID : 0u),
		.namemax = s.f_namemax,
	};
	return 0;
}

int fileops_statvfs(const struct fileops *f, const char *path, struct sftp_statvfs *v)
{
	int fd = openat(f->dir, path, O_PATH | O_CLOEXEC);
	int r, saved;

	if (fd < 0)
		return -1;
	r = fileops_fstatvfs(fd, v);
	saved = errno;
	close(fd);
	errno = saved;
	return r;
}

int fileops_unlink(const struct fileops *f, const char *path)
{
	return unlinkat(f->dir, path, 0);
}

int fileops_rmdir(const struct fileops *f, const char *path)
{
	return unlinkat(f->dir, path, AT_REMOVEDIR);
}

int fileops_rename(const struct fileops *f, const char *from, const char *to)
{
	return renameat(f->dir, from, f->dir, to);
}

/* Where link(2) is not to be had, and for folders, there is a moment between the look and the move. */
static int rename_after_look(const struct fileops *f, const char *from, const char *to)
{
	struct stat st;

	if (fstatat(f->dir, to, &st, 0) == 0) {
		errno = EEXIST;
		return -1;
	}
	return fileops_rename(f, from, to);
}

int fileops_rename_new(const struct fileops *f, const char *from, const char *to)
{
	struct stat st;

	if (fstatat(f->dir, from, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (!S_ISREG(st.st_mode))
		return rename_after_look(f, from, to);
	if (linkat(f->dir, from, f->dir, to, 0) < 0) {
		if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EXDEV || errno == EMLINK || errno == EPERM)
			return rename_after_look(f, from, to);
		return -1;
	}
	if (unlinkat(f->dir, from, 0) < 0) {
		int saved = errno;

		if (unlinkat(f->dir, to, 0) < 0)
			saved = errno;
		errno = saved;
		return -1;
	}
	return 0;
}

int fileops_link(const struct fileops *f, const char *from, const char *to)
{
	return linkat(f->dir, from, f->dir, to, 0);
}

int fileops_symlink(const struct fileops *f, const char *target, const char *path)
{
	return symlinkat(target, f->dir, path);
}

ssize_t fileops_readlink(const struct fileops *f, const char *path, char *dst, size_t size)
{
	ssize_t n = readlinkat(f->dir, path, dst, size);

	if (n >= 0 && (size_t)n >= size) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (n >= 0)
		dst[n] = '\0';
	return n;
}

int fileops_opendir(const struct fileops *f, const char *path)
{
	return openat(f->dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
}

static void times_of(const struct sftp_attrs *a, struct timespec ts[2])
{
	ts[0] = (struct timespec){ .tv_sec = (time_t)a->atime };
	ts[1] = (struct timespec){ .tv_sec = (time_t)a->mtime };
}

static int truncate_at(const struct fileops *f, const char *path, uint64_t size)
{
	int fd = openat(f->dir, path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int r, saved;

	if (fd < 0)
		return -1;
	r = ftruncate(fd, (off_t)size);
	saved = errno;
	close(fd);
	errno = saved;
	return r;
}

int fileops_setstat(const struct fileops *f, const char *path, bool follow, const struct sftp_attrs *a)
{
	int at = follow ? 0 : AT_SYMLINK_NOFOLLOW, error = 0;
	struct timespec ts[2];

	if (a->flags & SFTP_ATTR_SIZE) {
		if (!follow)
			error = EINVAL;         /* a link has no size to set */
		else if (a->size > INT64_MAX)
			error = EINVAL;
		else if (truncate_at(f, path, a->size) < 0)
			error = errno;
	}
	if (a->flags & SFTP_ATTR_MODE && fchmodat(f->dir, path, a->mode & 07777, at) < 0)
		error = errno;
	if (a->flags & SFTP_ATTR_TIMES) {
		times_of(a, ts);
		if (utimensat(f->dir, path, ts, at) < 0)
			error = errno;
	}
	if (a->flags & SFTP_ATTR_UIDGID && fchownat(f->dir, path, a->uid, a->gid, at) < 0)
		error = errno;
	return error;
}

int fileops_fsetstat(int fd, const struct sftp_attrs *a)
{
	int error = 0;
	struct timespec ts[2];

	if (a->flags & SFTP_ATTR_SIZE) {
		if (a->size > INT64_MAX)
			error = EINVAL;
		else if (ftruncate(fd, (off_t)a->size) < 0)
			error = errno;
	}
	if (a->flags & SFTP_ATTR_MODE && fchmod(fd, a->mode & 07777) < 0)
		error = errno;
	if (a->flags & SFTP_ATTR_TIMES) {
		times_of(a, ts);
		if (futimens(fd, ts) < 0)
			error = errno;
	}
	if (a->flags & SFTP_ATTR_UIDGID && fchown(fd, a->uid, a->gid) < 0)
		error = errno;
	return error;
}

ssize_t fileops_preadv(int fd, const struct iovec *iov, int count, off_t offset)
{
	struct iovec part[IOV_MAX > 64 ? 64 : IOV_MAX];
	size_t done = 0, skip = 0;

	while (count > 0) {
		int k = count < (int)MEM_COUNT(part) ? count : (int)MEM_COUNT(part);
		ssize_t n;

		memcpy(part, iov, (size_t)k * sizeof part[0]);
		part[0].iov_base = (uint8_t *)part[0].iov_base + skip;
		part[0].iov_len -= skip;
		n = preadv(fd, part, k, offset + (off_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return done > 0 ? (ssize_t)done : -1;
		done += (size_t)n;
		if (n == 0) {
			bool nothing_wanted = true;

			for (int i = 0; i < k; i++)
				nothing_wanted = nothing_wanted && part[i].iov_len == 0;
			if (!nothing_wanted)
				break;
		}
		for (skip += (size_t)n; count > 0 && skip >= iov->iov_len; iov++, count--)
			skip -= iov->iov_len;
	}
	return (ssize_t)done;
}

int fileops_pwrite(int fd, const void *p, size_t n, off_t offset, bool append)
{
	const uint8_t *at = p;

	while (n > 0) {
		ssize_t k = append ? write(fd, at, n) : pwrite(fd, at, n, offset);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -1;
		if (k == 0) {
			errno = EIO;
			return -1;
		}
		at += k;
		offset += k;
		n -= (size_t)k;
	}
	return 0;
}

/* Through memory, when the kernel does not copy between these two. */
static int copy_through_memory(struct fileops_copy *c, size_t n)
{
	enum { CHUNK = 128 * 1024 };
	uint8_t *chunk = mem_alloc(CHUNK);
	int result = 1;

	while (n > 0 && c->left > 0) {
		size_t want = n < CHUNK ? n : CHUNK;
		struct iovec iov = { chunk, c->left < want ? (size_t)c->left : want };
		ssize_t got = fileops_preadv(c->from, &iov, 1, c->from_offset);

		if (got <= 0) {
			result = (int)got;
			break;
		}
		if (fileops_pwrite(c->to, chunk, (size_t)got, c->to_offset, c->append) < 0) {
			result = -1;
			break;
		}
		c->from_offset += got;
		c->to_offset += got;
		c->left -= (uint64_t)got;
		n -= (size_t)got;
	}
	mem_free_secret(chunk, CHUNK);
	return result == 1 && c->left == 0 ? 0 : result;
}

int fileops_copy_slice(struct fileops_copy *c, size_t slice)
{
	if (c->left == 0)
		return 0;
#ifdef HAVE_COPY_FILE_RANGE
	if (!c->append && !c->no_kernel_copy) {
		size_t want = c->left < slice ? (size_t)c->left : slice;
		ssize_t n = copy_file_range(c->from, &c->from_offset, c->to, &c->to_offset, want, 0);

		if (n > 0) {
			c->left -= (uint64_t)n;
			return c->left > 0;
		}
		/* 0 is the end of the file, or a file system (proc) that cannot tell: reading will show. Most errors mean "not
		 * between these"; a real one comes again below. */
		c->no_kernel_copy = true;
	}
#endif
	return copy_through_memory(c, slice);
}
