/* base/own_file.h: small files which a user's programs keep for themselves, such as caches. */
#ifndef BASE_OWN_FILE_H
#define BASE_OWN_FILE_H

#include <stddef.h>
#include "base/err.h"

/* $XDG_CACHE_HOME/wirespeed/NAME, or .cache/wirespeed/NAME in home; NULL if neither is an absolute path. Allocated. */
char *own_file_cache_path(const char *home, const char *name);
/* The whole file, if nobody but we could have written or read it: ours, regular, no link, mode 0600 at most, of at most
 * max bytes. *text is allocated and NUL-terminated beyond *n. */
int own_file_read(const char *path, size_t max, char **text, size_t *n, struct err *e) MUST_USE;
/* Replaces the file at this absolute path as a whole or not at all, mode 0600. The two folders that it lies in are made if need
 * be. Of two that write at once the later one wins. */
int own_file_replace(const char *path, const char *text, struct err *e) MUST_USE;

#endif
