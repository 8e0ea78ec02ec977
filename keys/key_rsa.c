/* keys/key_rsa.c: ssh-rsa (RFC 4253 §6.6; private form: OpenSSH's PROTOCOL.key). */
#include "keys/key_impl.h"

enum { RSA_MAX_BYTES = 16384 / 8 };

static void rsa_put_public(const struct key_impl *impl, const struct pkey_parts *k, struct buf *out)
{
	buf_put_mpint(out, k->e.p, k->e.n);
	buf_put_mpint(out, k->n.p, k->n.n);
}

static int rsa_get_public(const struct key_impl *impl, struct reader *r, struct pkey_parts *k, struct err *e)
{
	k->e = reader_mpint(r, RSA_MAX_BYTES);
	k->n = reader_mpint(r, RSA_MAX_BYTES);
	return reader_ok(r) ? 0 : err_set(e, ERR_PEER, "malformed RSA public key");
}

static void rsa_put_private(const struct key_impl *impl, const struct pkey_parts *k, struct buf *out)
{
	buf_put_mpint(out, k->n.p, k->n.n);
	buf_put_mpint(out, k->e.p, k->e.n);
	buf_put_mpint(out, k->d.p, k->d.n);
	buf_put_mpint(out, k->iqmp.p, k->iqmp.n);
	buf_put_mpint(out, k->p.p, k->p.n);
	buf_put_mpint(out, k->q.p, k->q.n);
}

static int rsa_get_private(const struct key_impl *impl, struct reader *r, struct pkey_parts *k, struct err *e)
{
	k->n = reader_mpint(r, RSA_MAX_BYTES);
	k->e = reader_mpint(r, RSA_MAX_BYTES);
	k->d = reader_mpint(r, RSA_MAX_BYTES);
	k->iqmp = reader_mpint(r, RSA_MAX_BYTES);
	k->p = reader_mpint(r, RSA_MAX_BYTES);
	k->q = reader_mpint(r, RSA_MAX_BYTES);
	/* Without these it would pass for a public key. */
	if (!reader_ok(r) || k->d.n == 0 || k->p.n == 0 || k->q.n == 0 || k->iqmp.n == 0)
		return err_set(e, ERR_PEER, "malformed RSA private key");
	return 0;
}

const struct key_shape key_shape_rsa = { rsa_put_public, rsa_get_public, rsa_put_private, rsa_get_private };
