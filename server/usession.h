/* server/usession.h: session channels of the user process (RFC 4254 §6). */
#ifndef SERVER_USESSION_H
#define SERVER_USESSION_H

#include <stdbool.h>
#include "channel/channel.h"

struct usession;
struct user;

/* The peer opens one; it frees itself when the channel has gone and its program, if it has one, is no longer of interest. */
void usession_new(struct user *u, struct channel *c, struct channel_user *out);
/* The connection has ended or the process stops: terminals are hung up. */
void usessions_end(struct user *u);

struct usession *usession_first(struct user *u);
struct usession *usession_next(struct usession *s);
/* NULL once it is closed. */
struct channel *usession_channel(struct usession *s);
struct channel *usession_any_channel(struct user *u);
/* "session:shell", "session:command", "session:subsystem:sftp": for ChannelTimeout. */
const char *usession_kind(const struct usession *s);
bool usession_has_tty(const struct usession *s);
const char *usession_tty(const struct usession *s);

#endif
