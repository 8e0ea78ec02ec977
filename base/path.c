/* base/path.c: file names: ~, percent tokens, ${ENV}, and whether a file may be trusted. */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

/* A text that grows. Expansions of configuration are small; what they may become is bounded all the same. */
enum { PATH_EXPANDED_MAX = 64 * 1024 };

struct path_text {
	char *s;
	size_t n, room;
};

static int path_text_add(struct path_text *t, const char *s, size_t n, struct err *e)
{
	if (n > PATH_EXPANDED_MAX - t->n)
		return err_set(e, ERR_MEMORY, "text becomes too long when expanded");
	if (t->s == NULL || n >= t->room - t->n) {
		t->room = (t->n + n + 1) * 2;
		t->s = mem_resize(t->s, t->room, 1);
	}
	if (n != 0)
		memcpy(t->s + t->n, s, n);
	t->n += n;
	t->s[t->n] = '\0';
	return 0;
}

static char *path_text_drop(struct path_text *t)
{
	free(t->s);
	return NULL;
}

char *path_expand_tilde(const char *path, const char *home, struct err *e)
{
	const struct passwd *pw;
	char *user, *out;
	const char *rest;
	size_t n;

	if (path[0] != '~')
		return mem_strdup(path);
	n = strcspn(path + 1, "/");
	rest = path + 1 + n;
	if (n != 0) {
		user = mem_strndup(path + 1, n);
		pw = getpwnam(user);
		if (pw == NULL)
			err_set(e, ERR_NONE_FOUND, "no user %s, so %s cannot be expanded", user, path);
		free(user);
		if (pw == NULL)
			return NULL;
		home = pw->pw_dir;
	}
	if (home == NULL) {
		err_set(e, ERR_NONE_FOUND, "no home folder, so %s cannot be expanded", path);
		return NULL;
	}
	/* "/" as home: "~/x" is "/x", not "//x". */
	if (*rest == '/' && str_ends(home, "/"))
		rest++;
	out = str_printf("%s%s", home, rest);
	if (strlen(out) >= PATH_MAX) {
		err_set(e, ERR_USAGE, "file name too long: %.100s...", path);
		free(out);
		return NULL;
	}
	return out;
}

static const char *path_token_value(const struct path_token *tokens, char letter, struct err *e, const char *s)
{
	const struct path_token *t;

	if (letter == '%')
		return "%";
	for (t = tokens; t != NULL && t->letter != '\0' && letter != '\0'; t++) {
		if (t->letter != letter)
			continue;
		if (t->value == NULL)
			err_set(e, ERR_USAGE, "%%%c is not known here, in \"%s\"", letter, s);
		return t->value;
	}
	if (letter == '\0')
		err_set(e, ERR_USAGE, "a single %% ends \"%s\"", s);
	else
		err_set(e, ERR_USAGE, "unknown token %%%c in \"%s\"", letter, s);
	return NULL;
}

char *path_expand_tokens(const char *s, const struct path_token *tokens, struct err *e)
{
	struct path_text t = { 0 };
	const char *p = s, *value;
	size_t n;

	if (path_text_add(&t, "", 0, e) != 0)
		return path_text_drop(&t);
	while (*p != '\0') {
		n = strcspn(p, "%");
		if (path_text_add(&t, p, n, e) != 0)
			return path_text_drop(&t);
		p += n;
		if (*p == '\0')
			break;
		value = path_token_value(tokens, p[1], e, s);
		if (value == NULL || path_text_add(&t, value, strlen(value), e) != 0)
			return path_text_drop(&t);
		p += 2;
	}
	return t.s;
}

char *path_expand_env(const char *s, struct err *e)
{
	struct path_text t = { 0 };
	const char *p = s, *at, *end, *value;
	char *name;

	while ((at = strstr(p, "${")) != NULL) {
		if (path_text_add(&t, p, (size_t)(at - p), e) != 0)
			return path_text_drop(&t);
		end = strchr(at, '}');
		if (end == NULL || end == at + 2) {
			err_set(e, ERR_USAGE, "bad ${...} in \"%s\"", s);
			return path_text_drop(&t);
		}
		name = mem_strndup(at + 2, (size_t)(end - at - 2));
		value = getenv(name);
		if (value == NULL)
			err_set(e, ERR_NONE_FOUND, "environment variable ${%s} is not set", name);
		free(name);
		if (value == NULL || path_text_add(&t, value, strlen(value), e) != 0)
			return path_text_drop(&t);
		p = end + 1;
	}
	if (path_text_add(&t, p, strlen(p), e) != 0)
		return path_text_drop(&t);
	return t.s;
}

static bool path_mode_is_safe(const struct stat *st, uid_t uid)
{
	return (st->st_uid == 0 || st->st_uid == uid) && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* The folders above real (which is absolute and free of links, and is cut down on the way). */
static int path_check_parents(char *real, uid_t uid, const char *real_home, struct err *e)
{
	struct stat st;
	char *slash;

	do {
		slash = strrchr(real, '/');
		if (slash == NULL)
			return err_set(e, ERR_DENIED, "bad file name");
		slash[slash == real ? 1 : 0] = '\0';
		if (stat(real, &st) != 0)
			return err_set_errno(e, "cannot look at directory %s", real);
		if (!path_mode_is_safe(&st, uid))
			return err_set(e, ERR_DENIED, "bad ownership or modes for directory %s", real);
		/* Above home there is nothing that the user could answer for. */
	} while (strcmp(real, "/") != 0 && (real_home == NULL || strcmp(real, real_home) != 0));
	return 0;
}

int path_check_secure(int fd, const char *path, uid_t uid, const char *home, struct err *e)
{
	struct stat st;
	char *real, *real_home;
	int r;

	if (fstat(fd, &st) != 0)
		return err_set_errno(e, "cannot look at %s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_DENIED, "%s is not a regular file", path);
	if (!path_mode_is_safe(&st, uid))
		return err_set(e, ERR_DENIED, "bad ownership or modes for file %s", path);
	real = realpath(path, NULL);
	if (real == NULL)
		return err_set_errno(e, "cannot resolve %s", path);
	real_home = home != NULL ? realpath(home, NULL) : NULL;
	r = path_check_parents(real, uid, real_home, e);
	free(real);
	free(real_home);
	return r;
}

/* Grows by copying, so that no part of a key file stays behind in freed memory. */
static char *path_grow_secret(char *old, size_t used, size_t old_room, size_t room)
{
	char *p = mem_try(room);

	if (p != NULL && used != 0)
		memcpy(p, old, used);
	mem_free_secret(old, old_room);
	return p;
}

int path_read_fd(int fd, size_t max, char **data, size_t *n, struct err *e)
{
	size_t used = 0, room = 4096, next;
	char *p = mem_alloc(room);
	ssize_t r;

	for (;;) {
		if (used > max) {
			mem_free_secret(p, room);
			return err_set(e, ERR_MEMORY, "larger than %zu bytes", max);
		}
		if (room - used < 2) {
			next = room * 2;
			p = path_grow_secret(p, used, room, next);
			if (p == NULL)
				return err_set(e, ERR_MEMORY, "no memory for %zu bytes", next);
			room = next;
		}
		r = read(fd, p + used, room - used - 1);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0) {
			err_set_errno(e, "read");
			mem_free_secret(p, room);
			return ERR_IO;
		}
		if (r == 0)
			break;
		used += (size_t)r;
	}
	p[used] = '\0';
	*data = p;
	*n = used;
	return 0;
}

int path_read_file(const char *path, size_t max, char **data, size_t *n, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct err why = { 0 };
	int r;

	if (fd < 0)
		return err_set_errno(e, "%s", path);
	r = path_read_fd(fd, max, data, n, &why);
	close(fd);
	if (r != 0)
		err_set(e, r, "%s: %s", path, err_text(&why));
	return r;
}

int path_make_dir(const char *path, mode_t mode, struct err *e)
{
	struct stat st;

	if (mkdir(path, mode) == 0)
		return 0;
	if (errno == EEXIST && stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return 0;
		errno = ENOTDIR;
	}
	return err_set_errno(e, "cannot create directory %s", path);
}

char *path_absolute(const char *s)
{
	char cwd[PATH_MAX];

	if (s[0] == '/' || getcwd(cwd, sizeof(cwd)) == NULL)
		return mem_strdup(s);
	return str_printf("%s%s%s", cwd, str_ends(cwd, "/") ? "" : "/", s);
}

const char *path_base_name(const char *s)
{
	const char *slash = strrchr(s, '/');

	return slash != NULL ? slash + 1 : s;
}
