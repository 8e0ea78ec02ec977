/* keys/key.h: SSH public and private keys: their wire form (RFC 4253 §6.6, RFC 5656, RFC 8709) and signatures. */
#ifndef KEYS_KEY_H
#define KEYS_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "crypto/digest.h"
#include "wire/buf.h"
#include "wire/reader.h"

enum key_type { KEY_RSA, KEY_ECDSA, KEY_ED25519 };

/* Plain key, or a certificate's plain key: immutable after making; shared by key_ref, released by key_free. */
struct key;

struct key *key_ref(struct key *k);
void key_free(struct key *k);                            /* NULL is fine */

enum key_type key_type(const struct key *k);
const char *key_type_name(const struct key *k);          /* wire name: "ssh-rsa", "ecdsa-sha2-nistp256", "ssh-ed25519" */
const char *key_display_name(const struct key *k);       /* "RSA", "ECDSA", "ED25519" as in logs and fingerprints */
unsigned key_bits(const struct key *k);                  /* as shown by ssh-keygen -l */
bool key_is_private(const struct key *k);

struct key *key_generate(enum key_type type, unsigned bits, struct err *e);      /* 0 bits: the default of the type */
/* Whether key_generate would take these bits: ERR_USAGE and which are possible. */
int key_check_bits(enum key_type type, unsigned bits, struct err *e) MUST_USE;

/* Public blob, computed once and kept. Borrowed from k. */
struct view key_blob(const struct key *k);
/* Parses a public blob; everything is checked; nothing may follow. Unknown types and certificates: ERR_NONE_FOUND. */
struct key *key_from_blob(struct view blob, struct err *e);
bool key_equal_public(const struct key *a, const struct key *b);

/* Private fields in the encoding of OpenSSH's PROTOCOL.key (string type first, no comment), shared by key files and the agent. */
void key_put_private(const struct key *k, struct buf *out);
struct key *key_get_private(struct reader *r, struct err *e);

/* Signature algorithm names: for RSA "rsa-sha2-512", "rsa-sha2-256" ("ssh-rsa" only where legacy is allowed). */
struct sig_alg {
	const char *name;        /* in KEXINIT, in userauth requests and in the signature blob */
	enum key_type type;
	const char *key_name;    /* type name inside the public blob */
	enum digest_alg hash;
	bool legacy;             /* ssh-rsa with SHA-1 */
};
const struct sig_alg *sig_alg_find(struct view name);    /* exact; NULL if unknown */
const struct sig_alg *sig_alg_at(size_t i);              /* rows in -Q key-sig order, NULL past the end */
const char *sig_alg_name_at(size_t i);
bool sig_alg_is_legacy(const char *name);                /* false too if it is unknown */
bool sig_alg_fits(const struct sig_alg *a, const struct key *k);

/* Signature blob: string alg, string data; appended to out. */
int key_sign(const struct key *k, const struct sig_alg *alg, struct view message, struct buf *out, struct err *e) MUST_USE;
/* The blob's algorithm name must be alg's. 0, or ERR_CRYPTO / ERR_PEER. */
int key_verify(const struct key *k, const struct sig_alg *alg, struct view message, struct view signature) MUST_USE;

/* "SHA256:base64" or "MD5:aa:bb"; allocated. */
char *key_fingerprint(const struct key *k, enum digest_alg alg);
char *key_fingerprint_blob(struct view blob, enum digest_alg alg);
/* `TYPE BASE64` without comment or newline; allocated. */
char *key_public_line(const struct key *k);
/* Randomart as of ssh-keygen -lv; allocated, 11 lines separated by newlines, none at the end. */
char *key_randomart(const struct key *k, enum digest_alg alg);
/* Bubble babble of a digest (ssh-keygen -B: SHA1 of the blob); allocated. */
char *key_bubblebabble(struct view digest);

#endif
