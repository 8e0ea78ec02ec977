/* The version exchange: lines that are good, bad, long, cut. */
#include "ident.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

static int find(bool server, const void *p, size_t n, size_t *taken, struct view *line, const char **refusal)
{
	struct ident_scan s = { .lines = 0 };
	struct err e = { .code = 0 };
	int r = ident_find(&s, server, (struct view){ p, n }, taken, line, &e);

	assert_int_equal(r < 0, e.code != 0);
	*refusal = s.refusal;
	return r;
}

/* line: what is found (NULL: nothing); result for a server, for a client. */
static const struct { const char *in; const char *line; int server, client; } cases[] = {
	{ "SSH-2.0-x\r\n", "SSH-2.0-x", 1, 1 },
	{ "SSH-2.0-x\n", "SSH-2.0-x", 1, 1 },
	{ "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\nrest", "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3", 1, 1 },
	{ "SSH-1.99-Cisco-1.25\n", "SSH-1.99-Cisco-1.25", 1, 1 },
	{ "SSH-2.1-x\n", "SSH-2.1-x", 1, 1 },
	{ "SSH-2.0-\n", NULL, ERR_PEER, ERR_PEER },
	{ "SSH-2.0\n", NULL, ERR_PEER, ERR_PEER },
	{ "SSH-2-x\n", NULL, ERR_PEER, ERR_PEER },
	{ "SSH-.0-x\n", NULL, ERR_PEER, ERR_PEER },
	{ "SSH-2.-x\n", NULL, ERR_PEER, ERR_PEER },
	{ "SSH-\n", NULL, ERR_PEER, ERR_PEER },
	{ "SSH-1.5-x\n", NULL, ERR_PEER, ERR_PEER },
	{ "SSH-1.9-x\n", NULL, ERR_PEER, ERR_PEER },
	{ "SSH-3.0-x\n", NULL, ERR_PEER, ERR_PEER },
	{ "SSH-99999999999999999999.0-x\n", NULL, ERR_PEER, ERR_PEER },
	{ "SSH-2.0-x\ry\n", NULL, ERR_PEER, ERR_PEER },
	{ "SSH-2.0-x\r\r\n", NULL, ERR_PEER, ERR_PEER },
	{ "", NULL, 0, 0 },
	{ "S", NULL, 0, 0 },
	{ "SSH-2.0-x", NULL, 0, 0 },
	{ "SSH-2.0-x\r", NULL, 0, 0 },
	{ "welcome\r\nSSH-2.0-x\r\n", "SSH-2.0-x", ERR_PEER, 1 },
	{ "\n\nSSH-2.0-x\n", "SSH-2.0-x", ERR_PEER, 1 },
	{ " SSH-2.0-x\nSSH-2.0-y\n", "SSH-2.0-y", ERR_PEER, 1 },
	{ "GET / HTTP/1.1\r\n", NULL, ERR_PEER, 0 },
	{ "SSX", NULL, ERR_PEER, 0 },
};

static void lines(void **state)
{
	struct view line;
	const char *refusal;
	size_t i, taken;
	int r, server;

	(void)state;
	for (i = 0; i < MEM_COUNT(cases); i++)
		for (server = 0; server < 2; server++) {
			r = find(server, cases[i].in, strlen(cases[i].in), &taken, &line, &refusal);
			assert_int_equal(r, server ? cases[i].server : cases[i].client);
			if (r == 1) {
				assert_true(view_is(line, cases[i].line));
				assert_int_equal(cases[i].in[taken - 1], '\n');
				assert_ptr_equal(line.p + line.n + (line.p[line.n] == '\r' ? 1 : 0), cases[i].in + taken - 1);
			}
		}
}

static void refusals_are_readable(void **state)
{
	static const struct { const char *in, *refusal; } bad[] = {
		{ "GET / HTTP/1.1\r\n", "Invalid SSH identification string.\r\n" },
		{ "SSH-2.0\n", "Invalid SSH identification string.\r\n" },
		{ "SSH-2.0-a\rb", "Invalid SSH identification string.\r\n" },
		{ "SSH-1.5-x\n", "Protocol major versions differ.\r\n" },
	};
	struct view line;
	const char *refusal;
	size_t i, taken;

	(void)state;
	for (i = 0; i < MEM_COUNT(bad); i++) {
		assert_int_equal(find(true, bad[i].in, strlen(bad[i].in), &taken, &line, &refusal), ERR_PEER);
		assert_string_equal(refusal, bad[i].refusal);
	}
}

static void nul_is_no_text(void **state)
{
	struct view line;
	const char *refusal;
	size_t taken;

	(void)state;
	assert_int_equal(find(true, "SSH-2.0-x\0\n", 11, &taken, &line, &refusal), ERR_PEER);
	assert_int_equal(find(false, "hello\0\nSSH-2.0-x\n", 17, &taken, &line, &refusal), ERR_PEER);
}

static void lengths(void **state)
{
	static const struct { size_t n; const char *end; int result; } sizes[] = {
		{ 8192, "\r\n", 1 }, { 8192, "\n", 1 }, { 8193, "\n", ERR_PEER }, { 8193, "\r\n", ERR_PEER },
		{ 8192, "\r", 0 }, { 8192, "", 0 }, { 8193, "", ERR_PEER }, { 9000, "", ERR_PEER }
	};
	char *text = malloc(10000);
	struct view line;
	const char *refusal;
	size_t i, taken, n;

	(void)state;
	for (i = 0; i < MEM_COUNT(sizes); i++) {
		memset(text, 'a', 10000);
		memcpy(text, "SSH-2.0-", 8);
		n = sizes[i].n + strlen(sizes[i].end);
		memcpy(text + sizes[i].n, sizes[i].end, strlen(sizes[i].end));
		assert_int_equal(find(true, text, n, &taken, &line, &refusal), sizes[i].result);
		assert_int_equal(find(false, text, n, &taken, &line, &refusal), sizes[i].result);
		if (sizes[i].result == 1)
			assert_int_equal(line.n, 8192);
	}
	free(text);
}

/* Lines before it come in any pieces, and are counted over all calls. */
static void a_client_looks_through_1024_lines(void **state)
{
	unsigned before, i;

	(void)state;
	for (before = 1023; before <= 1024; before++) {
		struct ident_scan s = { .lines = 0 };
		struct err e = { .code = 0 };
		struct view line;
		size_t taken;
		int r = 0;

		for (i = 0; i < before && r == 0; i++) {
			r = ident_find(&s, false, (struct view){ (const uint8_t *)"x\n", 2 }, &taken, &line, &e);
			if (r == 0)
				assert_int_equal(taken, 2);
		}
		if (before == 1024) {
			assert_int_equal(r, ERR_PEER);
			continue;
		}
		assert_int_equal(ident_find(&s, false, (struct view){ (const uint8_t *)"SSH-2.0-x\n", 10 }, &taken, &line, &e), 1);
	}
}

static void software_is_behind_the_version(void **state)
{
	struct view v = { (const uint8_t *)"SSH-1.99-Cisco-1.25 a-b", 23 };

	(void)state;
	assert_true(view_is(ident_software(v), "Cisco-1.25 a-b"));
	v = (struct view){ (const uint8_t *)"SSH-2.0", 7 };
	assert_int_equal(ident_software(v).n, 0);
}

static void sink(void *ctx, enum log_level level, const char *line)
{
	str_list_add(ctx, line);
}

static void what_is_logged(void **state)
{
	struct str_list l = { .v = NULL };
	struct view line;
	const char *refusal;
	size_t taken;

	(void)state;
	log_init("test", LOG_LEVEL_VERBOSE);
	log_to_sink(sink, &l);
	find(true, "GET /\033\r\n", 8, &taken, &line, &refusal);
	find(true, "SSH-x\n", 6, &taken, &line, &refusal);
	find(true, "SSH-1.5-x\n", 10, &taken, &line, &refusal);
	log_to_stderr();
	assert_int_equal(l.count, 3);
	assert_non_null(strstr(l.v[0], "kex_exchange_identification: client sent invalid protocol identifier \"GET /\\033\""));
	assert_non_null(strstr(l.v[1], "Bad remote protocol version identification: 'SSH-x'"));
	assert_non_null(strstr(l.v[2], "Protocol major versions differ: 2 vs. 1"));
	str_list_clear(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(refusals_are_readable),
		cmocka_unit_test(nul_is_no_text),
		cmocka_unit_test(lengths),
		cmocka_unit_test(a_client_looks_through_1024_lines),
		cmocka_unit_test(software_is_behind_the_version),
		cmocka_unit_test(what_is_logged),
	};

	log_init("test", LOG_LEVEL_QUIET);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
