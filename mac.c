/* mac.c: the packet MACs by name, over crypto/. Part of the engine. */
#include "mac.h"

#include <string.h>
#include "base/mem.h"
#include "crypto/crypto.h"
#include "crypto/digest.h"
#include "crypto/hmac.h"
#include "crypto/umac.h"
#include "wire/buf.h"

enum { KIND_NONE, KIND_HMAC, KIND_UMAC };
enum { TAG_MAX = DIGEST_MAX };

/* name, key, tag, etm, legacy, kind, param (HMAC: the hash). Order: that of -Q; none last. */
static const struct mac_alg rows[] = {
	{ "hmac-sha1", 20, 20, false, false, KIND_HMAC, DIGEST_SHA1 },
#ifdef WITH_LEGACY_CIPHERS
	{ "hmac-sha1-96", 20, 12, false, true, KIND_HMAC, DIGEST_SHA1 },
#endif
	{ "hmac-sha2-256", 32, 32, false, false, KIND_HMAC, DIGEST_SHA256 },
	{ "hmac-sha2-512", 64, 64, false, false, KIND_HMAC, DIGEST_SHA512 },
#ifdef WITH_LEGACY_CIPHERS
	{ "hmac-md5", 16, 16, false, true, KIND_HMAC, DIGEST_MD5 },
	{ "hmac-md5-96", 16, 12, false, true, KIND_HMAC, DIGEST_MD5 },
#endif
	{ "umac-64@openssh.com", 16, 8, false, false, KIND_UMAC, 0 },
	{ "umac-128@openssh.com", 16, 16, false, false, KIND_UMAC, 0 },
	{ "hmac-sha1-etm@openssh.com", 20, 20, true, false, KIND_HMAC, DIGEST_SHA1 },
#ifdef WITH_LEGACY_CIPHERS
	{ "hmac-sha1-96-etm@openssh.com", 20, 12, true, true, KIND_HMAC, DIGEST_SHA1 },
#endif
	{ "hmac-sha2-256-etm@openssh.com", 32, 32, true, false, KIND_HMAC, DIGEST_SHA256 },
	{ "hmac-sha2-512-etm@openssh.com", 64, 64, true, false, KIND_HMAC, DIGEST_SHA512 },
#ifdef WITH_LEGACY_CIPHERS
	{ "hmac-md5-etm@openssh.com", 16, 16, true, true, KIND_HMAC, DIGEST_MD5 },
	{ "hmac-md5-96-etm@openssh.com", 16, 12, true, true, KIND_HMAC, DIGEST_MD5 },
#endif
	{ "umac-64-etm@openssh.com", 16, 8, true, false, KIND_UMAC, 0 },
	{ "umac-128-etm@openssh.com", 16, 16, true, false, KIND_UMAC, 0 },
	{ "none", 0, 0, false, false, KIND_NONE, 0 },
};

struct mac {
	const struct mac_alg *alg;
	struct hmac *hmac;       /* one of the two, by kind */
	struct umac *umac;
};

static bool is_offered(const struct mac_alg *alg)
{
	if (alg->kind == KIND_HMAC)
		return crypto_has_digest((enum digest_alg)alg->param);
	return alg->kind == KIND_NONE || crypto_has_cipher("AES-128-ECB");
}

const struct mac_alg *mac_find(struct view name)
{
	for (size_t i = 0; i < MEM_COUNT(rows); i++)
		if (view_is(name, rows[i].name))
			return is_offered(&rows[i]) ? &rows[i] : NULL;
	return NULL;
}

const struct mac_alg *mac_at(size_t i)
{
	for (size_t at = 0; at < MEM_COUNT(rows); at++) {
		if (rows[at].kind == KIND_NONE || !is_offered(&rows[at]))
			continue;
		if (i-- == 0)
			return &rows[at];
	}
	return NULL;
}

const char *mac_name_at(size_t i)
{
	const struct mac_alg *m = mac_at(i);

	return m != NULL ? m->name : NULL;
}

struct mac *mac_new(const struct mac_alg *alg, const uint8_t *key, struct err *e)
{
	struct mac *m = mem_zalloc(sizeof(*m));

	m->alg = alg;
	if (alg->kind == KIND_HMAC)
		m->hmac = hmac_new((enum digest_alg)alg->param, key, alg->key_size, e);
	else if (alg->kind == KIND_UMAC)
		m->umac = umac_new(key, alg->tag_size, e);
	if (m->hmac != NULL || m->umac != NULL || alg->kind == KIND_NONE)
		return m;
	mac_free(m);
	return NULL;
}

void mac_free(struct mac *m)
{
	if (m == NULL)
		return;
	hmac_free(m->hmac);
	umac_free(m->umac);
	mem_free_secret(m, sizeof(*m));
}

const struct mac_alg *mac_alg(const struct mac *m)
{
	return m->alg;
}

/* tag has room for TAG_MAX bytes */
static int compute_hmac(struct mac *m, uint32_t seq, const uint8_t *p, size_t n, uint8_t *tag)
{
	uint8_t number[4];
	const struct view parts[] = { { number, sizeof(number) }, { p, n } };

	/* RFC 4253 §6.4: mac = MAC(key, sequence_number || packet) */
	wire_store_u32(number, seq);
	return hmac_compute(m->hmac, parts, MEM_COUNT(parts), tag);
}

static int compute(struct mac *m, uint32_t seq, const uint8_t *p, size_t n, uint8_t *tag)
{
	switch (m->alg->kind) {
	case KIND_HMAC:
		return compute_hmac(m, seq, p, n, tag);
	case KIND_UMAC:
		return umac_compute(m->umac, seq, p, n, tag);
	default:
		return 0;
	}
}

int mac_compute(struct mac *m, uint32_t seq, const uint8_t *p, size_t n, uint8_t *tag)
{
	uint8_t whole[TAG_MAX];
	int r = compute(m, seq, p, n, whole);

	if (r == 0)
		memcpy(tag, whole, m->alg->tag_size);    /* the -96 forms send less than they compute */
	return r;
}

int mac_check(struct mac *m, uint32_t seq, const uint8_t *p, size_t n, const uint8_t *tag)
{
	uint8_t whole[TAG_MAX];

	if (compute(m, seq, p, n, whole) < 0)
		return ERR_CRYPTO;
	return mem_equal_ct(whole, tag, m->alg->tag_size) ? 0 : ERR_CRYPTO;
}
