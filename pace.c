/* pace.c: whether several threads pay (pace.h). Part of the engine. */
#include "pace.h"

#include <string.h>

enum {
	/* Of the time: below this the thread waits for others, and haste is no use. What the kernel does for its packets is often
	 * not counted as its own time: 80 are seen where it never waits. Sleeping until a piece is done is part of sharing. */
	BUSY_PERCENT = 65, BUSY_SHARING_PERCENT = 30,
	IDLE_STEPS = 3,                  /* in a row: something else is the limit now */
	STEP_MAX_US = 2 * 1000 * 1000    /* a step that took longer had a pause in it */
};

bool pace_shares(const struct pace *p)
{
	return p->state == PACE_ON || (p->state == PACE_TRIAL && p->block % 2 == 1);
}

bool pace_add(struct pace *p, size_t n)
{
	p->bytes += n;
	return p->wall_us == 0 || p->bytes >= PACE_STEP_BYTES;
}

static void begin_step(struct pace *p, uint64_t wall_us, uint64_t cpu_us)
{
	p->bytes = 0;
	p->wall_us = wall_us;
	p->cpu_us = cpu_us;
}

static void set_state(struct pace *p, enum pace_state state)
{
	p->state = state;
	p->steps = p->idle = 0;
}

static void begin_trial(struct pace *p)
{
	p->was_on = p->state == PACE_ON;
	set_state(p, PACE_TRIAL);
	p->block = 0;
	memset(p->sum, 0, sizeof(p->sum));
	memset(p->count, 0, sizeof(p->count));
}

static uint64_t median(uint64_t *v, unsigned n)
{
	unsigned i, j;

	for (i = 1; i < n; i++) {
		uint64_t x = v[i];

		for (j = i; j > 0 && v[j - 1] > x; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
	return v[n / 2];
}

/* The gain so far, in percent of the speed without. Both the usual step and all of them together must have been faster: a rare
 * long wait for a thread without a processor shows in the sum only, chance in one of the two. */
static unsigned gain_of(struct pace *p)
{
	uint64_t usual[2] = { median(p->taken[0], p->count[0]), median(p->taken[1], p->count[1]) };
	uint64_t by_sum = p->sum[1] != 0 ? p->sum[0] * 100 / p->sum[1] : 0;
	uint64_t by_median = usual[1] != 0 ? usual[0] * 100 / usual[1] : 0;

	return (unsigned)(by_sum < by_median ? by_sum : by_median);
}

static unsigned needed_gain(const struct pace *p)
{
	return p->was_on ? PACE_GAIN_KEEP : PACE_GAIN_ON;
}

/* The trial is over. */
static void judge(struct pace *p, uint64_t now_us)
{
	bool on = p->gain >= needed_gain(p);

	/* What has been found again is asked less often, what has changed sooner. */
	if (p->hold_us == 0 || on != p->was_on)
		p->hold_us = PACE_HOLD_FIRST_US;
	else if (p->hold_us < PACE_HOLD_MAX_US)
		p->hold_us *= 2;
	p->hold_until_us = now_us + p->hold_us;
	set_state(p, on ? PACE_ON : PACE_OFF);
}

/* One step of a trial that took ps picoseconds a byte. True: it is over. */
static bool trial_step(struct pace *p, uint64_t ps)
{
	unsigned mode = p->block % 2;

	if (p->steps++ >= PACE_BLOCK_SKIP) {
		p->sum[mode] += ps;
		p->taken[mode][p->count[mode]++] = ps;
	}
	if (p->steps < PACE_BLOCK_SKIP + PACE_BLOCK_COUNTED)
		return false;
	p->steps = 0;
	if (++p->block % 2 != 0)
		return false;
	p->gain = gain_of(p);
	return p->block == PACE_BLOCKS || p->gain + PACE_GAIN_SLACK < needed_gain(p);
}

/* The thread was not busy: its speed says nothing. */
static void idle_step(struct pace *p, uint64_t now_us)
{
	if (++p->idle < IDLE_STEPS || p->state == PACE_WATCH || p->state == PACE_OFF)
		return;
	/* A trial that could not be finished is not begun again at once: it may be what kept the thread waiting. */
	p->hold_until_us = p->state == PACE_TRIAL ? now_us + PACE_HOLD_FIRST_US : now_us;
	set_state(p, PACE_WATCH);
}

bool pace_step(struct pace *p, uint64_t wall_us, uint64_t cpu_us)
{
	uint64_t wall = wall_us - p->wall_us, cpu = cpu_us - p->cpu_us, ps;
	bool decided = false;

	if (p->wall_us == 0 || wall > STEP_MAX_US) {
		begin_step(p, wall_us, cpu_us);
		return false;
	}
	if (p->bytes < PACE_STEP_BYTES || wall < PACE_STEP_US)
		return false;
	ps = wall * 1000000 / p->bytes;
	begin_step(p, wall_us, cpu_us);
	if (cpu * 100 < wall * (pace_shares(p) ? BUSY_SHARING_PERCENT : BUSY_PERCENT)) {
		idle_step(p, wall_us);
		return false;
	}
	p->idle = 0;
	switch (p->state) {
	case PACE_WATCH:
		/* What was decided lately still holds after a pause. */
		if (++p->steps >= PACE_WATCH_STEPS && wall_us >= p->hold_until_us)
			begin_trial(p);
		break;
	case PACE_TRIAL:
		if (trial_step(p, ps)) {
			judge(p, wall_us);
			decided = true;
		}
		break;
	case PACE_ON:
	case PACE_OFF:
		if (wall_us >= p->hold_until_us)
			begin_trial(p);
		break;
	}
	return decided;
}
