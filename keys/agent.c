/* keys/agent.c: a client that asks an agent (RFC 9987 §3). */
#include "keys/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"
#include "keys/agent_msg.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

struct agent {
	int fd;
	struct buf in, out;
};

int agent_open(const char *path, struct agent **out, struct err *e)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd;

	if (!str_copy(to.sun_path, sizeof(to.sun_path), path)) {
		errno = ENAMETOOLONG;
		return err_set_errno(e, "agent socket %s", path);
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set_errno(e, "socket");
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
		err_set_errno(e, "agent socket %s", path);
		close(fd);
		return ERR_IO;
	}
	*out = mem_zalloc(sizeof(**out));
	(*out)->fd = fd;
	buf_init(&(*out)->in, AGENT_MESSAGE_MAX);
	/* Four bytes for the length that goes before. */
	buf_init(&(*out)->out, AGENT_MESSAGE_MAX + 4);
	return 0;
}

void agent_close(struct agent *a)
{
	if (a == NULL)
		return;
	close(a->fd);
	buf_free(&a->in);
	buf_free(&a->out);
	free(a);
}

static int send_all(int fd, const uint8_t *p, size_t n, struct err *e)
{
	while (n > 0) {
		ssize_t put = send(fd, p, n, MSG_NOSIGNAL);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return err_set_errno(e, "cannot write to the agent");
		p += put;
		n -= (size_t)put;
	}
	return 0;
}

static int read_all(int fd, uint8_t *p, size_t n, struct err *e)
{
	while (n > 0) {
		ssize_t got = read(fd, p, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set_errno(e, "cannot read from the agent");
		if (got == 0)
			return err_set(e, ERR_CLOSED, "the agent closed the connection");
		p += got;
		n -= (size_t)got;
	}
	return 0;
}

/* Starts a request in a->out, behind room for its length. */
static struct buf *request_begin(struct agent *a)
{
	buf_reset(&a->out);
	buf_put_u32(&a->out, 0);
	return &a->out;
}

/* Sends it and reads the answer into a->in; r stands behind the answer's type. The request is wiped. */
static int request_ask(struct agent *a, uint8_t *type, struct reader *r, struct err *e)
{
	uint8_t head[4], *room;
	uint32_t n;
	int rc;

	if (!buf_ok(&a->out))
		return err_set(e, ERR_MEMORY, "too large for the agent");
	buf_poke_u32(&a->out, 0, (uint32_t)(a->out.size - 4));
	rc = send_all(a->fd, a->out.data, a->out.size, e);
	buf_reset(&a->out);
	if (rc == 0)
		rc = read_all(a->fd, head, sizeof(head), e);
	if (rc != 0)
		return rc;
	n = wire_load_u32(head);
	if (n == 0 || n > AGENT_MESSAGE_MAX)
		return err_set(e, ERR_PEER, "the agent sent a message of %u bytes", n);
	buf_reset(&a->in);
	room = buf_reserve(&a->in, n);
	if (room == NULL)
		return err_set(e, ERR_MEMORY, "no memory for the agent's answer");
	rc = read_all(a->fd, room, n, e);
	if (rc != 0)
		return rc;
	reader_init(r, a->in.data, a->in.size);
	*type = reader_u8(r);
	return 0;
}

/* An answer of the wanted type, or an error: the agent refused, or talks nonsense. */
static int request_expect(struct agent *a, uint8_t wanted, struct reader *r, const char *what, struct err *e)
{
	uint8_t type;
	int rc = request_ask(a, &type, r, e);

	if (rc != 0)
		return rc;
	if (type == wanted)
		return 0;
	if (type == AGENT_FAILURE || type == AGENT_EXTENSION_FAILURE)
		return err_set(e, ERR_DENIED, "the agent refused to %s", what);
	return err_set(e, ERR_PEER, "the agent answered with message %u", type);
}

int agent_list(struct agent *a, struct agent_identity **out, size_t *count, struct err *e)
{
	struct reader r;
	int rc;

	*out = NULL;
	*count = 0;
	agent_put_list(request_begin(a));
	rc = request_expect(a, AGENT_IDENTITIES_ANSWER, &r, "list its keys", e);
	return rc == 0 ? agent_get_identities(&r, out, count, e) : rc;
}

/* An agent that does not know SHA-2 for RSA answers with ssh-rsa; that would be refused by the server (RFC 8332). */
static int check_signature(struct view signature, const struct sig_alg *alg, struct err *e)
{
	struct reader r;
	struct view name;

	reader_init(&r, signature.p, signature.n);
	name = reader_string(&r);
	if (!reader_ok(&r))
		return err_set(e, ERR_PEER, "the agent's signature is malformed");
	if (!view_is(name, alg->name))
		return err_set(e, ERR_DENIED, "the agent did not sign with %s", alg->name);
	return 0;
}

int agent_sign(struct agent *a, const struct key *k, const struct sig_alg *alg, struct view message, struct buf *out,
	struct err *e)
{
	struct agent_sign m = { key_blob(k), message, agent_sign_flags(alg) };
	struct view signature;
	struct reader r;
	int rc;

	if (!sig_alg_fits(alg, k))
		return err_set(e, ERR_USAGE, "a %s key cannot sign with %s", key_type_name(k), alg->name);
	agent_put_sign(request_begin(a), &m);
	rc = request_expect(a, AGENT_SIGN_RESPONSE, &r, "sign", e);
	if (rc == 0)
		rc = agent_get_signature(&r, &signature, e);
	if (rc == 0)
		rc = check_signature(signature, alg, e);
	if (rc != 0)
		return rc;
	buf_put(out, signature.p, signature.n);
	return buf_ok(out) ? 0 : err_set(e, ERR_MEMORY, "no room for a signature");
}

int agent_add(struct agent *a, const struct key *k, const char *comment, uint32_t lifetime, int confirm, struct err *e)
{
	struct agent_add m = { (struct key *)(uintptr_t)k, (char *)(uintptr_t)comment, lifetime, confirm != 0 };
	struct reader r;
	int rc;

	if (!key_is_private(k))
		return err_set(e, ERR_USAGE, "only the public half of this key is known");
	agent_put_add(request_begin(a), &m);
	rc = request_expect(a, AGENT_SUCCESS, &r, "take the key", e);
	return rc == 0 ? reader_end(&r, e, "the agent's answer") : rc;
}

int agent_bind_session(struct agent *a, const struct key *host_key, struct view session_id, struct view signature,
	int forwarding, struct err *e)
{
	struct agent_bind m = { key_blob(host_key), session_id, signature, forwarding != 0 };
	struct reader r;
	uint8_t type;

	/* Agents that do not know the extension say failure; their keys have no destination constraints either. */
	agent_put_bind(request_begin(a), &m);
	return request_ask(a, &type, &r, e);
}
