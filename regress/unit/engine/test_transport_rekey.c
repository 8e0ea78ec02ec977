/* Re-keying: by either side, by both at once, with data in flight, by bytes, packets and time; and the switch to none. */
#include "transport.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "packet_private.h"
#include "pair.h"
#include "transport_private.h"
#include "wire/messages.h"

enum { BYTES = 400 * 1000 };

static uint8_t *make_data(uint64_t seed)
{
	uint8_t *p = malloc(BYTES);
	size_t i;

	for (i = 0; i < BYTES; i++)
		p[i] = (uint8_t)(i % 3000 < 1000 ? 'a' : pair_random(&seed));
	return p;
}

/* Data both ways at once in odd pieces, until both have everything. */
static void flow(struct pair *p, uint64_t seed)
{
	uint8_t *data[2] = { make_data(seed + 1), make_data(seed + 2) };
	size_t sent[2] = { 0, 0 }, want;
	int i, idle = 0;
	bool moved;

	while (sent[0] < BYTES || sent[1] < BYTES || idle < 2) {
		moved = false;
		for (i = 0; i < 2; i++) {
			want = 1 + pair_random(&seed) % 50000;
			if (want > BYTES - sent[i])
				want = BYTES - sent[i];
			if (want != 0)
				sent[i] += pair_send(&p->end[i], data[i] + sent[i], want, 1 + pair_random(&seed) % 32768);
			p->end[i].step = 1 + pair_random(&seed) % 60000;
			moved |= pair_step(p, i);
			if (p->end[i].result != 0)
				fail_msg("%d: %s", i, err_text(transport_err(p->end[i].t)));
		}
		idle = moved ? 0 : idle + 1;
	}
	for (i = 0; i < 2; i++) {
		assert_int_equal(p->end[!i].data.size, BYTES);
		assert_memory_equal(p->end[!i].data.data, data[i], BYTES);
		buf_reset(&p->end[!i].data);
		free(data[i]);
	}
}

struct mode {
	const char *cipher, *mac, *compression;
	bool strict;
	unsigned rekey[2];       /* bytes, of client and server */
};

static void flow_with(const struct mode *m, uint64_t seed)
{
	struct pair p;
	unsigned i;

	pair_init(&p, "ssh-ed25519");
	pair_set_cipher(&p, m->cipher, m->mac);
	pair_set(&p, PROPOSAL_COMPRESS_C2S, m->compression);
	pair_set(&p, PROPOSAL_COMPRESS_S2C, m->compression);
	for (i = 0; i < 2; i++) {
		p.end[i].opt.rekey_bytes = m->rekey[i];
		p.end[i].opt.omit_strict = !m->strict;
	}
	pair_handshake(&p);
	pair_authenticate(&p);
	flow(&p, seed);
	for (i = 0; i < 2; i++)
		assert_int_equal(transport_exchange_count(p.end[i].t), p.end[i].keys_changed);
	assert_int_equal(p.end[0].keys_changed, p.end[1].keys_changed);
	/* Limits are looked at between bursts, so there are fewer than the bytes alone would make. */
	assert_true(p.end[0].keys_changed >= 4);
	assert_int_equal(p.end[0].host_key_checks, 1);
	assert_int_equal(p.end[0].session_begun, 1);
	pair_close(&p);
}

static void keys_change_under_load(void **state)
{
	static const struct mode modes[] = {
		{ "chacha20-poly1305@openssh.com", "none", "none", true, { 40000, 0 } },
		{ "chacha20-poly1305@openssh.com", "none", "none", true, { 0, 40000 } },
		{ "aes128-gcm@openssh.com", "none", "none", true, { 40000, 40000 } },
		{ "aes256-gcm@openssh.com", "none", "none", false, { 30000, 70000 } },
		{ "aes256-gcm@openssh.com", "none", "zlib@openssh.com", true, { 30000, 70000 } },
		{ "aes128-ctr", "hmac-sha2-256", "none", true, { 40000, 40000 } },
		{ "aes192-ctr", "umac-64@openssh.com", "none", false, { 40000, 0 } },
		{ "aes256-ctr", "umac-128-etm@openssh.com", "zlib@openssh.com", true, { 0, 40000 } },
		{ "aes256-ctr", "hmac-sha2-512-etm@openssh.com", "none", false, { 50000, 50000 } },
		{ "aes128-ctr", "hmac-sha1", "zlib@openssh.com", false, { 20000, 90000 } },
		/* Every packet is too much: work still goes on. */
		{ "aes128-gcm@openssh.com", "none", "none", true, { 1000, 1000 } },
	};
	size_t i, round;

	(void)state;
	for (i = 0; i < MEM_COUNT(modes); i++)
		for (round = 0; round < 3; round++)
			flow_with(&modes[i], 77 * (i + 1) + round);
}

static void one_byte_is_a_limit_too(void **state)
{
	struct pair p;
	static const uint8_t data[5000];

	(void)state;
	pair_init(&p, "ssh-ed25519");
	p.end[0].opt.rekey_bytes = p.end[1].opt.rekey_bytes = 1;
	pair_handshake(&p);
	pair_authenticate(&p);
	assert_true(pair_send(&p.end[0], data, 1000, 100) > 0);
	pair_run(&p);
	assert_int_equal(p.end[0].result, 0);
	assert_true(transport_exchange_count(p.end[0].t) < 100);
	pair_close(&p);
}

static void crossing_kexinits_are_one_exchange(void **state)
{
	struct pair p;
	int i;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	pair_authenticate(&p);
	for (i = 0; i < 3; i++) {
		assert_int_equal(transport_rekey(p.end[0].t), 0);
		assert_int_equal(transport_begin_exchange(p.end[1].t), 0);
		pair_run(&p);
		assert_int_equal(transport_exchange_count(p.end[0].t), 2 + i);
		assert_int_equal(transport_exchange_count(p.end[1].t), 2 + i);
	}
	pair_close(&p);
}

/* What the other side had sent before it saw our KEXINIT is taken; what we say meanwhile comes after, in order. */
static void messages_in_flight_arrive(void **state)
{
	struct pair p;
	char text[32];
	int i, starter;

	(void)state;
	for (starter = 0; starter < 2; starter++) {
		struct pair_end *a, *b;

		pair_init(&p, "ssh-ed25519");
		pair_handshake(&p);
		pair_authenticate(&p);
		a = &p.end[starter];
		b = &p.end[!starter];
		assert_int_equal(transport_rekey(a->t), 0);
		assert_true(transport_exchanging(a->t));
		for (i = 0; i < 50; i++) {
			snprintf(text, sizeof(text), "message %d", i);
			assert_int_equal(pair_send(b, (const uint8_t *)text, strlen(text), 100), strlen(text));
			pair_say(a, MSG_GLOBAL_REQUEST, text);
			assert_int_equal(pair_send(a, (const uint8_t *)text, 5, 100), 0);
		}
		pair_run(&p);
		assert_int_equal(a->messages[MSG_CHANNEL_DATA], 50);
		assert_int_equal(b->messages[MSG_GLOBAL_REQUEST], 50);
		assert_memory_equal(b->last_body.data + 4, "message 49", 10);
		assert_int_equal(transport_exchange_count(a->t), 2);
		assert_false(transport_exchanging(a->t));
		pair_close(&p);
	}
}

static void a_second_rekey_waits_for_the_first(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	pair_authenticate(&p);
	assert_int_equal(transport_rekey(p.end[0].t), 0);
	assert_int_equal(transport_rekey(p.end[0].t), 0);
	assert_int_equal(transport_rekey(p.end[0].t), 0);
	pair_run(&p);
	assert_int_equal(transport_exchange_count(p.end[0].t), 3);
	assert_int_equal(p.end[1].signatures, 3);
	pair_close(&p);
}

static void by_time(void **state)
{
	struct pair p;
	uint64_t now, next;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	p.end[1].opt.rekey_seconds = 100;
	pair_handshake(&p);
	pair_authenticate(&p);
	now = p.end[1].t->keyed_ms;
	assert_int_equal(transport_tick(p.end[1].t, now + 5, &next), 0);
	assert_int_equal(next, now + 100000);
	assert_int_equal(transport_tick(p.end[1].t, now + 99999, &next), 0);
	assert_false(transport_exchanging(p.end[1].t));
	assert_int_equal(transport_tick(p.end[1].t, now + 100000, &next), 0);
	assert_true(transport_exchanging(p.end[1].t));
	pair_run(&p);
	assert_int_equal(transport_exchange_count(p.end[0].t), 2);
	/* Keys that carried nothing are left alone. */
	assert_int_equal(transport_tick(p.end[1].t, now + 100000000, &next), 0);
	assert_int_equal(next, UINT64_MAX);
	pair_say(&p.end[0], MSG_GLOBAL_REQUEST, "x");
	pair_run(&p);
	assert_int_equal(transport_tick(p.end[1].t, now + 100000000, &next), 0);
	pair_run(&p);
	assert_int_equal(transport_exchange_count(p.end[0].t), 3);
	pair_close(&p);
}

/* RFC 4344 §3.2. */
static void limits_of_ciphers(void **state)
{
	static const struct { const char *cipher; uint64_t blocks, packets, rekey_bytes; bool due; } cases[] = {
		{ "aes128-gcm@openssh.com", (UINT64_C(1) << 32) - 10, 1, 0, false },
		{ "aes128-gcm@openssh.com", UINT64_C(1) << 32, 1, 0, true },
		{ "aes128-ctr", (UINT64_C(1) << 32) - 10, 1, 0, false },
		{ "chacha20-poly1305@openssh.com", (UINT64_C(1) << 27) - 20, 1, 0, false },
		{ "chacha20-poly1305@openssh.com", UINT64_C(1) << 27, 1, 0, true },
#ifdef WITH_LEGACY_CIPHERS
		{ "3des-cbc", UINT64_C(1) << 27, 1, 0, true },
#endif
		{ "aes128-gcm@openssh.com", 1, UINT64_C(1) << 31, 0, true },
		{ "aes128-gcm@openssh.com", 1, (UINT64_C(1) << 31) - 10, 0, false },
		{ "aes128-gcm@openssh.com", 999, 1, 16 * 1100, false },
		{ "aes128-gcm@openssh.com", 1100, 1, 16 * 1100, true },
	};
	struct pair p;
	size_t i;
	int dir;

	(void)state;
	for (i = 0; i < MEM_COUNT(cases); i++)
		for (dir = 0; dir < 2; dir++) {
			pair_init(&p, "ssh-ed25519");
			pair_set_cipher(&p, cases[i].cipher, "hmac-sha2-256");
			p.end[0].opt.rekey_bytes = cases[i].rekey_bytes;
			pair_handshake(&p);
			pair_authenticate(&p);
			p.end[0].t->packet->side[dir].count.blocks = cases[i].blocks;
			p.end[0].t->packet->side[dir].count.packets = cases[i].packets;
			pair_say(&p.end[dir == PACKET_OUT ? 0 : 1], MSG_GLOBAL_REQUEST, "x");
			pair_run(&p);
			assert_int_equal(transport_exchange_count(p.end[1].t), cases[i].due ? 2 : 1);
			pair_close(&p);
		}
}

/* ---- none ---- */

static const char marker[] = "MARKER-THAT-A-CAPTURE-WOULD-SHOW";

static bool marker_seen(struct pair_end *from, struct pair *p)
{
	bool seen;

	from->capture = true;
	buf_reset(&from->sent);
	assert_int_equal(pair_send(from, (const uint8_t *)marker, sizeof(marker), 32768), sizeof(marker));
	pair_run(p);
	seen = from->sent.size != 0 && memmem(from->sent.data, from->sent.size, marker, sizeof(marker)) != NULL;
	assert_int_equal(p->end[!from->is_server].data.size, sizeof(marker));
	buf_reset(&p->end[!from->is_server].data);
	return seen;
}

static void expect_marker(struct pair *p, bool seen)
{
	assert_int_equal(marker_seen(&p->end[0], p), seen);
	assert_int_equal(marker_seen(&p->end[1], p), seen);
	assert_int_equal(transport_cipher_none(p->end[0].t), seen);
	assert_int_equal(transport_cipher_none(p->end[1].t), seen);
}

/* What server/ does once it knows that the user may: none last in later exchanges. */
static void allow_none(struct pair *p, bool mac)
{
	struct proposal s = { .guess_follows = false };

	proposal_copy(&s, transport_proposal(p->end[1].t));
	proposal_set(&s, PROPOSAL_CIPHER_C2S, "chacha20-poly1305@openssh.com,aes128-gcm@openssh.com,none");
	proposal_set(&s, PROPOSAL_CIPHER_S2C, "chacha20-poly1305@openssh.com,aes128-gcm@openssh.com,none");
	if (mac) {
		proposal_set(&s, PROPOSAL_MAC_C2S, "umac-64-etm@openssh.com,hmac-sha2-256,none");
		proposal_set(&s, PROPOSAL_MAC_S2C, "umac-64-etm@openssh.com,hmac-sha2-256,none");
	}
	transport_set_proposal(p->end[1].t, &s);
	proposal_clear(&s);
}

static void ask_for_none(struct pair *p, const char *ciphers, const char *macs)
{
	struct proposal c = { .guess_follows = false };

	proposal_copy(&c, transport_proposal(p->end[0].t));
	proposal_set(&c, PROPOSAL_CIPHER_C2S, ciphers);
	proposal_set(&c, PROPOSAL_CIPHER_S2C, ciphers);
	if (macs != NULL) {
		proposal_set(&c, PROPOSAL_MAC_C2S, macs);
		proposal_set(&c, PROPOSAL_MAC_S2C, macs);
	}
	transport_set_proposal(p->end[0].t, &c);
	proposal_clear(&c);
	assert_int_equal(transport_rekey(p->end[0].t), 0);
	pair_run(p);
}

static void open_logged_in(struct pair *p)
{
	pair_init(p, "ssh-ed25519");
	pair_handshake(p);
	expect_marker(p, false);
	pair_authenticate(p);
	expect_marker(p, false);
}

static void none_after_authentication(void **state)
{
	struct pair p;
	unsigned i;

	(void)state;
	open_logged_in(&p);
	allow_none(&p, false);
	ask_for_none(&p, "none,aes128-gcm@openssh.com", NULL);
	assert_string_equal(transport_agreement(p.end[0].t)->cipher_c2s, "none");
	assert_string_equal(transport_agreement(p.end[1].t)->mac_s2c, "umac-64-etm@openssh.com");
	expect_marker(&p, true);
	assert_false(transport_mac_none(p.end[0].t));
	/* By either side, again and again, it stays. */
	for (i = 0; i < 4; i++) {
		assert_int_equal(transport_rekey(p.end[i & 1].t), 0);
		pair_run(&p);
		assert_int_equal(transport_exchange_count(p.end[0].t), 3 + i);
		expect_marker(&p, true);
	}
	flow(&p, 3);
	pair_close(&p);
}

static void none_with_mac_none(void **state)
{
	struct pair p;

	(void)state;
	open_logged_in(&p);
	allow_none(&p, true);
	ask_for_none(&p, "none", "none");
	expect_marker(&p, true);
	assert_true(transport_mac_none(p.end[0].t) && transport_mac_none(p.end[1].t));
	assert_int_equal(transport_rekey(p.end[1].t), 0);
	pair_run(&p);
	expect_marker(&p, true);
	flow(&p, 4);
	/* And back to what has its own authentication. */
	ask_for_none(&p, "aes128-gcm@openssh.com", "none");
	expect_marker(&p, false);
	assert_false(transport_mac_none(p.end[0].t));
	flow(&p, 5);
	pair_close(&p);
}

static void none_with_rekeys_under_load(void **state)
{
	struct pair p;
	int mac;

	(void)state;
	for (mac = 0; mac < 2; mac++) {
		pair_init(&p, "ssh-ed25519");
		p.end[0].opt.rekey_bytes = 60000;
		p.end[1].opt.rekey_bytes = 50000;
		pair_handshake(&p);
		pair_authenticate(&p);
		allow_none(&p, mac);
		ask_for_none(&p, "none,aes128-gcm@openssh.com", mac ? "none" : NULL);
		flow(&p, 6);
		assert_true(transport_exchange_count(p.end[0].t) > 6);
		assert_true(transport_cipher_none(p.end[0].t));
		assert_int_equal(transport_mac_none(p.end[0].t), mac);
		pair_close(&p);
	}
}

static void a_server_without_none(void **state)
{
	struct pair p;

	(void)state;
	/* Offered with something else behind it: encrypted. */
	open_logged_in(&p);
	ask_for_none(&p, "none,aes128-gcm@openssh.com", "none,umac-64-etm@openssh.com");
	assert_int_equal(transport_exchange_count(p.end[0].t), 2);
	expect_marker(&p, false);
	pair_close(&p);
	/* Alone, as HPN clients do it: the end, with the reason said. */
	open_logged_in(&p);
	p.end[0].opt.cb.keys_changed = NULL;
	ask_for_none(&p, "none", NULL);
	assert_int_equal(p.end[1].result, ERR_PEER);
	assert_true(transport_negotiation_failed(p.end[1].t));
	assert_string_equal(transport_err(p.end[1].t)->text, "no matching cipher found. Their offer: none");
	pair_close(&p);
}

/* MAC none with a cipher that has none of its own, or for one direction, is refused before NEWKEYS. */
static void mac_none_alone(void **state)
{
	static const struct { const char *cipher_c2s, *cipher_s2c, *mac_c2s, *mac_s2c; } cases[] = {
		{ "aes128-ctr", "aes128-ctr", "none", "none" },
		{ "none", "aes128-ctr", "hmac-sha2-256", "hmac-sha2-256" },
		{ "none", "none", "none", "hmac-sha2-256" },
	};
	struct pair p;
	struct proposal all = { .guess_follows = false };
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(cases); i++) {
		open_logged_in(&p);
		proposal_copy(&all, transport_proposal(p.end[0].t));
		proposal_set(&all, PROPOSAL_CIPHER_C2S, cases[i].cipher_c2s);
		proposal_set(&all, PROPOSAL_CIPHER_S2C, cases[i].cipher_s2c);
		proposal_set(&all, PROPOSAL_MAC_C2S, cases[i].mac_c2s);
		proposal_set(&all, PROPOSAL_MAC_S2C, cases[i].mac_s2c);
		transport_set_proposal(p.end[0].t, &all);
		transport_set_proposal(p.end[1].t, &all);
		assert_int_equal(transport_rekey(p.end[0].t), 0);
		pair_run(&p);
		assert_int_equal(p.end[1].result, ERR_PEER);
		assert_int_equal(transport_exchange_count(p.end[1].t), 1);
		assert_false(transport_cipher_none(p.end[1].t) || transport_mac_none(p.end[1].t));
		pair_close(&p);
	}
	proposal_clear(&all);
}

/* An HPN client repeats its pseudo-algorithms, offers only none, all host keys, and comes twice. */
static void a_client_like_hpn(void **state)
{
	struct pair p;
	struct proposal hpn = { .guess_follows = false };

	(void)state;
	pair_init(&p, "ssh-ed25519");
	p.end[0].opt.software = "OpenSSH_10.2p1_hpn18.8.0";
	pair_handshake(&p);
	pair_authenticate(&p);
	allow_none(&p, false);
	proposal_copy(&hpn, transport_proposal(p.end[0].t));
	proposal_set(&hpn, PROPOSAL_KEX, "curve25519-sha256,ext-info-c,kex-strict-c-v00@openssh.com");
	proposal_set(&hpn, PROPOSAL_HOST_KEY, "rsa-sha2-512,ecdsa-sha2-nistp256,ssh-ed25519");
	proposal_set(&hpn, PROPOSAL_CIPHER_C2S, "none");
	proposal_set(&hpn, PROPOSAL_CIPHER_S2C, "none");
	transport_set_proposal(p.end[0].t, &hpn);
	assert_int_equal(transport_rekey(p.end[0].t), 0);
	assert_int_equal(transport_rekey(p.end[0].t), 0);
	pair_say(&p.end[0], MSG_CHANNEL_OPEN, "session");
	pair_run(&p);
	assert_int_equal(p.end[1].result, 0);
	assert_int_equal(transport_exchange_count(p.end[1].t), 3);
	assert_int_equal(p.end[1].messages[MSG_CHANNEL_OPEN], 1);
	expect_marker(&p, true);
	/* EXT_INFO was sent in the first exchange only. */
	assert_int_equal(p.end[0].ext.size, strlen("server-sig-algs=ssh-ed25519,rsa-sha2-512\nping@openssh.com=0\n"));
	proposal_clear(&hpn);
	pair_close(&p);
}

/* ---- what a re-exchange asks for ---- */

static void only_the_first_host_key_is_asked_for(void **state)
{
	struct pair p;
	char *names;

	(void)state;
	pair_init(&p, "rsa-sha2-256");
	pair_handshake(&p);
	names = transport_pinned_host_keys(p.end[0].t, "ssh-ed25519,rsa-sha2-512,ecdsa-sha2-nistp256,rsa-sha2-256");
	assert_string_equal(names, "rsa-sha2-512,rsa-sha2-256");
	free(names);
	names = transport_pinned_host_keys(p.end[0].t, "ssh-ed25519");
	assert_string_equal(names, "rsa-sha2-256");
	free(names);
	pair_close(&p);
}

static void another_host_key_is_not_negotiated(void **state)
{
	struct pair p;
	struct proposal q = { .guess_follows = false };
	int who;

	(void)state;
	for (who = 0; who < 2; who++) {
		pair_init(&p, "ssh-ed25519");
		p.other_key = key_ref(pair_key("ecdsa-sha2-nistp256"));
		pair_set(&p, PROPOSAL_HOST_KEY, "ssh-ed25519,ecdsa-sha2-nistp256");
		pair_handshake(&p);
		pair_authenticate(&p);
		/* The client would now rather see the other one, and the server says it has it. */
		proposal_copy(&q, transport_proposal(p.end[0].t));
		proposal_set(&q, PROPOSAL_HOST_KEY, "ecdsa-sha2-nistp256,ssh-ed25519");
		transport_set_proposal(p.end[0].t, &q);
		assert_int_equal(transport_rekey(p.end[who].t), 0);
		pair_run(&p);
		assert_int_equal(transport_exchange_count(p.end[0].t), 2);
		assert_string_equal(transport_agreement(p.end[0].t)->host_key, "ssh-ed25519");
		pair_close(&p);
	}
	proposal_clear(&q);
}

static void algorithms_may_change(void **state)
{
	struct pair p;
	struct proposal q = { .guess_follows = false };

	(void)state;
	open_logged_in(&p);
	proposal_copy(&q, transport_proposal(p.end[0].t));
	proposal_set(&q, PROPOSAL_KEX, "ecdh-sha2-nistp384");
	proposal_set(&q, PROPOSAL_CIPHER_C2S, "aes256-ctr");
	proposal_set(&q, PROPOSAL_MAC_C2S, "hmac-sha2-512");
	proposal_set(&q, PROPOSAL_COMPRESS_S2C, "zlib@openssh.com");
	transport_set_proposal(p.end[0].t, &q);
	assert_int_equal(transport_rekey(p.end[1].t), 0);
	pair_run(&p);
	assert_string_equal(transport_agreement(p.end[1].t)->kex, "ecdh-sha2-nistp384");
	assert_string_equal(transport_agreement(p.end[1].t)->compress_s2c, "zlib@openssh.com");
	/* The session keeps its name: that of a SHA-256. */
	assert_int_equal(transport_session_id(p.end[0].t).n, 32);
	flow(&p, 9);
	proposal_clear(&q);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_change_under_load),
		cmocka_unit_test(one_byte_is_a_limit_too),
		cmocka_unit_test(crossing_kexinits_are_one_exchange),
		cmocka_unit_test(messages_in_flight_arrive),
		cmocka_unit_test(a_second_rekey_waits_for_the_first),
		cmocka_unit_test(by_time),
		cmocka_unit_test(limits_of_ciphers),
		cmocka_unit_test(none_after_authentication),
		cmocka_unit_test(none_with_mac_none),
		cmocka_unit_test(none_with_rekeys_under_load),
		cmocka_unit_test(a_server_without_none),
		cmocka_unit_test(mac_none_alone),
		cmocka_unit_test(a_client_like_hpn),
		cmocka_unit_test(only_the_first_host_key_is_asked_for),
		cmocka_unit_test(another_host_key_is_not_negotiated),
		cmocka_unit_test(algorithms_may_change),
	};

	log_init("test", LOG_LEVEL_QUIET);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
