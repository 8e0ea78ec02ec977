/* packet_private.h: what the files of the packet layer share: packet.c, packet_in.c, packet_out.c, packet_handoff.c. */
#ifndef PACKET_PRIVATE_H
#define PACKET_PRIVATE_H

#include "compress.h"
#include "compress_auto.h"
#include "pace.h"
#include "packet.h"

/* Packets that are sealed or opened by one call. */
enum { PACKET_BATCH = 32, PACKET_SHARE_LEAST = 64 * 1024 };

/* Keys of a direction, retained for hand-off only. */
struct packet_kept {
	uint8_t *iv, *key, *mac_key;     /* NULL: none */
};

struct packet_side {
	struct packet_suite suite;
	struct seal *seal;
	uint32_t seq;
	struct packet_counters count;
	uint64_t total;
	bool compress;                   /* packet_start_compression was called */
	struct packet_kept kept;
	struct pace pace;                /* of sealing or opening by several threads */
};

/* Linear memory for output. Pending bytes lie in [head, tail), or, when tail has gone round, in [head, wrap) and [0, tail)
 * with tail < head. What is being built lies at tail. */
struct packet_slab {
	uint8_t *mem;
	size_t room, head, tail, wrap;
	bool wrapped;
};

/* How a payload gets into its packet. */
enum packet_form {
	PACKET_FORM_PLAIN,
	PACKET_FORM_RAW,                 /* in its place, behind a head */
	PACKET_FORM_PACKED               /* through the stage */
};

/* Compression of what is sent (packet_pack.c). */
struct packet_pack {
	struct deflater *deflater;
	int level;                       /* 0: adapts */
	struct compress_auto *control;   /* NULL: the level is fixed */
	const struct compress_alg *alg;  /* what it judges by, also while there is no compression */
	enum packet_form form;           /* of what is open or lent */
	uint8_t *stage;                  /* payloads before compression */
	size_t stage_room;
	double ns_byte;                  /* what packing took lately */
	struct packet_packed count;
};

struct packet {
	struct err err, in_err;          /* a broken packet of the peer's stops input only: there may be words to say */
	struct packet_side side[2];
	uint32_t length_max;
	bool keep_keys;

	/* Input: unread bytes in [in_pos, in_end). */
	uint8_t *in;
	size_t in_room, in_pos, in_end, in_offered;
	bool in_filled;                  /* the last read took all the room: more would help */
	bool peeked;                     /* the length of the packet at in_pos is known, part of it may be opened */
	uint32_t length;
	bool discarding;
	size_t discard_left, discard_done;
	/* Packets from in_pos on that are open already: those in [ahead_next, ahead_count). */
	struct seal_item *ahead;         /* PACKET_BATCH; NULL: never used */
	size_t ahead_next, ahead_count;
	bool ahead_allowed;
	struct inflater *inflater;
	struct buf inflated;
	struct packet_packed opened;

	/* Output. */
	struct packet_slab out;
	size_t open_room;                /* a message is being built with this much room behind its type */
	bool open;
	size_t pad_to;
	struct packet_bulk bulk;         /* messages are lent */
	size_t lent_body, lent_stride, lent_want;
	int lent;
	struct packet_pack pack;

	struct workers *workers;         /* NULL: the caller's thread only */
	enum packet_share share;
	size_t last_in, last_out;        /* bytes of the last read, the last commit: whether this is bulk */
	uint64_t trim_total;             /* bytes of both directions at the last packet_trim */
};

/* Puts keys into a side: everything but retaining them. Takes nothing over. */
int packet_side_key(struct packet *p, enum packet_dir dir, const struct packet_suite *suite, const struct packet_keys *k)
	MUST_USE;
void packet_forget_keys(struct packet_side *s);
void packet_keep(struct packet_side *s, const struct packet_keys *k);
void packet_count(struct packet_side *s, size_t length);
/* The keys have sealed as many packets as sequence numbers last. */
bool packet_side_used_up(const struct packet_side *s);
/* The work of this direction goes to several threads now. */
bool packet_shares(const struct packet *p, enum packet_dir dir);
/* n bytes were sealed or opened. */
void packet_keep_pace(struct packet *p, enum packet_dir dir, size_t n);
bool packet_in_has_spare(const struct packet *p);
bool packet_out_has_spare(const struct packet *p);
bool packet_in_trim(struct packet *p);           /* true: not now */
bool packet_out_trim(struct packet *p);
bool packet_in_drop(struct packet *p);           /* frees the buffer; false: it is in use */
bool packet_out_drop(struct packet *p);
/* Bytes into the input as if they had been received. */
int packet_in_put(struct packet *p, struct view bytes) MUST_USE;


/* Decides the form of the messages that are begun now, of payloads of this size, and puts the stream into a state for it. Sets
 * p->pack.form. Negative: no memory, or no room. */
int packet_pack_begin(struct packet *p, size_t payload) MUST_USE;
/* Bytes between SEAL_HEAD and a raw payload; most that a payload can become behind SEAL_HEAD. */
size_t packet_pack_head(const struct packet *p);
size_t packet_pack_bound(const struct packet *p, size_t payload);
size_t packet_pack_payload_max(const struct packet *p);          /* of what is lent */
size_t packet_pack_want(const struct packet *p, size_t want);    /* no more than this shall be lent */
/* Room for n bytes of payloads that are not packed yet. */
uint8_t *packet_stage_reserve(struct packet *p, size_t n);
size_t packet_stage_max(const struct packet *p);
/* Writes the head of a raw payload of n bytes that lies behind it in `at`, and looks at it. Returns the size of both. */
size_t packet_pack_raw(struct packet *p, uint8_t *at, size_t n);
/* Packs a payload to `at`, which has packet_pack_bound bytes; what does not shrink is copied. */
int packet_pack_run(struct packet *p, struct view payload, uint8_t *at, size_t *n) MUST_USE;
/* A payload that left as it is, for whoever wants to know whether packing would pay again. */
void packet_pack_watch(struct packet *p, const uint8_t *payload, size_t n);
/* The suite of what is sent has changed. */
void packet_pack_new_keys(struct packet *p);
bool packet_pack_has_spare(const struct packet *p);
void packet_pack_trim(struct packet *p);
void packet_pack_free(struct packet *p);

/* n bytes in one piece at the slab's tail; NULL if that would be too much memory. */
uint8_t *packet_slab_reserve(struct packet *p, size_t n);
/* Seals what lies behind SEAL_HEAD bytes there. */
int packet_seal_tail(struct packet *p, size_t payload) MUST_USE;

#endif
