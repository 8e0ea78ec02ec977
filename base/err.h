/* base/err.h: errors that carry a class and a text. Every layer. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdarg.h>

#define MUST_USE __attribute__((warn_unused_result))
/* For the few places where failing changes nothing: a (void) cast does not quiet gcc. */
#define IGNORE_RESULT(call) do { if (call) { } } while (0)
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

/* Functions that can fail return 0 (or a count) or one of these, which are negative. The value is the class of
 * the failure: what a caller may do about it. The text that a user reads is in a struct err. */
enum {
	ERR_IO = -1,     /* the system refused: errno is in the text */
	ERR_CLOSED = -2, /* the other end has gone in an orderly way */
	ERR_AGAIN = -3,  /* nothing is wrong: more input, or room, is needed */
	ERR_PEER = -4,   /* the peer broke the protocol, or sent what cannot be parsed */
	ERR_CRYPTO = -5, /* a MAC, a signature or libcrypto said no */
	ERR_USAGE = -6,  /* the caller, the user or a configuration asked for what is not possible */
	ERR_MEMORY = -7, /* a limit on memory or size would be exceeded */
	ERR_DENIED = -8, /* policy or the peer refused */
	ERR_NONE_FOUND = -9 /* what was looked for is not there */
};

enum { ERR_TEXT_SIZE = 512 };

/* The first error of whoever owns the struct. Zero-initialised is "no error". */
struct err {
	int code;
	char text[ERR_TEXT_SIZE];
};

/* Records code and text if e holds no error yet; e may be NULL. Returns code, so that a failing function can
 * `return err_set(e, ERR_PEER, "...")`. Text: lower case, no full stop, no newline. */
int err_set(struct err *e, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);
int err_vset(struct err *e, int code, const char *fmt, va_list ap) PRINTF_LIKE(3, 0);

/* The same as ERR_IO, followed by ": " and the text of errno. errno is kept. */
int err_set_errno(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Puts "context: " in front of a recorded text. Does nothing without an error. */
void err_prefix(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

void err_clear(struct err *e);

/* The text, or the name of the class when there is none. Never NULL. */
const char *err_text(const struct err *e);

/* A word for a class: "i/o error", "closed by peer", ... */
const char *err_class_name(int code);

#endif
