/* client/guess.h: which first packet of a key exchange may be sent unasked (RFC 4253 §7, docs/PROTOCOL.md): lists in, lists out. */
#ifndef CLIENT_GUESS_H
#define CLIENT_GUESS_H

#include <stdbool.h>
#include "client/peer_memory.h"
#include "proposal.h"

/* Our lists with what is remembered in front, guess_follows set. Only what the lists have already comes to the front, and a host
 * key algorithm only if it is the first already or host_key_known: known_hosts has a key of its type for the host. False:
 * p is left as it is. */
bool guess_apply(const struct peer_record *r, bool host_key_known, struct proposal *p);

/* What to remember of a server: kex, host_key and guess of r. ours: the lists as they are configured, not as they were put for a
 * guess, so that what is better on either side is taken up the next time. theirs: its first KEXINIT. */
void guess_learn(const struct proposal *ours, const struct proposal *theirs, struct peer_record *r);

#endif
