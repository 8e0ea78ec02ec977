/* server/penalties.h: PerSourcePenalties (sshd_config(5)): a bounded table of sources that misbehaved. Arithmetic
 * with the time as an argument; the texts that are logged are made here, because others parse them. */
#ifndef SERVER_PENALTIES_H
#define SERVER_PENALTIES_H

#include <stdbool.h>
#include <stdint.h>
#include "server/peer_source.h"

enum penalty_cause {     /* in the order of enum server_penalty of server/options.h */
	PENALTY_CRASH, PENALTY_AUTHFAIL, PENALTY_NOAUTH, PENALTY_INVALIDUSER, PENALTY_GRACE, PENALTY_REFUSE, PENALTY_COUNT
};
struct penalties_config {
	uint64_t us[PENALTY_COUNT];      /* 0: that one is off */
	uint64_t max_us, min_us;
	unsigned max_sources[2];         /* SOURCE_V4, SOURCE_V6 */
	bool deny_all[2];                /* what a full table means: refuse everyone, or forget the oldest */
	const char *exempt;              /* address and CIDR list, or NULL; borrowed */
};

struct penalties;
struct penalties *penalties_new(const struct penalties_config *c);
void penalties_free(struct penalties *p);

/* The source did something. Logs as the spec says. */
void penalties_add(struct penalties *p, const struct source *s, const char *address, enum penalty_cause cause,
	uint64_t now_us);
/* NULL: let it in. Otherwise the reason for the log, e.g. "penalty: failed authentication"; *left_us (may be NULL) is how
 * long it still lasts. */
const char *penalties_check(struct penalties *p, const struct source *s, const char *address, uint64_t now_us,
	uint64_t *left_us);
unsigned penalties_count(const struct penalties *p, enum source_family family);

#endif
