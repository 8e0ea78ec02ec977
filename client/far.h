/* client/far.h: programs on the far side as byte links, for scp and sftp: over a connection of this process, over a child
 * (-S program), or a local SFTP server (-D). Layer: client. */
#ifndef CLIENT_FAR_H
#define CLIENT_FAR_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"

struct link;
struct loop;
struct far;

/* A flag of ssh's command line; value NULL: it takes none. They are applied in order. */
struct far_flag { char flag; const char *value; };

struct far_setup {
	struct loop *loop;
	const char *program;             /* "scp": in messages */
	const char *config;              /* -F; NULL: the usual files */
	const struct far_flag *flags;    /* 4 6 A C v q c i J o p l S-less; borrowed until far_new returns */
	size_t flag_count;
	const char *ssh_program;         /* -S: a child for every link; NULL: this process connects */
	const char *local_server;        /* -D: a child for every link, without arguments */
	const char *host, *user;         /* user NULL: by configuration */
	int port;                        /* -1: by configuration */
};
/* Connects and authenticates (the loop runs meanwhile). NULL when that failed; everything has been said then. */
struct far *far_new(const struct far_setup *s);
void far_free(struct far *f);
/* Ours or OpenSSH's: serves SFTP requests in order, and takes them before its hello. */
bool far_known_server(const struct far *f);

/* Its windows follow the path (ours, HPN's): one channel is enough for any line. */
bool far_windows_grow(const struct far *f);

/* Starts a command, or a subsystem, there. Nothing is waited for: what is sent goes behind the request. refused is called
 * when the far side will not start it (the link ends then too); may be NULL. One link at a time. */
struct far_start { bool subsystem; const char *command; void (*refused)(void *ctx); void *ctx; };
struct link *far_open(struct far *f, const struct far_start *start, struct err *e);
/* One more link to the same program over our own connection, while another is open. NULL where every link is a child's. It is the
 * caller's; link_close ends it. One that is refused only ends. */
struct link *far_open_beside(struct far *f, const struct far_start *start, struct err *e);
/* The link is done with. wait: what was sent leaves, and the far program ends, first; a child is always waited for (not for
 * ever). Returns the exit status of the far program, -1 if there was none, or it was not waited for. */
int far_close(struct far *f, bool wait);
/* The far side refused the channel of the last far_open: what it may have to offer was not asked. */
bool far_refused_channel(const struct far *f);
/* The connection is still there. */
bool far_alive(const struct far *f);

#endif
