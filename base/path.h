/* base/path.h: file names: ~, percent tokens, ${ENV}, and whether a file may be trusted. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stddef.h>
#include <sys/types.h>
#include "base/err.h"

/* "~" and "~/x" with home; "~user/x" by the passwd database. Allocated; NULL and error if the user is unknown. */
char *path_expand_tilde(const char *path, const char *home, struct err *e);

/* One token: %letter. value may be NULL: not known here, an error if used. */
struct path_token { char letter; const char *value; };
/* Expands %x by the table (which ends with letter 0) and %% always. Allocated; NULL on an unknown token. */
char *path_expand_tokens(const char *s, const struct path_token *tokens, struct err *e);
/* ${NAME}. Allocated; NULL if a variable is unset. */
char *path_expand_env(const char *s, struct err *e);

/* StrictModes of sshd_config(5): the open file fd at path must be regular, owned by root or uid, not writable
 * by others, and so every folder above it up to home (or / if home is NULL or not above). ERR_DENIED with the text
 * "bad ownership or modes for file|directory X". */
int path_check_secure(int fd, const char *path, uid_t uid, const char *home, struct err *e) MUST_USE;

/* Whole file into memory, at most max bytes; *data is allocated and NUL-terminated beyond *n. */
int path_read_file(const char *path, size_t max, char **data, size_t *n, struct err *e) MUST_USE;
int path_read_fd(int fd, size_t max, char **data, size_t *n, struct err *e) MUST_USE;
/* Creates the folder with mode if it is missing; parents must exist. */
int path_make_dir(const char *path, mode_t mode, struct err *e) MUST_USE;
/* Absolute: s itself (copied) or cwd/s. */
char *path_absolute(const char *s);
const char *path_base_name(const char *s);

#endif
