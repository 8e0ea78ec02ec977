/* keys/agent_msg.c: the messages of the agent protocol (RFC 9987). */
#include "keys/agent_msg.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

enum { CONSTRAIN_LIFETIME = 1, CONSTRAIN_CONFIRM = 2 };
#define BIND_NAME "session-bind@openssh.com"

void agent_put_list(struct buf *out)
{
	buf_put_u8(out, AGENT_REQUEST_IDENTITIES);
}

void agent_put_identities(struct buf *out, const struct agent_identity *v, size_t count)
{
	buf_put_u8(out, AGENT_IDENTITIES_ANSWER);
	buf_put_u32(out, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		struct view blob = key_blob(v[i].key);

		buf_put_string(out, blob.p, blob.n);
		buf_put_cstring(out, v[i].comment);
	}
}

/* A comment is text for people; one with a NUL is cut there rather than spoiling the list. */
static char *comment_copy(struct view v)
{
	const uint8_t *nul = v.n != 0 ? memchr(v.p, 0, v.n) : NULL;

	return mem_strndup((const char *)v.p, nul != NULL ? (size_t)(nul - v.p) : v.n);
}

int agent_get_identities(struct reader *r, struct agent_identity **v, size_t *count, struct err *e)
{
	uint32_t n = reader_u32(r);
	struct agent_identity *list;
	size_t used = 0;

	*v = NULL;
	*count = 0;
	if (!reader_ok(r) || n > AGENT_IDENTITIES_MAX)
		return err_set(e, ERR_PEER, "the agent's answer is malformed, or lists too many keys");
	list = mem_array((size_t)n + 1, sizeof(*list));
	for (uint32_t i = 0; i < n && reader_ok(r); i++) {
		struct view blob = reader_string(r), comment = reader_string(r);

		if (!reader_ok(r) || comment.n > AGENT_COMMENT_MAX) {
			reader_fail(r);
			break;
		}
		list[used].key = key_from_blob(blob, NULL);
		if (list[used].key != NULL)
			list[used++].comment = comment_copy(comment);
	}
	if (reader_end(r, e, "the agent's list of keys") != 0) {
		agent_identities_free(list, used);
		return ERR_PEER;
	}
	*v = list;
	*count = used;
	return 0;
}

void agent_identities_free(struct agent_identity *v, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		key_free(v[i].key);
		free(v[i].comment);
	}
	free(v);
}

void agent_put_sign(struct buf *out, const struct agent_sign *m)
{
	buf_put_u8(out, AGENT_SIGN_REQUEST);
	buf_put_string(out, m->key_blob.p, m->key_blob.n);
	buf_put_string(out, m->data.p, m->data.n);
	buf_put_u32(out, m->flags);
}

int agent_get_sign(struct reader *r, struct agent_sign *m, struct err *e)
{
	m->key_blob = reader_string(r);
	m->data = reader_string(r);
	m->flags = reader_u32(r);
	return reader_end(r, e, "sign request");
}

uint32_t agent_sign_flags(const struct sig_alg *alg)
{
	if (alg->type != KEY_RSA || alg->legacy)
		return 0;
	return alg->hash == DIGEST_SHA256 ? AGENT_RSA_SHA2_256 : AGENT_RSA_SHA2_512;
}

void agent_put_signature(struct buf *out, struct view signature)
{
	buf_put_u8(out, AGENT_SIGN_RESPONSE);
	buf_put_string(out, signature.p, signature.n);
}

int agent_get_signature(struct reader *r, struct view *signature, struct err *e)
{
	*signature = reader_string(r);
	return reader_end(r, e, "the agent's signature");
}

void agent_put_add(struct buf *out, const struct agent_add *m)
{
	bool constrained = m->lifetime != 0 || m->confirm;

	buf_put_u8(out, constrained ? AGENT_ADD_ID_CONSTRAINED : AGENT_ADD_IDENTITY);
	key_put_private(m->key, out);
	buf_put_cstring(out, m->comment);
	if (m->lifetime != 0) {
		buf_put_u8(out, CONSTRAIN_LIFETIME);
		buf_put_u32(out, m->lifetime);
	}
	if (m->confirm)
		buf_put_u8(out, CONSTRAIN_CONFIRM);
}

static int get_constraints(struct reader *r, struct agent_add *m, struct err *e)
{
	bool lifetime_seen = false;

	while (reader_ok(r) && reader_left(r) > 0) {
		uint8_t type = reader_u8(r);

		if (type == CONSTRAIN_LIFETIME && !lifetime_seen) {
			m->lifetime = reader_u32(r);
			lifetime_seen = true;
		} else if (type == CONSTRAIN_CONFIRM && !m->confirm) {
			m->confirm = true;
		} else {
			return err_set(e, ERR_PEER, "constraint %u is unknown or repeated", type);
		}
	}
	return reader_end(r, e, "constraints");
}

int agent_get_add(struct reader *r, struct agent_add *m, struct err *e)
{
	int rc;

	memset(m, 0, sizeof(*m));
	m->key = key_get_private(r, e);
	if (m->key == NULL)
		return ERR_PEER;
	m->comment = reader_cstring(r, AGENT_COMMENT_MAX);
	rc = m->comment != NULL ? get_constraints(r, m, e) : err_set(e, ERR_PEER, "malformed comment");
	if (rc != 0)
		agent_add_clear(m);
	return rc;
}

void agent_add_clear(struct agent_add *m)
{
	key_free(m->key);
	free(m->comment);
	memset(m, 0, sizeof(*m));
}

void agent_put_bind(struct buf *out, const struct agent_bind *m)
{
	buf_put_u8(out, AGENT_EXTENSION);
	buf_put_cstring(out, BIND_NAME);
	buf_put_string(out, m->host_key.p, m->host_key.n);
	buf_put_string(out, m->session_id.p, m->session_id.n);
	buf_put_string(out, m->signature.p, m->signature.n);
	buf_put_bool(out, m->forwarding);
}

int agent_get_bind(struct reader *r, struct agent_bind *m, struct err *e)
{
	m->host_key = reader_string(r);
	m->session_id = reader_string(r);
	m->signature = reader_string(r);
	m->forwarding = reader_bool(r);
	return reader_end(r, e, BIND_NAME);
}
