/* transport_private.h: what the files of the transport share: transport.c (life, bytes, dispatch), transport_msg.c (what is
 * sent, what needs no state), transport_kex.c (exchanges), transport_ext.c (EXT_INFO), transport_handoff.c. */
#ifndef TRANSPORT_PRIVATE_H
#define TRANSPORT_PRIVATE_H

#include "base/str.h"
#include "ident.h"
#include "kex/kex.h"
#include "transport.h"

enum {
	TRANSPORT_QUEUE_MAX = 256 * 1024,
	TRANSPORT_KEY_MAX = 64,          /* bytes of the longest key or IV */
	TRANSPORT_BODY_MAX = PACKET_LENGTH_MAX
};

/* Keys of one direction between their making and their NEWKEYS. */
struct transport_keys {
	struct packet_suite suite;
	uint8_t iv[TRANSPORT_KEY_MAX], key[TRANSPORT_KEY_MAX], mac_key[TRANSPORT_KEY_MAX];
};

/* One exchange. It runs from the first KEXINIT of either side until NEWKEYS of both. */
struct transport_exchange {
	bool sent_kexinit, got_kexinit, sent_newkeys;
	bool skip_guess;                 /* the next packet is a wrong guess of the peer's */
	struct buf own_kexinit, peer_kexinit;    /* payloads with their type */
	struct proposal own, peer;
	struct agreement agreed;
	struct kex *kex;
	struct transport_keys in;
	uint64_t waiting_since_ms;       /* our KEXINIT has left; 0: not yet */
};

struct transport {
	struct transport_options opt;    /* its strings and lists are owned here */
	struct packet *packet;
	struct err err;
	bool ended;                      /* nothing is sent any more */
	bool negotiation_failed;

	char *own_version, *peer_version;        /* without CR LF; peer's NULL until it has come */
	struct ident_scan ident;
	enum peer_kind kind;
	bool heard;                      /* something has come from the peer */

	struct transport_exchange x;
	unsigned exchanges;              /* finished */
	bool rekey_again;
	uint64_t keyed_ms;
	struct proposal peer_first;
	struct agreement agreement;
	struct buf session_id, host_key_blob, host_key_signature;
	bool strict, authenticated;
	bool peer_takes_ext;             /* listed ext-info-c or ext-info-s */

	struct buf queue;                /* messages that wait: type, padded, string body */

	struct str_list ext;             /* names that the peer's EXT_INFO gave with value "0" */
	struct str_list ext_own;         /* NAME=VALUE of names that end in @wirespeed */
	char *peer_sig_algs;
	bool ext_first_seen, ext_second_seen, service_seen;

	uint32_t disconnect_reason;
	char *disconnect_text;
	uint64_t trim_ms;
	bool line_away;                  /* not all that left has been acknowledged */
	int line_level;                          /* of what is sent, as last logged */
	bool line_gated;
	bool without;                    /* what is sent shall go without compression: our lists say so */
	unsigned switches;
	const char *packed_by;           /* the method that it went with before */
};

/* Ends the connection: records the error, and queues DISCONNECT with text if reason is not 0. Returns code. */
int transport_fail(struct transport *t, int code, uint32_t reason, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* The same with an error that is recorded already, in t->err or in the packet layer's. */
int transport_fail_packet(struct transport *t);
int transport_fail_err(struct transport *t, uint32_t reason, const char *text);
/* Seals one message, whatever state the exchange is in. */
int transport_emit(struct transport *t, uint8_t type, struct view body, bool padded) MUST_USE;
/* The user is known: whatever the suites say about compression begins. */
void transport_start_compression(struct transport *t);
/* What is sent would be better off without compression, or with it again: a new exchange shall say so. */
bool transport_line_switches(struct transport *t);
void transport_tick_line(const struct transport *t, uint64_t now_ms, uint64_t *next_ms);
int transport_flush_queue(struct transport *t) MUST_USE;

/* 1: the message is for the layer above; 0: it was handled. */
int transport_handle(struct transport *t, const struct message *m) MUST_USE;

int transport_begin_exchange(struct transport *t) MUST_USE;
int transport_got_kexinit(struct transport *t, const struct message *m) MUST_USE;
int transport_got_kex(struct transport *t, const struct message *m) MUST_USE;
int transport_got_newkeys(struct transport *t, const struct message *m) MUST_USE;
/* Begins an exchange if the keys have been used enough. */
int transport_check_limits(struct transport *t) MUST_USE;
void transport_exchange_clear(struct transport_exchange *x);

int transport_send_ext(struct transport *t) MUST_USE;
int transport_got_ext(struct transport *t, const struct message *m) MUST_USE;

enum peer_kind transport_kind_of(const char *software);
/* Only names of the host key of the first exchange stay in the list. Allocated. */
char *transport_pinned_host_keys(const struct transport *t, const char *names);

static inline struct view transport_view(const struct buf *b) { return (struct view){ b->data, b->size }; }
static inline struct view transport_text(const char *s) { return (struct view){ (const uint8_t *)s, __builtin_strlen(s) }; }

#endif
