/* A server's connection goes on in another transport, as it does in another process (docs/OVERVIEW.md). */
#include "transport.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/log.h"
#include "base/mem.h"
#include "packet_private.h"
#include "pair.h"
#include "transport_private.h"
#include "wire/messages.h"

static void set_authenticated(struct pair_end *e, const struct message *m)
{
	if (m->type == MSG_USERAUTH_SUCCESS)
		transport_set_authenticated(e->t);
}

/* To where the pre-authentication process stops: SUCCESS has left to the last byte. */
static void log_in(struct pair *p)
{
	pair_handshake(p);
	pair_say(&p->end[0], MSG_SERVICE_REQUEST, "ssh-userauth");
	pair_run(p);
	pair_say(&p->end[1], MSG_SERVICE_ACCEPT, "ssh-userauth");
	p->end[0].on_message = set_authenticated;
	pair_say(&p->end[1], MSG_USERAUTH_SUCCESS, "");
	transport_set_authenticated(p->end[1].t);
	while (pair_step(p, PAIR_SERVER))
		;
	assert_true(transport_authenticated(p->end[0].t));
}

/* Bytes of the client's that have come but that nobody looks at. */
static void receive_unread(struct pair *p, size_t n)
{
	struct iovec iov[2];
	uint8_t *at;
	size_t room;

	if (n == 0)
		return;
	if (transport_out_view(p->end[0].t, iov, 2) != 1 || iov[0].iov_len < n)
		fail_msg("%zu of %zu bytes", n, transport_out_pending(p->end[0].t));
	assert_int_equal(transport_in_space(p->end[1].t, &at, &room), 0);
	memcpy(at, iov[0].iov_base, n);
	transport_in_added(p->end[1].t, n);
	transport_out_sent(p->end[0].t, n);
}

static void carry(struct pair *p)
{
	struct pair_end *s = &p->end[1];
	struct buf b = BUF_INIT(4 << 20);
	struct buf none = BUF_INIT(16);
	struct err e = { .code = 0 };
	struct reader r;
	struct transport *t;

	assert_int_equal(transport_export(s->t, &b), 0);
	/* Afterwards it is of no more use. */
	assert_int_equal(transport_send(s->t, MSG_IGNORE, &none), ERR_CLOSED);
	reader_init(&r, b.data, b.size);
	t = transport_import(&s->opt, &r, &e);
	if (t == NULL)
		fail_msg("%s", err_text(&e));
	assert_true(view_equal(transport_session_id(t), transport_session_id(s->t)));
	assert_true(view_equal(transport_host_key_blob(t), transport_host_key_blob(s->t)));
	assert_string_equal(transport_peer_software(t), transport_peer_software(s->t));
	assert_int_equal(transport_peer_kind(t), transport_peer_kind(s->t));
	assert_string_equal(transport_agreement(t)->cipher_c2s, transport_agreement(s->t)->cipher_c2s);
	assert_string_equal(transport_peer_proposal(t)->list[PROPOSAL_CIPHER_S2C],
		transport_peer_proposal(s->t)->list[PROPOSAL_CIPHER_S2C]);
	assert_int_equal(transport_bytes(t, PACKET_IN), transport_bytes(s->t, PACKET_IN));
	assert_int_equal(transport_bytes(t, PACKET_OUT), transport_bytes(s->t, PACKET_OUT));
	assert_true(transport_authenticated(t));
	transport_free(s->t);
	s->t = t;
	buf_free(&b);
}

static void talk(struct pair *p, size_t n)
{
	uint8_t *data = malloc(n);
	uint64_t seed = n;
	size_t i;
	int from;

	for (i = 0; i < n; i++)
		data[i] = (uint8_t)pair_random(&seed);
	for (from = 0; from < 2; from++) {
		for (i = 0; i < n;) {
			i += pair_send(&p->end[from], data + i, n - i, 20000);
			pair_run(p);
		}
		assert_int_equal(p->end[0].result, 0);
		assert_int_equal(p->end[1].result, 0);
		assert_int_equal(p->end[!from].data.size, n);
		assert_memory_equal(p->end[!from].data.data, data, n);
		buf_reset(&p->end[!from].data);
	}
	free(data);
}

/* With so many bytes of the client's next packet unread. */
static void handed_over(const char *cipher, const char *mac, const char *compression, size_t unread)
{
	struct pair p;

	pair_init(&p, "ssh-ed25519");
	pair_set_cipher(&p, cipher, mac);
	pair_set(&p, PROPOSAL_COMPRESS_C2S, compression);
	pair_set(&p, PROPOSAL_COMPRESS_S2C, compression);
	p.end[0].opt.omit_strict = unread & 1;
	log_in(&p);
	pair_say(&p.end[0], MSG_CHANNEL_OPEN, "session");
	pair_say(&p.end[0], MSG_CHANNEL_REQUEST, "exec");
	receive_unread(&p, unread);
	carry(&p);
	pair_run(&p);
	if (p.end[1].result != 0)
		fail_msg("%s %s %zu: %s", cipher, mac, unread, err_text(transport_err(p.end[1].t)));
	assert_int_equal(p.end[1].messages[MSG_CHANNEL_OPEN], 1);
	assert_int_equal(p.end[1].messages[MSG_CHANNEL_REQUEST], 1);
	talk(&p, 50000);
	assert_int_equal(transport_rekey(p.end[0].t), 0);
	pair_run(&p);
	assert_int_equal(transport_rekey(p.end[1].t), 0);
	pair_run(&p);
	assert_int_equal(transport_exchange_count(p.end[1].t), 3);
	talk(&p, 5000);
	assert_string_equal(buf_cstr(&p.end[1].ext), "ext-info-in-auth@openssh.com=0\n");
	assert_true(transport_peer_ext(p.end[1].t, "ext-info-in-auth@openssh.com"));
	pair_close(&p);
}

static void every_cipher_is_handed_over(void **state)
{
	static const size_t unread[] = { 0, 3, 4, 8, 15, 16, 17, 30, 60 };
	const struct cipher_alg *c;
	const struct mac_alg *m;
	size_t i, j, k;

	(void)state;
	for (i = 0; (c = cipher_at(i)) != NULL; i++) {
		if (cipher_is_aead(c)) {
			for (k = 0; k < MEM_COUNT(unread); k++)
				handed_over(c->name, "none", "none", unread[k]);
			continue;
		}
		for (j = 0; (m = mac_at(j)) != NULL; j++)
			handed_over(c->name, m->name, "none", unread[(i + j) % MEM_COUNT(unread)]);
		for (k = 0; k < MEM_COUNT(unread); k++) {
			handed_over(c->name, "hmac-sha2-256", "none", unread[k]);
			handed_over(c->name, "umac-64-etm@openssh.com", "none", unread[k]);
		}
	}
	handed_over("aes128-gcm@openssh.com", "none", "zlib@openssh.com", 0);
	handed_over("aes128-ctr", "hmac-sha1", "zlib@openssh.com", 50);
}

static void conditions(void **state)
{
	struct pair p;
	struct buf b = BUF_INIT(1 << 20);

	(void)state;
	/* Not before there are keys. */
	pair_init(&p, "ssh-ed25519");
	pair_open(&p);
	assert_int_equal(transport_export(p.end[1].t, &b), ERR_USAGE);
	pair_close(&p);
	/* Not with output. */
	pair_init(&p, "ssh-ed25519");
	log_in(&p);
	pair_say(&p.end[1], MSG_GLOBAL_REQUEST, "x");
	assert_int_equal(transport_export(p.end[1].t, &b), ERR_USAGE);
	pair_close(&p);
	/* Not within an exchange. */
	pair_init(&p, "ssh-ed25519");
	log_in(&p);
	assert_int_equal(transport_rekey(p.end[1].t), 0);
	transport_out_sent(p.end[1].t, transport_out_pending(p.end[1].t));
	assert_int_equal(transport_export(p.end[1].t, &b), ERR_USAGE);
	pair_close(&p);
	/* Not a client, whose keys nobody keeps; and not what was handed over already. */
	pair_init(&p, "ssh-ed25519");
	log_in(&p);
	assert_null(p.end[0].t->packet->side[0].kept.key);
	assert_non_null(p.end[1].t->packet->side[0].kept.key);
	carry(&p);
	assert_null(p.end[1].t->packet->side[0].kept.key);
	assert_int_equal(transport_export(p.end[1].t, &b), ERR_USAGE);
	pair_run(&p);
	assert_int_equal(transport_export(p.end[0].t, &b), ERR_USAGE);
	buf_free(&b);
	pair_close(&p);
}

/* The blob comes from a process that an attacker may own. */
static void a_blob_is_not_trusted(void **state)
{
	struct pair p;
	struct buf b = BUF_INIT(1 << 20);
	struct reader r;
	struct err e;
	struct transport *t;
	size_t n;

	(void)state;
	pair_init(&p, "ssh-ed25519");
	pair_set_cipher(&p, "aes128-ctr", "hmac-sha2-256");
	log_in(&p);
	pair_say(&p.end[0], MSG_CHANNEL_OPEN, "session");
	receive_unread(&p, 20);
	assert_int_equal(transport_export(p.end[1].t, &b), 0);
	for (n = 0; n < b.size; n++) {
		e = (struct err){ .code = 0 };
		reader_init(&r, b.data, n);
		assert_null(transport_import(&p.end[1].opt, &r, &e));
		assert_true(e.code < 0);
	}
	for (n = 0; n < b.size; n++) {
		struct message m;

		b.data[n] ^= 0x81;
		e = (struct err){ .code = 0 };
		reader_init(&r, b.data, b.size);
		t = transport_import(&p.end[1].opt, &r, &e);
		/* Whatever was changed, nothing worse happens than an error. */
		if (t != NULL && transport_next(t, &m) == 1)
			assert_non_null(m.body.p);
		transport_free(t);
		b.data[n] ^= 0x81;
	}
	buf_put_u8(&b, 0);
	reader_init(&r, b.data, b.size);
	assert_null(transport_import(&p.end[1].opt, &r, &e));
	buf_free(&b);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cipher_is_handed_over),
		cmocka_unit_test(conditions),
		cmocka_unit_test(a_blob_is_not_trusted),
	};

	log_init("test", LOG_LEVEL_QUIET);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
