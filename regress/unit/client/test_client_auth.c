/* regress/unit/client/test_client_auth.c: the client's authentication (RFC 4252, RFC 4256) against scripted servers, hostile
 * ones among them. */
#include "client/client_auth.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "auth_peer.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "keys/key_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define METHODS "publickey,password,keyboard-interactive"

static int setup(void **state)
{
	struct auth_peer *p = mem_zalloc(sizeof(*p));

	auth_peer_init(p);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	auth_peer_clear(*state);
	free(*state);
	return 0;
}

/* Writes NAME and, if pub, NAME.pub. */
static void key_put(struct auth_peer *p, const char *name, const struct key *k, const struct key_write_options *o, bool pub)
{
	struct buf text = BUF_INIT(BUF_LIMIT_DEFAULT);
	char *line = key_public_line(k), *pub_name = str_printf("%s.pub", name);

	assert_int_equal(key_private_write(k, o, &text, NULL), 0);
	client_world_write(&p->w, name, buf_cstr(&text), 0600);
	if (pub)
		client_world_write(&p->w, pub_name, line, 0644);
	buf_free(&text);
	free(line);
	free(pub_name);
}

static struct key *key_new(struct auth_peer *p, const char *name, enum key_type type, const struct key_write_options *o)
{
	static const struct key_write_options plain = { .comment = "a key" };
	struct key *k = key_generate(type, type == KEY_RSA ? 2048 : 0, NULL);

	assert_non_null(k);
	key_put(p, name, k, o != NULL ? o : &plain, o == NULL || o->format == KEY_FORMAT_OPENSSH);
	return k;
}

/* In options @ stands for the folder. No agent and no default keys unless the text brings them. */
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

static void assert_questions(struct auth_peer *p, const char *expected)
{
	char *asked = client_world_questions(&p->w);

	assert_string_equal(asked, expected);
	free(asked);
}

static void assert_logged(struct auth_peer *p, const char *text)
{
	if (!client_world_logged(&p->w, text))
		fail_msg("not logged: %s\nbut:\n%s", text, buf_cstr(&p->w.log));
}

/* The client ended the connection for what the server did. */
static void assert_gave_up(struct auth_peer *p, const char *why)
{
	assert_false(p->success);
	assert_false(p->failure);
	if (strstr(auth_peer_client_error(p), why) == NULL)
		fail_msg("expected \"%s\", got \"%s\"", why, auth_peer_client_error(p));
}

/* ---- servers */

/* The n-th request of a script: what is answered. A step is a word: ok, fail, partial, or what a test adds. */
struct script { const char *const *steps; const struct key *key; const char *methods; };

static void serve_script(struct auth_peer *p, const struct userauth_request *q, unsigned n)
{
	const struct script *s = p->script;
	const char *step = s->steps[n - 1], *methods = s->methods != NULL ? s->methods : METHODS;

	assert_non_null(step);
	if (strcmp(step, "ok") == 0)
		auth_peer_succeed(p);
	else if (strcmp(step, "fail") == 0)
		auth_peer_fail(p, methods, false);
	else if (strcmp(step, "partial") == 0)
		auth_peer_fail(p, methods, true);
	else if (strcmp(step, "pk_ok") == 0)
		auth_peer_pk_ok(p, q->alg, q->key_blob);
	else if (strcmp(step, "change") == 0)
		auth_peer_changereq(p, "too \033[1mold");
	else if (str_starts(step, "raw"))
		auth_peer_raw(p, (uint8_t)strtoul(step + 3, NULL, 10), "\0\0\0", 3);
	else
		auth_peer_fail(p, step, false);
}

static void script(struct auth_peer *p, const char *const *steps)
{
	static struct script s;

	s = (struct script){ .steps = steps };
	p->script = &s;
	p->serve = serve_script;
}
#define SCRIPT(p, ...) script(p, (const char *const[]){ __VA_ARGS__, NULL })

static struct auth_peer *at(void **state) { return *state; }

/* Lets in who has `script` as key. */
static void serve_key(struct auth_peer *p, const struct userauth_request *q, unsigned n)
{
	const struct key *k = p->script;

	if ((q->kind == USERAUTH_PUBLICKEY || q->kind == USERAUTH_HOSTBOUND) && view_equal(q->key_blob, key_blob(k))) {
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

/* ---- none, and the end */

static void none_is_enough(void **state)
{
	struct auth_peer *p = at(state);

	SCRIPT(p, "ok");
	run(p, "");
	assert_true(p->success);
	assert_string_equal(p->method, "none");
	assert_string_equal(p->trace, "none");
	assert_logged(p, "VERBOSE Authenticated to host.example ([192.0.2.7]:22) using \"none\".");
}

static void nothing_fits(void **state)
{
	struct auth_peer *p = at(state);

	SCRIPT(p, "gssapi-with-mic,hostbased");
	run(p, "");
	assert_true(p->failure);
	assert_string_equal(p->failure_text, "alice@host.example: Permission denied (gssapi-with-mic,hostbased).");
	SCRIPT(p, "");
	run(p, "");
	assert_string_equal(p->failure_text, "alice@host.example: Permission denied ().");
	SCRIPT(p, METHODS);
	run(p, "BatchMode yes\nIdentityFile none");
	assert_string_equal(p->failure_text, "alice@host.example: Permission denied (" METHODS ").");
	assert_string_equal(p->trace, "none");
}

/* ---- publickey */

static void key_from_file(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, NULL);

	p->serve = serve_key;
	p->script = k;
	run(p, "IdentityFile @/id");
	assert_true(p->success);
	assert_string_equal(p->method, "publickey");
	assert_string_equal(p->trace, "none publickey? publickey!");
	assert_logged(p, "DEBUG Offering public key: ");
	p->hostbound = true;
	run(p, "IdentityFile @/id");
	assert_string_equal(p->trace, "none publickey? hostbound!");
	assert_string_equal(p->method, "publickey");
	run(p, "IdentityFile @/id\nPubkeyAuthentication unbound");
	assert_string_equal(p->trace, "none publickey? publickey!");
	run(p, "IdentityFile @/id\nPubkeyAuthentication host-bound");
	assert_string_equal(p->trace, "none publickey? hostbound!");
	run(p, "IdentityFile @/id\nPubkeyAuthentication no");
	assert_string_equal(p->trace, "none");
	assert_true(p->failure);
	key_free(k);
}

static void missing_and_wrong_files(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ECDSA, NULL);

	p->serve = serve_key;
	p->script = k;
	client_world_write(&p->w, "rubbish", "rubbish\n", 0600);
	run(p, "IdentityFile @/missing\nIdentityFile @/rubbish\nIdentityFile @/id\nIdentityFile @/id");
	assert_true(p->success);
	assert_string_equal(p->trace, "none publickey? publickey!");
	assert_logged(p, "/missing: No such file or directory");
	assert_logged(p, "INFO no such identity: ");
	assert_logged(p, "ERROR key ");
	key_free(k);
}

static void open_file_is_refused(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, NULL);
	char *path = client_world_path(&p->w, "id"), *text = str_printf("ERROR Permissions 0644 for '%s' are too open.", path);

	assert_int_equal(chmod(path, 0644), 0);
	p->serve = serve_key;
	p->script = k;
	run(p, "IdentityFile @/id");
	assert_true(p->failure);
	assert_string_equal(p->trace, "none publickey?");
	assert_logged(p, "UNPROTECTED PRIVATE KEY FILE!");
	assert_logged(p, "bad permissions");
	assert_logged(p, text);
	free(text);
	free(path);
	key_free(k);
}

static void public_half_of_another_key(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, NULL), *other = key_new(p, "other", KEY_ED25519, NULL);
	char *line = key_public_line(other);

	client_world_write(&p->w, "id.pub", line, 0644);
	p->serve = serve_key;
	p->script = other;
	run(p, "IdentityFile @/id");
	assert_true(p->failure);
	assert_string_equal(p->trace, "none publickey?");
	assert_logged(p, "is not that of the public key beside it");
	free(line);
	key_free(k);
	key_free(other);
}

static void encrypted_key(void **state)
{
	struct auth_peer *p = at(state);
	struct key_write_options o = { .passphrase = "sesame", .comment = "c", .rounds = 1 };
	struct key *k = key_new(p, "id", KEY_ED25519, &o);
	char *prompt = str_printf("Enter passphrase for key '%s/id': \n--\n", p->w.dir);
	char *twice = str_printf("%s%s", prompt, prompt), *thrice = str_printf("%s%s", twice, prompt);

	p->serve = serve_key;
	p->script = k;
	client_world_answers(&p->w, "wrong\nsesame\n");
	run(p, "IdentityFile @/id");
	assert_true(p->success);
	assert_questions(p, twice);
	client_world_answers(&p->w, "wrong\nwrong\nwrong\nsesame\n");
	run(p, "IdentityFile @/id");
	assert_true(p->failure);
	assert_questions(p, thrice);
	client_world_answers(&p->w, "wrong\nsesame\n");
	run(p, "IdentityFile @/id\nNumberOfPasswordPrompts 1");
	assert_true(p->failure);
	assert_questions(p, prompt);
	client_world_answers(&p->w, "\nsesame\n");
	run(p, "IdentityFile @/id");
	assert_true(p->failure);
	assert_questions(p, prompt);
	run(p, "IdentityFile @/id\nBatchMode yes");
	assert_true(p->failure);
	assert_string_equal(p->trace, "none publickey?");
	assert_questions(p, "");
	/* Nothing is asked when the server does not want the key. */
	SCRIPT(p, "fail", "fail");
	run(p, "IdentityFile @/id\nPreferredAuthentications publickey");
	assert_questions(p, "");
	free(prompt);
	free(twice);
	free(thrice);
	key_free(k);
}

static void only_the_private_half(void **state)
{
	struct auth_peer *p = at(state);
	struct key_write_options o = { .passphrase = "sesame", .format = KEY_FORMAT_PEM };
	struct key *k = key_new(p, "id", KEY_RSA, &o);

	p->serve = serve_key;
	p->script = k;
	client_world_answers(&p->w, "sesame\n");
	run(p, "IdentityFile @/id");
	assert_true(p->success);
	assert_string_equal(p->trace, "none publickey!");
	assert_logged(p, "Trying private key: ");
	key_free(k);
}

/* ---- algorithms */

static void serve_alg(struct auth_peer *p, const struct userauth_request *q, unsigned n)
{
	if (q->kind == USERAUTH_NONE) {
		auth_peer_fail(p, "publickey", false);
		return;
	}
	if (!view_is(q->alg, p->script))
		fail_msg("asked with %.*s instead of %s", (int)q->alg.n, q->alg.p, (const char *)p->script);
	if (q->has_signature)
		auth_peer_succeed(p);
	else
		auth_peer_pk_ok(p, (struct view){ (const uint8_t *)"ssh-rsa", 7 }, q->key_blob); /* as some servers do */
}

static void rsa_algorithms(void **state)
{
	static const struct { const char *algs, *option, *expected; } rows[] = {
		{ "rsa-sha2-256,rsa-sha2-512", "", "rsa-sha2-512" },
		{ "rsa-sha2-256", "", "rsa-sha2-256" },
		{ "rsa-sha2-256,rsa-sha2-512", "PubkeyAcceptedAlgorithms rsa-sha2-256", "rsa-sha2-256" },
		{ "ssh-rsa,ssh-ed25519", "", NULL },
		{ NULL, "", NULL },
#ifdef WITH_LEGACY_CIPHERS
		{ "ssh-rsa", "PubkeyAcceptedAlgorithms +ssh-rsa", "ssh-rsa" },
		{ NULL, "PubkeyAcceptedAlgorithms +ssh-rsa", "ssh-rsa" },
#endif
		{ "rsa-sha2-512", "PubkeyAcceptedAlgorithms ssh-ed25519", NULL },
		{ "rsa-sha2-512", "RequiredRSASize 3072", NULL },
	};
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_RSA, NULL);

	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		char *options = str_printf("IdentityFile @/id\n%s", rows[i].option);

		p->sig_algs = rows[i].algs;
		p->serve = serve_alg;
		p->script = (void *)rows[i].expected;
		run(p, options);
		assert_int_equal(p->success, rows[i].expected != NULL);
		assert_string_equal(p->trace, rows[i].expected != NULL ? "none publickey? publickey!" : "none");
		free(options);
	}
	key_free(k);
}

/* Other keys do not depend on server-sig-algs. */
static void ed25519_without_ext_info(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, NULL);

	p->sig_algs = NULL;
	p->serve = serve_key;
	p->script = k;
	run(p, "IdentityFile @/id");
	assert_true(p->success);
	key_free(k);
}

/* ---- the agent */

static void agent_and_order(void **state)
{
	struct auth_peer *p = at(state);
	struct key *file = key_new(p, "a", KEY_ED25519, NULL), *both = key_new(p, "b", KEY_ED25519, NULL);
	struct key *agent = key_generate(KEY_ED25519, 0, NULL), *keys[] = { agent, both };
	char *log;

	auth_peer_agent(p, keys, 2, false);
	p->serve = serve_key;
	p->script = file;
	run(p, "IdentityFile @/a\nIdentityFile @/b");
	assert_true(p->success);
	/* both, agent, file */
	assert_string_equal(p->trace, "none publickey? publickey? publickey? publickey!");
	log = client_world_read(&p->w, "agent.log");
	assert_string_equal(log, "bind\nlist\n");
	free(log);
	p->script = both;
	run(p, "IdentityFile @/a\nIdentityFile @/b");
	assert_string_equal(p->trace, "none publickey? publickey!");
	log = client_world_read(&p->w, "agent.log");
	assert_string_equal(log, "bind\nlist\nbind\nlist\nsign 0\n");
	free(log);
	p->script = agent;
	run(p, "IdentityFile @/a\nIdentityFile @/b");
	assert_string_equal(p->trace, "none publickey? publickey? publickey!");
	assert_logged(p, "in the agent ED25519 ");
	run(p, "IdentityFile @/a\nIdentityFile @/b\nIdentitiesOnly yes");
	assert_true(p->failure);
	assert_string_equal(p->trace, "none publickey? publickey?");
	run(p, "IdentityFile @/a\nIdentityAgent none");
	assert_string_equal(p->trace, "none publickey?");
	unsetenv("SSH_AUTH_SOCK");
	run(p, "IdentityFile @/a\nIdentityAgent @/agent");
	assert_true(p->success);
	key_free(file);
	key_free(both);
	key_free(agent);
}

/* The public half alone, the private one in the agent. */
static void public_file_names_agent_key(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_generate(KEY_ED25519, 0, NULL), *other = key_generate(KEY_ED25519, 0, NULL), *keys[] = { other, k };
	char *line = key_public_line(k);

	client_world_write(&p->w, "id.pub", line, 0644);
	auth_peer_agent(p, keys, 2, false);
	p->serve = serve_key;
	p->script = k;
	run(p, "IdentityFile @/id.pub\nIdentitiesOnly yes");
	assert_true(p->success);
	assert_string_equal(p->trace, "none publickey? publickey!");
	/* Without an agent there is nothing to offer, unless the private half is beside it. */
	run(p, "IdentityFile @/id.pub\nIdentityAgent none");
	assert_string_equal(p->trace, "none");
	key_put(p, "id", k, &(struct key_write_options){ .comment = "c" }, true);
	run(p, "IdentityFile @/id.pub\nIdentityAgent none");
	assert_true(p->success);
	free(line);
	key_free(k);
	key_free(other);
}

static void agent_refuses(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, NULL), *keys[] = { k };

	auth_peer_agent(p, keys, 1, true);
	p->serve = serve_key;
	p->script = k;
	run(p, "");
	assert_true(p->failure);
	assert_logged(p, "the agent refused to sign");
	/* The file helps out. */
	run(p, "IdentityFile @/id");
	assert_true(p->success);
	key_free(k);
}

static void keys_go_to_the_agent(void **state)
{
	static const struct { const char *option, *answers, *log; } rows[] = {
		{ "AddKeysToAgent no", "", "bind\nlist\n" },
		{ "AddKeysToAgent yes", "", "bind\nlist\nadd a key 0 0\n" },
		{ "AddKeysToAgent 5m", "", "bind\nlist\nadd a key 300 0\n" },
		{ "AddKeysToAgent confirm", "", "bind\nlist\nadd a key 0 1\n" },
		{ "AddKeysToAgent ask", "yes\n", "bind\nlist\nadd a key 0 0\n" },
		{ "AddKeysToAgent ask", "no\n", "bind\nlist\n" },
	};
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, NULL);

	p->serve = serve_key;
	p->script = k;
	auth_peer_agent(p, NULL, 0, false);
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		char *options = str_printf("IdentityFile @/id\n%s", rows[i].option), *log, *before = client_world_read(&p->w, "agent.log");

		client_world_answers(&p->w, rows[i].answers);
		run(p, options);
		assert_true(p->success);
		log = client_world_read(&p->w, "agent.log");
		assert_string_equal(log + strlen(before), rows[i].log);
		free(log);
		free(before);
		free(options);
	}
	key_free(k);
}

/* ---- password */

static void serve_password(struct auth_peer *p, const struct userauth_request *q, unsigned n)
{
	if (q->kind == USERAUTH_PASSWORD && !q->change && view_is(q->password, "right"))
		auth_peer_succeed(p);
	else
		auth_peer_fail(p, "password", false);
}

static void password(void **state)
{
	struct auth_peer *p = at(state);

	p->serve = serve_password;
	client_world_answers(&p->w, "wrong\nright\n");
	run(p, "");
	assert_true(p->success);
	assert_string_equal(p->trace, "none password password");
	assert_questions(p, "alice@host.example's password: \n--\nalice@host.example's password: \n--\n");
	assert_logged(p, "ERROR Permission denied, please try again.");
	client_world_answers(&p->w, "1\n2\n3\nright\n");
	run(p, "");
	assert_true(p->failure);
	assert_string_equal(p->trace, "none password password password");
	free(client_world_questions(&p->w));
	client_world_answers(&p->w, "right\n");
	run(p, "PasswordAuthentication no");
	assert_string_equal(p->trace, "none");
	run(p, "BatchMode yes");
	assert_string_equal(p->trace, "none");
	p->weakened = true;
	run(p, "");
	assert_string_equal(p->trace, "none");
	assert_true(p->failure);
	/* Nobody answers. */
	p->weakened = false;
	client_world_answers(&p->w, "");
	run(p, "");
	assert_string_equal(p->trace, "none");
}

static void serve_change(struct auth_peer *p, const struct userauth_request *q, unsigned n)
{
	if (n == 1) {
		auth_peer_fail(p, "password", false);
	} else if (n == 2) {
		assert_false(q->change);
		auth_peer_changereq(p, "Your password \033]0;x\007has expired.\r\nChoose");
	} else {
		assert_true(q->change);
		assert_true(view_is(q->password, "old"));
		assert_true(view_is(q->new_password, "new"));
		auth_peer_succeed(p);
	}
}

static void password_change(void **state)
{
	struct auth_peer *p = at(state);

	p->serve = serve_change;
	client_world_answers(&p->w, "old\nold\nnew\nnwe\nnew\nnew\n");
	run(p, "");
	assert_true(p->success);
	assert_questions(p, "alice@host.example's password: \n--\nEnter alice@host.example's old password: \n--\n"
		"Enter alice@host.example's new password: \n--\nRetype alice@host.example's new password: \n--\n"
		"Enter alice@host.example's new password: \n--\nRetype alice@host.example's new password: \n--\n");
	assert_logged(p, "INFO Your password \\033]0;x\\007has expired.\n");
	assert_logged(p, "INFO Choose\n");
}

static void endless_changes(void **state)
{
	struct auth_peer *p = at(state);

	SCRIPT(p, "password", "change", "change", "change", "change", "change", "change");
	client_world_answers(&p->w, "a\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\n");
	run(p, "");
	assert_gave_up(p, "one password change after the other");
}

/* ---- keyboard-interactive */

static void serve_kbdint(struct auth_peer *p, const struct userauth_request *q, unsigned n)
{
	static const char *const prompts[] = { "Password: ", "Code \033[31m: ", NULL };

	if (q->kind != USERAUTH_KBDINT) {
		auth_peer_fail(p, "keyboard-interactive", false);
		return;
	}
	assert_true(view_is(q->language, ""));
	assert_true(view_is(q->submethods, "pam,bsdauth"));
	auth_peer_ask(p, "Name\033c", "Do\r\nthis", prompts, 2);
}

static void respond_kbdint(struct auth_peer *p, const struct userauth_info_response *r, unsigned n)
{
	static const char *const none[] = { NULL };

	if (n == 1) {
		assert_int_equal(r->count, 2);
		assert_true(view_is(r->answer[0], "secret"));
		assert_true(view_is(r->answer[1], ""));
		auth_peer_ask(p, "", "", none, 0);
	} else {
		assert_int_equal(r->count, 0);
		auth_peer_succeed(p);
	}
}

static void kbdint(void **state)
{
	struct auth_peer *p = at(state);

	p->serve = serve_kbdint;
	p->respond = respond_kbdint;
	client_world_answers(&p->w, "secret\n\n");
	run(p, "KbdInteractiveDevices pam,bsdauth");
	assert_true(p->success);
	assert_string_equal(p->method, "keyboard-interactive");
	assert_questions(p, "(alice@host.example) Password: \n--\n(alice@host.example) Code \\033[31m: \n--\n");
	assert_logged(p, "INFO Name\\033c\nINFO Do\nINFO this\n");
	run(p, "KbdInteractiveAuthentication no");
	assert_string_equal(p->trace, "none");
}

static void respond_no(struct auth_peer *p, const struct userauth_info_response *r, unsigned n)
{
	auth_peer_fail(p, "keyboard-interactive,password", false);
}

static void kbdint_tries(void **state)
{
	struct auth_peer *p = at(state);

	p->serve = serve_kbdint;
	p->respond = respond_no;
	client_world_answers(&p->w, "a\na\nb\nb\nc\nc\n");
	run(p, "KbdInteractiveDevices pam,bsdauth\nPasswordAuthentication no");
	assert_true(p->failure);
	assert_string_equal(p->trace, "none keyboard-interactive keyboard-interactive keyboard-interactive");
	free(client_world_questions(&p->w));
	/* A server that refuses without a question is not asked again. */
	SCRIPT(p, "keyboard-interactive", "keyboard-interactive");
	run(p, "");
	assert_string_equal(p->trace, "none keyboard-interactive");
	/* The user does not answer: on with the next method. */
	client_world_answers(&p->w, "a\n");
	p->serve = serve_kbdint;
	run(p, "KbdInteractiveDevices pam,bsdauth\nPreferredAuthentications keyboard-interactive");
	assert_true(p->failure);
	assert_string_equal(p->trace, "none keyboard-interactive");
	assert_int_equal(p->responses, 0);
}

static void respond_again(struct auth_peer *p, const struct userauth_info_response *r, unsigned n)
{
	static const char *const none[] = { NULL };

	auth_peer_ask(p, "", "", none, 0);
}

static void endless_questions(void **state)
{
	struct auth_peer *p = at(state);

	p->serve = serve_kbdint;
	p->respond = respond_again;
	client_world_answers(&p->w, "a\na\n");
	run(p, "KbdInteractiveDevices pam,bsdauth");
	assert_gave_up(p, "asks questions without end");
}

/* ---- several methods */

static void preference(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, NULL);

	SCRIPT(p, METHODS, METHODS, METHODS, METHODS, METHODS, METHODS);
	client_world_answers(&p->w, "a\nb\nc\n");
	run(p, "IdentityFile @/id");
	assert_string_equal(p->trace, "none publickey? keyboard-interactive password password password");
	client_world_answers(&p->w, "a\nb\nc\n");
	run(p, "IdentityFile @/id\nPreferredAuthentications password,nonsense,publickey");
	assert_string_equal(p->trace, "none password password password publickey?");
	/* The server's list counts as it is now. */
	SCRIPT(p, METHODS, "password", "publickey", "publickey");
	client_world_answers(&p->w, "a\nb\n");
	run(p, "IdentityFile @/id");
	assert_string_equal(p->trace, "none publickey? password");
	assert_string_equal(p->failure_text, "alice@host.example: Permission denied (publickey).");
	key_free(k);
}

static void partial_success(void **state)
{
	struct auth_peer *p = at(state);
	struct key *a = key_new(p, "a", KEY_ED25519, NULL), *b = key_new(p, "b", KEY_ED25519, NULL);

	/* a fails, b is the first factor; then a is wanted, not b again. */
	SCRIPT(p, "fail", "fail", "pk_ok", "partial", "pk_ok", "ok");
	run(p, "IdentityFile @/a\nIdentityFile @/b");
	assert_true(p->success);
	assert_string_equal(p->trace, "none publickey? publickey? publickey! publickey? publickey!");
	assert_logged(p, "Authenticated using \"publickey\" with partial success.");
	/* publickey, then a password. */
	SCRIPT(p, "publickey", "pk_ok", "partial", "fail", "fail", "ok");
	client_world_answers(&p->w, "x\ny\nz\n");
	run(p, "IdentityFile @/a\nKbdInteractiveAuthentication no");
	assert_true(p->success);
	assert_string_equal(p->method, "password");
	key_free(a);
	key_free(b);
}

static void serve_partial(struct auth_peer *p, const struct userauth_request *q, unsigned n)
{
	auth_peer_fail(p, "password", n > 1);
}

static void endless_partial(void **state)
{
	struct auth_peer *p = at(state);

	p->serve = serve_partial;
	client_world_answers(&p->w, "1\n2\n3\n4\n5\n6\n7\n8\n9\n0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n0\n1\n2\n3\n");
	run(p, "");
	assert_gave_up(p, "one authentication after the other without end");
}

/* ---- banner */

static void serve_banner(struct auth_peer *p, const struct userauth_request *q, unsigned n)
{
	auth_peer_banner(p, "Welcome \033[2J\r\nfriend\n");
	auth_peer_succeed(p);
}

static void serve_banners(struct auth_peer *p, const struct userauth_request *q, unsigned n)
{
	for (int i = 0; i < 40; i++)
		auth_peer_banner(p, "again\n");
}

static void banner(void **state)
{
	struct auth_peer *p = at(state);
	char *path = client_world_path(&p->w, "stderr"), *text;
	int saved = dup(2), fd = open(path, O_CREAT | O_WRONLY, 0600);
	enum log_level level;

	dup2(fd, 2);
	close(fd);
	p->serve = serve_banner;
	run(p, "");
	dup2(saved, 2);
	text = client_world_read(&p->w, "stderr");
	assert_true(p->success);
	assert_string_equal(text, "Welcome \\033[2J\nfriend\n");
	free(text);
	/* -q */
	fd = open(path, O_TRUNC | O_WRONLY);
	dup2(fd, 2);
	close(fd);
	level = log_level_get();
	log_set_level(LOG_LEVEL_QUIET);
	run(p, "");
	log_set_level(level);
	assert_true(p->success);
	text = client_world_read(&p->w, "stderr");
	assert_string_equal(text, "");
	free(text);
	fd = open("/dev/null", O_WRONLY);
	dup2(fd, 2);
	close(fd);
	p->serve = serve_banners;
	run(p, "");
	dup2(saved, 2);
	close(saved);
	assert_gave_up(p, "banners without end");
	free(path);
}

/* ---- servers that break the protocol */

static void out_of_turn(void **state)
{
	static const struct { const char *steps[4], *why; } rows[] = {
		{ { "raw60" }, "was not asked for" },                    /* PK_OK to none */
		{ { "raw6" }, "unexpected message 6" },                  /* a second SERVICE_ACCEPT */
		{ { "raw90" }, "unexpected message 90" },                /* channels before authentication */
		{ { "raw80" }, "unexpected message 80" },
		{ { "raw52" }, "authentication success" },               /* SUCCESS with something behind it */
		{ { "raw51" }, "authentication failure" },
		{ { "raw53" }, "banner" },
		{ { "publickey", "raw61" }, "was not offered" },
		{ { "publickey", "raw60" }, "answer to a key" },
		{ { "publickey", "pk_ok", "pk_ok" }, "was not offered" },        /* PK_OK to a signature */
		{ { "password", "raw61" }, "unexpected message" },
		{ { "password", "raw60" }, "password change request" },
		{ { "keyboard-interactive", "raw61" }, "unexpected message" },
		{ { "keyboard-interactive", "raw60" }, "request for information" },
	};
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, NULL);

	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		client_world_answers(&p->w, "a\n");
		script(p, rows[i].steps);
		run(p, "IdentityFile @/id");
		assert_gave_up(p, rows[i].why);
	}
	key_free(k);
}

static void serve_other_key(struct auth_peer *p, const struct userauth_request *q, unsigned n)
{
	if (n == 1)
		auth_peer_fail(p, "publickey", false);
	else
		auth_peer_pk_ok(p, q->alg, key_blob(p->host_key));
}

static void another_key_accepted(void **state)
{
	struct auth_peer *p = at(state);
	struct key *k = key_new(p, "id", KEY_ED25519, NULL);

	p->serve = serve_other_key;
	run(p, "IdentityFile @/id");
	assert_gave_up(p, "was not offered");
	key_free(k);
}

static void another_service(void **state)
{
	struct auth_peer *p = at(state);

	SCRIPT(p, "ok");
	p->service = "ssh-connection";
	run(p, "");
	assert_gave_up(p, "a service that was not asked for");
}

static void serve_many_prompts(struct auth_peer *p, const struct userauth_request *q, unsigned n)
{
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);

	if (n == 1) {
		auth_peer_fail(p, "keyboard-interactive", false);
		return;
	}
	buf_put_cstring(&b, "");
	buf_put_cstring(&b, "");
	buf_put_cstring(&b, "");
	buf_put_u32(&b, 0xffffffff);
	auth_peer_raw(p, MSG_USERAUTH_INFO_REQUEST, b.data, b.size);
	buf_free(&b);
}

static void too_many_prompts(void **state)
{
	struct auth_peer *p = at(state);

	p->serve = serve_many_prompts;
	run(p, "");
	assert_gave_up(p, "too many prompts");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(none_is_enough), TEST(nothing_fits), TEST(key_from_file), TEST(missing_and_wrong_files),
		TEST(open_file_is_refused), TEST(public_half_of_another_key), TEST(encrypted_key), TEST(only_the_private_half),
		TEST(rsa_algorithms), TEST(ed25519_without_ext_info), TEST(agent_and_order), TEST(public_file_names_agent_key),
		TEST(agent_refuses), TEST(keys_go_to_the_agent), TEST(password), TEST(password_change), TEST(endless_changes),
		TEST(kbdint), TEST(kbdint_tries), TEST(endless_questions), TEST(preference), TEST(partial_success),
		TEST(endless_partial), TEST(banner), TEST(out_of_turn), TEST(another_key_accepted), TEST(another_service),
		TEST(too_many_prompts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
