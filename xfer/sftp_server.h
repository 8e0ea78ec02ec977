/* xfer/sftp_server.h: the SFTP v3 server engine (spec wire-extensions 13) over a byte link. */
#ifndef XFER_SFTP_SERVER_H
#define XFER_SFTP_SERVER_H

#include <stdbool.h>
#include <sys/types.h>
#include "base/err.h"
#include "base/str.h"

struct link;
struct loop;
struct worker;

struct sftp_server_options {
	bool read_only;
	const char *start_dir;           /* NULL: current; engine state, never chdir */
	int umask;                       /* -1: the process's, read once */
	const char *home;                /* for expand-path and home-directory of the own user */
	const char *user;
	struct str_list allow, deny;     /* request names; empty: all; borrowed */
	int log_level;                   /* enum log_level for transactions */
	bool slow_files;                 /* file calls through the worker (design 2) */
};

struct sftp_server;
/* Serves the link until its end; done(ctx, exit status) is called once, then the owner frees the server and closes the
 * link. The options are copied. worker may be NULL: all calls direct. */
struct sftp_server *sftp_server_new(struct loop *l, struct link *link, struct worker *w,
	const struct sftp_server_options *o, void (*done)(void *ctx, int status), void *ctx);
void sftp_server_free(struct sftp_server *s);
/* Parses the argument list of `sftp-server` / `internal-sftp` into options (spec options-server 10). ERR_USAGE if not all
 * of it is understood. Strings in *o point into argv. log_facility: -1 if not given. */
int sftp_server_parse_args(int argc, char *const *argv, struct sftp_server_options *o, int *log_facility, bool *to_stderr,
	struct err *e) MUST_USE;
/* Request names for -Q requests; NULL past the end. */
const char *sftp_server_request_at(size_t i);

#endif
