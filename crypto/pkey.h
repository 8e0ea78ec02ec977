/* crypto/pkey.h: RSA, ECDSA and Ed25519 keys as libcrypto holds them; no SSH formats here (keys/ has those). */
#ifndef CRYPTO_PKEY_H
#define CRYPTO_PKEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "crypto/digest.h"
#include "wire/buf.h"
#include "wire/reader.h"

enum pkey_kind { PKEY_RSA, PKEY_ECDSA_P256, PKEY_ECDSA_P384, PKEY_ECDSA_P521, PKEY_ED25519 };

struct pkey;     /* owned by whoever made it; immutable */
void pkey_free(struct pkey *k);
struct pkey *pkey_dup(const struct pkey *k);             /* shares the libcrypto key by reference */
enum pkey_kind pkey_kind(const struct pkey *k);
unsigned pkey_bits(const struct pkey *k);                /* RSA modulus, curve size, 256 for Ed25519 */
bool pkey_is_private(const struct pkey *k);

struct pkey *pkey_generate(enum pkey_kind kind, unsigned rsa_bits, struct err *e);

/* Components as big-endian magnitudes or fixed bytes. Views are borrowed. Parts that are absent have n 0.
 * RSA: n, e and for private keys d, p, q, iqmp. ECDSA: q = uncompressed point, d = private scalar.
 * Ed25519: q = 32 byte public key, d = 32 byte seed. Checked on import: sizes (RSA 1024..16384 bits, e odd > 1), point
 * on its curve, private part fits the public one. */
struct pkey_parts { struct view n, e, d, p, q, iqmp; };
struct pkey *pkey_import(enum pkey_kind kind, const struct pkey_parts *parts, struct err *e);

/* The parts of a key, held in one wiped buffer. */
struct pkey_export { struct pkey_parts parts; struct buf store; };
int pkey_export(const struct pkey *k, bool with_private, struct pkey_export *out, struct err *e) MUST_USE;
void pkey_export_free(struct pkey_export *x);

/* Raw signatures: RSA PKCS#1 v1.5 at modulus length; ECDSA as r and s magnitudes; Ed25519 64 bytes (hash unused).
 * RSA and ECDSA hash the message with `hash`. out is appended to: RSA and Ed25519 bytes; ECDSA mpint r, mpint s. */
int pkey_sign(const struct pkey *k, enum digest_alg hash, struct view message, struct buf *out, struct err *e) MUST_USE;
/* 0 valid, ERR_CRYPTO not. ECDSA: sig = mpint r, mpint s, nothing after. RSA: shorter signatures are accepted. */
int pkey_verify(const struct pkey *k, enum digest_alg hash, struct view message, struct view sig) MUST_USE;

/* PEM: traditional and PKCS#8, encrypted or not. passphrase NULL: none given. ERR_DENIED: passphrase missing or wrong. */
struct pkey *pkey_pem_read(const char *text, size_t n, const char *passphrase, struct err *e);
/* pkcs8 false: traditional (RSA, ECDSA). passphrase NULL or "": unencrypted. */
int pkey_pem_write(const struct pkey *k, bool pkcs8, const char *passphrase, struct buf *out, struct err *e) MUST_USE;

#endif
