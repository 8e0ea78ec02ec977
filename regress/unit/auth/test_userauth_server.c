/* The server's wire side of authentication, over two engines that talk: verdicts become the right messages in the right order, and
 * what comes out of turn gets no verdict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "auth/userauth_msg.h"
#include "auth/userauth_server.h"
#include "regress/unit/engine/pair.c"

static struct pair *p;
static struct userauth_server *server;
static struct userauth_verdict next_verdict;
static int judge_rc, last_rc;
static unsigned requests, answers, abandons;
static struct buf last_seen;
static char order[64];           /* first letters of what the client got */

static int take(int rc, struct userauth_verdict *out, struct err *e)
{
	*out = next_verdict;
	return rc < 0 ? err_set(e, rc, "no verdict") : rc;
}

static int on_request(void *ctx, struct view body, struct userauth_verdict *out, struct err *e)
{
	(void)ctx;
	requests++;
	buf_reset(&last_seen);
	buf_put(&last_seen, body.p, body.n);
	return take(judge_rc, out, e);
}

static int on_answers(void *ctx, struct view body, struct userauth_verdict *out, struct err *e)
{
	(void)ctx;
	answers++;
	buf_reset(&last_seen);
	buf_put(&last_seen, body.p, body.n);
	return take(judge_rc, out, e);
}

static int on_abandon(void *ctx, struct userauth_verdict *out, struct err *e)
{
	(void)ctx;
	abandons++;
	return take(judge_rc, out, e);
}

static void server_message(struct pair_end *end, const struct message *m)
{
	struct err e = { 0 };

	(void)end;
	last_rc = userauth_server_message(server, m, &e);
}

static void client_message(struct pair_end *end, const struct message *m)
{
	static const char letters[] = { [MSG_SERVICE_ACCEPT] = 'a', [MSG_USERAUTH_FAILURE] = 'f', [MSG_USERAUTH_SUCCESS] = 's',
		[MSG_USERAUTH_BANNER] = 'b', [60] = 'q' };
	char one[2] = { m->type < sizeof(letters) && letters[m->type] ? letters[m->type] : '?', 0 };

	(void)end;
	strncat(order, one, sizeof(order) - strlen(order) - 1);
}

static int setup(void **state)
{
	const struct userauth_judge judge = { NULL, on_request, on_answers, on_abandon };

	(void)state;
	p = mem_zalloc(sizeof(*p));
	pair_init(p, "ssh-ed25519");
	pair_handshake(p);
	server = userauth_server_new(p->end[PAIR_SERVER].t, &judge);
	p->end[PAIR_SERVER].on_message = server_message;
	p->end[PAIR_CLIENT].on_message = client_message;
	requests = answers = abandons = 0;
	judge_rc = last_rc = 0;
	order[0] = '\0';
	last_seen = BUF_INIT(65536);
	next_verdict = (struct userauth_verdict){ .kind = USERAUTH_REFUSED, .methods = "publickey,password" };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	userauth_server_free(server);
	pair_close(p);
	buf_free(&last_seen);
	free(p);
	return 0;
}

static void send_body(uint8_t type, struct buf *b)
{
	assert_int_equal(transport_send(p->end[PAIR_CLIENT].t, type, b), 0);
	buf_free(b);
	pair_run(p);
}

static void ask_service(const char *name)
{
	struct buf b = BUF_INIT(256);

	userauth_service_put(&b, name);
	send_body(MSG_SERVICE_REQUEST, &b);
}

static struct view text(const char *s)
{
	return (struct view){ (const uint8_t *)s, strlen(s) };
}

static void ask(enum userauth_kind kind)
{
	struct userauth_request q = { .kind = kind, .user = text("ada"), .service = text("ssh-connection"),
		.alg = text("ssh-ed25519"), .key_blob = text("BLOB"), .password = text("secret") };
	struct buf b = BUF_INIT(4096);

	userauth_request_put(&b, &q);
	send_body(MSG_USERAUTH_REQUEST, &b);
}

static struct reader last_of_client(void)
{
	struct reader r;

	reader_init(&r, p->end[PAIR_CLIENT].last_body.data, p->end[PAIR_CLIENT].last_body.size);
	return r;
}

static void test_refused(void **state)
{
	struct userauth_failure f;
	struct reader r;

	(void)state;
	ask_service("ssh-userauth");
	next_verdict.banner = "hello\n";
	next_verdict.partial = true;
	ask(USERAUTH_NONE);
	assert_string_equal(order, "abf");               /* the banner first */
	assert_int_equal(requests, 1);
	r = last_of_client();
	assert_int_equal(userauth_failure_get(&r, &f, NULL), 0);
	assert_true(view_is(f.methods, "publickey,password") && f.partial);
	next_verdict.banner = NULL;
	ask(USERAUTH_PASSWORD);
	assert_string_equal(order, "abff");
}

static void test_key_ok(void **state)
{
	struct view alg, blob;
	struct reader r;

	(void)state;
	ask_service("ssh-userauth");
	next_verdict.kind = USERAUTH_KEY_OK;
	ask(USERAUTH_PUBLICKEY);
	assert_string_equal(order, "aq");
	r = last_of_client();
	assert_int_equal(userauth_pk_ok_get(&r, &alg, &blob, NULL), 0);
	assert_true(view_is(alg, "ssh-ed25519") && view_is(blob, "BLOB"));
}

static void test_accepted(void **state)
{
	(void)state;
	ask_service("ssh-userauth");
	next_verdict.kind = USERAUTH_ACCEPTED;
	ask(USERAUTH_PASSWORD);
	assert_string_equal(order, "as");
	assert_int_equal(last_rc, 1);
	assert_true(transport_authenticated(p->end[PAIR_SERVER].t));
	/* the judge saw the request as it was */
	assert_non_null(memmem(last_seen.data, last_seen.size, "secret", 6));
}

static void test_questions(void **state)
{
	struct userauth_info_response a = { .count = 1, .answer = { text("42") } };
	struct userauth_info_request q = { .count = 1, .prompt = { { text("? "), false } } }, got;
	struct buf body = BUF_INIT(4096), b = BUF_INIT(4096);
	struct reader r;

	(void)state;
	ask_service("ssh-userauth");
	userauth_info_request_put(&body, &q);
	next_verdict.kind = USERAUTH_QUESTION;
	next_verdict.question = (struct view){ body.data, body.size };
	ask(USERAUTH_KBDINT);
	r = last_of_client();
	assert_int_equal(userauth_info_request_get(&r, &got, NULL), 0);
	assert_true(view_is(got.prompt[0].text, "? "));
	/* one more round */
	userauth_info_response_put(&b, &a);
	send_body(MSG_USERAUTH_INFO_RESPONSE, &b);
	assert_int_equal(answers, 1);
	assert_string_equal(order, "aqq");
	/* another request instead of an answer */
	next_verdict = (struct userauth_verdict){ .kind = USERAUTH_REFUSED, .methods = "password" };
	ask(USERAUTH_PASSWORD);
	assert_int_equal(abandons, 1);
	assert_string_equal(order, "aqqf");              /* one answer for one request */
	/* an answer that nobody waits for gets no verdict */
	userauth_info_response_put(&b, &a);
	send_body(MSG_USERAUTH_INFO_RESPONSE, &b);
	assert_int_equal(answers, 1);
	assert_string_equal(order, "aqqf");
	buf_free(&body);
}

/* Questions that are dropped again and again: the judge may end it, and the request that dropped one is not looked at. */
static void test_questions_dropped(void **state)
{
	struct userauth_info_request q = { .count = 1, .prompt = { { text("? "), false } } };
	struct buf body = BUF_INIT(4096);

	(void)state;
	ask_service("ssh-userauth");
	userauth_info_request_put(&body, &q);
	next_verdict.kind = USERAUTH_QUESTION;
	next_verdict.question = (struct view){ body.data, body.size };
	ask(USERAUTH_KBDINT);
	next_verdict = (struct userauth_verdict){ .kind = USERAUTH_DISCONNECT, .reason = 2, .text = "Too many" };
	ask(USERAUTH_PASSWORD);
	assert_int_equal(abandons, 1);
	assert_int_equal(requests, 1);
	assert_true(last_rc < 0);
	assert_true(userauth_server_dismissed(server));
	buf_free(&body);
}

static void test_disconnect(void **state)
{
	(void)state;
	ask_service("ssh-userauth");
	next_verdict = (struct userauth_verdict){ .kind = USERAUTH_DISCONNECT, .reason = 2, .text = "Too many" };
	ask(USERAUTH_NONE);
	assert_true(last_rc < 0);
	assert_true(userauth_server_dismissed(server));
	assert_int_equal(transport_disconnect_reason(p->end[PAIR_CLIENT].t), 2);
	assert_string_equal(transport_disconnect_text(p->end[PAIR_CLIENT].t), "Too many");
}

static void test_out_of_turn(void **state)
{
	(void)state;
	ask(USERAUTH_NONE);                              /* before the service */
	assert_int_equal(requests, 0);
	assert_string_equal(order, "");
	pair_say(&p->end[PAIR_CLIENT], MSG_CHANNEL_OPEN, "session");
	pair_run(p);
	assert_int_equal(requests, 0);
	ask_service("ssh-userauth");
	pair_say(&p->end[PAIR_CLIENT], MSG_CHANNEL_OPEN, "session");
	pair_run(p);
	assert_int_equal(last_rc, 0);
	ask(USERAUTH_NONE);
	assert_int_equal(requests, 1);                   /* and the connection goes on */
}

static void test_other_service(void **state)
{
	(void)state;
	ask_service("ssh-connection");
	assert_true(last_rc < 0);
	assert_int_equal(transport_disconnect_reason(p->end[PAIR_CLIENT].t), DISCONNECT_SERVICE_NOT_AVAILABLE);
}

static void test_malformed(void **state)
{
	struct buf b = BUF_INIT(64);

	(void)state;
	ask_service("ssh-userauth");
	buf_put_cstring(&b, "ada");
	send_body(MSG_USERAUTH_REQUEST, &b);
	assert_true(last_rc < 0);
	assert_int_equal(requests, 0);
	assert_int_equal(transport_disconnect_reason(p->end[PAIR_CLIENT].t), DISCONNECT_PROTOCOL_ERROR);
}

static void test_no_verdict(void **state)
{
	(void)state;
	ask_service("ssh-userauth");
	judge_rc = ERR_CLOSED;                           /* the monitor has gone */
	next_verdict.kind = USERAUTH_ACCEPTED;
	ask(USERAUTH_NONE);
	assert_true(last_rc < 0);
	assert_string_equal(order, "a");
	assert_false(transport_authenticated(p->end[PAIR_SERVER].t));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_refused), T(test_key_ok), T(test_accepted), T(test_questions),
		T(test_questions_dropped), T(test_disconnect), T(test_out_of_turn),
		T(test_other_service), T(test_malformed), T(test_no_verdict),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
