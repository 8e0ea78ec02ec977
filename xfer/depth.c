/* How many bytes of requests to keep under way. */
#include "xfer/depth.h"

/* A round is the time until everything that was under way at its start has been answered: one round trip. When the limit
 * held us back during a round and the round was faster than any before, the limit doubles, as in TCP's slow start. When
 * three such rounds bring nothing, the path is full, and the limit goes back to twice what last brought something; then one
 * doubling is tried now and then, since paths change. */
enum { FLAT_ENOUGH = 3, TRY_AGAIN_ROUNDS = 64 };
static const double worth = 1.08;

void depth_init(struct depth *d, uint64_t start, uint64_t max)
{
	*d = (struct depth){ .limit = start < max ? start : max, .max = max };
	d->good = d->limit;
}

void depth_sent(struct depth *d, uint64_t now_us, uint64_t bytes)
{
	d->under_way += bytes;
	d->sent += bytes;
	if (d->round_end == 0) {
		d->round_end = d->sent;
		d->round_start_us = now_us;
		d->round_answered = d->answered;
	}
}

static void grow(struct depth *d)
{
	d->limit = d->limit > d->max / 2 ? d->max : d->limit * 2;
}

static void judge_round(struct depth *d, uint64_t now_us)
{
	uint64_t took = now_us > d->round_start_us ? now_us - d->round_start_us : 1;
	double rate = (double)(d->answered - d->round_answered) / (double)took;

	if (!d->round_full)
		return;
	if (rate > d->best_rate * worth) {
		d->best_rate = rate;
		d->good = d->limit;
		d->flat_rounds = 0;
		grow(d);
		return;
	}
	d->flat_rounds++;
	if (d->flat_rounds < FLAT_ENOUGH)
		grow(d);
	else if (d->flat_rounds == FLAT_ENOUGH)
		d->limit = d->good > d->max / 2 ? d->max : d->good * 2;
	else if (d->flat_rounds >= TRY_AGAIN_ROUNDS) {
		d->flat_rounds = FLAT_ENOUGH - 1;
		d->best_rate = rate;
		grow(d);
	}
}

void depth_answered(struct depth *d, uint64_t now_us, uint64_t bytes)
{
	d->under_way -= bytes < d->under_way ? bytes : d->under_way;
	d->answered += bytes;
	if (d->round_end == 0 || d->answered < d->round_end)
		return;
	judge_round(d, now_us);
	d->round_full = false;
	d->round_end = d->under_way > 0 ? d->sent : 0;
	d->round_start_us = now_us;
	d->round_answered = d->answered;
}

bool depth_has_room(struct depth *d)
{
	if (d->under_way == 0 || d->under_way < d->limit)
		return true;
	d->round_full = true;
	return false;
}
