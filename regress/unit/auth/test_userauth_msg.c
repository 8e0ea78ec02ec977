/* Authentication messages: what put writes, get reads; the exact bytes of signed data; malformed bodies. */
#include <setjmp.h>
#include <stdlib.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "auth/userauth_msg.h"
#include "base/mem.h"
#include "base/str.h"

static struct view view_of(const char *s)
{
	return (struct view){ (const uint8_t *)s, strlen(s) };
}

static struct userauth_request request_of(enum userauth_kind kind)
{
	return (struct userauth_request){
		.kind = kind, .user = view_of("ada:style"), .service = view_of("ssh-connection"),
		.method = view_of("something-else"), .has_signature = true, .alg = view_of("ssh-ed25519"),
		.key_blob = view_of("BLOB"), .signature = view_of("SIG"), .host_key = view_of("HOSTKEY"),
		.client_host = view_of("client."), .client_user = view_of("bob"), .change = true,
		.password = view_of("old"), .new_password = view_of("new"), .language = view_of(""),
		.submethods = view_of("pam"),
	};
}

static void assert_view(struct view v, const char *s)
{
	assert_int_equal(v.n, strlen(s));
	assert_memory_equal(v.p, s, v.n);
}

static void test_request_round_trip(void **state)
{
	(void)state;
	for (int kind = USERAUTH_NONE; kind <= USERAUTH_OTHER; kind++) {
		struct buf b = BUF_INIT(4096);
		struct userauth_request in = request_of((enum userauth_kind)kind), out;
		struct reader r;
		struct err e = { 0 };

		userauth_request_put(&b, &in);
		assert_true(buf_ok(&b));
		reader_init(&r, b.data, b.size);
		assert_int_equal(userauth_request_get(&r, &out, &e), 0);
		assert_int_equal(out.kind, kind);
		assert_view(out.user, "ada:style");
		assert_view(out.service, "ssh-connection");
		assert_view(out.method, kind == USERAUTH_OTHER ? "something-else" : userauth_kind_name(kind));
		if (kind == USERAUTH_PUBLICKEY || kind == USERAUTH_HOSTBOUND || kind == USERAUTH_HOSTBASED) {
			assert_true(out.has_signature);
			assert_view(out.alg, "ssh-ed25519");
			assert_view(out.key_blob, "BLOB");
			assert_view(out.signature, "SIG");
		}
		assert_view(out.host_key, kind == USERAUTH_HOSTBOUND ? "HOSTKEY" : "");
		assert_view(out.client_host, kind == USERAUTH_HOSTBASED ? "client." : "");
		assert_view(out.client_user, kind == USERAUTH_HOSTBASED ? "bob" : "");
		assert_view(out.password, kind == USERAUTH_PASSWORD ? "old" : "");
		assert_view(out.new_password, kind == USERAUTH_PASSWORD ? "new" : "");
		assert_view(out.submethods, kind == USERAUTH_KBDINT ? "pam" : "");
		buf_free(&b);
	}
}

/* Every truncation, and one byte too many, is refused. */
static void test_request_truncated(void **state)
{
	(void)state;
	for (int kind = USERAUTH_NONE; kind < USERAUTH_OTHER; kind++) {
		struct buf b = BUF_INIT(4096);
		struct userauth_request in = request_of((enum userauth_kind)kind), out;
		struct reader r;

		userauth_request_put(&b, &in);
		for (size_t n = 0; n < b.size; n++) {
			struct err e = { 0 };
			reader_init(&r, b.data, n);
			assert_int_equal(userauth_request_get(&r, &out, &e), ERR_PEER);
			assert_true(e.text[0] != '\0');
		}
		buf_put_u8(&b, 0);
		reader_init(&r, b.data, b.size);
		assert_int_equal(userauth_request_get(&r, &out, NULL), ERR_PEER);
		buf_free(&b);
	}
}

static void test_request_probe(void **state)
{
	struct buf b = BUF_INIT(4096);
	struct userauth_request in = request_of(USERAUTH_PUBLICKEY), out;
	struct reader r;

	(void)state;
	in.has_signature = false;
	userauth_request_put(&b, &in);
	reader_init(&r, b.data, b.size);
	assert_int_equal(userauth_request_get(&r, &out, NULL), 0);
	assert_false(out.has_signature);
	assert_int_equal(out.signature.n, 0);
	buf_free(&b);
}

static void test_names_checked(void **state)
{
	static const uint8_t nul_user[] = { 'a', 0, 'b' };
	struct buf b = BUF_INIT(65536);
	struct userauth_request in = request_of(USERAUTH_NONE), out;
	struct reader r;
	char *big = mem_zalloc(USERAUTH_NAME_MAX + 2);

	(void)state;
	in.user = (struct view){ nul_user, sizeof(nul_user) };
	userauth_request_put(&b, &in);
	reader_init(&r, b.data, b.size);
	assert_int_equal(userauth_request_get(&r, &out, NULL), ERR_PEER);

	memset(big, 'x', USERAUTH_NAME_MAX + 1);
	buf_reset(&b);
	in.user = view_of(big);
	userauth_request_put(&b, &in);
	reader_init(&r, b.data, b.size);
	assert_int_equal(userauth_request_get(&r, &out, NULL), ERR_PEER);

	buf_reset(&b);
	in = request_of(USERAUTH_PASSWORD);
	in.password = view_of(big);
	userauth_request_put(&b, &in);
	reader_init(&r, b.data, b.size);
	assert_int_equal(userauth_request_get(&r, &out, NULL), ERR_PEER);
	buf_free(&b);
	free(big);
}

/* RFC 4252 §7 written out by hand. */
static void test_signed_data(void **state)
{
	static const char plain[] = "\0\0\0\2ID" "\x32" "\0\0\0\3ada" "\0\0\0\016ssh-connection" "\0\0\0\011publickey"
		"\1" "\0\0\0\013ssh-ed25519" "\0\0\0\4BLOB";
	static const char bound[] = "\0\0\0\2ID" "\x32" "\0\0\0\3ada" "\0\0\0\016ssh-connection"
		"\0\0\0\043publickey-hostbound-v00@openssh.com" "\1" "\0\0\0\013ssh-ed25519" "\0\0\0\4BLOB"
		"\0\0\0\7HOSTKEY";
	static const char based[] = "\0\0\0\2ID" "\x32" "\0\0\0\3ada" "\0\0\0\016ssh-connection" "\0\0\0\011hostbased"
		"\0\0\0\013ssh-ed25519" "\0\0\0\4BLOB" "\0\0\0\7client." "\0\0\0\3bob";
	static const struct { enum userauth_kind kind; const char *p; size_t n; } cases[] = {
		{ USERAUTH_PUBLICKEY, plain, sizeof(plain) - 1 },
		{ USERAUTH_HOSTBOUND, bound, sizeof(bound) - 1 },
		{ USERAUTH_HOSTBASED, based, sizeof(based) - 1 },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		struct buf b = BUF_INIT(4096);
		struct userauth_request q = request_of(cases[i].kind);

		q.user = view_of("ada");
		q.has_signature = false; /* signed data always says true */
		userauth_signed_data_put(&b, view_of("ID"), &q);
		assert_int_equal(b.size, cases[i].n);
		assert_memory_equal(b.data, cases[i].p, b.size);
		buf_free(&b);
	}
}

static void test_answers(void **state)
{
	struct buf b = BUF_INIT(4096);
	struct reader r;
	struct userauth_failure f;
	struct view v, w;

	(void)state;
	userauth_failure_put(&b, "publickey,password", true);
	reader_init(&r, b.data, b.size);
	assert_int_equal(userauth_failure_get(&r, &f, NULL), 0);
	assert_view(f.methods, "publickey,password");
	assert_true(f.partial);
	buf_reset(&b);
	userauth_failure_put(&b, "pub key", false);      /* not a name-list (RFC 4251 §5) */
	reader_init(&r, b.data, b.size);
	assert_int_equal(userauth_failure_get(&r, &f, NULL), ERR_PEER);

	buf_reset(&b);
	userauth_banner_put(&b, "hello\r\n");
	reader_init(&r, b.data, b.size);
	assert_int_equal(userauth_banner_get(&r, &v, NULL), 0);
	assert_view(v, "hello\r\n");

	buf_reset(&b);
	userauth_pk_ok_put(&b, view_of("ssh-ed25519"), view_of("BLOB"));
	reader_init(&r, b.data, b.size);
	assert_int_equal(userauth_pk_ok_get(&r, &v, &w, NULL), 0);
	assert_view(v, "ssh-ed25519");
	assert_view(w, "BLOB");

	buf_reset(&b);
	userauth_changereq_put(&b, "New?");
	reader_init(&r, b.data, b.size);
	assert_int_equal(userauth_changereq_get(&r, &v, NULL), 0);
	assert_view(v, "New?");

	buf_reset(&b);
	userauth_service_put(&b, USERAUTH_SERVICE);
	reader_init(&r, b.data, b.size);
	assert_int_equal(userauth_service_get(&r, &v, NULL), 0);
	assert_view(v, "ssh-userauth");

	reader_init(&r, NULL, 0);
	assert_int_equal(userauth_success_get(&r, NULL), 0);
	reader_init(&r, b.data, 1);
	assert_int_equal(userauth_success_get(&r, NULL), ERR_PEER);
	buf_free(&b);
}

static void test_kbdint(void **state)
{
	struct buf b = BUF_INIT(16384);
	struct reader r;
	static struct userauth_info_request q, q2;
	static struct userauth_info_response a, a2;

	(void)state;
	q = (struct userauth_info_request){ .name = view_of("n"), .instruction = view_of("i"), .count = 2,
		.prompt = { { view_of("Password: "), false }, { view_of("Token: "), true } } };
	userauth_info_request_put(&b, &q);
	reader_init(&r, b.data, b.size);
	assert_int_equal(userauth_info_request_get(&r, &q2, NULL), 0);
	assert_int_equal(q2.count, 2);
	assert_view(q2.name, "n");
	assert_view(q2.prompt[0].text, "Password: ");
	assert_false(q2.prompt[0].echo);
	assert_view(q2.prompt[1].text, "Token: ");
	assert_true(q2.prompt[1].echo);

	buf_reset(&b);
	a = (struct userauth_info_response){ .count = 2, .answer = { view_of("one"), view_of("") } };
	userauth_info_response_put(&b, &a);
	reader_init(&r, b.data, b.size);
	assert_int_equal(userauth_info_response_get(&r, &a2, NULL), 0);
	assert_int_equal(a2.count, 2);
	assert_view(a2.answer[0], "one");
	assert_view(a2.answer[1], "");

	buf_reset(&b);                   /* a count far beyond what is there */
	buf_put_u32(&b, 0xffffffff);
	reader_init(&r, b.data, b.size);
	assert_int_equal(userauth_info_response_get(&r, &a2, NULL), ERR_PEER);
	assert_int_equal(a2.count, 0);
	buf_reset(&b);
	buf_put_u32(&b, 3);
	reader_init(&r, b.data, b.size);
	assert_int_equal(userauth_info_response_get(&r, &a2, NULL), ERR_PEER);

	buf_reset(&b);                   /* more than fits cannot be written either */
	q.count = USERAUTH_PROMPTS_MAX + 1;
	userauth_info_request_put(&b, &q);
	assert_false(buf_ok(&b));
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_round_trip), cmocka_unit_test(test_request_truncated),
		cmocka_unit_test(test_request_probe), cmocka_unit_test(test_names_checked),
		cmocka_unit_test(test_signed_data), cmocka_unit_test(test_answers), cmocka_unit_test(test_kbdint),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
