/* compress_zstd.c: zstd (RFC 8878) as a codec of compress.h, where configure found libzstd. Engine; its only user.
 *
 * zstd's windows hold what was said and are not wiped when they are freed, as zlib's are (compress.c): allocators of one's own go in
 * through ZSTD_create*_advanced only, which is in the static section of zstd.h and no part of the stable interface. */
#include "compress.h"

#ifdef HAVE_LIBZSTD
#include <stdlib.h>
#include <zstd.h>
#include "base/mem.h"

/* 512 KiB of what was before: a receiver needs little more than that, whatever a sender says. The tables of a sender are kept to
 * what such a window is worth: 3 MB at most, where the library's own choice for the last levels is 14 and 52. */
enum { WINDOW_LOG = 19, TABLE_LOG = 18 };

static const int zstd_level[COMPRESS_LEVELS + 1] = { 0, 1, 2, 3, 4, 5, 6, 7, 9, 12 };

const struct compress_prior compress_zstd_prior[COMPRESS_LEVELS + 1] = {
	{ 0, 1000 }, { 770, 345 }, { 920, 335 }, { 1280, 320 }, { 1550, 315 }, { 2560, 300 }, { 3600, 295 }, { 4600, 290 },
	{ 6400, 285 }, { 15400, 280 }
};

struct zstd_pack { ZSTD_CCtx *z; int level; bool begun; };

static bool set(struct zstd_pack *s, ZSTD_cParameter what, int value)
{
	return !ZSTD_isError(ZSTD_CCtx_setParameter(s->z, what, value));
}

static void *zstd_pack_new(int level)
{
	struct zstd_pack *s = mem_zalloc(sizeof(*s));

	s->z = ZSTD_createCCtx();
	s->level = level;
	if (s->z != NULL && set(s, ZSTD_c_windowLog, WINDOW_LOG) && set(s, ZSTD_c_hashLog, TABLE_LOG) &&
	    set(s, ZSTD_c_chainLog, TABLE_LOG) && set(s, ZSTD_c_compressionLevel, zstd_level[level]))
		return s;
	ZSTD_freeCCtx(s->z);
	free(s);
	return NULL;
}

static void zstd_pack_free(void *ctx)
{
	struct zstd_pack *s = ctx;

	ZSTD_freeCCtx(s->z);
	free(s);
}

static int run(struct zstd_pack *s, struct compress_step *t, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { t->in, t->in_n, 0 };
	ZSTD_outBuffer out = { t->out, t->out_n, 0 };
	size_t left;

	do {
		left = ZSTD_compressStream2(s->z, &out, &in, end);
	} while (!ZSTD_isError(left) && left != 0 && out.pos < out.size);
	t->in += in.pos;
	t->in_n -= in.pos;
	t->out += out.pos;
	t->out_n -= out.pos;
	if (ZSTD_isError(left))
		return ERR_USAGE;
	return left != 0 || t->in_n != 0 ? ERR_MEMORY : 0;
}

/* A level is that of a frame: a new one begins a new frame. */
static int zstd_set_level(struct zstd_pack *s, int level, struct compress_step *t)
{
	struct compress_step end = { NULL, 0, t->out, t->out_n };
	int r;

	if (level == s->level)
		return 0;
	if (s->begun) {
		if ((r = run(s, &end, ZSTD_e_end)) < 0)
			return r;
		t->out = end.out;
		t->out_n = end.out_n;
		s->begun = false;
	}
	if (!set(s, ZSTD_c_compressionLevel, zstd_level[level]))
		return ERR_USAGE;
	s->level = level;
	return 0;
}

static int zstd_pack(void *ctx, int level, struct compress_step *t, bool full)
{
	struct zstd_pack *s = ctx;
	int r = zstd_set_level(s, level, t);

	(void)full;      /* raw payloads have a mark */
	if (r < 0)
		return r;
	s->begun = true;
	return run(s, t, ZSTD_e_flush);
}

static int zstd_restart(void *ctx, int level, struct view dict)
{
	struct zstd_pack *s = ctx;
	struct compress_step none = { NULL, 0, NULL, 0 };

	s->begun = false;
	if (ZSTD_isError(ZSTD_CCtx_reset(s->z, ZSTD_reset_session_only)) || zstd_set_level(s, level, &none) < 0)
		return ERR_USAGE;
	return dict.n != 0 && ZSTD_isError(ZSTD_CCtx_refPrefix(s->z, dict.p, dict.n)) ? ERR_USAGE : 0;
}

static void *zstd_open_new(void)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();

	if (z != NULL && ZSTD_isError(ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, WINDOW_LOG))) {
		ZSTD_freeDCtx(z);
		return NULL;
	}
	return z;
}

static void zstd_open_free(void *ctx)
{
	ZSTD_freeDCtx(ctx);
}

static int zstd_open(void *ctx, struct compress_step *t, const char **why)
{
	ZSTD_inBuffer in = { t->in, t->in_n, 0 };
	ZSTD_outBuffer out = { t->out, t->out_n, 0 };
	size_t r;

	/* One frame may end and another begin. */
	do {
		r = ZSTD_decompressStream(ctx, &out, &in);
	} while (!ZSTD_isError(r) && in.pos < in.size && out.pos < out.size);
	t->in += in.pos;
	t->in_n -= in.pos;
	t->out += out.pos;
	t->out_n -= out.pos;
	if (!ZSTD_isError(r))
		return 0;
	*why = ZSTD_getErrorName(r);
	return ERR_PEER;
}

const struct compress_codec compress_zstd = {
	zstd_pack_new, zstd_pack_free, zstd_pack, zstd_restart, zstd_open_new, zstd_open_free, zstd_open
};
#else
typedef int compress_zstd_is_not_built_in;
#endif
