/* packet_in.c: from received bytes to messages. One linear buffer: recv() writes behind what is there, packets are opened
 * where they lie, and a partial one moves to the front when the room behind it runs short. */
#include "packet.h"

#include <string.h>

#include "base/mem.h"
#include "crypto/workers.h"
#include "packet_private.h"

enum {
	IN_ROOM_FIRST = 64 * 1024,
	IN_ROOM_MAX = 1024 * 1024,       /* holds the longest packet several times */
	IN_FREE_MIN = 16 * 1024
};

static void in_resize(struct packet *p, size_t room)
{
	size_t n = p->in_end - p->in_pos;
	uint8_t *in = mem_alloc(room);

	if (n != 0)
		memcpy(in, p->in + p->in_pos, n);
	mem_free_secret(p->in, p->in_room);
	p->in = in;
	p->in_room = room;
	p->in_pos = 0;
	p->in_end = n;
}

/* The room that input should have now. */
static size_t in_wanted(const struct packet *p)
{
	size_t room = p->in_room != 0 ? p->in_room : IN_ROOM_FIRST, need = p->in_end - p->in_pos + IN_FREE_MIN;

	if (p->in_filled && room < IN_ROOM_MAX)
		room *= 2;
	while (room < need && room < IN_ROOM_MAX)
		room *= 2;
	return room;
}

int packet_in_space(struct packet *p, uint8_t **at, size_t *room)
{
	size_t wanted, left;

	if (p->in_err.code != 0)
		return p->in_err.code;
	if (p->in_pos == p->in_end)
		p->in_pos = p->in_end = 0;
	wanted = in_wanted(p);
	p->in_filled = false;
	left = p->in_room - p->in_end;
	if (wanted > p->in_room) {
		in_resize(p, wanted);
	} else if (p->in_pos != 0 && left < p->in_room / 2) {
		memmove(p->in, p->in + p->in_pos, p->in_end - p->in_pos);
		p->in_end -= p->in_pos;
		p->in_pos = 0;
	}
	*at = p->in + p->in_end;
	*room = p->in_offered = p->in_room - p->in_end;
	/* Reading takes about as long as a thread needs to wake up. */
	if (p->ahead_allowed && p->last_in >= PACKET_SHARE_LEAST && packet_shares(p, PACKET_IN))
		workers_expect(p->workers);
	return *room != 0 ? 0 : ERR_AGAIN;
}

void packet_in_added(struct packet *p, size_t n)
{
	if (n > p->in_offered)
		n = p->in_offered;
	/* A read that took everything would have taken more: packets that are there already are cheaper than new reads. */
	p->in_filled = n != 0 && n == p->in_offered;
	p->in_end += n;
	p->in_offered -= n;
	p->last_in = n;
}

int packet_in_put(struct packet *p, struct view bytes)
{
	uint8_t *at;
	size_t room, n;
	int r;

	while (bytes.n != 0) {
		if ((r = packet_in_space(p, &at, &room)) < 0)
			return r;
		n = bytes.n < room ? bytes.n : room;
		memcpy(at, bytes.p, n);
		packet_in_added(p, n);
		bytes.p += n;
		bytes.n -= n;
	}
	return 0;
}

struct view packet_in_peek(const struct packet *p)
{
	return (struct view){ p->in != NULL ? p->in + p->in_pos : (const uint8_t *)"", p->in_end - p->in_pos };
}

void packet_in_take(struct packet *p, size_t n)
{
	if (!p->peeked)
		p->in_pos += n < p->in_end - p->in_pos ? n : p->in_end - p->in_pos;
}

bool packet_in_has_spare(const struct packet *p)
{
	return p->in_room > IN_ROOM_FIRST;
}

bool packet_in_trim(struct packet *p)
{
	return packet_in_has_spare(p) && !packet_in_drop(p);
}

bool packet_in_drop(struct packet *p)
{
	/* What has come but not been taken stays, and views of the last message must stay valid until the next call. */
	if (p->in_pos != p->in_end)
		return false;
	mem_free_secret(p->in, p->in_room);
	p->in = NULL;
	p->in_room = p->in_pos = p->in_end = p->in_offered = 0;
	buf_free(&p->inflated);
	return true;
}

/* ---- broken packets ---- */

/* CBC without encrypt-then-mac: whether the length or the MAC was wrong must show neither in what is answered nor in when
 * (Albrecht, Paterson, Watson 2009): everything up to the longest packet is read first, and every byte of
 * it costs a decryption and a share of a MAC as soon as it is there, as it would in a packet of any length. So what is still
 * to do when the last byte comes depends on when bytes came, which the sender knows, and on nothing else. */
static int discard(struct packet *p)
{
	size_t n = p->in_end - p->in_pos, done;

	if (n > p->discard_left)
		n = p->discard_left;
	done = n < p->discard_done ? n : p->discard_done;
	p->discard_done -= done;
	seal_waste(p->side[PACKET_IN].seal, 0, p->in + p->in_pos + done, n - done);
	p->discard_left -= n;
	p->in_pos = p->in_end;
	return p->discard_left != 0 ? 0 : err_set(&p->in_err, ERR_CRYPTO, "packet corrupt");
}

/* done: bytes of the packet that have been decrypted and gone through a MAC. */
static int bad_packet(struct packet *p, size_t done, int code, const char *text)
{
	if (!seal_hides_failure(p->side[PACKET_IN].seal))
		return err_set(&p->in_err, code, "%s", text);
	p->discarding = true;
	p->discard_left = PACKET_LENGTH_MAX + SEAL_TAIL_MAX;
	p->discard_done = done;
	return discard(p);
}

/* ---- packets ---- */

/* The length of the packet at in_pos: 1, 0 or negative as packet_next. */
static int peek_length(struct packet *p, struct packet_side *s)
{
	uint8_t *at = p->in + p->in_pos;
	size_t n = p->in_end - p->in_pos;
	int r;

	if (p->peeked)
		return 1;
	r = seal_peek(s->seal, s->seq, at, n, p->length_max, &p->length);
	if (r < 0)
		return bad_packet(p, 0, ERR_PEER, "bad packet length");
	p->peeked = r == 1;
	return r;
}

static int inflate_payload(struct packet *p, struct view *payload)
{
	int r;

	if (p->inflater == NULL)
		p->inflater = inflater_new(p->side[PACKET_IN].suite.compress);
	p->opened.in += payload->n;
	r = inflater_run(p->inflater, *payload, &p->inflated, payload, &p->in_err);
	if (r < 0)
		return err_set(&p->in_err, r, "compressed packet is corrupt");
	p->opened.out += payload->n;
	return payload->n != 0 ? 0 : err_set(&p->in_err, ERR_PEER, "packet without a message");
}

/* ---- several packets at once ---- */

void packet_allow_ahead(struct packet *p, bool allow)
{
	p->ahead_allowed = allow;
}

/* The packets that lie complete from in_pos on, as far as their lengths make sense: the first is known to be there. Looking
 * at a length changes nothing for the ciphers that share (seal_can_share). */
static size_t find_ahead(struct packet *p, const struct packet_side *s, size_t *bytes)
{
	size_t at = p->in_pos, tag = seal_tag_size(s->seal), count = 0, size;
	uint32_t seq = s->seq, length = p->length;

	for (;;) {
		size = 4 + (size_t)length + tag;
		if (p->in_end - at < size || count == PACKET_BATCH)
			break;
		p->ahead[count++] = (struct seal_item){ .p = p->in + at, .seq = seq++, .length = length };
		at += size;
		if (seal_peek(s->seal, seq, p->in + at, p->in_end - at, p->length_max, &length) != 1)
			break;
	}
	*bytes = at - p->in_pos;
	return count;
}

/* Opens what is there by several threads, if that is worth it. */
static void open_ahead(struct packet *p, const struct packet_side *s)
{
	size_t bytes, count;

	if (!p->ahead_allowed || !packet_shares(p, PACKET_IN) || s->count.packets > UINT32_MAX - PACKET_BATCH)
		return;
	if (p->ahead == NULL)
		p->ahead = mem_array(PACKET_BATCH, sizeof(p->ahead[0]));
	count = find_ahead(p, s, &bytes);
	if (count < 2 || bytes < PACKET_SHARE_LEAST)
		return;
	seal_open_all(s->seal, p->workers, p->ahead, count);
	p->ahead_next = 0;
	p->ahead_count = count;
}

/* Opens the packet at in_pos, which is complete, or takes it from those that are open. */
static int open_packet(struct packet *p, struct packet_side *s, uint8_t *at, size_t *payload)
{
	const struct seal_item *it;

	if (p->ahead_next == p->ahead_count)
		open_ahead(p, s);
	if (p->ahead_next == p->ahead_count)
		return seal_open(s->seal, s->seq, at, p->length, payload);
	it = &p->ahead[p->ahead_next++];
	*payload = it->payload;
	return it->result;
}

/* The packet at in_pos: 1 if all of it is there, else as packet_next. */
static int find_packet(struct packet *p, struct packet_side *s)
{
	int r;

	if (p->ahead_next != p->ahead_count) {
		p->length = p->ahead[p->ahead_next].length;
		return 1;
	}
	r = peek_length(p, s);
	return r == 1 ? p->in_end - p->in_pos >= 4 + (size_t)p->length + seal_tag_size(s->seal) : r;
}

int packet_next(struct packet *p, struct message *m)
{
	struct packet_side *s = &p->side[PACKET_IN];
	struct view payload;
	uint8_t *at;
	size_t size;
	int r;

	if (p->in_err.code != 0)
		return p->in_err.code;
	if (p->discarding)
		return discard(p);
	if ((r = find_packet(p, s)) <= 0)
		return r;
	at = p->in + p->in_pos;
	size = 4 + (size_t)p->length + seal_tag_size(s->seal);
	if (packet_side_used_up(s))
		return err_set(&p->in_err, ERR_PEER, "too many packets with one key");
	r = open_packet(p, s, at, &payload.n);
	p->peeked = false;
	if (r < 0)
		return bad_packet(p, size, r, r == ERR_CRYPTO ? "message authentication code incorrect"
			: "packet corrupt");
	payload.p = at + SEAL_HEAD;
	p->in_pos += size;
	m->seq = s->seq;
	packet_count(s, p->length);
	packet_keep_pace(p, PACKET_IN, size);
	if (s->compress && s->suite.compress != NULL && (r = inflate_payload(p, &payload)) < 0)
		return r;
	m->type = payload.p[0];
	m->body = (struct view){ payload.p + 1, payload.n - 1 };
	return 1;
}
