/* wire/reader.h: a cursor over borrowed bytes: reads of RFC 4251 §5 types.
 *
 * Never allocates, never writes. Views point into the bytes given to reader_init and live as long as those.
 * Like the buffer it has a sticky error: a get that fails gives zero or an empty view, and so do all later ones;
 * parse everything, then ask reader_end() (or reader_ok() when more may follow). */
#ifndef WIRE_READER_H
#define WIRE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

struct view { const uint8_t *p; size_t n; };     /* borrowed bytes */

struct reader {
	const uint8_t *p, *end;
	bool failed;
};

void reader_init(struct reader *r, const void *p, size_t n);
static inline bool reader_ok(const struct reader *r) { return !r->failed; }
static inline size_t reader_left(const struct reader *r) { return (size_t)(r->end - r->p); }

uint8_t reader_u8(struct reader *r);
bool reader_bool(struct reader *r);              /* any non-zero is true (RFC 4251 §5) */
uint32_t reader_u32(struct reader *r);
uint64_t reader_u64(struct reader *r);
struct view reader_bytes(struct reader *r, size_t n);
struct view reader_string(struct reader *r);
struct view reader_rest(struct reader *r);       /* everything that is left */
/* A string that must hold no NUL, at most max bytes; allocated copy, NULL (and failed) otherwise. */
char *reader_cstring(struct reader *r, size_t max);
/* mpint as a magnitude without leading zeros; negative or not minimal fails; at most max_bytes. */
struct view reader_mpint(struct reader *r, size_t max_bytes);
/* A string whose contents are read by another reader. */
struct reader reader_child(struct reader *r);
void reader_fail(struct reader *r);

/* 0 if nothing failed and nothing is left over; ERR_PEER naming what otherwise. */
int reader_end(const struct reader *r, struct err *e, const char *what) MUST_USE;

bool view_equal(struct view a, struct view b);   /* not constant time: public data */
bool view_is(struct view v, const char *z);
char *view_strdup(struct view v);                /* allocated, NUL-terminated; the caller has checked for NULs */
bool view_has_nul(struct view v);

/* RFC 4251 §5 name-list: printable US-ASCII without blanks, no empty names, names up to 64 bytes... checked here;
 * the empty list is valid. */
bool namelist_valid(struct view v);
/* First name of the first list that the second also has (RFC 4253 §7.1); NULL if none. Allocated. */
char *namelist_first_common(const char *ours_or_client, const char *theirs_or_server);

#endif
