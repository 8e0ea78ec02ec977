/* server/session.h: session channels of the user process (RFC 4254 §6). */
#ifndef SERVER_SESSION_H
#define SERVER_SESSION_H

#include <stdbool.h>
#include "channel/channel.h"

struct session;
struct user;

/* The peer opens one; it frees itself when the channel has gone and its program, if it has one, is no longer of interest. */
void session_new(struct user *u, struct channel *c, struct channel_user *out);
/* The connection has ended or the process stops: terminals are hung up. */
void sessions_end(struct user *u);

struct session *session_first(struct user *u);
struct session *session_next(struct session *s);
/* NULL once it is closed. */
struct channel *session_channel(struct session *s);
struct channel *session_any_channel(struct user *u);
/* "session:shell", "session:command", "session:subsystem:sftp": for ChannelTimeout. */
const char *session_kind(const struct session *s);
bool session_has_tty(const struct session *s);
const char *session_tty(const struct session *s);

#endif
