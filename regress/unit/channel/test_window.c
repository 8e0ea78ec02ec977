/* Windows as arithmetic, and a simulated link that they have to fill. */
#include "channel/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { KB = 1024, MB = 1024 * 1024, PACKET = 32 * KB };

static const struct window_path ms1 = { 1000, 1000 }, ms10 = { 10000, 10000 };

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
	window_consumed(&w, 512 * KB, 1000, &ms1);
	assert_int_equal(window_grant(&w), 512 * KB);
	assert_int_equal(w.left + w.unconsumed, 1 * MB);
}

static void test_small_change_is_not_worth_a_packet(void **state)
{
	struct window w;

	window_init(&w, 2 * MB, 2 * MB, PACKET);
	window_grant(&w);
	assert_true(window_received(&w, 1000));
	window_consumed(&w, 1000, 1000, &ms1);
	assert_int_equal(window_grant(&w), 0);
	assert_true(window_received(&w, 128 * KB));
	window_consumed(&w, 128 * KB, 2000, &ms1);
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
		assert_int_equal(window_consumed(&w, n, now += 10000, &ms10), 0);
		window_grant(&w);
	}
	assert_int_equal(w.size, 1 * MB);
}

/* A sender that sends whatever it may, over a line of `rate` bytes a second and `rtt_us`, to a sink of `sink` bytes a second; with
 * TCP's slow start unless `at_once`. The sink may stall for a while. Steps of a fortieth of a round trip. */
struct line {
	double rate, sink;
	double rtt_us;
	double least_rtt_us;             /* 0: the same */
	unsigned rounds;                 /* how many round trips */
	bool at_once;
	unsigned stall_from, stall_rounds;       /* in round trips */
	uint64_t total;                  /* bytes to send; 0: without end */
};
struct moved {
	double tail_rate;                /* bytes a second in the last quarter */
	double rounds;                   /* until `total` was consumed */
	uint32_t most_held;              /* bytes unconsumed */
	uint64_t all;
};

enum { STEPS = 40, PIECE = 256 * KB, SEGMENT = 1460 };

struct run {
	struct window *w;
	const struct line *l;
	struct moved m;
	uint64_t in_flight[STEPS], grants[STEPS];
	uint64_t sender_left, sent, acked[STEPS];
	uint64_t cwnd, under_way, most_under_way[2];     /* the most of this round trip and of the last */
	double step_s, room, sink_room, tail;
	uint64_t steps, now;
};

/* What a sender may send in this step. */
static uint64_t run_send(struct run *r)
{
	double most = r->l->rate * r->step_s;
	uint64_t n = r->sender_left;

	r->room += most;
	if (r->room > 2 * most && r->room > SEGMENT)
		r->room = 2 * most > SEGMENT ? 2 * most : SEGMENT;
	if (n > (uint64_t)r->room)
		n = (uint64_t)r->room;
	if (!r->l->at_once && n > (r->cwnd > r->under_way ? r->cwnd - r->under_way : 0))
		n = r->cwnd > r->under_way ? r->cwnd - r->under_way : 0;
	if (r->l->total && n > r->l->total - r->sent)
		n = r->l->total - r->sent;
	r->room -= (double)n;
	r->sender_left -= n;
	r->sent += n;
	r->under_way += n;
	if (r->under_way > r->most_under_way[0])
		r->most_under_way[0] = r->under_way;
	return n;
}

/* Slow start adds what was acknowledged, but to a sender that others hold back no more than twice what it has under way. */
static void run_acked(struct run *r, uint64_t n)
{
	uint64_t most = r->most_under_way[0] > r->most_under_way[1] ? r->most_under_way[0] : r->most_under_way[1];

	if (r->now % STEPS == 0) {
		r->most_under_way[1] = r->most_under_way[0];
		r->most_under_way[0] = r->under_way;
	}
	r->under_way -= n;
	if (r->cwnd < 2 * most)
		r->cwnd += n;
}

static void run_arrive(struct run *r, uint64_t n, bool stalled)
{
	uint64_t us = (uint64_t)((double)r->now * r->step_s * 1e6) + 1;

	r->sink_room = stalled ? 0 : r->sink_room + r->l->sink * r->step_s;
	do {
		uint32_t piece = n < PIECE ? (uint32_t)n : PIECE, take;

		assert_true(window_received(r->w, piece));
		n -= piece;
		take = r->w->unconsumed < r->sink_room ? r->w->unconsumed : (uint32_t)r->sink_room;
		r->sink_room -= take;
		window_consumed(r->w, take, us, &(struct window_path){ (uint32_t)(r->l->least_rtt_us ? r->l->least_rtt_us : r->l->rtt_us),
			(uint32_t)r->l->rtt_us });
		r->grants[(r->now + STEPS / 2) % STEPS] += window_grant(r->w);
		assert_true((uint64_t)r->w->left + r->w->unconsumed <= r->w->size);
		r->m.all += take;
		if (r->w->unconsumed > r->m.most_held)
			r->m.most_held = r->w->unconsumed;
		if (r->now >= r->steps - r->steps / 4)
			r->tail += take;
	} while (n > 0);
	if (r->sink_room > r->l->sink * r->step_s && r->sink_room > SEGMENT)
		r->sink_room = r->l->sink * r->step_s > SEGMENT ? r->l->sink * r->step_s : SEGMENT;
}

static struct moved simulate(struct window *w, const struct line *l)
{
	struct run r = { .w = w, .l = l, .step_s = l->rtt_us / STEPS / 1e6, .cwnd = 14600 };

	r.steps = (uint64_t)l->rounds * STEPS;
	r.sender_left = window_grant(w);
	for (r.now = 0; r.now < r.steps; r.now++) {
		size_t half = (r.now + STEPS / 2) % STEPS, at = r.now % STEPS;
		uint64_t round = r.now / STEPS, n;

		r.sender_left += r.grants[at];
		run_acked(&r, r.acked[at]);
		r.grants[at] = r.acked[at] = 0;
		n = run_send(&r);
		r.in_flight[half] += n;
		r.acked[at] += n;        /* comes back a round trip later */
		run_arrive(&r, r.in_flight[at], round >= l->stall_from && round < l->stall_from + l->stall_rounds);
		r.in_flight[at] = 0;
		if (l->total && r.m.all >= l->total && r.m.rounds == 0)
			r.m.rounds = (double)r.now / STEPS;
	}
	r.m.tail_rate = r.tail / ((double)(r.steps / 4) * r.step_s);
	return r.m;
}

static const double line_mbit[] = { 1, 10, 100, 1000, 10000, 40000, 100000 };
static const double line_rtt_ms[] = { 0.1, 1, 10, 50, 100, 200, 500 };
enum { FLOOR_US = 2000 };
#define COUNT(x) (sizeof(x) / sizeof((x)[0]))

static void check_fills(const struct line *l, uint32_t cap)
{
	double bdp = l->rate * l->rtt_us / 1e6, most = l->rate, floor_bytes = l->rate * FLOOR_US / 1e6;
	struct window w;
	struct moved m;

	window_init(&w, WINDOW_DEFAULT, cap, PACKET);
	m = simulate(&w, l);
	/* Some of a full window is always on its way back: a sixteenth that waits to be worth a packet. */
	if (bdp > cap * 15.0 / 16)
		most = cap * 15.0 / 16 * 1e6 / l->rtt_us;
	if (m.tail_rate < 0.97 * most)
		print_message("%g bytes/s at %g us, cap %u: %.0f of %.0f bytes/s, window %u\n", l->rate, l->rtt_us, cap, m.tail_rate,
			most, w.size);
	assert_true(m.tail_rate >= 0.97 * most);
	/* and not beyond what it needs: a queue of one round trip at most */
	if (bdp < floor_bytes)
		bdp = floor_bytes;
	assert_true(w.size <= WINDOW_DEFAULT || w.size <= 2.5 * bdp + 2 * PIECE);
	assert_true(w.size <= cap);
}

static void test_fills_lines(void **state)
{
	static const uint32_t caps[] = { WINDOW_CAP, WINDOW_CAP_STOCK };

	for (size_t i = 0; i < COUNT(line_mbit); i++)
		for (size_t j = 0; j < COUNT(line_rtt_ms); j++)
			for (size_t k = 0; k < COUNT(caps); k++)
				for (int at_once = 0; at_once < 2; at_once++) {
					struct line l = { .rate = line_mbit[i] * 125000, .sink = 1e11, .rtt_us = line_rtt_ms[j] * 1000,
						.rounds = 60, .at_once = at_once };

					check_fills(&l, caps[k]);
				}
}

static void check_slow_start(double mbit, double rtt_ms, double least_part)
{
	struct line l = { .rate = mbit * 125000, .sink = 1e11, .rtt_us = rtt_ms * 1000, .least_rtt_us = rtt_ms * 1000 * least_part,
		.rounds = 100, .total = 256 * (uint64_t)MB };
	struct window w, free_w;
	double with, without;

	if (l.rate * l.rtt_us * l.rounds / 1e6 < 2.0 * l.total)
		l.rounds = (unsigned)(2.0 * l.total / (l.rate * l.rtt_us / 1e6)) + 20;
	if (l.rounds > 20000)
		return;                  /* nothing but the line counts then */
	window_init(&w, WINDOW_DEFAULT, WINDOW_CAP, PACKET);
	with = simulate(&w, &l).rounds;
	window_init(&free_w, WINDOW_CAP, WINDOW_CAP, PACKET);
	without = simulate(&free_w, &l).rounds;
	if (with > without + 0.25)
		print_message("%g Mbit/s at %g ms, least %g: %g round trips, %g with a window of 128 MiB\n", mbit, rtt_ms, least_part,
			with, without);
	assert_true(without > 0 && with > 0 && with <= without + 0.25);
}

/* A file of 256 MiB takes no longer than with a window that is as large as can be from the start; also where bursts come a little
 * less often than the least round trip, as they do where they wait for each other. */
static void test_does_not_hold_slow_start(void **state)
{
	for (size_t i = 0; i < COUNT(line_mbit); i++)
		for (size_t j = 0; j < COUNT(line_rtt_ms); j++)
			for (double part = 1; part > 0.85; part -= 0.05)
				check_slow_start(line_mbit[i], line_rtt_ms[j], part);
}

/* Round trips that are longer than the least for reasons of their own: it grows all the same. */
static void test_long_round_trips(void **state)
{
	for (size_t i = 0; i < COUNT(line_mbit); i++)
		for (size_t j = 2; j < COUNT(line_rtt_ms); j++)
			for (int times = 2; times < 6; times++) {
				struct line l = { .rate = line_mbit[i] * 125000, .sink = 1e11, .rtt_us = line_rtt_ms[j] * 1000,
					.rounds = 200, .at_once = times % 2, .least_rtt_us = line_rtt_ms[j] * 1000 / times };
				double most = l.rate, bdp = l.rate * l.rtt_us / 1e6;
				struct window w;
				struct moved m;

				window_init(&w, WINDOW_DEFAULT, WINDOW_CAP, PACKET);
				m = simulate(&w, &l);
				if (bdp > 15.0 * MB)     /* what others' queues make long is not followed further */
					most = 15.0 * MB * 1e6 / l.rtt_us;
				if (m.tail_rate < 0.8 * most)
					print_message("%g Mbit/s at %g ms, least %g us: %.0f of %.0f, window %u\n", line_mbit[i],
						line_rtt_ms[j], l.least_rtt_us, m.tail_rate, most, w.size);
				assert_true(m.tail_rate >= 0.8 * most);
			}
}

static void test_slow_sink_holds_the_window(void **state)
{
	static const double part[] = { 0.01, 0.1, 0.3 };

	for (size_t i = 0; i < COUNT(line_mbit); i++)
		for (size_t j = 0; j < COUNT(line_rtt_ms); j++)
			for (size_t k = 0; k < COUNT(part); k++) {
				struct line l = { .rate = line_mbit[i] * 125000, .rtt_us = line_rtt_ms[j] * 1000, .rounds = 200,
					.at_once = true };
				double need;
				struct window w;
				struct moved m;

				l.sink = l.rate * part[k];
				need = l.sink * (l.rtt_us > FLOOR_US ? l.rtt_us : FLOOR_US) / 1e6;
				window_init(&w, WINDOW_DEFAULT, WINDOW_CAP, PACKET);
				m = simulate(&w, &l);
				/* no more than what the sink could use */
				assert_true(w.size <= WINDOW_DEFAULT || w.size <= 2.5 * need + 2 * PIECE);
				if (need < WINDOW_DEFAULT / 2)
					assert_true(m.tail_rate > 0.9 * l.sink);
			}
}

static void test_stalled_sink_stops_the_sender(void **state)
{
	struct line l = { .rate = 125e6, .sink = 0, .rtt_us = 100000, .rounds = 200, .at_once = true };
	struct window w;

	window_init(&w, WINDOW_DEFAULT, WINDOW_CAP, PACKET);
	assert_int_equal(simulate(&w, &l).all, 0);
	assert_int_equal(w.unconsumed, WINDOW_DEFAULT);
}

/* A stall in the middle holds what was granted and no more, and afterwards all is as before. */
static void test_stall_is_survived(void **state)
{
	for (size_t i = 0; i < COUNT(line_mbit); i++)
		for (size_t j = 0; j < COUNT(line_rtt_ms); j++) {
			struct line l = { .rate = line_mbit[i] * 125000, .sink = 1e11, .rtt_us = line_rtt_ms[j] * 1000, .rounds = 160,
				.stall_from = 40, .stall_rounds = 60 };
			double most = l.rate, bdp = l.rate * l.rtt_us / 1e6;
			struct window w;
			struct moved m;

			window_init(&w, WINDOW_DEFAULT, WINDOW_CAP, PACKET);
			m = simulate(&w, &l);
			assert_true(m.most_held <= w.size);
			if (bdp > WINDOW_CAP * 15.0 / 16)
				most = WINDOW_CAP * 15.0 / 16 * 1e6 / l.rtt_us;
			assert_true(m.tail_rate >= 0.97 * most);
		}
}

/* A sink that swallows a whole window at once now and then (a disk that is flushed) is not taken for a fast one. */
static void test_bursts_do_not_grow_it(void **state)
{
	struct window w;
	uint64_t now = 1;

	window_init(&w, WINDOW_DEFAULT, WINDOW_CAP, PACKET);
	window_grant(&w);
	for (int i = 0; i < 100; i++) {
		uint32_t left = w.left;

		for (uint32_t n = 0; n < left; n += PACKET)
			assert_true(window_received(&w, PACKET));
		now += 1000000;
		for (uint32_t n = 0; n < left; n += PACKET)
			window_consumed(&w, PACKET, now += 10, &ms10);
		window_grant(&w);
	}
	assert_int_equal(w.size, WINDOW_DEFAULT);
}

static void test_cap_holds(void **state)
{
	struct line l = { .rate = 1.25e9, .sink = 1e11, .rtt_us = 100000, .rounds = 100 };
	struct window w;

	window_init(&w, WINDOW_DEFAULT, WINDOW_CAP_STOCK, PACKET);
	simulate(&w, &l);
	assert_int_equal(w.size, WINDOW_CAP_STOCK);
}

/* While somebody types hardly more is under way than the path holds, which still fills it. */
static void test_typing_uses_less_of_it(void **state)
{
	for (size_t i = 0; i < COUNT(line_mbit); i++)
		for (size_t j = 0; j < COUNT(line_rtt_ms); j++) {
			struct line l = { .rate = line_mbit[i] * 125000, .sink = 1e11,
				.rtt_us = line_rtt_ms[j] * 1000, .rounds = 60 };
			double bdp = l.rate * l.rtt_us / 1e6, most = l.rate;
			struct window w;
			struct moved m;

			window_init(&w, WINDOW_DEFAULT, WINDOW_CAP, PACKET);
			w.typing = true;
			m = simulate(&w, &l);
			if (bdp > WINDOW_CAP * 15.0 / 16)
				most = WINDOW_CAP * 15.0 / 16 * 1e6 / l.rtt_us;
			assert_true(m.tail_rate >= 0.97 * most);
			assert_true(w.left + w.unconsumed <= WINDOW_DEFAULT ||
				w.left + w.unconsumed <= 2.5 * bdp + 2 * PIECE);
		}
}

/* A window that had grown on a short path is used down to its first size when somebody begins to type,
 * whole again afterwards. */
static void test_typing_begins_and_ends(void **state)
{
	static const struct window_path short_path = { 100, 100 };
	struct window w;
	uint64_t now = 1;
	uint32_t n;

	window_init(&w, WINDOW_DEFAULT, WINDOW_CAP, PACKET);
	window_grant(&w);
	for (int i = 0; i < 4000; i++) {         /* 6.4 GB a second */
		assert_true(window_received(&w, 64 * KB));
		window_consumed(&w, 64 * KB, now += 10, &short_path);
		window_grant(&w);
	}
	assert_true(w.size > 8 * MB);
	assert_true(w.left > 7 * MB);
	w.typing = true;
	while (w.left > WINDOW_DEFAULT) {
		assert_true(window_received(&w, 64 * KB));
		window_consumed(&w, 64 * KB, now += 10, &short_path);
		n = window_grant(&w);
		assert_true(n == 0 || w.left <= WINDOW_DEFAULT);
	}
	w.typing = false;
	assert_true(window_grant(&w) >= w.size - WINDOW_DEFAULT);
	assert_int_equal(w.left, w.size);
}

/* A clock that stands still, one that goes back, a pause of years, a round trip nobody knows: all within the cap. */
static void test_odd_clocks(void **state)
{
	static const uint64_t times[] = { 1, 1, 1, 1000, 10, UINT64_MAX / 2, 5, UINT64_MAX / 2 + 1 };
	struct window w;

	for (uint32_t rtt = 0; rtt < 3; rtt++) {
		window_init(&w, 64 * KB, 1 * MB, PACKET);
		window_grant(&w);
		for (int i = 0; i < 1000; i++) {
			uint32_t n = w.left < PACKET ? w.left : PACKET;

			assert_true(window_received(&w, n));
			window_consumed(&w, n, times[(size_t)i % COUNT(times)], &(struct window_path){ rtt, 2 * rtt });
			window_grant(&w);
			assert_true(w.size <= 1 * MB && (uint64_t)w.left + w.unconsumed <= w.size);
		}
	}
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
		cmocka_unit_test(test_does_not_hold_slow_start),
		cmocka_unit_test(test_long_round_trips),
		cmocka_unit_test(test_stalled_sink_stops_the_sender),
		cmocka_unit_test(test_stall_is_survived),
		cmocka_unit_test(test_bursts_do_not_grow_it),
		cmocka_unit_test(test_typing_uses_less_of_it),
		cmocka_unit_test(test_typing_begins_and_ends),
		cmocka_unit_test(test_odd_clocks),
		cmocka_unit_test(test_cap_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
