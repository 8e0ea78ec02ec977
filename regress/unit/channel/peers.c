/* Two ends of one connection in this process. */
#include "peers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"

static int check_host_key(void *ctx, struct key *k, struct view blob, struct err *e)
{
	return 0;
}

static int sign_hash(void *ctx, const struct sig_alg *alg, struct view blob, struct view hash, struct buf *out, struct err *e)
{
	struct peers *p = ctx;

	return key_sign(p->host_key, alg, hash, out, e);
}

static int host_key_for(void *ctx, const struct sig_alg *alg, struct view *blob)
{
	struct peers *p = ctx;

	*blob = key_blob(p->host_key);
	return sig_alg_fits(alg, p->host_key) ? 0 : ERR_NONE_FOUND;
}

static void client_keys(void *ctx)
{
	((struct peers *)ctx)->client.exchanges++;
}

static void server_keys(void *ctx)
{
	((struct peers *)ctx)->server.exchanges++;
}

static void peer_ended(void *ctx)
{
	((struct peer *)ctx)->ended = true;
}

static void start_peer(struct peers *p, struct peer *one, bool server)
{
	struct transport_options o = { .server = server, .software = "Wirespeed_test", .rekey_bytes = p->rekey_bytes,
		.cb = { .ctx = p, .check_host_key = check_host_key, .sign_hash = sign_hash, .host_key_for = host_key_for,
			.keys_changed = server ? server_keys : client_keys } };
	const char *cipher = p->cipher ? p->cipher : "aes128-gcm@openssh.com";
	static const char *const lists[PROPOSAL_COUNT] = { "curve25519-sha256", "ssh-ed25519", NULL, NULL, "hmac-sha2-256",
		"hmac-sha2-256", "none", "none", "", "" };
	struct carrier_user u = { .ctx = one, .ended = peer_ended };

	for (int i = 0; i < PROPOSAL_COUNT; i++)
		proposal_set(&o.proposal, (enum proposal_list)i, lists[i] ? lists[i] : cipher);
	one->transport = transport_new(&o, NULL);
	assert_non_null(one->transport);
	assert_int_equal(transport_start(one->transport), 0);
	proposal_clear(&o.proposal);
	one->carrier = carrier_new(p->loop, one->transport, one->fd, one->fd, NULL);
	assert_non_null(one->carrier);
	carrier_set_user(one->carrier, &u);
}

static void start_channels(struct peers *p, struct peer *one, bool server, const struct channels_user *u)
{
	struct channels_options o = { .server = server, .user = *u, .window_fixed = p->window_fixed,
		.echo_window = server ? p->server_echo : p->client_echo, .first_is_zero = !server && p->first_is_zero };

	transport_set_authenticated(one->transport);
	o.user.ended = u->ended ? u->ended : peer_ended;
	o.user.ctx = u->ctx ? u->ctx : one;
	one->channels = channels_new(one->carrier, &o, NULL);
	assert_non_null(one->channels);
}

void peers_start(struct peers *p)
{
	int fds[2];
	uint64_t limit = clock_mono_ms() + 10000;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	p->client.fd = fds[0];
	p->server.fd = fds[1];
	p->loop = loop_new(NULL);
	p->host_key = key_generate(KEY_ED25519, 0, NULL);
	start_peer(p, &p->client, false);
	start_peer(p, &p->server, true);
	while (p->client.exchanges == 0 || p->server.exchanges == 0) {
		assert_int_equal(loop_turn(p->loop, 100, NULL), 0);
		assert_true(clock_mono_ms() < limit);
	}
	start_channels(p, &p->client, false, &p->client_user);
	start_channels(p, &p->server, true, &p->server_user);
}

void peers_run_until(struct peers *p, const bool *flag)
{
	uint64_t limit = clock_mono_ms() + 10000;

	while (!*flag) {
		assert_int_equal(loop_turn(p->loop, 100, NULL), 0);
		if (clock_mono_ms() > limit)
			fail_msg("nothing came of it: client \"%s\", server \"%s\"", err_text(carrier_err(p->client.carrier)),
				err_text(carrier_err(p->server.carrier)));
	}
}

static void stop_peer(struct peer *one)
{
	channels_free(one->channels);
	carrier_free(one->carrier);
	transport_free(one->transport);
	close(one->fd);
}

void peers_stop(struct peers *p)
{
	stop_peer(&p->client);
	stop_peer(&p->server);
	key_free(p->host_key);
	loop_free(p->loop);
}
