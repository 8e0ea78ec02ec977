/* hostile_session: a client that has logged in and misbehaves then. See hostile_run.h for how it is called. */
#include "hostile_run.h"

#include <zlib.h>

enum { WINDOW = 1 << 30 };

static uint32_t theirs;          /* number of the server's end of our channel */

static void wait_end(struct hostile *h)
{
	(void)hostile_flush(h, HOSTILE_WAIT_MS);
	hostile_until_end(h, HOSTILE_WAIT_MS);
}

static struct view text(const char *s)
{
	return (struct view){ (const uint8_t *)s, strlen(s) };
}

static void not_as_wanted(struct hostile *h, const char *what)
{
	printf("(%s) ", what);
	h->end = 0;
}

static void log_in(struct hostile *h)
{
	const struct sig_alg *alg = sig_alg_find(text("ssh-ed25519"));
	struct userauth_request q = {
		.kind = USERAUTH_PUBLICKEY, .user = text(h->user), .service = text(USERAUTH_CONNECTION), .has_signature = true,
		.alg = text("ssh-ed25519")
	};
	struct buf data = BUF_INIT(65536), sig = BUF_INIT(65536), b = BUF_INIT(65536);
	struct err e = { 0 };

	if (h->key == NULL)
		hostile_die("a key is needed", &(struct err){ .code = ERR_USAGE });
	q.key_blob = key_blob(h->key);
	buf_put_cstring(&b, USERAUTH_SERVICE);
	hostile_say(h, MSG_SERVICE_REQUEST, &b);
	userauth_signed_data_put(&data, transport_session_id(h->t), &q);
	if (key_sign(h->key, alg, (struct view){ data.data, data.size }, &sig, &e) < 0)
		hostile_die("sign", &e);
	q.signature = (struct view){ sig.data, sig.size };
	userauth_request_put(&b, &q);
	hostile_say(h, MSG_USERAUTH_REQUEST, &b);
	buf_free(&data);
	buf_free(&sig);
	/* With compression the byte after success is another language. */
	while (h->got[MSG_USERAUTH_SUCCESS] == 0 && hostile_turn(h, HOSTILE_WAIT_MS))
		;
	if (h->got[MSG_USERAUTH_SUCCESS] == 0)
		hostile_die("not let in", &(struct err){ .code = ERR_DENIED });
	transport_set_authenticated(h->t);
}

void hostile_begin(struct hostile *h)
{
	hostile_begin_engine(h);
	log_in(h);
}

/* ---- messages ---- */

static void bytes(struct hostile *h, uint8_t type, const char *body, size_t n)
{
	hostile_say_view(h, type, (struct view){ (const uint8_t *)body, n });
}

static void put_open(struct buf *b, const char *type, uint32_t id)
{
	*b = BUF_INIT(HOSTILE_BODY_MAX);
	buf_put_cstring(b, type);
	buf_put_u32(b, id);
	buf_put_u32(b, WINDOW);
	buf_put_u32(b, 32768);
}

static void open_channel(struct hostile *h, const char *type, uint32_t id)
{
	struct buf b;

	put_open(&b, type, id);
	hostile_say(h, MSG_CHANNEL_OPEN, &b);
}

static void open_session(struct hostile *h)
{
	struct reader r;

	open_channel(h, "session", 0);
	if (!hostile_until(h, MSG_CHANNEL_OPEN_CONFIRMATION, 1))
		hostile_die("no session", &(struct err){ .code = ERR_PEER });
	reader_init(&r, h->body[MSG_CHANNEL_OPEN_CONFIRMATION].data, h->body[MSG_CHANNEL_OPEN_CONFIRMATION].size);
	(void)reader_u32(&r);
	theirs = reader_u32(&r);
}

static void put_request(struct buf *b, const char *name, bool reply)
{
	*b = BUF_INIT(HOSTILE_BODY_MAX);
	buf_put_u32(b, theirs);
	buf_put_cstring(b, name);
	buf_put_bool(b, reply);
}

static void request_text(struct hostile *h, const char *name, const char *value, bool reply)
{
	struct buf b;

	put_request(&b, name, reply);
	buf_put_cstring(&b, value);
	hostile_say(h, MSG_CHANNEL_REQUEST, &b);
}

static void exec(struct hostile *h, const char *command)
{
	unsigned before = h->got[MSG_CHANNEL_SUCCESS];

	request_text(h, "exec", command, true);
	if (!hostile_until(h, MSG_CHANNEL_SUCCESS, before + 1))
		hostile_die("exec", &(struct err){ .code = ERR_DENIED });
}

static void on_channel(struct hostile *h, uint8_t type, uint32_t id, const void *rest, size_t n)
{
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

	buf_put_u32(&b, id);
	buf_put(&b, rest, n);
	hostile_say(h, type, &b);
}

static void data(struct hostile *h, uint32_t id, size_t n)
{
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

	buf_put_u32(&b, id);
	buf_put_u32(&b, (uint32_t)n);
	memset(buf_reserve(&b, n), 'd', n);
	hostile_say(h, MSG_CHANNEL_DATA, &b);
}

/* Something that is answered, to know that the server is still there. */
static bool alive(struct hostile *h)
{
	unsigned before = h->got[MSG_REQUEST_FAILURE];
	struct buf b = BUF_INIT(100);

	buf_put_cstring(&b, "are-you-there@example.com");
	buf_put_bool(&b, true);
	hostile_say(h, MSG_GLOBAL_REQUEST, &b);
	return hostile_until(h, MSG_REQUEST_FAILURE, before + 1);
}

static void must_live(struct hostile *h)
{
	if (!alive(h))
		not_as_wanted(h, "the server is gone");
}

/* ---- a good client ---- */

static void login(struct hostile *h)
{
	const struct buf *got = &h->body[MSG_CHANNEL_DATA];

	open_session(h);
	exec(h, "echo alive");
	(void)hostile_until(h, MSG_CHANNEL_CLOSE, 1);
	if (got->size != 14 || memcmp(got->data + 8, "alive\n", 6) != 0)
		not_as_wanted(h, "no output");
	transport_disconnect(h->t, DISCONNECT_BY_APPLICATION, "done");
	(void)hostile_flush(h, 1000);
}

/* ---- channels that are not there ---- */

static void unknown_channel(struct hostile *h, uint8_t type)
{
	struct buf b;

	theirs = 77;
	put_request(&b, "shell", false);
	if (type == MSG_CHANNEL_REQUEST)
		hostile_say(h, type, &b);
	else
		on_channel(h, type, 77, "\0\0\0\1x\0\0\0\1\0\0\0\0", 13);
	buf_free(&b);
	wait_end(h);
}

static void unknown_data(struct hostile *h) { unknown_channel(h, MSG_CHANNEL_DATA); }
static void unknown_extended(struct hostile *h) { unknown_channel(h, MSG_CHANNEL_EXTENDED_DATA); }
static void unknown_adjust(struct hostile *h) { unknown_channel(h, MSG_CHANNEL_WINDOW_ADJUST); }
static void unknown_eof(struct hostile *h) { unknown_channel(h, MSG_CHANNEL_EOF); }
static void unknown_close(struct hostile *h) { unknown_channel(h, MSG_CHANNEL_CLOSE); }
static void unknown_request(struct hostile *h) { unknown_channel(h, MSG_CHANNEL_REQUEST); }
static void unknown_success(struct hostile *h) { unknown_channel(h, MSG_CHANNEL_SUCCESS); }
static void unknown_confirmation(struct hostile *h) { unknown_channel(h, MSG_CHANNEL_OPEN_CONFIRMATION); }
static void unknown_failure(struct hostile *h) { unknown_channel(h, MSG_CHANNEL_OPEN_FAILURE); }

static void no_channel_number(struct hostile *h) { bytes(h, MSG_CHANNEL_DATA, "\0", 1); wait_end(h); }

/* ---- windows and the order of messages ---- */

/* A tenth more than the window is forgiven, as OpenSSH does; here that is all there is. */
static void data_before_exec(struct hostile *h)
{
	open_session(h);
	for (int i = 0; i < 20; i++)
		data(h, theirs, 20000);
	wait_end(h);
}


static void window_overrun(struct hostile *h)
{
	open_session(h);
	exec(h, "sleep 20");
	for (int i = 0; i < 1000 && h->fd >= 0; i++)
		data(h, theirs, 32768);
	wait_end(h);
}

static void adjust_overflow(struct hostile *h)
{
	open_session(h);
	for (int i = 0; i < 5; i++)
		on_channel(h, MSG_CHANNEL_WINDOW_ADJUST, theirs, "\377\377\377\377", 4);
	wait_end(h);
}

static void data_length_lies(struct hostile *h)
{
	open_session(h);
	exec(h, "cat");
	on_channel(h, MSG_CHANNEL_DATA, theirs, "\0\1\0\0short", 9);
	wait_end(h);
}

static void confirmed_twice(struct hostile *h)
{
	open_session(h);
	on_channel(h, MSG_CHANNEL_OPEN_CONFIRMATION, theirs, "\0\0\0\0\0\1\0\0\0\1\0\0", 12);
	wait_end(h);
}

static void close_twice(struct hostile *h)
{
	open_session(h);
	exec(h, "sleep 3");
	on_channel(h, MSG_CHANNEL_CLOSE, theirs, "", 0);
	on_channel(h, MSG_CHANNEL_CLOSE, theirs, "", 0);
	hostile_until_end(h, 500);
	/* Either its number is free already, and that is fatal, or it is not yet, and that is too. */
	if (h->end == END_OPEN)
		must_live(h);
}

static void data_after_eof(struct hostile *h)
{
	open_session(h);
	exec(h, "cat >/dev/null; sleep 1");
	on_channel(h, MSG_CHANNEL_EOF, theirs, "", 0);
	on_channel(h, MSG_CHANNEL_EOF, theirs, "", 0);
	for (int i = 0; i < 10; i++)
		data(h, theirs, 32768);
	must_live(h);
}

static void reply_unasked(struct hostile *h)
{
	open_session(h);
	on_channel(h, MSG_CHANNEL_SUCCESS, theirs, "", 0);
	wait_end(h);
}

static void global_reply_unasked(struct hostile *h)
{
	for (int i = 0; i < 10000; i++)
		bytes(h, MSG_REQUEST_SUCCESS, "", 0);
	must_live(h);
}

/* ---- requests ---- */

static void env_bomb(struct hostile *h)
{
	struct buf b;
	char name[64];

	open_session(h);
	for (int i = 0; i < 10000; i++) {
		put_request(&b, "env", i % 2 == 0);
		(void)snprintf(name, sizeof(name), i % 3 == 0 ? "LC_%d" : "LD_PRELOAD%d", i);
		buf_put_cstring(&b, name);
		buf_put_cstring(&b, "value");
		hostile_say(h, MSG_CHANNEL_REQUEST, &b);
	}
	put_request(&b, "env", false);
	buf_put_cstring(&b, "LC_BIG");
	memset(buf_reserve(&b, 4), 0, 4);
	buf_poke_u32(&b, (uint32_t)b.size - 4, 200000);
	memset(buf_reserve(&b, 200000), 'v', 200000);
	hostile_say(h, MSG_CHANNEL_REQUEST, &b);
	exec(h, "env | grep -c '^LC_'; env | grep LD_; true");
	must_live(h);
}

static void requests_broken(struct hostile *h)
{
	static const char *const names[] = {
		"pty-req", "x11-req", "env", "shell", "exec", "subsystem", "window-change", "xon-xoff", "signal", "break",
		"auth-agent-req@openssh.com", "exit-status", "exit-signal", "eow@openssh.com", "keepalive@openssh.com", "", "no\033such"
	};
	unsigned n = 0;

	open_session(h);
	for (size_t i = 0; i < MEM_COUNT(names); i++)
		for (size_t cut = 0; cut < 12; cut++) {
			struct buf b;

			put_request(&b, names[i], true);
			buf_put(&b, "\0\0\0\5abc\377\377\377\377\377", cut);
			hostile_say(h, MSG_CHANNEL_REQUEST, &b);
			n++;
		}
	while (h->got[MSG_CHANNEL_SUCCESS] + h->got[MSG_CHANNEL_FAILURE] < n && hostile_turn(h, 5000))
		;
	if (h->got[MSG_CHANNEL_SUCCESS] + h->got[MSG_CHANNEL_FAILURE] < n && h->got[MSG_CHANNEL_CLOSE] == 0)
		not_as_wanted(h, "requests without an answer");
	must_live(h);
}

static void request_cut(struct hostile *h)
{
	open_session(h);
	on_channel(h, MSG_CHANNEL_REQUEST, theirs, "\0\0\377\377exec", 8);
	wait_end(h);
}

static void exec_nul(struct hostile *h)
{
	struct buf b;

	open_session(h);
	put_request(&b, "exec", true);
	buf_put_string(&b, "true\0rm", 7);
	hostile_say(h, MSG_CHANNEL_REQUEST, &b);
	if (!hostile_until(h, MSG_CHANNEL_FAILURE, 1))
		not_as_wanted(h, "a command with a NUL was taken");
	must_live(h);
}

static void exec_huge(struct hostile *h)
{
	char *command = mem_alloc(200001);

	memset(command, ' ', 200000);
	command[200000] = '\0';
	open_session(h);
	request_text(h, "exec", command, true);
	free(command);
	if (!hostile_until(h, MSG_CHANNEL_FAILURE, 1))
		not_as_wanted(h, "a command of 200,000 bytes was taken");
	must_live(h);
}

static void exec_twice(struct hostile *h)
{
	open_session(h);
	exec(h, "sleep 1");
	request_text(h, "exec", "echo second", true);
	if (!hostile_until(h, MSG_CHANNEL_FAILURE, 1) || h->got[MSG_CHANNEL_DATA] != 0)
		not_as_wanted(h, "a second command was taken");
	must_live(h);
}

static void put_pty(struct buf *b, const char *modes, size_t n)
{
	put_request(b, "pty-req", true);
	buf_put_cstring(b, "xterm\033]0;\a");
	for (int i = 0; i < 4; i++)
		buf_put_u32(b, 0xffffffff);
	buf_put_string(b, modes, n);
}

static void pty_broken(struct hostile *h)
{
	static char modes[30000];
	struct buf b;

	memset(modes, 0x35, sizeof(modes));
	open_session(h);
	put_pty(&b, modes, sizeof(modes));
	hostile_say(h, MSG_CHANNEL_REQUEST, &b);
	put_pty(&b, "\1", 1);
	hostile_say(h, MSG_CHANNEL_REQUEST, &b);
	while (h->got[MSG_CHANNEL_SUCCESS] + h->got[MSG_CHANNEL_FAILURE] < 2 && hostile_turn(h, 5000))
		;
	exec(h, "tty");
	(void)hostile_until(h, MSG_CHANNEL_CLOSE, 1);
	must_live(h);
}

/* A terminal after the other: none may be left open. */
static void pty_churn(struct hostile *h)
{
	for (unsigned i = 0; i < hostile_n(100); i++) {
		struct buf b;

		open_channel(h, "session", i);
		if (!hostile_until(h, MSG_CHANNEL_OPEN_CONFIRMATION, i + 1))
			break;
		theirs = wire_load_u32(h->body[MSG_CHANNEL_OPEN_CONFIRMATION].data + 4);
		put_pty(&b, "\0", 1);
		hostile_say(h, MSG_CHANNEL_REQUEST, &b);
		on_channel(h, MSG_CHANNEL_CLOSE, theirs, "", 0);
		if (!hostile_until(h, MSG_CHANNEL_CLOSE, i + 1))
			break;
	}
	if (h->got[MSG_CHANNEL_SUCCESS] != hostile_n(100))
		not_as_wanted(h, "not every terminal was given");
	must_live(h);
}

/* Programs that outlive their channels, one after the other. */
static void exec_churn(struct hostile *h)
{
	for (unsigned i = 0; i < hostile_n(100); i++) {
		open_channel(h, "session", i);
		if (!hostile_until(h, MSG_CHANNEL_OPEN_CONFIRMATION, i + 1))
			break;
		theirs = wire_load_u32(h->body[MSG_CHANNEL_OPEN_CONFIRMATION].data + 4);
		exec(h, "exec sleep 0.1");
		on_channel(h, MSG_CHANNEL_CLOSE, theirs, "", 0);
		if (!hostile_until(h, MSG_CHANNEL_CLOSE, i + 1))
			break;
	}
	if (h->got[MSG_CHANNEL_CLOSE] != hostile_n(100))
		not_as_wanted(h, "not every program was started");
	must_live(h);
	printf("children=");
	fflush(stdout);
	open_session(h);
	h->got[MSG_CHANNEL_DATA] = 0;
	exec(h, "sleep 0.5; ps -o stat= --ppid $PPID | grep -c Z");
	(void)hostile_until(h, MSG_CHANNEL_DATA, 1);
	printf("%.*s ", (int)h->body[MSG_CHANNEL_DATA].size - 9, (const char *)h->body[MSG_CHANNEL_DATA].data + 8);
	if (h->body[MSG_CHANNEL_DATA].data == NULL || h->body[MSG_CHANNEL_DATA].data[8] != '0')
		not_as_wanted(h, "zombies");
}

static void open_bomb(struct hostile *h)
{
	for (unsigned i = 0; i < 10000; i++)
		open_channel(h, "session", i);
	while (h->got[MSG_CHANNEL_OPEN_CONFIRMATION] + h->got[MSG_CHANNEL_OPEN_FAILURE] < 10000 && hostile_turn(h, 10000))
		;
	if (h->got[MSG_CHANNEL_OPEN_CONFIRMATION] != 10 || h->got[MSG_CHANNEL_OPEN_FAILURE] != 9990)
		not_as_wanted(h, "MaxSessions");
	must_live(h);
}

static void open_types(struct hostile *h)
{
	static const char *const types[] = {
		"direct-tcpip", "forwarded-tcpip", "x11", "auth-agent@openssh.com", "tun@openssh.com",
		"direct-streamlocal@openssh.com", "forwarded-streamlocal@openssh.com", "", "a\033b"
	};

	for (size_t i = 0; i < MEM_COUNT(types); i++)
		for (size_t cut = 0; cut < 20; cut++) {
			struct buf b;

			put_open(&b, types[i], (uint32_t)i);
			buf_put(&b, "\0\0\0\3a\033b\377\377\377\377\0\0\0\1c\0\0\0\0", cut);
			hostile_say(h, MSG_CHANNEL_OPEN, &b);
		}
	if (!hostile_until(h, MSG_CHANNEL_OPEN_FAILURE, MEM_COUNT(types) * 20))
		not_as_wanted(h, "opens without an answer");
	must_live(h);
}

static void open_long_type(struct hostile *h)
{
	char type[100001];

	memset(type, 't', 100000);
	type[100000] = '\0';
	open_channel(h, type, 0);
	wait_end(h);
}

static void open_cut(struct hostile *h) { bytes(h, MSG_CHANNEL_OPEN, "\0\0\0\7session\0\0", 13); wait_end(h); }

static void open_no_room(struct hostile *h)
{
	struct buf b = BUF_INIT(100);

	buf_put_cstring(&b, "session");
	buf_put_u32(&b, 0);
	buf_put_u32(&b, 0);
	buf_put_u32(&b, 0);
	hostile_say(h, MSG_CHANNEL_OPEN, &b);
	if (!hostile_until(h, MSG_CHANNEL_OPEN_FAILURE, 1))
		not_as_wanted(h, "packets of no size were fine");
	must_live(h);
}

static void session_after_no_more(struct hostile *h)
{
	struct buf b = BUF_INIT(100);

	buf_put_cstring(&b, "no-more-sessions@openssh.com");
	buf_put_bool(&b, false);
	hostile_say(h, MSG_GLOBAL_REQUEST, &b);
	open_channel(h, "session", 0);
	wait_end(h);
}

/* ---- floods whose answers are not read ---- */

static void deaf(struct hostile *h, void (*one)(struct hostile *h))
{
	h->deaf = true;
	for (unsigned i = 0; i < hostile_n(1000000) && h->fd >= 0 && hostile_flush(h, 2000); i += 1000)
		for (int k = 0; k < 1000 && h->fd >= 0; k++)
			one(h);
	h->deaf = false;
	hostile_until_end(h, HOSTILE_WAIT_MS);
}

static void one_global(struct hostile *h)
{
	bytes(h, MSG_GLOBAL_REQUEST, "\0\0\0\11keepalive\1", 14);
}

static void one_open(struct hostile *h)
{
	open_channel(h, "x", 0);
}

static void one_channel_request(struct hostile *h)
{
	request_text(h, "no-such", "x", true);
}

static void one_ping(struct hostile *h)
{
	bytes(h, MSG_PING, "\0\0\0\10pingpong", 12);
}

static void one_unknown(struct hostile *h)
{
	bytes(h, 222, "x", 1);
}

static void one_prove(struct hostile *h)
{
	bytes(h, MSG_GLOBAL_REQUEST, "\0\0\0\35hostkeys-prove-00@openssh.com\1\0\0\0\1x", 39);
}

static void global_flood(struct hostile *h) { deaf(h, one_global); }
static void open_flood(struct hostile *h) { deaf(h, one_open); }
static void request_flood(struct hostile *h) { open_session(h); deaf(h, one_channel_request); }
static void ping_flood(struct hostile *h) { deaf(h, one_ping); }
static void unknown_flood(struct hostile *h) { deaf(h, one_unknown); }
static void prove_flood(struct hostile *h) { deaf(h, one_prove); }

static void prove_huge(struct hostile *h)
{
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

	buf_put_cstring(&b, "hostkeys-prove-00@openssh.com");
	buf_put_bool(&b, true);
	memset(buf_reserve(&b, 200000), 0, 200000);
	hostile_say(h, MSG_GLOBAL_REQUEST, &b);
	if (!hostile_until(h, MSG_REQUEST_FAILURE, 1))
		not_as_wanted(h, "no answer");
	must_live(h);
}

static void ext_info_flood(struct hostile *h)
{
	for (int i = 0; i < 10000; i++)
		bytes(h, MSG_EXT_INFO, "\0\0\0\1\0\0\0\1a\0\0\0\1b", 14);
	must_live(h);
}

static void login_flood(struct hostile *h)
{
	for (int i = 0; i < 10000; i++)
		bytes(h, MSG_USERAUTH_REQUEST, "\0\0\0\4root\0\0\0\16ssh-connection\0\0\0\4none", 34);
	bytes(h, MSG_SERVICE_REQUEST, "\0\0\0\14ssh-userauth", 16);
	must_live(h);
	if (h->got[MSG_USERAUTH_FAILURE] != 0 || h->got[MSG_USERAUTH_SUCCESS] != 1)
		not_as_wanted(h, "requests after success were answered");
}

/* ---- key exchanges ---- */

static void rekey_flood(struct hostile *h)
{
	for (unsigned i = 0; i < hostile_n(50) && h->fd >= 0; i++) {
		unsigned before = transport_exchange_count(h->t);

		if (transport_rekey(h->t) < 0)
			hostile_die("rekey", transport_err(h->t));
		while (transport_exchange_count(h->t) == before && hostile_turn(h, 10000))
			;
	}
	must_live(h);
}

static void kexinit_body(struct buf *b, const char *kex, const char *cipher)
{
	struct proposal p = { .guess_follows = false };

	*b = BUF_INIT(HOSTILE_BODY_MAX);
	hostile_proposal(&p, "ssh-ed25519");
	proposal_set(&p, PROPOSAL_KEX, kex);
	if (cipher != NULL) {
		proposal_set(&p, PROPOSAL_CIPHER_C2S, cipher);
		proposal_set(&p, PROPOSAL_CIPHER_S2C, cipher);
	}
	proposal_put(&p, b);
	proposal_clear(&p);
}

/* A KEXINIT behind which the engine does not stand. */
static void kexinit(struct hostile *h)
{
	struct buf b;

	h->quiet_engine = true;
	kexinit_body(&b, "curve25519-sha256", NULL);
	hostile_say(h, MSG_KEXINIT, &b);
}

static void kexinit_twice(struct hostile *h) { kexinit(h); kexinit(h); wait_end(h); }

static void rekey_to_none(struct hostile *h)
{
	struct buf b;

	kexinit_body(&b, "curve25519-sha256", "none");
	hostile_say(h, MSG_KEXINIT, &b);
	wait_end(h);
}

static void rekey_to_nothing(struct hostile *h)
{
	struct buf b;

	kexinit_body(&b, "none-such", NULL);
	hostile_say(h, MSG_KEXINIT, &b);
	wait_end(h);
}

static void data_after_kexinit(struct hostile *h)
{
	open_session(h);
	exec(h, "cat");
	kexinit(h);
	/* asyncssh does so, and it is taken; but the exchange does not go on by it. */
	data(h, theirs, 1000);
	bytes(h, MSG_USERAUTH_FAILURE, "", 0);
	wait_end(h);
}

static void ping_in_exchange(struct hostile *h)
{
	kexinit(h);
	for (int i = 0; i < 10000; i++)
		one_ping(h);
	bytes(h, MSG_KEXINIT, "", 0);
	wait_end(h);
	if (h->got[MSG_PONG] != 0)
		not_as_wanted(h, "pings were answered");
}

static void requests_in_exchange(struct hostile *h)
{
	kexinit(h);
	for (int i = 0; i < 100000; i++)
		one_global(h);
	wait_end(h);
}

static void newkeys_unasked(struct hostile *h) { bytes(h, MSG_NEWKEYS, "", 0); wait_end(h); }
static void kex_value_zero(struct hostile *h)
{
	static const uint8_t zero[36] = { 0, 0, 0, 32 };

	kexinit(h);
	hostile_say_view(h, 30, (struct view){ zero, sizeof(zero) });
	wait_end(h);
}

/* Our requests that are on their way when the server begins an exchange are none of its business to refuse: with a small
 * RekeyLimit it begins one while we send. */
static void data_in_flight(struct hostile *h)
{
	open_session(h);
	exec(h, "cat");
	for (int i = 0; i < 200; i++) {
		data(h, theirs, 5000);
		/* Only what the engine asks for: it answers KEXINIT when it comes, and then nothing more may be sent. */
		while (transport_exchanging(h->t) && hostile_turn(h, 10000))
			;
	}
	(void)hostile_until(h, MSG_CHANNEL_DATA, 10);
	must_live(h);
}

/* ---- compression ---- */

static void pack(struct hostile *h, uint8_t type, size_t n)
{
	uint8_t *p = mem_zalloc(n);

	if (type == MSG_IGNORE)
		wire_store_u32(p, (uint32_t)n - 4);
	hostile_say_view(h, type, (struct view){ p, n });
	free(p);
}

static void bomb_small(struct hostile *h)
{
	/* Each is a packet of some hundred bytes that becomes 250,000. */
	for (int i = 0; i < 2000; i++)
		pack(h, MSG_IGNORE, 250000);
	must_live(h);
}

/* A compressed payload of our own making. */
static void deflated(struct hostile *h, size_t n, bool damage)
{
	z_stream z = { 0 };
	uint8_t *in = mem_zalloc(n), *out = mem_alloc(n + 1000);

	if (damage)
		rand_bytes(in, n);
	in[0] = MSG_IGNORE;
	if (deflateInit(&z, 9) != Z_OK)
		hostile_die("zlib", NULL);
	z.next_in = in;
	z.avail_in = (uInt)n;
	z.next_out = out;
	z.avail_out = (uInt)n + 1000;
	(void)deflate(&z, Z_SYNC_FLUSH);
	if (damage)
		memset(out + 3, 0xff, 100);
	h->p->side[PACKET_OUT].compress = false;
	hostile_say_view(h, out[0], (struct view){ out + 1, n + 1000 - z.avail_out - 1 });
	(void)deflateEnd(&z);
	free(in);
	free(out);
	wait_end(h);
}

static void bomb(struct hostile *h) { deflated(h, 100 << 20, false); }
static void not_compressed(struct hostile *h) { deflated(h, 1000, true); }

/* ---- peers that stop ---- */

/* Takes nothing of an endless output. Prints "stalled" and waits for the end, or of its stdin. */
static void stall(struct hostile *h)
{
	char c;

	open_session(h);
	exec(h, "cat /dev/zero");
	on_channel(h, MSG_CHANNEL_WINDOW_ADJUST, theirs, "\177\0\0\0", 4);
	(void)hostile_flush(h, 1000);
	h->deaf = true;
	puts("stalled");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	hostile_until_end(h, 1);
}

static void vanish(struct hostile *h)
{
	struct linger l = { 1, 0 };

	open_session(h);
	exec(h, "cat /dev/zero");
	(void)hostile_until(h, MSG_CHANNEL_DATA, 10);
	(void)setsockopt(h->fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	hostile_ended(h, END_RESET);
}

static void farewell(struct hostile *h)
{
	bytes(h, MSG_DISCONNECT, "\0\0\0\13\0\0\0\10bye\033[1m\n\0\0\0\0", 20);
	wait_end(h);
}

#define ENDED "Connection with user [^ ]* @ ended: "
#define NO_CHANNEL ENDED "message [0-9]+ for a channel that does not exist"

const struct hostile_case hostile_cases[] = {
	{ "unknown-data", unknown_data, END_DISCONNECT, NO_CHANNEL, NULL },
	{ "unknown-extended", unknown_extended, END_DISCONNECT, NO_CHANNEL, NULL },
	{ "unknown-adjust", unknown_adjust, END_OPEN, NULL, NULL },
	{ "unknown-eof", unknown_eof, END_DISCONNECT, NO_CHANNEL, NULL },
	{ "unknown-close", unknown_close, END_DISCONNECT, NO_CHANNEL, NULL },
	{ "unknown-request", unknown_request, END_DISCONNECT, NO_CHANNEL, NULL },
	{ "unknown-success", unknown_success, END_DISCONNECT, NO_CHANNEL, NULL },
	{ "unknown-confirmation", unknown_confirmation, END_DISCONNECT, NO_CHANNEL, NULL },
	{ "unknown-failure", unknown_failure, END_DISCONNECT, NO_CHANNEL, NULL },
	{ "no-channel-number", no_channel_number, END_DISCONNECT, NO_CHANNEL, NULL },

	{ "data-before-exec", data_before_exec, END_DISCONNECT, ENDED "channel 0: peer sent more than its window", NULL },
	{ "window-overrun", window_overrun, END_ANY, ENDED "channel 0: peer sent more than its window", NULL },
	{ "adjust-overflow", adjust_overflow, END_DISCONNECT, ENDED "channel 0: window overflow", NULL },
	{ "data-length-lies", data_length_lies, END_DISCONNECT, ENDED "malformed channel data", NULL },
	{ "confirmed-twice", confirmed_twice, END_DISCONNECT, ENDED "channel 0 confirmed out of turn", NULL },
	{ "close-twice", close_twice, END_OPEN | END_DISCONNECT, NULL, NULL },
	{ "data-after-eof", data_after_eof, END_OPEN, NULL, NULL },
	{ "reply-unasked", reply_unasked, END_DISCONNECT, ENDED "reply without a request", NULL },
	{ "global-reply-unasked", global_reply_unasked, END_OPEN, NULL, NULL },

	{ "env-bomb", env_bomb, END_OPEN, NULL, NULL },
	{ "requests-broken", requests_broken, END_OPEN, NULL, NULL },
	{ "request-cut", request_cut, END_DISCONNECT, ENDED "malformed channel request", NULL },
	{ "exec-nul", exec_nul, END_OPEN, NULL, NULL },
	{ "exec-huge", exec_huge, END_OPEN, NULL, NULL },
	{ "exec-twice", exec_twice, END_OPEN, NULL, NULL },
	{ "pty-broken", pty_broken, END_OPEN, NULL, NULL },
	{ "pty-churn", pty_churn, END_OPEN, NULL, NULL },
	{ "exec-churn", exec_churn, END_OPEN, NULL, NULL },
	{ "open-bomb", open_bomb, END_OPEN, "no more sessions for user [^ ]* @: MaxSessions is 10", NULL },
	{ "open-types", open_types, END_OPEN, NULL, NULL },
	{ "open-long-type", open_long_type, END_DISCONNECT, ENDED "malformed channel open", NULL },
	{ "open-cut", open_cut, END_DISCONNECT, ENDED "malformed channel open", NULL },
	{ "open-no-room", open_no_room, END_OPEN, NULL, NULL },
	{ "session-after-no-more", session_after_no_more, END_DISCONNECT, ENDED "Possible attack", NULL },

	{ "global-flood", global_flood, END_ANY, ENDED "too much output is waiting", NULL },
	{ "open-flood", open_flood, END_ANY, ENDED "too much output is waiting", NULL },
	{ "request-flood", request_flood, END_ANY, ENDED "too much output is waiting", NULL },
	{ "ping-flood", ping_flood, END_ANY, ENDED "too much output is waiting", NULL },
	{ "unknown-flood", unknown_flood, END_ANY, ENDED "too much output is waiting", NULL },
	{ "prove-flood", prove_flood, END_ANY, ENDED "too much output is waiting", NULL },
	{ "prove-huge", prove_huge, END_OPEN, NULL, NULL },
	{ "ext-info-flood", ext_info_flood, END_OPEN, NULL, NULL },
	{ "login-flood", login_flood, END_OPEN, NULL, NULL },

	{ "rekey-flood", rekey_flood, END_OPEN, NULL, NULL },
	{ "kexinit-twice", kexinit_twice, END_DISCONNECT, ENDED "KEXINIT came within a key exchange", NULL },
	{ "rekey-to-none", rekey_to_none, END_DISCONNECT, "@.*no matching cipher found", NULL },
	{ "rekey-to-nothing", rekey_to_nothing, END_DISCONNECT, "@.*no matching key exchange method found", NULL },
	{ "data-after-kexinit", data_after_kexinit, END_ANY, ENDED "message 51 came out of turn", NULL },
	{ "ping-in-exchange", ping_in_exchange, END_DISCONNECT, ENDED "KEXINIT came within a key exchange", NULL },
	{ "requests-in-exchange", requests_in_exchange, END_ANY, ENDED "more than [0-9]* bytes of messages wait for the end of a key exchange", NULL },
	{ "newkeys-unasked", newkeys_unasked, END_DISCONNECT, ENDED "NEWKEYS came out of turn", NULL },
	{ "kex-value-zero", kex_value_zero, END_DISCONNECT, ENDED "key agreement: ", NULL },

	{ "vanish", vanish, END_RESET, "Connection (reset|closed) by @", NULL },
	{ "farewell", farewell, END_ANY, "Received disconnect from @:11: bye\\\\033\\[1m", NULL },

	{ ".login", login, END_OPEN | END_ANY, NULL, NULL },
	{ ".data-in-flight", data_in_flight, END_OPEN, NULL, NULL },
	{ ".stall", stall, END_OPEN | END_ANY, NULL, NULL },
	{ ".zlib-many", bomb_small, END_OPEN, NULL, NULL },
	{ ".zlib-bomb", bomb, END_ANY, ENDED "compressed packet", NULL },
	{ ".zlib-damaged", not_compressed, END_ANY, ENDED "compressed packet", NULL },
	{ NULL, NULL, 0, NULL, NULL }
};
