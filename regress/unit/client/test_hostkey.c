/* regress/unit/client/test_hostkey.c: every policy against every state of a host key. */
#include "client/hostkey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"
#include "client_world.h"
#include "keys/known_hosts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct world {
	struct client_world w;
	struct key *a, *b, *ec;          /* two Ed25519 keys, one ECDSA */
	struct hostkey_where where;
	struct hostkey_verdict verdict;
	struct err err;
};

static int setup(void **state)
{
	struct world *t = mem_zalloc(sizeof(*t));

	client_world_init(&t->w);
	t->a = key_generate(KEY_ED25519, 0, NULL);
	t->b = key_generate(KEY_ED25519, 0, NULL);
	t->ec = key_generate(KEY_ECDSA, 256, NULL);
	assert_true(t->a != NULL && t->b != NULL && t->ec != NULL);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct world *t = *state;

	key_free(t->a);
	key_free(t->b);
	key_free(t->ec);
	client_world_clear(&t->w);
	free(t);
	return 0;
}

/* Options with known_hosts files of ours: `kh` and `kh2` of the user, `global` of the system. */
static void options(struct world *t, const char *more)
{
	char *lines = str_printf("UserKnownHostsFile %s/kh %s/kh2\nGlobalKnownHostsFile %s/global\n%s", t->w.dir, t->w.dir,
		t->w.dir, more);

	client_world_options(&t->w, lines);
	free(lines);
	t->where = (struct hostkey_where){ .options = &t->w.options, .tokens = &t->w.tokens, .host = "host.example",
		.address = "192.0.2.7", .port = 22 };
}

/* In text the words A, B and E stand for the public lines of the keys. */
static void hosts(struct world *t, const char *name, const char *text)
{
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);

	for (const char *start = text; *text != '\0'; text++) {
		bool word = (text == start || strchr(" \n", text[-1]) != NULL) && strchr(" \n", text[1]) != NULL;
		const struct key *k = !word ? NULL : *text == 'A' ? t->a : *text == 'B' ? t->b : *text == 'E' ? t->ec : NULL;
		char *line = k != NULL ? key_public_line(k) : NULL;

		if (line != NULL)
			buf_printf(&b, "%s", line);
		else
			buf_put_u8(&b, (uint8_t)*text);
		free(line);
	}
	client_world_write(&t->w, name, buf_cstr(&b), 0600);
	buf_free(&b);
}

static int check(struct world *t, struct key *k)
{
	client_world_log_clear(&t->w);
	err_clear(&t->err);
	return hostkey_check(&t->where, k, &t->verdict, &t->err);
}

static void assert_refused(struct world *t, struct key *k)
{
	assert_int_equal(check(t, k), ERR_DENIED);
	assert_string_equal(err_text(&t->err), "Host key verification failed.");
	assert_false(t->verdict.weakened);
}

static void assert_logged(struct world *t, const char *text)
{
	if (!client_world_logged(&t->w, text))
		fail_msg("not logged: %s\nbut:\n%s", text, buf_cstr(&t->w.log));
}

static void assert_file(struct world *t, const char *name, const char *expected)
{
	char *now = client_world_read(&t->w, name), *before;

	hosts(t, "expected", expected);
	before = client_world_read(&t->w, "expected");
	assert_string_equal(now, before);
	free(now);
	free(before);
}

static void assert_asked(struct world *t, const char *text)
{
	char *asked = client_world_questions(&t->w);

	if (strstr(asked, text) == NULL)
		fail_msg("not asked: %s\nbut:\n%s", text, asked);
	free(asked);
}

static void assert_not_asked(struct world *t)
{
	char *asked = client_world_questions(&t->w);

	assert_string_equal(asked, "");
	free(asked);
}

/* ---- policy and state */

enum state { NEW, KNOWN, CHANGED, OTHER_TYPE, REVOKED, STATES };
enum expected { TAKEN, TAKEN_WEAKENED, ADDED, REFUSED, ASKED };

static void policy(void **state)
{
	static const char *const files[STATES] = {
		[NEW] = "", [KNOWN] = "host.example A\n", [CHANGED] = "host.example B\n", [OTHER_TYPE] = "host.example E\n",
		[REVOKED] = "host.example A\n@revoked * A\n",
	};
	static const struct { const char *option; enum expected expected[STATES]; } rows[] = {
		{ "StrictHostKeyChecking yes", { REFUSED, TAKEN, REFUSED, REFUSED, REFUSED } },
		{ "StrictHostKeyChecking ask", { ASKED, TAKEN, REFUSED, REFUSED, REFUSED } },
		{ "StrictHostKeyChecking ask\nBatchMode yes", { REFUSED, TAKEN, REFUSED, REFUSED, REFUSED } },
		{ "", { ASKED, TAKEN, REFUSED, REFUSED, REFUSED } },
		{ "StrictHostKeyChecking accept-new", { ADDED, TAKEN, REFUSED, REFUSED, REFUSED } },
		{ "StrictHostKeyChecking no", { ADDED, TAKEN, TAKEN_WEAKENED, TAKEN_WEAKENED, TAKEN_WEAKENED } },
		{ "StrictHostKeyChecking off", { ADDED, TAKEN, TAKEN_WEAKENED, TAKEN_WEAKENED, TAKEN_WEAKENED } },
	};
	struct world *t = *state;

	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		for (int s = 0; s < STATES; s++) {
			enum expected x = rows[i].expected[s];

			options(t, rows[i].option);
			hosts(t, "kh", files[s]);
			if (x == REFUSED)
				assert_refused(t, t->a);
			if (x == ASKED) {
				client_world_answers(&t->w, "no\n");
				assert_refused(t, t->a);
				assert_asked(t, "Are you sure you want to continue connecting (yes/no/[fingerprint])? ");
				assert_file(t, "kh", files[s]);
				client_world_answers(&t->w, "yes\n");
			}
			if (x != REFUSED) {
				assert_int_equal(check(t, t->a), 0);
				assert_int_equal(t->verdict.weakened, x == TAKEN_WEAKENED);
				assert_int_equal(t->verdict.from_user_file, x != TAKEN_WEAKENED);
			}
			if (x == ASKED || x == ADDED) {
				assert_logged(t, "INFO Warning: Permanently added 'host.example' (ED25519) to the list of "
					"known hosts.");
				assert_file(t, "kh", "host.example A\n");
			} else {
				assert_file(t, "kh", files[s]);
			}
			if (x == ASKED)
				assert_asked(t, "known by any other names.");
			assert_not_asked(t);
			if (s == CHANGED) {
				assert_logged(t, "REMOTE HOST IDENTIFICATION HAS CHANGED!");
				assert_logged(t, "Offending ED25519 key in ");
				assert_logged(t, "/kh:1");
				assert_logged(t, "-R 'host.example'");
			}
			if (s == OTHER_TYPE)
				assert_logged(t, "Offending ECDSA key in ");
			if (s == REVOKED)
				assert_logged(t, "REVOKED HOST KEY DETECTED");
		}
	}
}

static void strict_says_why(void **state)
{
	struct world *t = *state;

	options(t, "StrictHostKeyChecking yes");
	t->where.port = 2222;
	assert_refused(t, t->a);
	assert_logged(t, "ERROR No ED25519 host key is known for [host.example]:2222 and you have requested strict checking.");
}

/* ---- questions */

static void question_has_all(void **state)
{
	struct world *t = *state;
	char *print = key_fingerprint(t->a, DIGEST_SHA256), *asked, *expected;

	options(t, "VisualHostKey yes");
	t->where.port = 2022;
	hosts(t, "kh2", "elsewhere,[third]:99 A\n");
	client_world_answers(&t->w, "\n");
	assert_refused(t, t->a);
	asked = client_world_questions(&t->w);
	assert_non_null(strstr(asked, "The authenticity of host '[host.example]:2022 ([192.0.2.7]:2022)' can't be established.\n"));
	expected = str_printf("ED25519 key fingerprint is: %s\n", print);
	assert_non_null(strstr(asked, expected));
	assert_non_null(strstr(asked, "+----[SHA256]-----+"));
	assert_non_null(strstr(asked, "kh2:1: elsewhere,[third]:99\n"));
	assert_null(strstr(asked, "not known by any other names"));
	free(expected);
	free(asked);
	free(print);
}

static void fingerprint_as_answer(void **state)
{
	struct world *t = *state;
	char *print = key_fingerprint(t->a, DIGEST_SHA256), *wrong = key_fingerprint(t->b, DIGEST_SHA256), *answers;

	options(t, "");
	answers = str_printf("%s\nwhat\n  %s \n", wrong, print);
	client_world_answers(&t->w, answers);
	assert_int_equal(check(t, t->a), 0);
	assert_asked(t, "--\nPlease type 'yes', 'no' or the fingerprint: \n--\nPlease type");
	assert_file(t, "kh", "host.example A\n");
	free(answers);
	free(print);
	free(wrong);
}

static void answers_in_any_case(void **state)
{
	struct world *t = *state;

	options(t, "");
	client_world_answers(&t->w, "YES\n");
	assert_int_equal(check(t, t->a), 0);
	unlink(t->w.options.user_known_hosts_file.v[0]);
	client_world_answers(&t->w, "No\nyes\n");
	assert_refused(t, t->a);
}

static void md5_fingerprint(void **state)
{
	struct world *t = *state;
	char *print = key_fingerprint(t->a, DIGEST_MD5), *answers;

	if (print == NULL)
		skip();
	options(t, "FingerprintHash md5");
	answers = str_printf("%s\n", print);
	client_world_answers(&t->w, answers);
	assert_int_equal(check(t, t->a), 0);
	assert_asked(t, print);
	free(answers);
	free(print);
}

static void nobody_to_ask(void **state)
{
	struct world *t = *state;

	options(t, "");
	assert_refused(t, t->a); /* askpass refuses */
	assert_file(t, "kh", "");
}

/* The text of a file that others wrote does not reach the terminal as it is. */
static void other_names_are_escaped(void **state)
{
	struct world *t = *state;
	char *asked;

	options(t, "");
	hosts(t, "global", "x\033[2J A\n");
	client_world_answers(&t->w, "no\n");
	assert_refused(t, t->a);
	asked = client_world_questions(&t->w);
	assert_null(strchr(asked, '\033'));
	assert_non_null(strstr(asked, "global:1: x\\033[2J"));
	free(asked);
}

/* ---- names */

static void port_and_plain_name(void **state)
{
	struct world *t = *state;

	options(t, "StrictHostKeyChecking yes");
	t->where.port = 2222;
	/* Filed without the port: the same key is fine, silently. */
	hosts(t, "kh", "host.example A\n");
	assert_int_equal(check(t, t->a), 0);
	assert_true(t->verdict.from_user_file);
	/* Another key there is no change, for it is another server: new. */
	assert_refused(t, t->b);
	assert_false(client_world_logged(&t->w, "HAS CHANGED"));
	/* With an entry for the port, that alone counts. */
	hosts(t, "kh", "host.example A\n[host.example]:2222 B\n");
	assert_int_equal(check(t, t->b), 0);
	assert_refused(t, t->a);
	assert_logged(t, "HAS CHANGED");
	assert_logged(t, "kh:2");
	assert_logged(t, "-R '[host.example]:2222'");
	/* Port 22 never looks at other ports. */
	t->where.port = 22;
	assert_refused(t, t->b);
}

static void second_server_is_explained(void **state)
{
	struct world *t = *state;

	options(t, "");
	t->where.port = 20022;
	hosts(t, "kh", "host.example A\n");
	client_world_answers(&t->w, "yes\n");
	assert_int_equal(check(t, t->b), 0);
	assert_asked(t, "second ssh server on port 20022");
	assert_file(t, "kh", "host.example A\n[host.example]:20022 B\n");
}

static void alias_stands_alone(void **state)
{
	struct world *t = *state;

	options(t, "StrictHostKeyChecking accept-new\nHostKeyAlias Cluster");
	t->where.port = 2222;
	t->where.host = "cluster";
	assert_int_equal(check(t, t->a), 0);
	assert_file(t, "kh", "cluster A\n");
	assert_refused(t, t->b);
}

static void localhost_exempt(void **state)
{
	struct world *t = *state;

	options(t, "StrictHostKeyChecking yes\nNoHostAuthenticationForLocalhost yes");
	assert_refused(t, t->a);
	t->where.loopback = true;
	assert_int_equal(check(t, t->a), 0);
	assert_false(t->verdict.from_user_file);
	options(t, "StrictHostKeyChecking yes\nNoHostAuthenticationForLocalhost yes\nHostKeyAlias x");
	t->where.loopback = true;
	assert_refused(t, t->a);
}

static void global_file(void **state)
{
	struct world *t = *state;

	options(t, "StrictHostKeyChecking yes");
	hosts(t, "global", "host.example A\n");
	assert_int_equal(check(t, t->a), 0);
	assert_false(t->verdict.from_user_file);
	assert_refused(t, t->b);
	assert_logged(t, "global:1");
	assert_false(client_world_logged(&t->w, "ssh-keygen"));
}

/* ---- adding */

static void hashed(void **state)
{
	struct world *t = *state;
	char *text;

	options(t, "StrictHostKeyChecking accept-new\nHashKnownHosts yes");
	assert_int_equal(check(t, t->a), 0);
	text = client_world_read(&t->w, "kh");
	assert_true(str_starts(text, "|1|"));
	assert_null(strstr(text, "host.example"));
	free(text);
	options(t, "StrictHostKeyChecking yes");
	assert_int_equal(check(t, t->a), 0);
	assert_refused(t, t->b);
}

static void cannot_be_added(void **state)
{
	struct world *t = *state;

	options(t, "");
	client_world_options(&t->w, "UserKnownHostsFile /nonexistent/folder/kh\nGlobalKnownHostsFile none\n"
		"StrictHostKeyChecking accept-new");
	assert_int_equal(check(t, t->a), 0);
	assert_logged(t, "Failed to add the host to the list of known hosts (/nonexistent/folder/kh).");
	assert_false(t->verdict.from_user_file);
	/* A name that would be a pattern is not written. */
	options(t, "StrictHostKeyChecking no");
	t->where.host = "*";
	assert_int_equal(check(t, t->a), 0);
	assert_logged(t, "Failed to add the host");
	assert_file(t, "kh", "");
	client_world_options(&t->w, "UserKnownHostsFile none\nGlobalKnownHostsFile none\nStrictHostKeyChecking no");
	assert_int_equal(check(t, t->a), 0);
	assert_false(client_world_logged(&t->w, "Permanently"));
}

/* ---- CheckHostIP */

static void address_is_filed(void **state)
{
	struct world *t = *state;

	options(t, "CheckHostIP yes\nStrictHostKeyChecking accept-new");
	assert_int_equal(check(t, t->a), 0);
	assert_file(t, "kh", "host.example,192.0.2.7 A\n");
	hosts(t, "kh", "host.example A\n");
	assert_int_equal(check(t, t->a), 0);
	assert_file(t, "kh", "host.example A\n192.0.2.7 A\n");
	options(t, "CheckHostIP yes\nStrictHostKeyChecking accept-new\nHashKnownHosts yes");
	unlink(t->w.options.user_known_hosts_file.v[0]);
	assert_int_equal(check(t, t->a), 0);
	options(t, "StrictHostKeyChecking yes");
	t->where.host = "192.0.2.7";
	assert_int_equal(check(t, t->a), 0);
}

static void address_differs(void **state)
{
	struct world *t = *state;

	hosts(t, "kh", "host.example A\n192.0.2.7 B\n");
	options(t, "CheckHostIP yes\nStrictHostKeyChecking yes");
	assert_refused(t, t->a);
	assert_logged(t, "kh:2");
	options(t, "CheckHostIP yes");
	client_world_answers(&t->w, "no\n");
	assert_refused(t, t->a);
	client_world_answers(&t->w, "yes\n");
	assert_int_equal(check(t, t->a), 0);
	assert_false(t->verdict.weakened);
	assert_asked(t, "Are you sure you want to continue connecting (yes/no)? ");
	options(t, "CheckHostIP yes\nStrictHostKeyChecking accept-new");
	assert_int_equal(check(t, t->a), 0);
	assert_logged(t, "Warning: the ED25519 host key of 'host.example' is not the one on file for the address '192.0.2.7'");
	/* Not looked at through a proxy. */
	options(t, "CheckHostIP yes\nStrictHostKeyChecking yes");
	t->where.address = NULL;
	assert_int_equal(check(t, t->a), 0);
}

static void through_a_proxy(void **state)
{
	struct world *t = *state;

	options(t, "");
	t->where.address = NULL;
	client_world_answers(&t->w, "no\n");
	assert_refused(t, t->a);
	assert_asked(t, "The authenticity of host 'host.example (reached through a proxy)' can't be established.\n");
}

/* ---- revoked keys */

/* A zero byte at the end of the second line. */
static void spoil(struct world *t, const char *name)
{
	char *path = client_world_path(&t->w, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite("#\n#\0\n", 1, 5, f), 5);
	assert_int_equal(fclose(f), 0);
	free(path);
}

static void revoked_file(void **state)
{
	struct world *t = *state;
	char *option = str_printf("StrictHostKeyChecking no\nRevokedHostKeys %s/revoked", t->w.dir);

	hosts(t, "kh", "host.example A\n");
	hosts(t, "revoked", "# bad ones\n\nB gone\nssh-unknown AAAAC3NzaC11bmtub3duAAAAAXg=\n");
	options(t, option);
	assert_int_equal(check(t, t->a), 0);
	assert_refused(t, t->b);
	assert_logged(t, "revoked:3");
	assert_false(t->verdict.weakened);
	hosts(t, "revoked", "SSHKRL\nX");
	assert_refused(t, t->a);
	assert_logged(t, "KRL");
	hosts(t, "revoked", "what is this\n");
	assert_refused(t, t->a);
	assert_logged(t, "all host keys are refused");
	hosts(t, "revoked", "ssh-ed25519-cert-v01@openssh.com AAAA\n");
	assert_refused(t, t->a);
	/* what stands behind a zero byte is not passed over */
	spoil(t, "revoked");
	assert_refused(t, t->a);
	assert_logged(t, "revoked:2: it holds a zero byte: all host keys are refused");
	hosts(t, "revoked", "");
	assert_int_equal(check(t, t->a), 0);
	free(option);
	option = str_printf("%s/revoked", t->w.dir);
	unlink(option);
	assert_refused(t, t->a);
	free(option);
}

static void revoked_for_plain_name(void **state)
{
	struct world *t = *state;

	options(t, "StrictHostKeyChecking accept-new");
	t->where.port = 2222;
	hosts(t, "kh", "@revoked host.example A\n");
	assert_refused(t, t->a);
	assert_logged(t, "REVOKED HOST KEY DETECTED");
}

static void short_rsa_key(void **state)
{
	struct world *t = *state;
	struct key *rsa = key_generate(KEY_RSA, 2048, NULL);

	assert_non_null(rsa);
	options(t, "StrictHostKeyChecking no\nRequiredRSASize 2048");
	assert_int_equal(check(t, rsa), 0);
	options(t, "StrictHostKeyChecking no\nRequiredRSASize 3072");
	assert_refused(t, rsa);
	key_free(rsa);
}

/* ---- KnownHostsCommand */

static void command(void **state)
{
	struct world *t = *state;
	char *option = str_printf("StrictHostKeyChecking yes\nKnownHostsCommand %s/command %%H %%I %%t \"%%f\"", t->w.dir), *args,
		*expected, *print = key_fingerprint(t->a, DIGEST_SHA256);

	options(t, option);
	hosts(t, "lines", "[host.example]:22 B\nhost.example A\n");
	client_world_write(&t->w, "command", "#!/bin/sh\ncd \"${0%/*}\" && echo \"$*\" >args && cat lines\n", 0700);
	assert_int_equal(check(t, t->a), 0);
	assert_false(t->verdict.from_user_file);
	args = client_world_read(&t->w, "args");
	expected = str_printf("host.example HOSTNAME ssh-ed25519 %s\n", print);
	assert_string_equal(args, expected);
	assert_refused(t, t->b);
	assert_logged(t, "KnownHostsCommand:2");
	client_world_write(&t->w, "command", "#!/bin/sh\ncd \"${0%/*}\" && cat lines && printf 'x\\000@revoked'\n", 0700);
	assert_int_equal(check(t, t->a), ERR_PEER);
	assert_non_null(strstr(err_text(&t->err), "KnownHostsCommand: a zero byte in the output"));
	client_world_write(&t->w, "command", "#!/bin/sh\nexit 3\n", 0700);
	assert_int_equal(check(t, t->a), ERR_DENIED);
	assert_non_null(strstr(err_text(&t->err), "exit status 3"));
	free(args);
	free(expected);
	free(print);
	free(option);
}

/* ---- order */

static void order(void **state)
{
	struct world *t = *state;
	char *list;

	options(t, "");
	list = hostkey_order(&t->where);
	assert_string_equal(list, t->w.options.host_key_algorithms.names);
	free(list);
	/* The best type is known: as it is. */
	hosts(t, "kh", "host.example E\nhost.example A\n");
	list = hostkey_order(&t->where);
	assert_string_equal(list, t->w.options.host_key_algorithms.names);
	free(list);
	hosts(t, "kh", "host.example E\n@revoked host.example A\n");
	list = hostkey_order(&t->where);
	assert_true(str_starts(list, "ecdsa-sha2-nistp256,ssh-ed25519,"));
	assert_int_equal(strlen(list), strlen(t->w.options.host_key_algorithms.names));
	free(list);
	/* Only the plain name is filed. */
	t->where.port = 2222;
	list = hostkey_order(&t->where);
	assert_true(str_starts(list, "ecdsa-sha2-nistp256,"));
	free(list);
	/* Written out by the user. */
	options(t, "HostKeyAlgorithms ssh-ed25519,ecdsa-sha2-nistp256");
	list = hostkey_order(&t->where);
	assert_string_equal(list, "ssh-ed25519,ecdsa-sha2-nistp256");
	free(list);
	options(t, "HostKeyAlgorithms -rsa*");
	list = hostkey_order(&t->where);
	assert_true(str_starts(list, "ecdsa-sha2-nistp256,"));
	assert_null(strstr(list, "rsa-sha2"));
	free(list);
}

static void visual(void **state)
{
	struct world *t = *state;

	options(t, "VisualHostKey yes");
	hosts(t, "kh", "host.example A\n");
	assert_int_equal(check(t, t->a), 0);
	assert_logged(t, "INFO Host key fingerprint is SHA256:");
	assert_logged(t, "INFO +----[SHA256]-----+");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(policy), TEST(strict_says_why), TEST(question_has_all), TEST(fingerprint_as_answer),
		TEST(answers_in_any_case), TEST(md5_fingerprint), TEST(nobody_to_ask), TEST(other_names_are_escaped),
		TEST(port_and_plain_name), TEST(second_server_is_explained), TEST(alias_stands_alone), TEST(localhost_exempt),
		TEST(global_file), TEST(hashed), TEST(cannot_be_added), TEST(address_is_filed), TEST(address_differs),
		TEST(through_a_proxy), TEST(revoked_file), TEST(revoked_for_plain_name), TEST(short_rsa_key), TEST(command),
		TEST(order), TEST(visual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
