/* channel/window.c: receive windows as arithmetic. Layer: channel. RFC 4254 §5.2. */
#include "channel/window.h"

enum {
	RTT_UNKNOWN_US = 100 * 1000,
	/* Below this the turn-round of two processes on one machine outweighs the line's. */
	RTT_FLOOR_US = 2000,
	/* In tenths: of the bytes of the last round trip, and of what they are more than those of the one before. On a full path it is
	 * 1.6 to 1.7 times what the path holds, so that a queue as long as the path does not overflow. */
	AHEAD_TENTHS = 16,
	RISE_TENTHS = 11,
	/* A sender in slow start sends a burst in each round trip and rests; the next is twice as long and begins to leave while this
	 * one arrives: wanted are twice the last burst and what came of this one. */
	BURST_TENTHS = 21,
	/* A quarter of a round trip in which most came, four times: what the path can hold, so no more than these of it. */
	PEAK_PARTS = 4,
	PEAK_AHEAD_TENTHS = 17,
	PEAK_BURST_TENTHS = 12,
	PROBED_MAX = 16 * 1024 * 1024,
	BARRED_ROUNDS = 4,       /* after the sink was behind */
	PACKETS_ABOUT = 4
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
	/* A few packets may lie about, also in a small window. */
	if (w->unconsumed > w->size / 2 && w->unconsumed > PACKETS_ABOUT * (uint64_t)w->max_packet)
		w->behind = true;
	return w->overrun <= w->size / 10;
}

/* Counts n bytes at now_us. */
static void window_count(struct window *w, uint32_t n, uint64_t now_us, uint32_t rtt_us)
{
	uint64_t length = rtt_us / WINDOW_SLOTS, passed;

	if (w->slot_start_us == 0)
		w->slot_start_us = now_us;
	passed = now_us > w->slot_start_us ? (now_us - w->slot_start_us) / length : 0;
	w->slot_start_us += passed * length;
	for (uint64_t i = 0; i < passed && i < 2 * WINDOW_SLOTS; i++) {
		w->at = (w->at + 1) % (2 * WINDOW_SLOTS);
		w->slot[w->at] = 0;
	}
	w->slot[w->at] = n > UINT32_MAX - w->slot[w->at] ? UINT32_MAX : w->slot[w->at] + n;
}

/* Bytes of the last round trip (0), of the one before (1). */
static uint64_t window_sum(const struct window *w, unsigned before)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < WINDOW_SLOTS; i++)
		sum += w->slot[(w->at + (2 - before) * WINDOW_SLOTS - i) % (2 * WINDOW_SLOTS)];
	return sum;
}

/* What a round trip would bring if all of it were like its best part. */
static uint64_t window_peak(const struct window *w)
{
	enum { PART = WINDOW_SLOTS / PEAK_PARTS };
	uint64_t most = 0;

	/* The ring begins behind the newest. */
	for (unsigned i = 1; i + PART <= 2 * WINDOW_SLOTS + 1; i++) {
		uint64_t sum = 0;

		for (unsigned j = 0; j < PART; j++)
			sum += w->slot[(w->at + i + j) % (2 * WINDOW_SLOTS)];
		if (sum > most)
			most = sum;
	}
	return most * PEAK_PARTS;
}

/* The window that lets a sender do as it likes. */
static uint64_t window_need(const struct window *w)
{
	uint64_t last = window_sum(w, 0), before = window_sum(w, 1), peak = window_peak(w);
	uint64_t ahead = last * AHEAD_TENTHS / 10, burst = before * BURST_TENTHS / 10 + last;

	if (last > before)
		ahead += (last - before < last / 2 ? last - before : last / 2) * RISE_TENTHS / 10;
	if (ahead > peak * PEAK_AHEAD_TENTHS / 10)
		ahead = peak * PEAK_AHEAD_TENTHS / 10;
	if (burst > peak * PEAK_BURST_TENTHS / 10)
		burst = peak * PEAK_BURST_TENTHS / 10;
	return ahead > burst ? ahead : burst;
}

/* What was consumed late arrived before: it says nothing about the path. */
static bool window_sink_keeps_up(struct window *w, uint64_t now_us, uint32_t rtt_us)
{
	if (w->behind)
		w->barred_until_us = now_us + (uint64_t)BARRED_ROUNDS * rtt_us;
	w->behind = false;
	return now_us >= w->barred_until_us;
}

static uint32_t window_grow(struct window *w, uint64_t need)
{
	uint64_t doubled = 2 * (uint64_t)w->size;
	uint64_t want = need < doubled ? need : doubled;
	uint32_t old = w->size;

	/* A thirty-second part is worth a step. */
	if (w->fixed || want < old + (uint64_t)old / 32)
		return 0;
	w->size = want > w->cap ? w->cap : (uint32_t)want;
	return w->size - old;
}

/* Where round trips are longer than the least for reasons that more bytes do not change (others' queues, a radio), the rule
 * below never asks for more. So a window of moderate size that is used up within the round trips there are grows a little, as long
 * as that pays. Counts the bytes of such a round; returns the size wanted. */
static uint64_t window_probe(struct window *w, uint32_t n, uint64_t now_us, uint32_t rtt_us)
{
	uint64_t took, bytes;

	if (w->round_start_us == 0)
		w->round_start_us = now_us;
	w->round_bytes += n;
	took = now_us > w->round_start_us ? now_us - w->round_start_us : 0;
	if (took < rtt_us)
		return 0;
	bytes = w->round_bytes * rtt_us / took;
	w->round_bytes = 0;
	w->round_start_us = now_us;
	if (w->size >= PROBED_MAX || bytes * 5 / 4 < w->size || bytes / rtt_us < w->paid + w->paid / 10)
		return 0;
	w->paid = bytes / rtt_us;
	return w->size + (uint64_t)w->size / 4;
}

uint32_t window_consumed(struct window *w, uint32_t n, uint64_t now_us, const struct window_path *path)
{
	uint32_t least_us = path->least_rtt_us != 0 ? path->least_rtt_us : RTT_UNKNOWN_US;
	uint64_t need, probe;

	w->unconsumed -= min_u32(n, w->unconsumed);
	w->least_rtt_us = least_us;
	if (least_us < RTT_FLOOR_US)
		least_us = RTT_FLOOR_US;
	window_count(w, n, now_us, least_us);
	probe = window_probe(w, n, now_us, path->rtt_us > least_us ? path->rtt_us : least_us);
	if (!window_sink_keeps_up(w, now_us, least_us))
		return 0;
	need = window_need(w);
	return window_grow(w, need > probe ? need : probe);
}

/* How much of the window is used. Where round trips are shorter than the floor it is larger than the
 * path, so that a sender goes on while this end is kept from its work; what is more than the path then
 * lies unread in front of whatever comes next. */
static uint32_t window_used(const struct window *w)
{
	bool longer = w->least_rtt_us == 0 || w->least_rtt_us >= RTT_FLOOR_US;
	uint64_t path;

	if (!w->typing || longer || w->size <= WINDOW_DEFAULT)
		return w->size;
	path = (uint64_t)w->size * w->least_rtt_us / RTT_FLOOR_US;
	return path > WINDOW_DEFAULT ? (uint32_t)path : WINDOW_DEFAULT;
}

uint32_t window_grant(struct window *w)
{
	uint64_t held = (uint64_t)w->left + w->unconsumed;
	uint32_t due, used = window_used(w);

	if (held >= used)
		return 0;
	due = used - (uint32_t)held;
	/* A sixteenth of the window is worth a packet; less only when the peer runs dry. */
	if (due < used / 16 && w->left >= w->max_packet)
		return 0;
	w->left += due;
	return due;
}
