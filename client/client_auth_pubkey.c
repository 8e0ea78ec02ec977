/* client/client_auth_pubkey.c: the publickey method (RFC 4252 §7) and its host-bound form (OpenSSH's PROTOCOL). */
#include "client/client_auth_private.h"

#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "caution.h"

enum { SIGNED_MAX = 128 * 1024, SIGNATURE_MAX = 32 * 1024 };

static bool pubkey_enabled(const struct client_auth *a)
{
	return a->s.options->pubkey_authentication != CLIENT_NO;
}

/* The host-bound form also signs the server's key, which keys with destination constraints need. */
static bool pubkey_bound(const struct client_auth *a)
{
	return a->s.options->pubkey_authentication != CLIENT_UNBOUND &&
		transport_peer_ext(a->transport, "publickey-hostbound@openssh.com");
}

static void request_fill(const struct auth_key *key, const struct sig_alg *alg, struct userauth_request *q)
{
	q->alg = (struct view){ (const uint8_t *)alg->name, strlen(alg->name) };
	q->key_blob = key_blob(key->public);
}

/* 1 sent, 0 no signature to be had, negative. */
static int pubkey_send_signed(struct client_auth *a, struct auth_key *key, const struct sig_alg *alg)
{
	struct userauth_request q = { .kind = pubkey_bound(a) ? USERAUTH_HOSTBOUND : USERAUTH_PUBLICKEY, .has_signature = true };
	struct buf data = BUF_INIT(SIGNED_MAX), signature = BUF_INIT(SIGNATURE_MAX);
	int rc = 0;

	request_fill(key, alg, &q);
	a->keys.alg = alg;
	q.user = (struct view){ (const uint8_t *)a->s.user, strlen(a->s.user) };
	q.service = (struct view){ (const uint8_t *)USERAUTH_CONNECTION, strlen(USERAUTH_CONNECTION) };
	if (q.kind == USERAUTH_HOSTBOUND)
		q.host_key = transport_host_key_blob(a->transport);
	userauth_signed_data_put(&data, transport_session_id(a->transport), &q);
	log_debug2("signing with %s as %s", alg->name, userauth_kind_name(q.kind));
	caution_log_name("public key signature", alg->name, a->s.options->hostname);
	if (buf_ok(&data) && auth_key_sign(a, key, alg, (struct view){ data.data, data.size }, &signature) == 0) {
		q.signature = (struct view){ signature.data, signature.size };
		rc = auth_send_request(a, &q, false);
	}
	buf_free(&data);
	buf_free(&signature);
	a->keys.probing = false;
	return rc;
}

/* Asks whether the key would do (RFC 4252 §7): no signature is made, no passphrase asked for, if not. */
static int pubkey_send_probe(struct client_auth *a, const struct auth_key *key, const struct sig_alg *alg)
{
	struct userauth_request q = { .kind = USERAUTH_PUBLICKEY };

	request_fill(key, alg, &q);
	a->keys.alg = alg;
	a->keys.probing = true;
	return auth_send_request(a, &q, false);
}

static int pubkey_try(struct client_auth *a, struct auth_key *key)
{
	const struct sig_alg *alg;
	bool known = key->public != NULL;
	char *what;

	if (!known) {
		log_debug("Trying private key: %s", key->label);
		if (auth_key_load(a, key) != 0)
			return 0;
	}
	alg = auth_key_algorithm(a, key);
	if (alg == NULL)
		return 0;
	if (!known)
		return pubkey_send_signed(a, key, alg);
	what = auth_key_describe(a, key);
	log_debug("Offering public key: %s", what);
	free(what);
	return pubkey_send_probe(a, key, alg);
}

/* ---- the first request (docs/PROTOCOL.md) */

/* The server's EXT_INFO may be on its way still: RSA only with what it took last time. */
static const struct sig_alg *first_algorithm(const struct client_auth *a, const struct auth_key *key,
	const struct auth_login *remembered)
{
	const struct sig_alg *alg;

	if (key_type(key->public) != KEY_RSA || transport_server_sig_algs(a->transport) != NULL)
		return auth_key_algorithm(a, key);
	if (remembered == NULL)
		return NULL;
	alg = sig_alg_find((struct view){ (const uint8_t *)remembered->alg, strlen(remembered->alg) });
	return alg != NULL && !alg->legacy && auth_key_permits(a, key, alg) ? alg : NULL;
}

/* Keys of a file that sign by themselves: no token to be touched. */
static bool signs_alone(const struct auth_key *key)
{
	enum key_type type = key_type(key->private);

	return type == KEY_ED25519 || type == KEY_ECDSA || type == KEY_RSA;
}

int auth_pubkey_first(struct client_auth *a, const struct auth_login *remembered)
{
	const struct sig_alg *alg;
	struct auth_key *key;
	bool alone;
	char *what;
	int rc;

	auth_keys_prepare(a);
	key = auth_keys_first(a, remembered);
	if (key == NULL)
		return 0;
	alone = auth_key_load_quietly(a, key) == 0 && signs_alone(key);
	alg = key->public != NULL ? first_algorithm(a, key, remembered) : NULL;
	if (alg == NULL)
		return 0;
	a->keys.current = key;
	what = auth_key_describe(a, key);
	log_debug("%s without waiting: %s", alone ? "Signing with public key" : "Offering public key", what);
	free(what);
	rc = alone ? pubkey_send_signed(a, key, alg) : pubkey_send_probe(a, key, alg);
	key->tried = rc != 0;
	return rc;
}

static int pubkey_start(struct client_auth *a)
{
	struct auth_key *key;
	int rc;

	auth_keys_prepare(a);
	while ((key = auth_keys_next(&a->keys)) != NULL) {
		key->tried = true;
		a->keys.current = key;
		rc = pubkey_try(a, key);
		if (rc != 0)
			return rc;
	}
	a->keys.current = NULL;
	return 0;
}

/* PK_OK. The blob must be that of the question. Some servers put another algorithm name for the same RSA key: ours counts. */
static int pubkey_message(struct client_auth *a, const struct message *m)
{
	struct auth_key *key = a->keys.current;
	const struct sig_alg *asked;
	struct view alg, blob;
	struct err e = { 0 };
	struct reader r;
	char *what;
	int rc;

	if (m->type != MSG_USERAUTH_PK_OK || key == NULL || !a->keys.probing)
		return auth_fail_peer(a, NULL, "the server answered a key that was not offered");
	reader_init(&r, m->body.p, m->body.n);
	if (userauth_pk_ok_get(&r, &alg, &blob, &e) != 0)
		return auth_fail_peer(a, &e, NULL);
	a->keys.probing = false;
	asked = auth_key_algorithm(a, key);
	if (!view_equal(blob, key_blob(key->public)) || asked == NULL)
		return auth_fail_peer(a, NULL, "the server accepted a key that was not offered");
	what = auth_key_describe(a, key);
	log_debug("Server accepts key: %s", what);
	free(what);
	rc = pubkey_send_signed(a, key, asked);
	return rc != 0 ? rc : pubkey_start(a);
}

/* It has done its part: another key may be wanted next. */
static void pubkey_used(struct client_auth *a)
{
	if (a->keys.current != NULL)
		a->keys.current->used = true;
}

const struct auth_method auth_method_publickey = {
	.name = "publickey", .enabled = pubkey_enabled, .start = pubkey_start, .message = pubkey_message, .used = pubkey_used,
};
