/* crypto/pkey_evp.h: what the pkey_*.c files share. For crypto/ only. */
#ifndef CRYPTO_PKEY_EVP_H
#define CRYPTO_PKEY_EVP_H

#include <stdbool.h>
#include <stddef.h>
#include <openssl/types.h>
#include "crypto/pkey.h"

struct pkey {
	enum pkey_kind kind;
	bool is_private;
	unsigned bits;
	size_t size;             /* RSA: bytes of the modulus */
	EVP_PKEY *evp;           /* one reference */
};

struct pkey_curve {
	const char *name, *other_name;   /* libcrypto's, when asked for and when telling */
	size_t size;                     /* bytes of a coordinate and of a scalar */
	unsigned bits;
};

const struct pkey_curve *pkey_curve(enum pkey_kind kind);       /* NULL unless ECDSA */
struct pkey *pkey_wrap(enum pkey_kind kind, EVP_PKEY *evp, bool is_private);     /* takes the reference */

#endif
