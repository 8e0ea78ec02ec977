/* compress.h: compression of payloads, one stream a direction (RFC 4253 §6.2), over a table of methods. Engine.
 *
 * A payload goes raw or packed, as its sender likes, at any level, from one payload to the next; receivers need not know.
 * Methods between our own ends are marked: a byte in front of each payload says which. In zlib@openssh.com raw payloads are
 * stored blocks of the stream, written around the compressor between full flushes (docs/PROTOCOL.md). */
#ifndef COMPRESS_H
#define COMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "wire/buf.h"
#include "wire/reader.h"

enum { COMPRESS_LEVELS = 9, COMPRESS_SAMPLE_MAX = 32 * 1024 };

/* What a level is expected to do before anything is known: nanoseconds a byte, and thousandths that remain. */
struct compress_prior { uint16_t ns_256, ratio_1000; };          /* ns_256: in 1/256 ns */

struct compress_codec;
struct compress_alg {
	const char *name;
	bool marked;
	size_t raw_head;         /* bytes in front of a raw payload */
	size_t raw_max;          /* longest raw payload */
	const struct compress_codec *codec;
	const struct compress_prior *prior;      /* of levels 1..COMPRESS_LEVELS */
};
/* NULL: none, or not built in. */
const struct compress_alg *compress_find(struct view name);
const struct compress_alg *compress_at(size_t i);        /* NULL past the end */
bool compress_has_zstd(void);                            /* zstd@wirespeed is built in */

struct deflater;
struct inflater;

/* Memory for compressing is allocated when it is first needed. */
struct deflater *deflater_new(const struct compress_alg *alg);
void deflater_free(struct deflater *d);
/* Packs one payload at a level (1..9) and flushes; writes at most room bytes to out, *n is how many. ERR_MEMORY if room is
 * short (deflater_bound bytes always suffice); the stream is of no more use then. */
int deflater_run(struct deflater *d, int level, struct view in, uint8_t *out, size_t room, size_t *n) MUST_USE;
size_t deflater_bound(size_t n);
/* Whether a raw payload may follow. Otherwise the next one goes through deflater_enter_raw, which writes it (at most
 * deflater_bound bytes) and ends it so that raw ones may. */
bool deflater_raw_ready(const struct deflater *d);
int deflater_enter_raw(struct deflater *d, struct view in, uint8_t *out, size_t room, size_t *n) MUST_USE;
/* The raw_head bytes in front of n bytes of raw payload. */
void deflater_put_raw_head(struct deflater *d, size_t n, uint8_t *head);
/* What packing sample behind dict would give, outside of the stream: *n bytes, after *ns of the processor. Both at most
 * COMPRESS_SAMPLE_MAX. */
int deflater_probe(struct deflater *d, int level, struct view dict, struct view sample, size_t *n, uint64_t *ns) MUST_USE;
void deflater_trim(struct deflater *d);          /* frees what only probes need */

struct inflater *inflater_new(const struct compress_alg *alg);
void inflater_free(struct inflater *i);
/* Opens one payload: *payload lies in `in` or in out (which is reset and never grows beyond its limit: ERR_PEER). */
int inflater_run(struct inflater *i, struct view in, struct buf *out, struct view *payload, struct err *e) MUST_USE;

/* ---- for compress.c and compress_zstd.c ---- */

struct compress_step { const uint8_t *in; size_t in_n; uint8_t *out; size_t out_n; };    /* advanced by what was used */

struct compress_codec {
	void *(*pack_new)(int level);                    /* NULL: no memory */
	void (*pack_free)(void *s);
	/* Packs all of the input and flushes; full: so that nothing behind it refers to what was before. 0, or negative. */
	int (*pack)(void *s, int level, struct compress_step *t, bool full);
	int (*restart)(void *s, int level, struct view dict);    /* a fresh stream, with dict as what came before */
	void *(*open_new)(void);
	void (*open_free)(void *s);
	int (*open)(void *s, struct compress_step *t, const char **why);         /* negative: damaged */
};
#ifdef HAVE_LIBZSTD
extern const struct compress_codec compress_zstd;
extern const struct compress_prior compress_zstd_prior[COMPRESS_LEVELS + 1];
#endif

#endif
