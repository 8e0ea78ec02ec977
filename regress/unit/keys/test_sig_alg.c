/* regress/unit/keys/test_sig_alg.c: signature algorithms, signatures made and refused. */
#include "keys/key.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "key_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct view text(const char *s)
{
	return (struct view){ (const uint8_t *)s, strlen(s) };
}

static struct view contents(const struct buf *b)
{
	return (struct view){ b->data, b->size };
}

static void test_table(void **state)
{
	static const char *const order[] = {
		"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa",
		"rsa-sha2-256", "rsa-sha2-512"
	};

	size_t n = 0;

	for (size_t i = 0; i < MEM_COUNT(order); i++) {
		assert_non_null(sig_alg_find(text(order[i])));
		assert_int_equal(sig_alg_find(text(order[i]))->legacy, i == 4);
#ifndef WITH_LEGACY_CIPHERS
		if (i == 4)
			continue;
#endif
		assert_string_equal(sig_alg_at(n)->name, order[i]);
		assert_ptr_equal(sig_alg_find(text(order[i])), sig_alg_at(n));
		n++;
	}
	assert_null(sig_alg_at(n));
	assert_null(sig_alg_find(text("")));
	assert_null(sig_alg_find(text("rsa-sha2-51")));
	assert_null(sig_alg_find(text("rsa-sha2-5122")));
	assert_null(sig_alg_find(text("SSH-RSA")));
}

static const char *const files[] = { "ed25519", "ecdsa256", "ecdsa384", "ecdsa521", "rsa" };

/* Every key with every algorithm: either it fits and verifies, and nothing near it does, or it is refused. */
static void test_sign_verify(void **state)
{
	const struct sig_alg *alg;
	size_t made = 0;

	for (size_t f = 0; f < MEM_COUNT(files); f++) {
		struct key *k = data_private(files[f]), *p = data_public(files[f]);

		for (size_t i = 0; (alg = sig_alg_at(i)) != NULL; i++) {
			struct buf sig = BUF_INIT(4096);
			struct err e = { 0 };

			if (!sig_alg_fits(alg, k)) {
				assert_int_equal(key_sign(k, alg, text("message"), &sig, &e), ERR_USAGE);
				buf_free(&sig);
				continue;
			}
			assert_int_equal(key_sign(k, alg, text("message"), &sig, &e), 0);
			assert_int_equal(key_verify(p, alg, text("message"), contents(&sig)), 0);
			assert_int_equal(key_verify(p, alg, text("messagf"), contents(&sig)), ERR_CRYPTO);
			assert_int_equal(key_verify(p, alg, text(""), contents(&sig)), ERR_CRYPTO);
			sig.data[sig.size - 1] ^= 1;
			assert_true(key_verify(p, alg, text("message"), contents(&sig)) != 0);
			sig.data[sig.size - 1] ^= 1;
			buf_put_u8(&sig, 0);
			assert_int_equal(key_verify(p, alg, text("message"), contents(&sig)), ERR_PEER);
			for (size_t n = 0; n + 1 < sig.size; n++)
				assert_true(key_verify(p, alg, text("message"), (struct view){ sig.data, n }) != 0);
			buf_free(&sig);
			made++;
		}
		key_free(k);
		key_free(p);
	}
#ifdef WITH_LEGACY_CIPHERS
	assert_int_equal(made, 7);
#else
	assert_int_equal(made, 6);       /* ssh-rsa is not listed */
#endif
}

/* A signature under another RSA name than was agreed. */
static void test_name_inside(void **state)
{
	struct key *k = data_private("rsa");
	static const char *const names[] = { "rsa-sha2-256", "ssh-rsa", "rsa-sha2-512", "rsa-sha2-25", "" };
	struct buf sig = BUF_INIT(4096), again = BUF_INIT(4096);
	struct reader r;
	struct view raw;
	const struct sig_alg *sha1 = sig_alg_find(text("ssh-rsa")), *sha2 = sig_alg_find(text("rsa-sha2-256"));

	assert_int_equal(key_sign(k, sha1, text("m"), &sig, NULL), 0);
	assert_int_equal(key_verify(k, sha1, text("m"), contents(&sig)), 0);
	assert_int_equal(key_verify(k, sha2, text("m"), contents(&sig)), ERR_CRYPTO);
	buf_free(&sig);
	/* A good SHA-2 signature that calls itself SHA-1, and one with a name of no algorithm. */
	assert_int_equal(key_sign(k, sha2, text("m"), &sig, NULL), 0);
	reader_init(&r, sig.data, sig.size);
	reader_string(&r);
	raw = reader_string(&r);
	for (size_t i = 0; i < MEM_COUNT(names); i++) {
		buf_put_cstring(&again, names[i]);
		buf_put_string(&again, raw.p, raw.n);
		assert_int_equal(key_verify(k, sha2, text("m"), contents(&again)), i == 0 ? 0 : ERR_CRYPTO);
		buf_free(&again);
	}
	buf_free(&sig);
	key_free(k);
}

static void test_other_key(void **state)
{
	struct key *k = data_private("ecdsa256"), *other = data_public("ecdsa384"), *ed = data_public("ed25519");
	const struct sig_alg *alg = sig_alg_find(text("ecdsa-sha2-nistp256"));
	struct buf sig = BUF_INIT(4096);

	assert_int_equal(key_sign(k, alg, text("m"), &sig, NULL), 0);
	assert_int_equal(key_verify(other, alg, text("m"), contents(&sig)), ERR_CRYPTO);
	assert_int_equal(key_verify(ed, alg, text("m"), contents(&sig)), ERR_CRYPTO);
	buf_free(&sig);
	assert_int_equal(key_sign(ed, sig_alg_at(0), text("m"), &sig, NULL), ERR_USAGE);
	buf_free(&sig);
	key_free(k);
	key_free(other);
	key_free(ed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table), cmocka_unit_test(test_sign_verify), cmocka_unit_test(test_name_inside),
		cmocka_unit_test(test_other_key)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
