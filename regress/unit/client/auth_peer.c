/* regress/unit/client/auth_peer.c */
#include "auth_peer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "io/loop.h"
#include "keys/agent_msg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* ---- the server */

static void server_send(struct auth_peer *p, uint8_t type, struct buf *body)
{
	assert_true(buf_ok(body));
	assert_int_equal(transport_send(p->st, type, body), 0);
	buf_free(body);
	carrier_kick(p->sc);
}

void auth_peer_raw(struct auth_peer *p, uint8_t type, const void *body, size_t n)
{
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);

	buf_put(&b, body, n);
	server_send(p, type, &b);
}

void auth_peer_fail(struct auth_peer *p, const char *methods, bool partial)
{
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);

	userauth_failure_put(&b, methods, partial);
	server_send(p, MSG_USERAUTH_FAILURE, &b);
}

void auth_peer_succeed(struct auth_peer *p)
{
	auth_peer_raw(p, MSG_USERAUTH_SUCCESS, "", 0);
}

void auth_peer_banner(struct auth_peer *p, const char *text)
{
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);

	userauth_banner_put(&b, text);
	server_send(p, MSG_USERAUTH_BANNER, &b);
}

void auth_peer_pk_ok(struct auth_peer *p, struct view alg, struct view blob)
{
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);

	userauth_pk_ok_put(&b, alg, blob);
	server_send(p, MSG_USERAUTH_PK_OK, &b);
}

void auth_peer_changereq(struct auth_peer *p, const char *text)
{
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);

	userauth_changereq_put(&b, text);
	server_send(p, MSG_USERAUTH_PASSWD_CHANGEREQ, &b);
}

static struct view text_view(const char *s)
{
	return (struct view){ (const uint8_t *)s, strlen(s) };
}

void auth_peer_ask(struct auth_peer *p, const char *name, const char *instruction, const char *const *prompts, unsigned echo_bits)
{
	struct userauth_info_request q = { .name = text_view(name), .instruction = text_view(instruction) };
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);

	while (prompts[q.count] != NULL) {
		q.prompt[q.count].text = text_view(prompts[q.count]);
		q.prompt[q.count].echo = (echo_bits >> q.count & 1) != 0;
		q.count++;
	}
	userauth_info_request_put(&b, &q);
	server_send(p, MSG_USERAUTH_INFO_REQUEST, &b);
}

bool auth_peer_signed(struct auth_peer *p, const struct userauth_request *q, const struct key *k)
{
	struct buf data = BUF_INIT(BUF_LIMIT_DEFAULT);
	const struct sig_alg *alg = sig_alg_find(q->alg);
	bool good;

	userauth_signed_data_put(&data, transport_session_id(p->st), q);
	good = alg != NULL && q->has_signature && view_equal(q->key_blob, key_blob(k)) &&
		key_verify(k, alg, (struct view){ data.data, data.size }, q->signature) == 0;
	if (q->kind == USERAUTH_HOSTBOUND)
		good = good && view_equal(q->host_key, key_blob(p->host_key));
	buf_free(&data);
	return good;
}

static void trace(struct auth_peer *p, const struct userauth_request *q)
{
	const char *name = userauth_kind_name(q->kind), *mark = "";
	size_t n = strlen(p->trace);

	if (q->kind == USERAUTH_PUBLICKEY || q->kind == USERAUTH_HOSTBOUND)
		mark = q->has_signature ? "!" : "?";
	snprintf(p->trace + n, sizeof(p->trace) - n, "%s%s%s", n > 0 ? " " : "", q->kind == USERAUTH_HOSTBOUND ? "hostbound" : name,
		mark);
}

static void serve_request(struct auth_peer *p, struct reader *r)
{
	struct userauth_request q;
	struct err e = { 0 };

	if (userauth_request_get(r, &q, &e) != 0)
		fail_msg("the client sent what cannot be read: %s", err_text(&e));
	assert_true(view_is(q.user, "alice"));
	assert_true(view_is(q.service, "ssh-connection"));
	trace(p, &q);
	p->serve(p, &q, ++p->requests);
}

static int server_message(void *ctx, const struct message *m)
{
	struct auth_peer *p = ctx;
	struct userauth_info_response answers;
	struct buf accept = BUF_INIT(BUF_LIMIT_DEFAULT);
	struct reader r;

	reader_init(&r, m->body.p, m->body.n);
	switch (m->type) {
	case MSG_SERVICE_REQUEST:
		userauth_service_put(&accept, p->service != NULL ? p->service : USERAUTH_SERVICE);
		server_send(p, MSG_SERVICE_ACCEPT, &accept);
		return 0;
	case MSG_USERAUTH_REQUEST:
		serve_request(p, &r);
		return 0;
	case MSG_USERAUTH_INFO_RESPONSE:
		assert_int_equal(userauth_info_response_get(&r, &answers, NULL), 0);
		assert_non_null(p->respond);
		p->respond(p, &answers, ++p->responses);
		return 0;
	default:
		fail_msg("the client sent message %u", m->type);
		return -1;
	}
}

static int server_sign(void *ctx, const struct sig_alg *alg, struct view blob, struct view hash, struct buf *out, struct err *e)
{
	struct auth_peer *p = ctx;

	return key_sign(p->host_key, alg, hash, out, e);
}

static int server_host_key(void *ctx, const struct sig_alg *alg, struct view *blob)
{
	struct auth_peer *p = ctx;

	*blob = key_blob(p->host_key);
	return sig_alg_fits(alg, p->host_key) ? 0 : ERR_NONE_FOUND;
}

/* ---- the client */

static int client_host_key(void *ctx, struct key *k, struct view blob, struct err *e)
{
	return 0;
}

static void client_success(void *ctx)
{
	struct auth_peer *p = ctx;

	p->success = true;
	str_copy(p->method, sizeof(p->method), client_auth_method(p->auth));
}

static void client_failure(void *ctx, const struct err *e)
{
	struct auth_peer *p = ctx;

	p->failure = true;
	str_copy(p->failure_text, sizeof(p->failure_text), err_text(e));
	IGNORE_RESULT(carrier_fail(p->cc, ERR_DENIED, 0, "%s", err_text(e)));
}

static int client_message(void *ctx, const struct message *m)
{
	struct auth_peer *p = ctx;

	return p->auth != NULL ? client_auth_message(p->auth, m) : transport_unimplemented(p->ct, m);
}

static void client_ended(void *ctx)
{
	((struct auth_peer *)ctx)->ended = true;
}

static void server_ended(void *ctx)
{
}

static void client_begin(void *ctx)
{
	struct auth_peer *p = ctx;
	struct client_auth_setup s = {
		.carrier = p->cc, .options = &p->w.options, .tokens = &p->w.tokens, .user = "alice",
		.prompt_host = "host.example", .via = "[192.0.2.7]:22", .weakened = p->weakened,
		.remembered = p->remembered, .ctx = p, .success = client_success, .failure = client_failure,
	};
	struct err e = { 0 };

	p->auth = client_auth_new(&s, &e);
	if (p->auth == NULL)
		fail_msg("%s", err_text(&e));
}

static void client_keys(void *ctx)
{
	struct auth_peer *p = ctx;

	if (p->auth == NULL)
		loop_defer(p->loop, client_begin, p);
}

/* At once, before NEWKEYS and EXT_INFO of the server are read. */
static void client_session(void *ctx)
{
	struct auth_peer *p = ctx;

	if (p->at_once)
		client_begin(p);
}

static void nothing(void *ctx)
{
}

static void start_end(struct auth_peer *p, bool server)
{
	static const char *const lists[PROPOSAL_COUNT] = { "curve25519-sha256", "ssh-ed25519", "aes128-gcm@openssh.com",
		"aes128-gcm@openssh.com", "hmac-sha2-256", "hmac-sha2-256", "none", "none", "", "" };
	struct transport_options o = { .server = server, .software = server && p->software != NULL ? p->software : "Test_1",
		.cb = { .ctx = p, .check_host_key = client_host_key,
		.sign_hash = server_sign, .host_key_for = server_host_key, .keys_changed = server ? nothing : client_keys,
		.session_begun = server ? nothing : client_session } };
	struct carrier_user u = { .ctx = p, .message = server ? server_message : client_message,
		.ended = server ? server_ended : client_ended };
	struct transport **t = server ? &p->st : &p->ct;
	struct carrier **c = server ? &p->sc : &p->cc;
	int fd = p->fds[server];

	if (server) {
		o.server_sig_algs = p->sig_algs;
		o.ext_names = p->hostbound ? "publickey-hostbound@openssh.com" : NULL;
		o.omit_ext_info = p->sig_algs == NULL;
	}
	for (int i = 0; i < PROPOSAL_COUNT; i++)
		proposal_set(&o.proposal, (enum proposal_list)i, lists[i]);
	*t = transport_new(&o, NULL);
	assert_non_null(*t);
	proposal_clear(&o.proposal);
	assert_int_equal(transport_start(*t), 0);
	*c = carrier_new(p->loop, *t, fd, fd, NULL);
	assert_non_null(*c);
	carrier_set_user(*c, &u);
}

static void stop(struct auth_peer *p)
{
	client_auth_free(p->auth);
	carrier_free(p->cc);
	carrier_free(p->sc);
	transport_free(p->ct);
	transport_free(p->st);
	if (p->loop != NULL) {
		loop_free(p->loop);
		close(p->fds[0]);
		close(p->fds[1]);
	}
	p->auth = NULL;
	p->cc = p->sc = NULL;
	p->ct = p->st = NULL;
	p->loop = NULL;
}

void auth_peer_init(struct auth_peer *p)
{
	memset(p, 0, sizeof(*p));
	client_world_init(&p->w);
	p->sig_algs = "ssh-ed25519,ecdsa-sha2-nistp256,rsa-sha2-512,rsa-sha2-256";
	p->host_key = key_generate(KEY_ED25519, 0, NULL);
	assert_non_null(p->host_key);
}

void auth_peer_clear(struct auth_peer *p)
{
	stop(p);
	if (p->agent > 0) {
		kill(p->agent, SIGKILL);
		waitpid(p->agent, NULL, 0);
	}
	unsetenv("SSH_AUTH_SOCK");
	key_free(p->host_key);
	client_world_clear(&p->w);
}

void auth_peer_run(struct auth_peer *p, const char *options)
{
	uint64_t limit = clock_mono_ms() + 20000;

	stop(p);
	p->requests = p->responses = 0;
	p->success = p->failure = p->ended = false;
	p->trace[0] = p->method[0] = p->failure_text[0] = '\0';
	client_world_log_clear(&p->w);
	client_world_options(&p->w, options);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, p->fds), 0);
	p->loop = loop_new(NULL);
	start_end(p, false);
	start_end(p, true);
	while (!p->success && !p->ended) {
		assert_int_equal(loop_turn(p->loop, 100, NULL), 0);
		if (clock_mono_ms() > limit)
			fail_msg("nothing came of it: client \"%s\", server \"%s\", asked: %s", err_text(carrier_err(p->cc)),
				err_text(carrier_err(p->sc)), p->trace);
	}
}

const char *auth_peer_client_error(const struct auth_peer *p)
{
	return err_text(carrier_err(p->cc));
}

/* ---- the agent */

struct agent_child { FILE *log; struct key *const *keys; size_t count; bool refuses; };

static void agent_reply(const struct agent_child *c, uint8_t type, struct reader *r, struct buf *out)
{
	struct agent_identity v[16];
	struct agent_sign m;
	struct agent_add add;
	struct buf sig = BUF_INIT(65536);

	switch (type) {
	case AGENT_REQUEST_IDENTITIES:
		fprintf(c->log, "list\n");
		for (size_t i = 0; i < c->count; i++)
			v[i] = (struct agent_identity){ c->keys[i], (char *)"in the agent" };
		agent_put_identities(out, v, c->count);
		return;
	case AGENT_SIGN_REQUEST:
		if (agent_get_sign(r, &m, NULL) != 0)
			break;
		fprintf(c->log, "sign %u\n", m.flags);
		for (size_t i = 0; i < c->count && !c->refuses; i++) {
			struct view name = view_equal(key_blob(c->keys[i]), m.key_blob) ?
				text_view(m.flags == AGENT_RSA_SHA2_512 ? "rsa-sha2-512" : m.flags == AGENT_RSA_SHA2_256 ? "rsa-sha2-256" :
				key_type_name(c->keys[i])) : text_view("");

			if (name.n > 0 && key_sign(c->keys[i], sig_alg_find(name), m.data, &sig, NULL) == 0) {
				agent_put_signature(out, (struct view){ sig.data, sig.size });
				buf_free(&sig);
				return;
			}
		}
		break;
	case AGENT_ADD_IDENTITY:
	case AGENT_ADD_ID_CONSTRAINED:
		if (agent_get_add(r, &add, NULL) != 0)
			break;
		fprintf(c->log, "add %s %u %d\n", add.comment, add.lifetime, add.confirm);
		agent_add_clear(&add);
		buf_put_u8(out, AGENT_SUCCESS);
		return;
	case AGENT_EXTENSION:
		fprintf(c->log, "bind\n");
		buf_put_u8(out, AGENT_SUCCESS);
		return;
	default:
		break;
	}
	buf_put_u8(out, AGENT_FAILURE);
}

static bool read_exactly(int fd, void *to, size_t n)
{
	return recv(fd, to, n, MSG_WAITALL) == (ssize_t)n;
}

static void agent_serve(const struct agent_child *c, int fd)
{
	static uint8_t in[AGENT_MESSAGE_MAX];
	struct buf out = BUF_INIT(AGENT_MESSAGE_MAX);
	struct reader r;
	uint8_t head[4];
	uint32_t n;

	while (read_exactly(fd, head, 4) && (n = wire_load_u32(head)) > 0 && n <= sizeof(in) && read_exactly(fd, in, n)) {
		buf_reset(&out);
		buf_put_u32(&out, 0);
		reader_init(&r, in + 1, n - 1);
		agent_reply(c, in[0], &r, &out);
		buf_poke_u32(&out, 0, (uint32_t)out.size - 4);
		fflush(c->log);
		if (write(fd, out.data, out.size) != (ssize_t)out.size)
			break;
	}
	buf_free(&out);
	close(fd);
}

void auth_peer_agent(struct auth_peer *p, struct key *const *keys, size_t count, bool refuses)
{
	struct agent_child c = { .keys = keys, .count = count, .refuses = refuses };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char *path = client_world_path(&p->w, "agent"), *log = client_world_path(&p->w, "agent.log");
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_true(str_copy(at.sun_path, sizeof(at.sun_path), path));
	unlink(path);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 4), 0);
	setenv("SSH_AUTH_SOCK", path, 1);
	p->agent = fork();
	assert_true(p->agent >= 0);
	if (p->agent == 0) {
		c.log = fopen(log, "w");
		for (;;)
			agent_serve(&c, accept(fd, NULL, NULL));
	}
	close(fd);
	free(path);
	free(log);
}
