/* server/monitor_private.h: the monitor's state, shared by its own files monitor*.c only. */
#ifndef SERVER_MONITOR_PRIVATE_H
#define SERVER_MONITOR_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include "auth/userauth_msg.h"
#include "server/account.h"
#include "server/auth_methods.h"
#include "server/authorized.h"
#include "server/monitor.h"
#include "server/monitor_table.h"
#include "server/pam.h"

enum {
	SESSION_ID_MAX = 64, MONITOR_PTYS_MAX = 256,
	MONITOR_REQUESTS_MAX = 1024      /* of authentication: questions about keys do not count as failures */
};

enum auth_outcome {
	AUTH_NO,
	AUTH_YES,
	AUTH_KEY_OK,             /* a key was asked about and would do */
	AUTH_BROKEN              /* the process at the other end is gone or broke the rules: m->err */
};

struct monitor {
	struct monitor_options o;
	struct handover *h;
	bool root;
	int peer;                        /* socketpair of the process being served; borrowed */
	struct mon_gate gate;
	struct err err;                  /* first violation */

	/* the connection */
	struct endpoints ends;
	struct sockaddr_storage remote;
	char *host;                      /* by UseDNS, else the address */
	char *software;                  /* of our version line */
	size_t log_budget;               /* bytes of log text that the pre-auth process may still have written */

	/* the first exchange */
	uint8_t session_id[SESSION_ID_MAX];
	size_t session_id_size;
	int host_key;                    /* that signed it */

	/* who wants in */
	bool user_known;                 /* a request has named the user */
	char *user_wire, *service;       /* as sent, style included */
	char *user;                      /* without style */
	struct account account;
	struct password_entry password;
	bool password_read;
	bool allowed;                    /* the account exists and the rules let it in */
	struct server_options options;   /* of this connection: global ones, then with Match applied */
	bool options_matched;

	/* how it is going */
	struct auth_methods methods;
	unsigned failures, requests;
	bool attempted;                  /* something other than "none" came */
	bool refused_by_rule;            /* RefuseConnection */
	bool finished;                   /* the verdict was yes */
	struct str_list used_keys;       /* base64 of blobs that succeeded */
	struct key_options key_options;
	bool have_key_options;
	char *auth_info;                 /* lines for ExposeAuthInfo */
	char *banner;                    /* to go out with the next verdict; or NULL */
	bool send_sig_algs;
	uint64_t request_start_us;

	/* PAM */
	struct pam_auth *pam;
	bool pam_tried;
	bool password_expired;
	/* a conversation that waits for answers */
	char *answers[PAM_PROMPTS_MAX];
	size_t answers_wanted;
	bool answers_here, aborted;

	struct buf handoff;              /* unparsed */

	/* the session */
	struct monitor_pty { char *name; int device; } ptys[MONITOR_PTYS_MAX];   /* device: the terminal's file, not opened */
};

/* Handlers of monitor_table.c. */
int monitor_on_log(struct monitor *m, struct reader *r, struct err *e);
int monitor_on_end(struct monitor *m, struct reader *r, struct err *e);
int monitor_on_first_sign(struct monitor *m, struct reader *r, struct err *e);
int monitor_on_auth(struct monitor *m, struct reader *r, struct err *e);
int monitor_on_answers(struct monitor *m, struct reader *r, struct err *e);
int monitor_on_abort(struct monitor *m, struct reader *r, struct err *e);
int monitor_on_handoff(struct monitor *m, struct reader *r, struct err *e);
int monitor_on_rekey_sign(struct monitor *m, struct reader *r, struct err *e);
int monitor_on_prove(struct monitor *m, struct reader *r, struct err *e);
int monitor_on_pty(struct monitor *m, struct reader *r, struct err *e);
int monitor_on_pty_done(struct monitor *m, struct reader *r, struct err *e);

/* Reads and handles one request. */
int monitor_take(struct monitor *m, struct err *e) MUST_USE;

/* A signature over an exchange hash and nothing else; appended to out. */
int monitor_sign_hash(struct monitor *m, const struct sig_alg *alg, struct view blob, struct view hash, struct buf *out,
	struct err *e) MUST_USE;

/* monitor_pubkey.c: publickey and publickey-hostbound. names: the key for log lines ("ED25519 SHA256:...") and as in a public
 * key file; allocated, NULL if it came to no key. */
struct monitor_key_names { char *text, *line; };
enum auth_outcome monitor_try_publickey(struct monitor *m, const struct userauth_request *q,
	struct monitor_key_names *names);
/* monitor_password.c */
enum auth_outcome monitor_try_password(struct monitor *m, const struct userauth_request *q);
enum auth_outcome monitor_try_none(struct monitor *m);
enum auth_outcome monitor_try_kbdint(struct monitor *m);
/* Starts PAM for the user if it is in use and was not started; false: PAM is to be used and does not work. */
bool monitor_start_pam(struct monitor *m);
/* Account rules of PAM after a success. */
enum auth_outcome monitor_pam_account(struct monitor *m, bool conversation_possible);
bool monitor_root_permitted(const struct monitor *m, const char *method);
/* Text that the peer shall see with the next verdict. */
void monitor_add_banner(struct monitor *m, const char *text);

/* monitor_log.c: lines that fail2ban and logwatch parse. */
enum auth_verb { VERB_ACCEPTED, VERB_FAILED, VERB_PARTIAL, VERB_POSTPONED };
void monitor_log_auth(const struct monitor *m, enum auth_verb verb, const char *method, const char *key_text);
void monitor_log_end(const struct monitor *m, uint8_t kind, uint32_t code, const char *text);
/* "authenticating user U ", "invalid user U ", "": what stands before the address. Allocated. */
char *monitor_who(const struct monitor *m);

/* Microseconds to wait so that an answer takes `base` or a doubling of it. */
uint64_t auth_delay_us(uint64_t base_us, uint64_t elapsed_us);
uint64_t auth_delay_base_us(const uint8_t *secret, size_t secret_size, const char *user);

#endif
