/* crypto/digest.c: hashes over libcrypto's EVP_MD; single HMACs. */
#include "crypto/digest.h"

#include <openssl/evp.h>
#include "base/mem.h"
#include "base/str.h"
#include "crypto/hmac.h"
#include "crypto/libcrypto.h"

static const struct digest_row { size_t size; const char *name; } rows[] = {
	[DIGEST_MD5] = { 16, "MD5" },
	[DIGEST_SHA1] = { 20, "SHA1" },
	[DIGEST_SHA256] = { 32, "SHA256" },
	[DIGEST_SHA384] = { 48, "SHA384" },
	[DIGEST_SHA512] = { 64, "SHA512" },
};

struct digest {
	EVP_MD_CTX *ctx;
	size_t size;
	bool failed;     /* sticky: digest_final tells */
};

size_t digest_size(enum digest_alg alg)
{
	return rows[alg].size;
}

const char *digest_name(enum digest_alg alg)
{
	return rows[alg].name;
}

int digest_parse(const char *name, enum digest_alg *out)
{
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		if (str_equal_nocase(name, rows[i].name)) {
			*out = (enum digest_alg)i;
			return 0;
		}
	}
	return ERR_USAGE;
}

struct digest *digest_new(enum digest_alg alg)
{
	const EVP_MD *md = libcrypto_md(alg);
	struct digest *d;

	if (md == NULL)
		return NULL;
	d = mem_zalloc(sizeof(*d));
	d->size = rows[alg].size;
	d->ctx = EVP_MD_CTX_new();
	if (d->ctx == NULL || EVP_DigestInit_ex2(d->ctx, md, NULL) != 1) {
		digest_free(d);
		return NULL;
	}
	return d;
}

void digest_update(struct digest *d, const void *p, size_t n)
{
	if (n != 0 && EVP_DigestUpdate(d->ctx, p, n) != 1)
		d->failed = true;
}

int digest_final(struct digest *d, uint8_t *out)
{
	if (d->failed || EVP_DigestFinal_ex(d->ctx, out, NULL) != 1)
		return libcrypto_error(NULL, "hash");
	d->failed = true;        /* there is no second result */
	return 0;
}

void digest_free(struct digest *d)
{
	if (d == NULL)
		return;
	EVP_MD_CTX_free(d->ctx);         /* libcrypto wipes its state */
	mem_free_secret(d, sizeof(*d));
}

int digest_of(enum digest_alg alg, const struct view *v, size_t count, uint8_t *out)
{
	struct digest *d = digest_new(alg);
	int r;

	if (d == NULL)
		return ERR_CRYPTO;
	for (size_t i = 0; i < count; i++)
		digest_update(d, v[i].p, v[i].n);
	r = digest_final(d, out);
	digest_free(d);
	return r;
}

int digest_bytes(enum digest_alg alg, const void *p, size_t n, uint8_t *out)
{
	return digest_of(alg, &(struct view){ p, n }, 1, out);
}

int digest_hmac(enum digest_alg alg, const void *key, size_t key_size, const void *p, size_t n, uint8_t *out)
{
	struct hmac *h = hmac_new(alg, key, key_size, NULL);
	int r;

	if (h == NULL)
		return ERR_CRYPTO;
	r = hmac_compute(h, &(struct view){ p, n }, 1, out);
	hmac_free(h);
	return r;
}
