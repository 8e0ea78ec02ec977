/* crypto/rand.c: random bytes from libcrypto's generator. */
#include "crypto/rand.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <openssl/rand.h>

enum { PADDING_BUFFER = 1024 };

void rand_bytes(void *p, size_t n)
{
	uint8_t *at = p;

	while (n > 0) {
		int take = n > INT_MAX ? INT_MAX : (int)n;

		if (RAND_bytes(at, take) != 1) {
			/* Nothing that is built on bad randomness may go on. */
			fputs("no random bytes from libcrypto\n", stderr);
			abort();
		}
		at += take;
		n -= (size_t)take;
	}
}

uint32_t rand_u32(void)
{
	uint32_t v;

	rand_bytes(&v, sizeof(v));
	return v;
}

uint32_t rand_below(uint32_t bound)
{
	uint32_t v, floor;

	if (bound < 2)
		return 0;
	/* The first 2^32 mod bound values would make small results likelier: they are thrown again. */
	floor = (0U - bound) % bound;
	do {
		v = rand_u32();
	} while (v < floor);
	return v % bound;
}

void rand_prepare(void)
{
	uint8_t first[16];

	/* Instantiates the generators that RAND_bytes uses, which opens and fetches what they need. */
	rand_bytes(first, sizeof(first));
}

void rand_padding(uint8_t *p, size_t n)
{
	/* A buffer a thread. Shared with a forked child, which is harmless: padding is not secret and never a nonce. */
	static _Thread_local uint8_t stock[PADDING_BUFFER];
	static _Thread_local size_t left;

	while (n > 0) {
		size_t take;

		if (left == 0) {
			rand_bytes(stock, sizeof(stock));
			left = sizeof(stock);
		}
		take = n < left ? n : left;
		memcpy(p, stock + sizeof(stock) - left, take);
		left -= take;
		p += take;
		n -= take;
	}
}
