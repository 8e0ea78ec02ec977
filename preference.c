/* preference.c: configured lists in the order of what this machine does fastest. Part of the engine. */
#include "preference.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "cipher.h"
#include "mac.h"
#include "seal.h"
#include "speed.h"

enum {
	/* Of each name, in each of two rounds: the second is not as much slowed by a processor that wakes up. */
	ROUNDS = 2, ROUND_US = 300,
	CLEARLY_PERCENT = 5,
	ITEMS_MAX = 128
};

/* A name of a list and what it is ordered by. */
struct item { const char *name; size_t n; uint64_t ns; bool legacy; };

/* ---- costs by name ---- */

/* Its place in p; p->count: it has none. */
static size_t find(const struct preference *p, const char *name, size_t n)
{
	size_t i = 0;

	while (i < p->count && !str_is(name, n, p->v[i].name))
		i++;
	return i;
}

/* 0: not known. */
static uint64_t cost_of(const struct preference *p, const char *name, size_t n)
{
	size_t i = find(p, name, n);

	return i < p->count ? p->v[i].ns : 0;
}

static bool is_name(const char *s)
{
	for (const char *p = s; *p != '\0'; p++)
		if (*p <= ' ' || *p > '~' || *p == ',')
			return false;
	return *s != '\0';
}

bool preference_put(struct preference *p, const char *name, uint64_t ns)
{
	size_t i = find(p, name, strlen(name));

	if (!is_name(name) || strlen(name) >= PREFERENCE_NAME_MAX || ns == 0 || ns > UINT32_MAX)
		return false;
	if (i == PREFERENCE_COSTS_MAX)
		return false;
	p->count += i == p->count;
	(void)str_copy(p->v[i].name, sizeof(p->v[i].name), name);
	p->v[i].ns = (uint32_t)ns;
	return true;
}

/* How much of a MAC's name is that of all its forms: before "-etm@..." or "@...". */
static size_t mac_stem(const char *name, size_t n)
{
	static const char etm[] = "-etm";
	size_t stem = 0;

	while (stem < n && name[stem] != '@')
		stem++;
	if (stem > sizeof(etm) - 1 && memcmp(name + stem - (sizeof(etm) - 1), etm, sizeof(etm) - 1) == 0)
		stem -= sizeof(etm) - 1;
	return stem;
}

/* ---- measuring ---- */

/* done: who was measured in this round. */
static void measure_name(struct preference *p, const struct packet_suite *suite, const char *name, size_t n,
	struct preference *done)
{
	char *key = mem_strndup(name, n);
	uint64_t known = cost_of(p, name, n);
	struct speed s;
	uint64_t ns;

	/* What cannot be measured stays unknown. */
	if (speed_measure(suite, ROUND_US, &s, NULL) == 0) {
		ns = s.seal_ns + s.open_ns;
		if (known == 0 || ns < known)
			(void)preference_put(p, key, ns);
	}
	(void)preference_put(done, key, 1);
	free(key);
}

/* What names of the list cost that are not in p, each once, into `fresh`. */
static void measure_list(const struct preference *p, struct preference *fresh, const char *names, bool macs)
{
	const struct cipher_alg *none = cipher_find((struct view){ (const uint8_t *)"none", 4 });
	struct preference done = { .count = 0 };
	const char *name;
	size_t n;

	while (str_next_name(&names, &name, &n)) {
		struct view v = { (const uint8_t *)name, n };
		/* A cipher alone, a MAC alone. */
		struct packet_suite suite = { .cipher = macs ? none : cipher_find(v), .mac = macs ? mac_find(v) : NULL };
		size_t key = macs ? mac_stem(name, n) : n;

		if (suite.cipher == NULL || (macs && suite.mac == NULL) || cost_of(p, name, key) != 0 ||
		    cost_of(&done, name, key) != 0)
			continue;
		measure_name(fresh, &suite, name, key, &done);
	}
}

bool preference_measure(struct preference *p, const char *ciphers, const char *macs)
{
	struct preference fresh = { .count = 0 };

	for (int i = 0; i < ROUNDS; i++) {
		measure_list(p, &fresh, ciphers, false);
		measure_list(p, &fresh, macs, true);
	}
	for (size_t i = 0; i < fresh.count; i++)
		(void)preference_put(p, fresh.v[i].name, fresh.v[i].ns);
	return fresh.count > 0;
}

/* ---- ordering ---- */

static uint64_t cheapest_mac(const struct preference *p, const char *macs)
{
	uint64_t least = 0;
	const char *name;
	size_t n;

	while (str_next_name(&macs, &name, &n)) {
		uint64_t ns = cost_of(p, name, mac_stem(name, n));

		if (ns != 0 && (least == 0 || ns < least))
			least = ns;
	}
	return least;
}

static bool goes_before(const struct item *a, const struct item *b)
{
	if (a->legacy != b->legacy)
		return b->legacy;
	if (a->ns == 0 || b->ns == 0)
		return a->ns != 0 && b->ns == 0;
	return a->ns * (100 + CLEARLY_PERCENT) < b->ns * 100;
}

/* By insertion: what is clearly faster passes what stands before it, one after the other. */
static char *join_in_order(struct item *items, size_t count)
{
	struct str_list l = { 0 };
	char *joined;

	for (size_t i = 1; i < count; i++) {
		struct item moving = items[i];
		size_t at = i;

		for (; at > 0 && goes_before(&moving, &items[at - 1]); at--)
			items[at] = items[at - 1];
		items[at] = moving;
	}
	for (size_t i = 0; i < count; i++)
		str_list_add_n(&l, items[i].name, items[i].n);
	joined = count > 0 ? str_list_join(&l, ",") : mem_strdup("");
	str_list_clear(&l);
	return joined;
}

char *preference_ciphers(const struct preference *p, const char *ciphers, const char *macs)
{
	struct item items[ITEMS_MAX];
	uint64_t mac_ns = cheapest_mac(p, macs);
	const char *cursor = ciphers;
	size_t count = 0;

	while (count < ITEMS_MAX && str_next_name(&cursor, &items[count].name, &items[count].n)) {
		struct item *i = &items[count++];
		const struct cipher_alg *c = cipher_find((struct view){ (const uint8_t *)i->name, i->n });

		i->legacy = c != NULL && c->legacy;
		i->ns = cost_of(p, i->name, i->n);
		if (i->ns != 0 && c != NULL && !cipher_is_aead(c))
			i->ns += mac_ns;
	}
	/* Nothing is lost of a list that is too long to be ordered. */
	return count < ITEMS_MAX ? join_in_order(items, count) : mem_strdup(ciphers);
}

char *preference_macs(const struct preference *p, const char *macs)
{
	struct item items[ITEMS_MAX];
	const char *cursor = macs;
	size_t count = 0;

	while (count < ITEMS_MAX && str_next_name(&cursor, &items[count].name, &items[count].n)) {
		struct item *i = &items[count++];
		const struct mac_alg *m = mac_find((struct view){ (const uint8_t *)i->name, i->n });

		i->legacy = m != NULL && m->legacy;
		i->ns = cost_of(p, i->name, mac_stem(i->name, i->n));
	}
	return count < ITEMS_MAX ? join_in_order(items, count) : mem_strdup(macs);
}
