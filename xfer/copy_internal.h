/* xfer/copy_internal.h: what the files of the copy engine over SFTP share. Nobody else includes it.
 *
 * A job goes through three stages, all driven by copy_pump:
 *   plan   the target is looked at, sources are expanded (copy_plan_*.c); what comes out are top items
 *   walk   items come one after the other: files, and folders that are entered (copy_walk.c here, copy_list.c far away)
 *   move   many files are under way at once; their data goes oldest first (copy_up.c, copy_down.c, copy_relay.c)
 * Nothing waits for an answer that it does not need: the files of a folder are opened while its MKDIR is still under way. */
#ifndef XFER_COPY_INTERNAL_H
#define XFER_COPY_INTERNAL_H

#include <sys/types.h>
#include "xfer/copy.h"
#include "xfer/depth.h"
#include "xfer/progress.h"
#include "xfer/sftp_client.h"
#include "xfer/stripe_need.h"
#include "xfer/throttle.h"

struct copy;

struct copy_dir {
	struct copy_dir *parent;         /* NULL: a top item */
	char *from, *to;
	unsigned depth;
	unsigned refs;                   /* being walked, and what is in it and not finished */
	struct sftp_attrs attrs;         /* of the source */
	bool creating;                   /* MKDIR under way */
	bool created;                    /* by us */
	bool broken;                     /* cannot be made or read: what is in it fails without words */
	dev_t dev;
	ino_t ino;                       /* local source: against loops */
	char *real;                      /* far source: canonical name, when a link led here; against loops */
};

enum copy_file_state { COPY_OPENING, COPY_MOVING, COPY_SETTLING, COPY_CLOSED };

struct copy_read {                       /* a READ under way */
	struct copy_read *next;          /* of the same file, by offset as they were asked */
	struct copy_file *file;
	uint64_t offset;
	uint32_t length;
	uint32_t before;                 /* asks for the rest of one that brought only this much */
};

enum { COPY_DEPTH_MAX = 64 };            /* levels of folders */

struct copy_file {
	struct copy *copy;
	struct copy_file *next, *prev;   /* all that are not finished, oldest first */
	struct copy_file *ready_next;
	struct copy_dir *dir;
	char *from, *to;
	struct sftp_attrs attrs;         /* of the source */
	enum copy_file_state state;
	bool ready;                      /* in the list of files whose data can move */
	bool failed;                     /* has been said */
	bool at_end;                     /* the source has no more */
	int fd;                          /* local file, or -1 */
	uint8_t handle[SFTP_HANDLE_MAX]; /* far file; relay: of the source */
	size_t handle_size;
	uint64_t size;                   /* as expected */
	uint64_t eof_at;                 /* far source: where it said that the file ends; UINT64_MAX: not yet */
	uint64_t at;                     /* where the next request begins */
	uint64_t moved;                  /* bytes that are done, for the meter */
	uint64_t ahead;                  /* its part of copy->ahead */
	unsigned outstanding;            /* requests whose answers touch it */
	struct copy_read *reads;
	struct copy_relay_file *relay;   /* copy_relay.c */
	struct copy_parts *parts;        /* copy_stripes.c; NULL: it goes over one channel */
};

struct copy_item {                       /* what a walk gives; strings and fd go to whoever takes it */
	bool is_dir;
	char *from, *to;
	struct copy_dir *dir;
	struct sftp_attrs attrs;
	int fd;                          /* local file, open; else -1 */
	dev_t dev;
	ino_t ino;
	char *real;
};
void copy_item_clear(struct copy_item *it);

enum copy_walk { COPY_ITEM, COPY_WAIT, COPY_END };

/* How the kinds of jobs differ. */
struct copy_ops {
	void (*plan)(struct copy *c);                            /* starts the plan; it calls copy_planned */
	enum copy_walk (*walk)(struct copy *c, struct copy_item *it);
	void (*enter)(struct copy *c, struct copy_dir *d);       /* walk into d from now on */
	void (*start_dir)(struct copy *c, struct copy_dir *d);   /* make it at the target; may set broken */
	void (*finish_dir)(struct copy *c, struct copy_dir *d);  /* everything in it is done: modes, times */
	void (*start_file)(struct copy *c, struct copy_file *f);
	bool (*move)(struct copy *c, struct copy_file *f);       /* one request; false: no room now */
	void (*end_file)(struct copy *c, struct copy_file *f);   /* before it is freed */
};

struct copy_walker;                      /* copy_walk.c */
struct copy_lister;                      /* copy_list.c */
struct copy_plan;                        /* copy_plan.c */
struct copy_early;                       /* copy_far.c */
struct copy_stripes;                     /* copy_stripes.c */

struct copy {
	struct loop *loop;
	struct sftp_client *client;      /* of the sources, or the only one */
	struct sftp_client *client_to;   /* of the target; the same unless this is a relay */
	struct copy_options o;
	struct copy_job job;             /* strings are ours */
	const struct copy_ops *ops;
	void (*done)(void *ctx, int status);
	void *ctx;

	struct copy_plan *plan;
	struct copy_walker *walker;
	struct copy_lister *lister;
	struct copy_early *early;
	struct copy_stripes *stripes;    /* NULL: one channel */
	bool planned, walk_ended, stopped, lost, pump_wanted, told;
	bool leaving;                    /* interrupted: only waits until it may stop */
	int status;
	int status_at_end;               /* not 0: instead of 1 or 0 */
	uint32_t target_status;          /* what a far target's server said of it */
	unsigned errors;
	unsigned ready_count;            /* clients that have seen their server's hello */
	unsigned waiting;                /* answers that the end of the job waits for, besides those of files */

	struct copy_file *first, *last, *ready_first, *ready_last;
	unsigned open_files;             /* those that hold a handle or a descriptor */
	uint64_t ahead;                  /* bytes of open files that were not asked for or sent yet */
	uint64_t local_files_max;
	struct depth depth;
	unsigned requests;               /* READs or WRITEs under way */
	uint32_t read_limit;             /* what the server really gives in one reply; 0: what it promised */
	struct throttle throttle;
	struct loop_timer *timer;        /* of the throttle */
	struct loop_timer *leave_timer;
	struct meter *meter;
	struct copy_file *shown;         /* whose line the meter shows */

	struct rcp *rcp;                 /* the old protocol: then there is no client */
	char *walk_target;               /* relay: the target, and whether it is a folder */
	bool walk_to_dir;
	size_t held;                     /* relay: bytes of all files that wait for room */
};

/* ---- copy.c */
struct copy *copy_new_bare(const struct copy_setup *s);  /* without clients and plan */
void copy_pump_soon(struct copy *c);
/* Something that a copy which is leaving may wait for has been done. */
void copy_left(struct copy *c);
/* A line "program: ..." on stderr; error counts, note does not. */
void copy_error(struct copy *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
void copy_note(struct copy *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
void copy_verbose(struct copy *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Ends the job with this status. */
void copy_stop(struct copy *c, int status);
void copy_planned(struct copy *c);

struct copy_dir *copy_dir_new(struct copy *c, struct copy_item *it);     /* takes the item; one reference, the walk's */
void copy_dir_release(struct copy *c, struct copy_dir *d);               /* NULL is fine */
/* Says what happened to f unless its folder is broken, and marks it. */
void copy_file_fail(struct copy_file *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
void copy_file_ready(struct copy_file *f);       /* its data can move */
void copy_file_unready(struct copy_file *f);
void copy_file_moved(struct copy_file *f, uint64_t n);
void copy_file_took_ahead(struct copy_file *f, uint64_t n);
/* It holds no handle and no descriptor any more: another may start. */
void copy_file_closed(struct copy_file *f);
/* Frees it when it is closed and nothing is outstanding. */
void copy_file_settle(struct copy_file *f);
void copy_request_sent(struct copy *c, uint64_t bytes);
void copy_request_done(struct copy *c, uint64_t bytes);
uint32_t copy_piece(const struct copy *c, uint64_t limit);       /* size of one request under a server's limit */
struct view copy_file_handle(const struct copy_file *f);
/* path + "/" + name, without doubling a slash. Allocated. */
char *copy_join(const char *path, const char *name);
/* Where something of that (base) name goes in a folder: "." is the folder itself. Allocated. */
char *copy_place(const char *folder, const char *name);
/* Last component as of basename(1), for the name at the target; "." for one that is "..". Allocated. */
char *copy_base_name(const char *path);
/* Waits for an answer that belongs to no file. */
void copy_wait_begin(struct copy *c);
void copy_wait_end(struct copy *c);

/* ---- copy_far.c: the target on the far side (up and relay), and names there */
void copy_far_start_dir(struct copy *c, struct copy_dir *d);
void copy_far_finish_dir(struct copy *c, struct copy_dir *d);
void copy_far_open(struct copy *c, struct copy_file *f, sftp_reply_fn *fn);      /* fn gets f */
void copy_far_close(struct copy *c, struct copy_file *f, struct view handle);    /* with -p sets modes and times */
void copy_far_plan_target(struct copy *c, void (*then)(struct copy *c, const char *target, bool is_dir));
/* Opens a target beside the question what stands there: taken by the copy_far_open of that path, else closed again. fd: the source;
 * its first bytes go along. */
void copy_far_open_early(struct copy *c, const char *path, const struct sftp_attrs *a, int fd);
/* How many bytes of f went along with the OPEN that was just answered well; 0 if they must be sent (again). Their answer may have
 * come, or it goes to fn and counts as outstanding. */
uint64_t copy_far_went_along(struct copy *c, struct copy_file *f, sftp_reply_fn *fn);
void copy_far_free(struct copy *c);
/* "" is ".", ~ and ~/x are relative to the home; NULL if the server must expand it (~user). Allocated. */
char *copy_far_plain_path(const char *path);
typedef void copy_path_fn(void *ctx, char *path);        /* path goes to the callee; NULL: failed, has been said */
struct copy_path { const char *given; bool pattern; };           /* as typed; what comes out is to be a pattern */
void copy_far_expand_path(struct copy *c, struct sftp_client *client, const struct copy_path *path, copy_path_fn *fn,
	void *ctx);
/* What a source that was typed as `given` and expanded to `path` is called. Allocated. */
char *copy_far_name(const char *given, const char *path);

/* ---- copy_up.c */
/* An answer to a request of copy_stripes.c that f waited for: goes on where f was. For use as a sftp_reply_fn. */
void copy_up_answered(void *file, const struct sftp_result *r);

/* ---- copy_stripes.c: uploads over several channels */
struct copy_stripes *copy_stripes_new(struct copy *c, const struct copy_more *more);     /* NULL: not wanted, or not possible */
size_t copy_stripes_stop(struct copy_stripes *s);        /* as sftp_client_stop; NULL is fine */
void copy_stripes_free(struct copy_stripes *s);
/* As sftp_client_write, over whichever channel has room. fn gets f. */
long copy_stripes_write(struct copy *c, struct copy_file *f, const struct sftp_write *w, sftp_reply_fn *fn);
void copy_stripes_sent(struct copy *c, uint64_t bytes);   /* otherwise than by copy_stripes_write */
void copy_stripes_answered(struct copy *c, uint64_t bytes);      /* a WRITE was answered */
/* All of f was sent: true when everything was answered too, and only the first channel has it open. Until then
 * copy_up_answered calls again. */
bool copy_stripes_settled(struct copy *c, struct copy_file *f);
/* The copy ends before its time: files get plausible dates. True: copy_left is called when that is done, or is known to be
 * impossible. */
bool copy_stripes_leave(struct copy *c);

/* ---- copy_walk.c: local sources */
struct copy_walker *copy_walker_new(struct copy *c);
void copy_walker_free(struct copy_walker *w);
void copy_walker_target(struct copy_walker *w, const char *target, bool is_dir);
enum copy_walk copy_walker_next(struct copy *c, struct copy_item *it);
void copy_walker_enter(struct copy *c, struct copy_dir *d);

/* ---- copy_list.c: sources on the far side */
struct copy_lister *copy_lister_new(struct copy *c);
void copy_lister_free(struct copy_lister *l);
/* A top item: path on the far side and its attributes (following links), and where it goes. */
void copy_lister_add(struct copy_lister *l, const char *from, char *to, const struct sftp_attrs *a);
void copy_lister_complete(struct copy_lister *l);        /* no more top items */
enum copy_walk copy_lister_next(struct copy *c, struct copy_item *it);
void copy_lister_enter(struct copy *c, struct copy_dir *d);

/* ---- copy_glob.c: patterns on the far side */
struct copy_match { char *path; struct sftp_attrs attrs; };
struct copy_glob;
/* Expands pattern; done gets the matches, sorted (count 0: none; error: what to say about it, or NULL), once, from a reply.
 * They are the glob's, which the callee frees later. */
typedef void copy_glob_fn(void *ctx, struct copy_glob *g);
struct copy_glob *copy_glob_start(struct sftp_client *client, const char *pattern, copy_glob_fn *fn, void *ctx);
void copy_glob_free(struct copy_glob *g);
const struct copy_match *copy_glob_matches(const struct copy_glob *g, size_t *count);
const char *copy_glob_error(const struct copy_glob *g);
bool copy_glob_was_pattern(const struct copy_glob *g);

/* ---- copy_plan.c: sources on the far side (down and relay): each is expanded, then becomes top items in order */
typedef char *copy_place_fn(struct copy *c, const char *name, size_t matches); /* where a match goes; NULL: has been said */
void copy_plan_sources(struct copy *c, copy_place_fn *place);
void copy_plan_free(struct copy_plan *p);

extern const struct copy_ops copy_ops_up, copy_ops_down, copy_ops_relay;

#endif
