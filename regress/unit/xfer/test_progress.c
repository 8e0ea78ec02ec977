/* regress/unit/xfer/test_progress.c: figures and line of the meter; the throttle; the depth of requests. */
#include "xfer/progress.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "xfer/depth.h"
#include "xfer/throttle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { SECOND = 1000000 };
#define NAME "a file                    "

static void check_line(const struct progress *p, uint64_t now, unsigned columns, const char *want)
{
	char line[1024];

	progress_line(p, now, "a file", columns, line, sizeof line);
	assert_string_equal(line, want);
}

static void test_run(void **state)
{
	struct progress p;
	uint64_t now = 5 * (uint64_t)SECOND, mib = 1 << 20;

	(void)state;
	progress_begin(&p, now, 100 * mib, 0);
	check_line(&p, now, 70, NAME "   0%    0 B   0.0KB/s   0.0KB/s   --:-- ETA");
	progress_move(&p, 10 * mib);
	now += SECOND;
	progress_tick(&p, now);
	check_line(&p, now, 70, NAME "  10%   10MB  10.0MB/s  10.0MB/s   00:09 ETA");
	progress_move(&p, 40 * mib);
	now += SECOND;
	progress_tick(&p, now);
	assert_true(p.interval_rate > 29.9 * (double)mib && p.interval_rate < 30.1 * (double)mib);
	check_line(&p, now, 70, NAME "  40%   40MB  20.0MB/s  30.0MB/s   00:05 ETA");
	/* Nothing for six seconds. */
	for (int i = 0; i < 6; i++) {
		now += SECOND;
		progress_tick(&p, now);
	}
	assert_true(progress_stalled(&p, now));
	check_line(&p, now, 70, NAME "  40%   40MB   5.0MB/s   0.0KB/s - stalled -");
	progress_move(&p, 100 * mib);
	/* 100 only at the end. */
	assert_int_equal(progress_percent(&p), 99);
	now += 2 * SECOND;
	progress_end(&p, now);
	assert_int_equal(progress_percent(&p), 100);
	/* The highest interval, and the time it took. */
	check_line(&p, now, 70, NAME " 100%  100MB  10.0MB/s  30.0MB/s   00:10    ");
}

static void test_edges(void **state)
{
	struct progress p;
	char line[64];

	(void)state;
	/* Empty file, no time. */
	progress_begin(&p, 7, 0, 0);
	assert_int_equal(progress_percent(&p), 0);
	progress_end(&p, 7);
	assert_int_equal(progress_percent(&p), 100);
	check_line(&p, 7, 70, NAME " 100%    0 B   0.0KB/s   0.0KB/s   00:00    ");
	/* Never back, and a file that grows. */
	progress_begin(&p, 0, 100, 0);
	progress_move(&p, 50);
	progress_move(&p, 20);
	assert_true(p.at == 50);
	progress_move(&p, 300);
	assert_true(p.size == 300);
	/* Beyond 4 GiB and beyond a day. */
	progress_begin(&p, 0, UINT64_C(6) << 40, UINT64_C(3) << 40);
	progress_move(&p, (UINT64_C(3) << 40) + 1000000);
	progress_tick(&p, SECOND);
	check_line(&p, SECOND, 70, "a file                    50%    3TB 976.6KB/s 976.6KB/s 916:15:34 ETA");
	/* A resumed file counts only what it moved. */
	assert_true(progress_average(&p, SECOND) < 1000001.0);
	/* Narrow terminals: the figures matter; wide characters; a tiny buffer. */
	progress_line(&p, SECOND, "name", 10, line, sizeof line);
	assert_int_equal(strlen(line), 10);
	progress_begin(&p, 0, 100, 0);
	char wide[512];
	progress_line(&p, 0, "\xc3\xa4\xc3\xb6\xc3\xbc", 50, wide, sizeof wide);
	assert_int_equal(strlen(wide), 50 + 3);
	progress_line(&p, 0, "name", 0, line, sizeof line);
	assert_string_equal(line, "");
}

/* Moves pieces of `piece` bytes for `seconds` under a limit; returns bits per second reached. */
static double run_throttle(uint64_t limit, uint32_t piece, double seconds, uint64_t late_us)
{
	struct throttle t;
	uint64_t now = 1000, end = now + (uint64_t)(seconds * 1e6), bytes = 0;

	throttle_init(&t, limit, now);
	while (now < end) {
		uint64_t wait = throttle_wait(&t, now);

		if (wait > 0) {
			now += wait + late_us;
			continue;
		}
		throttle_took(&t, throttle_piece(&t, piece));
		bytes += throttle_piece(&t, piece);
	}
	return (double)bytes * 8 / seconds;
}

static void test_throttle(void **state)
{
	static const uint64_t limits[] = { 8000000, 100000000, 5000000000 };
	struct throttle t;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(limits); i++)
		for (uint64_t late = 0; late <= 1000; late += 1000) {
			double got = run_throttle(limits[i], 261120, 20, late), want = (double)limits[i];

			/* Within 5 percent, also when the timer comes a millisecond late. */
			if (got < want * 0.95 || got > want * 1.05)
				fail_msg("limit %g gave %g", want, got);
		}
	throttle_init(&t, 0, 0);
	assert_int_equal(throttle_wait(&t, 0), 0);
	throttle_took(&t, UINT64_MAX);
	assert_int_equal(throttle_wait(&t, 0), 0);
	assert_int_equal(throttle_piece(&t, 12345), 12345);
	throttle_init(&t, 8000, 0);
	assert_int_equal(throttle_piece(&t, 261120), 1024);
	throttle_init(&t, 8000000, 0);
	assert_int_equal(throttle_piece(&t, 261120), 50000);
}

/* A path of rtt and bandwidth: requests of `piece` bytes are answered one after the other. Returns the rate reached, as a
 * part of the bandwidth, in the last fifth of the run. */
static double run_depth(struct depth *d, double rtt_us, double bytes_per_us, uint64_t total)
{
	enum { PIECE = 258048, QUEUE = 8192 };
	static double due[QUEUE];
	size_t first = 0, last = 0;
	double now = 0, free_at = 0, mark_time = 0;
	uint64_t sent = 0, answered = 0, mark = 0;

	while (answered < total) {
		while (sent < total && depth_has_room(d) && last - first < QUEUE) {
			double arrives = now + rtt_us / 2, start = arrives > free_at ? arrives : free_at;

			depth_sent(d, (uint64_t)now, PIECE);
			free_at = start + PIECE / bytes_per_us;
			due[last++ % QUEUE] = free_at + rtt_us / 2;
			sent += PIECE;
		}
		now = due[first++ % QUEUE];
		answered += PIECE;
		depth_answered(d, (uint64_t)now, PIECE);
		if (mark == 0 && answered >= total / 5 * 4) {
			mark = answered;
			mark_time = now;
		}
	}
	return (double)(answered - mark) / (now - mark_time) / bytes_per_us;
}

static void test_depth(void **state)
{
	static const struct { double rtt_ms, mbit; } paths[] = {
		{ 0.1, 10000 }, { 1, 1000 }, { 10, 100 }, { 25, 1000 }, { 100, 100 }, { 100, 1000 }, { 40, 10000 }, { 300, 500 },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(paths); i++) {
		struct depth d;
		double rate, bdp = paths[i].rtt_ms * 1000 * paths[i].mbit / 8;

		depth_init(&d, DEPTH_START, DEPTH_MAX);
		rate = run_depth(&d, paths[i].rtt_ms * 1000, paths[i].mbit / 8, UINT64_C(2) << 30);
		if (rate < 0.9)
			fail_msg("%g ms, %g Mbit/s: only %g of the path, limit %g", paths[i].rtt_ms, paths[i].mbit, rate, (double)d.limit);
		/* Memory is bounded, and not spent where it brings nothing. */
		assert_true(d.limit <= DEPTH_MAX);
		if ((double)d.limit > 9 * bdp && d.limit > 8 * DEPTH_START)
			fail_msg("%g ms, %g Mbit/s: limit %g for a path of %g bytes", paths[i].rtt_ms, paths[i].mbit, (double)d.limit, bdp);
	}
}

static void test_depth_single(void **state)
{
	struct depth d;

	(void)state;
	/* One request larger than the limit still goes. */
	depth_init(&d, 100, 1000);
	assert_true(depth_has_room(&d));
	depth_sent(&d, 0, 5000);
	assert_false(depth_has_room(&d));
	depth_answered(&d, 10, 5000);
	assert_true(depth_has_room(&d));
	assert_true(d.under_way == 0);
	depth_answered(&d, 10, 5000);
	assert_true(d.under_way == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run), cmocka_unit_test(test_edges), cmocka_unit_test(test_throttle), cmocka_unit_test(test_depth),
		cmocka_unit_test(test_depth_single),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
