/* server/penalties.c: the table of penalised sources: a hash for looking up, a heap by expiry for forgetting. */
#include "server/penalties.h"

#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/match.h"
#include "base/mem.h"
#include "crypto/rand.h"

enum { NO_ENTRY = -1, BUCKETS = 4096 };

struct entry {
	struct source source;
	uint64_t expiry_us;
	enum penalty_cause cause;        /* the latest */
	bool active;
	int next;                        /* in its bucket */
	unsigned heap_at;
};

/* One a family. Entries are dense in v; heap holds their numbers, soonest expiry first. */
struct table {
	struct entry *v;
	int *heap;
	unsigned count, room, max;
	bool deny_all;
	int bucket[BUCKETS];
};

struct penalties {
	struct penalties_config config;
	uint32_t seed;                   /* so that nobody can aim at one bucket */
	struct table table[2];
};

static const char *const cause_texts[PENALTY_COUNT] = {
	[PENALTY_CRASH] = "penalty: caused crash",
	[PENALTY_AUTHFAIL] = "penalty: failed authentication",
	[PENALTY_NOAUTH] = "penalty: connections without attempting authentication",
	[PENALTY_INVALIDUSER] = "penalty: attempted authentication by invalid user",
	[PENALTY_GRACE] = "penalty: exceeded LoginGraceTime",
	[PENALTY_REFUSE] = "penalty: connection prohibited by RefuseConnection",
};
static const char *const family_texts[2] = { "ipv4", "ipv6" };

struct penalties *penalties_new(const struct penalties_config *c)
{
	struct penalties *p = mem_zalloc(sizeof(*p));

	p->config = *c;
	p->seed = rand_u32();
	for (int f = 0; f < 2; f++) {
		p->table[f].max = c->max_sources[f];
		p->table[f].deny_all = c->deny_all[f];
		for (size_t i = 0; i < BUCKETS; i++)
			p->table[f].bucket[i] = NO_ENTRY;
	}
	return p;
}

void penalties_free(struct penalties *p)
{
	if (p == NULL)
		return;
	for (int f = 0; f < 2; f++) {
		free(p->table[f].v);
		free(p->table[f].heap);
	}
	free(p);
}

unsigned penalties_count(const struct penalties *p, enum source_family family)
{
	return family == SOURCE_OTHER ? 0 : p->table[family].count;
}

/* ---- heap by expiry */

static void heap_put(struct table *t, unsigned at, int entry)
{
	t->heap[at] = entry;
	t->v[entry].heap_at = at;
}

static uint64_t heap_key(const struct table *t, unsigned at)
{
	return t->v[t->heap[at]].expiry_us;
}

static void heap_up(struct table *t, unsigned at)
{
	int entry = t->heap[at];

	while (at > 0 && heap_key(t, (at - 1) / 2) > t->v[entry].expiry_us) {
		heap_put(t, at, t->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	heap_put(t, at, entry);
}

static void heap_down(struct table *t, unsigned at)
{
	int entry = t->heap[at];

	for (;;) {
		unsigned child = 2 * at + 1;
		if (child >= t->count)
			break;
		if (child + 1 < t->count && heap_key(t, child + 1) < heap_key(t, child))
			child++;
		if (heap_key(t, child) >= t->v[entry].expiry_us)
			break;
		heap_put(t, at, t->heap[child]);
		at = child;
	}
	heap_put(t, at, entry);
}

/* ---- hash */

static int *bucket_of(struct penalties *p, const struct source *s)
{
	return &p->table[s->family].bucket[source_hash(s, p->seed) % BUCKETS];
}

static struct entry *find(struct penalties *p, const struct source *s)
{
	struct table *t = &p->table[s->family];

	for (int i = *bucket_of(p, s); i != NO_ENTRY; i = t->v[i].next)
		if (source_equal(&t->v[i].source, s))
			return &t->v[i];
	return NULL;
}

/* Changes whichever link points at entry number `from` into `to`. */
static void relink(struct penalties *p, const struct source *s, int from, int to)
{
	struct table *t = &p->table[s->family];

	for (int *link = bucket_of(p, s); *link != NO_ENTRY; link = &t->v[*link].next)
		if (*link == from) {
			*link = to;
			return;
		}
}

static struct entry *insert(struct penalties *p, const struct source *s, uint64_t expiry_us)
{
	struct table *t = &p->table[s->family];
	int *head = bucket_of(p, s), i = (int)t->count;

	if (t->count == t->room) {
		t->room = t->room != 0 ? 2 * t->room : 64;
		t->v = mem_resize(t->v, t->room, sizeof(*t->v));
		t->heap = mem_resize(t->heap, t->room, sizeof(*t->heap));
	}
	t->v[i] = (struct entry){ .source = *s, .expiry_us = expiry_us, .next = *head };
	*head = i;
	t->heap[t->count] = i;
	t->count++;
	heap_up(t, t->count - 1);
	return &t->v[i];
}

/* Forgets the entry that expires first. */
static void remove_first(struct penalties *p, enum source_family family)
{
	struct table *t = &p->table[family];
	int gone = t->heap[0], last = (int)t->count - 1;
	unsigned hole;

	relink(p, &t->v[gone].source, gone, t->v[gone].next);
	t->count--;
	if (t->count > 0) {
		heap_put(t, 0, t->heap[t->count]);
		heap_down(t, 0);
	}
	if (gone == last)
		return;
	/* The last entry moves into the place that became free. */
	relink(p, &t->v[last].source, last, gone);
	hole = t->v[last].heap_at;
	t->v[gone] = t->v[last];
	t->heap[hole] = gone;
}

static void forget_expired(struct penalties *p, enum source_family family, uint64_t now_us)
{
	while (p->table[family].count > 0 && heap_key(&p->table[family], 0) <= now_us)
		remove_first(p, family);
}

static bool is_exempt(const struct penalties *p, const char *address)
{
	return p->config.exempt != NULL && match_address(address, p->config.exempt) == 1;
}

/* ---- what the listener calls */

static void log_penalty(const struct entry *e, bool is_new, uint64_t us)
{
	char where[64];
	double seconds = (double)us / 1e6;
	const char *family = family_texts[e->source.family], *why = cause_texts[e->cause];

	source_format(&e->source, where, sizeof(where));
	if (is_new)
		log_at(e->active ? LOG_LEVEL_INFO : LOG_LEVEL_VERBOSE,
			"srclimit_penalise: %s: new %s %s penalty of %.3f seconds for %s", family, where,
			e->active ? "active" : "deferred", seconds, why);
	else
		log_info("srclimit_penalise: %s: activating %s penalty of %.3f seconds for %s", where, family, seconds, why);
}

void penalties_add(struct penalties *p, const struct source *s, const char *address, enum penalty_cause cause,
	uint64_t now_us)
{
	uint64_t us = p->config.us[cause];
	struct entry *e;
	struct table *t;

	if (us == 0 || s->family == SOURCE_OTHER || is_exempt(p, address))
		return;
	/* Health checks and key scans of the machine itself are no attack. */
	if (cause == PENALTY_NOAUTH && source_is_loopback(s))
		return;
	if (us > p->config.max_us)
		us = p->config.max_us;
	t = &p->table[s->family];
	forget_expired(p, s->family, now_us);
	e = find(p, s);
	if (e == NULL) {
		if (t->max == 0)
			return;
		if (t->count >= t->max) {
			if (t->deny_all)
				return;  /* everyone is refused anyway */
			remove_first(p, s->family);
		}
		e = insert(p, s, now_us + us);
		e->cause = cause;
		e->active = us > p->config.min_us;
		log_penalty(e, true, us);
		return;
	}
	e->expiry_us += us;
	if (e->expiry_us > now_us + p->config.max_us)
		e->expiry_us = now_us + p->config.max_us;
	e->cause = cause;
	heap_down(t, e->heap_at);
	if (!e->active && e->expiry_us - now_us > p->config.min_us) {
		e->active = true;
		log_penalty(e, false, e->expiry_us - now_us);
	}
}

const char *penalties_check(struct penalties *p, const struct source *s, const char *address, uint64_t now_us,
	uint64_t *left_us)
{
	struct entry *e;
	struct table *t;

	if (left_us != NULL)
		*left_us = 0;
	if (s->family == SOURCE_OTHER || is_exempt(p, address))
		return NULL;
	t = &p->table[s->family];
	forget_expired(p, s->family, now_us);
	if (t->deny_all && t->max > 0 && t->count >= t->max)
		return "too many penalised addresses";
	e = find(p, s);
	if (e == NULL || !e->active)
		return NULL;
	if (left_us != NULL)
		*left_us = e->expiry_us - now_us;
	return cause_texts[e->cause];
}
