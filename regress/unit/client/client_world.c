/* regress/unit/client/client_world.c */
#include "client_world.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const char askpass[] =
	"#!/bin/sh\n"
	"dir=${0%/*}\n"
	"printf '%s\\n--\\n' \"$1\" >>\"$dir/questions\"\n"
	"[ -s \"$dir/answers\" ] || exit 1\n"
	"head -n 1 \"$dir/answers\"\n"
	"tail -n +2 \"$dir/answers\" >\"$dir/answers.new\"\n"
	"mv \"$dir/answers.new\" \"$dir/answers\"\n";

char *client_world_path(const struct client_world *w, const char *name)
{
	return str_printf("%s/%s", w->dir, name);
}

void client_world_write(const struct client_world *w, const char *name, const char *text, unsigned mode)
{
	char *path = client_world_path(w, name);
	FILE *f;

	unlink(path);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
	free(path);
}

char *client_world_read(const struct client_world *w, const char *name)
{
	char *path = client_world_path(w, name), *text = NULL;
	size_t n;

	if (path_read_file(path, 1024 * 1024, &text, &n, NULL) != 0)
		text = mem_strdup("");
	free(path);
	return text;
}

static void sink(void *ctx, enum log_level level, const char *line)
{
	struct client_world *w = ctx;

	buf_printf(&w->log, "%s %s\n", log_level_name(level), line);
}

void client_world_log_clear(struct client_world *w)
{
	buf_reset(&w->log);
}

bool client_world_logged(struct client_world *w, const char *text)
{
	return strstr(buf_cstr(&w->log), text) != NULL;
}

void client_world_init(struct client_world *w)
{
	char dir[] = "/tmp/ws-client.XXXXXX", *path;

	memset(w, 0, sizeof(*w));
	assert_non_null(mkdtemp(dir));
	w->dir = mem_strdup(dir);
	buf_init(&w->log, 4 * 1024 * 1024);
	log_init("test", LOG_LEVEL_DEBUG3);
	log_to_sink(sink, w);
	client_world_write(w, "askpass", askpass, 0700);
	path = client_world_path(w, "askpass");
	setenv("SSH_ASKPASS", path, 1);
	setenv("SSH_ASKPASS_REQUIRE", "force", 1);
	unsetenv("SSH_AUTH_SOCK");
	free(path);
	w->who = (struct client_subject){ .host_arg = "host.example", .local_user = "me", .home = w->dir, .uid = getuid() };
	client_options_init(&w->options);
}

static void remove_tree(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *entry;

	if (d != NULL) {
		while ((entry = readdir(d)) != NULL) {
			char *below = str_printf("%s/%s", path, entry->d_name);

			if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
				remove_tree(below);
			free(below);
		}
		closedir(d);
		rmdir(path);
		return;
	}
	unlink(path);
}

void client_world_clear(struct client_world *w)
{
	client_options_clear(&w->options);
	remove_tree(w->dir);
	free(w->dir);
	log_to_stderr();
	log_set_level(LOG_LEVEL_QUIET);
	buf_free(&w->log);
}

void client_world_options(struct client_world *w, const char *lines)
{
	char *copy = mem_strdup(lines), *rest = copy, *line;
	struct err e = { 0 };

	client_options_clear(&w->options);
	client_options_init(&w->options);
	while ((line = strsep(&rest, "\n")) != NULL)
		if (client_options_line(&w->options, line, &e) != 0)
			fail_msg("%s: %s", line, err_text(&e));
	free(copy);
	assert_int_equal(client_options_fill(&w->options, &w->who, &e), 0);
	assert_int_equal(client_options_expand_hostname(&w->options, &w->who, &e), 0);
	client_tokens_fill(&w->tokens, &w->options, &w->who);
	if (client_options_expand(&w->options, &w->tokens, &e) != 0)
		fail_msg("%s", err_text(&e));
}

void client_world_answers(struct client_world *w, const char *answers)
{
	client_world_write(w, "answers", answers, 0600);
}

char *client_world_questions(struct client_world *w)
{
	char *text = client_world_read(w, "questions");

	client_world_write(w, "questions", "", 0600);
	return text;
}

int client_world_setup(void **state)
{
	struct client_world *w = mem_zalloc(sizeof(*w));

	client_world_init(w);
	*state = w;
	return 0;
}

int client_world_teardown(void **state)
{
	client_world_clear(*state);
	free(*state);
	return 0;
}
