/* channel/session_msg.c: bodies of session requests. Layer: channel. RFC 4254 §6. */
#include "channel/session_msg.h"

#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"

enum { TERM_MAX = 256, NAME_MAX_BYTES = 1024, VALUE_MAX = 128 * 1024 };

/* RFC 4254 §6.2 */
void session_pty_put(struct buf *b, const struct session_pty *p)
{
	buf_put_cstring(b, p->term ? p->term : "");
	buf_put_u32(b, p->columns);
	buf_put_u32(b, p->rows);
	buf_put_u32(b, p->width_px);
	buf_put_u32(b, p->height_px);
	buf_put_string(b, p->modes.p, p->modes.n);
}

int session_pty_get(struct reader *r, struct session_pty *out, struct err *e)
{
	int rc;

	*out = (struct session_pty){ .term = reader_cstring(r, TERM_MAX) };
	out->columns = reader_u32(r);
	out->rows = reader_u32(r);
	out->width_px = reader_u32(r);
	out->height_px = reader_u32(r);
	out->modes = reader_string(r);
	rc = reader_end(r, e, "pty-req");
	if (rc < 0) {
		free(out->term);
		out->term = NULL;
	}
	return rc;
}

/* RFC 4254 §6.7 */
void session_window_put(struct buf *b, const struct session_window *w)
{
	buf_put_u32(b, w->columns);
	buf_put_u32(b, w->rows);
	buf_put_u32(b, w->width_px);
	buf_put_u32(b, w->height_px);
}

int session_window_get(struct reader *r, struct session_window *out, struct err *e)
{
	out->columns = reader_u32(r);
	out->rows = reader_u32(r);
	out->width_px = reader_u32(r);
	out->height_px = reader_u32(r);
	return reader_end(r, e, "window-change");
}

/* RFC 4254 §6.4 */
void session_env_put(struct buf *b, const char *name, const char *value)
{
	buf_put_cstring(b, name);
	buf_put_cstring(b, value);
}

int session_env_get(struct reader *r, char **name, char **value, struct err *e)
{
	int rc;

	*name = reader_cstring(r, NAME_MAX_BYTES);
	*value = reader_cstring(r, VALUE_MAX);
	rc = reader_end(r, e, "env");
	if (rc < 0) {
		free(*name);
		free(*value);
		*name = *value = NULL;
	}
	return rc;
}

/* RFC 4254 §6.5, §6.9 */
void session_string_put(struct buf *b, const char *s)
{
	buf_put_cstring(b, s);
}

int session_string_get(struct reader *r, size_t max, char **out, struct err *e)
{
	int rc;

	*out = reader_cstring(r, max);
	rc = reader_end(r, e, "session request");
	if (rc < 0) {
		free(*out);
		*out = NULL;
	}
	return rc;
}

/* RFC 4254 §6.10 */
void session_exit_status_put(struct buf *b, uint32_t status)
{
	buf_put_u32(b, status);
}

int session_exit_status_get(struct reader *r, uint32_t *status, struct err *e)
{
	*status = reader_u32(r);
	return reader_end(r, e, "exit-status");
}

void session_exit_signal_put(struct buf *b, const struct session_exit_signal *x)
{
	buf_put_cstring(b, x->name);
	buf_put_bool(b, x->core);
	buf_put_cstring(b, x->text ? x->text : "");
	buf_put_cstring(b, "");
}

int session_exit_signal_get(struct reader *r, struct session_exit_signal *out, struct err *e)
{
	int rc;

	*out = (struct session_exit_signal){ .name = reader_cstring(r, NAME_MAX_BYTES) };
	out->core = reader_bool(r);
	out->text = reader_cstring(r, VALUE_MAX);
	reader_string(r);
	rc = reader_end(r, e, "exit-signal");
	if (rc < 0) {
		free(out->name);
		free(out->text);
		out->name = out->text = NULL;
	}
	return rc;
}

static const struct { const char *name; int signo; } signals[] = {
	{ "ABRT", SIGABRT }, { "ALRM", SIGALRM }, { "FPE", SIGFPE }, { "HUP", SIGHUP }, { "ILL", SIGILL },
	{ "INT", SIGINT }, { "KILL", SIGKILL }, { "PIPE", SIGPIPE }, { "QUIT", SIGQUIT }, { "SEGV", SIGSEGV },
	{ "TERM", SIGTERM }, { "USR1", SIGUSR1 }, { "USR2", SIGUSR2 },
};

const char *session_signal_name(int signo)
{
	for (size_t i = 0; i < MEM_COUNT(signals); i++)
		if (signals[i].signo == signo)
			return signals[i].name;
	return NULL;
}

int session_signal_number(struct view name)
{
	for (size_t i = 0; i < MEM_COUNT(signals); i++)
		if (view_is(name, signals[i].name))
			return signals[i].signo;
	return 0;
}
