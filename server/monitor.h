/* server/monitor.h: the process that decides. It serves an unprivileged process over a socketpair by the table in
 * monitor_table.c, first the pre-auth process, then the user process, and keeps everything that a login depends on to itself:
 * host keys, session id, the account, the state of authentication, PAM. */
#ifndef SERVER_MONITOR_H
#define SERVER_MONITOR_H

#include <stdbool.h>
#include <sys/socket.h>
#include "base/err.h"
#include "server/handover.h"
#include "server/monitor_msg.h"
#include "wire/buf.h"

struct monitor;

struct monitor_options {
	struct handover *handover;       /* borrowed */
	int connection;                  /* socket of the connection, borrowed; only asked for addresses */
	/* Tells whoever shows process titles; may be NULL. */
	void (*title)(void *ctx, const char *text);
	void *ctx;
};
struct monitor *monitor_new(const struct monitor_options *o, struct err *e);
void monitor_free(struct monitor *m);

/* The setup message for a pre-auth process. */
int monitor_put_preauth_setup(struct monitor *m, struct buf *out, struct err *e) MUST_USE;

/* Serves a pre-auth process at fd until the end. 1: somebody was let in, the hand-off is here; 0: the connection ended in
 * an orderly way without; negative: the process broke the rules, or a system error. */
int monitor_serve_preauth(struct monitor *m, int fd, struct err *e) MUST_USE;

/* After 1: opens the PAM session; then the setup message for a user process, and the hand-off, which is taken out of the
 * monitor (wipe it). */
int monitor_open_session(struct monitor *m, struct err *e) MUST_USE;
int monitor_put_user_setup(struct monitor *m, struct buf *out, struct err *e) MUST_USE;
void monitor_take_handoff(struct monitor *m, struct buf *out);
/* Groups of the user as the session shall have them; borrowed. */
const struct account *monitor_account(const struct monitor *m);

/* Takes one request of the user process at fd, which is readable. 0; ERR_CLOSED: it has gone. */
int monitor_serve_user(struct monitor *m, int fd, struct err *e) MUST_USE;
/* Login records and terminals that are still open are closed. */
void monitor_end_session(struct monitor *m);

/* The verdict was final, or the process has said how the connection ended. */
bool monitor_is_over(const struct monitor *m);
/* For the listener's penalties: 0, 5, 6, 7 or 255. */
int monitor_exit_code(const struct monitor *m);
const struct server_options *monitor_options(const struct monitor *m);
const struct endpoints *monitor_endpoints(const struct monitor *m);

#endif
