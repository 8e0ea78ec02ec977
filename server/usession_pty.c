/* server/usession_pty.c: terminals of sessions (RFC 4254 §6.2, 6.7) and what is written on them before the shell. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "channel/carrier.h"
#include "io/net.h"
#include "platform/pty.h"
#include "platform/ttymodes.h"
#include "server/usession_private.h"
#include "transport.h"

enum { MOTD_MAX = 256 * 1024 };
#define MOTD "/etc/motd"

static bool pty_permitted(struct usession *s)
{
	struct user *u = s->u;

	if (transport_cipher_none(u->transport)) {
		/* Whoever types a password here would send it in clear (SECURITY.md). */
		log_info("terminal refused: the connection is not encrypted");
		usession_write_error(s, "sshd: no terminal: this connection is not encrypted (cipher none)\n");
		return false;
	}
	if (!u->options.permit_tty || !u->setup.key_options.pty) {
		log_debug("no terminal is permitted");
		return false;
	}
	return true;
}

static void set_size(int master, uint32_t columns, uint32_t rows, uint32_t width, uint32_t height)
{
	struct pty_size size = { .columns = columns, .rows = rows, .width_px = width, .height_px = height };
	struct err e = { 0 };

	if (pty_set_size(master, &size, &e) < 0)
		log_debug("terminal size: %s", err_text(&e));
}

static bool open_pty(struct usession *s, const struct session_pty *p)
{
	struct pty_grant grant;
	struct err e = { 0 };

	if (user_ask_pty(s->u, &grant, &s->master, &s->slave, &e) < 0) {
		log_error("no terminal: %s", err_text(&e));
		pty_grant_clear(&grant);
		return false;
	}
	s->has_tty = true;
	s->tty = mem_strdup(grant.name);
	s->last_login = grant.last_login;
	s->last_host = mem_strdup(grant.last_host);
	pty_grant_clear(&grant);
	set_size(s->master, p->columns, p->rows, p->width_px, p->height_px);
	if (ttymodes_apply_fd(s->slave, p->modes.p, p->modes.n, &e) < 0)
		log_debug("terminal modes: %s", err_text(&e));
	return true;
}

bool usession_pty_request(struct usession *s, struct reader *body)
{
	struct session_pty p;
	struct err e = { 0 };
	bool ok;

	if (session_pty_get(body, &p, &e) < 0) {
		log_debug("%s", err_text(&e));
		return false;
	}
	ok = pty_permitted(s) && open_pty(s, &p);
	if (ok)
		s->term = mem_strdup(p.term);
	free(p.term);
	if (ok) {
		channel_set_interactive(s->c, true);
		net_set_tos(carrier_fd(s->u->carrier), s->u->options.ipqos.interactive);
		user_set_title(s->u);
		user_update_proposal(s->u);
	}
	return ok;
}

bool usession_window_change(struct usession *s, struct reader *body)
{
	struct session_window w;

	if (session_window_get(body, &w, NULL) < 0 || !s->has_tty)
		return false;
	set_size(s->master, w.columns, w.rows, w.width_px, w.height_px);
	return true;
}

void usession_pty_free(struct usession *s)
{
	if (s->master >= 0)
		close(s->master);
	if (s->slave >= 0)
		close(s->slave);
	s->master = s->slave = -1;
	if (s->tty != NULL)
		user_tell_pty_done(s->u, s->tty);
	free(s->tty);
	s->tty = NULL;
	s->has_tty = false;
}

/* ---- words for the person */

/* What a terminal driver would have made of it. */
static char *with_cr(const char *text)
{
	struct buf b = BUF_INIT(1024 * 1024);
	char *out;

	for (const char *p = text; *p != '\0'; p++) {
		if (*p == '\n' && (p == text || p[-1] != '\r'))
			buf_put_u8(&b, '\r');
		buf_put_u8(&b, (uint8_t)*p);
	}
	out = mem_strdup(buf_cstr(&b));
	buf_free(&b);
	return out;
}

void usession_write(struct usession *s, const char *text)
{
	char *out;

	if (s->c == NULL || *text == '\0')
		return;
	out = s->has_tty ? with_cr(text) : mem_strdup(text);
	channel_write(s->c, out, strlen(out));
	free(out);
}

void usession_write_error(struct usession *s, const char *text)
{
	if (s->has_tty) {
		usession_write(s, text);
		return;
	}
	if (s->c != NULL && *text != '\0')
		channel_write_stderr(s->c, text, strlen(text));
}

static void write_file(struct usession *s, const char *path)
{
	char *text;
	size_t n;

	if (path_read_file(path, MOTD_MAX, &text, &n, NULL) < 0)
		return;
	usession_write(s, text);
	free(text);
}

static void write_last_login(struct usession *s)
{
	time_t when = (time_t)s->last_login;
	struct tm tm;
	char date[64], *text;

	if (s->last_login == 0 || localtime_r(&when, &tm) == NULL ||
	    strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", &tm) == 0)
		return;
	if (s->last_host != NULL && *s->last_host != '\0')
		text = str_printf("Last login: %s from %s\n", date, s->last_host);
	else
		text = str_printf("Last login: %s\n", date);
	usession_write(s, text);
	free(text);
}

void usession_greet(struct usession *s)
{
	struct user *u = s->u;
	char *hush = str_printf("%s/.hushlogin", u->setup.home);
	struct stat st;
	bool quiet = stat(hush, &st) == 0;

	free(hush);
	if (quiet)
		return;
	usession_write(s, u->setup.login_messages);
	if (u->options.print_last_log)
		write_last_login(s);
	/* With PAM a module usually shows it; this is what the option says all the same. */
	if (u->options.print_motd)
		write_file(s, MOTD);
}
