/* Keys: generation, import and export, signatures, what must be refused. PEM and foreign keys: test_pkey_pem.c. */
#include "crypto/pkey.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "regress/unit/crypto/unhex.h"

#define TEXT(s) ((struct view){ (const uint8_t *)(s), sizeof(s) - 1 })

static const struct { enum pkey_kind kind; unsigned bits; enum digest_alg hash; } kinds[] = {
	{ PKEY_RSA, 1024, DIGEST_SHA256 }, { PKEY_RSA, 1024, DIGEST_SHA512 }, { PKEY_RSA, 2048, DIGEST_SHA1 },
	{ PKEY_ECDSA_P256, 256, DIGEST_SHA256 }, { PKEY_ECDSA_P384, 384, DIGEST_SHA384 },
	{ PKEY_ECDSA_P521, 521, DIGEST_SHA512 }, { PKEY_ED25519, 256, DIGEST_SHA512 },
};

static struct pkey *generate(enum pkey_kind kind, unsigned bits)
{
	struct err e = { 0 };
	struct pkey *k = pkey_generate(kind, bits, &e);

	if (k == NULL)
		fail_msg("%s", err_text(&e));
	return k;
}

static struct pkey *reimport(const struct pkey *k, bool with_private)
{
	struct pkey_export x;
	struct err e = { 0 };
	struct pkey *copy;

	assert_int_equal(pkey_export(k, with_private, &x, &e), 0);
	copy = pkey_import(pkey_kind(k), &x.parts, &e);
	if (copy == NULL)
		fail_msg("%s", err_text(&e));
	assert_int_equal(pkey_is_private(copy), with_private);
	pkey_export_free(&x);
	return copy;
}

static void sign_and_verify(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(kinds); i++) {
		struct pkey *k = generate(kinds[i].kind, kinds[i].bits), *pub, *back, *other;
		struct buf sig = BUF_INIT(8192), sig2 = BUF_INIT(8192);
		struct err e = { 0 };

		assert_int_equal(pkey_kind(k), kinds[i].kind);
		assert_int_equal(pkey_bits(k), kinds[i].bits);
		assert_true(pkey_is_private(k));
		pub = reimport(k, false);
		back = reimport(k, true);
		other = generate(kinds[i].kind, kinds[i].bits);
		assert_int_equal(pkey_bits(pub), kinds[i].bits);

		assert_int_equal(pkey_sign(back, kinds[i].hash, TEXT("message"), &sig, &e), 0);
		if (kinds[i].kind == PKEY_RSA)
			assert_int_equal(sig.size, kinds[i].bits / 8);
		struct view s = { sig.data, sig.size };
		assert_int_equal(pkey_verify(pub, kinds[i].hash, TEXT("message"), s), 0);
		assert_int_equal(pkey_verify(k, kinds[i].hash, TEXT("message"), s), 0);
		assert_int_equal(pkey_verify(other, kinds[i].hash, TEXT("message"), s), ERR_CRYPTO);
		assert_int_equal(pkey_verify(pub, kinds[i].hash, TEXT("Message"), s), ERR_CRYPTO);
		assert_int_equal(pkey_verify(pub, kinds[i].hash, TEXT(""), s), ERR_CRYPTO);
		if (kinds[i].kind != PKEY_ED25519)
			assert_int_equal(pkey_verify(pub, kinds[i].hash == DIGEST_SHA1 ? DIGEST_SHA256 : DIGEST_SHA1,
				TEXT("message"), s), ERR_CRYPTO);
		for (size_t at = 0; at < s.n; at++) {
			sig.data[at] ^= 1;
			assert_int_equal(pkey_verify(pub, kinds[i].hash, TEXT("message"), s), ERR_CRYPTO);
			sig.data[at] ^= 1;
		}
		for (size_t n = 0; n < s.n; n++)
			assert_int_equal(pkey_verify(pub, kinds[i].hash, TEXT("message"),
				(struct view){ sig.data, n }), ERR_CRYPTO);
		buf_put_u8(&sig, 0);
		assert_int_equal(pkey_verify(pub, kinds[i].hash, TEXT("message"),
			(struct view){ sig.data, sig.size }), ERR_CRYPTO);

		/* a public key cannot sign; a full buffer is an error */
		assert_int_equal(pkey_sign(pub, kinds[i].hash, TEXT("x"), &sig2, &e), ERR_USAGE);
		struct buf tiny = BUF_INIT(8);
		assert_int_equal(pkey_sign(k, kinds[i].hash, TEXT("x"), &tiny, &e), ERR_MEMORY);
		buf_free(&tiny);
		buf_free(&sig);
		buf_free(&sig2);
		pkey_free(pub);
		pkey_free(back);
		pkey_free(other);
		pkey_free(k);
	}
}

static void md5_is_no_signature_hash(void **state)
{
	struct pkey *k = generate(PKEY_RSA, 1024);
	struct buf sig = BUF_INIT(8192);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(pkey_sign(k, DIGEST_MD5, TEXT("x"), &sig, &e), ERR_CRYPTO);
	assert_int_equal(sig.size, 0);
	pkey_free(k);
}

static void rsa_without_leading_zeros(void **state)
{
	struct pkey *k = generate(PKEY_RSA, 1024);
	bool found = false;

	(void)state;
	for (uint32_t i = 0; i < 20000 && !found; i++) {
		struct buf sig = BUF_INIT(8192);
		struct err e = { 0 };
		struct view m = { (const uint8_t *)&i, sizeof(i) };

		assert_int_equal(pkey_sign(k, DIGEST_SHA256, m, &sig, &e), 0);
		assert_int_equal(sig.size, 128);
		if (sig.data[0] == 0) {
			found = true;
			assert_int_equal(pkey_verify(k, DIGEST_SHA256, m, (struct view){ sig.data + 1, 127 }), 0);
			assert_int_equal(pkey_verify(k, DIGEST_SHA256, m, (struct view){ sig.data + 2, 126 }),
				sig.data[1] == 0 ? 0 : ERR_CRYPTO);
		}
		buf_free(&sig);
	}
	assert_true(found);
	pkey_free(k);
}

static void ed25519_known_answer(void **state)
{
	/* RFC 8032 §7.1 test 2 */
	uint8_t seed[32], pub[32], want[64];
	struct pkey_parts parts = { .q = { pub, 32 }, .d = { seed, 32 } };
	struct buf sig = BUF_INIT(100);
	struct err e = { 0 };
	struct pkey *k;

	(void)state;
	unhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", seed);
	unhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", pub);
	unhex("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
		"085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00", want);
	k = pkey_import(PKEY_ED25519, &parts, &e);
	assert_non_null(k);
	assert_int_equal(pkey_sign(k, DIGEST_SHA512, (struct view){ (const uint8_t *)"r", 1 }, &sig, &e), 0);
	assert_int_equal(sig.size, 64);
	assert_memory_equal(sig.data, want, 64);
	pkey_free(k);
	buf_free(&sig);
}

static void ecdsa_known_answer(void **state)
{
	/* RFC 6979 A.2.5: P-256, SHA-256, "sample" */
	uint8_t q[65] = { 4 }, d[32], r[32], s[32];
	struct pkey_parts parts = { .q = { q, 65 }, .d = { d, 32 } };
	struct buf sig = BUF_INIT(100);
	struct err e = { 0 };
	struct pkey *k;

	(void)state;
	unhex("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721", d);
	unhex("60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
		"7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299", q + 1);
	unhex("efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716", r);
	unhex("f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8", s);
	k = pkey_import(PKEY_ECDSA_P256, &parts, &e);
	assert_non_null(k);
	buf_put_mpint(&sig, r, 32);
	buf_put_mpint(&sig, s, 32);
	assert_int_equal(pkey_verify(k, DIGEST_SHA256, TEXT("sample"), (struct view){ sig.data, sig.size }), 0);
	pkey_free(k);
	/* zero, negative and oversized numbers */
	k = pkey_import(PKEY_ECDSA_P256, &parts, &e);
	for (int bad = 0; bad < 4; bad++) {
		buf_reset(&sig);
		buf_put_mpint(&sig, r, bad == 0 ? 0 : 32);
		if (bad == 1)
			buf_put_string(&sig, s, 32);             /* top bit set: negative */
		else if (bad == 2)
			buf_put_mpint(&sig, q, 65);
		else
			buf_put_mpint(&sig, s, bad == 3 ? 0 : 32);
		assert_int_equal(pkey_verify(k, DIGEST_SHA256, TEXT("sample"),
			(struct view){ sig.data, sig.size }), ERR_CRYPTO);
	}
	pkey_free(k);
	buf_free(&sig);
}

static void dup_shares(void **state)
{
	struct pkey *k = generate(PKEY_ED25519, 0), *d = pkey_dup(k);
	struct buf sig = BUF_INIT(100);
	struct err e = { 0 };

	(void)state;
	pkey_free(k);
	assert_int_equal(pkey_sign(d, DIGEST_SHA512, TEXT("x"), &sig, &e), 0);
	assert_int_equal(pkey_verify(d, DIGEST_SHA512, TEXT("x"), (struct view){ sig.data, sig.size }), 0);
	pkey_free(d);
	pkey_free(NULL);
	buf_free(&sig);
}

static void refused(enum pkey_kind kind, const struct pkey_parts *parts)
{
	struct err e = { 0 };
	struct pkey *k = pkey_import(kind, parts, &e);

	if (k != NULL)
		fail_msg("a bad key of kind %d was accepted", (int)kind);
	assert_int_equal(e.code, ERR_PEER);
	assert_true(strlen(e.text) > 0);
}

/* Every part changed at its last byte, cut, and taken from another key. */
static void private_must_fit(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(kinds); i++) {
		struct pkey *k = generate(kinds[i].kind, kinds[i].bits), *o = generate(kinds[i].kind, kinds[i].bits);
		struct pkey_export x, y;
		struct err e = { 0 };

		assert_int_equal(pkey_export(k, true, &x, &e), 0);
		assert_int_equal(pkey_export(o, true, &y, &e), 0);
		for (size_t part = 0; part < sizeof(struct pkey_parts) / sizeof(struct view); part++) {
			struct view *v = (struct view *)&x.parts + part, old = *v;

			if (old.n == 0)
				continue;
			*v = ((struct view *)&y.parts)[part];
			if (!view_equal(*v, old))                /* the exponent is the same */
				refused(kinds[i].kind, &x.parts);
			*v = old;
			((uint8_t *)v->p)[v->n - 1] ^= 2;
			refused(kinds[i].kind, &x.parts);
			((uint8_t *)v->p)[v->n - 1] ^= 2;
			v->n--;
			if (v->n > 0)
				refused(kinds[i].kind, &x.parts);
			*v = old;
		}
		pkey_export_free(&x);
		pkey_export_free(&y);
		pkey_free(k);
		pkey_free(o);
	}
}

static void rsa_sizes(void **state)
{
	static uint8_t n[3000];
	uint8_t e3 = 3, e1 = 1, e2 = 2;
	struct err e = { 0 };
	struct pkey *k;

	(void)state;
	memset(n, 0xff, sizeof(n));
	refused(PKEY_RSA, &(struct pkey_parts){ .n = { n, 127 }, .e = { &e3, 1 } });
	refused(PKEY_RSA, &(struct pkey_parts){ .n = { n, 2049 }, .e = { &e3, 1 } });
	refused(PKEY_RSA, &(struct pkey_parts){ .n = { n, 3000 }, .e = { &e3, 1 } });
	refused(PKEY_RSA, &(struct pkey_parts){ .n = { n, 128 }, .e = { &e1, 1 } });
	refused(PKEY_RSA, &(struct pkey_parts){ .n = { n, 128 }, .e = { &e2, 1 } });
	refused(PKEY_RSA, &(struct pkey_parts){ .n = { n, 128 }, .e = { n, 128 } });
	refused(PKEY_RSA, &(struct pkey_parts){ .n = { n, 128 } });
	refused(PKEY_RSA, &(struct pkey_parts){ .e = { &e3, 1 } });
	refused(PKEY_RSA, &(struct pkey_parts){ .n = { NULL, 0 } });
	k = pkey_import(PKEY_RSA, &(struct pkey_parts){ .n = { n, 2048 }, .e = { &e3, 1 } }, &e);
	assert_non_null(k);
	assert_int_equal(pkey_bits(k), 16384);
	/* A signature of the largest size is handled. */
	assert_int_equal(pkey_verify(k, DIGEST_SHA256, TEXT("x"), (struct view){ n, 2048 }), ERR_CRYPTO);
	pkey_free(k);
	n[127] = 0xfe;
	refused(PKEY_RSA, &(struct pkey_parts){ .n = { n, 128 }, .e = { &e3, 1 } });
	assert_null(pkey_generate(PKEY_RSA, 1023, &e));
	assert_int_equal(e.code, ERR_USAGE);
	assert_null(pkey_generate(PKEY_RSA, 16385, NULL));
}

static void public_points(void **state)
{
	uint8_t q[200];

	(void)state;
	for (enum pkey_kind kind = PKEY_ECDSA_P256; kind <= PKEY_ECDSA_P521; kind++) {
		struct pkey *k = generate(kind, 0);
		struct pkey_export x;
		struct err e = { 0 };
		size_t n;

		assert_int_equal(pkey_export(k, false, &x, &e), 0);
		assert_int_equal(x.parts.d.n, 0);
		n = x.parts.q.n;
		memcpy(q, x.parts.q.p, n);
		q[n - 1] ^= 1;
		refused(kind, &(struct pkey_parts){ .q = { q, n } });
		q[n - 1] ^= 1;
		q[0] = (uint8_t)(2 + (q[n - 1] & 1));
		refused(kind, &(struct pkey_parts){ .q = { q, 1 + n / 2 } });
		q[0] = 0;
		refused(kind, &(struct pkey_parts){ .q = { q, 1 } });
		refused(kind, &(struct pkey_parts){ .q = { q, 0 } });
		/* a point of another curve */
		refused(kind == PKEY_ECDSA_P256 ? PKEY_ECDSA_P384 : PKEY_ECDSA_P256, &x.parts);
		pkey_export_free(&x);
		assert_int_equal(pkey_export(k, true, &x, &e), 0);
		assert_int_equal(x.parts.d.n, n / 2);
		/* scalar zero, and one over the order */
		memset(q, 0, sizeof(q));
		refused(kind, &(struct pkey_parts){ .q = x.parts.q, .d = { q, 1 } });
		memset(q, 0xff, sizeof(q));
		refused(kind, &(struct pkey_parts){ .q = x.parts.q, .d = { q, n / 2 } });
		pkey_export_free(&x);
		pkey_free(k);
	}
	refused(PKEY_ED25519, &(struct pkey_parts){ .q = { q, 31 } });
	refused(PKEY_ED25519, &(struct pkey_parts){ .q = { q, 33 } });
	refused(PKEY_ED25519, &(struct pkey_parts){ .d = { q, 32 } });
}

static void public_has_no_private_part(void **state)
{
	struct pkey *k = generate(PKEY_ED25519, 0), *pub = reimport(k, false);
	struct pkey_export x;
	struct err e = { 0 };
	struct buf out = BUF_INIT(8192);

	(void)state;
	assert_int_equal(pkey_export(pub, true, &x, &e), ERR_USAGE);
	assert_int_equal(pkey_pem_write(pub, true, NULL, &out, &e), ERR_USAGE);
	pkey_free(k);
	pkey_free(pub);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sign_and_verify),
		cmocka_unit_test(md5_is_no_signature_hash),
		cmocka_unit_test(rsa_without_leading_zeros),
		cmocka_unit_test(ed25519_known_answer),
		cmocka_unit_test(ecdsa_known_answer),
		cmocka_unit_test(dup_shares),
		cmocka_unit_test(private_must_fit),
		cmocka_unit_test(rsa_sizes),
		cmocka_unit_test(public_points),
		cmocka_unit_test(public_has_no_private_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
