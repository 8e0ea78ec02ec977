/* packet.h: the binary packet protocol (RFC 4253 §6): bytes in, messages out, and the reverse. No sockets.
 *
 * Input lies in one linear buffer and packets are opened where they lie; output is built and sealed in one slab and
 * leaves from there. A byte of bulk data is never copied here. Below transport.c; nobody else calls it. */
#ifndef PACKET_H
#define PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include "base/err.h"
#include "seal.h"
#include "wire/buf.h"
#include "wire/reader.h"

enum packet_dir { PACKET_IN, PACKET_OUT };

/* RFC 4253 §6.1 wants 35,000; OpenSSH takes 256 KiB; HPN 33,792 after login. */
enum {
	PACKET_LENGTH_MAX = 262144, PACKET_BODY_SAFE = 32896,
	PACKET_PAYLOAD_MAX = PACKET_LENGTH_MAX - SEAL_TAIL_MAX - SEAL_HEAD       /* that is sent, with its type */
};

/* One message, opened. Views live until the next packet_next, packet_in_space or packet_trim. */
struct message {
	uint8_t type;
	struct view body;        /* what follows the type byte */
	uint32_t seq;            /* its sequence number, for UNIMPLEMENTED */
};

struct packet_counters { uint64_t packets, blocks, bytes; };     /* since the direction was keyed */

struct compress_auto;
struct packet;
struct packet *packet_new(void);
void packet_free(struct packet *p);
const struct err *packet_err(const struct packet *p);

/* Where recv() may write and how much; then how much it wrote. The space is at least 16 KiB, and grows to 1 MiB as long as
 * reads fill it. ERR_AGAIN: full of what packet_next has not taken. */
int packet_in_space(struct packet *p, uint8_t **at, size_t *room) MUST_USE;
void packet_in_added(struct packet *p, size_t n);
/* Raw bytes that are not packets: the version exchange looks at them and takes them. */
struct view packet_in_peek(const struct packet *p);
void packet_in_take(struct packet *p, size_t n);
/* 1: *m is the next message; 0: more bytes are needed; negative: the stream is broken (packet_err). */
int packet_next(struct packet *p, struct message *m) MUST_USE;

/* Room for the payload behind the type byte of one message inside the slab; NULL if memory limits forbid. One message at
 * a time. packet_end pads, compresses if that is on, MACs and seals. */
uint8_t *packet_begin(struct packet *p, uint8_t type, size_t room);
int packet_end(struct packet *p, size_t used) MUST_USE;
/* The next packet is padded to a multiple of this, so that its size says less (64 for passwords). */
void packet_pad_next(struct packet *p, size_t multiple);
void packet_cancel(struct packet *p);
void packet_out_raw(struct packet *p, const void *bytes, size_t n);      /* the version line */

/* Bulk: lends the body spaces of several consecutive messages of `type`, each with head_size bytes of header (after the
 * type byte) that the engine asks for when it seals: at most body_max bytes a message, `want` bytes together at most. Fills iov,
 * returns how many were lent (0: no room). Then exactly one packet_commit with the bytes really written, counted over
 * the spaces in order: messages beyond are taken back, the last may be short. Nothing else is queued in between. The
 * slab takes at most PACKET_BULK_MAX of bulk; what is above that, up to PACKET_OUT_MAX, is for other messages. */
enum { PACKET_BULK_MAX = 2 * 1024 * 1024, PACKET_OUT_MAX = 4 * 1024 * 1024 };
struct packet_bulk {
	uint8_t type;
	size_t head_size;
	void (*write_head)(void *ctx, uint8_t *head, size_t body_size);
	void *ctx;
};
int packet_lend(struct packet *p, const struct packet_bulk *b, size_t body_max, size_t want, struct iovec *iov,
	int iov_max) MUST_USE;
int packet_commit(struct packet *p, size_t used) MUST_USE;

/* Bytes to send, oldest first; then how many went out. */
int packet_out_view(const struct packet *p, struct iovec *iov, int iov_max);
void packet_out_sent(struct packet *p, size_t n);
size_t packet_out_pending(const struct packet *p);

/* Puts new keys in force for one direction: for OUT behind everything queued so far. reset_seq: strict KEX. */
int packet_set_keys(struct packet *p, enum packet_dir dir, const struct packet_suite *s, const struct packet_keys *k,
	bool reset_seq) MUST_USE;
/* From the next packet on, and in all later keyings, wherever the suite has compression. Each keying begins a new stream.
 * level: 1..9; 0: follows the line and the data. */
void packet_start_compression(struct packet *p, enum packet_dir dir, int level);
/* What has passed with compression, and what it did. */
struct packet_packed { uint64_t in, out; };              /* payloads before and behind packing, or behind and before opening */
struct packet_packed packet_packed(const struct packet *p, enum packet_dir dir);
/* The controller of the level; NULL: the level is fixed, or nothing is compressed. */
struct compress_auto *packet_compress_auto(const struct packet *p);
void packet_set_length_max(struct packet *p, uint32_t max);

const struct packet_suite *packet_suite(const struct packet *p, enum packet_dir dir);
struct packet_counters packet_counters(const struct packet *p, enum packet_dir dir);
uint32_t packet_seq(const struct packet *p, enum packet_dir dir);        /* of the next packet */
uint64_t packet_total_bytes(const struct packet *p, enum packet_dir dir); /* for the whole connection */

/* Several threads for bulk data: up to `helpers` beside the caller's (crypto/workers.h), in each direction while measuring shows
 * that they pay (pace.h); PACKET_SHARE_ALWAYS without measuring, for tests. Nothing of it shows: every call here ends with
 * its packets sealed or opened, and bytes leave in the order of the calls. Keys that were set before stay with one
 * thread, so this comes first. */
enum packet_share { PACKET_SHARE_MEASURED, PACKET_SHARE_ALWAYS };
void packet_use_helpers(struct packet *p, unsigned helpers, enum packet_share how);
/* Whether packets behind the next one may be opened with it. Only where no NEWKEYS can be among them (RFC 4253 §7.3): while no
 * key exchange runs, as the peer's NEWKEYS answers our part of one. */
void packet_allow_ahead(struct packet *p, bool allow);
/* Joins the threads, before a fork without exec; they come back by themselves. */
void packet_stop_helpers(struct packet *p);

/* Gives memory back after bulk transfers, when nothing much has moved since the last call. True while there is more to
 * give back: call again in a few seconds. */
bool packet_trim(struct packet *p);
bool packet_has_spare(const struct packet *p);           /* there is memory that packet_trim could give back */
/* Nothing will move for a while: empty buffers are freed altogether. Views of the last message end. */
void packet_rest(struct packet *p);

/* Hand-off between processes (docs/OVERVIEW.md): keys, IV and counters of both directions and unread input. Only with an empty
 * output slab, while no compressed packet has passed, and only if keys are kept, which must be asked for at the
 * start; keys are forgotten when they are exported, and at every keying without this. */
void packet_keep_keys(struct packet *p, bool keep);
int packet_export(struct packet *p, struct buf *out) MUST_USE;
int packet_import(struct packet *p, struct reader *r) MUST_USE;

#endif
