/* ident.h: the version exchange (RFC 4253 §4.2): finding and checking the peer's identification line. Engine. */
#ifndef IDENT_H
#define IDENT_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "wire/reader.h"

/* Lines a client looks through, and bytes of one before its LF, CR not counted (what OpenSSH takes). */
enum { IDENT_LINES_MAX = 1024, IDENT_LINE_MAX = 8192 };

/* Where the search stands; zero-initialised at first. */
struct ident_scan {
	unsigned lines;          /* that were not it */
	const char *refusal;     /* after an error: the line to send to a client before closing; NULL for a server */
};

/* Looks at the bytes that have come, `in`, as a server (the first line must be it) or a client (other lines may stand
 * before it). Returns 1: *line is the identification without CR LF, *taken is how many bytes it and what was before
 * took; 0: more bytes are needed, *taken can be dropped; ERR_PEER. */
int ident_find(struct ident_scan *s, bool server, struct view in, size_t *taken, struct view *line, struct err *e)
	MUST_USE;

/* Software version and comments behind "SSH-2.0-" or "SSH-1.99-". */
struct view ident_software(struct view line);

#endif
