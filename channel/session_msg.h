/* channel/session_msg.h: bodies of session requests (RFC 4254 §6), in pairs: x_put writes what x_get reads. */
#ifndef CHANNEL_SESSION_MSG_H
#define CHANNEL_SESSION_MSG_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "wire/buf.h"
#include "wire/reader.h"

struct session_pty {             /* pty-req */
	char *term;              /* owned after get */
	uint32_t columns, rows, width_px, height_px;
	struct view modes;       /* encoded modes (§8), borrowed */
};
void session_pty_put(struct buf *b, const struct session_pty *p);
int session_pty_get(struct reader *r, struct session_pty *out, struct err *e) MUST_USE;

struct session_window { uint32_t columns, rows, width_px, height_px; };         /* window-change */
void session_window_put(struct buf *b, const struct session_window *w);
int session_window_get(struct reader *r, struct session_window *out, struct err *e) MUST_USE;

void session_env_put(struct buf *b, const char *name, const char *value);
int session_env_get(struct reader *r, char **name, char **value, struct err *e) MUST_USE;

/* exec: command; subsystem: name; signal: name without SIG. One string without NUL. */
void session_string_put(struct buf *b, const char *s);
int session_string_get(struct reader *r, size_t max, char **out, struct err *e) MUST_USE;

void session_exit_status_put(struct buf *b, uint32_t status);
int session_exit_status_get(struct reader *r, uint32_t *status, struct err *e) MUST_USE;

struct session_exit_signal { char *name; bool core; char *text; };              /* owned after get */
void session_exit_signal_put(struct buf *b, const struct session_exit_signal *x);
int session_exit_signal_get(struct reader *r, struct session_exit_signal *out, struct err *e) MUST_USE;

/* "HUP" <-> SIGHUP. NULL / 0 if unknown (RFC 4254 §6.10). */
const char *session_signal_name(int signo);
int session_signal_number(struct view name);

#endif
