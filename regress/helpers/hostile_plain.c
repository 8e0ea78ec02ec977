/* hostile_plain: a client that misbehaves before there are keys: the version line, packets in clear, key exchange values.
 * See hostile_run.h for how it is called. */
#include "hostile_run.h"

#include "crypto/agree.h"

static const char version[] = "SSH-2.0-hostile_1.0\r\n";

void hostile_begin(struct hostile *h)
{
	hostile_start_bare(h);
}

static void wait_end(struct hostile *h)
{
	(void)hostile_flush(h, HOSTILE_WAIT_MS);
	hostile_until_end(h, HOSTILE_WAIT_MS);
}

/* ---- what is no version line ---- */

static void garbage(struct hostile *h)
{
	uint8_t junk[64 * 1024];

	rand_bytes(junk, sizeof(junk));
	hostile_raw(h, junk, sizeof(junk));
	wait_end(h);
}

static void http(struct hostile *h)
{
	hostile_text(h, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
	wait_end(h);
}

static void tls(struct hostile *h)
{
	hostile_raw(h, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
	wait_end(h);
}

static void fill(struct hostile *h, const char *start, size_t n)
{
	char *text = mem_alloc(n);

	memset(text, 'A', n);
	memcpy(text, start, strlen(start));
	hostile_raw(h, text, n);
	free(text);
	wait_end(h);
}

static void endless_line(struct hostile *h) { fill(h, "", 1 << 20); }
static void endless_version(struct hostile *h) { fill(h, "SSH-2.0-", 1 << 20); }

static void many_lines(struct hostile *h)
{
	for (int i = 0; i < 1100; i++)
		hostile_text(h, "hello\r\n");
	hostile_text(h, version);
	wait_end(h);
}

static void nul_in_version(struct hostile *h)
{
	hostile_raw(h, "SSH-2.0-a\0b\r\n", 13);
	wait_end(h);
}

static void nuls(struct hostile *h)
{
	static const char zero[4096];

	hostile_raw(h, zero, sizeof(zero));
	wait_end(h);
}

static void old_version(struct hostile *h)
{
	hostile_text(h, "SSH-1.5-old\r\n");
	wait_end(h);
}

static void escapes_in_version(struct hostile *h)
{
	hostile_text(h, "SSH-2.0\033]0;evil\007\r\n");
	wait_end(h);
}

static void half_version(struct hostile *h)
{
	hostile_text(h, "SSH-2.0-half");
	(void)hostile_flush(h, HOSTILE_WAIT_MS);
	hostile_until_end(h, HOSTILE_WAIT_MS * 2);
}

static void silence(struct hostile *h)
{
	hostile_until_end(h, HOSTILE_WAIT_MS * 2);
}

static void half_close(struct hostile *h)
{
	hostile_text(h, version);
	(void)hostile_flush(h, HOSTILE_WAIT_MS);
	(void)shutdown(h->fd, SHUT_WR);
	hostile_until_end(h, HOSTILE_WAIT_MS);
}

static void reset(struct hostile *h)
{
	struct linger l = { 1, 0 };

	hostile_text(h, version);
	(void)hostile_until(h, MSG_KEXINIT, 1);
	(void)setsockopt(h->fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	hostile_ended(h, END_RESET);
}

/* ---- connections that come and go ---- */

static void come_and_go(struct hostile *h)
{
	struct sockaddr_in sa;
	socklen_t n = sizeof(sa);

	if (getpeername(h->fd, (struct sockaddr *)&sa, &n) < 0)
		hostile_die("getpeername", NULL);
	for (unsigned i = 0; i < hostile_n(300); i++)
		close(hostile_connect(ntohs(sa.sin_port)));
}

/* Connections that only stand there: prints how many were not turned away at once. */
static void half_open(struct hostile *h)
{
	static const char refusal[] = "Not allowed";
	enum { MOST = 256 };
	struct sockaddr_in sa;
	socklen_t size = sizeof(sa);
	int fds[MOST], served = 0;
	unsigned n = hostile_n(40);
	char text[64];

	if (getpeername(h->fd, (struct sockaddr *)&sa, &size) < 0)
		hostile_die("getpeername", NULL);
	for (unsigned i = 0; i < n && i < MOST; i++) {
		fds[i] = hostile_connect(ntohs(sa.sin_port));
		/* Either its version line, or the refusal. */
		served += recv(fds[i], text, sizeof(refusal) - 1, MSG_WAITALL) > 0 &&
			strncmp(text, refusal, sizeof(refusal) - 1) != 0;
	}
	printf("served=%d ", served);
	fflush(stdout);
	/* As long as whoever started us wants. */
	while (read(0, text, sizeof(text)) > 0)
		;
	for (unsigned i = 0; i < n && i < MOST; i++)
		close(fds[i]);
}

/* ---- packets in clear ---- */

static void start(struct hostile *h)
{
	hostile_text(h, version);
	if (!hostile_until(h, MSG_KEXINIT, 1))
		hostile_die("no KEXINIT", &(struct err){ .code = ERR_PEER });
}

static void packet_head(struct hostile *h, uint32_t length, const char *rest, size_t n)
{
	uint8_t head[4];

	start(h);
	wire_store_u32(head, length);
	hostile_raw(h, head, 4);
	hostile_raw(h, rest, n);
	wait_end(h);
}

static void length_huge(struct hostile *h) { packet_head(h, 0xffffffff, "aaaaaaaaaaaa", 12); }
static void length_over(struct hostile *h) { packet_head(h, 262144 + 8 - 4, "aaaaaaaaaaaa", 12); }
static void length_zero(struct hostile *h) { packet_head(h, 0, "aaaaaaaaaaaa", 12); }
static void length_odd(struct hostile *h) { packet_head(h, 13, "\004aaaaaaaaaaaa", 13); }
static void padding_short(struct hostile *h) { packet_head(h, 12, "\003aaaaaaaaaaa", 12); }
static void padding_long(struct hostile *h) { packet_head(h, 12, "\377aaaaaaaaaaa", 12); }
static void no_payload(struct hostile *h) { packet_head(h, 12, "\013aaaaaaaaaaa", 12); }

static void half_packet(struct hostile *h)
{
	start(h);
	hostile_raw(h, "\0\0\1\4\6\24aaaa", 10);
	(void)hostile_flush(h, HOSTILE_WAIT_MS);
	hostile_ended(h, END_CLOSED);
}

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

static void send_kexinit(struct hostile *h, const char *kex)
{
	struct buf b;

	kexinit_body(&b, kex);
	hostile_say(h, MSG_KEXINIT, &b);
}

static void kexinit_cut(struct hostile *h)
{
	struct buf b;

	start(h);
	kexinit_body(&b, NULL);
	hostile_say_view(h, MSG_KEXINIT, (struct view){ b.data, b.size / 2 });
	buf_free(&b);
	wait_end(h);
}

static void kexinit_more(struct hostile *h)
{
	struct buf b;

	start(h);
	kexinit_body(&b, NULL);
	buf_put_u32(&b, 7);
	hostile_say(h, MSG_KEXINIT, &b);
	wait_end(h);
}

static void kexinit_flood(struct hostile *h)
{
	start(h);
	for (int i = 0; i < 100; i++)
		send_kexinit(h, "curve25519-sha256");
	wait_end(h);
}

static void kexinit_huge(struct hostile *h)
{
	struct buf names = BUF_INIT(HOSTILE_BODY_MAX);

	while (names.size < 200 * 1024)
		buf_printf(&names, "curve25519-sha256-%zu,", names.size);
	buf_put(&names, "x", 1);
	start(h);
	send_kexinit(h, buf_cstr(&names));
	buf_free(&names);
	wait_end(h);
}

static void no_common_kex(struct hostile *h)
{
	start(h);
	send_kexinit(h, "diffie-hellman-group1-sha1");
	wait_end(h);
}

static void escapes_in_kex(struct hostile *h)
{
	start(h);
	send_kexinit(h, "a\033[2Jb\007");
	wait_end(h);
}

static void want_none(struct hostile *h)
{
	struct proposal p = { .guess_follows = false };
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

	start(h);
	hostile_proposal(&p, "ssh-ed25519");
	proposal_set(&p, PROPOSAL_CIPHER_C2S, "none");
	proposal_set(&p, PROPOSAL_CIPHER_S2C, "none");
	proposal_put(&p, &b);
	hostile_say(h, MSG_KEXINIT, &b);
	proposal_clear(&p);
	wait_end(h);
}

/* ---- out of turn ---- */

static void one_message(struct hostile *h, uint8_t type, const char *body, size_t n)
{
	hostile_say_view(h, type, (struct view){ (const uint8_t *)body, n });
	wait_end(h);
}

static void newkeys_first(struct hostile *h) { start(h); one_message(h, MSG_NEWKEYS, "", 0); }
static void kex_first(struct hostile *h) { start(h); one_message(h, 30, "\0\0\0\0", 4); }
static void userauth_first(struct hostile *h) { start(h); one_message(h, MSG_USERAUTH_REQUEST, "\0\0\0\4root", 8); }
static void channel_first(struct hostile *h) { start(h); one_message(h, MSG_CHANNEL_OPEN, "\0\0\0\7session", 11); }
static void success_first(struct hostile *h) { start(h); one_message(h, MSG_USERAUTH_SUCCESS, "", 0); }

static void strict_ignore(struct hostile *h)
{
	start(h);
	hostile_say_view(h, MSG_IGNORE, (struct view){ NULL, 0 });
	send_kexinit(h, "curve25519-sha256,kex-strict-c-v00@openssh.com");
	wait_end(h);
}

static void userauth_within(struct hostile *h)
{
	start(h);
	send_kexinit(h, "curve25519-sha256");
	one_message(h, MSG_USERAUTH_REQUEST, "\0\0\0\4root", 8);
}

static void newkeys_within(struct hostile *h)
{
	start(h);
	send_kexinit(h, "curve25519-sha256");
	one_message(h, MSG_NEWKEYS, "", 0);
}

static void reply_within(struct hostile *h)
{
	start(h);
	send_kexinit(h, "curve25519-sha256");
	one_message(h, 31, "\0\0\0\0", 4);
}

static void farewell(struct hostile *h)
{
	start(h);
	one_message(h, MSG_DISCONNECT, "\0\0\0\2\0\0\0\12bye\033[31m\ax\0\0\0\0", 22);
}

/* ---- values ---- */

/* One value as a string, or as it stands. */
static void kex_value(struct hostile *h, const char *kex, const void *value, size_t n, bool string)
{
	struct buf b = BUF_INIT(HOSTILE_BODY_MAX);

	start(h);
	send_kexinit(h, kex);
	if (string)
		buf_put_string(&b, value, n);
	else
		buf_put(&b, value, n);
	hostile_say(h, 30, &b);
	wait_end(h);
}

static const char x25519[] = "curve25519-sha256";

static void x25519_zero(struct hostile *h)
{
	static const uint8_t zero[32];

	kex_value(h, x25519, zero, 32, true);
}

static void x25519_low_order(struct hostile *h)
{
	/* 325606250916557431795983626356110631294008115727848805560023387167927233504, of order 8 */
	static const uint8_t low[32] = {
		0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a,
		0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00
	};

	kex_value(h, x25519, low, 32, true);
}

static void x25519_short(struct hostile *h) { kex_value(h, x25519, "short", 5, true); }
static void x25519_long(struct hostile *h) { char b[200000] = "long"; kex_value(h, x25519, b, sizeof(b), true); }
static void x25519_cut(struct hostile *h) { kex_value(h, x25519, "\0\0\0\40abc", 7, false); }
static void x25519_empty(struct hostile *h) { kex_value(h, x25519, "", 0, false); }

static void ecdh_off_curve(struct hostile *h)
{
	uint8_t point[65] = { 4, 1 };

	point[64] = 1;
	kex_value(h, "ecdh-sha2-nistp256", point, sizeof(point), true);
}

static void ecdh_infinity(struct hostile *h) { kex_value(h, "ecdh-sha2-nistp384", "\0", 1, true); }

static void ecdh_other_curve(struct hostile *h)
{
	struct err e = { 0 };
	struct agree *a = agree_new(AGREE_P256, &e);

	kex_value(h, "ecdh-sha2-nistp521", agree_public(a).p, agree_public(a).n, true);
	agree_free(a);
}

static void ecdh_compressed(struct hostile *h)
{
	struct err e = { 0 };
	struct agree *a = agree_new(AGREE_P256, &e);
	uint8_t point[33];

	memcpy(point, agree_public(a).p, sizeof(point));
	point[0] = 2 + (agree_public(a).p[64] & 1);
	agree_free(a);
	kex_value(h, "ecdh-sha2-nistp256", point, sizeof(point), true);
}

/* The prime of RFC 3526 group 14, plus `more`. */
static void dh14_prime(struct hostile *h, int more)
{
	static const char prime[] =
		"FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B"
		"302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7EDEE386BFB5A899FA5AE9F24117C4B1FE6"
		"49286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F83655D23DCA3AD961C62F356208552BB9ED529077096966D"
		"670C354E4ABC9804F1746C08CA18217C32905E462E36CE3BE39E772C180E86039B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF695581718"
		"3995497CEA956AE515D2261898FA051015728E5A8AACAA68FFFFFFFFFFFFFFFF";
	uint8_t p[257] = { 0 };
	unsigned byte;

	for (size_t i = 0; i < 256; i++) {
		if (sscanf(prime + 2 * i, "%2x", &byte) != 1)
			hostile_die("prime", NULL);
		p[1 + i] = (uint8_t)byte;
	}
	if (more > 0) {          /* the prime ends in 64 one bits */
		memset(p + 249, 0, 8);
		p[248]++;
	} else {
		p[256] = (uint8_t)(p[256] + more);
	}
	kex_value(h, "diffie-hellman-group14-sha256", p, sizeof(p), true);
}

static const char dh14[] = "diffie-hellman-group14-sha256";

static void dh14_zero(struct hostile *h) { kex_value(h, dh14, "", 0, true); }
static void dh14_one(struct hostile *h) { kex_value(h, dh14, "\1", 1, true); }
static void dh14_negative(struct hostile *h) { kex_value(h, dh14, "\377\1\2\3\4\5\6\7", 8, true); }
static void dh14_p_minus_1(struct hostile *h) { dh14_prime(h, -1); }
static void dh14_p(struct hostile *h) { dh14_prime(h, 0); }
static void dh14_p_plus_1(struct hostile *h) { dh14_prime(h, 1); }
static void dh14_huge(struct hostile *h) { char b[200000] = "\1"; kex_value(h, dh14, b, sizeof(b), true); }

static void kex_twice(struct hostile *h)
{
	struct err e = { 0 };
	struct agree *a = agree_new(AGREE_X25519, &e);
	struct buf b = BUF_INIT(1000);

	start(h);
	send_kexinit(h, x25519);
	buf_put_string(&b, agree_public(a).p, agree_public(a).n);
	hostile_say_view(h, 30, (struct view){ b.data, b.size });
	hostile_say(h, 30, &b);
	agree_free(a);
	wait_end(h);
}

/* The exchange is done, and what follows our NEWKEYS is no ciphertext. */
static void no_cipher(struct hostile *h)
{
	struct err e = { 0 };
	struct agree *a = agree_new(AGREE_X25519, &e);
	struct buf b = BUF_INIT(1000);
	static const char junk[4096];

	start(h);
	send_kexinit(h, x25519);
	buf_put_string(&b, agree_public(a).p, agree_public(a).n);
	hostile_say(h, 30, &b);
	hostile_say_view(h, MSG_NEWKEYS, (struct view){ NULL, 0 });
	hostile_raw(h, junk, sizeof(junk));
	agree_free(a);
	wait_end(h);
}

#define BANNER "banner exchange: Connection from @: invalid format"
#define ENDED "Connection with @ ended: "

const struct hostile_case hostile_cases[] = {
	{ "garbage", garbage, END_ANY, BANNER, NULL },
	{ "http", http, END_ANY, BANNER, NULL },
	{ "tls", tls, END_ANY, BANNER, NULL },
	{ "endless-line", endless_line, END_ANY, BANNER, NULL },
	{ "endless-version", endless_version, END_ANY, BANNER, NULL },
	{ "many-lines", many_lines, END_ANY, BANNER, NULL },
	{ "nul-in-version", nul_in_version, END_ANY, BANNER, NULL },
	{ "nuls", nuls, END_ANY, BANNER, NULL },
	{ "old-version", old_version, END_ANY, "Protocol major versions differ: 2 vs\\. 1", NULL },
	{ "escapes-in-version", escapes_in_version, END_ANY, BANNER, NULL },
	{ "half-close", half_close, END_ANY, "Connection closed by @", NULL },
	{ "reset", reset, END_RESET, "Connection (reset|closed) by @", NULL },

	{ "length-huge", length_huge, END_ANY, ENDED "bad packet length", NULL },
	{ "length-over", length_over, END_ANY, ENDED "bad packet length", NULL },
	{ "length-zero", length_zero, END_ANY, ENDED "bad packet length", NULL },
	{ "length-odd", length_odd, END_ANY, ENDED "bad packet length", NULL },
	{ "padding-short", padding_short, END_ANY, ENDED "packet corrupt", NULL },
	{ "padding-long", padding_long, END_ANY, ENDED "packet corrupt", NULL },
	{ "no-payload", no_payload, END_ANY, ENDED "packet corrupt", NULL },
	{ "half-packet", half_packet, END_CLOSED, "Connection closed by @", NULL },

	{ "kexinit-cut", kexinit_cut, END_DISCONNECT, ENDED, NULL },
	{ "kexinit-more", kexinit_more, END_DISCONNECT, ENDED, NULL },
	{ "kexinit-flood", kexinit_flood, END_DISCONNECT, ENDED "KEXINIT came within a key exchange", NULL },
	{ "kexinit-huge", kexinit_huge, END_ANY, "Unable to negotiate with @: no matching key exchange method found", NULL },
	{ "no-common-kex", no_common_kex, END_ANY, "Unable to negotiate with @: no matching key exchange method found\\. "
		"Their offer: diffie-hellman-group1-sha1", NULL },
	{ "escapes-in-kex", escapes_in_kex, END_ANY, "@", NULL },
	{ "want-none", want_none, END_ANY, "@.*(none|no matching cipher)", NULL },

	{ "newkeys-first", newkeys_first, END_DISCONNECT, ENDED "NEWKEYS came out of turn", NULL },
	{ "kex-first", kex_first, END_DISCONNECT, ENDED "key exchange message 30 came out of turn", NULL },
	{ "userauth-first", userauth_first, END_DISCONNECT, ENDED "message 50 came out of turn", NULL },
	{ "channel-first", channel_first, END_DISCONNECT, ENDED "message 90 came out of turn", NULL },
	{ "success-first", success_first, END_DISCONNECT, ENDED "message 52 came out of turn", NULL },
	{ "strict-ignore", strict_ignore, END_DISCONNECT, ENDED "strict key exchange", NULL },
	{ "userauth-within", userauth_within, END_DISCONNECT, ENDED "message 50 came out of turn", NULL },
	{ "newkeys-within", newkeys_within, END_DISCONNECT, ENDED "NEWKEYS came out of turn", NULL },
	{ "reply-within", reply_within, END_DISCONNECT, ENDED "key exchange message 31 came out of turn", NULL },
	{ "farewell", farewell, END_ANY, "Received disconnect from @:2: bye\\\\033\\[31m", NULL },

	{ "x25519-zero", x25519_zero, END_DISCONNECT, ENDED, NULL },
	{ "x25519-low-order", x25519_low_order, END_DISCONNECT, ENDED, NULL },
	{ "x25519-short", x25519_short, END_DISCONNECT, ENDED, NULL },
	{ "x25519-long", x25519_long, END_DISCONNECT, ENDED, NULL },
	{ "x25519-cut", x25519_cut, END_DISCONNECT, ENDED, NULL },
	{ "x25519-empty", x25519_empty, END_DISCONNECT, ENDED, NULL },
	{ "ecdh-off-curve", ecdh_off_curve, END_DISCONNECT, ENDED, NULL },
	{ "ecdh-infinity", ecdh_infinity, END_DISCONNECT, ENDED, NULL },
	{ "ecdh-other-curve", ecdh_other_curve, END_DISCONNECT, ENDED, NULL },
	{ "ecdh-compressed", ecdh_compressed, END_DISCONNECT, ENDED, NULL },
	{ "dh14-zero", dh14_zero, END_DISCONNECT, ENDED, NULL },
	{ "dh14-one", dh14_one, END_DISCONNECT, ENDED, NULL },
	{ "dh14-negative", dh14_negative, END_DISCONNECT, ENDED, NULL },
	{ "dh14-p-minus-1", dh14_p_minus_1, END_DISCONNECT, ENDED, NULL },
	{ "dh14-p", dh14_p, END_DISCONNECT, ENDED, NULL },
	{ "dh14-p-plus-1", dh14_p_plus_1, END_DISCONNECT, ENDED, NULL },
	{ "dh14-huge", dh14_huge, END_DISCONNECT, ENDED, NULL },
	{ "kex-twice", kex_twice, END_ANY, ENDED, NULL },
	{ "no-cipher", no_cipher, END_ANY, ENDED, NULL },

	/* Not with the others: these want a server of their own. */
	{ ".half-version", half_version, END_ANY, NULL, NULL },
	{ ".silence", silence, END_ANY, NULL, NULL },
	{ ".come-and-go", come_and_go, END_OPEN, NULL, NULL },
	{ ".half-open", half_open, END_OPEN, NULL, NULL },
	{ NULL, NULL, 0, NULL, NULL }
};
