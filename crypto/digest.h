/* crypto/digest.h: hashes and HMAC over libcrypto. */
#ifndef CRYPTO_DIGEST_H
#define CRYPTO_DIGEST_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "wire/reader.h"

enum digest_alg { DIGEST_MD5, DIGEST_SHA1, DIGEST_SHA256, DIGEST_SHA384, DIGEST_SHA512 };
enum { DIGEST_MAX = 64 };

size_t digest_size(enum digest_alg alg);                 /* bytes */
const char *digest_name(enum digest_alg alg);            /* "SHA256" as in fingerprints */
int digest_parse(const char *name, enum digest_alg *out) MUST_USE;   /* any case */

/* Hash of the concatenation of `count` views. out holds digest_size bytes. */
int digest_of(enum digest_alg alg, const struct view *v, size_t count, uint8_t *out) MUST_USE;
int digest_bytes(enum digest_alg alg, const void *p, size_t n, uint8_t *out) MUST_USE;
int digest_hmac(enum digest_alg alg, const void *key, size_t key_size, const void *p, size_t n, uint8_t *out) MUST_USE;

/* Running hash. NULL when libcrypto does not offer alg (FIPS). */
struct digest;
struct digest *digest_new(enum digest_alg alg);
void digest_update(struct digest *d, const void *p, size_t n);
int digest_final(struct digest *d, uint8_t *out) MUST_USE;           /* d may only be freed afterwards */
void digest_free(struct digest *d);

#endif
