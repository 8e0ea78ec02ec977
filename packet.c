/* packet.c: the life of a packet layer, its keys and counters. Input is packet_in.c, output packet_out.c. */
#include "packet.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "crypto/workers.h"
#include "packet_private.h"

/* A stretch between two looks that moved less than this was no bulk transfer. */
enum { TRIM_QUIET_BYTES = 256 * 1024 };

static struct packet_suite suite_none(void)
{
	static const uint8_t none[] = "none";
	const struct view name = { none, 4 };

	return (struct packet_suite){ .cipher = cipher_find(name), .mac = mac_find(name) };
}

struct packet *packet_new(void)
{
	struct packet *p = mem_zalloc(sizeof(*p));
	const struct packet_suite none = suite_none();
	int i;

	p->length_max = PACKET_LENGTH_MAX;
	buf_init(&p->inflated, PACKET_LENGTH_MAX);
	for (i = 0; i < 2; i++) {
		/* RFC 4253 §6: everything begins without cipher and MAC. Cannot fail: no key is needed. */
		if (packet_side_key(p, (enum packet_dir)i, &none, NULL) < 0)
			break;
	}
	return p;
}

void packet_forget_keys(struct packet_side *s)
{
	const struct mac_alg *mac = s->suite.mac;

	if (s->suite.cipher != NULL) {
		mem_free_secret(s->kept.iv, s->suite.cipher->iv_size);
		mem_free_secret(s->kept.key, s->suite.cipher->key_size);
	}
	if (mac != NULL)
		mem_free_secret(s->kept.mac_key, mac->key_size);
	s->kept = (struct packet_kept){ NULL, NULL, NULL };
}

void packet_free(struct packet *p)
{
	int i;

	if (p == NULL)
		return;
	workers_free(p->workers);
	for (i = 0; i < 2; i++) {
		seal_free(p->side[i].seal);
		packet_forget_keys(&p->side[i]);
	}
	mem_free_secret(p->in, p->in_room);
	mem_free_secret(p->out.mem, p->out.room);
	packet_pack_free(p);
	inflater_free(p->inflater);
	buf_free(&p->inflated);
	free(p->ahead);
	mem_free_secret(p, sizeof(*p));
}

const struct err *packet_err(const struct packet *p)
{
	return p->err.code != 0 ? &p->err : &p->in_err;
}

int packet_side_key(struct packet *p, enum packet_dir dir, const struct packet_suite *suite, const struct packet_keys *k)
{
	struct packet_side *s = &p->side[dir];
	struct seal *seal = seal_new(suite, k, dir == PACKET_OUT, &p->err);

	if (seal == NULL)
		return ERR_CRYPTO;
	if (p->workers != NULL && k != NULL)
		seal_allow_sharing(seal, k);
	/* Another cipher, another answer; new keys alone change nothing. */
	if (suite->cipher != s->suite.cipher || suite->mac != s->suite.mac)
		s->pace = (struct pace){ .state = PACE_WATCH };
	seal_free(s->seal);
	packet_forget_keys(s);
	s->seal = seal;
	s->suite = *suite;
	s->count = (struct packet_counters){ 0, 0, 0 };
	return 0;
}

static uint8_t *keep_bytes(const uint8_t *p, size_t n)
{
	return n != 0 ? mem_dup(p, n) : NULL;
}

void packet_keep(struct packet_side *s, const struct packet_keys *k)
{
	s->kept.iv = keep_bytes(k->iv, s->suite.cipher->iv_size);
	s->kept.key = keep_bytes(k->key, s->suite.cipher->key_size);
	s->kept.mac_key = keep_bytes(k->mac_key, s->suite.mac != NULL ? s->suite.mac->key_size : 0);
}

int packet_set_keys(struct packet *p, enum packet_dir dir, const struct packet_suite *suite, const struct packet_keys *k,
	bool reset_seq)
{
	struct packet_side *s = &p->side[dir];
	int r;

	if (p->err.code != 0)
		return p->err.code;
	if (dir == PACKET_OUT && (p->open || p->lent != 0))
		return err_set(&p->err, ERR_USAGE, "new keys in the middle of a message");
	if (dir == PACKET_IN && p->peeked)
		return err_set(&p->err, ERR_USAGE, "new keys in the middle of a packet");
	/* Bytes behind a NEWKEYS that came before its time were taken for packets under the old keys. */
	if (dir == PACKET_IN && p->ahead_next != p->ahead_count)
		return err_set(&p->err, ERR_PEER, "new keys in the middle of other packets");
	r = packet_side_key(p, dir, suite, k);
	if (r < 0)
		return r;
	if (p->keep_keys)
		packet_keep(s, k);
	if (reset_seq)
		s->seq = 0;
	/* As OpenSSH does: both streams are created afresh at every NEWKEYS of their direction. */
	if (dir == PACKET_OUT) {
		packet_pack_new_keys(p);
	} else {
		inflater_free(p->inflater);
		p->inflater = NULL;
		buf_free(&p->inflated);
	}
	return 0;
}

void packet_keep_keys(struct packet *p, bool keep)
{
	int i;

	p->keep_keys = keep;
	for (i = 0; !keep && i < 2; i++)
		packet_forget_keys(&p->side[i]);
}

void packet_start_compression(struct packet *p, enum packet_dir dir, int level)
{
	p->side[dir].compress = true;
	if (dir == PACKET_OUT)
		p->pack.level = level;
}

void packet_set_length_max(struct packet *p, uint32_t max)
{
	p->length_max = max < PACKET_LENGTH_MAX ? max : PACKET_LENGTH_MAX;
}

void packet_count(struct packet_side *s, size_t length)
{
	s->seq++;
	s->count.packets++;
	/* As OpenSSH counts: length field, padding and payload count, MAC and tag do not. */
	s->count.blocks += (4 + length) / seal_block_size(s->seal);
	s->count.bytes += 4 + length;
	s->total += 4 + length;
}

bool packet_side_used_up(const struct packet_side *s)
{
	/* RFC 4344 §3.1: a sequence number must not come twice under one key. */
	return s->count.packets > UINT32_MAX;
}

/* ---- several threads ---- */

void packet_use_helpers(struct packet *p, unsigned helpers, enum packet_share how)
{
	if (helpers == 0 || p->workers != NULL)
		return;
	p->workers = workers_new(helpers);
	p->share = how;
}

void packet_stop_helpers(struct packet *p)
{
	workers_stop(p->workers);
}

bool packet_shares(const struct packet *p, enum packet_dir dir)
{
	const struct packet_side *s = &p->side[dir];

	return p->workers != NULL && seal_can_share(s->seal) && (p->share == PACKET_SHARE_ALWAYS || pace_shares(&s->pace));
}

void packet_keep_pace(struct packet *p, enum packet_dir dir, size_t n)
{
	struct packet_side *s = &p->side[dir];

	if (p->workers == NULL || p->share == PACKET_SHARE_ALWAYS || !seal_can_share(s->seal) || !pace_add(&s->pace, n))
		return;
	if (pace_step(&s->pace, clock_mono_us(), clock_thread_ns() / 1000))
		log_debug2("%s by %u threads: %u %% of the speed of one%s", dir == PACKET_OUT ? "sealing" : "opening",
			workers_lanes(p->workers), s->pace.gain, s->pace.state == PACE_ON ? "" : ", so one does it");
}

const struct packet_suite *packet_suite(const struct packet *p, enum packet_dir dir)
{
	return &p->side[dir].suite;
}

struct packet_counters packet_counters(const struct packet *p, enum packet_dir dir)
{
	return p->side[dir].count;
}

uint32_t packet_seq(const struct packet *p, enum packet_dir dir)
{
	return p->side[dir].seq;
}

uint64_t packet_total_bytes(const struct packet *p, enum packet_dir dir)
{
	return p->side[dir].total;
}

bool packet_has_spare(const struct packet *p)
{
	return packet_in_has_spare(p) || packet_out_has_spare(p) || workers_running(p->workers);
}

bool packet_trim(struct packet *p)
{
	uint64_t total = p->side[PACKET_IN].total + p->side[PACKET_OUT].total;
	bool quiet = total - p->trim_total < TRIM_QUIET_BYTES, more_in, more_out;

	p->trim_total = total;
	if (!quiet)
		return true;
	packet_stop_helpers(p);
	more_in = packet_in_trim(p);
	more_out = packet_out_trim(p);
	return more_in || more_out;
}

void packet_rest(struct packet *p)
{
	packet_stop_helpers(p);
	(void)packet_in_drop(p);
	(void)packet_out_drop(p);
}
