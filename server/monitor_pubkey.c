/* server/monitor_pubkey.c: publickey (RFC 4252 §7) and its form bound to the host key (OpenSSH's PROTOCOL). What must have been
 * signed is put together here, from the session id of the hash that this process signed itself. */
#include "server/monitor_private.h"

#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "caution.h"

static const struct sig_alg *accepted_algorithm(struct monitor *m, struct view name)
{
	const struct sig_alg *alg = sig_alg_find(name);
	char *shown;

	if (str_names_has(m->options.pubkey_accepted_algorithms.names, (const char *)name.p, name.n))
		return alg;      /* NULL: in the list, but not built */
	shown = str_escape_log(name.p, name.n, 64);
	log_info("userauth_pubkey: signature algorithm %s not in PubkeyAcceptedAlgorithms [preauth]", shown);
	free(shown);
	return NULL;
}

static bool key_acceptable(struct monitor *m, const struct key *k, const struct sig_alg *alg, const char *text)
{
	if (!sig_alg_fits(alg, k)) {
		log_debug("algorithm %s does not fit the key %s", alg->name, text);
		return false;
	}
	if (key_type(k) == KEY_RSA && key_bits(k) < m->options.required_rsa_size) {
		log_info("refusing RSA key with %u bits: RequiredRSASize is %u", key_bits(k), m->options.required_rsa_size);
		return false;
	}
	return true;
}

static int verify(struct monitor *m, const struct userauth_request *q, const struct key *k, const struct sig_alg *alg)
{
	struct view id = { m->session_id, m->session_id_size };
	struct userauth_request mine = *q;
	struct buf data = BUF_INIT(128 * 1024);
	int rc;

	if (q->kind == USERAUTH_HOSTBOUND)
		mine.host_key = key_blob(m->h->keys.v[m->host_key].public_key);
	userauth_signed_data_put(&data, id, &mine);
	rc = buf_ok(&data) ? key_verify(k, alg, (struct view){ data.data, data.size }, q->signature) : ERR_MEMORY;
	buf_free(&data);
	return rc;
}

static bool take_key_options(struct monitor *m, struct key_options *found)
{
	struct err e = { 0 };

	if (!m->have_key_options) {
		key_options_clear(&m->key_options);
		key_options_copy(&m->key_options, found);
		m->have_key_options = true;
		return true;
	}
	if (key_options_restrict(&m->key_options, found, &e) == 0)
		return true;
	log_info("%s", err_text(&e));
	return false;
}

static enum auth_outcome judge_key(struct monitor *m, const struct userauth_request *q, struct key *k,
	const struct sig_alg *alg)
{
	struct view blob = key_blob(k);
	char *base64 = str_base64_encode(blob.p, blob.n);
	struct key_options found;
	struct authorized_query find = { .options = &m->options, .account = &m->account, .key = k, .host = m->host,
		.ip = m->ends.remote_ip, .now = clock_wall() };
	enum auth_outcome outcome = AUTH_NO;
	struct err e = { 0 };

	if (str_list_has(&m->used_keys, base64)) {
		log_debug("a key that was used already cannot be used again");
	} else if (q->has_signature && verify(m, q, k, alg) < 0) {
		/* Before the files are looked at: a forged request learns nothing by its timing about which keys are there. */
		log_debug("wrong signature");
	} else if (authorized_find(&find, &found, &e) == 0) {
		outcome = q->has_signature ? AUTH_YES : AUTH_KEY_OK;
		if (outcome == AUTH_YES && !take_key_options(m, &found))
			outcome = AUTH_NO;
		if (outcome == AUTH_YES) {
			str_list_add(&m->used_keys, base64);
			caution_log_name("public key signature", alg->name, m->ends.remote_ip);
		}
		key_options_clear(&found);
	}
	free(base64);
	return outcome;
}

enum auth_outcome monitor_try_publickey(struct monitor *m, const struct userauth_request *q,
	struct monitor_key_names *names)
{
	const struct sig_alg *alg;
	struct key *k;
	struct err e = { 0 };
	enum auth_outcome outcome = AUTH_NO;

	/* The peer believes to talk to another server: somebody may be in between. */
	if (q->kind == USERAUTH_HOSTBOUND &&
	    !view_equal(q->host_key, key_blob(m->h->keys.v[m->host_key].public_key))) {
		log_error("authentication request from %s port %u is bound to another host key than this connection's",
			m->ends.remote_ip, m->ends.remote_port);
		return AUTH_NO;
	}
	if (!m->allowed)
		return AUTH_NO;
	alg = accepted_algorithm(m, q->alg);
	if (alg == NULL)
		return AUTH_NO;
	k = key_from_blob(q->key_blob, &e);
	if (k == NULL) {
		log_debug("key of an authentication request: %s", err_text(&e));
		return AUTH_NO;
	}
	names->text = authorized_key_text(k, &m->options);
	names->line = key_public_line(k);
	if (key_acceptable(m, k, alg, names->text))
		outcome = judge_key(m, q, k, alg);
	key_free(k);
	return outcome;
}
