/* Canonical names for SFTP's REALPATH: as realpath(3), but from the engine's own folder, and the last component need not
 * exist (clients ask for the name of a file they are about to create). */
#include "xfer/fileops.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

enum { LINKS_MAX = 40, NAME_LIMIT = 2 * PATH_MAX };

struct walk {
	char *done;      /* canonical so far, without a slash at the end; "" is the root */
	char *rest;      /* what is still to be walked */
	unsigned links;
};

static int fail(int error)
{
	errno = error;
	return -1;
}

static void drop_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash != NULL)
		*slash = '\0';
}

static void replace(char **slot, char *value)
{
	free(*slot);
	*slot = value;
}

/* done + "/" + name is a symbolic link: its target goes in front of the rest. */
static int follow(struct walk *w, const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof target - 1);

	if (n < 0)
		return -1;
	if (++w->links > LINKS_MAX)
		return fail(ELOOP);
	target[n] = '\0';
	if (n == 0)
		return fail(ENOENT);
	if (target[0] == '/')
		w->done[0] = '\0';
	replace(&w->rest, *w->rest == '\0' ? mem_strdup(target) : str_printf("%s/%s", target, w->rest));
	return strlen(w->rest) < NAME_LIMIT ? 0 : fail(ENAMETOOLONG);
}

static int step(struct walk *w)
{
	size_t n = strcspn(w->rest, "/");
	bool last = w->rest[n] == '\0';
	char *name = mem_strndup(w->rest, n), *path;
	struct stat st;
	int r = 0;

	replace(&w->rest, mem_strdup(w->rest + n + (last ? 0 : 1)));
	if (n == 0 || strcmp(name, ".") == 0) {
		free(name);
		return 0;
	}
	if (strcmp(name, "..") == 0) {
		free(name);
		drop_last(w->done);
		return 0;
	}
	path = str_printf("%s/%s", w->done, name);
	free(name);
	if (strlen(path) >= PATH_MAX)
		r = fail(ENAMETOOLONG);
	else if (lstat(path, &st) < 0)
		r = errno == ENOENT && last ? 0 : -1;
	else if (S_ISLNK(st.st_mode)) {
		r = follow(w, path);
		free(path);
		return r;
	} else if (!S_ISDIR(st.st_mode) && !last)
		r = fail(ENOTDIR);
	if (r == 0)
		replace(&w->done, path);
	else
		free(path);
	return r;
}

static char *base_folder(const struct fileops *f)
{
	char here[PATH_MAX];

	if (f->dir != AT_FDCWD && f->dir_path != NULL)
		return mem_strdup(f->dir_path);
	return getcwd(here, sizeof here) == NULL ? NULL : mem_strdup(here);
}

char *fileops_realpath(const struct fileops *f, const char *path)
{
	struct walk w = { 0 };
	int r = 0, saved;

	if (strlen(path) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	w.done = *path == '/' ? mem_strdup("") : base_folder(f);
	if (w.done == NULL)
		return NULL;
	if (strcmp(w.done, "/") == 0)
		w.done[0] = '\0';
	w.rest = mem_strdup(path);
	while (r == 0 && *w.rest != '\0')
		r = step(&w);
	saved = errno;
	free(w.rest);
	if (r == 0 && *w.done == '\0')
		replace(&w.done, mem_strdup("/"));
	if (r < 0) {
		free(w.done);
		w.done = NULL;
	}
	errno = saved;
	return w.done;
}
