/* Compressed packets of the peer: inflater_run. Input: a byte that chooses the limit, then packets, each behind two bytes of
 * size, all of one stream. What expands is compressed and expanded again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "compress.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct echo { struct deflater *d; struct inflater *i; struct buf out; };

static void round_trip(struct echo *c, const struct buf *plain)
{
	size_t room = deflater_bound(plain->size), n;
	uint8_t *packed = mem_alloc(room);

	if (deflater_run(c->d, (struct view){ plain->data, plain->size }, packed, room, &n) != 0 ||
	    inflater_run(c->i, (struct view){ packed, n }, &c->out, NULL) != 0 || c->out.size != plain->size ||
	    (plain->size != 0 && memcmp(c->out.data, plain->data, plain->size) != 0))
		abort();
	free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inflater *i = inflater_new(NULL);
	struct buf out;
	struct echo c = { deflater_new(1, NULL), inflater_new(NULL), { .limit = 300000 } };
	size_t n;

	buf_init(&out, size == 0 || data[0] % 2 == 0 ? 300000 : data[0]);
	for (size_t at = 1; at + 2 <= size; at += n) {
		n = (size_t)data[at] << 8 | data[at + 1];
		at += 2;
		if (n > size - at)
			n = size - at;
		if (inflater_run(i, (struct view){ data + at, n }, &out, NULL) != 0)
			break;
		if (out.size > out.limit || out.room > out.limit)
			abort();
		round_trip(&c, &out);
	}
	buf_free(&out);
	buf_free(&c.out);
	deflater_free(c.d);
	inflater_free(c.i);
	inflater_free(i);
	return 0;
}
