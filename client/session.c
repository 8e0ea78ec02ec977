/* client/session.c: one session of the remote side, tied to our stdin, stdout and stderr. Layer: client. RFC 4254 §6. */
#include "client/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/log.h"
#include "base/match.h"
#include "base/mem.h"
#include "base/str.h"
#include "channel/session_msg.h"
#include "client/escape.h"
#include "io/loop.h"
#include "platform/ttymodes.h"
#include "transport.h"

extern char **environ;

enum { BREAK_MS = 1000, STATUS_NONE = 255 };

struct session {
	struct session_setup setup;
	const struct client_options *o;
	struct channel *channel;
	int status;
	bool output_lost;                /* stdout did not take all */
	bool raw, told, failed, attached;
	struct termios cooked;
	struct escape escape;
};

/* ---- terminal ---- */

static void session_enter_raw(struct session *s)
{
	struct termios t;

	if (s->raw || tcgetattr(STDIN_FILENO, &s->cooked) < 0)
		return;
	t = s->cooked;
	t.c_iflag |= IGNPAR;
	t.c_iflag &= ~(tcflag_t)(ISTRIP | INLCR | IGNCR | ICRNL | IXON | IXANY | IXOFF);
#ifdef IUCLC
	t.c_iflag &= ~(tcflag_t)IUCLC;
#endif
	t.c_lflag &= ~(tcflag_t)(ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHONL | IEXTEN);
	t.c_oflag &= ~(tcflag_t)OPOST;
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSADRAIN, &t) == 0)
		s->raw = true;
}

static void session_leave_raw(struct session *s)
{
	if (s->raw)
		(void)tcsetattr(STDIN_FILENO, TCSADRAIN, &s->cooked);
	s->raw = false;
}

static struct session_window session_window_size(void)
{
	struct winsize w = { 0 };

	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &w) < 0)
		memset(&w, 0, sizeof w);
	return (struct session_window){ w.ws_col, w.ws_row, w.ws_xpixel, w.ws_ypixel };
}

void session_window_changed(struct session *s)
{
	struct session_window w = session_window_size();
	struct buf b = BUF_INIT(64);

	if (!s->setup.tty || !s->channel)
		return;
	session_window_put(&b, &w);
	IGNORE_RESULT(channel_request(s->channel, "window-change", &b, NULL, NULL));
	buf_free(&b);
}

/* ---- escapes ---- */

static void session_say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		log_debug2("stderr could not be written");
}

static void session_suspend(struct session *s)
{
	session_leave_raw(s);
	session_say("^Z [suspend ssh]\r\n");
	(void)kill(getpid(), SIGTSTP);
	session_enter_raw(s);
	session_window_changed(s);
}

static void session_change_level(int by)
{
	int level = (int)log_level_get() + by;
	char *text;

	if (level < LOG_LEVEL_QUIET || level > LOG_LEVEL_DEBUG3)
		return;
	log_set_level((enum log_level)level);
	text = str_printf("[LogLevel %s]\r\n", log_level_name((enum log_level)level));
	session_say(text);
	free(text);
}

static void session_say_info(const struct session *s)
{
	struct transport *t = client_transport(s->setup.client);
	const struct agreement *a = transport_agreement(t);
	uint16_t port;
	const char *address = client_peer_address(s->setup.client, &port);
	char *text = str_printf("\r\nConnection information for %s pid %ld\r\n  peer %s:%u\r\n  kexalgorithm %s\r\n"
		"  hostkeyalgorithm %s\r\n  cipher %s in, %s out\r\n  mac %s in, %s out\r\n"
		"  traffic %llu bytes in, %llu bytes out\r\n", s->o->hostname, (long)getpid(), address, port, a->kex,
		a->host_key, a->cipher_s2c, a->cipher_c2s, a->mac_s2c, a->mac_c2s,
		(unsigned long long)transport_bytes(t, PACKET_IN), (unsigned long long)transport_bytes(t, PACKET_OUT));

	session_say(text);
	free(text);
}

static void session_send_break(struct session *s)
{
	struct buf b = BUF_INIT(16);

	buf_put_u32(&b, BREAK_MS);
	IGNORE_RESULT(channel_request(s->channel, "break", &b, NULL, NULL));
	buf_free(&b);
}

static void session_say_take(char *text)
{
	session_say(text);
	free(text);
}

static void session_act(struct session *s, enum escape_action action)
{
	char shown[3] = { (char)s->escape.character, 0, 0 };

	switch (action) {
	case ESCAPE_NOTHING:
		return;
	case ESCAPE_QUIT:
		session_say_take(str_printf("%s.\r\n", shown));
		if (s->setup.quit)
			s->setup.quit(s->setup.ctx);
		return;
	case ESCAPE_SUSPEND:
		session_suspend(s);
		return;
	case ESCAPE_LIST:
		session_say_take(str_printf("%s#\r\nThe following connections are open:\r\n  #%u session\r\n", shown,
			channel_id(s->channel)));
		return;
	case ESCAPE_HELP:
		session_say_take(str_printf("%s?\r\n", shown));
		session_say_take(escape_help(s->escape.character));
		return;
	case ESCAPE_BREAK:
		session_send_break(s);
		return;
	case ESCAPE_REKEY:
		if (transport_rekey(client_transport(s->setup.client)) == 0)
			carrier_kick(client_carrier(s->setup.client));
		return;
	case ESCAPE_QUIETER:
		session_change_level(-1);
		return;
	case ESCAPE_LOUDER:
		session_change_level(1);
		return;
	case ESCAPE_INFO:
		session_say_info(s);
		return;
	case ESCAPE_COMMAND_LINE:
		session_say("commandline disabled\r\n");
		return;
	}
}

static size_t session_filter(void *ctx, const uint8_t *in, size_t n, uint8_t *out)
{
	struct session *s = ctx;
	size_t total = 0, m;

	for (size_t i = 0; i < n; i++) {
		enum escape_action action = escape_take(&s->escape, in[i], out + total, &m);

		total += m;
		session_act(s, action);
	}
	return total;
}

/* ---- the channel ---- */

static void session_finish(struct session *s, int status)
{
	if (s->told)
		return;
	s->told = true;
	session_leave_raw(s);
	s->setup.done(s->setup.ctx, status);
}

static void session_attach(struct session *s, struct channel *c)
{
	struct channel_pump p = { .sink = STDOUT_FILENO, .err_source = -1, .err_sink = STDERR_FILENO };
	struct err e = { 0 };

	s->attached = true;
	p.source = s->setup.stdin_null ? open("/dev/null", O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (s->setup.tty) {
		session_enter_raw(s);
		if (s->o->escape_char != CLIENT_ESCAPE_NONE) {
			p.filter = session_filter;
			p.filter_ctx = s;
		}
	}
	if (channel_attach(c, &p, &e) < 0) {
		log_error("%s", err_text(&e));
		channel_close(c);
	}
}

static void session_opened(void *ctx, struct channel *c, struct reader *extra)
{
	struct session *s = ctx;

	(void)extra;
	if (!s->attached)
		session_attach(s, c);
}

static void session_open_failed(void *ctx, struct channel *c, uint32_t reason, const char *text)
{
	struct session *s = ctx;

	(void)reason;
	log_error("channel %u: open failed: %s", channel_id(c), text);
	if (s->setup.kind == SESSION_STDIO_FORWARD)
		log_error("stdio forwarding failed");
	s->channel = NULL;
	session_finish(s, STATUS_NONE);
}

static bool session_take_signal(struct session *s, struct reader *body)
{
	struct session_exit_signal x;

	if (session_exit_signal_get(body, &x, NULL) < 0)
		return false;
	log_debug("remote command ended by signal %s%s", x.name, x.core ? " (core dumped)" : "");
	s->status = STATUS_NONE;
	free(x.name);
	free(x.text);
	return true;
}

static bool session_request(void *ctx, struct channel *c, struct view name, struct reader *body, bool want_reply)
{
	struct session *s = ctx;
	uint32_t status;

	(void)c;
	(void)want_reply;
	if (view_is(name, "exit-status") && session_exit_status_get(body, &status, NULL) == 0) {
		s->status = (int)status;
		return true;
	}
	if (view_is(name, "exit-signal"))
		return session_take_signal(s, body);
	return false;
}

static void session_closed(void *ctx, struct channel *c)
{
	struct session *s = ctx;
	int status = s->setup.kind == SESSION_STDIO_FORWARD && !s->failed ? 0 : s->status;

	(void)c;
	s->channel = NULL;
	session_finish(s, s->output_lost && status == 0 ? STATUS_NONE : status);
}

/* Our stdout is gone: nothing of what comes is of use any more. */
static void session_sink_ended(void *ctx, struct channel *c)
{
	struct session *s = ctx;
	int error = channel_sink_error(c);

	/* A reader that has seen enough is no accident; anything else is, and must not look like success. */
	if (error != 0 && error != EPIPE) {
		log_error("write to stdout: %s", strerror(error));
		s->output_lost = true;
	}
	if (s->setup.kind == SESSION_STDIO_FORWARD && channel_sources_done(c))
		channel_close(c);
}

/* ---- requests at the start ---- */

static void session_refused(struct session *s, const char *what)
{
	log_error("%s request failed on channel %u", what, s->channel ? channel_id(s->channel) : 0);
	s->failed = true;
	s->status = STATUS_NONE;
	if (s->channel)
		channel_close(s->channel);
}

static void session_pty_reply(void *ctx, struct channel *c, bool ok)
{
	struct session *s = ctx;

	if (ok || !channel_is_open(c))
		return;
	/* Without a terminal on the other side ours has to stay as it is. */
	log_error("PTY allocation request failed on channel %u", channel_id(c));
	session_leave_raw(s);
}

static void session_start_reply(void *ctx, struct channel *c, bool ok)
{
	static const char *const what[] = { [SESSION_SHELL] = "shell", [SESSION_EXEC] = "exec",
		[SESSION_SUBSYSTEM] = "subsystem" };
	struct session *s = ctx;

	if (!ok && channel_is_open(c))
		session_refused(s, what[s->setup.kind]);
}

static void session_send_one_env(struct session *s, const char *name, size_t n, const char *value)
{
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);
	char *key = mem_strndup(name, n);

	session_env_put(&b, key, value);
	log_debug("channel %u: setting env %s = \"%s\"", channel_id(s->channel), key, value);
	if (!buf_ok(&b) || channel_request(s->channel, "env", &b, NULL, NULL) < 0)
		log_error("environment variable %s could not be sent", key);
	buf_free(&b);
	free(key);
}

static bool session_env_wanted(const struct session *s, const char *name, size_t n)
{
	char *key = mem_strndup(name, n);
	bool wanted = false;

	for (size_t i = 0; i < s->o->send_env.count && !wanted; i++)
		wanted = match_pattern(key, s->o->send_env.v[i]);
	free(key);
	return wanted;
}

static void session_send_env(struct session *s)
{
	for (char **p = environ; *p; p++) {
		const char *eq = strchr(*p, '=');

		if (eq && session_env_wanted(s, *p, (size_t)(eq - *p)))
			session_send_one_env(s, *p, (size_t)(eq - *p), eq + 1);
	}
	for (size_t i = 0; i < s->o->set_env.count; i++) {
		const char *eq = strchr(s->o->set_env.v[i], '=');

		if (eq && strncmp(s->o->set_env.v[i], "TERM=", 5) != 0)
			session_send_one_env(s, s->o->set_env.v[i], (size_t)(eq - s->o->set_env.v[i]), eq + 1);
	}
}

/* SetEnv TERM stands before the environment's. */
static const char *session_term(const struct session *s)
{
	for (size_t i = 0; i < s->o->set_env.count; i++)
		if (str_starts(s->o->set_env.v[i], "TERM="))
			return s->o->set_env.v[i] + 5;
	return getenv("TERM") ? getenv("TERM") : "";
}

static int session_send_pty(struct session *s)
{
	struct session_window w = session_window_size();
	uint8_t modes[TTYMODES_MAX];
	char *term = mem_strdup(session_term(s));
	struct session_pty p = { term, w.columns, w.rows, w.width_px, w.height_px,
		{ modes, ttymodes_encode_fd(STDIN_FILENO, modes) } };
	struct buf b = BUF_INIT(4096);
	int rc;

	session_pty_put(&b, &p);
	rc = channel_request(s->channel, "pty-req", &b, session_pty_reply, s);
	buf_free(&b);
	free(term);
	return rc;
}

static int session_send_start(struct session *s)
{
	static const char *const names[] = { [SESSION_SHELL] = "shell", [SESSION_EXEC] = "exec",
		[SESSION_SUBSYSTEM] = "subsystem" };
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);
	int rc;

	if (s->setup.command)
		session_string_put(&b, s->setup.command);
	if (s->setup.kind == SESSION_EXEC)
		log_debug("Sending command: %s", s->setup.command);
	rc = buf_ok(&b) ? channel_request(s->channel, names[s->setup.kind], s->setup.command ? &b : NULL,
		session_start_reply, s) : ERR_MEMORY;
	buf_free(&b);
	return rc;
}

static int session_start_session(struct session *s, const struct channel_user *u, struct err *e)
{
	enum peer_kind kind = transport_peer_kind(client_transport(s->setup.client));
	struct channels *cs = client_channels(s->setup.client);

	s->channel = channel_open(cs, "session", NULL, s->setup.tty, u, e);
	if (!s->channel)
		return ERR_IO;
	/* Nothing else will be opened here: tell those who know the request (OpenSSH's PROTOCOL). */
	if (s->o->control_master == CLIENT_NO && kind != PEER_OTHER)
		IGNORE_RESULT(channels_global_request(cs, "no-more-sessions@openssh.com", NULL, NULL, NULL));
	session_send_env(s);
	if (s->setup.tty && session_send_pty(s) < 0)
		return err_set(e, ERR_IO, "the pty request could not be sent");
	if (session_send_start(s) < 0)
		return err_set(e, ERR_IO, "the request for the command could not be sent: %s",
			err_text(transport_err(client_transport(s->setup.client))));
	/* Input need not wait for the confirmation; a terminal does, which stays as it is until there is a session. */
	if (channel_is_ahead(s->channel) && !s->setup.tty)
		session_attach(s, s->channel);
	return 0;
}

static int session_start_forward(struct session *s, const struct channel_user *u, struct err *e)
{
	bool path = strchr(s->setup.forward_host, '/') != NULL;
	struct buf b = BUF_INIT(8192);

	buf_put_cstring(&b, s->setup.forward_host);
	if (path) {              /* OpenSSH's PROTOCOL: the rest is reserved */
		buf_put_cstring(&b, "");
		buf_put_u32(&b, 0);
	} else {                 /* RFC 4254 §7.2 */
		buf_put_u32(&b, s->setup.forward_port);
		buf_put_cstring(&b, "127.0.0.1");
		buf_put_u32(&b, 65535);
	}
	s->channel = channel_open(client_channels(s->setup.client),
		path ? "direct-streamlocal@openssh.com" : "direct-tcpip", &b, false, u, e);
	buf_free(&b);
	return s->channel ? 0 : ERR_IO;
}

struct session *session_new(const struct session_setup *setup, struct err *e)
{
	struct session *s = mem_zalloc(sizeof *s);
	struct channel_user u = { .ctx = s, .opened = session_opened, .open_failed = session_open_failed,
		.request = session_request, .sink_ended = session_sink_ended, .closed = session_closed };
	int rc;

	s->setup = *setup;
	s->o = client_options(setup->client);
	s->status = STATUS_NONE;
	escape_init(&s->escape, s->o->escape_char);
	rc = setup->kind == SESSION_STDIO_FORWARD ? session_start_forward(s, &u, e) : session_start_session(s, &u, e);
	if (rc < 0) {
		session_free(s);
		return NULL;
	}
	return s;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	s->told = true;
	session_leave_raw(s);
	free(s);
}
