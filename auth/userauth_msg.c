/* auth/userauth_msg.c: bodies of the authentication messages, field by field as RFC 4252 and RFC 4256 give them. */
#include "auth/userauth_msg.h"

#include <string.h>
#include "base/mem.h"
#include "wire/messages.h"

static const char *const kind_names[] = {
	[USERAUTH_NONE] = "none",
	[USERAUTH_PUBLICKEY] = "publickey",
	[USERAUTH_HOSTBOUND] = "publickey-hostbound-v00@openssh.com",
	[USERAUTH_PASSWORD] = "password",
	[USERAUTH_KBDINT] = "keyboard-interactive",
	[USERAUTH_HOSTBASED] = "hostbased",
};

const char *userauth_kind_name(enum userauth_kind kind)
{
	return (size_t)kind < MEM_COUNT(kind_names) ? kind_names[kind] : NULL;
}

enum userauth_kind userauth_kind_find(struct view method)
{
	for (size_t i = 0; i < MEM_COUNT(kind_names); i++)
		if (view_is(method, kind_names[i]))
			return (enum userauth_kind)i;
	return USERAUTH_OTHER;
}

static void put_view(struct buf *b, struct view v)
{
	buf_put_string(b, v.p, v.n);
}

/* A name that will be compared, logged or looked up: no NUL, bounded. */
static struct view get_name(struct reader *r)
{
	struct view v = reader_string(r);
	if (v.n > USERAUTH_NAME_MAX || view_has_nul(v)) {
		reader_fail(r);
		return (struct view){ NULL, 0 };
	}
	return v;
}

static struct view get_secret(struct reader *r)
{
	struct view v = reader_string(r);
	if (v.n > USERAUTH_SECRET_MAX)
		reader_fail(r);
	return v;
}

/* ---- service */

void userauth_service_put(struct buf *b, const char *service)
{
	buf_put_cstring(b, service);
}

int userauth_service_get(struct reader *r, struct view *service, struct err *e)
{
	*service = get_name(r);
	return reader_end(r, e, "service name");
}

/* ---- USERAUTH_REQUEST */

static bool is_publickey(enum userauth_kind kind)
{
	return kind == USERAUTH_PUBLICKEY || kind == USERAUTH_HOSTBOUND;
}

static void put_head(struct buf *b, const struct userauth_request *q)
{
	const char *name = userauth_kind_name(q->kind);

	put_view(b, q->user);
	put_view(b, q->service);
	if (name != NULL)
		buf_put_cstring(b, name);
	else
		put_view(b, q->method);
}

/* The fields of key methods up to the signature: the same bytes are sent and signed. */
static void put_key_fields(struct buf *b, const struct userauth_request *q, bool has_signature)
{
	if (is_publickey(q->kind))
		buf_put_bool(b, has_signature);
	put_view(b, q->alg);
	put_view(b, q->key_blob);
	if (q->kind == USERAUTH_HOSTBOUND)
		put_view(b, q->host_key);
	if (q->kind == USERAUTH_HOSTBASED) {
		put_view(b, q->client_host);
		put_view(b, q->client_user);
	}
}

void userauth_request_put(struct buf *b, const struct userauth_request *q)
{
	put_head(b, q);
	switch (q->kind) {
	case USERAUTH_PUBLICKEY:
	case USERAUTH_HOSTBOUND:
	case USERAUTH_HOSTBASED:
		put_key_fields(b, q, q->has_signature);
		if (q->has_signature || q->kind == USERAUTH_HOSTBASED)
			put_view(b, q->signature);
		break;
	case USERAUTH_PASSWORD:          /* RFC 4252 §8 */
		buf_put_bool(b, q->change);
		put_view(b, q->password);
		if (q->change)
			put_view(b, q->new_password);
		break;
	case USERAUTH_KBDINT:            /* RFC 4256 §3.1 */
		put_view(b, q->language);
		put_view(b, q->submethods);
		break;
	case USERAUTH_NONE:
	case USERAUTH_OTHER:
		break;
	}
}

static void get_key_fields(struct reader *r, struct userauth_request *q)
{
	q->has_signature = is_publickey(q->kind) ? reader_bool(r) : true;
	q->alg = get_name(r);
	q->key_blob = reader_string(r);
	if (q->kind == USERAUTH_HOSTBOUND)
		q->host_key = reader_string(r);
	if (q->kind == USERAUTH_HOSTBASED) {
		q->client_host = get_name(r);
		q->client_user = get_name(r);
	}
	if (q->has_signature)
		q->signature = reader_string(r);
}

int userauth_request_get(struct reader *r, struct userauth_request *out, struct err *e)
{
	memset(out, 0, sizeof(*out));
	out->user = get_name(r);
	out->service = get_name(r);
	out->method = get_name(r);
	out->kind = userauth_kind_find(out->method);
	switch (out->kind) {
	case USERAUTH_PUBLICKEY:
	case USERAUTH_HOSTBOUND:
	case USERAUTH_HOSTBASED:
		get_key_fields(r, out);
		break;
	case USERAUTH_PASSWORD:
		out->change = reader_bool(r);
		out->password = get_secret(r);
		if (out->change)
			out->new_password = get_secret(r);
		break;
	case USERAUTH_KBDINT:
		out->language = reader_string(r);
		out->submethods = get_name(r);
		break;
	case USERAUTH_NONE:
		break;
	case USERAUTH_OTHER:
		(void)reader_rest(r);    /* fields of a method that we do not know */
		break;
	}
	return reader_end(r, e, "authentication request");
}

void userauth_signed_data_put(struct buf *b, struct view session_id, const struct userauth_request *q)
{
	put_view(b, session_id);
	buf_put_u8(b, MSG_USERAUTH_REQUEST);
	put_head(b, q);
	put_key_fields(b, q, true);
}

/* ---- answers */

void userauth_failure_put(struct buf *b, const char *methods, bool partial)
{
	buf_put_cstring(b, methods);
	buf_put_bool(b, partial);
}

int userauth_failure_get(struct reader *r, struct userauth_failure *out, struct err *e)
{
	out->methods = reader_string(r);
	out->partial = reader_bool(r);
	if (reader_ok(r) && !namelist_valid(out->methods))
		reader_fail(r);
	return reader_end(r, e, "authentication failure");
}

int userauth_success_get(struct reader *r, struct err *e)
{
	return reader_end(r, e, "authentication success");
}

void userauth_banner_put(struct buf *b, const char *text)
{
	buf_put_cstring(b, text);
	buf_put_cstring(b, "");          /* language */
}

int userauth_banner_get(struct reader *r, struct view *text, struct err *e)
{
	*text = reader_string(r);
	(void)reader_string(r);
	return reader_end(r, e, "banner");
}

void userauth_pk_ok_put(struct buf *b, struct view alg, struct view key_blob)
{
	put_view(b, alg);
	put_view(b, key_blob);
}

int userauth_pk_ok_get(struct reader *r, struct view *alg, struct view *key_blob, struct err *e)
{
	*alg = get_name(r);
	*key_blob = reader_string(r);
	return reader_end(r, e, "answer to a key");
}

void userauth_changereq_put(struct buf *b, const char *prompt)
{
	buf_put_cstring(b, prompt);
	buf_put_cstring(b, "");
}

int userauth_changereq_get(struct reader *r, struct view *prompt, struct err *e)
{
	*prompt = reader_string(r);
	(void)reader_string(r);
	return reader_end(r, e, "password change request");
}

/* ---- keyboard-interactive */

void userauth_info_request_put(struct buf *b, const struct userauth_info_request *q)
{
	if (q->count > USERAUTH_PROMPTS_MAX)
		b->failed = true;
	put_view(b, q->name);
	put_view(b, q->instruction);
	buf_put_cstring(b, "");          /* language */
	buf_put_u32(b, q->count);
	for (uint32_t i = 0; i < q->count && i < USERAUTH_PROMPTS_MAX; i++) {
		put_view(b, q->prompt[i].text);
		buf_put_bool(b, q->prompt[i].echo);
	}
}

int userauth_info_request_get(struct reader *r, struct userauth_info_request *out, struct err *e)
{
	memset(out, 0, sizeof(*out));
	out->name = reader_string(r);
	out->instruction = reader_string(r);
	(void)reader_string(r);
	out->count = reader_u32(r);
	if (out->count > USERAUTH_PROMPTS_MAX) {
		out->count = 0;
		return err_set(e, ERR_PEER, "too many prompts in one request");
	}
	for (uint32_t i = 0; i < out->count; i++) {
		out->prompt[i].text = reader_string(r);
		out->prompt[i].echo = reader_bool(r);
	}
	return reader_end(r, e, "request for information");
}

void userauth_info_response_put(struct buf *b, const struct userauth_info_response *q)
{
	if (q->count > USERAUTH_PROMPTS_MAX)
		b->failed = true;
	buf_put_u32(b, q->count);
	for (uint32_t i = 0; i < q->count && i < USERAUTH_PROMPTS_MAX; i++)
		put_view(b, q->answer[i]);
}

int userauth_info_response_get(struct reader *r, struct userauth_info_response *out, struct err *e)
{
	memset(out, 0, sizeof(*out));
	out->count = reader_u32(r);
	if (out->count > USERAUTH_PROMPTS_MAX) {
		out->count = 0;
		return err_set(e, ERR_PEER, "too many answers in one response");
	}
	for (uint32_t i = 0; i < out->count; i++)
		out->answer[i] = get_secret(r);
	return reader_end(r, e, "response to a request for information");
}
