/* micro_crypto [NAME PART]: speed of the packet ciphers and MACs in one thread: MB/s (10^6 bytes) for packets of 32 KiB,
 * 64 KiB and 255 KiB, and the time of a 64-byte packet. Best of several short runs. Prints numbers and judges nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/mem.h"
#include "cipher.h"
#include "crypto/crypto.h"
#include "crypto/umac.h"
#include "crypto/umac_simd.h"
#include "mac.h"

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

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	uint8_t *p = mem_zalloc(ROOM), key[64] = { 1 }, iv[16] = { 0 };

	crypto_init();
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
