/* keys/agent_msg.h: the messages of the agent protocol (RFC 9987), without their length field.
 *
 * A put appends a whole message, its type byte first. A get reads what follows the type byte and asks for the end. Views
 * are borrowed from the reader's bytes. */
#ifndef KEYS_AGENT_MSG_H
#define KEYS_AGENT_MSG_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "keys/agent.h"
#include "keys/key.h"
#include "wire/buf.h"
#include "wire/reader.h"

enum { AGENT_MESSAGE_MAX = 256 * 1024, AGENT_COMMENT_MAX = 64 * 1024, AGENT_IDENTITIES_MAX = 2048 };

enum {
	AGENT_FAILURE = 5, AGENT_SUCCESS = 6, AGENT_REQUEST_IDENTITIES = 11, AGENT_IDENTITIES_ANSWER = 12,
	AGENT_SIGN_REQUEST = 13, AGENT_SIGN_RESPONSE = 14, AGENT_ADD_IDENTITY = 17, AGENT_ADD_ID_CONSTRAINED = 25,
	AGENT_EXTENSION = 27, AGENT_EXTENSION_FAILURE = 28
};
enum { AGENT_RSA_SHA2_256 = 2, AGENT_RSA_SHA2_512 = 4 };

/* 11: nothing but its type. */
void agent_put_list(struct buf *out);

/* 12. Entries of unknown key types are left out. *v is freed by agent_identities_free. */
void agent_put_identities(struct buf *out, const struct agent_identity *v, size_t count);
int agent_get_identities(struct reader *r, struct agent_identity **v, size_t *count, struct err *e) MUST_USE;

/* 13 */
struct agent_sign { struct view key_blob, data; uint32_t flags; };
void agent_put_sign(struct buf *out, const struct agent_sign *m);
int agent_get_sign(struct reader *r, struct agent_sign *m, struct err *e) MUST_USE;
uint32_t agent_sign_flags(const struct sig_alg *alg);

/* 14 */
void agent_put_signature(struct buf *out, struct view signature);
int agent_get_signature(struct reader *r, struct view *signature, struct err *e) MUST_USE;

/* 17, or 25 when constrained. lifetime 0: none. */
struct agent_add { struct key *key; char *comment; uint32_t lifetime; bool confirm; };
void agent_put_add(struct buf *out, const struct agent_add *m);
/* Fills an owned key and comment. Constraints that are not known fail, as the RFC wants. */
int agent_get_add(struct reader *r, struct agent_add *m, struct err *e) MUST_USE;
void agent_add_clear(struct agent_add *m);

/* 27 session-bind@openssh.com; get reads what follows the extension's name. */
struct agent_bind { struct view host_key, session_id, signature; bool forwarding; };
void agent_put_bind(struct buf *out, const struct agent_bind *m);
int agent_get_bind(struct reader *r, struct agent_bind *m, struct err *e) MUST_USE;

#endif
