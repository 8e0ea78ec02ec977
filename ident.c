/* ident.c: the version exchange (RFC 4253 §4.2). */
#include "ident.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

static const char refuse_invalid[] = "Invalid SSH identification string.\r\n";
static const char refuse_major[] = "Protocol major versions differ.\r\n";

enum { TEXT_SHOWN = 256 };       /* bytes of a bad line in a log */

/* One line. Returns 1 and its text without CR LF, 0 if it is not complete yet, -1 if it can never be valid. */
static int line_of(struct view in, size_t *taken, struct view *line)
{
	size_t i;

	for (i = 0; i < in.n && i <= IDENT_LINE_MAX + 1; i++) {
		if (in.p[i] == '\n') {
			*taken = i + 1;
			*line = (struct view){ in.p, i != 0 && in.p[i - 1] == '\r' ? i - 1 : i };
			return line->n > IDENT_LINE_MAX ? -1 : 1;
		}
		if (in.p[i] == 0 || (i != 0 && in.p[i - 1] == '\r'))
			return -1;
	}
	/* Full without an end: the last place is for the CR, the one behind it for the LF. */
	if (i > IDENT_LINE_MAX + 1 || (i == IDENT_LINE_MAX + 1 && in.p[i - 1] != '\r'))
		return -1;
	return 0;
}

static int refuse(struct ident_scan *s, const char *refusal, struct err *e, const char *text)
{
	s->refusal = refusal;
	return err_set(e, ERR_PEER, "%s", text);
}

static void log_bad(bool server, struct view in, bool is_ssh)
{
	size_t n = 0;
	char *text;

	while (n < in.n && in.p[n] != '\n' && in.p[n] != '\r')
		n++;
	text = str_escape_log(in.p, n, TEXT_SHOWN);
	if (is_ssh)
		log_error("Bad remote protocol version identification: '%s'", text);
	else
		log_verbose("kex_exchange_identification: %s sent invalid protocol identifier \"%s\"",
			server ? "client" : "server", text);
	free(text);
}

/* Digits at p; their end, or NULL if there are none. Values that do not fit are clamped: they are wrong anyway. */
static const uint8_t *number(const uint8_t *p, const uint8_t *end, unsigned *out)
{
	const uint8_t *start = p;
	unsigned v = 0;

	for (; p < end && *p >= '0' && *p <= '9'; p++)
		v = v < 100000 ? v * 10 + (unsigned)(*p - '0') : v;
	*out = v;
	return p == start ? NULL : p;
}

/* SSH-MAJOR.MINOR- and at least one character more; the end of the prefix, or NULL. */
static const uint8_t *prefix_end(struct view line, unsigned *major, unsigned *minor)
{
	const uint8_t *p = line.p + 4, *end = line.p + line.n;

	if (line.n < 4 || (p = number(p, end, major)) == NULL || p == end || *p != '.')
		return NULL;
	if ((p = number(p + 1, end, minor)) == NULL || p == end || *p != '-' || p + 1 == end)
		return NULL;
	return p + 1;
}

static bool is_ssh_line(struct view line)
{
	return line.n >= 4 && memcmp(line.p, "SSH-", 4) == 0;
}

static int check_line(struct ident_scan *s, bool server, struct view line, struct err *e)
{
	unsigned major, minor;

	if (prefix_end(line, &major, &minor) == NULL) {
		log_bad(server, line, true);
		return refuse(s, refuse_invalid, e, "could not read protocol version");
	}
	/* RFC 4253 §5.1: 1.99 means 2.0 that also speaks 1.x. */
	if (major != 2 && !(major == 1 && minor == 99)) {
		log_error("Protocol major versions differ: 2 vs. %u", major);
		return refuse(s, refuse_major, e, "protocol major versions differ");
	}
	return 1;
}

int ident_find(struct ident_scan *s, bool server, struct view in, size_t *taken, struct view *line, struct err *e)
{
	size_t at = 0, n = 0;
	struct view rest;
	char *text;
	int r;

	*taken = 0;
	for (;;) {
		rest = (struct view){ in.p + at, in.n - at };
		r = line_of(rest, &n, line);
		/* A client may send nothing before its identification, so what cannot become one is refused at once. */
		if (server && rest.n != 0 && memcmp(rest.p, "SSH-", rest.n < 4 ? rest.n : 4) != 0)
			r = -1;
		if (r < 0) {
			log_bad(server, rest, false);
			return refuse(s, server ? refuse_invalid : NULL, e, "invalid format");
		}
		if (r == 0)
			return 0;
		at += n;
		*taken = at;
		if (is_ssh_line(*line))
			return check_line(s, server, *line, e);
		text = str_escape_log(line->p, line->n, TEXT_SHOWN);
		log_debug("the server says before its identification: %s", text);
		free(text);
		if (++s->lines >= IDENT_LINES_MAX)
			return refuse(s, NULL, e, "no identification among the first lines of the server");
	}
}

struct view ident_software(struct view line)
{
	unsigned major, minor;
	const uint8_t *p = prefix_end(line, &major, &minor);

	return p != NULL ? (struct view){ p, (size_t)(line.p + line.n - p) } : (struct view){ line.p, 0 };
}
