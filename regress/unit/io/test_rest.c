/* regress/unit/io/test_rest.c: a connection comes to rest once, when hardly anything moved for a while. */
#include "io/rest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "io/loop.h"

enum { LOOKS_BUSY = 1 };

struct connection {
	struct loop *loop;
	unsigned looks, rests;
	uint64_t bytes;
};

/* Called once when the watch begins, then at every look. */
static uint64_t moved(void *ctx)
{
	struct connection *c = ctx;

	c->bytes += c->looks++ <= LOOKS_BUSY ? 1024 * 1024 : 1000;
	return c->bytes;
}

static void resting(void *ctx)
{
	struct connection *c = ctx;

	c->rests++;
}

static void rests_once_it_is_quiet(void **state)
{
	struct err e = { 0 };
	struct connection c = { .loop = loop_new(&e) };
	struct rest *r;

	(void)state;
	assert_non_null(c.loop);
	r = rest_new(c.loop, &(struct rest_user){ moved, resting, &c });
	/* Nothing but its timer is in the loop, which ends when that is no longer armed. */
	assert_int_equal(loop_run(c.loop, &e), 0);
	assert_int_equal(c.looks, 2 + LOOKS_BUSY);
	assert_int_equal(c.rests, 1);
	rest_free(r);
	rest_free(NULL);
	loop_free(c.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(rests_once_it_is_quiet) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
