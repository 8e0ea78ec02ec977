/* channel/window.h: how much a peer may send us: arithmetic without I/O (RFC 4254 §5.2; design 3).
 *
 * The sink sets the pace: only bytes that were consumed are given back. The window grows while the sink keeps up and the
 * sender was held back by it: a round trip in which more than half of the window was used lets it grow to twice what the
 * measured rate needs for the measured round trip. It never shrinks and never exceeds its cap. */
#ifndef CHANNEL_WINDOW_H
#define CHANNEL_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct window {
	uint32_t size;           /* what may be outstanding or unconsumed at most */
	uint32_t left;           /* what the peer may still send */
	uint32_t unconsumed;     /* received, not consumed yet */
	uint32_t cap;            /* size never exceeds it */
	uint32_t max_packet;     /* what we told the peer */
	uint32_t overrun;        /* bytes beyond the window so far */
	bool fixed;              /* HPNDisabled, TcpRcvBufPoll no: never grows */
	uint64_t round_start_us; /* of the round being measured; 0: none */
	uint64_t round_bytes;    /* consumed in it */
};

enum {
	WINDOW_DEFAULT = 2 * 1024 * 1024,
	WINDOW_CAP = 128 * 1024 * 1024,          /* a channel */
	WINDOW_CAP_STOCK = 15 * 1024 * 1024,     /* stock senders degrade at 16 MiB (spec hpn 4.6) */
	WINDOW_GROWTH_BUDGET = 512 * 1024 * 1024 /* all channels of a connection together */
};

/* left starts as 0: the first grant opens the window. */
void window_init(struct window *w, uint32_t size, uint32_t cap, uint32_t max_packet);
/* n bytes arrived. False: the peer broke the window by more than a tenth of it in total (spec wire-extensions 1). */
bool window_received(struct window *w, uint32_t n);
/* n bytes of those were consumed at now_us. rtt_us 0: unknown (pipes): 100 ms are assumed. Returns by how much the window
 * grew. */
uint32_t window_consumed(struct window *w, uint32_t n, uint64_t now_us, uint32_t rtt_us);
/* The WINDOW_ADJUST to send now, 0 if none is worth a packet. It counts as sent. */
uint32_t window_grant(struct window *w);

#endif
