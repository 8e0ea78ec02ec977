/* regress/unit/server/test_monitor_signals.c: a monitor misses no signal, and kills nobody who has inherited a number. */
#include "server/monitor_signals.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { ROUNDS = 3000, PATIENCE_S = 60 };

static int reaped_under_clock, reaped;

/* In the place of the C library's: looks at the clock while it takes the child's number away. */
pid_t waitpid(pid_t pid, int *status, int options)
{
	struct itimerval left = { 0 };

	(void)getitimer(ITIMER_REAL, &left);
	reaped++;
	reaped_under_clock += left.it_value.tv_sec != 0 || left.it_value.tv_usec != 0;
	return (pid_t)syscall(SYS_wait4, pid, status, options, NULL);
}

static pid_t start_child(int code)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		while (code < 0)
			(void)pause();
		_exit(code);
	}
	return pid;
}

static void test_clock_is_off_before_the_number_is_free(void **state)
{
	int status;
	pid_t pid = start_child(7);

	(void)state;
	reaped = reaped_under_clock = 0;
	monitor_grace_start(pid, PATIENCE_S);
	status = monitor_reap(pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	assert_int_equal(reaped, 1);
	assert_int_equal(reaped_under_clock, 0);
	assert_int_equal(alarm(0), 0);
	assert_false(monitor_grace_is_over());
}

/* A child that stays is killed. */
static void test_clock_kills(void **state)
{
	pid_t pid = start_child(-1);
	int status;

	(void)state;
	monitor_grace_start(pid, PATIENCE_S);
	(void)raise(SIGALRM);
	assert_true(monitor_grace_is_over());
	/* the second one would be for us */
	assert_true(alarm(PATIENCE_S) > 0);
	status = monitor_reap(pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(alarm(0), 0);
}

static void test_signal_before_the_wait(void **state)
{
	struct err e = { 0 };
	int p[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	(void)alarm(PATIENCE_S);
	(void)raise(SIGTERM);
	assert_int_equal(monitor_stop_wait(p[0], &e), SIGTERM);
	(void)raise(SIGHUP);
	(void)raise(SIGHUP);
	assert_int_equal(write(p[1], "x", 1), 1);
	assert_int_equal(monitor_stop_wait(p[0], &e), SIGHUP);
	assert_int_equal(monitor_stop_wait(p[0], &e), 0);
	(void)alarm(0);
	close(p[0]);
	close(p[1]);
}

/* Whenever it comes: somebody else sends one for each byte, so that it meets every point on the way into the wait. */
static void test_signal_at_any_time(void **state)
{
	struct err e = { 0 };
	int ask[2], quiet[2], status, i;
	pid_t waiter = getpid(), pid;

	(void)state;
	assert_int_equal(pipe(ask), 0);
	assert_int_equal(pipe(quiet), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char byte;

		close(ask[1]);
		for (i = 0; read(ask[0], &byte, 1) == 1; i++) {
			for (volatile int spin = 0; spin < i % 400; spin++)
				;
			(void)kill(waiter, i % 2 ? SIGTERM : SIGINT);
		}
		_exit(0);
	}
	close(ask[0]);
	(void)alarm(PATIENCE_S);
	for (i = 0; i < ROUNDS; i++) {
		assert_int_equal(write(ask[1], "x", 1), 1);
		assert_int_equal(monitor_stop_wait(quiet[0], &e), i % 2 ? SIGTERM : SIGINT);
	}
	(void)alarm(0);
	close(ask[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(quiet[0]);
	close(quiet[1]);
}

static int watch(void **state)
{
	struct err e = { 0 };

	(void)state;
	return monitor_stop_watch(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_is_off_before_the_number_is_free),
		cmocka_unit_test(test_clock_kills),
		cmocka_unit_test(test_signal_before_the_wait),
		cmocka_unit_test(test_signal_at_any_time),
	};

	return cmocka_run_group_tests(tests, watch, NULL);
}
