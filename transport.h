/* transport.h: RFC 4253 as a machine without sockets: version exchange, key exchange, re-keying, ext-info, strict KEX.
 * Bytes in, messages of the layers above out, and the reverse. One struct a connection; whoever made it frees it. */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include "base/err.h"
#include "keys/key.h"
#include "packet.h"
#include "proposal.h"
#include "wire/buf.h"
#include "wire/reader.h"

/* RFC 4250 §4.1.2, and messages.h holds all numbers. */
#include "wire/messages.h"

/* Who the peer is, by its software version. */
enum peer_kind { PEER_OTHER, PEER_WIRESPEED, PEER_OPENSSH, PEER_HPN };

struct kex_group_size;

struct transport_callbacks {
	void *ctx;
	/* Client: is this the host's key? May ask the user and block. 0 yes. Its signature is verified already. Called in the
	 * first exchange only: in later ones the blob must be the same as then. */
	int (*check_host_key)(void *ctx, struct key *k, struct view blob, struct err *e);
	/* Server: signature over the exchange hash by the host key that fits alg; appended as a signature blob. May block on
	 * the monitor. */
	int (*sign_hash)(void *ctx, const struct sig_alg *alg, struct view key_blob, struct view hash, struct buf *out,
		struct err *e);
	/* Server: public blob of the host key for alg; borrowed until the exchange is over. In later exchanges it must be that
	 * of the first. */
	int (*host_key_for)(void *ctx, const struct sig_alg *alg, struct view *blob);
	/* An exchange has finished and its keys are in force in both directions; agreement and transport_* getters tell. */
	void (*keys_changed)(void *ctx);
	/* Our first NEWKEYS is queued: the session id is known, the host key accepted, and what is sent now leaves together
	 * with it (docs/PROTOCOL.md). keys_changed and the peer's EXT_INFO come later. May be NULL. */
	void (*session_begun)(void *ctx);
	/* EXT_INFO name and value of the peer; may be NULL. */
	void (*ext_info)(void *ctx, struct view name, struct view value);
	/* DEBUG message with always_display (already escaped). May be NULL. */
	void (*peer_debug)(void *ctx, const char *text);
	/* Server, group exchange: see struct kex_input; NULL: the built-in groups. */
	int (*choose_group)(void *ctx, const struct kex_group_size *size, struct buf *p, struct buf *g, struct err *e);
	void *group_ctx;
};

struct transport_options {
	bool server;
	const char *software;            /* "Wirespeed_0.1.0", and an addendum after a blank; copied */
	/* Without pseudo-algorithms: transport adds ext-info, strict and kexguess2 markers. guess_follows (client): the first
	 * message of its first method leaves with KEXINIT. Copied. */
	struct proposal proposal;
	uint64_t rekey_bytes;            /* RekeyLimit; 0: only the cipher's own limit (RFC 4344 §3) */
	uint32_t rekey_seconds;          /* 0: never by time */
	int compress_level;              /* of what is sent: 1..9; 0: adapts */
	const char *server_sig_algs;     /* server: for EXT_INFO; copied; NULL: none sent */
	/* Further entries for our EXT_INFO, comma separated: NAME, whose value is then "0", such as
	 * publickey-hostbound@openssh.com, or NAME=VALUE; copied; may be NULL. Names that end in @wirespeed go to our own kind
	 * only. ping@openssh.com (server) and ext-info-in-auth@openssh.com (client) are there without. */
	const char *ext_names;
	/* Threads beside the caller's that may seal and open bulk data while that pays; 0: none, ever. */
	unsigned helpers;
	bool nothing_early;              /* client: KEXINIT waits for the server's version line */
	/* For tests: a peer as it was before these were known. */
	bool omit_strict, omit_ext_info;
	struct transport_callbacks cb;
};

struct transport;
struct transport *transport_new(const struct transport_options *o, struct err *e);
void transport_free(struct transport *t);
const struct err *transport_err(const struct transport *t);
/* Queues the version line and, so as not to wait, a client's KEXINIT behind it. A server's follows as soon as the
 * client's line has come, so that whoever speaks no SSH gets a readable answer; the client's is on its way by then. */
int transport_start(struct transport *t) MUST_USE;

/* ---- bytes ---- */
int transport_in_space(struct transport *t, uint8_t **at, size_t *room) MUST_USE;
void transport_in_added(struct transport *t, size_t n);
/* 1: a message for the layer above: SERVICE_REQUEST and SERVICE_ACCEPT, and everything from 50 on. 0: more bytes needed.
 * Negative: the connection is over; a DISCONNECT for the peer may be queued (flush what transport_out_view shows, then
 * close). ERR_CLOSED: the peer sent DISCONNECT (transport_disconnect_* tell). While transport_peer_software is still
 * empty, an error is one of the version exchange ("banner exchange: ..." in logs). Key exchange, IGNORE, DEBUG,
 * UNIMPLEMENTED, EXT_INFO and PING are handled inside. */
int transport_next(struct transport *t, struct message *m) MUST_USE;
int transport_out_view(struct transport *t, struct iovec *iov, int iov_max);
void transport_out_sent(struct transport *t, size_t n);
size_t transport_out_pending(const struct transport *t);
/* Called now and then and when a timer is due: starts a re-key by time, gives up a re-exchange that has not finished 60 s
 * after our part of it left (the first exchange has the time limits of logging in), gives memory back. Views of the
 * last message end. now_ms is clock_mono_ms. *next_ms: when to call again (UINT64_MAX never). */
int transport_tick(struct transport *t, uint64_t now_ms, uint64_t *next_ms) MUST_USE;

/* The connection has come to rest: empty buffers are freed until they are needed again. Views of the last
 * message end. */
void transport_rest(struct transport *t);

/* Ends the threads of `helpers` until they are needed again. To be called before every fork that no exec follows. */
void transport_stop_helpers(struct transport *t);

/* ---- messages ---- */
/* One control message (body NULL: nothing behind the type): sealed at once, or queued while a key exchange runs (at most
 * 256 KiB; more is an error). ERR_USAGE without harm to the connection: longer than an HPN peer can take (33,792),
 * which was logged. */
int transport_send(struct transport *t, uint8_t type, const struct buf *body) MUST_USE;
/* The same, padded to a multiple of 64 bytes: for passwords and answers, whose length tells something. */
int transport_send_padded(struct transport *t, uint8_t type, const struct buf *body) MUST_USE;
/* Server: EXT_INFO with server-sig-algs again, during authentication; nothing if the client did not ask for it. */
int transport_send_sig_algs(struct transport *t, const char *algs) MUST_USE;
/* Bulk data: see packet.h. transport_lend lends nothing (0) while an exchange runs. */
int transport_lend(struct transport *t, const struct packet_bulk *b, size_t body_max, size_t want, struct iovec *iov,
	int iov_max) MUST_USE;
int transport_commit(struct transport *t, size_t used) MUST_USE;
/* True while nothing but key exchange may be sent: pull nothing. */
bool transport_exchanging(const struct transport *t);
/* Messages sent by the layer above that the peer's side of an unknown type: UNIMPLEMENTED for m. */
int transport_unimplemented(struct transport *t, const struct message *m) MUST_USE;
/* Queues DISCONNECT (RFC 4253 §11.1); nothing else is sent afterwards. */
void transport_disconnect(struct transport *t, uint32_t reason, const char *text);
uint32_t transport_disconnect_reason(const struct transport *t);         /* of the peer's DISCONNECT */
const char *transport_disconnect_text(const struct transport *t);        /* escaped for logs; "" if none */

/* ---- the line, for compression that adapts ---- */
/* drained: bytes that the line has taken so far, as far as the system tells; unsent and inflight: waiting in the system; rate: the
 * system's own measure, bytes a second; queue_us: how long bytes wait on the way. 0 where unknown. */
struct transport_line { uint64_t drained, unsent, inflight, rate, queue_us, now_us; };
void transport_line_told(struct transport *t, const struct transport_line *l);
/* When it wants to be told, while bytes move (clock_mono_us); UINT64_MAX: never. */
uint64_t transport_line_due(const struct transport *t);
/* How much output may wait in this process: little before anything is known of the line. SIZE_MAX: as much as you like. */
size_t transport_out_max(const struct transport *t);
/* Bytes of messages that become about 16 on the line. */
size_t transport_swell(const struct transport *t);
/* What compression did, into the log at verbose; nothing if there was none. */
void transport_log_compression(const struct transport *t);

/* ---- state ---- */
/* USERAUTH_SUCCESS was sent (server) or received (client): delayed compression starts, re-keying is allowed. Server: call
 * right after queueing SUCCESS. */
void transport_set_authenticated(struct transport *t);
bool transport_authenticated(const struct transport *t);
/* Begins an exchange; if one runs for which our KEXINIT has gone already, another one follows it. Only after
 * authentication. */
int transport_rekey(struct transport *t) MUST_USE;
/* Lists for later exchanges, such as none (SECURITY.md). Copied. */
void transport_set_proposal(struct transport *t, const struct proposal *p);
const struct proposal *transport_proposal(const struct transport *t);
const struct proposal *transport_peer_proposal(const struct transport *t);       /* of the first KEXINIT */
const struct agreement *transport_agreement(const struct transport *t);          /* of the last exchange */
unsigned transport_exchange_count(const struct transport *t);
struct view transport_session_id(const struct transport *t);
struct view transport_host_key_blob(const struct transport *t);          /* of the first exchange */
/* The server's signature over the first exchange hash (for the agent's session-bind). */
struct view transport_host_key_signature(const struct transport *t);
/* The error is that no common algorithm was found ("Unable to negotiate with ...: TEXT" in logs). */
bool transport_negotiation_failed(const struct transport *t);
const char *transport_peer_software(const struct transport *t);          /* "OpenSSH_9.2p1 Debian-2", "" before */
enum peer_kind transport_peer_kind(const struct transport *t);
bool transport_peer_silent(const struct transport *t);                   /* not a byte has come from it */
/* Peer's server-sig-algs, or NULL; whether it listed ext, e.g. "ping@openssh.com". */
const char *transport_server_sig_algs(const struct transport *t);
bool transport_peer_ext(const struct transport *t, const char *name);
/* The value that a peer of our own kind gave to name, which ends in @wirespeed; NULL: none. */
const char *transport_peer_ext_value(const struct transport *t, const char *name);
bool transport_cipher_none(const struct transport *t);                   /* either direction in clear */
bool transport_mac_none(const struct transport *t);
/* Largest CHANNEL_DATA payload wanted towards this peer: 32,768, or up to 255 KiB between our own ends. */
size_t transport_data_max(const struct transport *t);
uint64_t transport_bytes(const struct transport *t, enum packet_dir dir);

/* ---- hand-off (docs/OVERVIEW.md) ---- */
/* Everything a new process needs to go on, into out (wiped by its owner). Server only, once; not during an exchange, output
 * flushed. The keys are forgotten here. Room for 2 MiB suffices: unread input and lists of the peer's. */
int transport_export(struct transport *t, struct buf *out) MUST_USE;
/* The other side: options as for transport_new; then the blob. */
struct transport *transport_import(const struct transport_options *o, struct reader *r, struct err *e);

#endif
