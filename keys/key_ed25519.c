/* keys/key_ed25519.c: ssh-ed25519 (RFC 8709 §4). */
#include "keys/key_impl.h"

enum { ED25519_PUBLIC_BYTES = 32, ED25519_SEED_BYTES = 32 };

static void ed25519_put_public(const struct key_impl *impl, const struct pkey_parts *k, struct buf *out)
{
	buf_put_string(out, k->q.p, k->q.n);
}

static int ed25519_get_public(const struct key_impl *impl, struct reader *r, struct pkey_parts *k, struct err *e)
{
	k->q = reader_string(r);
	if (!reader_ok(r) || k->q.n != ED25519_PUBLIC_BYTES)
		return err_set(e, ERR_PEER, "malformed Ed25519 public key");
	return 0;
}

static void ed25519_put_private(const struct key_impl *impl, const struct pkey_parts *k, struct buf *out)
{
	size_t mark;

	buf_put_string(out, k->q.p, k->q.n);
	mark = buf_begin_string(out);
	buf_put(out, k->d.p, k->d.n);
	buf_put(out, k->q.p, k->q.n);
	buf_end_string(out, mark);
}

static int ed25519_get_private(const struct key_impl *impl, struct reader *r, struct pkey_parts *k, struct err *e)
{
	int rc = ed25519_get_public(impl, r, k, e);
	struct reader both;
	struct view again;

	if (rc != 0)
		return rc;
	both = reader_child(r);
	k->d = reader_bytes(&both, ED25519_SEED_BYTES);
	again = reader_rest(&both);
	if (!reader_ok(r) || !reader_ok(&both) || !view_equal(again, k->q))
		return err_set(e, ERR_PEER, "malformed Ed25519 private key");
	return 0;
}

const struct key_shape key_shape_ed25519 = {
	ed25519_put_public, ed25519_get_public, ed25519_put_private, ed25519_get_private
};
