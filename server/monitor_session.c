/* server/monitor_session.c: the monitor after authentication: opening the PAM session, what the user process is told, and the few
 * things it may ask for: a signature per re-key, proofs of host keys, terminals with their login records. */
#include "server/monitor_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "io/net.h"
#include "platform/loginrec.h"
#include "platform/pty.h"
#include "server/monitor_wire.h"
#include "server/proposals.h"

enum { PROVE_KEYS_MAX = HOST_KEYS_MAX, PROOF_MAX = 256 * 1024, SETUP_MAX = MON_BODY_MAX };

int monitor_open_session(struct monitor *m, struct err *e)
{
	int rc;

	/* The verdict was yes, and the connection is still the one it was given about. */
	if (!m->finished || m->handoff.size == 0)
		return err_set(e, ERR_USAGE, "no session without a verdict and a hand-off");
	if (!m->options.use_pam)
		return 0;
	if (!monitor_start_pam(m))
		return err_set(e, ERR_DENIED, "PAM does not work");
	rc = pam_auth_open_session(m->pam, e);
	/* Modules that want root's rights fail without them. The user of such a server is the one who started it: there is
	 * nothing that PAM could keep from them by this. */
	if (rc < 0 && !m->root) {
		log_info("%s: going on without, since sshd was not started as root", err_text(e));
		err_clear(e);
		rc = 0;
	}
	return rc;
}

static char *expand_chroot(const struct monitor *m, struct err *e)
{
	const struct account *a = &m->account;
	char uid[32];
	struct path_token tokens[] = { { 'h', a->home }, { 'u', a->name }, { 'U', uid }, { 0, NULL } };
	char *tilde = path_expand_tilde(m->options.chroot_directory, a->home, e), *path;

	(void)snprintf(uid, sizeof(uid), "%lu", (unsigned long)a->uid);
	path = tilde != NULL ? path_expand_tokens(tilde, tokens, e) : NULL;
	free(tilde);
	return path;
}

static void add_blobs(const struct host_keys *keys, struct str_list *out)
{
	for (size_t i = 0; i < keys->count; i++) {
		struct view blob = key_blob(keys->v[i].public_key);

		str_list_add_take(out, str_base64_encode(blob.p, blob.n));
	}
}

int monitor_put_user_setup(struct monitor *m, struct buf *out, struct err *e)
{
	const struct account *a = &m->account;
	struct buf config = BUF_INIT(SETUP_MAX);
	struct user_setup s = {
		.drop = m->root, .uid = a->uid, .gid = a->gid, .user = a->name, .home = a->home, .shell = a->shell,
		.user_is_root = a->uid == 0, .ends = m->ends, .host = m->host, .software = m->software,
		.session_id = { m->session_id, m->session_id_size },
		.host_key = key_blob(m->h->keys.v[m->host_key].public_key), .group_names = a->group_names,
		.key_options = m->key_options, .password_expired = m->password_expired, .use_pam = m->options.use_pam,
		.log_level = (int)log_level_get(), .debug = m->h->debug,
		.auth_info = m->auth_info, .ciphers = m->options.ciphers.names,
		.moduli_file = (char *)server_moduli_file(&m->options),
	};
	bool chrooted = m->root && m->options.chroot_directory != NULL;

	if (chrooted && (s.chroot_dir = expand_chroot(m, e)) == NULL)
		return ERR_USAGE;
	if (m->pam != NULL) {
		pam_auth_environment(m->pam, &s.pam_environment);
		s.login_messages = pam_auth_take_messages(m->pam);
	}
	add_blobs(&m->h->keys, &s.host_keys);
	server_config_put(m->h->config, &config);
	s.config = (struct view){ config.data, config.size };
	user_setup_put(&s, out);
	free(s.chroot_dir);
	str_list_clear(&s.pam_environment);
	str_list_clear(&s.host_keys);
	free(s.login_messages);
	if (!buf_ok(&config) || !buf_ok(out)) {
		buf_free(&config);
		return err_set(e, ERR_MEMORY, "setup of the session is too long");
	}
	buf_free(&config);
	return 0;
}

int monitor_serve_user(struct monitor *m, int fd, struct err *e)
{
	int rc;

	m->peer = fd;
	m->gate.state = MON_AT_SESSION;
	rc = monitor_take(m, e);
	m->peer = -1;
	return rc;
}

/* ---- signatures */

int monitor_on_rekey_sign(struct monitor *m, struct reader *r, struct err *e)
{
	struct view name = reader_string(r), blob = reader_string(r), hash = reader_string(r);
	const struct sig_alg *alg = sig_alg_find(name);
	struct buf sig = BUF_INIT(64 * 1024), answer = BUF_INIT(64 * 1024 + 16);
	int rc;

	if (reader_end(r, e, "request for a signature") < 0)
		return ERR_PEER;
	/* The host is the one of the first exchange: its other keys sign nothing here. */
	if (host_keys_find_blob(&m->h->keys, blob) != m->host_key)
		return err_set(e, ERR_PEER, "not the host key of the first exchange");
	rc = monitor_sign_hash(m, alg, blob, hash, &sig, e);
	buf_put_buf_string(&answer, &sig);
	if (rc == 0)
		rc = mon_send(m->peer, MON_SIGNATURE, &answer, e);
	buf_free(&sig);
	buf_free(&answer);
	return rc;
}

/* The algorithm for a proof: RSA keys sign with SHA-2 (OpenSSH's PROTOCOL). */
static const struct sig_alg *proof_algorithm(const struct key *k, bool want_sha256)
{
	const struct sig_alg *alg, *best = NULL;

	for (size_t i = 0; (alg = sig_alg_at(i)) != NULL; i++)
		if (!alg->legacy && sig_alg_fits(alg, k) &&
		    (best == NULL || (alg->hash == (want_sha256 ? DIGEST_SHA256 : DIGEST_SHA512))))
			best = alg;
	return best;
}

/* What is signed is put together here: the name, our session id, a key of ours. Nothing the user process says gets in. */
static bool prove_one(struct monitor *m, struct view blob, bool want_sha256, struct buf *signatures)
{
	int at = host_keys_find_blob(&m->h->keys, blob);
	const struct sig_alg *alg = at >= 0 ? proof_algorithm(m->h->keys.v[at].public_key, want_sha256) : NULL;
	struct buf data = BUF_INIT(64 * 1024), sig = BUF_INIT(64 * 1024);
	struct err e = { 0 };
	bool ok = false;

	if (alg == NULL)
		return false;
	buf_put_cstring(&data, "hostkeys-prove-00@openssh.com");
	buf_put_string(&data, m->session_id, m->session_id_size);
	buf_put_string(&data, blob.p, blob.n);
	if (buf_ok(&data) && host_keys_sign(&m->h->keys, at, alg, (struct view){ data.data, data.size }, &sig, &e) == 0) {
		buf_put_buf_string(signatures, &sig);
		ok = true;
	}
	buf_free(&data);
	buf_free(&sig);
	return ok;
}

int monitor_on_prove(struct monitor *m, struct reader *r, struct err *e)
{
	bool want_sha256 = reader_bool(r), ok = true;
	struct buf signatures = BUF_INIT(PROOF_MAX), answer = BUF_INIT(PROOF_MAX + 16);
	size_t n = 0;
	int rc;

	while (ok && reader_ok(r) && reader_left(r) > 0)
		ok = n++ < PROVE_KEYS_MAX && prove_one(m, reader_string(r), want_sha256, &signatures);
	buf_put_bool(&answer, ok && reader_ok(r) && n > 0 && buf_ok(&signatures));
	if (ok && buf_ok(&signatures))
		buf_put(&answer, signatures.data, signatures.size);
	rc = mon_send(m->peer, MON_PROOF, &answer, e);
	buf_free(&signatures);
	buf_free(&answer);
	return rc;
}

/* ---- terminals */

static struct loginrec login_record(const struct monitor *m, const char *tty)
{
	bool numeric = m->h->host_length == 0;
	const char *host = numeric || strlen(m->host) > m->h->host_length ? m->ends.remote_ip : m->host;

	return (struct loginrec){
		.pid = getpid(), .tty = tty, .user = m->account.name, .uid = m->account.uid, .host = host,
		.address = m->remote.ss_family != AF_UNSPEC ? (const struct sockaddr *)&m->remote : NULL,
	};
}

static struct monitor_pty *free_pty_slot(struct monitor *m)
{
	size_t max = m->options.max_sessions < MONITOR_PTYS_MAX ? m->options.max_sessions : MONITOR_PTYS_MAX;

	for (size_t i = 0; i < max; i++)
		if (m->ptys[i].name == NULL)
			return &m->ptys[i];
	return NULL;
}

static bool open_pty(struct monitor *m, struct pty *p, struct pty_grant *grant)
{
	struct monitor_pty *slot = m->options.permit_tty && m->key_options.pty ? free_pty_slot(m) : NULL;
	struct loginrec record;
	struct loginrec_last last;
	struct err e = { 0 };

	*p = (struct pty){ .master = -1, .slave = -1 };
	if (slot == NULL) {
		log_info("terminal refused to %s: none is permitted or all are in use", m->account.name);
		return false;
	}
	if (pty_open(p, &e) < 0 || (m->root && pty_give(p, m->account.uid, m->account.gid, &e) < 0)) {
		log_error("terminal for %s: %s", m->account.name, err_text(&e));
		pty_close(p);
		return false;
	}
	slot->name = mem_strdup(p->name);
	slot->device = pty_hold(p);
	record = login_record(m, p->name);
	if (loginrec_read_last(m->account.uid, m->account.name, NULL, &last)) {
		grant->last_login = last.when;
		grant->last_host = mem_strdup(last.host);
	}
	if (m->root)
		loginrec_login(&record, NULL);
	if (m->pam != NULL)
		pam_auth_set_tty(m->pam, p->name);
	grant->name = mem_strdup(p->name);
	return true;
}

int monitor_on_pty(struct monitor *m, struct reader *r, struct err *e)
{
	struct pty_grant grant = { 0 };
	struct buf b = BUF_INIT(4096);
	struct pty p;
	int rc = reader_end(r, e, "request for a terminal");

	if (rc < 0)
		return rc;
	grant.ok = open_pty(m, &p, &grant);
	pty_grant_put(&grant, &b);
	rc = mon_send(m->peer, MON_PTY_GRANT, &b, e);
	if (rc == 0 && grant.ok) {
		const int fds[2] = { p.master, p.slave };
		rc = net_send_fds(m->peer, fds, 2, e);
	}
	if (grant.ok)
		pty_close(&p);
	buf_free(&b);
	pty_grant_clear(&grant);
	return rc;
}

static void close_pty(struct monitor *m, struct monitor_pty *slot)
{
	struct loginrec record = login_record(m, slot->name);

	if (m->root)
		loginrec_logout(&record, NULL);
	pty_take_back(slot->name, slot->device);
	free(slot->name);
	slot->name = NULL;
}

int monitor_on_pty_done(struct monitor *m, struct reader *r, struct err *e)
{
	struct view name = reader_string(r);

	if (reader_end(r, e, "end of a terminal") < 0)
		return ERR_PEER;
	for (size_t i = 0; i < MONITOR_PTYS_MAX; i++)
		if (m->ptys[i].name != NULL && view_is(name, m->ptys[i].name)) {
			close_pty(m, &m->ptys[i]);
			return 0;
		}
	return err_set(e, ERR_PEER, "the end of a terminal that was not given");
}

void monitor_end_session(struct monitor *m)
{
	for (size_t i = 0; i < MONITOR_PTYS_MAX; i++)
		if (m->ptys[i].name != NULL)
			close_pty(m, &m->ptys[i]);
}
