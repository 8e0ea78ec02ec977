/* channel/window.h: how much a peer may send us: arithmetic without I/O (RFC 4254 §5.2).
 *
 * The sink sets the pace: only bytes that were consumed are given back. The window follows what was consumed within the last
 * round trip and is kept ahead of that: a sender in TCP's slow start is never held back, and on a full path less than one round
 * trip's worth of bytes lies in queues on the way. A sink that falls behind keeps it from growing. It never
 * shrinks and never exceeds its cap. */
#ifndef CHANNEL_WINDOW_H
#define CHANNEL_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

enum { WINDOW_SLOTS = 8 };               /* parts of a round trip that are counted apart */

struct window {
	uint32_t size;           /* what may be outstanding or unconsumed at most */
	uint32_t left;           /* what the peer may still send */
	uint32_t unconsumed;     /* received, not consumed yet */
	uint32_t cap;            /* size never exceeds it */
	uint32_t max_packet;     /* what we told the peer */
	uint32_t overrun;        /* bytes beyond the window so far */
	bool fixed;              /* HPNDisabled, TcpRcvBufPoll no: never grows */
	bool typing;             /* on another channel: keys wait behind what lies here */
	bool behind;             /* the sink left half of the window unconsumed, seen since the last call of window_consumed */
	uint64_t barred_until_us;        /* no growth before that: the sink was behind */
	uint32_t least_rtt_us;   /* when bytes were last consumed; 0: they were not yet */
	uint64_t slot_start_us;  /* of slot[at]; 0: nothing was counted yet */
	uint32_t slot[2 * WINDOW_SLOTS];         /* bytes consumed in the last two round trips, in a ring */
	unsigned at;
	uint64_t round_start_us, round_bytes;    /* a round trip as long as they are now */
	uint64_t paid;           /* bytes a microsecond when it last grew for want of a whole round trip */
};

struct window_path {
	uint32_t least_rtt_us;   /* without queues: the least that was seen lately; 0: unknown (pipes): 100 ms are assumed */
	uint32_t rtt_us;         /* as it is now */
};

enum {
	WINDOW_DEFAULT = 2 * 1024 * 1024,
	WINDOW_CAP = 128 * 1024 * 1024,          /* a channel */
	WINDOW_CAP_STOCK = 15 * 1024 * 1024,     /* stock senders degrade at 16 MiB (HPN-README 2) */
	WINDOW_GROWTH_BUDGET = 512 * 1024 * 1024 /* all channels of a connection together */
};

/* left starts as 0: the first grant opens the window. */
void window_init(struct window *w, uint32_t size, uint32_t cap, uint32_t max_packet);
/* n bytes arrived. False: the peer broke the window by more than a tenth of it in total; OpenSSH lets as much pass. */
bool window_received(struct window *w, uint32_t n);
/* n bytes of those were consumed at now_us. Returns by how much the window grew. */
uint32_t window_consumed(struct window *w, uint32_t n, uint64_t now_us, const struct window_path *path);
/* The WINDOW_ADJUST to send now, 0 if none is worth a packet. It counts as sent. While somebody types
 * less of the window is used where most of it would lie in a queue at this end. */
uint32_t window_grant(struct window *w);

#endif
