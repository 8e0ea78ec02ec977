/* server/user_ask.c: the few things that a user process cannot do itself. */
#include "server/user_private.h"

#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "io/net.h"
#include "server/monitor_wire.h"

enum { ANSWER_MAX = 512 * 1024 };

int user_sign_hash(void *ctx, const struct sig_alg *alg, struct view key_blob, struct view hash, struct buf *out,
	struct err *e)
{
	struct user *u = ctx;

	return mon_ask_signature(u->start->monitor, alg, key_blob, hash, out, e);
}

int user_ask_pty(struct user *u, struct pty_grant *grant, int *master, int *slave, struct err *e)
{
	struct buf a = BUF_INIT(8 * 1024);
	struct reader r;
	int fds[2] = { -1, -1 };
	size_t n = 0;
	int rc = mon_ask(u->start->monitor, MON_PTY, NULL, MON_PTY_GRANT, &a, e);

	memset(grant, 0, sizeof(*grant));
	reader_init(&r, a.data, a.size);
	if (rc == 0)
		rc = pty_grant_get(&r, grant, e);
	buf_free(&a);
	if (rc < 0 || !grant->ok)
		return rc < 0 ? rc : err_set(e, ERR_DENIED, "no terminal is to be had");
	rc = net_recv_fds(u->start->monitor, fds, 2, &n, e);
	if (rc == 0 && n != 2)
		rc = err_set(e, ERR_PEER, "a terminal without descriptors");
	*master = fds[0];
	*slave = fds[1];
	return rc;
}

void user_tell_pty_done(struct user *u, const char *name)
{
	struct buf b = BUF_INIT(512);

	buf_put_cstring(&b, name);
	if (mon_send(u->start->monitor, MON_PTY_DONE, &b, NULL) < 0)
		log_debug("the monitor has gone");
	buf_free(&b);
}

int user_ask_proof(struct user *u, bool rsa_sha256, struct view blobs, struct buf *signatures, struct err *e)
{
	struct buf q = BUF_INIT(ANSWER_MAX), a = BUF_INIT(ANSWER_MAX);
	struct reader r;
	struct view rest;
	bool ok;
	int rc;

	buf_put_bool(&q, rsa_sha256);
	buf_put(&q, blobs.p, blobs.n);
	rc = mon_ask(u->start->monitor, MON_PROVE, &q, MON_PROOF, &a, e);
	reader_init(&r, a.data, a.size);
	ok = reader_bool(&r);
	rest = reader_rest(&r);
	if (rc == 0 && !ok)
		rc = err_set(e, ERR_DENIED, "a key that is not ours");
	if (rc == 0)
		buf_put(signatures, rest.p, rest.n);
	buf_free(&q);
	buf_free(&a);
	return rc;
}
