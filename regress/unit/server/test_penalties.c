/* PerSourcePenalties: what adds up, when it bites, how long, and what a full table does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/log.h"
#include "server/penalties.h"

#define S 1000000ull             /* a second */

static char last_line[1024];
static enum log_level last_level;
static unsigned lines;

static void sink(void *ctx, enum log_level level, const char *line)
{
	(void)ctx;
	lines++;
	last_level = level;
	strncpy(last_line, line, sizeof(last_line) - 1);
}

static int setup(void **state)
{
	(void)state;
	log_init("test", LOG_LEVEL_VERBOSE);
	log_to_sink(sink, NULL);
	lines = 0;
	last_line[0] = '\0';
	return 0;
}

static struct penalties_config defaults(void)
{
	return (struct penalties_config){
		.us = { [PENALTY_CRASH] = 90 * S, [PENALTY_AUTHFAIL] = 5 * S, [PENALTY_NOAUTH] = 1 * S,
			[PENALTY_INVALIDUSER] = 5 * S, [PENALTY_GRACE] = 10 * S, [PENALTY_REFUSE] = 10 * S },
		.max_us = 600 * S, .min_us = 15 * S, .max_sources = { 100, 100 },
	};
}

static struct source v4(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
	return (struct source){ .family = SOURCE_V4, .bits = 32, .addr = { a, b, c, d } };
}

static void test_deferred_then_active(void **state)
{
	struct penalties_config c = defaults();
	struct penalties *p = penalties_new(&c);
	struct source s = v4(192, 0, 2, 1), other = v4(192, 0, 2, 2);
	uint64_t left;

	(void)state;
	penalties_add(p, &s, "192.0.2.1", PENALTY_AUTHFAIL, 100 * S);
	assert_string_equal(last_line,
		"srclimit_penalise: ipv4: new 192.0.2.1/32 deferred penalty of 5.000 seconds for penalty: failed authentication");
	assert_int_equal(last_level, LOG_LEVEL_VERBOSE);
	assert_null(penalties_check(p, &s, "192.0.2.1", 100 * S, NULL));
	penalties_add(p, &s, "192.0.2.1", PENALTY_AUTHFAIL, 100 * S);
	penalties_add(p, &s, "192.0.2.1", PENALTY_AUTHFAIL, 100 * S);    /* 15 s: not longer than min */
	assert_null(penalties_check(p, &s, "192.0.2.1", 100 * S, NULL));
	penalties_add(p, &s, "192.0.2.1", PENALTY_INVALIDUSER, 100 * S);
	assert_string_equal(last_line, "srclimit_penalise: 192.0.2.1/32: activating ipv4 penalty of 20.000 seconds for "
		"penalty: attempted authentication by invalid user");
	assert_int_equal(last_level, LOG_LEVEL_INFO);
	assert_string_equal(penalties_check(p, &s, "192.0.2.1", 105 * S, &left),
		"penalty: attempted authentication by invalid user");
	assert_int_equal(left, 15 * S);
	assert_null(penalties_check(p, &other, "192.0.2.2", 105 * S, NULL));
	/* over at its expiry, and forgotten */
	assert_null(penalties_check(p, &s, "192.0.2.1", 120 * S, NULL));
	assert_int_equal(penalties_count(p, SOURCE_V4), 0);
	penalties_free(p);
}

static void test_active_at_once_and_cap(void **state)
{
	struct penalties_config c = defaults();
	struct penalties *p = penalties_new(&c);
	struct source s = v4(192, 0, 2, 1);
	uint64_t left;

	(void)state;
	penalties_add(p, &s, "192.0.2.1", PENALTY_CRASH, 0);
	assert_string_equal(last_line,
		"srclimit_penalise: ipv4: new 192.0.2.1/32 active penalty of 90.000 seconds for penalty: caused crash");
	assert_int_equal(last_level, LOG_LEVEL_INFO);
	for (int i = 0; i < 20; i++)
		penalties_add(p, &s, "192.0.2.1", PENALTY_CRASH, 1 * S);
	assert_string_equal(penalties_check(p, &s, "192.0.2.1", 1 * S, &left), "penalty: caused crash");
	assert_int_equal(left, 600 * S);
	penalties_free(p);
}

static void test_off_exempt_loopback(void **state)
{
	struct penalties_config c = defaults();
	struct penalties *p;
	struct source s = v4(192, 0, 2, 1), lo = v4(127, 0, 0, 1);
	struct source unix_socket = { .family = SOURCE_OTHER };

	(void)state;
	c.us[PENALTY_GRACE] = 0;
	c.exempt = "192.0.2.0/25,2001:db8::/32";
	p = penalties_new(&c);
	penalties_add(p, &s, "192.0.2.1", PENALTY_CRASH, 0);
	assert_int_equal(penalties_count(p, SOURCE_V4), 0);
	s = v4(192, 0, 2, 200);
	penalties_add(p, &s, "192.0.2.200", PENALTY_GRACE, 0);
	assert_int_equal(penalties_count(p, SOURCE_V4), 0);
	penalties_add(p, &lo, "127.0.0.1", PENALTY_NOAUTH, 0);
	assert_int_equal(penalties_count(p, SOURCE_V4), 0);
	penalties_add(p, &lo, "127.0.0.1", PENALTY_CRASH, 0);
	assert_int_equal(penalties_count(p, SOURCE_V4), 1);
	penalties_add(p, &unix_socket, "UNKNOWN", PENALTY_CRASH, 0);
	assert_null(penalties_check(p, &unix_socket, "UNKNOWN", 0, NULL));
	penalties_free(p);
}

/* Many sources, in and out: the table always agrees with a plain list. */
static void test_full_table(void **state)
{
	struct penalties_config c = defaults();
	struct penalties *p;
	struct source s;

	(void)state;
	c.max_sources[SOURCE_V4] = 50;
	p = penalties_new(&c);
	for (unsigned i = 0; i < 200; i++) {     /* permissive: the soonest to expire goes */
		s = v4(10, 0, (uint8_t)(i >> 8), (uint8_t)i);
		penalties_add(p, &s, "10.0.0.1", PENALTY_CRASH, i * S);
	}
	assert_int_equal(penalties_count(p, SOURCE_V4), 90 < 50 ? 90 : 50);
	for (unsigned i = 0; i < 200; i++) {
		s = v4(10, 0, (uint8_t)(i >> 8), (uint8_t)i);
		if (i < 150)
			assert_null(penalties_check(p, &s, "10.0.0.1", 199 * S, NULL));
		else
			assert_non_null(penalties_check(p, &s, "10.0.0.1", 199 * S, NULL));
	}
	assert_null(penalties_check(p, &s, "10.0.0.1", 199 * S + 90 * S, NULL));
	assert_int_equal(penalties_count(p, SOURCE_V4), 0);
	penalties_free(p);

	c.max_sources[SOURCE_V4] = 3;
	c.deny_all[SOURCE_V4] = true;
	c.exempt = "10.9.9.9";
	p = penalties_new(&c);
	for (unsigned i = 0; i < 4; i++) {
		s = v4(10, 0, 0, (uint8_t)i);
		penalties_add(p, &s, "10.0.0.1", PENALTY_CRASH, 0);
	}
	s = v4(10, 1, 1, 1);
	assert_string_equal(penalties_check(p, &s, "10.1.1.1", 0, NULL), "too many penalised addresses");
	s = v4(10, 9, 9, 9);
	assert_null(penalties_check(p, &s, "10.9.9.9", 0, NULL));
	s = (struct source){ .family = SOURCE_V6, .bits = 128, .addr = { 0x20, 1 } };
	assert_null(penalties_check(p, &s, "2001::", 0, NULL));
	penalties_free(p);
}

/* A long run with random repeats against a naive model. */
static void test_model(void **state)
{
	enum { N = 64 };
	struct penalties_config c = defaults();
	struct penalties *p = penalties_new(&c);
	uint64_t expiry[N] = { 0 };
	int active[N] = { 0 };
	uint32_t x = 12345;

	(void)state;
	for (unsigned step = 0; step < 20000; step++) {
		uint64_t now = step * S / 2;
		unsigned i, cause;
		struct source s;

		x = x * 1664525u + 1013904223u;
		i = (x >> 8) % N;
		cause = (x >> 20) % PENALTY_COUNT;
		s = v4(10, 0, 0, (uint8_t)i);
		if (expiry[i] <= now) {
			expiry[i] = now;
			active[i] = 0;
		}
		assert_int_equal(penalties_check(p, &s, "10.0.0.1", now, NULL) != NULL, active[i]);
		penalties_add(p, &s, "10.0.0.1", (enum penalty_cause)cause, now);
		expiry[i] += c.us[cause];
		if (expiry[i] > now + c.max_us)
			expiry[i] = now + c.max_us;
		if (expiry[i] - now > c.min_us)
			active[i] = 1;
	}
	penalties_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_deferred_then_active, setup),
		cmocka_unit_test_setup(test_active_at_once_and_cap, setup),
		cmocka_unit_test_setup(test_off_exempt_loopback, setup),
		cmocka_unit_test_setup(test_full_table, setup), cmocka_unit_test_setup(test_model, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
