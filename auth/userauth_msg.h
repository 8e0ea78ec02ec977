/* auth/userauth_msg.h: the messages of RFC 4252 and RFC 4256 in pairs: x_put writes the body (what follows the type byte)
 * that x_get reads. No I/O, no policy; client, server and the monitor build on the same functions, so what is signed and
 * what is verified cannot drift apart. */
#ifndef AUTH_USERAUTH_MSG_H
#define AUTH_USERAUTH_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "wire/buf.h"
#include "wire/reader.h"

/* Numbers 60 and 61 mean something else with each method. */
enum {
	MSG_USERAUTH_PK_OK = 60,                                        /* publickey, RFC 4252 §7 */
	MSG_USERAUTH_PASSWD_CHANGEREQ = 60,                             /* password, RFC 4252 §8 */
	MSG_USERAUTH_INFO_REQUEST = 60, MSG_USERAUTH_INFO_RESPONSE = 61 /* keyboard-interactive, RFC 4256 */
};

#define USERAUTH_SERVICE "ssh-userauth"          /* of SERVICE_REQUEST */
#define USERAUTH_CONNECTION "ssh-connection"     /* the service that a request asks for */

enum userauth_kind {
	USERAUTH_NONE, USERAUTH_PUBLICKEY,
	USERAUTH_HOSTBOUND,      /* publickey-hostbound-v00@openssh.com (OpenSSH's PROTOCOL) */
	USERAUTH_PASSWORD, USERAUTH_KBDINT, USERAUTH_HOSTBASED,
	USERAUTH_OTHER           /* a method that we do not know: only the three names are read */
};
/* "publickey" ...; NULL for USERAUTH_OTHER. */
const char *userauth_kind_name(enum userauth_kind kind);
enum userauth_kind userauth_kind_find(struct view method);

enum {
	USERAUTH_NAME_MAX = 1024, USERAUTH_SECRET_MAX = 1024, USERAUTH_PROMPTS_MAX = 64,
	/* What a server takes: a request with the longest key and certificate; an INFO_RESPONSE with the most answers. */
	USERAUTH_REQUEST_MAX = 64 * 1024, USERAUTH_ANSWERS_MAX = USERAUTH_PROMPTS_MAX * (USERAUTH_SECRET_MAX + 4) + 4
};

/* SERVICE_REQUEST and SERVICE_ACCEPT (RFC 4253 §10). */
void userauth_service_put(struct buf *b, const char *service);
int userauth_service_get(struct reader *r, struct view *service, struct err *e) MUST_USE;

/* USERAUTH_REQUEST of every method. All views are borrowed: after get from what the reader stood on. Fields that the
 * method does not have are empty. */
struct userauth_request {
	enum userauth_kind kind;
	struct view user, service;       /* user with its ":style", if it has one */
	struct view method;              /* after get; put goes by kind, and by method for USERAUTH_OTHER */
	/* publickey, hostbound, hostbased */
	bool has_signature;              /* false: a question whether the key would do. hostbased always has one */
	struct view alg, key_blob, signature;
	struct view host_key;            /* hostbound: blob of the server's key of the first exchange */
	struct view client_host, client_user;    /* hostbased */
	/* password */
	bool change;
	struct view password, new_password;
	/* keyboard-interactive */
	struct view language, submethods;
};
void userauth_request_put(struct buf *b, const struct userauth_request *q);
/* Names hold no NUL and at most USERAUTH_NAME_MAX bytes, passwords at most USERAUTH_SECRET_MAX; nothing may follow. */
int userauth_request_get(struct reader *r, struct userauth_request *out, struct err *e) MUST_USE;

/* What a publickey, hostbound or hostbased signature is made over (RFC 4252 §7 and §9): string session id, byte 50, then
 * the request up to its signature as if it had one. Reads kind, user, service, alg, key_blob, and as the kind needs
 * host_key, client_host, client_user. */
void userauth_signed_data_put(struct buf *b, struct view session_id, const struct userauth_request *q);

/* USERAUTH_FAILURE: comma separated names of methods that can continue. */
struct userauth_failure { struct view methods; bool partial; };
void userauth_failure_put(struct buf *b, const char *methods, bool partial);
int userauth_failure_get(struct reader *r, struct userauth_failure *out, struct err *e) MUST_USE;

/* USERAUTH_SUCCESS has no body; get checks that. */
int userauth_success_get(struct reader *r, struct err *e) MUST_USE;

/* USERAUTH_BANNER. The text is the peer's: escape it. */
void userauth_banner_put(struct buf *b, const char *text);
int userauth_banner_get(struct reader *r, struct view *text, struct err *e) MUST_USE;

/* USERAUTH_PK_OK: the key would do. */
void userauth_pk_ok_put(struct buf *b, struct view alg, struct view key_blob);
int userauth_pk_ok_get(struct reader *r, struct view *alg, struct view *key_blob, struct err *e) MUST_USE;

/* USERAUTH_PASSWD_CHANGEREQ: the password has expired. */
void userauth_changereq_put(struct buf *b, const char *prompt);
int userauth_changereq_get(struct reader *r, struct view *prompt, struct err *e) MUST_USE;

/* INFO_REQUEST and INFO_RESPONSE (RFC 4256 §3.2 to 3.4). */
struct userauth_prompt { struct view text; bool echo; };
struct userauth_info_request {
	struct view name, instruction;
	uint32_t count;
	struct userauth_prompt prompt[USERAUTH_PROMPTS_MAX];
};
void userauth_info_request_put(struct buf *b, const struct userauth_info_request *q);
int userauth_info_request_get(struct reader *r, struct userauth_info_request *out, struct err *e) MUST_USE;

struct userauth_info_response { uint32_t count; struct view answer[USERAUTH_PROMPTS_MAX]; };
void userauth_info_response_put(struct buf *b, const struct userauth_info_response *q);
int userauth_info_response_get(struct reader *r, struct userauth_info_response *out, struct err *e) MUST_USE;

#endif
