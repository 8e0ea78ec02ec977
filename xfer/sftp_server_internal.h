/* xfer/sftp_server_internal.h: what the files of the server engine share. Nobody else includes it.
 *
 * Requests are served one after the other. A request is parsed into the job; the job's run makes the file calls and touches
 * nothing but the job (so it may run on the helper thread), its finish writes the reply. READ and WRITE move their data
 * straight between link and file (sftp_server_data.c). */
#ifndef XFER_SFTP_SERVER_INTERNAL_H
#define XFER_SFTP_SERVER_INTERNAL_H

#include <dirent.h>
#include "base/log.h"
#include "wire/buf.h"
#include "xfer/fileops.h"
#include "xfer/owners.h"
#include "xfer/sftp_proto.h"
#include "xfer/sftp_server.h"

struct server_file {
	bool used;
	int fd;
	DIR *dir;                        /* owns fd when not NULL */
	char *path;
	int flags;                       /* of open(2) */
	uint32_t generation;             /* a closed handle's number is not good for its successor */
	uint32_t next_free;
	uint64_t bytes_read, bytes_written;
};

struct job {
	struct sftp_server *server;      /* NULL: it was freed while the helper thread worked */
	const struct request_row *row;
	uint32_t id;
	char *path, *path2;
	struct server_file *file, *file2;
	int fd;                          /* made by the job (open, opendir), or to be closed by it; else -1 */
	DIR *dir;
	uint32_t pflags;
	uint64_t offset, length;
	struct sftp_attrs attrs;
	struct stat st;
	struct sftp_statvfs vfs;
	struct fileops_copy copy;
	struct buf body;                 /* of a reply, or ids of a question */
	struct buf body2;
	size_t done;                     /* bytes of body gone through */
	char *text;                      /* a name found */
	const char *message;             /* for the status instead of the usual words */
	uint8_t *data;                   /* READ and WRITE through the helper thread */
	size_t data_size;
	int error;                       /* errno of the file calls */
	uint32_t status;
	bool more;                       /* run again */
};

/* One kind of request. parse: SFTP_OK to go on, or the status to answer with; a reader that failed ends the session.
 * run may be NULL; finish NULL sends the status. */
struct request_row {
	const char *name;
	uint8_t type;
	enum sftp_extension extension;
	bool writes;                     /* refused when read-only */
	bool direct;                     /* run is for the helper thread only: else finish does it all */
	uint32_t (*parse)(struct sftp_server *s, struct job *j, struct reader *r);
	void (*run)(struct job *j);
	void (*finish)(struct sftp_server *s, struct job *j);
};
extern const struct request_row server_rows_plain[];     /* each ends with a name of NULL */
extern const struct request_row server_rows_extended[];

struct server_write {                    /* a WRITE whose data is still coming */
	bool active;
	uint32_t id;
	struct server_file *file;        /* NULL: refused, the data is read over */
	uint64_t offset;
	uint32_t left;                   /* of the data */
	uint32_t behind;                 /* bytes of the message after the data */
	uint32_t status;
	int error;
};

struct sftp_server {
	struct loop *loop;
	struct link *link;
	struct worker *worker;
	struct sftp_server_options o;    /* strings and lists are our copies */
	struct fileops files;
	struct owners *owners;
	void (*done)(void *ctx, int status);
	void *ctx;

	struct buf in;                   /* the message so far */
	struct server_write write;
	struct buf out;                  /* replies that the link had no room for yet */
	size_t out_sent;
	struct job *job;
	bool busy;                       /* the job is with the helper thread, or waits for its next slice */
	bool at_worker;                  /* the first of these */
	uint32_t version;                /* of the client */
	bool greeted, ended, reported;
	int status;

	struct server_file *file;
	uint32_t file_count, file_room, file_free, files_open, files_max;
};

/* sftp_server.c */
void server_end(struct sftp_server *s, int status);
void server_log(const struct sftp_server *s, enum log_level level, const char *fmt, ...) PRINTF_LIKE(3, 4);
bool server_flush(struct sftp_server *s);        /* true when nothing is left */
/* Replies go into s->out. begin gives a mark for end. */
size_t server_reply_begin(struct sftp_server *s, uint8_t type, uint32_t id);
void server_reply_end(struct sftp_server *s, size_t mark);
void server_send_status(struct sftp_server *s, uint32_t id, uint32_t status, const char *message);
void server_finish_status(struct sftp_server *s, struct job *j);
void server_job_start(struct sftp_server *s, struct job *j);
bool server_is_slow(const struct sftp_server *s);
bool server_permits(const struct sftp_server *s, const struct request_row *row);
const struct request_row *server_row_of_type(uint8_t type);
/* Copies input into s->in until it holds n bytes; false if they have not come yet. */
bool server_take(struct sftp_server *s, size_t n);
void server_job_clear(struct job *j);
struct job *server_job_new(struct sftp_server *s);
void server_pump(void *ctx);

/* sftp_server_files.c: the handles */
enum { SERVER_NO_FILE = UINT32_MAX };
void server_files_init(struct sftp_server *s);
void server_files_clear(struct sftp_server *s);
/* Takes fd or dir and a copy of path; NULL if there are too many. */
struct server_file *server_file_add(struct sftp_server *s, int fd, DIR *dir, const char *path, int flags);
uint32_t server_file_handle(const struct sftp_server *s, const struct server_file *f);
struct server_file *server_file_find(struct sftp_server *s, struct view handle);
/* Forgets the handle and gives fd or dir to the caller. */
void server_file_release(struct sftp_server *s, struct server_file *f, int *fd, DIR **dir);

/* sftp_server_data.c */
void server_write_begin(struct sftp_server *s, uint32_t id, struct reader *r, uint32_t message_left);
bool server_write_step(struct sftp_server *s);   /* false: no input, or the helper thread has it */
uint32_t server_read_parse(struct sftp_server *s, struct job *j, struct reader *r);
void server_read_run(struct job *j);
void server_read_finish(struct sftp_server *s, struct job *j);

/* For parse functions: a path or text of the request, owned by the job. NULs and excessive lengths fail the reader. */
char *server_parse_path(struct reader *r);
void server_finish_name(struct sftp_server *s, struct job *j);   /* j->text as a NAME of one entry */

#endif
