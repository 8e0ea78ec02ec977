/* wire/buf.c: writes of RFC 4251 section 5 types into a growable buffer. */
#include "wire/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { BUF_ROOM_FIRST = 256 };

void buf_init(struct buf *b, size_t limit)
{
	*b = BUF_INIT(limit);
}

void buf_free(struct buf *b)
{
	/* One byte more than room is allocated: that of buf_cstr(). */
	if (b->data != NULL)
		mem_free_secret(b->data, b->room + 1);
	*b = BUF_INIT(b->limit);
}

void buf_reset(struct buf *b)
{
	if (b->data != NULL)
		mem_wipe(b->data, b->size);
	b->size = 0;
	b->failed = false;
}

/* Makes room for n more bytes. realloc() is not used since it may leave a copy of secrets behind. */
static bool buf_grow(struct buf *b, size_t n)
{
	size_t need, room;
	uint8_t *data;

	if (b->failed)
		return false;
	if (b->size > b->limit || n > b->limit - b->size)
		goto fail;
	need = b->size + n;
	room = b->room > b->limit / 2 ? b->limit : b->room * 2;
	if (room < BUF_ROOM_FIRST)
		room = BUF_ROOM_FIRST < b->limit ? BUF_ROOM_FIRST : b->limit;
	if (room < need)
		room = need;
	if (room == SIZE_MAX || (data = malloc(room + 1)) == NULL)
		goto fail;
	if (b->data != NULL) {
		memcpy(data, b->data, b->size);
		mem_free_secret(b->data, b->room + 1);
	}
	b->data = data;
	b->room = room;
	return true;
fail:
	b->failed = true;
	return false;
}

static inline uint8_t *buf_take(struct buf *b, size_t n)
{
	uint8_t *p;

	if (__builtin_expect(b->failed || b->data == NULL || n > b->room - b->size, 0) && !buf_grow(b, n))
		return NULL;
	p = b->data + b->size;
	b->size += n;
	return p;
}

uint8_t *buf_reserve(struct buf *b, size_t n)
{
	return buf_take(b, n);
}

void buf_put(struct buf *b, const void *p, size_t n)
{
	uint8_t *q;

	if (n != 0 && (q = buf_take(b, n)) != NULL)
		memcpy(q, p, n);
}

void buf_put_u8(struct buf *b, uint8_t v)
{
	uint8_t *q = buf_take(b, 1);

	if (q != NULL)
		*q = v;
}

void buf_put_bool(struct buf *b, bool v)
{
	buf_put_u8(b, v ? 1 : 0);
}

void buf_put_u32(struct buf *b, uint32_t v)
{
	uint8_t *q = buf_take(b, 4);

	if (q != NULL)
		wire_store_u32(q, v);
}

void buf_put_u64(struct buf *b, uint64_t v)
{
	uint8_t *q = buf_take(b, 8);

	if (q != NULL)
		wire_store_u64(q, v);
}

void buf_put_string(struct buf *b, const void *p, size_t n)
{
	uint8_t *q;

	if (n > UINT32_MAX - 4) {
		b->failed = true;
		return;
	}
	q = buf_take(b, 4 + n);
	if (q == NULL)
		return;
	wire_store_u32(q, (uint32_t)n);
	if (n != 0)
		memcpy(q + 4, p, n);
}

void buf_put_cstring(struct buf *b, const char *s)
{
	buf_put_string(b, s, strlen(s));
}

void buf_put_mpint(struct buf *b, const void *magnitude, size_t n)
{
	const uint8_t *p = magnitude;
	size_t sign;
	uint8_t *q;

	while (n != 0 && *p == 0) {
		p++;
		n--;
	}
	/* RFC 4251 section 5: zero is the empty string; a positive number whose top bit would be set gets a zero byte. */
	sign = n != 0 && (*p & 0x80) != 0 ? 1 : 0;
	if (n > UINT32_MAX - 5) {
		b->failed = true;
		return;
	}
	q = buf_take(b, 4 + sign + n);
	if (q == NULL)
		return;
	wire_store_u32(q, (uint32_t)(n + sign));
	if (sign != 0)
		q[4] = 0;
	if (n != 0)
		memcpy(q + 4 + sign, p, n);
}

void buf_put_buf_string(struct buf *b, const struct buf *v)
{
	if (v->failed)
		b->failed = true;
	else
		buf_put_string(b, v->data, v->size);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;
	uint8_t *q;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->failed = true;
		return;
	}
	q = buf_take(b, (size_t)n);
	if (q == NULL)
		return;
	/* The terminator falls into the byte that is always there beyond room. */
	va_start(ap, fmt);
	vsnprintf((char *)q, (size_t)n + 1, fmt, ap);
	va_end(ap);
}

size_t buf_begin_string(struct buf *b)
{
	size_t mark = b->size;

	buf_put_u32(b, 0);
	return mark;
}

void buf_end_string(struct buf *b, size_t mark)
{
	size_t n;

	if (b->failed)
		return;
	if (mark > b->size || b->size - mark < 4 || (n = b->size - mark - 4) > UINT32_MAX) {
		b->failed = true;
		return;
	}
	wire_store_u32(b->data + mark, (uint32_t)n);
}

void buf_poke_u32(struct buf *b, size_t offset, uint32_t v)
{
	if (b->failed)
		return;
	if (offset > b->size || b->size - offset < 4) {
		b->failed = true;
		return;
	}
	wire_store_u32(b->data + offset, v);
}

void buf_consume(struct buf *b, size_t n)
{
	if (n > b->size) {
		n = b->size;
		b->failed = true;
	}
	if (n == 0)
		return;
	memmove(b->data, b->data + n, b->size - n);
	mem_wipe(b->data + (b->size - n), n);
	b->size -= n;
}

const char *buf_cstr(struct buf *b)
{
	if (b->data == NULL)
		return "";
	b->data[b->size] = '\0';
	return (const char *)b->data;
}
