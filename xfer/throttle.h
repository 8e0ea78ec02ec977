/* xfer/throttle.h: -l: when the next bytes may move. Arithmetic without I/O. */
#ifndef XFER_THROTTLE_H
#define XFER_THROTTLE_H

#include <stdint.h>

struct throttle {
	double bytes_per_us;             /* 0: no limit */
	double credit, burst;            /* bytes that may go at once; burst: at most so many are saved up */
	uint64_t last_us;
};
/* limit in bit/s; 0 none. */
void throttle_init(struct throttle *t, uint64_t limit_bits, uint64_t now_us);
/* Microseconds to wait before the next piece may go; 0: now. */
uint64_t throttle_wait(struct throttle *t, uint64_t now_us);
/* So many went. The credit may become negative: the next piece waits for it. */
void throttle_took(struct throttle *t, uint64_t bytes);
/* How large one piece should be, for a smooth flow: about 50 ms of the limit, at least 1 KiB, at most max. */
uint32_t throttle_piece(const struct throttle *t, uint32_t max);

#endif
