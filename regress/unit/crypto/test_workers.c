/* Threads that share the pieces of a call: every piece once, lanes alone, stop and start, none to be had, fork. */
#include "crypto/workers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"

enum { PIECES = 1000 };

struct sums {
	_Atomic unsigned done[PIECES];
	unsigned lane[WORKERS_LANES_MAX];        /* not atomic: a lane is one thread at a time */
	unsigned lanes;
	unsigned wait_for;               /* the first piece waits until another lane has done one; 0: it does not */
	_Atomic unsigned others;
};

static void piece(void *ctx, unsigned lane, size_t i)
{
	struct sums *s = ctx;

	if (lane >= s->lanes)
		abort();
	s->lane[lane]++;
	atomic_fetch_add(&s->done[i], 1);
	if (lane != 0)
		atomic_fetch_add(&s->others, 1);
	while (lane == 0 && s->wait_for != 0 && atomic_load(&s->others) < s->wait_for)
		;
}

static void run_and_check(struct workers *w, size_t n, unsigned wait_for)
{
	struct sums *s = mem_zalloc(sizeof(*s));
	unsigned sum = 0;
	size_t i;

	s->lanes = workers_lanes(w);
	s->wait_for = wait_for;
	workers_run(w, piece, s, n);
	for (i = 0; i < PIECES; i++)
		assert_int_equal(s->done[i], i < n);
	for (i = 0; i < WORKERS_LANES_MAX; i++)
		sum += s->lane[i];
	assert_int_equal(sum, n);
	free(s);
}

static void test_every_piece_once(void **state)
{
	(void)state;
	for (unsigned helpers = 0; helpers <= WORKERS_MAX; helpers++) {
		struct workers *w = workers_new(helpers);

		assert_int_equal(workers_lanes(w), helpers + 1);
		assert_false(workers_running(w));
		for (size_t n = 0; n < 40; n++)
			run_and_check(w, n, 0);
		assert_int_equal(workers_running(w), helpers != 0);
		for (int i = 0; i < 50; i++)
			run_and_check(w, PIECES, 0);
		workers_free(w);
	}
}

/* The caller does not go on before a helper has taken part, so helpers do. */
static void test_helpers_help(void **state)
{
	struct workers *w = workers_new(1);

	(void)state;
	run_and_check(w, 2, 1);
	workers_expect(w);
	run_and_check(w, PIECES, 3);
	workers_free(w);
}

static void test_too_many(void **state)
{
	struct workers *w = workers_new(1000);

	(void)state;
	assert_int_equal(workers_lanes(w), WORKERS_LANES_MAX);
	run_and_check(w, PIECES, 0);
	workers_free(w);
	workers_free(NULL);
	workers_stop(NULL);
	assert_false(workers_running(NULL));
}

static void test_stop_and_again(void **state)
{
	struct workers *w = workers_new(2);

	(void)state;
	for (int i = 0; i < 10; i++) {
		if (i % 2 != 0)
			workers_expect(w);
		run_and_check(w, 100, 1);
		assert_true(workers_running(w));
		workers_stop(w);
		assert_false(workers_running(w));
	}
	workers_free(w);
}

/* A child of a process whose threads were stopped has a working pool of its own. */
static void test_fork(void **state)
{
	struct workers *w = workers_new(1);
	int status = -1;
	pid_t pid;

	(void)state;
	run_and_check(w, 100, 1);
	workers_stop(w);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		run_and_check(w, 100, 1);
		workers_free(w);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	run_and_check(w, 100, 1);
	workers_free(w);
}

/* Where the system gives no thread the caller does it all, and does not ask again and again. */
static void test_no_threads(void **state)
{
	int status = -1;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		const struct rlimit none = { 0, 0 };
		struct workers *w = workers_new(2);

		/* The limit does not bind root. */
		if (geteuid() == 0 && setuid(65534) != 0)
			_exit(0);
		if (setrlimit(RLIMIT_NPROC, &none) != 0)
			_exit(1);
		run_and_check(w, 100, 0);
		if (workers_running(w) || workers_lanes(w) != 1)
			_exit(2);
		run_and_check(w, 100, 0);
		workers_free(w);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_piece_once),
		cmocka_unit_test(test_helpers_help),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_stop_and_again),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_no_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
