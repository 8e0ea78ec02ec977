/* Channels between two real engines: links, pumps, windows, requests, endings, and peers that break the rules. */
#include "channel/channel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <fcntl.h>
#include <errno.h>
#include <signal.h>
#include <cmocka.h>

#include "base/mem.h"
#include "channel/session_msg.h"
#include "peers.h"
#include "platform/pty.h"
#include "wire/messages.h"

/* One side of a link that sends a pattern of `total` bytes and checks the other's. */
struct talker {
	struct link *link;
	struct channel *channel;
	uint64_t to_send, sent, received, expect;
	size_t bite;             /* consumes at most this much a call; 0: all */
	bool stalled;            /* consumes nothing */
	bool input_done, closed, opened, refused;
	uint32_t reason;
	bool done;
};

static uint8_t pattern(uint64_t at)
{
	return (uint8_t)(at * 31 + (at >> 8) * 7 + (at >> 16));
}

static void talker_check_done(struct talker *t)
{
	t->done = t->input_done && t->sent == t->to_send;
}

static void talker_send(struct talker *t)
{
	struct iovec iov[LINK_IOV];
	int count;

	while (t->sent < t->to_send) {
		size_t want = t->to_send - t->sent < 300000 ? (size_t)(t->to_send - t->sent) : 300000;
		size_t lent = link_lend(t->link, want, iov, &count), done = 0;

		if (lent == 0)
			return;
		assert_true(lent <= want);
		/* sometimes less than what was lent */
		if (lent > 10 && t->sent % 3 == 0)
			lent -= 7;
		for (int i = 0; i < count && done < lent; i++) {
			size_t n = iov[i].iov_len < lent - done ? iov[i].iov_len : lent - done;

			for (size_t j = 0; j < n; j++)
				((uint8_t *)iov[i].iov_base)[j] = pattern(t->sent + done + j);
			done += n;
		}
		assert_int_equal(link_commit(t->link, lent), 0);
		t->sent += lent;
	}
	link_finish(t->link);
	talker_check_done(t);
}

static void talker_readable(void *ctx)
{
	struct talker *t = ctx;
	const uint8_t *p;
	size_t n;

	while (!t->stalled && (n = link_peek(t->link, &p)) > 0) {
		if (t->bite && n > t->bite)
			n = t->bite;
		for (size_t i = 0; i < n; i++)
			if (p[i] != pattern(t->received + i))
				fail_msg("byte %llu is wrong", (unsigned long long)(t->received + i));
		t->received += n;
		link_consume(t->link, n);
	}
	if (link_at_end(t->link) && !t->stalled) {
		assert_int_equal(t->received, t->expect);
		t->input_done = true;
		talker_check_done(t);
	}
}

static void talker_writable(void *ctx)
{
	talker_send(ctx);
}

static void talker_link_closed(void *ctx, const struct err *e)
{
	((struct talker *)ctx)->closed = true;
}

static void talker_attach(struct talker *t, struct channel *c)
{
	t->channel = c;
	t->link = channel_link(c, -1);
	t->link->user = (struct link_user){ .ctx = t, .readable = talker_readable, .writable = talker_writable,
		.closed = talker_link_closed };
}

static void talker_opened(void *ctx, struct channel *c, struct reader *extra)
{
	struct talker *t = ctx;

	t->opened = true;
	talker_send(t);
}

static void talker_refused(void *ctx, struct channel *c, uint32_t reason, const char *text)
{
	struct talker *t = ctx;

	t->refused = true;
	t->reason = reason;
}

static uint32_t accept_talker(void *ctx, struct channel *c, struct view type, struct reader *extra, struct channel_answer *a)
{
	struct talker *t = ctx;

	if (!view_is(type, "session"))
		return OPEN_UNKNOWN_CHANNEL_TYPE;
	talker_attach(t, c);
	return 0;
}

static void talk(struct peers *p, struct talker *client, struct talker *server)
{
	struct channel_user u = { .ctx = client, .opened = talker_opened, .open_failed = talker_refused };
	struct channel *c;

	p->server_user.open = accept_talker;
	p->server_user.ctx = server;
	peers_start(p);
	c = channel_open(p->client.channels, "session", NULL, false, &u, NULL);
	assert_non_null(c);
	talker_attach(client, c);
}

static void talk_both_ways(struct peers *p, uint64_t total, size_t bite)
{
	struct talker client = { .to_send = total, .expect = total + 1, .bite = bite };
	struct talker server = { .to_send = total + 1, .expect = total };

	talk(p, &client, &server);
	peers_run_until(p, &client.opened);
	talker_send(&server);
	peers_run_until(p, &client.done);
	peers_run_until(p, &server.done);
	link_close(client.link);
	peers_run_until(p, &server.closed);
	assert_int_equal(channels_count(p->server.channels), 0);
	peers_stop(p);
}

static void test_link_both_ways(void **state)
{
	struct peers p = { 0 };

	talk_both_ways(&p, 20 * 1024 * 1024, 0);
}

static void test_link_small_bites(void **state)
{
	struct peers p = { 0 };

	talk_both_ways(&p, 300000, 777);
}

static void test_link_nothing(void **state)
{
	struct peers p = { 0 };

	talk_both_ways(&p, 0, 0);
}

static void test_rekeying_under_load(void **state)
{
	static const char *const ciphers[] = { "aes128-gcm@openssh.com", "chacha20-poly1305@openssh.com", "aes128-ctr" };

	for (size_t i = 0; i < MEM_COUNT(ciphers); i++) {
		struct peers p = { .rekey_bytes = 256 * 1024, .cipher = ciphers[i] };

		talk_both_ways(&p, 8 * 1024 * 1024, 0);
		assert_true(p.client.exchanges > 10);
		assert_int_equal(p.client.exchanges, p.server.exchanges);
	}
}

static void test_stalled_reader_stops_the_sender(void **state)
{
	struct peers p = { .window_fixed = true };
	struct talker client = { .to_send = 16 * 1024 * 1024, .expect = 0 };
	struct talker server = { .to_send = 0, .expect = 16 * 1024 * 1024, .stalled = true };

	talk(&p, &client, &server);
	peers_run_until(&p, &client.opened);
	for (int i = 0; i < 200; i++)
		assert_int_equal(loop_turn(p.loop, 1, NULL), 0);
	/* the window of 2 MiB and what waits in the engine, no more */
	assert_true(client.sent >= 2 * 1024 * 1024);
	assert_true(client.sent <= 2 * 1024 * 1024);
	server.stalled = false;
	talker_readable(&server);
	peers_run_until(&p, &server.input_done);
	peers_stop(&p);
}

static void test_refused_open(void **state)
{
	struct peers p = { 0 };
	struct talker client = { 0 }, server = { 0 };
	struct channel_user u = { .ctx = &client, .opened = talker_opened, .open_failed = talker_refused };

	p.server_user.open = accept_talker;
	p.server_user.ctx = &server;
	peers_start(&p);
	assert_non_null(channel_open(p.client.channels, "x11", NULL, false, &u, NULL));
	peers_run_until(&p, &client.refused);
	assert_int_equal(client.reason, OPEN_UNKNOWN_CHANNEL_TYPE);
	assert_int_equal(channels_count(p.client.channels), 0);
	peers_stop(&p);
}

/* ---- pumps and requests ---- */

struct command {
	struct channel *channel;
	int in[2], out[2];               /* pipes: the channel writes in[1], reads out[0] */
	int status;
	bool env_seen, exec_seen, exec_ok, env_refused, eof, closed, sources_ended, sink_ended;
	unsigned replies;
};

static bool server_request(void *ctx, struct channel *c, struct view name, struct reader *body, bool want_reply)
{
	struct command *k = ctx;
	struct channel_pump pump = { .source = k->out[0], .sink = k->in[1], .err_source = -1, .err_sink = -1, .own = true };
	char *s;

	if (view_is(name, "env")) {
		k->env_seen = true;
		return false;
	}
	if (!view_is(name, "exec"))
		return false;
	assert_true(k->env_seen);
	assert_int_equal(session_string_get(body, 100, &s, NULL), 0);
	assert_string_equal(s, "cat");
	free(s);
	assert_int_equal(channel_attach(c, &pump, NULL), 0);
	k->exec_seen = true;
	return true;
}

static void server_sources_ended(void *ctx, struct channel *c)
{
	struct command *k = ctx;
	struct buf b = BUF_INIT(16);

	k->sources_ended = true;
	session_exit_status_put(&b, 7);
	assert_int_equal(channel_request(c, "exit-status", &b, NULL, NULL), 0);
	channel_close(c);
	buf_free(&b);
}

static uint32_t accept_command(void *ctx, struct channel *c, struct view type, struct reader *extra, struct channel_answer *a)
{
	struct command *k = ctx;

	a->user = (struct channel_user){ .ctx = k, .request = server_request, .sources_ended = server_sources_ended };
	k->channel = c;
	return 0;
}

static bool client_request(void *ctx, struct channel *c, struct view name, struct reader *body, bool want_reply)
{
	struct command *k = ctx;
	uint32_t status;

	assert_true(view_is(name, "exit-status"));
	assert_int_equal(session_exit_status_get(body, &status, NULL), 0);
	k->status = (int)status;
	return true;
}

static void client_closed(void *ctx, struct channel *c)
{
	((struct command *)ctx)->closed = true;
}

static void env_reply(void *ctx, struct channel *c, bool ok)
{
	struct command *k = ctx;

	k->env_refused = !ok;
	assert_int_equal(k->replies++, 0);
}

static void exec_reply(void *ctx, struct channel *c, bool ok)
{
	struct command *k = ctx;

	k->exec_ok = ok;
	assert_int_equal(k->replies++, 1);
}

/* A "command" behind pipes whose other ends the test holds: everything that it wrote arrives before its exit status and
 * the close, however slowly our stdout is read. */
static void test_pump_and_requests(void **state)
{
	enum { TOTAL = 3 * 1024 * 1024 };
	struct peers p = { 0 };
	struct command server = { 0 }, client = { 0 };
	struct channel_user u = { .ctx = &client, .request = client_request, .closed = client_closed };
	struct channel_pump pump = { .err_source = -1, .err_sink = -1, .own = true };
	struct buf b = BUF_INIT(100);
	uint8_t *data = mem_alloc(TOTAL), *got = mem_alloc(TOTAL + 1);
	size_t written = 0, read_so_far = 0;
	struct channel *c;

	for (size_t i = 0; i < TOTAL; i++)
		data[i] = pattern(i);
	assert_int_equal(pipe2(server.in, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(pipe2(server.out, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(pipe2(client.in, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(pipe2(client.out, O_CLOEXEC | O_NONBLOCK), 0);
	p.server_user = (struct channels_user){ .ctx = &server, .open = accept_command };
	peers_start(&p);
	c = channel_open(p.client.channels, "session", NULL, false, &u, NULL);
	session_env_put(&b, "LANG", "C");
	assert_int_equal(channel_request(c, "env", &b, env_reply, &client), 0);
	buf_reset(&b);
	session_string_put(&b, "cat");
	assert_int_equal(channel_request(c, "exec", &b, exec_reply, &client), 0);
	pump.source = client.in[0];
	pump.sink = client.out[1];
	assert_int_equal(channel_attach(c, &pump, NULL), 0);
	peers_run_until(&p, &client.exec_ok);
	assert_true(client.env_refused);
	/* the command writes everything and is gone */
	while (written < TOTAL) {
		ssize_t n = write(server.out[1], data + written, TOTAL - written);

		written += n > 0 ? (size_t)n : 0;
		assert_int_equal(loop_turn(p.loop, 0, NULL), 0);
		n = read(client.out[0], got + read_so_far, 1 + written % 5000);
		read_so_far += n > 0 ? (size_t)n : 0;
	}
	close(server.out[1]);
	while (!client.closed) {
		ssize_t n = read(client.out[0], got + read_so_far, 8192);

		read_so_far += n > 0 ? (size_t)n : 0;
		assert_int_equal(loop_turn(p.loop, 0, NULL), 0);
	}
	for (ssize_t n; (n = read(client.out[0], got + read_so_far, TOTAL + 1 - read_so_far)) > 0;)
		read_so_far += (size_t)n;
	assert_int_equal(read_so_far, TOTAL);
	assert_memory_equal(data, got, TOTAL);
	assert_true(server.sources_ended);
	assert_int_equal(client.status, 7);
	buf_free(&b);
	free(data);
	free(got);
	close(client.in[1]);
	close(client.out[0]);
	close(server.in[0]);
	peers_stop(&p);
}

static void test_eof_goes_through_a_pump(void **state)
{
	struct peers p = { 0 };
	struct command server = { .env_seen = true }, client = { 0 };
	struct channel_user u = { .ctx = &client, .request = client_request, .closed = client_closed };
	struct channel_pump pump = { .err_source = -1, .err_sink = -1, .own = true };
	struct buf b = BUF_INIT(100);
	char got[16] = "";
	ssize_t n = -1;
	struct channel *c;

	assert_int_equal(pipe2(server.in, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(pipe2(server.out, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(pipe2(client.in, O_CLOEXEC | O_NONBLOCK), 0);
	p.server_user = (struct channels_user){ .ctx = &server, .open = accept_command };
	peers_start(&p);
	c = channel_open(p.client.channels, "session", NULL, false, &u, NULL);
	session_string_put(&b, "cat");
	assert_int_equal(channel_request(c, "exec", &b, NULL, NULL), 0);
	pump.source = client.in[0];
	pump.sink = -1;
	assert_int_equal(channel_attach(c, &pump, NULL), 0);
	assert_int_equal(write(client.in[1], "hello", 5), 5);
	close(client.in[1]);
	while (n < 0) {
		assert_int_equal(loop_turn(p.loop, 100, NULL), 0);
		n = read(server.in[0], got, sizeof got);
	}
	assert_string_equal(got, "hello");
	for (n = -1; n != 0; n = read(server.in[0], got, sizeof got))
		assert_int_equal(loop_turn(p.loop, 100, NULL), 0);
	close(server.out[1]);
	peers_run_until(&p, &client.closed);
	close(server.in[0]);
	buf_free(&b);
	peers_stop(&p);
}

/* A peer that closes before the program has ended: its CLOSE is answered after the exit status, and its data arrives. */
static void test_close_is_held_for_the_status(void **state)
{
	struct peers p = { 0 };
	struct command server = { .env_seen = true }, client = { 0 };
	struct channel_user u = { .ctx = &client, .request = client_request, .closed = client_closed };
	struct buf b = BUF_INIT(100);
	char got[16] = "";
	ssize_t n = -1;
	struct channel *c;

	assert_int_equal(pipe2(server.in, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(pipe2(server.out, O_CLOEXEC | O_NONBLOCK), 0);
	p.server_user = (struct channels_user){ .ctx = &server, .open = accept_command };
	peers_start(&p);
	c = channel_open(p.client.channels, "session", NULL, false, &u, NULL);
	session_string_put(&b, "cat");
	assert_int_equal(channel_request(c, "exec", &b, exec_reply, &client), 0);
	client.replies = 1;
	peers_run_until(&p, &client.exec_ok);
	channel_hold_close(server.channel, true);
	channel_write(c, "hello", 5);
	channel_close(c);
	for (n = -1; n != 0; n = read(server.in[0], got, sizeof got))
		assert_int_equal(loop_turn(p.loop, 100, NULL), 0);
	assert_string_equal(got, "hello");
	/* The reader of the program's output is gone, the channel is not. */
	(void)signal(SIGPIPE, SIG_IGN);
	while ((n = write(server.out[1], "x", 1)) == 1)
		assert_int_equal(loop_turn(p.loop, 100, NULL), 0);
	assert_int_equal(errno, EPIPE);
	assert_false(client.closed);
	server_sources_ended(&server, server.channel);
	peers_run_until(&p, &client.closed);
	close(server.in[0]);
	close(server.out[1]);
	buf_free(&b);
	peers_stop(&p);
}

/* ---- peers that break the rules: each ends the connection ---- */

struct raw { uint8_t type; const char *bytes; size_t n; };

static void break_rule(const struct raw *r)
{
	struct peers p = { 0 };
	struct talker client = { .stalled = true }, server = { .stalled = true };
	struct buf b = BUF_INIT(8 * 1024 * 1024);

	talk(&p, &client, &server);
	peers_run_until(&p, &client.opened);
	buf_put(&b, r->bytes, r->n);
	assert_int_equal(transport_send(p.client.transport, r->type, &b), 0);
	carrier_kick(p.client.carrier);
	while (carrier_err(p.server.carrier)->code == 0)
		assert_int_equal(loop_turn(p.loop, 1000, NULL), 0);
	assert_int_equal(carrier_err(p.server.carrier)->code, ERR_PEER);
	buf_free(&b);
	peers_stop(&p);
}

static void test_broken_rules(void **state)
{
	static const struct raw rows[] = {
		{ MSG_CHANNEL_DATA, "\0\0\0\7" "\0\0\0\1x", 9 },                 /* no such channel */
		{ MSG_CHANNEL_DATA, "\0\0\0\0" "\0\0\0\5x", 9 },                 /* length beyond the message */
		{ MSG_CHANNEL_DATA, "\0\0\0\0" "\0\0\0\1xy", 10 },               /* bytes behind it */
		{ MSG_CHANNEL_DATA, "\0\0", 2 },
		{ MSG_CHANNEL_WINDOW_ADJUST, "\0\0\0\0" "\xff\xff\xff\xff", 8 },   /* beyond 2^32-1 */
		{ MSG_CHANNEL_WINDOW_ADJUST, "\0\0\0\0" "\0", 5 },
		{ MSG_CHANNEL_WINDOW_ADJUST, "\0\0", 2 },
		{ MSG_CHANNEL_OPEN_CONFIRMATION, "\0\0\0\0" "\0\0\0\0" "\0\0\1\0" "\0\0\1\0", 16 },   /* nobody asked */
		{ MSG_CHANNEL_OPEN_FAILURE, "\0\0\0\0" "\0\0\0\1" "\0\0\0\0" "\0\0\0\0", 16 },
		{ MSG_CHANNEL_SUCCESS, "\0\0\0\0", 4 },                           /* nothing was asked */
		{ MSG_CHANNEL_OPEN, "\0\0\0\7sess", 8 },
		{ MSG_CHANNEL_REQUEST, "\0\0\0\0" "\0\0\0\x20" "exec", 12 },
		{ MSG_GLOBAL_REQUEST, "\0\0\0", 3 },
	};

	for (size_t i = 0; i < MEM_COUNT(rows); i++)
		break_rule(&rows[i]);
}

/* Room for a channel that is gone: what some peers send after their CLOSE. */
static void test_late_window_adjust(void **state)
{
	struct peers p = { 0 };
	struct talker client = { .to_send = 300000, .expect = 300001 }, server = { .to_send = 300001, .expect = 300000 };
	struct buf b = BUF_INIT(16);

	talk(&p, &client, &server);
	peers_run_until(&p, &client.opened);
	buf_put_u32(&b, 7);
	buf_put_u32(&b, 1000);
	assert_int_equal(transport_send(p.client.transport, MSG_CHANNEL_WINDOW_ADJUST, &b), 0);
	talker_send(&server);
	peers_run_until(&p, &client.done);
	peers_run_until(&p, &server.done);
	assert_int_equal(carrier_err(p.server.carrier)->code, 0);
	buf_free(&b);
	peers_stop(&p);
}

static void test_more_than_the_window(void **state)
{
	struct peers p = { .window_fixed = true };
	struct talker client = { .stalled = true }, server = { .stalled = true };
	struct buf b = BUF_INIT(100 * 1024);
	uint32_t chunk = 32000;

	talk(&p, &client, &server);
	peers_run_until(&p, &client.opened);
	buf_put_u32(&b, 0);
	buf_put_u32(&b, chunk);
	for (uint32_t i = 0; i < chunk; i++)
		buf_put_u8(&b, 'x');
	for (uint32_t sent = 0; sent < 3 * 1024 * 1024 && carrier_err(p.server.carrier)->code == 0; sent += chunk) {
		IGNORE_RESULT(transport_send(p.client.transport, MSG_CHANNEL_DATA, &b));
		carrier_kick(p.client.carrier);
		assert_int_equal(loop_turn(p.loop, 10, NULL), 0);
	}
	while (carrier_err(p.server.carrier)->code == 0)
		assert_int_equal(loop_turn(p.loop, 1000, NULL), 0);
	assert_non_null(strstr(err_text(carrier_err(p.server.carrier)), "more than its window"));
	buf_free(&b);
	peers_stop(&p);
}

static void test_vanishing_peer_tells_everybody(void **state)
{
	struct peers p = { 0 };
	struct talker client = { .to_send = 1 << 30 }, server = { .stalled = true };

	talk(&p, &client, &server);
	peers_run_until(&p, &client.opened);
	shutdown(p.server.fd, SHUT_RDWR);
	peers_run_until(&p, &client.closed);
	assert_int_equal(channels_count(p.client.channels), 0);
	peers_stop(&p);
}

/* What came to fd by the time of a line feed. */
static void read_line(struct peers *p, int fd, char *line, size_t room)
{
	size_t n = 0;
	bool whole = false;

	assert_return_code(fcntl(fd, F_SETFL, O_NONBLOCK), errno);
	for (int i = 0; i < 1000 && !whole; i++) {
		ssize_t got;

		assert_int_equal(loop_turn(p->loop, 10, NULL), 0);
		got = read(fd, line + n, room - 1 - n);
		n += got > 0 ? (size_t)got : 0;
		whole = n > 0 && line[n - 1] == '\n';
	}
	line[n] = '\0';
}

/* CVE-2019-6110: a hostile server's stderr on the terminal of a copy. */
static void test_stderr_of_a_link_cannot_steer_a_terminal(void **state)
{
	static const char evil[] = "\033[2K\rYour key has expired. Password: \007\233A\n";
	struct peers p = { 0 };
	struct talker client = { 0 }, server = { 0 };
	struct pty pty;
	char line[256];
	int fds[2];

	talk(&p, &client, &server);
	peers_run_until(&p, &client.opened);
	server.link->user.writable = NULL;       /* it would end the data */
	assert_int_equal(pty_open(&pty, NULL), 0);
	(void)channel_link(client.channel, pty.slave);
	channel_write_stderr(server.channel, evil, sizeof(evil) - 1);
	read_line(&p, pty.master, line, sizeof(line));
	assert_string_equal(line, "\\033[2K\\015Your key has expired. Password: \\007\\233A\r\n");
	/* What goes to a file or a program is not ours to change. */
	assert_return_code(pipe(fds), errno);
	(void)channel_link(client.channel, fds[1]);
	channel_write_stderr(server.channel, evil, sizeof(evil) - 1);
	read_line(&p, fds[0], line, sizeof(line));
	assert_string_equal(line, evil);
	pty_close(&pty);
	close(fds[0]);
	close(fds[1]);
	peers_stop(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link_both_ways), cmocka_unit_test(test_stderr_of_a_link_cannot_steer_a_terminal), cmocka_unit_test(test_link_small_bites), cmocka_unit_test(test_link_nothing),
		cmocka_unit_test(test_rekeying_under_load), cmocka_unit_test(test_stalled_reader_stops_the_sender),
		cmocka_unit_test(test_refused_open), cmocka_unit_test(test_pump_and_requests),
		cmocka_unit_test(test_eof_goes_through_a_pump), cmocka_unit_test(test_close_is_held_for_the_status),
		cmocka_unit_test(test_broken_rules),
		cmocka_unit_test(test_late_window_adjust),
		cmocka_unit_test(test_more_than_the_window), cmocka_unit_test(test_vanishing_peer_tells_everybody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
