/* Figures of the progress meter and its line. */
#include "xfer/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { STALLED_US = 5000000, TICK_LEAST_US = 100000 };

void progress_begin(struct progress *p, uint64_t now_us, uint64_t size, uint64_t at)
{
	*p = (struct progress){ .size = size > at ? size : at, .at = at, .first = at, .start_us = now_us, .tick_us = now_us,
		.moved_us = now_us, .tick_at = at };
}

void progress_move(struct progress *p, uint64_t at)
{
	if (at > p->at)
		p->at = at;
	if (p->at > p->size)
		p->size = p->at;
}

void progress_tick(struct progress *p, uint64_t now_us)
{
	uint64_t took = now_us - p->tick_us;

	if (p->ended || took < TICK_LEAST_US)
		return;
	p->interval_rate = (double)(p->at - p->tick_at) * 1e6 / (double)took;
	if (p->interval_rate > p->peak_rate)
		p->peak_rate = p->interval_rate;
	p->smooth_rate = p->smooth_rate > 0 ? p->smooth_rate * 0.9 + p->interval_rate * 0.1 : p->interval_rate;
	if (p->at != p->tick_at)
		p->moved_us = now_us;
	p->tick_us = now_us;
	p->tick_at = p->at;
}

void progress_end(struct progress *p, uint64_t now_us)
{
	progress_tick(p, now_us);
	/* A file that was over within a tick has its average as its peak. */
	if (p->peak_rate < progress_average(p, now_us))
		p->peak_rate = progress_average(p, now_us);
	p->ended = true;
}

unsigned progress_percent(const struct progress *p)
{
	unsigned percent;

	if (p->ended)
		return 100;
	if (p->size == 0)
		return 0;
	percent = (unsigned)((double)p->at * 100.0 / (double)p->size);
	return percent > 99 ? 99 : percent;
}

double progress_average(const struct progress *p, uint64_t now_us)
{
	uint64_t took = now_us - p->start_us;

	/* The clock has a resolution: 1 ms is the least that makes sense. */
	return (double)(p->at - p->first) * 1e6 / (double)(took < 1000 ? 1000 : took);
}

int64_t progress_left(const struct progress *p)
{
	double left = p->smooth_rate > 0 ? (double)(p->size - p->at) / p->smooth_rate : -1;

	return left < 0 || left > 359999999.0 ? -1 : (int64_t)(left + 0.5);
}

bool progress_stalled(const struct progress *p, uint64_t now_us)
{
	return !p->ended && now_us - p->moved_us >= STALLED_US;
}

/* "1234KB" with decimals 0, "123.4KB" with 1: three or four digits. */
static void format_amount(double bytes, unsigned decimals, char *dst, size_t size)
{
	static const char *const units[] = { " B", "KB", "MB", "GB", "TB", "PB", "EB" };
	size_t unit = 0;

	while (bytes >= 999.95 && unit + 1 < sizeof units / sizeof units[0]) {
		bytes /= 1024;
		unit++;
	}
	if (decimals > 0 && unit == 0) {         /* no tenths of bytes */
		bytes /= 1024;
		unit = 1;
	}
	(void)snprintf(dst, size, "%*.*f%s", decimals > 0 ? 5 : 4, (int)decimals, bytes, units[unit]);
}

static void format_time(int64_t seconds, char *dst, size_t size)
{
	if (seconds < 0)
		(void)snprintf(dst, size, "  --:--");
	else if (seconds >= 3600)
		(void)snprintf(dst, size, "%" PRId64 ":%02d:%02d", seconds / 3600, (int)(seconds / 60 % 60), (int)(seconds % 60));
	else
		(void)snprintf(dst, size, "  %02d:%02d", (int)(seconds / 60), (int)(seconds % 60));
}

/* name, cut and padded to so many columns; characters of more than one byte count once. Returns the bytes used. */
static size_t format_name(const char *name, unsigned columns, char *dst, size_t size)
{
	size_t used = 0;
	unsigned seen = 0;

	while (*name != '\0' && used + 1 < size) {
		bool continues = ((unsigned char)*name & 0xc0) == 0x80;

		if (!continues && seen == columns)
			break;
		if (!continues)
			seen++;
		dst[used++] = *name == '\n' || *name == '\t' ? ' ' : *name;
		name++;
	}
	while (seen < columns && used + 1 < size) {
		dst[used++] = ' ';
		seen++;
	}
	dst[used] = '\0';
	return used;
}

void progress_line(const struct progress *p, uint64_t now_us, const char *name, unsigned columns, char *dst, size_t size)
{
	char amount[16], average[16], interval[16], left[32], figures[128];
	size_t used, width;

	format_amount((double)p->at, 0, amount, sizeof amount);
	format_amount(progress_average(p, now_us), 1, average, sizeof average);
	format_amount(p->ended ? p->peak_rate : p->interval_rate, 1, interval, sizeof interval);
	if (progress_stalled(p, now_us))
		(void)str_copy(left, sizeof left, "- stalled -");
	else if (p->ended) {
		format_time((int64_t)((now_us - p->start_us) / 1000000), left, sizeof left - 4);
		(void)snprintf(left + strlen(left), 5, "    ");
	} else {
		format_time(progress_left(p), left, sizeof left - 4);
		(void)snprintf(left + strlen(left), 5, " ETA");
	}
	(void)snprintf(figures, sizeof figures, " %3u%% %s %s/s %s/s %s", progress_percent(p), amount, average, interval, left);
	if (strlen(figures) > columns)
		figures[columns] = '\0';
	width = strlen(figures);
	/* On a narrow terminal the figures matter more than the name. */
	used = format_name(name, columns > width + 1 ? columns - (unsigned)width : 0, dst, size);
	if (used + width < size)
		memcpy(dst + used, figures, width + 1);
}
