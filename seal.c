/* seal.c: whole packets sealed and opened in place (RFC 4253 §6; encrypt-then-mac and AEAD as spec wire-extensions 7). */
#include "seal.h"

#include <string.h>

#include "base/mem.h"
#include "crypto/rand.h"
#include "wire/buf.h"

struct seal {
	struct packet_suite suite;
	struct cipher *cipher;           /* NULL: none */
	struct mac *mac;                 /* NULL: none, or AEAD */
	size_t block, tag, peek;
	bool etm, aead;
	bool length_apart;               /* the length field is no part of what is padded: AEAD, encrypt-then-mac */
};

enum { MAC_TAG_MAX = 64 };

struct seal *seal_new(const struct packet_suite *suite, const struct packet_keys *k, bool sealing, struct err *e)
{
	struct seal *s = mem_zalloc(sizeof(*s));
	bool need_cipher = suite->cipher->mode != CIPHER_NONE;
	bool need_mac = !cipher_is_aead(suite->cipher) && suite->mac != NULL && suite->mac->tag_size != 0;

	s->suite = *suite;
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
	if (need_cipher) {
		s->cipher = cipher_new(suite->cipher, sealing, k->key, k->iv, e);
		if (s->cipher == NULL)
			goto fail;
		s->peek = cipher_peek_size(s->cipher, s->etm);
	}
	if (need_mac && (s->mac = mac_new(suite->mac, k->mac_key, e)) == NULL)
		goto fail;
	return s;
fail:
	seal_free(s);
	return NULL;
}

void seal_free(struct seal *s)
{
	if (s == NULL)
		return;
	cipher_free(s->cipher);
	mac_free(s->mac);
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

int seal_packet(struct seal *s, uint32_t seq, uint8_t *p, size_t payload, size_t padding, size_t *total)
{
	size_t length = 1 + payload + padding;
	uint8_t *end = p + 4 + length;
	int r = 0;

	wire_store_u32(p, (uint32_t)length);
	p[4] = (uint8_t)padding;
	/* Random padding hides nothing behind an authenticated cipher but is what RFC 4253 §6 asks for. */
	if (s->cipher != NULL)
		rand_padding(end - padding, padding);
	else
		memset(end - padding, 0, padding);
	if (s->mac != NULL && !s->etm)
		r = mac_compute(s->mac, seq, p, 4 + length, end);
	if (r == 0 && s->cipher != NULL)
		r = cipher_seal(s->cipher, seq, p, length, s->length_apart);
	if (r == 0 && s->mac != NULL && s->etm)
		r = mac_compute(s->mac, seq, p, 4 + length, end);
	*total = 4 + length + s->tag;
	return r;
}

bool seal_length_possible(const struct seal *s, uint32_t length, uint32_t max)
{
	return length >= SEAL_HEAD && length <= max && (length + (s->length_apart ? 0 : 4)) % s->block == 0;
}

int seal_peek(struct seal *s, uint32_t seq, uint8_t *p, size_t n, uint32_t max, uint32_t *length)
{
	if (n < s->peek)
		return 0;
	*length = s->cipher != NULL ? cipher_peek_length(s->cipher, seq, p, s->etm) : wire_load_u32(p);
	/* Nothing of the packet is trusted yet, so its length is held against limits before it is used for anything. */
	return seal_length_possible(s, *length, max) ? 1 : ERR_PEER;
}

/* What follows the peek. */
static int open_rest(struct seal *s, uint32_t seq, uint8_t *p, uint32_t length)
{
	uint8_t *end = p + 4 + length;
	int r = 0;

	if (s->aead)
		return cipher_open(s->cipher, seq, p, length, true) < 0 ? ERR_CRYPTO : 0;
	if (s->etm) {
		if (mac_check(s->mac, seq, p, 4 + (size_t)length, end) < 0)
			return ERR_CRYPTO;
		return s->cipher != NULL && cipher_open(s->cipher, seq, p, length, true) < 0 ? ERR_CRYPTO : 0;
	}
	if (s->cipher != NULL && 4 + (size_t)length > s->peek)
		r = cipher_open_rest(s->cipher, p + s->peek, 4 + (size_t)length - s->peek);
	if (s->mac != NULL && mac_check(s->mac, seq, p, 4 + (size_t)length, end) < 0)
		r = ERR_PEER;
	return r < 0 ? ERR_PEER : 0;
}

int seal_open(struct seal *s, uint32_t seq, uint8_t *p, uint32_t length, size_t *payload)
{
	int r = open_rest(s, seq, p, length);
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

	if (s->cipher != NULL && cipher_open_rest(s->cipher, p, n - n % s->block) < 0)
		return;
	if (s->mac != NULL && mac_compute(s->mac, seq, p, n, tag) < 0)
		return;
	mem_wipe(tag, sizeof(tag));
}

void seal_save(const struct seal *s, struct buf *out)
{
	size_t mark = buf_begin_string(out);

	if (s->cipher != NULL)
		cipher_save(s->cipher, out);
	buf_end_string(out, mark);
}

int seal_restore(struct seal *s, struct reader *r)
{
	if (s->cipher != NULL && cipher_restore(s->cipher, r) < 0)
		return ERR_PEER;
	return reader_end(r, NULL, "cipher state");
}
