/* xfer/depth.h: how many bytes of requests to keep under way. Arithmetic without I/O: it follows the path, growing as long
 * as more under way brings more throughput. */
#ifndef XFER_DEPTH_H
#define XFER_DEPTH_H

#include <stdbool.h>
#include <stdint.h>

struct depth {
	uint64_t limit, max;             /* bytes under way now at most, and ever at most */
	uint64_t good;                   /* the limit that last brought more throughput */
	uint64_t under_way;
	uint64_t sent, answered;         /* totals */
	uint64_t round_end;              /* the round is over when `answered` reaches this */
	uint64_t round_start_us, round_answered;
	bool round_full;                 /* the limit held us back in this round */
	double best_rate;                /* bytes per microsecond */
	unsigned flat_rounds;            /* full rounds in a row that brought nothing */
};

/* A request under way costs neither side more than its own few bytes: what was sent and is not read is bounded by the window, and
 * answers are made as they can leave. So the start is what fills most paths from the first round trip on. */
enum { DEPTH_START = 16 * 1024 * 1024, DEPTH_MAX = 256 * 1024 * 1024 };

void depth_init(struct depth *d, uint64_t start, uint64_t max);
void depth_sent(struct depth *d, uint64_t now_us, uint64_t bytes);
/* bytes as given to depth_sent, also when fewer came. */
void depth_answered(struct depth *d, uint64_t now_us, uint64_t bytes);
/* May another request go out? There is always room for one when nothing is under way. Notes that the limit held. */
bool depth_has_room(struct depth *d);

#endif
