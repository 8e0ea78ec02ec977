/* server/user_channels.c: channels that the peer opens and requests about the whole connection (RFC 4254 §4, §5.1). */
#include "server/user_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "channel/carrier.h"
#include "server/usession.h"
#include "server/monitor_table.h"
#include "transport.h"

/* ---- channels */

static uint32_t open_session(struct user *u, struct channel *c, struct reader *extra, struct channel_answer *answer)
{
	char *text = answer->text;
	const size_t text_size = sizeof(answer->text);

	if (reader_end(extra, NULL, "session") < 0) {
		(void)str_copy(text, text_size, "malformed request");
		return OPEN_ADMINISTRATIVELY_PROHIBITED;
	}
	if (u->no_more_sessions) {
		/* The client has said that it would not do this. */
		(void)carrier_fail(u->carrier, ERR_PEER, DISCONNECT_PROTOCOL_ERROR, "Possible attack: attempt to open a session "
			"after additional sessions disabled");
		(void)str_copy(text, text_size, "no more sessions were wanted");
		return OPEN_ADMINISTRATIVELY_PROHIBITED;
	}
	if (u->session_count >= u->options.max_sessions) {
		char *who = user_who(u);

		log_info("no more sessions for %s: MaxSessions is %u", who, u->options.max_sessions);
		(void)snprintf(text, text_size, "no more sessions on this connection: the server's MaxSessions is %u",
			u->options.max_sessions);
		free(who);
		return u->options.max_sessions == 0 ? OPEN_ADMINISTRATIVELY_PROHIBITED : OPEN_RESOURCE_SHORTAGE;
	}
	usession_new(u, c, &answer->user);
	return 0;
}

static char *shown(struct view v)
{
	return str_escape_log(v.p, v.n, 256);
}

static void log_direct_tcpip(struct reader *r)
{
	struct view host = reader_string(r);
	uint32_t port = reader_u32(r);
	struct view from = reader_string(r);
	uint32_t from_port = reader_u32(r);
	char *host_text = shown(host), *from_text = shown(from);

	log_info("refused local port forward: originator %s port %u, target %s port %u", from_text, from_port, host_text, port);
	free(host_text);
	free(from_text);
}

static void log_direct_streamlocal(struct reader *r)
{
	struct view path = reader_string(r), from = reader_string(r);
	uint32_t from_port = reader_u32(r);
	char *path_text = shown(path), *from_text = shown(from);

	log_info("refused streamlocal port forward: originator %s port %u, target %s", from_text, from_port, path_text);
	free(path_text);
	free(from_text);
}

static void log_tun(struct reader *r)
{
	(void)r;
	log_info("refused a tunnel device");
}

static const struct refused_type {
	const char *type;
	void (*log)(struct reader *r);
} refused_types[] = {
	{ "direct-tcpip", log_direct_tcpip },
	{ "direct-streamlocal@openssh.com", log_direct_streamlocal },
	{ "tun@openssh.com", log_tun },
};

uint32_t user_channel_open(void *ctx, struct channel *c, struct view type, struct reader *extra,
	struct channel_answer *answer)
{
	struct user *u = ctx;

	if (view_is(type, "session"))
		return open_session(u, c, extra, answer);
	for (size_t i = 0; i < MEM_COUNT(refused_types); i++)
		if (view_is(type, refused_types[i].type)) {
			refused_types[i].log(extra);
			(void)str_copy(answer->text, sizeof(answer->text), "forwards are not built into this server");
			return OPEN_ADMINISTRATIVELY_PROHIBITED;
		}
	(void)str_copy(answer->text, sizeof(answer->text), "unknown channel type");
	return OPEN_UNKNOWN_CHANNEL_TYPE;
}

/* ---- global requests */

static bool no_more_sessions(struct user *u, struct reader *body, struct buf *reply)
{
	(void)body;
	(void)reply;
	u->no_more_sessions = true;
	return true;
}

static bool refuse_tcpip_forward(struct user *u, struct reader *body, struct buf *reply)
{
	struct view host = reader_string(body);
	uint32_t port = reader_u32(body);
	char *text = shown(host);

	(void)reply;
	log_info("Received request from %s port %u to remote forward to host %s port %u, but the request was denied.",
		u->setup.ends.remote_ip, u->setup.ends.remote_port, text, port);
	free(text);
	return false;
}

static bool refuse_streamlocal_forward(struct user *u, struct reader *body, struct buf *reply)
{
	char *text = shown(reader_string(body));

	(void)reply;
	log_info("Received request from %s port %u to remote forward to path %s, but the request was denied.",
		u->setup.ends.remote_ip, u->setup.ends.remote_port, text);
	free(text);
	return false;
}

static bool prove_host_keys(struct user *u, struct reader *body, struct buf *reply)
{
	const char *alg = transport_agreement(u->transport)->host_key;
	const char *theirs = transport_peer_proposal(u->transport)->list[PROPOSAL_HOST_KEY];
	bool rsa_sha256 = strcmp(alg, "rsa-sha2-256") == 0 || (strcmp(alg, "rsa-sha2-512") != 0 &&
		!str_names_has(theirs, "rsa-sha2-512", 12) && str_names_has(theirs, "rsa-sha2-256", 12));
	struct err e = { 0 };

	/* Anyone on the path could have put the question in (SECURITY.md). */
	if (transport_mac_none(u->transport))
		return false;
	if (++u->proofs > MON_PROVE_TIMES || reader_left(body) >= MON_PROVE_SIZE) {
		log_debug("too many, or too long, questions for proofs of host keys");
		return false;
	}
	if (user_ask_proof(u, rsa_sha256, reader_rest(body), reply, &e) == 0)
		return true;
	log_debug("proof of host keys: %s", err_text(&e));
	return false;
}

static const struct global_row {
	const char *name;
	bool (*handle)(struct user *u, struct reader *body, struct buf *reply);
} global_rows[] = {
	{ "no-more-sessions@openssh.com", no_more_sessions },
	{ "hostkeys-prove-00@openssh.com", prove_host_keys },
	{ "tcpip-forward", refuse_tcpip_forward },
	{ "streamlocal-forward@openssh.com", refuse_streamlocal_forward },
};

bool user_global_request(void *ctx, struct view name, struct reader *body, bool want_reply, struct buf *reply)
{
	(void)want_reply;
	for (size_t i = 0; i < MEM_COUNT(global_rows); i++)
		if (view_is(name, global_rows[i].name))
			return global_rows[i].handle(ctx, body, reply);
	return false;    /* keepalive@openssh.com too: any answer is a sign of life */
}

void user_announce_host_keys(struct user *u)
{
	struct buf b = BUF_INIT(256 * 1024);

	for (size_t i = 0; i < u->setup.host_keys.count; i++) {
		const char *text = u->setup.host_keys.v[i];
		size_t n = strlen(text);
		uint8_t *blob = mem_alloc(n + 1);
		long size = str_base64_decode(text, n, blob);

		if (size > 0)
			buf_put_string(&b, blob, (size_t)size);
		free(blob);
	}
	if (channels_global_request(u->channels, "hostkeys-00@openssh.com", &b, NULL, NULL) < 0)
		log_debug("host keys could not be announced");
	buf_free(&b);
}
