/* channel/line_rate.c: what a socket takes in a second. Layer: channel. */
#include "channel/line_rate.h"

enum {
	STRETCH_US = 50 * 1000,
	TELLING_US = 5 * 1000    /* less than this says nothing */
};

static bool set(struct line_rate *r, uint64_t rate)
{
	bool other = rate != r->rate;

	r->rate = rate;
	return other;
}

static void begin(struct line_rate *r, uint64_t now_us)
{
	r->start_us = now_us;
	r->bytes = 0;
	r->rested = false;
}

static uint64_t rate_until(const struct line_rate *r, uint64_t passed_us)
{
	return r->bytes * 1000000 / passed_us;
}

bool line_rate_sent(struct line_rate *r, size_t n, uint64_t now_us, bool ran_dry, uint32_t rtt_us)
{
	uint64_t least_us = rtt_us > STRETCH_US ? rtt_us : STRETCH_US;
	uint64_t passed_us = now_us > r->start_us ? now_us - r->start_us : 0;
	bool other = false;

	if (r->start_us == 0 || (ran_dry && passed_us >= least_us)) {
		if (r->rate != 0 && r->bytes > 0 && rate_until(r, passed_us) > r->rate)
			other = set(r, rate_until(r, passed_us));
		begin(r, now_us);
		r->bytes = n;
		return other;
	}
	if (ran_dry) {
		r->rested = true;
		/* All that was counted has left. Of a line that nobody has seen full yet, what a login sends says nothing. */
		if (r->rate != 0 && passed_us >= TELLING_US && rate_until(r, passed_us) > r->rate)
			other = set(r, rate_until(r, passed_us));
	}
	r->bytes += n;
	if (passed_us < least_us)
		return other;
	if (!r->rested)
		other = set(r, rate_until(r, passed_us));
	begin(r, now_us);
	return other;
}
