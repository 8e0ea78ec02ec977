/* regress/unit/keys/test_key.c: key types, their wire form, private fields, reference counts. */
#include "keys/key.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "key_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct {
	const char *file, *name, *display;
	enum key_type type;
	unsigned bits;
} kinds[] = {
	{ "ed25519", "ssh-ed25519", "ED25519", KEY_ED25519, 256 },
	{ "ecdsa256", "ecdsa-sha2-nistp256", "ECDSA", KEY_ECDSA, 256 },
	{ "ecdsa384", "ecdsa-sha2-nistp384", "ECDSA", KEY_ECDSA, 384 },
	{ "ecdsa521", "ecdsa-sha2-nistp521", "ECDSA", KEY_ECDSA, 521 },
	{ "rsa", "ssh-rsa", "RSA", KEY_RSA, 2048 }
};

static void test_names(void **state)
{
	for (size_t i = 0; i < MEM_COUNT(kinds); i++) {
		struct key *k = data_private(kinds[i].file), *p = data_public(kinds[i].file);

		assert_string_equal(key_type_name(k), kinds[i].name);
		assert_string_equal(key_display_name(k), kinds[i].display);
		assert_int_equal(key_type(k), kinds[i].type);
		assert_int_equal(key_bits(k), kinds[i].bits);
		assert_true(key_is_private(k) && !key_is_private(p));
		assert_true(key_equal_public(k, p));
		key_free(p);
		key_free(k);
	}
}

static void test_public_line(void **state)
{
	for (size_t i = 0; i < MEM_COUNT(kinds); i++) {
		char *file = str_printf("%s.pub", kinds[i].file), *want = data_line(file, 1), *have;
		struct key *k = data_public(kinds[i].file);

		have = key_public_line(k);
		assert_memory_equal(have, want, strlen(have));
		assert_int_equal(want[strlen(have)], ' ');
		key_free(k);
		free(have);
		free(want);
		free(file);
	}
}

static void test_references(void **state)
{
	struct key *k = data_public("ed25519"), *again = key_ref(k);

	assert_ptr_equal(k, again);
	key_free(k);
	assert_string_equal(key_type_name(again), "ssh-ed25519");
	key_free(again);
	key_free(NULL);
}

/* Whatever is cut off or put behind a blob spoils it. */
static void test_blob_bounds(void **state)
{
	for (size_t i = 0; i < MEM_COUNT(kinds); i++) {
		struct key *k = data_public(kinds[i].file);
		struct view blob = key_blob(k);
		uint8_t *copy = mem_alloc(blob.n + 1);

		memcpy(copy, blob.p, blob.n);
		copy[blob.n] = 0;
		for (size_t n = 0; n < blob.n; n += n > 64 && n + 8 < blob.n ? 7 : 1) {
			struct err e = { 0 };

			assert_null(key_from_blob((struct view){ copy, n }, &e));
			assert_true(e.code == ERR_PEER || e.code == ERR_CRYPTO);
		}
		assert_null(key_from_blob((struct view){ copy, blob.n + 1 }, NULL));
		free(copy);
		key_free(k);
	}
}

static void test_blob_unknown(void **state)
{
	static const char *const types[] = { "sk-ssh-ed25519@openssh.com", "ssh-dss", "ssh-ed25519-cert-v01@openssh.com", "x" };

	for (size_t i = 0; i < MEM_COUNT(types); i++) {
		struct buf b = BUF_INIT(1024);
		struct err e = { 0 };

		buf_put_cstring(&b, types[i]);
		buf_put_cstring(&b, "anything");
		assert_null(key_from_blob((struct view){ b.data, b.size }, &e));
		assert_int_equal(e.code, ERR_NONE_FOUND);
		buf_free(&b);
	}
}

static struct key *from_buf(struct buf *b, int *code)
{
	struct err e = { 0 };
	struct key *k = key_from_blob((struct view){ b->data, b->size }, &e);

	*code = e.code;
	buf_free(b);
	return k;
}

/* The curve inside is another than the type says; a point that is on no curve; sizes that are wrong. */
static void test_blob_lies(void **state)
{
	struct key *k = data_public("ecdsa256");
	struct view blob = key_blob(k);
	struct buf b = BUF_INIT(4096);
	int code;

	buf_put_cstring(&b, "ecdsa-sha2-nistp384");
	buf_put(&b, blob.p + 4 + strlen("ecdsa-sha2-nistp256"), blob.n - 4 - strlen("ecdsa-sha2-nistp256"));
	assert_null(from_buf(&b, &code));
	assert_int_equal(code, ERR_PEER);
	buf_put(&b, blob.p, blob.n);
	b.data[b.size - 1] ^= 1;
	assert_null(from_buf(&b, &code));
	buf_put_cstring(&b, "ssh-ed25519");
	buf_put_string(&b, blob.p, 31);
	assert_null(from_buf(&b, &code));
	assert_int_equal(code, ERR_PEER);
	/* RSA: 512 bits, and an exponent of 1. */
	buf_put_cstring(&b, "ssh-rsa");
	buf_put_mpint(&b, "\x01\x00\x01", 3);
	buf_put_mpint(&b, blob.p + 40, 64);
	assert_null(from_buf(&b, &code));
	key_free(k);
	k = data_public("rsa");
	blob = key_blob(k);
	buf_put_cstring(&b, "ssh-rsa");
	buf_put_mpint(&b, "\x01", 1);
	buf_put(&b, blob.p + 4 + 7 + 4 + 3, blob.n - 18);
	assert_null(from_buf(&b, &code));
	key_free(k);
}

static void test_private_fields(void **state)
{
	for (size_t i = 0; i < MEM_COUNT(kinds); i++) {
		struct key *k = data_private(kinds[i].file), *again;
		struct buf b = BUF_INIT(16384);
		struct reader r;
		struct err e = { 0 };

		key_put_private(k, &b);
		assert_true(buf_ok(&b));
		buf_put_u8(&b, 77);
		reader_init(&r, b.data, b.size);
		again = key_get_private(&r, &e);
		assert_non_null(again);
		/* What follows stays for the caller: the comment. */
		assert_int_equal(reader_left(&r), 1);
		assert_true(key_is_private(again) && key_equal_public(k, again));
		key_free(again);
		for (size_t n = 0; n + 1 < b.size; n += 5) {
			reader_init(&r, b.data, n);
			assert_null(key_get_private(&r, NULL));
		}
		buf_free(&b);
		key_free(k);
	}
}

static void test_private_mismatch(void **state)
{
	struct key *k = data_private("ed25519");
	struct buf b = BUF_INIT(16384);
	struct reader r;

	key_put_private(k, &b);
	b.data[b.size - 1] ^= 1;
	reader_init(&r, b.data, b.size);
	assert_null(key_get_private(&r, NULL));
	/* Now both copies of the public part differ from the seed's. */
	b.data[b.size - 1 - 32 - 4 - 32] ^= 1;
	reader_init(&r, b.data, b.size);
	assert_null(key_get_private(&r, NULL));
	buf_free(&b);
	key_free(k);
	k = data_private("ecdsa384");
	key_put_private(k, &b);
	b.data[b.size - 1] ^= 1;
	reader_init(&r, b.data, b.size);
	assert_null(key_get_private(&r, NULL));
	buf_free(&b);
	key_free(k);
}

static void test_put_private_of_public(void **state)
{
	struct key *k = data_public("ecdsa256");
	struct buf b = BUF_INIT(16384);

	key_put_private(k, &b);
	assert_false(buf_ok(&b));
	buf_free(&b);
	key_free(k);
}

static void test_generate(void **state)
{
	static const struct { enum key_type type; unsigned bits, shown; const char *name; } good[] = {
		{ KEY_ED25519, 0, 256, "ssh-ed25519" }, { KEY_ED25519, 4096, 256, "ssh-ed25519" },
		{ KEY_ECDSA, 0, 256, "ecdsa-sha2-nistp256" }, { KEY_ECDSA, 384, 384, "ecdsa-sha2-nistp384" },
		{ KEY_ECDSA, 521, 521, "ecdsa-sha2-nistp521" }, { KEY_RSA, 1024, 1024, "ssh-rsa" }
	};
	static const struct { enum key_type type; unsigned bits; } bad[] = {
		{ KEY_ECDSA, 255 }, { KEY_ECDSA, 512 }, { KEY_RSA, 1023 }, { KEY_RSA, 16385 }, { KEY_RSA, 1 }
	};

	for (size_t i = 0; i < MEM_COUNT(good); i++) {
		struct err e = { 0 };
		struct key *k = key_generate(good[i].type, good[i].bits, &e);

		assert_non_null(k);
		assert_string_equal(key_type_name(k), good[i].name);
		assert_int_equal(key_bits(k), good[i].shown);
		assert_true(key_is_private(k));
		key_free(k);
	}
	for (size_t i = 0; i < MEM_COUNT(bad); i++) {
		struct err e = { 0 };

		assert_null(key_generate(bad[i].type, bad[i].bits, &e));
		assert_int_equal(e.code, ERR_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names), cmocka_unit_test(test_public_line), cmocka_unit_test(test_references),
		cmocka_unit_test(test_blob_bounds), cmocka_unit_test(test_blob_unknown), cmocka_unit_test(test_blob_lies),
		cmocka_unit_test(test_private_fields), cmocka_unit_test(test_private_mismatch),
		cmocka_unit_test(test_put_private_of_public), cmocka_unit_test(test_generate)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
