/* regress/unit/client/test_peer_memory.c: the file of what is known about servers: round trips, nonsense in it, whose it must be,
 * bounds, and that it tells nothing to who reads it. */
#include "client/peer_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/str.h"
#include "client_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define SALT "00112233445566778899aabbccddeeff"
#define HASH "0123456789abcdef0123456789abcdef"
#define HEAD "wirespeed-peers 1 " SALT "\n"
#define REST "wirespeed curve25519-sha256 ssh-ed25519 yes publickey SHA256:abc ssh-ed25519 -"

static const struct peer_name alice = { "alice", "host.example", 22 };

static struct peer_record some_record(void)
{
	return (struct peer_record){ .kind = PEER_OPENSSH, .kex = "curve25519-sha256", .host_key = "ssh-ed25519", .guess = true,
		.login = { "publickey", "SHA256:sCL9Xe1rVvrSZmKhJSyTOq4jpFq", "rsa-sha2-512", "00ff" },
		.first = PEER_FIRST_ZERO };
}

static void assert_same(const struct peer_record *a, const struct peer_record *b)
{
	assert_non_null(a);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->guess, b->guess);
	assert_string_equal(a->kex, b->kex);
	assert_string_equal(a->host_key, b->host_key);
	assert_string_equal(a->login.method, b->login.method);
	assert_string_equal(a->login.key, b->login.key);
	assert_string_equal(a->login.alg, b->login.alg);
	assert_string_equal(a->login.before, b->login.before);
	assert_int_equal(a->first, b->first);
}

/* ---- the text */

static void there_and_back(void **state)
{
	static const struct peer_name others[] = {
		{ "alice", "host.example", 2222 }, { "alicf", "host.example", 22 }, { "alice", "host.exampl", 22 },
		{ "", "", 0 }, { "alice\nhost.example", "22", 22 },
	};
	struct peer_memory m = { 0 }, again;
	struct peer_record r = some_record(), empty = { .kind = PEER_OTHER };
	struct err e = { 0 };
	char *text, *second;

	(void)state;
	assert_null(peer_memory_find(&m, &alice));
	assert_true(peer_memory_put(&m, &alice, &r));
	assert_true(peer_memory_put(&m, &others[0], &empty));
	assert_same(peer_memory_find(&m, &alice), &r);
	assert_same(peer_memory_find(&m, &others[0]), &empty);
	for (size_t i = 1; i < MEM_COUNT(others); i++)
		assert_null(peer_memory_find(&m, &others[i]));
	text = peer_memory_text(&m);
	assert_null(strstr(text, "alice"));
	assert_null(strstr(text, "host.example"));
	assert_int_equal(peer_memory_parse(&again, text, strlen(text), &e), 0);
	assert_int_equal(again.count, 2);
	assert_same(peer_memory_find(&again, &alice), &r);
	assert_same(peer_memory_find(&again, &others[0]), &empty);
	second = peer_memory_text(&again);
	assert_string_equal(text, second);
	free(text);
	free(second);
	peer_memory_clear(&m);
	peer_memory_clear(&again);
}

/* Two files say nothing about each other: each has a salt of its own. */
static void salted(void **state)
{
	struct peer_memory a = { 0 }, b = { 0 };
	struct peer_record r = some_record();

	(void)state;
	peer_memory_put(&a, &alice, &r);
	peer_memory_put(&b, &alice, &r);
	assert_memory_not_equal(a.salt, b.salt, sizeof(a.salt));
	assert_memory_not_equal(a.v[0].hash, b.v[0].hash, PEER_MEMORY_HASH);
	peer_memory_clear(&a);
	peer_memory_clear(&b);
}

static void nonsense(void **state)
{
	static const char *const texts[] = {
		"", "\n", "wirespeed-peers 1 " SALT, "wirespeed-peers 2 " SALT "\n", "wirespeed-peers 1 " SALT "0\n",
		"wirespeed-peers 1 " SALT " x\n", "wirespeed-peers 1\n", "wirespeed-peers 1 0011\n",
		"wirespeed-peers 1 00112233445566778899AABBCCDDEEFF\n", " wirespeed-peers 1 " SALT "\n",
		HEAD HASH " " REST, HEAD HASH " " REST " more\n", HEAD HASH " " REST " 0 0\n", HEAD HASH " " REST " 00\n",
		HEAD HASH " " REST " 7\n", HEAD HASH " " REST " -1\n", HEAD HASH " " REST " 0x\n", HEAD HASH " " REST " Other\n",
		HEAD HASH " " REST " 0\n" HASH " " REST "\n" HASH " " REST " 1\n", HEAD "\n", HEAD HASH "\n", HEAD HASH "0 " REST "\n",
		HEAD HASH "  " REST "\n", HEAD HASH " " REST " \n", HEAD " " HASH " " REST "\n",
		HEAD HASH " martian curve25519-sha256 ssh-ed25519 yes publickey - - -\n",
		HEAD HASH " hpn curve25519-sha256 ssh-ed25519 maybe publickey - - -\n",
		HEAD HASH " hpn curve\x01 ssh-ed25519 yes publickey - - -\n",
		HEAD HASH " hpn curve\xff ssh-ed25519 yes publickey - - -\n",
		HEAD HASH " hpn a b yes a23456789012345678901234567890123 - - -\n",
		HEAD HASH " hpn a b yes c - - a23456789012345678901234567890123\n",
		HEAD HASH " hpn a2345678901234567890123456789012345678901234567890123456789012345 b yes c - - -\n",
		HEAD HASH " " REST "\n" HASH " " REST "\nx\n", HEAD HASH " " REST "\r\n" "\n",
	};
	struct peer_memory m;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(texts); i++) {
		struct err e = { 0 };

		if (peer_memory_parse(&m, texts[i], strlen(texts[i]), &e) != ERR_PEER)
			fail_msg("taken: %s", texts[i]);
		assert_int_equal(m.count, 0);
		assert_null(m.v);
		assert_null(peer_memory_find(&m, &alice));
	}
	/* A NUL hides nothing. */
	assert_int_equal(peer_memory_parse(&m, HEAD "\0\n", sizeof(HEAD "\0\n") - 1, NULL), ERR_PEER);
	assert_int_equal(peer_memory_parse(&m, HEAD, strlen(HEAD), NULL), 0);
	assert_int_equal(m.count, 0);
	peer_memory_clear(&m);
	assert_int_equal(peer_memory_parse(&m, HEAD HASH " " REST "\n", strlen(HEAD HASH " " REST "\n"), NULL), 0);
	assert_int_equal(m.count, 1);
	assert_string_equal(m.v[0].record.login.before, "");
	peer_memory_clear(&m);
}

/* The number of the first channel: there, not there, and lines of before there was such a field among others. */
static void first_channel(void **state)
{
	static const struct { const char *field; enum peer_first first; } cases[] = {
		{ "", PEER_FIRST_UNKNOWN }, { " -", PEER_FIRST_UNKNOWN }, { " 0", PEER_FIRST_ZERO }, { " other", PEER_FIRST_OTHER },
	};
	struct peer_record r = some_record();
	struct peer_memory m, again;

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		char *text = str_printf(HEAD HASH " " REST "%s\n" HASH " " REST "\n", cases[i].field), *new;

		assert_int_equal(peer_memory_parse(&m, text, strlen(text), NULL), 0);
		assert_int_equal(m.count, 2);
		assert_int_equal(m.v[0].record.first, cases[i].first);
		assert_int_equal(m.v[1].record.first, PEER_FIRST_UNKNOWN);
		new = peer_memory_text(&m);
		assert_int_equal(peer_memory_parse(&again, new, strlen(new), NULL), 0);
		assert_same(&again.v[0].record, &m.v[0].record);
		/* A change of it alone has to be written. */
		r.first = cases[i].first;
		(void)peer_memory_put(&m, &alice, &r);
		assert_false(peer_memory_put(&m, &alice, &r));
		r.first = r.first == PEER_FIRST_OTHER ? PEER_FIRST_ZERO : PEER_FIRST_OTHER;
		assert_true(peer_memory_put(&m, &alice, &r));
		free(text);
		free(new);
		peer_memory_clear(&m);
		peer_memory_clear(&again);
	}
}

/* ---- bounds */

static void name_of(unsigned i, char *text, struct peer_name *who)
{
	snprintf(text, 32, "host-%u", i);
	*who = (struct peer_name){ "alice", text, 22 };
}

static void the_latest_are_kept(void **state)
{
	struct peer_memory m = { 0 }, again;
	struct peer_record r = some_record();
	struct peer_name who;
	char text[32], *all;

	(void)state;
	memset(r.kex, 'x', sizeof(r.kex) - 1);
	memset(r.host_key, 'x', sizeof(r.host_key) - 1);
	memset(r.login.method, 'x', sizeof(r.login.method) - 1);
	memset(r.login.key, 'x', sizeof(r.login.key) - 1);
	memset(r.login.alg, 'x', sizeof(r.login.alg) - 1);
	memset(r.login.before, 'x', sizeof(r.login.before) - 1);
	r.first = PEER_FIRST_OTHER;
	for (unsigned i = 0; i < PEER_MEMORY_RECORDS_MAX + 10; i++) {
		name_of(i, text, &who);
		assert_true(peer_memory_put(&m, &who, &r));
	}
	assert_int_equal(m.count, PEER_MEMORY_RECORDS_MAX);
	for (unsigned i = 0; i < PEER_MEMORY_RECORDS_MAX + 10; i++) {
		name_of(i, text, &who);
		assert_int_equal(peer_memory_find(&m, &who) != NULL, i >= 10);
	}
	/* The longest records fit into the file. */
	all = peer_memory_text(&m);
	assert_true(strlen(all) <= PEER_MEMORY_FILE_MAX);
	assert_int_equal(peer_memory_parse(&again, all, strlen(all), NULL), 0);
	assert_int_equal(again.count, PEER_MEMORY_RECORDS_MAX);
	peer_memory_clear(&again);
	/* The same again: nothing to write, unless it is far behind. */
	assert_false(peer_memory_put(&m, &who, &r));
	name_of(10, text, &who);
	assert_true(peer_memory_put(&m, &who, &r));
	assert_int_equal(m.count, PEER_MEMORY_RECORDS_MAX);
	assert_ptr_equal(peer_memory_find(&m, &who), &m.v[0].record);
	assert_false(peer_memory_put(&m, &who, &r));
	r.guess = false;
	assert_true(peer_memory_put(&m, &who, &r));
	assert_same(peer_memory_find(&m, &who), &r);
	assert_int_equal(m.count, PEER_MEMORY_RECORDS_MAX);
	free(all);
	peer_memory_clear(&m);
}

/* ---- the file */

static bool knows(const char *path, const struct peer_record *r)
{
	struct peer_memory m;
	const struct peer_record *found;

	peer_memory_load(&m, path);
	found = peer_memory_find(&m, &alice);
	if (found != NULL)
		assert_same(found, r);
	peer_memory_clear(&m);
	return found != NULL;
}

static void stored_and_loaded(void **state)
{
	struct client_world *w = *state;
	char *path = str_printf("%s/cache/wirespeed/peers", w->dir), *folder = client_world_path(w, "cache/wirespeed");
	struct peer_record r = some_record();
	struct stat st, later;

	assert_false(knows(path, &r));
	peer_memory_store(path, &alice, &r);
	assert_true(knows(path, &r));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(folder, &later), 0);
	assert_int_equal(later.st_mode & 07777, 0700);
	/* Nothing new: the file is left alone. Something new: another file takes its place. */
	peer_memory_store(path, &alice, &r);
	assert_int_equal(stat(path, &later), 0);
	assert_int_equal(later.st_ino, st.st_ino);
	assert_int_equal(later.st_mtim.tv_nsec, st.st_mtim.tv_nsec);
	r.kind = PEER_WIRESPEED;
	peer_memory_store(path, &alice, &r);
	assert_true(knows(path, &r));
	/* No file is left beside it. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
	free(path);
	free(folder);
}

static void files_that_are_not_believed(void **state)
{
	struct client_world *w = *state;
	char *path = client_world_path(w, "peers"), *other = client_world_path(w, "other");
	struct peer_record r = some_record();
	char *text;

	peer_memory_store(path, &alice, &r);
	text = client_world_read(w, "peers");
	for (unsigned mode = 0; mode < 0100; mode++) {
		assert_int_equal(chmod(path, 0600 | mode), 0);
		assert_int_equal(knows(path, &r), mode == 0);
	}
	/* Another link to it is fine, a symbolic one could lead anywhere. */
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(symlink(other, path), 0);
	assert_false(knows(path, &r));
	/* It is replaced, and what it points to is not touched. */
	peer_memory_store(path, &alice, &r);
	assert_true(knows(path, &r));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(knows(path, &r));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_false(knows(path, &r));
	peer_memory_store(path, &alice, &r);     /* in vain, without harm */
	assert_false(knows(path, &r));
	assert_int_equal(rmdir(path), 0);
	/* Corrupt: as if it were not there, and then a new one. */
	text[strlen(text) / 2] ^= 0x40;
	text[strlen(text) - 1] = '\0';
	client_world_write(w, "peers", text, 0600);
	assert_false(knows(path, &r));
	peer_memory_store(path, &alice, &r);
	assert_true(knows(path, &r));
	assert_true(client_world_logged(w, "DEBUG2 peer memory"));
	assert_false(client_world_logged(w, "ERROR"));
	assert_false(client_world_logged(w, "INFO"));
	free(text);
	free(path);
	free(other);
}

static void a_large_file(void **state)
{
	struct client_world *w = *state;
	struct buf b = BUF_INIT(4 * 1024 * 1024);
	char *path = client_world_path(w, "peers");
	struct peer_record r = some_record();

	buf_printf(&b, HEAD);
	while (b.size < PEER_MEMORY_FILE_MAX + 10)
		buf_printf(&b, HASH " " REST "\n");
	client_world_write(w, "peers", buf_cstr(&b), 0600);
	assert_false(knows(path, &r));
	peer_memory_store(path, &alice, &r);
	assert_true(knows(path, &r));
	buf_free(&b);
	free(path);
}

static void nowhere_to_write(void **state)
{
	struct peer_record r = some_record();

	(void)state;
	peer_memory_store("/dev/null/no/such/folder/peers", &alice, &r);
	assert_false(knows("/dev/null/no/such/folder/peers", &r));
}

static void where_it_is(void **state)
{
	static const struct { const char *cache, *home, *path; } cases[] = {
		{ NULL, "/home/alice", "/home/alice/.cache/wirespeed/peers" },
		{ "/var/cache/alice", "/home/alice", "/var/cache/alice/wirespeed/peers" },
		{ "", "/home/alice", "/home/alice/.cache/wirespeed/peers" },
		{ "relative", "/home/alice", "/home/alice/.cache/wirespeed/peers" },
		{ NULL, NULL, NULL }, { NULL, "", NULL }, { NULL, "here", NULL },
		{ "/c", NULL, "/c/wirespeed/peers" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		char *path;

		if (cases[i].cache != NULL)
			setenv("XDG_CACHE_HOME", cases[i].cache, 1);
		else
			unsetenv("XDG_CACHE_HOME");
		path = peer_memory_path(cases[i].home);
		if (cases[i].path == NULL)
			assert_null(path);
		else
			assert_string_equal(path, cases[i].path);
		free(path);
	}
	unsetenv("XDG_CACHE_HOME");
}

int main(void)
{
#define ROW(f) cmocka_unit_test_setup_teardown(f, client_world_setup, client_world_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back), cmocka_unit_test(salted), cmocka_unit_test(nonsense), cmocka_unit_test(first_channel),
		cmocka_unit_test(the_latest_are_kept), ROW(stored_and_loaded), ROW(files_that_are_not_believed),
		ROW(a_large_file), ROW(nowhere_to_write), cmocka_unit_test(where_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
