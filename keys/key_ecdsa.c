/* keys/key_ecdsa.c: ecdsa-sha2-nistp256, 384, 521 (RFC 5656 §3.1). */
#include "keys/key_impl.h"

enum { ECDSA_MAX_SCALAR_BYTES = (521 + 7) / 8 };

static void ecdsa_put_public(const struct key_impl *impl, const struct pkey_parts *k, struct buf *out)
{
	buf_put_cstring(out, impl->curve);
	buf_put_string(out, k->q.p, k->q.n);
}

static int ecdsa_get_public(const struct key_impl *impl, struct reader *r, struct pkey_parts *k, struct err *e)
{
	struct view curve = reader_string(r);

	k->q = reader_string(r);
	if (!reader_ok(r))
		return err_set(e, ERR_PEER, "malformed ECDSA public key");
	if (!view_is(curve, impl->curve))
		return err_set(e, ERR_PEER, "an %s key on another curve", impl->name);
	return 0;
}

static void ecdsa_put_private(const struct key_impl *impl, const struct pkey_parts *k, struct buf *out)
{
	ecdsa_put_public(impl, k, out);
	buf_put_mpint(out, k->d.p, k->d.n);
}

static int ecdsa_get_private(const struct key_impl *impl, struct reader *r, struct pkey_parts *k, struct err *e)
{
	int rc = ecdsa_get_public(impl, r, k, e);

	if (rc != 0)
		return rc;
	k->d = reader_mpint(r, ECDSA_MAX_SCALAR_BYTES);
	if (!reader_ok(r) || k->d.n == 0)
		return err_set(e, ERR_PEER, "malformed ECDSA private key");
	return 0;
}

const struct key_shape key_shape_ecdsa = { ecdsa_put_public, ecdsa_get_public, ecdsa_put_private, ecdsa_get_private };
