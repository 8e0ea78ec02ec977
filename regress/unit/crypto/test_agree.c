/* Key agreement: both sides agree, groups are those of RFC 3526, bad values of the peer are refused. */
#include "crypto/agree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <openssl/bn.h>
#include "base/mem.h"
#include "regress/unit/crypto/unhex.h"

static const struct { enum agree_alg alg; size_t public_size, secret_size; } algs[] = {
	{ AGREE_X25519, 32, 32 }, { AGREE_P256, 65, 32 }, { AGREE_P384, 97, 48 }, { AGREE_P521, 133, 66 },
	{ AGREE_DH14, 256, 256 }, { AGREE_DH16, 512, 512 }, { AGREE_DH18, 1024, 1024 },
};

static int share(const struct agree *a, const void *p, size_t n, struct buf *out, struct err *e)
{
	buf_reset(out);
	err_clear(e);
	return agree_shared(a, (struct view){ p, n }, out, e);
}

static void both_sides_agree(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(algs); i++) {
		struct err e = { 0 };
		struct agree *a = agree_new(algs[i].alg, &e), *b = agree_new(algs[i].alg, &e);
		struct buf x = BUF_INIT(4096), y = BUF_INIT(4096);
		struct view pa, pb;

		assert_non_null(a);
		assert_non_null(b);
		pa = agree_public(a);
		pb = agree_public(b);
		if (algs[i].alg < AGREE_DH14)
			assert_int_equal(pa.n, algs[i].public_size);
		else
			assert_in_range(pa.n, algs[i].public_size - 8, algs[i].public_size);
		assert_false(view_equal(pa, pb));
		buf_put_u8(&y, 7);               /* what is there stays */
		assert_int_equal(agree_shared(a, pb, &x, &e), 0);
		assert_int_equal(agree_shared(b, pa, &y, &e), 0);
		assert_int_equal(x.size, algs[i].secret_size);
		assert_int_equal(y.size, algs[i].secret_size + 1);
		assert_memory_equal(x.data, y.data + 1, x.size);
		/* A full buffer is an error, not a short secret. */
		struct buf tiny = BUF_INIT(8);
		assert_int_equal(agree_shared(a, pb, &tiny, &e), ERR_MEMORY);
		buf_free(&tiny);
		buf_free(&x);
		buf_free(&y);
		agree_free(a);
		agree_free(b);
	}
	agree_free(NULL);
}

static BIGNUM *group_prime(enum agree_alg alg)
{
	return alg == AGREE_DH14 ? BN_get_rfc3526_prime_2048(NULL) :
		alg == AGREE_DH16 ? BN_get_rfc3526_prime_4096(NULL) : BN_get_rfc3526_prime_8192(NULL);
}

/* Our own modular exponentiation is the other side: p, g = 2, and the secret as a number. */
static void dh_groups_are_rfc3526(void **state)
{
	(void)state;
	for (enum agree_alg alg = AGREE_DH14; alg <= AGREE_DH18; alg++) {
		struct err e = { 0 };
		struct agree *a = agree_new(alg, &e);
		BN_CTX *ctx = BN_CTX_new();
		BIGNUM *p = group_prime(alg), *g = BN_new(), *x = BN_new(), *f = BN_new(), *pub;
		uint8_t value[1024], want[1024];
		struct buf got = BUF_INIT(4096);
		int n;

		assert_non_null(a);
		BN_set_word(g, 2);
		assert_int_equal(BN_hex2bn(&x, "f123456789abcdef0123456789abcdef0123456789abcdef"), 48);
		assert_int_equal(BN_mod_exp(f, g, x, p, ctx), 1);
		n = BN_bn2bin(f, value);
		assert_int_equal(share(a, value, (size_t)n, &got, &e), 0);
		pub = BN_bin2bn(agree_public(a).p, (int)agree_public(a).n, NULL);
		assert_int_equal(BN_mod_exp(f, pub, x, p, ctx), 1);
		BN_bn2binpad(f, want, BN_num_bytes(p));
		assert_int_equal(got.size, BN_num_bytes(p));
		assert_memory_equal(got.data, want, got.size);
		BN_free(pub);
		BN_free(p);
		BN_free(g);
		BN_free(x);
		BN_free(f);
		BN_CTX_free(ctx);
		buf_free(&got);
		agree_free(a);
	}
}

static void dh_bad_values(void **state)
{
	(void)state;
	for (enum agree_alg alg = AGREE_DH14; alg <= AGREE_DH16; alg++) {
		struct err e = { 0 };
		struct agree *a = agree_new(alg, &e);
		BIGNUM *p = group_prime(alg);
		uint8_t v[520] = { 0 };
		struct buf out = BUF_INIT(4096);
		size_t n = (size_t)BN_num_bytes(p);

		assert_int_equal(share(a, v, 0, &out, &e), ERR_PEER);
		assert_int_equal(share(a, v, n, &out, &e), ERR_PEER);            /* 0 */
		v[n - 1] = 1;
		assert_int_equal(share(a, v, n, &out, &e), ERR_PEER);            /* 1 */
		v[n - 1] = 2;
		assert_int_equal(share(a, v, n, &out, &e), ERR_PEER);            /* one bit */
		v[n - 1] = 7;
		assert_int_equal(share(a, v, n, &out, &e), ERR_PEER);            /* three bits */
		v[n - 1] = 15;
		assert_int_equal(share(a, v, n, &out, &e), 0);
		assert_int_equal(share(a, v + n - 1, 1, &out, &e), 0);           /* magnitudes are short */
		BN_bn2bin(p, v);
		assert_int_equal(share(a, v, n, &out, &e), ERR_PEER);            /* p */
		BN_sub_word(p, 1);
		BN_bn2bin(p, v);
		assert_int_equal(share(a, v, n, &out, &e), ERR_PEER);            /* p - 1 */
		assert_non_null(strstr(err_text(&e), "out of range"));
		BN_sub_word(p, 1);
		BN_bn2bin(p, v);
		assert_int_equal(share(a, v, n, &out, &e), 0);                   /* p - 2 */
		memset(v, 0xff, sizeof(v));
		assert_int_equal(share(a, v, n, &out, &e), ERR_PEER);            /* over p */
		assert_int_equal(share(a, v, n + 1, &out, &e), ERR_PEER);
		BN_free(p);
		buf_free(&out);
		agree_free(a);
	}
}

static void x25519_bad_values(void **state)
{
	/* RFC 7748 §6.1 and the points of low order: 0, 1, p-1, and two of order 8. */
	static const char *const low[] = {
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
		"5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
	};
	struct err e = { 0 };
	struct agree *a = agree_new(AGREE_X25519, &e);
	struct buf out = BUF_INIT(4096);
	uint8_t v[33] = { 9 };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(low); i++) {
		uint8_t point[32];

		unhex(low[i], point);
		assert_int_equal(share(a, point, 32, &out, &e), ERR_PEER);
		assert_int_equal(out.size, 0);
	}
	assert_int_equal(share(a, v, 31, &out, &e), ERR_PEER);
	assert_int_equal(share(a, v, 33, &out, &e), ERR_PEER);
	assert_int_equal(share(a, v, 0, &out, &e), ERR_PEER);
	assert_int_equal(share(a, v, 32, &out, &e), 0);          /* the base point gives our public value */
	assert_memory_equal(out.data, agree_public(a).p, 32);
	buf_free(&out);
	agree_free(a);
}

static void curve_bad_values(void **state)
{
	(void)state;
	for (enum agree_alg alg = AGREE_P256; alg <= AGREE_P521; alg++) {
		struct err e = { 0 };
		struct agree *a = agree_new(alg, &e), *b = agree_new(alg, &e);
		struct buf out = BUF_INIT(4096);
		uint8_t v[140];
		size_t n = agree_public(b).n;

		memcpy(v, agree_public(b).p, n);
		assert_int_equal(share(a, v, n, &out, &e), 0);
		assert_int_equal(share(a, v, n - 1, &out, &e), ERR_PEER);
		assert_int_equal(share(a, v, n + 1, &out, &e), ERR_PEER);
		assert_int_equal(share(a, v, 0, &out, &e), ERR_PEER);
		assert_int_equal(share(a, "", 1, &out, &e), ERR_PEER);           /* the point at infinity */
		v[n - 1] ^= 1;                                                   /* not on the curve */
		assert_int_equal(share(a, v, n, &out, &e), ERR_PEER);
		assert_int_equal(out.size, 0);
		v[n - 1] ^= 1;
		v[0] = (uint8_t)(2 + (v[n - 1] & 1));                            /* compressed */
		assert_int_equal(share(a, v, 1 + n / 2, &out, &e), ERR_PEER);
		v[0] = (uint8_t)(6 + (v[n - 1] & 1));                            /* hybrid */
		assert_int_equal(share(a, v, n, &out, &e), ERR_PEER);
		memset(v + 1, 0xff, n - 1);
		v[0] = 4;
		assert_int_equal(share(a, v, n, &out, &e), ERR_PEER);            /* coordinates over p */
		buf_free(&out);
		agree_free(a);
		agree_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_sides_agree),
		cmocka_unit_test(dh_groups_are_rfc3526),
		cmocka_unit_test(dh_bad_values),
		cmocka_unit_test(x25519_bad_values),
		cmocka_unit_test(curve_bad_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
