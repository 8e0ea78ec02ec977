/* channel-echo@wirespeed: requests and data that leave with the open of a session; opens that are refused nevertheless, numbers that
 * are used again, and peers that do not keep to it. */
#include "channel/channel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "peers.h"
#include "wire/buf.h"
#include "wire/messages.h"

enum { ECHO = 64 * 1024 };

/* One end of a session over a link; the server's is made anew for each channel. */
struct end {
	struct channel *channel;
	struct link *link;
	char sent[32];                   /* what happened, in order: o opened, r refused, c closed, + and - replies, q request, d data, e end */
	uint64_t to_send, sent_bytes, sent_when_opened, received;
	bool stalled, opened, refused, closed, ended, requested;
};

struct world {
	struct peers p;
	struct end client[4], server[4];
	unsigned served;
	bool refuse;
};

static void note(struct end *t, char what)
{
	size_t n = strlen(t->sent);

	if (n + 1 < sizeof(t->sent) && (what != 'd' || n == 0 || t->sent[n - 1] != 'd'))
		t->sent[n] = what;
}

static void end_send(struct end *t)
{
	struct iovec iov[LINK_IOV];
	size_t lent;
	int count;

	while (t->sent_bytes < t->to_send) {
		lent = link_lend(t->link, t->to_send - t->sent_bytes, iov, &count);
		if (lent == 0)
			return;
		for (int i = 0; i < count; i++)
			for (size_t j = 0; j < iov[i].iov_len; j++)
				((uint8_t *)iov[i].iov_base)[j] = (uint8_t)(++t->sent_bytes % 251);
		assert_int_equal(link_commit(t->link, lent), 0);
	}
	link_finish(t->link);
}

static void end_readable(void *ctx)
{
	struct end *t = ctx;
	const uint8_t *p;
	size_t n;

	while (!t->stalled && (n = link_peek(t->link, &p)) > 0) {
		for (size_t i = 0; i < n; i++)
			if (p[i] != (uint8_t)(++t->received % 251))
				fail_msg("byte %llu is wrong", (unsigned long long)t->received);
		note(t, 'd');
		link_consume(t->link, n);
	}
	if (!t->stalled && link_at_end(t->link) && !t->ended) {
		t->ended = true;
		note(t, 'e');
	}
}

static void end_writable(void *ctx)
{
	end_send(ctx);
}

static void end_attach(struct end *t)
{
	t->link = channel_link(t->channel, -1);
	t->link->user = (struct link_user){ .ctx = t, .readable = end_readable, .writable = end_writable };
}

static void end_opened(void *ctx, struct channel *c, struct reader *extra)
{
	struct end *t = ctx;

	(void)c;
	(void)extra;
	t->opened = true;
	t->sent_when_opened = t->sent_bytes;
	note(t, 'o');
}

static void end_refused(void *ctx, struct channel *c, uint32_t reason, const char *text)
{
	struct end *t = ctx;

	(void)c;
	(void)text;
	assert_int_equal(reason, OPEN_ADMINISTRATIVELY_PROHIBITED);
	t->refused = true;
	note(t, 'r');
}

static void end_closed(void *ctx, struct channel *c)
{
	struct end *t = ctx;

	(void)c;
	t->closed = true;
	note(t, 'c');
}

static void end_reply(void *ctx, struct channel *c, bool ok)
{
	(void)c;
	note(ctx, ok ? '+' : '-');
}

static bool end_request(void *ctx, struct channel *c, struct view name, struct reader *body, bool want_reply)
{
	struct end *t = ctx;

	(void)c;
	(void)body;
	(void)want_reply;
	note(t, 'q');
	t->requested = true;
	return view_is(name, "exec");
}

static uint32_t serve(void *ctx, struct channel *c, struct view type, struct reader *extra, struct channel_answer *a)
{
	struct world *w = ctx;
	struct end *t = &w->server[w->served];

	(void)extra;
	if (view_is(type, "other"))
		return 0;
	if (w->refuse)
		return OPEN_ADMINISTRATIVELY_PROHIBITED;
	w->served++;
	t->channel = c;
	end_attach(t);
	a->user = (struct channel_user){ .ctx = t, .request = end_request, .closed = end_closed };
	return 0;
}

static void server_gone(void *ctx)
{
	(void)ctx;
}

static struct world *world_new(uint32_t client_echo, uint32_t server_echo)
{
	struct world *w = mem_zalloc(sizeof(*w));

	w->p.client_echo = client_echo;
	w->p.server_echo = server_echo;
	w->p.window_fixed = true;
	w->p.server_user = (struct channels_user){ .ctx = w, .open = serve, .ended = server_gone };
	peers_start(&w->p);
	return w;
}

static void world_free(struct world *w)
{
	peers_stop(&w->p);
	free(w);
}

/* Open, a request, data and the end of it, all at once. */
static void begin(struct world *w, struct end *t, uint64_t bytes)
{
	struct channel_user u = { .ctx = t, .opened = end_opened, .open_failed = end_refused, .closed = end_closed };

	t->to_send = bytes;
	t->channel = channel_open(w->p.client.channels, "session", NULL, false, &u, NULL);
	assert_non_null(t->channel);
	assert_int_equal(channel_request(t->channel, "exec", NULL, end_reply, t), 0);
	end_attach(t);
	end_send(t);
}

static void turns(struct world *w, int count)
{
	while (count-- > 0)
		assert_int_equal(loop_turn(w->p.loop, 1, NULL), 0);
}

static bool client_fails(const struct world *w, const char *text)
{
	return strstr(err_text(carrier_err(w->p.client.carrier)), text) != NULL;
}

static bool server_fails(const struct world *w, const char *text)
{
	return strstr(err_text(carrier_err(w->p.server.carrier)), text) != NULL;
}

/* ---- it works */

static void everything_leaves_with_the_open(void **state)
{
	struct world *w = world_new(ECHO, ECHO);

	(void)state;
	begin(w, &w->client[0], 50000);
	assert_true(channel_is_ahead(w->client[0].channel));
	assert_false(channel_is_open(w->client[0].channel));
	assert_int_equal(w->client[0].sent_bytes, 50000);
	peers_run_until(&w->p, &w->client[0].opened);
	assert_int_equal(w->client[0].sent_when_opened, 50000);
	assert_false(channel_is_ahead(w->client[0].channel));
	peers_run_until(&w->p, &w->server[0].ended);
	assert_int_equal(w->server[0].received, 50000);
	assert_string_equal(w->server[0].sent, "qde");
	turns(w, 5);
	assert_string_equal(w->client[0].sent, "o+");
	world_free(w);
}

/* More than the first window; the server's own windows come into it. */
static void more_than_the_first_window(void **state)
{
	static const uint32_t echoes[] = { CHANNEL_ECHO_PACKET, ECHO, CHANNEL_ECHO_WINDOW, 8 * 1024 * 1024 };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(echoes); i++) {
		struct world *w = world_new(echoes[i], echoes[i]);

		begin(w, &w->client[0], 10 * 1024 * 1024);
		peers_run_until(&w->p, &w->server[0].ended);
		assert_int_equal(w->server[0].received, 10 * 1024 * 1024);
		/* As much as was stated had left, as far as output may wait in this process. */
		assert_true(w->client[0].sent_when_opened <= echoes[i]);
		assert_true(w->client[0].sent_when_opened >= (echoes[i] < 500000 ? echoes[i] : 500000));
		world_free(w);
	}
}

/* Whoever knows nothing of it waits, and the other does not mind. */
static void one_side_alone(void **state)
{
	struct world *w = world_new(0, ECHO);

	(void)state;
	begin(w, &w->client[0], 1000);
	assert_false(channel_is_ahead(w->client[0].channel));
	assert_int_equal(w->client[0].sent_bytes, 0);
	peers_run_until(&w->p, &w->server[0].ended);
	assert_int_equal(w->server[0].received, 1000);
	world_free(w);
}

static void refused_after_all(void **state)
{
	struct world *w = world_new(ECHO, ECHO);

	(void)state;
	w->refuse = true;
	begin(w, &w->client[0], 30000);
	begin(w, &w->client[1], 10);
	peers_run_until(&w->p, &w->client[1].refused);
	assert_string_equal(w->client[0].sent, "r-");
	assert_string_equal(w->client[1].sent, "r-");
	assert_int_equal(channels_count(w->p.client.channels), 0);
	assert_int_equal(channels_count(w->p.server.channels), 0);
	/* The number is as good as new. */
	w->refuse = false;
	begin(w, &w->client[2], 20000);
	assert_int_equal(channel_id(w->client[2].channel), 0);
	peers_run_until(&w->p, &w->server[0].ended);
	assert_int_equal(w->server[0].received, 20000);
	assert_int_equal(carrier_err(w->p.client.carrier)->code, 0);
	assert_int_equal(carrier_err(w->p.server.carrier)->code, 0);
	world_free(w);
}

/* The number of a closed channel is used again while what it received still waits at the server. */
static void a_number_used_again(void **state)
{
	struct world *w = world_new(ECHO, ECHO);

	(void)state;
	w->server[0].stalled = true;
	begin(w, &w->client[0], 5000);
	peers_run_until(&w->p, &w->server[0].requested);
	channel_close(w->server[0].channel);
	peers_run_until(&w->p, &w->client[0].closed);
	turns(w, 5);
	assert_false(w->server[0].closed);
	assert_int_equal(channels_count(w->p.server.channels), 1);
	begin(w, &w->client[1], 7000);
	assert_int_equal(channel_id(w->client[1].channel), 0);
	peers_run_until(&w->p, &w->server[1].ended);
	assert_int_equal(w->server[1].received, 7000);
	assert_int_equal(channel_id(w->server[1].channel), 0);
	w->server[0].stalled = false;
	end_readable(&w->server[0]);
	assert_int_equal(w->server[0].received, 5000);
	peers_run_until(&w->p, &w->server[0].closed);
	assert_int_equal(channels_count(w->p.server.channels), 1);
	world_free(w);
}

/* Numbers that the client may choose are not given to anybody else. */
static void other_channels_have_other_numbers(void **state)
{
	struct world *w = world_new(ECHO, ECHO);
	struct channel_user none = { .ctx = NULL };
	struct channel *other;

	(void)state;
	other = channel_open(w->p.client.channels, "other", NULL, false, &none, NULL);
	assert_non_null(other);
	assert_false(channel_is_ahead(other));
	begin(w, &w->client[0], 100);
	assert_int_equal(channel_id(w->client[0].channel), 1);
	peers_run_until(&w->p, &w->server[0].ended);
	assert_int_equal(channel_id(w->server[0].channel), 1);
	turns(w, 10);
	assert_true(channel_is_open(other));
	/* The server's own opens as well. */
	other = channel_open(w->p.server.channels, "session", NULL, false, &none, NULL);
	assert_non_null(other);
	assert_int_equal(channel_id(other), CHANNEL_ECHO_NUMBERS + 1);
	assert_false(channel_is_ahead(other));
	world_free(w);
}

static uint32_t accept_any(void *ctx, struct channel *c, struct view type, struct reader *extra, struct channel_answer *a)
{
	(void)c;
	(void)type;
	(void)extra;
	(void)a;
	++*(unsigned *)ctx;
	return 0;
}

static void more_channels_than_numbers(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	struct channel_user none = { .ctx = NULL };
	struct channel *c = NULL;
	unsigned opened = 0;

	(void)state;
	w->p.client_echo = w->p.server_echo = ECHO;
	w->p.server_user = (struct channels_user){ .ctx = &opened, .open = accept_any, .ended = server_gone };
	peers_start(&w->p);
	for (unsigned i = 0; i < CHANNEL_ECHO_NUMBERS + 3; i++) {
		c = channel_open(w->p.client.channels, "session", NULL, false, &none, NULL);
		assert_non_null(c);
		assert_int_equal(channel_is_ahead(c), i < CHANNEL_ECHO_NUMBERS);
	}
	for (int i = 0; i < 200 && !channel_is_open(c); i++)
		turns(w, 1);
	assert_true(channel_is_open(c));
	assert_int_equal(opened, CHANNEL_ECHO_NUMBERS + 3);
	world_free(w);
}

/* EOF may leave ahead, CLOSE does not: there is nothing to close yet. */
static void closed_before_it_is_open(void **state)
{
	struct world *w = world_new(ECHO, ECHO);

	(void)state;
	begin(w, &w->client[0], 10);
	channel_close(w->client[0].channel);
	peers_run_until(&w->p, &w->client[0].closed);
	peers_run_until(&w->p, &w->server[0].closed);
	assert_int_equal(w->server[0].received, 10);
	assert_int_equal(carrier_err(w->p.client.carrier)->code, 0);
	assert_int_equal(carrier_err(w->p.server.carrier)->code, 0);
	world_free(w);
}

/* The connection goes while nothing is confirmed. */
static void the_connection_goes(void **state)
{
	struct world *w = world_new(ECHO, ECHO);

	(void)state;
	begin(w, &w->client[0], 10);
	carrier_disconnect(w->p.client.carrier, DISCONNECT_BY_APPLICATION, "enough", 100);
	peers_run_until(&w->p, &w->client[0].closed);
	world_free(w);
}

static void values(void **state)
{
	static const struct { const char *value; uint32_t window; } cases[] = {
		{ NULL, 0 }, { "", 0 }, { "0", 0 }, { "32767", 0 }, { "32768", 32768 }, { "2097152", 2097152 },
		{ "4294967295", UINT32_MAX }, { "4294967296", 0 }, { "-1", 0 }, { " 65536", 0 }, { "65536 ", 0 }, { "0x10000", 0 },
		{ "65536,1", 0 },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++)
		assert_int_equal(channel_echo_window(cases[i].value), cases[i].window);
}

/* ---- those who do not keep to it */

static void raw(struct peer *from, uint8_t type, struct buf *b)
{
	assert_int_equal(transport_send(from->transport, type, b), 0);
	buf_free(b);
	carrier_kick(from->carrier);
}

static void raw_open(struct peer *from, const char *type, uint32_t id, uint32_t max_packet)
{
	struct buf b = BUF_INIT(100);

	buf_put_cstring(&b, type);
	buf_put_u32(&b, id);
	buf_put_u32(&b, 100000);
	buf_put_u32(&b, max_packet);
	raw(from, MSG_CHANNEL_OPEN, &b);
}

static void raw_data(struct peer *from, uint32_t id, size_t n)
{
	struct buf b = BUF_INIT(100000);
	char *zeros = mem_zalloc(n);

	buf_put_u32(&b, id);
	buf_put_string(&b, zeros, n);
	free(zeros);
	raw(from, MSG_CHANNEL_DATA, &b);
}

static int swallow(void *ctx, const struct message *m)
{
	(void)ctx;
	(void)m;
	return 0;
}

/* The channels of one side are cut off: what the test sends in their place is all that the other hears. */
static void mute(struct peer *one)
{
	struct carrier_user u = { .message = swallow };

	carrier_set_user(one->carrier, &u);
}

static void a_number_opened_twice(void **state)
{
	struct world *w = world_new(ECHO, ECHO);

	(void)state;
	mute(&w->p.client);
	raw_open(&w->p.client, "session", 7, 32768);
	turns(w, 10);
	assert_int_equal(channel_id(w->server[0].channel), 7);
	raw_open(&w->p.client, "session", 7, 32768);
	for (int i = 0; i < 100 && !server_fails(w, "opened twice"); i++)
		turns(w, 1);
	assert_true(server_fails(w, "channel 7 opened twice"));
	world_free(w);
}

static void data_for_what_was_refused(void **state)
{
	struct world *w = world_new(ECHO, ECHO);

	(void)state;
	mute(&w->p.client);
	w->refuse = true;
	raw_open(&w->p.client, "session", 9, 32768);
	for (int i = 0; i < 100; i++)
		raw_data(&w->p.client, 9, 30000);
	/* Too small a packet is refused as well. */
	raw_open(&w->p.client, "session", 10, 10);
	raw_data(&w->p.client, 10, 100);
	turns(w, 30);
	assert_int_equal(carrier_err(w->p.server.carrier)->code, 0);
	assert_int_equal(channels_count(w->p.server.channels), 0);
	/* Other numbers are as wrong as ever. */
	raw_data(&w->p.client, 11, 100);
	for (int i = 0; i < 100 && !server_fails(w, "does not exist"); i++)
		turns(w, 1);
	assert_true(server_fails(w, "for a channel that does not exist"));
	world_free(w);
}

static void more_than_was_stated(void **state)
{
	struct world *w = world_new(ECHO, 4 * 1024 * 1024);

	(void)state;
	mute(&w->p.client);
	w->server[0].stalled = true;
	raw_open(&w->p.client, "session", 0, 32768);
	for (int i = 0; i < 150 && carrier_err(w->p.client.carrier)->code == 0; i++) {
		raw_data(&w->p.client, 0, 32768);
		turns(w, 2);
		/* All of what was stated, and not much more. */
		assert_true(i >= 128 || !server_fails(w, "window"));
	}
	for (int i = 0; i < 200 && !server_fails(w, "more than its window"); i++)
		turns(w, 1);
	assert_true(server_fails(w, "peer sent more than its window"));
	world_free(w);
}

static void raw_confirm(struct peer *from, uint32_t to, uint32_t id, uint32_t window)
{
	struct buf b = BUF_INIT(100);

	buf_put_u32(&b, to);
	buf_put_u32(&b, id);
	buf_put_u32(&b, window);
	buf_put_u32(&b, 32768);
	raw(from, MSG_CHANNEL_OPEN_CONFIRMATION, &b);
}

static void a_server_that_lied(void **state)
{
	static const struct { uint32_t id, window; const char *text; } cases[] = {
		{ 1, ECHO, "channel 0 did not keep its number" },
		{ 0, 49999, "channel 0: its window is smaller than was stated" },
		{ 0, 50000, NULL },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		struct world *w = world_new(ECHO, 0);

		mute(&w->p.server);
		begin(w, &w->client[0], 50000);
		turns(w, 5);
		raw_confirm(&w->p.server, 0, cases[i].id, cases[i].window);
		for (int j = 0; j < 100 && !w->client[0].opened && carrier_err(w->p.client.carrier)->code == 0; j++)
			turns(w, 1);
		assert_int_equal(w->client[0].opened, cases[i].text == NULL);
		if (cases[i].text != NULL)
			assert_true(client_fails(w, cases[i].text));
		world_free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_leaves_with_the_open), cmocka_unit_test(more_than_the_first_window),
		cmocka_unit_test(one_side_alone), cmocka_unit_test(refused_after_all), cmocka_unit_test(a_number_used_again),
		cmocka_unit_test(other_channels_have_other_numbers), cmocka_unit_test(more_channels_than_numbers),
		cmocka_unit_test(closed_before_it_is_open), cmocka_unit_test(the_connection_goes), cmocka_unit_test(values),
		cmocka_unit_test(a_number_opened_twice), cmocka_unit_test(data_for_what_was_refused),
		cmocka_unit_test(more_than_was_stated), cmocka_unit_test(a_server_that_lied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
