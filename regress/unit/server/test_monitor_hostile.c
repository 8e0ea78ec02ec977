/* A hostile pre-auth process against a real monitor: messages out of turn, repeated, forged, of wrong sizes, after the verdict.
 * Each of them ends the connection, and nothing is opened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/log.h"
#include "base/mem.h"
#include "monitor_world.h"
#include "server/monitor_table.h"
#include "server/monitor_wire.h"

static struct world *w;

static int setup(void **state)
{
	(void)state;
	w = mem_zalloc(sizeof(*w));
	world_open(w, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	world_close(w);
	free(w);
	return 0;
}

/* ---- bringing a monitor into a state */

static const struct world_request none = { .kind = USERAUTH_NONE };

static struct world_request honest(void)
{
	return (struct world_request){ .kind = USERAUTH_PUBLICKEY, .key = w->user_key, .sign_with = w->user_key };
}

static void reach(enum mon_state state)
{
	struct world_request q = honest();
	struct buf b = BUF_INIT(64);

	world_start(w);
	if (state == MON_AT_KEX)
		return;
	if (state == MON_AT_OVER) {
		buf_put_u8(&b, MON_END_CLOSED);
		buf_put_u32(&b, 0);
		buf_put_cstring(&b, "");
		world_send(w, MON_END, &b);
		buf_free(&b);
		return;
	}
	assert_true(world_sign(w));
	assert_int_equal(world_auth(w, &none), MON_NO);
	if (state == MON_AT_ACCEPTED)
		assert_int_equal(world_auth(w, &q), MON_YES);
}

static void assert_ended(const char *what)
{
	struct buf b = BUF_INIT(1 << 20);
	uint8_t type = world_receive(w, &b);
	int code;

	buf_free(&b);
	code = world_end(w);
	if (type != 0 || code != WORLD_BROKEN)
		fail_msg("%s: answered with %u, exit %d", what, type, code);
}

/* Nothing this process says from here on may open a session. */
static void assert_not_let_in(void)
{
	struct buf b = BUF_INIT(64);

	buf_put_cstring(&b, "blob");
	world_send(w, MON_HANDOFF, &b);
	buf_free(&b);
	assert_ended("hand-off without a verdict");
}

/* ---- the honest way, so that the rest means something */

static void test_honest(void **state)
{
	struct world_request q = honest(), ask = { .kind = USERAUTH_PUBLICKEY, .key = w->user_key };
	struct buf b = BUF_INIT(64);

	(void)state;
	for (int hostbound = 0; hostbound < 2; hostbound++) {
		reach(MON_AT_AUTH);
		assert_int_equal(world_auth(w, &ask), MON_KEY_OK);
		q.kind = hostbound ? USERAUTH_HOSTBOUND : USERAUTH_PUBLICKEY;
		assert_int_equal(world_auth(w, &q), MON_YES);
		buf_put_cstring(&b, "blob");
		world_send(w, MON_HANDOFF, &b);
		assert_int_equal(world_end(w), WORLD_LET_IN);
		assert_non_null(strstr(world_log(w), "Accepted publickey for "));
		buf_reset(&b);
	}
	buf_free(&b);
	/* going away is no crime */
	reach(MON_AT_AUTH);
	assert_int_equal(world_end(w), WORLD_ENDED);
}

/* ---- out of turn: every type in every state, except what is permitted there */

static bool permitted(unsigned type, enum mon_state s)
{
	switch (type) {
	case MON_LOG: return true;
	case MON_END: return s != MON_AT_OVER;
	case MON_SIGN: return s == MON_AT_KEX;
	case MON_AUTH: return s == MON_AT_AUTH;
	case MON_HANDOFF: return s == MON_AT_ACCEPTED;
	default: return false;
	}
}

static void test_out_of_turn(void **state)
{
	static const enum mon_state states[] = { MON_AT_KEX, MON_AT_AUTH, MON_AT_ACCEPTED, MON_AT_OVER };

	(void)state;
	for (size_t s = 0; s < MEM_COUNT(states); s++)
		for (unsigned type = 0; type < 90; type++) {
			struct buf b = BUF_INIT(64);
			char *what;

			if (permitted(type, states[s]))
				continue;
			reach(states[s]);
			buf_put_u32(&b, 0);
			world_send(w, (uint8_t)type, type == MON_ABORT ? NULL : &b);
			buf_free(&b);
			what = str_printf("type %u at %s", type, mon_state_name(states[s]));
			assert_ended(what);
			free(what);
		}
}

static void test_repeated(void **state)
{
	struct buf b = BUF_INIT(4096);

	(void)state;
	reach(MON_AT_AUTH);
	world_put_sign(w, &b, w->host_key, w->hash, sizeof(w->hash));
	world_send(w, MON_SIGN, &b);     /* a second signature before authentication */
	assert_ended("second signature");
	buf_free(&b);
}

/* ---- signatures for other purposes */

static void test_sign_other_things(void **state)
{
	static const size_t sizes[] = { 0, 1, 16, 19, 31, 33, 63, 65, 100, 1000 };
	uint8_t data[1000] = { 0 };
	struct buf b = BUF_INIT(8192);
	struct view blob = key_blob(w->host_key);

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(sizes); i++) {
		buf_reset(&b);
		world_start(w);
		world_put_sign(w, &b, w->host_key, data, sizes[i]);
		world_send(w, MON_SIGN, &b);
		assert_ended("a hash of another size");
	}
	buf_reset(&b);
	world_start(w);
	world_put_sign(w, &b, w->other_host_key, data, 32);
	world_send(w, MON_SIGN, &b);
	assert_ended("a key that is not ours");
	buf_reset(&b);
	world_start(w);
	buf_put_cstring(&b, "rsa-sha2-512");
	buf_put_string(&b, blob.p, blob.n);
	buf_put_string(&b, data, 32);
	world_send(w, MON_SIGN, &b);
	assert_ended("an algorithm that does not fit");
	buf_put_u8(&b, 0);
	world_start(w);
	world_send(w, MON_SIGN, &b);
	assert_ended("bytes too many");
	buf_free(&b);
}

/* ---- forged requests */

static void test_forged(void **state)
{
	uint8_t other_id[32] = { 1 };
	struct world_request cases[] = {
		{ .kind = USERAUTH_PUBLICKEY, .key = w->user_key, .sign_with = w->other_key },
		{ .kind = USERAUTH_PUBLICKEY, .key = w->other_key, .sign_with = w->other_key },
		{ .kind = USERAUTH_PUBLICKEY, .key = w->user_key, .sign_with = w->user_key, .session_id = other_id },
		{ .kind = USERAUTH_HOSTBOUND, .key = w->user_key, .sign_with = w->other_key },
		{ .kind = USERAUTH_NONE },
		{ .kind = USERAUTH_PASSWORD, .password = "" },
		{ .kind = USERAUTH_PASSWORD, .password = "guess" },
		{ .kind = USERAUTH_KBDINT },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		reach(MON_AT_AUTH);
		assert_int_equal(world_auth(w, &cases[i]), MON_NO);
		assert_not_let_in();
	}
}

/* A signature made for one user, kind or key does not count for another. */
static void test_signature_moved(void **state)
{
	struct world_request q = honest();
	struct buf b = BUF_INIT(16384);

	(void)state;
	reach(MON_AT_AUTH);
	world_put_auth(w, &b, &q);
	b.data[b.size - 1] ^= 1;         /* in the signature */
	world_send(w, MON_AUTH, &b);
	assert_int_equal(world_verdict(w), MON_NO);
	assert_not_let_in();
	/* all of the request in turn: whatever bit is changed, it is not let in */
	for (size_t at = 0; at < b.size; at += 7) {
		enum mon_verdict_kind v;
		int code;

		buf_reset(&b);
		reach(MON_AT_AUTH);
		world_put_auth(w, &b, &q);
		b.data[at] ^= 1;
		world_send(w, MON_AUTH, &b);
		v = world_verdict(w);
		if (v == MON_YES)
			fail_msg("byte %zu changed, and let in", at);
		code = world_end(w);
		assert_int_not_equal(code, WORLD_LET_IN);
	}
	buf_free(&b);
}

/* The peer, not the process in between, may have meant another server: it is refused like any other that does not fit. */
static void test_wrong_host_key(void **state)
{
	struct world_request q = { .kind = USERAUTH_HOSTBOUND, .key = w->user_key, .sign_with = w->user_key,
		.host_key = w->other_host_key };

	(void)state;
	reach(MON_AT_AUTH);
	assert_int_equal(world_auth(w, &q), MON_NO);
	assert_not_let_in();
	assert_non_null(strstr(world_log(w), "bound to another host key"));
}

static void test_other_user(void **state)
{
	struct world_request q = honest();

	(void)state;
	reach(MON_AT_AUTH);
	q.user = "somebody-else";
	assert_int_equal(world_auth(w, &q), MON_DISCONNECT);
	assert_not_let_in();
	assert_non_null(strstr(world_log(w), "Change of username or service not allowed"));
	/* a user that does not exist */
	world_start(w);
	assert_true(world_sign(w));
	assert_int_equal(world_auth(w, &q), MON_NO);
	assert_not_let_in();
	assert_non_null(strstr(world_log(w), "Invalid user somebody-else"));
}

static void test_too_many(void **state)
{
	struct world_request q = { .kind = USERAUTH_PUBLICKEY, .key = w->other_key, .sign_with = w->other_key };
	struct buf b = BUF_INIT(16384);

	(void)state;
	reach(MON_AT_AUTH);
	for (int i = 0; i < 5; i++)
		assert_int_equal(world_auth(w, &q), MON_NO);
	assert_int_equal(world_auth(w, &q), MON_DISCONNECT);
	q = honest();
	world_put_auth(w, &b, &q);
	world_send(w, MON_AUTH, &b);     /* even the right key comes too late */
	buf_free(&b);
	assert_ended("a request after the last verdict");
	assert_non_null(strstr(world_log(w), "maximum authentication attempts exceeded"));
}

/* ---- wrong sizes */

static void test_sizes(void **state)
{
	static const uint8_t huge[] = { 0xff, 0xff, 0xff, 0xff, MON_SIGN };
	static const uint8_t over[] = { 0, 0, 0x60, 0, MON_SIGN };
	static const uint8_t cut[] = { 0, 0, 0, 100, MON_SIGN, 1, 2, 3 };
	uint8_t head[MON_HEADER_SIZE];

	(void)state;
	world_start(w);
	assert_int_equal(write(w->fd, huge, sizeof(huge)), sizeof(huge));
	assert_ended("4 GiB");
	world_start(w);
	assert_int_equal(write(w->fd, over, sizeof(over)), sizeof(over));
	assert_ended("more than this request may have");
	world_start(w);
	assert_int_equal(write(w->fd, cut, sizeof(cut)), sizeof(cut));
	assert_int_equal(world_end(w), WORLD_BROKEN);
	world_start(w);
	assert_int_equal(write(w->fd, cut, 3), 3);
	assert_int_equal(world_end(w), WORLD_BROKEN);
	for (unsigned type = 0; type < 16; type++) {     /* the largest of every type in the first state */
		world_start(w);
		wire_store_u32(head, MON_BODY_MAX + 1);
		head[4] = (uint8_t)type;
		assert_int_equal(write(w->fd, head, sizeof(head)), sizeof(head));
		assert_ended("too large");
	}
	reach(MON_AT_ACCEPTED);
	world_send(w, MON_HANDOFF, NULL);
	assert_ended("an empty hand-off");
}

/* ---- log lines are data */

static void test_log(void **state)
{
	static const char evil[] = "fine\nNov 30 sshd[1]: Accepted password for root\033[2J\200";
	struct buf b = BUF_INIT(8192);
	const char *log;
	char *long_text = mem_zalloc(5000);

	(void)state;
	reach(MON_AT_AUTH);
	buf_put_u8(&b, LOG_LEVEL_INFO);
	buf_put_string(&b, evil, sizeof(evil) - 1);
	world_send(w, MON_LOG, &b);
	memset(long_text, 'x', 4999);
	buf_reset(&b);
	buf_put_u8(&b, LOG_LEVEL_INFO);
	buf_put_cstring(&b, long_text);
	for (int i = 0; i < 200; i++)    /* a megabyte */
		world_send(w, MON_LOG, &b);
	assert_int_equal(world_auth(w, &none), MON_NO);
	assert_int_equal(world_end(w), WORLD_ENDED);
	log = world_log(w);
	assert_non_null(strstr(log, "fine?Nov 30 sshd[1]: Accepted password for root?[2J? [preauth]"));
	assert_null(strchr(log, '\033'));
	assert_true(strlen(log) < 512 * 1024);
	assert_non_null(strstr(log, "are left out [preauth]"));

	for (int level = 0; level < 2; level++) {
		world_start(w);
		buf_reset(&b);
		buf_put_u8(&b, level == 0 ? 0 : 200);
		buf_put_cstring(&b, "x");
		world_send(w, MON_LOG, &b);
		assert_ended("a level that is none");
	}
	buf_free(&b);
	free(long_text);
}

static void test_end(void **state)
{
	struct buf b = BUF_INIT(64);

	(void)state;
	reach(MON_AT_AUTH);
	buf_put_u8(&b, MON_END_COUNT);
	buf_put_u32(&b, 0);
	buf_put_cstring(&b, "");
	world_send(w, MON_END, &b);
	assert_ended("an end of no kind");
	reach(MON_AT_ACCEPTED);
	b.data[0] = MON_END_CLOSED;
	world_send(w, MON_END, &b);
	assert_not_let_in();             /* the connection ended before the hand-off */
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_honest), cmocka_unit_test(test_out_of_turn), cmocka_unit_test(test_repeated),
		cmocka_unit_test(test_sign_other_things), cmocka_unit_test(test_forged),
		cmocka_unit_test(test_signature_moved), cmocka_unit_test(test_wrong_host_key), cmocka_unit_test(test_other_user),
		cmocka_unit_test(test_too_many), cmocka_unit_test(test_sizes), cmocka_unit_test(test_log),
		cmocka_unit_test(test_end),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
