/* io/ring.h: a bounded queue of bytes in a circle, filled and emptied without copying. For the carriers of io/link.h. */
#ifndef IO_RING_H
#define IO_RING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct ring {
	uint8_t *p;
	size_t room;                     /* allocated; grows up to limit */
	size_t limit;
	size_t start, size;              /* what it holds */
};

enum { RING_IOV = 2 };

/* Space for up to want bytes in *count (at most RING_IOV) pieces; returns how much. Valid until anything else is done. */
size_t ring_lend(struct ring *r, size_t want, struct iovec iov[RING_IOV], int *count);
void ring_commit(struct ring *r, size_t n);
/* Up to max of the oldest bytes: pieces, or the first of them. */
int ring_pieces(const struct ring *r, size_t max, struct iovec iov[RING_IOV]);
size_t ring_peek(const struct ring *r, const uint8_t **p);
void ring_consume(struct ring *r, size_t n);
void ring_clear(struct ring *r);         /* wipes and frees; limit stays */

#endif
