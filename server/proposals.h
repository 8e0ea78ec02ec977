/* server/proposals.h: what the configuration means for a transport, and where the pre-auth process lives. */
#ifndef SERVER_PROPOSALS_H
#define SERVER_PROPOSALS_H

#include <sys/types.h>
#include "base/err.h"
#include "proposal.h"
#include "server/host_keys.h"
#include "server/server_options.h"

/* "Wirespeed_0.1.0", with VersionAddendum. Allocated. */
char *server_software(const struct server_options *o);
/* The ten lists of the first exchange: without none, whatever is configured. */
void server_proposal(const struct server_options *o, const struct host_keys *keys, struct proposal *out);
/* The file of groups, if the configured methods need one; "" otherwise. */
const char *server_moduli_file(const struct server_options *o);
/* Adds none, last, for re-exchanges of a user whose configuration permits it (SECURITY.md). */
void server_proposal_add_none(const struct server_options *o, struct proposal *p);
/* server-sig-algs: PubkeyAcceptedAlgorithms with the names of signatures, each once. Allocated. */
char *server_sig_algs(const struct server_options *o);

const char *server_privsep_path(void);
int server_privsep_user(uid_t *uid, gid_t *gid, struct err *e) MUST_USE;
/* The user exists, the folder is root's and nobody else can write it. The text says what to do about it. */
int server_privsep_check(struct err *e) MUST_USE;

#endif
