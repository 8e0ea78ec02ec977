/* Whether an upload needs more channels. */
#include "xfer/stripe_need.h"

/* Nearer than this a window of 2 MiB carries 400 MB/s and more. */
enum { FAR_US = 5000 };
/* What is answered in a round trip, of what is under way. A receiver opens its window in steps. */
static const double comes_back = 0.6;

void stripe_need_sent(struct stripe_need *n, uint64_t now_us, uint64_t bytes)
{
	if (n->round_us == 0)
		n->round_us = now_us;
	if (n->blocked_since_us != 0) {
		n->blocked_us += now_us - n->blocked_since_us;
		n->blocked_since_us = 0;
	}
	n->sent += bytes;
}

void stripe_need_answered(struct stripe_need *n, uint64_t bytes)
{
	n->answered += bytes;
}

void stripe_need_blocked(struct stripe_need *n, uint64_t now_us)
{
	if (n->blocked_since_us == 0)
		n->blocked_since_us = now_us;
	n->held = n->sent - n->answered;
}

bool stripe_need_more(struct stripe_need *n, uint64_t now_us, uint32_t rtt_us)
{
	uint64_t took = now_us - n->round_us, blocked = n->blocked_us;
	double per_trip;

	if (rtt_us < FAR_US || n->round_us == 0 || took < rtt_us)
		return false;
	if (n->blocked_since_us != 0) {
		blocked += now_us - n->blocked_since_us;
		n->blocked_since_us = now_us;
	}
	per_trip = (double)(n->answered - n->round_answered) * rtt_us / (double)took;
	n->round_us = now_us;
	n->round_answered = n->answered;
	n->blocked_us = 0;
	return blocked >= took / 2 && per_trip >= (double)n->held * comes_back;
}
