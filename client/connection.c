/* client/connection.c: one connection to a server, from connect() to ready. Layer: client.
 *
 * exchange -> authentication -> (re-key to none) -> ready. Nothing of the connection protocol leaves before ready. */
#include "client/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "caution.h"
#include "channel/carrier.h"
#include "client/client_auth.h"
#include "client/connect.h"
#include "client/guess.h"
#include "client/hostkey.h"
#include "client/none_switch.h"
#include "client/peer_memory.h"
#include "client/speed_memory.h"
#include "compress.h"
#include "config.h"
#include "io/loop.h"
#include "io/net.h"
#include "io/rest.h"
#include "platform/cores.h"
#include "transport.h"
#include "version.h"
#include "wire/messages.h"

enum phase { PHASE_EXCHANGE, PHASE_AUTH, PHASE_SWITCH, PHASE_READY, PHASE_ENDED };

enum {
	FLUSH_MS = 1000,
	AUTH_SILENCE_MS = 10 * 1000      /* so long a server may think about a password whatever ServerAlive* say */
};

struct client {
	struct loop *loop;
	struct client_setup setup;
	const struct client_options *o;
	struct client_route route;
	struct transport *transport;
	struct carrier *carrier;
	struct client_auth *auth;
	struct channels *channels;
	struct hostkey_verdict host_key;
	char via[96];                    /* for the line that tells of success */
	char *memory_path;               /* NULL: no peer memory */
	char *cipher_order, *mac_order;  /* of CipherPreference fastest; NULL: as configured */
	struct peer_record remembered;
	bool is_remembered;
	enum peer_first first;           /* what is to be remembered */
	bool refused_ahead, lost_ahead;  /* what was sent along with the first open: it was refused, or not even answered */
	struct proposal configured;      /* our lists without what memory makes of them */
	bool nothing_early;              /* the server hung up on what came early */
	struct err first_err;            /* how */
	char *key_host;                  /* the name known_hosts files the key under */
	enum phase phase;
	bool host_accepted;              /* and our keys are in force; only then is anything said about the user */
	struct loop_timer *banner_timer, *alive_timer;
	struct rest *rest;
	unsigned alive_unanswered;
	uint64_t started_ms;
	struct proposal before_switch;   /* to go back to when the server declines */
	bool switch_failed;
};

static void client_step(void *ctx);
static int client_begin(struct client *c, struct err *e);
static void client_alive(void *ctx);

/* ---- endings ---- */

/* Some programs take what comes behind the version line, before theirs was answered, for an attack. A server that says
 * something else first (that it is full, that we are not wanted) has not been hindered by us. */
static bool client_may_try_again(const struct client *c, const struct err *e)
{
	const struct transport *t = c->transport;
	bool proxied = c->o->proxy_command != NULL || c->o->proxy_jump.host != NULL;

	if (c->phase != PHASE_EXCHANGE || c->nothing_early || transport_peer_proposal(t)->list[PROPOSAL_KEX] != NULL ||
	    transport_disconnect_reason(t) != 0)
		return false;
	if (e->code != ERR_CLOSED && !(e->code == ERR_IO && str_starts(err_text(e), "connection reset")) &&
	    !(e->code == ERR_IO && str_starts(err_text(e), "write")))
		return false;
	/* A proxy that fails says nothing; and stdin and stdout are no way to call twice. */
	if (proxied && (transport_peer_silent(t) || strcmp(c->o->proxy_command != NULL ? c->o->proxy_command : "", "-") == 0))
		return false;
	return transport_peer_silent(t) || *transport_peer_software(t) != '\0';
}

static void client_tell_ended(struct client *c, const struct err *e)
{
	if (c->setup.events.ended)
		c->setup.events.ended(c->setup.events.ctx, c, e);
	c->phase = PHASE_ENDED;
}

/* Design 4: once more, with nothing early. From the loop: the carrier that ended is not in use. A server that cannot be reached
 * any more has closed the first connection for reasons of its own, which count. */
static void client_try_again(void *ctx)
{
	struct client *c = ctx;
	struct client_route route;
	struct err e = { 0 };

	client_route_close(&c->route);
	if (client_connect(c->o, c->setup.tokens, c->setup.program, &route, &e) < 0) {
		log_debug("%s", err_text(&e));
		client_tell_ended(c, &c->first_err);
		return;
	}
	carrier_free(c->carrier);
	transport_free(c->transport);
	c->carrier = NULL;
	c->transport = NULL;
	c->route = route;
	if (client_begin(c, &e) < 0)
		client_tell_ended(c, &e);
}

static void client_ended(void *ctx)
{
	struct client *c = ctx;
	const struct err *e = carrier_err(c->carrier);

	if (c->phase == PHASE_ENDED)
		return;
	if (client_may_try_again(c, e)) {
		log_debug("the server hung up before its KEXINIT (%s): once more, with nothing early", err_text(e));
		c->nothing_early = true;
		c->first_err = *e;
		loop_defer(c->loop, client_try_again, c);
		return;
	}
	if (c->nothing_early && transport_peer_silent(c->transport))
		e = &c->first_err;
	log_debug2("connection ended in phase %d: %s", c->phase, err_text(e));
	client_tell_ended(c, e);
}

static void client_auth_failed(void *ctx, const struct err *e)
{
	struct client *c = ctx;

	IGNORE_RESULT(carrier_fail(c->carrier, e->code ? e->code : ERR_DENIED, 0, "%s", err_text(e)));
}

void client_report_end(struct client *c, const struct err *e)
{
	const char *who = c->route.address, *text = err_text(e);
	unsigned port = c->route.port;

	/* Who refuses a session knows no channel for what came along with the open, and hangs up. The refusal has been told. */
	if (e->code == 0 || c->refused_ahead)
		return;
	if (!c->transport) {
		log_error("%s: %s", c->setup.program, text);
		return;
	}
	if (transport_disconnect_reason(c->transport) && e->code == ERR_CLOSED) {
		log_error("Received disconnect from %s port %u:%u: %s", who, port,
			transport_disconnect_reason(c->transport), transport_disconnect_text(c->transport));
		log_error("Disconnected from %s port %u", who, port);
	} else if (e->code == ERR_CLOSED && c->channels) {
		log_error("Connection to %s closed by remote host.", c->o->hostname);
	} else if (e->code == ERR_CLOSED) {
		if (*transport_peer_software(c->transport) == '\0')
			log_error("kex_exchange_identification: Connection closed by remote host");
		log_error("Connection closed by %s port %u", who, port);
	} else if (str_starts(text, "no matching ")) {
		log_error("Unable to negotiate with %s port %u: %s", who, port, text);
	} else if (e->code == ERR_DENIED) {
		log_error("%s", text);
	} else if (e->code == ERR_IO && str_starts(text, "connection reset")) {
		log_error("Connection reset by %s port %u", who, port);
	} else if (e->code == ERR_IO && str_starts(text, "write")) {
		log_error("client_loop: send disconnect: %s", str_starts(text, "write: ") ? text + 7 : text);
	} else {
		log_error("%s: connection to %s port %u: %s", c->setup.program, who, port, text);
	}
	if (c->lost_ahead)
		log_error("What was asked along with the open of the session may be why. Now it will wait for the answer: please try again");
}

/* ---- host key ---- */

static struct peer_name client_peer_name(const struct client *c)
{
	return (struct peer_name){ .user = c->o->user, .host = c->key_host, .port = c->route.used_port };
}

static struct hostkey_where client_where(struct client *c)
{
	bool proxied = c->route.port == 65535;
	struct hostkey_where w = { .options = c->o, .tokens = c->setup.tokens, .host = c->key_host,
		.address = proxied ? NULL : c->route.address, .port = c->route.used_port };

	w.loopback = !proxied && (str_starts(c->route.address, "127.") || strcmp(c->route.address, "::1") == 0);
	return w;
}

static int client_check_host_key(void *ctx, struct key *k, struct view blob, struct err *e)
{
	struct client *c = ctx;
	struct hostkey_where w = client_where(c);
	char *print = key_fingerprint_blob(blob, DIGEST_SHA256);

	loop_timer_disarm(c->banner_timer);
	log_debug("Server host key: %s %s", key_type_name(k), print);
	free(print);
	if (hostkey_check(&w, k, &c->host_key, e) < 0)
		return ERR_DENIED;
	/* From here on there is no other clock. */
	if (c->o->server_alive_interval_s) {
		c->alive_timer = loop_timer_add(c->loop, client_alive, c);
		loop_timer_arm(c->alive_timer, (uint64_t)c->o->server_alive_interval_s * 1000);
	}
	return 0;
}

/* Our NEWKEYS is on its way, so the host key was accepted: authentication need not wait for the server's. It begins at the
 * end of this turn, when what came with the server's answer, EXT_INFO perhaps, has been read. */
static void client_session_begun(void *ctx)
{
	struct client *c = ctx;

	c->host_accepted = true;
	/* A guess is for the first exchange only. */
	transport_set_proposal(c->transport, &c->configured);
	loop_defer(c->loop, client_step, c);
}

static void client_keys_changed(void *ctx)
{
	struct client *c = ctx;
	const struct agreement *a = transport_agreement(c->transport);

	log_debug("kex: algorithm: %s", a->kex);
	log_debug("kex: host key algorithm: %s", a->host_key);
	log_debug("kex: server->client cipher: %s MAC: %s compression: %s", a->cipher_s2c, a->mac_s2c, a->compress_s2c);
	log_debug("kex: client->server cipher: %s MAC: %s compression: %s", a->cipher_c2s, a->mac_c2s, a->compress_c2s);
	if (transport_exchange_count(c->transport) == 1)
		caution_log(a, c->o->hostname);
	/* The transport is in the middle of a message: what follows from it is done before the loop waits again. */
	loop_defer(c->loop, client_step, c);
}

static void client_peer_debug(void *ctx, const char *text)
{
	(void)ctx;
	log_info("Remote: %s", text);
}

/* ---- the none switch ---- */

/* Once the first command is on its way. */
static void client_learn(void *ctx)
{
	struct client *c = ctx;
	struct peer_name who = client_peer_name(c);
	struct peer_record r = { .kind = transport_peer_kind(c->transport), .first = c->first };

	guess_learn(&c->configured, transport_peer_proposal(c->transport), &r);
	client_auth_login(c->auth, &r.login);
	peer_memory_store(c->memory_path, &who, &r);
}

/* Nothing is learnt from a host that may be the wrong one. */
static bool client_may_learn(const struct client *c)
{
	return c->memory_path != NULL && !c->host_key.weakened;
}

/* Versions of OpenSSH all give the first channel the number 0. Whoever has that name and does not, or does not bear what comes along
 * with the open, is not asked so again. */
static bool client_numbers_known(const struct client *c)
{
	enum peer_kind kind = transport_peer_kind(c->transport);

	return kind == PEER_OPENSSH || kind == PEER_HPN;
}

static void client_first(void *ctx, enum channel_first what)
{
	struct client *c = ctx;
	enum peer_first was = c->first;

	c->refused_ahead = what == CHANNEL_FIRST_REFUSED;
	c->lost_ahead = what == CHANNEL_FIRST_LOST;
	if (c->refused_ahead || !client_numbers_known(c) || !client_may_learn(c))
		return;
	if (what != CHANNEL_FIRST_ZERO)
		c->first = PEER_FIRST_OTHER;
	else if (was == PEER_FIRST_UNKNOWN)
		c->first = PEER_FIRST_ZERO;
	if (c->first == was)
		return;
	/* The connection may be over before the loop has another turn. */
	if (c->first == PEER_FIRST_OTHER)
		client_learn(c);
	else
		loop_defer(c->loop, client_learn, c);
}

static uint64_t client_moved(void *ctx)
{
	const struct client *c = ctx;

	return transport_bytes(c->transport, PACKET_IN) + transport_bytes(c->transport, PACKET_OUT);
}

static void client_resting(void *ctx)
{
	struct client *c = ctx;

	transport_rest(c->transport);
}

static void client_ready(struct client *c)
{
	c->phase = PHASE_READY;
	c->rest = rest_new(c->loop, &(struct rest_user){ client_moved, client_resting, c });
	if (c->setup.events.ready)
		c->setup.events.ready(c->setup.events.ctx, c);
	if (client_may_learn(c))
		loop_defer(c->loop, client_learn, c);
}

static struct none_question client_none_question(const struct client *c)
{
	enum conf_origin origin = CLIENT_ORIGIN(c->o, none_switch);
	enum conf_origin enabled = CLIENT_ORIGIN(c->o, none_enabled);
	struct none_question q = {
		.none_switch = c->o->none_switch,
		.switch_from_file = client_options_was_set(origin) && origin != CONF_COMMAND_LINE,
		.from_file_allowed = c->o->none_switch_from_file,
		.enabled = c->o->none_enabled,
		.enabled_set = client_options_was_set(enabled),
		.mac = c->o->none_mac_enabled,
		.tty = c->setup.wants_tty,
#ifdef WITH_NONE_CIPHER
		.built = true,
#endif
	};

	return q;
}

/* The switch cannot be: one line with the reason, then by NoneSwitchFallback on in cipher, or out. */
static void client_none_impossible(struct client *c, const char *reason)
{
	if (c->o->none_switch_fallback) {
		log_error("NONE cipher switch not possible: %s; going on encrypted (NoneSwitchFallback yes)", reason);
		client_ready(c);
		return;
	}
	c->switch_failed = true;
	IGNORE_RESULT(carrier_fail(c->carrier, ERR_DENIED, DISCONNECT_BY_APPLICATION,
		"NONE cipher switch not possible: %s; NoneSwitchFallback yes would go on encrypted", reason));
}

static void client_none_ask(struct client *c)
{
	struct proposal p = { 0 };

	proposal_copy(&c->before_switch, transport_proposal(c->transport));
	none_switch_proposal(&c->before_switch, transport_agreement(c->transport)->host_key, c->o->none_mac_enabled, &p);
	transport_set_proposal(c->transport, &p);
	proposal_clear(&p);
	log_debug("Requesting none rekeying");
	c->phase = PHASE_SWITCH;
	if (transport_rekey(c->transport) < 0)
		IGNORE_RESULT(carrier_fail(c->carrier, ERR_PEER, 0, "%s", err_text(transport_err(c->transport))));
	carrier_kick(c->carrier);
}

static void client_none_decide(struct client *c)
{
	struct none_question q = client_none_question(c);
	const char *reason;

	switch (none_switch_decide(&q, &reason)) {
	case NONE_ASK:
		client_none_ask(c);
		return;
	case NONE_KEEP_ENCRYPTED:
		log_error("%s", reason);
		client_ready(c);
		return;
	case NONE_IMPOSSIBLE:
		client_none_impossible(c, reason);
		return;
	case NONE_NOT_ASKED:
		client_ready(c);
		return;
	}
}

/* The exchange after our request: whatever the server chose is in force now. */
static void client_none_result(struct client *c)
{
	if (transport_cipher_none(c->transport)) {
		log_error("WARNING: ENABLED NONE CIPHER: data of this session is not encrypted");
		if (transport_mac_none(c->transport))
			log_error("WARNING: ENABLED NONE MAC: data of this session is not protected against changes");
		client_ready(c);
		return;
	}
	transport_set_proposal(c->transport, &c->before_switch);
	client_none_impossible(c, "the server does not permit it for this user, or does not know it");
}

/* ---- phases ---- */

static bool client_global_request(void *ctx, struct view name, struct reader *body, bool want_reply, struct buf *reply)
{
	struct client *c = ctx;
	const struct channels_user *u = c->setup.events.channels;

	return u && u->global_request && u->global_request(u->ctx, name, body, want_reply, reply);
}

static uint32_t client_channel_opened(void *ctx, struct channel *ch, struct view type, struct reader *extra,
	struct channel_answer *answer)
{
	struct client *c = ctx;
	const struct channels_user *u = c->setup.events.channels;

	if (u && u->open)
		return u->open(u->ctx, ch, type, extra, answer);
	str_copy(answer->text, sizeof answer->text, "open failed");
	return OPEN_ADMINISTRATIVELY_PROHIBITED;
}

static void client_all_closed(void *ctx)
{
	struct client *c = ctx;
	const struct channels_user *u = c->setup.events.channels;

	if (u && u->all_closed)
		u->all_closed(u->ctx);
}

/* Of use only if the program that answers there is of the same kind. */
static bool client_remembers_peer(const struct client *c)
{
	return c->is_remembered && c->remembered.kind == transport_peer_kind(c->transport);
}

static void client_authenticated(void *ctx)
{
	struct client *c = ctx;
	struct channels_options o = {
		.first_is_zero = client_remembers_peer(c) && c->remembered.first == PEER_FIRST_ZERO &&
			client_numbers_known(c) && client_may_learn(c) && !c->nothing_early,
		.echo_window = channel_echo_window(transport_peer_ext_value(c->transport, CHANNEL_ECHO)),
		.window_fixed = c->o->hpn_disabled || !c->o->tcp_rcv_buf_poll,
		.window_initial = c->o->hpn_buffer_size_kib * 1024,
		.user = { .ctx = c, .open = client_channel_opened, .global_request = client_global_request,
			.first = client_first, .all_closed = client_all_closed, .ended = client_ended },
	};
	struct err e = { 0 };

	if (client_remembers_peer(c))
		c->first = c->remembered.first;
	log_debug("HPN Disabled: %d", c->o->hpn_disabled);
	transport_set_authenticated(c->transport);
	c->channels = channels_new(c->carrier, &o, &e);
	if (!c->channels) {
		IGNORE_RESULT(carrier_fail(c->carrier, e.code, 0, "%s", err_text(&e)));
		return;
	}
	c->phase = PHASE_SWITCH;
	loop_defer(c->loop, client_step, c);
}

static void client_start_auth(struct client *c)
{
	struct client_auth_setup s = {
		.carrier = c->carrier, .options = c->o, .tokens = c->setup.tokens, .user = c->o->user,
		.prompt_host = c->key_host, .via = c->via, .weakened = c->host_key.weakened,
		.remembered = client_remembers_peer(c) ? &c->remembered.login : NULL, .ctx = c,
		.success = client_authenticated, .failure = client_auth_failed,
	};
	struct err e = { 0 };

	if (c->route.port == 65535)
		str_copy(c->via, sizeof c->via, "via proxy");
	else
		snprintf(c->via, sizeof c->via, "[%s]:%u", c->route.address, c->route.port);
	log_debug("Authenticating to %s:%u as '%s'", c->o->hostname, c->o->port, c->o->user);
	c->phase = PHASE_AUTH;
	c->auth = client_auth_new(&s, &e);
	if (!c->auth)
		IGNORE_RESULT(carrier_fail(c->carrier, e.code ? e.code : ERR_IO, 0, "%s", err_text(&e)));
	carrier_kick(c->carrier);
}

static void client_step(void *ctx)
{
	struct client *c = ctx;

	if (c->phase == PHASE_EXCHANGE && c->host_accepted)
		client_start_auth(c);
	else if (c->phase == PHASE_SWITCH && !c->before_switch.list[0])
		client_none_decide(c);
	else if (c->phase == PHASE_SWITCH && !c->switch_failed && !transport_exchanging(c->transport))
		client_none_result(c);
}

static int client_message(void *ctx, const struct message *m)
{
	struct client *c = ctx;

	if (c->auth)
		return client_auth_message(c->auth, m);
	return transport_unimplemented(c->transport, m);
}

static void client_banner_late(void *ctx)
{
	struct client *c = ctx;

	IGNORE_RESULT(carrier_fail(c->carrier, ERR_IO, 0, "Connection timed out during banner exchange"));
}

/* ---- ServerAliveInterval ---- */

static void client_alive_answer(void *ctx, bool ok, struct reader *body)
{
	struct client *c = ctx;

	/* A refusal is as good a sign of life as anything. */
	(void)ok;
	(void)body;
	c->alive_unanswered = 0;
}

static void client_alive(void *ctx)
{
	struct client *c = ctx;
	uint64_t interval = (uint64_t)c->o->server_alive_interval_s * 1000;
	uint64_t quiet = clock_mono_ms() - carrier_last_input_ms(c->carrier);

	if (quiet < interval) {
		c->alive_unanswered = 0;
		loop_timer_arm(c->alive_timer, interval - quiet);
		return;
	}
	/* Before authentication nothing may be asked: a server is given time, and what we took to ask the user does not count. */
	if (!c->channels && quiet < AUTH_SILENCE_MS) {
		loop_timer_arm(c->alive_timer, interval);
		return;
	}
	if (c->alive_unanswered >= c->o->server_alive_count_max) {
		IGNORE_RESULT(carrier_fail(c->carrier, ERR_DENIED, 0, "Timeout, server %s not responding.",
			c->o->hostname));
		return;
	}
	c->alive_unanswered++;
	if (c->channels)
		IGNORE_RESULT(channels_global_request(c->channels, "keepalive@openssh.com", NULL, client_alive_answer, c));
	loop_timer_arm(c->alive_timer, interval);
}

/* ---- making ---- */

static void set_take(struct proposal *p, enum proposal_list which, char *names)
{
	proposal_set(p, which, names);
	free(names);
}

static void client_proposal(struct client *c, struct proposal *p)
{
	const struct client_options *o = c->o;
	struct hostkey_where w = client_where(c);
	const char *ciphers = c->cipher_order ? c->cipher_order : o->ciphers.names;
	const char *macs = c->mac_order ? c->mac_order : o->macs.names;
	/* Names of our own say nothing to others, who pass them over (RFC 4251 §6). */
	const char *compress = o->compression ? !o->compression_zstd || !compress_has_zstd() ?
		"zlib@wirespeed,zlib@openssh.com,none" : "zstd@wirespeed,zlib@wirespeed,zlib@openssh.com,none" : "none,zlib@openssh.com";

	proposal_set(p, PROPOSAL_KEX, o->kex_algorithms.names);
	set_take(p, PROPOSAL_HOST_KEY, hostkey_order(&w));
	proposal_set(p, PROPOSAL_CIPHER_C2S, ciphers);
	proposal_set(p, PROPOSAL_CIPHER_S2C, ciphers);
	proposal_set(p, PROPOSAL_MAC_C2S, macs);
	proposal_set(p, PROPOSAL_MAC_S2C, macs);
	proposal_set(p, PROPOSAL_COMPRESS_C2S, compress);
	proposal_set(p, PROPOSAL_COMPRESS_S2C, compress);
	proposal_set(p, PROPOSAL_LANG_C2S, "");
	proposal_set(p, PROPOSAL_LANG_S2C, "");
}

/* Whether the user knows the host by a key of the remembered type. */
static bool client_knows_type(struct client *c)
{
	const char *name = c->remembered.host_key;
	const struct sig_alg *alg = sig_alg_find((struct view){ (const uint8_t *)name, strlen(name) });
	struct hostkey_where w = client_where(c);

	return alg != NULL && hostkey_has_type(&w, alg);
}

/* What is known of this server from earlier, and the guess that follows from it. */
static void client_use_memory(struct client *c, struct proposal *p)
{
	struct peer_name who = client_peer_name(c);
	const struct peer_record *r;
	struct peer_memory m;

	if (c->memory_path == NULL)
		return;
	peer_memory_load(&m, c->memory_path);
	r = peer_memory_find(&m, &who);
	c->is_remembered = r != NULL;
	if (r != NULL)
		c->remembered = *r;
	peer_memory_clear(&m);
	if (!c->is_remembered || c->nothing_early)
		return;
	/* known_hosts is not read once more, nor KnownHostsCommand run, where the order of the list says it all. */
	if (guess_apply(&c->remembered, false, p) ||
	    (c->remembered.guess && client_knows_type(c) && guess_apply(&c->remembered, true, p)))
		log_debug("guessing that the server takes %s and %s, as last time", c->remembered.kex, c->remembered.host_key);
}

static int client_make_transport(struct client *c, struct err *e)
{
	const struct client_options *o = c->o;
	struct transport_options t = {
		.nothing_early = c->nothing_early,
		.rekey_bytes = o->rekey_limit.bytes, .rekey_seconds = o->rekey_limit.seconds,
		.helpers = o->disable_mtaes ? 0 : cores_to_spare(c->route.fd_out),
		.compress_level = client_options_compress_level(o),
		.cb = { .ctx = c, .check_host_key = client_check_host_key, .keys_changed = client_keys_changed,
			.session_begun = client_session_begun, .peer_debug = client_peer_debug },
	};
	char *software = o->version_addendum && *o->version_addendum ?
		str_printf("%s %s", WS_IDENT, o->version_addendum) : mem_strdup(WS_IDENT);

	client_proposal(c, &c->configured);
	proposal_copy(&t.proposal, &c->configured);
	client_use_memory(c, &t.proposal);
	t.software = software;
	c->transport = transport_new(&t, e);
	proposal_clear(&t.proposal);
	free(software);
	if (!c->transport)
		return ERR_USAGE;
	return transport_start(c->transport) < 0 ? err_set(e, ERR_USAGE, "%s", err_text(transport_err(c->transport))) : 0;
}

static char *client_key_host(const struct client_options *o)
{
	char *name = mem_strdup(o->host_key_alias ? o->host_key_alias : o->hostname);

	str_lower(name);
	return name;
}

/* The protocol, on a route that stands. */
static int client_begin(struct client *c, struct err *e)
{
	const struct client_options *o = c->o;
	struct carrier_user u = { .ctx = c, .message = client_message, .ended = client_ended };

	net_set_tos(c->route.fd_out, c->setup.wants_tty ? o->ipqos.interactive : o->ipqos.bulk);
	if (client_make_transport(c, e) < 0)
		return ERR_USAGE;
	c->carrier = carrier_new(c->loop, c->transport, c->route.fd_in, c->route.fd_out, e);
	if (!c->carrier)
		return ERR_IO;
	carrier_set_user(c->carrier, &u);
	if (!c->banner_timer)
		c->banner_timer = loop_timer_add(c->loop, client_banner_late, c);
	if (o->connect_timeout_s > 0)
		loop_timer_arm(c->banner_timer, (uint64_t)o->connect_timeout_s * 1000);
	return 0;
}

struct client *client_new(struct loop *l, const struct client_setup *s, struct err *e)
{
	struct client *c = mem_zalloc(sizeof *c);

	c->loop = l;
	c->setup = *s;
	c->o = s->options;
	c->route = (struct client_route){ .fd_in = -1, .fd_out = -1 };
	c->key_host = client_key_host(c->o);
	c->started_ms = clock_mono_ms();
	if (c->o->peer_memory)
		c->memory_path = peer_memory_path(s->tokens->home);
	if (c->o->cipher_preference == CLIENT_FASTEST)
		speed_memory_order(s->tokens->home, c->o->ciphers.names, c->o->macs.names, &c->cipher_order, &c->mac_order);
	if (client_connect(c->o, s->tokens, s->program, &c->route, e) < 0 || client_begin(c, e) < 0) {
		client_free(c);
		return NULL;
	}
	return c;
}

void client_free(struct client *c)
{
	if (!c)
		return;
	loop_defer_cancel(c->loop, client_step, c);
	loop_defer_cancel(c->loop, client_try_again, c);
	loop_defer_cancel(c->loop, client_learn, c);
	loop_timer_remove(c->banner_timer);
	loop_timer_remove(c->alive_timer);
	rest_free(c->rest);
	channels_free(c->channels);
	client_auth_free(c->auth);
	carrier_free(c->carrier);
	transport_free(c->transport);
	client_route_close(&c->route);
	proposal_clear(&c->before_switch);
	proposal_clear(&c->configured);
	free(c->memory_path);
	free(c->cipher_order);
	free(c->mac_order);
	free(c->key_host);
	free(c);
}

struct channels *client_channels(struct client *c) { return c->phase == PHASE_READY ? c->channels : NULL; }
struct carrier *client_carrier(struct client *c) { return c->carrier; }
struct transport *client_transport(struct client *c) { return c->transport; }
const struct client_options *client_options(const struct client *c) { return c->o; }

const char *client_peer_address(const struct client *c, uint16_t *port)
{
	*port = c->route.port;
	return c->route.address;
}

void client_stop_threads(struct client *c)
{
	if (c->transport)
		transport_stop_helpers(c->transport);
}

void client_disconnect(struct client *c)
{
	if (c->carrier)
		carrier_disconnect(c->carrier, DISCONNECT_BY_APPLICATION, "disconnected by user", FLUSH_MS);
}

void client_log_totals(struct client *c)
{
	double seconds = (double)(clock_mono_ms() - c->started_ms) / 1000.0;
	uint64_t in, out;

	if (!c->transport)
		return;
	in = transport_bytes(c->transport, PACKET_IN);
	out = transport_bytes(c->transport, PACKET_OUT);
	log_verbose("Transferred: sent %llu, received %llu bytes, in %.1f seconds", (unsigned long long)out,
		(unsigned long long)in, seconds);
	if (seconds > 0)
		log_verbose("Bytes per second: sent %.1f, received %.1f", (double)out / seconds, (double)in / seconds);
	transport_log_compression(c->transport);
}
