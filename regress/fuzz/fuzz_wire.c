/* wire/reader.c, wire/buf.c, wire/namelist.c: the first byte of each step says what is read next from the rest; what was read
 * is written again and must be the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/buf.h"
#include "wire/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool ok)
{
	if (!ok)
		abort();
}

static void step(struct reader *r, struct buf *b, uint8_t what)
{
	struct reader child;
	struct view v;
	char *s;

	switch (what % 9) {
	case 0: buf_put_u8(b, reader_u8(r)); break;
	case 1: buf_put_u32(b, reader_u32(r)); break;
	case 2: buf_put_u64(b, reader_u64(r)); break;
	case 3: v = reader_string(r); buf_put_string(b, v.p, v.n); break;
	case 4: v = reader_mpint(r, 600); buf_put_mpint(b, v.p, v.n); break;
	case 5: v = reader_bytes(r, what / 9); buf_put(b, v.p, v.n); break;
	case 6:
		s = reader_cstring(r, 100);
		if (s != NULL)
			buf_put_cstring(b, s);
		free(s);
		break;
	case 7:
		child = reader_child(r);
		size_t mark = buf_begin_string(b);

		v = reader_rest(&child);
		buf_put(b, v.p, v.n);
		buf_end_string(b, mark);
		break;
	case 8:
		v = reader_string(r);
		if (namelist_valid(v)) {
			s = view_strdup(v);
			free(namelist_first_common(s, "a,zlib,none"));
			need(strlen(s) == v.n);
			free(s);
		}
		buf_put_string(b, v.p, v.n);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t steps = size != 0 ? data[0] % 16 : 0, i;
	struct buf b = BUF_INIT(1 << 20);
	struct reader r;

	if (size < 1 + steps)
		return 0;
	reader_init(&r, data + 1 + steps, size - 1 - steps);
	for (i = 0; i < steps && reader_ok(&r); i++)
		step(&r, &b, data[1 + i]);
	need(buf_ok(&b));
	if (reader_ok(&r))
		need(b.size <= size && (b.size == 0 || memcmp(b.data, data + 1 + steps, b.size) == 0));
	else
		need(reader_left(&r) == 0 && reader_end(&r, NULL, "x") == ERR_PEER);
	buf_free(&b);
	return 0;
}
