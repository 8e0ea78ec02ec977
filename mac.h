/* mac.h: packet MACs (RFC 4253 §6.4, RFC 6668, RFC 4418) and their encrypt-then-mac forms. */
#ifndef MAC_H
#define MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "wire/reader.h"

struct mac_alg {
	const char *name;
	uint16_t key_size, tag_size;
	bool etm;                        /* MAC over the sealed packet, length in clear */
	bool legacy;
	uint8_t kind;                    /* private to mac.c */
	uint8_t param;
};

const struct mac_alg *mac_find(struct view name);        /* NULL if unknown; "none" is found */
const struct mac_alg *mac_at(size_t i);                  /* rows for -Q, without none */
const char *mac_name_at(size_t i);

struct mac;
struct mac *mac_new(const struct mac_alg *alg, const uint8_t *key, struct err *e);
void mac_free(struct mac *m);
const struct mac_alg *mac_alg(const struct mac *m);
/* HMAC: over uint32 seq and the n bytes; UMAC: over the bytes with seq as nonce. tag holds tag_size bytes. */
int mac_compute(struct mac *m, uint32_t seq, const uint8_t *p, size_t n, uint8_t *tag) MUST_USE;
/* Constant time. ERR_CRYPTO when it differs. */
int mac_check(struct mac *m, uint32_t seq, const uint8_t *p, size_t n, const uint8_t *tag) MUST_USE;

#endif
