/* regress/unit/keys/test_key_rfc4716.c: public keys in RFC 4716's format; lines of any file that lists keys. */
#include "keys/key_rfc4716.h"

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

#define BEGIN "---- BEGIN SSH2 PUBLIC KEY ----"
#define END "---- END SSH2 PUBLIC KEY ----"

static void test_there_and_back(void **state)
{
	static const char *const kinds[] = { "ed25519", "ecdsa256", "ecdsa384", "ecdsa521", "rsa" };

	for (size_t i = 0; i < MEM_COUNT(kinds); i++) {
		struct key *k = data_public(kinds[i]), *again;
		struct buf b = BUF_INIT(16384);
		const char *s;

		key_rfc4716_put(k, i == 0 ? NULL : "a \"quoted\" comment\nthat is much longer than sixty characters, which is the limit",
			&b);
		s = buf_cstr(&b);
		assert_true(key_rfc4716_is(s, b.size) && str_starts(s, BEGIN "\n") && str_ends(s, "\n" END "\n"));
		assert_true((strstr(s, "Comment: \"a quoted commentthat is much longer than sixty characters") != NULL) == (i != 0));
		for (const char *p = s; *p != '\0'; p += strcspn(p, "\n") + 1)
			assert_true(strcspn(p, "\n") <= 72);
		assert_int_equal(key_rfc4716_parse(s, b.size, &again, NULL), 0);
		assert_true(key_equal_public(k, again));
		key_free(again);
		for (size_t n = 0; n + 1 < b.size; n++)
			assert_int_equal(key_rfc4716_parse(s, n, &again, NULL), ERR_PEER);
		buf_free(&b);
		key_free(k);
	}
}

static void test_variants(void **state)
{
	struct key *k = data_public("ed25519"), *got;
	char *line = key_public_line(k), *base64 = strchr(line, ' ') + 1;
	static const struct { const char *before, *eol, *after; int rc; } cases[] = {
		{ BEGIN "\n", "\n", END "\n", 0 }, { BEGIN "\r\n", "\r\n", END "\r\n", 0 }, { BEGIN "\r", "\r", END "\r", 0 },
		{ BEGIN "\n", "\n", END, 0 }, { BEGIN "\nComment: x\nSubject: a\\\nb: c\\\nd\nx-y: z\n", "\n", END "\ntrailing", 0 },
		{ BEGIN "\nNoValue\n", "\n", END "\n", ERR_PEER }, { "x\n" BEGIN "\n", "\n", END "\n", ERR_PEER },
		{ BEGIN "\n", "\n", "", ERR_PEER }, { BEGIN " \n", "\n", END "\n", ERR_PEER }, { BEGIN "\n", "=\n", END "\n", ERR_PEER }
	};

	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		char *s = str_printf("%s%.40s%s%s%s%s", cases[i].before, base64, cases[i].eol, base64 + 40, cases[i].eol, cases[i].after);

		if (key_rfc4716_parse(s, strlen(s), &got, NULL) != cases[i].rc)
			fail_msg("case %zu", i);
		assert_true(got == NULL || key_equal_public(k, got));
		key_free(got);
		free(s);
	}
	assert_int_equal(key_rfc4716_parse(BEGIN "\nAAAAAXg=\n" END "\n", strlen(BEGIN "\nAAAAAXg=\n" END "\n"), &got, NULL), ERR_NONE_FOUND);
	assert_false(key_rfc4716_is("", 0));
	free(line);
	key_free(k);
}

static void test_listed(void **state)
{
	static const struct { const char *before, *after, *comment; int rc; } cases[] = {
		{ "", "", "", 0 }, { "", " own comment ", "own comment", 0 }, { "host,other ", "", "host,other", 0 },
		{ "host ", " own", "own", 0 }, { "command=\"a b\",no-pty ", "", "command=\"a b\",no-pty", 0 },
		{ "@revoked *.x ", "", "@revoked *.x", 0 }, { " \t", "\r", "", 0 }, { "#", "", NULL, ERR_NONE_FOUND },
		{ "one two ", "", NULL, ERR_PEER }, { "@revoked ", "", "@revoked", 0 }
	};
	struct key *k = data_public("ecdsa384"), *got;
	char *line = key_public_line(k), *comment;

	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		char *s = str_printf("%s%s%s", cases[i].before, line, cases[i].after);

		assert_int_equal(key_listed_parse(s, &got, &comment, NULL), cases[i].rc);
		if (cases[i].rc == 0) {
			assert_true(key_equal_public(k, got));
			assert_string_equal(comment, cases[i].comment);
			free(comment);
			key_free(got);
		}
		free(s);
	}
	assert_int_equal(key_listed_parse("", &got, NULL, NULL), ERR_NONE_FOUND);
	assert_int_equal(key_listed_parse("host x AAAAAXg=", &got, NULL, NULL), ERR_NONE_FOUND);
	free(line);
	key_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_variants), cmocka_unit_test(test_listed)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
