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

struct copy_options {
	bool recursive;          /* -r */
	bool preserve;           /* -p: times and modes */
	bool quiet;              /* no meter */
	bool verbose;
	bool no_name_check;      /* -T, old protocol */
	uint64_t limit_bits;     /* -l in bit/s; 0: none */
	unsigned requests;       /* -X nrequests; 0: follows the path */
	unsigned buffer;         /* -X buffer in bytes; 0: as large as the server allows */
	unsigned stripes;        /* -X stripes: channels for large uploads, from their start; 0: as many as help, when needed */
	bool known_server;       /* ours or OpenSSH's: takes requests before its hello and serves them in order */
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

enum { COPY_STRIPES_MAX = 8 };           /* an OpenSSH server allows ten sessions in a connection by default */

/* Opens another link to the SFTP server that an upload goes to, or NULL. The copy closes it. */
struct copy_more { struct link *(*open)(void *ctx); void *ctx; };

/* What a copy is started with. done is called once, from the loop: status 0 all copied, 1 something failed, 255 the link
 * broke or the job could not go on. What went wrong has been printed. The links stay the caller's; job and options are
 * copied. */
struct copy_setup {
	struct loop *loop;
	struct link *link;
	struct link *link_to;    /* not NULL: from one far side to another through here (scp -3): sources are on `link`, the
				    target on this one; job->upload means nothing */
	const struct copy_job *job;
	const struct copy_options *options;
	struct copy_more more;   /* open NULL: this link is all there is */
	void (*done)(void *ctx, int status);
	void *ctx;
};
struct copy;
/* Over SFTP (INIT is sent at once). */
struct copy *copy_start_sftp(const struct copy_setup *s, struct err *e);
/* Over the old scp protocol; the far side already runs `scp -t|-f`. No link_to. */
struct copy *copy_start_rcp(const struct copy_setup *s, struct err *e);
/* SIGINT: stops, says what is incomplete, done(…, 255) follows, after at most two seconds for what must not be left behind, and at once
 * when it is called again. */
void copy_interrupt(struct copy *c);
/* Stops without a word (the server has no SFTP: the caller tries otherwise), done(…, 255) follows. */
void copy_abandon(struct copy *c);
void copy_window_changed(struct copy *c);        /* SIGWINCH: the meter measures again */
void copy_free(struct copy *c);

/* The remote command of the old protocol ("scp [-v] [-r] [-p] [-d] -t|-f path"), allocated. */
char *copy_rcp_command(const struct copy_job *job, const struct copy_options *o);
/* The far side of the old protocol in this process: scp -t and -f. Returns the exit status. */
int copy_serve_rcp(struct loop *l, struct link *link, bool sink, const struct copy_job *job, const struct copy_options *o,
	struct err *e);

#endif
