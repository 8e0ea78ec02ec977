/* server/role_preauth.c: the unprivileged process that talks to a peer nobody knows yet. It runs the transport and the
 * wire side of authentication, knows no secrets but the keys of its own connection, and can ask the monitor only what
 * monitor_table.c allows. */
#include "server/roles.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include "auth/userauth_msg.h"
#include "auth/userauth_server.h"
#include "base/log.h"
#include "base/mem.h"
#include "caution.h"
#include "channel/carrier.h"
#include "channel/channel.h"
#include "cipher.h"
#include "crypto/crypto.h"
#include "crypto/rand.h"
#include "io/loop.h"
#include "kex/moduli.h"
#include "platform/privdrop.h"
#include "platform/sandbox.h"
#include "server/monitor_msg.h"
#include "server/monitor_wire.h"
#include "transport.h"

enum { SETUP_MAX = 1024 * 1024, FLUSH_MS = 30 * 1000, BLOB_MAX = 64 * 1024, ANSWER_MAX = 512 * 1024 };

struct preauth {
	struct worker_start *start;
	int monitor;
	struct preauth_setup setup;
	struct buf host_blobs[32];
	size_t host_blob_count;
	struct loop *loop;
	struct loop_fd *monitor_watch;
	struct moduli *moduli;           /* NULL: no file */
	struct transport *transport;
	struct carrier *carrier;
	struct userauth_server *userauth;
	struct err err;                  /* of the connection, if authentication gave it */
	struct mon_verdict verdict;      /* what the current struct userauth_verdict borrows from */
	struct buf question;
	char *question_banner, *question_algs;
	bool accepted, ended;
};

/* ---- what the transport asks */

static int sign_hash(void *ctx, const struct sig_alg *alg, struct view key_blob, struct view hash, struct buf *out,
	struct err *e)
{
	struct preauth *p = ctx;

	return mon_ask_signature(p->monitor, alg, key_blob, hash, out, e);
}

static int host_key_for(void *ctx, const struct sig_alg *alg, struct view *blob)
{
	struct preauth *p = ctx;

	for (size_t i = 0; i < p->host_blob_count; i++) {
		struct reader r;

		reader_init(&r, p->host_blobs[i].data, p->host_blobs[i].size);
		if (!view_is(reader_string(&r), alg->key_name))
			continue;
		*blob = (struct view){ p->host_blobs[i].data, p->host_blobs[i].size };
		return 0;
	}
	return ERR_NONE_FOUND;
}

static void keys_changed(void *ctx)
{
	struct preauth *p = ctx;
	const struct agreement *a = transport_agreement(p->transport);
	const struct endpoints *ends = &p->setup.ends;
	char *software = str_escape_log(transport_peer_software(p->transport),
		strlen(transport_peer_software(p->transport)), 100);

	/* HPN-README 7 */
	log_info("SSH: Server;Ltype: Version;Remote: %s-%u;Protocol: 2.0;Client: %s", ends->remote_ip, ends->remote_port,
		software);
	log_info("SSH: Server;Ltype: Kex;Remote: %s-%u;Enc: %s;MAC: %s;Comp: %s", ends->remote_ip, ends->remote_port,
		a->cipher_c2s, a->mac_c2s, a->compress_c2s);
	caution_log(a, ends->remote_ip);
	free(software);
}

/* ---- what authentication asks: the monitor */

static int ask_verdict(struct preauth *p, uint8_t type, const struct buf *body, struct err *e)
{
	uint8_t got;
	uint32_t size;
	struct buf b = BUF_INIT(ANSWER_MAX);
	struct reader r;
	int rc = mon_send(p->monitor, type, body, e);

	mon_verdict_clear(&p->verdict);
	buf_reset(&p->question);
	if (rc == 0)
		rc = mon_recv_head(p->monitor, &got, &size, e);
	if (rc == 0 && got != MON_VERDICT && got != MON_PROMPT)
		rc = err_set(e, ERR_PEER, "message %u instead of a verdict", got);
	if (rc == 0)
		rc = mon_recv_body(p->monitor, size, &b, e);
	reader_init(&r, b.data, b.size);
	if (rc == 0 && got == MON_VERDICT)
		rc = mon_verdict_get(&r, &p->verdict, e);
	if (rc == 0 && got == MON_PROMPT) {
		struct view question;

		p->verdict.banner = reader_cstring(&r, ANSWER_MAX);
		p->verdict.sig_algs = reader_cstring(&r, ANSWER_MAX);
		question = reader_string(&r);
		buf_put(&p->question, question.p, question.n);
		rc = reader_end(&r, e, "question");
	}
	buf_free(&b);
	return rc < 0 ? rc : got == MON_PROMPT;
}

static int fill_verdict(struct preauth *p, int rc, struct userauth_verdict *out)
{
	static const enum userauth_verdict_kind kinds[MON_VERDICT_COUNT] = {
		[MON_NO] = USERAUTH_REFUSED, [MON_YES] = USERAUTH_ACCEPTED, [MON_KEY_OK] = USERAUTH_KEY_OK,
		[MON_DISCONNECT] = USERAUTH_DISCONNECT,
	};
	const struct mon_verdict *v = &p->verdict;

	if (rc < 0)
		return rc;
	*out = (struct userauth_verdict){
		.kind = rc == 1 ? USERAUTH_QUESTION : kinds[v->kind], .banner = v->banner, .sig_algs = v->sig_algs,
		.methods = v->methods, .partial = v->partial, .reason = v->reason, .text = v->text,
		.question = { p->question.data, p->question.size },
	};
	return 0;
}

static int judge_body(struct preauth *p, uint8_t type, struct view body, struct userauth_verdict *out, struct err *e)
{
	struct buf b = BUF_INIT(256 * 1024);
	int rc;

	buf_put(&b, body.p, body.n);
	rc = ask_verdict(p, type, &b, e);
	buf_free(&b);
	return fill_verdict(p, rc, out);
}

static int judge_request(void *ctx, struct view body, struct userauth_verdict *out, struct err *e)
{
	return judge_body(ctx, MON_AUTH, body, out, e);
}

static int judge_answers(void *ctx, struct view body, struct userauth_verdict *out, struct err *e)
{
	return judge_body(ctx, MON_ANSWERS, body, out, e);
}

static int judge_abandon(void *ctx, struct userauth_verdict *out, struct err *e)
{
	struct preauth *p = ctx;

	return fill_verdict(p, ask_verdict(p, MON_ABORT, NULL, e), out);
}

/* ---- the connection */

static int take_message(void *ctx, const struct message *m)
{
	struct preauth *p = ctx;
	int rc = userauth_server_message(p->userauth, m, &p->err);

	carrier_kick(p->carrier);
	if (rc < 0)
		return rc;
	if (rc == 1) {
		/* Nothing behind the deciding request is parsed here (SECURITY.md). */
		p->accepted = true;
		carrier_pause(p->carrier, true);
		loop_stop(p->loop);
	}
	return 0;
}

static void connection_ended(void *ctx)
{
	struct preauth *p = ctx;

	p->ended = true;
	loop_stop(p->loop);
}

/* The monitor never speaks first: this is its end. */
static void monitor_gone(void *ctx, int fd, unsigned what)
{
	(void)ctx;
	(void)fd;
	(void)what;
	_exit(1);
}

static uint8_t end_kind(const struct preauth *p, const struct err *why)
{
	if (why->code == ERR_CLOSED)
		return *transport_disconnect_text(p->transport) != '\0' || transport_disconnect_reason(p->transport) != 0 ?
			MON_END_DISCONNECT : MON_END_CLOSED;
	if (why->code == ERR_IO && strstr(why->text, "reset by peer") != NULL)
		return MON_END_RESET;
	if (transport_negotiation_failed(p->transport))
		return MON_END_NEGOTIATION;
	if (*transport_peer_software(p->transport) == '\0')
		return MON_END_BANNER;
	return MON_END_ERROR;
}

static void report_end(struct preauth *p)
{
	const struct err *why = p->err.code != 0 ? &p->err : carrier_err(p->carrier);
	struct buf b = BUF_INIT(8 * 1024);
	uint8_t kind = end_kind(p, why);
	const char *text = kind == MON_END_DISCONNECT ? transport_disconnect_text(p->transport) : err_text(why);

	/* A peer that was told to go: the monitor said so itself. */
	if (userauth_server_dismissed(p->userauth))
		return;
	buf_put_u8(&b, kind);
	buf_put_u32(&b, transport_disconnect_reason(p->transport));
	buf_put_cstring(&b, text);
	(void)!mon_send(p->monitor, MON_END, &b, NULL);
	buf_free(&b);
}

/* USERAUTH_SUCCESS has left to the last byte; then the state of the connection goes to the monitor, which does not look into
 * it. */
static bool hand_off(struct preauth *p)
{
	struct buf blob = BUF_INIT(MON_BODY_MAX);
	struct err e = { 0 };
	int rc = carrier_flush(p->carrier, FLUSH_MS, &e);

	if (rc == 0 && transport_export(p->transport, &blob) < 0)
		rc = err_set(&e, ERR_USAGE, "%s", err_text(transport_err(p->transport)));
	if (rc == 0)
		rc = mon_send(p->monitor, MON_HANDOFF, &blob, &e);
	buf_free(&blob);
	if (rc < 0)
		(void)err_set(&p->err, rc, "%s", err_text(&e));
	return rc == 0;
}

/* ---- start */

static int read_setup(struct preauth *p, struct err *e)
{
	struct buf b = BUF_INIT(SETUP_MAX);
	struct reader r;
	int rc = mon_expect(p->monitor, MON_SETUP, SETUP_MAX, &b, e);

	reader_init(&r, b.data, b.size);
	if (rc == 0)
		rc = preauth_setup_get(&r, &p->setup, e);
	buf_free(&b);
	for (size_t i = 0; rc == 0 && i < p->setup.host_keys.count && i < MEM_COUNT(p->host_blobs); i++) {
		const char *text = p->setup.host_keys.v[i];
		size_t n = strlen(text);
		struct buf *blob = &p->host_blobs[p->host_blob_count++];
		uint8_t *bytes = mem_alloc(n + 1);
		long size = str_base64_decode(text, n, bytes);

		*blob = BUF_INIT(BLOB_MAX);
		if (size > 0)
			buf_put(blob, bytes, (size_t)size);
		free(bytes);
	}
	return rc;
}

static int give_up_rights(struct preauth *p, struct err *e)
{
	const struct preauth_setup *s = &p->setup;
	struct privdrop_id id = { .uid = s->uid, .gid = s->gid, .groups = &s->gid, .group_count = 1 };
	struct sandbox_options sandbox = { .trap = s->trap, .may_write_files = s->log_to_file };
	int rc = 0;

	if (s->drop)
		rc = privdrop_chroot(s->chroot_dir, e);
	if (rc == 0 && s->drop)
		rc = privdrop_forever(&id, e);
	if (rc == 0)
		rc = privdrop_undumpable(e);
#ifdef PR_SET_PDEATHSIG
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	return rc == 0 ? sandbox_enter(&sandbox, e) : rc;
}

static int start_connection(struct preauth *p, struct err *e)
{
	char ext_names[128];
	struct transport_options o = {
		.server = true, .software = p->setup.software, .proposal = p->setup.proposal,
		.server_sig_algs = p->setup.server_sig_algs, .ext_names = ext_names,
		.cb = { .ctx = p, .sign_hash = sign_hash, .host_key_for = host_key_for, .keys_changed = keys_changed,
			.choose_group = p->moduli != NULL ? moduli_choose : NULL, .group_ctx = p->moduli },
	};
	struct userauth_judge judge = { p, judge_request, judge_answers, judge_abandon };
	struct carrier_user user = { .ctx = p, .message = take_message, .ended = connection_ended };

	(void)snprintf(ext_names, sizeof(ext_names), "publickey-hostbound@openssh.com," CHANNEL_ECHO "=%u",
		(unsigned)CHANNEL_ECHO_WINDOW);
	p->transport = transport_new(&o, e);
	if (p->transport == NULL)
		return ERR_USAGE;
	p->userauth = userauth_server_new(p->transport, &judge);
	if (transport_start(p->transport) < 0)
		return err_set(e, ERR_USAGE, "%s", err_text(transport_err(p->transport)));
	p->carrier = carrier_new(p->loop, p->transport, p->start->in, p->start->out, e);
	if (p->carrier == NULL)
		return ERR_IO;
	carrier_set_user(p->carrier, &user);
	p->monitor_watch = loop_fd_add(p->loop, p->monitor, LOOP_READ, monitor_gone, p, e);
	return p->monitor_watch != NULL ? 0 : ERR_IO;
}

static int run(struct preauth *p, struct err *e)
{
	/* All that needs files, libraries or new descriptors happens before the rights go. */
	crypto_init();
	rand_prepare();
	tzset();
	p->loop = loop_new(e);
	if (p->loop == NULL || read_setup(p, e) < 0)
		return ERR_IO;
	/* Whoever read the configuration has said what cannot be had. */
	(void)!cipher_prepare(p->setup.proposal.list[PROPOSAL_CIPHER_C2S], NULL);
	crypto_load_no_more();
	if (*p->setup.moduli_file != '\0')
		p->moduli = moduli_new(p->setup.moduli_file);
	role_log_to_monitor(&p->monitor, p->setup.log_level);
	if (give_up_rights(p, e) < 0 || start_connection(p, e) < 0)
		return ERR_IO;
	return loop_run(p->loop, e);
}

_Noreturn void role_preauth(struct worker_start *s)
{
	struct preauth *p = mem_zalloc(sizeof(*p));
	struct err e = { 0 };

	(void)signal(SIGPIPE, SIG_IGN);
	p->start = s;
	p->monitor = s->monitor;
	p->question = BUF_INIT(ANSWER_MAX);
	procname_set_title(s->common.procname, "sshd: [net]");
	if (run(p, &e) < 0) {
		log_error("pre-auth process: %s", err_text(&e));
		_exit(255);
	}
	if (p->accepted && hand_off(p))
		_exit(0);
	report_end(p);
	_exit(255);
}
