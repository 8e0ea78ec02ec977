/* Packets from one struct packet to another under every cipher and MAC: single messages, bulk, pieces, wrong bytes. */
#include "packet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "crypto/rand.h"
#include "packet_private.h"
#include "wire/messages.h"

static const uint8_t secret[64] = "sixty-four bytes of keys for both directions, whatever they need";
static const struct packet_keys keys = { secret, secret, secret };

static struct view text(const char *s)
{
	return (struct view){ (const uint8_t *)s, strlen(s) };
}

struct ends { struct packet *out, *in; };

static void open_ends(struct ends *e, const char *cipher, const char *mac, bool zlib)
{
	struct packet_suite s = { .cipher = cipher_find(text(cipher)), .compress = zlib ? compress_find(text("zlib@openssh.com")) : NULL };

	assert_non_null(s.cipher);
	if (mac != NULL) {
		s.mac = mac_find(text(mac));
		assert_non_null(s.mac);
	}
	e->out = packet_new();
	e->in = packet_new();
	assert_int_equal(packet_set_keys(e->out, PACKET_OUT, &s, &keys, false), 0);
	assert_int_equal(packet_set_keys(e->in, PACKET_IN, &s, &keys, false), 0);
	if (zlib) {
		packet_start_compression(e->out, PACKET_OUT, 6);
		packet_start_compression(e->in, PACKET_IN, 0);
	}
}

static void close_ends(struct ends *e)
{
	packet_free(e->out);
	packet_free(e->in);
}

static void feed(struct packet *p, const void *bytes, size_t n)
{
	uint8_t *at;
	size_t room, take;
	const uint8_t *from = bytes;

	while (n != 0) {
		assert_int_equal(packet_in_space(p, &at, &room), 0);
		assert_true(room >= 16 * 1024);
		take = n < room ? n : room;
		memcpy(at, from, take);
		packet_in_added(p, take);
		from += take;
		n -= take;
	}
}

/* Everything pending into one buffer. */
static void drain(struct packet *p, struct buf *b)
{
	struct iovec iov[2];
	int n = packet_out_view(p, iov, 2), i;

	for (i = 0; i < n; i++)
		buf_put(b, iov[i].iov_base, iov[i].iov_len);
	packet_out_sent(p, packet_out_pending(p));
	assert_true(buf_ok(b));
	assert_int_equal(packet_out_pending(p), 0);
}

static void move(struct ends *e)
{
	struct buf b = BUF_INIT(8 << 20);

	drain(e->out, &b);
	feed(e->in, b.data, b.size);
	buf_free(&b);
}

static void send_one(struct packet *p, uint8_t type, const uint8_t *body, size_t n)
{
	uint8_t *at = packet_begin(p, type, n + 7);

	assert_non_null(at);
	memcpy(at, body, n);
	assert_int_equal(packet_end(p, n), 0);
}

static void expect_one(struct packet *p, uint8_t type, const uint8_t *body, size_t n)
{
	struct message m;

	assert_int_equal(packet_next(p, &m), 1);
	assert_int_equal(m.type, type);
	assert_int_equal(m.body.n, n);
	assert_memory_equal(m.body.p, body, n);
}

static void expect_more(struct packet *p)
{
	struct message m;

	assert_int_equal(packet_next(p, &m), 0);
}

typedef void suite_fn(const char *cipher, const char *mac);

/* Every cipher, with every MAC where one is used. */
static void each_suite(suite_fn *f)
{
	const struct cipher_alg *c;
	const struct mac_alg *m;
	size_t i, j;

	for (i = 0; (c = cipher_at(i)) != NULL; i++) {
		if (cipher_is_aead(c)) {
			f(c->name, NULL);
			continue;
		}
		for (j = 0; (m = mac_at(j)) != NULL; j++)
			f(c->name, m->name);
	}
	for (j = 0; (m = mac_at(j)) != NULL; j++)
		f("none", m->name);
	f("none", "none");
}

/* ---- single messages ---- */

static void sizes_of(const char *cipher, const char *mac)
{
	static const size_t sizes[] = { 0, 1, 7, 8, 15, 16, 17, 31, 255, 256, 4095, 32768, 261120 };
	uint8_t *body = malloc(261120);
	struct ends e;
	size_t i;

	rand_bytes(body, 261120);
	open_ends(&e, cipher, mac, false);
	for (i = 0; i < MEM_COUNT(sizes); i++)
		send_one(e.out, (uint8_t)(i + 1), body, sizes[i]);
	move(&e);
	for (i = 0; i < MEM_COUNT(sizes); i++)
		expect_one(e.in, (uint8_t)(i + 1), body, sizes[i]);
	expect_more(e.in);
	assert_int_equal(packet_seq(e.in, PACKET_IN), MEM_COUNT(sizes));
	assert_int_equal(packet_counters(e.in, PACKET_IN).blocks, packet_counters(e.out, PACKET_OUT).blocks);
	assert_int_equal(packet_total_bytes(e.in, PACKET_IN), packet_total_bytes(e.out, PACKET_OUT));
	close_ends(&e);
	free(body);
}

static void every_suite_carries_every_size(void **state)
{
	(void)state;
	each_suite(sizes_of);
}

static void plain_packet_has_the_layout_of_the_rfc(void **state)
{
	static const uint8_t want[] = { 0, 0, 0, 12, 4, 94, 'a', 'b', 'c', 'd', 'e', 'f', 0, 0, 0, 0 };
	struct packet *p = packet_new();
	struct buf b = BUF_INIT(4096);

	(void)state;
	send_one(p, 94, (const uint8_t *)"abcdef", 6);
	drain(p, &b);
	assert_int_equal(b.size, sizeof(want));
	assert_memory_equal(b.data, want, sizeof(want));
	buf_free(&b);
	packet_free(p);
}

static void padding_follows_the_rules(void **state)
{
	static const struct { const char *cipher, *mac; size_t payload, padding; } cases[] = {
		{ "none", "none", 1, 10 }, { "none", "none", 7, 4 }, { "none", "none", 8, 11 },
		{ "none", "hmac-sha2-256-etm@openssh.com", 3, 4 }, { "none", "hmac-sha2-256-etm@openssh.com", 4, 11 },
		{ "aes128-ctr", "hmac-sha2-256", 7, 4 }, { "aes128-ctr", "hmac-sha2-256", 8, 19 },
		{ "aes128-ctr", "umac-64-etm@openssh.com", 11, 4 }, { "aes128-ctr", "umac-64-etm@openssh.com", 12, 19 },
		{ "aes256-gcm@openssh.com", NULL, 11, 4 }, { "aes256-gcm@openssh.com", NULL, 12, 19 },
		{ "chacha20-poly1305@openssh.com", NULL, 3, 4 }, { "chacha20-poly1305@openssh.com", NULL, 4, 11 },
	};
	struct ends e;
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(cases); i++) {
		open_ends(&e, cases[i].cipher, cases[i].mac, false);
		assert_int_equal(seal_padding(e.out->side[PACKET_OUT].seal, cases[i].payload, 0), cases[i].padding);
		close_ends(&e);
	}
}

static void pad_next_hides_the_size(void **state)
{
	struct ends e;
	struct buf b = BUF_INIT(65536);
	size_t n, first = 0;

	(void)state;
	open_ends(&e, "aes128-gcm@openssh.com", NULL, false);
	for (n = 1; n < 59; n++) {
		packet_pad_next(e.out, 64);
		send_one(e.out, 50, secret, n);
		if (n == 1)
			first = packet_out_pending(e.out);
		assert_int_equal(packet_out_pending(e.out), first);
		move(&e);
		expect_one(e.in, 50, secret, n);
	}
	/* Only the next one. */
	send_one(e.out, 50, secret, 1);
	assert_true(packet_out_pending(e.out) < first);
	buf_free(&b);
	close_ends(&e);
}

static void byte_by_byte(const char *cipher, const char *mac)
{
	struct ends e;
	struct buf b = BUF_INIT(65536);
	struct message m;
	size_t i;
	int r;

	open_ends(&e, cipher, mac, false);
	send_one(e.out, 7, secret, 40);
	send_one(e.out, 8, secret, 3);
	drain(e.out, &b);
	for (i = 0, r = 0; i < b.size && r == 0; i++) {
		feed(e.in, b.data + i, 1);
		r = packet_next(e.in, &m);
	}
	assert_int_equal(r, 1);
	assert_int_equal(m.type, 7);
	assert_memory_equal(m.body.p, secret, 40);
	for (r = 0; i < b.size && r == 0; i++) {
		feed(e.in, b.data + i, 1);
		r = packet_next(e.in, &m);
	}
	assert_int_equal(r, 1);
	assert_int_equal(m.type, 8);
	assert_int_equal(i, b.size);
	buf_free(&b);
	close_ends(&e);
}

static void pieces_of_a_byte_are_enough(void **state)
{
	(void)state;
	each_suite(byte_by_byte);
}

/* ---- wrong bytes ---- */

/* A packet with one wrong byte must never be a message. Bytes of a MAC-less packet cannot be wrong. */
static void tamper(const char *cipher, const char *mac)
{
	struct ends e;
	struct buf good = BUF_INIT(4096), big = BUF_INIT(1 << 20);
	struct message m;
	size_t i, n;
	int r;

	if (mac != NULL && strcmp(mac, "none") == 0)
		return;
	open_ends(&e, cipher, mac, false);
	send_one(e.out, 94, secret, 20);
	drain(e.out, &good);
	close_ends(&e);
	n = good.size;
	for (i = 0; i < n; i++) {
		open_ends(&e, cipher, mac, false);
		good.data[i] ^= 0x20;
		feed(e.in, good.data, n);
		good.data[i] ^= 0x20;
		r = packet_next(e.in, &m);
		/* A length that grew: what is missing comes. */
		while (r == 0 && e.in->side[PACKET_IN].total == 0) {
			uint8_t more[4096] = { 0 };

			feed(e.in, more, sizeof(more));
			r = packet_next(e.in, &m);
		}
		assert_true(r < 0);
		assert_int_equal(packet_next(e.in, &m), r);
		assert_int_not_equal(packet_err(e.in)->code, 0);
		close_ends(&e);
	}
	buf_free(&good);
	buf_free(&big);
}

static void no_wrong_byte_passes(void **state)
{
	(void)state;
	each_suite(tamper);
}

static void lengths_out_of_range_end_the_stream(void **state)
{
	static const uint32_t bad[] = { 0, 1, 4, 5, 13, 262145 + 3, 262152, 0x7fffffff, 0xfffffff0, 0xffffffff };
	uint8_t head[16] = { 0 };
	struct message m;
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(bad); i++) {
		struct packet *p = packet_new();

		wire_store_u32(head, bad[i]);
		head[4] = 4;
		feed(p, head, sizeof(head));
		assert_int_equal(packet_next(p, &m), ERR_PEER);
		packet_free(p);
	}
}

static void padding_out_of_range_ends_the_stream(void **state)
{
	static const uint8_t bad[] = { 0, 3, 11, 12, 200, 255 };
	uint8_t p12[16] = { 0, 0, 0, 12 };
	struct message m;
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(bad); i++) {
		struct packet *p = packet_new();

		p12[4] = bad[i];
		feed(p, p12, sizeof(p12));
		assert_int_equal(packet_next(p, &m), ERR_PEER);
		packet_free(p);
	}
}

static void a_smaller_limit_holds(void **state)
{
	struct ends e;
	struct message m;
	uint8_t body[4096] = { 0 };

	(void)state;
	open_ends(&e, "aes128-gcm@openssh.com", NULL, false);
	packet_set_length_max(e.in, 1024);
	send_one(e.out, 94, body, 500);
	send_one(e.out, 94, body, 2000);
	move(&e);
	expect_one(e.in, 94, body, 500);
	assert_int_equal(packet_next(e.in, &m), ERR_PEER);
	close_ends(&e);
}

/* CBC with a MAC over the plaintext: a wrong length and a wrong MAC look the same, and show only after 256 KiB. */
static void cbc_failures_hide(void **state)
{
	static const char *const ciphers[] = { "aes128-cbc", "3des-cbc", "blowfish-cbc", "cast128-cbc" };
	static const size_t wrong[] = { 0, 40 };     /* in the length, in the body */
	size_t i, fed, last = 0;

	(void)state;
	for (i = 0; i < MEM_COUNT(wrong) * MEM_COUNT(ciphers); i++) {
		struct ends e;
		struct buf b = BUF_INIT(4096);
		uint8_t more[1024] = { 0 };
		struct message m;
		int r;

		if (cipher_prepare(ciphers[i / 2], NULL) < 0 || cipher_find(text(ciphers[i / 2])) == NULL)
			continue;
		open_ends(&e, ciphers[i / 2], "hmac-sha2-256", false);
		send_one(e.out, 94, secret, 60);
		drain(e.out, &b);
		b.data[wrong[i % 2]] ^= 0x80;
		feed(e.in, b.data, b.size);
		fed = b.size;
		while ((r = packet_next(e.in, &m)) == 0) {
			feed(e.in, more, sizeof(more));
			fed += sizeof(more);
			assert_true(fed < 300000);
		}
		assert_int_equal(r, ERR_CRYPTO);
		assert_true(fed >= PACKET_LENGTH_MAX);
		/* as many bytes in either case */
		assert_true(i % 2 == 0 || fed == last);
		last = fed;
		assert_string_equal(packet_err(e.in)->text, "packet corrupt");
		close_ends(&e);
		buf_free(&b);
	}
}

static void broken_input_leaves_output_alone(void **state)
{
	struct packet *p = packet_new();
	static const uint8_t bad[8] = { 0xff, 0xff, 0xff, 0xff };
	struct message m;

	(void)state;
	feed(p, bad, sizeof(bad));
	assert_int_equal(packet_next(p, &m), ERR_PEER);
	send_one(p, MSG_DISCONNECT, secret, 4);
	assert_int_equal(packet_out_pending(p), 16);
	packet_free(p);
}

/* ---- bulk ---- */

enum { HEAD = 8 };

static void write_head(void *ctx, uint8_t *head, size_t n)
{
	wire_store_u32(head, *(uint32_t *)ctx);
	wire_store_u32(head + 4, (uint32_t)n);
}

static void spread(const struct iovec *iov, int count, const uint8_t *bytes, size_t n)
{
	int i;

	for (i = 0; i < count && n != 0; i++) {
		size_t take = n < iov[i].iov_len ? n : iov[i].iov_len;

		memcpy(iov[i].iov_base, bytes, take);
		bytes += take;
		n -= take;
	}
	assert_int_equal(n, 0);
}

static void expect_bulk(struct packet *p, uint32_t channel, size_t body_max, const uint8_t *bytes, size_t n)
{
	struct message m;
	size_t take;

	while (n != 0) {
		take = n < body_max ? n : body_max;
		assert_int_equal(packet_next(p, &m), 1);
		assert_int_equal(m.type, MSG_CHANNEL_DATA);
		assert_int_equal(m.body.n, HEAD + take);
		assert_int_equal(wire_load_u32(m.body.p), channel);
		assert_int_equal(wire_load_u32(m.body.p + 4), take);
		assert_memory_equal(m.body.p + HEAD, bytes, take);
		bytes += take;
		n -= take;
	}
}

static void bulk_with(struct ends *e)
{
	static const struct { size_t body_max, want, used; int iovs; } cases[] = {
		{ 1000, 1000, 1000, 8 }, { 1000, 1000, 1, 8 }, { 1000, 5000, 5000, 8 }, { 1000, 5000, 4999, 8 },
		{ 1000, 5000, 3000, 8 }, { 1000, 5000, 3001, 8 }, { 1000, 5001, 5001, 8 }, { 1000, 5000, 0, 8 },
		{ 1000, 99000, 2000, 2 }, { 32768, 300000, 300000, 16 }, { 190000, 522241, 379001, 3 }, { 1, 3, 3, 3 },
		{ 1, 3, 2, 3 }
	};
	uint32_t channel = 77;
	const struct packet_bulk bulk = { MSG_CHANNEL_DATA, HEAD, write_head, &channel };
	uint8_t *bytes = malloc(600000);
	struct iovec iov[16];
	struct message m;
	size_t i, most, used;
	bool packing;
	int n, k;

	rand_bytes(bytes, 300000);
	memset(bytes + 300000, 'x', 300000);
	for (i = 0; i < MEM_COUNT(cases); i++) {
		n = packet_lend(e->out, &bulk, cases[i].body_max, cases[i].want, iov, cases[i].iovs);
		assert_true(n > 0 && n <= cases[i].iovs);
		for (k = 0, most = 0; k < n; k++)
			most += iov[k].iov_len;
		/* Under compression bodies are shorter, and fewer. */
		packing = packet_suite(e->out, PACKET_OUT)->compress != NULL;
		assert_true(most <= cases[i].want && (packing || most >= cases[i].used));
		used = most < cases[i].used ? most : cases[i].used;
		spread(iov, n, bytes, used);
		assert_int_equal(packet_commit(e->out, used), 0);
		send_one(e->out, 93, secret, 5);
		move(e);
		expect_bulk(e->in, channel, packing && n > 1 ? iov[0].iov_len : cases[i].body_max, bytes, used);
		expect_one(e->in, 93, secret, 5);
		assert_int_equal(packet_next(e->in, &m), 0);
	}
	free(bytes);
}

static void bulk_of(const char *cipher, const char *mac)
{
	struct ends e;

	open_ends(&e, cipher, mac, false);
	bulk_with(&e);
	close_ends(&e);
}

static void bulk_comes_whole_whatever_was_written(void **state)
{
	(void)state;
	each_suite(bulk_of);
}

static void bulk_is_compressed(void **state)
{
	struct ends e;

	(void)state;
	open_ends(&e, "aes128-ctr", "hmac-sha2-256-etm@openssh.com", true);
	bulk_with(&e);
	/* The second half of the data is one letter. */
	assert_true(packet_total_bytes(e.out, PACKET_OUT) < 900000);
	close_ends(&e);
}

static void misuse_of_bulk_is_an_error(void **state)
{
	uint32_t channel = 0;
	const struct packet_bulk bulk = { MSG_CHANNEL_DATA, HEAD, write_head, &channel };
	struct packet *p = packet_new();
	struct iovec iov[4];

	(void)state;
	assert_int_equal(packet_lend(p, &bulk, 100, 0, iov, 4), 0);
	assert_int_equal(packet_lend(p, &bulk, 0, 10, iov, 4), 0);
	assert_int_equal(packet_lend(p, &bulk, PACKET_LENGTH_MAX, 10, iov, 4), 0);
	assert_int_equal(packet_lend(p, &bulk, 100, 150, iov, 4), 2);
	assert_int_equal(iov[1].iov_len, 50);
	packet_cancel(p);
	assert_int_equal(packet_lend(p, &bulk, 100, 150, iov, 4), 2);
	assert_int_equal(packet_commit(p, 151), ERR_USAGE);
	packet_free(p);

	p = packet_new();
	assert_int_equal(packet_lend(p, &bulk, 100, 150, iov, 4), 2);
	assert_null(packet_begin(p, 1, 1));
	assert_int_equal(packet_err(p)->code, ERR_USAGE);
	packet_free(p);

	p = packet_new();
	assert_null(packet_begin(p, 1, PACKET_LENGTH_MAX));
	assert_int_equal(packet_err(p)->code, ERR_MEMORY);
	packet_free(p);

	p = packet_new();
	assert_non_null(packet_begin(p, 1, 10));
	assert_int_equal(packet_end(p, 11), ERR_USAGE);
	packet_free(p);
}

static void output_is_bounded(void **state)
{
	uint32_t channel = 0;
	const struct packet_bulk bulk = { MSG_CHANNEL_DATA, HEAD, write_head, &channel };
	struct packet *p = packet_new();
	struct iovec iov[64];
	size_t sum, i;
	int n;

	(void)state;
	while ((n = packet_lend(p, &bulk, 32768, 1 << 20, iov, 64)) > 0) {
		for (i = 0, sum = 0; i < (size_t)n; i++) {
			memset(iov[i].iov_base, 'b', iov[i].iov_len);
			sum += iov[i].iov_len;
		}
		assert_int_equal(packet_commit(p, sum), 0);
	}
	assert_int_equal(n, 0);
	assert_true(packet_out_pending(p) <= PACKET_BULK_MAX && packet_out_pending(p) > PACKET_BULK_MAX - 40000);
	/* Other messages still go, to a limit. */
	for (i = 0; packet_begin(p, 2, 200000) != NULL; i++)
		assert_int_equal(packet_end(p, 200000), 0);
	assert_true(i >= 8 && i < 12);
	assert_int_equal(packet_err(p)->code, ERR_MEMORY);
	assert_true(packet_out_pending(p) <= PACKET_OUT_MAX);
	packet_free(p);
}

/* Output that leaves in odd pieces while more is put behind it: the slab goes round. */
static void output_goes_round(void **state)
{
	struct ends e;
	struct iovec iov[2];
	uint8_t body[3000];
	size_t sent = 0, got = 0, step, take;
	struct message m;
	int n, i;

	(void)state;
	open_ends(&e, "aes128-gcm@openssh.com", NULL, false);
	for (step = 0; step < 3000; step++) {
		size_t size = (step * 131) % sizeof(body);

		memset(body, (int)(step & 0xff), sizeof(body));
		send_one(e.out, (uint8_t)(step & 0x7f), body, size);
		sent++;
		take = (step * 977) % 4096;
		n = packet_out_view(e.out, iov, 2);
		for (i = 0; i < n && take != 0; i++) {
			size_t part = take < iov[i].iov_len ? take : iov[i].iov_len;

			feed(e.in, iov[i].iov_base, part);
			packet_out_sent(e.out, part);
			take -= part;
			if (part != iov[i].iov_len)
				break;
			n = packet_out_view(e.out, iov, 2);
			i = -1;
		}
		while (packet_next(e.in, &m) == 1) {
			assert_int_equal(m.type, got & 0x7f);
			assert_int_equal(m.body.n, (got * 131) % sizeof(body));
			assert_true(m.body.n == 0 || m.body.p[m.body.n - 1] == (got & 0xff));
			got++;
		}
	}
	move(&e);
	while (packet_next(e.in, &m) == 1)
		got++;
	assert_int_equal(got, sent);
	assert_true(e.out->out.room <= 4 << 20);
	close_ends(&e);
}

/* ---- memory ---- */

static void memory_follows_use(void **state)
{
	struct ends e;
	uint8_t *body = calloc(1, 200000);
	uint8_t *at;
	size_t room, i;
	struct message m;

	(void)state;
	open_ends(&e, "aes128-gcm@openssh.com", NULL, false);
	assert_int_equal(packet_in_space(e.in, &at, &room), 0);
	assert_true(room <= 64 * 1024);
	for (i = 0; i < 40; i++) {
		send_one(e.out, 94, body, 200000);
		move(&e);
		assert_int_equal(packet_next(e.in, &m), 1);
	}
	assert_true(e.in->in_room > 64 * 1024 && e.in->in_room <= 1024 * 1024);
	assert_true(packet_has_spare(e.in) && packet_has_spare(e.out));
	/* The first look still sees the bulk. */
	assert_true(packet_trim(e.in));
	assert_false(packet_trim(e.in));
	assert_true(packet_trim(e.out));
	assert_false(packet_trim(e.out));
	assert_false(packet_has_spare(e.in) || packet_has_spare(e.out));
	send_one(e.out, 94, body, 100);
	move(&e);
	expect_one(e.in, 94, body, 100);
	close_ends(&e);
	free(body);
}

/* At rest nothing is kept, except what has come or waits to go; and all goes on afterwards. */
static void nothing_is_kept_at_rest(void **state)
{
	struct ends e;
	uint8_t body[1000] = { 7 }, *at;
	struct message m;
	struct iovec iov[2];
	size_t room;

	(void)state;
	open_ends(&e, "aes128-gcm@openssh.com", NULL, false);
	send_one(e.out, 94, body, sizeof(body));
	packet_rest(e.out);
	assert_true(packet_out_pending(e.out) > sizeof(body));
	assert_int_equal(packet_out_view(e.out, iov, 2), 1);
	assert_int_equal(packet_in_space(e.in, &at, &room), 0);
	memcpy(at, iov[0].iov_base, iov[0].iov_len);
	packet_in_added(e.in, iov[0].iov_len);
	packet_out_sent(e.out, iov[0].iov_len);
	packet_rest(e.in);
	assert_int_equal(packet_next(e.in, &m), 1);
	assert_memory_equal(m.body.p, body, sizeof(body));
	assert_int_equal(packet_next(e.in, &m), 0);
	packet_rest(e.in);
	packet_rest(e.out);
	assert_true(e.in->in == NULL && e.in->in_room == 0);
	assert_true(e.out->out.mem == NULL && e.out->out.room == 0);
	send_one(e.out, 94, body, 100);
	move(&e);
	expect_one(e.in, 94, body, 100);
	close_ends(&e);
}

/* ---- new keys, numbers ---- */

static void keys_change_in_order(void **state)
{
	struct packet_suite gcm = { .cipher = cipher_find(text("aes128-gcm@openssh.com")) };
	struct packet_suite chacha = { .cipher = cipher_find(text("chacha20-poly1305@openssh.com")) };
	struct packet *out = packet_new(), *in = packet_new();
	struct ends e = { out, in };

	(void)state;
	send_one(out, 1, secret, 10);
	assert_int_equal(packet_set_keys(out, PACKET_OUT, &gcm, &keys, true), 0);
	send_one(out, 2, secret, 20);
	assert_int_equal(packet_seq(out, PACKET_OUT), 1);
	assert_int_equal(packet_set_keys(out, PACKET_OUT, &chacha, &keys, false), 0);
	send_one(out, 3, secret, 30);
	assert_int_equal(packet_seq(out, PACKET_OUT), 2);
	move(&e);
	expect_one(in, 1, secret, 10);
	assert_int_equal(packet_set_keys(in, PACKET_IN, &gcm, &keys, true), 0);
	expect_one(in, 2, secret, 20);
	assert_int_equal(packet_set_keys(in, PACKET_IN, &chacha, &keys, false), 0);
	expect_one(in, 3, secret, 30);
	assert_int_equal(packet_counters(in, PACKET_IN).packets, 1);
	packet_free(out);
	packet_free(in);
}

static void one_key_does_not_last_for_ever(void **state)
{
	struct ends e;
	uint8_t *at;

	(void)state;
	open_ends(&e, "aes128-gcm@openssh.com", NULL, false);
	e.out->side[PACKET_OUT].count.packets = (uint64_t)UINT32_MAX + 1;
	at = packet_begin(e.out, 1, 0);
	assert_non_null(at);
	assert_int_equal(packet_end(e.out, 0), ERR_USAGE);
	close_ends(&e);
}

/* ---- hand-off ---- */

static struct packet *carry(struct packet *p)
{
	struct packet *q = packet_new();
	struct buf b = BUF_INIT(8 << 20);
	struct reader r;

	assert_int_equal(packet_export(p, &b), 0);
	reader_init(&r, b.data, b.size);
	assert_int_equal(packet_import(q, &r), 0);
	assert_int_equal(reader_end(&r, NULL, "state"), 0);
	packet_free(p);
	buf_free(&b);
	return q;
}

/* Input is handed over in the middle of a packet, at every byte of it that may matter; output after some packets. */
static void handoff_of(const char *cipher, const char *mac)
{
	static const size_t cuts[] = { 0, 1, 3, 4, 5, 7, 8, 15, 16, 17, 40 };
	struct packet_suite s = { .cipher = cipher_find(text(cipher)) };
	struct packet_keys k = keys;
	size_t i;

	if (mac != NULL)
		s.mac = mac_find(text(mac));
	for (i = 0; i < MEM_COUNT(cuts); i++) {
		struct ends e = { packet_new(), packet_new() };
		struct buf b = BUF_INIT(65536);
		size_t first;

		packet_keep_keys(e.out, true);
		packet_keep_keys(e.in, true);
		assert_int_equal(packet_set_keys(e.out, PACKET_OUT, &s, &k, false), 0);
		assert_int_equal(packet_set_keys(e.in, PACKET_IN, &s, &k, false), 0);
		send_one(e.out, 1, secret, 33);
		send_one(e.out, 2, secret, 1);
		first = packet_out_pending(e.out);
		send_one(e.out, 3, secret, 50);
		drain(e.out, &b);
		feed(e.in, b.data, first + cuts[i]);
		expect_one(e.in, 1, secret, 33);
		expect_one(e.in, 2, secret, 1);
		expect_more(e.in);
		e.in = carry(e.in);
		expect_more(e.in);
		feed(e.in, b.data + first + cuts[i], b.size - first - cuts[i]);
		expect_one(e.in, 3, secret, 50);
		assert_int_equal(packet_seq(e.in, PACKET_IN), 3);
		e.out = carry(e.out);
		send_one(e.out, 4, secret, 20);
		move(&e);
		expect_one(e.in, 4, secret, 20);
		assert_int_equal(packet_counters(e.in, PACKET_IN).bytes, packet_counters(e.out, PACKET_OUT).bytes);
		assert_int_equal(packet_counters(e.in, PACKET_IN).packets, 4);
		close_ends(&e);
		buf_free(&b);
	}
}

static void every_suite_is_handed_over(void **state)
{
	(void)state;
	each_suite(handoff_of);
}

static void handoff_has_conditions(void **state)
{
	struct packet_suite s = { .cipher = cipher_find(text("aes128-gcm@openssh.com")), .compress = compress_find(text("zlib@openssh.com")) };
	struct packet *p = packet_new();
	struct buf b = BUF_INIT(65536);

	(void)state;
	/* Keys that were not kept. */
	assert_int_equal(packet_set_keys(p, PACKET_OUT, &s, &keys, false), 0);
	assert_int_equal(packet_export(p, &b), ERR_USAGE);
	packet_free(p);
	/* Output that waits. */
	p = packet_new();
	packet_keep_keys(p, true);
	send_one(p, 1, secret, 1);
	assert_int_equal(packet_export(p, &b), ERR_USAGE);
	packet_free(p);
	/* Compression that has begun; before that is fine. */
	p = packet_new();
	packet_keep_keys(p, true);
	assert_int_equal(packet_set_keys(p, PACKET_OUT, &s, &keys, false), 0);
	packet_start_compression(p, PACKET_OUT, 6);
	send_one(p, 1, secret, 1);
	packet_out_sent(p, packet_out_pending(p));
	assert_int_equal(packet_export(p, &b), ERR_USAGE);
	packet_free(p);
	/* Keys are forgotten with the export. */
	p = packet_new();
	packet_keep_keys(p, true);
	buf_reset(&b);
	assert_int_equal(packet_export(p, &b), 0);
	assert_int_equal(packet_export(p, &b), ERR_USAGE);
	packet_free(p);
	buf_free(&b);
}

static void a_cut_blob_is_refused(void **state)
{
	struct packet_suite s = { .cipher = cipher_find(text("aes128-ctr")), .mac = mac_find(text("hmac-sha2-256")) };
	struct packet *p = packet_new(), *q;
	struct buf b = BUF_INIT(65536);
	struct reader r;
	size_t n;

	(void)state;
	packet_keep_keys(p, true);
	assert_int_equal(packet_set_keys(p, PACKET_IN, &s, &keys, false), 0);
	assert_int_equal(packet_set_keys(p, PACKET_OUT, &s, &keys, false), 0);
	feed(p, secret, 10);
	assert_int_equal(packet_export(p, &b), 0);
	for (n = 0; n < b.size; n++) {
		q = packet_new();
		reader_init(&r, b.data, n);
		assert_true(packet_import(q, &r) < 0);
		packet_free(q);
	}
	packet_free(p);
	buf_free(&b);
}

/* ---- compression ---- */

static void compression_starts_late_and_anew(void **state)
{
	struct ends e;
	struct packet_suite s;
	uint8_t body[20000];
	size_t plain;

	(void)state;
	memset(body, 'z', sizeof(body));
	open_ends(&e, "aes256-gcm@openssh.com", NULL, true);
	send_one(e.out, 5, body, sizeof(body));
	plain = packet_out_pending(e.out);
	assert_true(plain < 1000);
	move(&e);
	expect_one(e.in, 5, body, sizeof(body));
	s = *packet_suite(e.out, PACKET_OUT);
	/* A new stream with new keys, in use from its first packet. */
	assert_int_equal(packet_set_keys(e.out, PACKET_OUT, &s, &keys, false), 0);
	assert_int_equal(packet_set_keys(e.in, PACKET_IN, &s, &keys, false), 0);
	send_one(e.out, 6, body, 0);
	send_one(e.out, 7, body, sizeof(body));
	move(&e);
	expect_one(e.in, 6, body, 0);
	expect_one(e.in, 7, body, sizeof(body));
	/* Keys without zlib. */
	s.compress = NULL;
	assert_int_equal(packet_set_keys(e.out, PACKET_OUT, &s, &keys, false), 0);
	assert_int_equal(packet_set_keys(e.in, PACKET_IN, &s, &keys, false), 0);
	send_one(e.out, 8, body, sizeof(body));
	assert_true(packet_out_pending(e.out) > sizeof(body));
	move(&e);
	expect_one(e.in, 8, body, sizeof(body));
	close_ends(&e);
}

static void incompressible_packets_still_fit(void **state)
{
	uint8_t *body = malloc(261120);
	struct ends e;

	(void)state;
	rand_bytes(body, 261120);
	open_ends(&e, "aes256-gcm@openssh.com", NULL, true);
	send_one(e.out, 94, body, 261120 + 8 - 8);
	move(&e);
	expect_one(e.in, 94, body, 261120);
	close_ends(&e);
	free(body);
}

/* A lent body that could grow too long is lent shorter. */
static void compressed_bulk_is_shorter(void **state)
{
	const struct packet_bulk bulk = { MSG_CHANNEL_DATA, 0, NULL, NULL };
	struct iovec iov[2];
	struct ends e;

	(void)state;
	open_ends(&e, "aes256-gcm@openssh.com", NULL, true);
	assert_int_equal(packet_lend(e.out, &bulk, 261120, 261120, iov, 2), 2);
	assert_true(iov[0].iov_len < 200000);
	rand_bytes(iov[0].iov_base, iov[0].iov_len);
	rand_bytes(iov[1].iov_base, iov[1].iov_len);
	assert_int_equal(packet_commit(e.out, iov[0].iov_len + iov[1].iov_len), 0);
	close_ends(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_packet_has_the_layout_of_the_rfc),
		cmocka_unit_test(padding_follows_the_rules),
		cmocka_unit_test(every_suite_carries_every_size),
		cmocka_unit_test(pad_next_hides_the_size),
		cmocka_unit_test(pieces_of_a_byte_are_enough),
		cmocka_unit_test(no_wrong_byte_passes),
		cmocka_unit_test(lengths_out_of_range_end_the_stream),
		cmocka_unit_test(padding_out_of_range_ends_the_stream),
		cmocka_unit_test(a_smaller_limit_holds),
		cmocka_unit_test(cbc_failures_hide),
		cmocka_unit_test(broken_input_leaves_output_alone),
		cmocka_unit_test(bulk_comes_whole_whatever_was_written),
		cmocka_unit_test(bulk_is_compressed),
		cmocka_unit_test(misuse_of_bulk_is_an_error),
		cmocka_unit_test(output_is_bounded),
		cmocka_unit_test(output_goes_round),
		cmocka_unit_test(memory_follows_use), cmocka_unit_test(nothing_is_kept_at_rest),
		cmocka_unit_test(keys_change_in_order),
		cmocka_unit_test(one_key_does_not_last_for_ever),
		cmocka_unit_test(every_suite_is_handed_over),
		cmocka_unit_test(handoff_has_conditions),
		cmocka_unit_test(a_cut_blob_is_refused),
		cmocka_unit_test(compression_starts_late_and_anew),
		cmocka_unit_test(incompressible_packets_still_fit),
		cmocka_unit_test(compressed_bulk_is_shorter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
