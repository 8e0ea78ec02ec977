/* What a socket takes in a second, from what was written to it and when. */
#include "channel/line_rate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { MS = 1000, RTT_SHORT = 1 * MS, RTT_LONG = 100 * MS };

/* n bytes every step_us, for a while. */
static uint64_t write_on(struct line_rate *r, uint64_t from_us, uint64_t for_us, uint64_t step_us, size_t n, bool dry)
{
	uint64_t at = from_us;

	for (; at < from_us + for_us; at += step_us)
		(void)line_rate_sent(r, n, at, dry, RTT_SHORT);
	return at;
}

static void assert_about(uint64_t is, uint64_t should_be)
{
	assert_in_range(is, should_be * 9 / 10, should_be * 11 / 10);
}

static void test_unknown_at_first(void **state)
{
	struct line_rate r = { 0 };

	assert_false(line_rate_sent(&r, 1000, 1000 * MS, false, RTT_SHORT));
	assert_false(line_rate_sent(&r, 1000, 1001 * MS, false, RTT_SHORT));
	assert_int_equal(r.rate, 0);
}

static void test_a_busy_line(void **state)
{
	struct line_rate r = { 0 };
	uint64_t at = write_on(&r, 1, 300 * MS, MS, 1250, false);

	assert_about(r.rate, 1250000);
	at = write_on(&r, at, 300 * MS, MS, 125000, false);
	assert_about(r.rate, 125000000);
	write_on(&r, at, 300 * MS, MS, 125, false);
	assert_about(r.rate, 125000);
}

/* A login, and one who types: the line was never seen full. */
static void test_a_line_that_rests_stays_unknown(void **state)
{
	struct line_rate r = { 0 };

	write_on(&r, 1, 5000 * MS, 30 * MS, 1000, true);
	assert_int_equal(r.rate, 0);
	write_on(&r, 6000 * MS, 5000 * MS, 200 * MS, 1000, true);
	assert_int_equal(r.rate, 0);
}

/* Bytes that came with pauses do not make a known line slower, and make it faster where they were more. */
static void test_pauses_only_raise(void **state)
{
	struct line_rate r = { 0 };
	uint64_t at = write_on(&r, 1, 300 * MS, MS, 1250, false), was = r.rate;

	at = write_on(&r, at, 1000 * MS, 10 * MS, 100, true);
	assert_int_equal(r.rate, was);
	at = write_on(&r, at, 1000 * MS, 400 * MS, 100, true);
	assert_int_equal(r.rate, was);
	at = write_on(&r, at, 1000 * MS, 10 * MS, 100000, true);
	assert_about(r.rate, 10000000);
	/* and again when it is busy it says what it takes now */
	write_on(&r, at, 300 * MS, MS, 1250, false);
	assert_about(r.rate, 1250000);
}

/* Slow start: a burst in each round trip, as large as can be sent, and silence. The stretch holds a whole round trip, so the silence
 * is not taken for a slow line. */
static void test_bursts_of_slow_start(void **state)
{
	struct line_rate r = { 0 };
	size_t burst = 64 * 1024;

	for (uint64_t round = 1; round < 12; round++, burst += burst / 4) {
		for (uint64_t i = 0; i < 16; i++)
			(void)line_rate_sent(&r, burst / 16, round * RTT_LONG + i * MS, false, RTT_LONG);
		if (round > 3)
			assert_in_range(r.rate, burst / 2 * 10, burst * 2 * 10);
	}
}

/* A clock that stands still or goes back divides by nothing. */
static void test_odd_clocks(void **state)
{
	struct line_rate r = { 0 };
	static const uint64_t times[] = { 5, 5, 1, UINT64_MAX / 2, 7, UINT64_MAX / 2 + 1, 0 };

	for (int i = 0; i < 1000; i++)
		(void)line_rate_sent(&r, 1000, times[i % 7], i % 3 == 0, (uint32_t)(i % 2 ? UINT32_MAX : 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown_at_first),
		cmocka_unit_test(test_a_busy_line),
		cmocka_unit_test(test_a_line_that_rests_stays_unknown),
		cmocka_unit_test(test_pauses_only_raise),
		cmocka_unit_test(test_bursts_of_slow_start),
		cmocka_unit_test(test_odd_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
