/* keys/key_impl.h: the inside of struct key. Only for keys/. */
#ifndef KEYS_KEY_IMPL_H
#define KEYS_KEY_IMPL_H

#include "crypto/pkey.h"
#include "keys/key.h"

struct key_impl;

/* How one shape of key (RSA, ECDSA, Ed25519) is written. Views that a get fills are borrowed from the reader's bytes;
 * get_private reads what follows the type name, public parts included. */
struct key_shape {
	void (*put_public)(const struct key_impl *impl, const struct pkey_parts *parts, struct buf *out);
	int (*get_public)(const struct key_impl *impl, struct reader *r, struct pkey_parts *parts, struct err *e);
	void (*put_private)(const struct key_impl *impl, const struct pkey_parts *parts, struct buf *out);
	int (*get_private)(const struct key_impl *impl, struct reader *r, struct pkey_parts *parts, struct err *e);
};

/* One row a wire name. */
struct key_impl {
	const char *name;        /* wire */
	const char *display;
	const char *curve;       /* RFC 5656 §10.1 identifier; NULL unless ECDSA */
	enum key_type type;
	enum pkey_kind kind;
	unsigned bits;           /* of a fixed size; 0 for RSA */
	const struct key_shape *shape;
};

extern const struct key_shape key_shape_rsa, key_shape_ecdsa, key_shape_ed25519;

const struct key_impl *key_impl_find(struct view name);  /* NULL if unknown */

/* Takes over pkey, also on failure. */
struct key *key_from_pkey(struct pkey *pkey, struct err *e);
const struct pkey *key_pkey(const struct key *k);

#endif
