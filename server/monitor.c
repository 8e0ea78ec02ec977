/* server/monitor.c: the monitor's life before and during authentication: setup of the pre-auth process, the loop over its
 * requests, its log lines, the first signature and the hand-off. */
#include "server/monitor_private.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "io/net.h"
#include "server/monitor_wire.h"
#include "server/proposals.h"
#include "version.h"

enum {
	LOG_BUDGET = 256 * 1024,         /* of a whole connection before authentication */
	LOG_BUDGET_DEBUG = 64 * 1024 * 1024,
	LOG_LINE_MAX = 2048,
	HANDOFF_MAX = MON_BODY_MAX
};

/* A name of the peer that also leads back to its address; the address when there is none. */
static char *host_name_of(const struct sockaddr_storage *remote, const char *ip)
{
	char name[NI_MAXHOST];
	socklen_t size = remote->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	struct net_addresses back = { 0 };
	bool confirmed = false;

	if ((remote->ss_family != AF_INET && remote->ss_family != AF_INET6) ||
	    getnameinfo((const struct sockaddr *)remote, size, name, sizeof(name), NULL, 0, NI_NAMEREQD) != 0)
		return mem_strdup(ip);
	str_lower(name);
	if (net_resolve(name, 0, remote->ss_family, false, &back, NULL) < 0) {
		log_info("reverse mapping checking getaddrinfo for %s [%s] failed.", name, ip);
		return mem_strdup(ip);
	}
	for (size_t i = 0; i < back.count && !confirmed; i++) {
		char text[NI_MAXHOST];
		uint16_t port;

		net_format(&back.v[i], text, sizeof(text), &port);
		confirmed = strcmp(text, ip) == 0;
	}
	net_addresses_free(&back);
	if (!confirmed)
		log_info("Address %s maps to %s, but this does not map back to the address.", ip, name);
	return mem_strdup(confirmed ? name : ip);
}

static void read_endpoints(struct monitor *m, int fd)
{
	char text[NI_MAXHOST];
	socklen_t size = sizeof(m->remote);

	net_peer(fd, text, sizeof(text), &m->ends.remote_port);
	m->ends.remote_ip = mem_strdup(text);
	net_local(fd, text, sizeof(text), &m->ends.local_port);
	m->ends.local_ip = mem_strdup(text);
	if (getpeername(fd, (struct sockaddr *)&m->remote, &size) < 0)
		m->remote.ss_family = AF_UNSPEC;
}

struct monitor *monitor_new(const struct monitor_options *o, struct err *e)
{
	struct monitor *m = mem_zalloc(sizeof(*m));
	const struct server_options *global = server_config_options(o->handover->config);

	(void)e;
	m->o = *o;
	m->h = o->handover;
	m->root = geteuid() == 0;
	m->peer = -1;
	m->host_key = -1;
	m->log_budget = m->h->debug_level > 0 || global->log_level >= LOG_LEVEL_DEBUG1 ? LOG_BUDGET_DEBUG : LOG_BUDGET;
	m->handoff = BUF_INIT(HANDOFF_MAX);
	key_options_init(&m->key_options);
	server_options_copy(&m->options, global);
	m->software = server_software(global);
	read_endpoints(m, o->connection);
	m->host = global->use_dns ? host_name_of(&m->remote, m->ends.remote_ip) : mem_strdup(m->ends.remote_ip);
	return m;
}

static void clear_answers(struct monitor *m)
{
	for (size_t i = 0; i < PAM_PROMPTS_MAX; i++) {
		mem_free_string(m->answers[i]);
		m->answers[i] = NULL;
	}
}

void monitor_free(struct monitor *m)
{
	if (m == NULL)
		return;
	monitor_end_session(m);
	pam_auth_free(m->pam);
	clear_answers(m);
	endpoints_clear(&m->ends);
	free(m->host);
	free(m->software);
	free(m->user_wire);
	free(m->service);
	free(m->user);
	account_clear(&m->account);
	password_entry_clear(&m->password);
	server_options_clear(&m->options);
	auth_methods_clear(&m->methods);
	str_list_clear(&m->used_keys);
	key_options_clear(&m->key_options);
	free(m->auth_info);
	free(m->banner);
	buf_free(&m->handoff);
	mem_wipe(m->session_id, sizeof(m->session_id));
	free(m);
}

const struct account *monitor_account(const struct monitor *m) { return &m->account; }
const struct server_options *monitor_options(const struct monitor *m) { return &m->options; }
const struct endpoints *monitor_endpoints(const struct monitor *m) { return &m->ends; }

bool monitor_is_over(const struct monitor *m)
{
	return m->gate.state == MON_AT_OVER;
}

int monitor_exit_code(const struct monitor *m)
{
	if (m->finished)
		return 0;
	if (m->refused_by_rule)
		return 6;
	if (m->attempted)
		return 5;
	if (m->user_known && !m->allowed)
		return 7;
	return 255;
}

/* ---- the pre-auth process */

static void add_blobs(const struct host_keys *keys, struct str_list *out)
{
	for (size_t i = 0; i < keys->count; i++) {
		struct view blob = key_blob(keys->v[i].public_key);

		str_list_add_take(out, str_base64_encode(blob.p, blob.n));
	}
}

int monitor_put_preauth_setup(struct monitor *m, struct buf *out, struct err *e)
{
	struct preauth_setup s = { .trap = m->h->debug, .log_level = (int)log_level_get() };
	int rc = 0;

	if (m->root) {
		rc = server_privsep_user(&s.uid, &s.gid, e);
		s.drop = true;
		s.chroot_dir = mem_strdup(server_privsep_path());
	}
	s.log_to_file = m->h->log_stderr;
	s.ends = m->ends;
	s.software = m->software;
	s.server_sig_algs = server_sig_algs(&m->options);
	s.moduli_file = mem_strdup(server_moduli_file(&m->options));
	add_blobs(&m->h->keys, &s.host_keys);
	server_proposal(&m->options, &m->h->keys, &s.proposal);
	if (rc == 0)
		preauth_setup_put(&s, out);
	/* Borrowed, not ours to free twice. */
	memset(&s.ends, 0, sizeof(s.ends));
	s.software = NULL;
	preauth_setup_clear(&s);
	return rc;
}

int monitor_take(struct monitor *m, struct err *e)
{
	const struct mon_rule *rule;
	struct buf body;
	struct reader r;
	uint8_t type;
	uint32_t size;
	int rc = mon_recv_head(m->peer, &type, &size, e);

	if (rc < 0)
		return rc;
	rc = mon_gate_admit(&m->gate, type, size, &rule, e);
	if (rc < 0) {
		log_error("the unprivileged process for %s port %u broke the rules: %s", m->ends.remote_ip, m->ends.remote_port,
			err_text(e));
		return rc;
	}
	body = BUF_INIT((size_t)rule->size + 64);
	rc = mon_recv_body(m->peer, size, &body, e);
	if (rc == 0) {
		reader_init(&r, body.data, body.size);
		rc = rule->handle(m, &r, e);
		if (rc == ERR_PEER)
			log_error("request \"%s\" of the unprivileged process for %s port %u is malformed: %s", rule->name,
				m->ends.remote_ip, m->ends.remote_port, err_text(e));
	}
	buf_free(&body);
	return rc;
}

int monitor_serve_preauth(struct monitor *m, int fd, struct err *e)
{
	int rc;

	m->peer = fd;
	do {
		rc = monitor_take(m, e);
	} while (rc == 0 && m->handoff.size == 0);
	m->peer = -1;
	if (rc == 0)
		return 1;
	if (rc != ERR_CLOSED)
		return rc;
	/* It went without a word: it was told to, or it has crashed. Its exit status tells. */
	err_clear(e);
	return 0;
}

/* Whatever it is, it reaches the log as one printable line. The sender has escaped what is the peer's, backslashes too, so that
 * a second time would only make it hard to read. */
static char *printable(struct view text)
{
	char *shown = mem_strndup((const char *)text.p, text.n < LOG_LINE_MAX ? text.n : LOG_LINE_MAX);

	for (char *p = shown; *p != '\0'; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	return shown;
}

int monitor_on_log(struct monitor *m, struct reader *r, struct err *e)
{
	uint8_t level = reader_u8(r);
	struct view text = reader_string(r);
	bool before = m->gate.state != MON_AT_SESSION;
	char *shown;

	if (reader_end(r, e, "log message") < 0)
		return ERR_PEER;
	if (level <= LOG_LEVEL_QUIET || level > LOG_LEVEL_DEBUG3)
		return err_set(e, ERR_PEER, "log level %u", level);
	if (before && m->log_budget == 0)
		return 0;
	if (before && text.n + 64 > m->log_budget) {
		m->log_budget = 0;
		log_info("further messages of the process that serves %s are left out [preauth]", m->ends.remote_ip);
		return 0;
	}
	if (before)
		m->log_budget -= text.n + 64;
	shown = printable(text);
	log_at((enum log_level)level, "%s%s", shown, before ? " [preauth]" : "");
	free(shown);
	return 0;
}

int monitor_on_end(struct monitor *m, struct reader *r, struct err *e)
{
	uint8_t kind = reader_u8(r);
	uint32_t code = reader_u32(r);
	struct view text = reader_string(r);
	char *shown;

	if (reader_end(r, e, "end of the connection") < 0)
		return ERR_PEER;
	if (kind >= MON_END_COUNT)
		return err_set(e, ERR_PEER, "end of kind %u", kind);
	shown = printable(text);
	monitor_log_end(m, kind, code, shown);
	free(shown);
	m->gate.state = MON_AT_OVER;
	return 0;
}

/* The hash of the first exchange is the session id of the connection (RFC 4253 §7.2): nobody has to tell us. */
int monitor_on_first_sign(struct monitor *m, struct reader *r, struct err *e)
{
	struct view name = reader_string(r), blob = reader_string(r), hash = reader_string(r);
	const struct sig_alg *alg = sig_alg_find(name);
	struct buf sig = BUF_INIT(64 * 1024), answer = BUF_INIT(64 * 1024 + 16);
	int rc;

	if (reader_end(r, e, "request for a signature") < 0)
		return ERR_PEER;
	rc = monitor_sign_hash(m, alg, blob, hash, &sig, e);
	if (rc == 0) {
		memcpy(m->session_id, hash.p, hash.n);
		m->session_id_size = hash.n;
		m->host_key = host_keys_find_blob(&m->h->keys, blob);
		m->gate.state = MON_AT_AUTH;
		buf_put_buf_string(&answer, &sig);
		rc = mon_send(m->peer, MON_SIGNATURE, &answer, e);
	}
	buf_free(&sig);
	buf_free(&answer);
	return rc;
}

int monitor_sign_hash(struct monitor *m, const struct sig_alg *alg, struct view blob, struct view hash, struct buf *out,
	struct err *e)
{
	int at = host_keys_find_blob(&m->h->keys, blob);

	/* Only what can be an exchange hash: nothing that is signed for another purpose is this short (the data of a user
	 * authentication or of a host key proof begins with strings that alone are longer). */
	if (hash.n != 20 && hash.n != 32 && hash.n != 48 && hash.n != 64)
		return err_set(e, ERR_PEER, "%zu bytes are no exchange hash", hash.n);
	if (alg == NULL || at < 0)
		return err_set(e, ERR_PEER, "no such host key");
	if (!sig_alg_fits(alg, m->h->keys.v[at].public_key))
		return err_set(e, ERR_PEER, "the host key does not make %s signatures", alg->name);
	return host_keys_sign(&m->h->keys, at, alg, hash, out, e);
}

int monitor_on_handoff(struct monitor *m, struct reader *r, struct err *e)
{
	struct view blob = reader_rest(r);

	if (blob.n == 0)
		return err_set(e, ERR_PEER, "empty hand-off");
	buf_put(&m->handoff, blob.p, blob.n);
	m->gate.state = MON_AT_OVER;
	return buf_ok(&m->handoff) ? 0 : err_set(e, ERR_MEMORY, "hand-off is too long");
}

void monitor_take_handoff(struct monitor *m, struct buf *out)
{
	*out = m->handoff;
	m->handoff = BUF_INIT(HANDOFF_MAX);
}
