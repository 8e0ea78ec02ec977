/* kex/kex_sntrup.c: sntrup761 and X25519 together, as OpenSSH and draft-josefsson-ntruprime-ssh have it: whoever wants the secret
 * has to break both. A value is that of sntrup761 with that of X25519 behind it; the secret is the SHA-512 of both secrets,
 * written as a string, not as an mpint. */
#include "kex/kex.h"

#include "base/mem.h"
#include "crypto/agree.h"
#include "crypto/sntrup761.h"

enum { X25519_SIZE = 32 };

struct pair { struct sntrup761 *kem; struct agree *agree; };

static void sntrup_release(void *state)
{
	struct pair *p = state;

	if (p == NULL)
		return;
	sntrup761_free(p->kem);
	agree_free(p->agree);
	mem_free_secret(p, sizeof(*p));
}

static int sntrup_offer(const struct kex_method *m, void **state, struct buf *out, struct err *e)
{
	struct pair *p = mem_zalloc(sizeof(*p));
	struct view v;

	p->kem = sntrup761_new(NULL, e);
	p->agree = agree_new(AGREE_X25519, e);
	if (p->kem == NULL || p->agree == NULL) {
		sntrup_release(p);
		return err_set(e, ERR_CRYPTO, "%s is not available", m->name);
	}
	v = sntrup761_public(p->kem);
	buf_put(out, v.p, v.n);
	v = agree_public(p->agree);
	buf_put(out, v.p, v.n);
	*state = p;
	return 0;
}

/* Takes a value apart: a part of n bytes of sntrup761, and the rest. */
static int split(struct view value, size_t n, struct view *kem, struct view *point, struct err *e)
{
	if (value.n != n + X25519_SIZE)
		return err_set(e, ERR_PEER, "a value of %zu bytes, not %zu", value.n, n + X25519_SIZE);
	*kem = (struct view){ value.p, n };
	*point = (struct view){ value.p + n, X25519_SIZE };
	return 0;
}

static int combine(const uint8_t *kem_secret, const struct agree *a, struct view point, struct buf *secret, struct err *e)
{
	struct buf both = BUF_INIT(SNTRUP761_SECRET + X25519_SIZE);
	uint8_t digest[DIGEST_MAX];
	int r;

	buf_put(&both, kem_secret, SNTRUP761_SECRET);
	r = agree_shared(a, point, &both, e);
	if (r == 0)
		r = digest_bytes(DIGEST_SHA512, both.data, both.size, digest);
	if (r == 0)
		buf_put(secret, digest, digest_size(DIGEST_SHA512));
	mem_wipe(digest, sizeof(digest));
	buf_free(&both);
	return r;
}

static int invalid(const struct kex_method *m, int r, struct err *e)
{
	return r < 0 ? err_set(e, r, "%s: the peer's value is not valid", m->name) : 0;
}

static int sntrup_answer(const struct kex_method *m, void *state, struct view theirs, struct buf *ours, struct buf *secret,
	struct err *e)
{
	uint8_t ciphertext[SNTRUP761_CIPHERTEXT], kem_secret[SNTRUP761_SECRET];
	struct view public, point, own;
	struct agree *a = NULL;
	int r = split(theirs, SNTRUP761_PUBLIC, &public, &point, e);

	(void)state;
	if (r < 0)
		return invalid(m, r, e);
	a = agree_new(AGREE_X25519, e);
	if (a == NULL)
		return err_set(e, ERR_CRYPTO, "%s is not available", m->name);
	r = sntrup761_encapsulate(NULL, public, ciphertext, kem_secret, e);
	if (r == 0)
		r = combine(kem_secret, a, point, secret, e);
	if (r == 0) {
		own = agree_public(a);
		buf_put(ours, ciphertext, sizeof(ciphertext));
		buf_put(ours, own.p, own.n);
	}
	mem_wipe(kem_secret, sizeof(kem_secret));
	agree_free(a);
	return invalid(m, r, e);
}

static int sntrup_finish(const struct kex_method *m, void *state, struct view theirs, struct buf *secret, struct err *e)
{
	const struct pair *p = state;
	uint8_t kem_secret[SNTRUP761_SECRET];
	struct view ciphertext, point;
	int r = split(theirs, SNTRUP761_CIPHERTEXT, &ciphertext, &point, e);

	if (r == 0)
		r = sntrup761_decapsulate(p->kem, ciphertext, kem_secret, e);
	if (r == 0)
		r = combine(kem_secret, p->agree, point, secret, e);
	mem_wipe(kem_secret, sizeof(kem_secret));
	return invalid(m, r, e);
}

const struct kex_ops kex_sntrup_ops = {
	.offer = sntrup_offer, .answer = sntrup_answer, .finish = sntrup_finish, .release = sntrup_release
};
