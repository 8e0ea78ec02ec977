/* server/monitor_table.h: which request of an unprivileged process the monitor takes, in which state, how often and how
 * long it may be. The whole of what such a process can ask for stands in this one table. */
#ifndef SERVER_MONITOR_TABLE_H
#define SERVER_MONITOR_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "wire/reader.h"

struct monitor;

/* Where a connection stands, in the monitor's eyes. It only ever moves down, but for AUTH and PROMPT. */
enum mon_state {
	MON_AT_KEX,              /* nothing was signed yet */
	MON_AT_AUTH,             /* the session id is known; requests are judged */
	MON_AT_PROMPT,           /* a conversation waits for answers */
	MON_AT_ACCEPTED,         /* the verdict was yes: the hand-off is what remains */
	MON_AT_OVER,             /* the verdict was final, or the connection has ended */
	MON_AT_SESSION,          /* the user process is at the other end */
	MON_STATE_COUNT
};
const char *mon_state_name(enum mon_state s);

struct mon_rule {
	uint8_t type;            /* enum mon_type */
	const char *name;
	unsigned states;         /* bits: 1 << enum mon_state */
	unsigned times;          /* at most; 0: no limit but what the handler sets */
	uint32_t size;           /* bytes of the body at most */
	int (*handle)(struct monitor *m, struct reader *r, struct err *e);
};
/* Proofs of host keys that a session may ask for, and bytes of such a question: the user process refuses more by itself. */
enum { MON_RULES_MAX = 16, MON_PROVE_TIMES = 16, MON_PROVE_SIZE = 128 * 1024 };
const struct mon_rule *mon_rule_at(size_t i);    /* NULL past the end */

/* The state and what was used up so far. Zero-initialised is the start of a connection. */
struct mon_gate { enum mon_state state; unsigned used[MON_RULES_MAX]; };

/* Lets a message through and counts it, or refuses: ERR_PEER, upon which the connection must end. Judged by its header
 * alone, before any of its body is read. */
int mon_gate_admit(struct mon_gate *g, uint8_t type, uint32_t size, const struct mon_rule **rule, struct err *e) MUST_USE;

#endif
