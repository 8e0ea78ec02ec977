/* compress.c: the table of compression methods, streams of payloads, and zlib (RFC 1950, 1951). Part of the engine; the only
 * user of zlib. */
#include "compress.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "base/clock.h"
#include "base/mem.h"

enum {
	OPEN_STEP_MIN = 4096,
	MARK_RAW = 0, MARK_PACKED = 1,
	RAW_WINDOW = -15,                /* zlib: RFC 1951 without a header and a sum, 32 KiB of window */
	MEM_LEVEL = 8,
	STORED_HEAD = 5, STORED_MAX = 65535,
	STREAM_HEAD = 2
};

/* ---- zlib ---- */

struct zlib_pack { z_stream z; int level; };

/* Windows hold what was said: zlib's memory is wiped like any other of ours, by a size that stands in front of it. */
union zlib_block { size_t n; max_align_t align; };

static voidpf zlib_alloc(voidpf ctx, uInt items, uInt size)
{
	size_t n = sizeof(union zlib_block) + (size_t)items * size;
	union zlib_block *b = mem_try(n);

	(void)ctx;
	if (b == NULL)
		return Z_NULL;
	b->n = n;
	return b + 1;
}

static void zlib_free(voidpf ctx, voidpf p)
{
	union zlib_block *b = p;

	(void)ctx;
	if (b != NULL)
		mem_free_secret(b - 1, b[-1].n);
}

static uInt clip(size_t n)
{
	return n > UINT_MAX ? UINT_MAX : (uInt)n;
}

static void *zlib_pack_new(int level)
{
	struct zlib_pack *s = mem_zalloc(sizeof(*s));

	s->level = level;
	s->z.zalloc = zlib_alloc;
	s->z.zfree = zlib_free;
	if (deflateInit2(&s->z, level, Z_DEFLATED, RAW_WINDOW, MEM_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK)
		return s;
	free(s);
	return NULL;
}

static void zlib_pack_free(void *ctx)
{
	struct zlib_pack *s = ctx;

	deflateEnd(&s->z);
	mem_free_secret(s, sizeof(*s));
}

/* Between payloads nothing is held back, so a new level costs at most a few bits. */
static int zlib_set_level(struct zlib_pack *s, int level)
{
	int r;

	if (level == s->level)
		return 0;
	r = deflateParams(&s->z, level, Z_DEFAULT_STRATEGY);
	if (r != Z_OK && r != Z_BUF_ERROR)
		return ERR_USAGE;
	s->level = level;
	return 0;
}

static void zlib_out(z_stream *z, const struct compress_step *t)
{
	z->next_out = t->out;
	z->avail_out = clip(t->out_n);
	z->next_in = NULL;
	z->avail_in = 0;
}

static void zlib_in(z_stream *z, const uint8_t *p, size_t n)
{
	z->next_in = (Bytef *)p;
	z->avail_in = (uInt)n;
}

static void zlib_advance(const z_stream *z, struct compress_step *t)
{
	t->out_n -= (size_t)(z->next_out - t->out);
	t->out = z->next_out;
	t->in += t->in_n - z->avail_in;
	t->in_n = z->avail_in;
}

static int zlib_pack(void *ctx, int level, struct compress_step *t, bool full)
{
	struct zlib_pack *s = ctx;
	z_stream *z = &s->z;
	int r;

	if (t->in_n > UINT_MAX)
		return ERR_USAGE;
	zlib_out(z, t);
	if (zlib_set_level(s, level) < 0)
		return ERR_USAGE;
	zlib_in(z, t->in, t->in_n);
	/* RFC 4253 §6.2: a partial flush, after which the peer has all of the payload. */
	r = deflate(z, full ? Z_FULL_FLUSH : Z_PARTIAL_FLUSH);
	zlib_advance(z, t);
	/* Z_BUF_ERROR with room left over: nothing was to be done (an empty payload after a flush). */
	if (r != Z_OK && !(r == Z_BUF_ERROR && z->avail_in == 0 && z->avail_out != 0))
		return r == Z_BUF_ERROR ? ERR_MEMORY : ERR_USAGE;
	/* No room left means that zlib may hold back the rest, which the peer could not do without. */
	return z->avail_in != 0 || z->avail_out == 0 ? ERR_MEMORY : 0;
}

static int zlib_restart(void *ctx, int level, struct view dict)
{
	struct zlib_pack *s = ctx;

	if (deflateReset(&s->z) != Z_OK || zlib_set_level(s, level) < 0)
		return ERR_USAGE;
	return dict.n != 0 && deflateSetDictionary(&s->z, dict.p, (uInt)dict.n) != Z_OK ? ERR_USAGE : 0;
}

static void *zlib_open_make(int window)
{
	z_stream *z = mem_zalloc(sizeof(*z));

	z->zalloc = zlib_alloc;
	z->zfree = zlib_free;
	if (inflateInit2(z, window) == Z_OK)
		return z;
	free(z);
	return NULL;
}

static void *zlib_open_new(void) { return zlib_open_make(15); }
static void *zlib_open_raw(void) { return zlib_open_make(RAW_WINDOW); }

static void zlib_open_free(void *ctx)
{
	inflateEnd(ctx);
	mem_free_secret(ctx, sizeof(z_stream));
}

static int zlib_open(void *ctx, struct compress_step *t, const char **why)
{
	z_stream *z = ctx;
	int r;

	zlib_out(z, t);
	zlib_in(z, t->in, t->in_n);
	r = inflate(z, Z_SYNC_FLUSH);
	zlib_advance(z, t);
	/* A stream that ends (Z_STREAM_END) or wants a dictionary is none of RFC 4253's. */
	if (r == Z_OK || r == Z_BUF_ERROR)
		return 0;
	*why = z->msg != NULL ? z->msg : "bad data";
	return ERR_PEER;
}

static const struct compress_codec codec_zlib = {
	zlib_pack_new, zlib_pack_free, zlib_pack, zlib_restart, zlib_open_new, zlib_open_free, zlib_open
};
static const struct compress_codec codec_deflate = {
	zlib_pack_new, zlib_pack_free, zlib_pack, zlib_restart, zlib_open_raw, zlib_open_free, zlib_open
};

/* Text, as a machine of today does it. The controller measures; this is where it begins. */
static const struct compress_prior zlib_prior[COMPRESS_LEVELS + 1] = {
	{ 0, 1000 }, { 2600, 380 }, { 3100, 365 }, { 4000, 350 }, { 4800, 338 }, { 6800, 325 }, { 9800, 318 }, { 11800, 316 },
	{ 17000, 314 }, { 20000, 313 }
};

/* ---- the table ---- */

static const struct compress_alg algs[] = {
	{ "zlib@openssh.com", false, STORED_HEAD, STORED_MAX, &codec_zlib, zlib_prior },
	{ "zlib@wirespeed", true, 1, SIZE_MAX, &codec_deflate, zlib_prior },
#ifdef HAVE_LIBZSTD
	{ "zstd@wirespeed", true, 1, SIZE_MAX, &compress_zstd, compress_zstd_prior },
#endif
};

const struct compress_alg *compress_at(size_t i)
{
	return i < MEM_COUNT(algs) ? &algs[i] : NULL;
}

const struct compress_alg *compress_find(struct view name)
{
	size_t i;

	for (i = 0; i < MEM_COUNT(algs); i++)
		if (view_is(name, algs[i].name))
			return &algs[i];
	return NULL;
}

bool compress_has_zstd(void)
{
	static const char name[] = "zstd@wirespeed";

	return compress_find((struct view){ (const uint8_t *)name, sizeof(name) - 1 }) != NULL;
}

/* ---- packing ---- */

struct deflater {
	const struct compress_alg *alg;
	void *stream, *probe;
	uint8_t *probe_out;
	bool begun;                      /* not marked: the stream's header has been written */
	bool aligned;                    /* not marked: nothing but raw since a full flush or the beginning */
};

struct deflater *deflater_new(const struct compress_alg *alg)
{
	struct deflater *d = mem_zalloc(sizeof(*d));

	d->alg = alg;
	return d;
}

void deflater_trim(struct deflater *d)
{
	if (d == NULL || d->probe == NULL)
		return;
	d->alg->codec->pack_free(d->probe);
	mem_free_secret(d->probe_out, deflater_bound(COMPRESS_SAMPLE_MAX));
	d->probe = NULL;
	d->probe_out = NULL;
}

void deflater_free(struct deflater *d)
{
	if (d == NULL)
		return;
	deflater_trim(d);
	if (d->stream != NULL)
		d->alg->codec->pack_free(d->stream);
	mem_free_secret(d, sizeof(*d));
}

size_t deflater_bound(size_t n)
{
	/* Literals of 9 bits where a stored block cannot be used, block headers, the flush, the stream's header, a mark. */
	return n + n / 8 + n / 64 + 80;
}

/* The mark, or the header of an RFC 1950 stream. */
static int put_front(struct deflater *d, struct compress_step *t)
{
	uint8_t front[STREAM_HEAD] = { MARK_PACKED, 0 };
	size_t n = 1;

	if (!d->alg->marked) {
		front[0] = 0x78;         /* deflate with 32 KiB of window; 0x9c makes it a multiple of 31 */
		front[1] = 0x9c;
		n = d->begun ? 0 : STREAM_HEAD;
	}
	if (t->out_n < n)
		return ERR_MEMORY;
	memcpy(t->out, front, n);
	t->out += n;
	t->out_n -= n;
	d->begun = true;
	return 0;
}

static int pack(struct deflater *d, int level, struct compress_step *t, bool full)
{
	if (level < 1 || level > COMPRESS_LEVELS)
		return ERR_USAGE;
	if (d->stream == NULL && (d->stream = d->alg->codec->pack_new(level)) == NULL)
		return ERR_MEMORY;
	if (put_front(d, t) < 0)
		return ERR_MEMORY;
	d->aligned = full;
	return d->alg->codec->pack(d->stream, level, t, full);
}

int deflater_run(struct deflater *d, int level, struct view in, uint8_t *out, size_t room, size_t *n)
{
	struct compress_step t = { in.p, in.n, out, room };
	int r = pack(d, level, &t, false);

	*n = room - t.out_n;
	return r;
}

bool deflater_raw_ready(const struct deflater *d)
{
	return d->alg->marked || (d->begun && d->aligned);
}

/* RFC 1951 §3.2.4, from a byte boundary. */
static void put_stored_head(uint8_t *p, size_t n)
{
	p[0] = 0;                        /* not the last block; stored; the rest of the byte is skipped */
	p[1] = (uint8_t)(n & 0xff);
	p[2] = (uint8_t)(n >> 8);
	p[3] = (uint8_t)~p[1];
	p[4] = (uint8_t)~p[2];
}

int deflater_enter_raw(struct deflater *d, struct view in, uint8_t *out, size_t room, size_t *n)
{
	struct compress_step t = { in.p, in.n, out, room };
	int r;

	*n = 0;
	if (d->stream != NULL || in.n > STORED_MAX) {
		r = pack(d, 1, &t, true);
		*n = room - t.out_n;
		return r;
	}
	/* Nothing was ever packed: no compressor is needed for this either. */
	if (put_front(d, &t) < 0 || t.out_n < STORED_HEAD + in.n || in.n > STORED_MAX)
		return ERR_MEMORY;
	put_stored_head(t.out, in.n);
	memcpy(t.out + STORED_HEAD, in.p, in.n);
	d->aligned = true;
	*n = room - t.out_n + STORED_HEAD + in.n;
	return 0;
}

void deflater_put_raw_head(struct deflater *d, size_t n, uint8_t *head)
{
	if (d->alg->marked)
		head[0] = MARK_RAW;
	else
		put_stored_head(head, n);
}

int deflater_probe(struct deflater *d, int level, struct view dict, struct view sample, size_t *n, uint64_t *ns)
{
	size_t room = deflater_bound(COMPRESS_SAMPLE_MAX);
	struct compress_step t = { sample.p, sample.n, NULL, room };
	int r;

	if (sample.n > COMPRESS_SAMPLE_MAX || dict.n > COMPRESS_SAMPLE_MAX)
		return ERR_USAGE;
	if (d->probe == NULL && (d->probe = d->alg->codec->pack_new(level)) == NULL)
		return ERR_MEMORY;
	if (d->probe_out == NULL)
		d->probe_out = mem_alloc(room);
	t.out = d->probe_out;
	if ((r = d->alg->codec->restart(d->probe, level, dict)) < 0)
		return r;
	*ns = clock_thread_ns();
	r = d->alg->codec->pack(d->probe, level, &t, false);
	*ns = clock_thread_ns() - *ns;
	*n = room - t.out_n;
	return r;
}

/* ---- opening ---- */

struct inflater {
	const struct compress_alg *alg;
	void *stream;
};

struct inflater *inflater_new(const struct compress_alg *alg)
{
	struct inflater *i = mem_zalloc(sizeof(*i));

	i->alg = alg;
	return i;
}

void inflater_free(struct inflater *i)
{
	if (i == NULL)
		return;
	if (i->stream != NULL)
		i->alg->codec->open_free(i->stream);
	mem_free_secret(i, sizeof(*i));
}

/* Room for the next step inside out's limit: what is allocated already, or a multiple of the input. NULL at the limit. */
static uint8_t *step_room(struct buf *out, size_t input, size_t *room)
{
	size_t left = out->limit - out->size, free_room = out->room - out->size;
	size_t want = input > SIZE_MAX / 4 ? input : input * 4;

	if (want < OPEN_STEP_MIN)
		want = OPEN_STEP_MIN;
	if (want < free_room)
		want = free_room;
	if (want > left)
		want = left;
	if (want > UINT_MAX)
		want = UINT_MAX;
	*room = want;
	return want == 0 ? NULL : buf_reserve(out, want);
}

static int damaged(struct err *e, const char *why)
{
	return err_set(e, ERR_PEER, "compressed packet is damaged%s%s", why != NULL ? ": " : "", why != NULL ? why : "");
}

/* At the limit: 0 if the payload ended exactly there. */
static int check_end(struct inflater *i, struct compress_step *t, struct err *e)
{
	const char *why = NULL;
	uint8_t beyond;
	int r;

	t->out = &beyond;
	t->out_n = 1;
	r = i->alg->codec->open(i->stream, t, &why);
	if (t->out_n == 0)
		return err_set(e, ERR_PEER, "compressed packet expands beyond the limit");
	return r < 0 || t->in_n != 0 ? damaged(e, why) : 0;
}

static int open_stream(struct inflater *i, struct view in, struct buf *out, struct err *e)
{
	struct compress_step t = { .in = in.p, .in_n = in.n };
	const char *why = NULL;
	size_t room;
	int r;

	if (in.n > UINT_MAX)
		return err_set(e, ERR_PEER, "compressed packet is too large");
	for (;;) {
		t.out = step_room(out, in.n, &room);
		t.out_n = room;
		if (room == 0)
			return check_end(i, &t, e);
		if (t.out == NULL)
			return err_set(e, ERR_MEMORY, "no memory to expand a packet");
		r = i->alg->codec->open(i->stream, &t, &why);
		out->size -= t.out_n;
		if (r < 0)
			return damaged(e, why);
		/* Room to spare: everything that the input gives is out. */
		if (t.out_n != 0)
			return t.in_n == 0 ? 0 : damaged(e, NULL);
	}
}

int inflater_run(struct inflater *i, struct view in, struct buf *out, struct view *payload, struct err *e)
{
	int r;

	buf_reset(out);
	if (i->alg->marked) {
		if (in.n == 0 || in.p[0] > MARK_PACKED)
			return err_set(e, ERR_PEER, "compressed packet without a mark");
		*payload = (struct view){ in.p + 1, in.n - 1 };
		if (in.p[0] == MARK_RAW)
			return 0;
		in = *payload;
	}
	if (i->stream == NULL && (i->stream = i->alg->codec->open_new()) == NULL)
		return err_set(e, ERR_MEMORY, "no memory to expand packets");
	r = open_stream(i, in, out, e);
	*payload = (struct view){ out->data, out->size };
	return r;
}
