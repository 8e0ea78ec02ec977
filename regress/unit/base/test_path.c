/* regress/unit/base/test_path.c: expansions, StrictModes, whole files. */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static char dir[] = "/tmp/wspathXXXXXX";

static void check_text(char *got, const char *want)
{
	assert_non_null(got);
	assert_string_equal(got, want);
	free(got);
}

static void test_tilde(void **state)
{
	struct passwd *pw = getpwuid(0);
	struct err e = { 0 };
	char *want = str_printf("%s/f", pw->pw_dir), *name = str_printf("~%s/f", pw->pw_name);

	check_text(path_expand_tilde("~/x", "/h", &e), "/h/x");
	check_text(path_expand_tilde("~", "/h", &e), "/h");
	check_text(path_expand_tilde("~/x", "/", &e), "/x");
	check_text(path_expand_tilde("a~", "/h", &e), "a~");
	check_text(path_expand_tilde(name, "/h", &e), want);
	assert_int_equal(e.code, 0);
	assert_null(path_expand_tilde("~no-such-user-here/x", "/h", &e));
	assert_int_equal(e.code, ERR_NONE_FOUND);
	err_clear(&e);
	assert_null(path_expand_tilde("~/x", NULL, &e));
	assert_int_equal(e.code, ERR_NONE_FOUND);
	free(want);
	free(name);
}

static void test_tokens(void **state)
{
	const struct path_token tokens[] = { { 'h', "host" }, { 'u', NULL }, { 'e', "" }, { 'p', "%h" }, { 0, NULL } };
	static const char *bad[] = { "%u", "%x", "a%", "%%%" };
	struct err e = { 0 };
	char *big = mem_array(1, 70001);
	size_t i;

	check_text(path_expand_tokens("a%h%%%e%pz", tokens, &e), "ahost%%hz");
	check_text(path_expand_tokens("", tokens, &e), "");
	check_text(path_expand_tokens("%%", NULL, &e), "%");
	assert_int_equal(e.code, 0);
	for (i = 0; i < MEM_COUNT(bad); i++) {
		err_clear(&e);
		assert_null(path_expand_tokens(bad[i], tokens, &e));
		assert_int_equal(e.code, ERR_USAGE);
	}
	memset(big, 'x', 70000);
	err_clear(&e);
	assert_null(path_expand_tokens(big, tokens, &e));
	assert_int_equal(e.code, ERR_MEMORY);
	free(big);
}

static void test_env(void **state)
{
	struct err e = { 0 };

	setenv("WS_TEST_A", "${WS_TEST_A}1", 1);
	unsetenv("WS_TEST_B");
	check_text(path_expand_env("x${WS_TEST_A}$y$", &e), "x${WS_TEST_A}1$y$");
	check_text(path_expand_env("", &e), "");
	assert_null(path_expand_env("${WS_TEST_B}", &e));
	assert_int_equal(e.code, ERR_NONE_FOUND);
	err_clear(&e);
	assert_null(path_expand_env("a${WS", &e));
	assert_int_equal(e.code, ERR_USAGE);
	err_clear(&e);
	assert_null(path_expand_env("a${}", &e));
	assert_int_equal(e.code, ERR_USAGE);
}

static char *make_file(const char *name, mode_t mode, const char *text)
{
	char *path = str_printf("%s/%s", dir, name);
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	return path;
}

static int check_secure(const char *path, const char *home, struct err *e)
{
	int fd = open(path, O_RDONLY), r;

	assert_true(fd >= 0);
	err_clear(e);
	r = path_check_secure(fd, path, getuid(), home, e);
	close(fd);
	return r;
}

static void test_secure(void **state)
{
	struct err e = { 0 };
	char *sub = str_printf("%s/sub", dir), *want, *file, *link = str_printf("%s/link", dir);

	assert_int_equal(path_make_dir(sub, 0755, &e), 0);
	file = make_file("sub/f", 0644, "x");
	assert_int_equal(check_secure(file, dir, &e), 0);
	chmod(file, 0664);
	assert_int_equal(check_secure(file, dir, &e), ERR_DENIED);
	want = str_printf("bad ownership or modes for file %s", file);
	assert_string_equal(err_text(&e), want);
	free(want);
	chmod(file, 0644);
	chmod(sub, 0757);
	assert_int_equal(check_secure(file, dir, &e), ERR_DENIED);
	want = str_printf("bad ownership or modes for directory %s", sub);
	assert_string_equal(err_text(&e), want);
	free(want);
	/* Through a link the folders of the target count. */
	assert_int_equal(symlink("sub", link), 0);
	want = str_printf("%s/link/f", dir);
	assert_int_equal(check_secure(want, dir, &e), ERR_DENIED);
	chmod(sub, 0755);
	assert_int_equal(check_secure(want, dir, &e), 0);
	free(want);
	/* Without home everything up to / counts, and /tmp may be written by all. */
	assert_int_equal(check_secure(file, NULL, &e), ERR_DENIED);
	assert_string_equal(err_text(&e), "bad ownership or modes for directory /tmp");
	assert_int_equal(check_secure(file, "/nowhere/at/all", &e), ERR_DENIED);
	assert_int_equal(check_secure(sub, dir, &e), ERR_DENIED);
	assert_non_null(strstr(err_text(&e), "not a regular file"));
	if (getuid() == 0) {
		int fd;

		assert_int_equal(chown(file, 12345, (gid_t)-1), 0);
		assert_int_equal(check_secure(file, dir, &e), ERR_DENIED);
		fd = open(file, O_RDONLY);
		err_clear(&e);
		assert_int_equal(path_check_secure(fd, file, 12345, dir, &e), 0);
		close(fd);
	}
	unlink(file);
	unlink(link);
	rmdir(sub);
	free(file);
	free(sub);
	free(link);
}

static void test_read(void **state)
{
	struct err e = { 0 };
	char *text = mem_array(1, 20001), *file, *data = NULL;
	size_t n;

	memset(text, 'a', 20000);
	file = make_file("r", 0600, text);
	assert_int_equal(path_read_file(file, 20000, &data, &n, &e), 0);
	assert_int_equal(n, 20000);
	assert_string_equal(data, text);
	free(data);
	data = NULL;
	assert_int_equal(path_read_file(file, 19999, &data, &n, &e), ERR_MEMORY);
	assert_null(data);
	assert_non_null(strstr(err_text(&e), file));
	free(file);
	file = make_file("r", 0600, "");
	err_clear(&e);
	assert_int_equal(path_read_file(file, 0, &data, &n, &e), 0);
	assert_int_equal(n, 0);
	assert_string_equal(data, "");
	free(data);
	unlink(file);
	assert_int_equal(path_read_file(file, 10, &data, &n, &e), ERR_IO);
	assert_int_equal(errno, ENOENT);
	err_clear(&e);
	assert_int_equal(path_read_file(dir, 10, &data, &n, &e), ERR_IO);
	free(file);
	free(text);
}

static void test_make_dir(void **state)
{
	struct err e = { 0 };
	char *d = str_printf("%s/m", dir), *deep = str_printf("%s/n/m", dir), *file;
	struct stat st;

	assert_int_equal(path_make_dir(d, 0700, &e), 0);
	assert_int_equal(path_make_dir(d, 0755, &e), 0);
	assert_int_equal(stat(d, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(path_make_dir(deep, 0700, &e), ERR_IO);
	rmdir(d);
	file = make_file("m", 0600, "");
	assert_int_equal(path_make_dir(d, 0700, &e), ERR_IO);
	unlink(file);
	free(file);
	free(d);
	free(deep);
}

static void test_names(void **state)
{
	char *s;

	check_text(path_absolute("/x/y"), "/x/y");
	assert_int_equal(chdir("/"), 0);
	check_text(path_absolute("y"), "/y");
	assert_int_equal(chdir(dir), 0);
	s = str_printf("%s/y", dir);
	check_text(path_absolute("y"), s);
	free(s);
	assert_int_equal(chdir("/"), 0);
	assert_string_equal(path_base_name("/a/b"), "b");
	assert_string_equal(path_base_name("b"), "b");
	assert_string_equal(path_base_name("b/"), "");
}

static int group_setup(void **state)
{
	umask(022);
	return mkdtemp(dir) == NULL;
}

static int group_teardown(void **state)
{
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tilde), cmocka_unit_test(test_tokens), cmocka_unit_test(test_env),
		cmocka_unit_test(test_secure), cmocka_unit_test(test_read), cmocka_unit_test(test_make_dir),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
