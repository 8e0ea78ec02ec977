/* conf/conf_files.h: the files that a configuration consists of: read once, kept as text, handed to other processes,
 * which never read them again. */
#ifndef CONF_CONF_FILES_H
#define CONF_CONF_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"

enum { CONF_FILE_MAX = 4 * 1024 * 1024, CONF_FILES_MAX = 4096 };

struct conf_file { char *path; char *text; size_t size; bool checked; };
struct conf_glob { char *pattern; struct str_list paths; };

/* Zero-initialised is empty. */
struct conf_source {
	struct conf_file *files;
	size_t file_count, file_room;
	struct conf_glob *globs;
	size_t glob_count, glob_room;
	bool sealed;             /* nothing is looked for on disk any more */
};

/* The text of path (NUL-terminated, borrowed from s until it is cleared). check_owner: must be a file of root or of
 * the real uid that nobody else can write: ERR_DENIED "Bad owner or permissions on FILE". ERR_NONE_FOUND: not there.
 * A folder reads as an empty file. */
int conf_source_read(struct conf_source *s, const char *path, bool check_owner, const char **text,
	struct err *e) MUST_USE;
/* Sorted names that match; no match is an empty list. Borrowed from s; it may move with the next call. tilde: ~ is
 * known. */
int conf_source_glob(struct conf_source *s, const char *pattern, bool tilde, const struct str_list **paths,
	struct err *e) MUST_USE;
/* For rebuilding in another process, and for tests: as if read. */
void conf_source_add_file(struct conf_source *s, const char *path, const char *text, size_t size);
void conf_source_add_glob(struct conf_source *s, const char *pattern, const struct str_list *paths);
void conf_source_clear(struct conf_source *s);

#endif
