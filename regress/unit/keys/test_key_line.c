/* regress/unit/keys/test_key_line.c: public key lines. */
#include "keys/key_line.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "key_data.h"
#include "keys/key_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static int parse(const char *line, struct key **k, char **comment)
{
	struct err e = { 0 };
	int rc = key_public_parse(line, k, comment, &e);

	assert_int_equal(e.code, rc);
	return rc;
}

static void test_good(void **state)
{
	struct key *want = data_public("ed25519"), *k;
	char *line = key_public_line(want), *base64 = strchr(line, ' ') + 1, *comment, *s;
	static const struct { const char *before, *between, *after, *comment; } cases[] = {
		{ "", " ", "", "" }, { " \t", "\t \t", "\r\n", "" }, { "", " ", " two  words \t", "two  words" },
		{ "", " ", "\t# x", "# x" }
	};

	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		s = str_printf("%sssh-ed25519%s%s%s", cases[i].before, cases[i].between, base64, cases[i].after);
		assert_int_equal(parse(s, &k, &comment), 0);
		assert_true(key_equal_public(k, want));
		assert_string_equal(comment, cases[i].comment);
		assert_true(key_line_starts_key(s));
		key_free(k);
		free(comment);
		free(s);
	}
	assert_int_equal(key_public_parse(line, &k, NULL, NULL), 0);
	key_free(k);
	free(line);
	key_free(want);
}

static void test_bad(void **state)
{
	static const char *const bad[] = {
		"", " ", "ssh-ed25519", "ssh-ed25519 ", "ssh-ed25519 =", "ssh-ed25519 AAAA", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA==", "ssh-ed25519 !!!!", "ssh-foo AAAA", "x AAAAAXk="
	};
	struct key *k;

	for (size_t i = 0; i < MEM_COUNT(bad); i++) {
		assert_int_equal(parse(bad[i], &k, NULL), ERR_PEER);
		assert_null(k);
	}
}

/* The word before the blob must be its type, also for the curves of ECDSA. */
static void test_other_type(void **state)
{
	struct key *want = data_public("ecdsa256"), *k;
	char *line = key_public_line(want), *s;

	s = str_printf("ecdsa-sha2-nistp384%s", strchr(line, ' '));
	assert_int_equal(parse(s, &k, NULL), ERR_PEER);
	free(s);
	s = str_printf("ssh-rsa%s", strchr(line, ' '));
	assert_int_equal(parse(s, &k, NULL), ERR_PEER);
	free(s);
	free(line);
	key_free(want);
}

static void test_unknown_type(void **state)
{
	static const char *const files[] = { "sk.pub", "ecdsa256-cert.pub" };
	struct err e = { 0 };
	struct key *k;

	for (size_t i = 0; i < MEM_COUNT(files); i++) {
		char *line = data_line(files[i], 1), *type;
		const char *rest = line;

		assert_true(key_line_starts_key(line));
		assert_int_equal(parse(line, &k, NULL), ERR_NONE_FOUND);
		assert_null(k);
		assert_int_equal(key_line_read(&rest, &k, &type, &e), ERR_NONE_FOUND);
		assert_int_equal(strcspn(line, " "), strlen(type));
		assert_true(str_starts(line, type) && str_starts(rest, "test "));
		free(type);
		free(line);
	}
}

static void test_starts_key(void **state)
{
	assert_false(key_line_starts_key(""));
	assert_false(key_line_starts_key("no-pty ssh-ed25519 AAAA"));
	assert_false(key_line_starts_key("command=\"a b\" ssh-ed25519 AAAA"));
	/* A key that is broken is still one. */
	assert_true(key_line_starts_key("ssh-ed25519 garbage"));
	assert_true(key_line_starts_key("ssh-rsa"));
	assert_true(key_line_starts_key("x AAAAAXg="));
}

static void test_lines(void **state)
{
	static const char text[] = "a\r\n\nb\0c\nd";
	static const char *const want[] = { "a", "", NULL, "d" };
	size_t cursor = 0, n = 0;
	char *line;

	while (key_line_next(text, sizeof(text) - 1, &cursor, &line)) {
		assert_true(n < MEM_COUNT(want));
		if (want[n] == NULL)
			assert_null(line);
		else
			assert_string_equal(line, want[n]);
		n++;
		free(line);
	}
	assert_int_equal(n, MEM_COUNT(want));
	cursor = 0;
	assert_false(key_line_next("", 0, &cursor, &line));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good), cmocka_unit_test(test_bad), cmocka_unit_test(test_other_type),
		cmocka_unit_test(test_unknown_type), cmocka_unit_test(test_starts_key), cmocka_unit_test(test_lines)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
