/* client/client_auth_private.h: what the parts of the client's authentication share. Only for client/client_auth*.c. */
#ifndef CLIENT_CLIENT_AUTH_PRIVATE_H
#define CLIENT_CLIENT_AUTH_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include "auth/userauth_msg.h"
#include "base/err.h"
#include "client/client_auth.h"
#include "keys/agent.h"
#include "keys/key.h"
#include "transport.h"

/* What a hostile server may make the user read and answer. */
enum {
	AUTH_PARTIALS_MAX = 16,          /* "and now another method", in one connection */
	AUTH_BANNERS_MAX = 32, AUTH_BANNER_BYTES_MAX = 256 * 1024,
	AUTH_ROUNDS_MAX = 64,            /* INFO_REQUESTs in one attempt */
	AUTH_CHANGES_MAX = 5             /* requests to change a password */
};

struct client_auth;

/* One row a method. What start and message return: 1 a request (or answer) is out; 0 nothing left to try with this method;
 * negative: the connection is over, and carrier_fail knows why. */
struct auth_method {
	const char *name;
	bool (*enabled)(const struct client_auth *a);
	int (*start)(struct client_auth *a);
	/* Messages 60 to 79 while a request of this method is unanswered. NULL: there are none. */
	int (*message)(struct client_auth *a, const struct message *m);
	/* The server said "partial success" to it. May be NULL. */
	void (*used)(struct client_auth *a);
};

/* A key that may be tried. */
struct auth_key {
	char *path;              /* of its private half; NULL: only the agent has that */
	char *label;             /* for messages: the path, or the agent's comment (escaped) */
	struct key *public;      /* NULL: known once the private half is read */
	struct key *private;     /* once read from its file */
	bool in_agent, given;    /* given: the user named the file */
	bool tried, used;        /* used: it brought partial success, and would not do so again */
};

struct auth_keys {
	struct auth_key *v;      /* in the order of trying (ssh(1), AUTHENTICATION) */
	size_t count;
	bool prepared;
	struct agent *agent;     /* NULL: none */
	struct auth_key *current;
	const struct sig_alg *alg;       /* that current was asked or signed with */
	bool probing;            /* the request that is out asks only whether current would do */
};

enum auth_phase { AUTH_WAITS_FOR_SERVICE, AUTH_ASKED, AUTH_DONE };

struct client_auth {
	struct client_auth_setup s;
	char *user, *prompt_host, *via;          /* of s, owned */
	struct transport *transport;
	enum auth_phase phase;
	const struct auth_method *method;        /* whose request is out */
	unsigned exhausted;                      /* bits by row */
	char *can_continue;                      /* the server's last list */
	bool none_tried;
	unsigned failures;
	struct auth_login login;                 /* the first request that the server took */
	unsigned partials, banners;
	size_t banner_bytes;
	struct auth_keys keys;
	unsigned password_attempts, password_changes;
	unsigned kbdint_attempts, kbdint_rounds;
	bool kbdint_asked;                       /* the server has sent an INFO_REQUEST at some time */
};

/* ---- client_auth.c */

/* A request with the user, the service and what q has. secret: padded, so that its length tells less. 1, or negative. */
int auth_send_request(struct client_auth *a, struct userauth_request *q, bool secret) MUST_USE;
int auth_send(struct client_auth *a, uint8_t type, struct buf *body, bool secret) MUST_USE;
/* Text of the server that the user shall read, line by line, at INFO. */
void auth_show_text(struct view text);
/* The peer broke the protocol; e may be NULL. Negative. */
int auth_fail_peer(struct client_auth *a, const struct err *e, const char *what) MUST_USE;
/* May secrets be typed at all? Not in batch mode, not towards a host that may be the wrong one, not in clear. */
bool auth_may_ask_secret(const struct client_auth *a);
/* "user@host" as prompts show it; allocated. */
char *auth_who(const struct client_auth *a);

/* ---- client_auth_keys.c: which keys, and their private halves */

void auth_keys_prepare(struct client_auth *a);
void auth_keys_clear(struct auth_keys *k);
/* The first key that was not tried; NULL: there are no more. */
struct auth_key *auth_keys_next(struct auth_keys *k);
/* All but those that were used count as not tried. */
void auth_keys_try_again(struct auth_keys *k);
/* The private half is read from its file, the passphrase asked for. What is wrong has been said. 0, or negative: no use. */
int auth_key_load(struct client_auth *a, struct auth_key *key) MUST_USE;
/* The same without a word to anyone: 0 if the private half can be had without a question. */
int auth_key_load_quietly(struct client_auth *a, struct auth_key *key) MUST_USE;
/* By the agent if it has the key, unless its private half was read already; else by the file. */
int auth_key_sign(struct client_auth *a, struct auth_key *key, const struct sig_alg *alg, struct view data, struct buf *out)
	MUST_USE;
/* The algorithm to use key with, by PubkeyAcceptedAlgorithms and what the server takes; NULL: it cannot be used (a debug
 * line says why). */
const struct sig_alg *auth_key_algorithm(const struct client_auth *a, const struct auth_key *key);
/* Whether PubkeyAcceptedAlgorithms and RequiredRSASize permit key with alg, whatever the server takes. */
bool auth_key_permits(const struct client_auth *a, const struct auth_key *key, const struct sig_alg *alg);
/* The remembered key, if those before it are the same as then, or the first; NULL: there is none. */
struct auth_key *auth_keys_first(struct client_auth *a, const struct auth_login *remembered);
/* key, alg and before of login. */
void auth_keys_remember(const struct client_auth *a, const struct auth_key *key, struct auth_login *login);
/* "PATH TYPE FINGERPRINT explicit agent"; allocated. */
char *auth_key_describe(const struct client_auth *a, const struct auth_key *key);

/* ---- the methods */

/* The first request of a connection by or about a key (docs/PROTOCOL.md). 1 sent; 0: none would do; negative. */
int auth_pubkey_first(struct client_auth *a, const struct auth_login *remembered) MUST_USE;

extern const struct auth_method auth_method_none, auth_method_publickey;         /* client_auth.c, client_auth_pubkey.c */
extern const struct auth_method auth_method_kbdint, auth_method_password;        /* client_auth_kbdint.c, ..._password.c */

#endif
