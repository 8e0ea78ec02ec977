/* server/usession_sftp.c: SFTP inside the user process (SECURITY.md): no child, no pipe. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "io/loop.h"
#include "io/worker.h"
#include "paths.h"
#include "platform/fskind.h"
#include "server/usession_private.h"
#include "xfer/sftp_server.h"

#define OWN_SFTP_SERVER PATH_LIBEXECDIR "/sftp-server"
enum { ARGS_MAX = 64 };

/* Words of a command that has no shell in it; false if it has, or has too many. Quotes hold words together. The words are cut
 * out of text, which is changed. */
static bool split_words(char *text, char *argv[ARGS_MAX + 1], int *argc)
{
	static const char shell_signs[] = "|&;<>()$`\\#*?[]{}!\n";

	*argc = 0;
	if (strpbrk(text, shell_signs) != NULL)
		return false;
	for (char *p = text;;) {
		char *to;

		while (*p == ' ' || *p == '\t')
			p++;
		if (*p == '\0')
			break;
		if (*argc == ARGS_MAX)
			return false;
		argv[(*argc)++] = to = p;
		while (*p != '\0' && *p != ' ' && *p != '\t') {
			char quote = *p;

			if (quote != '"' && quote != '\'') {
				*to++ = *p++;
				continue;
			}
			for (p++; *p != '\0' && *p != quote; p++)
				*to++ = *p;
			if (*p++ == '\0')
				return false;
		}
		if (*p != '\0')
			p++;
		*to = '\0';
	}
	argv[*argc] = NULL;
	return *argc > 0;
}

/* A user whose shell is no login shell may not get round it by SFTP: rssh, nologin, git-shell and the like. */
static bool shell_is_permitted(const char *shell)
{
	bool found = false;
	const char *s;

	setusershell();
	while (!found && (s = getusershell()) != NULL)
		found = strcmp(s, shell) == 0 && strstr(shell, "nologin") == NULL && strcmp(path_base_name(shell), "false") != 0;
	endusershell();
	return found;
}

static bool is_ours(const struct usession *s, const char *program)
{
	/* What the administrator wrote; from a client it is a word for the user's shell, which may run nothing, or certain things only. */
	if (strcmp(program, "internal-sftp") == 0)
		return s->is_subsystem || s->forced;
	/* Only as the subsystem: an exec of the same path is the user's own business. */
	return s->is_subsystem && strcmp(program, OWN_SFTP_SERVER) == 0 && shell_is_permitted(s->u->setup.shell);
}

static void sftp_ended(void *ctx)
{
	struct usession *s = ctx;

	usession_sftp_free(s);
	usession_send_status(s, (uint32_t)s->sftp_status);
	s->exited = s->sources_ended = true;
	usession_finish_when_done(s);
}

/* Called from inside the engine: it is freed from the loop. */
static void sftp_done(void *ctx, int status)
{
	struct usession *s = ctx;

	s->sftp_status = status;
	loop_defer(s->u->loop, sftp_ended, s);
}

void usession_sftp_free(struct usession *s)
{
	if (s->sftp == NULL)
		return;
	loop_defer_cancel(s->u->loop, sftp_ended, s);
	sftp_server_free(s->sftp);
	s->sftp = NULL;
}

void usession_sftp_share(const struct user *u)
{
	for (struct usession *s = u->sessions; s != NULL; s = s->next)
		if (s->sftp != NULL)
			sftp_server_set_slow(s->sftp, s->sftp_may_block || u->session_count > 1);
}

static bool start_sftp(struct usession *s, const struct sftp_server_options *o)
{
	struct user *u = s->u;
	struct err e = { 0 };
	struct link *link;

	if (u->worker == NULL)
		u->worker = worker_new(u->loop, &e);     /* NULL: all calls are made directly */
	link = channel_link(s->c, -1);
	s->sftp = sftp_server_new(u->loop, link, u->worker, o, sftp_done, s);
	return s->sftp != NULL;
}

/* "%d" and the like of -d are known here. */
static char *expand_start(const struct usession *s, const char *start)
{
	char uid[32];
	const struct user_setup *setup = &s->u->setup;
	struct path_token tokens[] = { { 'd', setup->home }, { 'u', setup->user }, { 'U', uid }, { 0, NULL } };
	struct err e = { 0 };
	char *tilde, *path;

	(void)snprintf(uid, sizeof(uid), "%lu", (unsigned long)setup->uid);
	if (start == NULL)       /* where a shell would have been */
		return mem_strdup(access(setup->home, X_OK) == 0 ? setup->home : "/");
	tilde = path_expand_tilde(start, setup->home, &e);
	path = tilde != NULL ? path_expand_tokens(tilde, tokens, &e) : NULL;
	free(tilde);
	if (path == NULL)
		log_error("internal-sftp: -d %s: %s", start, err_text(&e));
	return path != NULL ? path : mem_strdup(setup->home);
}

bool usession_try_sftp(struct usession *s, const char *command)
{
	struct sftp_server_options o = { .umask = -1, .log_level = LOG_LEVEL_ERROR };
	char *text = mem_strdup(command), *argv[ARGS_MAX + 1], *start;
	int argc, facility = -1;
	bool to_stderr = false, started;
	struct err e = { 0 };

	if (!split_words(text, argv, &argc) || !is_ours(s, argv[0])) {
		free(text);
		return false;
	}
	if (sftp_server_parse_args(argc, argv, &o, &facility, &to_stderr, &e) < 0) {
		bool internal = strcmp(argv[0], "internal-sftp") == 0;

		free(text);
		if (!internal)
			return false;    /* the program itself may know better */
		usession_fail(s, 1, "internal-sftp: %s\n", err_text(&e));
		return true;
	}
	start = expand_start(s, o.start_dir);
	o.start_dir = start;
	/* File calls that may wait must not hold up other channels (SECURITY.md). */
	s->sftp_may_block = fskind_may_block(start);
	o.slow_files = s->sftp_may_block || s->u->session_count > 1;
	o.home = s->u->setup.home;
	o.user = s->u->setup.user;
	started = start_sftp(s, &o);
	free(start);
	free(text);
	if (!started)
		usession_fail(s, 1, "SFTP could not be started\n");
	return true;
}
