/* crypto/crypto.h: libcrypto made ready for a process; what it offers. */
#ifndef CRYPTO_CRYPTO_H
#define CRYPTO_CRYPTO_H

#include <stdbool.h>
#include "crypto/digest.h"

/* Fetches every algorithm this suite uses, once, and draws the first random bytes. To be called at the start of a process,
 * before threads, chroot and sandbox: afterwards no file is opened and nothing is fetched. What libcrypto does not
 * offer (FIPS, a trimmed build) is simply absent from then on. Calling it again does nothing; it is also called by
 * whatever of crypto/ is used first. */
void crypto_init(void);

/* Whether libcrypto gave us the hash, or the cipher or MAC of this (libcrypto's) name. */
bool crypto_has_digest(enum digest_alg alg);
bool crypto_has_cipher(const char *name);
bool crypto_has_mac(const char *name);

/* "OpenSSL 3.0.22 25 Aug 2026", for -V and logs. */
const char *crypto_version(void);

#endif
