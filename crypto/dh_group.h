/* crypto/dh_group.h: finite-field groups by their numbers: those that are built in, and whether one that came from elsewhere will do. */
#ifndef CRYPTO_DH_GROUP_H
#define CRYPTO_DH_GROUP_H

#include "base/err.h"
#include "wire/buf.h"
#include "wire/reader.h"

/* Appends magnitudes of the prime and the generator of the group of that many bits: RFC 3526 (2048, 3072, 4096, 6144, 8192), or the second
 * Oakley group of RFC 2409 (1024). ERR_NONE_FOUND: there is none. */
int dh_group_builtin(unsigned bits, struct buf *p, struct buf *g) MUST_USE;
/* Bits of a magnitude. */
unsigned dh_group_bits(struct view p);
/* Bits that a secret exponent needs in a group of that many (RFC 3526 §8, its higher estimates, twice). */
unsigned dh_group_exponent_bits(unsigned bits);
/* Is p odd, of min to max bits and, as far as one round of Miller and Rabin with a random base tells, a safe prime (p and
 * (p-1)/2 are prime: RFC 4419 §3), and g in 2 .. p-2? Takes 10 ms for 2048 bits, 400 for 8192; built-in groups are known at
 * once. ERR_PEER and why not. */
int dh_group_check(struct view p, struct view g, unsigned min, unsigned max, struct err *e) MUST_USE;

#endif
