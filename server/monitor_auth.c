/* server/monitor_auth.c: judging one USERAUTH_REQUEST after the other (RFC 4252 §5). Here and in the three method files it is
 * decided who gets in; no other process has a say, and no message says "authenticated". */
#include "server/monitor_private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "platform/loginrec.h"
#include "server/monitor_wire.h"
#include "server/proposals.h"
#include "wire/messages.h"

enum { BANNER_MAX = 64 * 1024 };

void monitor_add_banner(struct monitor *m, const char *text)
{
	char *joined;

	if (*text == '\0')
		return;
	joined = str_printf("%s%s", m->banner != NULL ? m->banner : "", text);
	free(m->banner);
	m->banner = joined;
}

static void read_banner(struct monitor *m)
{
	struct err e = { 0 };
	char *text;
	size_t n;

	if (m->options.banner == NULL)
		return;
	if (path_read_file(m->options.banner, BANNER_MAX, &text, &n, &e) < 0) {
		log_debug("banner: %s", err_text(&e));
		return;
	}
	if (strlen(text) == n)
		monitor_add_banner(m, text);
	free(text);
}

/* ---- the first request: who is it? */

static char *enabled_methods(const struct server_options *o)
{
	/* OpenSSH's order of offers. */
	return str_printf("%s%s%s", o->pubkey_authentication ? "publickey," : "",
		o->password_authentication ? "password," : "",
		o->kbd_interactive_authentication ? "keyboard-interactive," : "");
}

static int match_options(struct monitor *m, struct err *e)
{
	struct server_subject who = {
		.user = m->user, .invalid_user = !m->account.exists,
		.groups = m->account.exists ? &m->account.group_names : NULL, .host = m->host,
		.address = m->ends.remote_ip, .local_address = m->ends.local_ip, .local_port = m->ends.local_port,
	};
	struct server_options matched = { 0 };
	int rc = server_config_match(m->h->config, &who, &matched, e);

	if (rc < 0) {
		server_options_clear(&matched);
		return rc;
	}
	server_options_clear(&m->options);
	m->options = matched;
	m->options_matched = true;
	if (m->h->debug_level == 0 && !m->h->quiet)
		log_set_level((enum log_level)m->options.log_level);
	return 0;
}

static void read_password_entry(struct monitor *m)
{
	if (m->options.use_pam || m->password_read)
		return;
	m->password_read = true;
	password_lookup(m->account.name, m->account.passwd_field, clock_wall() / 86400, &m->password);
	if (!m->account.exists) {
		/* Whatever some database says about a user that is not there does not count. */
		mem_free_string(m->password.hash);
		m->password.hash = NULL;
	}
}

static void judge_account(struct monitor *m)
{
	struct account_rules rules = { .options = &m->options, .host = m->host, .ip = m->ends.remote_ip, .root = m->root };

	read_password_entry(m);
	rules.password = m->options.use_pam ? NULL : &m->password;
	m->allowed = account_permitted(&m->account, &rules);
	if (!m->account.exists) {
		char *shown = str_escape_log(m->user, strlen(m->user), 128);

		log_info("Invalid user %s from %s port %u", shown, m->ends.remote_ip, m->ends.remote_port);
		free(shown);
	}
}

static int meet_user(struct monitor *m, const struct userauth_request *q, struct err *e)
{
	char *colon, *enabled;
	int rc;

	m->user_wire = view_strdup(q->user);
	m->service = view_strdup(q->service);
	m->user = mem_strdup(m->user_wire);
	colon = strchr(m->user, ':');
	if (colon != NULL)               /* "name:style" */
		*colon = '\0';
	m->user_known = true;
	account_lookup(m->user, &m->account);
	rc = match_options(m, e);
	if (rc < 0) {
		log_error("configuration for %s: %s", m->ends.remote_ip, err_text(e));
		return rc;
	}
	judge_account(m);
	enabled = enabled_methods(&m->options);
	rc = auth_methods_start(&m->methods, &m->options.authentication_methods, enabled, e);
	free(enabled);
	if (rc < 0) {
		log_error("%s", err_text(e));
		return rc;
	}
	read_banner(m);
	m->send_sig_algs = true;
	if (m->o.title != NULL) {
		char *title = str_printf("%s [priv]", m->allowed ? m->user : "unknown");

		m->o.title(m->o.ctx, title);
		free(title);
	}
	return 0;
}

/* ---- answers */

static int send_verdict(struct monitor *m, struct mon_verdict *v, struct err *e)
{
	struct buf b = BUF_INIT(256 * 1024);
	char *sig_algs = m->send_sig_algs ? server_sig_algs(&m->options) : NULL;
	int rc;

	v->banner = m->banner;
	v->sig_algs = sig_algs;
	mon_verdict_put(v, &b);
	rc = mon_send(m->peer, MON_VERDICT, &b, e);
	buf_free(&b);
	free(sig_algs);
	free(m->banner);
	m->banner = NULL;
	m->send_sig_algs = false;
	return rc;
}

static int send_disconnect(struct monitor *m, uint32_t reason, const char *text, struct err *e)
{
	struct mon_verdict v = { .kind = MON_DISCONNECT, .reason = reason };
	int rc;

	v.text = mem_strdup(text);
	rc = send_verdict(m, &v, e);
	free(v.text);
	m->gate.state = MON_AT_OVER;
	return rc;
}

/* With a line that says why. */
static int turn_away(struct monitor *m, uint32_t reason, const char *text, struct err *e)
{
	char *who = monitor_who(m);

	log_info("Disconnecting %s%s port %u: %s [preauth]", who, m->ends.remote_ip, m->ends.remote_port, text);
	free(who);
	return send_disconnect(m, reason, text, e);
}

static int send_no(struct monitor *m, bool partial, struct err *e)
{
	struct mon_verdict v = { .kind = MON_NO, .partial = partial };
	int rc;

	v.methods = auth_methods_offer(&m->methods);
	rc = send_verdict(m, &v, e);
	free(v.methods);
	return rc;
}

static int too_many_failures(struct monitor *m, struct err *e)
{
	char *user = str_escape_log(m->user, strlen(m->user), 128);

	log_error("maximum authentication attempts exceeded for %s%s from %s port %u ssh2 [preauth]",
		m->allowed ? "" : "invalid user ", user, m->ends.remote_ip, m->ends.remote_port);
	free(user);
	return turn_away(m, DISCONNECT_PROTOCOL_ERROR, "Too many authentication failures", e);
}

/* A refusal of "none" tells by its time as much about the account as any other, but every login of most clients begins with one:
 * it is rounded up to less. */
static void wait_before_no(struct monitor *m, bool none)
{
	uint64_t base = auth_delay_base_us(m->h->secret, sizeof(m->h->secret), m->user) / (none ? 4 : 1);
	uint64_t us = auth_delay_us(base, clock_mono_us() - m->request_start_us);

	if (us > 0)
		(void)usleep((useconds_t)us);
}

/* ---- what a success means */

bool monitor_root_permitted(const struct monitor *m, const char *method)
{
	if (m->account.uid != 0)
		return true;
	switch (m->options.permit_root_login) {
	case SERVER_YES:
		return true;
	case SERVER_PROHIBIT_PASSWORD:
		return strcmp(method, "publickey") == 0 || strcmp(method, "hostbased") == 0;
	case SERVER_FORCED_COMMANDS_ONLY:
		return strcmp(method, "publickey") == 0 && m->have_key_options && m->key_options.command != NULL;
	default:
		return false;
	}
}

/* The account may still be refused although the method succeeded. */
static bool success_counts(struct monitor *m, const char *method, bool with_conversation)
{
	if (!m->allowed) {
		/* Cannot happen: every method asks. If it does, it must not matter. */
		log_error("method %s succeeded for an account that is not allowed", method);
		return false;
	}
	if (m->account.uid == 0 && m->options.permit_root_login == SERVER_FORCED_COMMANDS_ONLY &&
	    monitor_root_permitted(m, method))
		log_info("Root login accepted for forced command.");
	if (!monitor_root_permitted(m, method)) {
		log_info("ROOT LOGIN REFUSED FROM %s port %u", m->ends.remote_ip, m->ends.remote_port);
		log_info("ROOT LOGIN REFUSED FROM %s port %u [preauth]", m->ends.remote_ip, m->ends.remote_port);
		return false;
	}
	return !m->options.use_pam || monitor_pam_account(m, with_conversation) == AUTH_YES;
}

/* For ExposeAuthInfo. */
static void note_success(struct monitor *m, const char *method, const char *info)
{
	char *more = str_printf("%s%s%s%s\n", m->auth_info != NULL ? m->auth_info : "", method, info != NULL ? " " : "",
		info != NULL ? info : "");

	free(m->auth_info);
	m->auth_info = more;
}

/* One method and how it is called in lists and in the log. */
struct attempt {
	const char *method;      /* in AuthenticationMethods */
	const char *sub;         /* "pam", or NULL */
	const char *shown;       /* in the log */
	struct monitor_key_names key;
	enum auth_outcome outcome;
};

static void try_method(struct monitor *m, const struct userauth_request *q, struct attempt *a)
{
	a->outcome = AUTH_NO;
	a->method = a->shown = "none";
	switch (q->kind) {
	case USERAUTH_NONE:
		a->outcome = monitor_try_none(m);
		return;
	case USERAUTH_PUBLICKEY:
	case USERAUTH_HOSTBOUND:
		a->method = a->shown = "publickey";
		if (auth_methods_may(&m->methods, a->method, NULL))
			a->outcome = monitor_try_publickey(m, q, &a->key);
		return;
	case USERAUTH_PASSWORD:
		a->method = a->shown = "password";
		if (auth_methods_may(&m->methods, a->method, NULL))
			a->outcome = monitor_try_password(m, q);
		return;
	case USERAUTH_KBDINT:
		a->method = "keyboard-interactive";
		a->sub = "pam";
		a->shown = "keyboard-interactive/pam";
		if (auth_methods_may(&m->methods, a->method, a->sub))
			a->outcome = monitor_try_kbdint(m);
		return;
	default:
		a->method = a->shown = "other";
		return;
	}
}

static int conclude_yes(struct monitor *m, const struct attempt *a, struct err *e)
{
	struct mon_verdict v = { .kind = MON_YES };
	/* An empty password that is let in by "none" is a password in the eyes of the lists. */
	const char *method = strcmp(a->method, "none") == 0 ? "password" : a->method;
	bool complete = auth_methods_strike(&m->methods, method, a->sub);

	if (!complete) {
		monitor_log_auth(m, VERB_PARTIAL, a->shown, a->key.text);
		return send_no(m, true, e);
	}
	monitor_log_auth(m, VERB_ACCEPTED, a->shown, a->key.text);
	m->finished = true;
	m->gate.state = MON_AT_ACCEPTED;
	return send_verdict(m, &v, e);
}

/* btmp, where there is one. */
static void record_failure(struct monitor *m)
{
	if (m->root)
		loginrec_failure(m->user, "ssh:notty", m->host,
			m->remote.ss_family != AF_UNSPEC ? (const struct sockaddr *)&m->remote : NULL, NULL);
}

static int conclude_no(struct monitor *m, const struct userauth_request *q, const struct attempt *a, struct err *e)
{
	bool first_none = q->kind == USERAUTH_NONE && m->requests == 1;
	bool key = q->kind == USERAUTH_PUBLICKEY || q->kind == USERAUTH_HOSTBOUND;
	int rc;

	if (q->kind == USERAUTH_PASSWORD || q->kind == USERAUTH_KBDINT)
		record_failure(m);
	if (q->kind == USERAUTH_PASSWORD || q->kind == USERAUTH_KBDINT || (key && m->allowed && a->key.text != NULL))
		monitor_log_auth(m, VERB_FAILED, a->shown, a->key.text);
	if (!first_none && ++m->failures >= m->options.max_auth_tries)
		return too_many_failures(m, e);
	wait_before_no(m, q->kind == USERAUTH_NONE);
	rc = send_no(m, false, e);
	/* While the client thinks about it PAM can load its modules: they are needed whatever method comes. For those who are not
	 * there or not let in as well, or the time of the next answer would tell them from others. */
	if (rc == 0 && first_none && m->options.use_pam)
		(void)monitor_start_pam(m);
	return rc;
}

static int judge(struct monitor *m, const struct userauth_request *q, struct err *e)
{
	struct attempt a = { 0 };
	int rc;

	try_method(m, q, &a);
	if (a.outcome == AUTH_YES && !success_counts(m, a.method, q->kind == USERAUTH_KBDINT))
		a.outcome = AUTH_NO;
	if (m->err.code != 0 || m->gate.state == MON_AT_OVER)
		a.outcome = AUTH_BROKEN;
	switch (a.outcome) {
	case AUTH_YES:
		note_success(m, a.method, a.key.line);
		rc = conclude_yes(m, &a, e);
		break;
	case AUTH_KEY_OK:
		monitor_log_auth(m, VERB_POSTPONED, a.shown, NULL);
		rc = send_verdict(m, &(struct mon_verdict){ .kind = MON_KEY_OK }, e);
		break;
	case AUTH_BROKEN:
		rc = m->err.code != 0 ? err_set(e, m->err.code, "%s", err_text(&m->err)) : 0;
		break;
	default:
		rc = conclude_no(m, q, &a, e);
		break;
	}
	free(a.key.text);
	free(a.key.line);
	return rc;
}

/* RFC 4252 §5: user and service may change between requests; we, like OpenSSH, end the connection then. */
static int refuse_change(struct monitor *m, const struct userauth_request *q, struct err *e)
{
	char *user = str_escape_log(q->user.p, q->user.n, 64), *service = str_escape_log(q->service.p, q->service.n, 64);
	char *was = str_escape_log(m->user_wire, strlen(m->user_wire), 64);
	char *text = str_printf("Change of username or service not allowed: (%s,%s) -> (%s,%s)", was, m->service, user, service);
	int rc;

	log_info("Disconnecting %s port %u: %s [preauth]", m->ends.remote_ip, m->ends.remote_port, text);
	rc = send_disconnect(m, DISCONNECT_PROTOCOL_ERROR, text, e);
	free(user);
	free(service);
	free(was);
	free(text);
	return rc;
}

int monitor_on_auth(struct monitor *m, struct reader *r, struct err *e)
{
	struct userauth_request q;
	int rc;

	m->request_start_us = clock_mono_us();
	if (userauth_request_get(r, &q, e) < 0)
		return ERR_PEER;
	m->requests++;
	m->attempted |= q.kind != USERAUTH_NONE;
	if (!m->user_known) {
		rc = meet_user(m, &q, e);
		if (rc < 0)
			return rc;
		if (!view_is(q.service, USERAUTH_CONNECTION))
			return turn_away(m, DISCONNECT_SERVICE_NOT_AVAILABLE, "there is no such service", e);
	} else if (!view_is(q.user, m->user_wire) || !view_is(q.service, m->service)) {
		return refuse_change(m, &q, e);
	}
	/* The table lets no more through: the peer is told while it can be. */
	if (m->requests >= MONITOR_REQUESTS_MAX)
		return too_many_failures(m, e);
	if (m->options.refuse_connection) {
		char *user = str_escape_log(m->user, strlen(m->user), 128);

		log_info("administratively prohibited connection for %s%s from %s port %u", m->allowed ? "" : "invalid user ",
			user, m->ends.remote_ip, m->ends.remote_port);
		free(user);
		m->refused_by_rule = true;
		return send_disconnect(m, DISCONNECT_PROTOCOL_ERROR, "the server refuses this connection", e);
	}
	return judge(m, &q, e);
}
