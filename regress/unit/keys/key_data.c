/* regress/unit/keys/key_data.c: the files of data/. */
#include "key_data.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "keys/key_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

char *data_path(const char *name)
{
	const char *top = getenv("WS_SRC");

	return str_printf("%s/regress/unit/keys/data/%s", top != NULL ? top : ".", name);
}

char *data_read(const char *name, size_t *n)
{
	char *path = data_path(name), *text = NULL;
	struct err e = { 0 };

	if (path_read_file(path, 1 << 20, &text, n, &e) != 0)
		fail_msg("%s", err_text(&e));
	free(path);
	return text;
}

char *data_line(const char *name, size_t number)
{
	size_t n;
	char *text = data_read(name, &n), *s = text, *line;

	while (--number > 0)
		s = strchr(s, '\n') + 1;
	line = mem_strndup(s, strcspn(s, "\n"));
	free(text);
	return line;
}

struct key *data_public(const char *name)
{
	char *file = str_printf("%s.pub", name), *line = data_line(file, 1);
	struct err e = { 0 };
	struct key *k;

	if (key_public_parse(line, &k, NULL, &e) != 0)
		fail_msg("%s: %s", file, err_text(&e));
	free(file);
	free(line);
	return k;
}

struct key *data_private(const char *name)
{
	size_t n;
	char *text = data_read(name, &n);
	struct err e = { 0 };
	struct key *k;

	if (key_private_parse(text, n, NULL, &k, NULL, &e) != 0)
		fail_msg("%s: %s", name, err_text(&e));
	free(text);
	return k;
}

char *data_temp_dir(void)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = str_printf("%s/ws-keys.XXXXXX", tmp != NULL ? tmp : "/tmp");

	assert_non_null(mkdtemp(dir));
	return dir;
}

static void remove_tree(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *f;

	while (d != NULL && (f = readdir(d)) != NULL) {
		char *path = str_printf("%s/%s", dir, f->d_name);

		if (strcmp(f->d_name, ".") != 0 && strcmp(f->d_name, "..") != 0 && unlink(path) != 0)
			remove_tree(path);
		free(path);
	}
	if (d != NULL)
		closedir(d);
	rmdir(dir);
}

void data_remove_dir(char *dir)
{
	remove_tree(dir);
	free(dir);
}
