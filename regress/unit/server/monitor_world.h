/* A monitor to be driven by a test that plays the pre-auth process: its own host key, a key that is authorized for the user who
 * runs the test, and the monitor in a child process behind a socketpair. */
#ifndef MONITOR_WORLD_H
#define MONITOR_WORLD_H

#include <stdbool.h>
#include <sys/types.h>
#include "auth/userauth_msg.h"
#include "keys/key.h"
#include "server/handover.h"
#include "server/monitor_msg.h"

enum { WORLD_LET_IN = 42, WORLD_ENDED = 7, WORLD_BROKEN = 9 };  /* exit statuses of the monitor's process */

struct world {
	char folder[64], *user, *keys_path, *log_path;
	struct key *host_key, *other_host_key, *user_key, *other_key;
	struct handover handover;
	int fd;                  /* the pre-auth process's end */
	pid_t pid;
	uint8_t hash[32];        /* what will be the session id */
};

/* lines: of sshd_config, NULL-terminated, may be NULL. */
void world_open(struct world *w, const char *const *lines);
void world_close(struct world *w);
/* Starts a monitor for one connection; ends the one before. */
void world_start(struct world *w);
/* Waits for the monitor's process and returns its exit status. */
int world_end(struct world *w);

void world_send(struct world *w, uint8_t type, const struct buf *body);
/* Type of the next message of the monitor and its body; 0: it has closed the connection. */
uint8_t world_receive(struct world *w, struct buf *body);
/* The same for a verdict; MON_VERDICT_COUNT when the connection was closed. */
enum mon_verdict_kind world_verdict(struct world *w);

void world_put_sign(struct world *w, struct buf *b, const struct key *k, const uint8_t *hash, size_t n);
/* An honest first signature; true if it is right. */
bool world_sign(struct world *w);
/* A request of the user; sign_with NULL: a question. */
struct world_request {
	const char *user;
	enum userauth_kind kind;
	struct key *key, *sign_with;
	const uint8_t *session_id;       /* 32 bytes; NULL: the right one */
	const struct key *host_key;      /* hostbound; NULL: the right one */
	const char *password;
};
void world_put_auth(struct world *w, struct buf *b, const struct world_request *q);
enum mon_verdict_kind world_auth(struct world *w, const struct world_request *q);
/* The text of the log so far; freed by the next call. */
const char *world_log(struct world *w);

#endif
