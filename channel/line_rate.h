/* channel/line_rate.h: what a socket takes in a second, from what was written to it: arithmetic without I/O.
 *
 * Counted are stretches of a round trip at least, since TCP's slow start sends a burst in each and rests. A stretch in which there was
 * always something to send says what the line takes. One in which the system had nothing left to send in between says only that it
 * takes that much at least. */
#ifndef CHANNEL_LINE_RATE_H
#define CHANNEL_LINE_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_rate {
	uint64_t rate;           /* bytes a second; 0: not known yet */
	uint64_t start_us, bytes;        /* of the stretch; start 0: none */
	bool rested;             /* the system had nothing left to send in it */
};

/* n bytes were written at now_us. ran_dry: before that the system had sent all it had. rtt_us may be 0. True: the rate is another. */
bool line_rate_sent(struct line_rate *r, size_t n, uint64_t now_us, bool ran_dry, uint32_t rtt_us);

#endif
