/* Two engines shake hands under everything that is built in; EXT_INFO, ping, disconnects, peers' kinds. */
#include "transport.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "pair.h"
#include "transport_private.h"
#include "wire/messages.h"

static void exchange_data(struct pair *p)
{
	static const char hello[] = "hello from one end to the other";
	int i;

	for (i = 0; i < 2; i++) {
		assert_int_equal(pair_send(&p->end[i], (const uint8_t *)hello, sizeof(hello), 8), sizeof(hello));
		pair_run(p);
		assert_int_equal(p->end[!i].data.size, sizeof(hello));
		assert_memory_equal(p->end[!i].data.data, hello, sizeof(hello));
		buf_reset(&p->end[!i].data);
	}
}

static void check_same_session(struct pair *p)
{
	struct transport *c = p->end[0].t, *s = p->end[1].t;

	assert_true(view_equal(transport_session_id(c), transport_session_id(s)));
	assert_true(transport_session_id(c).n >= 20);
	assert_true(view_equal(transport_host_key_blob(c), key_blob(p->host_key)));
	assert_true(view_equal(transport_host_key_blob(s), key_blob(p->host_key)));
	assert_true(view_equal(transport_host_key_signature(c), transport_host_key_signature(s)));
	assert_string_equal(transport_agreement(c)->kex, transport_agreement(s)->kex);
}

static void every_kex_method_works(void **state)
{
	const char *name;
	struct pair p;
	size_t i;

	(void)state;
	for (i = 0; (name = proposal_kex_at(i)) != NULL; i++) {
		pair_init(&p, "ssh-ed25519");
		pair_set(&p, PROPOSAL_KEX, name);
		pair_handshake(&p);
		assert_string_equal(transport_agreement(p.end[0].t)->kex, name);
		check_same_session(&p);
		exchange_data(&p);
		pair_close(&p);
	}
	assert_true(i >= 8);
}

static void every_host_key_type_works(void **state)
{
	static const char *const algs[] = {
		"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "rsa-sha2-512",
		"rsa-sha2-256"
	};
	struct pair p;
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(algs); i++) {
		pair_init(&p, algs[i]);
		pair_handshake(&p);
		assert_string_equal(transport_agreement(p.end[1].t)->host_key, algs[i]);
		check_same_session(&p);
		assert_int_equal(p.end[PAIR_CLIENT].host_key_checks, 1);
		assert_int_equal(p.end[PAIR_SERVER].signatures, 1);
		pair_close(&p);
	}
}

static void handshake_with(const char *cipher, const char *mac)
{
	struct pair p;

	pair_init(&p, "ssh-ed25519");
	pair_set_cipher(&p, cipher, mac);
	pair_handshake(&p);
	exchange_data(&p);
	assert_false(transport_cipher_none(p.end[0].t) || transport_mac_none(p.end[0].t));
	pair_close(&p);
}

static void every_cipher_and_mac_works(void **state)
{
	const struct cipher_alg *c;
	const struct mac_alg *m;
	size_t i, j;

	(void)state;
	for (i = 0; (c = cipher_at(i)) != NULL; i++) {
		if (cipher_is_aead(c))
			handshake_with(c->name, NULL);
		else
			for (j = 0; (m = mac_at(j)) != NULL; j++)
				handshake_with(c->name, m->name);
	}
}

static void directions_may_differ(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_set(&p, PROPOSAL_CIPHER_C2S, "aes128-ctr");
	pair_set(&p, PROPOSAL_MAC_C2S, "hmac-sha2-512");
	pair_set(&p, PROPOSAL_CIPHER_S2C, "chacha20-poly1305@openssh.com");
	pair_handshake(&p);
	exchange_data(&p);
	assert_string_equal(transport_agreement(p.end[0].t)->mac_c2s, "hmac-sha2-512");
	assert_string_equal(transport_agreement(p.end[0].t)->mac_s2c, "<implicit>");
	pair_close(&p);
}

static void old_peers_work(void **state)
{
	struct pair p;
	int who;

	(void)state;
	for (who = 0; who < 3; who++) {
		pair_init(&p, "ssh-ed25519");
		if (who != 1)
			p.end[0].opt.omit_strict = p.end[0].opt.omit_ext_info = true;
		if (who != 0)
			p.end[1].opt.omit_strict = p.end[1].opt.omit_ext_info = true;
		pair_handshake(&p);
		assert_false(p.end[0].t->strict || p.end[1].t->strict);
		assert_int_equal(p.end[0].ext.size + p.end[1].ext.size, 0);
		exchange_data(&p);
		pair_authenticate(&p);
		assert_int_equal(transport_rekey(p.end[0].t), 0);
		pair_run(&p);
		assert_int_equal(transport_exchange_count(p.end[1].t), 2);
		exchange_data(&p);
		pair_close(&p);
	}
}

static void strict_peers_count_from_zero(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	p.end[0].opt.omit_ext_info = p.end[1].opt.omit_ext_info = true;
	pair_handshake(&p);
	assert_true(p.end[0].t->strict && p.end[1].t->strict);
	assert_int_equal(packet_seq(p.end[0].t->packet, PACKET_OUT), 0);
	assert_int_equal(packet_seq(p.end[0].t->packet, PACKET_IN), 0);
	pair_close(&p);
}

/* The version line and KEXINIT of a client are one segment; a server waits for the client's line. */
static void the_first_flight_is_early(void **state)
{
	struct pair p;
	struct iovec iov[2];

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_open(&p);
	assert_int_equal(transport_out_view(p.end[0].t, iov, 2), 1);
	assert_memory_equal(iov[0].iov_base, "SSH-2.0-Wirespeed_0.0_test\r\n", 28);
	assert_int_equal(((uint8_t *)iov[0].iov_base)[28 + 5], MSG_KEXINIT);
	assert_int_equal(transport_out_pending(p.end[1].t), 28);
	pair_close(&p);

	pair_init(&p, "ssh-ed25519");
	p.end[0].opt.nothing_early = true;
	pair_open(&p);
	assert_int_equal(transport_out_pending(p.end[0].t), 28);
	pair_run(&p);
	assert_int_equal(transport_exchange_count(p.end[0].t), 1);
	pair_close(&p);
}

static void what_is_sent_early_leaves_with_newkeys(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_open(&p);
	pair_say(&p.end[0], MSG_SERVICE_REQUEST, "ssh-userauth");
	assert_true(transport_exchanging(p.end[0].t));
	pair_run(&p);
	assert_int_equal(p.end[1].messages[MSG_SERVICE_REQUEST], 1);
	assert_int_equal(p.end[0].session_begun, 1);
	assert_int_equal(p.end[0].keys_changed, 1);
	pair_close(&p);
}

static void one_byte_at_a_time(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	p.end[0].step = p.end[1].step = 1;
	pair_handshake(&p);
	exchange_data(&p);
	pair_close(&p);
}

/* ---- EXT_INFO ---- */

static void ext_info_goes_both_ways(void **state)
{
	struct pair p;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	p.end[1].opt.ext_names = "publickey-hostbound@openssh.com,channel-echo@wirespeed=65536,other@wirespeed";
	pair_handshake(&p);
	assert_string_equal(buf_cstr(&p.end[0].ext), "server-sig-algs=ssh-ed25519,rsa-sha2-512\nping@openssh.com=0\n"
		"publickey-hostbound@openssh.com=0\nchannel-echo@wirespeed=65536\nother@wirespeed=0\n");
	assert_string_equal(buf_cstr(&p.end[1].ext), "ext-info-in-auth@openssh.com=0\n");
	assert_string_equal(transport_server_sig_algs(p.end[0].t), "ssh-ed25519,rsa-sha2-512");
	assert_true(transport_peer_ext(p.end[0].t, "ping@openssh.com"));
	assert_string_equal(transport_peer_ext_value(p.end[0].t, "channel-echo@wirespeed"), "65536");
	assert_string_equal(transport_peer_ext_value(p.end[0].t, "other@wirespeed"), "0");
	assert_null(transport_peer_ext_value(p.end[0].t, "channel-ech@wirespeed"));
	assert_null(transport_peer_ext_value(p.end[0].t, "ping@openssh.com"));
	assert_false(transport_peer_ext(p.end[0].t, "server-sig-algs"));
	/* The second one, during authentication. */
	pair_say(&p.end[0], MSG_SERVICE_REQUEST, "ssh-userauth");
	pair_run(&p);
	pair_say(&p.end[1], MSG_SERVICE_ACCEPT, "ssh-userauth");
	assert_int_equal(transport_send_sig_algs(p.end[1].t, "ssh-ed25519"), 0);
	pair_run(&p);
	assert_string_equal(transport_server_sig_algs(p.end[0].t), "ssh-ed25519");
	/* A third is not taken. */
	assert_int_equal(transport_send_sig_algs(p.end[1].t, "ssh-rsa"), 0);
	pair_run(&p);
	assert_string_equal(transport_server_sig_algs(p.end[0].t), "ssh-ed25519");
	assert_int_equal(p.end[0].result, 0);
	pair_close(&p);
}

/* Names of our own kind neither go to others nor count when others send them. */
static void own_names_stay_among_us(void **state)
{
	struct pair p;
	int who;

	(void)state;
	for (who = 0; who < 2; who++) {
		pair_init(&p, "ssh-ed25519");
		p.end[who].opt.software = "Other_1";
		p.end[1].opt.ext_names = "channel-echo@wirespeed=65536,x@y";
		pair_handshake(&p);
		assert_true(transport_peer_ext(p.end[0].t, "x@y"));
		assert_null(transport_peer_ext_value(p.end[0].t, "channel-echo@wirespeed"));
		assert_string_equal(buf_cstr(&p.end[0].ext), who == 0 ?
			"server-sig-algs=ssh-ed25519,rsa-sha2-512\nping@openssh.com=0\nx@y=0\n" :
			"server-sig-algs=ssh-ed25519,rsa-sha2-512\nping@openssh.com=0\nchannel-echo@wirespeed=65536\nx@y=0\n");
		pair_close(&p);
	}
}

static void send_ext(struct pair_end *e, uint32_t count, const char *name, struct view value)
{
	struct buf b = BUF_INIT(1 << 20);
	uint32_t i;

	buf_put_u32(&b, count);
	for (i = 0; i < count && i < 2000; i++) {
		buf_put_cstring(&b, name);
		buf_put_string(&b, value.p, value.n);
	}
	assert_int_equal(transport_emit(e->t, MSG_EXT_INFO, transport_view(&b), false), 0);
	buf_free(&b);
}

static void wrong_ext_info(void **state)
{
	static const struct { uint32_t count; const char *name; struct view value; int result; } cases[] = {
		{ 1024, "x", { (const uint8_t *)"0", 1 }, 0 },
		{ 0xffffffff, "x", { (const uint8_t *)"0", 1 }, 0 },
		{ 1, "ping@openssh.com", { (const uint8_t *)"0\0", 2 }, ERR_PEER },
		{ 1, "unknown", { (const uint8_t *)"0\0", 2 }, 0 },
		{ 1, "ping@openssh.com", { (const uint8_t *)"1", 1 }, 0 },
	};
	struct pair p;
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(cases); i++) {
		pair_init(&p, "ssh-ed25519");
		pair_handshake(&p);
		/* As if none had come yet. */
		p.end[1].t->ext_first_seen = false;
		send_ext(&p.end[0], cases[i].count, cases[i].name, cases[i].value);
		pair_run(&p);
		assert_int_equal(p.end[1].result, cases[i].result);
		assert_false(transport_peer_ext(p.end[1].t, "ping@openssh.com"));
		pair_close(&p);
	}
}

static void ext_info_after_service_is_surplus(void **state)
{
	struct pair p;
	static const struct view zero = { (const uint8_t *)"0", 1 };

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	send_ext(&p.end[0], 1, "late@example", zero);
	pair_run(&p);
	assert_false(transport_peer_ext(p.end[1].t, "late@example"));
	assert_int_equal(p.end[1].result, 0);
	/* Nor after authentication, even the first. */
	pair_authenticate(&p);
	p.end[1].t->ext_first_seen = p.end[1].t->service_seen = false;
	send_ext(&p.end[0], 1, "late@example", zero);
	pair_run(&p);
	assert_false(transport_peer_ext(p.end[1].t, "late@example"));
	assert_int_equal(p.end[1].result, 0);
	pair_close(&p);
}

/* ---- ping, debug, unimplemented, disconnect ---- */

static void ping_is_answered_after_authentication(void **state)
{
	struct pair p;
	char data[32];
	int i;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	pair_say(&p.end[0], MSG_PING, "early");
	pair_run(&p);
	assert_int_equal(p.end[0].messages[MSG_PONG], 0);
	pair_authenticate(&p);
	for (i = 0; i < 3; i++) {
		snprintf(data, sizeof(data), "ping%d", i);
		pair_say(&p.end[0], MSG_PING, data);
	}
	pair_say(&p.end[0], MSG_CHANNEL_CLOSE, "");
	pair_run(&p);
	assert_int_equal(p.end[0].messages[MSG_PONG], 3);
	assert_memory_equal(p.end[0].last_body.data + 4, "ping2", 5);
	/* Not while an exchange runs. */
	assert_int_equal(transport_begin_exchange(p.end[1].t), 0);
	pair_say(&p.end[0], MSG_PING, "during");
	while (pair_step(&p, PAIR_CLIENT))
		;
	pair_run(&p);
	assert_int_equal(p.end[0].messages[MSG_PONG], 3);
	assert_int_equal(transport_exchange_count(p.end[0].t), 2);
	pair_close(&p);
}

static void unknown_messages_are_answered(void **state)
{
	struct pair p;
	struct buf b = BUF_INIT(100);
	struct message m = { .type = 200, .seq = 7 };

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	p.end[1].capture = true;
	pair_authenticate(&p);
	/* Below 50 the transport says so itself; above, the layer that got it. */
	assert_int_equal(transport_emit(p.end[0].t, 15, transport_view(&b), false), 0);
	assert_int_equal(transport_emit(p.end[0].t, 200, transport_view(&b), false), 0);
	pair_run(&p);
	assert_int_equal(p.end[1].messages[15], 0);
	assert_int_equal(p.end[1].messages[200], 1);
	assert_int_equal(transport_unimplemented(p.end[1].t, &m), 0);
	pair_run(&p);
	assert_int_equal(p.end[0].result, 0);
	assert_int_equal(p.end[1].result, 0);
	pair_close(&p);
}

static void debug_and_ignore_are_taken(void **state)
{
	struct pair p;
	struct buf b = BUF_INIT(100);

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	buf_put_bool(&b, true);
	buf_put_cstring(&b, "line\033[1m");
	buf_put_cstring(&b, "");
	assert_int_equal(transport_emit(p.end[0].t, MSG_DEBUG, transport_view(&b), false), 0);
	assert_int_equal(transport_emit(p.end[0].t, MSG_IGNORE, transport_view(&b), false), 0);
	pair_run(&p);
	assert_string_equal(buf_cstr(&p.end[1].debug), "line\\033[1m\n");
	assert_int_equal(p.end[1].result, 0);
	buf_free(&b);
	pair_close(&p);
}

static void disconnect_ends_it(void **state)
{
	struct pair p;
	struct buf b = BUF_INIT(100);
	int early;

	(void)state;
	for (early = 0; early < 2; early++) {
		pair_init(&p, "ssh-ed25519");
		pair_open(&p);
		if (!early)
			pair_run(&p);
		transport_disconnect(p.end[0].t, DISCONNECT_BY_APPLICATION, "bye\n");
		assert_int_equal(transport_send(p.end[0].t, MSG_IGNORE, &b), ERR_CLOSED);
		pair_run(&p);
		assert_int_equal(p.end[1].result, ERR_CLOSED);
		assert_int_equal(transport_disconnect_reason(p.end[1].t), DISCONNECT_BY_APPLICATION);
		assert_string_equal(transport_disconnect_text(p.end[1].t), "bye\\012");
		pair_close(&p);
	}
}

/* ---- peers ---- */

static void kinds_are_told_by_the_version(void **state)
{
	static const struct { const char *software; enum peer_kind kind; size_t data; } cases[] = {
		{ "Wirespeed_0.1", PEER_WIRESPEED, 261120 }, { "OpenSSH_9.2p1 Debian-2", PEER_OPENSSH, 32768 },
		{ "OpenSSH_10.2p1_hpn18.8.0", PEER_HPN, 32768 }, { "OpenSSH_9.7p1-hpn18.4.2", PEER_HPN, 32768 },
		{ "dropbear_2022.83", PEER_OTHER, 32768 }, { "hpn", PEER_OTHER, 32768 }, { "Wirespeed", PEER_OTHER, 32768 }
	};
	struct pair p;
	size_t i;

	(void)state;
	for (i = 0; i < MEM_COUNT(cases); i++) {
		pair_init(&p, "ssh-ed25519");
		p.end[1].opt.software = cases[i].software;
		pair_handshake(&p);
		assert_int_equal(transport_peer_kind(p.end[0].t), cases[i].kind);
		assert_string_equal(transport_peer_software(p.end[0].t), cases[i].software);
		assert_int_equal(transport_data_max(p.end[0].t), cases[i].data);
		pair_close(&p);
	}
}

static void hpn_peers_get_short_packets(void **state)
{
	struct pair p;
	struct buf b = BUF_INIT(1 << 20);
	const struct packet_bulk bulk = { MSG_CHANNEL_DATA, 8, NULL, NULL };
	struct iovec iov[4];

	(void)state;
	pair_init(&p, "ssh-ed25519");
	p.end[1].opt.software = "OpenSSH_10.2p1_hpn18.8.0";
	pair_handshake(&p);
	pair_authenticate(&p);
	assert_non_null(buf_reserve(&b, 32870));
	memset(b.data, 0, b.size);
	assert_int_equal(transport_send(p.end[0].t, MSG_CHANNEL_REQUEST, &b), 0);
	assert_non_null(buf_reserve(&b, 10));
	assert_int_equal(transport_send(p.end[0].t, MSG_CHANNEL_REQUEST, &b), ERR_USAGE);
	assert_int_equal(transport_err(p.end[0].t)->code, 0);
	assert_int_equal(transport_lend(p.end[0].t, &bulk, 200000, 200000, iov, 1), 1);
	assert_true(iov[0].iov_len <= PACKET_BODY_SAFE - 8 - 6 && iov[0].iov_len >= 32768);
	assert_int_equal(transport_commit(p.end[0].t, 0), 0);
	buf_free(&b);
	pair_close(&p);
}

static void our_largest_data_fits(void **state)
{
	struct pair p;
	uint8_t *bytes = malloc(261120);
	uint64_t seed = 5;
	size_t i;

	(void)state;
	for (i = 0; i < 261120; i++)
		bytes[i] = (uint8_t)pair_random(&seed);
	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	assert_int_equal(pair_send(&p.end[0], bytes, 261120, transport_data_max(p.end[0].t)), 261120);
	pair_run(&p);
	assert_int_equal(p.end[1].messages[MSG_CHANNEL_DATA], 1);
	assert_memory_equal(p.end[1].data.data, bytes, 261120);
	pair_close(&p);
	free(bytes);
}

static void versions_must_be_sendable(void **state)
{
	static const char *const bad[] = { "", " x", "a\nb", "a\177" };
	struct pair p;
	size_t i;
	struct err e;

	(void)state;
	for (i = 0; i < MEM_COUNT(bad); i++) {
		pair_init(&p, "ssh-ed25519");
		p.end[0].opt.software = bad[i];
		e = (struct err){ .code = 0 };
		assert_null(transport_new(&p.end[0].opt, &e));
		assert_int_equal(e.code, ERR_USAGE);
		pair_close(&p);
	}
}

static void passwords_all_look_alike(void **state)
{
	struct pair p;
	struct buf b = BUF_INIT(100);
	size_t first = 0, i;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	for (i = 1; i < 40; i++) {
		buf_put_u8(&b, 'x');
		assert_int_equal(transport_send_padded(p.end[0].t, MSG_USERAUTH_REQUEST, &b), 0);
		if (i == 1)
			first = transport_out_pending(p.end[0].t);
		assert_int_equal(transport_out_pending(p.end[0].t), first);
		pair_run(&p);
		assert_int_equal(p.end[1].last_body.size, i);
	}
	buf_free(&b);
	pair_close(&p);
}

static void long_messages_do_no_harm(void **state)
{
	struct pair p;
	struct buf b = BUF_INIT(1 << 20);

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	assert_non_null(buf_reserve(&b, 262000));
	memset(b.data, 0, b.size);
	assert_int_equal(transport_send(p.end[0].t, MSG_GLOBAL_REQUEST, &b), ERR_USAGE);
	assert_int_equal(transport_err(p.end[0].t)->code, 0);
	b.size = 261000;
	assert_int_equal(transport_send(p.end[0].t, MSG_GLOBAL_REQUEST, &b), 0);
	pair_run(&p);
	assert_int_equal(p.end[1].last_body.size, 261000);
	b.failed = true;
	assert_int_equal(transport_send(p.end[0].t, MSG_GLOBAL_REQUEST, &b), ERR_USAGE);
	b.failed = false;
	buf_free(&b);
	pair_close(&p);
}

static void memory_is_given_back_when_idle(void **state)
{
	struct pair p;
	uint8_t *bytes = calloc(1, 1 << 20);
	uint64_t now = 1000000, next;
	int i;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_handshake(&p);
	assert_int_equal(transport_tick(p.end[0].t, now, &next), 0);
	assert_int_equal(next, UINT64_MAX);
	assert_int_equal(pair_send(&p.end[0], bytes, 1 << 20, 32768), 1 << 20);
	pair_run(&p);
	for (i = 0; i < 2; i++) {
		assert_true(packet_has_spare(p.end[i].t->packet));
		assert_int_equal(transport_tick(p.end[i].t, now, &next), 0);
		assert_int_equal(next, now + 5000);
		/* The first look sees that much has passed, the second that nothing has. */
		assert_int_equal(transport_tick(p.end[i].t, now + 5000, &next), 0);
		assert_int_equal(next, now + 10000);
		assert_true(packet_has_spare(p.end[i].t->packet));
		assert_int_equal(transport_tick(p.end[i].t, now + 10000, &next), 0);
		assert_int_equal(next, UINT64_MAX);
		assert_false(packet_has_spare(p.end[i].t->packet));
	}
	buf_reset(&p.end[1].data);
	exchange_data(&p);
	free(bytes);
	pair_close(&p);
}

/* ---- compression ---- */

static void compression_begins_with_authentication(void **state)
{
	struct pair p;
	uint8_t bytes[30000];
	uint64_t before;

	(void)state;
	memset(bytes, 'a', sizeof(bytes));
	pair_init(&p, "ssh-ed25519");
	pair_set(&p, PROPOSAL_COMPRESS_C2S, "zlib@openssh.com");
	pair_set(&p, PROPOSAL_COMPRESS_S2C, "zlib@openssh.com");
	p.end[0].opt.compress_level = p.end[1].opt.compress_level = 6;
	pair_handshake(&p);
	before = transport_bytes(p.end[0].t, PACKET_OUT);
	pair_send(&p.end[0], bytes, sizeof(bytes), 32768);
	assert_true(transport_bytes(p.end[0].t, PACKET_OUT) - before > sizeof(bytes));
	pair_authenticate(&p);
	buf_reset(&p.end[1].data);
	before = transport_bytes(p.end[0].t, PACKET_OUT);
	pair_send(&p.end[0], bytes, sizeof(bytes), 32768);
	assert_true(transport_bytes(p.end[0].t, PACKET_OUT) - before < 1000);
	pair_run(&p);
	assert_int_equal(p.end[1].data.size, sizeof(bytes));
	assert_memory_equal(p.end[1].data.data, bytes, sizeof(bytes));
	buf_reset(&p.end[1].data);
	exchange_data(&p);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kex_method_works),
		cmocka_unit_test(every_host_key_type_works),
		cmocka_unit_test(every_cipher_and_mac_works),
		cmocka_unit_test(directions_may_differ),
		cmocka_unit_test(old_peers_work),
		cmocka_unit_test(strict_peers_count_from_zero),
		cmocka_unit_test(the_first_flight_is_early),
		cmocka_unit_test(what_is_sent_early_leaves_with_newkeys),
		cmocka_unit_test(one_byte_at_a_time),
		cmocka_unit_test(ext_info_goes_both_ways),
		cmocka_unit_test(own_names_stay_among_us),
		cmocka_unit_test(wrong_ext_info),
		cmocka_unit_test(ext_info_after_service_is_surplus),
		cmocka_unit_test(ping_is_answered_after_authentication),
		cmocka_unit_test(unknown_messages_are_answered),
		cmocka_unit_test(debug_and_ignore_are_taken),
		cmocka_unit_test(disconnect_ends_it),
		cmocka_unit_test(kinds_are_told_by_the_version),
		cmocka_unit_test(hpn_peers_get_short_packets),
		cmocka_unit_test(our_largest_data_fits),
		cmocka_unit_test(versions_must_be_sendable),
		cmocka_unit_test(passwords_all_look_alike),
		cmocka_unit_test(long_messages_do_no_harm),
		cmocka_unit_test(memory_is_given_back_when_idle),
		cmocka_unit_test(compression_begins_with_authentication),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
