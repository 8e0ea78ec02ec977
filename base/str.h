/* base/str.h: strings, lists of strings, numbers, and text that came from a peer. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/* Copies with termination; returns false if it did not fit (dst then holds the part that did). size > 0. */
bool str_copy(char *dst, size_t size, const char *src);
/* Allocated formatted string; never NULL. */
char *str_printf(const char *fmt, ...) PRINTF_LIKE(1, 2);
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
bool str_equal_nocase(const char *a, const char *b);     /* ASCII only, whatever the locale */
void str_lower(char *s);                                 /* ASCII, in place */
/* s[0..n) == z including the end of z. */
bool str_is(const void *s, size_t n, const char *z);

/* Whole string is a decimal number in [min, max]. */
int str_to_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out) MUST_USE;

/* A growing list of owned strings. Zero-initialised is empty. v[count] is always NULL once something was added. */
struct str_list { char **v; size_t count, room; };
void str_list_add(struct str_list *l, const char *s);
void str_list_add_take(struct str_list *l, char *s);     /* takes ownership of an allocated string */
void str_list_add_n(struct str_list *l, const char *s, size_t n);
bool str_list_has(const struct str_list *l, const char *s);
void str_list_copy(struct str_list *dst, const struct str_list *src);
void str_list_clear(struct str_list *l);
char *str_list_join(const struct str_list *l, const char *sep);

/* Iterates over comma separated names without allocating: sets *name and *n, returns false at the end.
 * *cursor starts as the list. Empty names are skipped. */
bool str_next_name(const char **cursor, const char **name, size_t *n);
bool str_names_has(const char *names, const char *name, size_t n);

/* Text of the peer for a log: every byte that is not printable ASCII becomes \ooo, backslash becomes \\.
 * Allocated; at most max bytes of input are shown, followed by "..." when there were more. */
char *str_escape_log(const void *p, size_t n, size_t max);
/* Text of the peer for a terminal: newline and tab stay, CR LF becomes newline, valid UTF-8 that is printable in the
 * locale stays, everything else becomes \ooo. Allocated. The one function through which banners, prompts, disconnect
 * texts and file names reach a terminal. */
char *str_escape_terminal(const void *p, size_t n);

/* RFC 4648 base64. encode: allocated, no line breaks. decode: white space is refused; padding needed; returns the
 * decoded size or ERR_PEER; out must hold 3*(n/4) bytes. */
char *str_base64_encode(const void *p, size_t n);
long str_base64_decode(const char *s, size_t n, uint8_t *out) MUST_USE;
char *str_hex(const void *p, size_t n);                  /* lower case, allocated */
int str_hex_digit(char c);                               /* either case; negative if it is none */
/* The other way: exactly n bytes in 2n lower case digits, and nothing behind them. */
bool str_unhex(const char *s, void *out, size_t n);

/* Takes the next line off the *left bytes at *at, without its newline, as a string of its own. 1; 0 at the end; ERR_PEER if there
 * is no newline, a NUL, or no room for it in `size` bytes. */
int str_next_line(const char **at, size_t *left, char *line, size_t size) MUST_USE;

/* Each line of it to take(), which may cut the line up and returns whether it is understood. 0, or the number, from 1 on, of the
 * first that is not, or that str_next_line refuses. line: size bytes of room. */
struct str_line_room { char *line; size_t size; };
size_t str_each_line(const char *at, size_t left, struct str_line_room room, bool (*take)(void *ctx, char *line), void *ctx);

/* "1h30m", "90", "1w": seconds (ssh_config(5), Values). ERR_USAGE if malformed or over UINT32_MAX. */
int str_to_seconds(const char *s, uint64_t *out) MUST_USE;
/* "1.5K", "64M", "4G": bytes, powers of 1024. ERR_USAGE if malformed. */
int str_to_bytes(const char *s, uint64_t *out) MUST_USE;
/* HH:MM:SS, DdHHhMMm or WWwDdHHh, as ~I shows it. size >= 16. */
void str_from_seconds(char *dst, size_t size, uint64_t seconds);

#endif
