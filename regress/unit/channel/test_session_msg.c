/* Session requests: what is put is what is got; what is broken is refused. */
#include "channel/session_msg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <signal.h>

static struct reader of(const struct buf *b)
{
	struct reader r;

	assert_true(buf_ok(b));
	reader_init(&r, b->data, b->size);
	return r;
}

/* Every shorter message must be refused, and one byte more as well. */
#define REFUSES_OTHER_SIZES(b, get) do { \
	for (size_t cut = 0; cut < (b)->size; cut++) { \
		reader_init(&r, (b)->data, cut); \
		assert_true((get) < 0); \
	} \
	buf_put_u8((b), 0); \
	r = of(b); \
	assert_true((get) < 0); \
} while (0)

static void test_pty(void **state)
{
	char term[] = "xterm-256color";
	struct session_pty in = { term, 80, 24, 640, 480, { (const uint8_t *)"\x80\0\0\x96\0\0", 6 } }, out;
	struct buf b = BUF_INIT(1000);
	struct reader r;

	session_pty_put(&b, &in);
	r = of(&b);
	assert_int_equal(session_pty_get(&r, &out, NULL), 0);
	assert_string_equal(out.term, term);
	assert_int_equal(out.columns, 80);
	assert_int_equal(out.rows, 24);
	assert_int_equal(out.width_px, 640);
	assert_int_equal(out.height_px, 480);
	assert_true(view_equal(out.modes, in.modes));
	free(out.term);
	REFUSES_OTHER_SIZES(&b, session_pty_get(&r, &out, NULL));
	buf_free(&b);
}

static void test_window(void **state)
{
	struct session_window in = { 1, 2, 3, 4 }, out;
	struct buf b = BUF_INIT(1000);
	struct reader r;

	session_window_put(&b, &in);
	r = of(&b);
	assert_int_equal(session_window_get(&r, &out, NULL), 0);
	assert_memory_equal(&in, &out, sizeof in);
	REFUSES_OTHER_SIZES(&b, session_window_get(&r, &out, NULL));
	buf_free(&b);
}

static void test_env(void **state)
{
	struct buf b = BUF_INIT(1000);
	char *name, *value;
	struct reader r;

	session_env_put(&b, "LANG", "C.UTF-8");
	r = of(&b);
	assert_int_equal(session_env_get(&r, &name, &value, NULL), 0);
	assert_string_equal(name, "LANG");
	assert_string_equal(value, "C.UTF-8");
	free(name);
	free(value);
	REFUSES_OTHER_SIZES(&b, session_env_get(&r, &name, &value, NULL));
	buf_free(&b);
}

static void test_command_holds_no_nul(void **state)
{
	struct buf b = BUF_INIT(1000);
	struct reader r;
	char *s;

	session_string_put(&b, "true");
	r = of(&b);
	assert_int_equal(session_string_get(&r, 100, &s, NULL), 0);
	assert_string_equal(s, "true");
	free(s);
	r = of(&b);
	assert_true(session_string_get(&r, 3, &s, NULL) < 0);
	buf_reset(&b);
	buf_put_string(&b, "a\0b", 3);
	r = of(&b);
	assert_true(session_string_get(&r, 100, &s, NULL) < 0);
	buf_free(&b);
}

static void test_exit(void **state)
{
	char kill_name[] = "KILL", text[] = "out of memory";
	struct session_exit_signal in = { kill_name, true, text }, out;
	struct buf b = BUF_INIT(1000);
	uint32_t status;
	struct reader r;

	session_exit_status_put(&b, 254);
	r = of(&b);
	assert_int_equal(session_exit_status_get(&r, &status, NULL), 0);
	assert_int_equal(status, 254);
	REFUSES_OTHER_SIZES(&b, session_exit_status_get(&r, &status, NULL));
	buf_reset(&b);
	session_exit_signal_put(&b, &in);
	r = of(&b);
	assert_int_equal(session_exit_signal_get(&r, &out, NULL), 0);
	assert_string_equal(out.name, "KILL");
	assert_true(out.core);
	assert_string_equal(out.text, text);
	free(out.name);
	free(out.text);
	REFUSES_OTHER_SIZES(&b, session_exit_signal_get(&r, &out, NULL));
	buf_free(&b);
}

static void test_signals(void **state)
{
	assert_string_equal(session_signal_name(SIGHUP), "HUP");
	assert_null(session_signal_name(SIGCHLD));
	assert_int_equal(session_signal_number((struct view){ (const uint8_t *)"TERM", 4 }), SIGTERM);
	assert_int_equal(session_signal_number((struct view){ (const uint8_t *)"SIGTERM", 7 }), 0);
	assert_int_equal(session_signal_number((struct view){ (const uint8_t *)"", 0 }), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pty), cmocka_unit_test(test_window), cmocka_unit_test(test_env),
		cmocka_unit_test(test_command_holds_no_nul), cmocka_unit_test(test_exit), cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
