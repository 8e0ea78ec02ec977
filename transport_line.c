/* transport_line.c: what compression is told of the line, and what it tells at the end. */
#include "transport.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "compress_auto.h"
#include "transport_private.h"

enum { POLL_US = 1000 };

/* Each change of the level, with what it was decided by. */
static void log_change(struct transport *t, const struct compress_auto *c, uint64_t now_us)
{
	struct compress_view v;

	compress_auto_look(c, &v);
	if (v.level == t->line_level && v.gated == t->line_gated)
		return;
	t->line_level = v.level;
	t->line_gated = v.gated;
	log_debug2("compression: level %d%s from byte %llu on, at %.3f s; line %.0f KB/s, packing %.1f ns a byte to %.0f%%, all else %.1f ns",
		v.level, v.gated ? ", held back" : "", (unsigned long long)packet_packed(t->packet, PACKET_OUT).in,
		(double)now_us / 1e6, v.line / 1000, v.cost_ns, v.rest * 100, v.other_ns);
}

void transport_line_told(struct transport *t, const struct transport_line *l)
{
	struct compress_auto *c = packet_compress_auto(t->packet);
	const struct compress_line line = { .drained = l->drained, .pending = packet_out_pending(t->packet), .unsent = l->unsent,
		.inflight = l->inflight, .rate = l->rate, .queue_us = l->queue_us, .cpu_ns = clock_thread_ns(), .now_us = l->now_us };

	t->line_away = l->unsent + l->inflight != 0;
	if (c == NULL)
		return;
	compress_auto_line(c, &line);
	log_change(t, c, l->now_us);
}

/* ---- without compression ---- */

/* OpenSSH makes its streams anew with each keying; of others that is not known. Not where nothing is encrypted: there keys change by
 * rules of their own. */
static bool may_go_without(const struct transport *t)
{
	const struct compress_alg *alg = packet_suite(t->packet, PACKET_OUT)->compress;
	enum proposal_list which = t->opt.server ? PROPOSAL_COMPRESS_S2C : PROPOSAL_COMPRESS_C2S;
	const char *own = t->opt.proposal.list[which], *peer = t->peer_first.list[which];

	return t->authenticated && (t->kind == PEER_OPENSSH || t->kind == PEER_HPN) && alg != NULL && !alg->marked &&
		!transport_cipher_none(t) && own != NULL && peer != NULL && str_names_has(own, "none", 4) &&
		str_names_has(peer, "none", 4);
}

bool transport_line_switches(struct transport *t)
{
	const struct compress_auto *c = packet_compress_auto(t->packet);
	bool want = c != NULL && compress_auto_wants_without(c);

	if (want == t->without || (want && !may_go_without(t)))
		return false;
	if (want)
		t->packed_by = packet_suite(t->packet, PACKET_OUT)->compress->name;
	t->without = want;
	t->switches++;
	if (want)
		log_verbose("Compression: not needed on this line, so new keys without it");
	else
		log_verbose("Compression: it pays again, so new keys with it");
	return true;
}

uint64_t transport_line_due(const struct transport *t)
{
	const struct compress_auto *c = packet_compress_auto(t->packet);

	return c != NULL ? compress_auto_line_due(c) : UINT64_MAX;
}

size_t transport_out_max(const struct transport *t)
{
	const struct compress_auto *c = packet_compress_auto(t->packet);

	return c != NULL ? compress_auto_pending_max(c) : SIZE_MAX;
}

size_t transport_swell(const struct transport *t)
{
	const struct compress_auto *c = packet_compress_auto(t->packet);
	struct packet_packed n = packet_packed(t->packet, PACKET_OUT);

	if (c != NULL)
		return compress_auto_swell(c);
	if (n.out == 0 || n.in <= n.out)
		return 16;
	return n.in / n.out < 16 ? (size_t)(n.in * 16 / n.out) : 256;
}

void transport_tick_line(const struct transport *t, uint64_t now_ms, uint64_t *next_ms)
{
	/* Nothing wakes anybody when bytes are acknowledged, and until they are no more may follow. */
	if (t->line_away && transport_out_max(t) != SIZE_MAX && now_ms + POLL_US / 1000 < *next_ms)
		*next_ms = now_ms + POLL_US / 1000;
}

/* ---- at the end ---- */

static void log_direction(const struct transport *t, enum packet_dir dir, const char *what, const char *alg,
	const char *level)
{
	struct packet_packed n = packet_packed(t->packet, dir);
	uint64_t plain = dir == PACKET_OUT ? n.in : n.out, line = dir == PACKET_OUT ? n.out : n.in;

	if (n.in == 0 && n.out == 0)
		return;
	log_verbose("Compression: %s %llu bytes as %llu, ratio %.2f (%s, %s)", what, (unsigned long long)plain,
		(unsigned long long)line, (double)plain / (double)(line != 0 ? line : 1), alg, level);
}

static uint64_t sum_of(const uint64_t *v, size_t n)
{
	uint64_t sum = 0;

	while (n-- != 0)
		sum += v[n];
	return sum != 0 ? sum : 1;
}

static void log_shares(const struct compress_auto *c)
{
	static const char *const limits[COMPRESS_LIMITS] = { "line", "processor", "other" };
	struct compress_shares s;
	struct str_list words = { .v = NULL };
	uint64_t sum;
	char *text;
	int i;

	compress_auto_shares(c, &s);
	sum = sum_of(s.level_us, MEM_COUNT(s.level_us)) + s.without_us;
	if (s.without_us * 1000 >= sum)
		str_list_add_take(&words, str_printf("none %.1f%%", (double)s.without_us * 100 / (double)sum));
	for (i = 0; i <= COMPRESS_LEVELS; i++) {
		if (s.level_us[i] * 1000 < sum)
			continue;
		text = i == 0 ? mem_strdup("off") : str_printf("%d", i);
		str_list_add_take(&words, str_printf("%s %.1f%%", text, (double)s.level_us[i] * 100 / (double)sum));
		free(text);
	}
	text = str_list_join(&words, ", ");
	str_list_clear(&words);
	log_verbose("Compression time at each level: %s", text[0] != '\0' ? text : "off");
	free(text);
	sum = sum_of(s.limit_us, MEM_COUNT(s.limit_us));
	for (i = 0; i < COMPRESS_LIMITS; i++)
		str_list_add_take(&words, str_printf("%s %.1f%%", limits[i], (double)s.limit_us[i] * 100 / (double)sum));
	text = str_list_join(&words, ", ");
	str_list_clear(&words);
	log_verbose("Compression was limited by: %s", text);
	free(text);
}

void transport_log_compression(const struct transport *t)
{
	const struct compress_auto *c = packet_compress_auto(t->packet);
	const struct agreement *a = &t->agreement;
	const char *out = t->opt.server ? a->compress_s2c : a->compress_c2s, *in = t->opt.server ? a->compress_c2s : a->compress_s2c;
	char *name = c != NULL ? mem_strdup("auto") : str_printf("level %d", t->opt.compress_level);

	log_direction(t, PACKET_OUT, "sent", t->packed_by != NULL ? t->packed_by : out, name);
	log_direction(t, PACKET_IN, "received", in, "level of the peer");
	if (c != NULL)
		log_shares(c);
	free(name);
}
