/* server/session_private.h: one session; for session*.c only. */
#ifndef SERVER_SESSION_PRIVATE_H
#define SERVER_SESSION_PRIVATE_H

#include <stdbool.h>
#include <sys/types.h>
#include "base/str.h"
#include "channel/session_msg.h"
#include "server/session.h"
#include "server/user_private.h"

struct loop_child;
struct sftp_server;

struct session {
	struct user *u;
	struct session *next;
	struct channel *c;               /* NULL once it is closed */
	struct str_list client_env;
	char *kind;                      /* "session", then "session:shell" ... */

	/* terminal */
	bool has_tty;
	int master, slave;               /* -1: none, or given away */
	char *tty, *term;                /* "/dev/pts/3" */
	int64_t last_login;
	char *last_host;

	/* program */
	bool started, is_subsystem, forced;
	char *command;                   /* what is run; NULL: the login shell */
	char *original;                  /* what was asked for, when something else is forced */
	pid_t pid;                       /* 0: none */
	bool rc_running;                 /* it is ~/.ssh/rc, the program comes after it */
	struct loop_child *child;
	int child_in, child_out, child_err;      /* the child's ends until the program is started; -1 */
	struct str_list env;
	bool exited, sources_ended, closing;
	struct loop_timer *drain;        /* the shell is gone, what it wrote is still to be read */
	struct sftp_server *sftp;
	int sftp_status;
};

/* session_exec.c. The peer asks for a program; command NULL: a shell; subsystem NULL: none. False: CHANNEL_FAILURE. */
bool session_exec(struct session *s, const char *command, const char *subsystem);
/* Ends without a program: text to stderr, then this exit status. */
void session_fail(struct session *s, int status, const char *fmt, ...) PRINTF_LIKE(3, 4);
void session_send_exit(struct session *s, int wait_status);
void session_send_status(struct session *s, uint32_t status);
void session_finish_when_done(struct session *s);

/* session_program.c: descriptors, environment, rc, exec. */
bool session_start_program(struct session *s, struct err *e);
void session_build_env(struct session *s);

/* session_pty.c */
bool session_pty_request(struct session *s, struct reader *body);
bool session_window_change(struct session *s, struct reader *body);
void session_pty_free(struct session *s);
void session_greet(struct session *s);           /* Last login, motd */
void session_write(struct session *s, const char *text);         /* to the person: newlines become CR LF on a terminal */
void session_write_error(struct session *s, const char *text);

/* session_sftp.c: SFTP in this process. False: it has to be a child. */
bool session_try_sftp(struct session *s, const char *command);
void session_sftp_free(struct session *s);

#endif
