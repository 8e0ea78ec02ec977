/* server/monitor_wire.h: messages between the monitor and the two processes that serve the network: uint32 size of the body,
 * a type byte, the body. Over a socketpair, blocking. A header is read and judged before its body is. */
#ifndef SERVER_MONITOR_WIRE_H
#define SERVER_MONITOR_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "keys/key.h"
#include "wire/buf.h"
#include "wire/reader.h"

enum mon_type {
	/* from the unprivileged processes; what may come when stands in monitor_table.c */
	MON_LOG = 1,     /* uint8 level, string text: never answered */
	MON_END,         /* uint8 enum mon_end, uint32 code, string text: how the connection ended; never answered */
	MON_SIGN,        /* string algorithm, string key blob, string exchange hash -> MON_SIGNATURE */
	MON_AUTH,        /* string body of a USERAUTH_REQUEST -> MON_VERDICT or MON_PROMPT */
	MON_ANSWERS,     /* string body of an INFO_RESPONSE -> the same */
	MON_ABORT,       /* the peer dropped the conversation -> MON_VERDICT */
	MON_HANDOFF,     /* the state of the transport, unparsed: never answered, the last message */
	MON_PROVE,       /* bool RSA with SHA-256, strings: key blobs -> MON_PROOF */
	MON_PTY,         /* -> MON_PTY_GRANT, and two descriptors if it is granted */
	MON_PTY_DONE,    /* string name: never answered */

	/* from the monitor */
	MON_SETUP = 64,  /* what a new process needs to know */
	MON_BLOB,        /* what MON_HANDOFF brought */
	MON_SIGNATURE,   /* string signature */
	MON_VERDICT,     /* see struct mon_verdict in monitor_msg.h */
	MON_PROMPT,      /* string banner, string server-sig-algs, string body of an INFO_REQUEST */
	MON_PROOF,       /* bool ok, strings: signatures */
	MON_PTY_GRANT    /* bool ok, string name, uint64 time of last login, string host of it */
};

enum mon_end {
	MON_END_CLOSED,          /* the peer closed */
	MON_END_RESET,
	MON_END_DISCONNECT,      /* the peer's DISCONNECT: code and text */
	MON_END_NEGOTIATION,     /* "no matching ... found. Their offer: ..." */
	MON_END_BANNER,          /* the version line was wrong: text */
	MON_END_ERROR,           /* anything else: text */
	MON_END_COUNT
};

enum { MON_HEADER_SIZE = 5, MON_BODY_MAX = 16 * 1024 * 1024 };

/* Sends one message; body may be NULL. ERR_CLOSED when the other process is gone. */
int mon_send(int fd, uint8_t type, const struct buf *body, struct err *e) MUST_USE;
/* Waits for a header. ERR_CLOSED at an orderly end. */
int mon_recv_head(int fd, uint8_t *type, uint32_t *size, struct err *e) MUST_USE;
/* The body of the header just read, into out (reset first, its limit counts). */
int mon_recv_body(int fd, uint32_t size, struct buf *out, struct err *e) MUST_USE;
/* Both, for who trusts the sender: the message must be of this type and at most max long. */
int mon_expect(int fd, uint8_t type, uint32_t max, struct buf *out, struct err *e) MUST_USE;
/* Request and answer. */
int mon_ask(int fd, uint8_t type, const struct buf *body, uint8_t answer_type, struct buf *answer, struct err *e) MUST_USE;
/* A signature over an exchange hash by the host key with that blob, appended to out. */
int mon_ask_signature(int fd, const struct sig_alg *alg, struct view key_blob, struct view hash, struct buf *out,
	struct err *e) MUST_USE;

#endif
