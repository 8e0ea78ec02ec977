/* The table of requests: every message in every state, how often, how long. The matrix is written down a second time here, on
 * purpose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "server/monitor_table.h"
#include "server/monitor_wire.h"

/* k kex, a auth, p prompt, y accepted, o over, s session */
static const struct { uint8_t type; const char *states; } permitted[] = {
	{ MON_LOG, "kapyos" }, { MON_END, "kapy" }, { MON_SIGN, "ks" }, { MON_AUTH, "a" }, { MON_ANSWERS, "p" },
	{ MON_ABORT, "p" }, { MON_HANDOFF, "y" }, { MON_PROVE, "s" }, { MON_PTY, "s" }, { MON_PTY_DONE, "s" },
};
static const char letters[MON_STATE_COUNT + 1] = "kapyos";

static bool is_permitted(unsigned type, enum mon_state s)
{
	for (size_t i = 0; i < MEM_COUNT(permitted); i++)
		if (permitted[i].type == type)
			return strchr(permitted[i].states, letters[s]) != NULL;
	return false;
}

static void test_matrix(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 256; type++)
		for (int s = 0; s < MON_STATE_COUNT; s++) {
			struct mon_gate g = { .state = (enum mon_state)s };
			const struct mon_rule *rule;
			struct err e = { 0 };
			int rc = mon_gate_admit(&g, (uint8_t)type, 0, &rule, &e);

			assert_int_equal(rc, is_permitted(type, (enum mon_state)s) ? 0 : ERR_PEER);
			assert_int_equal(rule != NULL, rc == 0);
			if (rc == 0)
				assert_non_null(rule->handle);
			else
				assert_true(e.text[0] != '\0');
		}
}

static void test_how_often(void **state)
{
	const struct mon_rule *r, *got;

	(void)state;
	for (size_t i = 0; (r = mon_rule_at(i)) != NULL; i++)
		for (int s = 0; s < MON_STATE_COUNT; s++) {
			struct mon_gate g = { .state = (enum mon_state)s };

			if ((r->states & 1u << s) == 0)
				continue;
			for (unsigned n = 0; n < (r->times != 0 ? r->times : 3000); n++)
				assert_int_equal(mon_gate_admit(&g, r->type, 0, &got, NULL), 0);
			assert_ptr_equal(got, r);
			assert_int_equal(mon_gate_admit(&g, r->type, 0, &got, NULL), r->times != 0 ? ERR_PEER : 0);
		}
}

/* What must happen once only. */
static void test_once(void **state)
{
	static const struct { uint8_t type; enum mon_state s; } once[] = {
		{ MON_SIGN, MON_AT_KEX }, { MON_HANDOFF, MON_AT_ACCEPTED }, { MON_END, MON_AT_AUTH },
	};
	const struct mon_rule *rule;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(once); i++) {
		struct mon_gate g = { .state = once[i].s };

		assert_int_equal(mon_gate_admit(&g, once[i].type, 0, &rule, NULL), 0);
		assert_int_equal(mon_gate_admit(&g, once[i].type, 0, &rule, NULL), ERR_PEER);
	}
}

static void test_sizes(void **state)
{
	const struct mon_rule *r, *got;

	(void)state;
	for (size_t i = 0; (r = mon_rule_at(i)) != NULL; i++)
		for (int s = 0; s < MON_STATE_COUNT; s++) {
			struct mon_gate g = { .state = (enum mon_state)s };

			if ((r->states & 1u << s) == 0)
				continue;
			assert_int_equal(mon_gate_admit(&g, r->type, r->size + 1, &got, NULL), ERR_PEER);
			assert_int_equal(mon_gate_admit(&g, r->type, UINT32_MAX, &got, NULL), ERR_PEER);
			assert_int_equal(mon_gate_admit(&g, r->type, r->size, &got, NULL), 0);
			assert_true(r->size <= MON_BODY_MAX);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matrix), cmocka_unit_test(test_how_often), cmocka_unit_test(test_once),
		cmocka_unit_test(test_sizes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
