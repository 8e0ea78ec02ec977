/* keys/sig_alg.c: signature algorithms (RFC 4253 §6.6, RFC 5656, RFC 8332, RFC 8709), signing and verifying. */
#include "keys/key.h"

#include <string.h>
#include "base/mem.h"
#include "keys/key_impl.h"

/* In the order of -Q key-sig. The hash of Ed25519 is inside the scheme. */
static const struct sig_alg algs[] = {
	{ "ssh-ed25519", KEY_ED25519, "ssh-ed25519", DIGEST_SHA512, false },
	{ "ecdsa-sha2-nistp256", KEY_ECDSA, "ecdsa-sha2-nistp256", DIGEST_SHA256, false },
	{ "ecdsa-sha2-nistp384", KEY_ECDSA, "ecdsa-sha2-nistp384", DIGEST_SHA384, false },
	{ "ecdsa-sha2-nistp521", KEY_ECDSA, "ecdsa-sha2-nistp521", DIGEST_SHA512, false },
	{ "ssh-rsa", KEY_RSA, "ssh-rsa", DIGEST_SHA1, true },
	{ "rsa-sha2-256", KEY_RSA, "ssh-rsa", DIGEST_SHA256, false },
	{ "rsa-sha2-512", KEY_RSA, "ssh-rsa", DIGEST_SHA512, false }
};

const struct sig_alg *sig_alg_find(struct view name)
{
	for (size_t i = 0; i < MEM_COUNT(algs); i++)
		if (view_is(name, algs[i].name))
			return &algs[i];
	return NULL;
}

const struct sig_alg *sig_alg_at(size_t i)
{
	for (size_t at = 0; at < MEM_COUNT(algs); at++) {
#ifndef WITH_LEGACY_CIPHERS
		/* No list can name it then; that others write it is still understood. */
		if (algs[at].legacy)
			continue;
#endif
		if (i-- == 0)
			return &algs[at];
	}
	return NULL;
}

const char *sig_alg_name_at(size_t i)
{
	const struct sig_alg *a = sig_alg_at(i);

	return a != NULL ? a->name : NULL;
}

bool sig_alg_is_legacy(const char *name)
{
	const struct sig_alg *a = sig_alg_find((struct view){ (const uint8_t *)name, strlen(name) });

	return a != NULL && a->legacy;
}

bool sig_alg_fits(const struct sig_alg *a, const struct key *k)
{
	return strcmp(a->key_name, key_type_name(k)) == 0;
}

int key_sign(const struct key *k, const struct sig_alg *alg, struct view message, struct buf *out, struct err *e)
{
	size_t mark;
	int rc;

	if (!sig_alg_fits(alg, k))
		return err_set(e, ERR_USAGE, "a %s key cannot sign with %s", key_type_name(k), alg->name);
	if (!key_is_private(k))
		return err_set(e, ERR_USAGE, "signing needs the private key");
	buf_put_cstring(out, alg->name);
	mark = buf_begin_string(out);
	rc = pkey_sign(key_pkey(k), alg->hash, message, out, e);
	if (rc != 0)
		return rc;
	buf_end_string(out, mark);
	return buf_ok(out) ? 0 : err_set(e, ERR_MEMORY, "no room for a signature");
}

int key_verify(const struct key *k, const struct sig_alg *alg, struct view message, struct view signature)
{
	struct view name, raw;
	struct reader r;

	reader_init(&r, signature.p, signature.n);
	name = reader_string(&r);
	raw = reader_string(&r);
	if (reader_end(&r, NULL, "signature") != 0)
		return ERR_PEER;
	/* RFC 8332 §3.2: the name inside must be the algorithm that was agreed, or SHA-1 could come back in. */
	if (!view_is(name, alg->name) || !sig_alg_fits(alg, k))
		return ERR_CRYPTO;
	return pkey_verify(key_pkey(k), alg->hash, message, raw);
}
