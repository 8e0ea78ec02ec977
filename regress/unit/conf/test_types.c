/* regress/unit/conf/test_types.c: kinds of values by a table of one row each: what is taken, what is refused, what is shown. */
#include "conf/types.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "../log_capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Room for any field, behind the marks. */
struct any {
	struct conf_marks marks;
	union { char bytes[64]; uint64_t u; void *p; struct conf_permits permits; struct conf_timeouts timeouts; } field;
};

static void collect(void *ctx, const char *line)
{
	str_list_add(ctx, line);
}

/* The dump of a value, lines joined by '|'; "BAD" if it is refused. Copies on the way. */
static char *shown(const struct conf_row *like, const char *value)
{
	struct conf_row row = *like;
	struct conf_table t = { .rows = &row, .count = 1, .options_size = sizeof(struct any), .true_false = true, .lower_case = true };
	struct any o = { .marks = { { 0 } } }, copy = { .marks = { { 0 } } };
	struct str_list lines = { 0 };
	struct conf_reader r;
	struct err e = { 0 };
	char *line, *text;
	int code;

	row.name = "X";
	row.offset = offsetof(struct any, field);
	line = str_printf("X %s", value);
	conf_reader_init(&r, &t, &o, NULL);
	code = conf_read_line(&r, line, "test", CONF_COMMAND_LINE, &e);
	free(line);
	conf_options_copy(&t, &copy, &o);
	conf_options_clear(&t, &o);
	conf_dump(&t, &copy, collect, &lines);
	text = code != 0 ? mem_strdup("BAD") : lines.count != 0 ? str_list_join(&lines, "|") : mem_strdup("NOTHING");
	conf_options_clear(&t, &copy);
	str_list_clear(&lines);
	return text;
}

struct sample { const char *value, *want; };

static void check(const struct conf_row *row, const struct sample *s, size_t n)
{
	size_t i;

	log_capture_start(LOG_LEVEL_QUIET);
	for (i = 0; i < n; i++) {
		char *got = shown(row, s[i].value);

		if (strcmp(got, s[i].want) != 0)
			fail_msg("\"%s\" gives \"%s\", not \"%s\"", s[i].value, got, s[i].want);
		free(got);
	}
}

#define CHECK(row, ...) do { static const struct sample s[] = { __VA_ARGS__ }; check(&(row), s, MEM_COUNT(s)); } while (0)

static void test_simple(void **state)
{
	static const struct conf_word words[] = { { "true", 1 }, { "yes", 1 }, { "no", 0 }, { NULL, 0 } };
	static const struct conf_range range = { 1, 9 };
	struct conf_row row = { .type = &conf_bool };

	CHECK(row, { "yes", "x yes" }, { "YES", "x yes" }, { "True", "x yes" }, { "false", "x no" }, { "1", "BAD" }, { "yes no", "BAD" });
	row = (struct conf_row){ .type = &conf_word_type, .arg = words };
	CHECK(row, { "yes", "x true" }, { "NO", "x no" }, { "maybe", "BAD" });
	row.type = &conf_word_exact;
	CHECK(row, { "yes", "x true" }, { "NO", "BAD" });
	row = (struct conf_row){ .type = &conf_int };
	CHECK(row, { "0", "x 0" }, { "2147483647", "x 2147483647" }, { "2147483648", "BAD" }, { "-1", "BAD" }, { "1x", "BAD" }, { "\"\"", "BAD" });
	row.arg = &range;
	CHECK(row, { "0", "BAD" }, { "9", "x 9" }, { "10", "BAD" });
	row = (struct conf_row){ .type = &conf_port };
	CHECK(row, { "22", "x 22" }, { "0", "BAD" }, { "65535", "x 65535" }, { "65536", "BAD" }, { "no-such-service", "BAD" }, { "-1", "BAD" });
	row.type = &conf_octal;
	CHECK(row, { "0177", "x 0177" }, { "0", "x 00" }, { "777", "x 0777" }, { "1000", "BAD" }, { "8", "BAD" }, { "7777777777777", "BAD" });
}

static void test_times(void **state)
{
	struct conf_row row = { .type = &conf_seconds };

	CHECK(row, { "90", "x 90" }, { "1h30m", "x 5400" }, { "2W", "x 1209600" }, { "none", "BAD" }, { "1x", "BAD" }, { "99999999w", "BAD" });
	row.type = &conf_seconds_none;
	CHECK(row, { "5m", "x 300" }, { "None", "BAD" });
	row.type = &conf_rekey_type;
	CHECK(row, { "1G 1h", "x 1073741824 3600" }, { "default none", "x 0 0" }, { "1.5K", "x 1536 0" }, { "default", "x 0 0" },
		{ "0", "x 0 0" }, { "15", "BAD" }, { "16", "x 16 0" }, { "-5", "BAD" }, { "Default", "BAD" }, { "1G None", "BAD" },
		{ "1G 1h 5", "BAD" }, { "1Z", "BAD" });
	row.type = &conf_timeouts_type;
	CHECK(row, { "none", "x none" }, { "session=5m x11-*=1h", "x session=5m x11-*=1h" }, { "session", "BAD" }, { "=5", "BAD" },
		{ "session=", "BAD" }, { "session=none", "BAD" });
}

static void test_texts(void **state)
{
	static const struct conf_range two = { 0, 2 };
	struct conf_row row = { .type = &conf_string };

	CHECK(row, { "\"a b\"", "x a b" }, { "none", "x none" }, { "\"\"", "BAD" });
	row.type = &conf_string_none;
	CHECK(row, { "a", "x a" }, { "None", "x none" });
	row.type = &conf_string_opt;
	CHECK(row, { "a", "x a" }, { "none", "NOTHING" });
	row = (struct conf_row){ .type = &conf_raw, .flags = CONF_RAW };
	CHECK(row, { "a \"b\"  # c ", "x a \"b\"  # c" }, { "none", "NOTHING" }, { "none x", "x none x" });
	row.type = &conf_raw_none;
	CHECK(row, { "none", "x none" });
	row = (struct conf_row){ .type = &conf_list, .arg = &two };
	CHECK(row, { "a b", "x a b" }, { "none", "x none" }, { "a none", "BAD" }, { "a b c", "BAD" }, { "a \"\"", "BAD" }, { "a #b", "x a" });
	row = (struct conf_row){ .type = &conf_items };
	CHECK(row, { "a", "x a" }, { "a b", "BAD" });
	row.type = &conf_words_items;
	CHECK(row, { "a b", "x a|x b" });
	row.type = &conf_setenv;
	CHECK(row, { "A=b \"C=d e\" A=z", "x A=b|x C=d e" }, { "A", "BAD" }, { "=x", "BAD" }, { "A=", "x A=" });
	row.type = &conf_log_level;
	CHECK(row, { "debug1", "x DEBUG" }, { "DEBUG", "x DEBUG" }, { "quiet", "x SILENT" }, { "silent", "x SILENT" }, { "fatal", "x FATAL" }, { "loud", "BAD" });
	row.type = &conf_facility;
	CHECK(row, { "local3", "x LOCAL3" }, { "mail", "BAD" });
}

static void test_qos(void **state)
{
	struct conf_row row = { .type = &conf_ipqos_type };

	CHECK(row, { "ef cs0", "x ef cs0" }, { "AF11", "x af11 af11" }, { "5 none", "x 0x05 none" }, { "184", "x ef ef" }, { "256", "BAD" },
		{ "0x10", "BAD" }, { "le va", "x le va" }, { "lowdelay throughput", "x none none" }, { "ef cs0 cs1", "BAD" }, { "cs8", "BAD" });
}

static void test_permits(void **state)
{
	struct conf_row row = { .type = &conf_permits_type };
	struct conf_permit p;

	CHECK(row, { "any", "x any" }, { "none", "x none" }, { "a:1 *:* [::1]:80", "x a:1 *:* [::1]:80" }, { "Any", "BAD" }, { "any none", "BAD" },
		{ "a", "BAD" }, { "a:0", "BAD" }, { "a:70000", "BAD" }, { ":80", "BAD" }, { "[::1]", "BAD" }, { "[]:80", "BAD" }, { "[::1:80", "BAD" });
	row.type = &conf_permits_listen_type;
	CHECK(row, { "80 localhost:81 *:*", "x *:80 localhost:81 *:*" }, { "x", "BAD" });
	assert_int_equal(conf_permit_parse("[fe80::1]:*", false, &p), 0);
	assert_string_equal(p.host, "fe80::1");
	assert_int_equal(p.port, 0);
	conf_permit_clear(&p);
}

static void test_host_port(void **state)
{
	static const struct { const char *text, *host; unsigned port; } t[] = {
		{ "a", "a", 0 }, { "a:22", "a", 22 }, { "[::1]:22", "::1", 22 }, { "[::1]", "::1", 0 }, { "::1", "::1", 0 },
		{ "[a]:1", "a", 1 }, { "", NULL, 0 }, { ":22", NULL, 0 }, { "a:", NULL, 0 }, { "a:0", NULL, 0 }, { "[]:1", NULL, 0 },
		{ "[a", NULL, 0 }, { "[a]x", NULL, 0 },
	};
	unsigned port;
	char *host;
	size_t i;

	for (i = 0; i < MEM_COUNT(t); i++) {
		assert_int_equal(conf_parse_host_port(t[i].text, &host, &port), t[i].host != NULL ? 0 : ERR_USAGE);
		if (t[i].host == NULL)
			continue;
		assert_string_equal(host, t[i].host);
		assert_int_equal(port, t[i].port);
		free(host);
	}
	if (getservbyname("ssh", "tcp") != NULL) {
		assert_int_equal(conf_parse_port("ssh", 1, &port), 0);
		assert_int_equal(port, 22);
	}
	assert_int_equal(conf_parse_port("0", 0, &port), 0);
}

/* ---- algorithm lists */

static const char *built_at(size_t i)
{
	static const char *const names[] = { "aa", "ab", "ba", "chacha20-poly1305@openssh.com" };

	return i < MEM_COUNT(names) ? names[i] : NULL;
}

static const char *defaults(void)
{
	return "ba,later,aa";
}

static const char *const unbuilt[] = { "later", "ab-later", NULL };

static void test_algs(void **state)
{
	static const struct conf_alg_kind exact = { .what = "thing", .built_at = built_at, .unbuilt = unbuilt, .defaults = defaults, .none_hint = "not here" };
	static const struct conf_alg_kind wild = { .what = "thing", .built_at = built_at, .unbuilt = unbuilt, .defaults = defaults, .wildcards = true };
	struct conf_row row = { .type = &conf_algs_type, .arg = &exact };
	struct err e = { 0 };

	CHECK(row, { "ab,aa", "x ab,aa" }, { "ab,later,ab", "x ab" }, { "+ab", "x ba,aa,ab" }, { "+aa", "x ba,aa" }, { "^ab,aa", "x ab,aa,ba" },
		{ "-b*", "x aa" }, { "-bogus", "x ba,aa" }, { "-*", "x " }, { "later", "x " }, { "ab,", "x ab" }, { "+", "BAD" }, { "^", "BAD" },
		{ "-", "BAD" }, { "bogus", "BAD" }, { "+bogus", "BAD" }, { "a*", "BAD" }, { "!aa", "BAD" }, { "AB", "BAD" }, { "none", "BAD" },
		{ "ab,none", "BAD" }, { "chacha20-poly1305-mt@hpnssh.org,chacha20-poly1305@openssh.com,aa", "x chacha20-poly1305@openssh.com,aa" });
	row.arg = &wild;
	CHECK(row, { "a*", "x aa,ab" }, { "+a?", "x ba,aa,ab" }, { "^a*", "x aa,ab,ba" }, { "ab-*", "x " }, { "z*", "BAD" }, { "!aa", "BAD" });
	assert_null(conf_algs_apply(&exact, "none", &e));
	assert_string_equal(e.text, "not here");
	err_clear(&e);
	assert_null(conf_algs_apply(&exact, "aa,zz", &e));
	assert_string_equal(e.text, "unknown thing \"zz\"");
}

static void test_alg_notes(void **state)
{
	static const struct conf_alg_kind kind = { .what = "thing", .built_at = built_at, .unbuilt = unbuilt, .defaults = defaults };
	struct conf_row row = { .type = &conf_algs_type, .arg = &kind };
	char *got;

	/* A list of which nothing is left is told: nothing will be agreed on. */
	log_capture_start(LOG_LEVEL_INFO);
	got = shown(&row, "later");
	assert_true(log_capture_has("X: this program has no thing of \"later\", so none is offered"));
	free(got);
	log_capture_drop();
	got = shown(&row, "later,aa");
	assert_string_equal(log_capture_text(), "");
	free(got);
}

static bool ab_is_old(const char *name)
{
	return strcmp(name, "ab") == 0;
}

static int later_is_missing(const char *name, struct err *e)
{
	return strcmp(name, "later") == 0 ? err_set(e, ERR_CRYPTO, "the module is missing") : 0;
}

/* What is only there for old peers has to be named; what cannot be had is told, and left out. */
static void test_algs_legacy(void **state)
{
	static const struct conf_alg_kind kind = { .what = "thing", .built_at = built_at, .unbuilt = unbuilt, .defaults = defaults, .wildcards = true,
		.legacy = ab_is_old, .prepare = later_is_missing };
	struct conf_row row = { .type = &conf_algs_type, .arg = &kind };
	char *got;

	CHECK(row, { "a*", "x aa" }, { "+a*", "x ba,aa" }, { "^a*", "x aa,ba" }, { "+ab", "x ba,aa,ab" }, { "ab", "x ab" }, { "?b", "x " },
		{ "+?b", "x ba,aa" }, { "-a*", "x ba" }, { "ab,a*", "x ab,aa" });
	log_capture_start(LOG_LEVEL_INFO);
	got = shown(&row, "later,aa");
	assert_string_equal(got, "x aa");
	assert_true(log_capture_has("thing later is not offered: the module is missing"));
	free(got);
	log_capture_drop();
}

/* ---- forwards */

static void test_forward_files(void **state)
{
	static const enum conf_forward_kind local = CONF_FORWARD_LOCAL, remote = CONF_FORWARD_REMOTE, dynamic = CONF_FORWARD_DYNAMIC;
	struct conf_row row = { .type = &conf_forwards_type, .arg = &local };

	assert_int_equal(setenv("WS_TEST_PORT", "8080", 1), 0);
	unsetenv("WS_TEST_UNSET");
	CHECK(row, { "8080 h:80", "x 8080 [h]:80" }, { "[::1]:8080 [fe80::1]:80", "x [::1]:8080 [fe80::1]:80" }, { "*:8080 h:80", "x [*]:8080 [h]:80" },
		{ ":8081 h:80", "x []:8081 [h]:80" }, { "/a /b", "x /a /b" }, { "/a h:80", "x /a [h]:80" }, { "8080 /b", "x 8080 /b" },
		{ "${WS_TEST_PORT} h:80", "x 8080 [h]:80" }, { "${WS_TEST_UNSET} h:80", "BAD" }, { "8080", "BAD" }, { "8080:h:80", "x 8080 [h]:80" }, { "0 h:80", "BAD" },
		{ "8080 h:0", "BAD" }, { "8080 h", "BAD" }, { "8080 h:80 x", "BAD" }, { "8080 :80", "BAD" }, { "70000 h:80", "BAD" });
	row.arg = &remote;
	CHECK(row, { "1080", "x 1080 [socks]:0" }, { "[::1]:1080", "x [::1]:1080 [socks]:0" }, { "0 h:22", "x 0 [h]:22" }, { "/x /y", "x /x /y" },
		{ "/x", "x /x [socks]:0" }, { "8080 h", "BAD" });
	row.arg = &dynamic;
	CHECK(row, { "1080", "x 1080" }, { "localhost:1081", "x [localhost]:1081" }, { "*:1081", "x [*]:1081" }, { "0", "BAD" }, { "1080 h:80", "BAD" });
}

static void test_forward_specs(void **state)
{
	static const struct { const char *spec; enum conf_forward_kind kind; bool good; } t[] = {
		{ "8080:h:80", CONF_FORWARD_LOCAL, true }, { "b:8080:h:80", CONF_FORWARD_LOCAL, true }, { "8080:/p", CONF_FORWARD_LOCAL, true },
		{ "b:8080:/p", CONF_FORWARD_LOCAL, true }, { "/p:h:80", CONF_FORWARD_LOCAL, true }, { "/p:/q", CONF_FORWARD_LOCAL, true },
		{ "/p:b:8080:h:80", CONF_FORWARD_LOCAL, false }, { "8080", CONF_FORWARD_LOCAL, false }, { "b:8080", CONF_FORWARD_LOCAL, false },
		{ "", CONF_FORWARD_LOCAL, false }, { "[::1]8080:h:80", CONF_FORWARD_LOCAL, false }, { "[::1:8080:h:80", CONF_FORWARD_LOCAL, false },
		{ "a:b:c:d:e", CONF_FORWARD_LOCAL, false }, { "/p:8080:/q", CONF_FORWARD_LOCAL, false }, { "8080:/q:80", CONF_FORWARD_LOCAL, false },
		{ "1080", CONF_FORWARD_REMOTE, true }, { "b:1080", CONF_FORWARD_REMOTE, true },
		{ "/p", CONF_FORWARD_REMOTE, true }, { "/p:80", CONF_FORWARD_REMOTE, false }, { "1080", CONF_FORWARD_DYNAMIC, true },
		{ "/p", CONF_FORWARD_DYNAMIC, true }, { "a:b:1080", CONF_FORWARD_DYNAMIC, false },
	};
	struct conf_forward f;
	struct conf_forwards l = { 0 };
	struct err e = { 0 };
	char longest[300];
	size_t i;

	for (i = 0; i < MEM_COUNT(t); i++) {
		err_clear(&e);
		if (conf_forward_parse(t[i].spec, t[i].kind, &f, &e) != (t[i].good ? 0 : ERR_USAGE))
			fail_msg("%s", t[i].spec);
		if (t[i].good)
			conf_forward_clear(&f);
		else
			assert_non_null(strstr(e.text, "Bad forwarding specification"));
	}
	assert_int_equal(conf_forward_parse("\\[a\\:b\\]:1:[c:d]:2", CONF_FORWARD_LOCAL, &f, &e), 0);
	assert_string_equal(f.listen_host, "[a:b]");
	assert_string_equal(f.connect_host, "c:d");
	assert_true(conf_forwards_add(&l, &f));
	assert_int_equal(conf_forward_parse("\\[a\\:b\\]:1:[c:d]:2", CONF_FORWARD_LOCAL, &f, &e), 0);
	assert_false(conf_forwards_add(&l, &f));
	conf_forward_clear(&f);
	conf_forwards_clear(&l);
	/* 255 bytes are the limit, and a socket name is shorter still. */
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "8080:/", 6);
	longest[299] = '\0';
	assert_int_equal(conf_forward_parse(longest, CONF_FORWARD_LOCAL, &f, &e), ERR_USAGE);
	longest[200] = '\0';
	assert_int_equal(conf_forward_parse(longest, CONF_FORWARD_LOCAL, &f, &e), ERR_USAGE);
	longest[100] = '\0';
	assert_int_equal(conf_forward_parse(longest, CONF_FORWARD_LOCAL, &f, &e), 0);
	conf_forward_clear(&f);
}

static int teardown(void **state)
{
	log_capture_stop();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_simple), cmocka_unit_test(test_times), cmocka_unit_test(test_texts), cmocka_unit_test(test_qos),
		cmocka_unit_test(test_permits), cmocka_unit_test(test_host_port), cmocka_unit_test(test_algs), cmocka_unit_test(test_alg_notes), cmocka_unit_test(test_algs_legacy),
		cmocka_unit_test(test_forward_files), cmocka_unit_test(test_forward_specs),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
