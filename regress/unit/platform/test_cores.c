/* How many processors there are to use, and to spare. */
#include "platform/cores.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

static void test_one(void **state)
{
	cpu_set_t before, one;
	int sv[2], cpu = 0;
	unsigned cores = cores_usable();

	(void)state;
	assert_true(cores >= 1);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	assert_int_equal(cores_to_spare(sv[0]), cores > 2 ? cores - 2 : 0);
	assert_int_equal(cores_to_spare(-1), cores - 1);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	while (!CPU_ISSET(cpu, &before))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(cores_usable(), 1);
	assert_int_equal(cores_to_spare(-1), 0);
	assert_int_equal(cores_to_spare(sv[0]), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	close(sv[0]);
	close(sv[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_one) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
