/* transport_kex.c: key exchanges (RFC 4253 §7, strict KEX of OpenSSH's PROTOCOL) and when a new one is due. */
#include "transport.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "compress.h"
#include "transport_private.h"

enum {
	KEXINIT_MAX = TRANSPORT_BODY_MAX,
	KEX_BODY_MAX = 64 * 1024 + 8192
};

static const char strict_client[] = "kex-strict-c-v00@openssh.com", strict_server[] = "kex-strict-s-v00@openssh.com";
static const char ext_client[] = "ext-info-c", ext_server[] = "ext-info-s";
static const char guess_by_result[] = "kexguess2@matt.ucc.asn.au";

void transport_exchange_clear(struct transport_exchange *x)
{
	buf_free(&x->own_kexinit);
	buf_free(&x->peer_kexinit);
	proposal_clear(&x->own);
	proposal_clear(&x->peer);
	agreement_clear(&x->agreed);
	kex_free(x->kex);
	mem_wipe(x, sizeof(*x));
	*x = (struct transport_exchange){ .own_kexinit = BUF_INIT(KEXINIT_MAX), .peer_kexinit = BUF_INIT(KEXINIT_MAX) };
}

static bool lists(const char *names, const char *name)
{
	return names != NULL && str_names_has(names, name, strlen(name));
}

/* ---- our KEXINIT ---- */

/* The first KEXINIT says what we know besides methods; later ones do not. */
static char *kex_with_signals(const struct transport *t, const char *methods)
{
	struct str_list l = { .v = NULL };
	char *out;

	if (methods[0] != '\0')
		str_list_add(&l, methods);
	if (!t->opt.omit_ext_info)
		str_list_add(&l, t->opt.server ? ext_server : ext_client);
	str_list_add(&l, guess_by_result);
	if (!t->opt.omit_strict)
		str_list_add(&l, t->opt.server ? strict_server : strict_client);
	out = str_list_join(&l, ",");
	str_list_clear(&l);
	return out;
}

char *transport_pinned_host_keys(const struct transport *t, const char *names)
{
	struct str_list l = { .v = NULL };
	struct reader r;
	struct view type;
	const char *cursor, *name;
	const struct sig_alg *alg;
	size_t n;
	char *out;

	/* Every public blob begins with the name of its type (RFC 4253 §6.6). */
	reader_init(&r, t->host_key_blob.data, t->host_key_blob.size);
	type = reader_string(&r);
	for (cursor = names; str_next_name(&cursor, &name, &n);) {
		alg = sig_alg_find((struct view){ (const uint8_t *)name, n });
		if (alg != NULL && view_is(type, alg->key_name))
			str_list_add_n(&l, name, n);
	}
	if (l.count == 0)
		str_list_add(&l, t->agreement.host_key);
	out = str_list_join(&l, ",");
	str_list_clear(&l);
	return out;
}

static bool cipher_offered(struct view name)
{
	return cipher_find(name) != NULL;
}

static bool mac_offered(struct view name)
{
	return mac_find(name) != NULL;
}

/* Without the names that libcrypto does not offer here (FIPS, a trimmed build): a default list may hold some. */
static void keep_offered(struct proposal *p, enum proposal_list which, bool (*offered)(struct view name))
{
	struct str_list l = { .v = NULL };
	const char *cursor, *name;
	char *names;
	size_t n;

	for (cursor = p->list[which]; str_next_name(&cursor, &name, &n);)
		if (offered((struct view){ (const uint8_t *)name, n }))
			str_list_add_n(&l, name, n);
	names = str_list_join(&l, ",");
	proposal_set(p, which, names);
	free(names);
	str_list_clear(&l);
}

static const char *peer_list(const struct transport *t, enum proposal_list which)
{
	const char *now = t->x.peer.list[which];

	return now != NULL ? now : t->peer_first.list[which];
}

/* What we send shall go without compression. RFC 4253 §7.1: the client's order decides, so a server has to leave out the rest. */
static void prefer_without(const struct transport *t, struct proposal *p)
{
	enum proposal_list which = t->opt.server ? PROPOSAL_COMPRESS_S2C : PROPOSAL_COMPRESS_C2S;
	char *names;

	if (t->opt.server) {
		if (lists(peer_list(t, which), "none"))
			proposal_set(p, which, "none");
		return;
	}
	names = str_printf("none,%s", p->list[which]);
	proposal_set(p, which, names);
	free(names);
}

static void build_proposal(struct transport *t, struct proposal *p)
{
	char *names;

	proposal_copy(p, &t->opt.proposal);
	keep_offered(p, PROPOSAL_CIPHER_C2S, cipher_offered);
	keep_offered(p, PROPOSAL_CIPHER_S2C, cipher_offered);
	keep_offered(p, PROPOSAL_MAC_C2S, mac_offered);
	keep_offered(p, PROPOSAL_MAC_S2C, mac_offered);
	if (t->exchanges == 0) {
		names = kex_with_signals(t, p->list[PROPOSAL_KEX]);
		proposal_set(p, PROPOSAL_KEX, names);
		p->guess_follows = p->guess_follows && !t->opt.server;
	} else {
		/* The host is the one of the first exchange, so its other keys are not asked for. */
		names = transport_pinned_host_keys(t, p->list[PROPOSAL_HOST_KEY]);
		proposal_set(p, PROPOSAL_HOST_KEY, names);
		p->guess_follows = false;
	}
	free(names);
	if (t->without)
		prefer_without(t, p);
}

static const struct kex_method *first_method(const struct proposal *p)
{
	const char *names = p->list[PROPOSAL_KEX];

	return kex_find((struct view){ (const uint8_t *)names, strcspn(names, ",") });
}

static unsigned at_least(unsigned n, unsigned other)
{
	return n > other ? n : other;
}

/* The longest of what will be derived, which a group should be worth. Triple DES is worth 112 bits. */
static unsigned key_bits_needed(const struct transport *t)
{
	const struct agreement *a = &t->x.agreed;
	const char *ciphers[] = { a->cipher_c2s, a->cipher_s2c }, *macs[] = { a->mac_c2s, a->mac_s2c };
	unsigned bytes = 0;

	for (int i = 0; i < 2; i++) {
		const struct cipher_alg *c = cipher_find(transport_text(ciphers[i]));
		const struct mac_alg *m = mac_find(transport_text(macs[i]));

		if (c != NULL)
			bytes = at_least(at_least(bytes, strcmp(c->name, "3des-cbc") == 0 ? 14 : c->key_size),
				at_least(c->block_size, c->iv_size));
		if (m != NULL && !(c != NULL && cipher_is_aead(c)))
			bytes = at_least(bytes, m->key_size);
	}
	/* These cannot do more than 4096 bits, which 192 would exceed. */
	if (str_starts(transport_peer_software(t), "Cisco-1."))
		bytes = bytes > 16 ? 16 : bytes;
	return bytes * 8;
}

/* Client: the first message of a method. */
static int send_first(struct transport *t, const struct kex_method *method)
{
	struct kex_message out = { .body = BUF_INIT(KEX_BODY_MAX) };
	int code;

	kex_free(t->x.kex);
	t->x.kex = kex_new(method, false);
	if (!kex_can_guess(method))
		kex_set_key_bits(t->x.kex, key_bits_needed(t));
	code = kex_begin(t->x.kex, &out, &t->err);
	if (code == 0)
		code = transport_emit(t, out.type, transport_view(&out.body), false);
	else
		transport_fail_err(t, 0, "");
	buf_free(&out.body);
	return code;
}

int transport_begin_exchange(struct transport *t)
{
	struct transport_exchange *x = &t->x;
	struct view payload;
	const struct kex_method *guess;

	build_proposal(t, &x->own);
	guess = x->own.guess_follows ? first_method(&x->own) : NULL;
	if (guess != NULL && !kex_can_guess(guess))
		guess = NULL;
	x->own.guess_follows = guess != NULL;
	buf_put_u8(&x->own_kexinit, MSG_KEXINIT);
	proposal_put(&x->own, &x->own_kexinit);
	if (!buf_ok(&x->own_kexinit))
		return transport_fail(t, ERR_USAGE, 0, "the lists of algorithms are too long");
	payload = transport_view(&x->own_kexinit);
	if (transport_emit(t, MSG_KEXINIT, (struct view){ payload.p + 1, payload.n - 1 }, false) < 0)
		return t->err.code;
	x->sent_kexinit = true;
	log_debug("key exchange %u: our KEXINIT is on its way", t->exchanges + 1);
	return guess != NULL ? send_first(t, guess) : 0;
}

int transport_rekey(struct transport *t)
{
	if (t->ended)
		return t->err.code != 0 ? t->err.code : ERR_CLOSED;
	if (!t->authenticated || t->exchanges == 0)
		return ERR_USAGE;
	if (t->x.sent_kexinit) {
		t->rekey_again = true;
		return 0;
	}
	return transport_begin_exchange(t);
}

/* ---- the peer's KEXINIT ---- */

/* What only the first KEXINIT of a peer can say. */
static int take_first(struct transport *t, const struct message *m)
{
	const char *names = t->x.peer.list[PROPOSAL_KEX];

	proposal_copy(&t->peer_first, &t->x.peer);
	t->peer_takes_ext = lists(names, t->opt.server ? ext_client : ext_server);
	t->strict = !t->opt.omit_strict && lists(names, t->opt.server ? strict_client : strict_server);
	/* Whatever came before it could have been put there to shift sequence numbers (CVE-2023-48795). */
	if (t->strict && m->seq != 0)
		return transport_fail(t, ERR_PEER, DISCONNECT_PROTOCOL_ERROR, "strict key exchange: KEXINIT was not the first packet");
	return 0;
}

static bool is_none(const char *name)
{
	return strcmp(name, "none") == 0;
}

static bool known_compression(const char *name)
{
	return is_none(name) || compress_find(transport_text(name)) != NULL;
}

static int agree(struct transport *t)
{
	struct transport_exchange *x = &t->x;
	const struct proposal *client = t->opt.server ? &x->peer : &x->own, *server = t->opt.server ? &x->own : &x->peer;
	struct agreement *a = &x->agreed;

	if (proposal_agree(client, server, !t->opt.server, a, &t->err) < 0) {
		/* As in OpenSSH: without a word in the first exchange, where the peer sees for itself; later ones
		 * are about switches, whose refusal says why. */
		t->negotiation_failed = str_starts(err_text(&t->err), "no matching ");
		return transport_fail_err(t, t->exchanges == 0 ? 0 : DISCONNECT_KEX_FAILED, err_text(&t->err));
	}
	/* Nothing is in clear before the user is known, whatever the lists say. */
	if (!t->authenticated && (is_none(a->cipher_c2s) || is_none(a->mac_c2s)))
		return transport_fail(t, ERR_PEER, DISCONNECT_KEX_FAILED, "cipher or MAC none is not allowed before authentication");
	if (!known_compression(a->compress_c2s) || !known_compression(a->compress_s2c) ||
	    kex_find(transport_text(a->kex)) == NULL || sig_alg_find(transport_text(a->host_key)) == NULL)
		return transport_fail(t, ERR_USAGE, DISCONNECT_KEX_FAILED, "%s, %s or compression %s is not implemented",
			a->kex, a->host_key, a->compress_c2s);
	log_debug("key exchange %u: method %s, host key %s", t->exchanges + 1, a->kex, a->host_key);
	log_debug("key exchange %u: client to server cipher %s, MAC %s, compression %s", t->exchanges + 1, a->cipher_c2s,
		a->mac_c2s, a->compress_c2s);
	log_debug("key exchange %u: server to client cipher %s, MAC %s, compression %s", t->exchanges + 1, a->cipher_s2c,
		a->mac_s2c, a->compress_s2c);
	return 0;
}

static int start_method(struct transport *t)
{
	struct transport_exchange *x = &t->x;
	const struct kex_method *method = kex_find(transport_text(x->agreed.kex));

	/* RFC 4253 §7: a wrong guess is ignored by its receiver and repeated rightly by its sender. */
	x->skip_guess = x->peer.guess_follows && !x->agreed.first_guess_right;
	if (t->opt.server) {
		x->kex = kex_new(method, true);
		return 0;
	}
	if (x->own.guess_follows && x->agreed.first_guess_right && x->kex != NULL)
		return 0;
	return send_first(t, method);
}

/* A later exchange that cannot succeed, such as a switch to none that is not permitted: the refusal goes out in the place of our
 * KEXINIT, for a peer that reads our lists first would end the connection itself, without the reason. */
static int refuse_early(struct transport *t)
{
	const struct proposal *client, *server;
	struct proposal own = { .guess_follows = false };
	struct agreement a = { .kex = NULL };
	struct err e = { 0 };
	int code;

	build_proposal(t, &own);
	client = t->opt.server ? &t->x.peer : &own;
	server = t->opt.server ? &own : &t->x.peer;
	code = proposal_agree(client, server, !t->opt.server, &a, &e);
	proposal_clear(&own);
	agreement_clear(&a);
	if (code == 0)
		return 0;
	t->negotiation_failed = str_starts(err_text(&e), "no matching ");
	return transport_fail(t, code, DISCONNECT_KEX_FAILED, "%s", err_text(&e));
}

int transport_got_kexinit(struct transport *t, const struct message *m)
{
	struct transport_exchange *x = &t->x;
	struct reader r;

	if (x->got_kexinit)
		return transport_fail(t, ERR_PEER, DISCONNECT_PROTOCOL_ERROR, "KEXINIT came within a key exchange");
	/* The server signs once before authentication (SECURITY.md). */
	if (t->exchanges != 0 && t->opt.server && !t->authenticated)
		return transport_fail(t, ERR_PEER, DISCONNECT_PROTOCOL_ERROR, "key re-exchange before authentication");
	buf_put_u8(&x->peer_kexinit, MSG_KEXINIT);
	buf_put(&x->peer_kexinit, m->body.p, m->body.n);
	reader_init(&r, m->body.p, m->body.n);
	if (!buf_ok(&x->peer_kexinit))
		return transport_fail(t, ERR_PEER, DISCONNECT_PROTOCOL_ERROR, "KEXINIT is too long");
	if (proposal_get(&r, &x->peer, &t->err) < 0)
		return transport_fail_err(t, DISCONNECT_PROTOCOL_ERROR, err_text(&t->err));
	if (t->exchanges == 0 && take_first(t, m) < 0)
		return t->err.code;
	if (t->exchanges != 0 && !x->sent_kexinit && refuse_early(t) < 0)
		return t->err.code;
	if (!x->sent_kexinit && transport_begin_exchange(t) < 0)
		return t->err.code;
	x->got_kexinit = true;
	if (agree(t) < 0)
		return t->err.code;
	return start_method(t);
}

/* ---- new keys ---- */

static int derive(struct transport *t, const struct view *names, bool client_to_server, struct transport_keys *k)
{
	const struct view id = transport_view(&t->session_id);
	/* RFC 4253 §7.2: IV, key, MAC key are A, C, E from client to server and B, D, F the other way. */
	const char *letters = client_to_server ? "ACE" : "BDF";

	k->suite.cipher = cipher_find(names[0]);
	k->suite.mac = NULL;
	k->suite.compress = compress_find(names[2]);
	if (k->suite.cipher == NULL)
		return transport_fail(t, ERR_USAGE, 0, "cipher %.*s is not available", (int)names[0].n, names[0].p);
	if (!cipher_is_aead(k->suite.cipher)) {
		k->suite.mac = mac_find(names[1]);
		if (k->suite.mac == NULL)
			return transport_fail(t, ERR_USAGE, 0, "MAC %.*s is not available", (int)names[1].n, names[1].p);
	}
	if (k->suite.cipher->iv_size > TRANSPORT_KEY_MAX || k->suite.cipher->key_size > TRANSPORT_KEY_MAX ||
	    (k->suite.mac != NULL && k->suite.mac->key_size > TRANSPORT_KEY_MAX))
		return transport_fail(t, ERR_USAGE, 0, "the keys of cipher %s are too long", k->suite.cipher->name);
	if (kex_derive(t->x.kex, id, letters[0], k->iv, k->suite.cipher->iv_size) < 0 ||
	    kex_derive(t->x.kex, id, letters[1], k->key, k->suite.cipher->key_size) < 0 ||
	    (k->suite.mac != NULL && kex_derive(t->x.kex, id, letters[2], k->mac_key, k->suite.mac->key_size) < 0))
		return transport_fail(t, ERR_CRYPTO, 0, "deriving keys failed");
	return 0;
}

static int derive_both(struct transport *t, struct transport_keys *out)
{
	const struct agreement *a = &t->x.agreed;
	const struct view c2s[] = {
		transport_text(a->cipher_c2s), transport_text(a->mac_c2s), transport_text(a->compress_c2s)
	};
	const struct view s2c[] = {
		transport_text(a->cipher_s2c), transport_text(a->mac_s2c), transport_text(a->compress_s2c)
	};

	if (derive(t, t->opt.server ? s2c : c2s, !t->opt.server, out) < 0)
		return t->err.code;
	return derive(t, t->opt.server ? c2s : s2c, t->opt.server, &t->x.in);
}

static int set_keys(struct transport *t, enum packet_dir dir, const struct transport_keys *k)
{
	const struct packet_keys keys = { k->iv, k->key, k->mac_key };

	/* Strict resets numbers at every NEWKEYS of the connection. */
	return packet_set_keys(t->packet, dir, &k->suite, &keys, t->strict) < 0 ? transport_fail_packet(t) : 0;
}

/* The method is done: NEWKEYS, our new keys, and everything that waited. */
static int send_newkeys(struct transport *t)
{
	const struct kex_result *res = kex_result(t->x.kex);
	struct transport_keys out;
	int code;

	/* RFC 4253 §7.2: the hash of the first exchange names the connection for good. */
	if (t->exchanges == 0) {
		buf_put(&t->session_id, res->hash, res->hash_size);
		buf_put(&t->host_key_blob, res->host_key.data, res->host_key.size);
		buf_put(&t->host_key_signature, res->signature.data, res->signature.size);
	}
	code = derive_both(t, &out);
	if (code == 0)
		code = transport_emit(t, MSG_NEWKEYS, (struct view){ NULL, 0 }, false);
	if (code == 0)
		code = set_keys(t, PACKET_OUT, &out);
	mem_wipe(&out, sizeof(out));
	if (code < 0)
		return code;
	kex_free(t->x.kex);
	t->x.kex = NULL;
	t->x.sent_newkeys = true;
	if (t->exchanges == 0 && transport_send_ext(t) < 0)
		return t->err.code;
	if (transport_flush_queue(t) < 0)
		return t->err.code;
	if (t->exchanges == 0 && t->opt.cb.session_begun != NULL)
		t->opt.cb.session_begun(t->opt.cb.ctx);
	return t->err.code;
}

/* ---- messages of the method ---- */

struct signer {
	struct transport *t;
	struct view blob;
};

static int sign_hash(void *ctx, struct view hash, struct buf *signature, struct err *e)
{
	const struct signer *s = ctx;
	const struct transport *t = s->t;
	const struct sig_alg *alg = sig_alg_find(transport_text(t->x.agreed.host_key));

	return t->opt.cb.sign_hash(t->opt.cb.ctx, alg, s->blob, hash, signature, e);
}

/* Server: the key that this exchange is signed with. */
static int choose_host_key(struct transport *t, struct view *blob)
{
	const struct sig_alg *alg = sig_alg_find(transport_text(t->x.agreed.host_key));

	if (t->opt.cb.host_key_for(t->opt.cb.ctx, alg, blob) < 0)
		return transport_fail(t, ERR_USAGE, DISCONNECT_KEX_FAILED, "no host key for %s", alg->name);
	if (t->exchanges != 0 && !view_equal(*blob, transport_view(&t->host_key_blob)))
		return transport_fail(t, ERR_USAGE, DISCONNECT_KEX_FAILED, "the host key for %s is not that of the first exchange",
			alg->name);
	return 0;
}

/* Client: is the hash signed by the key, and the key the host's? */
static int check_host_key(struct transport *t)
{
	const struct kex_result *res = kex_result(t->x.kex);
	const struct view blob = transport_view(&res->host_key);
	const struct sig_alg *alg = sig_alg_find(transport_text(t->x.agreed.host_key));
	struct key *k;
	int code;

	if (t->exchanges != 0 && !view_equal(blob, transport_view(&t->host_key_blob)))
		return transport_fail(t, ERR_PEER, DISCONNECT_HOST_KEY_NOT_VERIFIABLE,
			"the server's host key is not that of the first exchange");
	k = key_from_blob(blob, &t->err);
	if (k == NULL)
		return transport_fail_err(t, DISCONNECT_HOST_KEY_NOT_VERIFIABLE, "host key is malformed");
	if (!sig_alg_fits(alg, k))
		code = transport_fail(t, ERR_PEER, DISCONNECT_HOST_KEY_NOT_VERIFIABLE, "the server's host key does not fit %s",
			alg->name);
	else if (key_verify(k, alg, (struct view){ res->hash, res->hash_size }, transport_view(&res->signature)) < 0)
		code = transport_fail(t, ERR_CRYPTO, DISCONNECT_KEX_FAILED, "the server's signature over the key exchange is wrong");
	else if (t->exchanges == 0 && (code = t->opt.cb.check_host_key(t->opt.cb.ctx, k, blob, &t->err)) < 0) {
		err_set(&t->err, code, "the host key was not accepted");
		code = transport_fail_err(t, DISCONNECT_HOST_KEY_NOT_VERIFIABLE, "host key not accepted");
	} else {
		code = 0;
	}
	key_free(k);
	return code;
}

static int run_method(struct transport *t, const struct message *m)
{
	struct transport_exchange *x = &t->x;
	struct kex_message out = { .body = BUF_INIT(KEX_BODY_MAX) };
	struct signer signer = { t, { NULL, 0 } };
	struct kex_input in = {
		.client_version = transport_text(t->opt.server ? t->peer_version : t->own_version),
		.server_version = transport_text(t->opt.server ? t->own_version : t->peer_version),
		.client_kexinit = transport_view(t->opt.server ? &x->peer_kexinit : &x->own_kexinit),
		.server_kexinit = transport_view(t->opt.server ? &x->own_kexinit : &x->peer_kexinit),
		.sign = sign_hash, .ctx = &signer, .choose_group = t->opt.cb.choose_group, .group_ctx = t->opt.cb.group_ctx
	};
	int code;

	if (t->opt.server && choose_host_key(t, &signer.blob) < 0)
		return t->err.code;
	in.host_key = signer.blob;
	code = kex_input(x->kex, &in, m->body, &out, &t->err);
	if (code < 0) {
		err_set(&t->err, code, "key exchange failed");
		/* That no group fits is what the peer can do something about. */
		code = transport_fail_err(t, DISCONNECT_KEX_FAILED, code == ERR_NONE_FOUND ? err_text(&t->err) : "key exchange failed");
	} else if (out.type != 0 && transport_emit(t, out.type, transport_view(&out.body), false) < 0) {
		code = t->err.code;
	}
	buf_free(&out.body);
	return code;
}

int transport_got_kex(struct transport *t, const struct message *m)
{
	struct transport_exchange *x = &t->x;
	int code;

	if (x->got_kexinit && x->skip_guess) {
		log_debug("message %u is a guess that was wrong", m->type);
		x->skip_guess = false;
		return 0;
	}
	/* No method runs before the peer's KEXINIT (our guess apart) and after our NEWKEYS. */
	if (!x->got_kexinit || x->kex == NULL || m->type != kex_expects(x->kex))
		return transport_fail(t, ERR_PEER, DISCONNECT_PROTOCOL_ERROR, "key exchange message %u came out of turn", m->type);
	code = run_method(t, m);
	if (code <= 0)
		return code;
	if (!t->opt.server && check_host_key(t) < 0)
		return t->err.code;
	/* Asking the user may have taken long, and work with large groups too. */
	x->waiting_since_ms = 0;
	return send_newkeys(t);
}

int transport_got_newkeys(struct transport *t, const struct message *m)
{
	struct transport_exchange *x = &t->x;

	/* Our own NEWKEYS leaves as soon as the method is done, so the peer's never comes before it. */
	if (!x->got_kexinit || !x->sent_newkeys || x->skip_guess || m->body.n != 0)
		return transport_fail(t, ERR_PEER, DISCONNECT_PROTOCOL_ERROR, "NEWKEYS came out of turn");
	if (set_keys(t, PACKET_IN, &x->in) < 0)
		return t->err.code;
	agreement_clear(&t->agreement);
	t->agreement = x->agreed;
	x->agreed = (struct agreement){ .kex = NULL };
	transport_exchange_clear(x);
	t->exchanges++;
	t->keyed_ms = clock_mono_ms();
	log_debug("key exchange %u: finished%s", t->exchanges, t->strict && t->exchanges == 1 ? ", strict" : "");
	if (t->opt.cb.keys_changed != NULL)
		t->opt.cb.keys_changed(t->opt.cb.ctx);
	if (t->err.code == 0 && t->rekey_again && !x->sent_kexinit) {
		t->rekey_again = false;
		return transport_begin_exchange(t);
	}
	return t->err.code;
}

/* ---- when ---- */

/* RFC 4344 §3.2: blocks that one key may cover. */
static uint64_t blocks_of_cipher(const struct cipher_alg *c, uint64_t block)
{
	/* RFC 4344 §3.2: 2^(L/4) blocks. Nothing is worn out by sending in clear; HPN has the same figure. */
	if (block >= 16 || c->mode == CIPHER_NONE)
		return UINT64_C(1) << 32;
	return (UINT64_C(1) << 30) / block;
}

/* own: RekeyLimit counts too. */
static bool used_enough(const struct transport *t, enum packet_dir dir, bool own)
{
	const struct packet_counters c = packet_counters(t->packet, dir);
	const struct cipher_alg *cipher = packet_suite(t->packet, dir)->cipher;
	uint64_t block = cipher->block_size < 8 ? 8 : cipher->block_size;

	if (c.packets > UINT64_C(1) << 31 || c.blocks >= blocks_of_cipher(cipher, block))
		return true;
	return own && t->opt.rekey_bytes != 0 && c.blocks >= t->opt.rekey_bytes / block;
}

int transport_check_limits(struct transport *t)
{
	bool own = t->authenticated;

	if (t->exchanges == 0 || t->x.sent_kexinit || t->x.got_kexinit || t->ended)
		return 0;
	/* One packet passes between exchanges, so that small limits still let work go on. */
	if (packet_counters(t->packet, PACKET_IN).packets == 0 && packet_counters(t->packet, PACKET_OUT).packets == 0)
		return 0;
	if (!used_enough(t, PACKET_IN, own) && !used_enough(t, PACKET_OUT, own) && !transport_line_switches(t))
		return 0;
	if (!t->authenticated)
		return transport_fail(t, ERR_PEER, DISCONNECT_PROTOCOL_ERROR, "too much data before authentication");
	return transport_begin_exchange(t);
}
