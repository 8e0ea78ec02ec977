/* Packets sealed and opened by several threads: the same bytes as by one, under every cipher and MAC; order, new keys, wrong bytes,
 * what is opened ahead. */
#include "seal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "crypto/rand.h"
#include "crypto/workers.h"
#include "packet_private.h"
#include "wire/messages.h"

static const uint8_t secret[64] = "sixty-four bytes of keys for both directions, whatever they need";
static const uint8_t other_secret[64] = "other sixty-four bytes of keys for what comes after the re-key..";
static const struct packet_keys keys = { secret, secret, secret }, other_keys = { other_secret, other_secret, other_secret };

static struct view text(const char *s)
{
	return (struct view){ (const uint8_t *)s, strlen(s) };
}

static struct packet_suite suite_of(const char *cipher, const char *mac)
{
	struct packet_suite s = { .cipher = cipher_find(text(cipher)) };

	assert_non_null(s.cipher);
	if (mac != NULL) {
		s.mac = mac_find(text(mac));
		assert_non_null(s.mac);
	}
	return s;
}

typedef void suite_fn(const struct packet_suite *s);

/* Every cipher, with every MAC where one is used, and the MACs alone. */
static void each_suite(suite_fn *f)
{
	struct packet_suite s;
	size_t i, j;

	for (i = 0; cipher_at(i) != NULL; i++) {
		s = suite_of(cipher_at(i)->name, NULL);
		if (cipher_is_aead(s.cipher)) {
			f(&s);
			continue;
		}
		for (j = 0; (s.mac = mac_at(j)) != NULL; j++)
			f(&s);
	}
	s = suite_of("none", "none");
	f(&s);
	for (j = 0; (s.mac = mac_at(j)) != NULL; j++)
		f(&s);
}

static void say_suite(const struct packet_suite *s)
{
	fail_msg("%s %s", s->cipher->name, s->mac != NULL ? s->mac->name : "");
}

/* ---- seal: byte for byte ---- */

/* Payloads of many sizes; the numbers go round in the middle. */
static const size_t sizes[] = { 1, 10000, 17, 16384, 2, 300, 8777, 32768, 5, 4096, 999 };
enum { COUNT = MEM_COUNT(sizes), FIRST_SEQ = 0xfffffffa, ROOM = 80 * 1024 };

struct line {
	uint8_t *bytes;
	size_t used;
	struct seal_item items[COUNT];
};

static void fill_line(struct line *l, struct seal *s)
{
	size_t total;

	l->bytes = malloc(ROOM);
	rand_bytes(l->bytes, ROOM);
	l->used = 0;
	for (size_t i = 0; i < COUNT; i++) {
		uint8_t *p = l->bytes + l->used;

		l->items[i] = (struct seal_item){ .p = p, .seq = (uint32_t)(FIRST_SEQ + i) };
		l->items[i].length = seal_fill(s, p, sizes[i], seal_padding(s, sizes[i], 0), &total);
		l->used += total;
	}
}

static void copy_line(struct line *to, const struct line *from)
{
	*to = *from;
	to->bytes = mem_dup(from->bytes, ROOM);
	for (size_t i = 0; i < COUNT; i++)
		to->items[i].p = to->bytes + (from->items[i].p - from->bytes);
}

/* One after the other, each with padding of its own. */
static void seal_by_hand(struct seal *s, struct line *l)
{
	size_t total;

	for (size_t i = 0; i < COUNT; i++) {
		struct seal_item *it = &l->items[i];
		size_t padding = it->length - 1 - sizes[i], at = (size_t)(it->p - l->bytes);

		assert_int_equal(seal_packet(s, it->seq, it->p, sizes[i], padding, &total), 0);
		assert_int_equal(total, 4 + it->length + seal_tag_size(s));
		assert_true(at + total <= l->used);
	}
}

static void open_by_hand(struct seal *s, struct line *l)
{
	for (size_t i = 0; i < COUNT; i++) {
		struct seal_item *it = &l->items[i];
		uint32_t length = 0;

		assert_int_equal(seal_peek(s, it->seq, it->p, 4 + it->length + seal_tag_size(s), PACKET_LENGTH_MAX, &length), 1);
		assert_int_equal(length, it->length);
		assert_int_equal(seal_open(s, it->seq, it->p, length, &it->payload), 0);
		assert_int_equal(it->payload, sizes[i]);
	}
}

static struct seal *make(const struct packet_suite *suite, bool sealing)
{
	struct seal *s = seal_new(suite, &keys, sealing, NULL);

	assert_non_null(s);
	seal_allow_sharing(s, &keys);
	return s;
}

static struct workers *pool;

static void sealed_alike(const struct packet_suite *suite)
{
	struct seal *one = make(suite, true), *many = make(suite, true), *back = make(suite, false);
	bool chained = suite->cipher->mode == CIPHER_CBC || suite->cipher->mode == CIPHER_STREAM;
	bool nothing = suite->cipher->mode == CIPHER_NONE && suite->mac->tag_size == 0;
	struct line a, b, plain;

	if (seal_can_share(many) != (!chained && !nothing))
		say_suite(suite);
	/* Twice, so that where the first left the stream matters. */
	for (int round = 0; round < 2; round++) {
		fill_line(&plain, many);
		copy_line(&a, &plain);
		copy_line(&b, &plain);
		assert_int_equal(seal_finish_all(one, NULL, a.items, COUNT), 0);
		assert_int_equal(seal_finish_all(many, chained ? NULL : pool, b.items, COUNT), 0);
		if (memcmp(a.bytes, b.bytes, a.used) != 0)
			say_suite(suite);
		/* And it is what others read. */
		open_by_hand(back, &b);
		for (size_t i = 0; i < COUNT; i++)
			assert_memory_equal(b.items[i].p + SEAL_HEAD, plain.items[i].p + SEAL_HEAD, sizes[i]);
		free(a.bytes);
		free(b.bytes);
		free(plain.bytes);
	}
	/* Single packets go on where the many have ended. */
	fill_line(&a, one);
	seal_by_hand(many, &a);
	open_by_hand(back, &a);
	free(a.bytes);
	seal_free(one);
	seal_free(many);
	seal_free(back);
}

static void opened_alike(const struct packet_suite *suite)
{
	struct seal *out = make(suite, true), *one = make(suite, false), *many = make(suite, false);
	struct line a, b;

	if (!seal_can_share(many))
		goto done;
	for (int round = 0; round < 3; round++) {
		fill_line(&a, out);
		assert_int_equal(seal_finish_all(out, pool, a.items, COUNT), 0);
		copy_line(&b, &a);
		open_by_hand(one, &a);
		if (round != 1) {
			uint32_t length = 0;

			for (size_t i = 0; i < COUNT; i++) {
				assert_int_equal(seal_peek(many, b.items[i].seq, b.items[i].p, 8, PACKET_LENGTH_MAX, &length), 1);
				assert_int_equal(length, b.items[i].length);
			}
			seal_open_all(many, pool, b.items, COUNT);
		} else {
			open_by_hand(many, &b);
		}
		for (size_t i = 0; i < COUNT; i++) {
			assert_int_equal(b.items[i].result, 0);
			assert_int_equal(b.items[i].payload, sizes[i]);
			if (memcmp(a.items[i].p + SEAL_HEAD, b.items[i].p + SEAL_HEAD, sizes[i]) != 0)
				say_suite(suite);
		}
		free(a.bytes);
		free(b.bytes);
	}
done:
	seal_free(out);
	seal_free(one);
	seal_free(many);
}

static void test_alike(void **state)
{
	(void)state;
	pool = workers_new(2);
	each_suite(sealed_alike);
	each_suite(opened_alike);
	workers_free(pool);
}

/* Without permission, under ciphers that chain, and for lengths in the stream nothing is shared. */
static void test_who_shares(void **state)
{
	static const struct { const char *cipher, *mac; bool out, in; } cases[] = {
		{ "aes128-gcm@openssh.com", NULL, true, true },
		{ "chacha20-poly1305@openssh.com", NULL, true, true },
		{ "aes128-ctr", "umac-64-etm@openssh.com", true, true },
		{ "aes128-ctr", "hmac-sha2-256", true, false },
#ifdef WITH_LEGACY_CIPHERS
		{ "aes128-cbc", "hmac-sha2-256", false, false },
		{ "aes128-cbc", "hmac-sha2-256-etm@openssh.com", false, false },
#endif
		{ "none", "hmac-sha2-256", true, true },
		{ "none", "none", false, false },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		struct packet_suite s = suite_of(cases[i].cipher, cases[i].mac);
		struct seal *out = make(&s, true), *in = make(&s, false), *plain = seal_new(&s, &keys, true, NULL);

		assert_int_equal(seal_can_share(out), cases[i].out);
		assert_int_equal(seal_can_share(in), cases[i].in);
		assert_false(seal_can_share(plain));
		seal_free(out);
		seal_free(in);
		seal_free(plain);
	}
}

/* ---- packet: order, and who notices ---- */

struct ends { struct packet *out, *in; };

static void key_ends(struct ends *e, const struct packet_suite *s, const struct packet_keys *k, bool reset)
{
	assert_int_equal(packet_set_keys(e->out, PACKET_OUT, s, k, reset), 0);
	assert_int_equal(packet_set_keys(e->in, PACKET_IN, s, k, reset), 0);
}

static struct ends open_ends(const struct packet_suite *s, unsigned helpers_out, unsigned helpers_in)
{
	struct ends e = { packet_new(), packet_new() };

	packet_use_helpers(e.out, helpers_out, PACKET_SHARE_ALWAYS);
	packet_use_helpers(e.in, helpers_in, PACKET_SHARE_ALWAYS);
	packet_allow_ahead(e.in, true);
	key_ends(&e, s, &keys, false);
	return e;
}

static void close_ends(struct ends *e)
{
	packet_free(e->out);
	packet_free(e->in);
}

static void write_head(void *ctx, uint8_t *head, size_t size)
{
	uint32_t *number = ctx;

	wire_store_u32(head, (*number)++);
	wire_store_u32(head + 4, (uint32_t)size);
}

/* Bytes that say where they are. */
static uint8_t byte_at(uint64_t at)
{
	return (uint8_t)(at * 7 + (at >> 8) * 13 + (at >> 16));
}

struct flow {
	uint32_t number;                 /* of the next bulk message */
	uint32_t wanted;                 /* the next one to be received */
	uint64_t sent, got;
	unsigned singles, singles_got;
};

static void send_bulk(struct packet *p, struct flow *f, size_t n)
{
	const struct packet_bulk bulk = { .type = 94, .head_size = 8, .write_head = write_head, .ctx = &f->number };
	struct iovec iov[32];
	size_t lent = 0;
	int count = packet_lend(p, &bulk, 255 * 1024, n, iov, 32);

	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		uint8_t *at = iov[i].iov_base;

		for (size_t k = 0; k < iov[i].iov_len; k++)
			at[k] = byte_at(f->sent + lent + k);
		lent += iov[i].iov_len;
	}
	/* A file that has shrunk meanwhile. */
	if (lent > n / 2 && f->number % 3 == 0)
		lent -= lent / 5;
	assert_int_equal(packet_commit(p, lent), 0);
	f->sent += lent;
}

static void send_single(struct packet *p, struct flow *f)
{
	uint8_t *at = packet_begin(p, 80, 8);

	assert_non_null(at);
	wire_store_u64(at, f->sent);
	f->singles++;
	assert_int_equal(packet_end(p, 8), 0);
}

static void take(struct packet *p, struct flow *f)
{
	struct message m;
	int r;

	while ((r = packet_next(p, &m)) == 1) {
		if (m.type == 80) {
			/* Nothing has overtaken it, nor the other way round. */
			assert_int_equal(wire_load_u64(m.body.p), f->got);
			f->singles_got++;
			continue;
		}
		assert_int_equal(m.type, 94);
		assert_int_equal(wire_load_u32(m.body.p), f->wanted++);
		assert_int_equal(wire_load_u32(m.body.p + 4), m.body.n - 8);
		for (size_t i = 8; i < m.body.n; i += i + 500 < m.body.n ? 499 : 1)
			assert_int_equal(m.body.p[i], byte_at(f->got + i - 8));
		f->got += m.body.n - 8;
	}
	assert_int_equal(r, 0);
}

/* Everything that is pending, in reads of at most `most` bytes. */
static void carry(struct ends *e, struct flow *f, size_t most)
{
	struct iovec iov[2];
	uint8_t *at;
	size_t room, n;

	while (packet_out_view(e->out, iov, 2) > 0) {
		assert_int_equal(packet_in_space(e->in, &at, &room), 0);
		n = iov[0].iov_len < room ? iov[0].iov_len : room;
		n = n < most ? n : most;
		memcpy(at, iov[0].iov_base, n);
		packet_in_added(e->in, n);
		packet_out_sent(e->out, n);
		take(e->in, f);
	}
}

static void flow_through(const struct packet_suite *s, unsigned helpers_out, unsigned helpers_in)
{
	static const size_t bulks[] = { 300000, 768 * 1024, 1, 65536, 131072, 1000000, 70000 };
	struct ends e = open_ends(s, helpers_out, helpers_in);
	struct flow f = { 0 };

	for (size_t i = 0; i < 2 * MEM_COUNT(bulks); i++) {
		send_single(e.out, &f);
		send_bulk(e.out, &f, bulks[i % MEM_COUNT(bulks)]);
		if (i % 3 == 0)
			send_single(e.out, &f);
		carry(&e, &f, i % 2 == 0 ? 1 << 20 : 200001);
		if (i == 4)
			key_ends(&e, s, &other_keys, true);
		if (i == 6) {
			packet_stop_helpers(e.out);
			packet_stop_helpers(e.in);
		}
	}
	assert_int_equal(f.got, f.sent);
	assert_int_equal(f.singles_got, f.singles);
	assert_int_equal(packet_seq(e.in, PACKET_IN), packet_seq(e.out, PACKET_OUT));
	assert_memory_equal(&e.in->side[PACKET_IN].count, &e.out->side[PACKET_OUT].count, sizeof(struct packet_counters));
	close_ends(&e);
}

static void test_flow(void **state)
{
	static const struct { const char *cipher, *mac; } suites[] = {
		{ "aes128-gcm@openssh.com", NULL }, { "chacha20-poly1305@openssh.com", NULL },
		{ "aes256-ctr", "umac-64-etm@openssh.com" }, { "aes128-ctr", "umac-128@openssh.com" },
		{ "none", "umac-64@openssh.com" }, { "none", "none" },
#ifdef WITH_LEGACY_CIPHERS
		{ "aes128-cbc", "hmac-sha2-256" },
#endif
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(suites); i++) {
		const struct packet_suite s = suite_of(suites[i].cipher, suites[i].mac);

		flow_through(&s, 1, 1);
		flow_through(&s, 3, 0);
		flow_through(&s, 0, 2);
	}
}

/* Three packets and what is behind them, without the last bytes; how many were opened ahead. */
static size_t feed_ahead(struct ends *e, struct flow *f, size_t spoil_at, size_t less)
{
	struct iovec iov[2];
	uint8_t *at;
	size_t room, n;
	struct message m;

	/* Room for it all first. */
	e->in->in_filled = true;
	for (int i = 0; i < 6; i++) {
		assert_int_equal(packet_in_space(e->in, &at, &room), 0);
		e->in->in_filled = true;
	}
	send_bulk(e->out, f, 400000);
	assert_int_equal(packet_out_view(e->out, iov, 2), 1);
	n = iov[0].iov_len - less;
	assert_true(n <= room);
	memcpy(at, iov[0].iov_base, n);
	if (spoil_at != 0)
		at[spoil_at] ^= 1;
	packet_in_added(e->in, n);
	packet_out_sent(e->out, n);
	assert_int_equal(packet_next(e->in, &m), 1);
	return e->in->ahead_count - e->in->ahead_next;
}

/* What is wrong shows in its turn, and what is before it is delivered. */
static void test_wrong_bytes(void **state)
{
	static const struct { const char *cipher, *mac; } suites[] = {
		{ "aes128-gcm@openssh.com", NULL }, { "chacha20-poly1305@openssh.com", NULL },
		{ "aes128-ctr", "hmac-sha2-256-etm@openssh.com" }, { "none", "umac-64@openssh.com" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(suites); i++) {
		const struct packet_suite s = suite_of(suites[i].cipher, suites[i].mac);
		struct ends e = open_ends(&s, 0, 1);
		struct flow f = { 0 };
		struct message m;

		/* Two packets of 255 KiB and less; the second is wrong. */
		assert_int_equal(feed_ahead(&e, &f, 300000, 0), 1);
		assert_true(packet_next(e.in, &m) < 0);
		assert_true(packet_next(e.in, &m) < 0);
		assert_non_null(strstr(err_text(packet_err(e.in)), suites[i].mac != NULL && i == 3 ? "packet corrupt"
			: "message authentication code incorrect"));
		close_ends(&e);
	}
}

/* Not all of the last packet is there: it stays sealed until it is. */
static void test_partial(void **state)
{
	const struct packet_suite s = suite_of("aes128-gcm@openssh.com", NULL);
	struct ends e = open_ends(&s, 1, 1);
	struct flow f = { 0 };
	size_t left = feed_ahead(&e, &f, 0, 1);

	(void)state;
	assert_true(left >= 1);
	f.wanted = 1;
	f.got = wire_load_u32(e.in->in + SEAL_HEAD + 5);
	take(e.in, &f);
	carry(&e, &f, 1 << 20);
	assert_int_equal(f.got, f.sent);
	close_ends(&e);
}

/* While an exchange runs packets are opened one by one: what follows NEWKEYS needs other keys. */
static void test_not_ahead(void **state)
{
	const struct packet_suite s = suite_of("aes128-gcm@openssh.com", NULL);
	struct ends e = open_ends(&s, 0, 1);
	struct flow f = { 0 };
	struct message m;

	(void)state;
	packet_allow_ahead(e.in, false);
	assert_int_equal(feed_ahead(&e, &f, 0, 0), 0);
	packet_allow_ahead(e.in, true);
	assert_int_equal(packet_next(e.in, &m), 1);
	assert_int_equal(packet_next(e.in, &m), 0);
	close_ends(&e);
}

/* A peer whose NEWKEYS came among other packets, against the rules: the keys are refused, not mixed. */
static void test_keys_within(void **state)
{
	const struct packet_suite s = suite_of("aes128-gcm@openssh.com", NULL);
	struct ends e = open_ends(&s, 0, 1);
	struct buf out = BUF_INIT(1 << 20);
	struct flow f = { 0 };

	(void)state;
	packet_keep_keys(e.in, true);
	assert_int_equal(feed_ahead(&e, &f, 0, 0), 1);
	/* Nor can it be handed over like that. */
	assert_true(packet_export(e.in, &out) < 0);
	close_ends(&e);
	e = open_ends(&s, 0, 1);
	f = (struct flow){ 0 };
	assert_int_equal(feed_ahead(&e, &f, 0, 0), 1);
	assert_int_equal(packet_set_keys(e.in, PACKET_IN, &s, &other_keys, false), ERR_PEER);
	close_ends(&e);
	buf_free(&out);
}

/* Threads go when nothing has moved for a while, and with the packet layer. */
static void test_threads_end(void **state)
{
	const struct packet_suite s = suite_of("aes128-gcm@openssh.com", NULL);
	struct ends e = open_ends(&s, 1, 1);
	struct flow f = { 0 };

	(void)state;
	assert_false(workers_running(e.out->workers));
	send_bulk(e.out, &f, 20000);
	assert_false(workers_running(e.out->workers));
	for (int i = 0; i < 4; i++) {
		send_bulk(e.out, &f, 700000);
		carry(&e, &f, 1 << 20);
	}
	assert_true(workers_running(e.out->workers));
	assert_true(workers_running(e.in->workers));
	assert_true(packet_trim(e.out));
	assert_true(workers_running(e.out->workers));
	assert_false(packet_trim(e.out));
	assert_false(workers_running(e.out->workers));
	assert_false(packet_has_spare(e.out));
	packet_stop_helpers(e.in);
	assert_false(workers_running(e.in->workers));
	send_bulk(e.out, &f, 700000);
	carry(&e, &f, 1 << 20);
	assert_int_equal(f.got, f.sent);
	close_ends(&e);
}

/* Without helpers, and where it was never asked for, there is nothing of it. */
static void test_off(void **state)
{
	const struct packet_suite s = suite_of("aes128-gcm@openssh.com", NULL);
	struct ends e = open_ends(&s, 0, 0);
	struct flow f = { 0 };

	(void)state;
	send_bulk(e.out, &f, 700000);
	carry(&e, &f, 1 << 20);
	assert_null(e.out->workers);
	assert_null(e.in->ahead);
	assert_false(seal_can_share(e.out->side[PACKET_OUT].seal));
	assert_int_equal(f.got, f.sent);
	close_ends(&e);
	/* Measured, a little does not start threads. */
	e = (struct ends){ packet_new(), packet_new() };
	f = (struct flow){ 0 };
	packet_use_helpers(e.out, 1, PACKET_SHARE_MEASURED);
	key_ends(&e, &s, &keys, false);
	for (int i = 0; i < 16; i++) {
		send_bulk(e.out, &f, 700000);
		carry(&e, &f, 1 << 20);
	}
	assert_non_null(e.out->workers);
	assert_false(workers_running(e.out->workers));
	assert_int_equal(f.got, f.sent);
	close_ends(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_shares),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_flow),
		cmocka_unit_test(test_wrong_bytes),
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_not_ahead),
		cmocka_unit_test(test_keys_within),
		cmocka_unit_test(test_threads_end),
		cmocka_unit_test(test_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
