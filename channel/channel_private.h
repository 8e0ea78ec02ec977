/* channel/channel_private.h: what the files of the channel layer share. Not for other layers. */
#ifndef CHANNEL_CHANNEL_PRIVATE_H
#define CHANNEL_CHANNEL_PRIVATE_H

#include "channel/channel.h"
#include "channel/window.h"

/* Bytes that wait: of the peer's for a slow sink, or of ours for the window. A list of chunks, so that nothing is moved and
 * memory follows what waits. */
struct byte_chunk;
struct byte_queue { struct byte_chunk *first, *last, *spare; size_t size; };
void byte_queue_add(struct byte_queue *q, const void *p, size_t n);
/* The first bytes that lie in one piece: how many, 0 when nothing waits. */
size_t byte_queue_run(const struct byte_queue *q, const uint8_t **p);
void byte_queue_take(struct byte_queue *q, void *dst, size_t n);         /* copies out and drops; n <= size */
void byte_queue_drop(struct byte_queue *q, size_t n);                    /* n <= size */
void byte_queue_free(struct byte_queue *q);

struct reply_wait {      /* somebody waits for SUCCESS or FAILURE */
	struct reply_wait *next;
	void (*channel_reply)(void *ctx, struct channel *c, bool ok);
	void (*global_reply)(void *ctx, bool ok, struct reader *body);
	void *ctx;
};
struct reply_queue { struct reply_wait *first, **last; };

struct early_request {   /* made before the open was confirmed */
	struct early_request *next;
	char *name;
	struct buf body;
	bool has_body;
	void (*reply)(void *ctx, struct channel *c, bool ok);
	void *ctx;
};

/* What may leave before the confirmation, as far as is known what that will say: its number, and its window too. */
enum channel_ahead { AHEAD_NOTHING, AHEAD_REQUESTS, AHEAD_ALL };

enum channel_state { CHANNEL_OPENING, CHANNEL_OPEN, CHANNEL_DEAD };

struct pump;

struct channel {
	struct link link;                /* first: the link is the channel */
	struct channels *cs;
	uint32_t id, remote_id;
	size_t slot;                     /* in channels.v: its id, unless another has that since */
	enum channel_ahead ahead;        /* while it is opening */
	bool first;                      /* of this connection */
	enum channel_state state;
	struct channel_user user;
	bool interactive;
	bool session;                    /* its type; some requests go to sessions only */

	/* sending */
	uint64_t remote_left;            /* of the peer's window */
	uint32_t remote_max_packet;
	struct byte_queue out, err_out;  /* staged text */
	bool want_eof, sent_eof, want_close, sent_close, got_close;
	bool hold_close;                 /* the peer's CLOSE waits for ours */
	bool lent_extended;              /* what write_head shall write */
	bool blocked;                    /* a lend came out short: wants the next pull */
	bool ready;                      /* in a run queue */
	struct channel *run_next;

	/* receiving */
	struct window window;
	bool window_open;                /* attached: grants may go out */
	bool grant_late;                 /* one is due after the exchange */
	struct byte_queue in, err_in;
	struct view now;                 /* of the message being dispatched; behind what is in `in` */
	bool got_eof;

	bool has_link, link_told_end;
	int link_stderr;
	struct pump *pump;

	struct reply_queue replies;
	struct early_request *early, **early_last;
	uint64_t moved_ms;
};

struct run_queue { struct channel *first, **last; };

struct channels {
	struct carrier *carrier;
	struct transport *transport;
	struct loop *loop;
	struct channels_options opt;
	struct channel **v;              /* by slot; NULL: free */
	size_t room, count;
	struct run_queue interactive, bulk;
	struct reply_queue replies;
	uint64_t growth_left;
	uint64_t moved_ms;
	uint64_t typed_ms;               /* when an interactive channel last moved; 0: none did */
	bool ended, in_pull;
	bool begun;                      /* something was opened or asked that could take a number at the peer */
	uint8_t refused[CHANNEL_ECHO_NUMBERS / 8];       /* numbers whose last open was refused: the peer may not know */
};

/* channel.c */
struct channel *channel_make(struct channels *cs);
/* Under the number that the peer chose. NULL: no room; *taken: an open channel has that number. */
struct channel *channel_make_as(struct channels *cs, uint32_t id, bool *taken);
bool channel_may_ask(const struct channel *c);   /* requests: open, or ahead with them */
bool channel_may_send(const struct channel *c);  /* data: open, or ahead with all */
void channel_maybe_free(struct channel *c);      /* when nothing is left to do */
void channel_discard(struct channel *c);         /* one that never opened */
void channel_refused(struct channel *c, uint32_t reason, const char *text);
void channel_tell_first(struct channel *c, enum channel_first what);
struct channel *channels_find(struct channels *cs, uint32_t id);
void channel_moved(struct channel *c);
void channel_open_window(struct channel *c);
void channel_grant(struct channel *c);
void channel_consumed(struct channel *c, size_t n);
void channel_advance_close(struct channel *c);   /* EOF and CLOSE when their time has come */
int channel_fail(struct channels *cs, const char *fmt, ...) PRINTF_LIKE(2, 3);
int channel_send(struct channel *c, uint8_t type, const struct buf *rest);

/* channel_msg.c */
int channels_message(void *ctx, const struct message *m);

/* channel_request.c */
void reply_queue_add(struct reply_queue *q, const struct reply_wait *w);
bool reply_queue_take(struct reply_queue *q, struct reply_wait *out);
void channel_flush_early(struct channel *c);
void channel_drop_requests(struct channel *c);
int channels_take_request(struct channels *cs, struct channel *c, struct reader *r);
int channels_take_reply(struct channel *c, bool ok);
int channels_take_global_request(struct channels *cs, struct reader *r);
int channels_take_global_reply(struct channels *cs, bool ok, struct reader *r);
void channels_drop_global(struct channels *cs);

/* channel_send.c */
void channels_pull(void *ctx);
void channel_run(struct channel *c);             /* it has something to send */
size_t channel_lend_bytes(struct channel *c, bool extended, size_t want, struct iovec *iov, int *count);
int channel_commit_bytes(struct channel *c, size_t n);
size_t channel_send_room(struct channel *c);

/* channel_link.c */
extern const struct link_ops channel_link_ops;
void channel_link_input(struct channel *c);
void channel_link_closed(struct channel *c);

/* channel_pump.c */
size_t pump_take(struct channel *c, bool extended, const uint8_t *p, size_t n);  /* bytes that the sink took */
void pump_produce(struct channel *c);            /* read sources into the connection */
bool pump_has_source(const struct channel *c);   /* one is readable now */
bool pump_sources_done(const struct channel *c);
bool pump_sink_busy(const struct channel *c);    /* it still has bytes of the peer to write */
void pump_peer_eof(struct channel *c);
void pump_stop_source(struct channel *c);
void pump_free(struct channel *c);

#endif
