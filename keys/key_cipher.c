/* keys/key_cipher.c: the ciphers of encrypted private key files (OpenSSH's PROTOCOL.key). */
#include "keys/key_cipher.h"

#include <stdbool.h>
#include "base/mem.h"
#include "crypto/block.h"
#include "crypto/chachapoly.h"
#include "crypto/gcm.h"

static const struct key_cipher ciphers[] = {
	{ "none", KEY_CIPHER_NONE, 0, 0, 8, 0, NULL },
	{ "3des-cbc", KEY_CIPHER_BLOCK, 24, 8, 8, 0, "DES-EDE3-CBC" },
	{ "aes128-cbc", KEY_CIPHER_BLOCK, 16, 16, 16, 0, "AES-128-CBC" },
	{ "aes192-cbc", KEY_CIPHER_BLOCK, 24, 16, 16, 0, "AES-192-CBC" },
	{ "aes256-cbc", KEY_CIPHER_BLOCK, 32, 16, 16, 0, "AES-256-CBC" },
	{ "aes128-ctr", KEY_CIPHER_BLOCK, 16, 16, 16, 0, "AES-128-CTR" },
	{ "aes192-ctr", KEY_CIPHER_BLOCK, 24, 16, 16, 0, "AES-192-CTR" },
	{ "aes256-ctr", KEY_CIPHER_BLOCK, 32, 16, 16, 0, "AES-256-CTR" },
	{ "aes128-gcm@openssh.com", KEY_CIPHER_GCM, 16, GCM_IV_SIZE, 16, GCM_TAG_SIZE, "AES-128-GCM" },
	{ "aes256-gcm@openssh.com", KEY_CIPHER_GCM, 32, GCM_IV_SIZE, 16, GCM_TAG_SIZE, "AES-256-GCM" },
	{ "chacha20-poly1305@openssh.com", KEY_CIPHER_CHACHAPOLY, CHACHAPOLY_KEY_SIZE, 0, 8, CHACHAPOLY_TAG_SIZE, NULL }
};

const struct key_cipher *key_cipher_find(struct view name)
{
	for (size_t i = 0; i < MEM_COUNT(ciphers); i++)
		if (view_is(name, ciphers[i].name))
			return &ciphers[i];
	return NULL;
}

struct job { const uint8_t *key, *iv; uint8_t *p; size_t n; bool seal; };

static int run_block(const struct key_cipher *c, const struct job *j, struct err *e)
{
	struct block *b = block_new(c->libcrypto_name, j->seal, j->key, j->iv, e);
	int rc;

	if (b == NULL)
		return err_set(e, ERR_CRYPTO, "cipher %s is not available", c->name);
	rc = block_run(b, j->p, j->n);
	block_free(b);
	return rc;
}

static int run_gcm(const struct key_cipher *c, const struct job *j, struct err *e)
{
	struct gcm *g = gcm_new(c->libcrypto_name, j->seal, j->key, j->iv, e);
	int rc;

	if (g == NULL)
		return err_set(e, ERR_CRYPTO, "cipher %s is not available", c->name);
	rc = j->seal ? gcm_seal(g, NULL, 0, j->p, j->n, j->p + j->n) : gcm_open(g, NULL, 0, j->p, j->n, j->p + j->n);
	gcm_free(g);
	return rc;
}

static int run_chachapoly(const struct key_cipher *c, const struct job *j, struct err *e)
{
	struct chachapoly *x = chachapoly_new(j->key, e);
	int rc;

	if (x == NULL)
		return err_set(e, ERR_CRYPTO, "cipher %s is not available", c->name);
	rc = j->seal ? chachapoly_seal(x, 0, j->p, 0, j->n) : chachapoly_open(x, 0, j->p, 0, j->n);
	chachapoly_free(x);
	return rc;
}

static int run_none(const struct key_cipher *c, const struct job *j, struct err *e)
{
	return 0;
}

typedef int run_fn(const struct key_cipher *c, const struct job *j, struct err *e);
static run_fn *const runs[] = {
	[KEY_CIPHER_NONE] = run_none, [KEY_CIPHER_BLOCK] = run_block, [KEY_CIPHER_GCM] = run_gcm,
	[KEY_CIPHER_CHACHAPOLY] = run_chachapoly
};

int key_cipher_seal(const struct key_cipher *c, const uint8_t *secret, uint8_t *p, size_t n, struct err *e)
{
	struct job j = { secret, secret + c->key_size, p, n, true };
	int rc = runs[c->mode](c, &j, e);

	return rc == 0 ? 0 : err_set(e, rc, "%s: encryption failed", c->name);
}

int key_cipher_open(const struct key_cipher *c, const uint8_t *secret, uint8_t *p, size_t n, struct err *e)
{
	struct job j = { secret, secret + c->key_size, p, n, false };
	int rc = runs[c->mode](c, &j, e);

	return rc == 0 ? 0 : err_set(e, rc, "%s: decryption failed", c->name);
}
