/* crypto/dh_group.c: groups for Diffie-Hellman over libcrypto's numbers. */
#include "crypto/dh_group.h"

#include <openssl/bn.h>
#include "base/mem.h"
#include "crypto/crypto.h"
#include "crypto/libcrypto.h"

enum { GROUP_BYTES_MAX = 1024, SMALL_MAX = 2000 };

static const struct group_row { unsigned bits; BIGNUM *(*prime)(BIGNUM *out); } rows[] = {
	{ 1024, BN_get_rfc2409_prime_1024 }, { 2048, BN_get_rfc3526_prime_2048 }, { 3072, BN_get_rfc3526_prime_3072 },
	{ 4096, BN_get_rfc3526_prime_4096 }, { 6144, BN_get_rfc3526_prime_6144 }, { 8192, BN_get_rfc3526_prime_8192 },
};

int dh_group_builtin(unsigned bits, struct buf *p, struct buf *g)
{
	static const uint8_t two[1] = { 2 };     /* the generator of all of them */
	uint8_t bytes[GROUP_BYTES_MAX];
	BIGNUM *n = NULL;
	int r = ERR_NONE_FOUND;

	for (size_t i = 0; i < MEM_COUNT(rows); i++)
		if (rows[i].bits == bits)
			n = rows[i].prime(NULL);
	if (n != NULL && BN_num_bytes(n) <= GROUP_BYTES_MAX) {
		buf_put(p, bytes, (size_t)BN_bn2bin(n, bytes));
		buf_put(g, two, sizeof(two));
		r = buf_ok(p) && buf_ok(g) ? 0 : ERR_MEMORY;
	}
	BN_free(n);
	return r;
}

unsigned dh_group_bits(struct view p)
{
	unsigned bits;

	for (; p.n != 0 && p.p[0] == 0; p.n--)
		p.p++;
	if (p.n == 0)
		return 0;
	for (bits = 8; (p.p[0] >> (bits - 1)) == 0; bits--)
		;
	return (unsigned)(p.n - 1) * 8 + bits;
}

unsigned dh_group_exponent_bits(unsigned bits)
{
	static const struct { unsigned group, exponent; } sizes[] = {
		{ 2048, 320 }, { 3072, 420 }, { 4096, 480 }, { 6144, 540 },
	};

	for (size_t i = 0; i < MEM_COUNT(sizes); i++)
		if (bits <= sizes[i].group)
			return sizes[i].exponent;
	return 620;
}

static bool is_builtin(const BIGNUM *p)
{
	bool found = false;

	for (size_t i = 1; !found && i < MEM_COUNT(rows); i++) {
		BIGNUM *known = rows[i].bits == (unsigned)BN_num_bits(p) ? rows[i].prime(NULL) : NULL;

		found = known != NULL && BN_cmp(known, p) == 0;
		BN_free(known);
	}
	return found;
}

static bool has_small_factor(const BIGNUM *n)
{
	for (BN_ULONG d = 3; d < SMALL_MAX; d += 2)
		if (BN_mod_word(n, d) == 0)
			return true;
	return false;
}

/* One round of Miller and Rabin for an odd n: n - 1 is 2^s times an odd d; a^d is 1, or one of its squarings n - 1. */
static bool probably_prime(const BIGNUM *n, BN_CTX *ctx)
{
	BIGNUM *less, *d, *a, *x;
	bool prime = false;
	int s = 0;

	BN_CTX_start(ctx);
	less = BN_CTX_get(ctx);
	d = BN_CTX_get(ctx);
	a = BN_CTX_get(ctx);
	x = BN_CTX_get(ctx);
	if (x == NULL || BN_copy(less, n) == NULL || BN_sub_word(less, 1) != 1)
		goto out;
	while (!BN_is_bit_set(less, s))
		s++;
	/* 2 <= a <= n - 2 */
	if (BN_rshift(d, less, s) != 1 || BN_copy(x, less) == NULL || BN_sub_word(x, 2) != 1 || BN_rand_range(a, x) != 1 ||
	    BN_add_word(a, 2) != 1 || BN_mod_exp(x, a, d, n, ctx) != 1)
		goto out;
	prime = BN_is_one(x) || BN_cmp(x, less) == 0;
	for (; !prime && s > 1 && BN_mod_sqr(x, x, n, ctx) == 1; s--)
		prime = BN_cmp(x, less) == 0;
out:
	BN_CTX_end(ctx);
	return prime;
}

/* One round lets one in four numbers pass that were made to pass; an honest mistake does not. Who offers a prime that it knows how to
 * break could as well tell what was sent, so more rounds would buy little for their time. */
static bool is_safe_prime(const BIGNUM *p)
{
	BN_CTX *ctx = BN_CTX_new();
	BIGNUM *q = BN_dup(p);
	bool safe = ctx != NULL && q != NULL && BN_rshift1(q, q) == 1 && BN_is_odd(q) && !has_small_factor(p) &&
		!has_small_factor(q) && probably_prime(q, ctx) && probably_prime(p, ctx);

	BN_free(q);
	BN_CTX_free(ctx);
	return safe;
}

int dh_group_check(struct view p, struct view g, unsigned min, unsigned max, struct err *e)
{
	unsigned bits = dh_group_bits(p);
	BIGNUM *prime, *generator;
	int r = 0;

	if (bits < min || bits > max || p.n > GROUP_BYTES_MAX || g.n > p.n)
		return err_set(e, ERR_PEER, "a group of %u bits is not between %u and %u", bits, min, max);
	crypto_init();
	prime = BN_bin2bn(p.p, (int)p.n, NULL);
	generator = BN_bin2bn(g.p, (int)g.n, NULL);
	if (prime == NULL || generator == NULL)
		r = libcrypto_error(e, "key agreement");
	else if (!BN_is_odd(prime) || (!is_builtin(prime) && !is_safe_prime(prime)))
		r = err_set(e, ERR_PEER, "the modulus of the group is not a safe prime");
	/* p is odd: g <= p - 2 is g + 1 < p */
	else if (BN_is_zero(generator) || BN_is_one(generator) || BN_add_word(generator, 1) != 1 ||
	    BN_cmp(generator, prime) >= 0)
		r = err_set(e, ERR_PEER, "the generator of the group is out of range");
	BN_free(prime);
	BN_free(generator);
	return r;
}
