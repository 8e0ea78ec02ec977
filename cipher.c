/* cipher.c: the packet ciphers by name, over crypto/. Part of the engine. */
#include "cipher.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "crypto/block.h"
#include "crypto/chachapoly.h"
#include "crypto/crypto.h"
#include "crypto/gcm.h"
#include "wire/buf.h"

enum {
	LENGTH_SIZE = 4, BLOCK_MAX = 16,
	/* A connection is handed over soon after its keys are made; nobody may make a process walk for minutes. */
	STREAM_POSITION_MAX = 1 << 30
};

/* name, mode, key, iv, block, tag, legacy, libcrypto's name, skip. Order: that of -Q, with what has
 * left it behind the other legacy ones; none last. */
static const struct cipher_alg rows[] = {
#ifdef WITH_LEGACY_CIPHERS
	{ "3des-cbc", CIPHER_CBC, 24, 8, 8, 0, true, "DES-EDE3-CBC", 0 },
	{ "aes128-cbc", CIPHER_CBC, 16, 16, 16, 0, true, "AES-128-CBC", 0 },
	{ "aes192-cbc", CIPHER_CBC, 24, 16, 16, 0, true, "AES-192-CBC", 0 },
	{ "aes256-cbc", CIPHER_CBC, 32, 16, 16, 0, true, "AES-256-CBC", 0 },
	{ "blowfish-cbc", CIPHER_CBC, 16, 8, 8, 0, true, "BF-CBC", 0 },
	{ "cast128-cbc", CIPHER_CBC, 16, 8, 8, 0, true, "CAST5-CBC", 0 },
	/* RFC 4253 §6.3: 128 bits of key; RFC 4345 §4. A stream is padded as blocks of 8 bytes are (RFC 4253 §6). */
	{ "arcfour", CIPHER_STREAM, 16, 0, 8, 0, true, "RC4", 0 },
	{ "arcfour128", CIPHER_STREAM, 16, 0, 8, 0, true, "RC4", 1536 },
	{ "arcfour256", CIPHER_STREAM, 32, 0, 8, 0, true, "RC4", 1536 },
#endif
	{ "aes128-ctr", CIPHER_CTR, 16, 16, 16, 0, false, "AES-128-CTR", 0 },
	{ "aes192-ctr", CIPHER_CTR, 24, 16, 16, 0, false, "AES-192-CTR", 0 },
	{ "aes256-ctr", CIPHER_CTR, 32, 16, 16, 0, false, "AES-256-CTR", 0 },
	{ "aes128-gcm@openssh.com", CIPHER_GCM, 16, 12, 16, 16, false, "AES-128-GCM", 0 },
	{ "aes256-gcm@openssh.com", CIPHER_GCM, 32, 12, 16, 16, false, "AES-256-GCM", 0 },
	{ "chacha20-poly1305@openssh.com", CIPHER_CHACHAPOLY, 64, 0, 8, 16, false, "ChaCha20", 0 },
	{ "none", CIPHER_NONE, 0, 0, 8, 0, false, NULL, 0 },
};

struct cipher {
	const struct cipher_alg *alg;
	bool encrypt;
	struct gcm *gcm;                 /* one of the three, by mode */
	struct chachapoly *chachapoly;
	struct block *block;
	uint64_t position;               /* GCM: packets; CTR, arcfour: bytes */
	uint8_t first_iv[BLOCK_MAX];
	uint8_t last_block[BLOCK_MAX];   /* CBC: the sealed block that the next is chained to */
};

static bool is_offered(const struct cipher_alg *alg)
{
	if (alg->mode == CIPHER_CHACHAPOLY && !crypto_has_mac("POLY1305"))
		return false;
	return alg->libcrypto_name == NULL || crypto_has_cipher(alg->libcrypto_name);
}

const struct cipher_alg *cipher_find(struct view name)
{
	for (size_t i = 0; i < MEM_COUNT(rows); i++)
		if (view_is(name, rows[i].name))
			return is_offered(&rows[i]) ? &rows[i] : NULL;
	return NULL;
}

const struct cipher_alg *cipher_at(size_t i)
{
	for (size_t at = 0; at < MEM_COUNT(rows); at++) {
		if (rows[at].mode == CIPHER_NONE || !is_offered(&rows[at]))
			continue;
		if (i-- == 0)
			return &rows[at];
	}
	return NULL;
}

const char *cipher_name_at(size_t i)
{
	const struct cipher_alg *c = cipher_at(i);

	return c != NULL ? c->name : NULL;
}

static bool needs_provider(const struct cipher_alg *alg)
{
	return alg->libcrypto_name != NULL && crypto_is_legacy(alg->libcrypto_name);
}

static const struct cipher_alg *find_row(const char *name, size_t n)
{
	for (size_t i = 0; i < MEM_COUNT(rows); i++)
		if (str_is(name, n, rows[i].name))
			return &rows[i];
	return NULL;
}

int cipher_prepare(const char *names, struct err *e)
{
	const char *name;
	size_t n;
	int r = 0;

	while (r == 0 && str_next_name(&names, &name, &n)) {
		const struct cipher_alg *alg = find_row(name, n);

		if (alg == NULL)
			continue;
		if (needs_provider(alg))
			r = crypto_load_legacy(e);
		if (r == 0 && !is_offered(alg))
			r = err_set(e, ERR_CRYPTO, "libcrypto does not offer %s", alg->libcrypto_name);
	}
	return r;
}

void cipher_prepare_all(void)
{
	for (size_t i = 0; i < MEM_COUNT(rows); i++)
		if (needs_provider(&rows[i]) && crypto_load_legacy(NULL) < 0)
			return;
}

struct cipher *cipher_new(const struct cipher_alg *alg, bool encrypt, const uint8_t *key, const uint8_t *iv,
	struct err *e)
{
	struct cipher *c = mem_zalloc(sizeof(*c));
	bool ok = true;

	c->alg = alg;
	c->encrypt = encrypt;
	if (alg->mode == CIPHER_CTR || alg->mode == CIPHER_CBC) {
		memcpy(c->first_iv, iv, alg->iv_size);
		memcpy(c->last_block, iv, alg->iv_size);
	}
	switch (alg->mode) {
	case CIPHER_NONE:
		break;
	case CIPHER_GCM:
		c->gcm = gcm_new(alg->libcrypto_name, encrypt, key, iv, e);
		ok = c->gcm != NULL;
		break;
	case CIPHER_CHACHAPOLY:
		c->chachapoly = chachapoly_new(key, e);
		ok = c->chachapoly != NULL;
		break;
	case CIPHER_STREAM:
		c->block = block_new_arcfour(key, alg->key_size, alg->skip, e);
		ok = c->block != NULL;
		break;
	case CIPHER_CTR:
	case CIPHER_CBC:
		c->block = block_new(alg->libcrypto_name, encrypt, key, iv, e);
		ok = c->block != NULL;
		break;
	}
	if (ok)
		return c;
	cipher_free(c);
	return NULL;
}

void cipher_free(struct cipher *c)
{
	if (c == NULL)
		return;
	gcm_free(c->gcm);
	chachapoly_free(c->chachapoly);
	block_free(c->block);
	mem_free_secret(c, sizeof(*c));
}

const struct cipher_alg *cipher_alg(const struct cipher *c)
{
	return c->alg;
}

/* CTR, CBC and arcfour: n bytes at p, keeping account of where the stream is. */
static int run_block(struct cipher *c, uint8_t *p, size_t n)
{
	size_t block = c->alg->block_size;
	bool chained = c->alg->mode == CIPHER_CBC && n >= block;
	int r;

	if (chained && !c->encrypt)
		memcpy(c->last_block, p + n - block, block);
	r = block_run(c->block, p, n);
	if (chained && c->encrypt)
		memcpy(c->last_block, p + n - block, block);
	c->position += n;
	return r;
}

int cipher_seal(struct cipher *c, uint32_t seq, uint8_t *p, size_t n, bool length_clear)
{
	uint8_t *body = p + LENGTH_SIZE;

	switch (c->alg->mode) {
	case CIPHER_NONE:
		return 0;
	case CIPHER_GCM:
		c->position++;
		return gcm_seal(c->gcm, p, LENGTH_SIZE, body, n, body + n);
	case CIPHER_CHACHAPOLY:
		return chachapoly_seal(c->chachapoly, seq, p, LENGTH_SIZE, n);
	case CIPHER_CTR:
	case CIPHER_CBC:
	case CIPHER_STREAM:
		break;
	}
	return length_clear ? run_block(c, body, n) : run_block(c, p, LENGTH_SIZE + n);
}

int cipher_open(struct cipher *c, uint32_t seq, uint8_t *p, size_t n, bool length_clear)
{
	uint8_t *body = p + LENGTH_SIZE;

	switch (c->alg->mode) {
	case CIPHER_NONE:
		return 0;
	case CIPHER_GCM:
		c->position++;
		return gcm_open(c->gcm, p, LENGTH_SIZE, body, n, body + n);
	case CIPHER_CHACHAPOLY:
		return chachapoly_open(c->chachapoly, seq, p, LENGTH_SIZE, n);
	case CIPHER_CTR:
	case CIPHER_CBC:
	case CIPHER_STREAM:
		break;
	}
	return length_clear ? run_block(c, body, n) : run_block(c, p, LENGTH_SIZE + n);
}

/* Whether the length is sealed in one stream with the body. */
static bool length_in_stream(const struct cipher *c, bool length_clear)
{
	return c->block != NULL && !length_clear;
}

size_t cipher_peek_size(const struct cipher *c, bool length_clear)
{
	return length_in_stream(c, length_clear) ? c->alg->block_size : LENGTH_SIZE;
}

uint32_t cipher_peek_length(struct cipher *c, uint32_t seq, uint8_t *p, bool length_clear)
{
	uint32_t length;

	/* 0 is no packet_length that anyone accepts (RFC 4253 §6). */
	if (c->chachapoly != NULL)
		return chachapoly_peek(c->chachapoly, seq, p, &length) == 0 ? length : 0;
	if (length_in_stream(c, length_clear) && run_block(c, p, c->alg->block_size) < 0)
		return 0;
	return wire_load_u32(p);
}

int cipher_open_rest(struct cipher *c, uint8_t *p, size_t n)
{
	return c->block == NULL ? ERR_USAGE : run_block(c, p, n);
}

uint64_t cipher_position(const struct cipher *c)
{
	return c->position;
}

uint64_t cipher_position_after(const struct cipher *c, uint64_t position, size_t n, bool length_clear)
{
	if (c->alg->mode == CIPHER_GCM)
		return position + 1;
	return c->block != NULL ? position + n + (length_clear ? 0 : LENGTH_SIZE) : position;
}

int cipher_move(struct cipher *c, uint64_t position)
{
	if (position == c->position)
		return 0;
	if (!cipher_can_move(c->alg))
		return ERR_USAGE;
	/* Forwards or backwards: the counter is a number modulo 2^64 (RFC 5647 §7.1). */
	if (c->gcm != NULL)
		gcm_skip(c->gcm, position - c->position);
	c->position = position;
	return c->alg->mode == CIPHER_CTR ? block_seek(c->block, c->first_iv, position) : 0;
}

void cipher_save(const struct cipher *c, struct buf *out)
{
	buf_put_u64(out, c->position);
	buf_put_string(out, c->last_block, c->alg->mode == CIPHER_CBC ? c->alg->block_size : 0);
}

int cipher_restore(struct cipher *c, struct reader *r)
{
	uint64_t position = reader_u64(r);
	struct view last = reader_string(r);

	if (!reader_ok(r) || last.n != (c->alg->mode == CIPHER_CBC ? c->alg->block_size : 0U))
		return ERR_PEER;
	if (c->alg->mode == CIPHER_STREAM && position > STREAM_POSITION_MAX)
		return ERR_PEER;
	c->position = position;
	if (c->gcm != NULL)
		gcm_skip(c->gcm, position);
	if (c->alg->mode == CIPHER_CTR)
		return block_seek(c->block, c->first_iv, position);
	if (c->alg->mode == CIPHER_STREAM)
		return block_skip(c->block, position);
	if (c->alg->mode == CIPHER_CBC) {
		memcpy(c->last_block, last.p, last.n);
		return block_set_iv(c->block, last.p);
	}
	return 0;
}
