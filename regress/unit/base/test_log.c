/* regress/unit/base/test_log.c: levels, prefixes, escaping, targets. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static char got[40000];
static enum log_level got_level;
static int got_count;

static void sink(void *ctx, enum log_level level, const char *line)
{
	assert_ptr_equal(ctx, got);
	strncpy(got, line, sizeof(got) - 1);
	got_level = level;
	got_count++;
}

static int setup(void **state)
{
	log_init("test", LOG_LEVEL_DEBUG3);
	log_to_sink(sink, got);
	got_count = 0;
	return 0;
}

static void test_levels(void **state)
{
	log_set_level(LOG_LEVEL_INFO);
	log_verbose("no");
	log_debug("no");
	assert_int_equal(got_count, 0);
	log_info("yes %d", 1);
	assert_int_equal(got_count, 1);
	assert_string_equal(got, "yes 1");
	log_error("e");
	assert_int_equal(got_level, LOG_LEVEL_ERROR);
	log_set_level(LOG_LEVEL_QUIET);
	log_at(LOG_LEVEL_FATAL, "no");
	log_at(LOG_LEVEL_QUIET, "no");
	assert_int_equal(got_count, 2);
	log_set_level(LOG_LEVEL_DEBUG3);
	log_debug3("d");
	assert_int_equal(got_level, LOG_LEVEL_DEBUG3);
	assert_int_equal(log_level_get(), LOG_LEVEL_DEBUG3);
}

static void test_names(void **state)
{
	enum log_level l;
	int i, f;

	for (i = LOG_LEVEL_QUIET; i <= LOG_LEVEL_DEBUG3; i++) {
		assert_int_equal(log_level_parse(log_level_name((enum log_level)i), &l), 0);
		assert_int_equal(l, i);
	}
	assert_int_equal(log_level_parse("debug1", &l), 0);
	assert_int_equal(l, LOG_LEVEL_DEBUG1);
	assert_string_equal(log_level_name(LOG_LEVEL_DEBUG1), "DEBUG");
	assert_int_equal(log_level_parse("debug4", &l), ERR_USAGE);
	assert_int_equal(log_level_parse("", &l), ERR_USAGE);
	assert_int_equal(log_facility_parse("authpriv", &f), 0);
	assert_int_equal(f, LOG_AUTHPRIV);
	assert_string_equal(log_facility_name(LOG_LOCAL7), "LOCAL7");
	assert_int_equal(log_facility_parse("KERN", &f), ERR_USAGE);
	assert_null(log_facility_name(LOG_KERN));
}

static void test_escapes(void **state)
{
	char long_text[20000];

	log_info("a\nb\rc\033[2J\tz\\\377\n");
	assert_string_equal(got, "a\\012b\\015c\\033[2J\tz\\\\377");
	/* Longer ones are cut, and nothing but the cut is lost. */
	memset(long_text, '\001', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	log_info("%s", long_text);
	assert_int_equal(strlen(got), 4095 * 4);
	assert_string_equal(got + strlen(got) - 8, "\\001\\001");
}

static void test_errno_kept(void **state)
{
	errno = EXDEV;
	log_info("x");
	assert_int_equal(errno, EXDEV);
}

static void read_line(int fd, const char *want)
{
	char b[200];
	ssize_t n = read(fd, b, sizeof(b) - 1);

	assert_true(n >= 0);
	b[n] = '\0';
	assert_string_equal(b, want);
}

static void test_fd(void **state)
{
	int p[2];
	char fill[4096] = { 0 };

	assert_int_equal(pipe(p), 0);
	log_to_fd(p[1]);
	log_error("e");
	read_line(p[0], "e\r\n");
	log_debug2("d");
	read_line(p[0], "debug2: d\r\n");
	log_at(LOG_LEVEL_FATAL, "f");
	read_line(p[0], "f\r\n");
	/* A reader who does not read holds nobody up for long. */
	assert_int_equal(fcntl(p[1], F_SETFL, O_NONBLOCK), 0);
	while (write(p[1], fill, sizeof(fill)) > 0)
		;
	log_error("dropped");
	close(p[0]);
	close(p[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_levels, setup), cmocka_unit_test_setup(test_names, setup),
		cmocka_unit_test_setup(test_escapes, setup), cmocka_unit_test_setup(test_errno_kept, setup),
		cmocka_unit_test_setup(test_fd, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
