/* Random bytes: filled to the last byte, in range, not repeated. */
#include "crypto/rand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void fills_everything(void **state)
{
	uint8_t seen[5000];

	(void)state;
	rand_prepare();
	/* After 16 rounds a byte that is still zero was never written (chance 2^-128 each). */
	for (int padding = 0; padding < 2; padding++) {
		for (size_t n = 0; n <= sizeof(seen); n = n * 2 + 1) {
			uint8_t any[5000] = { 0 };

			for (int round = 0; round < 16; round++) {
				memset(seen, 0, sizeof(seen));
				if (padding)
					rand_padding(seen, n);
				else
					rand_bytes(seen, n);
				for (size_t i = 0; i < sizeof(seen); i++)
					any[i] |= seen[i];
			}
			for (size_t i = 0; i < n; i++)
				assert_int_not_equal(any[i], 0);
			for (size_t i = n; i < sizeof(seen); i++)
				assert_int_equal(any[i], 0);
		}
	}
}

static void below_a_bound(void **state)
{
	unsigned count[7] = { 0 }, low = 0;

	(void)state;
	assert_int_equal(rand_below(0), 0);
	assert_int_equal(rand_below(1), 0);
	for (int i = 0; i < 7000; i++) {
		uint32_t v = rand_below(7);

		assert_true(v < 7);
		count[v]++;
	}
	for (int i = 0; i < 7; i++)
		assert_in_range(count[i], 700, 1300);
	for (int i = 0; i < 100; i++)
		assert_true(rand_below(0x80000001U) <= 0x80000000U);
	/* A plain remainder would give the lowest third of these half of the time. */
	for (int i = 0; i < 3000; i++)
		low += rand_below(0xc0000000U) < 0x40000000U;
	assert_in_range(low, 850, 1150);
}

static void padding_differs(void **state)
{
	uint8_t a[16], b[16];

	(void)state;
	for (int i = 0; i < 300; i++) {
		rand_padding(a, sizeof(a));
		rand_padding(b, sizeof(b));
		assert_memory_not_equal(a, b, sizeof(a));
	}
	assert_int_not_equal(rand_u32() | rand_u32() | rand_u32(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_everything),
		cmocka_unit_test(below_a_bound),
		cmocka_unit_test(padding_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
