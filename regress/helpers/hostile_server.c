/* hostile_server: a server that misbehaves, for one connection.
 *
 *   hostile_server list            "NAME<tab>EXIT<tab>OPTIONS<tab>STDERR" for every case: what the client's exit status must be,
 *                                  options that it wants, an extended regular expression of what it must say
 *   hostile_server NAME            prints its port, then how it ended */
#include "hostile.h"

static struct key *host_key, *other_key;

/* What the false answers to a key exchange are. */
static struct { bool other_signature, cut_signature, junk_signature, other_blob; } lie;
static const char *software = "hostile_1.0";

static struct view text(const char *s)
{
	return (struct view){ (const uint8_t *)s, strlen(s) };
}

static void wait_end(struct hostile *h)
{
	(void)hostile_flush(h, HOSTILE_WAIT_MS);
	hostile_until_end(h, HOSTILE_WAIT_MS);
}

/* ---- no version, or none that is good; in clear ---- */

static const char version[] = "SSH-2.0-hostile_1.0\r\n";

static void silence(struct hostile *h) { wait_end(h); }
static void close_now(struct hostile *h) { hostile_ended(h, END_CLOSED); }

static void reset_now(struct hostile *h)
{
	struct linger l = { 1, 0 };

	(void)setsockopt(h->fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	hostile_ended(h, END_RESET);
}

static void half_version(struct hostile *h) { hostile_text(h, "SSH-2.0-half"); wait_end(h); }
static void old_version(struct hostile *h) { hostile_text(h, "SSH-1.5-old\r\n"); wait_end(h); }
static void odd_version(struct hostile *h) { hostile_text(h, "SSH-2.0-a\033[2Jb\007\r\n"); wait_end(h); }

static void endless_line(struct hostile *h)
{
	char line[4000];

	memset(line, 'x', sizeof(line));
	for (int i = 0; i < 10000 && hostile_flush(h, 3000); i++)
		hostile_raw(h, line, sizeof(line));
	wait_end(h);
}

static void many_lines(struct hostile *h)
{
	for (int i = 0; i < 5000; i++)
		hostile_text(h, "welcome \033[31mto\033[0m this\a server\r\n");
	hostile_text(h, version);
	wait_end(h);
}

static void slow_lines(struct hostile *h)
{
	for (int i = 0; i < 100 && h->fd >= 0; i++) {
		hostile_text(h, "one moment\r\n");
		(void)hostile_flush(h, 1000);
		hostile_until_end(h, 300);
	}
}

static void garbage(struct hostile *h)
{
	uint8_t junk[20000];

	rand_bytes(junk, sizeof(junk));
	hostile_raw(h, junk, sizeof(junk));
	wait_end(h);
}

/* ---- packets in clear ---- */

static void head(struct hostile *h, uint32_t length, const char *rest, size_t n)
{
	uint8_t b[4];

	hostile_text(h, version);
	wire_store_u32(b, length);
	hostile_raw(h, b, 4);
	hostile_raw(h, rest, n);
	wait_end(h);
}

static void length_huge(struct hostile *h) { head(h, 0x7fffffff, "aaaaaaaaaaaa", 12); }
static void length_zero(struct hostile *h) { head(h, 0, "aaaaaaaaaaaa", 12); }
static void padding_long(struct hostile *h) { head(h, 12, "\377aaaaaaaaaaa", 12); }

static void kexinit_body(struct buf *b, const char *kex)
{
	struct proposal p = { .guess_follows = false };

	*b = BUF_INIT(HOSTILE_BODY_MAX);
	hostile_proposal(&p, "ssh-ed25519");
	if (kex != NULL)
		proposal_set(&p, PROPOSAL_KEX, kex);
	proposal_put(&p, b);
	proposal_clear(&p);
}

static void kexinit(struct hostile *h, const char *kex)
{
	struct buf b;

	kexinit_body(&b, kex);
	hostile_say(h, MSG_KEXINIT, &b);
}

static void kexinit_cut(struct hostile *h)
{
	struct buf b;

	hostile_text(h, version);
	kexinit_body(&b, NULL);
	hostile_say_view(h, MSG_KEXINIT, (struct view){ b.data, b.size / 2 });
	buf_free(&b);
	wait_end(h);
}

static void kexinit_flood(struct hostile *h)
{
	hostile_text(h, version);
	for (int i = 0; i < 100; i++)
		kexinit(h, NULL);
	wait_end(h);
}

static void no_common_kex(struct hostile *h) { hostile_text(h, version); kexinit(h, "kex-of-my-own"); wait_end(h); }
static void silent_after_kexinit(struct hostile *h) { hostile_text(h, version); kexinit(h, NULL); wait_end(h); }

static void one(struct hostile *h, uint8_t type, const char *body, size_t n)
{
	hostile_say_view(h, type, (struct view){ (const uint8_t *)body, n });
}

static void first(struct hostile *h, uint8_t type) { hostile_text(h, version); one(h, type, "\0\0\0\0", 4); wait_end(h); }
static void newkeys_first(struct hostile *h) { hostile_text(h, version); one(h, MSG_NEWKEYS, "", 0); wait_end(h); }
static void success_first(struct hostile *h) { first(h, MSG_USERAUTH_SUCCESS); }
static void banner_first(struct hostile *h) { first(h, MSG_USERAUTH_BANNER); }
static void channel_first(struct hostile *h) { first(h, MSG_CHANNEL_OPEN); }
static void reply_first(struct hostile *h) { first(h, 31); }

static const char bye[] = "\0\0\0\2\0\0\0\32go \033[31maway\a\r\nnow\033]0;x\a\0\0\0\0";

static void farewell_first(struct hostile *h)
{
	hostile_text(h, version);
	one(h, MSG_DISCONNECT, bye, sizeof(bye) - 1);
	wait_end(h);
}

/* A reply of any value. */
static void reply(struct hostile *h, const void *value, size_t n)
{
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

	hostile_text(h, version);
	kexinit(h, "curve25519-sha256");
	if (!hostile_until(h, 30, 1))
		hostile_die("no value of the client's", &(struct err){ .code = ERR_PEER });
	buf_put_string(&b, key_blob(host_key).p, key_blob(host_key).n);
	buf_put_string(&b, value, n);
	buf_put_cstring(&b, "signature");
	hostile_say(h, 31, &b);
	wait_end(h);
}

static void value_zero(struct hostile *h) { static const uint8_t zero[32]; reply(h, zero, 32); }
static void value_short(struct hostile *h) { reply(h, "short", 5); }

static void reply_cut(struct hostile *h)
{
	hostile_text(h, version);
	kexinit(h, "curve25519-sha256");
	one(h, 31, "\0\0\377\377x", 5);
	wait_end(h);
}

static void reply_huge(struct hostile *h)
{
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

	hostile_text(h, version);
	kexinit(h, "curve25519-sha256");
	buf_put_u32(&b, 200000);
	memset(buf_reserve(&b, 200000), 'k', 200000);
	buf_put_u32(&b, 0);
	buf_put_u32(&b, 0);
	hostile_say(h, 31, &b);
	wait_end(h);
}

/* ---- with an engine ---- */

static int sign_hash(void *ctx, const struct sig_alg *alg, struct view blob, struct view hash, struct buf *out, struct err *e)
{
	struct buf sig = BUF_INIT(65536);
	int rc = key_sign(lie.other_signature ? other_key : host_key, alg, hash, &sig, e);

	if (lie.junk_signature && sig.size > 30)
		sig.data[30] ^= 1;
	buf_put(out, sig.data, lie.cut_signature ? sig.size - 5 : sig.size);
	buf_free(&sig);
	return rc;
}

static int host_key_for(void *ctx, const struct sig_alg *alg, struct view *blob)
{
	*blob = key_blob(lie.other_blob ? other_key : host_key);
	return 0;
}

static void exchange(struct hostile *h, const char *compress)
{
	struct transport_options o = {
		.server = true, .software = software, .server_sig_algs = "ssh-ed25519,rsa-sha2-512",
		.cb = { .ctx = h, .sign_hash = sign_hash, .host_key_for = host_key_for }
	};

	packet_free(h->p);
	hostile_proposal(&o.proposal, "ssh-ed25519");
	proposal_set(&o.proposal, PROPOSAL_COMPRESS_C2S, compress);
	proposal_set(&o.proposal, PROPOSAL_COMPRESS_S2C, compress);
	hostile_start_engine(h, &o);
	proposal_clear(&o.proposal);
	while (transport_exchange_count(h->t) == 0 && hostile_turn(h, HOSTILE_WAIT_MS))
		;
}

static void bad_exchange(struct hostile *h) { exchange(h, "none"); wait_end(h); }
static void signature_other(struct hostile *h) { lie.other_signature = true; bad_exchange(h); }
static void signature_cut(struct hostile *h) { lie.cut_signature = true; bad_exchange(h); }
static void signature_junk(struct hostile *h) { lie.junk_signature = true; bad_exchange(h); }

/* ---- authentication ---- */

static void service(struct hostile *h)
{
	exchange(h, "none");
	if (!hostile_until(h, MSG_SERVICE_REQUEST, 1))
		hostile_die("no service request", &(struct err){ .code = ERR_PEER });
}

static void accept_service(struct hostile *h)
{
	service(h);
	one(h, MSG_SERVICE_ACCEPT, "\0\0\0\14ssh-userauth", 16);
	if (!hostile_until(h, MSG_USERAUTH_REQUEST, 1))
		hostile_die("no request", &(struct err){ .code = ERR_PEER });
}

static void silent_service(struct hostile *h) { service(h); wait_end(h); }
static void other_service(struct hostile *h) { service(h); one(h, MSG_SERVICE_ACCEPT, "\0\0\0\10ssh-evil", 12); wait_end(h); }
static void success_no_service(struct hostile *h) { exchange(h, "none"); one(h, MSG_USERAUTH_SUCCESS, "", 0); wait_end(h); }
static void failure_no_service(struct hostile *h) { exchange(h, "none"); one(h, MSG_USERAUTH_FAILURE, "\0\0\0\0\0", 5); wait_end(h); }
static void success_more(struct hostile *h) { accept_service(h); one(h, MSG_USERAUTH_SUCCESS, "x", 1); wait_end(h); }
static void accept_twice(struct hostile *h) { accept_service(h); one(h, MSG_SERVICE_ACCEPT, "\0\0\0\14ssh-userauth", 16); wait_end(h); }
static void info_unasked(struct hostile *h) { accept_service(h); one(h, MSG_USERAUTH_60, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16); wait_end(h); }
static void pk_ok_unasked(struct hostile *h) { accept_service(h); one(h, MSG_USERAUTH_60, "\0\0\0\13ssh-ed25519\0\0\0\1x", 20); wait_end(h); }
static void failure_cut(struct hostile *h) { accept_service(h); one(h, MSG_USERAUTH_FAILURE, "\0\0\377\377x", 5); wait_end(h); }
static void failure_odd(struct hostile *h) { accept_service(h); one(h, MSG_USERAUTH_FAILURE, "\0\0\0\5a\033[2J\0", 10); wait_end(h); }
static void channel_in_auth(struct hostile *h) { accept_service(h); one(h, MSG_CHANNEL_OPEN, "\0\0\0\3x11\0\0\0\0\0\0\0\0\0\0\0\0", 19); wait_end(h); }
static void global_in_auth(struct hostile *h) { accept_service(h); one(h, MSG_GLOBAL_REQUEST, "\0\0\0\1x\1", 6); one(h, MSG_USERAUTH_FAILURE, "\0\0\0\0\0", 5); wait_end(h); }
static void request_in_auth(struct hostile *h) { accept_service(h); one(h, MSG_USERAUTH_REQUEST, "", 0); one(h, MSG_USERAUTH_FAILURE, "\0\0\0\0\0", 5); wait_end(h); }
static void farewell_in_auth(struct hostile *h) { accept_service(h); one(h, MSG_DISCONNECT, bye, sizeof(bye) - 1); wait_end(h); }

static void failures(struct hostile *h, const char *methods, bool partial)
{
	accept_service(h);
	for (int i = 0; i < 10000 && h->fd >= 0; i++) {
		struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

		userauth_failure_put(&b, methods, partial);
		hostile_say(h, MSG_USERAUTH_FAILURE, &b);
		if (i % 100 == 0)
			(void)hostile_flush(h, 1000);
	}
	wait_end(h);
}

static void failure_flood(struct hostile *h) { failures(h, "publickey,password,keyboard-interactive", false); }
static void partial_flood(struct hostile *h) { failures(h, "publickey,keyboard-interactive", true); }

/* Answers every request with partial success: the client must come to an end by itself. */
static void partial_forever(struct hostile *h)
{
	accept_service(h);
	for (unsigned i = 1; i < 1000 && hostile_until(h, MSG_USERAUTH_REQUEST, i); i++) {
		struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

		userauth_failure_put(&b, "publickey,password,keyboard-interactive", true);
		hostile_say(h, MSG_USERAUTH_FAILURE, &b);
	}
	wait_end(h);
}

static void methods_huge(struct hostile *h)
{
	struct buf names = BUF_INIT(HOSTILE_BODY_MAX), b = BUF_INIT(HOSTILE_BODY_MAX);

	while (names.size < 200000)
		buf_printf(&names, "method-%zu,", names.size);
	buf_put(&names, "x", 1);
	accept_service(h);
	userauth_failure_put(&b, buf_cstr(&names), false);
	hostile_say(h, MSG_USERAUTH_FAILURE, &b);
	buf_free(&names);
	wait_end(h);
}

static void banner(struct hostile *h, size_t n)
{
	static const char odd[] = "\033[31mWelcome\033]0;title\a\b\b\b \x9b" "2J\xc3\x28 \xe2\x80\xae";
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX), t = BUF_INIT(HOSTILE_BODY_MAX);

	while (t.size < n)
		buf_put(&t, odd, sizeof(odd) - 1);
	buf_put_buf_string(&b, &t);
	buf_put_cstring(&b, "en\033");
	hostile_say(h, MSG_USERAUTH_BANNER, &b);
	buf_free(&t);
}

static void banner_odd(struct hostile *h) { accept_service(h); banner(h, 1); one(h, MSG_USERAUTH_FAILURE, "\0\0\0\0\0", 5); wait_end(h); }
static void banner_huge(struct hostile *h) { accept_service(h); banner(h, 200000); one(h, MSG_USERAUTH_FAILURE, "\0\0\0\0\0", 5); wait_end(h); }

static void banner_flood(struct hostile *h)
{
	accept_service(h);
	for (int i = 0; i < 3000 && h->fd >= 0 && hostile_flush(h, 5000); i++)
		banner(h, 10000);
	one(h, MSG_USERAUTH_FAILURE, "\0\0\0\0\0", 5);
	wait_end(h);
}

static void banner_cut(struct hostile *h) { accept_service(h); one(h, MSG_USERAUTH_BANNER, "\0\0\377\377x", 5); wait_end(h); }

static void ext_info_nul(struct hostile *h)
{
	accept_service(h);
	one(h, MSG_EXT_INFO, "\0\0\0\1\0\0\0\17server-sig-algs\0\0\0\3a\0b", 30);
	wait_end(h);
}

static void ext_info_flood(struct hostile *h)
{
	accept_service(h);
	for (int i = 0; i < 1000; i++)
		one(h, MSG_EXT_INFO, "\0\0\0\1\0\0\0\1a\0\0\0\1b", 14);
	one(h, MSG_USERAUTH_FAILURE, "\0\0\0\0\0", 5);
	wait_end(h);
}

/* Questions without end, to a client that has no person: it must not ask one. */
static void kbdint_forever(struct hostile *h)
{
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

	accept_service(h);
	userauth_failure_put(&b, "keyboard-interactive", false);
	hostile_say(h, MSG_USERAUTH_FAILURE, &b);
	for (unsigned i = 1; i < 5000 && h->fd >= 0; i++) {
		struct userauth_info_request q = { .count = 0 };

		q.name = q.instruction = text("more \033[31mquestions");
		if (i > 1 && !hostile_until(h, MSG_USERAUTH_61, i - 1))
			break;
		userauth_info_request_put(&b, &q);
		hostile_say(h, MSG_USERAUTH_60, &b);
	}
	wait_end(h);
}

static void kbdint_many(struct hostile *h)
{
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

	accept_service(h);
	userauth_failure_put(&b, "keyboard-interactive", false);
	hostile_say(h, MSG_USERAUTH_FAILURE, &b);
	if (!hostile_until(h, MSG_USERAUTH_REQUEST, 2))
		return;
	one(h, MSG_USERAUTH_60, "\0\0\0\0\0\0\0\0\0\0\0\0\377\377\377\377", 16);
	wait_end(h);
}

/* ---- sessions ---- */

static uint32_t theirs;

static void log_in(struct hostile *h, const char *compress)
{
	exchange(h, compress);
	if (!hostile_until(h, MSG_SERVICE_REQUEST, 1))
		hostile_die("no service request", &(struct err){ .code = ERR_PEER });
	one(h, MSG_SERVICE_ACCEPT, "\0\0\0\14ssh-userauth", 16);
	if (!hostile_until(h, MSG_USERAUTH_REQUEST, 1))
		hostile_die("no request", &(struct err){ .code = ERR_PEER });
	one(h, MSG_USERAUTH_SUCCESS, "", 0);
	transport_set_authenticated(h->t);
}

static void open_wanted(struct hostile *h)
{
	struct reader r;

	if (!hostile_until(h, MSG_CHANNEL_OPEN, 1))
		hostile_die("no channel", &(struct err){ .code = ERR_PEER });
	reader_init(&r, h->body[MSG_CHANNEL_OPEN].data, h->body[MSG_CHANNEL_OPEN].size);
	(void)reader_string(&r);
	theirs = reader_u32(&r);
}

static void on_channel(struct hostile *h, uint8_t type, uint32_t id, const void *rest, size_t n)
{
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

	buf_put_u32(&b, id);
	buf_put(&b, rest, n);
	hostile_say(h, type, &b);
}

static void confirm(struct hostile *h, uint32_t window, uint32_t packet)
{
	struct buf b = BUF_INIT(100);

	buf_put_u32(&b, theirs);
	buf_put_u32(&b, 0);
	buf_put_u32(&b, window);
	buf_put_u32(&b, packet);
	hostile_say(h, MSG_CHANNEL_OPEN_CONFIRMATION, &b);
}

static void start_session(struct hostile *h, const char *compress)
{
	log_in(h, compress);
	open_wanted(h);
	confirm(h, 1 << 20, 32768);
	if (!hostile_until(h, MSG_CHANNEL_REQUEST, 1))
		hostile_die("no request", &(struct err){ .code = ERR_PEER });
	on_channel(h, MSG_CHANNEL_SUCCESS, theirs, "", 0);
}

static void session(struct hostile *h) { start_session(h, "none"); }

static void data(struct hostile *h, uint32_t id, size_t n)
{
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

	buf_put_u32(&b, id);
	buf_put_u32(&b, (uint32_t)n);
	memset(buf_reserve(&b, n), 'd', n);
	hostile_say(h, MSG_CHANNEL_DATA, &b);
}

static void exit_status(struct hostile *h, uint8_t status)
{
	const char body[] = { 0, 0, 0, 11, 'e', 'x', 'i', 't', '-', 's', 't', 'a', 't', 'u', 's', 0, 0, 0, 0, (char)status };

	on_channel(h, MSG_CHANNEL_REQUEST, theirs, body, sizeof(body));
}

static void finish(struct hostile *h)
{
	exit_status(h, 0);
	on_channel(h, MSG_CHANNEL_CLOSE, theirs, "", 0);
	wait_end(h);
}

static void ses_good(struct hostile *h) { session(h); data(h, theirs, 10); finish(h); }

static void ses_opens(struct hostile *h)
{
	static const char *const types[] = {
		"forwarded-tcpip", "x11", "auth-agent@openssh.com", "session", "direct-tcpip", "forwarded-streamlocal@openssh.com",
		"tun@openssh.com", "a\033b", ""
	};

	session(h);
	for (size_t i = 0; i < MEM_COUNT(types); i++)
		for (size_t cut = 0; cut < 20; cut++) {
			struct buf b = BUF_INIT(1000);

			buf_put_cstring(&b, types[i]);
			buf_put_u32(&b, (uint32_t)i);
			buf_put_u32(&b, 65536);
			buf_put_u32(&b, 32768);
			buf_put(&b, "\0\0\0\3a\033b\0\0\0\26\0\0\0\1c\0\0\0\0", cut);
			hostile_say(h, MSG_CHANNEL_OPEN, &b);
		}
	if (!hostile_until(h, MSG_CHANNEL_OPEN_FAILURE, MEM_COUNT(types) * 20) || h->got[MSG_CHANNEL_OPEN_CONFIRMATION] != 0)
		printf("(channels were opened, or opens not answered) ");
	finish(h);
}

static void deaf(struct hostile *h, void (*say)(struct hostile *h))
{
	session(h);
	h->deaf = true;
	for (int i = 0; i < 1000 && h->fd >= 0 && hostile_flush(h, 2000); i++)
		for (int k = 0; k < 1000; k++)
			say(h);
	h->deaf = false;
	hostile_until_end(h, HOSTILE_WAIT_MS);
}

static void one_global(struct hostile *h) { one(h, MSG_GLOBAL_REQUEST, "\0\0\0\11keepalive\1", 14); }
static void one_open(struct hostile *h) { one(h, MSG_CHANNEL_OPEN, "\0\0\0\1x\0\0\0\0\0\1\0\0\0\1\0\0", 17); }
static void one_unknown(struct hostile *h) { one(h, 222, "", 0); }

static void ses_global_flood(struct hostile *h) { deaf(h, one_global); }
static void ses_open_flood(struct hostile *h) { deaf(h, one_open); }
static void ses_unknown_flood(struct hostile *h) { deaf(h, one_unknown); }

static void ses_hostkeys(struct hostile *h)
{
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

	session(h);
	one(h, MSG_GLOBAL_REQUEST, "\0\0\0\27hostkeys-00@openssh.com\0\377\377\377\377", 32);
	buf_put_cstring(&b, "hostkeys-00@openssh.com");
	buf_put_bool(&b, false);
	for (int i = 0; i < 4000; i++)
		buf_put_string(&b, key_blob(other_key).p, key_blob(other_key).n);
	buf_put_cstring(&b, "junk");
	hostile_say(h, MSG_GLOBAL_REQUEST, &b);
	finish(h);
}

static void ses_status_twice(struct hostile *h) { session(h); exit_status(h, 3); exit_status(h, 4); on_channel(h, MSG_CHANNEL_CLOSE, theirs, "", 0); wait_end(h); }

static void ses_exit_signal(struct hostile *h)
{
	struct buf b = BUF_INIT(1000);

	session(h);
	buf_put_cstring(&b, "exit-signal");
	buf_put_bool(&b, false);
	buf_put_cstring(&b, "TERM\033[2J");
	buf_put_bool(&b, true);
	buf_put_cstring(&b, "died \033]0;x\a of it\r\n");
	buf_put_cstring(&b, "");
	on_channel(h, MSG_CHANNEL_REQUEST, theirs, b.data, b.size);
	buf_free(&b);
	on_channel(h, MSG_CHANNEL_CLOSE, theirs, "", 0);
	wait_end(h);
}

static void ses_requests(struct hostile *h)
{
	static const char *const names[] = { "exit-status", "exit-signal", "eow@openssh.com", "xon-xoff", "shell", "pty-req", "a\033b", "" };

	session(h);
	for (size_t i = 0; i < MEM_COUNT(names); i++)
		for (size_t cut = 0; cut < 10; cut++) {
			struct buf b = BUF_INIT(1000);

			buf_put_cstring(&b, names[i]);
			buf_put_bool(&b, cut % 2);
			buf_put(&b, "\0\0\0\3a\033b\377\377\377", cut);
			on_channel(h, MSG_CHANNEL_REQUEST, theirs, b.data, b.size);
			buf_free(&b);
		}
	finish(h);
}

static void ses_overrun(struct hostile *h)
{
	session(h);
	h->deaf = true;
	for (int i = 0; i < 10000 && h->fd >= 0 && hostile_flush(h, 2000); i++)
		data(h, theirs, 32768);
	h->deaf = false;
	hostile_until_end(h, HOSTILE_WAIT_MS);
}

static void ses_adjust(struct hostile *h) { session(h); for (int i = 0; i < 4; i++) on_channel(h, MSG_CHANNEL_WINDOW_ADJUST, theirs, "\377\377\377\377", 4); wait_end(h); }
static void ses_unknown_data(struct hostile *h) { session(h); data(h, 99, 10); wait_end(h); }
static void ses_close_twice(struct hostile *h) { session(h); on_channel(h, MSG_CHANNEL_CLOSE, theirs, "", 0); on_channel(h, MSG_CHANNEL_CLOSE, theirs, "", 0); wait_end(h); }
static void ses_data_after_eof(struct hostile *h) { session(h); on_channel(h, MSG_CHANNEL_EOF, theirs, "", 0); data(h, theirs, 10); finish(h); }
static void ses_reply_unasked(struct hostile *h) { session(h); for (int i = 0; i < 10; i++) on_channel(h, MSG_CHANNEL_SUCCESS, theirs, "", 0); wait_end(h); }
static void ses_confirm_twice(struct hostile *h) { session(h); confirm(h, 1, 32768); wait_end(h); }
static void ses_no_packet(struct hostile *h) { log_in(h, "none"); open_wanted(h); confirm(h, 1 << 20, 0); wait_end(h); }

static void ses_refused(struct hostile *h)
{
	log_in(h, "none");
	open_wanted(h);
	on_channel(h, MSG_CHANNEL_OPEN_FAILURE, theirs, "\0\0\0\1\0\0\0\13no \033[31mway\a\0\0\0\0", 23);
	wait_end(h);
}

static void ses_request_refused(struct hostile *h)
{
	log_in(h, "none");
	open_wanted(h);
	confirm(h, 1 << 20, 32768);
	if (hostile_until(h, MSG_CHANNEL_REQUEST, 1))
		on_channel(h, MSG_CHANNEL_FAILURE, theirs, "", 0);
	on_channel(h, MSG_CHANNEL_CLOSE, theirs, "", 0);
	wait_end(h);
}

static void ses_silence(struct hostile *h) { session(h); h->deaf = true; for (int i = 0; i < 60 && hostile_turn(h, 500); i++) ; }
/* Takes nothing of what the client sends. */
static void ses_stall(struct hostile *h)
{
	log_in(h, "none");
	open_wanted(h);
	confirm(h, 0x7fffffff, 32768);
	(void)hostile_until(h, MSG_CHANNEL_REQUEST, 1);
	h->deaf = true;
	for (int i = 0; i < 60 && hostile_turn(h, 500); i++)
		;
}

static void ses_closed(struct hostile *h) { session(h); (void)hostile_flush(h, 1000); hostile_ended(h, END_CLOSED); }
static void ses_reset(struct hostile *h) { session(h); (void)hostile_flush(h, 1000); reset_now(h); }
static void ses_farewell(struct hostile *h) { session(h); one(h, MSG_DISCONNECT, bye, sizeof(bye) - 1); wait_end(h); }
static void ses_success_again(struct hostile *h) { session(h); one(h, MSG_USERAUTH_SUCCESS, "", 0); one(h, MSG_USERAUTH_FAILURE, "\0\0\0\0\0", 5); one(h, MSG_USERAUTH_60, "", 0); finish(h); }
static void ses_banner(struct hostile *h) { session(h); banner(h, 1); finish(h); }
static void ses_stderr(struct hostile *h) { session(h); on_channel(h, MSG_CHANNEL_EXTENDED_DATA, theirs, "\0\0\0\7\0\0\0\1x", 9); on_channel(h, MSG_CHANNEL_EXTENDED_DATA, theirs, "\0\0\0\1\0\0\0\4text", 12); finish(h); }

static bool said_eow(const struct hostile *h)
{
	const struct buf *b = &h->body[MSG_CHANNEL_REQUEST];

	return b->size > 23 && memcmp(b->data + 8, "eow@openssh.com", 15) == 0;
}

/* Output until the client wants no more, which it says only to those who know how. */
static void ses_endless(struct hostile *h)
{
	software = "OpenSSH_9.9_not";
	session(h);
	for (int i = 0; i < 100000 && h->fd >= 0 && !said_eow(h); i++) {
		data(h, theirs, 1000);
		(void)hostile_flush(h, 1000);
	}
	finish(h);
}

static void ses_output(struct hostile *h)
{
	session(h);
	for (int i = 0; i < 100; i++)
		data(h, theirs, 1000);
	finish(h);
}

/* ---- later exchanges ---- */

static void rekey(struct hostile *h)
{
	unsigned before = transport_exchange_count(h->t);

	if (transport_rekey(h->t) < 0)
		return;
	while (transport_exchange_count(h->t) == before && hostile_turn(h, 10000))
		;
}

static void key_other_host(struct hostile *h)
{
	session(h);
	buf_reset(&h->t->host_key_blob);
	buf_put(&h->t->host_key_blob, key_blob(other_key).p, key_blob(other_key).n);
	lie.other_blob = lie.other_signature = true;
	rekey(h);
	wait_end(h);
}

static void key_other_signature(struct hostile *h) { session(h); lie.other_signature = true; rekey(h); wait_end(h); }
static void key_flood(struct hostile *h) { session(h); for (int i = 0; i < 50; i++) rekey(h); finish(h); }
static void key_twice(struct hostile *h) { session(h); h->quiet_engine = true; kexinit(h, NULL); kexinit(h, NULL); wait_end(h); }
static void key_then_data(struct hostile *h) { session(h); h->quiet_engine = true; kexinit(h, NULL); data(h, theirs, 10); one(h, MSG_USERAUTH_FAILURE, "", 0); wait_end(h); }
static void key_newkeys(struct hostile *h) { session(h); one(h, MSG_NEWKEYS, "", 0); wait_end(h); }

static void key_none(struct hostile *h)
{
	struct proposal p = { .guess_follows = false };
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

	session(h);
	hostile_proposal(&p, "ssh-ed25519");
	proposal_set(&p, PROPOSAL_CIPHER_C2S, "none");
	proposal_set(&p, PROPOSAL_CIPHER_S2C, "none");
	proposal_put(&p, &b);
	proposal_clear(&p);
	hostile_say(h, MSG_KEXINIT, &b);
	wait_end(h);
}

static void bit_flipped(struct hostile *h) { session(h); data(h, theirs, 1000); h->p->out.mem[h->p->out.tail - 20] ^= 1; wait_end(h); }

static void zlib_many(struct hostile *h)
{
	static uint8_t zero[250000];

	start_session(h, "zlib@openssh.com");
	wire_store_u32(zero, sizeof(zero) - 4);
	for (int i = 0; i < 500 && h->fd >= 0; i++)
		hostile_say_view(h, MSG_IGNORE, (struct view){ zero, sizeof(zero) });
	finish(h);
}

#define E255 "255"
#define CORRUPT "(packet corrupt|Bad packet length|bad packet length|Corrupted)"

static const struct {
	const char *name;
	void (*run)(struct hostile *h);
	const char *status, *options, *says;
} cases[] = {
	{ "good", ses_good, "0", "", "" },

	{ "silence", silence, E255, "-oConnectTimeout=2", "timed out" },
	{ "close-now", close_now, E255, "", "Connection (closed|reset) by" },
	{ "reset-now", reset_now, E255, "", "Connection (reset|closed) by" },
	{ "half-version", half_version, E255, "-oConnectTimeout=2", "timed out" },
	{ "slow-lines", slow_lines, E255, "-oConnectTimeout=2", "timed out" },
	{ "old-version", old_version, E255, "", "major versions differ" },
	{ "odd-version", odd_version, E255, "-oConnectTimeout=2", "timed out" },
	{ "endless-line", endless_line, E255, "", "." },
	{ "many-lines", many_lines, E255, "-v", "no identification" },
	{ "garbage", garbage, E255, "", "." },
	{ "length-huge", length_huge, E255, "", CORRUPT },
	{ "length-zero", length_zero, E255, "", CORRUPT },
	{ "padding-long", padding_long, E255, "", CORRUPT },
	{ "kexinit-cut", kexinit_cut, E255, "", "KEXINIT" },
	{ "kexinit-flood", kexinit_flood, E255, "", "KEXINIT came within" },
	{ "no-common-kex", no_common_kex, E255, "", "Unable to negotiate with 127.0.0.1 port [0-9]+: no matching key exchange method found. "
		"Their offer: kex-of-my-own" },
	{ "silent-after-kexinit", silent_after_kexinit, E255, "-oConnectTimeout=2", "timed out" },
	{ "newkeys-first", newkeys_first, E255, "", "NEWKEYS came out of turn" },
	{ "success-first", success_first, E255, "", "message 52 came out of turn" },
	{ "banner-first", banner_first, E255, "", "message 53 came out of turn" },
	{ "channel-first", channel_first, E255, "", "message 90 came out of turn" },
	{ "reply-first", reply_first, E255, "", "key exchange message 31 came out of turn" },
	{ "farewell-first", farewell_first, E255, "", "Received disconnect from 127.0.0.1 port [0-9]+:2: go .033\\[31maway" },
	{ "value-zero", value_zero, E255, "", "key agreement" },
	{ "value-short", value_short, E255, "", "key agreement" },
	{ "reply-cut", reply_cut, E255, "", "key exchange reply is too short" },
	{ "reply-huge", reply_huge, E255, "", "key" },
	{ "signature-other", signature_other, E255, "", "signature over the key exchange is wrong" },
	{ "signature-cut", signature_cut, E255, "", "signature over the key exchange is wrong" },
	{ "signature-junk", signature_junk, E255, "", "signature over the key exchange is wrong" },

	{ "silent-service", silent_service, E255, "-oServerAliveInterval=1 -oServerAliveCountMax=2", "Timeout, server 127.0.0.1 not responding" },
	{ "other-service", other_service, E255, "", "service" },
	{ "success-no-service", success_no_service, E255, "", "unexpected message 5[12] during authentication" },
	{ "failure-no-service", failure_no_service, E255, "", "unexpected message 5[12] during authentication" },
	{ "success-more", success_more, E255, "", "bytes too many" },
	{ "accept-twice", accept_twice, E255, "", "." },
	{ "info-unasked", info_unasked, E255, "", "." },
	{ "pk-ok-unasked", pk_ok_unasked, E255, "", "." },
	{ "failure-cut", failure_cut, E255, "", "malformed" },
	{ "failure-odd", failure_odd, E255, "", "malformed" },
	{ "channel-in-auth", channel_in_auth, E255, "", "." },
	{ "global-in-auth", global_in_auth, E255, "", "unexpected message 80 during authentication" },
	{ "request-in-auth", request_in_auth, E255, "", "unexpected message 50 during authentication" },
	{ "farewell-in-auth", farewell_in_auth, E255, "", "Received disconnect from 127.0.0.1 port [0-9]+:2: go .033\\[31maway" },
	{ "failure-flood", failure_flood, E255, "", "Permission denied" },
	{ "partial-flood", partial_flood, E255, "", "Permission denied" },
	{ "partial-forever", partial_forever, E255, "", "Permission denied" },
	{ "methods-huge", methods_huge, E255, "", "Permission denied" },
	{ "banner-odd", banner_odd, E255, "", "Welcome" },
	{ "banner-huge", banner_huge, E255, "", "Welcome" },
	{ "banner-flood", banner_flood, E255, "", "." },
	{ "banner-cut", banner_cut, E255, "", "malformed" },
	{ "ext-info-nul", ext_info_nul, E255, "", "EXT_INFO holds a NUL" },
	{ "ext-info-flood", ext_info_flood, E255, "", "Permission denied" },

	{ "opens", ses_opens, "0", "", "" },
	{ "global-flood", ses_global_flood, E255, "", "too much output is waiting" },
	{ "open-flood", ses_open_flood, E255, "", "too much output is waiting" },
	{ "unknown-flood", ses_unknown_flood, E255, "", "too much output is waiting" },
	{ "hostkeys", ses_hostkeys, "0", "", "" },
	{ "status-twice", ses_status_twice, "[34]", "", "" },
	{ "exit-signal", ses_exit_signal, "255", "", "" },
	{ "requests", ses_requests, "0", "", "" },
	{ "adjust", ses_adjust, E255, "", "window overflow" },
	{ "unknown-data", ses_unknown_data, E255, "", "channel that does not exist" },
	{ "close-twice", ses_close_twice, E255, "", "." },
	{ "data-after-eof", ses_data_after_eof, "0", "", "" },
	{ "reply-unasked", ses_reply_unasked, E255, "", "reply without a request" },
	{ "confirm-twice", ses_confirm_twice, E255, "", "confirmed out of turn" },
	{ "no-packet", ses_no_packet, E255, "", "maximum packet size too small" },
	{ "refused", ses_refused, E255, "", "no .033\\[31mway" },
	{ "request-refused", ses_request_refused, E255, "", "." },
	{ "ses-silence", ses_silence, E255, "-oServerAliveInterval=1 -oServerAliveCountMax=2", "Timeout, server 127.0.0.1 not responding" },
	{ "ses-closed", ses_closed, E255, "", "Connection to 127.0.0.1 closed by remote host" },
	{ "ses-reset", ses_reset, E255, "", "Connection (reset by|to 127.0.0.1 closed)" },
	{ "ses-farewell", ses_farewell, E255, "", "Received disconnect from 127.0.0.1 port [0-9]+:2: go .033\\[31maway" },
	{ "success-again", ses_success_again, "0|255", "", "" },
	{ "ses-banner", ses_banner, "0|255", "", "" },
	{ "ses-stderr", ses_stderr, "0", "", "text" },

	{ "key-other-host", key_other_host, E255, "", "host key is not that of the first exchange" },
	{ "key-other-signature", key_other_signature, E255, "", "signature over the key exchange is wrong" },
	{ "key-flood", key_flood, "0", "", "" },
	{ "key-twice", key_twice, E255, "", "KEXINIT came within" },
	{ "key-then-data", key_then_data, E255, "", "message 51 came out of turn" },
	{ "key-newkeys", key_newkeys, E255, "", "NEWKEYS came out of turn" },
	{ "key-none", key_none, E255, "", "no matching cipher found" },
	{ "bit-flipped", bit_flipped, E255, "", "message authentication code incorrect|Corrupted MAC" },
	{ "zlib-many", zlib_many, "0", "-C", "" },

	/* For scripts that watch stdout. */
	{ ".endless", ses_endless, "", "", "" },
	{ ".output", ses_output, "", "", "" },
	{ ".overrun", ses_overrun, E255, "", "peer sent more than its window" },
	{ ".stall", ses_stall, E255, "", "Timeout, server 127.0.0.1 not responding" },
	{ ".kbdint-forever", kbdint_forever, E255, "", "questions without end" },
	{ ".kbdint-many", kbdint_many, E255, "", "too many prompts" },
};

int main(int argc, char **argv)
{
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(sa);
	struct hostile h = { .user = "" };
	struct err e = { 0 };
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)alarm(100);
	log_init("hostile", getenv("ENGINE_DEBUG") != NULL ? LOG_LEVEL_DEBUG3 : LOG_LEVEL_QUIET);
	crypto_init();
	for (size_t i = 0; argc == 2 && strcmp(argv[1], "list") == 0 && i < MEM_COUNT(cases); i++)
		printf("%s\t%s\t%s\t%s\n", cases[i].name, cases[i].status, *cases[i].options != '\0' ? cases[i].options : "-",
			cases[i].says);
	if (argc == 2 && strcmp(argv[1], "list") == 0)
		return 0;
	host_key = key_generate(KEY_ED25519, 0, &e);
	other_key = key_generate(KEY_ED25519, 0, &e);
	if (bind(s, (struct sockaddr *)&sa, n) < 0 || listen(s, 1) < 0 || getsockname(s, (struct sockaddr *)&sa, &n) < 0)
		hostile_die("listen", NULL);
	printf("%d\n", ntohs(sa.sin_port));
	fflush(stdout);
	if ((fd = accept(s, NULL, NULL)) < 0)
		hostile_die("accept", NULL);
	close(s);
	hostile_init(&h, fd);
	hostile_start_bare(&h);
	for (size_t i = 0; i < MEM_COUNT(cases); i++)
		if (argc == 2 && strcmp(argv[1], cases[i].name) == 0)
			cases[i].run(&h);
	printf("end=%s", hostile_end_name(h.end));
	if (h.end == END_DISCONNECT)
		printf(" reason=%u \"%s\"", h.reason, h.text);
	printf("\n");
	hostile_clear(&h);
	key_free(host_key);
	key_free(other_key);
	return 0;
}
