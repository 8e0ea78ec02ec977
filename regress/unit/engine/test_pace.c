/* Whether several threads pay, as arithmetic: machines that gain, lose, wait for others, change, and are noisy. */
#include "pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

/* A machine: how long a step of work takes with and without, and how busy the thread is. */
struct machine {
	struct pace pace;
	uint64_t wall, cpu;
	double ns[2];            /* a byte, without and with */
	double busy;             /* share of the time */
	double noise;            /* 0.2: each step takes up to so much more or less */
	uint64_t bytes[2];       /* done so far, by mode */
	unsigned seed;
};

static double chance(struct machine *m)
{
	m->seed = m->seed * 1103515245 + 12345;
	return (double)(m->seed >> 8 & 0xffff) / 65536.0;
}

static void work(struct machine *m, uint64_t bytes)
{
	const size_t n = 512 * 1024;

	for (uint64_t done = 0; done < bytes; done += n) {
		bool with = pace_shares(&m->pace);
		double us = (double)n * m->ns[with] / 1000 * (1 + m->noise * (2 * chance(m) - 1));

		m->wall += (uint64_t)us;
		m->cpu += (uint64_t)(us * m->busy);
		m->bytes[with] += n;
		if (pace_add(&m->pace, n))
			(void)pace_step(&m->pace, m->wall, m->cpu);
	}
}

static struct machine start(double without, double with, double busy, double noise)
{
	return (struct machine){ .wall = 1000000, .cpu = 5, .ns = { without, with }, .busy = busy, .noise = noise, .seed = 7 };
}

enum { MIB = 1024 * 1024 };

/* Which of the two most of the work was done with. */
static void check(const char *name, struct machine m, uint64_t mib, enum pace_state want, unsigned percent)
{
	uint64_t all;

	work(&m, mib * MIB);
	all = m.bytes[0] + m.bytes[1];
	if (m.pace.state != want && m.pace.state != PACE_TRIAL)
		fail_msg("%s: state %d", name, (int)m.pace.state);
	if (m.bytes[want == PACE_ON] * 100 < all * percent)
		fail_msg("%s: %u %% with", name, (unsigned)(m.bytes[1] * 100 / all));
}

static void test_machines(void **state)
{
	(void)state;
	/* Before anything is tried, some 24 MiB have passed: small copies see no threads. */
	check("little", start(0.5, 0.3, 1, 0), 24, PACE_WATCH, 100);
	check("gains", start(0.5, 0.35, 1, 0), 4096, PACE_ON, 85);
	check("gains, noisy", start(0.5, 0.35, 1, 0.3), 4096, PACE_ON, 85);
	check("loses", start(0.5, 0.55, 1, 0), 4096, PACE_OFF, 85);
	check("loses, noisy", start(0.5, 0.55, 1, 0.3), 4096, PACE_OFF, 85);
	check("loses, for long", start(0.5, 0.55, 1, 0), 32768, PACE_OFF, 97);
	check("the same", start(0.5, 0.5, 1, 0), 4096, PACE_OFF, 85);
	check("slow machine gains", start(10, 6, 1, 0.1), 4096, PACE_ON, 85);
	check("waits for the line", start(10, 10, 0.3, 0), 4096, PACE_WATCH, 100);
	check("waits a little", start(0.5, 0.35, 0.6, 0), 4096, PACE_WATCH, 100);
}

/* A usual step that is faster does not make up for rare ones that are very slow. */
static void test_rare_stalls(void **state)
{
	struct machine m = start(0.5, 0.4, 1, 0);
	unsigned i = 0;

	(void)state;
	while (m.bytes[0] + m.bytes[1] < 2048ULL * MIB) {
		m.ns[1] = i++ % 20 == 0 ? 8 : 0.4;       /* 0.78 in all */
		work(&m, MIB / 2);
	}
	assert_int_equal(m.pace.state, PACE_OFF);
	assert_true(m.bytes[0] > 4 * m.bytes[1]);
}

/* The other end gets busy, and is free again later. */
static void test_changes(void **state)
{
	struct machine m = start(0.5, 0.3, 1, 0.1);

	(void)state;
	work(&m, 1024ULL * MIB);
	assert_int_equal(m.pace.state, PACE_ON);
	m.ns[1] = 0.6;
	work(&m, 4096ULL * MIB);
	assert_int_equal(m.pace.state, PACE_OFF);
	m.ns[1] = 0.3;
	work(&m, 16384ULL * MIB);
	assert_int_equal(m.pace.state, PACE_ON);
	/* Something else becomes the limit. */
	m.busy = 0.2;
	work(&m, 64ULL * MIB);
	assert_int_equal(m.pace.state, PACE_WATCH);
	assert_false(pace_shares(&m.pace));
}

/* A pause is no slow step. */
static void test_pause(void **state)
{
	struct machine m = start(0.5, 0.3, 1, 0);

	(void)state;
	work(&m, 1024ULL * MIB);
	assert_int_equal(m.pace.state, PACE_ON);
	m.wall += 60 * 1000 * 1000;
	work(&m, 4ULL * MIB);
	assert_int_equal(m.pace.state, PACE_ON);
	work(&m, 1024ULL * MIB);
	assert_int_equal(m.pace.state, PACE_ON);
}

/* A thread that sleeps most of a stretch while others hold pieces is slow, not idle; and a trial that nothing came of is not
 * begun again and again. */
static void test_trials_are_rare(void **state)
{
	struct machine m = start(0.5, 0.9, 0.79, 0.1);
	unsigned i;

	(void)state;
	for (i = 0; i < 4096; i++) {
		m.busy = pace_shares(&m.pace) ? 0.4 : 0.79;
		work(&m, MIB / 2);
	}
	assert_int_equal(m.pace.state, PACE_OFF);
	assert_true(m.bytes[1] <= 40ULL * MIB);
	m = start(0.5, 0.9, 0.79, 0.1);
	for (i = 0; i < 4096; i++) {
		m.busy = pace_shares(&m.pace) ? 0.1 : 0.79;
		work(&m, MIB / 2);
	}
	assert_true(m.bytes[1] <= 40ULL * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_rare_stalls),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_trials_are_rare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
