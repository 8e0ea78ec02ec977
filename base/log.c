/* base/log.c: where messages for people go. The only state that base/ keeps: one sink a process. */
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

enum {
	LOG_TEXT_SIZE = 4096,           /* a message; longer ones are cut */
	LOG_LINE_SIZE = 4 * LOG_TEXT_SIZE + 128,
	LOG_SYSLOG_MAX = 500,           /* RFC 3164 §4.1 has 1024 bytes for all of it */
	LOG_STALL_MS = 200              /* how long a full non-blocking stderr may hold the program up */
};

enum log_target { LOG_TARGET_FD, LOG_TARGET_SYSLOG, LOG_TARGET_SINK };

static struct {
	const char *ident;
	enum log_level level;
	enum log_target target;
	int fd;
	int facility;
	log_sink_fn *sink;
	void *sink_ctx;
} log_state = { .ident = "ssh", .level = LOG_LEVEL_INFO, .fd = STDERR_FILENO };

static const struct {
	const char *name;
	const char *syslog_prefix, *fd_prefix;
	int priority;
} log_levels[] = {
	[LOG_LEVEL_QUIET] = { "QUIET", "", "", LOG_INFO },
	[LOG_LEVEL_FATAL] = { "FATAL", "fatal: ", "", LOG_CRIT },
	[LOG_LEVEL_ERROR] = { "ERROR", "error: ", "", LOG_ERR },
	[LOG_LEVEL_INFO] = { "INFO", "", "", LOG_INFO },
	[LOG_LEVEL_VERBOSE] = { "VERBOSE", "", "", LOG_INFO },
	[LOG_LEVEL_DEBUG1] = { "DEBUG", "debug1: ", "debug1: ", LOG_DEBUG },
	[LOG_LEVEL_DEBUG2] = { "DEBUG2", "debug2: ", "debug2: ", LOG_DEBUG },
	[LOG_LEVEL_DEBUG3] = { "DEBUG3", "debug3: ", "debug3: ", LOG_DEBUG },
};

static const struct {
	const char *name;
	int facility;
} log_facilities[] = {
	{ "DAEMON", LOG_DAEMON }, { "USER", LOG_USER }, { "AUTH", LOG_AUTH },
#ifdef LOG_AUTHPRIV
	{ "AUTHPRIV", LOG_AUTHPRIV },
#endif
	{ "LOCAL0", LOG_LOCAL0 }, { "LOCAL1", LOG_LOCAL1 }, { "LOCAL2", LOG_LOCAL2 }, { "LOCAL3", LOG_LOCAL3 },
	{ "LOCAL4", LOG_LOCAL4 }, { "LOCAL5", LOG_LOCAL5 }, { "LOCAL6", LOG_LOCAL6 }, { "LOCAL7", LOG_LOCAL7 },
};

void log_init(const char *ident, enum log_level level)
{
	log_state.ident = ident;
	log_state.level = level;
	log_to_stderr();
}

void log_set_level(enum log_level level)
{
	log_state.level = level;
}

enum log_level log_level_get(void)
{
	return log_state.level;
}

static void log_leave_syslog(void)
{
	if (log_state.target == LOG_TARGET_SYSLOG)
		closelog();
}

void log_set_ident(const char *ident)
{
	log_state.ident = ident;
	if (log_state.target == LOG_TARGET_SYSLOG)
		log_to_syslog(log_state.facility);
}

void log_to_syslog(int facility)
{
	log_leave_syslog();
	log_state.target = LOG_TARGET_SYSLOG;
	log_state.facility = facility;
	openlog(log_state.ident, LOG_PID | LOG_NDELAY, facility);
}

void log_to_stderr(void)
{
	log_to_fd(STDERR_FILENO);
}

void log_to_fd(int fd)
{
	log_leave_syslog();
	log_state.target = LOG_TARGET_FD;
	log_state.fd = fd;
}

void log_to_sink(log_sink_fn *sink, void *ctx)
{
	log_leave_syslog();
	log_state.target = LOG_TARGET_SINK;
	log_state.sink = sink;
	log_state.sink_ctx = ctx;
}

int log_level_parse(const char *name, enum log_level *out)
{
	size_t i;

	for (i = 0; i < MEM_COUNT(log_levels); i++) {
		if (str_equal_nocase(name, log_levels[i].name)) {
			*out = (enum log_level)i;
			return 0;
		}
	}
	if (str_equal_nocase(name, "DEBUG1")) {
		*out = LOG_LEVEL_DEBUG1;
		return 0;
	}
	if (str_equal_nocase(name, "SILENT")) { /* an old name of QUIET, still found in files */
		*out = LOG_LEVEL_QUIET;
		return 0;
	}
	return ERR_USAGE;
}

const char *log_level_name(enum log_level level)
{
	return (size_t)level < MEM_COUNT(log_levels) ? log_levels[level].name : "UNKNOWN";
}

int log_facility_parse(const char *name, int *out)
{
	size_t i;

	for (i = 0; i < MEM_COUNT(log_facilities); i++) {
		if (str_equal_nocase(name, log_facilities[i].name)) {
			*out = log_facilities[i].facility;
			return 0;
		}
	}
	return ERR_USAGE;
}

const char *log_facility_name(int facility)
{
	size_t i;

	for (i = 0; i < MEM_COUNT(log_facilities); i++)
		if (log_facilities[i].facility == facility)
			return log_facilities[i].name;
	return NULL;
}

/* Nothing that a message holds, wherever it came from, may begin a line of its own or steer a terminal. A backslash
 * stays, so that text which was escaped before looks the same. */
static void log_escape(char *out, size_t size, const char *in)
{
	size_t n = 0;
	unsigned char c;

	while ((c = (unsigned char)*in++) != '\0' && n + 5 <= size) {
		if ((c >= 0x20 && c < 0x7f) || c == '\t') {
			out[n++] = (char)c;
		} else {
			out[n++] = '\\';
			out[n++] = (char)('0' + (c >> 6));
			out[n++] = (char)('0' + (c >> 3 & 7));
			out[n++] = (char)('0' + (c & 7));
		}
	}
	out[n] = '\0';
}

/* One write a line, so that lines of several processes do not mix. stderr may be non-blocking; a reader who does not
 * read costs the line, not the session. */
static void log_write(int fd, const char *p, size_t n)
{
	struct pollfd pfd = { .fd = fd, .events = POLLOUT };
	ssize_t r;

	while (n != 0) {
		r = write(fd, p, n);
		if (r >= 0) {
			p += r;
			n -= (size_t)r;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			if (poll(&pfd, 1, LOG_STALL_MS) <= 0)
				return;
		} else if (errno != EINTR) {
			return;
		}
	}
}

static void log_emit(enum log_level level, const char *text)
{
	char line[LOG_LINE_SIZE];
	int n;

	switch (log_state.target) {
	case LOG_TARGET_SINK:
		log_state.sink(log_state.sink_ctx, level, text);
		break;
	case LOG_TARGET_SYSLOG:
		snprintf(line, sizeof(line), "%s%s", log_levels[level].syslog_prefix, text);
		syslog(log_levels[level].priority, "%.*s", LOG_SYSLOG_MAX, line);
		break;
	case LOG_TARGET_FD:
		n = snprintf(line, sizeof(line), "%s%s\r\n", log_levels[level].fd_prefix, text);
		if (n > 0)
			log_write(log_state.fd, line, (size_t)n);
		break;
	}
}

void log_vat(enum log_level level, const char *fmt, va_list ap)
{
	char raw[LOG_TEXT_SIZE], text[4 * LOG_TEXT_SIZE + 1];
	int saved = errno;
	size_t n;

	if (level == LOG_LEVEL_QUIET || (size_t)level >= MEM_COUNT(log_levels) || level > log_state.level)
		return;
	if (vsnprintf(raw, sizeof(raw), fmt, ap) < 0)
		return;
	n = strlen(raw);
	while (n != 0 && (raw[n - 1] == '\n' || raw[n - 1] == '\r'))
		raw[--n] = '\0';
	log_escape(text, sizeof(text), raw);
	log_emit(level, text);
	errno = saved;
}

void log_at(enum log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_vat(level, fmt, ap);
	va_end(ap);
}

#define LOG_FUNCTION(name, level)               \
	void name(const char *fmt, ...)         \
	{                                       \
		va_list ap;                     \
						\
		va_start(ap, fmt);              \
		log_vat(level, fmt, ap);        \
		va_end(ap);                     \
	}

LOG_FUNCTION(log_error, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_verbose, LOG_LEVEL_VERBOSE)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG1)
LOG_FUNCTION(log_debug2, LOG_LEVEL_DEBUG2)
LOG_FUNCTION(log_debug3, LOG_LEVEL_DEBUG3)
