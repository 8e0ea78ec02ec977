/* wire/buf.h: a growable byte buffer with a sticky error: writes of RFC 4251 §5 types.
 *
 * A put that fails (limit, memory) marks the buffer; every later put does nothing; the caller asks buf_ok() once,
 * before the bytes are used. Contents are wiped when freed or shrunk. Not for reading: see wire/reader.h. */
#ifndef WIRE_BUF_H
#define WIRE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

struct buf {
	uint8_t *data;  /* valid until the next put */
	size_t size;    /* bytes held */
	size_t room;    /* bytes allocated */
	size_t limit;   /* hard limit on size */
	bool failed;    /* sticky */
};

enum { BUF_LIMIT_DEFAULT = 256 * 1024 };

#define BUF_INIT(max) ((struct buf){ .limit = (max) })
void buf_init(struct buf *b, size_t limit);
void buf_free(struct buf *b);                            /* wipes; b is empty and usable afterwards */
void buf_reset(struct buf *b);                           /* wipes contents, keeps memory, clears the error */
static inline bool buf_ok(const struct buf *b) { return !b->failed; }

void buf_put(struct buf *b, const void *p, size_t n);
void buf_put_u8(struct buf *b, uint8_t v);
void buf_put_bool(struct buf *b, bool v);
void buf_put_u32(struct buf *b, uint32_t v);
void buf_put_u64(struct buf *b, uint64_t v);
void buf_put_string(struct buf *b, const void *p, size_t n);     /* uint32 length, bytes */
void buf_put_cstring(struct buf *b, const char *s);              /* the same from a C string */
/* RFC 4251 §5 mpint of an unsigned big-endian magnitude: leading zeros dropped, one zero put before a set top bit. */
void buf_put_mpint(struct buf *b, const void *magnitude, size_t n);
void buf_put_buf_string(struct buf *b, const struct buf *v);     /* contents of v as a string; fails if v failed */
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);  /* text, no terminator */

/* n bytes of room to be filled by the caller at once; NULL if it cannot be had. Valid until the next put. */
uint8_t *buf_reserve(struct buf *b, size_t n);
/* A child whose uint32 length is filled in by buf_end_string: returns a mark for it. Children nest. */
size_t buf_begin_string(struct buf *b);
void buf_end_string(struct buf *b, size_t mark);
void buf_poke_u32(struct buf *b, size_t offset, uint32_t v);
void buf_consume(struct buf *b, size_t n);                       /* drops n bytes at the front (moves the rest) */
/* NUL-terminates beyond size and returns data; "" if empty. For text buffers. */
const char *buf_cstr(struct buf *b);

static inline void wire_store_u32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24); p[1] = (uint8_t)(v >> 16); p[2] = (uint8_t)(v >> 8); p[3] = (uint8_t)v;
}
static inline void wire_store_u64(uint8_t *p, uint64_t v)
{
	wire_store_u32(p, (uint32_t)(v >> 32)); wire_store_u32(p + 4, (uint32_t)v);
}
static inline uint32_t wire_load_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static inline uint64_t wire_load_u64(const uint8_t *p)
{
	return (uint64_t)wire_load_u32(p) << 32 | wire_load_u32(p + 4);
}

#endif
