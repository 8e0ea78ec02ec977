/* regress/unit/log_capture.c: what a test's code logs, as text. */
#include "log_capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static char *captured;

static void capture(void *ctx, enum log_level level, const char *line)
{
	char *joined = str_printf("%s%s\n", captured != NULL ? captured : "", line);

	(void)ctx;
	(void)level;
	free(captured);
	captured = joined;
}

void log_capture_start(enum log_level level)
{
	log_capture_drop();
	log_set_level(level);
	log_to_sink(capture, NULL);
}

const char *log_capture_text(void)
{
	return captured != NULL ? captured : "";
}

bool log_capture_has(const char *part)
{
	return strstr(log_capture_text(), part) != NULL;
}

void log_capture_drop(void)
{
	free(captured);
	captured = NULL;
}

void log_capture_stop(void)
{
	log_capture_drop();
	log_to_stderr();
	log_set_level(LOG_LEVEL_INFO);
}
