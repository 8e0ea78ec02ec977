/* server/usession.c: the life of a session: its requests, how it ends (RFC 4254 §6.2 to 6.10). */
#include "server/usession.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "io/loop.h"
#include "server/usession_env.h"
#include "server/usession_private.h"
#include "transport.h"

enum { COMMAND_MAX = 128 * 1024, NAME_MAX_BYTES = 1024, ENV_VALUE_MAX = 32 * 1024 };

struct usession *usession_first(struct user *u) { return u->sessions; }
struct usession *usession_next(struct usession *s) { return s->next; }
struct channel *usession_channel(struct usession *s) { return s->c; }
const char *usession_kind(const struct usession *s) { return s->kind; }
bool usession_has_tty(const struct usession *s) { return s->has_tty; }
const char *usession_tty(const struct usession *s) { return s->tty; }

struct channel *usession_any_channel(struct user *u)
{
	for (struct usession *s = u->sessions; s != NULL; s = s->next)
		if (s->c != NULL && channel_is_open(s->c))
			return s->c;
	return NULL;
}

/* ---- requests */

static bool on_pty(struct usession *s, struct reader *body)
{
	return !s->started && !s->has_tty && usession_pty_request(s, body);
}

static bool on_window(struct usession *s, struct reader *body)
{
	return usession_window_change(s, body);
}

static bool on_env(struct usession *s, struct reader *body)
{
	struct err e = { 0 };
	char *name, *value;
	bool ok;

	if (session_env_get(body, &name, &value, &e) < 0) {
		log_debug("%s", err_text(&e));
		return false;
	}
	ok = !s->started && s->client_env.count < USESSION_CLIENT_ENV_MAX && strlen(value) <= ENV_VALUE_MAX &&
		usession_env_accepted(&s->u->options.accept_env, name);
	if (ok)
		usession_env_set(&s->client_env, name, value);
	free(name);
	free(value);
	return ok;
}

static bool on_shell(struct usession *s, struct reader *body)
{
	return reader_end(body, NULL, "shell request") == 0 && usession_exec(s, NULL, NULL);
}

static bool on_exec(struct usession *s, struct reader *body)
{
	struct err e = { 0 };
	char *command;
	bool ok;

	if (session_string_get(body, COMMAND_MAX, &command, &e) < 0) {
		log_debug("%s", err_text(&e));
		return false;
	}
	ok = usession_exec(s, command, NULL);
	free(command);
	return ok;
}

static const char *find_subsystem(const struct user *u, const char *name)
{
	for (size_t i = 0; i < u->options.subsystem.count; i++)
		if (strcmp(u->options.subsystem.v[i].name, name) == 0)
			return u->options.subsystem.v[i].command;
	return NULL;
}

static bool on_subsystem(struct usession *s, struct reader *body)
{
	struct err e = { 0 };
	const char *command;
	char *name;
	bool ok = false;

	if (session_string_get(body, NAME_MAX_BYTES, &name, &e) < 0) {
		log_debug("%s", err_text(&e));
		return false;
	}
	command = find_subsystem(s->u, name);
	if (command != NULL) {
		ok = usession_exec(s, command, name);
	}
	if (!ok) {
		char *shown = str_escape_log(name, strlen(name), 100);

		log_info("subsystem request for %s by user %s failed, %s", shown, s->u->setup.user,
			command == NULL ? "subsystem not found" : "execution failed");
		free(shown);
	}
	free(name);
	return ok;
}

/* RFC 4254 §6.9. Not for programs that were not the client's choice. */
static bool on_signal(struct usession *s, struct reader *body)
{
	static const int allowed[] = { SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2 };
	struct view name = reader_string(body);
	int signo;
	bool known = false;

	if (reader_end(body, NULL, "signal request") < 0)
		return false;
	signo = session_signal_number(name);
	for (size_t i = 0; i < MEM_COUNT(allowed); i++)
		known |= signo == allowed[i];
	if (!known || s->pid <= 0 || s->forced || s->is_subsystem)
		return false;
	log_debug("signal %d for process group %ld", signo, (long)s->pid);
	return killpg(s->pid, signo) == 0;
}

static bool on_agent(struct usession *s, struct reader *body)
{
	(void)body;
	if (transport_cipher_none(s->u->transport)) {
		log_info("agent forwarding refused: the connection is not encrypted");
		usession_write_error(s, "sshd: no agent forwarding: this connection is not encrypted (cipher none)\n");
	}
	return false;
}

static bool on_x11(struct usession *s, struct reader *body)
{
	(void)body;
	if (transport_cipher_none(s->u->transport)) {
		log_info("X11 forwarding refused: the connection is not encrypted");
		usession_write_error(s, "sshd: no X11 forwarding: this connection is not encrypted (cipher none)\n");
	}
	return false;
}

static bool on_break(struct usession *s, struct reader *body)
{
	(void)reader_u32(body);          /* duration: a pty has none */
	return s->has_tty && reader_end(body, NULL, "break request") == 0;
}

static const struct usession_row {
	const char *name;
	bool (*handle)(struct usession *s, struct reader *body);
} rows[] = {
	{ "pty-req", on_pty }, { "window-change", on_window }, { "env", on_env }, { "shell", on_shell },
	{ "exec", on_exec }, { "subsystem", on_subsystem }, { "signal", on_signal }, { "x11-req", on_x11 },
	{ "auth-agent-req@openssh.com", on_agent }, { "agent-req", on_agent }, { "break", on_break },
};

static bool on_request(void *ctx, struct channel *c, struct view name, struct reader *body, bool want_reply)
{
	struct usession *s = ctx;

	(void)c;
	(void)want_reply;
	for (size_t i = 0; i < MEM_COUNT(rows); i++)
		if (view_is(name, rows[i].name))
			return rows[i].handle(s, body);
	return false;
}

/* ---- the end */

void usession_send_status(struct usession *s, uint32_t status)
{
	struct buf b = BUF_INIT(16);

	if (s->c == NULL)
		return;
	session_exit_status_put(&b, status);
	if (channel_request(s->c, "exit-status", &b, NULL, NULL) < 0)
		log_debug("exit status could not be sent");
	buf_free(&b);
}

static void send_signal(struct usession *s, int signo, bool core)
{
	const char *known = session_signal_name(signo);
	struct session_exit_signal x = { .core = core };
	char text[2] = "", other[] = "SIG@openssh.com", name[16];
	struct buf b = BUF_INIT(256);

	(void)str_copy(name, sizeof(name), known != NULL ? known : other);
	x.name = name;
	x.text = text;
	session_exit_signal_put(&b, &x);
	if (channel_request(s->c, "exit-signal", &b, NULL, NULL) < 0)
		log_debug("exit signal could not be sent");
	buf_free(&b);
}

/* RFC 4254 §6.10, once, before CLOSE. */
void usession_send_exit(struct usession *s, int wait_status)
{
	if (s->c == NULL)
		return;
	if (WIFSIGNALED(wait_status))
#ifdef WCOREDUMP
		send_signal(s, WTERMSIG(wait_status), WCOREDUMP(wait_status));
#else
		send_signal(s, WTERMSIG(wait_status), false);
#endif
	else
		usession_send_status(s, (uint32_t)WEXITSTATUS(wait_status));
}

void usession_finish_when_done(struct usession *s)
{
	if (s->c == NULL || s->closing || !s->exited)
		return;
	/* A peer that wants no more (eow, CLOSE) ended the sources without a word to us. */
	if (!s->sources_ended && channel_is_open(s->c) && !channel_sources_done(s->c))
		return;
	s->closing = true;
	channel_close(s->c);
}

static void log_close(const struct usession *s)
{
	const struct user_setup *setup = &s->u->setup;

	log_verbose("Close session: user %s from %s port %u id %u", setup->user, setup->ends.remote_ip,
		setup->ends.remote_port, channel_id(s->c));
}

static void usession_free(struct usession *s)
{
	struct user *u = s->u;

	for (struct usession **p = &u->sessions; *p != NULL; p = &(*p)->next)
		if (*p == s) {
			*p = s->next;
			break;
		}
	u->session_count--;
	usession_sftp_free(s);
	usession_sftp_share(u);
	loop_child_remove(s->child);
	loop_timer_remove(s->drain);
	usession_pty_free(s);
	for (int i = 0; i < 3; i++) {
		int *fd = i == 0 ? &s->child_in : i == 1 ? &s->child_out : &s->child_err;
		if (*fd >= 0)
			close(*fd);
	}
	str_list_clear(&s->client_env);
	str_list_clear(&s->env);
	free(s->kind);
	free(s->term);
	free(s->last_host);
	free(s->command);
	free(s->original);
	free(s);
	user_set_title(u);
	user_update_proposal(u);
}

static void on_sources_ended(void *ctx, struct channel *c)
{
	struct usession *s = ctx;

	(void)c;
	s->sources_ended = true;
	/* The output is complete although the program may go on: the peer learns that now. */
	if (!s->exited && !s->has_tty)
		channel_send_eof(s->c);
	usession_finish_when_done(s);
}

static void on_closed(void *ctx, struct channel *c)
{
	struct usession *s = ctx;

	(void)c;
	log_close(s);
	s->c = NULL;
	/* A program with pipes may go on without us; one on a terminal is hung up when the master closes. */
	usession_free(s);
}

void usession_new(struct user *u, struct channel *c, struct channel_user *out)
{
	struct usession *s = mem_zalloc(sizeof(*s));

	s->u = u;
	s->c = c;
	s->kind = mem_strdup("session");
	s->master = s->slave = s->child_in = s->child_out = s->child_err = -1;
	s->next = u->sessions;
	u->sessions = s;
	u->session_count++;
	usession_sftp_share(u);
	*out = (struct channel_user){ .ctx = s, .request = on_request, .sources_ended = on_sources_ended, .closed = on_closed };
}

void usessions_end(struct user *u)
{
	while (u->sessions != NULL) {
		struct usession *s = u->sessions;

		if (s->has_tty && s->pid > 0)
			(void)killpg(s->pid, SIGHUP);
		s->c = NULL;
		usession_free(s);
	}
}
