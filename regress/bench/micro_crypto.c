/* micro_crypto [NAME PART]: speed of the packet ciphers and MACs in one thread: MB/s (10^6 bytes) for packets of 32 KiB,
 * 64 KiB and 255 KiB, and the time of a 64-byte packet. Best of several short runs. Prints numbers and judges nothing.
 * micro_crypto -t [NAME PART]: speed of sealing batches of packets by one thread and by several, as the packet layer
 * does it: 768 KiB in packets of 96 KiB; to be held against `openssl speed -multi 2 -evp aes-128-gcm -bytes 98304`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/mem.h"
#include "cipher.h"
#include "crypto/crypto.h"
#include "crypto/umac.h"
#include "crypto/umac_simd.h"
#include "crypto/workers.h"
#include "mac.h"
#include "platform/cores.h"
#include "seal.h"

enum { LARGEST = 255 * 1024, ROOM = LARGEST + 128, RUNS = 60 };

static const size_t sizes[] = { 64, 32 * 1024, 64 * 1024, LARGEST };

/* What is measured: one packet of n bytes (ciphers: behind its length field). */
typedef int packet_fn(void *ctx, uint32_t seq, uint8_t *p, size_t n);

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int seal(void *ctx, uint32_t seq, uint8_t *p, size_t n)
{
	return cipher_seal(ctx, seq, p, n, true);
}

static int tag(void *ctx, uint32_t seq, uint8_t *p, size_t n)
{
	uint8_t out[64];

	return mac_compute(ctx, seq, p, n, out);
}

static int umac(void *ctx, uint32_t seq, uint8_t *p, size_t n)
{
	uint8_t out[16];

	return umac_compute(ctx, seq, p, n, out);
}

/* Seconds a packet: the best run, each of some milliseconds, so that some are undisturbed. */
static double measure(packet_fn *fn, void *ctx, uint8_t *p, size_t n)
{
	double best = 1e9;
	uint32_t seq = 0;
	unsigned long count = 1;

	for (int run = 0; run < RUNS; ) {
		double from = now(), took;

		for (unsigned long i = 0; i < count; i++)
			if (fn(ctx, seq++, p, n) != 0)
				abort();
		took = now() - from;
		if (took < 0.002) {
			count *= 2;
			continue;
		}
		run++;
		if (took / (double)count < best)
			best = took / (double)count;
	}
	return best;
}

static void row(const char *name, packet_fn *fn, void *ctx, uint8_t *p)
{
	printf("%-34s", name);
	for (size_t i = 0; i < MEM_COUNT(sizes); i++) {
		double t = measure(fn, ctx, p, sizes[i]);

		if (i == 0)
			printf(" %7.0f ns", t * 1e9);
		else
			printf(" %8.0f", (double)sizes[i] / t / 1e6);
	}
	printf("\n");
	fflush(stdout);
}

/* ---- by several threads ---- */

enum { BATCH = 8, BODY = 96 * 1024, STRIDE = BODY + 512, THREAD_RUNS = 15, BATCHES = 60 };

struct batches {
	struct seal *seal;
	struct workers *workers;         /* NULL: one thread */
	struct seal_item items[BATCH];
};

static void one_batch(struct batches *b)
{
	if (seal_finish_all(b->seal, b->workers, b->items, BATCH) < 0)
		abort();
	for (size_t i = 0; i < BATCH; i++)
		b->items[i].seq += BATCH;
}

/* MB/s: the median of the runs, as threads that did not get a processor are part of it. What was sealed before is sealed again. */
static double batches_speed(struct batches *b)
{
	double took[THREAD_RUNS];

	for (int run = 0; run < THREAD_RUNS; run++) {
		double from = now();

		for (int i = 0; i < BATCHES; i++)
			one_batch(b);
		took[run] = now() - from;
		for (int i = run; i > 0 && took[i - 1] > took[i]; i--) {
			double t = took[i];

			took[i] = took[i - 1];
			took[i - 1] = t;
		}
	}
	return (double)BATCHES * BATCH * BODY / took[THREAD_RUNS / 2] / 1e6;
}

static void thread_row(const struct packet_suite *s, uint8_t *mem, const uint8_t *key)
{
	const struct packet_keys k = { key, key, key };
	unsigned cores = cores_usable() < WORKERS_LANES_MAX ? cores_usable() : WORKERS_LANES_MAX;
	double one = 0, speed;

	printf("%-30s %-30s", s->cipher->name, s->mac != NULL ? s->mac->name : "");
	for (unsigned lanes = 1; lanes <= cores; lanes++) {
		struct batches b = { .seal = seal_new(s, &k, true, NULL) };

		seal_allow_sharing(b.seal, &k);
		b.workers = lanes > 1 ? workers_new(lanes - 1) : NULL;
		for (size_t i = 0; i < BATCH; i++) {
			size_t total, payload = BODY;
			uint8_t *p = mem + i * STRIDE;

			b.items[i] = (struct seal_item){ .p = p, .seq = (uint32_t)i,
				.length = seal_fill(b.seal, p, payload, seal_padding(b.seal, payload, 0), &total) };
		}
		speed = batches_speed(&b);
		if (lanes == 1)
			printf(" %8.0f", one = speed);
		else
			printf(" %8.0f (%.2f)", speed, speed / one);
		workers_free(b.workers);
		seal_free(b.seal);
	}
	printf("\n");
	fflush(stdout);
}

static int thread_rows(const char *part)
{
	static const struct { const char *cipher, *mac; } rows[] = {
		{ "aes128-gcm@openssh.com", NULL }, { "aes256-gcm@openssh.com", NULL },
		{ "chacha20-poly1305@openssh.com", NULL }, { "aes128-ctr", "umac-64-etm@openssh.com" },
		{ "aes128-ctr", "hmac-sha2-256-etm@openssh.com" }, { "none", "umac-64@openssh.com" },
	};
	uint8_t *mem = mem_zalloc(BATCH * STRIDE), key[64] = { 1 };

	printf("%s; MB/s by 1, 2, ... threads\n", crypto_version());
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		const char *cipher = rows[i].cipher, *mac = rows[i].mac;
		struct packet_suite s = { .cipher = cipher_find((struct view){ (const uint8_t *)cipher, strlen(cipher) }) };

		if (strstr(cipher, part) == NULL)
			continue;
		if (mac != NULL)
			s.mac = mac_find((struct view){ (const uint8_t *)mac, strlen(mac) });
		thread_row(&s, mem, key);
	}
	free(mem);
	return 0;
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	uint8_t *p = mem_zalloc(ROOM), key[64] = { 1 }, iv[16] = { 0 };

	crypto_init();
	if (strcmp(part, "-t") == 0) {
		free(p);
		return thread_rows(argc > 2 ? argv[2] : "");
	}
	printf("%s\n%-34s %10s %8s %8s %8s\n", crypto_version(), "", "64 B", "32 KiB", "64 KiB", "255 KiB");
	for (size_t i = 0; cipher_at(i) != NULL; i++) {
		struct cipher *c;

		if (strstr(cipher_at(i)->name, part) == NULL)
			continue;
		c = cipher_new(cipher_at(i), true, key, iv, NULL);
		row(cipher_at(i)->name, seal, c, p);
		cipher_free(c);
	}
	for (size_t i = 0; mac_at(i) != NULL; i++) {
		struct mac *m;

		if (mac_at(i)->etm || strstr(mac_at(i)->name, part) == NULL)
			continue;
		m = mac_new(mac_at(i), key, NULL);
		row(mac_at(i)->name, tag, m, p);
		mac_free(m);
	}
	for (size_t i = 0; nh_at(i) != NULL; i++) {
		for (size_t size = 8; size <= 16; size += 8) {
			struct umac *u = umac_new_with(nh_at(i), key, size, NULL);
			char name[64];

			snprintf(name, sizeof(name), "umac-%zu by %s", size * 8, nh_at(i)->name);
			if (strstr(name, part) != NULL)
				row(name, umac, u, p);
			umac_free(u);
		}
	}
	free(p);
	return 0;
}
