/* A bucket of credit in bytes that fills with time. */
#include "xfer/throttle.h"

static const double burst_us = 50000, piece_us = 50000;

void throttle_init(struct throttle *t, uint64_t limit_bits, uint64_t now_us)
{
	*t = (struct throttle){ .bytes_per_us = (double)limit_bits / 8e6, .last_us = now_us };
	t->burst = t->bytes_per_us * burst_us;
}

uint64_t throttle_wait(struct throttle *t, uint64_t now_us)
{
	if (t->bytes_per_us <= 0)
		return 0;
	if (now_us > t->last_us) {
		t->credit += (double)(now_us - t->last_us) * t->bytes_per_us;
		t->last_us = now_us;
		if (t->credit > t->burst)
			t->credit = t->burst;
	}
	return t->credit >= 0 ? 0 : (uint64_t)(-t->credit / t->bytes_per_us) + 1;
}

void throttle_took(struct throttle *t, uint64_t bytes)
{
	if (t->bytes_per_us > 0)
		t->credit -= (double)bytes;
}

uint32_t throttle_piece(const struct throttle *t, uint32_t max)
{
	double piece = t->bytes_per_us * piece_us;

	if (t->bytes_per_us <= 0 || piece >= (double)max)
		return max;
	return piece < 1024 ? (max < 1024 ? max : 1024) : (uint32_t)piece;
}
