/* crypto/agree.h: key agreement primitives of kex/: X25519, ECDH, finite-field DH. */
#ifndef CRYPTO_AGREE_H
#define CRYPTO_AGREE_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "wire/buf.h"
#include "wire/reader.h"

enum agree_alg {
	AGREE_X25519, AGREE_P256, AGREE_P384, AGREE_P521,
	AGREE_DH14, AGREE_DH16, AGREE_DH18,      /* RFC 3526 groups, 2048, 4096, 8192 bits */
	AGREE_DH1                                /* RFC 2409's second Oakley group, 1024 bits: for old peers only */
};

struct agree;    /* one side's ephemeral secret */
struct agree *agree_new(enum agree_alg alg, struct err *e);
/* DH in a group that is given by magnitudes and was checked (dh_group.h): at most 8192 bits. */
struct agree *agree_new_group(struct view p, struct view g, struct err *e);
void agree_free(struct agree *a);                        /* wipes */
/* X25519: 32 bytes; ECDH: uncompressed point; DH: magnitude of e or f. Borrowed. */
struct view agree_public(const struct agree *a);
/* Shared secret as a big-endian magnitude (the caller writes it as mpint), appended to out. Checks: sizes, point on
 * curve, X25519 not all zero (RFC 8731 §3), DH value in 2..p-2 with at least 4 one bits. ERR_PEER or ERR_CRYPTO. */
int agree_shared(const struct agree *a, struct view peer, struct buf *out, struct err *e) MUST_USE;

#endif
