/* server/handover.h: what the listener gives to every connection's monitor: the configuration as text that was read once, host
 * keys, and what the command line said. It lies in one sealed memory file that all monitors of one generation share; nothing
 * is read from disk again. */
#ifndef SERVER_HANDOVER_H
#define SERVER_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "server/host_keys.h"
#include "server/server_options.h"

enum { HANDOVER_SECRET_SIZE = 32 };

struct handover {
	struct server_config *config;    /* owned */
	struct host_keys keys;
	bool debug;                      /* -d: log to stderr, traps instead of silent kills */
	bool log_stderr;                 /* -e, -d */
	bool quiet;                      /* -q */
	int debug_level;                 /* 0 none, 1..3: -d so many times */
	unsigned host_length;            /* -u; UINT32_MAX: not given */
	uint8_t secret[HANDOVER_SECRET_SIZE];    /* of this generation: decides each user's delay */
};
void handover_clear(struct handover *h);

void handover_put(const struct handover *h, struct buf *out);
int handover_get(struct reader *r, struct handover *out, struct err *e) MUST_USE;

/* As a sealed memory file (or an unlinked temporary one where there is none). Returns the descriptor, or negative. */
int handover_write(const struct handover *h, struct err *e) MUST_USE;
/* The other side; fd stays open. */
int handover_read(int fd, struct handover *out, struct err *e) MUST_USE;

#endif
