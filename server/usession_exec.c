/* server/usession_exec.c: from a request to what is really run: forced commands, SFTP, expired passwords, nologin (spec
 * options-server 8). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "server/usession_private.h"
#include "transport.h"

enum { NOLOGIN_MAX = 64 * 1024, EXIT_NOLOGIN = 254 };
#define NOLOGIN "/etc/nologin"
#define PASSWD "/usr/bin/passwd"

/* What is forced, and by whom; NULL: nothing. */
static const char *forced_command(const struct usession *s, const char **by)
{
	const struct user *u = s->u;

	*by = "(config)";
	if (u->options.force_command != NULL)
		return u->options.force_command;
	*by = "(key-option)";
	return u->setup.key_options.command;
}

static void log_start(const struct usession *s, const char *command, const char *subsystem, const char *forced,
	const char *by)
{
	const struct user_setup *setup = &s->u->setup;
	const char *tty = s->tty != NULL && str_starts(s->tty, "/dev/") ? s->tty + 5 : s->tty;
	char *what;

	if (forced != NULL) {
		char *shown = str_escape_log(forced, strlen(forced), 200);
		what = str_printf("forced-command %s '%s'", by, shown);
		free(shown);
	} else if (subsystem != NULL) {
		char *shown = str_escape_log(subsystem, strlen(subsystem), 100);
		what = str_printf("subsystem '%s'", shown);
		free(shown);
	} else {
		what = mem_strdup(command != NULL ? "command" : "shell");
	}
	log_verbose("Starting session: %s%s%s for %s from %s port %u id %u", what, tty != NULL ? " on " : "",
		tty != NULL ? tty : "", setup->user, setup->ends.remote_ip, setup->ends.remote_port, channel_id(s->c));
	free(what);
}

static void set_kind(struct usession *s, const char *command, const char *subsystem)
{
	free(s->kind);
	s->kind = subsystem != NULL ? str_printf("session:subsystem:%s", subsystem) :
		mem_strdup(command != NULL ? "session:command" : "session:shell");
}

void usession_fail(struct usession *s, int status, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	usession_write_error(s, text);
	usession_send_status(s, (uint32_t)status);
	s->exited = s->sources_ended = true;
	usession_finish_when_done(s);
}

/* ---- what stands in the way */

static bool is_internal_sftp(const char *command)
{
	return str_starts(command, "internal-sftp") && (command[13] == '\0' || command[13] == ' ' || command[13] == '\t');
}

/* ForceCommand internal-sftp serves files and nothing else. */
static bool refuse_other_than_sftp(struct usession *s, const char *forced, const char *subsystem)
{
	if (forced == NULL || !is_internal_sftp(forced) || (subsystem != NULL && strcmp(subsystem, "sftp") == 0))
		return false;
	log_error("Connection from user %s %s port %u: refusing non-sftp session", s->u->setup.user,
		s->u->setup.ends.remote_ip, s->u->setup.ends.remote_port);
	usession_fail(s, 1, "This service allows sftp connections only.\n");
	return true;
}

static bool nologin_stands(struct usession *s)
{
	struct err e = { 0 };
	struct stat st;
	char *text;
	size_t n;

	if (s->u->setup.uid == 0 || s->u->setup.use_pam || stat(NOLOGIN, &st) < 0)
		return false;
	log_info("User %s not allowed because %s exists", s->u->setup.user, NOLOGIN);
	if (path_read_file(NOLOGIN, NOLOGIN_MAX, &text, &n, &e) < 0) {
		usession_fail(s, EXIT_NOLOGIN, "%s", "");
		return true;
	}
	usession_write_error(s, text);
	free(text);
	usession_fail(s, EXIT_NOLOGIN, "%s", "");
	return true;
}

/* With a terminal the password is changed first, and only that. */
static bool password_stands(struct usession *s)
{
	if (!s->u->setup.password_expired)
		return false;
	usession_write_error(s, "WARNING: Your password has expired.\n");
	if (!s->has_tty) {
		usession_fail(s, 1, "Password change required but no TTY available.\n");
		return true;
	}
	usession_write(s, "You must change your password now and log in again!\n");
	free(s->command);
	s->command = mem_strdup("exec " PASSWD);
	return false;
}

static void warn_no_home(struct usession *s)
{
	const struct user_setup *setup = &s->u->setup;
	struct stat st;

	if (setup->chroot_dir != NULL)
		return;
	if (stat(setup->home, &st) < 0 || access(setup->home, X_OK) < 0) {
		char *text = str_printf("Could not chdir to home directory %s: No such file or directory\n", setup->home);

		usession_write_error(s, text);
		free(text);
	}
}

/* ---- start */

bool usession_exec(struct usession *s, const char *command, const char *subsystem)
{
	struct err e = { 0 };
	const char *by, *forced = forced_command(s, &by), *run = forced != NULL ? forced : command;

	if (s->started)
		return false;            /* RFC 4254 §6.5: one program a channel */
	s->started = true;
	s->is_subsystem = subsystem != NULL;
	s->forced = forced != NULL;
	log_start(s, command, subsystem, forced, by);
	set_kind(s, command, subsystem);
	if (refuse_other_than_sftp(s, forced, subsystem))
		return true;
	if (forced != NULL && command != NULL)
		s->original = mem_strdup(command);
	s->command = run != NULL ? mem_strdup(run) : NULL;
	user_set_title(s->u);
	if (nologin_stands(s) || password_stands(s))
		return true;
	if (s->command != NULL && usession_try_sftp(s, s->command))
		return true;
	if (s->command == NULL && s->has_tty)
		usession_greet(s);
	warn_no_home(s);
	if (!usession_start_program(s, &e)) {
		log_error("session of %s: %s", s->u->setup.user, err_text(&e));
		usession_fail(s, 255, "%s\n", err_text(&e));
	}
	return true;
}
