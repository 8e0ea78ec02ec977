/* engine_talk: the engine alone on a socket, to prove the wire against other people's programs without our client and server.
 *
 *   engine_talk server [NAME=VALUE...]      prints its port, serves one connection: anyone may log in, every command is cat
 *   engine_talk client PORT [NAME=VALUE...] logs in with key=FILE as user=NAME, runs cat, sends bytes=N through it
 *
 * kex, hostkey, cipher, mac, compress: lists for both directions; rekey: bytes; software: what follows SSH-2.0-. The server takes
 * port=N; key=FILE, its host key; open=N, the number that it gives to its end of the channel, or open=end: it hangs up then; and
 * astray=ignore: requests for other numbers are passed over, where they otherwise end the connection. It prints commands.
 * none=cipher or none=mac plays an HPN peer (HPN-README 1): the client re-keys to "none" alone as its first act after
 * login, repeats the pseudo-algorithms, and does it all once more; the server lists "none" last from the start and re-keys
 * right after the command; neither takes a packet of more than 32,896 bytes. Exit status 0 if all went well. */
#include <sys/socket.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auth/userauth_msg.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "channel/session_msg.h"
#include "crypto/crypto.h"
#include "keys/key.h"
#include "keys/key_file.h"
#include "transport.h"
#include "wire/messages.h"

enum { WINDOW = 1 << 30, PACKET = 32768, HPN_BODY_MAX = 32896 };

struct talk {
	bool server;
	struct transport *t;
	int fd;
	struct key *key;                 /* of the host, or of the user */
	const char *user, *request;
	struct err err;
	bool done;
	bool none, none_mac;             /* an HPN peer */
	unsigned none_rekeys;
	bool none_rekeys_due;
	uint32_t peer_channel, channel;
	int port;
	bool hang_up, ignore_astray;
	uint64_t window;                 /* of the peer */
	uint64_t want, sent, got;        /* client: bytes of the pattern */
	struct buf waiting;              /* server: to be sent back */
	bool peer_eof, eof_sent, exit_ok;
};

static void die(const char *what, const struct err *e)
{
	fprintf(stderr, "engine_talk: %s: %s\n", what, e != NULL ? err_text(e) : strerror(errno));
	exit(1);
}

static int check_host_key(void *ctx, struct key *k, struct view blob, struct err *e)
{
	return 0;
}

static int sign_hash(void *ctx, const struct sig_alg *alg, struct view blob, struct view hash, struct buf *out,
	struct err *e)
{
	return key_sign(((struct talk *)ctx)->key, alg, hash, out, e);
}

static int host_key_for(void *ctx, const struct sig_alg *alg, struct view *blob)
{
	*blob = key_blob(((struct talk *)ctx)->key);
	return 0;
}

static void say(struct talk *k, uint8_t type, struct buf *b)
{
	if (transport_send(k->t, type, b) < 0)
		die("send", transport_err(k->t));
	buf_free(b);
}

static void set_both(struct proposal *p, enum proposal_list c2s, const char *names)
{
	proposal_set(p, c2s, names);
	proposal_set(p, (enum proposal_list)(c2s + 1), names);
}

/* ---- data ---- */

static void write_head(void *ctx, uint8_t *head, size_t n)
{
	wire_store_u32(head, ((struct talk *)ctx)->peer_channel);
	wire_store_u32(head + 4, (uint32_t)n);
}

static uint8_t pattern(uint64_t at)
{
	return (uint8_t)(at * 2654435761u >> 13);
}

/* Fills lent spaces from the pattern (client) or from what came (server). */
static void pull(struct talk *k)
{
	const struct packet_bulk bulk = { MSG_CHANNEL_DATA, 8, write_head, k };
	uint64_t left = k->server ? k->waiting.size : k->want - k->sent;
	struct iovec iov[16];
	size_t part = 0, j;
	struct buf b = BUF_INIT(64);
	int n, i;

	if (left > k->window)
		left = k->window;
	n = left != 0 && transport_out_pending(k->t) < 256 * 1024 ? transport_lend(k->t, &bulk, PACKET, left, iov, 16) : 0;
	for (i = 0; i < n; i++) {
		uint8_t *p = iov[i].iov_base;

		for (j = 0; j < iov[i].iov_len; j++, part++)
			p[j] = k->server ? k->waiting.data[part] : pattern(k->sent + part);
	}
	if (n > 0 && transport_commit(k->t, part) < 0)
		die("commit", transport_err(k->t));
	k->window -= part;
	if (k->server)
		buf_consume(&k->waiting, part);
	k->sent += part;
	if (!k->eof_sent && (k->server ? k->peer_eof && k->waiting.size == 0 : k->want != 0 && k->sent == k->want)) {
		k->eof_sent = true;
		if (k->server) {
			buf_put_u32(&b, k->peer_channel);
			buf_put_cstring(&b, "exit-status");
			buf_put_bool(&b, false);
			buf_put_u32(&b, 0);
			say(k, MSG_CHANNEL_REQUEST, &b);
		}
		buf_put_u32(&b, k->peer_channel);
		say(k, k->server ? MSG_CHANNEL_CLOSE : MSG_CHANNEL_EOF, &b);
	}
}

static void take_data(struct talk *k, const struct message *m)
{
	struct reader r;
	struct view data;
	size_t i;

	reader_init(&r, m->body.p, m->body.n);
	reader_u32(&r);
	data = reader_string(&r);
	if (k->server) {
		buf_put(&k->waiting, data.p, data.n);
		return;
	}
	for (i = 0; i < data.n; i++, k->got++)
		if (data.p[i] != pattern(k->got)) {
			fprintf(stderr, "engine_talk: wrong byte at %llu\n", (unsigned long long)k->got);
			exit(1);
		}
}

/* ---- the client's messages ---- */

static void log_in(struct talk *k)
{
	const struct sig_alg *alg = sig_alg_find((struct view){ (const uint8_t *)"ssh-ed25519", 11 });
	struct userauth_request q = {
		.kind = USERAUTH_PUBLICKEY, .user = { (const uint8_t *)k->user, strlen(k->user) },
		.service = { (const uint8_t *)"ssh-connection", 14 }, .has_signature = true,
		.alg = { (const uint8_t *)alg->name, strlen(alg->name) }, .key_blob = key_blob(k->key)
	};
	struct buf data = BUF_INIT(65536), sig = BUF_INIT(65536), b = BUF_INIT(65536);

	userauth_signed_data_put(&data, transport_session_id(k->t), &q);
	if (key_sign(k->key, alg, (struct view){ data.data, data.size }, &sig, &k->err) < 0)
		die("sign", &k->err);
	q.signature = (struct view){ sig.data, sig.size };
	userauth_request_put(&b, &q);
	say(k, MSG_USERAUTH_REQUEST, &b);
	buf_free(&data);
	buf_free(&sig);
}

/* A re-key that offers nothing but none, with the pseudo-algorithms that belong to the first KEXINIT only. */
static void rekey_to_none(struct talk *k)
{
	struct proposal p = { 0 };
	char *kex = str_printf("%s,ext-info-c,kex-strict-c-v00@openssh.com", transport_proposal(k->t)->list[PROPOSAL_KEX]);

	if (k->none_rekeys == 0) {
		proposal_copy(&p, transport_proposal(k->t));
		proposal_set(&p, PROPOSAL_KEX, kex);
		set_both(&p, PROPOSAL_CIPHER_C2S, "none");
		if (k->none_mac)
			set_both(&p, PROPOSAL_MAC_C2S, "none");
		transport_set_proposal(k->t, &p);
		proposal_clear(&p);
	}
	free(kex);
	k->none_rekeys++;
	if (transport_rekey(k->t) < 0)
		die("re-key", transport_err(k->t));
}

/* The second one follows as soon as the first is over. */
static void keys_changed(void *ctx)
{
	struct talk *k = ctx;

	if (k->none && !k->server && k->none_rekeys == 1)
		k->none_rekeys_due = true;
}

static void open_session(struct talk *k)
{
	struct buf b = BUF_INIT(1024);

	transport_set_authenticated(k->t);
	if (k->none)
		rekey_to_none(k);
	buf_put_cstring(&b, "session");
	buf_put_u32(&b, 0);
	buf_put_u32(&b, WINDOW);
	buf_put_u32(&b, PACKET);
	say(k, MSG_CHANNEL_OPEN, &b);
}

/* request=NAME: asked for before the command; what becomes of it is printed. */
static void ask_before(struct talk *k)
{
	struct session_pty pty = { .term = (char *)"vt100", .columns = 80, .rows = 24 };
	struct buf b = BUF_INIT(1024);

	buf_put_u32(&b, k->peer_channel);
	buf_put_cstring(&b, k->request);
	buf_put_bool(&b, true);
	if (strcmp(k->request, "pty-req") == 0)
		session_pty_put(&b, &pty);
	say(k, MSG_CHANNEL_REQUEST, &b);
}

static void run_cat(struct talk *k, struct reader *r)
{
	struct buf b = BUF_INIT(1024);

	reader_u32(r);
	k->peer_channel = reader_u32(r);
	k->window += reader_u32(r);
	if (k->request != NULL)
		ask_before(k);
	buf_put_u32(&b, k->peer_channel);
	buf_put_cstring(&b, "exec");
	buf_put_bool(&b, false);
	buf_put_cstring(&b, "cat");
	say(k, MSG_CHANNEL_REQUEST, &b);
}

static void client_message(struct talk *k, const struct message *m, struct reader *r)
{
	switch (m->type) {
	case MSG_SERVICE_ACCEPT:
		log_in(k);
		break;
	case MSG_USERAUTH_SUCCESS:
		open_session(k);
		break;
	case MSG_USERAUTH_FAILURE:
		fprintf(stderr, "engine_talk: not let in\n");
		exit(1);
	case MSG_CHANNEL_OPEN_CONFIRMATION:
		run_cat(k, r);
		break;
	case MSG_CHANNEL_SUCCESS:
	case MSG_CHANNEL_FAILURE:
		if (k->request != NULL)
			fprintf(stderr, "engine_talk: %s %s\n", k->request, m->type == MSG_CHANNEL_SUCCESS ? "granted" : "refused");
		break;
	case MSG_CHANNEL_EXTENDED_DATA: {
		struct view text;

		reader_u32(r);
		reader_u32(r);
		text = reader_string(r);
		fprintf(stderr, "engine_talk: stderr: %.*s", (int)text.n, (const char *)text.p);
		break;
	}
	case MSG_CHANNEL_CLOSE:
		transport_disconnect(k->t, DISCONNECT_BY_APPLICATION, "done");
		k->done = true;
		break;
	default:
		break;
	}
}

/* ---- the server's messages ---- */

static void hang_up(struct talk *k, const char *why)
{
	transport_disconnect(k->t, DISCONNECT_PROTOCOL_ERROR, why);
	k->done = true;
}

static void server_request(struct talk *k, struct reader *r)
{
	struct buf b = BUF_INIT(1024);
	bool known = reader_u32(r) == k->channel;
	struct view what;

	if (!known && !k->ignore_astray)
		hang_up(k, "unknown channel");
	if (!known)
		return;
	what = reader_string(r);
	if (view_is(what, "exec"))
		fprintf(stderr, "engine_talk: command, cipher %s\n", transport_cipher_none(k->t) ? "none" : "as usual");
	if (!reader_bool(r))
		return;
	buf_put_u32(&b, k->peer_channel);
	say(k, view_is(what, "exec") ? MSG_CHANNEL_SUCCESS : MSG_CHANNEL_FAILURE, &b);
	if (k->none && view_is(what, "exec") && transport_rekey(k->t) < 0)
		die("re-key", transport_err(k->t));
}

static void server_message(struct talk *k, const struct message *m, struct reader *r)
{
	struct buf b = BUF_INIT(1024);

	switch (m->type) {
	case MSG_SERVICE_REQUEST:
		buf_put_cstring(&b, "ssh-userauth");
		say(k, MSG_SERVICE_ACCEPT, &b);
		break;
	case MSG_USERAUTH_REQUEST:
		say(k, MSG_USERAUTH_SUCCESS, &b);
		transport_set_authenticated(k->t);
		break;
	case MSG_CHANNEL_OPEN:
		if (k->hang_up) {
			hang_up(k, "no such haste");
			break;
		}
		reader_string(r);
		k->peer_channel = reader_u32(r);
		k->window += reader_u32(r);
		buf_put_u32(&b, k->peer_channel);
		buf_put_u32(&b, k->channel);
		buf_put_u32(&b, WINDOW);
		buf_put_u32(&b, PACKET);
		say(k, MSG_CHANNEL_OPEN_CONFIRMATION, &b);
		break;
	case MSG_CHANNEL_REQUEST:
		server_request(k, r);
		break;
	case MSG_CHANNEL_EOF:
		k->peer_eof = true;
		break;
	default:
		break;
	}
}

/* ---- bytes ---- */

static void take_message(struct talk *k, const struct message *m)
{
	struct reader r;

	reader_init(&r, m->body.p, m->body.n);
	if (k->none && m->body.n > HPN_BODY_MAX)
		die("a packet that an HPN peer cannot open", &(struct err){ .code = ERR_PEER });
	if (m->type == MSG_CHANNEL_WINDOW_ADJUST) {
		reader_u32(&r);
		k->window += reader_u32(&r);
	} else if (m->type == MSG_CHANNEL_DATA) {
		take_data(k, m);
	} else if (k->server) {
		server_message(k, m, &r);
	} else {
		client_message(k, m, &r);
	}
}

static void flush(struct talk *k)
{
	struct iovec iov[2];
	ssize_t n;
	int count;

	while ((count = transport_out_view(k->t, iov, 2)) > 0) {
		n = writev(k->fd, iov, count);
		if (n < 0)
			die("write", NULL);
		transport_out_sent(k->t, (size_t)n);
	}
}

static void run(struct talk *k)
{
	struct message m;
	uint8_t *at;
	size_t room;
	uint64_t next;
	ssize_t n;
	int r = 0;

	while (!k->done) {
		flush(k);
		if (transport_in_space(k->t, &at, &room) < 0)
			die("space", transport_err(k->t));
		n = recv(k->fd, at, room, transport_exchanging(k->t) || k->server || k->sent == k->want ? 0 : MSG_DONTWAIT);
		if (n == 0)
			die("the peer closed", transport_err(k->t));
		if (n < 0 && errno != EAGAIN)
			die("read", NULL);
		if (n > 0)
			transport_in_added(k->t, (size_t)n);
		while ((r = transport_next(k->t, &m)) == 1)
			take_message(k, &m);
		if (r < 0 && !k->done) {
			flush(k);
			if (r == ERR_CLOSED && k->server)
				break;
			die("transport", transport_err(k->t));
		}
		if (!k->done && transport_tick(k->t, clock_mono_ms(), &next) < 0)
			die("tick", transport_err(k->t));
		if (k->none_rekeys_due && !transport_exchanging(k->t)) {
			k->none_rekeys_due = false;
			rekey_to_none(k);
		}
		if (!k->done && transport_authenticated(k->t))
			pull(k);
	}
	flush(k);
}

/* ---- start ---- */

static void take_option(struct talk *k, struct transport_options *o, const char *arg)
{
	static const struct { const char *name; enum proposal_list list; bool both; } lists[] = {
		{ "kex=", PROPOSAL_KEX, false }, { "hostkey=", PROPOSAL_HOST_KEY, false },
		{ "cipher=", PROPOSAL_CIPHER_C2S, true }, { "mac=", PROPOSAL_MAC_C2S, true },
		{ "compress=", PROPOSAL_COMPRESS_C2S, true }
	};
	const char *value = strchr(arg, '=');
	size_t i;

	if (value++ == NULL)
		die("an argument without =", &(struct err){ .code = ERR_USAGE });
	for (i = 0; i < MEM_COUNT(lists); i++) {
		if (!str_starts(arg, lists[i].name))
			continue;
		if (lists[i].both)
			set_both(&o->proposal, lists[i].list, value);
		else
			proposal_set(&o->proposal, lists[i].list, value);
	}
	if (str_starts(arg, "rekey="))
		o->rekey_bytes = strtoull(value, NULL, 10);
	if (str_starts(arg, "bytes="))
		k->want = strtoull(value, NULL, 10);
	if (str_starts(arg, "user="))
		k->user = value;
	if (str_starts(arg, "request="))
		k->request = value;
	if (str_starts(arg, "port="))
		k->port = (int)strtol(value, NULL, 10);
	if (str_starts(arg, "open=end"))
		k->hang_up = true;
	else if (str_starts(arg, "open="))
		k->channel = (uint32_t)strtoul(value, NULL, 10);
	if (str_starts(arg, "astray=ignore"))
		k->ignore_astray = true;
	if (str_starts(arg, "software="))
		o->software = value;
	if (str_starts(arg, "none="))
		k->none = true;
	if (str_starts(arg, "none=mac"))
		k->none_mac = true;
	if (str_starts(arg, "key=") && key_private_load(value, NULL, &k->key, NULL, &k->err) < 0)
		die("key", &k->err);
}

/* As HPN servers do from the first KEXINIT on. */
static void add_none(struct proposal *p, enum proposal_list c2s)
{
	char *names = str_printf("%s,none", p->list[c2s]);

	set_both(p, c2s, names);
	free(names);
}

static int serve(int port)
{
	struct sockaddr_in sa = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)
	};
	socklen_t n = sizeof(sa);
	int s = socket(AF_INET, SOCK_STREAM, 0), fd, one = 1;

	if (s >= 0)
		(void)setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (s < 0 || bind(s, (struct sockaddr *)&sa, n) < 0 || listen(s, 1) < 0 || getsockname(s, (struct sockaddr *)&sa, &n) < 0)
		die("listen", NULL);
	printf("%d\n", ntohs(sa.sin_port));
	fflush(stdout);
	if ((fd = accept(s, NULL, NULL)) < 0)
		die("accept", NULL);
	close(s);
	return fd;
}

static int reach(int port)
{
	struct sockaddr_in sa = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)
	};
	int s = socket(AF_INET, SOCK_STREAM, 0);

	if (s < 0 || connect(s, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		die("connect", NULL);
	return s;
}

int main(int argc, char **argv)
{
	struct talk k = { .server = argc > 1 && strcmp(argv[1], "server") == 0, .waiting = BUF_INIT(64 << 20), .user = "" };
	struct transport_options o = {
		.server = k.server, .software = "Wirespeed_0.0_talk", .server_sig_algs = "ssh-ed25519",
		.cb = { .ctx = &k, .check_host_key = check_host_key, .sign_hash = sign_hash, .host_key_for = host_key_for,
			.keys_changed = keys_changed }
	};
	struct buf b = BUF_INIT(100);
	const struct sig_alg *alg;
	const char *host_key;
	int i;

	if (argc < 2 || (!k.server && argc < 3))
		die("usage: engine_talk server|client PORT", &(struct err){ .code = ERR_USAGE });
	log_init("engine_talk", getenv("ENGINE_DEBUG") != NULL ? LOG_LEVEL_DEBUG3 : LOG_LEVEL_ERROR);
	crypto_init();
	proposal_set(&o.proposal, PROPOSAL_KEX, proposal_default_kex(false));
	proposal_set(&o.proposal, PROPOSAL_HOST_KEY, "ssh-ed25519");
	set_both(&o.proposal, PROPOSAL_CIPHER_C2S, proposal_default_ciphers());
	set_both(&o.proposal, PROPOSAL_MAC_C2S, proposal_default_macs());
	set_both(&o.proposal, PROPOSAL_COMPRESS_C2S, "none");
	for (i = k.server ? 2 : 3; i < argc; i++)
		take_option(&k, &o, argv[i]);
	if (k.server && k.none) {
		add_none(&o.proposal, PROPOSAL_CIPHER_C2S);
		if (k.none_mac)
			add_none(&o.proposal, PROPOSAL_MAC_C2S);
	}
	if (k.server && k.key == NULL) {
		host_key = o.proposal.list[PROPOSAL_HOST_KEY];
		alg = sig_alg_find((struct view){ (const uint8_t *)host_key, strcspn(host_key, ",") });
		k.key = key_generate(alg->type, alg->type == KEY_ECDSA ? (unsigned)strtoul(host_key + 16, NULL, 10) : 0, &k.err);
	}
	if (k.key == NULL)
		die("a key is needed", &k.err);
	k.fd = k.server ? serve(k.port) : reach((int)strtol(argv[2], NULL, 10));
	k.t = transport_new(&o, &k.err);
	if (k.t == NULL || transport_start(k.t) < 0)
		die("start", &k.err);
	if (!k.server) {
		buf_put_cstring(&b, "ssh-userauth");
		say(&k, MSG_SERVICE_REQUEST, &b);
	}
	run(&k);
	if (!k.server && k.got != k.want)
		die("data is missing", &(struct err){ .code = ERR_PEER });
	fprintf(stderr, "%s %s %s %s exchanges=%u\n", transport_agreement(k.t)->kex, transport_agreement(k.t)->cipher_c2s,
		transport_agreement(k.t)->mac_c2s, transport_agreement(k.t)->compress_c2s, transport_exchange_count(k.t));
	transport_free(k.t);
	proposal_clear(&o.proposal);
	key_free(k.key);
	buf_free(&k.waiting);
	return 0;
}
