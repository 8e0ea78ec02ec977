/* client/session.h: the session that ssh is started for: a shell, a command, a subsystem, or -W. Layer: client. */
#ifndef CLIENT_SESSION_H
#define CLIENT_SESSION_H

#include <stdbool.h>
#include "base/err.h"
#include "client/client.h"

enum session_kind { SESSION_SHELL, SESSION_EXEC, SESSION_SUBSYSTEM, SESSION_STDIO_FORWARD };

struct session_setup {
	struct client *client;           /* ready */
	struct loop *loop;
	enum session_kind kind;
	const char *command;             /* EXEC, SUBSYSTEM; NULL otherwise */
	const char *forward_host;        /* STDIO_FORWARD; with a slash: a socket path */
	unsigned forward_port;
	bool tty;
	bool stdin_null;
	void *ctx;
	/* Over: exit status of the remote command, 255 if there was none. Everything received has been written. */
	void (*done)(void *ctx, int status);
	/* ~. was typed. */
	void (*quit)(void *ctx);
};

struct session;
struct session *session_new(const struct session_setup *s, struct err *e);
/* Puts the terminal back; safe at any time. */
void session_free(struct session *s);
/* SIGWINCH. */
void session_window_changed(struct session *s);

#endif
