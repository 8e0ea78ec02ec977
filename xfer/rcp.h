/* xfer/rcp.h: the old scp protocol: records and replies over a byte link. Used by copy.c and the two
 * ends, rcp_source.c and rcp_sink.c. */
#ifndef XFER_RCP_H
#define XFER_RCP_H

#include "wire/buf.h"
#include "xfer/copy_internal.h"

enum { RCP_LINE_MAX = 16 * 1024 };

/* What both ends share. */
struct rcp {
	struct copy *copy;               /* options, job, words, meter */
	struct loop *loop;
	struct link *link;
	bool server;                     /* scp -t or -f: what goes wrong is told to the other side only */
	struct buf out;                  /* what the link had no room for yet */
	struct buf line;                 /* of the other side, so far */
	struct loop_timer *timer;        /* of the throttle */
	void (*run)(struct rcp *r);      /* goes on as far as possible */
	void (*free_end)(struct rcp *r);
	void *end;                       /* struct source or struct sink */
	bool over, wanted;
};

/* Queues text for the other side. */
void rcp_send(struct rcp *r, const void *p, size_t n);
bool rcp_flush(struct rcp *r);           /* true when nothing waits */
/* One line without its end (allocated; may hold anything but NUL and LF), NULL if it has not come whole. */
char *rcp_take_line(struct rcp *r);
int rcp_take_byte(struct rcp *r);        /* -1: none yet */
/* An error of ours: counted, printed (not by a server), told to the other side. */
void rcp_error(struct rcp *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The text of an error record of the other side. */
void rcp_peer_error(struct rcp *r, const char *text);
void rcp_end(struct rcp *r, int status);
void rcp_run_soon(struct rcp *r);
/* May data move now? Otherwise run is called later. */
bool rcp_may_move(struct rcp *r);

/* The records: T with times, C and D with mode, size and name. */
struct rcp_times { int64_t mtime, atime; };
struct rcp_record { bool is_dir; unsigned mode; uint64_t size; const char *name; /* in the line */ };
int rcp_parse_times(const char *line, struct rcp_times *t) MUST_USE;
int rcp_parse_record(const char *line, struct rcp_record *r, const char **why) MUST_USE;
/* A name that may become an entry of a folder here. */
bool rcp_name_acceptable(const char *name);
/* Does name match the last component of what was asked for (braces, * ? [])? */
bool rcp_name_matches(const char *asked, const char *name);
/* What was asked for is a folder whose name only the far side knows (~, ., $DIR): any will do. */
bool rcp_name_is_open(const char *asked);

/* The ends: set run, free_end, and whatever they need. */
void rcp_source_init(struct rcp *r);
void rcp_sink_init(struct rcp *r);
void rcp_free(struct rcp *r);

#endif
