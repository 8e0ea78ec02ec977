/* channel/window.c: receive windows as arithmetic. Layer: channel. RFC 4254 §5.2. */
#include "channel/window.h"

enum {
	RTT_UNKNOWN_US = 100 * 1000,
	/* Below this the turn-round of two processes on one machine outweighs the line's. */
	RTT_FLOOR_US = 2000
};

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

void window_init(struct window *w, uint32_t size, uint32_t cap, uint32_t max_packet)
{
	*w = (struct window){ .size = size, .cap = cap > size ? cap : size, .max_packet = max_packet };
}

bool window_received(struct window *w, uint32_t n)
{
	uint32_t over = n > w->left ? n - w->left : 0;

	w->left -= n - over;
	w->unconsumed += n;
	w->overrun += over;
	return w->overrun <= w->size / 10;
}

/* What the line could use: twice the bytes of a round trip at the rate seen. */
static uint64_t window_need(uint64_t bytes, uint64_t elapsed_us, uint32_t rtt_us)
{
	return 2 * bytes * rtt_us / elapsed_us;
}

static uint32_t window_grow(struct window *w, uint64_t need)
{
	uint64_t doubled = 2 * (uint64_t)w->size;
	uint64_t want = need < doubled ? need : doubled;
	uint32_t old = w->size;

	if (w->fixed || want <= w->size)
		return 0;
	w->size = want > w->cap ? w->cap : (uint32_t)want;
	return w->size - old;
}

uint32_t window_consumed(struct window *w, uint32_t n, uint64_t now_us, uint32_t rtt_us)
{
	uint32_t grown = 0;
	uint64_t elapsed;

	w->unconsumed -= min_u32(n, w->unconsumed);
	if (rtt_us == 0)
		rtt_us = RTT_UNKNOWN_US;
	if (rtt_us < RTT_FLOOR_US)
		rtt_us = RTT_FLOOR_US;
	if (w->round_start_us == 0) {
		w->round_start_us = now_us;
		return 0;
	}
	w->round_bytes += n;
	elapsed = now_us - w->round_start_us;
	if (elapsed < rtt_us)
		return 0;
	grown = window_grow(w, window_need(w->round_bytes, elapsed, rtt_us));
	w->round_start_us = now_us;
	w->round_bytes = 0;
	return grown;
}

uint32_t window_grant(struct window *w)
{
	uint64_t held = (uint64_t)w->left + w->unconsumed;
	uint32_t due;

	if (held >= w->size)
		return 0;
	due = w->size - (uint32_t)held;
	/* A sixteenth of the window is worth a packet; less only when the peer runs dry. */
	if (due < w->size / 16 && w->left >= w->max_packet)
		return 0;
	w->left += due;
	return due;
}
