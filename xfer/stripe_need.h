/* xfer/stripe_need.h: whether an upload needs more channels. A channel carries one window of its receiver a round trip; a
 * receiver whose window does not grow (OpenSSH: 2 MiB) holds a far sender back however fast the line is, and each further
 * channel has a window of its own. Arithmetic without I/O. */
#ifndef XFER_STRIPE_NEED_H
#define XFER_STRIPE_NEED_H

#include <stdbool.h>
#include <stdint.h>

struct stripe_need {
	uint64_t sent, answered;         /* bytes in all */
	uint64_t held;                   /* under way when the window was last used up */
	uint64_t round_us;               /* when this round began; 0: no data yet */
	uint64_t round_answered;         /* what was answered then */
	uint64_t blocked_us;             /* in this round: time in which only the window was missing, */
	uint64_t blocked_since_us;       /* and since when it is; 0: it is not */
};

/* So many bytes more were sent; were answered. */
void stripe_need_sent(struct stripe_need *n, uint64_t now_us, uint64_t bytes);
void stripe_need_answered(struct stripe_need *n, uint64_t bytes);
/* The window is used up. Lasts until more is sent. */
void stripe_need_blocked(struct stripe_need *n, uint64_t now_us);
/* The round that ends now was one in which more windows would have helped: the far side is far (rtt_us, the least round trip; 0:
 * not known), most of the time the window was what was missing, and what it holds came back once a round trip: the receiver
 * is not what is slow, and nothing queues on the way. */
bool stripe_need_more(struct stripe_need *n, uint64_t now_us, uint32_t rtt_us);

#endif
