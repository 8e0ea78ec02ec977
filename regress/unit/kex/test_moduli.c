/* The file of groups: which lines count, which group is chosen, what a file that is missing means. */
#include "kex/moduli.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "crypto/dh_group.h"
#include "regress/unit/log_capture.h"

/* A line with a modulus of that many bits: not prime, which nothing here asks for. tag tells them apart. */
static char *line(unsigned bits, const char *head, const char *generator, unsigned tag)
{
	size_t digits = (bits + 3) / 4;
	char *hex = mem_alloc(digits + 1), *text;

	memset(hex, '7', digits);
	hex[0] = (char)("1248"[(bits - 1) % 4]);
	hex[digits - 1] = (char)('0' + tag);
	hex[digits] = '\0';
	text = str_printf("20260101000000 %s %u %s %s\n", head, bits - 1, generator, hex);
	free(hex);
	return text;
}

static struct moduli *file_of(char *const *lines, size_t count)
{
	struct str_list all = { 0 };
	struct moduli *m;
	char *text;

	for (size_t i = 0; i < count; i++)
		str_list_add_take(&all, lines[i]);
	text = str_list_join(&all, "");
	m = moduli_of_text("/groups", (struct view){ (const uint8_t *)text, strlen(text) });
	free(text);
	str_list_clear(&all);
	return m;
}

/* Bits of what is chosen, 0: none. *tag: the last digit. */
static unsigned choose(struct moduli *m, unsigned min, unsigned wanted, unsigned max, unsigned *tag)
{
	const struct kex_group_size size = { min, wanted, max };
	struct buf p = BUF_INIT(2000), g = BUF_INIT(2000);
	struct err e = { 0 };
	unsigned bits = 0;

	if (moduli_choose(m, &size, &p, &g, &e) == 0) {
		bits = dh_group_bits((struct view){ p.data, p.size });
		*tag = p.data[p.size - 1] & 15;
		assert_int_equal(p.data[0] != 0, 1);
		assert_true(g.size >= 1);
	} else {
		assert_int_equal(e.code, ERR_NONE_FOUND);
		assert_string_equal(e.text, "no matching DH grp found");
	}
	buf_free(&p);
	buf_free(&g);
	return bits;
}

static void the_best_size(void **state)
{
	char *lines[] = {
		str_printf("# time type tests trials size generator modulus\n\n"), line(2048, "2 6 100", "2", 1),
		line(3072, "2 6 100", "5", 2), line(3072, "2 4 100", "5", 3), line(4096, "2 6 100", "2", 4),
		line(2047, "2 6 100", "2", 5), line(3071, "2 6 100", "2", 6)
	};
	struct moduli *m = file_of(lines, MEM_COUNT(lines));
	unsigned tag = 0, seen = 0;

	(void)state;
	log_capture_start(LOG_LEVEL_INFO);
	assert_int_equal(choose(m, 2048, 2048, 8192, &tag), 2048);
	assert_int_equal(choose(m, 2048, 2049, 8192, &tag), 3071);
	assert_int_equal(choose(m, 2048, 3500, 8192, &tag), 4096);
	assert_int_equal(choose(m, 2048, 8192, 8192, &tag), 4096);
	assert_int_equal(choose(m, 2048, 8192, 8191, &tag), 4096);
	assert_int_equal(choose(m, 2048, 3072, 3072, &tag), 3072);
	assert_int_equal(choose(m, 2048, 4000, 4000, &tag), 3072);
	assert_string_equal(log_capture_text(), "");
	assert_int_equal(choose(m, 5000, 6000, 8192, &tag), 0);
	assert_true(log_capture_has("WARNING: no suitable primes (size 5000/6000/8192) in /groups"));
	/* Each of several has its turn. */
	for (int i = 0; i < 64; i++) {
		assert_int_equal(choose(m, 2048, 3072, 8192, &tag), 3072);
		seen |= 1U << tag;
	}
	assert_int_equal(seen, 1U << 2 | 1U << 3);
	log_capture_drop();
	moduli_free(m);
	moduli_free(NULL);
}

static void lines_that_do_not_count(void **state)
{
	static const char *const heads[] = { "4 6 100", "0 6 100", "2 7 100", "2 1 100", "2 0 100", "2 6 0", "x 6 100", "2 6", "2 6 100 1",
		"2 -6 100", "2 6 999999999" };
	static const char *const generators[] = { "0", "1", "", "g", "2 2" };
	struct moduli *m;
	unsigned tag;
	char *text;

	(void)state;
	log_capture_start(LOG_LEVEL_INFO);
	for (size_t i = 0; i < MEM_COUNT(heads) + MEM_COUNT(generators); i++) {
		text = i < MEM_COUNT(heads) ? line(2048, heads[i], "2", 1) : line(2048, "2 6 100", generators[i - MEM_COUNT(heads)], 1);
		m = file_of(&text, 1);
		assert_int_equal(choose(m, 2048, 2048, 8192, &tag), 0);
		moduli_free(m);
	}
	/* A zero byte anywhere in it; other lines count. */
	for (size_t at = 0; at < 40; at += 13) {
		struct buf b = BUF_INIT(4096);
		char *good = line(2048, "2 6 100", "2", 2);

		text = line(3072, "2 6 100", "2", 1);
		buf_printf(&b, "%s%s", text, good);
		b.data[at] = '\0';
		m = moduli_of_text("/groups", (struct view){ b.data, b.size });
		assert_int_equal(choose(m, 2048, 3072, 8192, &tag), 2048);
		moduli_free(m);
		buf_free(&b);
		free(text);
		free(good);
	}
	/* A modulus that is not of the size it says, and rubbish. */
	text = str_printf("20260101000000 2 6 100 2047 2 ff\n \n\n# 2 6 100 2047 2 ff\n20260101000000 2 6 100 2047 2\n\n\n");
	m = file_of(&text, 1);
	assert_int_equal(choose(m, 2048, 2048, 8192, &tag), 0);
	moduli_free(m);
	m = moduli_of_text("/groups", (struct view){ (const uint8_t *)"", 0 });
	assert_int_equal(choose(m, 2048, 2048, 8192, &tag), 0);
	moduli_free(m);
	log_capture_drop();
}

static void without_a_file(void **state)
{
	char path[] = "/tmp/test_moduli.XXXXXX";
	int fd = mkstemp(path);
	struct moduli *m;
	unsigned tag;
	char *text = line(4096, "2 6 100", "2", 1);

	(void)state;
	log_capture_start(LOG_LEVEL_INFO);
	m = moduli_new("/nowhere/moduli");
	assert_int_equal(choose(m, 2048, 3000, 8192, &tag), 3072);
	assert_true(log_capture_has("WARNING: could not open /nowhere/moduli (No such file or directory), using fixed modulus"));
	moduli_free(m);
	m = moduli_new("/");
	log_capture_drop();
	log_capture_start(LOG_LEVEL_INFO);
	assert_int_equal(choose(m, 2048, 8192, 8192, &tag), 8192);
	assert_true(log_capture_has("WARNING: could not open / (not a regular file), using fixed modulus"));
	moduli_free(m);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	m = moduli_new(path);
	/* It is not looked at again. */
	unlink(path);
	assert_int_equal(choose(m, 2048, 3072, 8192, &tag), 4096);
	moduli_free(m);
	free(text);
	log_capture_drop();
	assert_true(moduli_wanted("a,diffie-hellman-group-exchange-sha256"));
	assert_true(moduli_wanted("diffie-hellman-group-exchange-sha1"));
	assert_false(moduli_wanted("curve25519-sha256,diffie-hellman-group14-sha256"));
	assert_false(moduli_wanted(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_size),
		cmocka_unit_test(lines_that_do_not_count),
		cmocka_unit_test(without_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
