/* server/startups.c: admission arithmetic of the listener. */
#include "server/startups.h"

enum { DROP_LOG_BURST_MS = 60 * 1000 };

unsigned startups_refuse_percent(const struct startups_limits *l, unsigned n)
{
	if (n < l->start)
		return 0;
	if (n >= l->full || l->full <= l->start)
		return 100;
	return l->rate + (unsigned)((uint64_t)(100 - l->rate) * (n - l->start) / (l->full - l->start));
}

bool startups_admit(const struct startups_limits *l, unsigned n, unsigned same_source, unsigned random)
{
	return same_source < l->per_source && random >= startups_refuse_percent(l, n);
}

bool drop_log_ask(struct drop_log *d, uint64_t now_ms, unsigned *suppressed)
{
	*suppressed = 0;
	if (d->used && now_ms - d->last_ms < DROP_LOG_BURST_MS) {
		d->suppressed++;
		return false;
	}
	*suppressed = d->suppressed;
	*d = (struct drop_log){ .last_ms = now_ms, .used = true };
	return true;
}
