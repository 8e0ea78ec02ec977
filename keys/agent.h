/* keys/agent.h: the agent protocol (RFC 9987): messages, and a client that asks an agent. */
#ifndef KEYS_AGENT_H
#define KEYS_AGENT_H

#include <stdint.h>
#include "base/err.h"
#include "keys/key.h"

struct agent;    /* a connection to an agent; calls block (the agent is local) */

/* Connects to the socket at path. ERR_IO if it cannot. */
int agent_open(const char *path, struct agent **out, struct err *e) MUST_USE;
void agent_close(struct agent *a);

struct agent_identity { struct key *key; char *comment; };       /* keys of unknown types are left out */
int agent_list(struct agent *a, struct agent_identity **out, size_t *count, struct err *e) MUST_USE;
void agent_identities_free(struct agent_identity *v, size_t count);
int agent_sign(struct agent *a, const struct key *k, const struct sig_alg *alg, struct view message, struct buf *out,
	struct err *e) MUST_USE;
int agent_add(struct agent *a, const struct key *k, const char *comment, uint32_t lifetime, int confirm, struct err *e)
	MUST_USE;
/* session-bind@openssh.com; a refusal is not an error for the caller. */
int agent_bind_session(struct agent *a, const struct key *host_key, struct view session_id, struct view signature,
	int forwarding, struct err *e) MUST_USE;

#endif
