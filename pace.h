/* pace.h: whether a stretch of work goes faster by several threads than by one: tried out while it goes on, since nothing else
 * can tell. A count of processors does not say whether one is free, and a free one may be needed by the other end. Engine.
 *
 * Arithmetic without clocks and threads: bytes and times in, the mode for what comes next out. */
#ifndef PACE_H
#define PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PACE_STEP_BYTES = 4 * 1024 * 1024,       /* a step is at least so much work */
	PACE_STEP_US = 1500,                     /* and takes at least so long */
	PACE_WATCH_STEPS = 6,                    /* so many busy ones before anything is tried */
	/* A trial: blocks without and with, in turn. Buffers between the two ends even out what happens within some
	 * milliseconds, so the first steps of a block tell of the one before and are left out. It ends with the first pair
	 * of blocks that shows no gain: where threads do harm, 16 MiB are as much as that costs. */
	PACE_BLOCK_SKIP = 2, PACE_BLOCK_COUNTED = 2, PACE_BLOCKS = 8,
	PACE_GAIN_ON = 106, PACE_GAIN_KEEP = 103,        /* percent of the speed without */
	PACE_GAIN_SLACK = 2,             /* less is enough until the last pair */
	PACE_HOLD_FIRST_US = 1000 * 1000, PACE_HOLD_MAX_US = 32 * 1000 * 1000
};

enum pace_state { PACE_WATCH, PACE_TRIAL, PACE_ON, PACE_OFF };

struct pace {
	enum pace_state state;
	uint64_t bytes;                  /* of the step that is under way */
	uint64_t wall_us, cpu_us;        /* at its beginning; 0: not known */
	unsigned steps;                  /* of this state or block, that counted */
	unsigned block, idle;
	bool was_on;                     /* before this trial */
	uint64_t sum[2];                 /* of all counted steps, without and with: picoseconds a byte */
	uint64_t taken[2][PACE_BLOCKS / 2 * PACE_BLOCK_COUNTED];         /* each of them */
	unsigned count[2];
	uint64_t hold_us, hold_until_us;
	unsigned gain;                   /* of the last trial, in percent as above; 0: none yet */
};

/* All zeros is the beginning. */
/* Several threads are to do what comes now. */
bool pace_shares(const struct pace *p);
/* n bytes have been done. True: now pace_step is to be called, which costs the caller two looks at clocks. */
bool pace_add(struct pace *p, size_t n);
/* Monotonic time and processor time of the calling thread, now. True: the mode has been decided anew (state and gain tell). */
bool pace_step(struct pace *p, uint64_t wall_us, uint64_t cpu_us);

#endif
