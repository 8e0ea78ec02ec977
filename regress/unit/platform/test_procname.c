/* regress/unit/platform/test_procname.c: process titles, and messages to the service manager. */
#include "platform/procname.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "platform/sdnotify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static int saved_argc;
static char **saved_argv;

static size_t read_proc(const char *name, char *b, size_t size)
{
	int fd = open(name, O_RDONLY);
	ssize_t n = read(fd, b, size - 1);

	close(fd);
	assert_true(n >= 0);
	b[n] = '\0';
	return (size_t)n;
}

static void test_title(void **state)
{
	struct procname p = { 0 };
	char b[8192], *first = strdup(saved_argv[0]), long_title[600];
	size_t n;

	/* Before it is known where the title is, nothing happens. */
	procname_set_title(&p, "nothing");
	setenv("WS_BEFORE", "1", 1);
	procname_init(&p, saved_argc, saved_argv);
	assert_true(p.size > strlen(first));
	assert_string_equal(saved_argv[0], first);
	procname_set_title(&p, "sshd: %s", "me");
	read_proc("/proc/self/cmdline", b, sizeof(b));
	assert_string_equal(b, "sshd: me");
	/* Arguments and environment are as they were. */
	assert_string_equal(saved_argv[0], first);
	assert_string_equal(getenv("WS_BEFORE"), "1");
	assert_int_equal(setenv("WS_AFTER", "2", 1), 0);
	assert_string_equal(getenv("WS_AFTER"), "2");
	unsetenv("WS_BEFORE");
	assert_null(getenv("WS_BEFORE"));
	assert_string_equal(getenv("WS_AFTER"), "2");
	/* A title longer than the memory there is cut. */
	memset(long_title, 'x', sizeof(long_title) - 1);
	long_title[sizeof(long_title) - 1] = '\0';
	procname_set_title(&p, "%s", long_title);
	n = read_proc("/proc/self/cmdline", b, sizeof(b));
	assert_true(n <= p.size && strspn(b, "x") == (p.size - 1 < 511 ? p.size - 1 : 511));
	procname_set_title(&p, "short");
	read_proc("/proc/self/cmdline", b, sizeof(b));
	assert_string_equal(b, "short");
	free(first);
}

static void test_short(void **state)
{
	char b[64];

	procname_set_short("sshd");
	read_proc("/proc/self/comm", b, sizeof(b));
	assert_string_equal(b, "sshd\n");
	procname_set_short("a-name-that-is-longer");
	read_proc("/proc/self/comm", b, sizeof(b));
	assert_string_equal(b, "a-name-that-is-\n");
}

/* ---- service manager */

static int notify_socket(const char *name)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	memcpy(sun.sun_path, name, strlen(name));
	if (name[0] == '@')
		sun.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (const struct sockaddr *)&sun, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))), 0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

static void receive(int fd, char *b, size_t size)
{
	ssize_t n = recv(fd, b, size - 1, MSG_DONTWAIT);

	assert_true(n >= 0);
	b[n] = '\0';
}

static void test_notify(void **state)
{
	char name[64], b[200];
	struct err e = { 0 };
	uint64_t us = 0, before = clock_mono_us();
	int i, fd;

	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(sdnotify_ready(&e), 0);
	for (i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), i == 0 ? "/tmp/wsnotify.%d" : "@wsnotify.%d", (int)getpid());
		fd = notify_socket(name);
		assert_int_equal(sdnotify_ready(&e), 0);
		receive(fd, b, sizeof(b));
		assert_string_equal(b, "READY=1\n");
		assert_int_equal(sdnotify_reloading(&e), 0);
		receive(fd, b, sizeof(b));
		assert_int_equal(sscanf(b, "RELOADING=1\nMONOTONIC_USEC=%" SCNu64 "\n", &us), 1);
		assert_true(us >= before && us <= clock_mono_us());
		assert_int_equal(sdnotify_stopping(&e), 0);
		receive(fd, b, sizeof(b));
		assert_string_equal(b, "STOPPING=1\n");
		assert_int_equal(sdnotify_send("STATUS=x\n", &e), 0);
		close(fd);
		unlink(name);
		assert_int_equal(sdnotify_ready(&e), ERR_IO);
		err_clear(&e);
	}
	setenv("NOTIFY_SOCKET", "relative", 1);
	assert_int_equal(sdnotify_ready(&e), ERR_USAGE);
	setenv("NOTIFY_SOCKET", "@", 1);
	assert_int_equal(sdnotify_ready(NULL), ERR_USAGE);
	unsetenv("NOTIFY_SOCKET");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_title), cmocka_unit_test(test_short), cmocka_unit_test(test_notify),
	};

	saved_argc = argc;
	saved_argv = argv;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
