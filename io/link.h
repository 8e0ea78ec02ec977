/* io/link.h: a byte link: an ordered stream of bytes each way without telling what carries it: a channel of a
 * connection, a pair of pipes, memory in a test. SFTP and scp know nothing else.
 *
 * Sending without a copy: link_lend gives spaces in the carrier's own output; fill them (preadv) and link_commit what
 * was filled. Receiving without a copy: link_peek shows bytes where they lie, link_consume says how many were used. What
 * is consumed is what opens the sender's window again (the sink sets the pace). */
#ifndef IO_LINK_H
#define IO_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include "base/err.h"

struct link;

/* What the user of a link gets told. Calls may consume, lend, commit, finish; not free the link (link_close does, later). */
struct link_user {
	void (*readable)(void *ctx);     /* there are new bytes to peek at, or the end of input has come */
	void (*writable)(void *ctx);     /* a lend that came out short may do better now */
	/* Gone in both directions, and all that came was consumed; e->code 0 when orderly. Last call. */
	void (*closed)(void *ctx, const struct err *e);
	void *ctx;
};

struct link_ops {                        /* what a carrier implements */
	size_t (*lend)(struct link *l, size_t want, struct iovec *iov, int *count);
	int (*commit)(struct link *l, size_t n);
	size_t (*room)(struct link *l);
	size_t (*peek)(struct link *l, const uint8_t **p);
	void (*consume)(struct link *l, size_t n);
	bool (*at_end)(struct link *l);
	void (*finish)(struct link *l);
	void (*close)(struct link *l);
	size_t (*pending)(struct link *l);
	size_t (*window)(struct link *l);        /* NULL: there are no windows */
	uint32_t (*rtt_us)(struct link *l);      /* NULL: not known */
};
struct link {                            /* embedded in the carrier's struct */
	const struct link_ops *ops;
	struct link_user user;
};

enum { LINK_IOV = 32 };                  /* iovecs that a caller of lend has to provide */

/* Lends up to `want` bytes of space in at most LINK_IOV pieces, in stream order; returns how many bytes; 0 when there is
 * no room now (writable will be called). A lend must be followed by exactly one commit (0 gives all back) before
 * anything else is done on the same connection. The bytes of a commit form a prefix of the spaces. */
static inline size_t link_lend(struct link *l, size_t want, struct iovec *iov, int *count)
{
	return l->ops->lend(l, want, iov, count);
}
static inline int MUST_USE link_commit(struct link *l, size_t n) { return l->ops->commit(l, n); }
/* What a lend would give now at most. */
static inline size_t link_room(struct link *l) { return l->ops->room(l); }
/* One contiguous run of received bytes (not necessarily all); 0 if none. Valid until the next call on this link, or until
 * the user's callback returns: what is then not consumed is kept, elsewhere. */
static inline size_t link_peek(struct link *l, const uint8_t **p) { return l->ops->peek(l, p); }
static inline void link_consume(struct link *l, size_t n) { l->ops->consume(l, n); }
/* All input was consumed and no more will come. */
static inline bool link_at_end(struct link *l) { return l->ops->at_end(l); }
/* End of our output, after what was committed. */
static inline void link_finish(struct link *l) { l->ops->finish(l); }
/* Ends both directions; user.closed is not called any more. The carrier frees itself when it may. */
static inline void link_close(struct link *l) { l->ops->close(l); }
/* Bytes committed that have not left the process yet. */
static inline size_t link_pending(struct link *l) { return l->ops->pending(l); }

/* Bytes that the far side will still take before it must say more; SIZE_MAX when the carrier knows no such limit. */
static inline size_t link_window(struct link *l) { return l->ops->window != NULL ? l->ops->window(l) : SIZE_MAX; }
/* The least round trip to the far side, without what queues; 0 when not known. */
static inline uint32_t link_rtt_us(struct link *l) { return l->ops->rtt_us != NULL ? l->ops->rtt_us(l) : 0; }

/* Copies n bytes into the stream when there is room for all; false (and nothing is sent) otherwise. */
bool link_write(struct link *l, const void *p, size_t n);

/* A link over descriptors (pipes, sockets, files; may be the same). They are owned: made non-blocking (unless a tty), put
 * back and closed at the end. out_limit: bytes queued at most (0: 1 MiB). On failure they stay the caller's. link_close
 * drops what the descriptor does not take at once: to be sure, link_finish and wait for link_pending to be 0. The process
 * must ignore SIGPIPE. */
struct loop;
struct link *link_fd_new(struct loop *l, int fd_in, int fd_out, size_t out_limit, struct err *e);
/* Two links in memory, joined, for tests: what one commits the other can peek at after the loop turned. limit: bytes in
 * flight each way. */
int link_pair_new(struct loop *l, size_t limit, struct link **a, struct link **b, struct err *e) MUST_USE;

#endif
