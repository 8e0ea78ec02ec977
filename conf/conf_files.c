/* conf/conf_files.c: the files that a configuration consists of. */
#include "conf/conf_files.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"

#ifndef GLOB_TILDE
#define GLOB_TILDE 0
#endif

static struct conf_file *source_find(struct conf_source *s, const char *path)
{
	size_t i;

	for (i = 0; i < s->file_count; i++)
		if (strcmp(s->files[i].path, path) == 0)
			return &s->files[i];
	return NULL;
}

void conf_source_add_file(struct conf_source *s, const char *path, const char *text, size_t size)
{
	if (s->file_count == s->file_room) {
		s->file_room = s->file_room * 2 + 4;
		s->files = mem_resize(s->files, s->file_room, sizeof(*s->files));
	}
	s->files[s->file_count++] = (struct conf_file){
		.path = mem_strdup(path), .text = mem_strndup(text, size), .size = size
	};
}

void conf_source_add_glob(struct conf_source *s, const char *pattern, const struct str_list *paths)
{
	struct conf_glob *g;

	if (s->glob_count == s->glob_room) {
		s->glob_room = s->glob_room * 2 + 4;
		s->globs = mem_resize(s->globs, s->glob_room, sizeof(*s->globs));
	}
	g = &s->globs[s->glob_count++];
	*g = (struct conf_glob){ .pattern = mem_strdup(pattern) };
	str_list_copy(&g->paths, paths);
}

/* Someone else's file could make us run that person's commands (ProxyCommand, Match exec). */
static int source_check_owner(int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return err_set_errno(e, "%s", path);
	if ((st.st_uid != 0 && st.st_uid != getuid()) || (st.st_mode & 022) != 0)
		return err_set(e, ERR_DENIED, "Bad owner or permissions on %s", path);
	return 0;
}

static int source_open(const char *path, bool check_owner, int *fd, struct err *e)
{
	int r = 0;

	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (*fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return err_set(e, ERR_NONE_FOUND, "%s: %s", path, strerror(errno));
	if (*fd < 0)
		return err_set_errno(e, "%s", path);
	if (check_owner)
		r = source_check_owner(*fd, path, e);
	if (r != 0)
		close(*fd);
	return r;
}

static size_t line_of(const char *text, const char *at)
{
	size_t number = 1;

	for (; text < at; text++)
		number += *text == '\n';
	return number;
}

static int source_load(struct conf_source *s, const char *path, int fd, struct err *e)
{
	struct stat st;
	char *text = NULL;
	const char *zero;
	size_t n = 0;
	int r;

	if (s->file_count >= CONF_FILES_MAX)
		return err_set(e, ERR_MEMORY, "%s: too many configuration files", path);
	if (fstat(fd, &st) != 0)
		return err_set_errno(e, "%s", path);
	if (S_ISDIR(st.st_mode)) {
		conf_source_add_file(s, path, "", 0);
		return 0;
	}
	r = path_read_fd(fd, CONF_FILE_MAX, &text, &n, e);
	if (r != 0) {
		err_prefix(e, "%s", path);
		return r;
	}
	/* Whatever stands behind a NUL would be lost without a word, a restriction perhaps. */
	if ((zero = memchr(text, '\0', n)) != NULL)
		r = err_set(e, ERR_USAGE, "%s line %zu: is not a text file: it holds a zero byte", path, line_of(text, zero));
	else
		conf_source_add_file(s, path, text, n);
	free(text);
	return r;
}

int conf_source_read(struct conf_source *s, const char *path, bool check_owner, const char **text, struct err *e)
{
	struct conf_file *f = source_find(s, path);
	int fd, r;

	if (f != NULL && (s->sealed || f->checked || !check_owner)) {
		*text = f->text;
		return 0;
	}
	if (s->sealed)
		return err_set(e, ERR_NONE_FOUND, "%s: is not among the files that were read", path);
	r = source_open(path, check_owner, &fd, e);
	if (r != 0)
		return r;
	/* A file that is there already may be the one that is being read right now: its text stays. */
	if (f == NULL)
		r = source_load(s, path, fd, e);
	close(fd);
	if (r != 0)
		return r;
	f = source_find(s, path);
	f->checked |= check_owner;
	*text = f->text;
	return 0;
}

static int source_run_glob(const char *pattern, bool tilde, struct str_list *paths, struct err *e)
{
	glob_t g = { 0 };
	size_t i;
	int r;

	r = glob(pattern, tilde ? GLOB_TILDE : 0, NULL, &g);
	if (r == 0)
		for (i = 0; i < g.gl_pathc; i++)
			str_list_add(paths, g.gl_pathv[i]);
	globfree(&g);
	if (r != 0 && r != GLOB_NOMATCH)
		return err_set(e, ERR_IO, "%s: cannot be looked up", pattern);
	return 0;
}

int conf_source_glob(struct conf_source *s, const char *pattern, bool tilde, const struct str_list **paths,
	struct err *e)
{
	struct str_list found = { 0 };
	size_t i;
	int r;

	for (i = 0; i < s->glob_count; i++) {
		if (strcmp(s->globs[i].pattern, pattern) == 0) {
			*paths = &s->globs[i].paths;
			return 0;
		}
	}
	if (s->sealed)
		return err_set(e, ERR_NONE_FOUND, "%s: was not looked up when the files were read", pattern);
	r = source_run_glob(pattern, tilde, &found, e);
	if (r == 0) {
		conf_source_add_glob(s, pattern, &found);
		*paths = &s->globs[s->glob_count - 1].paths;
	}
	str_list_clear(&found);
	return r;
}

void conf_source_clear(struct conf_source *s)
{
	size_t i;

	for (i = 0; i < s->file_count; i++) {
		free(s->files[i].path);
		free(s->files[i].text);
	}
	for (i = 0; i < s->glob_count; i++) {
		free(s->globs[i].pattern);
		str_list_clear(&s->globs[i].paths);
	}
	free(s->files);
	free(s->globs);
	*s = (struct conf_source){ 0 };
}
