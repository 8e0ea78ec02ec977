/* seal.c: whole packets sealed and opened in place (RFC 4253 §6; encrypt-then-mac and AEAD as in OpenSSH's PROTOCOL). */
#include "seal.h"

#include <string.h>

#include "base/mem.h"
#include "crypto/rand.h"
#include "crypto/workers.h"
#include "wire/buf.h"

/* What one thread works with. */
struct lane {
	struct cipher *cipher;           /* NULL: none */
	struct mac *mac;                 /* NULL: none, or AEAD */
};

struct seal {
	struct packet_suite suite;
	struct lane lane[WORKERS_LANES_MAX];     /* the first is that of whoever calls */
	unsigned lanes;
	bool sealing;
	uint8_t *iv, *key, *mac_key;     /* for more lanes; NULL: there will be none */
	size_t block, tag, peek;
	bool etm, aead;
	bool length_apart;               /* the length field is no part of what is padded: AEAD, encrypt-then-mac */
};

enum { MAC_TAG_MAX = 64 };

static void lane_clear(struct lane *l)
{
	cipher_free(l->cipher);
	mac_free(l->mac);
	*l = (struct lane){ NULL, NULL };
}

static bool lane_init(struct lane *l, const struct seal *s, bool need_mac, const struct packet_keys *k, struct err *e)
{
	*l = (struct lane){ NULL, NULL };
	if (s->suite.cipher->mode != CIPHER_NONE &&
	    (l->cipher = cipher_new(s->suite.cipher, s->sealing, k->key, k->iv, e)) == NULL)
		return false;
	if (!need_mac || (l->mac = mac_new(s->suite.mac, k->mac_key, e)) != NULL)
		return true;
	lane_clear(l);
	return false;
}

struct seal *seal_new(const struct packet_suite *suite, const struct packet_keys *k, bool sealing, struct err *e)
{
	struct seal *s = mem_zalloc(sizeof(*s));
	bool need_cipher = suite->cipher->mode != CIPHER_NONE;
	bool need_mac = !cipher_is_aead(suite->cipher) && suite->mac != NULL && suite->mac->tag_size != 0;

	s->suite = *suite;
	s->sealing = sealing;
	s->lanes = 1;
	s->block = suite->cipher->block_size < 8 ? 8 : suite->cipher->block_size;
	s->aead = cipher_is_aead(suite->cipher);
	s->tag = suite->cipher->tag_size;
	if (need_mac) {
		s->etm = suite->mac->etm;
		s->tag = suite->mac->tag_size;
	}
	s->length_apart = s->aead || s->etm;
	s->peek = 4;
	if ((need_cipher || need_mac) && k == NULL) {
		err_set(e, ERR_USAGE, "keys are missing for %s", suite->cipher->name);
		goto fail;
	}
	if (!lane_init(&s->lane[0], s, need_mac, k, e))
		goto fail;
	if (need_cipher)
		s->peek = cipher_peek_size(s->lane[0].cipher, s->etm);
	return s;
fail:
	seal_free(s);
	return NULL;
}

static void free_keys(struct seal *s)
{
	mem_free_secret(s->iv, s->suite.cipher->iv_size);
	mem_free_secret(s->key, s->suite.cipher->key_size);
	if (s->mac_key != NULL)
		mem_free_secret(s->mac_key, s->suite.mac->key_size);
	s->iv = s->key = s->mac_key = NULL;
}

void seal_free(struct seal *s)
{
	unsigned i;

	if (s == NULL)
		return;
	for (i = 0; i < s->lanes; i++)
		lane_clear(&s->lane[i]);
	free_keys(s);
	mem_free_secret(s, sizeof(*s));
}

size_t seal_tag_size(const struct seal *s)
{
	return s->tag;
}

size_t seal_block_size(const struct seal *s)
{
	return s->block;
}

size_t seal_padding(const struct seal *s, size_t payload, size_t pad_to)
{
	/* RFC 4253 §6: what is padded is a multiple of the block size, with at least 4 bytes of padding. */
	size_t n = (s->length_apart ? 1 : SEAL_HEAD) + payload;
	size_t padding = s->block - n % s->block;

	if (padding < SEAL_PADDING_MIN)
		padding += s->block;
	/* pad_to is a multiple of every block size, so the above stays true. */
	if (pad_to != 0 && (n + padding) % pad_to != 0) {
		size_t more = pad_to - (n + padding) % pad_to;

		if (padding + more <= SEAL_PADDING_MAX)
			padding += more;
	}
	return padding;
}

uint32_t seal_fill(struct seal *s, uint8_t *p, size_t payload, size_t padding, size_t *total)
{
	size_t length = 1 + payload + padding;
	uint8_t *end = p + 4 + length;

	wire_store_u32(p, (uint32_t)length);
	p[4] = (uint8_t)padding;
	/* Random padding hides nothing behind an authenticated cipher but is what RFC 4253 §6 asks for. */
	if (s->lane[0].cipher != NULL)
		rand_padding(end - padding, padding);
	else
		memset(end - padding, 0, padding);
	*total = 4 + length + s->tag;
	return (uint32_t)length;
}

static int finish(const struct seal *s, const struct lane *l, uint32_t seq, uint8_t *p, size_t length)
{
	uint8_t *end = p + 4 + length;
	int r = 0;

	if (l->mac != NULL && !s->etm)
		r = mac_compute(l->mac, seq, p, 4 + length, end);
	if (r == 0 && l->cipher != NULL)
		r = cipher_seal(l->cipher, seq, p, length, s->length_apart);
	if (r == 0 && l->mac != NULL && s->etm)
		r = mac_compute(l->mac, seq, p, 4 + length, end);
	return r;
}

int seal_packet(struct seal *s, uint32_t seq, uint8_t *p, size_t payload, size_t padding, size_t *total)
{
	return finish(s, &s->lane[0], seq, p, seal_fill(s, p, payload, padding, total));
}

bool seal_length_possible(const struct seal *s, uint32_t length, uint32_t max)
{
	return length >= SEAL_HEAD && length <= max && (length + (s->length_apart ? 0 : 4)) % s->block == 0;
}

int seal_peek(struct seal *s, uint32_t seq, uint8_t *p, size_t n, uint32_t max, uint32_t *length)
{
	if (n < s->peek)
		return 0;
	*length = s->lane[0].cipher != NULL ? cipher_peek_length(s->lane[0].cipher, seq, p, s->etm) : wire_load_u32(p);
	/* Nothing of the packet is trusted yet, so its length is held against limits before it is used for anything. */
	return seal_length_possible(s, *length, max) ? 1 : ERR_PEER;
}

/* What follows the peek. */
static int open_rest(const struct seal *s, const struct lane *l, uint32_t seq, uint8_t *p, uint32_t length)
{
	uint8_t *end = p + 4 + length;
	int r = 0;

	if (s->aead)
		return cipher_open(l->cipher, seq, p, length, true) < 0 ? ERR_CRYPTO : 0;
	if (s->etm) {
		if (mac_check(l->mac, seq, p, 4 + (size_t)length, end) < 0)
			return ERR_CRYPTO;
		return l->cipher != NULL && cipher_open(l->cipher, seq, p, length, true) < 0 ? ERR_CRYPTO : 0;
	}
	if (l->cipher != NULL && 4 + (size_t)length > s->peek)
		r = cipher_open_rest(l->cipher, p + s->peek, 4 + (size_t)length - s->peek);
	if (l->mac != NULL && mac_check(l->mac, seq, p, 4 + (size_t)length, end) < 0)
		r = ERR_PEER;
	return r < 0 ? ERR_PEER : 0;
}

static int open_one(const struct seal *s, const struct lane *l, uint32_t seq, uint8_t *p, uint32_t length,
	size_t *payload)
{
	int r = open_rest(s, l, seq, p, length);
	size_t padding;

	if (r < 0)
		return r;
	/* Authentic from here on (or in clear). RFC 4253 §6: at least 4 bytes of padding, and a payload has a type. */
	padding = p[4];
	if (padding < SEAL_PADDING_MIN || padding + 2 > length)
		return ERR_PEER;
	*payload = length - 1 - padding;
	return 0;
}

int seal_open(struct seal *s, uint32_t seq, uint8_t *p, uint32_t length, size_t *payload)
{
	return open_one(s, &s->lane[0], seq, p, length, payload);
}

/* ---- several packets at once ---- */

static uint8_t *keep(const uint8_t *p, size_t n)
{
	return n != 0 ? mem_dup(p, n) : NULL;
}

void seal_allow_sharing(struct seal *s, const struct packet_keys *k)
{
	const struct lane *l = &s->lane[0];
	bool in_stream = l->cipher != NULL && !s->length_apart;

	/* Where the length is sealed with the packet, the next one is found only by opening this one. */
	if ((l->cipher == NULL && l->mac == NULL) || !cipher_can_move(s->suite.cipher) || (in_stream && !s->sealing))
		return;
	free_keys(s);
	if (l->cipher != NULL) {
		s->iv = keep(k->iv, s->suite.cipher->iv_size);
		s->key = keep(k->key, s->suite.cipher->key_size);
	}
	if (l->mac != NULL)
		s->mac_key = keep(k->mac_key, s->suite.mac->key_size);
}

bool seal_can_share(const struct seal *s)
{
	return s->key != NULL || s->mac_key != NULL;
}

/* Lanes for all threads; false: it is left to the first. */
static bool make_lanes(struct seal *s, unsigned count)
{
	const struct packet_keys k = { s->iv, s->key, s->mac_key };

	while (s->lanes < count) {
		if (!lane_init(&s->lane[s->lanes], s, s->lane[0].mac != NULL, &k, NULL)) {
			free_keys(s);
			return false;
		}
		s->lanes++;
	}
	return true;
}

struct share {
	struct seal *s;
	struct seal_item *items;
};

static void run_item(void *ctx, unsigned lane, size_t i)
{
	const struct share *share = ctx;
	const struct seal *s = share->s;
	const struct lane *l = &s->lane[lane];
	struct seal_item *it = &share->items[i];

	it->result = l->cipher != NULL ? cipher_move(l->cipher, it->position) : 0;
	if (it->result < 0)
		return;
	it->result = s->sealing ? finish(s, l, it->seq, it->p, it->length)
		: open_one(s, l, it->seq, it->p, it->length, &it->payload);
}

/* All items; the first lane's cipher is where one after the other would have left it. */
static int run_items(struct seal *s, struct workers *w, struct seal_item *items, size_t n)
{
	struct share share = { s, items };
	struct cipher *c = s->lane[0].cipher;
	uint64_t at = c != NULL ? cipher_position(c) : 0;
	size_t i;

	for (i = 0; i < n; i++) {
		items[i].position = at;
		if (c != NULL)
			at = cipher_position_after(c, at, items[i].length, s->length_apart);
	}
	if (w != NULL && seal_can_share(s) && make_lanes(s, workers_lanes(w)))
		workers_run(w, run_item, &share, n);
	else
		for (i = 0; i < n; i++)
			run_item(&share, 0, i);
	return c != NULL ? cipher_move(c, at) : 0;
}

int seal_finish_all(struct seal *s, struct workers *w, struct seal_item *items, size_t n)
{
	int r = run_items(s, w, items, n);
	size_t i;

	for (i = 0; r == 0 && i < n; i++)
		r = items[i].result;
	return r;
}

void seal_open_all(struct seal *s, struct workers *w, struct seal_item *items, size_t n)
{
	size_t i;

	if (run_items(s, w, items, n) < 0)
		for (i = 0; i < n; i++)
			items[i].result = ERR_CRYPTO;
}

size_t seal_peek_size(const struct seal *s)
{
	return s->peek;
}

bool seal_hides_failure(const struct seal *s)
{
	return s->suite.cipher->mode == CIPHER_CBC && !s->etm;
}

void seal_waste(struct seal *s, uint32_t seq, uint8_t *p, size_t n)
{
	uint8_t tag[MAC_TAG_MAX];

	if (s->lane[0].cipher != NULL && cipher_open_rest(s->lane[0].cipher, p, n - n % s->block) < 0)
		return;
	if (s->lane[0].mac != NULL && mac_compute(s->lane[0].mac, seq, p, n, tag) < 0)
		return;
	mem_wipe(tag, sizeof(tag));
}

void seal_save(const struct seal *s, struct buf *out)
{
	size_t mark = buf_begin_string(out);

	if (s->lane[0].cipher != NULL)
		cipher_save(s->lane[0].cipher, out);
	buf_end_string(out, mark);
}

int seal_restore(struct seal *s, struct reader *r)
{
	if (s->lane[0].cipher != NULL && cipher_restore(s->lane[0].cipher, r) < 0)
		return ERR_PEER;
	return reader_end(r, NULL, "cipher state");
}
