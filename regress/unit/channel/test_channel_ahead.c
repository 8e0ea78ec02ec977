/* Requests that leave with the open of the first session because its number is known (channels_options.first_is_zero): what leaves, what
 * waits, and what becomes of it when the server does otherwise. All the server says is said by the test. */
#include "channel/channel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "peers.h"
#include "wire/buf.h"
#include "wire/messages.h"

struct world {
	struct peers p;
	char heard[400];                 /* what the server got: "open exec:0 data:50 " */
	char told[100];                  /* about the first channel */
	char happened[100];              /* on the channel */
	struct channel *channel;
	size_t received;
};

static void add(char *to, size_t size, const char *fmt, ...) PRINTF_LIKE(3, 4);
static void add(char *to, size_t size, const char *fmt, ...)
{
	size_t n = strlen(to);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(to + n, size - n, fmt, ap);
	va_end(ap);
}

/* ---- the server: ears only */

static int hear(void *ctx, const struct message *m)
{
	struct world *w = ctx;
	struct reader r;
	struct view text;
	uint32_t id;

	reader_init(&r, m->body.p, m->body.n);
	if (m->type == MSG_CHANNEL_OPEN || m->type == MSG_GLOBAL_REQUEST) {
		text = reader_string(&r);
		add(w->heard, sizeof(w->heard), "%.*s ", (int)text.n, (const char *)text.p);
		return 0;
	}
	id = reader_u32(&r);
	text = reader_string(&r);
	if (m->type == MSG_CHANNEL_REQUEST)
		add(w->heard, sizeof(w->heard), "%.*s:%u ", (int)text.n, (const char *)text.p, id);
	else if (m->type == MSG_CHANNEL_DATA)
		add(w->heard, sizeof(w->heard), "data:%zu ", text.n);
	else
		add(w->heard, sizeof(w->heard), "%u:%u ", m->type, id);
	return 0;
}

static void say(struct world *w, uint8_t type, const uint32_t *numbers, size_t count)
{
	struct buf b = BUF_INIT(1000);

	for (size_t i = 0; i < count; i++)
		buf_put_u32(&b, numbers[i]);
	if (type == MSG_CHANNEL_OPEN_FAILURE) {
		buf_put_cstring(&b, "full");
		buf_put_cstring(&b, "");
	}
	if (type == MSG_CHANNEL_DATA)
		buf_put_cstring(&b, "hello");
	assert_int_equal(transport_send(w->p.server.transport, type, &b), 0);
	buf_free(&b);
	carrier_kick(w->p.server.carrier);
}

#define SAY(w, type, ...) say(w, type, (const uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

static void turns(struct world *w)
{
	for (int i = 0; i < 30; i++)
		assert_int_equal(loop_turn(w->p.loop, 1, NULL), 0);
}

/* ---- the client */

static void on_first(void *ctx, enum channel_first what)
{
	static const char *const names[] = { [CHANNEL_FIRST_ZERO] = "zero ", [CHANNEL_FIRST_OTHER] = "other ",
		[CHANNEL_FIRST_REFUSED] = "refused ", [CHANNEL_FIRST_LOST] = "lost " };
	struct world *w = ctx;

	add(w->told, sizeof(w->told), "%s", names[what]);
}

static void on_client_ended(void *ctx) { ((struct world *)ctx)->p.client.ended = true; }

static struct world *world_new(bool known, uint32_t echo)
{
	struct world *w = mem_zalloc(sizeof(*w));
	struct carrier_user ears = { .ctx = w, .message = hear };

	w->p.first_is_zero = known;
	w->p.client_echo = echo;
	w->p.window_fixed = true;
	w->p.client_user = (struct channels_user){ .ctx = w, .first = on_first, .ended = on_client_ended };
	peers_start(&w->p);
	carrier_set_user(w->p.server.carrier, &ears);
	return w;
}

static void world_free(struct world *w)
{
	peers_stop(&w->p);
	free(w);
}

static void on_opened(void *ctx, struct channel *c, struct reader *extra)
{
	struct world *w = ctx;

	(void)c;
	(void)extra;
	add(w->happened, sizeof(w->happened), "opened ");
}

static void on_failed(void *ctx, struct channel *c, uint32_t reason, const char *text)
{
	struct world *w = ctx;

	(void)c;
	(void)reason;
	add(w->happened, sizeof(w->happened), "failed:%s ", text);
}

static void on_closed(void *ctx, struct channel *c)
{
	struct world *w = ctx;

	(void)c;
	add(w->happened, sizeof(w->happened), "closed ");
}

static void on_reply(void *ctx, struct channel *c, bool ok)
{
	struct world *w = ctx;

	(void)c;
	add(w->happened, sizeof(w->happened), ok ? "yes " : "no ");
}

static void on_readable(void *ctx)
{
	struct world *w = ctx;
	struct link *l = channel_link(w->channel, -1);
	const uint8_t *p;
	size_t n;

	while ((n = link_peek(l, &p)) > 0) {
		w->received += n;
		link_consume(l, n);
	}
}

static void nothing(void *ctx) { (void)ctx; }

static struct channel *open_one(struct world *w, const char *type)
{
	struct channel_user u = { .ctx = w, .opened = on_opened, .open_failed = on_failed, .closed = on_closed };
	struct channel *c = channel_open(w->p.client.channels, type, NULL, false, &u, NULL);

	assert_non_null(c);
	return c;
}

/* A session, a request, some input and its end, all at once. */
static void begin(struct world *w)
{
	w->channel = open_one(w, "session");
	assert_int_equal(channel_request(w->channel, "env", NULL, NULL, NULL), 0);
	assert_int_equal(channel_request(w->channel, "exec", NULL, on_reply, w), 0);
	channel_link(w->channel, -1)->user = (struct link_user){ .ctx = w, .readable = on_readable, .writable = nothing };
	channel_write(w->channel, "input", 5);
	channel_send_eof(w->channel);
	turns(w);
}

static const char *failure(const struct world *w)
{
	return err_text(carrier_err(w->p.client.carrier));
}

/* ---- tests */

static void requests_leave_and_data_waits(void **state)
{
	struct world *w = world_new(true, 0);

	(void)state;
	begin(w);
	assert_string_equal(w->heard, "session env:0 exec:0 ");
	assert_false(channel_is_ahead(w->channel));
	assert_false(channel_is_open(w->channel));
	assert_string_equal(w->told, "");
	/* A window later, and data of its own at once. */
	SAY(w, MSG_CHANNEL_OPEN_CONFIRMATION, 0, 0, 0, 32768);
	SAY(w, MSG_CHANNEL_DATA, 0);
	SAY(w, MSG_CHANNEL_SUCCESS, 0);
	turns(w);
	assert_string_equal(w->told, "zero ");
	assert_string_equal(w->happened, "opened yes ");
	assert_int_equal(w->received, 5);
	assert_string_equal(w->heard, "session env:0 exec:0 ");
	SAY(w, MSG_CHANNEL_WINDOW_ADJUST, 0, 100);
	turns(w);
	assert_string_equal(w->heard, "session env:0 exec:0 data:5 96:0 ");
	assert_int_equal(carrier_err(w->p.client.carrier)->code, 0);
	world_free(w);
}

static void without_knowing_all_waits(void **state)
{
	static const struct { uint32_t id; const char *told, *heard; } cases[] = {
		{ 0, "zero ", "session env:0 exec:0 data:5 96:0 " }, { 7, "other ", "session env:7 exec:7 data:5 96:7 " },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		struct world *w = world_new(false, 0);

		begin(w);
		assert_string_equal(w->heard, "session ");
		SAY(w, MSG_CHANNEL_OPEN_CONFIRMATION, 0, cases[i].id, 1000, 32768);
		turns(w);
		assert_string_equal(w->heard, cases[i].heard);
		assert_string_equal(w->told, cases[i].told);
		assert_string_equal(w->happened, "opened ");
		world_free(w);
	}
}

static void another_number_is_the_end(void **state)
{
	struct world *w = world_new(true, 0);

	(void)state;
	begin(w);
	SAY(w, MSG_CHANNEL_OPEN_CONFIRMATION, 0, 1, 1000, 32768);
	turns(w);
	assert_string_equal(w->told, "other ");
	assert_non_null(strstr(failure(w), "numbers its channels in another way"));
	assert_true(w->p.client.ended);
	/* Nothing is asked a second time, and the session never was. */
	assert_string_equal(w->heard, "session env:0 exec:0 ");
	assert_null(strstr(w->happened, "opened"));
	world_free(w);
}

static void refused(void **state)
{
	struct world *w = world_new(true, 0);

	(void)state;
	begin(w);
	SAY(w, MSG_CHANNEL_OPEN_FAILURE, 0, 1);
	transport_disconnect(w->p.server.transport, DISCONNECT_PROTOCOL_ERROR, "unknown channel 0");
	carrier_kick(w->p.server.carrier);
	turns(w);
	assert_string_equal(w->told, "refused ");
	assert_string_equal(w->happened, "failed:full no ");
	assert_true(w->p.client.ended);
	world_free(w);
	/* Nobody has sent anything ahead. */
	w = world_new(false, 0);
	begin(w);
	SAY(w, MSG_CHANNEL_OPEN_FAILURE, 0, 1);
	turns(w);
	assert_string_equal(w->told, "");
	assert_string_equal(w->happened, "failed:full no ");
	assert_false(w->p.client.ended);
	world_free(w);
}

static void no_answer(void **state)
{
	static const char *const told[] = { "", "lost " };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(told); i++) {
		struct world *w = world_new(i == 1, 0);

		begin(w);
		transport_disconnect(w->p.server.transport, DISCONNECT_PROTOCOL_ERROR, "no");
		carrier_kick(w->p.server.carrier);
		turns(w);
		assert_true(w->p.client.ended);
		assert_string_equal(w->told, told[i]);
		assert_null(strstr(w->happened, "opened"));
		world_free(w);
	}
}

/* Its number is that of the first only, and of nothing that came after something else. */
static void only_the_first(void **state)
{
	struct world *w = world_new(true, 0);

	(void)state;
	begin(w);
	w->heard[0] = '\0';
	assert_int_equal(channel_request(open_one(w, "session"), "exec", NULL, on_reply, w), 0);
	turns(w);
	assert_string_equal(w->heard, "session ");
	SAY(w, MSG_CHANNEL_OPEN_CONFIRMATION, 1, 9, 1000, 32768);
	turns(w);
	assert_string_equal(w->heard, "session exec:9 ");
	assert_string_equal(w->told, "");
	world_free(w);

	w = world_new(true, 0);
	(void)open_one(w, "direct-tcpip");
	begin(w);
	assert_string_equal(w->heard, "direct-tcpip session ");
	world_free(w);

	w = world_new(true, 0);
	assert_int_equal(channels_global_request(w->p.client.channels, "tcpip-forward", NULL, NULL, NULL), 0);
	begin(w);
	assert_string_equal(w->heard, "tcpip-forward session ");
	SAY(w, MSG_CHANNEL_OPEN_CONFIRMATION, 0, 1, 1000, 32768);
	turns(w);
	assert_string_equal(w->told, "");
	assert_string_equal(w->heard, "tcpip-forward session env:1 exec:1 data:5 96:1 ");
	world_free(w);
}

/* Between our own ends nothing has to be remembered, and the promise is another. */
static void the_promise_comes_first(void **state)
{
	struct world *w = world_new(true, 100000);

	(void)state;
	begin(w);
	assert_string_equal(w->heard, "session env:0 exec:0 data:5 96:0 ");
	assert_true(channel_is_ahead(w->channel));
	world_free(w);
}

static void closed_before_it_is_open(void **state)
{
	struct world *w = world_new(true, 0);

	(void)state;
	begin(w);
	channel_close(w->channel);
	turns(w);
	assert_string_equal(w->heard, "session env:0 exec:0 ");
	SAY(w, MSG_CHANNEL_OPEN_CONFIRMATION, 0, 0, 1000, 32768);
	turns(w);
	assert_string_equal(w->heard, "session env:0 exec:0 data:5 96:0 97:0 ");
	SAY(w, MSG_CHANNEL_CLOSE, 0);
	turns(w);
	assert_non_null(strstr(w->happened, "closed"));
	assert_int_equal(carrier_err(w->p.client.carrier)->code, 0);
	world_free(w);
}

/* While keys change everything waits, in order. */
static void during_an_exchange(void **state)
{
	struct world *w = world_new(true, 0);
	unsigned before = w->p.server.exchanges;

	(void)state;
	assert_int_equal(transport_rekey(w->p.client.transport), 0);
	begin(w);
	for (int i = 0; i < 100 && w->p.server.exchanges == before; i++)
		turns(w);
	turns(w);
	assert_true(w->p.server.exchanges > before);
	assert_string_equal(w->heard, "session env:0 exec:0 ");
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_leave_and_data_waits), cmocka_unit_test(without_knowing_all_waits),
		cmocka_unit_test(another_number_is_the_end), cmocka_unit_test(refused), cmocka_unit_test(no_answer),
		cmocka_unit_test(only_the_first), cmocka_unit_test(the_promise_comes_first),
		cmocka_unit_test(closed_before_it_is_open), cmocka_unit_test(during_an_exchange),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
