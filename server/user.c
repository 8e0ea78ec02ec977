/* server/user.c: one authenticated connection in the user's own process: taking over the transport, running channels, leaving. */
#include "server/user_private.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "channel/carrier.h"
#include "io/loop.h"
#include "io/net.h"
#include "io/rest.h"
#include "io/worker.h"
#include "kex/moduli.h"
#include "platform/cores.h"
#include "server/monitor_wire.h"
#include "server/proposals.h"
#include "server/usession.h"
#include "server/usession_log.h"
#include "transport.h"

enum {
	HOST_KEY_MAX = 64 * 1024,
	LEAVE_MS = 5000                  /* for what was received to reach programs that are slow to take it */
};

char *user_who(const struct user *u)
{
	return str_printf("user %s %s port %u", u->setup.user, u->setup.ends.remote_ip, u->setup.ends.remote_port);
}

void user_set_title(const struct user *u)
{
	struct str_list ttys = { 0 };
	char *joined;

	for (struct usession *s = u->sessions; s != NULL; s = usession_next(s)) {
		const char *tty = usession_tty(s);

		if (tty != NULL)
			str_list_add(&ttys, str_starts(tty, "/dev/") ? tty + 5 : tty);
	}
	joined = ttys.count > 0 ? str_list_join(&ttys, ",") : mem_strdup("notty");
	procname_set_title(u->start->common.procname, "sshd: %s@%s", u->setup.user, joined);
	free(joined);
	str_list_clear(&ttys);
}

/* ---- setup */

struct user *user_new(struct worker_start *s, struct err *e)
{
	struct user *u = mem_zalloc(sizeof(*u));
	struct reader r;

	u->start = s;
	u->start_ms = clock_mono_ms();
	u->setup_body = BUF_INIT(MON_BODY_MAX);
	u->host_key = BUF_INIT(HOST_KEY_MAX);
	if (mon_expect(s->monitor, MON_SETUP, MON_BODY_MAX, &u->setup_body, e) < 0) {
		user_free(u);
		return NULL;
	}
	reader_init(&r, u->setup_body.data, u->setup_body.size);
	if (user_setup_get(&r, &u->setup, e) < 0) {
		user_free(u);
		return NULL;
	}
	buf_put(&u->host_key, u->setup.host_key.p, u->setup.host_key.n);
	return u;
}

static int evaluate_options(struct user *u, struct err *e)
{
	struct server_subject who = {
		.user = u->setup.user, .groups = &u->setup.group_names, .host = u->setup.host,
		.address = u->setup.ends.remote_ip, .local_address = u->setup.ends.local_ip,
		.local_port = u->setup.ends.local_port,
	};
	struct reader r;

	reader_init(&r, u->setup.config.p, u->setup.config.n);
	u->config = server_config_get(&r, e);
	return u->config != NULL ? server_config_match(u->config, &who, &u->options, e) : ERR_PEER;
}

void user_free(struct user *u)
{
	if (u == NULL)
		return;
	usessions_end(u);
	rest_free(u->rest);
	if (u->loop != NULL)
		user_timers_free(u);
	channels_free(u->channels);
	carrier_free(u->carrier);
	transport_free(u->transport);
	if (u->worker != NULL)
		worker_free(u->worker);
	loop_free(u->loop);
	if (u->auth_info_file != NULL)
		(void)unlink(u->auth_info_file);
	free(u->auth_info_file);
	server_options_clear(&u->options);
	server_config_free(u->config);
	user_setup_clear(&u->setup);
	buf_free(&u->setup_body);
	buf_free(&u->host_key);
	moduli_free(u->moduli);
	free(u);
}

/* ---- the transport */

static int host_key_for(void *ctx, const struct sig_alg *alg, struct view *blob)
{
	struct user *u = ctx;
	struct reader r;

	/* The host is the one of the first exchange. */
	reader_init(&r, u->host_key.data, u->host_key.size);
	if (!view_is(reader_string(&r), alg->key_name))
		return ERR_NONE_FOUND;
	*blob = (struct view){ u->host_key.data, u->host_key.size };
	return 0;
}

static bool any_tty(const struct user *u)
{
	for (struct usession *s = u->sessions; s != NULL; s = usession_next(s))
		if (usession_has_tty(s))
			return true;
	return false;
}

static void keys_changed(void *ctx)
{
	struct user *u = ctx;
	bool none = transport_cipher_none(u->transport);

	usession_log_kex(u);
	if (none && any_tty(u)) {
		(void)carrier_fail(u->carrier, ERR_DENIED, DISCONNECT_KEX_FAILED,
			"cipher none is refused while a terminal is open");
		return;
	}
	if (none != u->none_in_force) {
		char *who = user_who(u);

		log_info("%s: data of %s is %s now", none ? "cipher none" : "encryption", who,
			none ? "not encrypted" : "encrypted");
		free(who);
	}
	u->none_in_force = none;
}

static void proposal_now(const struct user *u, struct proposal *p)
{
	struct host_keys none = { .count = 0 };

	server_proposal(&u->options, &none, p);
	/* Which of its names fits the key of the first exchange is the transport's to choose. */
	proposal_set(p, PROPOSAL_HOST_KEY, u->options.host_key_algorithms.names);
	if (!any_tty(u))
		server_proposal_add_none(&u->options, p);
}

void user_update_proposal(struct user *u)
{
	struct proposal p;

	if (u->transport == NULL || !u->options.none_enabled)
		return;
	proposal_now(u, &p);
	transport_set_proposal(u->transport, &p);
	proposal_clear(&p);
}

static int check_connection(struct user *u, struct err *e)
{
	/* The hand-off was made by a process that an attacker may have owned; these two the monitor knows by itself. */
	if (!view_equal(transport_session_id(u->transport), u->setup.session_id) ||
	    !view_equal(transport_host_key_blob(u->transport), u->setup.host_key))
		return err_set(e, ERR_PEER, "the hand-off is of another connection");
	if (!transport_authenticated(u->transport))
		return err_set(e, ERR_PEER, "the hand-off is of a connection that was not authenticated");
	return 0;
}

static int import_transport(struct user *u, struct err *e)
{
	struct transport_options o = {
		.server = true, .software = u->setup.software, .rekey_bytes = u->options.rekey_limit.bytes,
		.rekey_seconds = u->options.rekey_limit.seconds, .compress_level = server_options_compress_level(&u->options),
		.helpers = u->options.disable_mtaes ? 0 : cores_to_spare(u->start->out),
		.cb = { .ctx = u, .sign_hash = user_sign_hash, .host_key_for = host_key_for, .keys_changed = keys_changed,
			.choose_group = u->moduli != NULL ? moduli_choose : NULL, .group_ctx = u->moduli },
	};
	struct buf blob = BUF_INIT(MON_BODY_MAX);
	struct reader r;
	int rc = mon_expect(u->start->monitor, MON_BLOB, MON_BODY_MAX, &blob, e);

	if (rc == 0) {
		proposal_now(u, &o.proposal);
		reader_init(&r, blob.data, blob.size);
		u->transport = transport_import(&o, &r, e);
		proposal_clear(&o.proposal);
		rc = u->transport != NULL ? check_connection(u, e) : ERR_PEER;
	}
	buf_free(&blob);         /* wipes */
	return rc;
}

/* ---- leaving */

static void log_farewell(struct user *u)
{
	const struct err *why = carrier_err(u->carrier);
	const struct endpoints *ends = &u->setup.ends;
	char *who = user_who(u);
	uint32_t reason = transport_disconnect_reason(u->transport);

	if (reason != 0) {
		log_at(reason == DISCONNECT_BY_APPLICATION ? LOG_LEVEL_INFO : LOG_LEVEL_ERROR,
			"Received disconnect from %s port %u:%u: %s", ends->remote_ip, ends->remote_port, reason,
			transport_disconnect_text(u->transport));
		log_info("Disconnected from %s", who);
	} else {
		if (why->code == ERR_CLOSED)
			log_info("Connection closed by %s port %u", ends->remote_ip, ends->remote_port);
		else if (why->code == ERR_IO && strstr(why->text, "reset by peer") != NULL)
			log_info("Connection reset by %s port %u", ends->remote_ip, ends->remote_port);
		else if (transport_negotiation_failed(u->transport))
			log_info("Unable to negotiate with %s port %u: %s", ends->remote_ip, ends->remote_port, err_text(why));
		else
			log_info("Connection with %s ended: %s", who, err_text(why));
		log_verbose("Transferred: sent %llu, received %llu bytes",
			(unsigned long long)transport_bytes(u->transport, PACKET_OUT),
			(unsigned long long)transport_bytes(u->transport, PACKET_IN));
		log_verbose("Closing connection to %s port %u", ends->remote_ip, ends->remote_port);
	}
	free(who);
}

static void leave_now(void *ctx)
{
	struct user *u = ctx;

	loop_stop(u->loop);
}

static void connection_ended(void *ctx)
{
	struct user *u = ctx;

	u->leaving = true;
	log_farewell(u);
	usession_log_throughput(u);
	transport_log_compression(u->transport);
	/* The peer need not wait for programs that are slow to take what it sent. */
	(void)shutdown(u->start->out, SHUT_WR);
	if (channels_count(u->channels) == 0) {
		loop_stop(u->loop);
		return;
	}
	loop_timer_arm(u->leave, LEAVE_MS);
}

static void all_closed(void *ctx)
{
	struct user *u = ctx;

	if (u->leaving)
		loop_stop(u->loop);
}

static void told_to_stop(void *ctx, int signo)
{
	struct user *u = ctx;

	log_info("ending the session of %s: signal %d", u->setup.user, signo);
	carrier_disconnect(u->carrier, DISCONNECT_BY_APPLICATION, "the server ends this session", 1000);
}

/* ---- running */

static void write_auth_info(struct user *u)
{
	char path[] = "/tmp/sshauth.XXXXXXXXXXXXXXX";
	const char *text = u->setup.auth_info;
	size_t n = strlen(text);
	int fd;

	if (!u->options.expose_auth_info || n == 0)
		return;
	fd = mkstemp(path);
	if (fd < 0 || write(fd, text, n) != (ssize_t)n)
		log_error("%s: %s", path, strerror(errno));
	else
		u->auth_info_file = mem_strdup(path);
	if (fd >= 0)
		close(fd);
}

static int start_channels(struct user *u, struct err *e)
{
	struct channels_options o = {
		.server = true,
		.echo_window = transport_peer_kind(u->transport) == PEER_WIRESPEED ? CHANNEL_ECHO_WINDOW : 0,
		.window_fixed = u->options.hpn_disabled || !u->options.tcp_rcv_buf_poll,
		.window_initial = u->options.hpn_buffer_size_kib * 1024,
		.user = { .ctx = u, .open = user_channel_open, .global_request = user_global_request, .all_closed = all_closed,
			.ended = connection_ended },
	};

	u->carrier = carrier_new(u->loop, u->transport, u->start->in, u->start->out, e);
	if (u->carrier == NULL)
		return ERR_IO;
	u->channels = channels_new(u->carrier, &o, e);
	return u->channels != NULL ? 0 : ERR_MEMORY;
}

int user_take_connection(struct user *u, struct err *e)
{
	static const int signals[] = { SIGTERM, SIGHUP, SIGINT };
	int rc = evaluate_options(u, e);

	if (rc < 0)
		return rc;
	u->loop = loop_new(e);
	if (u->loop == NULL)
		return ERR_IO;
	for (size_t i = 0; i < MEM_COUNT(signals); i++)
		if (loop_signal_add(u->loop, signals[i], told_to_stop, u, e) < 0)
			return ERR_IO;
	u->leave = loop_timer_add(u->loop, leave_now, u);
	rc = import_transport(u, e);
	return rc < 0 ? rc : start_channels(u, e);
}

static uint64_t moved(void *ctx)
{
	const struct user *u = ctx;

	return transport_bytes(u->transport, PACKET_IN) + transport_bytes(u->transport, PACKET_OUT);
}

static void resting(void *ctx)
{
	struct user *u = ctx;

	transport_rest(u->transport);
}

int user_run(struct user *u, struct err *e)
{
	user_set_title(u);
	usession_log_authname(u);
	write_auth_info(u);
	net_set_tos(u->start->in, u->options.ipqos.bulk);
	user_announce_host_keys(u);
	user_start_timers(u);
	u->rest = rest_new(u->loop, &(struct rest_user){ moved, resting, u });
	/* What came behind the deciding request is waiting in the hand-off already. */
	carrier_pause(u->carrier, false);
	return loop_run(u->loop, e);
}
