/* packet_out.c: from messages to bytes that are ready to leave. One slab: payloads are written where they will be sealed,
 * and leave from there. */
#include "packet.h"

#include <string.h>

#include "base/mem.h"
#include "crypto/workers.h"
#include "packet_private.h"

enum {
	OUT_ROOM_FIRST = 16 * 1024,
	SHARE_PARTS = 2,                 /* messages a thread, at least */
	SHARE_BODY_LEAST = 48 * 1024     /* but not shorter */
};

/* ---- the slab ---- */

size_t packet_out_pending(const struct packet *p)
{
	const struct packet_slab *s = &p->out;

	return s->wrapped ? s->wrap - s->head + s->tail : s->tail - s->head;
}

/* A larger slab, with what is pending in one piece at its start. */
static bool slab_grow(struct packet *p, size_t n)
{
	struct packet_slab *s = &p->out, new = { .room = s->room };
	struct iovec iov[2];
	size_t need = packet_out_pending(p) + n;
	int i, parts;

	if (need > PACKET_OUT_MAX)
		return false;
	if (new.room < OUT_ROOM_FIRST)
		new.room = OUT_ROOM_FIRST;
	while (new.room < need)
		new.room *= 2;
	new.mem = mem_alloc(new.room);
	parts = packet_out_view(p, iov, 2);
	for (i = 0; i < parts; i++) {
		memcpy(new.mem + new.tail, iov[i].iov_base, iov[i].iov_len);
		new.tail += iov[i].iov_len;
	}
	mem_free_secret(s->mem, s->room);
	*s = new;
	return true;
}

uint8_t *packet_slab_reserve(struct packet *p, size_t n)
{
	struct packet_slab *s = &p->out;
	bool fits;

	if (packet_out_pending(p) == 0) {
		s->head = s->tail = 0;
		s->wrapped = false;
	}
	if (s->wrapped) {
		fits = s->head - s->tail > n;
	} else if (s->room - s->tail >= n) {
		fits = true;
	} else if ((fits = s->head > n)) {
		s->wrap = s->tail;
		s->tail = 0;
		s->wrapped = true;
	}
	if (!fits && !slab_grow(p, n))
		return NULL;
	return s->mem + s->tail;
}

int packet_out_view(const struct packet *p, struct iovec *iov, int iov_max)
{
	const struct packet_slab *s = &p->out;
	int n = 0;

	if (s->wrapped) {
		if (n < iov_max && s->wrap != s->head)
			iov[n++] = (struct iovec){ s->mem + s->head, s->wrap - s->head };
		if (n < iov_max && s->tail != 0)
			iov[n++] = (struct iovec){ s->mem, s->tail };
	} else if (n < iov_max && s->tail != s->head) {
		iov[n++] = (struct iovec){ s->mem + s->head, s->tail - s->head };
	}
	return n;
}

void packet_out_sent(struct packet *p, size_t n)
{
	struct packet_slab *s = &p->out;
	size_t first;

	if (n > packet_out_pending(p))
		n = packet_out_pending(p);
	if (s->wrapped) {
		first = s->wrap - s->head;
		if (n < first) {
			s->head += n;
			return;
		}
		n -= first;
		s->head = 0;
		s->wrapped = false;
	}
	s->head += n;
}

bool packet_out_has_spare(const struct packet *p)
{
	return p->out.room > OUT_ROOM_FIRST || packet_pack_has_spare(p);
}

bool packet_out_trim(struct packet *p)
{
	return packet_out_has_spare(p) && !packet_out_drop(p);
}

bool packet_out_drop(struct packet *p)
{
	if (packet_out_pending(p) != 0 || p->open || p->lent != 0)
		return false;
	mem_free_secret(p->out.mem, p->out.room);
	p->out = (struct packet_slab){ .mem = NULL };
	packet_pack_trim(p);
	return true;
}

void packet_out_raw(struct packet *p, const void *bytes, size_t n)
{
	uint8_t *at;

	if (p->open || p->lent != 0 || (at = packet_slab_reserve(p, n)) == NULL) {
		err_set(&p->err, ERR_USAGE, "no place for %zu bytes outside of packets", n);
		return;
	}
	memcpy(at, bytes, n);
	p->out.tail += n;
}

/* ---- one message ---- */

int packet_seal_tail(struct packet *p, size_t payload)
{
	struct packet_side *s = &p->side[PACKET_OUT];
	uint8_t *at = p->out.mem + p->out.tail;
	size_t padding = seal_padding(s->seal, payload, p->pad_to), total = 0;
	int r;

	p->pad_to = 0;
	if (packet_side_used_up(s))
		return err_set(&p->err, ERR_USAGE, "too many packets with one key");
	r = seal_packet(s->seal, s->seq, at, payload, padding, &total);
	if (r < 0)
		return err_set(&p->err, r, "sealing a packet with %s failed", s->suite.cipher->name);
	packet_count(s, 1 + payload + padding);
	p->out.tail += total;
	return 0;
}

/* Packs a payload into the slab's tail and seals it. */
static int pack_tail(struct packet *p, struct view payload)
{
	size_t n = 0;
	uint8_t *at = packet_slab_reserve(p, SEAL_HEAD + packet_pack_bound(p, payload.n) + SEAL_TAIL_MAX);
	int r;

	if (at == NULL)
		return err_set(&p->err, ERR_MEMORY, "too much output is waiting");
	if ((r = packet_pack_run(p, payload, at + SEAL_HEAD, &n)) < 0)
		return r;
	if (n > PACKET_PAYLOAD_MAX)
		return err_set(&p->err, ERR_MEMORY, "a packet of %zu bytes grew too long by compression", payload.n);
	return packet_seal_tail(p, n);
}

/* Seals a payload that lies in its place at the slab's tail, behind the head of its form. */
static int finish_tail(struct packet *p, size_t payload)
{
	if (p->pack.form == PACKET_FORM_RAW)
		payload = packet_pack_raw(p, p->out.mem + p->out.tail + SEAL_HEAD, payload);
	else
		packet_pack_watch(p, p->out.mem + p->out.tail + SEAL_HEAD, payload);
	return packet_seal_tail(p, payload);
}

uint8_t *packet_begin(struct packet *p, uint8_t type, size_t room)
{
	uint8_t *at;

	if (p->err.code != 0)
		return NULL;
	if (p->open || p->lent != 0) {
		err_set(&p->err, ERR_USAGE, "a message is begun inside another");
		return NULL;
	}
	if (room >= PACKET_PAYLOAD_MAX) {
		err_set(&p->err, ERR_MEMORY, "a message of %zu bytes is too long", room);
		return NULL;
	}
	if (packet_pack_begin(p, 1 + room) < 0)
		return NULL;
	at = packet_slab_reserve(p, SEAL_HEAD + packet_pack_bound(p, 1 + room) + SEAL_TAIL_MAX);
	if (at == NULL) {
		err_set(&p->err, ERR_MEMORY, "too much output is waiting");
		return NULL;
	}
	if (p->pack.form == PACKET_FORM_PACKED)
		at = packet_stage_reserve(p, 1 + room);
	else
		at += SEAL_HEAD + packet_pack_head(p);
	at[0] = type;
	p->open = true;
	p->open_room = room;
	return at + 1;
}

int packet_end(struct packet *p, size_t used)
{
	if (p->err.code != 0)
		return p->err.code;
	if (!p->open || used > p->open_room)
		return err_set(&p->err, ERR_USAGE, "a message ends that was not begun, or not with this size");
	p->open = false;
	if (p->pack.form == PACKET_FORM_PACKED)
		return pack_tail(p, (struct view){ p->pack.stage, 1 + used });
	return finish_tail(p, 1 + used);
}

void packet_cancel(struct packet *p)
{
	p->open = false;
	p->lent = 0;
}

void packet_pad_next(struct packet *p, size_t multiple)
{
	p->pad_to = multiple;
}

/* ---- bulk ---- */

/* How many messages of `payload` bytes there is room for now. */
static size_t lend_count(const struct packet *p, size_t payload, size_t *stride)
{
	const struct seal *s = p->side[PACKET_OUT].seal;
	size_t pending = packet_out_pending(p), bound = packet_pack_bound(p, payload), size, count;
	bool staged = p->pack.form == PACKET_FORM_PACKED;

	size = SEAL_HEAD + bound + seal_padding(s, bound, 0) + seal_tag_size(s);
	*stride = staged ? payload : size;
	if (pending >= PACKET_BULK_MAX || bound > PACKET_PAYLOAD_MAX)
		return 0;
	count = (PACKET_BULK_MAX - pending) / size;
	if (staged && count > packet_stage_max(p) / payload)
		count = packet_stage_max(p) / payload;
	if (staged && count == 0)
		count = 1;
	return count;
}

/* Smaller messages where several threads are to seal them, so that all have something to do until the end. */
static size_t share_body(const struct packet *p, size_t body_max, size_t want)
{
	size_t part = want / (SHARE_PARTS * workers_lanes(p->workers));

	if (part >= body_max || body_max <= SHARE_BODY_LEAST)
		return body_max;
	return part > SHARE_BODY_LEAST ? part : SHARE_BODY_LEAST;
}

int packet_lend(struct packet *p, const struct packet_bulk *b, size_t body_max, size_t want, struct iovec *iov,
	int iov_max)
{
	size_t skip = 1 + b->head_size, count, wanted, i;
	uint8_t *at;
	bool staged;

	if (p->err.code != 0)
		return p->err.code;
	if (p->open || p->lent != 0)
		return err_set(&p->err, ERR_USAGE, "messages are lent inside another");
	if (body_max == 0 || want == 0 || iov_max <= 0 || body_max > PACKET_PAYLOAD_MAX || skip > PACKET_PAYLOAD_MAX)
		return 0;
	if (packet_pack_begin(p, skip + (want < body_max ? want : body_max)) < 0)
		return p->err.code;
	want = packet_pack_want(p, want);
	staged = p->pack.form == PACKET_FORM_PACKED;
	if (p->pack.form != PACKET_FORM_PLAIN && body_max > packet_pack_payload_max(p) - skip)
		body_max = packet_pack_payload_max(p) - skip;
	if (packet_shares(p, PACKET_OUT) && !staged) {
		body_max = share_body(p, body_max, want);
		/* The caller reads data first: the threads can wake up meanwhile. */
		if (p->last_out >= PACKET_SHARE_LEAST)
			workers_expect(p->workers);
	}
	count = lend_count(p, skip + body_max, &p->lent_stride);
	wanted = want / body_max + (want % body_max != 0);
	if (count > wanted)
		count = wanted;
	if (count > (size_t)iov_max)
		count = (size_t)iov_max;
	if (count == 0)
		return 0;
	at = staged ? packet_stage_reserve(p, count * p->lent_stride)
		: packet_slab_reserve(p, count * p->lent_stride + SEAL_TAIL_MAX);
	if (at == NULL)
		return 0;
	if (!staged)
		at += SEAL_HEAD + packet_pack_head(p);
	for (i = 0; i < count; i++) {
		iov[i].iov_base = at + i * p->lent_stride + skip;
		iov[i].iov_len = want < body_max ? want : body_max;
		want -= iov[i].iov_len;
		p->lent_want = iov[i].iov_len;   /* of the last one */
	}
	p->bulk = *b;
	p->lent_body = body_max;
	p->lent = (int)count;
	return (int)count;
}

/* What stands before a body of n bytes. */
static void write_payload(struct packet *p, uint8_t *at, size_t n)
{
	at[0] = p->bulk.type;
	if (p->bulk.head_size != 0)
		p->bulk.write_head(p->bulk.ctx, at + 1, n);
}

/* The i-th lent message, of which n bytes of body were written. */
static int commit_one(struct packet *p, size_t i, size_t n)
{
	/* Whole packets before this one have exactly the stride, so it lies at the slab's tail already. */
	bool staged = p->pack.form == PACKET_FORM_PACKED;
	uint8_t *at = staged ? p->pack.stage + i * p->lent_stride : p->out.mem + p->out.tail + SEAL_HEAD + packet_pack_head(p);

	write_payload(p, at, n);
	n += 1 + p->bulk.head_size;
	return staged ? pack_tail(p, (struct view){ at, n }) : finish_tail(p, n);
}

/* The first `used` bytes of what was lent, sealed by several threads, in the place where one would have put them. */
static int commit_shared(struct packet *p, size_t used)
{
	struct packet_side *s = &p->side[PACKET_OUT];
	struct seal_item items[PACKET_BATCH];
	size_t count = 0, total, i, tail = p->out.tail, n;
	int r;

	for (; used != 0; used -= n, count++) {
		uint8_t *at = p->out.mem + tail, *payload = at + SEAL_HEAD + packet_pack_head(p);

		n = used < p->lent_body ? used : p->lent_body;
		write_payload(p, payload, n);
		items[count] = (struct seal_item){ .p = at, .seq = s->seq + (uint32_t)count };
		i = 1 + p->bulk.head_size + n;
		if (p->pack.form == PACKET_FORM_RAW)
			i = packet_pack_raw(p, at + SEAL_HEAD, i);
		else
			packet_pack_watch(p, payload, i);
		items[count].length = seal_fill(s->seal, at, i, seal_padding(s->seal, i, 0), &total);
		tail += total;
	}
	r = seal_finish_all(s->seal, p->workers, items, count);
	if (r < 0)
		return err_set(&p->err, r, "sealing packets with %s failed", s->suite.cipher->name);
	for (i = 0; i < count; i++)
		packet_count(s, items[i].length);
	p->out.tail = tail;
	return 0;
}

static bool commit_is_shared(const struct packet *p, size_t used)
{
	return p->pack.form != PACKET_FORM_PACKED && used > p->lent_body && used >= PACKET_SHARE_LEAST && p->lent <= PACKET_BATCH &&
		packet_shares(p, PACKET_OUT) && p->side[PACKET_OUT].count.packets <= UINT32_MAX - PACKET_BATCH;
}

int packet_commit(struct packet *p, size_t used)
{
	size_t count = (size_t)p->lent, i, n, most, left = used;
	bool shared;
	int r = 0;

	if (p->err.code != 0)
		return p->err.code;
	most = count != 0 ? (count - 1) * p->lent_body + p->lent_want : 0;
	if (used > most)
		return err_set(&p->err, ERR_USAGE, "%zu bytes written where %zu were lent", used, most);
	shared = commit_is_shared(p, used);
	p->lent = 0;
	p->pad_to = 0;
	if (shared)
		r = commit_shared(p, used);
	for (i = 0; r == 0 && left != 0 && !shared; i++) {
		n = left < p->lent_body ? left : p->lent_body;
		r = commit_one(p, i, n);
		left -= n;
	}
	p->last_out = used;
	packet_keep_pace(p, PACKET_OUT, used);
	return r;
}
