/* preference.h: what ciphers and MACs cost on this machine, and configured lists in that order (CipherPreference fastest).
 * Part of the engine. Lists are only ever reordered: what is not in one does not come into it. */
#ifndef PREFERENCE_H
#define PREFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PREFERENCE_NAME_MAX = 48, PREFERENCE_COSTS_MAX = 64 };

/* Nanoseconds for sealing and opening a packet with 32 KiB. A MAC goes by the name before "-etm" and "@", since its
 * forms cost the same: "umac-64". */
struct preference_cost { char name[PREFERENCE_NAME_MAX]; uint32_t ns; };
/* Embedded, zero-initialised is empty. */
struct preference { struct preference_cost v[PREFERENCE_COSTS_MAX]; size_t count; };

/* False if it does not fit, or is no name or no cost. An older cost of that name is replaced. */
bool preference_put(struct preference *p, const char *name, uint64_t ns);
/* Measures what the lists name and p does not know: some milliseconds in all. True if p has changed. */
bool preference_measure(struct preference *p, const char *ciphers, const char *macs);

/* The lists by cost, allocated. A name goes before one that is configured ahead of it only if it is clearly faster, so that
 * forms of the same MAC stay in their order. A cipher without authentication of its own costs what the cheapest of the
 * MACs costs too. Legacy names stay behind all others, and unknown costs behind known ones. */
char *preference_ciphers(const struct preference *p, const char *ciphers, const char *macs);
char *preference_macs(const struct preference *p, const char *macs);

#endif
