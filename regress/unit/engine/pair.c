#include "pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "wire/messages.h"

enum { DATA_HEAD = 8 };

static struct view text_view(const char *s)
{
	return (struct view){ (const uint8_t *)s, strlen(s) };
}

struct key *pair_key(const char *host_key_alg)
{
	static struct { const char *type; unsigned bits; struct key *k; } made[] = {
		{ "ssh-ed25519", 0, NULL }, { "ecdsa-sha2-nistp256", 256, NULL }, { "ecdsa-sha2-nistp384", 384, NULL },
		{ "ecdsa-sha2-nistp521", 521, NULL }, { "ssh-rsa", 2048, NULL }
	};
	const struct sig_alg *alg = sig_alg_find(text_view(host_key_alg));
	size_t i;

	assert_non_null(alg);
	for (i = 0; i < MEM_COUNT(made); i++) {
		if (strcmp(made[i].type, alg->key_name) != 0)
			continue;
		if (made[i].k == NULL)
			made[i].k = key_generate(alg->type, made[i].bits, NULL);
		assert_non_null(made[i].k);
		return made[i].k;
	}
	fail_msg("no key for %s", host_key_alg);
	return NULL;
}

static int check_host_key(void *ctx, struct key *k, struct view blob, struct err *e)
{
	struct pair_end *end = ctx;

	end->host_key_checks++;
	assert_true(view_equal(key_blob(k), blob));
	return end->accept < 0 ? err_set(e, end->accept, "not this host") : 0;
}

static struct key *server_key(struct pair_end *end, const struct sig_alg *alg)
{
	struct key *other = end->pair->other_key;

	return other != NULL && sig_alg_fits(alg, other) ? other : end->pair->host_key;
}

static int sign_hash(void *ctx, const struct sig_alg *alg, struct view blob, struct view hash, struct buf *out,
	struct err *e)
{
	struct pair_end *end = ctx;

	end->signatures++;
	assert_true(view_equal(blob, key_blob(server_key(end, alg))));
	return key_sign(server_key(end, alg), alg, hash, out, e);
}

static int host_key_for(void *ctx, const struct sig_alg *alg, struct view *blob)
{
	struct pair_end *end = ctx;

	end->host_key_questions++;
	if (!sig_alg_fits(alg, server_key(end, alg)))
		return ERR_NONE_FOUND;
	*blob = key_blob(server_key(end, alg));
	return 0;
}

static void keys_changed(void *ctx)
{
	((struct pair_end *)ctx)->keys_changed++;
}

static void session_begun(void *ctx)
{
	((struct pair_end *)ctx)->session_begun++;
}

static void ext_info(void *ctx, struct view name, struct view value)
{
	struct pair_end *end = ctx;

	buf_printf(&end->ext, "%.*s=%.*s\n", (int)name.n, name.p, (int)value.n, value.p);
}

static void peer_debug(void *ctx, const char *text)
{
	buf_printf(&((struct pair_end *)ctx)->debug, "%s\n", text);
}

void pair_set(struct pair *p, enum proposal_list which, const char *names)
{
	proposal_set(&p->end[0].opt.proposal, which, names);
	proposal_set(&p->end[1].opt.proposal, which, names);
}

void pair_set_cipher(struct pair *p, const char *cipher, const char *mac)
{
	pair_set(p, PROPOSAL_CIPHER_C2S, cipher);
	pair_set(p, PROPOSAL_CIPHER_S2C, cipher);
	if (mac != NULL) {
		pair_set(p, PROPOSAL_MAC_C2S, mac);
		pair_set(p, PROPOSAL_MAC_S2C, mac);
	}
}

void pair_init(struct pair *p, const char *host_key_alg)
{
	int i;

	*p = (struct pair){ .host_key = pair_key(host_key_alg) };
	for (i = 0; i < 2; i++) {
		struct pair_end *e = &p->end[i];

		e->pair = p;
		e->is_server = i == PAIR_SERVER;
		e->last_body = BUF_INIT(1 << 20);
		e->data = BUF_INIT(64 << 20);
		e->ext = BUF_INIT(1 << 20);
		e->debug = BUF_INIT(1 << 20);
		e->sent = BUF_INIT(64 << 20);
		e->opt = (struct transport_options){
			.server = e->is_server,
			.software = "Wirespeed_0.0_test",
			.server_sig_algs = e->is_server ? "ssh-ed25519,rsa-sha2-512" : NULL,
			.cb = {
				.ctx = e, .check_host_key = check_host_key, .sign_hash = sign_hash, .host_key_for = host_key_for,
				.keys_changed = keys_changed, .session_begun = session_begun, .ext_info = ext_info,
				.peer_debug = peer_debug,
			},
		};
	}
	/* Without the first ones, whose keys take long with sanitizers; every method has its turn in test_transport. */
	pair_set(p, PROPOSAL_KEX, strstr(proposal_default_kex(false), "curve25519"));
	pair_set(p, PROPOSAL_HOST_KEY, host_key_alg);
	pair_set_cipher(p, proposal_default_ciphers(), proposal_default_macs());
	pair_set(p, PROPOSAL_COMPRESS_C2S, "none,zlib@openssh.com");
	pair_set(p, PROPOSAL_COMPRESS_S2C, "none,zlib@openssh.com");
	pair_set(p, PROPOSAL_LANG_C2S, "");
	pair_set(p, PROPOSAL_LANG_S2C, "");
}

void pair_open(struct pair *p)
{
	struct err e = { .code = 0 };
	int i;

	for (i = 0; i < 2; i++) {
		p->end[i].t = transport_new(&p->end[i].opt, &e);
		assert_non_null(p->end[i].t);
		assert_int_equal(transport_start(p->end[i].t), 0);
	}
}

void pair_close(struct pair *p)
{
	int i;

	key_free(p->other_key);
	for (i = 0; i < 2; i++) {
		transport_free(p->end[i].t);
		proposal_clear(&p->end[i].opt.proposal);
		buf_free(&p->end[i].last_body);
		buf_free(&p->end[i].data);
		buf_free(&p->end[i].ext);
		buf_free(&p->end[i].debug);
		buf_free(&p->end[i].sent);
	}
}

static void take_message(struct pair_end *e, const struct message *m)
{
	e->messages[m->type]++;
	e->last_type = m->type;
	buf_reset(&e->last_body);
	buf_put(&e->last_body, m->body.p, m->body.n);
	if (m->type == MSG_CHANNEL_DATA) {
		assert_true(m->body.n >= DATA_HEAD);
		assert_int_equal(wire_load_u32(m->body.p + 4), m->body.n - DATA_HEAD);
		buf_put(&e->data, m->body.p + DATA_HEAD, m->body.n - DATA_HEAD);
	}
	assert_true(buf_ok(&e->data) && buf_ok(&e->last_body));
	if (e->on_message != NULL)
		e->on_message(e, m);
}

static void read_messages(struct pair_end *e)
{
	struct message m;
	int r;

	while ((r = transport_next(e->t, &m)) == 1)
		take_message(e, &m);
	if (r < 0)
		e->result = r;
}

bool pair_step(struct pair *p, int from)
{
	struct pair_end *a = &p->end[from], *b = &p->end[!from];
	struct iovec iov[4];
	uint8_t *at;
	size_t room, take;

	if (transport_out_view(a->t, iov, 4) == 0)
		return false;
	take = iov[0].iov_len;
	if (a->step != 0 && take > a->step)
		take = a->step;
	if (a->capture)
		buf_put(&a->sent, iov[0].iov_base, take);
	if (b->result == 0 && transport_in_space(b->t, &at, &room) == 0) {
		if (take > room)
			take = room;
		memcpy(at, iov[0].iov_base, take);
		transport_in_added(b->t, take);
	}
	transport_out_sent(a->t, take);
	if (b->result == 0)
		read_messages(b);
	return true;
}

void pair_run(struct pair *p)
{
	bool a, b;

	do {
		a = pair_step(p, PAIR_CLIENT);
		b = pair_step(p, PAIR_SERVER);
	} while (a || b);
}

void pair_handshake(struct pair *p)
{
	int i;

	pair_open(p);
	pair_run(p);
	for (i = 0; i < 2; i++) {
		if (p->end[i].result != 0)
			fail_msg("%s: %s", i == PAIR_SERVER ? "server" : "client", err_text(transport_err(p->end[i].t)));
		assert_int_equal(transport_exchange_count(p->end[i].t), 1);
		assert_false(transport_exchanging(p->end[i].t));
	}
}

void pair_say(struct pair_end *e, uint8_t type, const char *text)
{
	struct buf b = BUF_INIT(1 << 20);

	buf_put_cstring(&b, text);
	assert_int_equal(transport_send(e->t, type, &b), 0);
	buf_free(&b);
}

static void authenticate_client(struct pair_end *e, const struct message *m)
{
	if (m->type == MSG_USERAUTH_SUCCESS)
		transport_set_authenticated(e->t);
}

void pair_authenticate(struct pair *p)
{
	struct pair_end *c = &p->end[PAIR_CLIENT], *s = &p->end[PAIR_SERVER];

	pair_say(c, MSG_SERVICE_REQUEST, "ssh-userauth");
	pair_run(p);
	assert_int_equal(s->messages[MSG_SERVICE_REQUEST], 1);
	pair_say(s, MSG_SERVICE_ACCEPT, "ssh-userauth");
	c->on_message = authenticate_client;
	pair_say(s, MSG_USERAUTH_SUCCESS, "");
	transport_set_authenticated(s->t);
	pair_run(p);
	c->on_message = NULL;
	assert_int_equal(c->messages[MSG_USERAUTH_SUCCESS], 1);
	assert_true(transport_authenticated(c->t) && transport_authenticated(s->t));
}

static void write_head(void *ctx, uint8_t *head, size_t n)
{
	(void)ctx;
	wire_store_u32(head, 0);
	wire_store_u32(head + 4, (uint32_t)n);
}

size_t pair_send(struct pair_end *e, const uint8_t *bytes, size_t n, size_t body_max)
{
	const struct packet_bulk bulk = { MSG_CHANNEL_DATA, DATA_HEAD, write_head, NULL };
	struct iovec iov[16];
	size_t sent = 0, part;
	int count, i;

	while (sent < n && (count = transport_lend(e->t, &bulk, body_max, n - sent, iov, 16)) > 0) {
		for (i = 0, part = 0; i < count; i++) {
			memcpy(iov[i].iov_base, bytes + sent + part, iov[i].iov_len);
			part += iov[i].iov_len;
		}
		assert_int_equal(transport_commit(e->t, part), 0);
		sent += part;
	}
	return sent;
}

uint64_t pair_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}
