/* channel/window.h: how much a peer may send us: arithmetic without I/O (RFC 4254 §5.2; design 3).
 *
 * The sink sets the pace: only bytes that were consumed are given back. The window grows while the sink keeps up and the
 * sender was held back by it: every round trip in which more than half of the window was used doubles it, at most to twice
 * what the measured rate needs for the measured round trip, and never over the cap. It never shrinks. */
#ifndef CHANNEL_WINDOW_H
#define CHANNEL_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct window {
	uint32_t size;           /* what we want outstanding at most */
	uint32_t left;           /* what the peer may still send */
	uint32_t unconsumed;     /* received, not consumed yet */
	uint32_t cap;            /* size never exceeds it */
	uint32_t max_packet;
	bool fixed;              /* HPNDisabled, TcpRcvBufPoll no */
	uint64_t round_start_us; /* of the round being measured */
	uint64_t round_bytes;    /* consumed in it */
	uint32_t overrun;        /* bytes beyond the window so far (tolerated up to a tenth of it, spec wire-extensions 1) */
};

enum { WINDOW_DEFAULT = 2 * 1024 * 1024, WINDOW_CAP = 128 * 1024 * 1024, WINDOW_CAP_STOCK = 15 * 1024 * 1024 };

void window_init(struct window *w, uint32_t size, uint32_t cap, uint32_t max_packet);
/* n bytes arrived. False: the peer broke the window by more than is tolerated. */
bool window_received(struct window *w, uint32_t n);
/* n of them were consumed. Returns the grant to send now in a WINDOW_ADJUST, 0 if none is due. */
uint32_t window_consumed(struct window *w, uint32_t n, uint64_t now_us, uint32_t rtt_us);
/* A grant that window_consumed gave could not be sent (an exchange runs): asks again afterwards. */
uint32_t window_due(struct window *w);
/* The growth budget of a connection: how much more the caps of all channels may add (design 3: 512 MiB). */
enum { WINDOW_GROWTH_BUDGET = 512 * 1024 * 1024 };

#endif
