/* channel/byte_queue.c: bytes that wait, in chunks. Layer: channel. */
#include "channel/channel_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { CHUNK_SMALL = 4096, CHUNK_LARGE = 256 * 1024 };

struct byte_chunk {
	struct byte_chunk *next;
	size_t start, end, room;
	uint8_t bytes[];
};

static struct byte_chunk *chunk_new(struct byte_queue *q, size_t n)
{
	size_t room = n > CHUNK_SMALL ? CHUNK_LARGE : CHUNK_SMALL;
	struct byte_chunk *c = q->spare;

	if (c && c->room >= room) {
		q->spare = NULL;
	} else {
		c = mem_alloc(sizeof *c + room);
		c->room = room;
	}
	c->next = NULL;
	c->start = c->end = 0;
	return c;
}

/* Small ones may hold what somebody typed. */
static void chunk_free(struct byte_chunk *c)
{
	if (c && c->room <= CHUNK_SMALL)
		mem_wipe(c->bytes, c->room);
	free(c);
}

void byte_queue_add(struct byte_queue *q, const void *p, size_t n)
{
	const uint8_t *from = p;

	while (n > 0) {
		struct byte_chunk *c = q->last;
		size_t part;

		if (!c || c->end == c->room) {
			c = chunk_new(q, n);
			if (q->last)
				q->last->next = c;
			else
				q->first = c;
			q->last = c;
		}
		part = n < c->room - c->end ? n : c->room - c->end;
		memcpy(c->bytes + c->end, from, part);
		c->end += part;
		q->size += part;
		from += part;
		n -= part;
	}
}

size_t byte_queue_run(const struct byte_queue *q, const uint8_t **p)
{
	if (!q->first)
		return 0;
	*p = q->first->bytes + q->first->start;
	return q->first->end - q->first->start;
}

void byte_queue_drop(struct byte_queue *q, size_t n)
{
	q->size -= n;
	while (n > 0) {
		struct byte_chunk *c = q->first;
		size_t part = c->end - c->start < n ? c->end - c->start : n;

		c->start += part;
		n -= part;
		if (c->start < c->end)
			return;
		q->first = c->next;
		if (!q->first)
			q->last = NULL;
		/* One is kept: a queue that fills and drains all the time shall not go to the allocator for it. */
		chunk_free(q->spare);
		q->spare = c;
	}
}

void byte_queue_take(struct byte_queue *q, void *dst, size_t n)
{
	uint8_t *to = dst;

	while (n > 0) {
		const uint8_t *p = NULL;
		size_t part = byte_queue_run(q, &p);

		part = part < n ? part : n;
		memcpy(to, p, part);
		byte_queue_drop(q, part);
		to += part;
		n -= part;
	}
}

void byte_queue_free(struct byte_queue *q)
{
	byte_queue_drop(q, q->size);
	chunk_free(q->spare);
	*q = (struct byte_queue){ 0 };
}
