/* packet_handoff.c: a packet layer carried from one process to another (docs/OVERVIEW.md): algorithm names, keys, first IVs,
 * counters and bytes that nobody has read yet. Cipher state is rebuilt from these; nothing of libcrypto's crosses. */
#include "packet.h"

#include <string.h>

#include "base/mem.h"
#include "packet_private.h"

static void put_name(struct buf *out, const char *name)
{
	buf_put_cstring(out, name != NULL ? name : "");
}

static void export_side(const struct packet_side *s, struct buf *out)
{
	const struct cipher_alg *c = s->suite.cipher;
	const struct mac_alg *m = s->suite.mac;

	put_name(out, c->name);
	put_name(out, m != NULL ? m->name : NULL);
	put_name(out, s->suite.compress != NULL ? s->suite.compress->name : NULL);
	buf_put_bool(out, s->compress);
	buf_put_string(out, s->kept.iv, s->kept.iv != NULL ? c->iv_size : 0);
	buf_put_string(out, s->kept.key, s->kept.key != NULL ? c->key_size : 0);
	buf_put_string(out, s->kept.mac_key, s->kept.mac_key != NULL ? m->key_size : 0);
	seal_save(s->seal, out);
	buf_put_u32(out, s->seq);
	buf_put_u64(out, s->count.packets);
	buf_put_u64(out, s->count.blocks);
	buf_put_u64(out, s->count.bytes);
	buf_put_u64(out, s->total);
}

int packet_export(struct packet *p, struct buf *out)
{
	const struct view unread = packet_in_peek(p);
	int i;

	if (packet_err(p)->code != 0)
		return packet_err(p)->code;
	if (packet_out_pending(p) != 0 || p->open || p->lent != 0 || p->discarding || p->ahead_next != p->ahead_count)
		return err_set(&p->err, ERR_USAGE, "a connection is handed over with output that has not left");
	if (p->inflater != NULL || p->pack.deflater != NULL)
		return err_set(&p->err, ERR_USAGE, "a connection is handed over in the middle of compression");
	if (!p->keep_keys)
		return err_set(&p->err, ERR_USAGE, "the keys of this connection were not kept for a hand-over");
	for (i = 0; i < 2; i++)
		export_side(&p->side[i], out);
	buf_put_u32(out, p->length_max);
	buf_put_bool(out, p->peeked);
	buf_put_u32(out, p->peeked ? p->length : 0);
	buf_put_string(out, unread.p, unread.n);
	packet_keep_keys(p, false);
	return buf_ok(out) ? 0 : err_set(&p->err, ERR_MEMORY, "a connection to be handed over is too large");
}

/* ---- and back ---- */

struct import_side {
	struct packet_suite suite;
	bool compress;
	struct view iv, key, mac_key;
	struct reader position;          /* of the cipher in its stream */
	uint32_t seq;
	struct packet_counters count;
	uint64_t total;
};

static void read_side(struct reader *r, struct import_side *s)
{
	struct view cipher = reader_string(r), mac = reader_string(r), compress = reader_string(r);

	s->suite = (struct packet_suite){ .cipher = cipher_find(cipher) };
	s->suite.mac = mac.n != 0 ? mac_find(mac) : NULL;
	s->suite.compress = compress.n != 0 ? compress_find(compress) : NULL;
	s->compress = reader_bool(r);
	s->iv = reader_string(r);
	s->key = reader_string(r);
	s->mac_key = reader_string(r);
	s->position = reader_child(r);
	s->seq = reader_u32(r);
	s->count.packets = reader_u64(r);
	s->count.blocks = reader_u64(r);
	s->count.bytes = reader_u64(r);
	s->total = reader_u64(r);
	/* Every size is what the row says, so that nothing below reads past a view. */
	if (s->suite.cipher == NULL || (mac.n != 0) == cipher_is_aead(s->suite.cipher) ||
	    (mac.n != 0 && s->suite.mac == NULL) || (compress.n != 0 && s->suite.compress == NULL)) {
		reader_fail(r);
		return;
	}
	if (s->iv.n != s->suite.cipher->iv_size || s->key.n != s->suite.cipher->key_size ||
	    s->mac_key.n != (s->suite.mac != NULL ? s->suite.mac->key_size : 0))
		reader_fail(r);
}

static int import_side(struct packet *p, enum packet_dir dir, struct import_side *from)
{
	struct packet_side *s = &p->side[dir];
	const struct packet_keys keys = { from->iv.p, from->key.p, from->mac_key.p };
	int r = packet_side_key(p, dir, &from->suite, &keys);

	if (r < 0)
		return r;
	if (seal_restore(s->seal, &from->position) < 0)
		return err_set(&p->err, ERR_PEER, "cipher %s handed over in no possible state", from->suite.cipher->name);
	s->compress = from->compress;
	s->seq = from->seq;
	s->count = from->count;
	s->total = from->total;
	return 0;
}

int packet_import(struct packet *p, struct reader *r)
{
	struct import_side side[2];
	struct view unread;
	uint32_t max;
	bool peeked;
	int i, code;

	for (i = 0; i < 2; i++) {
		read_side(r, &side[i]);
		if (!reader_ok(r))
			return err_set(&p->err, ERR_PEER, "the keys of a connection handed over are malformed");
	}
	max = reader_u32(r);
	peeked = reader_bool(r);
	p->length = reader_u32(r);
	unread = reader_string(r);
	if (!reader_ok(r) || max > PACKET_LENGTH_MAX)
		return err_set(&p->err, ERR_PEER, "the state of a connection handed over is malformed");
	packet_set_length_max(p, max);
	for (i = 0; i < 2; i++)
		if ((code = import_side(p, (enum packet_dir)i, &side[i])) < 0)
			return code;
	if (peeked && (!seal_length_possible(p->side[PACKET_IN].seal, p->length, max) ||
	    unread.n < seal_peek_size(p->side[PACKET_IN].seal)))
		return err_set(&p->err, ERR_PEER, "the packet length of a connection handed over is impossible");
	code = packet_in_put(p, unread);
	p->peeked = peeked;
	return code < 0 ? err_set(&p->err, code, "a connection handed over has too much unread input") : 0;
}
