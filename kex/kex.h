/* kex/kex.h: key exchange methods (RFC 4253 §7 and §8, RFC 5656, RFC 8268, RFC 8731) over one vtable; the exchange hash and
 * the derivation of keys. No packets here: messages come in as type and body and go out the same way. */
#ifndef KEX_KEX_H
#define KEX_KEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "crypto/digest.h"
#include "wire/buf.h"
#include "wire/reader.h"

struct kex_method;

/* What differs between methods that take one message each way (30 and 31). Values are what stands in the message's field,
 * secrets are raw bytes that kex.c encodes as the method's row says. */
struct kex_ops {
	/* Client: makes *state and appends our public value to out. */
	int (*offer)(const struct kex_method *m, void **state, struct buf *out, struct err *e);
	/* Server: from the client's value our own one and the secret. */
	int (*answer)(const struct kex_method *m, struct view theirs, struct buf *ours, struct buf *secret, struct err *e);
	/* Client: the secret from the server's value. */
	int (*finish)(const struct kex_method *m, void *state, struct view theirs, struct buf *secret, struct err *e);
	void (*release)(void *state);
};
extern const struct kex_ops kex_agree_ops;               /* kex_agree.c */

enum kex_form { KEX_STRING, KEX_MPINT };                 /* how a value or a secret is written (RFC 4251 §5) */

/* One row a method. */
struct kex_method {
	const char *name;
	enum digest_alg hash;
	enum kex_form value, secret;
	const struct kex_ops *ops;
	int param;                                       /* private to ops */
};
const struct kex_method *kex_find(struct view name);     /* exact; NULL if unknown */
const struct kex_method *kex_at(size_t i);               /* rows for -Q, NULL past the end */

/* What the exchange hash covers besides the method's own values; borrowed. Versions are without CR LF, KEXINIT payloads
 * begin with their type byte. */
struct kex_input {
	struct view client_version, server_version, client_kexinit, server_kexinit;
	/* Server only: its public key blob, and who signs the hash. */
	struct view host_key;
	int (*sign)(void *ctx, struct view hash, struct buf *signature, struct err *e);
	void *ctx;
};

/* What both sides know in the end. The secret is encoded as it goes into hashes. The client has not checked anything about
 * host key and signature. */
struct kex_result {
	struct buf host_key, signature, secret;
	uint8_t hash[DIGEST_MAX];
	size_t hash_size;
};

struct kex_message { uint8_t type; struct buf body; };   /* type 0: there is none */

/* One side of one exchange. */
struct kex;
struct kex *kex_new(const struct kex_method *m, bool server);
void kex_free(struct kex *k);                            /* wipes */
const struct kex_method *kex_method(const struct kex *k);
/* Client: the first message. It depends on nothing but the method, so that it can be sent as a guess. */
int kex_begin(struct kex *k, struct kex_message *out, struct err *e) MUST_USE;
/* The type of message that must come next. */
uint8_t kex_expects(const struct kex *k);
/* A message of the peer's, of that type. 1: finished, kex_result is there (and out may hold the last message to send). */
int kex_input(struct kex *k, const struct kex_input *in, struct view body, struct kex_message *out, struct err *e) MUST_USE;
const struct kex_result *kex_result(const struct kex *k);

/* RFC 4253 §7.2: n bytes of the key that `letter` ('A'..'F') names. */
int kex_derive(const struct kex *k, struct view session_id, char letter, uint8_t *out, size_t n) MUST_USE;

#endif
