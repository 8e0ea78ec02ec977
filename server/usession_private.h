/* server/usession_private.h: one session; for usession*.c only. */
#ifndef SERVER_USESSION_PRIVATE_H
#define SERVER_USESSION_PRIVATE_H

#include <stdbool.h>
#include <sys/types.h>
#include "base/str.h"
#include "channel/session_msg.h"
#include "server/usession.h"
#include "server/user_private.h"

struct loop_child;
struct sftp_server;

struct usession {
	struct user *u;
	struct usession *next;
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
	bool sftp_may_block;             /* where it started is a network file system or the like */
	int sftp_status;
};

/* usession_exec.c. The peer asks for a program; command NULL: a shell; subsystem NULL: none. False: CHANNEL_FAILURE. */
bool usession_exec(struct usession *s, const char *command, const char *subsystem);
/* Ends without a program: text to stderr, then this exit status. */
void usession_fail(struct usession *s, int status, const char *fmt, ...) PRINTF_LIKE(3, 4);
void usession_send_exit(struct usession *s, int wait_status);
void usession_send_status(struct usession *s, uint32_t status);
void usession_finish_when_done(struct usession *s);

/* usession_program.c: descriptors, environment, rc, exec. */
bool usession_start_program(struct usession *s, struct err *e);
void usession_build_env(struct usession *s);

/* usession_pty.c */
bool usession_pty_request(struct usession *s, struct reader *body);
bool usession_window_change(struct usession *s, struct reader *body);
void usession_pty_free(struct usession *s);
void usession_greet(struct usession *s);           /* Last login, motd */
void usession_write(struct usession *s, const char *text);         /* to the person: newlines become CR LF on a terminal */
void usession_write_error(struct usession *s, const char *text);

/* usession_sftp.c: SFTP in this process. False: it has to be a child. */
bool usession_try_sftp(struct usession *s, const char *command);
void usession_sftp_free(struct usession *s);
/* After a session came or went: file calls that may wait hold up nobody but an SFTP session that is alone. */
void usession_sftp_share(const struct user *u);

#endif
