/* kex/kex_agree.c: the methods that are one agreement of crypto/agree.h: X25519 (RFC 8731), ECDH (RFC 5656), and
 * Diffie-Hellman in fixed groups (RFC 4253 §8, RFC 8268). What differs between them stands in their rows. */
#include "kex/kex.h"

#include "crypto/agree.h"

static int agree_offer(const struct kex_method *m, void **state, struct buf *out, struct err *e)
{
	struct agree *a = agree_new((enum agree_alg)m->param, e);
	struct view pub;

	if (a == NULL)
		return err_set(e, ERR_CRYPTO, "%s is not available", m->name);
	pub = agree_public(a);
	buf_put(out, pub.p, pub.n);
	*state = a;
	return 0;
}

static int agree_finish(const struct kex_method *m, void *state, struct view theirs, struct buf *secret, struct err *e)
{
	int r = agree_shared(state, theirs, secret, e);

	return r < 0 ? err_set(e, r, "%s: the peer's value is not valid", m->name) : 0;
}

static void agree_release(void *state)
{
	agree_free(state);
}

static int agree_answer(const struct kex_method *m, void *state, struct view theirs, struct buf *ours, struct buf *secret,
	struct err *e)
{
	int r = agree_offer(m, &state, ours, e);

	if (r == 0)
		r = agree_finish(m, state, theirs, secret, e);
	agree_release(state);
	return r;
}

const struct kex_ops kex_agree_ops = {
	.offer = agree_offer, .answer = agree_answer, .finish = agree_finish, .release = agree_release
};
