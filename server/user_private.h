/* server/user_private.h: the user process: one authenticated connection and its sessions. For user*.c and session*.c only. */
#ifndef SERVER_USER_PRIVATE_H
#define SERVER_USER_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "channel/channel.h"
#include "server/monitor_msg.h"
#include "server/roles.h"
#include "server/server_options.h"

struct carrier;
struct channels;
struct loop;
struct loop_timer;
struct usession;
struct transport;
struct worker;

struct user {
	struct worker_start *start;
	struct buf setup_body;           /* what setup's views point into */
	struct user_setup setup;
	struct server_config *config;
	struct server_options options;   /* with Match applied */
	struct loop *loop;
	struct transport *transport;
	struct carrier *carrier;
	struct channels *channels;
	struct worker *worker;           /* for file calls that block; made when first needed */
	struct usession *sessions;
	unsigned session_count;
	bool no_more_sessions;
	unsigned proofs;                 /* of host keys that the peer had */
	bool leaving;                    /* the connection has ended */
	char *auth_info_file;            /* ExposeAuthInfo */
	uint64_t start_ms;
	bool none_in_force;
	/* timers */
	struct loop_timer *alive, *idle;
	unsigned alive_unanswered;
	uint64_t alive_asked_ms;
	struct loop_timer *leave;
	struct rest *rest;
	struct buf host_key;             /* blob of the first exchange */
	struct moduli *moduli;           /* for group exchange; NULL: no file */
};

/* user.c */
struct user *user_new(struct worker_start *s, struct err *e);    /* reads setup; nothing is dropped yet */
int user_take_connection(struct user *u, struct err *e) MUST_USE;        /* reads the hand-off and goes on with it */
int user_run(struct user *u, struct err *e) MUST_USE;
void user_free(struct user *u);
/* "user ada 192.0.2.1 port 5" for log lines. Allocated. */
char *user_who(const struct user *u);
void user_set_title(const struct user *u);
/* none may be agreed on again, or not: a terminal is open. */
void user_update_proposal(struct user *u);

/* user_channels.c: what the peer opens and asks of the whole connection */
uint32_t user_channel_open(void *ctx, struct channel *c, struct view type, struct reader *extra,
	struct channel_answer *answer);
bool user_global_request(void *ctx, struct view name, struct reader *body, bool want_reply, struct buf *reply);
void user_announce_host_keys(struct user *u);

/* user_timers.c */
void user_start_timers(struct user *u);
void user_timers_free(struct user *u);

/* user_ask.c: questions to the monitor; they block */
int user_sign_hash(void *ctx, const struct sig_alg *alg, struct view key_blob, struct view hash, struct buf *out,
	struct err *e);
int user_ask_pty(struct user *u, struct pty_grant *grant, int *master, int *slave, struct err *e) MUST_USE;
void user_tell_pty_done(struct user *u, const char *name);
int user_ask_proof(struct user *u, bool rsa_sha256, struct view blobs, struct buf *signatures, struct err *e) MUST_USE;

#endif
