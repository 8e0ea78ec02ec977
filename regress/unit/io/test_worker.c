/* regress/unit/io/test_worker.c: the helper thread. */
#include "io/worker.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/loop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct log { char ran[32], done[32]; int ran_n, done_n; };

struct job {
	struct log *log;
	char name;
	pthread_t ran_on;
	int wait_fd;                     /* run reads a byte from it first; -1: not */
	struct worker *w;                /* done frees it */
};

static void run(void *ctx)
{
	struct job *j = ctx;
	char c;

	if (j->wait_fd >= 0)
		assert_int_equal(read(j->wait_fd, &c, 1), 1);
	j->ran_on = pthread_self();
	j->log->ran[j->log->ran_n++] = j->name;
}

static void done(void *ctx)
{
	struct job *j = ctx;

	j->log->done[j->log->done_n++] = j->name;
	if (j->w != NULL)
		worker_free(j->w);
}

static void test_order(void **state)
{
	struct err e = { 0 };
	struct loop *l = loop_new(&e);
	struct worker *w = worker_new(l, &e);
	struct log log = { .ran_n = 0 };
	struct job j[5];
	int i;

	assert_non_null(w);
	/* An idle worker does not keep the loop going. */
	assert_int_equal(loop_run(l, &e), 0);
	for (i = 0; i < 5; i++) {
		j[i] = (struct job){ .log = &log, .name = (char)('a' + i), .wait_fd = -1 };
		worker_submit(w, run, done, &j[i]);
	}
	assert_int_equal(loop_run(l, &e), 0);
	assert_string_equal(log.ran, "abcde");
	assert_string_equal(log.done, "abcde");
	assert_false(pthread_equal(j[0].ran_on, pthread_self()));
	assert_true(pthread_equal(j[0].ran_on, j[4].ran_on));
	worker_free(w);
	worker_free(NULL);
	loop_free(l);
}

static void test_stop_and_go_on(void **state)
{
	struct err e = { 0 };
	struct loop *l = loop_new(&e);
	struct worker *w = worker_new(l, &e);
	struct log log = { .ran_n = 0 };
	struct job j[3];
	int p[2], i;

	assert_int_equal(pipe(p), 0);
	worker_stop(w);
	for (i = 0; i < 3; i++) {
		j[i] = (struct job){ .log = &log, .name = (char)('a' + i), .wait_fd = i == 0 ? p[0] : -1 };
		worker_submit(w, run, done, &j[i]);
	}
	assert_int_equal(write(p[1], "x", 1), 1);
	worker_stop(w);
	/* What was begun has ended; of the rest, what was not begun is done without being run. */
	assert_int_equal(log.done_n, 0);
	assert_int_equal(loop_run(l, &e), 0);
	assert_string_equal(log.done, "abc");
	assert_true(log.ran_n <= 3);
	/* And it starts again. */
	log = (struct log){ .ran_n = 0 };
	j[1].name = 'z';
	worker_submit(w, run, done, &j[1]);
	assert_int_equal(loop_run(l, &e), 0);
	assert_string_equal(log.ran, "z");
	assert_string_equal(log.done, "z");
	worker_free(w);
	loop_free(l);
	close(p[0]);
	close(p[1]);
}

static void test_free_with_jobs(void **state)
{
	struct err e = { 0 };
	struct loop *l = loop_new(&e);
	struct worker *w = worker_new(l, &e);
	struct log log = { .ran_n = 0 };
	struct job j[3];
	int i;

	for (i = 0; i < 3; i++) {
		j[i] = (struct job){ .log = &log, .name = (char)('a' + i), .wait_fd = -1 };
		worker_submit(w, run, done, &j[i]);
	}
	worker_free(w);
	assert_string_equal(log.done, "abc");
	assert_int_equal(loop_run(l, &e), 0);
	loop_free(l);
}

static void test_free_inside_done(void **state)
{
	struct err e = { 0 };
	struct loop *l = loop_new(&e);
	struct worker *w = worker_new(l, &e);
	struct log log = { .ran_n = 0 };
	struct job j[3];
	int i;

	for (i = 0; i < 3; i++) {
		j[i] = (struct job){ .log = &log, .name = (char)('a' + i), .wait_fd = -1, .w = i == 1 ? w : NULL };
		worker_submit(w, run, done, &j[i]);
	}
	assert_int_equal(loop_run(l, &e), 0);
	assert_int_equal(log.done_n, 3);
	loop_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order), cmocka_unit_test(test_stop_and_go_on), cmocka_unit_test(test_free_with_jobs),
		cmocka_unit_test(test_free_inside_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
