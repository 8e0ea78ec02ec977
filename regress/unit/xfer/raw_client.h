/* regress/unit/xfer/raw_client.h: the server engine in one process with a test that speaks to it byte by byte. */
#ifndef TEST_RAW_CLIENT_H
#define TEST_RAW_CLIENT_H

#include <stdbool.h>
#include "wire/buf.h"
#include "wire/reader.h"
#include "xfer/sftp_proto.h"
#include "xfer/sftp_server.h"

struct raw {
	struct loop *loop;
	struct link *here, *there;
	struct worker *worker;
	struct sftp_server *server;
	struct buf got;                  /* received and not taken yet */
	int status;                      /* of the server; -1: it serves */
	uint32_t id;                     /* of the last request */
	bool deaf;                       /* do not read replies */
	char dir[64];                    /* the start folder, private */
};

/* o may be NULL. limit: bytes in flight each way. slow: through a helper thread. */
void raw_start(struct raw *c, const struct sftp_server_options *o, size_t limit, bool slow);
void raw_stop(struct raw *c);            /* and removes the folder */
void raw_hello(struct raw *c, uint32_t version);

/* A message of `type` with a new id (in c->id); fields are put between begin and send. */
size_t raw_begin(struct raw *c, struct buf *b, uint8_t type);
void raw_send(struct raw *c, struct buf *b, size_t mark);
void raw_send_bytes(struct raw *c, const void *p, size_t n);
void raw_end_input(struct raw *c);
/* Turns until a whole reply is there; its id must be c->id. The body (behind the id) is copied into *b and read by r. */
uint8_t raw_reply(struct raw *c, struct buf *b, struct reader *r);
uint8_t raw_reply_any(struct raw *c, struct buf *b, struct reader *r, uint32_t *id);
uint32_t raw_status(struct raw *c);      /* the reply must be a STATUS */
void raw_turns(struct raw *c, int n);
int raw_wait_end(struct raw *c);         /* the server's exit status */

/* Whole requests. */
uint32_t raw_open(struct raw *c, const char *path, uint32_t pflags, int mode, uint8_t handle[4]);
uint32_t raw_path(struct raw *c, uint8_t type, const char *path);
uint32_t raw_handle(struct raw *c, uint8_t type, const uint8_t handle[4]);
uint32_t raw_two(struct raw *c, uint8_t type, const char *a, const char *b);
uint32_t raw_write(struct raw *c, const uint8_t handle[4], uint64_t offset, const void *p, size_t n);
void raw_ask_read(struct raw *c, const uint8_t handle[4], uint64_t offset, uint32_t n);
char *raw_in_dir(struct raw *c, const char *name);       /* static */

#endif
