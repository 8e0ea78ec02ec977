/* crypto/libcrypto.h: the algorithms that crypto_init fetched, as libcrypto's objects. For crypto/ only.
 *
 * The table behind this is the one piece of state of crypto/: written by crypto_init and crypto_load_legacy, which come before any thread, and not changed afterwards, so that
 * threads may read it. */
#ifndef CRYPTO_LIBCRYPTO_H
#define CRYPTO_LIBCRYPTO_H

#include <openssl/types.h>
#include "base/err.h"
#include "crypto/digest.h"

/* Borrowed, valid for the life of the process; NULL if libcrypto does not offer it. Names: libcrypto's. */
const EVP_MD *libcrypto_md(enum digest_alg alg);
const EVP_CIPHER *libcrypto_cipher(const char *name);
EVP_MAC *libcrypto_mac(const char *name);

/* Records "what: <libcrypto's reason>", or the number of the reason as ERR_CRYPTO, empties libcrypto's error queue, returns ERR_CRYPTO. */
int libcrypto_error(struct err *e, const char *what);

#endif
