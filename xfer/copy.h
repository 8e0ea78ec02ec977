/* xfer/copy.h: copying files and trees between here and one SFTP (or old scp) link: planner, engine, progress. What
 * scp.c calls; knows byte links, never SSH. */
#ifndef XFER_COPY_H
#define XFER_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"

struct link;
struct loop;
struct sftp_client;      /* xfer/sftp_client.h */

struct copy_options {
	bool recursive;          /* -r */
	bool preserve;           /* -p: times and modes */
	bool quiet;              /* no meter */
	bool verbose;
	bool no_name_check;      /* -T, old protocol */
	uint64_t limit_bits;     /* -l in bit/s; 0: none */
	unsigned requests;       /* -X nrequests; 0: follows the path */
	unsigned buffer;         /* -X buffer in bytes; 0: as large as the server allows */
	const char *program;     /* name for messages, as invoked */
	int meter_fd;            /* -1: none; the meter shows only if it is a tty */
};

/* One copy job in a direction. Sources are local paths or remote paths (globs are expanded by the engine). Error lines are
 * printed to stderr as "program: path: reason" and counted; the job goes on as stock does. */
struct copy_job {
	bool upload;
	struct str_list sources;
	const char *target;      /* "" is the home of the far side, "." here */
	bool target_must_be_dir;
};

/* Starts the job over SFTP on the link (INIT is sent at once). done is called once: status 0 all copied, 1 something failed,
 * 255 the link broke. */
struct copy;
struct copy *copy_start_sftp(struct loop *l, struct link *link, const struct copy_job *job, const struct copy_options *o,
	void (*done)(void *ctx, int status), void *ctx, struct err *e);
/* The same over the old scp protocol; the far side already runs `scp -t|-f`. */
struct copy *copy_start_rcp(struct loop *l, struct link *link, const struct copy_job *job, const struct copy_options *o,
	void (*done)(void *ctx, int status), void *ctx, struct err *e);
/* SIGINT: stops, says what is incomplete, done(…, 255 or 1). */
void copy_interrupt(struct copy *c);
void copy_window_changed(struct copy *c);        /* SIGWINCH: the meter measures again */
void copy_free(struct copy *c);

/* The remote command of the old protocol ("scp [-v] [-r] [-p] [-d] -t|-f path"), allocated. */
char *copy_rcp_command(const struct copy_job *job, const struct copy_options *o);
/* The far side of the old protocol in this process: scp -t and -f. Returns the exit status. */
int copy_serve_rcp(struct loop *l, struct link *link, bool sink, const struct copy_job *job, const struct copy_options *o,
	struct err *e);

#endif
