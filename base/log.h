/* base/log.h: where messages for people go. One sink a process; the only state that base/ keeps. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdarg.h>
#include <stddef.h>
#include "base/err.h"

/* Order matters: a message is shown when its level is at or below the chosen one. FATAL is for programs. */
enum log_level {
	LOG_LEVEL_QUIET, LOG_LEVEL_FATAL, LOG_LEVEL_ERROR, LOG_LEVEL_INFO, LOG_LEVEL_VERBOSE,
	LOG_LEVEL_DEBUG1, LOG_LEVEL_DEBUG2, LOG_LEVEL_DEBUG3
};

/* Where a formatted line (no newline, may hold any bytes of the peer's, already escaped) goes. */
typedef void log_sink_fn(void *ctx, enum log_level level, const char *line);

/* Starts logging to stderr, lines ending CR LF as OpenSSH's do. ident is borrowed for the life of the process. */
void log_init(const char *ident, enum log_level level);
void log_set_level(enum log_level level);
enum log_level log_level_get(void);
void log_set_ident(const char *ident);

/* syslog with a facility number of <syslog.h>; "fatal: ", "error: ", "debugN: " stand before the text as scrapers
 * expect (OpenSSH writes them so). Opened at once, so that it works in a chroot. */
void log_to_syslog(int facility);
void log_to_stderr(void);
/* Lines are written to fd (borrowed, append mode). */
void log_to_fd(int fd);
void log_to_sink(log_sink_fn *sink, void *ctx);

/* "DEBUG1", "INFO", ... any case; DEBUG is DEBUG1. ERR_USAGE for anything else. */
int log_level_parse(const char *name, enum log_level *out) MUST_USE;
/* Upper-case name as in `ssh -G`: DEBUG1 prints as DEBUG. */
const char *log_level_name(enum log_level level);
/* "AUTH", "LOCAL0", ... to a number of <syslog.h> and back; ERR_USAGE, or NULL, if unknown. */
int log_facility_parse(const char *name, int *out) MUST_USE;
const char *log_facility_name(int facility);

void log_at(enum log_level level, const char *fmt, ...) PRINTF_LIKE(2, 3);
void log_vat(enum log_level level, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);
void log_error(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_info(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_verbose(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_debug(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_debug2(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_debug3(const char *fmt, ...) PRINTF_LIKE(1, 2);

#endif
