/* server/monitor_wire.c: framing between the server's processes. */
#include "server/monitor_wire.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SIGNATURE_MAX = 64 * 1024 };

static int wire_write(int fd, struct iovec *iov, int count, struct err *e)
{
	while (count > 0) {
		struct msghdr msg = { .msg_iov = iov, .msg_iovlen = (size_t)count };
		ssize_t n = sendmsg(fd, &msg, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EPIPE || errno == ECONNRESET ?
				err_set(e, ERR_CLOSED, "the other process has gone") : err_set_errno(e, "send");
		while (count > 0 && (size_t)n >= iov->iov_len) {
			n -= (ssize_t)iov->iov_len;
			iov++;
			count--;
		}
		if (count > 0) {
			iov->iov_base = (uint8_t *)iov->iov_base + n;
			iov->iov_len -= (size_t)n;
		}
	}
	return 0;
}

int mon_send(int fd, uint8_t type, const struct buf *body, struct err *e)
{
	uint8_t head[MON_HEADER_SIZE];
	struct iovec iov[2] = { { head, sizeof(head) } };
	size_t n = body != NULL ? body->size : 0;

	if ((body != NULL && !buf_ok(body)) || n > MON_BODY_MAX)
		return err_set(e, ERR_MEMORY, "message to another process is too long");
	wire_store_u32(head, (uint32_t)n);
	head[4] = type;
	if (n > 0)
		iov[1] = (struct iovec){ body->data, n };
	return wire_write(fd, iov, n > 0 ? 2 : 1, e);
}

/* All n bytes. ERR_CLOSED only before the first of them. */
static int wire_read(int fd, uint8_t *p, size_t n, struct err *e)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = read(fd, p + done, n - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == ECONNRESET)
			got = 0;
		if (got < 0)
			return err_set_errno(e, "read");
		if (got == 0)
			return done == 0 ? err_set(e, ERR_CLOSED, "the other process has gone") :
				err_set(e, ERR_PEER, "the other process stopped in the middle of a message");
		done += (size_t)got;
	}
	return 0;
}

int mon_recv_head(int fd, uint8_t *type, uint32_t *size, struct err *e)
{
	uint8_t head[MON_HEADER_SIZE];
	int rc = wire_read(fd, head, sizeof(head), e);

	if (rc < 0)
		return rc;
	*size = wire_load_u32(head);
	*type = head[4];
	return 0;
}

int mon_recv_body(int fd, uint32_t size, struct buf *out, struct err *e)
{
	uint8_t *p;
	int rc;

	buf_reset(out);
	if (size == 0)
		return 0;
	p = buf_reserve(out, size);
	if (p == NULL)
		return err_set(e, ERR_MEMORY, "message of another process is too long");
	rc = wire_read(fd, p, size, e);
	return rc == ERR_CLOSED ? ERR_PEER : rc;
}

int mon_expect(int fd, uint8_t type, uint32_t max, struct buf *out, struct err *e)
{
	uint8_t got;
	uint32_t size;
	int rc = mon_recv_head(fd, &got, &size, e);

	if (rc < 0)
		return rc;
	if (got != type || size > max)
		return err_set(e, ERR_PEER, "message %u of %u bytes where %u was expected", got, size, type);
	return mon_recv_body(fd, size, out, e);
}

int mon_ask(int fd, uint8_t type, const struct buf *body, uint8_t answer_type, struct buf *answer, struct err *e)
{
	int rc = mon_send(fd, type, body, e);

	return rc < 0 ? rc : mon_expect(fd, answer_type, MON_BODY_MAX, answer, e);
}

int mon_ask_signature(int fd, const struct sig_alg *alg, struct view key_blob, struct view hash, struct buf *out,
	struct err *e)
{
	struct buf q = BUF_INIT(SIGNATURE_MAX), a = BUF_INIT(SIGNATURE_MAX);
	struct reader r;
	struct view sig;
	int rc;

	buf_put_cstring(&q, alg->name);
	buf_put_string(&q, key_blob.p, key_blob.n);
	buf_put_string(&q, hash.p, hash.n);
	rc = mon_ask(fd, MON_SIGN, &q, MON_SIGNATURE, &a, e);
	reader_init(&r, a.data, a.size);
	sig = reader_string(&r);
	if (rc == 0)
		rc = reader_end(&r, e, "signature");
	if (rc == 0)
		buf_put(out, sig.p, sig.n);
	buf_free(&q);
	buf_free(&a);
	return rc;
}
