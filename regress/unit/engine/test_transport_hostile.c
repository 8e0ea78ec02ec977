/* Peers that do not keep to the rules: before there are keys (a hand-made client or server), and after. */
#include "transport.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "packet_private.h"
#include "pair.h"
#include "transport_private.h"
#include "wire/messages.h"

/* ---- a hand-made peer on a bare packet layer ---- */

struct raw {
	struct pair pair;                /* for its options, keys and callbacks */
	struct pair_end *end;            /* the engine under test */
	struct transport *t;
	struct packet *p;
	struct buf own, theirs;          /* KEXINIT payloads */
	int result;
	uint8_t types[64];               /* that came from the engine */
	size_t count;
	struct buf last;                 /* body of the last of them */
	struct buf line;                 /* of the engine, and what else came in clear text */
};

/* under: PAIR_SERVER or PAIR_CLIENT. */
static void raw_open(struct raw *w, int under)
{
	struct err e = { .code = 0 };
	static const char line[] = "SSH-2.0-raw\r\n";

	memset(w, 0, sizeof(*w));
	w->own = w->theirs = w->last = w->line = BUF_INIT(1 << 20);
	pair_init(&w->pair, "ssh-ed25519");
	w->end = &w->pair.end[under];
	w->t = transport_new(&w->end->opt, &e);
	assert_non_null(w->t);
	assert_int_equal(transport_start(w->t), 0);
	w->p = packet_new();
	packet_out_raw(w->p, line, strlen(line));
}

static void raw_close(struct raw *w)
{
	transport_free(w->t);
	packet_free(w->p);
	buf_free(&w->own);
	buf_free(&w->theirs);
	buf_free(&w->last);
	buf_free(&w->line);
	pair_close(&w->pair);
}

static bool move_bytes(struct iovec *iov, uint8_t *at, size_t room, size_t *n)
{
	*n = iov->iov_len < room ? iov->iov_len : room;
	memcpy(at, iov->iov_base, *n);
	return *n != 0;
}

static void raw_read(struct raw *w)
{
	struct view v = packet_in_peek(w->p);
	struct message m;
	const uint8_t *lf;

	if (w->line.size == 0 && v.n != 0 && (lf = memchr(v.p, '\n', v.n)) != NULL) {
		buf_put(&w->line, v.p, (size_t)(lf - v.p + 1));
		packet_in_take(w->p, (size_t)(lf - v.p + 1));
	}
	while (w->line.size != 0 && packet_next(w->p, &m) == 1) {
		assert_true(w->count < sizeof(w->types));
		w->types[w->count++] = m.type;
		buf_reset(&w->last);
		buf_put(&w->last, m.body.p, m.body.n);
		if (m.type == MSG_KEXINIT) {
			buf_reset(&w->theirs);
			buf_put_u8(&w->theirs, MSG_KEXINIT);
			buf_put(&w->theirs, m.body.p, m.body.n);
		}
	}
}

static void raw_pump(struct raw *w)
{
	struct iovec iov[2];
	struct message m;
	uint8_t *at;
	size_t room, n;
	bool moved = true;
	int r;

	while (moved) {
		moved = false;
		if (w->result == 0 && packet_out_view(w->p, iov, 2) > 0 && transport_in_space(w->t, &at, &room) == 0 &&
		    (moved = move_bytes(iov, at, room, &n))) {
			transport_in_added(w->t, n);
			packet_out_sent(w->p, n);
			while ((r = transport_next(w->t, &m)) == 1)
				w->end->messages[m.type]++;
			w->result = r;
		}
		if (transport_out_view(w->t, iov, 2) > 0) {
			assert_int_equal(packet_in_space(w->p, &at, &room), 0);
			assert_true(move_bytes(iov, at, room, &n));
			packet_in_added(w->p, n);
			transport_out_sent(w->t, n);
			raw_read(w);
			moved = true;
		}
	}
}

static void raw_send(struct raw *w, uint8_t type, const void *body, size_t n)
{
	uint8_t *at = packet_begin(w->p, type, n);

	assert_non_null(at);
	if (n != 0)
		memcpy(at, body, n);
	assert_int_equal(packet_end(w->p, n), 0);
}

static void raw_kexinit(struct raw *w, const char *kex, const char *host_key, bool guess)
{
	struct proposal p = { .guess_follows = false };

	proposal_copy(&p, &w->end->opt.proposal);
	if (kex != NULL)
		proposal_set(&p, PROPOSAL_KEX, kex);
	if (host_key != NULL)
		proposal_set(&p, PROPOSAL_HOST_KEY, host_key);
	p.guess_follows = guess;
	buf_reset(&w->own);
	buf_put_u8(&w->own, MSG_KEXINIT);
	proposal_put(&p, &w->own);
	raw_send(w, MSG_KEXINIT, w->own.data + 1, w->own.size - 1);
	proposal_clear(&p);
}

static bool raw_got(const struct raw *w, uint8_t type)
{
	size_t i;

	for (i = 0; i < w->count; i++)
		if (w->types[i] == type)
			return true;
	return false;
}

#define STRICT_C "curve25519-sha256,kex-strict-c-v00@openssh.com"
#define STRICT_S "curve25519-sha256,kex-strict-s-v00@openssh.com"
#define PLAIN "curve25519-sha256"

/* ---- version exchange ---- */

static void what_is_no_ssh_gets_a_line(void **state)
{
	static const struct { const char *in, *out; } cases[] = {
		{ "GET / HTTP/1.1\r\n\r\n", "SSH-2.0-Wirespeed_0.0_test\r\nInvalid SSH identification string.\r\n" },
		{ "SSH-1.5-old\r\n", "SSH-2.0-Wirespeed_0.0_test\r\nProtocol major versions differ.\r\n" },
		{ "\026\003\001\002", "SSH-2.0-Wirespeed_0.0_test\r\nInvalid SSH identification string.\r\n" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(cases); i++) {
		struct raw w;
		struct message m;
		struct iovec iov[2];
		uint8_t *at;
		size_t room;

		raw_open(&w, PAIR_SERVER);
		assert_int_equal(transport_in_space(w.t, &at, &room), 0);
		memcpy(at, cases[i].in, strlen(cases[i].in));
		transport_in_added(w.t, strlen(cases[i].in));
		assert_int_equal(transport_next(w.t, &m), ERR_PEER);
		assert_int_equal(transport_next(w.t, &m), ERR_PEER);
		assert_int_equal(transport_out_view(w.t, iov, 2), 1);
		assert_int_equal(iov[0].iov_len, strlen(cases[i].out));
		assert_memory_equal(iov[0].iov_base, cases[i].out, iov[0].iov_len);
		assert_string_equal(transport_peer_software(w.t), "");
		raw_close(&w);
	}
}

static void a_client_says_nothing_to_garbage(void **state)
{
	struct raw w;
	struct message m;
	uint8_t *at;
	size_t room, before;

	(void)state;
	raw_open(&w, PAIR_CLIENT);
	before = transport_out_pending(w.t);
	assert_int_equal(transport_in_space(w.t, &at, &room), 0);
	memcpy(at, "SSH-1.5-old\n", 12);
	transport_in_added(w.t, 12);
	assert_int_equal(transport_next(w.t, &m), ERR_PEER);
	assert_int_equal(transport_out_pending(w.t), before);
	raw_close(&w);
}

static void lines_before_the_servers_version_are_fine(void **state)
{
	struct raw w;

	(void)state;
	raw_open(&w, PAIR_CLIENT);
	packet_out_sent(w.p, packet_out_pending(w.p));
	packet_out_raw(w.p, "hello\r\nthere\nSSH-2.0-raw x\r\n", 28);
	raw_kexinit(&w, STRICT_S, NULL, false);
	raw_pump(&w);
	assert_int_equal(w.result, 0);
	assert_string_equal(transport_peer_software(w.t), "raw x");
	assert_true(raw_got(&w, MSG_KEX_FIRST));
	raw_close(&w);
}

/* ---- messages before there are keys ---- */

/* What comes after (or instead of) a KEXINIT of the raw client, and how it ends. */
static const struct turn {
	const char *kex;         /* NULL: no KEXINIT */
	uint8_t before, after;   /* 0: nothing */
	int result;
	bool disconnect;
} turns[] = {
	{ STRICT_C, 0, 0, 0, false },
	{ STRICT_C, MSG_IGNORE, 0, ERR_PEER, true },
	{ STRICT_C, MSG_DEBUG, 0, ERR_PEER, true },
	{ STRICT_C, MSG_UNIMPLEMENTED, 0, ERR_PEER, true },
	{ STRICT_C, 0, MSG_IGNORE, ERR_PEER, true },
	{ STRICT_C, 0, MSG_DEBUG, ERR_PEER, true },
	{ STRICT_C, 0, MSG_UNIMPLEMENTED, ERR_PEER, true },
	{ STRICT_C, 0, MSG_PING, ERR_PEER, true },
	{ STRICT_C, 0, MSG_EXT_INFO, ERR_PEER, true },
	{ STRICT_C, 0, MSG_KEXINIT, ERR_PEER, true },
	{ STRICT_C, 0, MSG_NEWKEYS, ERR_PEER, true },
	{ STRICT_C, 0, MSG_KEX_FIRST + 1, ERR_PEER, true },
	{ STRICT_C, 0, MSG_KEX_LAST, ERR_PEER, true },
	{ STRICT_C, 0, 15, ERR_PEER, true },
	{ STRICT_C, 0, MSG_DISCONNECT, ERR_CLOSED, false },
	{ PLAIN, MSG_IGNORE, 0, 0, false },
	{ PLAIN, MSG_DEBUG, 0, 0, false },
	{ PLAIN, 15, 0, 0, false },
	{ PLAIN, 0, MSG_IGNORE, 0, false },
	{ PLAIN, 0, MSG_DEBUG, 0, false },
	{ PLAIN, 0, 15, 0, false },
	{ PLAIN, 0, MSG_KEXINIT, ERR_PEER, true },
	{ PLAIN, 0, MSG_NEWKEYS, ERR_PEER, true },
	{ PLAIN, 0, MSG_KEX_FIRST + 1, ERR_PEER, true },
	{ PLAIN, 0, MSG_SERVICE_REQUEST, ERR_PEER, true },
	{ PLAIN, 0, MSG_EXT_INFO, ERR_PEER, true },
	{ PLAIN, 0, MSG_USERAUTH_REQUEST, ERR_PEER, true },
	{ PLAIN, 0, MSG_CHANNEL_OPEN, ERR_PEER, true },
	{ PLAIN, 0, MSG_PING, ERR_PEER, true },
	{ PLAIN, 0, MSG_DISCONNECT, ERR_CLOSED, false },
	{ NULL, MSG_KEX_FIRST, 0, ERR_PEER, true },
	{ NULL, MSG_NEWKEYS, 0, ERR_PEER, true },
	{ NULL, MSG_SERVICE_REQUEST, 0, ERR_PEER, true },
	{ NULL, MSG_USERAUTH_REQUEST, 0, ERR_PEER, true },
	{ NULL, 255, 0, ERR_PEER, true },
};

static void message_out_of_turn(void **state)
{
	uint8_t zeros[64] = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(turns); i++) {
		const struct turn *c = &turns[i];
		struct raw w;

		raw_open(&w, PAIR_SERVER);
		if (c->before != 0)
			raw_send(&w, c->before, zeros, sizeof(zeros));
		if (c->kex != NULL)
			raw_kexinit(&w, c->kex, NULL, false);
		if (c->after != 0)
			raw_send(&w, c->after, zeros, c->after == MSG_NEWKEYS ? 0 : sizeof(zeros));
		raw_pump(&w);
		if (w.result != c->result)
			fail_msg("case %zu: %d instead of %d: %s", i, w.result, c->result, err_text(transport_err(w.t)));
		assert_int_equal(raw_got(&w, MSG_DISCONNECT), c->disconnect);
		raw_close(&w);
	}
}

static void malformed_kexinit(void **state)
{
	struct raw w;
	uint8_t *big = calloc(1, 200000);

	(void)state;
	raw_open(&w, PAIR_SERVER);
	raw_send(&w, MSG_KEXINIT, big, 20);
	raw_pump(&w);
	assert_int_equal(w.result, ERR_PEER);
	assert_true(raw_got(&w, MSG_DISCONNECT));
	raw_close(&w);

	raw_open(&w, PAIR_SERVER);
	memset(big + 20, 'a', 199980);
	wire_store_u32(big + 16, 199900);
	raw_send(&w, MSG_KEXINIT, big, 200000);
	raw_pump(&w);
	assert_int_equal(w.result, ERR_PEER);
	raw_close(&w);
	free(big);
}

static void no_common_algorithm_is_named(void **state)
{
	struct raw w;

	(void)state;
	raw_open(&w, PAIR_SERVER);
	raw_kexinit(&w, "diffie-hellman-group1-sha1,ext-info-c", NULL, false);
	raw_pump(&w);
	assert_int_equal(w.result, ERR_PEER);
	assert_true(transport_negotiation_failed(w.t));
	assert_string_equal(transport_err(w.t)->text,
		"no matching key exchange method found. Their offer: diffie-hellman-group1-sha1,ext-info-c");
	/* Our KEXINIT says it all. */
	assert_true(raw_got(&w, MSG_KEXINIT));
	assert_false(raw_got(&w, MSG_DISCONNECT));
	raw_close(&w);
}

/* ---- none ---- */

static void none_before_authentication_is_refused(void **state)
{
	static const struct { const char *cipher, *mac; } cases[] = {
		{ "none", "hmac-sha2-256" }, { "none", "none" }, { "aes128-ctr", "none" }
	};
	size_t i;
	int under;

	(void)state;
	for (i = 0; i < MEM_COUNT(cases); i++)
		for (under = 0; under < 2; under++) {
			struct raw w;

			raw_open(&w, under);
			/* Even if somebody configured it on both sides. */
			pair_set_cipher(&w.pair, cases[i].cipher, cases[i].mac);
			transport_set_proposal(w.t, &w.end->opt.proposal);
			if (under == PAIR_CLIENT) {
				transport_free(w.t);
				w.t = transport_new(&w.end->opt, NULL);
				assert_int_equal(transport_start(w.t), 0);
			}
			raw_kexinit(&w, under == PAIR_SERVER ? STRICT_C : STRICT_S, NULL, false);
			raw_pump(&w);
			assert_int_equal(w.result, ERR_PEER);
			assert_non_null(strstr(transport_err(w.t)->text, "none"));
			assert_false(raw_got(&w, MSG_NEWKEYS));
			raw_close(&w);
		}
}

/* ---- guesses ---- */

static void raw_init(struct raw *w, const char *method, struct kex **k)
{
	struct kex_message m = { .body = BUF_INIT(65536) };
	struct err e = { .code = 0 };

	*k = kex_new(kex_find(transport_text(method)), false);
	assert_int_equal(kex_begin(*k, &m, &e), 0);
	raw_send(w, m.type, m.body.data, m.body.size);
	buf_free(&m.body);
}

/* As raw_pump, to an end that does not change its keys: what follows NEWKEYS stays unread. */
static void raw_pump_reply(struct raw *w)
{
	struct message m;
	uint8_t *at;
	size_t room, n;
	struct iovec iov[2];

	while (packet_out_view(w->p, iov, 2) > 0) {
		assert_int_equal(transport_in_space(w->t, &at, &room), 0);
		assert_true(move_bytes(iov, at, room, &n));
		transport_in_added(w->t, n);
		packet_out_sent(w->p, n);
	}
	w->result = transport_next(w->t, &m);
	while (transport_out_view(w->t, iov, 2) > 0) {
		assert_int_equal(packet_in_space(w->p, &at, &room), 0);
		assert_true(move_bytes(iov, at, room, &n));
		packet_in_added(w->p, n);
		transport_out_sent(w->t, n);
	}
	raw_read(w);
}

static void guesses_of_a_client(void **state)
{
	static const struct { const char *list, *guess, *host_keys; bool right; } cases[] = {
		/* Our server's first names are curve25519-sha256 and ssh-ed25519. */
		{ "curve25519-sha256", "curve25519-sha256", "ssh-ed25519", true },
		{ "ecdh-sha2-nistp256,curve25519-sha256", "ecdh-sha2-nistp256", "ssh-ed25519", false },
		{ "curve25519-sha256", "curve25519-sha256", "rsa-sha2-512,ssh-ed25519", false },
		{ "ecdh-sha2-nistp256,kexguess2@matt.ucc.asn.au", "ecdh-sha2-nistp256", "ssh-ed25519", true },
		{ "ecdh-sha2-nistp384,curve25519-sha256,kex-strict-c-v00@openssh.com", "ecdh-sha2-nistp384", "ssh-ed25519", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(cases); i++) {
		struct raw w;
		struct kex *guess, *real = NULL;

		raw_open(&w, PAIR_SERVER);
		raw_kexinit(&w, cases[i].list, cases[i].host_keys, true);
		raw_init(&w, cases[i].guess, &guess);
		raw_pump_reply(&w);
		assert_int_equal(w.result, 0);
		assert_int_equal(w.end->signatures, cases[i].right ? 1 : 0);
		if (!cases[i].right) {
			raw_init(&w, w.t->x.agreed.kex, &real);
			raw_pump_reply(&w);
		}
		assert_int_equal(w.end->signatures, 1);
		assert_true(raw_got(&w, MSG_NEWKEYS));
		/* NEWKEYS was read too, so the reply is asked for by its hash: both ends must know the same. */
		assert_int_equal(transport_session_id(w.t).n, digest_size(kex_method(cases[i].right ? guess : real)->hash));
		kex_free(guess);
		kex_free(real);
		raw_close(&w);
	}
}

/* Our own client guesses: right at our server, wrong where the server prefers something else. */
static void our_own_guesses(void **state)
{
	static const struct { const char *client, *server; bool kexguess2; unsigned signatures; } cases[] = {
		{ "curve25519-sha256,ecdh-sha2-nistp256", "curve25519-sha256,ecdh-sha2-nistp256", true, 1 },
		{ "ecdh-sha2-nistp256,curve25519-sha256", "curve25519-sha256,ecdh-sha2-nistp256", true, 1 },
		{ "diffie-hellman-group14-sha256,curve25519-sha256", "curve25519-sha256", true, 1 },
	};
	struct pair p;
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(cases); i++) {
		pair_init(&p, "ssh-ed25519");
		proposal_set(&p.end[0].opt.proposal, PROPOSAL_KEX, cases[i].client);
		proposal_set(&p.end[1].opt.proposal, PROPOSAL_KEX, cases[i].server);
		p.end[0].opt.proposal.guess_follows = true;
		pair_handshake(&p);
		assert_int_equal(p.end[1].signatures, cases[i].signatures);
		pair_authenticate(&p);
		/* Later exchanges do not guess. */
		assert_int_equal(transport_rekey(p.end[0].t), 0);
		pair_run(&p);
		assert_int_equal(transport_exchange_count(p.end[0].t), 2);
		pair_close(&p);
	}
}

/* ---- host keys ---- */

static void a_host_key_that_is_not_accepted(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	p.end[0].accept = ERR_DENIED;
	pair_open(&p);
	pair_say(&p.end[0], MSG_SERVICE_REQUEST, "secret");
	pair_run(&p);
	assert_int_equal(p.end[0].result, ERR_DENIED);
	assert_string_equal(transport_err(p.end[0].t)->text, "not this host");
	assert_int_equal(p.end[1].result, ERR_CLOSED);
	assert_int_equal(transport_disconnect_reason(p.end[1].t), DISCONNECT_HOST_KEY_NOT_VERIFIABLE);
	assert_int_equal(p.end[1].messages[MSG_SERVICE_REQUEST], 0);
	assert_int_equal(p.end[0].session_begun, 0);
	pair_close(&p);
}

static int raw_sign(void *ctx, struct view hash, struct buf *signature, struct err *err)
{
	const char *name = key_type(ctx) == KEY_ECDSA ? "ecdsa-sha2-nistp256" : "ssh-ed25519";

	return key_sign(ctx, sig_alg_find(transport_text(name)), hash, signature, err);
}

/* How a client ends to which a raw server shows one key and signs with another. */
static int raw_reply_blob(struct view shown, struct key *signer)
{
	struct raw w;
	struct kex *k = kex_new(kex_find(transport_text(PLAIN)), true);
	struct kex_message out = { .body = BUF_INIT(65536) };
	struct err e = { .code = 0 };
	struct kex_input in = { .server_version = transport_text("SSH-2.0-raw"), .sign = raw_sign, .ctx = signer };
	int r;

	raw_open(&w, PAIR_CLIENT);
	raw_kexinit(&w, STRICT_S, NULL, false);
	raw_pump(&w);
	assert_true(raw_got(&w, MSG_KEX_FIRST));
	in.client_version = (struct view){ w.line.data, w.line.size - 2 };
	in.client_kexinit = transport_view(&w.theirs);
	in.server_kexinit = transport_view(&w.own);
	in.host_key = shown;
	assert_int_equal(kex_input(k, &in, transport_view(&w.last), &out, &e), 1);
	raw_send(&w, out.type, out.body.data, out.body.size);
	raw_pump(&w);
	r = w.result;
	assert_int_equal(w.end->host_key_checks, r == 0 ? 1 : 0);
	assert_int_equal(raw_got(&w, MSG_NEWKEYS), r == 0);
	buf_free(&out.body);
	kex_free(k);
	raw_close(&w);
	return r;
}

static int raw_reply(struct key *shown, struct key *signer)
{
	return raw_reply_blob(key_blob(shown), signer);
}

static void false_signatures(void **state)
{
	struct key *host = pair_key("ssh-ed25519"), *ecdsa = pair_key("ecdsa-sha2-nistp256");
	struct key *other = key_generate(KEY_ED25519, 0, NULL);

	(void)state;
	assert_int_equal(raw_reply(host, host), 0);
	assert_int_equal(raw_reply(host, other), ERR_CRYPTO);
	assert_int_equal(raw_reply(ecdsa, ecdsa), ERR_PEER);
	assert_int_equal(raw_reply(host, ecdsa), ERR_CRYPTO);
	key_free(other);
	assert_true(raw_reply_blob(transport_text("no key at all"), host) < 0);
	assert_true(raw_reply_blob((struct view){ key_blob(host).p, key_blob(host).n - 1 }, host) < 0);
}

/* A client whose public value is none. */
static void a_value_that_is_none(void **state)
{
	struct raw w;
	uint8_t zeros[36] = { 0, 0, 0, 32 };

	(void)state;
	raw_open(&w, PAIR_SERVER);
	raw_kexinit(&w, STRICT_C, NULL, false);
	raw_send(&w, MSG_KEX_FIRST, zeros, sizeof(zeros));
	raw_pump(&w);
	assert_true(w.result < 0);
	assert_int_equal(w.end->signatures, 0);
	assert_true(raw_got(&w, MSG_DISCONNECT));
	assert_int_equal(transport_session_id(w.t).n, 0);
	raw_close(&w);
}

/* The right message under a wrong number. */
static void a_number_that_is_not_expected(void **state)
{
	static const uint8_t types[] = { MSG_KEX_FIRST, MSG_KEX_FIRST + 1, MSG_KEX_FIRST + 2, MSG_KEX_LAST };
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(types); i++) {
		struct kex_message m = { .body = BUF_INIT(65536) };
		struct kex *k = kex_new(kex_find(transport_text(PLAIN)), false);
		struct raw w;

		assert_int_equal(kex_begin(k, &m, NULL), 0);
		raw_open(&w, PAIR_SERVER);
		raw_kexinit(&w, PLAIN, NULL, false);
		raw_send(&w, types[i], m.body.data, m.body.size);
		raw_pump(&w);
		assert_int_equal(w.result, i == 0 ? 0 : ERR_PEER);
		assert_int_equal(w.end->signatures, i == 0 ? 1 : 0);
		raw_close(&w);
		buf_free(&m.body);
		kex_free(k);
	}
}

static void a_server_without_its_key(void **state)
{
	struct pair p;

	(void)state;
	/* Configured for one type, but it has another. */
	pair_init(&p, "ssh-ed25519");
	pair_set(&p, PROPOSAL_HOST_KEY, "rsa-sha2-512");
	pair_open(&p);
	pair_run(&p);
	assert_int_equal(p.end[1].result, ERR_USAGE);
	assert_string_equal(transport_err(p.end[1].t)->text, "no host key for rsa-sha2-512");
	assert_int_equal(p.end[0].result, ERR_CLOSED);
	pair_close(&p);
}

static void what_is_not_built_in_is_not_agreed(void **state)
{
	struct pair p;

	(void)state;
	/* A configuration that nobody checked. */
	pair_init(&p, "ssh-ed25519");
	pair_set(&p, PROPOSAL_COMPRESS_C2S, "zlib");
	pair_open(&p);
	pair_run(&p);
	assert_int_equal(p.end[1].result, ERR_USAGE);
	pair_close(&p);
	/* Ciphers and MACs that libcrypto does not have are not even offered. */
	pair_init(&p, "ssh-ed25519");
	pair_set_cipher(&p, "rijndael-cbc@lysator.liu.se,aes128-ctr", "hmac-ripemd160,hmac-sha2-256");
	pair_handshake(&p);
	assert_string_equal(transport_agreement(p.end[0].t)->cipher_c2s, "aes128-ctr");
	assert_string_equal(transport_agreement(p.end[0].t)->mac_s2c, "hmac-sha2-256");
	assert_string_equal(transport_peer_proposal(p.end[0].t)->list[PROPOSAL_CIPHER_C2S], "aes128-ctr");
	pair_close(&p);
	pair_init(&p, "ssh-ed25519");
	pair_set(&p, PROPOSAL_KEX, "mlkem768nistp256-sha256");
	pair_open(&p);
	pair_run(&p);
	assert_int_equal(p.end[1].result, ERR_USAGE);
	pair_close(&p);
}

/* Malformed bodies of messages that the transport reads itself. */
static void malformed_bodies(void **state)
{
	static const struct { uint8_t type; const char *body; size_t n; int result; } cases[] = {
		{ MSG_PING, "\0\0\0\5abc", 7, ERR_PEER }, { MSG_PING, "", 0, ERR_PEER },
		{ MSG_DEBUG, "\1", 1, 0 }, { MSG_UNIMPLEMENTED, "", 0, 0 }, { MSG_DISCONNECT, "", 0, ERR_CLOSED },
		{ MSG_KEXINIT, "", 0, ERR_PEER }, { MSG_SERVICE_ACCEPT, "", 0, 0 },
		{ MSG_NEWKEYS, "x", 1, ERR_PEER },
	};
	struct pair p;
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(cases); i++) {
		pair_init(&p, "ssh-ed25519");
		pair_handshake(&p);
		pair_authenticate(&p);
		assert_int_equal(transport_emit(p.end[0].t, cases[i].type,
			(struct view){ (const uint8_t *)cases[i].body, cases[i].n }, false), 0);
		pair_run(&p);
		assert_int_equal(p.end[1].result, cases[i].result);
		/* A SERVICE_ACCEPT is nothing for a server. */
		assert_int_equal(p.end[1].messages[MSG_SERVICE_ACCEPT], 0);
		pair_close(&p);
	}
	/* EXT_INFO, when one is due. */
	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	p.end[1].t->ext_first_seen = false;
	assert_int_equal(transport_emit(p.end[0].t, MSG_EXT_INFO,
		(struct view){ (const uint8_t *)"\0\0\0\2\0\0\0\1a\0\0\0\1b", 14 }, false), 0);
	pair_run(&p);
	assert_int_equal(p.end[1].result, ERR_PEER);
	pair_close(&p);
}

static void damaged_compression(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_set(&p, PROPOSAL_COMPRESS_C2S, "zlib@openssh.com");
	pair_handshake(&p);
	pair_authenticate(&p);
	/* The client forgets to compress. */
	p.end[0].t->packet->side[PACKET_OUT].compress = false;
	pair_say(&p.end[0], MSG_GLOBAL_REQUEST, "plain");
	pair_run(&p);
	assert_int_equal(p.end[1].result, ERR_PEER);
	assert_int_equal(p.end[1].messages[MSG_GLOBAL_REQUEST], 0);
	pair_close(&p);
}

static void the_host_key_stays(void **state)
{
	struct pair p;

	(void)state;
	/* The server has another key of the type now. Its own engine refuses to use it; were it to, the client would. */
	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	pair_authenticate(&p);
	p.other_key = key_generate(KEY_ED25519, 0, NULL);
	assert_int_equal(transport_rekey(p.end[0].t), 0);
	pair_run(&p);
	assert_int_equal(p.end[1].result, ERR_USAGE);
	assert_int_equal(p.end[0].result, ERR_CLOSED);
	pair_close(&p);

	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	pair_authenticate(&p);
	p.other_key = key_generate(KEY_ED25519, 0, NULL);
	buf_reset(&p.end[1].t->host_key_blob);
	buf_put(&p.end[1].t->host_key_blob, key_blob(p.other_key).p, key_blob(p.other_key).n);
	assert_int_equal(transport_rekey(p.end[0].t), 0);
	pair_run(&p);
	assert_int_equal(p.end[0].result, ERR_PEER);
	assert_non_null(strstr(transport_err(p.end[0].t)->text, "host key is not that of the first exchange"));
	assert_int_equal(p.end[0].host_key_checks, 1);
	pair_close(&p);
}

/* ---- after the handshake ---- */

static void re_exchange_before_authentication(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	assert_int_equal(transport_rekey(p.end[0].t), ERR_USAGE);
	assert_int_equal(transport_begin_exchange(p.end[0].t), 0);
	pair_run(&p);
	assert_int_equal(p.end[1].result, ERR_PEER);
	assert_int_equal(p.end[1].signatures, 1);
	pair_close(&p);
}

static void a_flood_of_kexinit(void **state)
{
	struct pair p;
	struct buf b = BUF_INIT(65536);

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	pair_authenticate(&p);
	proposal_put(&p.end[0].opt.proposal, &b);
	assert_int_equal(transport_emit(p.end[0].t, MSG_KEXINIT, transport_view(&b), false), 0);
	assert_int_equal(transport_emit(p.end[0].t, MSG_KEXINIT, transport_view(&b), false), 0);
	while (pair_step(&p, PAIR_CLIENT))
		;
	assert_int_equal(p.end[1].result, ERR_PEER);
	assert_int_equal(p.end[1].signatures, 1);
	buf_free(&b);
	pair_close(&p);
}

/* Between a peer's KEXINIT and its NEWKEYS. */
static void data_within_an_exchange(void **state)
{
	static const struct { uint8_t type; int result; } cases[] = {
		{ MSG_IGNORE, 0 }, { MSG_DEBUG, 0 }, { MSG_PING, 0 }, { MSG_PONG, 0 }, { 15, 0 },
		{ MSG_CHANNEL_DATA, 0 }, { MSG_GLOBAL_REQUEST, 0 }, { MSG_SERVICE_REQUEST, ERR_PEER },
		{ MSG_USERAUTH_REQUEST, ERR_PEER }, { MSG_EXT_INFO, ERR_PEER }, { MSG_NEWKEYS, ERR_PEER }, { MSG_KEX_FIRST + 5, ERR_PEER }
	};
	uint8_t zeros[16] = { 0 };
	struct pair p;
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(cases); i++) {
		size_t n = cases[i].type == MSG_NEWKEYS ? 0 : cases[i].type == MSG_CHANNEL_DATA ? 8 : sizeof(zeros);

		pair_init(&p, "ssh-ed25519");
		pair_handshake(&p);
		pair_authenticate(&p);
		assert_int_equal(transport_rekey(p.end[0].t), 0);
		assert_int_equal(transport_emit(p.end[0].t, cases[i].type, (struct view){ zeros, n }, false), 0);
		pair_run(&p);
		assert_int_equal(p.end[1].result, cases[i].result);
		if (cases[i].result == 0)
			assert_int_equal(transport_exchange_count(p.end[1].t), 2);
		pair_close(&p);
	}
}

static void kex_messages_outside_of_an_exchange(void **state)
{
	static const uint8_t types[] = { MSG_NEWKEYS, MSG_KEX_FIRST, MSG_KEX_FIRST + 1, MSG_KEX_LAST };
	struct pair p;
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(types); i++) {
		pair_init(&p, "ssh-ed25519");
		pair_handshake(&p);
		pair_authenticate(&p);
		assert_int_equal(transport_emit(p.end[0].t, types[i], (struct view){ NULL, 0 }, false), 0);
		pair_run(&p);
		assert_int_equal(p.end[1].result, ERR_PEER);
		pair_close(&p);
	}
}

/* Who hears of a broken packet, and who does not. */
static void broken_packets(void **state)
{
	static const struct { const char *cipher, *mac; int server, client; } cases[] = {
		{ "aes128-gcm@openssh.com", NULL, ERR_CRYPTO, 0 },
		{ "chacha20-poly1305@openssh.com", NULL, ERR_CRYPTO, 0 },
		{ "aes128-ctr", "hmac-sha2-256-etm@openssh.com", ERR_CRYPTO, 0 },
		{ "aes128-ctr", "umac-64@openssh.com", ERR_PEER, ERR_CLOSED },
		{ "aes128-ctr", "hmac-sha2-256", ERR_PEER, ERR_CLOSED },
	};
	struct pair p;
	struct iovec iov[2];
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(cases); i++) {
		pair_init(&p, "ssh-ed25519");
		pair_set_cipher(&p, cases[i].cipher, cases[i].mac);
		pair_handshake(&p);
		pair_say(&p.end[0], MSG_SERVICE_REQUEST, "ssh-userauth");
		assert_int_equal(transport_out_view(p.end[0].t, iov, 2), 1);
		((uint8_t *)iov[0].iov_base)[20] ^= 1;
		pair_run(&p);
		assert_int_equal(p.end[1].result, cases[i].server);
		assert_int_equal(p.end[0].result, cases[i].client);
		if (cases[i].client != 0) {
			assert_int_equal(transport_disconnect_reason(p.end[0].t), DISCONNECT_PROTOCOL_ERROR);
			assert_string_equal(transport_disconnect_text(p.end[0].t), "Packet corrupt");
		}
		assert_int_equal(p.end[1].messages[MSG_SERVICE_REQUEST], 0);
		pair_close(&p);
	}
}

static void the_queue_of_an_exchange_is_bounded(void **state)
{
	struct pair p;
	struct buf b = BUF_INIT(65536);
	size_t i;
	int r = 0;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	pair_authenticate(&p);
	assert_int_equal(transport_rekey(p.end[0].t), 0);
	assert_non_null(buf_reserve(&b, 10000));
	memset(b.data, 0, b.size);
	for (i = 0; i < 100 && r == 0; i++)
		r = transport_send(p.end[0].t, MSG_CHANNEL_REQUEST, &b);
	assert_int_equal(r, ERR_MEMORY);
	assert_int_equal(i, 27);
	pair_run(&p);
	assert_int_equal(p.end[1].result, ERR_CLOSED);
	buf_free(&b);
	pair_close(&p);
}

static void pings_do_not_pile_up(void **state)
{
	struct pair p;
	size_t i;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	pair_authenticate(&p);
	/* The server begins an exchange that the client does not answer but pings into. */
	assert_int_equal(transport_rekey(p.end[1].t), 0);
	for (i = 0; i < 1000; i++)
		pair_say(&p.end[0], MSG_PING, "x");
	while (pair_step(&p, PAIR_CLIENT))
		;
	assert_int_equal(p.end[1].result, 0);
	assert_true(transport_out_pending(p.end[1].t) < 4000);
	assert_int_equal(p.end[1].t->queue.size, 0);
	pair_close(&p);
}

static void too_much_before_authentication(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	p.end[1].opt.rekey_bytes = 16;   /* RekeyLimit is for later */
	pair_handshake(&p);
	pair_say(&p.end[0], MSG_SERVICE_REQUEST, "ssh-userauth");
	pair_run(&p);
	assert_int_equal(p.end[1].result, 0);
	p.end[1].t->packet->side[PACKET_IN].count.blocks = UINT64_C(1) << 40;
	pair_say(&p.end[0], MSG_USERAUTH_REQUEST, "x");
	pair_run(&p);
	assert_int_equal(p.end[1].result, ERR_PEER);
	pair_close(&p);
}

static void numbers_do_not_come_round_before_keys(void **state)
{
	struct raw w;
	uint8_t zeros[8] = { 0 };

	(void)state;
	raw_open(&w, PAIR_SERVER);
	raw_pump(&w);
	w.t->packet->side[PACKET_IN].seq = UINT32_MAX;
	raw_send(&w, MSG_IGNORE, zeros, 8);
	raw_pump(&w);
	assert_int_equal(w.result, ERR_PEER);
	raw_close(&w);
}

static void an_exchange_has_a_time_limit(void **state)
{
	struct pair p;
	uint64_t now = clock_mono_ms(), next;
	struct iovec iov[2];

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	pair_authenticate(&p);
	assert_int_equal(transport_tick(p.end[0].t, now, &next), 0);
	assert_int_equal(transport_rekey(p.end[0].t), 0);
	/* While it has not left there is no hurry. */
	assert_int_equal(transport_tick(p.end[0].t, now + 600000, &next), 0);
	assert_true(next <= now + 601000);
	assert_int_equal(transport_out_view(p.end[0].t, iov, 2), 1);
	transport_out_sent(p.end[0].t, transport_out_pending(p.end[0].t));
	now += 600000;
	assert_int_equal(transport_tick(p.end[0].t, now, &next), 0);
	assert_int_equal(next, now + 60000);
	assert_int_equal(transport_tick(p.end[0].t, now + 59999, &next), 0);
	assert_int_equal(transport_tick(p.end[0].t, now + 60000, &next), ERR_PEER);
	assert_true(transport_out_pending(p.end[0].t) > 0);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_ssh_gets_a_line),
		cmocka_unit_test(a_client_says_nothing_to_garbage),
		cmocka_unit_test(lines_before_the_servers_version_are_fine),
		cmocka_unit_test(message_out_of_turn),
		cmocka_unit_test(malformed_kexinit),
		cmocka_unit_test(no_common_algorithm_is_named),
		cmocka_unit_test(none_before_authentication_is_refused),
		cmocka_unit_test(guesses_of_a_client),
		cmocka_unit_test(our_own_guesses),
		cmocka_unit_test(a_host_key_that_is_not_accepted),
		cmocka_unit_test(false_signatures),
		cmocka_unit_test(a_value_that_is_none),
		cmocka_unit_test(a_number_that_is_not_expected),
		cmocka_unit_test(a_server_without_its_key),
		cmocka_unit_test(what_is_not_built_in_is_not_agreed),
		cmocka_unit_test(malformed_bodies),
		cmocka_unit_test(damaged_compression),
		cmocka_unit_test(the_host_key_stays),
		cmocka_unit_test(re_exchange_before_authentication),
		cmocka_unit_test(a_flood_of_kexinit),
		cmocka_unit_test(data_within_an_exchange),
		cmocka_unit_test(kex_messages_outside_of_an_exchange),
		cmocka_unit_test(broken_packets),
		cmocka_unit_test(the_queue_of_an_exchange_is_bounded),
		cmocka_unit_test(pings_do_not_pile_up),
		cmocka_unit_test(too_much_before_authentication),
		cmocka_unit_test(numbers_do_not_come_round_before_keys),
		cmocka_unit_test(an_exchange_has_a_time_limit),
	};

	log_init("test", LOG_LEVEL_QUIET);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
