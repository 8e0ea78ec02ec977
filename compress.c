/* compress.c: zlib streams over packet payloads (RFC 1950, RFC 4253 §6.2). Part of the engine; the only user of zlib. */
#include "compress.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>
#include "base/mem.h"

enum { INFLATE_STEP_MIN = 4096 };

struct deflater { z_stream z; };
struct inflater { z_stream z; };

static uInt clip(size_t n)
{
	return n > UINT_MAX ? UINT_MAX : (uInt)n;
}

struct deflater *deflater_new(int level, struct err *e)
{
	struct deflater *d;

	if (level < Z_BEST_SPEED || level > Z_BEST_COMPRESSION) {
		err_set(e, ERR_USAGE, "compression level %d is not one of 1 to 9", level);
		return NULL;
	}
	d = mem_zalloc(sizeof(*d));
	if (deflateInit(&d->z, level) != Z_OK) {
		err_set(e, ERR_MEMORY, "zlib: %s", d->z.msg != NULL ? d->z.msg : "cannot start compressing");
		free(d);
		return NULL;
	}
	return d;
}

void deflater_free(struct deflater *d)
{
	if (d == NULL)
		return;
	deflateEnd(&d->z);
	mem_free_secret(d, sizeof(*d));
}

size_t deflater_bound(size_t n)
{
	/* Literals of 9 bits where a stored block cannot be used, block headers, the flush, the stream's header. */
	return n + n / 8 + n / 64 + 64;
}

int deflater_run(struct deflater *d, struct view in, uint8_t *out, size_t room, size_t *n)
{
	z_stream *z = &d->z;
	int r;

	*n = 0;
	if (in.n > UINT_MAX)
		return ERR_USAGE;
	z->next_in = (Bytef *)in.p;
	z->avail_in = (uInt)in.n;
	z->next_out = out;
	z->avail_out = clip(room);
	r = deflate(z, Z_PARTIAL_FLUSH);
	*n = clip(room) - z->avail_out;
	/* Z_BUF_ERROR without room left over: nothing was to be done (an empty payload after a flush). */
	if (r != Z_OK && !(r == Z_BUF_ERROR && z->avail_in == 0 && z->avail_out != 0))
		return r == Z_BUF_ERROR ? ERR_MEMORY : ERR_USAGE;
	/* No room left means that zlib may hold back the rest, which the peer could not do without. */
	return z->avail_in != 0 || z->avail_out == 0 ? ERR_MEMORY : 0;
}

struct inflater *inflater_new(struct err *e)
{
	struct inflater *i = mem_zalloc(sizeof(*i));

	if (inflateInit(&i->z) != Z_OK) {
		err_set(e, ERR_MEMORY, "zlib: %s", i->z.msg != NULL ? i->z.msg : "cannot start expanding");
		free(i);
		return NULL;
	}
	return i;
}

void inflater_free(struct inflater *i)
{
	if (i == NULL)
		return;
	inflateEnd(&i->z);
	mem_free_secret(i, sizeof(*i));
}

/* Room for the next step inside out's limit: what is allocated already, or a multiple of the input. NULL at the limit. */
static uint8_t *step_room(struct buf *out, size_t input, size_t *room)
{
	size_t left = out->limit - out->size, free_room = out->room - out->size;
	size_t want = input > SIZE_MAX / 4 ? input : input * 4;

	if (want < INFLATE_STEP_MIN)
		want = INFLATE_STEP_MIN;
	if (want < free_room)
		want = free_room;
	if (want > left)
		want = left;
	if (want > UINT_MAX)
		want = UINT_MAX;
	*room = want;
	return want == 0 ? NULL : buf_reserve(out, want);
}

/* At the limit: 0 if the payload ended exactly there. */
static int check_end(z_stream *z, struct err *e)
{
	uint8_t beyond;
	int r;

	z->next_out = &beyond;
	z->avail_out = 1;
	r = inflate(z, Z_SYNC_FLUSH);
	if (z->avail_out == 0)
		return err_set(e, ERR_PEER, "compressed packet expands beyond the limit");
	if ((r == Z_OK || r == Z_BUF_ERROR) && z->avail_in == 0)
		return 0;
	return err_set(e, ERR_PEER, "compressed packet is damaged");
}

int inflater_run(struct inflater *i, struct view in, struct buf *out, struct err *e)
{
	z_stream *z = &i->z;

	buf_reset(out);
	if (in.n > UINT_MAX)
		return err_set(e, ERR_PEER, "compressed packet is too large");
	z->next_in = (Bytef *)in.p;
	z->avail_in = (uInt)in.n;
	for (;;) {
		size_t room;
		uint8_t *at = step_room(out, in.n, &room);
		int r;

		if (room == 0)
			return check_end(z, e);
		if (at == NULL)
			return err_set(e, ERR_MEMORY, "no memory to expand a packet");
		z->next_out = at;
		z->avail_out = (uInt)room;
		r = inflate(z, Z_SYNC_FLUSH);
		out->size -= z->avail_out;
		/* A stream that ends (Z_STREAM_END) or wants a dictionary is none of RFC 4253's. */
		if (r != Z_OK && r != Z_BUF_ERROR)
			return err_set(e, ERR_PEER, "compressed packet is damaged: %s", z->msg != NULL ? z->msg : "bad data");
		/* Room to spare: everything that the input gives is out. */
		if (z->avail_out != 0)
			return z->avail_in == 0 ? 0 : err_set(e, ERR_PEER, "compressed packet is damaged");
	}
}
