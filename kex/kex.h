/* kex/kex.h: key exchange methods (RFC 4253 §7 and §8, RFC 4419, RFC 5656, RFC 8268, RFC 8731, sntrup761) over one vtable; the exchange hash and
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
struct kex_input;

/* What differs between methods. Values are what stands in the message's field, secrets are raw bytes that kex.c encodes as
 * the method's row says. */
struct kex_ops {
	/* Client: makes *state and appends our public value to out. */
	int (*offer)(const struct kex_method *m, void **state, struct buf *out, struct err *e);
	/* Server: from the client's value our own one and the secret. state: of choose, or NULL. */
	int (*answer)(const struct kex_method *m, void *state, struct view theirs, struct buf *ours, struct buf *secret,
		struct err *e);
	/* Client: the secret from the server's value. */
	int (*finish)(const struct kex_method *m, void *state, struct view theirs, struct buf *secret, struct err *e);
	void (*release)(void *state);

	/* Methods that agree on a group first (RFC 4419: messages 34 and 31, then 32 and 33 for 30 and 31); NULL in others. */
	/* Client: makes *state and the body of the request, for a group as strong as keys of so many bits. */
	int (*request)(const struct kex_method *m, unsigned key_bits, void **state, struct buf *body, struct err *e);
	/* Server: the request's body in, *state and the body that names a group out. */
	int (*choose)(const struct kex_input *in, struct reader *r, void **state, struct buf *body, struct err *e);
	/* Client: takes the group; appends our public value to out, as offer does elsewhere. */
	int (*take_group)(void *state, struct reader *r, struct buf *out, struct err *e);
	/* What the exchange hash covers before the values. */
	void (*hashed)(const void *state, struct buf *out);
};
extern const struct kex_ops kex_agree_ops;               /* kex_agree.c */
extern const struct kex_ops kex_gex_ops;                 /* kex_gex.c */
extern const struct kex_ops kex_sntrup_ops;              /* kex_sntrup.c */

enum kex_form { KEX_STRING, KEX_MPINT };                 /* how a value or a secret is written (RFC 4251 §5) */

/* One row a method. */
struct kex_method {
	const char *name;
	enum digest_alg hash;
	enum kex_form value, secret;
	const struct kex_ops *ops;
	int param;                                       /* private to ops */
	bool legacy;                                     /* never in a default list */
};
/* What libcrypto lacks the hash for, or what FIPS forbids, is not there. */
const struct kex_method *kex_find(struct view name);     /* exact; NULL if unknown */
const struct kex_method *kex_at(size_t i);               /* rows for -Q, NULL past the end */

struct kex_group_size { unsigned min, wanted, max; };    /* bits; 2048 <= min <= wanted <= max <= 8192 */
/* The built-in group for a request (RFC 3526), as choose_group does it. */
int kex_builtin_group(const struct kex_group_size *size, struct buf *p, struct buf *g, struct err *e) MUST_USE;

/* What the exchange hash covers besides the method's own values; borrowed. Versions are without CR LF, KEXINIT payloads
 * begin with their type byte. */
struct kex_input {
	struct view client_version, server_version, client_kexinit, server_kexinit;
	/* Server only: its public key blob, and who signs the hash. */
	struct view host_key;
	int (*sign)(void *ctx, struct view hash, struct buf *signature, struct err *e);
	void *ctx;
	/* Server, group exchange: appends the magnitudes of a prime of min to max bits, about `wanted`, and of its generator. NULL:
	 * the built-in groups. ERR_NONE_FOUND: there is none; its text goes to the peer. */
	int (*choose_group)(void *ctx, const struct kex_group_size *size, struct buf *p, struct buf *g, struct err *e);
	void *group_ctx;
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
/* Whether the first message depends on nothing but the method, so that it can be sent as a guess. */
bool kex_can_guess(const struct kex_method *m);
/* Client, before kex_begin: bits of the largest key, block, IV or MAC key that will be derived; groups are asked for by it. */
void kex_set_key_bits(struct kex *k, unsigned bits);
/* Client: the first message. */
int kex_begin(struct kex *k, struct kex_message *out, struct err *e) MUST_USE;
/* The type of message that must come next. */
uint8_t kex_expects(const struct kex *k);
/* A message of the peer's, of that type. 1: finished, kex_result is there (and out may hold the last message to send). */
int kex_input(struct kex *k, const struct kex_input *in, struct view body, struct kex_message *out, struct err *e) MUST_USE;
const struct kex_result *kex_result(const struct kex *k);

/* RFC 4253 §7.2: n bytes of the key that `letter` ('A'..'F') names. */
int kex_derive(const struct kex *k, struct view session_id, char letter, uint8_t *out, size_t n) MUST_USE;

#endif
