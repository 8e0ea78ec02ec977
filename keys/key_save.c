/* keys/key_save.c: writing key files. */
#include "keys/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/str.h"
#include "crypto/rand.h"
#include "wire/buf.h"

static int write_all(int fd, const char *path, const struct buf *text, struct err *e)
{
	size_t done = 0;

	while (done < text->size) {
		ssize_t put = write(fd, text->data + done, text->size - done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return err_set_errno(e, "%s", path);
		done += (size_t)put;
	}
	return 0;
}

/* For what cannot be replaced: pipes and devices, and files in folders that the user may not write to. */
static int write_in_place(const char *path, mode_t mode, const struct buf *text, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, mode), rc;

	if (fd < 0)
		return err_set_errno(e, "%s", path);
	rc = write_all(fd, path, text, e);
	if (close(fd) != 0 && rc == 0)
		rc = err_set_errno(e, "%s", path);
	return rc;
}

/* A new file beside path; *name is allocated. The mode is under the umask, as for any new file. */
static int open_beside(const char *path, mode_t mode, char **name)
{
	for (int tries = 0; tries < 100; tries++) {
		int fd;

		*name = str_printf("%s.%08x", path, rand_u32());
		fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
		if (fd >= 0 || errno != EEXIST)
			return fd;
		free(*name);
	}
	*name = NULL;
	errno = EEXIST;
	return -1;
}

/* Root that changes a user's key must not take it away from him. */
static void keep_owner(int fd, const struct stat *old)
{
	if (old->st_uid != geteuid() || old->st_gid != getegid())
		if (fchown(fd, old->st_uid, old->st_gid) != 0)
			return;
}

/* The old file, if there is one, stays whole until the new one is complete on the disk. */
static int replace_file(const char *path, mode_t mode, const struct buf *text, const struct stat *old, struct err *e)
{
	char *beside;
	int fd = open_beside(path, mode, &beside), rc;

	if (fd < 0) {
		int why = errno;

		free(beside);
		errno = why;
		if (old != NULL && (why == EACCES || why == EPERM || why == EROFS))
			return write_in_place(path, mode, text, e);
		return err_set_errno(e, "%s", path);
	}
	if (old != NULL)
		keep_owner(fd, old);
	rc = write_all(fd, path, text, e);
	if (rc == 0 && fsync(fd) != 0)
		rc = err_set_errno(e, "%s", path);
	if (close(fd) != 0 && rc == 0)
		rc = err_set_errno(e, "%s", path);
	if (rc == 0 && rename(beside, path) != 0)
		rc = err_set_errno(e, "%s", path);
	if (rc != 0)
		unlink(beside);
	free(beside);
	return rc;
}

static int save(const char *path, mode_t mode, const struct buf *text, struct err *e)
{
	char *real = realpath(path, NULL);
	struct stat st;
	int rc;

	/* Through a symbolic link, so that it stays one. */
	if (real == NULL || stat(real, &st) != 0)
		rc = replace_file(path, mode, text, NULL, e);
	else if (!S_ISREG(st.st_mode))
		rc = write_in_place(path, mode, text, e);
	else
		rc = replace_file(real, mode, text, &st, e);
	free(real);
	return rc;
}

int key_private_save(const char *path, const struct key *k, const struct key_write_options *o, struct err *e)
{
	struct buf text = BUF_INIT(BUF_LIMIT_DEFAULT);
	int rc = key_private_write(k, o, &text, e);

	if (rc == 0)
		rc = save(path, 0600, &text, e);
	buf_free(&text);
	return rc;
}

int key_public_save(const char *path, const struct key *k, const char *comment, struct err *e)
{
	struct buf text = BUF_INIT(BUF_LIMIT_DEFAULT);
	char *line = key_public_line(k);
	int rc;

	buf_printf(&text, "%s", line);
	if (comment != NULL && *comment != '\0')
		buf_printf(&text, " %s", comment);
	buf_put_u8(&text, '\n');
	free(line);
	rc = buf_ok(&text) ? save(path, 0644, &text, e) : err_set(e, ERR_MEMORY, "%s: the comment is too long", path);
	buf_free(&text);
	return rc;
}
