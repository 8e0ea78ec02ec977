/* regress/unit/platform/test_loginrec.c: login records, in files of the test's own. */
#include "platform/loginrec.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utmpx.h>

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static char dir[] = "/tmp/wsloginXXXXXX", utmp[64], wtmp[64], lastlog[64], btmp[64];
static const struct loginrec_files files = { utmp, wtmp, lastlog };

static int setup(void **state)
{
	(void)state;
	if (mkdtemp(dir) == NULL)
		return 1;
	snprintf(utmp, sizeof(utmp), "%s/utmp", dir);
	snprintf(wtmp, sizeof(wtmp), "%s/wtmp", dir);
	snprintf(lastlog, sizeof(lastlog), "%s/lastlog", dir);
	snprintf(btmp, sizeof(btmp), "%s/btmp", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(utmp);
	unlink(wtmp);
	unlink(lastlog);
	unlink(btmp);
	return rmdir(dir);
}

static void touch(const char *name)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static bool read_record(const char *name, int n, struct utmpx *u)
{
	int fd = open(name, O_RDONLY);
	ssize_t r = pread(fd, u, sizeof(*u), (off_t)n * (off_t)sizeof(*u));

	close(fd);
	return r == (ssize_t)sizeof(*u);
}

static struct loginrec record(const struct sockaddr_in *sin)
{
	return (struct loginrec){ .pid = 1234, .tty = "/dev/pts/77", .user = "someone", .uid = 3, .host = "client.example",
		.address = (const struct sockaddr *)sin };
}

static void test_missing_files_stay_missing(void **state)
{
	struct loginrec r = record(NULL);
	struct loginrec_last last;

	loginrec_login(&r, &files);
	loginrec_logout(&r, &files);
	loginrec_failure("u", "ssh:notty", "h", NULL, btmp);
	assert_int_not_equal(access(utmp, F_OK), 0);
	assert_int_not_equal(access(wtmp, F_OK), 0);
	assert_int_not_equal(access(lastlog, F_OK), 0);
	assert_int_not_equal(access(btmp, F_OK), 0);
	assert_false(loginrec_read_last(3, "someone", &files, &last));
}

static void test_login_and_logout(void **state)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	struct loginrec r = record(&sin);
	struct loginrec_last last;
	struct utmpx u;
	time_t now = time(NULL);

	sin.sin_addr.s_addr = htonl(0x0a000102);
	touch(utmp);
	touch(wtmp);
	touch(lastlog);
	assert_false(loginrec_read_last(3, "someone", &files, &last));
	loginrec_login(&r, &files);
	assert_true(read_record(utmp, 0, &u));
	assert_int_equal(u.ut_type, USER_PROCESS);
	assert_int_equal(u.ut_pid, 1234);
	assert_string_equal(u.ut_line, "pts/77");
	assert_memory_equal(u.ut_id, "s/77", 4);
	assert_string_equal(u.ut_user, "someone");
	assert_string_equal(u.ut_host, "client.example");
	assert_memory_equal(&u.ut_addr_v6[0], &sin.sin_addr, 4);
	assert_true(u.ut_tv.tv_sec >= now && u.ut_tv.tv_sec < now + 100);
	assert_true(read_record(wtmp, 0, &u));
	assert_int_equal(u.ut_type, USER_PROCESS);
	assert_true(loginrec_read_last(3, "someone", &files, &last));
	assert_true(last.when >= now && last.when < now + 100);
	assert_string_equal(last.tty, "pts/77");
	assert_string_equal(last.host, "client.example");
	/* Others have their own place. */
	assert_false(loginrec_read_last(2, "someone", &files, &last));
	assert_false(loginrec_read_last(4, "someone", &files, &last));
	loginrec_logout(&r, &files);
	assert_true(read_record(utmp, 0, &u));
	assert_int_equal(u.ut_type, DEAD_PROCESS);
	assert_string_equal(u.ut_user, "");
	assert_string_equal(u.ut_host, "");
	assert_false(read_record(utmp, 1, &u));
	assert_true(read_record(wtmp, 1, &u));
	assert_int_equal(u.ut_type, DEAD_PROCESS);
	assert_string_equal(u.ut_line, "pts/77");
	/* Without lastlog, wtmp tells; only logins count. */
	unlink(lastlog);
	assert_true(loginrec_read_last(99, "someone", &files, &last));
	assert_string_equal(last.host, "client.example");
	assert_false(loginrec_read_last(99, "some", &files, &last));
	assert_false(loginrec_read_last(99, "someone2", &files, &last));
}

static void test_long_texts(void **state)
{
	struct loginrec r = record(NULL);
	struct loginrec_last last;
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct utmpx u;
	char user[100], host[1000];

	memset(user, 'u', sizeof(user) - 1);
	user[sizeof(user) - 1] = '\0';
	memset(host, 'h', sizeof(host) - 1);
	host[sizeof(host) - 1] = '\0';
	touch(utmp);
	touch(wtmp);
	touch(lastlog);
	r.user = user;
	r.host = host;
	r.tty = "pts/1";
	r.uid = 4000000000u;
	inet_pton(AF_INET6, "2001:db8::7", &six.sin6_addr);
	r.address = (const struct sockaddr *)&six;
	loginrec_login(&r, &files);
	assert_true(read_record(wtmp, 0, &u));
	assert_memory_equal(u.ut_user, user, sizeof(u.ut_user));
	assert_memory_equal(u.ut_host, host, sizeof(u.ut_host));
	assert_memory_equal(&u.ut_addr_v6[0], &six.sin6_addr, 16);
	assert_true(loginrec_read_last(r.uid, user, &files, &last));
	assert_int_equal(strlen(last.host), 256);
	assert_string_equal(last.tty, "pts/1");
	inet_pton(AF_INET6, "::ffff:10.0.1.2", &six.sin6_addr);
	loginrec_login(&r, &files);
	assert_true(read_record(wtmp, 1, &u));
	assert_memory_equal(&u.ut_addr_v6[0], "\x0a\0\1\2", 4);
	assert_int_equal(u.ut_addr_v6[1], 0);
}

static void test_failure(void **state)
{
	struct utmpx u;

	touch(btmp);
	loginrec_failure("mallory", "ssh:notty", "10.0.0.9", NULL, btmp);
	assert_true(read_record(btmp, 0, &u));
	assert_int_equal(u.ut_type, LOGIN_PROCESS);
	assert_string_equal(u.ut_user, "mallory");
	assert_string_equal(u.ut_line, "ssh:notty");
	assert_string_equal(u.ut_host, "10.0.0.9");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_files_stay_missing), cmocka_unit_test(test_login_and_logout),
		cmocka_unit_test(test_long_texts), cmocka_unit_test(test_failure),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
