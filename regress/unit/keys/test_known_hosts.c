/* regress/unit/keys/test_known_hosts.c: reading, verdicts, writing. */
#include "keys/known_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "key_data.h"
#include "base/str.h"
#include "regress/unit/log_capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define HASHED_A "|1|ODziHjjF9aZUS0bf+zbfQhD2bGg=|M57v2ugUTaDn/I8Dvz1Rv379ITI="

struct world { char *dir, *path; struct str_list paths; struct key *a, *b, *c; };

static int setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));

	w->dir = data_temp_dir();
	w->path = str_printf("%s/known_hosts", w->dir);
	str_list_add(&w->paths, w->path);
	w->a = data_public("ed25519");
	w->b = data_public("ecdsa256");
	w->c = data_public("rsa");
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	key_free(w->a);
	key_free(w->b);
	key_free(w->c);
	free(w->path);
	str_list_clear(&w->paths);
	data_remove_dir(w->dir);
	free(w);
	return 0;
}

static char *line_of(const struct key *k)
{
	return key_public_line(k);
}

/* In text A, B and C stand for the public lines of the three keys, \1 for a zero byte. */
static void write_hosts(struct world *w, const char *text)
{
	FILE *f = fopen(w->path, "w");
	struct key *const keys[] = { w->a, w->b, w->c };

	assert_non_null(f);
	for (; *text != '\0'; text++) {
		if (*text >= 'A' && *text <= 'C') {
			char *line = line_of(keys[*text - 'A']);

			fputs(line, f);
			free(line);
		} else {
			fputc(*text == '\1' ? '\0' : *text, f);
		}
	}
	assert_int_equal(fclose(f), 0);
}

static enum known_hosts_verdict verdict(struct world *w, const char *name, const struct key *k, unsigned *line)
{
	const struct known_hosts_entry *entry;
	enum known_hosts_verdict v;
	struct known_hosts hosts;
	struct err e = { 0 };

	assert_int_equal(known_hosts_load(&w->paths, name, &hosts, &e), 0);
	v = known_hosts_check(&hosts, k, &entry);
	*line = entry != NULL ? entry->line : 0;
	known_hosts_free(&hosts);
	return v;
}

#define CHECK(name, key, want, want_line) do { \
	unsigned line_; \
	assert_int_equal(verdict(w, name, key, &line_), want); \
	assert_int_equal(line_, want_line); \
} while (0)

static void test_names(void **state)
{
	static const struct { const char *host; uint16_t port; const char *name; } cases[] = {
		{ "Host.A", 22, "host.a" }, { "Host", 2222, "[host]:2222" }, { "::1", 22, "::1" }, { "FE80::1", 65535, "[fe80::1]:65535" }
	};

	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		char *name = known_hosts_name(cases[i].host, cases[i].port);

		assert_string_equal(name, cases[i].name);
		free(name);
	}
}

static void test_matching(void **state)
{
	struct world *w = *state;

	/* Lower-case letters only in the rest: A, B, C are keys. */
	write_hosts(w, "# comment\n\nhost.a,10.0.0.1 A\n*.example.org,!bad.example.org B\n[h]:2222 C comment\n"
		"host?.net \t A\n" "\t indented B\r\n");
	CHECK("host.a", w->a, KNOWN_HOSTS_OK, 3);
	CHECK("10.0.0.1", w->a, KNOWN_HOSTS_OK, 3);
	CHECK("10.0.0.2", w->a, KNOWN_HOSTS_NEW, 0);
	CHECK("host", w->a, KNOWN_HOSTS_NEW, 0);
	CHECK("x.example.org", w->b, KNOWN_HOSTS_OK, 4);
	CHECK("x.example.org", w->a, KNOWN_HOSTS_CHANGED, 4);
	CHECK("bad.example.org", w->b, KNOWN_HOSTS_NEW, 0);
	CHECK("h", w->c, KNOWN_HOSTS_NEW, 0);
	CHECK("[h]:2222", w->c, KNOWN_HOSTS_OK, 5);
	CHECK("[h]:222", w->c, KNOWN_HOSTS_NEW, 0);
	CHECK("host1.net", w->a, KNOWN_HOSTS_OK, 6);
	CHECK("indented", w->b, KNOWN_HOSTS_OK, 7);
}

static void test_upper_case(void **state)
{
	struct world *w = *state;
	FILE *f = fopen(w->path, "w");
	char *line = line_of(w->a);

	fprintf(f, "HOST.A %s\n", line);
	fclose(f);
	free(line);
	CHECK("host.a", w->a, KNOWN_HOSTS_OK, 1);
}

static void test_hashed(void **state)
{
	struct world *w = *state;
	char *again = known_hosts_hash_name("host.a"), *line = line_of(w->b);
	FILE *f = fopen(w->path, "w");

	assert_non_null(f);
	fprintf(f, "%s %s\n%s %s\n", HASHED_A, line, again, line);
	/* Damaged ones, and a list of hashes, match nothing. */
	fprintf(f, "%.*s %s\n|1|%s %s\n|2%s %s\n%s,other %s\n|1|AAAA|BBBB %s\n|1||| %s\n| %s\n", (int)strlen(HASHED_A) - 1, HASHED_A,
		line, HASHED_A, line, &HASHED_A[2], line, HASHED_A, line, line, line, line);
	fclose(f);
	assert_true(str_starts(again, "|1|"));
	assert_int_equal(strlen(again), strlen(HASHED_A));
	assert_string_not_equal(again, HASHED_A);
	CHECK("host.a", w->b, KNOWN_HOSTS_OK, 1);
	CHECK("host.b", w->b, KNOWN_HOSTS_NEW, 0);
	CHECK("other", w->b, KNOWN_HOSTS_NEW, 0);
	CHECK(HASHED_A, w->b, KNOWN_HOSTS_NEW, 0);
	free(again);
	free(line);
}

static void test_verdicts(void **state)
{
	struct world *w = *state;

	write_hosts(w, "h A\nh B\n@revoked h B\n@cert-authority h C\n@revoked * C\n@revoked x A\n");
	CHECK("h", w->a, KNOWN_HOSTS_OK, 1);
	CHECK("h", w->b, KNOWN_HOSTS_REVOKED, 3);
	CHECK("h", w->c, KNOWN_HOSTS_REVOKED, 5);
	/* Neither a CA line nor a revoked one makes a host known. */
	write_hosts(w, "@cert-authority h C\n@revoked h B\n");
	CHECK("h", w->c, KNOWN_HOSTS_NEW, 0);
	CHECK("h", w->a, KNOWN_HOSTS_NEW, 0);
	/* A changed key: the line of its own type is the one to show. */
	write_hosts(w, "h B\nh C\n");
	CHECK("h", w->a, KNOWN_HOSTS_CHANGED, 1);
}

/* Lines that are wrong are skipped, the others count. Keys of types that we do not know count as "changed". */
static void test_invalid_lines(void **state)
{
	struct world *w = *state;
	char *sk = data_line("sk.pub", 1), *ed = line_of(w->a), *text;
	FILE *f;

	log_set_level(LOG_LEVEL_QUIET);
	write_hosts(w, "h\nh \nh ssh-ed25519\nh ssh-ed25519 !!!\n@revoked @cert-authority h A\n@x h A\n@revoked\n@revoked h\nh A\n");
	CHECK("h", w->a, KNOWN_HOSTS_OK, 9);
	CHECK("@x", w->a, KNOWN_HOSTS_NEW, 0);
	text = str_printf("h %s\n", sk);
	f = fopen(w->path, "w");
	fputs(text, f);
	fclose(f);
	CHECK("h", w->a, KNOWN_HOSTS_CHANGED, 1);
	free(text);
	free(sk);
	free(ed);
}

/* Such a line is none, whatever stands before or behind the zero byte, and that is said; all others count. */
static void test_zero_bytes(void **state)
{
	struct world *w = *state;

	log_capture_start(LOG_LEVEL_INFO);
	write_hosts(w, "h\1 C\nh A\1\n\1\n@revoked h \1B\nh B\n");
	CHECK("h", w->b, KNOWN_HOSTS_OK, 5);
	assert_true(log_capture_has("known_hosts:1: line ignored: it holds a zero byte"));
	assert_true(log_capture_has("known_hosts:2: line ignored: it holds a zero byte"));
	assert_true(log_capture_has("known_hosts:3: line ignored: it holds a zero byte"));
	assert_true(log_capture_has("known_hosts:4: line ignored: it holds a zero byte"));
	CHECK("h", w->a, KNOWN_HOSTS_CHANGED, 5);
	log_capture_stop();
}

static void test_files(void **state)
{
	struct world *w = *state;
	char *other = str_printf("%s/other", w->dir);
	struct known_hosts hosts;
	struct str_list names = { 0 };

	unlink(w->path);
	CHECK("h", w->a, KNOWN_HOSTS_NEW, 0);
	write_hosts(w, "h A\n");
	assert_int_equal(rename(w->path, other), 0);
	str_list_add(&w->paths, other);
	write_hosts(w, "h A\ng,k A\n@revoked r A\nh C\n");
	assert_int_equal(known_hosts_load(&w->paths, "h", &hosts, NULL), 0);
	assert_int_equal(hosts.count, 3);
	assert_string_equal(hosts.v[2].path, other);
	assert_int_equal(hosts.v[2].line, 1);
	known_hosts_free(&hosts);
	known_hosts_other_names(&w->paths, w->a, &names);
	assert_int_equal(names.count, 3);
	assert_true(str_ends(names.v[1], "known_hosts:2: g,k"));
	assert_true(str_ends(names.v[2], "other:1: h"));
	str_list_clear(&names);
	free(other);
}

static char *contents(struct world *w)
{
	char *text;
	size_t n;

	assert_int_equal(path_read_file(w->path, 1 << 20, &text, &n, NULL), 0);
	return text;
}

static void test_append(void **state)
{
	struct world *w = *state;
	char *a = line_of(w->a), *b = line_of(w->b), *text, *want;
	struct stat st;

	free(w->path);
	w->path = str_printf("%s/.ssh/known_hosts", w->dir);
	str_list_clear(&w->paths);
	str_list_add(&w->paths, w->path);
	umask(0);
	assert_int_equal(known_hosts_append(w->path, "Host", w->a, false, NULL), 0);
	umask(022);
	assert_int_equal(stat(w->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(known_hosts_append(w->path, "[h]:2222,10.0.0.1", w->b, false, NULL), 0);
	text = contents(w);
	want = str_printf("host %s\n[h]:2222,10.0.0.1 %s\n", a, b);
	assert_string_equal(text, want);
	free(text);
	free(want);
	*strrchr(w->path, '/') = '\0';
	assert_int_equal(stat(w->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	w->path[strlen(w->path)] = '/';
	/* A line without its end is not glued to the new one. */
	assert_int_equal(truncate(w->path, (off_t)(strlen(a) + 5)), 0);
	assert_int_equal(known_hosts_append(w->path, "fe80::1%eth0", w->b, false, NULL), 0);
	text = contents(w);
	want = str_printf("host %s\nfe80::1%%eth0 %s\n", a, b);
	assert_string_equal(text, want);
	free(text);
	free(want);
	free(a);
	free(b);
	CHECK("fe80::1%eth0", w->b, KNOWN_HOSTS_OK, 2);
}

static void test_append_hashed(void **state)
{
	struct world *w = *state;
	char *text;

	unlink(w->path);
	assert_int_equal(known_hosts_append(w->path, "Host.A,10.1.2.3", w->a, true, NULL), 0);
	text = contents(w);
	assert_true(str_starts(text, "|1|") && strstr(text, "host") == NULL && strstr(text, "10.1") == NULL);
	free(text);
	CHECK("host.a", w->a, KNOWN_HOSTS_OK, 1);
	CHECK("10.1.2.3", w->a, KNOWN_HOSTS_OK, 2);
}

static void test_append_refused(void **state)
{
	static const char *const bad[] = {
		"", ",", "a b", "a\nb", "*", "a?", "!a", "@revoked", "#x", "|1|", "a\"", "a'", "a\\", "[a", "[a]", "[a]:", "[a]:x",
		"a]", "[]:22", "[a*]:22", "[[a]]:22", "good,bad*", "a\tb", "\x7f", "[a]:22 b"
	};
	struct world *w = *state;
	struct stat st;

	unlink(w->path);
	for (size_t i = 0; i < MEM_COUNT(bad); i++) {
		struct err e = { 0 };

		assert_int_equal(known_hosts_append(w->path, bad[i], w->a, i % 2 == 1, &e), ERR_USAGE);
	}
	assert_int_not_equal(stat(w->path, &st), 0);
	assert_int_equal(known_hosts_append("/proc/no/such/place", "a", w->a, false, NULL), ERR_IO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test_setup_teardown(test_matching, setup, teardown),
		cmocka_unit_test_setup_teardown(test_upper_case, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hashed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_verdicts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_invalid_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_zero_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_append, setup, teardown),
		cmocka_unit_test_setup_teardown(test_append_hashed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_append_refused, setup, teardown)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
