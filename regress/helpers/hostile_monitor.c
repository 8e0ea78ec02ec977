/* hostile_monitor: drives a real monitor process of sshd with processes of its own in the places of the pre-auth and the user
 * process.
 *
 *   hostile_monitor list                                 "NAME<tab>EXIT<tab>SESSION<tab>LOG" for every case
 *   hostile_monitor SSHD CONFIG HOSTKEY USER KEY CASE    prints "exit=N let-in=0|1 session=0|1 ..."
 *
 * EXIT is the monitor's exit status; SESSION whether a session may begin; LOG an extended regular expression of what it must
 * log. The listener's part, the hand-over and the connection, is done here; the monitor starts us again by the descriptor of
 * the binary that it is given, with -R. The case goes along in the environment. */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auth/userauth_msg.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "crypto/crypto.h"
#include "crypto/rand.h"
#include "keys/key.h"
#include "keys/key_file.h"
#include "server/handover.h"
#include "server/monitor_msg.h"
#include "server/monitor_table.h"
#include "server/monitor_wire.h"

enum { HASH = 32, BODY_MAX = MON_BODY_MAX + 64, PEER_GONE = 3 };

/* What the false processes know. */
struct worker {
	int fd;                          /* to the monitor */
	struct preauth_setup setup;
	struct buf host_key;             /* blob of the first */
	uint8_t hash[HASH];              /* that it signed for us */
	const char *user;
	struct key *key;
	uint8_t verdict;                 /* of the last request */
};

static void die(const char *what, const struct err *e)
{
	fprintf(stderr, "hostile_monitor: %s: %s\n", what, e != NULL ? err_text(e) : strerror(errno));
	_exit(PEER_GONE);
}

static struct view text(const char *s)
{
	return (struct view){ (const uint8_t *)s, strlen(s) };
}

/* ---- messages ---- */

static void send_bytes(struct worker *w, uint8_t type, const void *body, size_t n)
{
	struct buf b = BUF_INIT(BODY_MAX);
	struct err e = { 0 };

	buf_put(&b, body, n);
	if (mon_send(w->fd, type, &b, &e) < 0)
		_exit(PEER_GONE);
	buf_free(&b);
}

static void send_buf(struct worker *w, uint8_t type, struct buf *b)
{
	if (!buf_ok(b))
		die("message", &(struct err){ .code = ERR_MEMORY });
	send_bytes(w, type, b->data, b->size);
	buf_free(b);
}

/* A header that says what it likes. */
static void send_head(struct worker *w, uint8_t type, uint32_t size)
{
	uint8_t head[MON_HEADER_SIZE];

	wire_store_u32(head, size);
	head[4] = type;
	(void)!write(w->fd, head, sizeof(head));
}

/* The answer must be of this type: a monitor that has ended is what most cases are after. */
static void receive(struct worker *w, uint8_t type, struct buf *out)
{
	struct err e = { 0 };

	*out = BUF_INIT(BODY_MAX);
	if (mon_expect(w->fd, type, MON_BODY_MAX, out, &e) < 0)
		_exit(PEER_GONE);
}

/* Until the monitor has closed. */
static void wait_gone(struct worker *w)
{
	char c[256];

	while (read(w->fd, c, sizeof(c)) > 0)
		;
	_exit(PEER_GONE);
}

static void ask_sign(struct worker *w, const char *alg, struct view blob, const void *hash, size_t n)
{
	struct buf q = BUF_INIT(65536);

	buf_put_cstring(&q, alg);
	buf_put_string(&q, blob.p, blob.n);
	buf_put_string(&q, hash, n);
	send_buf(w, MON_SIGN, &q);
}

static struct view host_key(struct worker *w)
{
	return (struct view){ w->host_key.data, w->host_key.size };
}

static void sign(struct worker *w)
{
	struct buf a;

	rand_bytes(w->hash, sizeof(w->hash));
	ask_sign(w, "ssh-ed25519", host_key(w), w->hash, HASH);
	receive(w, MON_SIGNATURE, &a);
	buf_free(&a);
}

static struct userauth_request request(struct worker *w, enum userauth_kind kind)
{
	return (struct userauth_request){ .kind = kind, .user = text(w->user), .service = text(USERAUTH_CONNECTION) };
}

static void send_request(struct worker *w, const struct userauth_request *q)
{
	struct buf b = BUF_INIT(256 * 1024);

	userauth_request_put(&b, q);
	send_buf(w, MON_AUTH, &b);
}

static void take_verdict(struct worker *w)
{
	struct buf a;

	receive(w, MON_VERDICT, &a);
	w->verdict = a.data[0];
	buf_free(&a);
}

/* A publickey request, signed over a session id and for a user that may be other ones than they should be. */
static void signed_request(struct worker *w, struct key *k, const uint8_t *hash, const char *signed_user)
{
	const struct sig_alg *alg = sig_alg_find(text("ssh-ed25519"));
	struct userauth_request q = request(w, USERAUTH_PUBLICKEY);
	struct buf data = BUF_INIT(65536), sig = BUF_INIT(65536);
	struct err e = { 0 };

	q.has_signature = true;
	q.alg = text("ssh-ed25519");
	q.key_blob = key_blob(k);
	q.user = text(signed_user);
	userauth_signed_data_put(&data, (struct view){ hash, HASH }, &q);
	if (key_sign(k, alg, (struct view){ data.data, data.size }, &sig, &e) < 0)
		die("sign", &e);
	q.user = text(w->user);
	q.signature = (struct view){ sig.data, sig.size };
	send_request(w, &q);
	buf_free(&data);
	buf_free(&sig);
}

static void good_request(struct worker *w)
{
	signed_request(w, w->key, w->hash, w->user);
}

/* Up to the verdict "yes". */
static void get_in(struct worker *w)
{
	sign(w);
	good_request(w);
	take_verdict(w);
	if (w->verdict != MON_YES)
		die("the good request was refused", &(struct err){ .code = ERR_DENIED });
}

static void hand_off(struct worker *w)
{
	send_bytes(w, MON_HANDOFF, "not a transport", 15);
}

/* ---- the pre-auth process: out of turn, repeated ---- */

static void pre_good(struct worker *w) { get_in(w); hand_off(w); _exit(0); }
static void pre_auth_first(struct worker *w) { good_request(w); wait_gone(w); }
static void pre_handoff_first(struct worker *w) { hand_off(w); wait_gone(w); }
static void pre_handoff_signed(struct worker *w) { sign(w); hand_off(w); wait_gone(w); }
static void pre_sign_twice(struct worker *w) { sign(w); sign(w); wait_gone(w); }
static void pre_sign_after_yes(struct worker *w) { get_in(w); sign(w); hand_off(w); wait_gone(w); }
static void pre_auth_after_yes(struct worker *w) { get_in(w); good_request(w); hand_off(w); wait_gone(w); }
static void pre_end_after_yes(struct worker *w) { get_in(w); send_bytes(w, MON_END, "\0\0\0\0\0\0\0\0\0", 9); hand_off(w); wait_gone(w); }
static void pre_answers_unasked(struct worker *w) { sign(w); send_bytes(w, MON_ANSWERS, "\0\0\0\0", 4); wait_gone(w); }
static void pre_abort_unasked(struct worker *w) { sign(w); send_bytes(w, MON_ABORT, "", 0); wait_gone(w); }
static void pre_pty(struct worker *w) { sign(w); send_bytes(w, MON_PTY, "", 0); wait_gone(w); }
static void pre_pty_after_yes(struct worker *w) { get_in(w); send_bytes(w, MON_PTY, "", 0); hand_off(w); wait_gone(w); }
static void pre_prove(struct worker *w) { sign(w); send_bytes(w, MON_PROVE, "\0", 1); wait_gone(w); }
static void pre_pty_done(struct worker *w) { sign(w); send_bytes(w, MON_PTY_DONE, "\0\0\0\0", 4); wait_gone(w); }
static void pre_type_0(struct worker *w) { send_bytes(w, 0, "", 0); wait_gone(w); }
static void pre_type_255(struct worker *w) { send_bytes(w, 255, "x", 1); wait_gone(w); }
static void pre_setup_back(struct worker *w) { send_bytes(w, MON_SETUP, "x", 1); wait_gone(w); }
static void pre_verdict_back(struct worker *w) { sign(w); send_bytes(w, MON_VERDICT, "\1", 1); hand_off(w); wait_gone(w); }
static void pre_gone_after_yes(struct worker *w) { get_in(w); _exit(0); }
static void pre_killed(struct worker *w) { get_in(w); (void)raise(SIGKILL); }
static void pre_gone(struct worker *w) { (void)w; _exit(0); }

static void pre_end_twice(struct worker *w)
{
	send_bytes(w, MON_END, "\0\0\0\0\0\0\0\0\0", 9);
	send_bytes(w, MON_END, "\0\0\0\0\0\0\0\0\0", 9);
	wait_gone(w);
}

static void pre_auth_after_end(struct worker *w)
{
	sign(w);
	send_bytes(w, MON_END, "\0\0\0\0\0\0\0\0\0", 9);
	good_request(w);
	hand_off(w);
	wait_gone(w);
}

static void pre_handoff_after_no(struct worker *w)
{
	struct userauth_request q = request(w, USERAUTH_NONE);

	sign(w);
	send_request(w, &q);
	take_verdict(w);
	hand_off(w);
	wait_gone(w);
}

static void pre_handoff_empty(struct worker *w) { get_in(w); send_bytes(w, MON_HANDOFF, "", 0); wait_gone(w); }

/* ---- sizes ---- */

static void pre_log_huge(struct worker *w) { send_head(w, MON_LOG, 0xffffffff); wait_gone(w); }
static void pre_auth_huge(struct worker *w) { sign(w); send_head(w, MON_AUTH, USERAUTH_REQUEST_MAX + 1); wait_gone(w); }
static void pre_handoff_huge(struct worker *w) { get_in(w); send_head(w, MON_HANDOFF, MON_BODY_MAX + 1); wait_gone(w); }
static void pre_abort_with_body(struct worker *w) { sign(w); send_head(w, MON_ABORT, 1); wait_gone(w); }

static void pre_cut(struct worker *w)
{
	send_head(w, MON_LOG, 100);
	(void)!write(w->fd, "abc", 3);
	_exit(0);
}

static void pre_head_cut(struct worker *w)
{
	(void)!write(w->fd, "\0\0", 2);
	_exit(0);
}

/* ---- bodies ---- */

static void pre_sign_short(struct worker *w) { ask_sign(w, "ssh-ed25519", host_key(w), w->hash, 31); wait_gone(w); }
static void pre_sign_nothing(struct worker *w) { ask_sign(w, "ssh-ed25519", host_key(w), w->hash, 0); wait_gone(w); }

/* What a client would sign to log in elsewhere with this key, were it a user's. */
static void pre_sign_long(struct worker *w)
{
	uint8_t data[1000] = { 0 };

	ask_sign(w, "ssh-ed25519", host_key(w), data, sizeof(data));
	wait_gone(w);
}

static void pre_sign_other_key(struct worker *w)
{
	ask_sign(w, "ssh-ed25519", key_blob(w->key), w->hash, HASH);
	wait_gone(w);
}

static void pre_sign_other_alg(struct worker *w) { ask_sign(w, "rsa-sha2-512", host_key(w), w->hash, HASH); wait_gone(w); }
static void pre_sign_no_alg(struct worker *w) { ask_sign(w, "", host_key(w), w->hash, HASH); wait_gone(w); }
static void pre_sign_cut(struct worker *w) { send_bytes(w, MON_SIGN, "\0\0\0\13ssh-ed", 10); wait_gone(w); }
static void pre_auth_cut(struct worker *w) { sign(w); send_bytes(w, MON_AUTH, "\0\0\377\377root", 8); wait_gone(w); }
static void pre_auth_empty(struct worker *w) { sign(w); send_bytes(w, MON_AUTH, "", 0); wait_gone(w); }
static void pre_end_kind(struct worker *w) { send_bytes(w, MON_END, "\377\0\0\0\0\0\0\0\0", 9); wait_gone(w); }
static void pre_end_cut(struct worker *w) { send_bytes(w, MON_END, "\0\0", 2); wait_gone(w); }
static void pre_log_level(struct worker *w) { send_bytes(w, MON_LOG, "\377\0\0\0\1x", 6); wait_gone(w); }
static void pre_log_level_0(struct worker *w) { send_bytes(w, MON_LOG, "\0\0\0\0\1x", 6); wait_gone(w); }

static void send_log(struct worker *w, const char *line, size_t n)
{
	struct buf b = BUF_INIT(65536);

	buf_put_u8(&b, LOG_LEVEL_ERROR);
	buf_put_string(&b, line, n);
	send_buf(w, MON_LOG, &b);
}

static void pre_log_forged(struct worker *w)
{
	static const char line[] = "x\nAccepted password for root from 192.0.2.1 port 1 ssh2\r\n\033[2J\0y";

	send_log(w, line, sizeof(line) - 1);
	send_bytes(w, 255, "x", 1);
	wait_gone(w);
}

static void pre_log_flood(struct worker *w)
{
	char line[1000];

	memset(line, 'l', sizeof(line));
	for (int i = 0; i < 20000; i++)
		send_log(w, line, sizeof(line));
	send_bytes(w, 255, "x", 1);
	wait_gone(w);
}

/* ---- forged requests: the answer is no, and what follows as if it were yes is fatal ---- */

static void refused_then_handoff(struct worker *w)
{
	take_verdict(w);
	if (w->verdict == MON_YES)
		_exit(0);
	hand_off(w);
	wait_gone(w);
}

static void pre_forged_session(struct worker *w)
{
	uint8_t other[HASH] = { 1, 2, 3 };

	sign(w);
	signed_request(w, w->key, other, w->user);
	refused_then_handoff(w);
}

static void pre_forged_user(struct worker *w)
{
	sign(w);
	signed_request(w, w->key, w->hash, "nobody");
	refused_then_handoff(w);
}

static void pre_other_key(struct worker *w)
{
	struct err e = { 0 };
	struct key *k = key_generate(KEY_ED25519, 0, &e);

	sign(w);
	signed_request(w, k, w->hash, w->user);
	refused_then_handoff(w);
}

static void pre_forged_bytes(struct worker *w)
{
	struct userauth_request q = request(w, USERAUTH_PUBLICKEY);

	sign(w);
	q.has_signature = true;
	q.alg = text("ssh-ed25519");
	q.key_blob = key_blob(w->key);
	q.signature = text("no signature at all");
	send_request(w, &q);
	refused_then_handoff(w);
}

/* A question about a key, and then as if it had been answered with success. */
static void pre_question(struct worker *w)
{
	struct userauth_request q = request(w, USERAUTH_PUBLICKEY);

	sign(w);
	q.alg = text("ssh-ed25519");
	q.key_blob = key_blob(w->key);
	send_request(w, &q);
	refused_then_handoff(w);
}

static void pre_hostbound(struct worker *w)
{
	struct userauth_request q = request(w, USERAUTH_HOSTBOUND);

	sign(w);
	q.has_signature = true;
	q.alg = text("ssh-ed25519");
	q.key_blob = key_blob(w->key);
	q.host_key = key_blob(w->key);
	q.signature = text("x");
	send_request(w, &q);
	refused_then_handoff(w);
}

static void pre_hostbased(struct worker *w)
{
	struct userauth_request q = request(w, USERAUTH_HOSTBASED);

	sign(w);
	q.alg = text("ssh-ed25519");
	q.key_blob = key_blob(w->key);
	q.client_host = text("localhost");
	q.client_user = text("root");
	send_request(w, &q);
	refused_then_handoff(w);
}

static void pre_other_user_later(struct worker *w)
{
	struct userauth_request q = request(w, USERAUTH_NONE);

	sign(w);
	send_request(w, &q);
	take_verdict(w);
	w->user = "root";
	good_request(w);
	refused_then_handoff(w);
}

static void pre_request_flood(struct worker *w)
{
	struct userauth_request q = request(w, USERAUTH_PUBLICKEY);

	sign(w);
	q.alg = text("ssh-ed25519");
	q.key_blob = key_blob(w->key);
	for (int i = 0; i < 2000; i++) {
		send_request(w, &q);
		take_verdict(w);
		if (w->verdict == MON_YES)
			_exit(0);
	}
	hand_off(w);
	wait_gone(w);
}

/* ---- conversations (PAM) ---- */

static void ask_kbdint(struct worker *w)
{
	struct userauth_request q = request(w, USERAUTH_KBDINT);
	struct buf a;

	sign(w);
	send_request(w, &q);
	receive(w, MON_PROMPT, &a);
	buf_free(&a);
}

static void pam_auth(struct worker *w) { ask_kbdint(w); good_request(w); wait_gone(w); }
static void pam_handoff(struct worker *w) { ask_kbdint(w); hand_off(w); wait_gone(w); }
static void pam_sign(struct worker *w) { ask_kbdint(w); sign(w); wait_gone(w); }
static void pam_answers_cut(struct worker *w) { ask_kbdint(w); send_bytes(w, MON_ANSWERS, "\0\0\0\1\0", 5); wait_gone(w); }
static void pam_answers_huge(struct worker *w) { ask_kbdint(w); send_head(w, MON_ANSWERS, USERAUTH_ANSWERS_MAX + 1); wait_gone(w); }
static void pam_gone(struct worker *w) { ask_kbdint(w); _exit(0); }

static void pam_answers_twice(struct worker *w)
{
	ask_kbdint(w);
	send_bytes(w, MON_ANSWERS, "\0\0\0\1\0\0\0\1x", 9);
	send_bytes(w, MON_ANSWERS, "\0\0\0\1\0\0\0\1x", 9);
	wait_gone(w);
}

static void pam_many_answers(struct worker *w)
{
	ask_kbdint(w);
	send_bytes(w, MON_ANSWERS, "\0\0\0\2\0\0\0\1x\0\0\0\1y", 14);
	refused_then_handoff(w);
}

static void pam_end(struct worker *w)
{
	ask_kbdint(w);
	send_bytes(w, MON_END, "\0\0\0\0\0\0\0\0\0", 9);
	_exit(0);
}

/* ---- the user process ---- */

static void user_good(struct worker *w) { (void)w; _exit(0); }
static void user_auth(struct worker *w) { good_request(w); wait_gone(w); }
static void user_handoff(struct worker *w) { hand_off(w); wait_gone(w); }
static void user_end(struct worker *w) { send_bytes(w, MON_END, "\0\0\0\0\0\0\0\0\0", 9); wait_gone(w); }
static void user_answers(struct worker *w) { send_bytes(w, MON_ANSWERS, "\0\0\0\0", 4); wait_gone(w); }
static void user_pty_done(struct worker *w) { send_bytes(w, MON_PTY_DONE, "\0\0\0\12/dev/pts/0", 14); wait_gone(w); }
static void user_pty_body(struct worker *w) { send_bytes(w, MON_PTY, "x", 1); wait_gone(w); }
static void user_sign_other(struct worker *w) { ask_sign(w, "ssh-ed25519", key_blob(w->key), w->hash, HASH); wait_gone(w); }
static void user_sign_long(struct worker *w) { ask_sign(w, "ssh-ed25519", host_key(w), w->hash, HASH + 1); wait_gone(w); }

/* A re-key has its signature; so have many. */
static void user_sign(struct worker *w)
{
	for (int i = 0; i < 50; i++)
		sign(w);
	_exit(0);
}
static void user_prove_huge(struct worker *w) { send_head(w, MON_PROVE, MON_PROVE_SIZE + 1); wait_gone(w); }
static void user_log_huge(struct worker *w) { send_head(w, MON_LOG, 1 << 20); wait_gone(w); }

static void user_prove_flood(struct worker *w)
{
	struct buf a;

	for (int i = 0; i <= MON_PROVE_TIMES; i++) {
		send_bytes(w, MON_PROVE, "\0\0\0\0\1x", 6);
		receive(w, MON_PROOF, &a);
		buf_free(&a);
	}
	wait_gone(w);
}

static void user_pty_flood(struct worker *w)
{
	struct pty_grant g;
	struct reader r;
	struct buf a;
	unsigned given = 0;

	for (int i = 0; i < 20; i++) {
		char c[CMSG_SPACE(2 * sizeof(int))], byte;
		struct iovec iov = { &byte, 1 };
		struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = c, .msg_controllen = sizeof(c) };

		send_bytes(w, MON_PTY, "", 0);
		receive(w, MON_PTY_GRANT, &a);
		reader_init(&r, a.data, a.size);
		if (pty_grant_get(&r, &g, NULL) < 0)
			die("grant", NULL);
		if (g.ok && recvmsg(w->fd, &m, 0) != 1)
			die("terminal", NULL);
		given += g.ok;
		pty_grant_clear(&g);
		buf_free(&a);
	}
	if (given != 10)         /* MaxSessions */
		die("terminals", &(struct err){ .code = ERR_DENIED });
	send_bytes(w, 255, "x", 1);
	wait_gone(w);
}

/* ---- the table ---- */

#define RULES "the unprivileged process for 127\\.0\\.0\\.1 port [0-9]+ broke the rules: "
#define NOT_NOW(name) RULES "request " name " is not permitted now"
#define MALFORMED "of the unprivileged process for 127\\.0\\.0\\.1 port [0-9]+ is malformed: "

static const struct hostile_case {
	const char *name;
	void (*preauth)(struct worker *w), (*user)(struct worker *w);
	int status;
	bool session, pam;
	const char *log;
} cases[] = {
	/* What must work, or the rest would mean nothing. */
	{ "good", pre_good, user_good, 0, true, false, "Accepted publickey" },

	{ "auth-first", pre_auth_first, user_good, 4, false, false, NOT_NOW("4") },
	{ "handoff-first", pre_handoff_first, user_good, 4, false, false, NOT_NOW("7") },
	{ "handoff-signed", pre_handoff_signed, user_good, 4, false, false, NOT_NOW("7") },
	{ "handoff-after-no", pre_handoff_after_no, user_good, 4, false, false, NOT_NOW("7") },
	{ "handoff-empty", pre_handoff_empty, user_good, 4, false, false, MALFORMED "empty hand-off" },
	{ "sign-twice", pre_sign_twice, user_good, 4, false, false, NOT_NOW("3") },
	{ "sign-after-yes", pre_sign_after_yes, user_good, 4, false, false, NOT_NOW("3") },
	{ "auth-after-yes", pre_auth_after_yes, user_good, 4, false, false, NOT_NOW("4") },
	{ "end-after-yes", pre_end_after_yes, user_good, 4, false, false, NOT_NOW("7") },
	{ "end-twice", pre_end_twice, user_good, 4, false, false, NOT_NOW("2") },
	{ "auth-after-end", pre_auth_after_end, user_good, 4, false, false, NOT_NOW("4") },
	{ "answers-unasked", pre_answers_unasked, user_good, 4, false, false, NOT_NOW("5") },
	{ "abort-unasked", pre_abort_unasked, user_good, 4, false, false, NOT_NOW("6") },
	{ "pty", pre_pty, user_good, 4, false, false, NOT_NOW("9") },
	{ "pty-after-yes", pre_pty_after_yes, user_good, 4, false, false, NOT_NOW("9") },
	{ "prove", pre_prove, user_good, 4, false, false, NOT_NOW("8") },
	{ "pty-done", pre_pty_done, user_good, 4, false, false, NOT_NOW("10") },
	{ "type-0", pre_type_0, user_good, 4, false, false, NOT_NOW("0") },
	{ "type-255", pre_type_255, user_good, 4, false, false, NOT_NOW("255") },
	{ "setup-back", pre_setup_back, user_good, 4, false, false, NOT_NOW("64") },
	{ "verdict-back", pre_verdict_back, user_good, 4, false, false, NOT_NOW("67") },
	{ "gone", pre_gone, user_good, 4, false, false, "went without a word" },
	{ "gone-after-yes", pre_gone_after_yes, user_good, 4, false, false, "went without a word" },
	{ "killed-after-yes", pre_killed, user_good, 4, false, false, "died of signal 9" },

	{ "log-huge", pre_log_huge, user_good, 4, false, false, RULES "request \"log\" has 4294967295 bytes" },
	{ "auth-huge", pre_auth_huge, user_good, 4, false, false, RULES "request \"auth\" has 65537 bytes" },
	{ "handoff-huge", pre_handoff_huge, user_good, 4, false, false, RULES "request \"handoff\" has 16777217 bytes" },
	{ "abort-with-body", pre_abort_with_body, user_good, 4, false, false, NOT_NOW("6") },
	{ "cut", pre_cut, user_good, 4, false, false, "stopped in the middle of a message" },
	{ "head-cut", pre_head_cut, user_good, 4, false, false, "stopped in the middle of a message" },

	{ "sign-short", pre_sign_short, user_good, 4, false, false, MALFORMED "31 bytes are no exchange hash" },
	{ "sign-nothing", pre_sign_nothing, user_good, 4, false, false, MALFORMED "0 bytes are no exchange hash" },
	{ "sign-long", pre_sign_long, user_good, 4, false, false, MALFORMED "1000 bytes are no exchange hash" },
	{ "sign-other-key", pre_sign_other_key, user_good, 4, false, false, MALFORMED "no such host key" },
	{ "sign-other-alg", pre_sign_other_alg, user_good, 4, false, false, MALFORMED "the host key does not make" },
	{ "sign-no-alg", pre_sign_no_alg, user_good, 4, false, false, MALFORMED "no such host key" },
	{ "sign-cut", pre_sign_cut, user_good, 4, false, false, MALFORMED },
	{ "auth-cut", pre_auth_cut, user_good, 4, false, false, MALFORMED },
	{ "auth-empty", pre_auth_empty, user_good, 4, false, false, MALFORMED },
	{ "end-kind", pre_end_kind, user_good, 4, false, false, MALFORMED },
	{ "end-cut", pre_end_cut, user_good, 4, false, false, MALFORMED },
	{ "log-level", pre_log_level, user_good, 4, false, false, MALFORMED },
	{ "log-level-0", pre_log_level_0, user_good, 4, false, false, MALFORMED },
	{ "log-forged", pre_log_forged, user_good, 4, false, false,
		"^x.Accepted password for root from 192\\.0\\.2\\.1 port 1 ssh2.*\\[preauth\\]" },
	{ "log-flood", pre_log_flood, user_good, 4, false, false, "further messages of the process that serves 127\\.0\\.0\\.1 are left out" },

	{ "forged-session", pre_forged_session, user_good, 4, false, false, NOT_NOW("7") },
	{ "forged-user", pre_forged_user, user_good, 4, false, false, NOT_NOW("7") },
	{ "forged-bytes", pre_forged_bytes, user_good, 4, false, false, NOT_NOW("7") },
	{ "other-key", pre_other_key, user_good, 4, false, false, NOT_NOW("7") },
	{ "question", pre_question, user_good, 4, false, false, NOT_NOW("7") },
	{ "hostbound", pre_hostbound, user_good, 4, false, false, "is bound to another host key" },
	{ "hostbased", pre_hostbased, user_good, 4, false, false, NOT_NOW("7") },
	{ "other-user-later", pre_other_user_later, user_good, 4, false, false, "Change of username or service not allowed" },
	{ "request-flood", pre_request_flood, user_good, 4, false, false, "maximum authentication attempts exceeded" },

	{ "pam-auth", pam_auth, user_good, 4, false, true, NOT_NOW("4") },
	{ "pam-handoff", pam_handoff, user_good, 4, false, true, NOT_NOW("7") },
	{ "pam-sign", pam_sign, user_good, 4, false, true, NOT_NOW("3") },
	{ "pam-answers-cut", pam_answers_cut, user_good, 4, false, true, MALFORMED },
	{ "pam-answers-huge", pam_answers_huge, user_good, 4, false, true, RULES "request \"answers\" has" },
	{ "pam-answers-twice", pam_answers_twice, user_good, 4, false, true, NOT_NOW("5") },
	{ "pam-many-answers", pam_many_answers, user_good, 4, false, true, "wrong number of answers" },
	{ "pam-end", pam_end, user_good, 5, false, true, "Connection closed by" },
	{ "pam-gone", pam_gone, user_good, 4, false, true, "gone|went without a word" },

	{ "user-auth", pre_good, user_auth, 0, true, false, NOT_NOW("4") },
	{ "user-handoff", pre_good, user_handoff, 0, true, false, NOT_NOW("7") },
	{ "user-end", pre_good, user_end, 0, true, false, NOT_NOW("2") },
	{ "user-answers", pre_good, user_answers, 0, true, false, NOT_NOW("5") },
	{ "user-pty-done", pre_good, user_pty_done, 0, true, false, "the end of a terminal that was not given" },
	{ "user-pty-body", pre_good, user_pty_body, 0, true, false, RULES "request \"pty\" has 1 bytes" },
	{ "user-pty-flood", pre_good, user_pty_flood, 0, true, false, "none is permitted or all are in use" },
	{ "user-sign", pre_good, user_sign, 0, true, false, "Accepted publickey" },
	{ "user-sign-other", pre_good, user_sign_other, 0, true, false, MALFORMED "not the host key of the first exchange" },
	{ "user-sign-long", pre_good, user_sign_long, 0, true, false, MALFORMED "33 bytes are no exchange hash" },
	{ "user-prove-flood", pre_good, user_prove_flood, 0, true, false, RULES "request \"prove\" came more than 16 times" },
	{ "user-prove-huge", pre_good, user_prove_huge, 0, true, false, RULES "request \"prove\" has" },
	{ "user-log-huge", pre_good, user_log_huge, 0, true, false, RULES "request \"log\" has" },
};

static const struct hostile_case *find_case(const char *name)
{
	for (size_t i = 0; name != NULL && i < MEM_COUNT(cases); i++)
		if (strcmp(cases[i].name, name) == 0)
			return &cases[i];
	die("no such case", &(struct err){ .code = ERR_USAGE });
	return NULL;
}

/* ---- as the monitor starts us ---- */

static void read_preauth_setup(struct worker *w)
{
	struct reader r;
	struct buf b;
	uint8_t *bytes;
	const char *blob;
	long n;

	receive(w, MON_SETUP, &b);
	reader_init(&r, b.data, b.size);
	if (preauth_setup_get(&r, &w->setup, NULL) < 0 || w->setup.host_keys.count == 0)
		die("setup", &(struct err){ .code = ERR_PEER });
	buf_free(&b);
	blob = w->setup.host_keys.v[0];
	bytes = mem_alloc(strlen(blob) + 1);
	n = str_base64_decode(blob, strlen(blob), bytes);
	w->host_key = BUF_INIT(65536);
	buf_put(&w->host_key, bytes, n > 0 ? (size_t)n : 0);
	free(bytes);
}

static void read_user_setup(struct worker *w)
{
	struct user_setup s;
	struct reader r;
	struct buf b;

	receive(w, MON_SETUP, &b);
	reader_init(&r, b.data, b.size);
	if (user_setup_get(&r, &s, NULL) < 0)
		die("setup", &(struct err){ .code = ERR_PEER });
	w->host_key = BUF_INIT(65536);
	buf_put(&w->host_key, s.host_key.p, s.host_key.n);
	user_setup_clear(&s);
	buf_free(&b);
}

static void be_worker(const char *spec)
{
	const struct hostile_case *c = find_case(getenv("HOSTILE_CASE"));
	struct worker w = { .user = getenv("HOSTILE_USER") };
	struct err e = { 0 };
	struct buf b;
	const char *mark = getenv("HOSTILE_MARK");

	if (sscanf(strchr(spec, ':') + 1, "%*d,%*d,%d", &w.fd) != 1 || w.user == NULL || mark == NULL)
		die("called in a wrong way", &(struct err){ .code = ERR_USAGE });
	if (key_private_load(getenv("HOSTILE_KEY"), NULL, &w.key, NULL, &e) < 0)
		die("key", &e);
	if (str_starts(spec, "user:")) {
		close(open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		read_user_setup(&w);
		receive(&w, MON_BLOB, &b);
		buf_free(&b);
		c->user(&w);
	} else {
		read_preauth_setup(&w);
		c->preauth(&w);
	}
	_exit(0);
}

/* ---- as the listener ---- */

static void tcp_pair(int fds[2])
{
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(sa);
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(s, (struct sockaddr *)&sa, n) < 0 || listen(s, 1) < 0 || getsockname(s, (struct sockaddr *)&sa, &n) < 0 ||
	    connect(fds[0], (struct sockaddr *)&sa, n) < 0)
		die("connection", NULL);
	fds[1] = accept(s, NULL, NULL);
	close(s);
}

static int make_handover(const char *config, const char *host_key_file)
{
	struct handover h = { .log_stderr = true, .host_length = UINT32_MAX };
	struct str_list keys = { 0 };
	struct err e = { 0 };
	int fd;

	h.config = server_config_new();
	if (server_config_load(h.config, config, &e) < 0)
		die(config, &e);
	str_list_add(&keys, host_key_file);
	if (host_keys_load(&h.keys, &keys, false) == 0)
		die("host key", NULL);
	fd = handover_write(&h, &e);
	if (fd < 0)
		die("hand-over", &e);
	handover_clear(&h);
	str_list_clear(&keys);
	return fd;
}

static pid_t start_monitor(const char *sshd, const int fds[4])
{
	char *spec = str_printf("monitor:%d,-1,%d,%d,%d,%d", fds[0], fds[1], fds[2], fds[2], fds[3]);
	pid_t pid = fork();

	if (pid == 0) {
		for (int i = 0; i < 4; i++)
			(void)fcntl(fds[i], F_SETFD, 0);
		(void)execl(sshd, "sshd", "-R", spec, NULL);
		die(sshd, NULL);
	}
	free(spec);
	return pid;
}

static int drive(char **argv)
{
	const struct hostile_case *c = find_case(argv[6]);
	char *mark = str_printf("%s.session", argv[2]);
	int connection[2], notify[2], fds[4], status;
	char byte;
	bool let_in, session, good;
	pid_t pid;

	(void)setenv("HOSTILE_USER", argv[4], 1);
	(void)setenv("HOSTILE_KEY", argv[5], 1);
	(void)setenv("HOSTILE_CASE", c->name, 1);
	(void)setenv("HOSTILE_MARK", mark, 1);
	(void)unlink(mark);
	tcp_pair(connection);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, notify) < 0)
		die("socketpair", NULL);
	fds[0] = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	fds[1] = make_handover(argv[2], argv[3]);
	fds[2] = connection[1];
	fds[3] = notify[1];
	pid = start_monitor(argv[1], fds);
	close(notify[1]);
	close(connection[1]);
	(void)alarm(60);
	let_in = read(notify[0], &byte, 1) == 1;
	if (waitpid(pid, &status, 0) != pid)
		die("wait", NULL);
	session = access(mark, F_OK) == 0;
	good = WIFEXITED(status) && WEXITSTATUS(status) == c->status && let_in == c->session && session == c->session;
	printf("exit=%d let-in=%d session=%d%s\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1, let_in, session,
		good ? "" : " (not as expected)");
	(void)unlink(mark);
	free(mark);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	(void)signal(SIGPIPE, SIG_IGN);
	log_init("hostile_monitor", LOG_LEVEL_ERROR);
	crypto_init();
	if (argc == 3 && strcmp(argv[1], "-R") == 0)
		be_worker(argv[2]);
	if (argc == 7)
		return drive(argv);
	for (size_t i = 0; i < MEM_COUNT(cases); i++)
		printf("%s\t%s\t%s\n", cases[i].name, cases[i].pam ? "pam" : "plain", cases[i].log);
	return 0;
}
