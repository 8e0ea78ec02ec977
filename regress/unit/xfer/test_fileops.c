/* regress/unit/xfer/test_fileops.c: modes under a foreign umask, names from a start folder, attributes, copying. */
#include "xfer/fileops.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "xfer/listing.h"
#include "xfer/owners.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static char dir[64], start[128];

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *w)
{
	(void)st;
	(void)flag;
	(void)w;
	return remove(path);
}

static int setup(void **state)
{
	(void)state;
	(void)str_copy(dir, sizeof dir, "/tmp/ws-fileops-XXXXXX");
	if (mkdtemp(dir) == NULL)
		return -1;
	(void)snprintf(start, sizeof start, "%s/start", dir);
	(void)umask(022);
	return mkdir(start, 0700);
}

static int teardown(void **state)
{
	(void)state;
	return nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static mode_t mode_of(const char *name)
{
	char path[256];
	struct stat st;

	(void)snprintf(path, sizeof path, "%s/%s", start, name);
	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

static void make(const struct fileops *f, const char *name, int flags, mode_t mode)
{
	int fd = fileops_open(f, name, flags, mode);

	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

static void test_umask(void **state)
{
	/* The process has 022. Engines with the same, a stricter, a looser and a crossing one. */
	static const struct { int umask; mode_t file, folder, existing; } rows[] = {
		{ -1, 0644, 0755, 0604 }, { 022, 0644, 0755, 0604 }, { 077, 0600, 0700, 0604 }, { 002, 0664, 0775, 0604 },
		{ 0, 0666, 0777, 0604 }, { 0702, 0064, 0075, 0604 },
	};
	struct err e = { 0 };
	char old[256];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct fileops f;
		char name[32];

		assert_int_equal(fileops_init(&f, start, rows[i].umask, &e), 0);
		(void)snprintf(name, sizeof name, "file%zu", i);
		make(&f, name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
		assert_int_equal(mode_of(name), rows[i].file);
		(void)snprintf(name, sizeof name, "excl%zu", i);
		make(&f, name, O_RDWR | O_CREAT | O_EXCL, 0666);
		assert_int_equal(mode_of(name), rows[i].file);
		assert_int_equal(fileops_open(&f, name, O_RDWR | O_CREAT | O_EXCL, 0666), -1);
		assert_int_equal(errno, EEXIST);
		(void)snprintf(name, sizeof name, "dir%zu", i);
		assert_int_equal(fileops_mkdir(&f, name, 0777), 0);
		assert_int_equal(mode_of(name), rows[i].folder);
		assert_int_equal(fileops_mkdir(&f, name, 0777), -1);
		assert_int_equal(errno, EEXIST);
		/* What exists keeps its mode. */
		(void)snprintf(old, sizeof old, "%s/old", start);
		close(open(old, O_CREAT | O_WRONLY, 0600));
		assert_int_equal(chmod(old, rows[i].existing), 0);
		make(&f, "old", O_WRONLY | O_CREAT | O_TRUNC, 0666);
		assert_int_equal(mode_of("old"), rows[i].existing);
		/* Through a dangling link the target is made. */
		(void)snprintf(old, sizeof old, "%s/link%zu", start, i);
		(void)snprintf(name, sizeof name, "made%zu", i);
		assert_int_equal(symlink(name, old), 0);
		(void)snprintf(name, sizeof name, "link%zu", i);
		make(&f, name, O_WRONLY | O_CREAT, 0600);
		(void)snprintf(name, sizeof name, "made%zu", i);
		(void)mode_of(name);
		fileops_clear(&f);
	}
	/* Nobody has changed the process's own. */
	assert_int_equal(umask(022), 022);
}

static void test_start_dir_missing(void **state)
{
	struct fileops f;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(fileops_init(&f, "/nowhere/at/all", -1, &e), ERR_IO);
	assert_non_null(strstr(e.text, "/nowhere/at/all"));
	assert_int_equal(f.dir, AT_FDCWD);
	fileops_clear(&f);
}

static void check_real(const struct fileops *f, const char *path, const char *want)
{
	char *got = fileops_realpath(f, path);

	if (want == NULL) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_string_equal(got, want);
	free(got);
}

static void test_realpath(void **state)
{
	struct fileops f;
	struct err e = { 0 };
	char want[256], path[256];

	(void)state;
	assert_int_equal(fileops_init(&f, start, -1, &e), 0);
	assert_int_equal(fileops_mkdir(&f, "d", 0755), 0);
	make(&f, "d/f", O_CREAT | O_WRONLY, 0644);
	assert_int_equal(fileops_symlink(&f, "d", "to_d"), 0);
	assert_int_equal(fileops_symlink(&f, "/", "to_root"), 0);
	assert_int_equal(fileops_symlink(&f, "loop", "loop"), 0);
	assert_int_equal(fileops_symlink(&f, "not/there", "dangling"), 0);
	check_real(&f, ".", start);
	check_real(&f, "", start);
	(void)snprintf(want, sizeof want, "%s/d", start);
	check_real(&f, "d", want);
	check_real(&f, "./d//", want);
	check_real(&f, "to_d", want);
	check_real(&f, "to_d/../to_d/.", want);
	(void)snprintf(want, sizeof want, "%s/d/f", start);
	check_real(&f, "to_d/f", want);
	(void)snprintf(want, sizeof want, "%s/d/new", start);
	check_real(&f, "to_d/new", want);
	check_real(&f, "to_d/new/x", NULL);
	assert_int_equal(errno, ENOENT);
	check_real(&f, "d/f/x", NULL);
	assert_int_equal(errno, ENOTDIR);
	check_real(&f, "loop", NULL);
	assert_int_equal(errno, ELOOP);
	check_real(&f, "dangling", NULL);
	assert_int_equal(errno, ENOENT);
	check_real(&f, "to_root", "/");
	check_real(&f, "/", "/");
	check_real(&f, "/..", "/");
	check_real(&f, "/../tmp", "/tmp");
	(void)snprintf(path, sizeof path, "to_root%s", start);
	check_real(&f, path, start);
	fileops_clear(&f);
}

static void test_names(void **state)
{
	struct fileops f;
	struct err e = { 0 };
	char target[64];
	struct stat st;

	(void)state;
	assert_int_equal(fileops_init(&f, start, -1, &e), 0);
	make(&f, "a", O_CREAT | O_WRONLY, 0644);
	make(&f, "b", O_CREAT | O_WRONLY, 0644);
	assert_int_equal(fileops_rename_new(&f, "a", "b"), -1);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(fileops_rename_new(&f, "a", "c"), 0);
	assert_int_equal(fileops_stat(&f, "a", false, &st), -1);
	assert_int_equal(fileops_stat(&f, "c", false, &st), 0);
	assert_int_equal(st.st_nlink, 1);
	assert_int_equal(fileops_rename(&f, "c", "b"), 0);
	assert_int_equal(fileops_mkdir(&f, "m1", 0755), 0);
	assert_int_equal(fileops_mkdir(&f, "m2", 0755), 0);
	assert_int_equal(fileops_rename_new(&f, "m1", "m2"), -1);
	assert_int_equal(fileops_rename_new(&f, "m1", "m3"), 0);
	assert_int_equal(fileops_link(&f, "b", "b2"), 0);
	assert_int_equal(fileops_symlink(&f, "target/of/it", "s"), 0);
	assert_int_equal(fileops_readlink(&f, "s", target, sizeof target), 12);
	assert_string_equal(target, "target/of/it");
	assert_int_equal(fileops_readlink(&f, "s", target, 12), -1);
	assert_int_equal(errno, ENAMETOOLONG);
	assert_int_equal(fileops_rmdir(&f, "b"), -1);
	assert_int_equal(errno, ENOTDIR);
	assert_int_equal(fileops_unlink(&f, "m2"), -1);
	assert_int_equal(fileops_rmdir(&f, "m2"), 0);
	fileops_clear(&f);
}

static void test_setstat(void **state)
{
	struct fileops f;
	struct err e = { 0 };
	struct stat st;
	struct sftp_attrs a = { .flags = SFTP_ATTR_SIZE | SFTP_ATTR_MODE | SFTP_ATTR_TIMES, .size = 1000, .mode = 0100711,
		.atime = 1000000, .mtime = 2000000000 };

	(void)state;
	assert_int_equal(fileops_init(&f, start, -1, &e), 0);
	make(&f, "set", O_CREAT | O_WRONLY, 0644);
	assert_int_equal(fileops_setstat(&f, "set", true, &a), 0);
	assert_int_equal(fileops_stat(&f, "set", true, &st), 0);
	assert_true(st.st_size == 1000 && st.st_mtime == 2000000000 && st.st_atime == 1000000);
	assert_int_equal(st.st_mode & 07777, 0711);
	/* The last error counts, and what can be done is done. */
	a.size = UINT64_MAX;
	a.mode = 0600;
	assert_int_equal(fileops_setstat(&f, "set", true, &a), EINVAL);
	assert_int_equal(fileops_stat(&f, "set", true, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(fileops_setstat(&f, "missing", true, &a), ENOENT);
	assert_int_equal(fileops_symlink(&f, "nowhere", "lset"), 0);
	a.flags = SFTP_ATTR_TIMES;
	assert_int_equal(fileops_setstat(&f, "lset", false, &a), 0);
	assert_int_equal(fileops_stat(&f, "lset", false, &st), 0);
	assert_true(st.st_mtime == 2000000000);
	a.flags = SFTP_ATTR_SIZE;
	assert_int_equal(fileops_setstat(&f, "lset", false, &a), EINVAL);
	fileops_clear(&f);
}

static void test_data(void **state)
{
	struct fileops f;
	struct err e = { 0 };
	char a[10], b[10], c[10], path[256];
	struct iovec iov[3] = { { a, 3 }, { b, 0 }, { c, 5 } };
	struct fileops_copy copy;
	int fd, to;

	(void)state;
	assert_int_equal(fileops_init(&f, start, -1, &e), 0);
	fd = fileops_open(&f, "data", O_CREAT | O_RDWR, 0644);
	assert_int_equal(fileops_pwrite(fd, "0123456789", 10, 0, false), 0);
	assert_int_equal(fileops_preadv(fd, iov, 3, 0), 8);
	assert_memory_equal(a, "012", 3);
	assert_memory_equal(c, "34567", 5);
	assert_int_equal(fileops_preadv(fd, iov, 3, 6), 4);
	assert_memory_equal(a, "678", 3);
	assert_memory_equal(c, "9", 1);
	assert_int_equal(fileops_preadv(fd, iov, 3, 10), 0);
	assert_int_equal(fileops_preadv(fd, iov, 3, -1), -1);
	assert_int_equal(errno, EINVAL);
	for (int kernel = 0; kernel < 2; kernel++) {
		to = fileops_open(&f, "copy", O_CREAT | O_RDWR | O_TRUNC, 0644);
		copy = (struct fileops_copy){ .from = fd, .to = to, .from_offset = 2, .to_offset = 1, .left = 5,
			.no_kernel_copy = kernel };
		while (fileops_copy_slice(&copy, 2) > 0)
			;
		assert_true(copy.left == 0);
		iov[0].iov_len = 6;
		assert_int_equal(fileops_preadv(to, iov, 1, 0), 6);
		assert_memory_equal(a, "\00023456", 6);
		/* To the end of the file. */
		copy = (struct fileops_copy){ .from = fd, .to = to, .from_offset = 8, .left = UINT64_MAX, .no_kernel_copy = kernel };
		while (fileops_copy_slice(&copy, 100) > 0)
			;
		assert_true(UINT64_MAX - copy.left == 2);
		close(to);
	}
	to = fileops_open(&f, "copy", O_WRONLY | O_APPEND, 0);
	assert_int_equal(fileops_pwrite(to, "end", 3, 0, true), 0);
	close(to);
	to = fileops_open(&f, "copy", O_RDONLY, 0);
	iov[0].iov_len = 3;
	assert_int_equal(fileops_preadv(to, iov, 1, 6), 3);
	assert_memory_equal(a, "end", 3);
	close(to);
	close(fd);
	/* A fifo without a partner blocks nobody. */
	(void)snprintf(path, sizeof path, "%s/fifo", start);
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = fileops_open(&f, "fifo", O_RDONLY, 0);
	assert_true(fd >= 0);
	assert_int_equal(fileops_preadv(fd, iov, 1, 0), -1);
	close(fd);
	assert_int_equal(fileops_open(&f, "fifo", O_WRONLY, 0), -1);
	fileops_clear(&f);
}

static void check_mode(mode_t mode, const char *want)
{
	char got[11];

	listing_mode(got, mode);
	assert_string_equal(got, want);
}

static void test_listing(void **state)
{
	char date[32], *line;
	struct listing_entry entry = { .name = "n", .user = "me", .group = "longergroup", .mode = 0100644, .links = 1, .size = 5 };
	int64_t now = 1700000000;

	(void)state;
	check_mode(0100644, "-rw-r--r--");
	check_mode(040755, "drwxr-xr-x");
	check_mode(0120777, "lrwxrwxrwx");
	check_mode(041777, "drwxrwxrwt");
	check_mode(041776, "drwxrwxrwT");
	check_mode(0104755, "-rwsr-xr-x");
	check_mode(0106644, "-rwSr-Sr--");
	check_mode(0102755, "-rwxr-sr-x");
	check_mode(010600, "prw-------");
	check_mode(0140000, "s---------");
	check_mode(020620, "crw--w----");
	check_mode(060660, "brw-rw----");
	check_mode(0, "?---------");
	assert_int_equal(setenv("TZ", "UTC", 1), 0);
	listing_date(date, sizeof date, now - 60, now);
	assert_string_equal(date, "Nov 14 22:12");
	listing_date(date, sizeof date, now - 200 * 86400, now);
	assert_string_equal(date, "Apr 28  2023");
	listing_date(date, sizeof date, now + 60, now);
	assert_string_equal(date, "Nov 14  2023");
	entry.mtime = now;
	line = listing_line(&entry, now);
	assert_string_equal(line, "-rw-r--r--    1 me       longergroup        5 Nov 14 22:13 n");
	free(line);
	entry.links = 0;
	line = listing_line(&entry, now);
	assert_string_equal(line, "-rw-r--r--    ? me       longergroup        5 Nov 14 22:13 n");
	free(line);
}

static void test_owners(void **state)
{
	struct owners *o = owners_new();
	char *home;

	(void)state;
	assert_string_equal(owners_user(o, 0), "root");
	assert_string_equal(owners_group(o, 0), "root");
	assert_string_equal(owners_user_known(o, 0), "root");
	assert_null(owners_user_known(o, 3999999999u));
	assert_string_equal(owners_user(o, 3999999999u), "3999999999");
	assert_null(owners_group_known(o, 3999999999u));
	for (uid_t u = 3000000000u; u < 3000005000u; u++)
		assert_null(owners_user_known(o, u));
	assert_string_equal(owners_user(o, 0), "root");
	owners_free(o);
	home = owners_home("root");
	assert_string_equal(home, "/root");
	free(home);
	assert_null(owners_home("no such user at all"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_umask), cmocka_unit_test(test_start_dir_missing), cmocka_unit_test(test_realpath),
		cmocka_unit_test(test_names), cmocka_unit_test(test_setstat), cmocka_unit_test(test_data),
		cmocka_unit_test(test_listing), cmocka_unit_test(test_owners),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
