/* io/ring.c: a bounded queue of bytes in a circle. */
#include "io/ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { RING_ROOM_FIRST = 16 * 1024 };

static void ring_copy_out(const struct ring *r, uint8_t *out)
{
	size_t first = r->room - r->start;

	if (first > r->size)
		first = r->size;
	memcpy(out, r->p + r->start, first);
	memcpy(out + first, r->p, r->size - first);
}

/* Room for n more bytes if limit and memory allow it. */
static void ring_grow(struct ring *r, size_t n)
{
	size_t room = r->room > r->limit / 2 ? r->limit : r->room * 2;
	uint8_t *p;

	if (room < RING_ROOM_FIRST)
		room = RING_ROOM_FIRST;
	if (room < r->size + n)
		room = r->size + n;
	if (room > r->limit)
		room = r->limit;
	p = mem_try(room);
	if (p == NULL)
		return;
	if (r->p != NULL) {
		ring_copy_out(r, p);
		mem_free_secret(r->p, r->room);
	}
	r->p = p;
	r->room = room;
	r->start = 0;
}

size_t ring_lend(struct ring *r, size_t want, struct iovec iov[RING_IOV], int *count)
{
	size_t end, first;

	if (want > r->limit - r->size)
		want = r->limit - r->size;
	*count = 0;
	if (want == 0)
		return 0;
	if (want > r->room - r->size)
		ring_grow(r, want);
	if (want > r->room - r->size)
		want = r->room - r->size;
	if (want == 0)
		return 0;
	if (r->size == 0)
		r->start = 0;
	end = (r->start + r->size) % r->room;
	first = r->room - end < want ? r->room - end : want;
	iov[(*count)++] = (struct iovec){ r->p + end, first };
	if (first < want)
		iov[(*count)++] = (struct iovec){ r->p, want - first };
	return want;
}

void ring_commit(struct ring *r, size_t n)
{
	r->size += n;
}

int ring_pieces(const struct ring *r, size_t max, struct iovec iov[RING_IOV])
{
	size_t n = r->size < max ? r->size : max, first;

	if (n == 0)
		return 0;
	first = r->room - r->start < n ? r->room - r->start : n;
	iov[0] = (struct iovec){ r->p + r->start, first };
	if (first == n)
		return 1;
	iov[1] = (struct iovec){ r->p, n - first };
	return 2;
}

size_t ring_peek(const struct ring *r, const uint8_t **p)
{
	struct iovec iov[RING_IOV];

	if (ring_pieces(r, r->size, iov) == 0)
		return 0;
	*p = iov[0].iov_base;
	return iov[0].iov_len;
}

void ring_consume(struct ring *r, size_t n)
{
	if (n == 0)
		return;
	r->start = (r->start + n) % r->room;
	r->size -= n;
}

void ring_clear(struct ring *r)
{
	if (r->p != NULL)
		mem_free_secret(r->p, r->room);
	*r = (struct ring){ .limit = r->limit };
}
