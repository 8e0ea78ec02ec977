/* crypto/crypto.h: libcrypto made ready for a process; what it offers. */
#ifndef CRYPTO_CRYPTO_H
#define CRYPTO_CRYPTO_H

#include <stdbool.h>
#include "base/err.h"
#include "crypto/digest.h"

/* Fetches every algorithm this suite uses, once, and draws the first random bytes. To be called at the start of a process,
 * before threads, chroot and sandbox: afterwards no file is opened and nothing is fetched. What libcrypto does not
 * offer (FIPS, a trimmed build) is simply absent from then on. Calling it again does nothing; it is also called by
 * whatever of crypto/ is used first. */
void crypto_init(void);
/* Of these only what signing and verifying take: for a process that has no connection of its own, such as the monitor. The rest
 * follows by itself if it is used after all. */
void crypto_init_signing(void);

/* RC4, Blowfish and CAST-128 are in libcrypto's legacy provider, a module file that most processes never need: it is loaded
 * here, and the default provider before it by name, for libcrypto no longer does that by itself once any other is asked for.
 * Before threads, chroot and sandbox like crypto_init. ERR_CRYPTO with the reason where it cannot be had (no such module, FIPS);
 * the first answer stays. */
int crypto_load_legacy(struct err *e) MUST_USE;
/* From now on it is not loaded if it is not there: what is called a module inside a chroot is somebody else's. */
void crypto_load_no_more(void);
/* Whether crypto_load_legacy is what may give a cipher of this (libcrypto's) name. */
bool crypto_is_legacy(const char *cipher_name);

/* Whether libcrypto gave us the hash, or the cipher or MAC of this (libcrypto's) name. */
bool crypto_has_digest(enum digest_alg alg);
bool crypto_has_cipher(const char *name);
bool crypto_has_mac(const char *name);

/* Whether this system wants validated code only (FIPS): then what is ours in place of libcrypto's is not offered. */
bool crypto_is_fips(void);

/* "OpenSSL 3.0.22 25 Aug 2026", for -V and logs. */
const char *crypto_version(void);

#endif
