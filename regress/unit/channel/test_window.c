/* Windows as arithmetic, and a simulated link that they have to fill. */
#include "channel/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { KB = 1024, MB = 1024 * 1024, PACKET = 32 * KB };

static void test_first_grant_opens_it(void **state)
{
	struct window w;

	window_init(&w, 2 * MB, 128 * MB, PACKET);
	assert_int_equal(w.left, 0);
	assert_int_equal(window_grant(&w), 2 * MB);
	assert_int_equal(window_grant(&w), 0);
}

static void test_nothing_is_given_back_before_it_is_consumed(void **state)
{
	struct window w;

	window_init(&w, 1 * MB, 1 * MB, PACKET);
	window_grant(&w);
	assert_true(window_received(&w, 1 * MB));
	assert_int_equal(window_grant(&w), 0);
	window_consumed(&w, 512 * KB, 1000, 1000);
	assert_int_equal(window_grant(&w), 512 * KB);
	assert_int_equal(w.left + w.unconsumed, 1 * MB);
}

static void test_small_change_is_not_worth_a_packet(void **state)
{
	struct window w;

	window_init(&w, 2 * MB, 2 * MB, PACKET);
	window_grant(&w);
	assert_true(window_received(&w, 1000));
	window_consumed(&w, 1000, 1000, 1000);
	assert_int_equal(window_grant(&w), 0);
	assert_true(window_received(&w, 128 * KB));
	window_consumed(&w, 128 * KB, 2000, 1000);
	assert_int_equal(window_grant(&w), 128 * KB + 1000);
}

static void test_overrun_is_tolerated_to_a_tenth(void **state)
{
	struct window w;

	window_init(&w, 1000 * KB, 1000 * KB, PACKET);
	window_grant(&w);
	assert_true(window_received(&w, 1000 * KB));
	assert_true(window_received(&w, 100 * KB));
	assert_false(window_received(&w, 1));
}

static void test_fixed_window_never_grows(void **state)
{
	struct window w;
	uint64_t now = 1;

	window_init(&w, 1 * MB, 128 * MB, PACKET);
	w.fixed = true;
	window_grant(&w);
	for (int i = 0; i < 1000; i++) {
		uint32_t n = w.left;

		assert_true(window_received(&w, n));
		assert_int_equal(window_consumed(&w, n, now += 10000, 10000), 0);
		window_grant(&w);
	}
	assert_int_equal(w.size, 1 * MB);
}

/* A sender that sends whatever it may, a line of `rate` bytes a second and `rtt_us`, a sink of `sink` bytes a second.
 * Steps of a twentieth of a round trip. Returns bytes a second moved in the last quarter. */
struct line { uint64_t rate, sink; uint32_t rtt_us; double seconds; };

static double simulate(struct window *w, const struct line *l)
{
	enum { STEPS = 20 };
	uint64_t in_flight[STEPS] = { 0 }, grants[STEPS] = { 0 };
	double step_s = (double)l->rtt_us / STEPS / 1e6, room = 0, sink_room = 0, moved = 0, tail = 0;
	uint64_t sender_left = 0, steps = (uint64_t)(l->seconds / step_s);

	grants[0] = window_grant(w);
	for (uint64_t i = 0; i < steps; i++) {
		size_t half = (i + STEPS / 2) % STEPS, now = i % STEPS;
		uint64_t n, take;
		uint32_t grant;

		sender_left += grants[now];
		grants[now] = 0;
		room = room > (double)l->rate ? (double)l->rate : room + (double)l->rate * step_s;
		n = sender_left < (uint64_t)room ? sender_left : (uint64_t)room;
		room = (double)n == room ? 0 : room - (double)n;
		if (room > (double)l->rate * step_s)
			room = (double)l->rate * step_s;
		sender_left -= n;
		in_flight[half] += n;
		assert_true(window_received(w, (uint32_t)in_flight[now]));
		in_flight[now] = 0;
		sink_room += (double)l->sink * step_s;
		take = w->unconsumed < (uint64_t)sink_room ? w->unconsumed : (uint64_t)sink_room;
		sink_room = take == w->unconsumed ? 0 : sink_room - (double)take;
		window_consumed(w, (uint32_t)take, (uint64_t)((double)i * step_s * 1e6) + 1, l->rtt_us);
		grant = window_grant(w);
		grants[half] += grant;
		assert_true((uint64_t)w->left + w->unconsumed <= w->size);
		moved += (double)take;
		if (i >= steps - steps / 4)
			tail += (double)take;
	}
	return tail / ((double)(steps / 4) * step_s);
}

static void test_fills_lines(void **state)
{
	static const double mbit[] = { 1, 10, 100, 1000, 10000 };
	static const uint32_t rtt_ms[] = { 1, 10, 50, 100, 200, 500 };

	for (size_t i = 0; i < sizeof mbit / sizeof mbit[0]; i++)
		for (size_t j = 0; j < sizeof rtt_ms / sizeof rtt_ms[0]; j++) {
			struct line l = { .rate = (uint64_t)(mbit[i] * 125000), .sink = UINT64_C(100000000000),
				.rtt_us = rtt_ms[j] * 1000, .seconds = 60.0 * rtt_ms[j] / 1000 };
			double bdp = (double)l.rate * l.rtt_us / 1e6, got, most = (double)l.rate;
			struct window w;

			window_init(&w, WINDOW_DEFAULT, WINDOW_CAP, PACKET);
			got = simulate(&w, &l);
			if (bdp > WINDOW_CAP)
				most = (double)WINDOW_CAP * 1e6 / l.rtt_us;
			if (got < 0.85 * most)
				print_message("%g Mbit/s at %u ms: %.0f of %.0f bytes/s, window %u\n", mbit[i], rtt_ms[j], got,
					most, w.size);
			assert_true(got >= 0.85 * most);
			/* and not far beyond what it needs */
			assert_true(w.size <= WINDOW_DEFAULT || (double)w.size <= 4.5 * bdp + PACKET);
		}
}

static void test_slow_sink_holds_the_window(void **state)
{
	struct line l = { .rate = 125000000, .sink = 1000000, .rtt_us = 100000, .seconds = 20 };
	struct window w;
	double got;

	window_init(&w, WINDOW_DEFAULT, WINDOW_CAP, PACKET);
	got = simulate(&w, &l);
	assert_true(w.size == WINDOW_DEFAULT);
	assert_true(got > 900000);
}

static void test_stalled_sink_stops_the_sender(void **state)
{
	struct line l = { .rate = 125000000, .sink = 0, .rtt_us = 100000, .seconds = 20 };
	struct window w;

	window_init(&w, WINDOW_DEFAULT, WINDOW_CAP, PACKET);
	assert_true(simulate(&w, &l) == 0);
	assert_int_equal(w.unconsumed, WINDOW_DEFAULT);
}

static void test_cap_holds(void **state)
{
	struct line l = { .rate = 1250000000, .sink = UINT64_C(100000000000), .rtt_us = 100000, .seconds = 20 };
	struct window w;

	window_init(&w, WINDOW_DEFAULT, WINDOW_CAP_STOCK, PACKET);
	simulate(&w, &l);
	assert_int_equal(w.size, WINDOW_CAP_STOCK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_grant_opens_it),
		cmocka_unit_test(test_nothing_is_given_back_before_it_is_consumed),
		cmocka_unit_test(test_small_change_is_not_worth_a_packet),
		cmocka_unit_test(test_overrun_is_tolerated_to_a_tenth),
		cmocka_unit_test(test_fixed_window_never_grows),
		cmocka_unit_test(test_fills_lines),
		cmocka_unit_test(test_slow_sink_holds_the_window),
		cmocka_unit_test(test_stalled_sink_stops_the_sender),
		cmocka_unit_test(test_cap_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
