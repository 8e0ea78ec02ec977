/* compress.h: zlib@openssh.com: one zlib stream a direction over packet payloads (RFC 4253 §6.2, partial flush).
 * The only user of <zlib.h>. */
#ifndef COMPRESS_H
#define COMPRESS_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "wire/buf.h"
#include "wire/reader.h"

struct deflater;
struct inflater;

struct deflater *deflater_new(int level, struct err *e);         /* 1..9 */
void deflater_free(struct deflater *d);
/* Compresses one payload and flushes; writes at most room bytes to out, *n is how many. ERR_MEMORY if room is short
 * (deflater_bound bytes always suffice). */
int deflater_run(struct deflater *d, struct view in, uint8_t *out, size_t room, size_t *n) MUST_USE;
size_t deflater_bound(size_t n);

struct inflater *inflater_new(struct err *e);
void inflater_free(struct inflater *i);
/* Expands one payload into out (which is reset); never beyond out's limit: ERR_PEER. */
int inflater_run(struct inflater *i, struct view in, struct buf *out, struct err *e) MUST_USE;

#endif
