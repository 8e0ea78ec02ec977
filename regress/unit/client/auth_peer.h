/* regress/unit/client/auth_peer.h: the client's authentication against a server that does what a test says, with two real
 * engines on a socket pair; and an agent in a child process. */
#ifndef AUTH_PEER_H
#define AUTH_PEER_H

#include <stdbool.h>
#include <sys/types.h>
#include "auth/userauth_msg.h"
#include "channel/carrier.h"
#include "client/client_auth.h"
#include "client_world.h"
#include "keys/key.h"
#include "transport.h"

struct auth_peer {
	struct client_world w;
	/* What a test sets. serve: the n-th USERAUTH_REQUEST, from 1; the server answers with the functions below. */
	void (*serve)(struct auth_peer *p, const struct userauth_request *q, unsigned n);
	void (*respond)(struct auth_peer *p, const struct userauth_info_response *r, unsigned n);
	const char *sig_algs;            /* server-sig-algs; NULL: no EXT_INFO */
	bool hostbound, weakened;
	const char *software;            /* of the server; NULL: of nobody we know */
	const struct auth_login *remembered;
	bool at_once;                    /* the client begins before it has the server's NEWKEYS and EXT_INFO */
	const char *service;             /* name in SERVICE_ACCEPT; NULL: the right one */
	void *script;                    /* the test's own */

	/* What has come of it. */
	unsigned requests, responses;
	bool success, failure;
	char method[64], failure_text[512];
	char trace[4096];                /* methods asked, "none publickey? publickey! password" */

	/* Private. */
	struct loop *loop;
	struct key *host_key;
	struct transport *ct, *st;
	struct carrier *cc, *sc;
	struct client_auth *auth;
	int fds[2];
	bool ended;
	pid_t agent;
};

void auth_peer_init(struct auth_peer *p);
void auth_peer_clear(struct auth_peer *p);
/* Options as for client_world_options; then from the key exchange to success, failure or the end of the connection. */
void auth_peer_run(struct auth_peer *p, const char *options);
/* Why the client ended the connection. */
const char *auth_peer_client_error(const struct auth_peer *p);

/* ---- for serve and respond */
void auth_peer_fail(struct auth_peer *p, const char *methods, bool partial);
void auth_peer_succeed(struct auth_peer *p);
void auth_peer_banner(struct auth_peer *p, const char *text);
void auth_peer_pk_ok(struct auth_peer *p, struct view alg, struct view blob);
void auth_peer_ask(struct auth_peer *p, const char *name, const char *instruction, const char *const *prompts, unsigned echo_bits);
void auth_peer_changereq(struct auth_peer *p, const char *text);
void auth_peer_raw(struct auth_peer *p, uint8_t type, const void *body, size_t n);
/* Whether the signature in q is right for this connection and key. */
bool auth_peer_signed(struct auth_peer *p, const struct userauth_request *q, const struct key *k);

/* ---- an agent: SSH_AUTH_SOCK leads to it; keys are borrowed. What it was asked stands in the file agent.log. */
void auth_peer_agent(struct auth_peer *p, struct key *const *keys, size_t count, bool refuses);

#endif
