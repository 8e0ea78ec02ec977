/* regress/unit/log_capture.h: what a test's code logs, as text. */
#ifndef LOG_CAPTURE_H
#define LOG_CAPTURE_H

#include <stdbool.h>
#include "base/log.h"

/* Messages up to level are kept from now on, older ones dropped. */
void log_capture_start(enum log_level level);
/* Lines, each ending in a newline. Valid until the next message. */
const char *log_capture_text(void);
/* Whether a line holds part. */
bool log_capture_has(const char *part);
void log_capture_drop(void);
/* Back to stderr; memory is freed. */
void log_capture_stop(void);

#endif
