/* regress/unit/keys/test_agent_msg.c: messages of the agent protocol, there and back. */
#include "keys/agent_msg.h"

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

static void start(struct reader *r, const struct buf *b, uint8_t type)
{
	assert_true(buf_ok(b));
	reader_init(r, b->data, b->size);
	assert_int_equal(reader_u8(r), type);
}

static void test_list(void **state)
{
	struct agent_identity v[2] = { { data_public("ed25519"), (char *)"one" }, { data_public("rsa"), (char *)"" } }, *got;
	struct buf b = BUF_INIT(65536);
	struct reader r;
	size_t count;

	agent_put_list(&b);
	assert_int_equal(b.size, 1);
	assert_int_equal(b.data[0], 11);
	buf_reset(&b);
	agent_put_identities(&b, v, 2);
	start(&r, &b, 12);
	assert_int_equal(agent_get_identities(&r, &got, &count, NULL), 0);
	assert_int_equal(count, 2);
	assert_true(key_equal_public(got[0].key, v[0].key) && key_equal_public(got[1].key, v[1].key));
	assert_string_equal(got[0].comment, "one");
	assert_string_equal(got[1].comment, "");
	agent_identities_free(got, count);
	for (size_t n = 1; n < b.size; n++) {
		reader_init(&r, b.data + 1, n - 1);
		assert_int_equal(agent_get_identities(&r, &got, &count, NULL), ERR_PEER);
	}
	buf_put_u8(&b, 0);
	start(&r, &b, 12);
	assert_int_equal(agent_get_identities(&r, &got, &count, NULL), ERR_PEER);
	buf_free(&b);
	key_free(v[0].key);
	key_free(v[1].key);
}

static void test_list_odd(void **state)
{
	struct key *k = data_public("ecdsa256");
	struct agent_identity *got;
	struct buf b = BUF_INIT(65536);
	struct reader r;
	size_t count;

	/* A type that is not known, a broken key, then one with a NUL in its comment. */
	buf_put_u32(&b, 3);
	buf_put_u32(&b, 5);
	buf_put_cstring(&b, "x");
	buf_put_cstring(&b, "unknown");
	buf_put_string(&b, key_blob(k).p, key_blob(k).n - 1);
	buf_put_cstring(&b, "broken");
	buf_put_string(&b, key_blob(k).p, key_blob(k).n);
	buf_put_string(&b, "a\0b", 3);
	reader_init(&r, b.data, b.size);
	assert_int_equal(agent_get_identities(&r, &got, &count, NULL), 0);
	assert_int_equal(count, 1);
	assert_string_equal(got[0].comment, "a");
	agent_identities_free(got, count);
	buf_reset(&b);
	buf_put_u32(&b, 0xffffffff);
	reader_init(&r, b.data, b.size);
	assert_int_equal(agent_get_identities(&r, &got, &count, NULL), ERR_PEER);
	agent_identities_free(NULL, 0);
	buf_free(&b);
	key_free(k);
}

static void test_sign(void **state)
{
	struct agent_sign m = { text("blob"), text(""), 4 }, got;
	struct buf b = BUF_INIT(65536);
	struct view sig;
	struct reader r;

	agent_put_sign(&b, &m);
	start(&r, &b, 13);
	assert_int_equal(agent_get_sign(&r, &got, NULL), 0);
	assert_true(view_is(got.key_blob, "blob") && view_is(got.data, "") && got.flags == 4);
	/* The flags must be there. */
	reader_init(&r, b.data + 1, b.size - 5);
	assert_int_equal(agent_get_sign(&r, &got, NULL), ERR_PEER);
	buf_reset(&b);
	agent_put_signature(&b, text("signature"));
	start(&r, &b, 14);
	assert_int_equal(agent_get_signature(&r, &sig, NULL), 0);
	assert_true(view_is(sig, "signature"));
	buf_put_u8(&b, 0);
	start(&r, &b, 14);
	assert_int_equal(agent_get_signature(&r, &sig, NULL), ERR_PEER);
	buf_free(&b);
}

static void test_sign_flags(void **state)
{
	static const struct { const char *alg; uint32_t flags; } cases[] = {
		{ "ssh-ed25519", 0 }, { "ecdsa-sha2-nistp256", 0 }, { "ssh-rsa", 0 }, { "rsa-sha2-256", 2 }, { "rsa-sha2-512", 4 }
	};

	for (size_t i = 0; i < MEM_COUNT(cases); i++)
		assert_int_equal(agent_sign_flags(sig_alg_find(text(cases[i].alg))), cases[i].flags);
}

static void test_add(void **state)
{
	static const char *const kinds[] = { "ed25519", "ecdsa384", "rsa" };

	for (size_t i = 0; i < 4 * MEM_COUNT(kinds); i++) {
		struct agent_add m = { data_private(kinds[i % 3]), (char *)"c", i / 3 % 2 == 1 ? 60 : 0, i / 6 == 1 }, got;
		struct buf b = BUF_INIT(65536);
		struct reader r;

		agent_put_add(&b, &m);
		start(&r, &b, m.lifetime != 0 || m.confirm ? 25 : 17);
		assert_int_equal(agent_get_add(&r, &got, NULL), 0);
		assert_true(key_is_private(got.key) && key_equal_public(got.key, m.key));
		assert_string_equal(got.comment, "c");
		assert_true(got.lifetime == m.lifetime && got.confirm == m.confirm);
		agent_add_clear(&got);
		/* A constraint that nobody knows, and one that comes twice. */
		buf_put_u8(&b, 7);
		start(&r, &b, b.data[0]);
		assert_int_equal(agent_get_add(&r, &got, NULL), ERR_PEER);
		b.data[b.size - 1] = 2;
		start(&r, &b, b.data[0]);
		assert_int_equal(agent_get_add(&r, &got, NULL), m.confirm ? ERR_PEER : 0);
		agent_add_clear(&got);
		for (size_t n = 0; n < 40; n++) {
			reader_init(&r, b.data + 1, n);
			assert_int_equal(agent_get_add(&r, &got, NULL), ERR_PEER);
		}
		buf_free(&b);
		key_free(m.key);
	}
}

static void test_bind(void **state)
{
	struct agent_bind m = { text("k"), text("sid"), text("sig"), true }, got;
	struct buf b = BUF_INIT(65536);
	struct reader r;

	agent_put_bind(&b, &m);
	start(&r, &b, 27);
	assert_true(view_is(reader_string(&r), "session-bind@openssh.com"));
	assert_int_equal(agent_get_bind(&r, &got, NULL), 0);
	assert_true(view_is(got.host_key, "k") && view_is(got.session_id, "sid") && view_is(got.signature, "sig") && got.forwarding);
	reader_init(&r, b.data, 3);
	assert_int_equal(agent_get_bind(&r, &got, NULL), ERR_PEER);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list), cmocka_unit_test(test_list_odd), cmocka_unit_test(test_sign),
		cmocka_unit_test(test_sign_flags), cmocka_unit_test(test_add), cmocka_unit_test(test_bind)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
