/* xfer/glob.h: patterns as of glob(3) without braces: * ? [set] and backslash; matching of one component of a path. */
#ifndef XFER_GLOB_H
#define XFER_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* True if s[0..n) has a * ? or [ that is not escaped. */
bool glob_has_magic(const char *s, size_t n);
/* s[0..n) with its backslashes taken away (the character behind one stays). Allocated. */
char *glob_unescape(const char *s, size_t n);
/* A pattern that is matched by s and nothing else. Allocated. */
char *glob_escape(const char *s);
/* A name (no slash) against one component of a pattern. A leading dot must be matched by a dot. */
bool glob_match(const char *pattern, size_t pattern_size, const char *name);

#endif
