/* xfer/sftp_server.h: the SFTP v3 server engine (draft-ietf-secsh-filexfer-02, OpenSSH's PROTOCOL) over a byte link. */
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
	const char *peer;                /* address for the session lines of the log; NULL: no such lines */
	struct str_list allow, deny;     /* request names; empty: all */
	int log_level;                   /* enum log_level for transactions */
	bool slow_files;                 /* file calls through the worker */
};

struct sftp_server;
/* Serves the link until its end; done(ctx, exit status) is called once, from the loop, when the last reply was committed
 * (not yet sent: the owner finishes the link, or sends an exit status behind the data); then the owner frees the server and
 * closes the link. The options are copied. worker may be NULL: all calls direct. */
struct sftp_server *sftp_server_new(struct loop *l, struct link *link, struct worker *w,
	const struct sftp_server_options *o, void (*done)(void *ctx, int status), void *ctx);
void sftp_server_free(struct sftp_server *s);
/* From the next request on, file calls are made through the worker, or directly: the owner knows whether others are waiting
 * for the loop. Nothing without a worker. */
void sftp_server_set_slow(struct sftp_server *s, bool slow);
/* Parses the argument list of `sftp-server` / `internal-sftp` into options (sftp-server(8)); argv[0] is the name.
 * ERR_USAGE if not all of it is understood; code ERR_NONE_FOUND for -h. As ever operands are ignored, and whatever comes
 * behind -c. Strings in *o point into argv (start_dir as given: sftp_server_start_dir expands it); the lists are
 * allocated and become the caller's, also on an error. log_facility: -1 if not given. */
int sftp_server_parse_args(int argc, char *const *argv, struct sftp_server_options *o, int *log_facility, bool *to_stderr,
	struct err *e) MUST_USE;
/* -d: leading ~ and %d home, %u user, %U uid, %%. Allocated; NULL and error. */
char *sftp_server_start_dir(const char *given, const char *home, const char *user, struct err *e);
/* Request names for -Q requests; NULL past the end. */
const char *sftp_server_request_at(size_t i);

#endif
