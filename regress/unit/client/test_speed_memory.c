/* regress/unit/client/test_speed_memory.c: the file of what ciphers cost: round trips, nonsense in it, other machines' lines,
 * bounds, whose it must be, and that an order from it is that of its figures. */
#include "client/speed_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/own_file.h"
#include "base/str.h"
#include "client_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define ONE "00112233445566778899aabbccddeeff"
#define HEAD "wirespeed-speeds 1\n"
#define CIPHERS "chacha20-poly1305@openssh.com,aes128-ctr"
#define SWAPPED "aes128-ctr,chacha20-poly1305@openssh.com"
#define MACS "hmac-sha1,umac-64@openssh.com"

static const uint8_t one[SPEED_MEMORY_MACHINE] = { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb,
	0xcc, 0xdd, 0xee, 0xff };

static void refused(void **state)
{
	static const char *const bad[] = {
		"", "x", "wirespeed-speeds 2\n", "wirespeed-speeds 1", HEAD "\n", HEAD ONE " aes128-ctr\n",
		HEAD ONE " aes128-ctr 0\n", HEAD ONE " aes128-ctr -1\n", HEAD ONE " aes128-ctr 4294967296\n",
		HEAD ONE " aes128-ctr 1 2\n", HEAD ONE "  1\n", HEAD ONE " a,b 1\n", HEAD ONE " aes128-ctr 1",
		HEAD "00112233445566778899aabbccddeefF aes128-ctr 1\n", HEAD "0011 aes128-ctr 1\n",
		HEAD ONE " xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx 1\n",
	};
	struct speed_memory m;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(bad); i++) {
		assert_int_equal(speed_memory_parse(&m, bad[i], strlen(bad[i]), NULL), ERR_PEER);
		assert_int_equal(m.count, 0);
		assert_null(m.v);
	}
	assert_int_equal(speed_memory_parse(&m, HEAD ONE " a\0b 1\n", sizeof(HEAD ONE " a\0b 1\n") - 1, NULL), ERR_PEER);
}

static void round_trip(void **state)
{
	static const char text[] = HEAD ONE " aes128-ctr 7500\n" ONE " umac-64 4294967295\n";
	uint8_t other[SPEED_MEMORY_MACHINE] = { 1 };
	struct speed_memory m;
	struct preference p = { .count = 0 };
	char *again;

	(void)state;
	assert_int_equal(speed_memory_parse(&m, text, strlen(text), NULL), 0);
	again = speed_memory_text(&m);
	assert_string_equal(again, text);
	free(again);
	speed_memory_get(&m, other, &p);
	assert_int_equal(p.count, 0);
	speed_memory_get(&m, one, &p);
	assert_int_equal(p.count, 2);
	assert_string_equal(p.v[0].name, "aes128-ctr");
	assert_int_equal(p.v[0].ns, 7500);
	/* Another machine's go first; this one's stay. */
	p.count = 1;
	speed_memory_put(&m, other, &p);
	again = speed_memory_text(&m);
	assert_string_equal(again, HEAD "01000000000000000000000000000000 aes128-ctr 7500\n" ONE " aes128-ctr 7500\n" ONE
		" umac-64 4294967295\n");
	free(again);
	speed_memory_clear(&m);
}

static void bounds(void **state)
{
	struct speed_memory m = { .count = 0 };
	struct preference p = { .count = 0 };
	uint8_t machine[SPEED_MEMORY_MACHINE] = { 0 };
	char *text;

	(void)state;
	for (int i = 0; i < PREFERENCE_COSTS_MAX; i++) {
		char *name = str_printf("%045d%02d", 0, i);

		assert_true(preference_put(&p, name, UINT32_MAX));
		free(name);
	}
	for (int i = 0; i < 20; i++) {
		machine[0] = (uint8_t)i;
		speed_memory_put(&m, machine, &p);
	}
	assert_int_equal(m.count, SPEED_MEMORY_LINES_MAX);
	assert_int_equal(m.v[0].machine[0], 19);
	text = speed_memory_text(&m);
	assert_true(strlen(text) <= SPEED_MEMORY_FILE_MAX);
	speed_memory_clear(&m);
	assert_int_equal(speed_memory_parse(&m, text, strlen(text), NULL), 0);
	speed_memory_clear(&m);
	free(text);
}

/* A file with figures for this machine: what chacha costs is given. */
static void write_file(const char *path, const char *chacha_ns)
{
	uint8_t machine[SPEED_MEMORY_MACHINE];
	struct err e = { 0 };
	char *hex, *text;

	speed_memory_machine(machine);
	hex = str_hex(machine, sizeof(machine));
	text = str_printf(HEAD "%s chacha20-poly1305@openssh.com %s\n%s aes128-ctr 5000\n%s umac-64 1000\n%s hmac-sha1 9000\n",
		hex, chacha_ns, hex, hex, hex);
	assert_int_equal(own_file_replace(path, text, &e), 0);
	free(text);
	free(hex);
}

static void check_order(const char *home, const char *want_ciphers)
{
	char *ciphers, *macs;

	speed_memory_order(home, CIPHERS, MACS, &ciphers, &macs);
	assert_string_equal(ciphers, want_ciphers);
	assert_string_equal(macs, "umac-64@openssh.com,hmac-sha1");
	free(ciphers);
	free(macs);
}

static void from_file(void **state)
{
	struct client_world *w = *state;
	char *path;
	struct stat st;

	assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
	path = own_file_cache_path(w->dir, "speeds");
	write_file(path, "100");
	check_order(w->dir, CIPHERS);
	write_file(path, "100000");
	check_order(w->dir, SWAPPED);
	/* Readable by others: its figures count for nothing, it is measured, and the file is ours again. */
	write_file(path, "1");
	assert_int_equal(chmod(path, 0644), 0);
	{
		char *ciphers, *macs;

		speed_memory_order(w->dir, CIPHERS, MACS, &ciphers, &macs);
		free(ciphers);
		free(macs);
	}
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused), cmocka_unit_test(round_trip), cmocka_unit_test(bounds),
		cmocka_unit_test_setup_teardown(from_file, client_world_setup, client_world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
