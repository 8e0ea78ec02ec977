/* hostile_login: a client that has keys and misbehaves before, while or instead of logging in. See hostile_run.h for how it is
 * called. */
#include "hostile_run.h"

void hostile_begin(struct hostile *h)
{
	hostile_begin_engine(h);
}

static void wait_end(struct hostile *h)
{
	(void)hostile_flush(h, HOSTILE_WAIT_MS);
	hostile_until_end(h, HOSTILE_WAIT_MS);
}

static struct view text(const char *s)
{
	return (struct view){ (const uint8_t *)s, strlen(s) };
}

static void service(struct hostile *h, const char *name)
{
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

	buf_put_cstring(&b, name);
	hostile_say(h, MSG_SERVICE_REQUEST, &b);
}

static void start(struct hostile *h)
{
	service(h, USERAUTH_SERVICE);
	if (!hostile_until(h, MSG_SERVICE_ACCEPT, 1))
		hostile_die("no service", &(struct err){ .code = ERR_PEER });
}

/* ---- out of turn ---- */

static void bytes(struct hostile *h, uint8_t type, const char *body, size_t n)
{
	hostile_say_view(h, type, (struct view){ (const uint8_t *)body, n });
}

/* Something that is answered, to know that the server is still there and what it thought of the rest. */
static void ask_none(struct hostile *h)
{
	struct userauth_request q = { .kind = USERAUTH_NONE, .user = text(h->user), .service = text(USERAUTH_CONNECTION) };
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

	userauth_request_put(&b, &q);
	hostile_say(h, MSG_USERAUTH_REQUEST, &b);
}

/* Messages that mean nothing here are answered UNIMPLEMENTED, and nothing else happens. */
static void no_meaning(struct hostile *h, const uint8_t *types, size_t n)
{
	struct buf b = BUF_INIT(100);

	buf_put_cstring(&b, "session");
	buf_put_u32(&b, 0);
	buf_put_u32(&b, 65536);
	buf_put_u32(&b, 32768);
	for (size_t i = 0; i < n; i++)
		hostile_say_view(h, types[i], (struct view){ b.data, b.size });
	buf_free(&b);
	if (!hostile_until(h, MSG_USERAUTH_FAILURE, 1))
		ask_none(h);
	if (!hostile_until(h, MSG_USERAUTH_FAILURE, 1) || h->got[MSG_CHANNEL_OPEN_CONFIRMATION] != 0)
		h->end = END_RESET;      /* not what should be */
}

static void channels_before_login(struct hostile *h)
{
	static const uint8_t types[] = {
		MSG_GLOBAL_REQUEST, MSG_CHANNEL_OPEN, MSG_CHANNEL_DATA, MSG_CHANNEL_REQUEST, MSG_CHANNEL_CLOSE, 127, 200, 255
	};

	start(h);
	ask_none(h);
	no_meaning(h, types, sizeof(types));
}

static void answers_before_login(struct hostile *h)
{
	static const uint8_t types[] = {
		MSG_SERVICE_ACCEPT, MSG_USERAUTH_FAILURE, MSG_USERAUTH_SUCCESS, MSG_USERAUTH_BANNER, MSG_USERAUTH_60, MSG_USERAUTH_61,
		MSG_CHANNEL_OPEN_CONFIRMATION, MSG_REQUEST_SUCCESS, MSG_PONG
	};

	start(h);
	ask_none(h);
	no_meaning(h, types, sizeof(types));
}

static void no_service(struct hostile *h)
{
	/* Not even looked at: only what comes after the service was asked for counts. */
	ask_none(h);
	start(h);
	ask_none(h);
	(void)hostile_until(h, MSG_USERAUTH_FAILURE, 1);
	if (h->got[MSG_USERAUTH_FAILURE] != 1)
		h->end = END_RESET;
}

static void other_service(struct hostile *h) { service(h, "ssh-evil\033[2J"); wait_end(h); }
static void connection_service(struct hostile *h) { service(h, USERAUTH_CONNECTION); wait_end(h); }
static void service_cut(struct hostile *h) { bytes(h, MSG_SERVICE_REQUEST, "\0\0\0\14ssh", 7); wait_end(h); }

static void rekey(struct hostile *h)
{
	start(h);
	h->t->authenticated = true;
	if (transport_rekey(h->t) < 0)
		hostile_die("rekey", transport_err(h->t));
	wait_end(h);
}

static void newkeys(struct hostile *h) { start(h); bytes(h, MSG_NEWKEYS, "", 0); wait_end(h); }
static void kex_message(struct hostile *h) { start(h); bytes(h, 30, "\0\0\0\0", 4); wait_end(h); }

/* ---- packets ---- */

static void bit_flipped(struct hostile *h)
{
	start(h);
	ask_none(h);
	h->p->out.mem[h->p->out.tail - 20] ^= 1;
	wait_end(h);
}

static void clear_text(struct hostile *h)
{
	start(h);
	hostile_text(h, "\0\0\0\14\4\2aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	hostile_raw(h, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 40);
	wait_end(h);
}

static void padding_short(struct hostile *h) { start(h); hostile_sealed(h, "\2\0\0\0\0aaaaaaaa", 13, 2); wait_end(h); }
static void no_payload(struct hostile *h) { start(h); hostile_sealed(h, "", 0, 15); wait_end(h); }

/* ---- floods ---- */

static void none_flood(struct hostile *h)
{
	start(h);
	for (int i = 0; i < 100; i++)
		ask_none(h);
	wait_end(h);
}

static void unknown_flood(struct hostile *h)
{
	start(h);
	h->deaf = true;  /* the answers must fill the buffers of both systems first */
	for (unsigned i = 0; i < hostile_n(2000000) && h->fd >= 0 && hostile_flush(h, 3000); i += 1000)
		for (int k = 0; k < 1000; k++)
			bytes(h, 77, "unknown", 7);
	h->deaf = false;
	hostile_until_end(h, HOSTILE_WAIT_MS);
}

static void ignore_flood(struct hostile *h)
{
	char junk[32000] = "\0\0\174\0";

	start(h);
	for (int i = 0; i < 2000; i++)
		bytes(h, i % 2 == 0 ? MSG_IGNORE : MSG_DEBUG, junk, sizeof(junk));
	ask_none(h);
	(void)hostile_until(h, MSG_USERAUTH_FAILURE, 1);
	if (h->got[MSG_USERAUTH_FAILURE] != 1)
		h->end = END_RESET;
}

static void ping_flood(struct hostile *h)
{
	start(h);
	for (int i = 0; i < 10000; i++)
		bytes(h, MSG_PING, "\0\0\0\4ping", 8);
	ask_none(h);
	(void)hostile_until(h, MSG_USERAUTH_FAILURE, 1);
	if (h->got[MSG_USERAUTH_FAILURE] != 1 || h->got[MSG_PONG] != 0)
		h->end = END_RESET;
}

static void ext_info_flood(struct hostile *h)
{
	start(h);
	for (int i = 0; i < 1000; i++)
		bytes(h, MSG_EXT_INFO, "\0\0\0\1\0\0\0\1a\0\0\0\1b", 14);
	ask_none(h);
	(void)hostile_until(h, MSG_USERAUTH_FAILURE, 1);
	if (h->got[MSG_USERAUTH_FAILURE] != 1)
		h->end = END_RESET;
}

static void service_flood(struct hostile *h)
{
	for (int i = 0; i < 10000; i++)
		service(h, USERAUTH_SERVICE);
	if (!hostile_until(h, MSG_SERVICE_ACCEPT, 10000))
		h->end = END_RESET;
}

/* ---- requests ---- */

static void send_request(struct hostile *h, const struct userauth_request *q)
{
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

	userauth_request_put(&b, q);
	hostile_say(h, MSG_USERAUTH_REQUEST, &b);
}

static void one_request(struct hostile *h, const struct userauth_request *q)
{
	start(h);
	send_request(h, q);
	(void)hostile_until(h, MSG_USERAUTH_FAILURE, 1);
}

static struct userauth_request request(struct hostile *h, enum userauth_kind kind)
{
	return (struct userauth_request){ .kind = kind, .user = text(h->user), .service = text(USERAUTH_CONNECTION) };
}

static void other_user(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_NONE);

	start(h);
	send_request(h, &q);
	q.user = text("some\033body");
	send_request(h, &q);
	wait_end(h);
}

static void other_next_service(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_NONE);

	q.service = text("ssh-evil");
	start(h);
	send_request(h, &q);
	wait_end(h);
}

static void user_of(struct hostile *h, size_t n)
{
	struct userauth_request q = request(h, USERAUTH_PASSWORD);
	char *name = mem_zalloc(n + 1);

	memset(name, 'u', n);
	q.user = text(name);
	q.password = text("secret");
	start(h);
	send_request(h, &q);
	free(name);
	(void)hostile_until(h, MSG_USERAUTH_FAILURE, 1);
}

static void user_1024(struct hostile *h) { user_of(h, 1024); }
static void user_1025(struct hostile *h) { user_of(h, 1025); wait_end(h); }
static void user_100k(struct hostile *h) { user_of(h, 100000); wait_end(h); }

static void no_user(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_PASSWORD);

	q.user = text("");
	q.password = text("secret");
	one_request(h, &q);
}

static void user_with(struct hostile *h, const char *name)
{
	struct userauth_request q = request(h, USERAUTH_PASSWORD);

	q.user = text(name);
	q.password = text("secret");
	one_request(h, &q);
}

static void user_nul(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_PASSWORD);

	q.user = (struct view){ (const uint8_t *)"root\0x", 6 };
	start(h);
	send_request(h, &q);
	wait_end(h);
}

static void user_escapes(struct hostile *h) { user_with(h, "a\033[2J\r\nAccepted password for root"); }
static void user_path(struct hostile *h) { user_with(h, "../../etc/passwd"); }
static void user_format(struct hostile *h) { user_with(h, "%s%n%s%n%500000d"); }

static void user_cut(struct hostile *h) { start(h); bytes(h, MSG_USERAUTH_REQUEST, "\0\0\377\377root", 8); wait_end(h); }
static void empty_request(struct hostile *h) { start(h); bytes(h, MSG_USERAUTH_REQUEST, "", 0); wait_end(h); }

static void method_unknown(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_OTHER);

	q.method = text("telepathy\033[m");
	one_request(h, &q);
}

static void hostbased(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_HOSTBASED);

	q.alg = text("ssh-ed25519");
	q.client_host = text("localhost");
	q.client_user = text("root");
	one_request(h, &q);
}

static void request_with_more(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_NONE);
	struct buf b = BUF_INIT(1000);

	start(h);
	userauth_request_put(&b, &q);
	buf_put_u8(&b, 0);
	hostile_say(h, MSG_USERAUTH_REQUEST, &b);
	wait_end(h);
}

/* ---- passwords ---- */

static void password_of(struct hostile *h, size_t n, uint8_t with)
{
	struct userauth_request q = request(h, USERAUTH_PASSWORD);
	uint8_t *p = mem_alloc(n + 1);

	memset(p, with, n);
	q.password = (struct view){ p, n };
	start(h);
	send_request(h, &q);
	free(p);
	(void)hostile_until(h, MSG_USERAUTH_FAILURE, 1);
}

static void password_empty(struct hostile *h) { password_of(h, 0, 0); }
static void password_nul(struct hostile *h) { password_of(h, 8, 0); }
static void password_1024(struct hostile *h) { password_of(h, 1024, 'p'); }
static void password_250k(struct hostile *h) { password_of(h, 250000, 'p'); wait_end(h); }

static void password_flood(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_PASSWORD);

	q.password = text("wrong");
	start(h);
	for (int i = 0; i < 50; i++)
		send_request(h, &q);
	wait_end(h);
}

static void password_change(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_PASSWORD);

	q.change = true;
	q.password = text("old");
	q.new_password = text("new");
	one_request(h, &q);
}

/* ---- keys ---- */

/* Asks about a blob, then sends it with a signature. */
static void try_blob(struct hostile *h, const char *alg, const struct buf *blob)
{
	struct userauth_request q = request(h, USERAUTH_PUBLICKEY);

	q.alg = text(alg);
	q.key_blob = (struct view){ blob->data, blob->size };
	send_request(h, &q);
	q.has_signature = true;
	q.signature = text("\0\0\0\13ssh-ed25519\0\0\0\1x");
	send_request(h, &q);
}

static void put_blob(struct buf *b, const char *type, const void *rest, size_t n)
{
	buf_reset(b);
	buf_put_cstring(b, type);
	buf_put(b, rest, n);
}

static void broken_blobs(struct hostile *h)
{
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX);
	uint8_t big[30000];
	struct userauth_request none = request(h, USERAUTH_NONE);

	start(h);
	send_request(h, &none);
	memset(big, 0x77, sizeof(big));
	try_blob(h, "ssh-ed25519", &b);                                  /* empty */
	put_blob(&b, "ssh-ed25519", "\0\0\0\40abc", 7);                  /* cut */
	try_blob(h, "ssh-ed25519", &b);
	put_blob(&b, "ssh-ed25519", "\0\0\0\37aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 35);     /* 31 bytes */
	try_blob(h, "ssh-ed25519", &b);
	put_blob(&b, "ssh-unheard-of", "\0\0\0\1a", 5);
	try_blob(h, "ssh-unheard-of", &b);
	put_blob(&b, "ssh-rsa", "\0\0\0\0\0\0\0\0", 8);                  /* e and n of nothing */
	try_blob(h, "rsa-sha2-256", &b);
	put_blob(&b, "ssh-rsa", "\0\0\0\1\3", 5);                        /* n of 30,000 bytes */
	buf_put_string(&b, big, sizeof(big));
	try_blob(h, "rsa-sha2-512", &b);
	put_blob(&b, "ssh-rsa", "\0\0\0\1\2\0\0\0\1\4", 10);             /* both even */
	try_blob(h, "rsa-sha2-512", &b);
	put_blob(&b, "ecdsa-sha2-nistp256", "\0\0\0\10nistp256\0\0\0\101\4", 17);
	buf_put(&b, big, 64);                                            /* not on the curve */
	try_blob(h, "ecdsa-sha2-nistp256", &b);
	put_blob(&b, "ecdsa-sha2-nistp256", "\0\0\0\10nistp521\0\0\0\1\0", 17);
	try_blob(h, "ecdsa-sha2-nistp521", &b);
	buf_free(&b);
	wait_end(h);
}

static void sign_request(struct hostile *h, struct userauth_request *q, struct view session_id, struct buf *sig)
{
	const struct sig_alg *alg = sig_alg_find(text("ssh-ed25519"));
	struct buf data = BUF_INIT(65536);
	struct err e = { 0 };

	q->has_signature = true;
	q->alg = text("ssh-ed25519");
	q->key_blob = key_blob(h->key);
	userauth_signed_data_put(&data, session_id, q);
	if (key_sign(h->key, alg, (struct view){ data.data, data.size }, sig, &e) < 0)
		hostile_die("sign", &e);
	buf_free(&data);
	q->signature = (struct view){ sig->data, sig->size };
}

static void finish_signed(struct hostile *h, struct userauth_request *q, struct buf *sig)
{
	one_request(h, q);
	buf_free(sig);
	if (h->got[MSG_USERAUTH_SUCCESS] != 0)
		h->end = END_RESET;
}

/* The key is good, and what it signed is something else. */
static void signed_other_session(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_PUBLICKEY);
	struct buf sig = BUF_INIT(65536);

	sign_request(h, &q, text("another session id, of 32 bytes."), &sig);
	finish_signed(h, &q, &sig);
}

static void signed_other_user(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_PUBLICKEY);
	struct buf sig = BUF_INIT(65536);

	q.user = text("nobody");
	sign_request(h, &q, transport_session_id(h->t), &sig);
	q.user = text(h->user);
	finish_signed(h, &q, &sig);
}

static void signed_other_service(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_PUBLICKEY);
	struct buf sig = BUF_INIT(65536);

	q.service = text("ssh-evil");
	sign_request(h, &q, transport_session_id(h->t), &sig);
	q.service = text(USERAUTH_CONNECTION);
	finish_signed(h, &q, &sig);
}

static void signed_as_other_kind(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_PUBLICKEY);
	struct buf sig = BUF_INIT(65536);

	sign_request(h, &q, transport_session_id(h->t), &sig);
	q.kind = USERAUTH_HOSTBOUND;     /* host key empty */
	finish_signed(h, &q, &sig);
}

static void signature_cut(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_PUBLICKEY);
	struct buf sig = BUF_INIT(65536);

	sign_request(h, &q, transport_session_id(h->t), &sig);
	q.signature.n -= 3;
	finish_signed(h, &q, &sig);
}

static void signature_with_more(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_PUBLICKEY);
	struct buf sig = BUF_INIT(65536);

	sign_request(h, &q, transport_session_id(h->t), &sig);
	buf_put_u8(&sig, 0);
	q.signature = (struct view){ sig.data, sig.size };
	finish_signed(h, &q, &sig);
}

static void signature_other_alg(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_PUBLICKEY);
	struct buf sig = BUF_INIT(65536);

	sign_request(h, &q, transport_session_id(h->t), &sig);
	q.alg = text("rsa-sha2-256");
	finish_signed(h, &q, &sig);
}

static void signature_huge(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_PUBLICKEY);
	static uint8_t big[200000];

	q.has_signature = true;
	q.alg = text("ssh-ed25519");
	q.key_blob = key_blob(h->key);
	q.signature = (struct view){ big, sizeof(big) };
	start(h);
	send_request(h, &q);
	wait_end(h);
}

static void key_questions(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_PUBLICKEY);

	q.alg = text("ssh-ed25519");
	q.key_blob = key_blob(h->key);
	start(h);
	for (int i = 0; i < 2000; i++)
		send_request(h, &q);
	wait_end(h);
}

/* ---- keyboard-interactive ---- */

static void kbdint_abandoned(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_KBDINT);

	start(h);
	for (int i = 0; i < 20; i++)
		send_request(h, &q);
	wait_end(h);
}

static void kbdint_answers(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_KBDINT);

	start(h);
	send_request(h, &q);
	if (!hostile_until(h, MSG_USERAUTH_60, 1))
		return;
	bytes(h, MSG_USERAUTH_61, "\0\0\0\100", 4);              /* 64 answers that are not there */
	wait_end(h);
}

static void kbdint_too_many(struct hostile *h)
{
	struct userauth_request q = request(h, USERAUTH_KBDINT);

	start(h);
	send_request(h, &q);
	if (!hostile_until(h, MSG_USERAUTH_60, 1))
		return;
	bytes(h, MSG_USERAUTH_61, "\0\0\0\3\0\0\0\1a\0\0\0\1b\0\0\0\1c", 19);
	if (!hostile_until(h, MSG_USERAUTH_FAILURE, 1))
		h->end = END_RESET;
}

static void kbdint_unasked(struct hostile *h)
{
	start(h);
	for (int i = 0; i < 1000; i++)
		bytes(h, MSG_USERAUTH_61, "\0\0\0\0", 4);
	ask_none(h);
	if (!hostile_until(h, MSG_USERAUTH_FAILURE, 1))
		h->end = END_RESET;
}

/* How long refusals take: of "none" as the first request, of a key that is not listed, and of a password. In microseconds. */
static void timing(struct hostile *h)
{
	static const enum userauth_kind kinds[] = { USERAUTH_NONE, USERAUTH_PUBLICKEY, USERAUTH_PASSWORD };
	struct err e = { 0 };
	struct key *k = key_generate(KEY_ED25519, 0, &e);

	start(h);
	for (unsigned i = 0; i < MEM_COUNT(kinds); i++) {
		struct userauth_request q = request(h, kinds[i]);
		uint64_t from;

		q.alg = text("ssh-ed25519");
		q.key_blob = key_blob(k);
		q.password = text("wrong");
		from = clock_mono_us();
		send_request(h, &q);
		(void)hostile_until(h, MSG_USERAUTH_FAILURE, i + 1);
		printf("%s=%llu ", userauth_kind_name(kinds[i]), (unsigned long long)(clock_mono_us() - from));
	}
	key_free(k);
}

#define AUTH "(authenticating|invalid) user [^ ]* "
#define WITH "Connection with (" AUTH ")?@ ended: "
#define MALFORMED WITH "authentication request (is too short or malformed|is too long|has .* too many)"

const struct hostile_case hostile_cases[] = {
	{ "channels-before-login", channels_before_login, END_OPEN, NULL, NULL },
	{ "answers-before-login", answers_before_login, END_OPEN, NULL, NULL },
	{ "no-service", no_service, END_OPEN, NULL, NULL },
	{ "other-service", other_service, END_DISCONNECT, "@", "no such service" },
	{ "connection-service", connection_service, END_DISCONNECT, "@", "no such service" },
	{ "service-cut", service_cut, END_DISCONNECT, WITH "service name is too short or malformed", NULL },
	{ "rekey", rekey, END_DISCONNECT, WITH "key re-exchange before authentication", NULL },
	{ "newkeys", newkeys, END_DISCONNECT, WITH "NEWKEYS came out of turn", NULL },
	{ "kex-message", kex_message, END_DISCONNECT, WITH "key exchange message 30 came out of turn", NULL },
	{ "bit-flipped", bit_flipped, END_CLOSED, WITH "message authentication code incorrect", NULL },
	{ "clear-text", clear_text, END_ANY, WITH, NULL },
	{ "padding-short", padding_short, END_DISCONNECT, WITH "packet corrupt", NULL },
	{ "no-payload", no_payload, END_DISCONNECT, WITH "packet corrupt", NULL },
	{ "none-flood", none_flood, END_DISCONNECT, "maximum authentication attempts exceeded for .* from @", "Too many authentication failures" },
	{ "unknown-flood", unknown_flood, END_ANY, WITH, NULL },
	{ "ignore-flood", ignore_flood, END_OPEN, NULL, NULL },
	{ "ping-flood", ping_flood, END_OPEN, NULL, NULL },
	{ "ext-info-flood", ext_info_flood, END_OPEN, NULL, NULL },
	{ "service-flood", service_flood, END_OPEN, NULL, NULL },

	{ "other-user", other_user, END_DISCONNECT, "@.*Change of username or service not allowed.*some\\\\033body", NULL },
	{ "other-next-service", other_next_service, END_DISCONNECT, "Disconnecting " AUTH "@: there is no such service", NULL },
	{ "user-1024", user_1024, END_OPEN, "Invalid user u+.* from @", NULL },
	{ "user-1025", user_1025, END_DISCONNECT, MALFORMED, NULL },
	{ "user-100k", user_100k, END_DISCONNECT, MALFORMED, NULL },
	{ "no-user", no_user, END_OPEN, "Invalid user  from @", NULL },
	{ "user-nul", user_nul, END_DISCONNECT, MALFORMED, NULL },
	{ "user-escapes", user_escapes, END_OPEN, "Invalid user a\\\\033\\[2J\\\\015\\\\012Accepted.* from @", NULL },
	{ "user-path", user_path, END_OPEN, "Invalid user \\.\\./\\.\\./etc/passwd from @", NULL },
	{ "user-format", user_format, END_OPEN, "Invalid user %s%n%s%n%500000d from @", NULL },
	{ "user-cut", user_cut, END_DISCONNECT, MALFORMED, NULL },
	{ "empty-request", empty_request, END_DISCONNECT, MALFORMED, NULL },
	{ "method-unknown", method_unknown, END_OPEN, NULL, NULL },
	{ "hostbased", hostbased, END_OPEN, NULL, NULL },
	{ "request-with-more", request_with_more, END_DISCONNECT, MALFORMED, NULL },

	{ "password-empty", password_empty, END_OPEN, "Failed password for .* from @", NULL },
	{ "password-nul", password_nul, END_OPEN, "Failed password for .* from @", NULL },
	{ "password-1024", password_1024, END_OPEN, "Failed password for .* from @", NULL },
	{ "password-250k", password_250k, END_DISCONNECT, MALFORMED, NULL },
	{ "password-flood", password_flood, END_DISCONNECT, "maximum authentication attempts exceeded for .* from @", NULL },
	{ "password-change", password_change, END_OPEN, "Failed password for .* from @", NULL },

	{ "broken-blobs", broken_blobs, END_DISCONNECT, "maximum authentication attempts exceeded for .* from @", NULL },
	{ "signed-other-session", signed_other_session, END_OPEN, "Failed publickey for .* from @", NULL },
	{ "signed-other-user", signed_other_user, END_OPEN, "Failed publickey for .* from @", NULL },
	{ "signed-other-service", signed_other_service, END_OPEN, "Failed publickey for .* from @", NULL },
	{ "signed-as-other-kind", signed_as_other_kind, END_OPEN, "authentication request from @ is bound to another host key", NULL },
	{ "signature-cut", signature_cut, END_OPEN, "Failed publickey for .* from @", NULL },
	{ "signature-with-more", signature_with_more, END_OPEN, "Failed publickey for .* from @", NULL },
	{ "signature-other-alg", signature_other_alg, END_OPEN, "Failed publickey for .* from @", NULL },
	{ "signature-huge", signature_huge, END_DISCONNECT, MALFORMED, NULL },
	{ "key-questions", key_questions, END_ANY, "maximum authentication attempts exceeded for .* from @", NULL },

	/* These want UsePAM. */
	{ ".kbdint-abandoned", kbdint_abandoned, END_DISCONNECT, "maximum authentication attempts exceeded for .* from @", NULL },
	{ ".kbdint-answers", kbdint_answers, END_DISCONNECT, WITH "response to a request", NULL },
	{ ".kbdint-too-many", kbdint_too_many, END_OPEN, "wrong number of answers from @", NULL },
	{ ".kbdint-unasked", kbdint_unasked, END_OPEN, NULL, NULL },
	{ ".timing", timing, END_OPEN, NULL, NULL },
	{ NULL, NULL, 0, NULL, NULL }
};
