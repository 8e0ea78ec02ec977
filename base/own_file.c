/* base/own_file.c: small files of a user's own: read with suspicion, replaced whole. */
#include "base/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

char *own_file_cache_path(const char *home, const char *name)
{
	const char *cache = getenv("XDG_CACHE_HOME");

	/* The XDG base directory specification: a path that is not absolute is ignored. */
	if (cache != NULL && cache[0] == '/')
		return str_printf("%s/wirespeed/%s", cache, name);
	return home != NULL && home[0] == '/' ? str_printf("%s/.cache/wirespeed/%s", home, name) : NULL;
}

/* The folders above it are the user's business, as with known_hosts. */
int own_file_read(const char *path, size_t max, char **text, size_t *n, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), rc;
	struct stat st;

	if (fd < 0)
		return err_set_errno(e, "open");
	if (fstat(fd, &st) < 0)
		rc = err_set_errno(e, "stat");
	else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) != 0)
		rc = err_set(e, ERR_DENIED, "it is not a file of ours alone");
	else
		rc = path_read_fd(fd, max, text, n, e);
	close(fd);
	return rc;
}

/* The folders of path, the nearest two at most: the cache folder itself and ours in it. */
static int make_folders(const char *path, struct err *e)
{
	char *folder = mem_strdup(path), *parent, *slash = strrchr(folder, '/');
	int rc = 0;

	*slash = '\0';
	parent = mem_strdup(folder);
	slash = strrchr(parent, '/');
	if (slash != NULL && slash != parent) {
		*slash = '\0';
		rc = path_make_dir(parent, 0700, e);
	}
	if (rc == 0)
		rc = path_make_dir(folder, 0700, e);
	free(parent);
	free(folder);
	return rc;
}

static int write_all(int fd, const char *text, size_t n, struct err *e)
{
	while (n > 0) {
		ssize_t done = write(fd, text, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return err_set_errno(e, "write");
		text += done;
		n -= (size_t)done;
	}
	return 0;
}

int own_file_replace(const char *path, const char *text, struct err *e)
{
	int rc = make_folders(path, e), fd;
	char *new;

	if (rc < 0)
		return rc;
	new = str_printf("%s.XXXXXXXXXX", path);
	fd = mkostemp(new, O_CLOEXEC);   /* mode 0600 */
	if (fd < 0) {
		rc = err_set_errno(e, "%s", new);
		free(new);
		return rc;
	}
	rc = write_all(fd, text, strlen(text), e);
	if (close(fd) < 0 && rc == 0)
		rc = err_set_errno(e, "close");
	if (rc == 0 && rename(new, path) < 0)
		rc = err_set_errno(e, "rename");
	if (rc != 0)
		(void)unlink(new);
	free(new);
	return rc;
}
