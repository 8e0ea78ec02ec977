/* channel/channel.h: the connection protocol (RFC 4254): channels, their windows, requests, global requests.
 *
 * One struct channels a connection. A channel's bytes go to and come from one of: a link (engines: SFTP, scp, forwards),
 * or descriptors through a pump (commands, shells, stdin and stdout). */
#ifndef CHANNEL_CHANNEL_H
#define CHANNEL_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "channel/carrier.h"
#include "io/link.h"
#include "wire/buf.h"
#include "wire/reader.h"

struct channels;
struct channel;

/* What the owner of one channel is told. All may be NULL. */
struct channel_user {
	void *ctx;
	void (*opened)(void *ctx, struct channel *c, struct reader *extra);      /* our open was confirmed */
	void (*open_failed)(void *ctx, struct channel *c, uint32_t reason, const char *text); /* then it is freed */
	/* A request of the peer. The return value is the reply, which is sent if one was wanted. */
	bool (*request)(void *ctx, struct channel *c, struct view name, struct reader *body, bool want_reply);
	void (*eof)(void *ctx, struct channel *c);       /* the peer sends no more; what it sent may still be queued */
	/* The descriptors of a pump: source and error source have ended and all was sent; the sink has taken everything after
	 * EOF and was closed, or broke. */
	void (*sources_ended)(void *ctx, struct channel *c);
	void (*sink_ended)(void *ctx, struct channel *c);        /* channel_sink_error tells which */
	void (*closed)(void *ctx, struct channel *c);    /* CLOSE went both ways (or the connection ended): freed afterwards */
};

/* What is said to a peer that opens a channel. */
struct channel_answer {
	struct channel_user user;        /* when it is accepted */
	char text[256];                  /* when it is refused */
};

/* What became of the first channel that a client opened on a connection, before anything else could get a number. */
enum channel_first {
	CHANNEL_FIRST_ZERO, CHANNEL_FIRST_OTHER,         /* the number that the server gave it */
	/* Requests had left with the open (channels_options.first_is_zero), and it was refused: a server that knows no such
	 * channel ends the connection next. Or the connection ended before any answer. */
	CHANNEL_FIRST_REFUSED, CHANNEL_FIRST_LOST
};

struct channels_user {
	void *ctx;
	/* The peer opens a channel. Accept: set answer->user (and attach link or pump now or later) and return 0. Refuse: return
	 * an OPEN_* reason and fill answer->text. window and max packet of the peer are known to the channel already. */
	uint32_t (*open)(void *ctx, struct channel *c, struct view type, struct reader *extra,
		struct channel_answer *answer);
	/* A global request; true and reply body for success. Unknown ones: false. */
	bool (*global_request)(void *ctx, struct view name, struct reader *body, bool want_reply, struct buf *reply);
	void (*first)(void *ctx, enum channel_first what);       /* once, or never */
	/* The last channel has gone. */
	void (*all_closed)(void *ctx);
	/* The connection is over (carrier_err); all channels have been told or will be in this turn. */
	void (*ended)(void *ctx);
};

/* channel-echo@wirespeed, between our own ends (docs/PROTOCOL.md): the server gives a session channel the number that the
 * client gave it, and has said in EXT_INFO what its first window is, so that the client's requests and data leave with
 * the open. */
#define CHANNEL_ECHO "channel-echo@wirespeed"
enum {
	CHANNEL_ECHO_NUMBERS = 256,      /* numbers below are kept; others the server gives away itself */
	CHANNEL_ECHO_PACKET = 32 * 1024, /* largest packet before the confirmation says what the server takes */
	CHANNEL_ECHO_WINDOW = 2 * 1024 * 1024    /* first window that our server states */
};

struct channels_options {
	bool server;
	/* First window under channel-echo@wirespeed; 0: it is not in force. At the server what it stated, at the client what was
	 * read in EXT_INFO. */
	uint32_t echo_window;
	/* Client: the server is known to give the first channel the number 0, so that requests leave with its open if it is a
	 * session. Another number ends the connection: requests are never sent twice. */
	bool first_is_zero;
	uint32_t window_cap;             /* 0: by peer kind (WINDOW_CAP, or WINDOW_CAP_STOCK towards OpenSSH) */
	bool window_fixed;               /* HPNDisabled or TcpRcvBufPoll no */
	uint32_t window_initial;         /* 0: WINDOW_DEFAULT */
	struct channels_user user;
};

/* Takes over the messages of the carrier from here on (types 80 to 100). carrier is borrowed. */
struct channels *channels_new(struct carrier *carrier, const struct channels_options *o, struct err *e);
void channels_free(struct channels *cs);
/* Ends the connection protocol: every channel is told and freed in this turn. Called by itself when the carrier ends. */
void channels_end(struct channels *cs);
size_t channels_count(const struct channels *cs);

/* Opens a channel of `type`; extra is appended to the open message (may be NULL). interactive: window and packet halved
 * for ttys and scheduled first. */
struct channel *channel_open(struct channels *cs, const char *type, const struct buf *extra, bool interactive,
	const struct channel_user *u, struct err *e);
void channel_set_interactive(struct channel *c, bool on);
uint32_t channel_id(const struct channel *c);            /* ours */
/* Our open is not confirmed yet, but requests and data leave already (channel-echo@wirespeed): sources may be attached. What
 * was sent is lost if the open is refused. */
bool channel_is_ahead(const struct channel *c);
/* The value of channel-echo@wirespeed as the window it states; 0: none that can be used. */
uint32_t channel_echo_window(const char *value);

/* Sends a request. reply, if not NULL, is called with the answer (want_reply is then set); replies come in order. Requests
 * may be sent before the open is confirmed: they wait for it, unless the number that it will state is known. */
int channel_request(struct channel *c, const char *name, const struct buf *body,
	void (*reply)(void *ctx, struct channel *c, bool ok), void *ctx) MUST_USE;
/* Same, for the connection; reply body is good until the callback returns. */
int channels_global_request(struct channels *cs, const char *name, const struct buf *body,
	void (*reply)(void *ctx, bool ok, struct reader *body), void *ctx) MUST_USE;

/* The channel as a byte link (data only; extended data is written to stderr_fd if that is >= 0, with control characters made
 * visible if that is a terminal, and dropped otherwise). The link lives as long as the channel. */
struct link *channel_link(struct channel *c, int stderr_fd);

/* Descriptors. -1: none. All that are given are made non-blocking (unless ttys or /dev/null), watched, and closed when done
 * with, if own is set. filter, if not NULL, sees what was read from source before it is sent (escapes): writes to out at
 * most 2*n+16 bytes and returns how many. */
struct channel_pump {
	int source, sink;                /* our end -> peer; peer -> our end */
	int err_source, err_sink;        /* extended data, type 1 */
	bool own;
	size_t (*filter)(void *ctx, const uint8_t *in, size_t n, uint8_t *out);
	void *filter_ctx;
};
int channel_attach(struct channel *c, const struct channel_pump *p, struct err *e) MUST_USE;
/* Server: the pump's child was not started yet: window 0 until attach, as with OpenSSH. */

/* After queued output: EOF; then CLOSE. channel_close is what ends a channel: exit-status must have been sent before. */
void channel_send_eof(struct channel *c);
void channel_close(struct channel *c);
/* While it is on, a CLOSE of the peer is answered only after channel_close: exit-status has yet to come (PuTTY closes as soon as
 * EOF went both ways). The sources end with that CLOSE without a word; what had come before still reaches the sink. */
void channel_hold_close(struct channel *c, bool on);
/* Stop reading the source although it has not ended (a tty session whose shell is gone). What was read is sent. */
void channel_stop_source(struct channel *c);
bool channel_sources_done(const struct channel *c);
/* errno of the write that broke the pump's sink (not the extended one's); 0: it took everything so far. */
int channel_sink_error(const struct channel *c);
bool channel_is_open(const struct channel *c);
/* Text injected as if it came from the source, or as extended data type 1 (motd, "Permission denied" texts). */
void channel_write(struct channel *c, const void *p, size_t n);
void channel_write_stderr(struct channel *c, const void *p, size_t n);
/* Seconds since data moved on it, for timeouts. */
uint64_t channel_idle_ms(const struct channel *c);
uint64_t channels_idle_ms(const struct channels *cs);

#endif
