/* regress/unit/client/test_client_auth_first.c: the first request of a connection, which does not wait: what goes
 * first, that it is what "none" first would have led to, and what is remembered. */
#include "client/client_auth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "auth_peer.h"
#include "base/mem.h"
#include "base/str.h"
#include "keys/key_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define STOCK "OpenSSH_9.9"

static int setup(void **state)
{
	struct auth_peer *p = mem_zalloc(sizeof(*p));

	auth_peer_init(p);
	p->software = STOCK;
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	auth_peer_clear(*state);
	free(*state);
	return 0;
}

static struct auth_peer *at(void **state) { return *state; }

static struct key *key_new(struct auth_peer *p, const char *name, enum key_type type, const char *passphrase)
{
	struct key_write_options o = { .passphrase = passphrase, .comment = "a key", .rounds = 1 };
	struct key *k = key_generate(type, type == KEY_RSA ? 2048 : 0, NULL);
	struct buf text = BUF_INIT(BUF_LIMIT_DEFAULT);
	char *line, *pub = str_printf("%s.pub", name);

	assert_non_null(k);
	assert_int_equal(key_private_write(k, &o, &text, NULL), 0);
	line = key_public_line(k);
	client_world_write(&p->w, name, buf_cstr(&text), 0600);
	client_world_write(&p->w, pub, line, 0644);
	buf_free(&text);
	free(line);
	free(pub);
	return k;
}

/* @ stands for the folder. */
static void run(struct auth_peer *p, const char *text)
{
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);

	for (; *text != '\0'; text++)
		if (*text == '@')
			buf_printf(&b, "%s", p->w.dir);
		else
			buf_put_u8(&b, (uint8_t)*text);
	auth_peer_run(p, buf_cstr(&b));
	buf_free(&b);
}

static void assert_trace(struct auth_peer *p, const char *expected)
{
	if (strcmp(p->trace, expected) != 0)
		fail_msg("asked \"%s\" instead of \"%s\"; log:\n%s", p->trace, expected, buf_cstr(&p->w.log));
}

static void assert_questions(struct auth_peer *p, const char *expected)
{
	char *asked = client_world_questions(&p->w);

	assert_string_equal(asked, expected);
	free(asked);
}

/* ---- servers */

/* Lets in who has `script` as key, "none" when script is NULL. */
static void serve_key(struct auth_peer *p, const struct userauth_request *q, unsigned n)
{
	const struct key *k = p->script;

	(void)n;
	if (k == NULL && q->kind == USERAUTH_NONE) {
		auth_peer_succeed(p);
		return;
	}
	if (k != NULL && (q->kind == USERAUTH_PUBLICKEY || q->kind == USERAUTH_HOSTBOUND) &&
	    view_equal(q->key_blob, key_blob(k))) {
		if (!q->has_signature) {
			auth_peer_pk_ok(p, q->alg, q->key_blob);
			return;
		}
		assert_true(auth_peer_signed(p, q, k));
		auth_peer_succeed(p);
		return;
	}
	auth_peer_fail(p, "publickey", false);
}

static void serve_nobody(struct auth_peer *p, const struct userauth_request *q, unsigned n)
{
	(void)q;
	(void)n;
	auth_peer_fail(p, "publickey,password,keyboard-interactive", false);
}

static void let_in(struct auth_peer *p, const struct key *k)
{
	p->serve = serve_key;
	p->script = (void *)k;
}

/* ---- what goes first */

static void a_plain_key_signs_at_once(void **state)
{
	static const enum key_type types[] = { KEY_ED25519, KEY_ECDSA, KEY_RSA };
	static const char *const peers[] = { STOCK, "Wirespeed_0.1", "OpenSSH_9.0_hpn17v1" };
	struct auth_peer *p = at(state);

	for (size_t i = 0; i < MEM_COUNT(types); i++) {
		struct key *k = key_new(p, "id", types[i], NULL);

		let_in(p, k);
		p->software = peers[i];
		p->hostbound = false;
		run(p, "IdentityFile @/id");
		assert_true(p->success);
		assert_trace(p, "publickey!");
		assert_string_equal(p->method, "publickey");
		p->hostbound = true;
		run(p, "IdentityFile @/id");
		assert_trace(p, "hostbound!");
		run(p, "IdentityFile @/id\nPubkeyAuthentication unbound");
		assert_trace(p, "publickey!");
		key_free(k);
	}
}

/* With NEWKEYS, before anything else of the server was read. */
static void before_ext_info(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, NULL), *rsa = key_new(p, "rsa", KEY_RSA, NULL);
	struct auth_login login = { .method = "publickey" };

	p->at_once = p->hostbound = true;
	let_in(p, k);
	run(p, "IdentityFile @/id");
	assert_trace(p, "publickey!");
	/* What RSA signature it takes, the server has not said yet. */
	let_in(p, rsa);
	run(p, "IdentityFile @/rsa");
	assert_trace(p, "none publickey? hostbound!");
	assert_true(p->success);
	p->remembered = &login;
	run(p, "IdentityFile @/rsa");
	assert_trace(p, "none publickey? hostbound!");
	str_copy(login.alg, sizeof(login.alg), "rsa-sha2-512");
	run(p, "IdentityFile @/rsa");
	assert_trace(p, "publickey!");
	run(p, "IdentityFile @/rsa\nPubkeyAcceptedAlgorithms rsa-sha2-256");
	assert_trace(p, "none publickey? hostbound!");
	run(p, "IdentityFile @/rsa\nRequiredRSASize 3072");
	assert_trace(p, "none");
	assert_false(p->success);
	/* Neither SHA-1 nor an algorithm of another type, whatever the memory says. */
	str_copy(login.alg, sizeof(login.alg), "ssh-rsa");
	run(p, "IdentityFile @/rsa\nPubkeyAcceptedAlgorithms +ssh-rsa");
	assert_trace(p, "none publickey? hostbound!");
	str_copy(login.alg, sizeof(login.alg), "ssh-ed25519");
	run(p, "IdentityFile @/rsa");
	assert_trace(p, "none publickey? hostbound!");
	key_free(k);
	key_free(rsa);
}

static void a_key_with_passphrase_is_asked_about(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, "sesame");
	char *prompt = str_printf("Enter passphrase for key '%s/id': \n--\n", p->w.dir);

	let_in(p, k);
	client_world_answers(&p->w, "sesame\n");
	run(p, "IdentityFile @/id");
	assert_true(p->success);
	assert_trace(p, "publickey? publickey!");
	assert_questions(p, prompt);
	/* Nobody is asked for the passphrase of a key that the server does not want. */
	p->serve = serve_nobody;
	run(p, "IdentityFile @/id\nPreferredAuthentications publickey");
	assert_trace(p, "publickey? none");
	assert_questions(p, "");
	free(prompt);
	key_free(k);
}

static void an_agent_is_not_asked_to_sign(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_generate(KEY_ED25519, 0, NULL);
	char *log;

	auth_peer_agent(p, &k, 1, false);
	p->serve = serve_nobody;
	run(p, "IdentityFile none\nPreferredAuthentications publickey");
	assert_trace(p, "publickey? none");
	log = client_world_read(&p->w, "agent.log");
	assert_string_equal(log, "bind\nlist\n");
	free(log);
	let_in(p, k);
	run(p, "IdentityFile none");
	assert_trace(p, "publickey? publickey!");
	key_free(k);
}

/* A file that needs no passphrase signs although the agent has the key too, which might ask. */
static void a_file_goes_before_the_agent(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, NULL);
	char *log;

	auth_peer_agent(p, &k, 1, false);
	let_in(p, k);
	run(p, "IdentityFile @/id");
	assert_trace(p, "publickey!");
	log = client_world_read(&p->w, "agent.log");
	assert_string_equal(log, "bind\nlist\n");
	free(log);
	key_free(k);
}

static void adding_to_the_agent(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, NULL), *other = key_new(p, "other", KEY_ED25519, NULL);
	char *question = str_printf("Add key %s/id (a key) to agent?\n--\n", p->w.dir), *log;

	auth_peer_agent(p, &other, 1, false);
	let_in(p, k);
	run(p, "IdentityFile @/id\nIdentitiesOnly yes\nAddKeysToAgent yes");
	assert_trace(p, "publickey!");
	log = client_world_read(&p->w, "agent.log");
	assert_string_equal(log, "bind\nlist\nadd a key 0 0\n");
	free(log);
	/* A question to the user is not for now. */
	p->serve = serve_nobody;
	run(p, "IdentityFile @/id\nIdentitiesOnly yes\nAddKeysToAgent ask\nPreferredAuthentications publickey");
	assert_trace(p, "publickey? none");
	assert_questions(p, "");
	let_in(p, k);
	client_world_answers(&p->w, "yes\n");
	run(p, "IdentityFile @/id\nIdentitiesOnly yes\nAddKeysToAgent ask");
	assert_trace(p, "publickey? publickey!");
	assert_questions(p, question);
	free(question);
	key_free(k);
	key_free(other);
}

/* What is wrong with a file is said when it is wanted, once, as without haste. */
static void bad_files_are_quiet_at_first(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, NULL), *other = key_new(p, "other", KEY_ED25519, NULL);
	char *path = client_world_path(&p->w, "id"), *line = key_public_line(other);

	p->serve = serve_nobody;
	assert_int_equal(chmod(path, 0644), 0);
	run(p, "IdentityFile @/id\nPreferredAuthentications publickey");
	assert_trace(p, "publickey? none");
	assert_false(client_world_logged(&p->w, "UNPROTECTED"));
	let_in(p, k);
	run(p, "IdentityFile @/id");
	assert_trace(p, "publickey? none");
	assert_true(client_world_logged(&p->w, "UNPROTECTED"));
	/* The public half beside it is another key's. */
	assert_int_equal(chmod(path, 0600), 0);
	client_world_write(&p->w, "id.pub", line, 0644);
	p->serve = serve_nobody;
	run(p, "IdentityFile @/id\nPreferredAuthentications publickey");
	assert_trace(p, "publickey? none");
	assert_false(client_world_logged(&p->w, "ERROR"));
	free(path);
	free(line);
	key_free(k);
	key_free(other);
}

static void none_goes_first(void **state)
{
	static const struct { const char *options; bool weakened; const char *software, *method; } cases[] = {
		{ "IdentityFile @/id", true, STOCK, NULL },
		{ "IdentityFile @/id", false, "Other_1", NULL },
		{ "IdentityFile @/id", false, "Other_1", "password" },
		{ "IdentityFile @/id", false, "Other_1", "none" },
		{ "IdentityFile @/id", false, STOCK, "none" },
		{ "IdentityFile @/id\nPreferredAuthentications password,publickey", false, STOCK, NULL },
		{ "IdentityFile @/id\nPreferredAuthentications keyboard-interactive,publickey", false, STOCK, "publickey" },
	};
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, NULL);

	let_in(p, k);
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		struct auth_login login = { 0 };

		str_copy(login.method, sizeof(login.method), cases[i].method != NULL ? cases[i].method : "");
		p->remembered = cases[i].method != NULL ? &login : NULL;
		p->weakened = cases[i].weakened;
		p->software = cases[i].software;
		run(p, cases[i].options);
		assert_trace(p, "none publickey? publickey!");
		assert_true(p->success);
	}
	p->remembered = NULL;
	/* A password never goes first, nor does anything when there is no key. */
	p->weakened = false;
	p->software = STOCK;
	p->serve = serve_nobody;
	run(p, "IdentityFile @/id\nPubkeyAuthentication no\nBatchMode yes");
	assert_trace(p, "none");
	run(p, "IdentityFile none\nBatchMode yes");
	assert_trace(p, "none");
	run(p, "IdentityFile @/id\nPreferredAuthentications password\nNumberOfPasswordPrompts 1");
	assert_true(str_starts(p->trace, "none"));
	key_free(k);
}

/* Where nothing is asked for, nothing is asked for after a key either. */
static void none_is_not_forgotten(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k[4];

	for (size_t i = 0; i < 4; i++) {
		char name[2] = { (char)('a' + i), '\0' };

		k[i] = key_new(p, name, KEY_ED25519, NULL);
	}
	let_in(p, NULL);
	run(p, "IdentityFile @/a");
	assert_true(p->success);
	assert_trace(p, "publickey! none");
	assert_string_equal(p->method, "none");
	run(p, "IdentityFile @/a\nIdentityFile @/b");
	assert_trace(p, "publickey! publickey? none");
	/* Servers stop listening after a few failures. */
	run(p, "IdentityFile @/a\nIdentityFile @/b\nIdentityFile @/c");
	assert_trace(p, "publickey! publickey? publickey?");
	assert_false(p->success);
	for (size_t i = 0; i < 4; i++)
		key_free(k[i]);
}

/* ---- memory */

static void the_remembered_key_goes_first(void **state)
{
	struct auth_peer *p = at(state);
	struct key *a = key_new(p, "a", KEY_ED25519, NULL), *b = key_new(p, "b", KEY_ECDSA, NULL);
	struct key *c = key_new(p, "c", KEY_ED25519, NULL);
	struct auth_login login;
	char *print = key_fingerprint(b, DIGEST_SHA256);

	let_in(p, b);
	run(p, "IdentityFile @/a\nIdentityFile @/b\nIdentityFile @/c");
	assert_trace(p, "publickey! publickey? publickey!");
	client_auth_login(p->auth, &login);
	assert_string_equal(login.method, "publickey");
	assert_string_equal(login.key, print);
	assert_string_equal(login.alg, "ecdsa-sha2-nistp256");
	assert_int_equal(strlen(login.before), 32);
	p->remembered = &login;
	run(p, "IdentityFile @/a\nIdentityFile @/b\nIdentityFile @/c");
	assert_trace(p, "publickey!");
	/* What stands behind it does not matter. */
	run(p, "IdentityFile @/a\nIdentityFile @/b");
	assert_trace(p, "publickey!");
	/* Another key in front of it may be meant: the account may be another by it. */
	run(p, "IdentityFile @/c\nIdentityFile @/b");
	assert_trace(p, "publickey! publickey? publickey!");
	run(p, "IdentityFile @/c\nIdentityFile @/a\nIdentityFile @/b");
	assert_trace(p, "publickey! publickey? publickey? publickey!");
	run(p, "IdentityFile @/b");
	assert_trace(p, "publickey!");
	/* It does not do any more: then the others as ever, each once. */
	let_in(p, c);
	run(p, "IdentityFile @/a\nIdentityFile @/b\nIdentityFile @/c");
	assert_trace(p, "publickey! publickey? publickey? publickey!");
	assert_true(p->success);
	client_auth_login(p->auth, &login);
	run(p, "IdentityFile @/a\nIdentityFile @/b\nIdentityFile @/c");
	assert_trace(p, "publickey!");
	assert_true(p->success);
	free(print);
	key_free(a);
	key_free(b);
	key_free(c);
}

static void nonsense_in_memory(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, NULL);
	struct auth_login login = { .method = "publickey", .key = "SHA256:nobody", .alg = "what?", .before = "zz" };

	let_in(p, k);
	p->remembered = &login;
	run(p, "IdentityFile @/id");
	assert_trace(p, "publickey!");
	assert_true(p->success);
	str_copy(login.method, sizeof(login.method), "telepathy");
	run(p, "IdentityFile @/id");
	assert_trace(p, "publickey!");
	key_free(k);
}

static void partial_then_ok(struct auth_peer *p, const struct userauth_request *q, unsigned n)
{
	(void)q;
	if (n == 1)
		auth_peer_fail(p, "password", true);
	else
		auth_peer_succeed(p);
}

/* Of several steps the first is what can be done without waiting. */
static void several_steps(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, NULL);
	struct auth_login login;

	p->serve = partial_then_ok;
	client_world_answers(&p->w, "secret\n");
	run(p, "IdentityFile @/id");
	assert_trace(p, "publickey! password");
	assert_string_equal(p->method, "password");
	client_auth_login(p->auth, &login);
	assert_string_equal(login.method, "publickey");
	assert_true(str_starts(login.key, "SHA256:"));
	key_free(k);
}

static void password_then_key(struct auth_peer *p, const struct userauth_request *q, unsigned n)
{
	const struct key *k = p->script;

	(void)n;
	if (q->kind == USERAUTH_PASSWORD)
		auth_peer_fail(p, "publickey", true);
	else if (!str_starts(p->trace, "publickey! password "))
		auth_peer_fail(p, "password", false);
	else if (!q->has_signature)
		auth_peer_pk_ok(p, q->alg, q->key_blob);
	else if (view_equal(q->key_blob, key_blob(k)))
		auth_peer_succeed(p);
	else
		auth_peer_fail(p, "publickey", false);
}

/* A key that went first in vain is asked for after another step. */
static void the_key_is_the_second_step(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, NULL);
	struct auth_login login;

	p->serve = password_then_key;
	p->script = k;
	client_world_answers(&p->w, "secret\n");
	run(p, "IdentityFile @/id");
	assert_trace(p, "publickey! password publickey? publickey!");
	assert_true(p->success);
	client_auth_login(p->auth, &login);
	assert_string_equal(login.method, "password");
	assert_string_equal(login.key, "");
	key_free(k);
}

static void what_else_is_remembered(void **state)
{
	struct auth_peer *p = at(state);
	struct auth_login login;

	let_in(p, NULL);
	run(p, "IdentityFile none");
	client_auth_login(p->auth, &login);
	assert_string_equal(login.method, "none");
	assert_string_equal(login.key, "");
	assert_string_equal(login.alg, "");
	assert_string_equal(login.before, "");
}

int main(void)
{
#define ROW(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		ROW(a_plain_key_signs_at_once), ROW(before_ext_info), ROW(a_key_with_passphrase_is_asked_about),
		ROW(an_agent_is_not_asked_to_sign), ROW(a_file_goes_before_the_agent), ROW(adding_to_the_agent),
		ROW(bad_files_are_quiet_at_first), ROW(none_goes_first), ROW(none_is_not_forgotten),
		ROW(the_remembered_key_goes_first), ROW(nonsense_in_memory), ROW(several_steps), ROW(the_key_is_the_second_step),
		ROW(what_else_is_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
