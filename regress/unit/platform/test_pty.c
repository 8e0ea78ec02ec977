/* regress/unit/platform/test_pty.c: pseudo terminals, and terminal modes on the wire. */
#include "platform/pty.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "platform/ttymodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_open(void **state)
{
	struct err e = { 0 };
	struct pty p;
	char b[8];

	assert_int_equal(pty_open(&p, &e), 0);
	assert_true(isatty(p.slave));
	assert_string_equal(ttyname(p.slave), p.name);
	assert_true(fcntl(p.master, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(p.slave, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(write(p.slave, "x\n", 2), 2);
	assert_int_equal(read(p.master, b, sizeof(b)), 3);
	assert_memory_equal(b, "x\r\n", 3);
	pty_close(&p);
	assert_int_equal(p.master, -1);
	pty_close(&p);
}

static void test_size(void **state)
{
	struct pty_size size = { 80, 24, 640, 480 }, got, huge = { 100000, 7, 0, 0 };
	struct err e = { 0 };
	struct pty p;

	assert_int_equal(pty_open(&p, &e), 0);
	assert_int_equal(pty_set_size(p.master, &size, &e), 0);
	assert_true(pty_get_size(p.slave, &got));
	assert_memory_equal(&got, &size, sizeof(size));
	assert_int_equal(pty_set_size(p.master, &huge, &e), 0);
	assert_true(pty_get_size(p.slave, &got));
	assert_int_equal(got.columns, 65535);
	pty_close(&p);
	assert_false(pty_get_size(p.slave, &got));
	assert_int_equal(got.columns, 0);
	assert_int_equal(pty_set_size(-1, &size, &e), ERR_IO);
}

static void test_give(void **state)
{
	const struct group *tty = getgrnam("tty");
	struct err e = { 0 };
	struct stat st;
	struct pty p;

	assert_int_equal(pty_open(&p, &e), 0);
	if (getuid() != 0) {
		assert_int_equal(pty_give(&p, getuid() + 1, getgid(), &e), ERR_IO);
		pty_close(&p);
		return;
	}
	assert_int_equal(pty_give(&p, 4321, 4322, &e), 0);
	assert_int_equal(stat(p.name, &st), 0);
	assert_int_equal(st.st_uid, 4321);
	assert_int_equal(st.st_gid, tty != NULL ? tty->gr_gid : 4322);
	assert_int_equal(st.st_mode & 07777, tty != NULL ? 0620 : 0622);
	assert_int_equal(pty_give(&p, 4321, 4322, &e), 0);
	pty_take_back(p.name, pty_hold(&p));
	assert_int_equal(stat(p.name, &st), 0);
	assert_int_equal(st.st_uid, 0);
	assert_int_equal(st.st_mode & 07777, 0666);
	pty_take_back("/dev/pts/no-such", -1);
	pty_take_back("", -1);
	pty_close(&p);
}

/* A name that is somebody else's terminal by now. */
static void test_take_back_the_same_only(void **state)
{
	struct pty old, new;
	struct err e = { 0 };
	struct stat st;
	int held;

	if (getuid() != 0)
		skip();
	assert_int_equal(pty_open(&old, &e), 0);
	held = pty_hold(&old);
	pty_close(&old);
	assert_int_equal(pty_open(&new, &e), 0);
	assert_string_equal(new.name, old.name);
	assert_int_equal(pty_give(&new, 4321, 4322, &e), 0);
	pty_take_back(old.name, held);
	assert_int_equal(stat(new.name, &st), 0);
	assert_int_equal(st.st_uid, 4321);
	assert_int_not_equal(st.st_mode & 07777, 0666);
	pty_close(&new);
}

static void test_controlling_needs_a_session(void **state)
{
	struct err e = { 0 };
	int p[2];

	assert_int_equal(pipe(p), 0);
	assert_int_equal(pty_set_controlling(p[0]), -1);
	close(p[0]);
	close(p[1]);
	(void)e;
}

/* ---- modes */

static uint32_t mode_in(const uint8_t *list, size_t n, uint8_t opcode)
{
	size_t i;

	for (i = 0; i + 5 <= n; i += 5)
		if (list[i] == opcode)
			return (uint32_t)list[i + 1] << 24 | (uint32_t)list[i + 2] << 16 | (uint32_t)list[i + 3] << 8 | list[i + 4];
	return 0xdeadbeef;
}

static void test_encode(void **state)
{
	struct termios t = { 0 };
	uint8_t list[TTYMODES_MAX];
	size_t n;

	t.c_cc[VINTR] = 3;
	t.c_cc[VQUIT] = _POSIX_VDISABLE;
	t.c_iflag = ICRNL | IXON | IUTF8;
	t.c_lflag = ECHO | ICANON;
	t.c_oflag = OPOST;
	t.c_cflag = CS8 | PARENB;
	cfsetispeed(&t, B115200); /* Linux keeps one speed for both */
	cfsetospeed(&t, B115200);
	n = ttymodes_encode(&t, list);
	assert_int_equal(n % 5, 1);
	assert_int_equal(list[n - 1], 0);
	/* RFC 4254 section 8 */
	assert_int_equal(mode_in(list, n, 1), 3);
	assert_int_equal(mode_in(list, n, 2), 255);
	assert_int_equal(mode_in(list, n, 36), 1);
	assert_int_equal(mode_in(list, n, 35), 0);
	assert_int_equal(mode_in(list, n, 38), 1);
	assert_int_equal(mode_in(list, n, 42), 1);
	assert_int_equal(mode_in(list, n, 51), 1);
	assert_int_equal(mode_in(list, n, 50), 0);
	assert_int_equal(mode_in(list, n, 53), 1);
	assert_int_equal(mode_in(list, n, 70), 1);
	assert_int_equal(mode_in(list, n, 90), 0);
	assert_int_equal(mode_in(list, n, 91), 1);
	assert_int_equal(mode_in(list, n, 92), 1);
	assert_int_equal(mode_in(list, n, 128), 115200);
	assert_int_equal(mode_in(list, n, 129), 115200);
	assert_int_equal(ttymodes_encode_fd(-1, list), 1);
	assert_int_equal(list[0], 0);
}

static void test_round_trip(void **state)
{
	struct err e = { 0 };
	struct pty p;
	struct termios t, u, all;
	uint8_t list[TTYMODES_MAX], again[TTYMODES_MAX];
	size_t n;

	assert_int_equal(pty_open(&p, &e), 0);
	assert_int_equal(tcgetattr(p.slave, &t), 0);
	n = ttymodes_encode(&t, list);
	memset(&u, 0, sizeof(u));
	assert_int_equal(ttymodes_decode(list, n, &u, &e), 0);
	assert_int_equal(ttymodes_encode(&u, again), n);
	assert_memory_equal(list, again, n);
	/* Onto a terminal that had everything the other way round. */
	memset(&all, 0xff, sizeof(all));
	all.c_cflag = (t.c_cflag & ~(tcflag_t)CSIZE) | CS7;
	assert_int_equal(ttymodes_decode(list, n, &all, &e), 0);
	assert_int_equal(ttymodes_encode(&all, again), n);
	assert_memory_equal(list, again, n);
	t.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
	t.c_cc[VINTR] = _POSIX_VDISABLE;
	n = ttymodes_encode(&t, list);
	assert_int_equal(ttymodes_apply_fd(p.slave, list, n, &e), 0);
	assert_int_equal(ttymodes_encode_fd(p.slave, again), n);
	assert_memory_equal(list, again, n);
	pty_close(&p);
	assert_int_equal(ttymodes_apply_fd(-1, list, n, &e), ERR_IO);
}

static void test_decode_odd_lists(void **state)
{
	struct err e = { 0 };
	struct termios t = { 0 };

	/* Empty, without an end, what follows the end, what cannot be known. */
	assert_int_equal(ttymodes_decode(NULL, 0, &t, &e), 0);
	assert_int_equal(ttymodes_decode((const uint8_t *)"\1\0\0\0\5", 5, &t, &e), 0);
	assert_int_equal(t.c_cc[VINTR], 5);
	assert_int_equal(ttymodes_decode((const uint8_t *)"\0\1\0\0\0\6", 6, &t, &e), 0);
	assert_int_equal(t.c_cc[VINTR], 5);
	assert_int_equal(ttymodes_decode((const uint8_t *)"\xa0\1\0\0\0\6", 6, &t, &e), 0);
	assert_int_equal(t.c_cc[VINTR], 5);
	assert_int_equal(ttymodes_decode((const uint8_t *)"\x9f\1\0\0\0\1\0\0\0\7", 10, &t, &e), 0);
	assert_int_equal(t.c_cc[VINTR], 7);
	/* A character that is none. */
	assert_int_equal(ttymodes_decode((const uint8_t *)"\1\0\0\1\0", 5, &t, &e), 0);
	assert_int_equal(t.c_cc[VINTR], _POSIX_VDISABLE);
	/* Speeds that nobody has. */
	assert_int_equal(ttymodes_decode((const uint8_t *)"\x81\xff\xff\xff\xff\x80\0\0\x25\x81", 10, &t, &e), 0);
	assert_int_equal(cfgetispeed(&t), B9600);
	/* CS7 and CS8 share a field: "not CS7" says nothing. */
	t.c_cflag = CS8;
	assert_int_equal(ttymodes_decode((const uint8_t *)"\x5a\0\0\0\0", 5, &t, &e), 0);
	assert_int_equal(t.c_cflag & CSIZE, CS8);
	assert_int_equal(ttymodes_decode((const uint8_t *)"\x5a\0\0\0\1", 5, &t, &e), 0);
	assert_int_equal(t.c_cflag & CSIZE, CS7);
	assert_int_equal(ttymodes_decode((const uint8_t *)"\x5b\0\0\0\0", 5, &t, &e), 0);
	assert_int_equal(t.c_cflag & CSIZE, CS7);
	assert_int_equal(e.code, 0);
	assert_int_equal(ttymodes_decode((const uint8_t *)"\1\0\0\0\4\2\0\0\0", 9, &t, &e), ERR_PEER);
	assert_int_equal(t.c_cc[VINTR], 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open), cmocka_unit_test(test_size), cmocka_unit_test(test_give),
		cmocka_unit_test(test_take_back_the_same_only), cmocka_unit_test(test_controlling_needs_a_session), cmocka_unit_test(test_encode),
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_decode_odd_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
