/* xfer/sftp_client.h: the SFTP v3 client engine over a byte link: requests with callbacks, any number under way.
 *
 * Every request that was made is answered exactly once, in whatever order the server chooses: by its callback, with status
 * SFTP_CONNECTION_LOST if the connection goes first, or is gone already, or the client is freed. Never before the call that
 * made it has returned. Callbacks may make requests, not free the client. */
#ifndef XFER_SFTP_CLIENT_H
#define XFER_SFTP_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"
#include "xfer/sftp_proto.h"

struct link;
struct loop;
struct sftp_client;

struct sftp_result {                     /* views are good until the callback returns */
	uint32_t status;                 /* SFTP_OK, or why there is nothing else here */
	struct view message;             /* the server's words with a status; may be empty */
	struct view handle;
	struct sftp_attrs attrs;
	uint32_t count;                  /* names that can be got with sftp_name_get */
	struct reader names;
	struct view body;                /* of an EXTENDED_REPLY */
	uint32_t bytes;                  /* READ: how many went to the data callback; WRITE: how many were sent */
};
typedef void sftp_reply_fn(void *ctx, const struct sftp_result *r);
/* Data of a READ as it comes, in order within one reply. offset is that of the file. */
typedef void sftp_data_fn(void *ctx, uint64_t offset, const uint8_t *p, size_t n);

struct sftp_client_events {
	void (*ready)(void *ctx);        /* the server has said hello; limits may still be on their way */
	void (*writable)(void *ctx);     /* an sftp_client_write that found no room may do better */
	void (*lost)(void *ctx);         /* closed follows, and before it answers to all requests; may be NULL */
	void (*closed)(void *ctx, const struct err *e);  /* last call */
	void *ctx;
};

/* Sends INIT. early: requests may leave before the server's hello (to ours and OpenSSH's: docs/PROTOCOL.md); otherwise they
 * wait here. The link stays the caller's. */
struct sftp_client *sftp_client_new(struct loop *l, struct link *link, bool early, const struct sftp_client_events *events);
/* Answers everything with SFTP_CONNECTION_LOST and sends nothing more; closed is not called. Returns how many requests the
 * callbacks made meanwhile (they wait for the next stop, or free). For who has two clients that his callbacks use. */
size_t sftp_client_stop(struct sftp_client *c);
/* Stops until nothing is left; then it is gone. NULL is fine. */
void sftp_client_free(struct sftp_client *c);
/* Answers everything with SFTP_CONNECTION_LOST and calls closed with e. */
void sftp_client_fail(struct sftp_client *c, const struct err *e);

bool sftp_client_has(const struct sftp_client *c, enum sftp_extension x);      /* false before ready */
/* What may be asked for in one READ or WRITE: the server's word if it gave it, else the draft's. handles 0: not known. */
const struct sftp_limits *sftp_client_limits(const struct sftp_client *c);
size_t sftp_client_outstanding(const struct sftp_client *c);
/* Bytes of requests that the link has not taken yet: who makes requests in bulk stops while this is large. */
size_t sftp_client_backlog(const struct sftp_client *c);
/* NULL when it has ended. */
struct link *sftp_client_link(const struct sftp_client *c);
/* link_window and link_rtt_us of its link; 0 when it has ended. */
size_t sftp_client_window(const struct sftp_client *c);
uint32_t sftp_client_rtt_us(const struct sftp_client *c);

/* The types with one path: LSTAT, STAT, OPENDIR, REMOVE, RMDIR, REALPATH, READLINK. */
void sftp_client_path(struct sftp_client *c, uint8_t type, const char *path, sftp_reply_fn *fn, void *ctx);
/* The types with one handle: CLOSE, FSTAT, READDIR. */
void sftp_client_handle(struct sftp_client *c, uint8_t type, struct view handle, sftp_reply_fn *fn, void *ctx);
void sftp_client_open(struct sftp_client *c, const char *path, uint32_t pflags, const struct sftp_attrs *a,
	sftp_reply_fn *fn, void *ctx);
void sftp_client_mkdir(struct sftp_client *c, const char *path, const struct sftp_attrs *a, sftp_reply_fn *fn, void *ctx);
void sftp_client_setstat(struct sftp_client *c, const char *path, const struct sftp_attrs *a, sftp_reply_fn *fn, void *ctx);
void sftp_client_fsetstat(struct sftp_client *c, struct view handle, const struct sftp_attrs *a, sftp_reply_fn *fn,
	void *ctx);
void sftp_client_rename(struct sftp_client *c, const char *from, const char *to, sftp_reply_fn *fn, void *ctx);
void sftp_client_symlink(struct sftp_client *c, const char *target, const char *path, sftp_reply_fn *fn, void *ctx);
/* An extension; body is what stands behind its name (borrowed, may be NULL). */
void sftp_client_extended(struct sftp_client *c, enum sftp_extension x, const struct buf *body, sftp_reply_fn *fn, void *ctx);

struct sftp_read { struct view handle; uint64_t offset; uint32_t length; };
/* Up to `length` bytes. What the server sends goes to data piece by piece, then fn is told how many came: fewer than asked
 * for is no end of file, SFTP_EOF is. */
void sftp_client_read(struct sftp_client *c, const struct sftp_read *r, sftp_data_fn *data, sftp_reply_fn *fn, void *ctx);

/* One WRITE at `offset`, read from fd at the same offset straight into the link, of at most `max` bytes and what link and
 * server allow. Returns how many; 0 when the file has no more there (nothing is sent, fn is not called); ERR_AGAIN when the
 * link has no room (writable follows); ERR_IO when reading failed (errno); ERR_CLOSED. */
struct sftp_write { struct view handle; int fd; uint64_t offset; uint64_t max; };
long sftp_client_write(struct sftp_client *c, const struct sftp_write *w, sftp_reply_fn *fn, void *ctx) MUST_USE;
/* The same from memory; returns max, or less. */
long sftp_client_write_bytes(struct sftp_client *c, const struct sftp_write *w, const uint8_t *p, sftp_reply_fn *fn,
	void *ctx) MUST_USE;

/* A WRITE of a few bytes that waits with the other requests instead of asking the link for room: they are copied. Not more than
 * SFTP_DATA_DEFAULT. */
void sftp_client_write_small(struct sftp_client *c, const struct sftp_write *w, struct view bytes, sftp_reply_fn *fn, void *ctx);

/* What to tell a user about a result: the server's words if they say more than the status does. size is that of dst. */
const char *sftp_result_text(const struct sftp_result *r, char *dst, size_t size);

#endif
