/* regress/unit/keys/test_authorized_keys.c: lines, options, their check and their hand-over (sshd(8)). */
#include "keys/authorized_keys.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "key_data.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void expect_flags(const struct key_options *o, const char *want)
{
	const struct { char letter; bool on; } flags[] = {
		{ 'a', o->agent_forwarding }, { 'p', o->port_forwarding }, { 't', o->pty }, { 'r', o->user_rc },
		{ 'x', o->x11_forwarding }, { 'c', o->cert_authority }, { 'v', o->verify_required }, { 'n', o->no_touch_required }
	};

	for (size_t i = 0; i < MEM_COUNT(flags); i++)
		assert_int_equal(flags[i].on, strchr(want, flags[i].letter) != NULL);
}

static void test_flags(void **state)
{
	static const struct { const char *field, *want; } cases[] = {
		{ NULL, "aptrx" }, { "", "aptrx" }, { "no-agent-forwarding", "ptrx" }, { "no-port-forwarding", "atrx" },
		{ "no-pty", "aprx" }, { "no-user-rc", "aptx" }, { "no-x11-forwarding", "aptr" }, { "No-X11-Forwarding", "aptr" },
		{ "restrict", "" }, { "restrict,pty", "t" }, { "pty,restrict", "" }, { "RESTRICT,user-rc,agent-forwarding", "ar" },
		{ "no-pty,pty", "aptrx" }, { "cert-authority", "aptrxc" }, { "verify-required", "aptrxv" },
		{ "verify-required,no-verify-required", "aptrx" }, { "no-touch-required", "aptrxn" },
		{ "no-touch-required,touch-required", "aptrx" }, { "restrict,port-forwarding,x11-forwarding", "px" }
	};

	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		struct key_options o;

		assert_int_equal(key_options_parse(cases[i].field, &o, NULL), 0);
		expect_flags(&o, cases[i].want);
		assert_int_equal(o.tunnel, -1);
		key_options_clear(&o);
	}
}

static void test_values(void **state)
{
	struct key_options o;
	struct err e = { 0 };

	assert_int_equal(key_options_parse("command=\"echo \\\"a, b\\\" \\\\x\",from=\"*.a,!b,10.0.0.0/8\",cert-authority,"
		"principals=\"u,v\",environment=\"A_1=b c\",environment=\"B=\",environment=\"A_1=other\",environment=\"A_12=z\","
		"expiry-time=\"20240229Z\",expiry-time=\"20230101Z\",expiry-time=\"20250101Z\",tunnel=\"3\",permitopen=\"h:22\","
		"permitopen=\"[::1]:*\",PermitOpen=\"[name]:80\",permitlisten=\"8080\",permitlisten=\"*:1\",permitlisten=\"*\","
		"permitlisten=\"localhost:2\"", &o, &e), 0);
	assert_string_equal(o.command, "echo \"a, b\" \\\\x");
	assert_string_equal(o.from, "*.a,!b,10.0.0.0/8");
	assert_string_equal(o.principals, "u,v");
	assert_int_equal(o.environment.count, 3);
	assert_string_equal(o.environment.v[0], "A_1=b c");
	assert_string_equal(o.environment.v[1], "B=");
	assert_string_equal(o.environment.v[2], "A_12=z");
	assert_true(o.valid_before == 1672531200);
	assert_int_equal(o.tunnel, 3);
	assert_int_equal(o.permit_open.count, 3);
	assert_string_equal(o.permit_open.v[0], "h:22");
	assert_string_equal(o.permit_open.v[1], "[::1]:*");
	assert_string_equal(o.permit_open.v[2], "name:80");
	assert_int_equal(o.permit_listen.count, 4);
	assert_string_equal(o.permit_listen.v[0], "*:8080");
	assert_string_equal(o.permit_listen.v[1], "*:1");
	assert_string_equal(o.permit_listen.v[2], "*:*");
	assert_string_equal(o.permit_listen.v[3], "localhost:2");
	key_options_clear(&o);
	assert_int_equal(key_options_parse("tunnel=\"any\",command=\"\"", &o, NULL), 0);
	assert_int_equal(o.tunnel, 0x7fffffff);
	assert_string_equal(o.command, "");
	key_options_clear(&o);
}

static void test_bad_options(void **state)
{
	static const char *const bad[] = {
		",", "no-pty,", ",no-pty", "no-pty,,no-pty", "nonsense", "no-restrict", "no-cert-authority", "no-command", "no-", "no-no-pty",
		"pty=\"x\"", "command", "command=", "command=x", "command=\"x", "command=\"x\\\"", "command=\"x\"y", "command=\"a\",command=\"b\"",
		"command =\"x\"", "from=\"a\",from=\"b\"", "from=\"10.0.0.1/33\"", "from=\"10.0.0.1/8\"", "principals=\"u\"",
		"principals=\"u\",principals=\"v\",cert-authority", "environment=\"x\"", "environment=\"=x\"", "environment=\"A B=x\"",
		"environment=\"A-B=x\"", "expiry-time=\"\"", "expiry-time=\"20230229\"", "expiry-time=\"never\"", "tunnel=\"\"", "tunnel=\"-1\"",
		"tunnel=\"x\"", "tunnel=\"2147483647\"", "permitopen=\"\"", "permitopen=\"h\"", "permitopen=\"80\"", "permitopen=\":80\"",
		"permitopen=\"h:\"", "permitopen=\"h:0\"", "permitopen=\"h:65536\"", "permitopen=\"h:-1\"", "permitopen=\"::1:80\"",
		"permitopen=\"[::1]80\"", "permitopen=\"[::1:80\"", "permitopen=\"[]:80\"", "permitlisten=\"\"", "permitlisten=\"0\"",
		"permitlisten=\"h:x y\"", "no-pty pty", "no-pty\t"
	};

	for (size_t i = 0; i < MEM_COUNT(bad); i++) {
		struct key_options o;
		struct err e = { 0 };

		if (key_options_parse(bad[i], &o, &e) != ERR_PEER)
			fail_msg("%s: accepted", bad[i]);
		assert_int_equal(e.code, ERR_PEER);
		assert_true(e.text[0] != '\0' && o.command == NULL);
	}
}

static void repeat(struct buf *b, const char *fmt, unsigned n)
{
	buf_reset(b);
	for (unsigned i = 0; i < n; i++) {
		if (i > 0)
			buf_put_u8(b, ',');
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		buf_printf(b, fmt, i);
#pragma GCC diagnostic pop
	}
}

static void test_limits(void **state)
{
	struct buf b = BUF_INIT(1 << 20);
	struct key_options o;

	repeat(&b, "environment=\"A%u=\"", 1024);
	assert_int_equal(key_options_parse(buf_cstr(&b), &o, NULL), 0);
	key_options_clear(&o);
	repeat(&b, "environment=\"A%u=\"", 1025);
	assert_int_equal(key_options_parse(buf_cstr(&b), &o, NULL), ERR_PEER);
	repeat(&b, "permitopen=\"h%u:1\"", 4096);
	assert_int_equal(key_options_parse(buf_cstr(&b), &o, NULL), 0);
	key_options_clear(&o);
	repeat(&b, "permitopen=\"h%u:1\"", 4097);
	assert_int_equal(key_options_parse(buf_cstr(&b), &o, NULL), ERR_PEER);
	buf_free(&b);
}

static void test_check(void **state)
{
	static const struct { const char *options, *host, *address; int64_t now; int rc; } cases[] = {
		{ "", NULL, "10.0.0.1", 5, 0 },
		{ "from=\"*.a\"", "x.a", "10.0.0.1", 5, 0 }, { "from=\"*.a\"", "x.b", "10.0.0.1", 5, ERR_DENIED },
		{ "from=\"*.a\"", NULL, "10.0.0.1", 5, ERR_DENIED }, { "from=\"10.0.0.0/8\"", NULL, "10.9.0.1", 5, 0 },
		{ "from=\"10.0.0.0/8,!10.9.0.1\"", NULL, "10.9.0.1", 5, ERR_DENIED },
		{ "from=\"!*.b,*\"", "x.b", "10.9.0.1", 5, ERR_DENIED }, { "from=\"\"", "x.b", "10.9.0.1", 5, ERR_DENIED },
		{ "expiry-time=\"20240229Z\"", NULL, "::1", 1709164800, 0 },
		{ "expiry-time=\"20240229Z\"", NULL, "::1", 1709164801, ERR_DENIED }
	};
	struct key_options o;
	struct err e = { 0 };

	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		assert_int_equal(key_options_parse(cases[i].options, &o, NULL), 0);
		assert_int_equal(key_options_check(&o, cases[i].host, cases[i].address, cases[i].now, NULL), cases[i].rc);
		key_options_clear(&o);
	}
	assert_int_equal(key_options_parse("from=\"10.0.0.9\"", &o, NULL), 0);
	assert_int_equal(key_options_check(&o, "h", "10.0.0.1", 5, &e), ERR_DENIED);
	assert_string_equal(e.text, "correct key but not from a permitted host (host=h, ip=10.0.0.1, required=10.0.0.9)");
	key_options_clear(&o);
}

static void test_hand_over(void **state)
{
	static const char *const fields[] = {
		"", "restrict,command=\"\",no-touch-required",
		("command=\"a\",from=\"b\",cert-authority,principals=\"c\",environment=\"D=e\",environment=\"F=g\","
		"permitopen=\"h:1\",permitlisten=\"2\",expiry-time=\"20240229Z\",tunnel=\"0\",verify-required"),
	};

	for (size_t i = 0; i < MEM_COUNT(fields); i++) {
		struct buf b = BUF_INIT(1 << 20), c = BUF_INIT(1 << 20);
		struct key_options o, again, copy;
		struct reader r;

		assert_int_equal(key_options_parse(fields[i], &o, NULL), 0);
		key_options_put(&o, &b);
		reader_init(&r, b.data, b.size);
		assert_int_equal(key_options_get(&r, &again), 0);
		assert_int_equal(reader_end(&r, NULL, "options"), 0);
		key_options_copy(&copy, &again);
		key_options_clear(&again);
		key_options_put(&copy, &c);
		assert_int_equal(b.size, c.size);
		assert_memory_equal(b.data, c.data, b.size);
		assert_true((copy.command == NULL) == (o.command == NULL));
		for (size_t n = 0; n < b.size; n++) {
			reader_init(&r, b.data, n);
			assert_int_equal(key_options_get(&r, &again), ERR_PEER);
		}
		key_options_clear(&copy);
		key_options_clear(&o);
		buf_free(&b);
		buf_free(&c);
	}
}

static int line(const char *before, const char *pub, const char *after, struct authorized_line *l)
{
	char *file = str_printf("%s.pub", pub), *key = data_line(file, 1), *s = str_printf("%s%s%s", before, key, after);
	struct err e = { 0 };
	int rc = authorized_line_parse(s, l, &e);

	free(file);
	free(key);
	free(s);
	return rc;
}

static void test_lines(void **state)
{
	static const struct { const char *before, *pub, *after; int rc; } cases[] = {
		{ "", "ed25519", "", 0 }, { " \t", "rsa", " \r\n", 0 }, { "no-pty ", "ecdsa256", "", 0 },
		{ "command=\"a b \\\" c\",no-pty \t ", "ed25519", "", 0 }, { "no-pty no-pty ", "ed25519", "", ERR_PEER },
		{ "no-pty, no-pty ", "ed25519", "", ERR_PEER }, { "bogus ", "ed25519", "", ERR_PEER },
		{ "command=\"unfinished ", "ed25519", "", ERR_PEER }, { "", "sk", "", ERR_NONE_FOUND },
		{ "no-touch-required ", "sk", "", ERR_NONE_FOUND }, { "", "ecdsa256-cert", "", ERR_NONE_FOUND },
		{ "#", "ed25519", "", ERR_NONE_FOUND }, { " # ", "ed25519", "", ERR_NONE_FOUND }
	};

	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		struct authorized_line l;

		assert_int_equal(line(cases[i].before, cases[i].pub, cases[i].after, &l), cases[i].rc);
		if (cases[i].rc != 0) {
			assert_null(l.key);
			continue;
		}
		assert_true(str_starts(l.comment, "test ") && !str_ends(l.comment, " "));
		authorized_line_clear(&l);
	}
}

static void test_line_result(void **state)
{
	struct authorized_line l;
	struct key *k = data_public("rsa");

	assert_int_equal(line("restrict,command=\"x y\" ", "rsa", "", &l), 0);
	assert_true(key_equal_public(l.key, k));
	assert_string_equal(l.options.command, "x y");
	expect_flags(&l.options, "");
	assert_string_equal(l.comment, "test rsa");
	authorized_line_clear(&l);
	key_free(k);
}

static void test_bad_lines(void **state)
{
	static const struct { const char *line; int rc; } cases[] = {
		{ "", ERR_NONE_FOUND }, { " \t", ERR_NONE_FOUND }, { "\n", ERR_NONE_FOUND }, { "#", ERR_NONE_FOUND },
		{ "ssh-ed25519", ERR_PEER }, { "ssh-ed25519 AAAA", ERR_PEER }, { "no-pty", ERR_PEER }, { "no-pty ", ERR_PEER },
		{ "no-pty ssh-rsa", ERR_PEER }, { "no-pty ssh-rsa !", ERR_PEER }, { "nonsense", ERR_PEER }, { "\"", ERR_PEER },
		{ "x AAAAAXg=", ERR_NONE_FOUND }, { "no-pty x AAAAAXg= c", ERR_NONE_FOUND }, { "no-pty x AAAAAXk=", ERR_PEER }
	};

	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		struct authorized_line l;
		struct err e = { 0 };

		assert_int_equal(authorized_line_parse(cases[i].line, &l, &e), cases[i].rc);
		assert_true(l.key == NULL && l.comment == NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flags), cmocka_unit_test(test_values), cmocka_unit_test(test_bad_options),
		cmocka_unit_test(test_limits), cmocka_unit_test(test_check), cmocka_unit_test(test_hand_over),
		cmocka_unit_test(test_lines), cmocka_unit_test(test_line_result), cmocka_unit_test(test_bad_lines)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
