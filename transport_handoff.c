/* transport_handoff.c: a server's connection carried from the pre-authentication process to the user's (docs/OVERVIEW.md). The
 * blob is made by the former, which an attacker may own: everything in it is checked by the latter. */
#include "transport.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "transport_private.h"

enum {
	FORMAT = 1,
	NAME_MAX_BYTES = 128,
	LINE_MAX_BYTES = IDENT_LINE_MAX,
	EXT_MAX = 64,
	EXT_NAME_MAX = 256
};

static const size_t agreement_fields[] = {
	offsetof(struct agreement, kex), offsetof(struct agreement, host_key),
	offsetof(struct agreement, cipher_c2s), offsetof(struct agreement, cipher_s2c),
	offsetof(struct agreement, mac_c2s), offsetof(struct agreement, mac_s2c),
	offsetof(struct agreement, compress_c2s), offsetof(struct agreement, compress_s2c)
};

static char **agreement_field(struct agreement *a, size_t i)
{
	return (char **)(void *)((char *)a + agreement_fields[i]);
}

static void put_proposal(struct buf *out, const struct proposal *p)
{
	size_t mark = buf_begin_string(out);

	proposal_put(p, out);
	buf_end_string(out, mark);
}

int transport_export(struct transport *t, struct buf *out)
{
	size_t i;

	if (t->err.code != 0)
		return t->err.code;
	if (t->exchanges == 0 || t->x.sent_kexinit || t->x.got_kexinit || t->queue.size != 0)
		return transport_fail(t, ERR_USAGE, 0, "a connection is handed over in the middle of a key exchange");
	buf_put_u8(out, FORMAT);
	buf_put_cstring(out, t->own_version);
	buf_put_cstring(out, t->peer_version);
	buf_put_buf_string(out, &t->session_id);
	buf_put_buf_string(out, &t->host_key_blob);
	buf_put_bool(out, t->strict);
	buf_put_bool(out, t->authenticated);
	buf_put_bool(out, t->peer_takes_ext);
	buf_put_bool(out, t->service_seen);
	buf_put_u32(out, t->exchanges);
	put_proposal(out, &t->peer_first);
	for (i = 0; i < MEM_COUNT(agreement_fields); i++)
		buf_put_cstring(out, *agreement_field(&t->agreement, i));
	buf_put_u32(out, (uint32_t)t->ext.count);
	for (i = 0; i < t->ext.count; i++)
		buf_put_cstring(out, t->ext.v[i]);
	if (packet_export(t->packet, out) < 0)
		return transport_fail_packet(t);
	/* Nothing more may be sent or opened here: the numbers go on elsewhere. */
	t->ended = true;
	err_set(&t->err, ERR_CLOSED, "the connection was handed over");
	return buf_ok(out) ? 0 : ERR_MEMORY;
}

static void get_bytes(struct reader *r, struct buf *b)
{
	struct view v = reader_string(r);

	buf_put(b, v.p, v.n);
	if (v.n == 0 || !buf_ok(b))
		reader_fail(r);
}

/* A version line as ident_find has found it. */
static char *get_version(struct reader *r)
{
	char *line = reader_cstring(r, LINE_MAX_BYTES);

	if (line == NULL || ident_software(transport_text(line)).n == 0) {
		reader_fail(r);
		free(line);
		return NULL;
	}
	return line;
}

static int get_names(struct transport *t, struct reader *r, struct err *e)
{
	struct reader child = reader_child(r);
	uint32_t count, i;
	char *name;

	if (!reader_ok(r) || proposal_get(&child, &t->peer_first, e) < 0)
		return ERR_PEER;
	for (i = 0; i < MEM_COUNT(agreement_fields); i++)
		*agreement_field(&t->agreement, i) = reader_cstring(r, NAME_MAX_BYTES);
	count = reader_u32(r);
	for (i = 0; i < count && i < EXT_MAX; i++) {
		name = reader_cstring(r, EXT_NAME_MAX);
		if (name == NULL)
			break;
		str_list_add_take(&t->ext, name);
	}
	return reader_ok(r) && count <= EXT_MAX ? 0 : ERR_PEER;
}

static int get_state(struct transport *t, struct reader *r, struct err *e)
{
	if (reader_u8(r) != FORMAT)
		return ERR_PEER;
	free(t->own_version);
	t->own_version = get_version(r);
	t->peer_version = get_version(r);
	get_bytes(r, &t->session_id);
	get_bytes(r, &t->host_key_blob);
	t->strict = reader_bool(r);
	t->authenticated = reader_bool(r);
	t->peer_takes_ext = reader_bool(r);
	t->service_seen = reader_bool(r);
	t->exchanges = reader_u32(r);
	if (!reader_ok(r) || t->exchanges == 0 || get_names(t, r, e) < 0)
		return ERR_PEER;
	t->opt.software = t->own_version + strlen("SSH-2.0-");
	t->kind = transport_kind_of(transport_peer_software(t));
	t->ext_first_seen = t->ext_second_seen = true;
	t->keyed_ms = clock_mono_ms();
	if (packet_import(t->packet, r) < 0)
		return err_set(e, packet_err(t->packet)->code, "%s", err_text(packet_err(t->packet)));
	/* The level is the user's, whom the pre-authentication process did not know. */
	if (t->authenticated)
		transport_start_compression(t);
	return reader_end(r, e, "a connection handed over");
}

struct transport *transport_import(const struct transport_options *o, struct reader *r, struct err *e)
{
	struct transport *t = transport_new(o, e);
	int code;

	if (t == NULL)
		return NULL;
	/* Keys of later exchanges stay where they are. */
	packet_keep_keys(t->packet, false);
	if ((code = get_state(t, r, e)) < 0) {
		err_set(e, code, "a connection handed over is malformed");
		transport_free(t);
		return NULL;
	}
	return t;
}
