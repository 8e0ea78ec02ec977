/* regress/unit/xfer/test_stripe_need.c: uploads over simulated paths: when more channels would help, and when not. */
#include "xfer/stripe_need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* A path: the line takes rate bytes a ms, the receiver consumes `consumes` a ms, and the window is what may be under way. */
struct path { uint32_t rtt_ms; uint64_t rate, window, consumes; };

/* When the arithmetic says that more windows would help, in ms; -1: never in ten seconds. */
static long asked_at(const struct path *p)
{
	struct stripe_need n = { 0 };
	uint64_t sent = 0, arrived[20000] = { 0 }, consumed = 0, answered[20000] = { 0 };
	uint64_t done[20000] = { 0 };

	for (uint32_t t = 1; t < 10000; t++) {
		uint64_t now_us = 1000000 + t * 1000ull, there = t > p->rtt_ms / 2 ? arrived[t - p->rtt_ms / 2] : 0, room;

		/* the receiver */
		consumed = there < consumed + p->consumes ? there : consumed + p->consumes;
		done[t] = consumed;
		/* answers and room come back */
		answered[t] = t > p->rtt_ms - p->rtt_ms / 2 ? done[t - (p->rtt_ms - p->rtt_ms / 2)] : 0;
		stripe_need_answered(&n, answered[t] - answered[t - 1]);
		room = answered[t] + p->window - sent;
		/* the sender: no more than the line takes, which keeps its queue short */
		if (room == 0)
			stripe_need_blocked(&n, now_us);
		else {
			uint64_t now = room < p->rate ? room : p->rate;

			sent += now;
			stripe_need_sent(&n, now_us, now);
			if (room < p->rate)
				stripe_need_blocked(&n, now_us);
		}
		arrived[t] = sent;
		if (stripe_need_more(&n, now_us, p->rtt_ms * 1000))
			return t;
	}
	return -1;
}

static void test_where_the_window_holds(void **state)
{
	static const struct path paths[] = {
		{ 100, 125000, 2097152, 1000000 },       /* 1 Gbit/s, 100 ms, OpenSSH's window */
		{ 20, 1250000, 2097152, 5000000 },
		{ 10, 1250000, 2097152, 5000000 },
		{ 200, 125000, 2097152, 125000 },
		{ 50, 12500, 24576, 1000000 },           /* dropbear's */
	};

	(void)state;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		long at = asked_at(&paths[i]);

		assert_true(at > 0);
		assert_true(at <= 4 * (long)paths[i].rtt_ms);
	}
}

static void test_where_something_else_does(void **state)
{
	static const struct path paths[] = {
		{ 100, 12500, 2097152, 1000000 },        /* the line: 100 Mbit/s needs 1.25 MB */
		{ 100, 125000, 16777216, 1000000 },      /* the line, with windows for it */
		{ 2, 1250000, 2097152, 5000000 },        /* near */
		{ 4, 5000000, 2097152, 5000000 },
		{ 20, 1250000, 2097152, 20000 },         /* the receiver's disk: 20 MB/s */
		{ 100, 125000, 2097152, 5000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		assert_int_equal(asked_at(&paths[i]), -1);
}

static void test_unknown_path(void **state)
{
	struct stripe_need n = { 0 };

	(void)state;
	assert_false(stripe_need_more(&n, 1000000, 0));
	stripe_need_blocked(&n, 1000000);
	assert_false(stripe_need_more(&n, 9000000, 100000));
	stripe_need_sent(&n, 9000000, 1);
	stripe_need_blocked(&n, 9000000);
	stripe_need_answered(&n, 1);
	assert_false(stripe_need_more(&n, 9100000, 0));
	assert_true(stripe_need_more(&n, 9100000, 100000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_where_the_window_holds),
		cmocka_unit_test(test_where_something_else_does),
		cmocka_unit_test(test_unknown_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
