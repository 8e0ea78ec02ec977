/* transport.c: the life of a transport, its bytes, the version exchange and timers (RFC 4253). */
#include "transport.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "transport_private.h"

enum {
	EXCHANGE_MS = 60 * 1000,
	EXCHANGE_LOOK_MS = 1000,         /* how often to look whether our KEXINIT has left */
	TRIM_MS = 5 * 1000,
	VERSION_MAX = 253,               /* RFC 4253 §4.2: 255 with CR LF */
	HOST_KEY_MAX = 64 * 1024,
	DATA_MAX = 32768,                /* towards anyone else (docs/PROTOCOL.md) */
	DATA_MAX_OWN = 255 * 1024
};

static bool software_valid(const char *s)
{
	const char *p;

	for (p = s; *p != '\0'; p++)
		if (*p < ' ' || *p > '~')
			return false;
	return p != s && *s != ' ' && (size_t)(p - s) + strlen("SSH-2.0-") <= VERSION_MAX;
}

static char *copy_or_null(const char *s)
{
	return s != NULL ? mem_strdup(s) : NULL;
}

struct transport *transport_new(const struct transport_options *o, struct err *e)
{
	struct transport *t;

	if (!software_valid(o->software)) {
		err_set(e, ERR_USAGE, "version \"%s\" cannot be sent: printable ASCII of at most %d bytes is allowed",
			o->software, VERSION_MAX - 8);
		return NULL;
	}
	t = mem_zalloc(sizeof(*t));
	t->opt = *o;
	t->opt.proposal = (struct proposal){ .guess_follows = false };
	proposal_copy(&t->opt.proposal, &o->proposal);
	t->opt.server_sig_algs = copy_or_null(o->server_sig_algs);
	t->opt.ext_names = copy_or_null(o->ext_names);
	t->own_version = str_printf("SSH-2.0-%s", o->software);
	t->opt.software = t->own_version + strlen("SSH-2.0-");
	t->packet = packet_new();
	/* Only a server's pre-authentication process hands its connection over. */
	packet_keep_keys(t->packet, o->server);
	packet_use_helpers(t->packet, o->helpers, PACKET_SHARE_MEASURED);
	buf_init(&t->session_id, DIGEST_MAX);
	buf_init(&t->host_key_blob, HOST_KEY_MAX);
	buf_init(&t->host_key_signature, HOST_KEY_MAX);
	buf_init(&t->queue, TRANSPORT_QUEUE_MAX);
	transport_exchange_clear(&t->x);
	return t;
}

void transport_free(struct transport *t)
{
	if (t == NULL)
		return;
	transport_exchange_clear(&t->x);
	packet_free(t->packet);
	proposal_clear(&t->opt.proposal);
	proposal_clear(&t->peer_first);
	agreement_clear(&t->agreement);
	free((char *)t->opt.server_sig_algs);
	free((char *)t->opt.ext_names);
	free(t->own_version);
	free(t->peer_version);
	free(t->peer_sig_algs);
	free(t->disconnect_text);
	str_list_clear(&t->ext);
	str_list_clear(&t->ext_own);
	buf_free(&t->session_id);
	buf_free(&t->host_key_blob);
	buf_free(&t->host_key_signature);
	buf_free(&t->queue);
	mem_free_secret(t, sizeof(*t));
}

const struct err *transport_err(const struct transport *t)
{
	return &t->err;
}

int transport_start(struct transport *t)
{
	packet_out_raw(t->packet, t->own_version, strlen(t->own_version));
	packet_out_raw(t->packet, "\r\n", 2);
	if (packet_err(t->packet)->code != 0)
		return transport_fail_packet(t);
	if (t->opt.server || t->opt.nothing_early)
		return 0;
	return transport_begin_exchange(t);
}

/* ---- bytes ---- */

int transport_in_space(struct transport *t, uint8_t **at, size_t *room)
{
	int r = packet_in_space(t->packet, at, room);

	return r < 0 && r != ERR_AGAIN ? transport_fail_packet(t) : r;
}

void transport_in_added(struct transport *t, size_t n)
{
	t->heard |= n != 0;
	packet_in_added(t->packet, n);
}

enum peer_kind transport_kind_of(const char *software)
{
	if (str_starts(software, "Wirespeed_"))
		return PEER_WIRESPEED;
	if (strstr(software, "OpenSSH") == NULL)
		return PEER_OTHER;
	return strstr(software, "hpn") != NULL ? PEER_HPN : PEER_OPENSSH;
}

/* 1: the peer's version line has been read. */
static int read_ident(struct transport *t)
{
	struct view line;
	size_t taken;
	char *text;
	int r;

	r = ident_find(&t->ident, t->opt.server, packet_in_peek(t->packet), &taken, &line, &t->err);
	if (r < 0) {
		/* A line of text, since whoever does not know SSH can read that. */
		if (t->ident.refusal != NULL && t->opt.server)
			packet_out_raw(t->packet, t->ident.refusal, strlen(t->ident.refusal));
		t->ended = true;
		return t->err.code;
	}
	if (r == 1) {
		t->peer_version = view_strdup(line);
		t->kind = transport_kind_of(transport_peer_software(t));
		text = str_escape_log(line.p, line.n, VERSION_MAX);
		log_debug("peer's version: %s", text);
		free(text);
	}
	packet_in_take(t->packet, taken);
	if (r == 1 && !t->x.sent_kexinit && (r = transport_begin_exchange(t)) == 0)
		r = 1;
	return r;
}

int transport_next(struct transport *t, struct message *m)
{
	int r;

	for (;;) {
		if (t->err.code != 0)
			return t->err.code;
		if (t->peer_version == NULL) {
			if ((r = read_ident(t)) <= 0)
				return r;
			continue;
		}
		/* The peer's NEWKEYS comes after our KEXINIT only: until that has gone, none can be among what has come. */
		packet_allow_ahead(t->packet, t->exchanges != 0 && !t->x.sent_kexinit && !t->x.got_kexinit);
		r = packet_next(t->packet, m);
		if (r == 0)
			return 0;
		if (r < 0)
			return transport_fail_packet(t);
		if ((r = transport_handle(t, m)) < 0)
			return r;
		/* After the message: it may have been what authenticates, or part of an exchange. */
		if (transport_check_limits(t) < 0)
			return t->err.code;
		if (r == 1)
			return 1;
	}
}

int transport_out_view(struct transport *t, struct iovec *iov, int iov_max)
{
	return packet_out_view(t->packet, iov, iov_max);
}

void transport_out_sent(struct transport *t, size_t n)
{
	packet_out_sent(t->packet, n);
}

size_t transport_out_pending(const struct transport *t)
{
	return packet_out_pending(t->packet);
}

void transport_stop_helpers(struct transport *t)
{
	packet_stop_helpers(t->packet);
}

/* ---- timers ---- */

/* A re-exchange: how long it may still take. */
static int tick_exchange(struct transport *t, uint64_t now_ms, uint64_t *next_ms)
{
	struct transport_exchange *x = &t->x;

	if (t->exchanges == 0 || !(x->sent_kexinit || x->got_kexinit))
		return 0;
	/* Bulk data that was sealed before is allowed the time that the line needs for it. */
	if (x->waiting_since_ms == 0) {
		if (packet_out_pending(t->packet) != 0) {
			*next_ms = now_ms + EXCHANGE_LOOK_MS;
			return 0;
		}
		x->waiting_since_ms = now_ms;
	}
	if (now_ms >= x->waiting_since_ms + EXCHANGE_MS)
		return transport_fail(t, ERR_PEER, DISCONNECT_KEX_FAILED, "key exchange did not finish within %d seconds",
			EXCHANGE_MS / 1000);
	*next_ms = x->waiting_since_ms + EXCHANGE_MS;
	return 0;
}

static bool packets_passed(const struct transport *t)
{
	return packet_counters(t->packet, PACKET_IN).packets != 0 || packet_counters(t->packet, PACKET_OUT).packets != 0;
}

static int tick_rekey(struct transport *t, uint64_t now_ms, uint64_t *next_ms)
{
	uint64_t due = t->keyed_ms + (uint64_t)t->opt.rekey_seconds * 1000;

	/* Keys that were never used are not old. */
	if (t->opt.rekey_seconds == 0 || !t->authenticated || t->x.sent_kexinit || !packets_passed(t))
		return 0;
	if (now_ms >= due)
		return transport_begin_exchange(t);
	*next_ms = due;
	return 0;
}

static void tick_trim(struct transport *t, uint64_t now_ms, uint64_t *next_ms)
{
	if (t->trim_ms == 0 && packet_has_spare(t->packet))
		t->trim_ms = now_ms + TRIM_MS;
	else if (t->trim_ms != 0 && now_ms >= t->trim_ms)
		t->trim_ms = packet_trim(t->packet) ? now_ms + TRIM_MS : 0;
	if (t->trim_ms != 0 && t->trim_ms < *next_ms)
		*next_ms = t->trim_ms;
}

void transport_rest(struct transport *t)
{
	packet_rest(t->packet);
}

int transport_tick(struct transport *t, uint64_t now_ms, uint64_t *next_ms)
{
	*next_ms = UINT64_MAX;
	if (t->err.code != 0)
		return t->err.code;
	if (tick_rekey(t, now_ms, next_ms) < 0 || tick_exchange(t, now_ms, next_ms) < 0)
		return t->err.code;
	tick_trim(t, now_ms, next_ms);
	transport_tick_line(t, now_ms, next_ms);
	return 0;
}

/* ---- state ---- */

void transport_set_authenticated(struct transport *t)
{
	t->authenticated = true;
	transport_start_compression(t);
}

void transport_start_compression(struct transport *t)
{
	/* OpenSSH's PROTOCOL: zlib@openssh.com begins here, in both directions. */
	packet_start_compression(t->packet, PACKET_OUT, t->opt.compress_level);
	packet_start_compression(t->packet, PACKET_IN, 0);
}

bool transport_authenticated(const struct transport *t)
{
	return t->authenticated;
}

void transport_set_proposal(struct transport *t, const struct proposal *p)
{
	proposal_copy(&t->opt.proposal, p);
}

const struct proposal *transport_proposal(const struct transport *t)
{
	return &t->opt.proposal;
}

const struct proposal *transport_peer_proposal(const struct transport *t)
{
	return &t->peer_first;
}

const struct agreement *transport_agreement(const struct transport *t)
{
	return &t->agreement;
}

unsigned transport_exchange_count(const struct transport *t)
{
	return t->exchanges;
}

struct view transport_session_id(const struct transport *t)
{
	return transport_view(&t->session_id);
}

struct view transport_host_key_blob(const struct transport *t)
{
	return transport_view(&t->host_key_blob);
}

struct view transport_host_key_signature(const struct transport *t)
{
	return transport_view(&t->host_key_signature);
}

const char *transport_peer_software(const struct transport *t)
{
	/* Behind "SSH-2.0-" or "SSH-1.99-": ident_find has checked that it is there. */
	return t->peer_version != NULL ? strchr(t->peer_version + 4, '-') + 1 : "";
}

enum peer_kind transport_peer_kind(const struct transport *t)
{
	return t->kind;
}

bool transport_peer_silent(const struct transport *t)
{
	return !t->heard;
}

bool transport_negotiation_failed(const struct transport *t)
{
	return t->negotiation_failed;
}

uint32_t transport_disconnect_reason(const struct transport *t)
{
	return t->disconnect_reason;
}

const char *transport_disconnect_text(const struct transport *t)
{
	return t->disconnect_text != NULL ? t->disconnect_text : "";
}

bool transport_cipher_none(const struct transport *t)
{
	return packet_suite(t->packet, PACKET_IN)->cipher->mode == CIPHER_NONE ||
		packet_suite(t->packet, PACKET_OUT)->cipher->mode == CIPHER_NONE;
}

static bool side_unauthenticated(const struct transport *t, enum packet_dir dir)
{
	const struct packet_suite *s = packet_suite(t->packet, dir);

	return !cipher_is_aead(s->cipher) && (s->mac == NULL || s->mac->tag_size == 0);
}

bool transport_mac_none(const struct transport *t)
{
	return side_unauthenticated(t, PACKET_IN) || side_unauthenticated(t, PACKET_OUT);
}

size_t transport_data_max(const struct transport *t)
{
	/* 255 KiB with headers, padding and growth by compression stay under a packet_length of 262,144. */
	return t->kind == PEER_WIRESPEED ? DATA_MAX_OWN : DATA_MAX;
}

uint64_t transport_bytes(const struct transport *t, enum packet_dir dir)
{
	return packet_total_bytes(t->packet, dir);
}
