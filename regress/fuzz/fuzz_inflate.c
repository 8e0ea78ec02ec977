/* Compressed packets of the peer: inflater_run. Input: a byte that chooses the limit and the method, then packets, each behind
 * two bytes of size, all of one stream. What opens is sent on, packed and raw in turns, and opened again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "compress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct echo { const struct compress_alg *alg; struct deflater *d; struct inflater *i; struct buf out; unsigned count; };

static void round_trip(struct echo *c, struct view plain)
{
	size_t room = deflater_bound(plain.n), n = 0;
	uint8_t *packed = mem_alloc(room);
	bool raw = c->count++ % 3 == 2 && plain.n <= c->alg->raw_max;
	struct view got;
	int r = 0;

	if (raw && deflater_raw_ready(c->d)) {
		deflater_put_raw_head(c->d, plain.n, packed);
		if (plain.n != 0)
			memcpy(packed + c->alg->raw_head, plain.p, plain.n);
		n = c->alg->raw_head + plain.n;
	} else if (raw) {
		r = deflater_enter_raw(c->d, plain, packed, room, &n);
	} else {
		r = deflater_run(c->d, 1 + (int)(c->count % 4), plain, packed, room, &n);
	}
	if (r != 0 || inflater_run(c->i, (struct view){ packed, n }, &c->out, &got, NULL) != 0 || got.n != plain.n ||
	    (plain.n != 0 && memcmp(got.p, plain.p, plain.n) != 0))
		abort();
	free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Even: the largest packet. Odd: little. Above 191 the methods of our own. */
	const struct compress_alg *alg = compress_at(size == 0 || data[0] < 192 ? 0 : 1 + (data[0] >> 1) % 2);
	struct inflater *i;
	struct buf out;
	struct echo c = { .out = { .limit = 300000 } };
	struct view got;
	size_t n;

	if (alg == NULL)
		alg = compress_at(1);
	i = inflater_new(alg);
	c.alg = alg;
	c.d = deflater_new(alg);
	c.i = inflater_new(alg);
	buf_init(&out, size == 0 || data[0] % 2 == 0 ? 300000 : data[0]);
	for (size_t at = 1; at + 2 <= size; at += n) {
		n = (size_t)data[at] << 8 | data[at + 1];
		at += 2;
		if (n > size - at)
			n = size - at;
		if (inflater_run(i, (struct view){ data + at, n }, &out, &got, NULL) != 0)
			break;
		if (out.size > out.limit || out.room > out.limit)
			abort();
		round_trip(&c, got);
	}
	buf_free(&out);
	buf_free(&c.out);
	deflater_free(c.d);
	inflater_free(c.i);
	inflater_free(i);
	return 0;
}
