/* speed.c: sealing and opening against the clock. Part of the engine. */
#include "speed.h"

#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "crypto/cpu.h"
#include "crypto/rand.h"

enum {
	SAMPLES_MAX = 1024, SAMPLES_MIN = 3,
	KEY_MAX = 64,            /* the largest of all rows: chacha20-poly1305@openssh.com, hmac-sha2-512 */
	PACKET_MAX = SEAL_HEAD + SPEED_PAYLOAD + SEAL_TAIL_MAX
};

struct bench {
	struct seal *sealing, *opening;
	uint8_t *packet;
	uint64_t *seal_ns, *open_ns;
	size_t count;
};

static int bench_open(struct bench *b, const struct packet_suite *suite, struct err *e)
{
	uint8_t key[KEY_MAX], iv[KEY_MAX], mac_key[KEY_MAX];
	const struct packet_keys keys = { iv, key, mac_key };

	rand_bytes(key, sizeof(key));
	rand_bytes(iv, sizeof(iv));
	rand_bytes(mac_key, sizeof(mac_key));
	b->sealing = seal_new(suite, &keys, true, e);
	b->opening = b->sealing != NULL ? seal_new(suite, &keys, false, e) : NULL;
	mem_wipe(key, sizeof(key));
	mem_wipe(mac_key, sizeof(mac_key));
	if (b->opening == NULL)
		return ERR_CRYPTO;
	b->packet = mem_zalloc(PACKET_MAX);
	b->seal_ns = mem_array(SAMPLES_MAX, sizeof(*b->seal_ns));
	b->open_ns = mem_array(SAMPLES_MAX, sizeof(*b->open_ns));
	return 0;
}

static void bench_close(struct bench *b)
{
	seal_free(b->sealing);
	seal_free(b->opening);
	free(b->packet);
	free(b->seal_ns);
	free(b->open_ns);
}

/* One packet there and back. */
static int bench_packet(struct bench *b, struct err *e)
{
	size_t padding = seal_padding(b->sealing, SPEED_PAYLOAD, 0), total, payload = 0;
	uint32_t seq = (uint32_t)b->count, length;
	uint64_t start = clock_mono_ns(), sealed;
	int rc;

	rc = seal_packet(b->sealing, seq, b->packet, SPEED_PAYLOAD, padding, &total);
	sealed = clock_mono_ns();
	if (rc == 0 && seal_peek(b->opening, seq, b->packet, total, PACKET_MAX, &length) == 1)
		rc = seal_open(b->opening, seq, b->packet, length, &payload);
	if (rc < 0 || payload != SPEED_PAYLOAD)
		return err_set(e, ERR_CRYPTO, "a packet did not come back as it went");
	b->seal_ns[b->count] = sealed - start;
	b->open_ns[b->count] = clock_mono_ns() - sealed;
	b->count++;
	return 0;
}

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t lower_quartile(uint64_t *v, size_t n)
{
	qsort(v, n, sizeof(*v), compare_ns);
	return v[n / 4] > 0 ? v[n / 4] : 1;
}

int speed_measure(const struct packet_suite *suite, unsigned budget_us, struct speed *out, struct err *e)
{
	struct bench b = { .count = 0 };
	int rc = bench_open(&b, suite, e);
	uint64_t end = clock_mono_us() + budget_us;

	while (rc == 0 && b.count < SAMPLES_MAX && (b.count < SAMPLES_MIN || clock_mono_us() < end))
		rc = bench_packet(&b, e);
	if (rc == 0) {
		out->seal_ns = lower_quartile(b.seal_ns, b.count);
		out->open_ns = lower_quartile(b.open_ns, b.count);
	}
	bench_close(&b);
	return rc;
}

/* ---- hardware ---- */

static const struct { const char *prefix; uint32_t bits; } cipher_uses[] = {
	{ "aes", CPU_BIT(CPU_AES) },
}, mac_uses[] = {
	{ "hmac-sha1", CPU_BIT(CPU_SHA1) }, { "hmac-sha2-256", CPU_BIT(CPU_SHA256) },
	{ "hmac-sha2-512", CPU_BIT(CPU_SHA512) },
};

uint32_t speed_hardware(const struct packet_suite *suite)
{
	uint32_t uses = suite->cipher->mode == CIPHER_GCM ? CPU_BIT(CPU_CLMUL) : 0;

	for (size_t i = 0; i < MEM_COUNT(cipher_uses); i++)
		if (str_starts(suite->cipher->name, cipher_uses[i].prefix))
			uses |= cipher_uses[i].bits;
	for (size_t i = 0; suite->mac != NULL && i < MEM_COUNT(mac_uses); i++)
		if (str_starts(suite->mac->name, mac_uses[i].prefix))
			uses |= mac_uses[i].bits;
	return uses & cpu_features();
}
