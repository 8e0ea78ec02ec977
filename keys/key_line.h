/* keys/key_line.h: `TYPE BASE64` inside lines of text. */
#ifndef KEYS_KEY_LINE_H
#define KEYS_KEY_LINE_H

#include <stdbool.h>
#include "base/err.h"
#include "keys/key.h"

static inline bool key_line_is_blank(char c) { return c == ' ' || c == '\t'; }
const char *key_line_skip_blanks(const char *s);

/* Reads type and base64 at *s, blanks in front skipped, and sets *s behind them (blanks skipped again).
 * 0; ERR_NONE_FOUND: well-formed, the type is not known to us, *out is NULL; ERR_PEER.
 * *type (may be NULL) is an allocated copy of the type word unless ERR_PEER. */
int key_line_read(const char **s, struct key **out, char **type, struct err *e) MUST_USE;

/* Whether the first two words look like a type and its base64, so that no options stand before them. */
bool key_line_starts_key(const char *s);

/* Length of a word that may hold blanks in double quotes, such as the options before a key; \\" does not end them. */
size_t key_line_quoted_word(const char *s);

/* What follows a key, without blanks and line end around it; allocated, "" if nothing. */
char *key_line_comment(const char *s);

/* Iterates over the lines of text[0..n): *line is an allocated copy without its end; false when there are no more.
 * A line with a NUL comes as NULL, for what stands behind it would not be seen: KEY_LINE_ZERO says so. *cursor starts as 0. */
#define KEY_LINE_ZERO "it holds a zero byte"
bool key_line_next(const char *text, size_t n, size_t *cursor, char **line);

#endif
