/* server/pam.h: PAM, in the monitor only. One handle from authentication to the end of the session. Calls may block: modules
 * ask questions, wait, or talk to servers. Built without PAM every call fails. */
#ifndef SERVER_PAM_H
#define SERVER_PAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"

/* A question of a module to the person at the other end. */
struct pam_prompt { const char *text; bool echo; };
enum { PAM_PROMPTS_MAX = 32 };

struct pam_talk {
	void *ctx;
	/* Asks all prompts at once (count may be 0: only the text is to be shown). answers: allocated, wiped and freed by the
	 * caller. Negative: the peer dropped the conversation, or is gone. */
	int (*ask)(void *ctx, const char *text, const struct pam_prompt *prompts, size_t count, char **answers);
};

struct pam_auth;

/* False when this build has no PAM. */
bool pam_built(void);
/* Where the service is configured; NULL: nowhere, PAM will use "other". Allocated. */
char *pam_service_file(const char *service);

struct pam_start {
	const char *service, *user, *remote_host;
	bool fake;               /* the account is unknown or denied: answers are replaced, no check can succeed */
	bool permit_empty;
};
struct pam_auth *pam_auth_new(const struct pam_start *s, struct err *e);
/* Closes what is open: session, credentials, handle. NULL is fine. */
void pam_auth_free(struct pam_auth *p);
void pam_auth_set_tty(struct pam_auth *p, const char *tty);
/* See pam_start.fake: for one method but not for another. */
void pam_auth_set_fake(struct pam_auth *p, bool fake);

/* 0: the person proved who they are. ERR_DENIED: not. The user name must not have changed. */
int pam_auth_password(struct pam_auth *p, const char *password, struct err *e) MUST_USE;
int pam_auth_converse(struct pam_auth *p, const struct pam_talk *talk, struct err *e) MUST_USE;
/* Account rules. 0, ERR_DENIED, or ERR_AGAIN: the password has expired and must be changed first. Asked once, remembered. */
int pam_auth_account(struct pam_auth *p, struct err *e) MUST_USE;
/* Changes an expired password in a conversation. */
int pam_auth_change_password(struct pam_auth *p, const struct pam_talk *talk, struct err *e) MUST_USE;
/* setcred and open_session. */
int pam_auth_open_session(struct pam_auth *p, struct err *e) MUST_USE;
/* NAME=VALUE of the modules. */
void pam_auth_environment(struct pam_auth *p, struct str_list *out);
/* What modules had to say and nobody was shown yet; "" if nothing. Allocated, and forgotten here. */
char *pam_auth_take_messages(struct pam_auth *p);

/* A password that cannot be right, as long as the given one. Allocated; free with mem_free_string. */
char *pam_fake_password(const char *given);

#endif
