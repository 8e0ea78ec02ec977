/* keys/authorized_keys.h: lines of authorized_keys and their options (sshd(8)). Pure parsing and
 * matching of text; opening files is server/'s. */
#ifndef KEYS_AUTHORIZED_KEYS_H
#define KEYS_AUTHORIZED_KEYS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"
#include "keys/key.h"
#include "wire/buf.h"
#include "wire/reader.h"

/* What a line grants. Also what config and certificates restrict; owned by whoever parsed it. */
struct key_options {
	bool agent_forwarding, port_forwarding, pty, user_rc, x11_forwarding;
	bool cert_authority, verify_required, no_touch_required;
	char *command;                   /* forced command or NULL */
	char *from;                      /* pattern list or NULL */
	char *principals;
	struct str_list environment;     /* "NAME=value" */
	struct str_list permit_open, permit_listen;
	int64_t valid_before;            /* expiry-time; 0 none */
	int tunnel;                      /* unit, -1 none */
};
void key_options_init(struct key_options *o);            /* everything allowed */
void key_options_clear(struct key_options *o);
void key_options_copy(struct key_options *dst, const struct key_options *src);
/* Parses the options field (NULL or "": defaults). Every option of the spec is known. ERR_PEER with the reason. */
int key_options_parse(const char *field, struct key_options *out, struct err *e) MUST_USE;
void key_options_put(const struct key_options *o, struct buf *out);      /* hand-over between processes */
int key_options_get(struct reader *r, struct key_options *out) MUST_USE;

/* One line of text. ERR_NONE_FOUND: blank or comment. ERR_PEER: unusable, with the reason. A type that is not known
 * gives ERR_NONE_FOUND too. */
struct authorized_line { struct key *key; struct key_options options; char *comment; };
int authorized_line_parse(const char *line, struct authorized_line *out, struct err *e) MUST_USE;
void authorized_line_clear(struct authorized_line *l);

/* Whether options let (host, address, now) in: from= and expiry-time=. ERR_DENIED with the reason that the log line of
 * OpenSSH has it. host may be NULL. */
int key_options_check(const struct key_options *o, const char *host, const char *address, int64_t now, struct err *e)
	MUST_USE;

#endif
