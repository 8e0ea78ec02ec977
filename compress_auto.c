/* compress_auto.c: the controller of compression. Engine; no clock, no I/O.
 *
 * The time that a byte of payload needs at level L is the larger of what the processor needs, c(L) + b + w r(L), and what the
 * line needs, r(L) / line: c what packing costs, r what remains, b and w everything else a byte of payload and a byte on the line
 * cost. c and r of the level in use are measured on all that is packed; those of others on samples of the same bytes, so that
 * what differs is the level and not the data. The line is known while more waits for it than it takes; where packing is what
 * limits, a short burst of raw bytes asks it. Data that does not shrink goes raw at once, whatever the level; samples tell
 * when that has changed. */
#include "compress_auto.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

enum {
	SLICE_US = 1000,                 /* how often the line is looked at */
	GAP_US = 500 * 1000,             /* nothing moved for so long: what was before is over */
	WINDOW_US = 20 * 1000, WINDOW_LONG_US = 250 * 1000,
	BUSY_LEAST = 2048, QUEUE_US = 5 * 1000,
	FREE_US = 4 * SLICE_US,
	WINDOW_BYTES = 12 * 1024,        /* fewer packets than these tell nothing in a short time */
	EXPLORE_US = 500 * 1000, EXPLORE_BYTES = 256 * 1024, EXPLORE_LEAST = 16 * 1024, EXPLORE_PART = 125, EXPLORE_WAIT_US = 30 * 1000,
	START_PENDING = 32 * 1024, START_BYTES = 256 * 1024,
	START_LEVEL = 3, FIRST_LEVEL = 1, START_RATE = 2 * 1000 * 1000,
	LIVE_BYTES = 4096, LIVE_US = 200 * 1000,
	COST_BYTES = 32 * 1024,
	SAMPLE = 16 * 1024, SAMPLE_GATE = 4 * 1024,
	GATE_LEVEL = 3, GATE_BYTES = 2048,
	STALE_US = 300 * 1000,
	/* Leaving compression, and going back to it, takes new keys each time: some milliseconds without data. */
	WITHOUT_LOOK_US = 100 * 1000, WITHOUT_RATE = 150 * 1000 * 1000, WITHOUT_BYTES = 24 * 1024 * 1024, WITHOUT_AGAIN = 4,
	WITHOUT_TIMES = 4, WITH_US = 100 * 1000,
	DEBT_MAX_NS = 3 * 1000 * 1000, BUDGET_MAX_NS = 20 * 1000 * 1000
};
/* Payloads that shrink to less than this are worth packing; above, they are not. */
static const double gate_open = 0.96, gate_shut = 0.97;
static const double better = 0.98;               /* a new level must promise this much of the time */

/* c and r: relative to each other; scale_c, scale_r make them ns and shares. */
struct level { double c, r; uint64_t sampled_us; };

struct compress_auto {
	struct level level[COMPRESS_LEVELS + 1];
	double scale_c, scale_r;
	double prior_c;                          /* of level 1 */
	bool measured;                           /* scales come from data, not from the prior */
	int now;
	bool gated;                              /* the data at hand does not shrink */
	double b, w;                             /* ns a byte */
	double line;                             /* bytes a second; 0: not known to be a limit */
	bool line_guessed;

	/* since the last look */
	uint64_t live_ns, pack_ns, probe_ns;
	uint64_t live_in, live_out, moved_in, moved_out;
	struct compress_line last;
	bool told, idle;
	/* a stretch in which the line always had something to do */
	uint64_t window_us, window_bytes, first_drained;
	uint64_t free_us, free_bytes;            /* and one in which it had not */
	bool starting, first_bytes;
	size_t pending_max;

	uint64_t explore_at_us, explore_end_us, explore_us, explore_bytes;
	size_t explore_left;                     /* raw bytes still to be sent */
	bool exploring, explore_out;

	/* without compression altogether */
	bool without, wants_without;
	uint64_t raw_us, raw_bytes, raw_fast;    /* what went raw in this look; in all looks since the last slow one */
	uint64_t without_bytes;                  /* so much must, before it is tried */
	uint64_t with_us;                        /* packing would have paid for so long */
	unsigned without_times, payloads;        /* so often it was tried; since the last look at the line */

	double budget_ns;                        /* for samples */
	int next_probe;
	struct compress_shares shares;
};

struct compress_auto *compress_auto_new(const struct compress_prior *prior)
{
	struct compress_auto *a = mem_zalloc(sizeof(*a));
	int i;

	for (i = 0; i <= COMPRESS_LEVELS; i++)
		a->level[i] = (struct level){ prior[i].ns_256 / 256.0, prior[i].ratio_1000 / 1000.0, 0 };
	a->scale_c = a->scale_r = 1;
	a->prior_c = a->level[1].c;
	a->b = 0.1;
	a->w = 0.7;
	a->starting = a->first_bytes = true;
	a->pending_max = START_PENDING;
	a->next_probe = 1;
	a->without_bytes = WITHOUT_BYTES;
	return a;
}

void compress_auto_free(struct compress_auto *a)
{
	free(a);
}

/* ---- the model ---- */

static double cost_of(const struct compress_auto *a, int level)
{
	return level == 0 ? 0 : a->scale_c * a->level[level].c;
}

static double rest_of(const struct compress_auto *a, int level)
{
	double r = a->scale_r * a->level[level].r;

	if (level == 0 || r > 1)
		return 1;
	return r < 0.001 ? 0.001 : r;
}

/* Two that work side by side take what the slower one takes, and a little more when they are as slow as each other. */
static double side_by_side(double x, double y)
{
	double high = x > y ? x : y, q = high > 0 ? (x > y ? y : x) / high : 0;

	q *= q;
	q *= q;
	return high * (1 + 0.09 * q * q);
}

static double time_if(const struct compress_auto *a, double c, double r)
{
	return side_by_side(c + a->b + a->w * r, a->line > 0 ? r * 1e9 / a->line : 0);
}

static double time_of(const struct compress_auto *a, int level)
{
	return time_if(a, cost_of(a, level), rest_of(a, level));
}

static void set_level(struct compress_auto *a, int level)
{
	if (level == a->now)
		return;
	/* Before there are new keys samples must show that the data at hand shrinks. */
	if (level == 0 || (a->without && a->now == 0))
		a->gated = level != 0;
	a->now = level;
	a->live_ns = a->live_in = a->live_out = 0;
}

static void choose(struct compress_auto *a)
{
	int level, best = 0;
	double t, least = time_of(a, 0);

	for (level = 1; level <= COMPRESS_LEVELS; level++) {
		t = time_of(a, level);
		if (t < least * 0.995) {
			least = t;
			best = level;
		}
	}
	if (a->line_guessed && best > START_LEVEL)
		best = START_LEVEL;
	if (least < time_of(a, a->now) * better)
		set_level(a, best);
}

/* What waits before anything is known of the line is packed, quickly: nothing on a fast line, and on a slow one it would be in
 * the way for half a second. */
static bool is_first(const struct compress_auto *a)
{
	return a->first_bytes && a->starting && a->now == 0;
}

int compress_auto_level(const struct compress_auto *a)
{
	if (a->without)
		return 0;
	if (is_first(a))
		return FIRST_LEVEL;
	return a->gated || a->explore_left != 0 ? 0 : a->now;
}

/* ---- what is packed ---- */

void compress_auto_raw(struct compress_auto *a, size_t n)
{
	a->moved_in += n;
	a->moved_out += n;
	a->payloads++;
	a->explore_left -= n < a->explore_left ? n : a->explore_left;
}

/* On a slow line packing in vain costs no time, but a payload that goes raw unseen may have been worth packing. */
static bool gate_matters(const struct compress_auto *a, double cost_ns)
{
	return a->line <= 0 || cost_ns + a->b + a->w > 0.8e9 / a->line;
}

void compress_auto_packed(struct compress_auto *a, size_t in, size_t out, uint64_t ns)
{
	a->moved_in += in;
	a->moved_out += out;
	a->pack_ns += ns;
	if (a->now == 0)
		return;          /* the first bytes say nothing about the data to come */
	if (in >= GATE_BYTES && (double)out > gate_shut * (double)in) {
		a->gated = gate_matters(a, (double)ns / (double)in);
		return;          /* what does not shrink says nothing about what does */
	}
	a->live_in += in;
	a->live_out += out;
	a->live_ns += ns;
}

static void approach(double *v, double target, double share)
{
	*v += (target - *v) * share;
}

/* What was packed at the level in use. */
static void learn_live(struct compress_auto *a, uint64_t us)
{
	double c, r, share = (double)us / (double)(us + LIVE_US);

	if (a->now == 0 || a->live_in < LIVE_BYTES)
		return;
	c = (double)a->live_ns / (double)a->live_in / a->level[a->now].c;
	r = (double)a->live_out / (double)a->live_in / a->level[a->now].r;
	approach(&a->scale_c, c, a->measured ? share : 1);
	approach(&a->scale_r, r, a->measured ? share : 1);
	a->measured = true;
	a->live_ns = a->live_in = a->live_out = 0;
}

/* ---- samples ---- */

/* Whether a level could be better than the one in use, if the data suits it better than what is known says. */
static bool hopeful(const struct compress_auto *a, int level)
{
	/* While nothing is packed the data may be anything. */
	double c = cost_of(a, level), r = rest_of(a, level);

	/* What was not looked at for long may be out of date by more. */
	if (a->now != 0 && a->last.now_us - a->level[level].sampled_us > STALE_US)
		return time_if(a, c * 0.25, r * 0.7) < time_of(a, a->now);
	if (a->now != 0)
		return time_if(a, c * 0.6, r * 0.85) < time_of(a, a->now);
	if (level == 1 && c > a->prior_c)
		c = a->prior_c;
	return time_if(a, c * (level == 1 ? 0.25 : 0.5), r * 0.2) < time_of(a, 0);
}

bool compress_auto_ask(const struct compress_auto *a, struct compress_ask *ask)
{
	int i, level, with = a->now != 0 ? a->now : 1;
	double ns;

	if (a->explore_left != 0)
		return false;
	/* Many small ones pass on a fast line, and nothing has changed since the last. */
	if (a->without && a->now == 0 && a->payloads > 1)
		return false;
	if (a->gated) {
		level = a->now < GATE_LEVEL ? a->now : GATE_LEVEL;
		if (level == 0)
			return false;
		*ask = (struct compress_ask){ .level = level, .sample = SAMPLE_GATE };
		/* A processor that waits for the line has the time. */
		return a->idle || a->budget_ns >= cost_of(a, level) * SAMPLE_GATE;
	}
	for (i = 0; i < COMPRESS_LEVELS; i++) {
		level = 1 + (a->next_probe - 1 + i) % COMPRESS_LEVELS;
		if (level == a->now || !hopeful(a, level))
			continue;
		*ask = (struct compress_ask){ .level = level, .with = with != level ? with : 0, .sample = SAMPLE };
		ns = (cost_of(a, level) + (ask->with != 0 ? cost_of(a, with) : 0)) * SAMPLE;
		return a->budget_ns >= (ns < BUDGET_MAX_NS ? ns : BUDGET_MAX_NS * 0.99);
	}
	return false;
}

static void learn_pair(struct compress_auto *a, const struct compress_ask *ask, const struct compress_answer *got)
{
	const double share = 0.4;
	struct level *l = &a->level[ask->level];
	const struct level *with = &a->level[ask->with];
	double c = (double)got->ns / (double)(got->with_ns != 0 ? got->with_ns : 1);
	double r = (double)got->out / (double)(got->with_out != 0 ? got->with_out : 1);

	approach(&l->c, with->c * c, share);
	approach(&l->r, with->r * r, share);
}

void compress_auto_answer(struct compress_auto *a, const struct compress_ask *ask, const struct compress_answer *got)
{
	bool pair = ask->with != 0;
	size_t out = pair ? got->with_out : got->out;
	uint64_t ns = pair ? got->with_ns : got->ns;
	const struct level *seen = &a->level[pair ? ask->with : ask->level];
	double n = (double)got->in;

	if (got->in == 0)
		return;
	a->probe_ns += got->ns + got->with_ns;
	a->budget_ns -= (double)(got->ns + got->with_ns);
	/* What took far longer than it was expected to shall not stop samples for half a second. */
	if (a->budget_ns < -DEBT_MAX_NS)
		a->budget_ns = -DEBT_MAX_NS;
	a->next_probe = 1 + ask->level % COMPRESS_LEVELS;
	a->level[ask->level].sampled_us = a->last.now_us;
	if ((double)out > gate_open * n) {
		a->gated |= a->without && a->now != 0;
		return;
	}
	if (a->gated) {
		a->gated = false;
		return;
	}
	if (pair)
		learn_pair(a, ask, got);
	/* While nothing is packed samples are all there is. */
	if (a->now == 0) {
		approach(&a->scale_c, (double)ns / n / seen->c, a->measured ? 0.3 : 1);
		approach(&a->scale_r, (double)out / n / seen->r, a->measured ? 0.3 : 1);
		a->measured = true;
	}
}

/* ---- the line ---- */

static void set_line(struct compress_auto *a, double sample)
{
	/* What differs much is another line, not noise. */
	if (a->line <= 0 || a->line_guessed || sample > a->line * 1.5 || sample < a->line / 1.5)
		a->line = sample;
	else
		approach(&a->line, sample, 0.4);
	a->line_guessed = false;
	a->starting = false;
}

/* More waited for the line than it took, from one look to the next. */
static void line_was_busy(struct compress_auto *a, uint64_t us, uint64_t bytes)
{
	a->free_us = a->free_bytes = 0;
	a->window_us += us;
	a->window_bytes += bytes;
	if (a->window_us < WINDOW_US || (a->window_bytes < WINDOW_BYTES && a->window_us < WINDOW_LONG_US))
		return;
	/* A packet may be half through. */
	set_line(a, ((double)a->window_bytes + (a->window_bytes == 0 ? 1000 : 0)) * 1e6 / (double)a->window_us);
	a->window_us = a->window_bytes = 0;
}

static void line_was_free(struct compress_auto *a, uint64_t us, uint64_t bytes)
{
	double rate;

	a->free_us += us;
	a->free_bytes += bytes;
	/* In between two looks the queue may run dry for a moment on a fast line. */
	if (a->free_us > FREE_US)
		a->window_us = a->window_bytes = 0;
	if (a->free_us < WINDOW_US)
		return;
	rate = (double)a->free_bytes * 1e6 / (double)a->free_us;
	if (a->line > 0 && rate > a->line)
		a->line = rate;
	a->free_us = a->free_bytes = 0;
}

static void explore_end(struct compress_auto *a, uint64_t now_us, uint64_t rate)
{
	if (a->explore_us >= SLICE_US && a->explore_bytes >= WINDOW_BYTES)
		set_line(a, (double)a->explore_bytes * 1e6 / (double)a->explore_us);
	else if (a->explore_left == 0 && (rate == 0 || (double)rate > 2 * a->line))
		a->line = 0;     /* it took the burst before anybody could look, and a queue on the way did not only hide it */
	a->exploring = false;
	a->explore_left = 0;
	a->explore_at_us = now_us + EXPLORE_US;
}

/* A burst is on its way: how fast does it leave? */
static void explore(struct compress_auto *a, const struct compress_line *l, uint64_t us, uint64_t bytes, bool busy)
{
	/* From the first look behind the burst on. */
	if (busy && a->explore_out) {
		a->explore_us += us;
		a->explore_bytes += bytes;
	}
	if ((a->explore_out && !busy) || l->now_us >= a->explore_end_us || a->explore_us >= WINDOW_US)
		explore_end(a, l->now_us, l->rate);
	a->explore_out = a->explore_left == 0;
}

/* Packing is what limits, and the line may have become fast enough to do without. */
static void consider_exploring(struct compress_auto *a, uint64_t now_us, bool packing)
{
	double burst;

	if (a->explore_at_us == 0)
		a->explore_at_us = now_us + EXPLORE_US / 5;
	if (!packing || a->without || a->now == 0 || a->gated || now_us < a->explore_at_us)
		return;
	if (a->line <= 0 || a->b + a->w > time_of(a, a->now) / 1.1)
		return;
	a->exploring = true;
	a->explore_out = false;
	/* Some milliseconds of the line as it was. */
	burst = a->line / EXPLORE_PART;
	a->explore_left = burst > EXPLORE_BYTES ? EXPLORE_BYTES : burst < EXPLORE_LEAST ? EXPLORE_LEAST : (size_t)burst;
	a->explore_us = a->explore_bytes = 0;
	a->explore_end_us = now_us + EXPLORE_WAIT_US;
}

/* What everything but packing costs. */
static void learn_costs(struct compress_auto *a, uint64_t cpu_ns, uint64_t us)
{
	double in = (double)a->moved_in, out = (double)a->moved_out, share = (double)us / (double)(us + LIVE_US / 2);
	double other = (double)cpu_ns - (double)(a->pack_ns + a->probe_ns);

	if (a->moved_in < COST_BYTES || other <= 0)
		return;
	if (out > 0.7 * in) {
		approach(&a->b, 0.1 * other / in, share);
		approach(&a->w, 0.9 * other / in, share);
		return;
	}
	/* How it is shared out shows while raw bytes go; a slow cipher costs by what is on the line, not by what was packed. */
	other /= a->b * in + a->w * out;
	approach(&a->b, a->b * other, share);
	approach(&a->w, a->w * other, share);
}

static void count_shares(struct compress_auto *a, uint64_t us, bool busy, bool packing)
{
	enum compress_limit limit = busy ? COMPRESS_LIMIT_LINE : packing ? COMPRESS_LIMIT_PROCESSOR : COMPRESS_LIMIT_OTHER;

	if (a->moved_in == 0 && !busy)
		return;
	*(a->without ? &a->shares.without_us : &a->shares.level_us[compress_auto_level(a)]) += us;
	a->shares.limit_us[limit] += us;
}

static void set_pending_max(struct compress_auto *a, const struct compress_line *l)
{
	uint64_t taken = l->drained - a->first_drained, room = START_PENDING + 2 * taken, away = l->unsent + l->inflight;

	if (taken >= START_BYTES)
		a->starting = false;
	if (taken >= START_PENDING)
		a->first_bytes = false;
	a->pending_max = !a->starting ? SIZE_MAX : room > away ? (size_t)(room - away) : 0;
}

static void begin(struct compress_auto *a, const struct compress_line *l)
{
	a->told = true;
	a->last = *l;
	a->first_drained = l->drained;
	/* What the login has shown; on a slow line raw bytes would be long under way. */
	if (l->rate != 0 && l->rate < START_RATE) {
		a->line = (double)l->rate;
		a->line_guessed = true;
		choose(a);
	}
	set_pending_max(a, l);
}

static void forget_slice(struct compress_auto *a, const struct compress_line *l)
{
	a->pack_ns = a->probe_ns = a->moved_in = a->moved_out = a->payloads = 0;
	a->last = *l;
}

/* ---- without compression ---- */

/* Raw, and fast, for so long that the pause for new keys is nothing beside it. */
static void consider_leaving(struct compress_auto *a, uint64_t us)
{
	a->raw_us += us;
	a->raw_bytes += a->moved_in;
	if (a->now != 0) {
		a->raw_us = a->raw_bytes = a->raw_fast = 0;
		a->wants_without = false;
	}
	if (a->raw_us < WITHOUT_LOOK_US)
		return;
	a->raw_fast = a->raw_bytes * 1000 * 1000 >= a->raw_us * WITHOUT_RATE ? a->raw_fast + a->raw_bytes : 0;
	a->raw_us = a->raw_bytes = 0;
	a->wants_without |= a->raw_fast >= a->without_bytes && a->without_times < WITHOUT_TIMES;
}

/* A reader that stops for a moment is no slow line. */
static void consider_return(struct compress_auto *a, uint64_t us)
{
	a->with_us = a->now != 0 && !a->gated ? a->with_us + us : 0;
	a->wants_without &= a->with_us < WITH_US;
}

bool compress_auto_wants_without(const struct compress_auto *a)
{
	return a->wants_without;
}

void compress_auto_set_without(struct compress_auto *a, bool without)
{
	if (without == a->without)
		return;
	a->without = without;
	a->raw_us = a->raw_bytes = a->raw_fast = a->with_us = 0;
	if (!without)
		return;
	/* Each time more must speak for it. */
	a->without_bytes *= WITHOUT_AGAIN;
	a->without_times++;
}

/* ---- a look at the line ---- */

/* Whether the line had something to do all the time since the last look: it took no more than what had waited then. */
static bool had_waiting(const struct compress_auto *a, const struct compress_line *l)
{
	return l->drained - a->last.drained < a->last.pending + a->last.unsent && l->pending + l->unsent >= BUSY_LEAST;
}

/* A small window of the peer lets nothing wait here; then it waits in front of the line. What is under way must account for that
 * queue, for what the system tells of it is late. */
static bool had_queue(const struct compress_auto *a, const struct compress_line *l)
{
	uint64_t bytes = l->drained - a->last.drained, us = l->now_us - a->last.now_us;

	return l->queue_us >= QUEUE_US && us < GAP_US && bytes + l->inflight >= BUSY_LEAST &&
		(double)(bytes + l->inflight) * (double)us > 0.5 * (double)bytes * (double)l->queue_us;
}

void compress_auto_line(struct compress_auto *a, const struct compress_line *l)
{
	uint64_t us = l->now_us - a->last.now_us, bytes = l->drained - a->last.drained, cpu = l->cpu_ns - a->last.cpu_ns;
	bool waiting, busy, packing;

	if (!a->told) {
		begin(a, l);
		return;
	}
	if (us < SLICE_US)
		return;
	waiting = had_waiting(a, l);
	busy = waiting || had_queue(a, l);
	if (us > GAP_US && !busy) {
		a->window_us = a->window_bytes = 0;
		forget_slice(a, l);
		return;
	}
	packing = (double)(a->pack_ns + a->probe_ns) > 0.5e3 * (double)us || (double)cpu > 0.8e3 * (double)us;
	count_shares(a, us, busy, packing);
	learn_live(a, us);
	learn_costs(a, cpu, us);
	/* The more the processor idles, the more of it samples may use. */
	a->idle = busy && !packing;
	a->budget_ns += (double)us * 1e3 * (a->idle ? 0.04 : 0.015);
	if (a->budget_ns > BUDGET_MAX_NS)
		a->budget_ns = BUDGET_MAX_NS;
	if (a->exploring)
		explore(a, l, us, bytes, busy);
	else if (waiting || (busy && (a->now == 0 || a->without || a->line_guessed)))
		line_was_busy(a, us, bytes);     /* while something is packed, that may be what limits, with a queue of others */
	else if (!busy)
		line_was_free(a, us, bytes);
	if (!a->exploring && !busy)
		consider_exploring(a, l->now_us, packing);
	if (!a->exploring)
		choose(a);
	if (a->without)
		consider_return(a, us);
	else
		consider_leaving(a, us);
	set_pending_max(a, l);
	forget_slice(a, l);
}

uint64_t compress_auto_line_due(const struct compress_auto *a)
{
	return !a->told ? 0 : a->last.now_us + SLICE_US;
}

size_t compress_auto_pending_max(const struct compress_auto *a)
{
	return a->pending_max;
}

size_t compress_auto_raw_max(const struct compress_auto *a)
{
	return a->explore_left == 0 ? SIZE_MAX : a->explore_left < EXPLORE_LEAST ? EXPLORE_LEAST : a->explore_left;
}

size_t compress_auto_swell(const struct compress_auto *a)
{
	double r = rest_of(a, compress_auto_level(a));

	return r < 1.0 / 16 ? 256 : (size_t)(16 / r);
}

void compress_auto_shares(const struct compress_auto *a, struct compress_shares *out)
{
	*out = a->shares;
}

void compress_auto_look(const struct compress_auto *a, struct compress_view *out)
{
	*out = (struct compress_view){ .level = a->now, .gated = a->gated, .line = a->line, .cost_ns = cost_of(a, a->now),
		.rest = rest_of(a, a->now), .other_ns = a->b + a->w * rest_of(a, a->now) };
}
