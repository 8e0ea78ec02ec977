/* xfer/listing.h: lines as of `ls -l`: the longname of the server, and what the client shows. */
#ifndef XFER_LISTING_H
#define XFER_LISTING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* "drwxr-xr-x"; size of dst is at least 11. */
void listing_mode(char *dst, mode_t mode);
/* "Nov 30 12:17" within half a year of now, else "Nov 30  2001". */
void listing_date(char *dst, size_t size, int64_t when, int64_t now);

/* The whole line, allocated. links 0 shows as "?". size_text NULL: the number of bytes. */
struct listing_entry {
	const char *name, *user, *group, *size_text;
	mode_t mode;
	uint64_t links, size;
	int64_t mtime;
};
char *listing_line(const struct listing_entry *entry, int64_t now);

#endif
