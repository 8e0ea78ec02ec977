/* packet_pack.c: compression of what is sent: which payloads go raw and which packed, at what level, and what that took. Between
 * the slab (packet_out.c), the streams (compress.c) and the controller (compress_auto.c). */
#include "packet.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "packet_private.h"
#include "wire/messages.h"

enum {
	STAGE_FIRST = 16 * 1024,
	STAGE_MAX = 256 * 1024,          /* of payloads lent at once, */
	STAGE_MS = 8,                    /* and about how long packing them may take */
	/* A payload: even if it grows it stays a possible packet, and what does not shrink soon shows. */
	PACK_PAYLOAD_MAX = 64 * 1024,
	SMALL = 64,                      /* not worth packing where raw costs one byte */
	IGNORE_SIZE = 5,                 /* MSG_IGNORE with an empty string */
	ASK_MIN = 1024, ASK_MOST = 3
};

static const struct compress_alg *packing(const struct packet *p)
{
	const struct packet_side *s = &p->side[PACKET_OUT];

	return s->compress ? s->suite.compress : NULL;
}

static int level_now(const struct packet *p)
{
	return p->pack.control != NULL ? compress_auto_level(p->pack.control) : p->pack.level;
}

/* ---- form ---- */

/* Raw payloads may follow behind this message, which says nothing. */
static int enter_raw(struct packet *p)
{
	static const uint8_t ignore[IGNORE_SIZE] = { MSG_IGNORE };
	size_t n, bound = deflater_bound(IGNORE_SIZE);
	uint8_t *at = packet_slab_reserve(p, SEAL_HEAD + bound + SEAL_TAIL_MAX);
	int r;

	if (at == NULL)
		return err_set(&p->err, ERR_MEMORY, "too much output is waiting");
	r = deflater_enter_raw(p->pack.deflater, (struct view){ ignore, IGNORE_SIZE }, at + SEAL_HEAD, bound, &n);
	return r < 0 ? err_set(&p->err, r, "compressing a packet failed") : packet_seal_tail(p, n);
}

static void prepare(struct packet *p, const struct compress_alg *alg)
{
	p->pack.alg = alg;
	if (p->pack.deflater == NULL)
		p->pack.deflater = deflater_new(alg);
	if (p->pack.control == NULL && p->pack.level == 0)
		p->pack.control = compress_auto_new(alg->prior);
}

int packet_pack_begin(struct packet *p, size_t payload)
{
	const struct compress_alg *alg = packing(p);

	p->pack.form = PACKET_FORM_PLAIN;
	if (alg == NULL)
		return 0;
	prepare(p, alg);
	p->pack.form = PACKET_FORM_PACKED;
	if (alg->marked ? level_now(p) != 0 && payload >= SMALL : level_now(p) != 0 || payload > alg->raw_max)
		return 0;
	if (!deflater_raw_ready(p->pack.deflater) && enter_raw(p) < 0)
		return p->err.code;
	p->pack.form = PACKET_FORM_RAW;
	return 0;
}

size_t packet_pack_head(const struct packet *p)
{
	return p->pack.form == PACKET_FORM_RAW ? packing(p)->raw_head : 0;
}

size_t packet_pack_bound(const struct packet *p, size_t payload)
{
	return p->pack.form == PACKET_FORM_PACKED ? deflater_bound(payload) : packet_pack_head(p) + payload;
}

size_t packet_pack_payload_max(const struct packet *p)
{
	size_t most = PACKET_PAYLOAD_MAX - packet_pack_head(p);

	if (p->pack.form == PACKET_FORM_PACKED)
		return PACK_PAYLOAD_MAX;
	if (p->pack.form == PACKET_FORM_RAW && most > packing(p)->raw_max)
		return packing(p)->raw_max;
	return most;
}

size_t packet_pack_want(const struct packet *p, size_t want)
{
	size_t most = p->pack.form == PACKET_FORM_RAW && p->pack.control != NULL ? compress_auto_raw_max(p->pack.control) : want;

	return want < most ? want : most;
}

/* ---- the stage ---- */

uint8_t *packet_stage_reserve(struct packet *p, size_t n)
{
	struct packet_pack *k = &p->pack;

	if (n > k->stage_room) {
		mem_free_secret(k->stage, k->stage_room);
		k->stage_room = n < STAGE_FIRST ? STAGE_FIRST : n;
		k->stage = mem_alloc(k->stage_room);
	}
	return k->stage;
}

size_t packet_stage_max(const struct packet *p)
{
	double most = p->pack.ns_byte > 0 ? STAGE_MS * 1e6 / p->pack.ns_byte : STAGE_MAX;

	return most < PACK_PAYLOAD_MAX ? PACK_PAYLOAD_MAX : most > STAGE_MAX ? STAGE_MAX : (size_t)most;
}

bool packet_pack_has_spare(const struct packet *p)
{
	return p->pack.stage_room > STAGE_FIRST;
}

void packet_pack_trim(struct packet *p)
{
	mem_free_secret(p->pack.stage, p->pack.stage_room);
	p->pack.stage = NULL;
	p->pack.stage_room = 0;
	deflater_trim(p->pack.deflater);
}

static void drop_stream(struct packet *p)
{
	deflater_free(p->pack.deflater);
	p->pack.deflater = NULL;
}

void packet_pack_new_keys(struct packet *p)
{
	drop_stream(p);
	if (p->pack.control != NULL)
		compress_auto_set_without(p->pack.control, packing(p) == NULL);
}

void packet_pack_free(struct packet *p)
{
	packet_pack_trim(p);
	drop_stream(p);
	compress_auto_free(p->pack.control);
}

/* ---- payloads ---- */

/* Packs a sample of the payload on the side, as the controller wants it. False: that failed. */
static bool answer_one(struct packet *p, struct view payload, const struct compress_ask *ask)
{
	struct compress_answer got = { .in = 0 };
	struct view sample, dict;

	got.in = payload.n < ask->sample ? payload.n : ask->sample;
	sample = (struct view){ payload.p + payload.n - got.in, got.in };
	dict.n = payload.n - got.in < COMPRESS_SAMPLE_MAX ? payload.n - got.in : COMPRESS_SAMPLE_MAX;
	dict.p = sample.p - dict.n;
	if (deflater_probe(p->pack.deflater, ask->level, dict, sample, &got.out, &got.ns) < 0 || (ask->with != 0 &&
	    deflater_probe(p->pack.deflater, ask->with, dict, sample, &got.with_out, &got.with_ns) < 0))
		return false;
	compress_auto_answer(p->pack.control, ask, &got);
	return true;
}

/* On a slow line there are few payloads a second, and time to compare more than one level on each. */
static void answer(struct packet *p, struct view payload)
{
	struct compress_ask ask;
	int i;

	if (p->pack.control == NULL || payload.n < ASK_MIN)
		return;
	for (i = 0; i < ASK_MOST && compress_auto_ask(p->pack.control, &ask); i++)
		if (!answer_one(p, payload, &ask) || ask.with == 0)
			return;
}

size_t packet_pack_raw(struct packet *p, uint8_t *at, size_t n)
{
	size_t head = packing(p)->raw_head;

	/* A message may be built raw and the stream have become packed: it cannot, nothing comes between. */
	deflater_put_raw_head(p->pack.deflater, n, at);
	p->pack.count.in += n;
	p->pack.count.out += head + n;
	if (p->pack.control != NULL) {
		compress_auto_raw(p->pack.control, n);
		answer(p, (struct view){ at + head, n });
	}
	return head + n;
}

void packet_pack_watch(struct packet *p, const uint8_t *payload, size_t n)
{
	struct packet_pack *k = &p->pack;

	if (k->control == NULL)
		return;
	k->count.in += n;
	k->count.out += n;
	compress_auto_raw(k->control, n);
	/* For samples only: nothing of it is sent. */
	if (k->deflater == NULL)
		k->deflater = deflater_new(k->alg);
	answer(p, (struct view){ payload, n });
}

static void count_packed(struct packet *p, size_t in, size_t out, uint64_t ns)
{
	struct packet_pack *k = &p->pack;

	k->count.in += in;
	k->count.out += out;
	if (in >= ASK_MIN)
		k->ns_byte += ((double)ns / (double)in - k->ns_byte) * (k->ns_byte > 0 ? 0.25 : 1);
	if (k->control != NULL)
		compress_auto_packed(k->control, in, out, ns);
}

int packet_pack_run(struct packet *p, struct view payload, uint8_t *at, size_t *n)
{
	const struct compress_alg *alg = packing(p);
	struct deflater *d = p->pack.deflater;
	size_t bound = deflater_bound(payload.n);
	int level = level_now(p), r;
	uint64_t begin;

	if (level == 0 && deflater_raw_ready(d) && payload.n <= alg->raw_max) {
		memcpy(at + alg->raw_head, payload.p, payload.n);
		*n = packet_pack_raw(p, at, payload.n);
		return 0;
	}
	begin = clock_thread_ns();
	if (level == 0 && !deflater_raw_ready(d))
		r = deflater_enter_raw(d, payload, at, bound, n);
	else
		r = deflater_run(d, level != 0 ? level : 1, payload, at, bound, n);
	if (r < 0)
		return err_set(&p->err, r, "compressing a packet failed");
	count_packed(p, payload.n, *n, clock_thread_ns() - begin);
	answer(p, payload);
	return 0;
}

/* ---- what it did ---- */

struct packet_packed packet_packed(const struct packet *p, enum packet_dir dir)
{
	return dir == PACKET_OUT ? p->pack.count : p->opened;
}

struct compress_auto *packet_compress_auto(const struct packet *p)
{
	return p->pack.control;
}
