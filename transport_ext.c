/* transport_ext.c: EXT_INFO both ways (RFC 8308). */
#include "transport.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "transport_private.h"

enum {
	ENTRIES_MAX = 1024,
	KEPT_MAX = 64,                   /* names that are remembered */
	NAME_MAX_BYTES = 256,
	VALUE_MAX_BYTES = 16 * 1024
};

static const char sig_algs_name[] = "server-sig-algs", own_suffix[] = "@wirespeed";

/* ---- ours ---- */

static void put_entry(struct buf *b, const char *name, size_t n, const char *value)
{
	buf_put_string(b, name, n);
	buf_put_cstring(b, value);
}

static bool ends_in_own(const char *name, size_t n)
{
	const size_t m = sizeof(own_suffix) - 1;

	return n > m && memcmp(name + n - m, own_suffix, m) == 0;
}

/* NAME or NAME=VALUE. True if it was put. */
static bool put_option(const struct transport *t, struct buf *b, const char *text, size_t n)
{
	const char *equals = memchr(text, '=', n);
	size_t name = equals != NULL ? (size_t)(equals - text) : n;

	if (ends_in_own(text, name) && t->kind != PEER_WIRESPEED)
		return false;
	buf_put_string(b, text, name);
	if (equals != NULL)
		buf_put_string(b, equals + 1, n - name - 1);
	else
		buf_put_cstring(b, "0");
	return true;
}

int transport_send_ext(struct transport *t)
{
	const char *own = t->opt.server ? "ping@openssh.com" : "ext-info-in-auth@openssh.com", *cursor, *name;
	const char *names = t->opt.ext_names != NULL ? t->opt.ext_names : "";
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);
	uint32_t count = 1;
	size_t n;
	int code = 0;

	if (!t->peer_takes_ext || t->opt.omit_ext_info)
		return 0;
	buf_put_u32(&b, 0);
	if (t->opt.server && t->opt.server_sig_algs != NULL) {
		put_entry(&b, sig_algs_name, strlen(sig_algs_name), t->opt.server_sig_algs);
		count++;
	}
	put_entry(&b, own, strlen(own), "0");
	for (cursor = names; str_next_name(&cursor, &name, &n);)
		count += put_option(t, &b, name, n);
	buf_poke_u32(&b, 0, count);
	code = buf_ok(&b) ? transport_emit(t, MSG_EXT_INFO, transport_view(&b), false)
		: transport_fail(t, ERR_USAGE, 0, "too many names for EXT_INFO");
	buf_free(&b);
	return code;
}

int transport_send_sig_algs(struct transport *t, const char *algs)
{
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);
	int code;

	if (!t->opt.server || !transport_peer_ext(t, "ext-info-in-auth@openssh.com"))
		return 0;
	buf_put_u32(&b, 1);
	put_entry(&b, sig_algs_name, strlen(sig_algs_name), algs);
	code = transport_send(t, MSG_EXT_INFO, &b);
	buf_free(&b);
	return code;
}

/* ---- the peer's ---- */

/* Whether this EXT_INFO comes at a moment when one is allowed; remembers that it came. */
static bool is_due(struct transport *t)
{
	if (t->authenticated)
		return false;
	if (!t->service_seen) {
		if (t->ext_first_seen)
			return false;
		t->ext_first_seen = true;
		return true;
	}
	/* A client asks for a second one, which comes during authentication. */
	if (t->opt.server || t->ext_second_seen)
		return false;
	t->ext_second_seen = true;
	return true;
}

static bool is_known(struct view name)
{
	static const char *const known[] = {
		sig_algs_name, "publickey-hostbound@openssh.com", "ping@openssh.com", "agent-forward",
		"ext-info-in-auth@openssh.com"
	};
	size_t i;

	for (i = 0; i < MEM_COUNT(known); i++)
		if (view_is(name, known[i]))
			return true;
	return false;
}

/* docs/PROTOCOL.md: between our own ends; in the first EXT_INFO, a name counts once. */
static void take_own_entry(struct transport *t, struct view name, struct view value)
{
	char *text;

	if (t->ext_second_seen || value.n == 0 || name.n > NAME_MAX_BYTES || value.n > NAME_MAX_BYTES || t->ext_own.count >= KEPT_MAX ||
	    view_has_nul(value))
		return;
	text = mem_alloc(name.n + value.n + 2);
	memcpy(text, name.p, name.n);
	text[name.n] = '=';
	memcpy(text + name.n + 1, value.p, value.n);
	text[name.n + 1 + value.n] = '\0';
	str_list_add_take(&t->ext_own, text);
}

static void take_entry(struct transport *t, struct view name, struct view value)
{
	/* As in OpenSSH: a second EXT_INFO counts for server-sig-algs only. */
	if (view_is(name, sig_algs_name)) {
		if (value.n <= VALUE_MAX_BYTES && !t->opt.server) {
			free(t->peer_sig_algs);
			t->peer_sig_algs = view_strdup(value);
		}
	} else if (t->kind == PEER_WIRESPEED && ends_in_own((const char *)name.p, name.n)) {
		take_own_entry(t, name, value);
	} else if (!t->ext_second_seen && view_is(value, "0") && name.n <= NAME_MAX_BYTES && t->ext.count < KEPT_MAX) {
		str_list_add_n(&t->ext, (const char *)name.p, name.n);
	}
	if (t->opt.cb.ext_info != NULL)
		t->opt.cb.ext_info(t->opt.cb.ctx, name, value);
}

int transport_got_ext(struct transport *t, const struct message *m)
{
	struct reader r;
	struct view name, value;
	uint32_t count, i;

	reader_init(&r, m->body.p, m->body.n);
	count = reader_u32(&r);
	if (count >= ENTRIES_MAX || !is_due(t)) {
		log_debug("EXT_INFO of %u entries is not taken at this point", count);
		return transport_unimplemented(t, m);
	}
	for (i = 0; i < count; i++) {
		name = reader_string(&r);
		value = reader_string(&r);
		if (!reader_ok(&r))
			break;
		if (view_has_nul(name) || (is_known(name) && view_has_nul(value)))
			return transport_fail(t, ERR_PEER, DISCONNECT_PROTOCOL_ERROR, "EXT_INFO holds a NUL");
		take_entry(t, name, value);
	}
	if (reader_end(&r, &t->err, "EXT_INFO") < 0)
		return transport_fail_err(t, DISCONNECT_PROTOCOL_ERROR, err_text(&t->err));
	return 0;
}

const char *transport_server_sig_algs(const struct transport *t)
{
	return t->peer_sig_algs;
}

bool transport_peer_ext(const struct transport *t, const char *name)
{
	return str_list_has(&t->ext, name);
}

const char *transport_peer_ext_value(const struct transport *t, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < t->ext_own.count; i++)
		if (strncmp(t->ext_own.v[i], name, n) == 0 && t->ext_own.v[i][n] == '=')
			return t->ext_own.v[i] + n + 1;
	return NULL;
}
