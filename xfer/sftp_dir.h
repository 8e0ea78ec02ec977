/* xfer/sftp_dir.h: the entries of a folder on the far side, several READDIRs under way at once. */
#ifndef XFER_SFTP_DIR_H
#define XFER_SFTP_DIR_H

#include <stdbool.h>
#include "xfer/sftp_client.h"

/* One entry. "." and ".." come too; a name that is empty or holds a slash or a NUL never does: bad is counted instead. */
typedef void sftp_dir_entry_fn(void *ctx, const char *name, const struct sftp_name *n);
/* Once. status SFTP_OK when all entries were seen. bad: how many were held back. */
typedef void sftp_dir_end_fn(void *ctx, uint32_t status, const char *text, unsigned bad);

struct sftp_dir;
struct sftp_dir *sftp_dir_start(struct sftp_client *c, const char *path, sftp_dir_entry_fn *entry, sftp_dir_end_fn *end,
	void *ctx);
/* While paused no further READDIR is sent; those under way still bring entries. */
void sftp_dir_pause(struct sftp_dir *d, bool paused);
/* After the end (also from inside of it), or after the client is gone. NULL is fine. */
void sftp_dir_free(struct sftp_dir *d);

#endif
