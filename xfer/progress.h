/* xfer/progress.h: the progress meter: figures (arithmetic without I/O), the line, and the thing on the terminal. */
#ifndef XFER_PROGRESS_H
#define XFER_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- figures of one file */

struct progress {
	uint64_t size, at, first;        /* bytes: expected, so far, at the beginning (a resumed file) */
	uint64_t start_us, tick_us, moved_us;
	uint64_t tick_at;
	double interval_rate, peak_rate, smooth_rate;    /* bytes per second */
	bool ended;
};
void progress_begin(struct progress *p, uint64_t now_us, uint64_t size, uint64_t at);
void progress_move(struct progress *p, uint64_t at);     /* never back; beyond size, size grows */
void progress_tick(struct progress *p, uint64_t now_us); /* about once a second */
void progress_end(struct progress *p, uint64_t now_us);
unsigned progress_percent(const struct progress *p);     /* 100 only at the end */
double progress_average(const struct progress *p, uint64_t now_us);
/* Seconds left; -1: nothing moves, not known. */
int64_t progress_left(const struct progress *p);
bool progress_stalled(const struct progress *p, uint64_t now_us);       /* nothing for 5 s */

/* The line without its end, `columns` wide at most: name, percent, bytes, average rate, rate of the last interval (at the
 * end: the highest one), time left (at the end: taken). size of dst at least 4 * columns + 1. */
void progress_line(const struct progress *p, uint64_t now_us, const char *name, unsigned columns, char *dst, size_t size);

/* ---- on a terminal */

struct loop;
struct meter;
/* NULL if fd is no terminal: every call takes a NULL meter and does nothing. */
struct meter *meter_new(struct loop *l, int fd);
void meter_free(struct meter *m);
void meter_begin(struct meter *m, const char *name, uint64_t size, uint64_t at);
void meter_move(struct meter *m, uint64_t at);
/* Ends the line. complete false: the line stays as it was. */
void meter_end(struct meter *m, bool complete);
void meter_resized(struct meter *m);
/* Before something else is printed: goes to a fresh line. */
void meter_clear(struct meter *m);

#endif
