/* Sending without compression on a fast line, to peers that know zlib@openssh.com only, and with it again: the lists of such exchanges,
 * whom they are for, and what the peer's own exchanges do to it. The line is one of words: what transport_line_told is told. */
#include "transport.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "pair.h"

enum { BLOCK = 1 << 20, ROUNDS = 40, SLOW_ROUNDS = 250, SMALL_BLOCK = 4096, LOOK_US = 4000, BUSY = 1 << 20, LATER = 40 };

static const char stock[] = "OpenSSH_9.2p1 Debian-2+deb12u3";

struct talk {
	struct pair p;
	int from;                        /* who sends: PAIR_CLIENT, PAIR_SERVER */
	struct pair_end *sender, *peer;
	uint8_t *noise, *text;
	uint64_t now_us, drained, sum, seed;
	size_t received;
};

static const char *method_of(const struct talk *k, bool sent)
{
	const struct agreement *a = transport_agreement(k->sender->t);

	return (k->from == PAIR_CLIENT) == sent ? a->compress_c2s : a->compress_s2c;
}

static void prepare(struct talk *k, int from, const char *peer_software)
{
	*k = (struct talk){ .from = from, .now_us = 1000000, .seed = 77 };
	pair_init(&k->p, "ssh-ed25519");
	k->sender = &k->p.end[from];
	k->peer = &k->p.end[!from];
	k->peer->opt.software = peer_software;
	pair_set_cipher(&k->p, "aes128-gcm@openssh.com", NULL);
	pair_set(&k->p, PROPOSAL_COMPRESS_C2S, "zlib@openssh.com,none");
	pair_set(&k->p, PROPOSAL_COMPRESS_S2C, "zlib@openssh.com,none");
	k->noise = mem_alloc(BLOCK);
	k->text = mem_alloc(BLOCK);
	for (size_t i = 0; i < BLOCK; i++) {
		k->noise[i] = (uint8_t)(pair_random(&k->seed) >> 11);
		k->text[i] = (uint8_t)("the quick brown fox "[i % 20] + (i / 20 % 7 == 0 ? i % 3 : 0));
	}
}

static void log_in(struct talk *k)
{
	pair_handshake(&k->p);
	pair_authenticate(&k->p);
	assert_string_equal(method_of(k, true), "zlib@openssh.com");
}

static void finish(struct talk *k)
{
	assert_int_equal(k->sender->result, 0);
	assert_int_equal(k->peer->result, 0);
	pair_close(&k->p);
	free(k->noise);
	free(k->text);
}

/* Everything that came is what was sent. */
static void arrive(struct talk *k, const uint8_t *bytes, size_t n)
{
	pair_run(&k->p);
	assert_int_equal(k->peer->data.size, n);
	assert_true(n == 0 || memcmp(k->peer->data.data, bytes, n) == 0);
	buf_reset(&k->peer->data);
	/* The other way too, packed or not as before. */
	pair_say(k->peer, MSG_CHANNEL_OPEN, "session session session");
	pair_run(&k->p);
	assert_int_equal(k->sender->last_type, MSG_CHANNEL_OPEN);
	assert_int_equal(k->sender->last_body.size, 4 + 23);
}

static void look(struct talk *k, size_t passed, size_t waiting)
{
	struct transport_line l = { .unsent = waiting, .now_us = k->now_us += LOOK_US };

	l.drained = k->drained += passed;
	transport_line_told(k->sender->t, &l);
}

/* A fast line, until the sender has had so many exchanges. False: it never did. */
static bool fast_until(struct talk *k, unsigned exchanges)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (transport_exchange_count(k->sender->t) >= exchanges)
			return true;
		arrive(k, k->noise, pair_send(k->sender, k->noise, BLOCK, 32768));
		look(k, BLOCK, 0);
	}
	return false;
}

/* One of 1 MB/s, and data that is worth packing. Returns the time that it took; 0: it never did. */
static uint64_t slow_until(struct talk *k, unsigned exchanges, const uint8_t *bytes)
{
	uint64_t begin = k->now_us;

	for (int i = 0; i < SLOW_ROUNDS; i++) {
		if (transport_exchange_count(k->sender->t) >= exchanges)
			return k->now_us - begin;
		arrive(k, bytes, pair_send(k->sender, bytes, SMALL_BLOCK, 32768));
		look(k, SMALL_BLOCK, BUSY);
	}
	return 0;
}

static void there_and_back(void **state)
{
	struct talk k;
	uint64_t took;

	(void)state;
	for (int from = 0; from < 2; from++) {
		prepare(&k, from, stock);
		log_in(&k);
		assert_true(fast_until(&k, 2));
		assert_string_equal(method_of(&k, true), "none");
		assert_string_equal(method_of(&k, false), "zlib@openssh.com");
		assert_false(fast_until(&k, 3));
		took = slow_until(&k, 3, k.text);
		assert_in_range(took, 1, 1000000);
		assert_string_equal(method_of(&k, true), "zlib@openssh.com");
		assert_string_equal(method_of(&k, false), "zlib@openssh.com");
		/* And packed it is. */
		for (int i = 0; i < LATER; i++) {
			arrive(&k, k.text, pair_send(k.sender, k.text, SMALL_BLOCK, 32768));
			look(&k, 500, BUSY);
		}
		assert_true(transport_bytes(k.sender->t, PACKET_OUT) > 0 && transport_swell(k.sender->t) > 32);
		finish(&k);
	}
}

/* What does not shrink goes on without, however slow the line. */
static void noise_stays_without(void **state)
{
	struct talk k;

	(void)state;
	prepare(&k, PAIR_CLIENT, stock);
	log_in(&k);
	assert_true(fast_until(&k, 2));
	assert_int_equal(slow_until(&k, 3, k.noise), 0);
	finish(&k);
}

static void the_peers_own_exchanges(void **state)
{
	struct talk k;

	(void)state;
	for (int from = 0; from < 2; from++) {
		prepare(&k, from, stock);
		log_in(&k);
		assert_int_equal(transport_rekey(k.peer->t), 0);
		pair_run(&k.p);
		assert_string_equal(method_of(&k, true), "zlib@openssh.com");
		assert_true(fast_until(&k, 3));
		assert_string_equal(method_of(&k, true), "none");
		assert_int_equal(transport_rekey(k.peer->t), 0);
		pair_run(&k.p);
		assert_int_equal(transport_exchange_count(k.sender->t), 4);
		assert_string_equal(method_of(&k, true), "none");
		/* Both begin at once. */
		assert_int_equal(transport_rekey(k.peer->t), 0);
		assert_in_range(slow_until(&k, 5, k.text), 1, 1000000);
		assert_in_range(slow_until(&k, 6, k.text), 1, 1000000);
		assert_string_equal(method_of(&k, true), "zlib@openssh.com");
		finish(&k);
	}
}

/* A peer that has no more none in its list when it begins an exchange gets what is left. */
static void a_peer_that_drops_none(void **state)
{
	struct talk k;
	struct proposal q = { .guess_follows = false };

	(void)state;
	for (int from = 0; from < 2; from++) {
		prepare(&k, from, stock);
		log_in(&k);
		assert_true(fast_until(&k, 2));
		proposal_copy(&q, transport_proposal(k.peer->t));
		proposal_set(&q, PROPOSAL_COMPRESS_C2S, "zlib@openssh.com");
		proposal_set(&q, PROPOSAL_COMPRESS_S2C, "zlib@openssh.com");
		transport_set_proposal(k.peer->t, &q);
		assert_int_equal(transport_rekey(k.peer->t), 0);
		pair_run(&k.p);
		assert_string_equal(method_of(&k, true), "zlib@openssh.com");
		assert_false(fast_until(&k, 4));
		finish(&k);
	}
	proposal_clear(&q);
}

static void not_for_all(void **state)
{
	static const struct { const char *software, *sender_list, *peer_list; int level; } cases[] = {
		{ stock, "zlib@openssh.com,none", "zlib@openssh.com", 0 },
		{ stock, "zlib@openssh.com", "zlib@openssh.com,none", 0 },
		{ stock, "zlib@openssh.com,none", "zlib@openssh.com,none", 6 },
		{ "dropbear_2022.83", "zlib@openssh.com,none", "zlib@openssh.com,none", 0 },
		{ "Wirespeed_0.1", "zlib@openssh.com,none", "zlib@openssh.com,none", 0 },
		{ "PuTTY_Release_0.78", "zlib@openssh.com,none", "zlib@openssh.com,none", 0 },
	};
	struct talk k;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases) * 2; i++) {
		prepare(&k, i % 2, cases[i / 2].software);
		for (int which = PROPOSAL_COMPRESS_C2S; which <= PROPOSAL_COMPRESS_S2C; which++) {
			proposal_set(&k.sender->opt.proposal, (enum proposal_list)which, cases[i / 2].sender_list);
			proposal_set(&k.peer->opt.proposal, (enum proposal_list)which, cases[i / 2].peer_list);
		}
		k.sender->opt.compress_level = cases[i / 2].level;
		log_in(&k);
		if (fast_until(&k, 2))
			fail_msg("%s: %s went without", i % 2 ? "server" : "client", cases[i / 2].software);
		assert_string_equal(method_of(&k, true), "zlib@openssh.com");
		finish(&k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(noise_stays_without),
		cmocka_unit_test(the_peers_own_exchanges),
		cmocka_unit_test(a_peer_that_drops_none),
		cmocka_unit_test(not_for_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
