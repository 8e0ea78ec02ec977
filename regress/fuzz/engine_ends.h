/* Two engines in memory for the harnesses of the engine, with keys that are made once. */
#ifndef REGRESS_FUZZ_ENGINE_ENDS_H
#define REGRESS_FUZZ_ENGINE_ENDS_H

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "crypto/crypto.h"
#include "keys/key.h"
#include "transport.h"
#include "wire/messages.h"

struct ends {
	struct transport *t[2];          /* client, server */
	struct transport_options opt[2];
};

static struct key *ends_key;

static int ends_check(void *ctx, struct key *k, struct view blob, struct err *e)
{
	return 0;
}

static int ends_sign(void *ctx, const struct sig_alg *alg, struct view blob, struct view hash, struct buf *out,
	struct err *e)
{
	return key_sign(ends_key, alg, hash, out, e);
}

static int ends_host_key(void *ctx, const struct sig_alg *alg, struct view *blob)
{
	*blob = key_blob(ends_key);
	return 0;
}

static void ends_init(struct ends *e, const char *cipher, const char *mac, bool old)
{
	int i, j;

	if (ends_key == NULL) {
		log_init("fuzz", LOG_LEVEL_QUIET);
		crypto_init();
		ends_key = key_generate(KEY_ED25519, 0, NULL);
	}
	memset(e, 0, sizeof(*e));
	for (i = 0; i < 2; i++) {
		struct transport_options *o = &e->opt[i];

		*o = (struct transport_options){
			.server = i == 1, .software = "Wirespeed_fuzz", .server_sig_algs = "ssh-ed25519", .omit_strict = old,
			.cb = { .check_host_key = ends_check, .sign_hash = ends_sign, .host_key_for = ends_host_key }
		};
		/* Without the first ones, whose keys take long with sanitizers; fuzz_kex has them. */
		proposal_set(&o->proposal, PROPOSAL_KEX, strstr(proposal_default_kex(false), "curve25519"));
		proposal_set(&o->proposal, PROPOSAL_HOST_KEY, "ssh-ed25519");
		for (j = 0; j < 2; j++) {
			proposal_set(&o->proposal, (enum proposal_list)(PROPOSAL_CIPHER_C2S + j), cipher);
			proposal_set(&o->proposal, (enum proposal_list)(PROPOSAL_MAC_C2S + j), mac);
			proposal_set(&o->proposal, (enum proposal_list)(PROPOSAL_COMPRESS_C2S + j), "zlib@openssh.com,none");
		}
		e->t[i] = transport_new(o, NULL);
		if (e->t[i] == NULL || transport_start(e->t[i]) < 0)
			abort();
	}
}

static void ends_clear(struct ends *e)
{
	int i;

	for (i = 0; i < 2; i++) {
		transport_free(e->t[i]);
		proposal_clear(&e->opt[i].proposal);
	}
}

/* Bytes to a transport, and every message they make; each byte of a message is looked at. */
static int ends_feed(struct transport *t, const uint8_t *p, size_t n)
{
	struct message m;
	uint8_t *at, sum = 0;
	size_t room, i;
	int r = 0;

	while (n != 0 && r >= 0) {
		if (transport_in_space(t, &at, &room) < 0)
			return -1;
		if (room > n)
			room = n;
		memcpy(at, p, room);
		transport_in_added(t, room);
		p += room;
		n -= room;
		while ((r = transport_next(t, &m)) == 1) {
			for (i = 0; i < m.body.n; i++)
				sum ^= m.body.p[i];
			if (m.type == MSG_USERAUTH_SUCCESS)
				transport_set_authenticated(t);
		}
	}
	return r < 0 ? r : sum & 0;
}

/* Everything that one has to say, to the other. */
static bool ends_step(struct ends *e, int from)
{
	struct iovec iov[2];
	size_t n;

	if (transport_out_view(e->t[from], iov, 2) == 0)
		return false;
	n = iov[0].iov_len;
	(void)!ends_feed(e->t[!from], iov[0].iov_base, n);
	transport_out_sent(e->t[from], n);
	return true;
}

static void ends_run(struct ends *e)
{
	while (ends_step(e, 0) | ends_step(e, 1))
		;
}

/* Handshake, and both know that the user is who he is. */
static void ends_log_in(struct ends *e)
{
	struct buf b = BUF_INIT(64);

	ends_run(e);
	if (transport_exchange_count(e->t[0]) != 1 || transport_exchange_count(e->t[1]) != 1)
		abort();
	if (transport_send(e->t[1], MSG_USERAUTH_SUCCESS, &b) < 0)
		abort();
	transport_set_authenticated(e->t[1]);
	ends_run(e);
	if (!transport_authenticated(e->t[0]))
		abort();
}

#endif
