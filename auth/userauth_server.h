/* auth/userauth_server.h: the server's side of RFC 4252 and RFC 4256 on the wire: what may come when, and how verdicts look as
 * messages. It decides nothing: every request goes, as it came, to a judge. */
#ifndef AUTH_USERAUTH_SERVER_H
#define AUTH_USERAUTH_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "transport.h"
#include "wire/reader.h"


enum userauth_verdict_kind {
	USERAUTH_REFUSED, USERAUTH_ACCEPTED, USERAUTH_KEY_OK, USERAUTH_QUESTION, USERAUTH_DISCONNECT
};
/* Strings and views are borrowed from the judge until it is called again. */
struct userauth_verdict {
	enum userauth_verdict_kind kind;
	const char *banner;              /* goes out first; NULL or "": none */
	const char *sig_algs;            /* for a second EXT_INFO, if the peer takes one; NULL or "": none */
	const char *methods;             /* REFUSED: that can continue */
	bool partial;
	struct view question;            /* QUESTION: body of the INFO_REQUEST */
	uint32_t reason;                 /* DISCONNECT */
	const char *text;
};

/* May block. Negative: no verdict can be had; the connection ends. */
struct userauth_judge {
	void *ctx;
	/* body: of a USERAUTH_REQUEST that userauth_request_get accepts. */
	int (*request)(void *ctx, struct view body, struct userauth_verdict *out, struct err *e);
	/* body: of an INFO_RESPONSE that userauth_info_response_get accepts; only after a QUESTION. */
	int (*answers)(void *ctx, struct view body, struct userauth_verdict *out, struct err *e);
	/* The peer has begun something else instead of answering. Its verdict is not sent unless it is DISCONNECT. */
	int (*abandon)(void *ctx, struct userauth_verdict *out, struct err *e);
};

struct userauth_server;
/* transport is borrowed. */
struct userauth_server *userauth_server_new(struct transport *t, const struct userauth_judge *judge);
void userauth_server_free(struct userauth_server *s);

/* One message that transport_next gave. 0: go on; 1: accepted: USERAUTH_SUCCESS is queued, nothing more may be read; negative:
 * the connection ends (a DISCONNECT is queued where the peer shall know why). */
int userauth_server_message(struct userauth_server *s, const struct message *m, struct err *e) MUST_USE;
/* The peer was told to go, by the judge's verdict. */
bool userauth_server_dismissed(const struct userauth_server *s);

#endif
