/* xfer/sftp_client_internal.h: what the files of the client engine share. Nobody else includes it. */
#ifndef XFER_SFTP_CLIENT_INTERNAL_H
#define XFER_SFTP_CLIENT_INTERNAL_H

#include "xfer/sftp_client.h"

struct client_request {
	bool used;
	uint8_t expect;                  /* type of a reply that is no STATUS; SFTP_STATUS if only that */
	uint32_t generation, next_free;
	uint32_t length;                 /* READ: asked for; WRITE: sent */
	uint64_t offset;
	sftp_reply_fn *fn;
	sftp_data_fn *data;
	void *ctx;
};

struct client_data {                     /* a DATA reply whose data is still coming */
	bool active;
	uint32_t index, left, total, behind;
};

struct sftp_client {
	struct loop *loop;
	struct link *link;
	struct sftp_client_events events;
	bool early, ready, dead, freeing, closed_told, flush_wanted, in_pump;
	struct err error;

	struct buf in;                   /* the message so far */
	struct client_data data;
	struct buf out;                  /* requests that the link had no room for, or that wait for the hello */
	size_t out_sent, out_free;       /* out_free: how far the queue may go out before the hello */

	unsigned extensions;             /* bits of enum sftp_extension */
	struct sftp_limits limits;
	struct client_request *request;
	uint32_t request_count, request_room, request_free;
	size_t outstanding;
};

/* sftp_client_request.c */
struct client_request *client_request_new(struct sftp_client *c, uint8_t expect, sftp_reply_fn *fn, void *ctx, uint32_t *id);
struct client_request *client_request_find(struct sftp_client *c, uint32_t id);
void client_request_release(struct sftp_client *c, struct client_request *q);
void client_ask_limits(struct sftp_client *c);

/* sftp_client.c */
bool client_flush(struct sftp_client *c);        /* true when nothing waits */
void client_flush_soon(struct sftp_client *c);
void client_answer_lost_soon(struct sftp_client *c);
void client_fail(struct sftp_client *c, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif
