/* regress/unit/platform/test_privdrop.c: identities given up for good, taken for a while, and processes nobody looks into. */
#include "platform/privdrop.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define NEED(x) do { if (!(x)) return __LINE__ % 200 + 1; } while (0)

static const gid_t groups[] = { 5001, 5002 };
static const struct privdrop_id someone = { 4321, 4322, groups, 2 };

/* fn in a child; its result is 0, or tells the line that was not so. */
static void in_child(int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) != 0)
		fail_msg("line %d modulo 200", WEXITSTATUS(status) - 1);
}

static int forever(void)
{
	struct err e = { 0 };
	uid_t r, u, s;
	gid_t g[10];

	NEED(privdrop_forever(&someone, &e) == 0);
	NEED(getresuid(&r, &u, &s) == 0 && r == 4321 && u == 4321 && s == 4321);
	NEED(getresgid(&r, &u, &s) == 0 && r == 4322 && u == 4322 && s == 4322);
	NEED(getgroups(10, g) == 2 && g[0] == 5001 && g[1] == 5002);
	NEED(setuid(0) != 0 && seteuid(0) != 0 && setresuid(0, 0, 0) != 0 && setgid(0) != 0);
	/* Once more to the same is fine, to another is not. */
	NEED(privdrop_forever(&someone, &e) == 0);
	NEED(privdrop_forever(&(struct privdrop_id){ .uid = 4400, .gid = 4322 }, &e) == ERR_IO);
	NEED(strncmp(err_text(&e), "cannot become uid 4400, gid 4322: ", 34) == 0);
	return 0;
}

/* setuid bits can leave a saved id of root's behind: that is given up as well. */
static int forever_from_effective(void)
{
	NEED(seteuid(4321) == 0);
	NEED(privdrop_forever(&someone, NULL) != 0 || getuid() == 4321);
	return 0;
}

static int forever_as_root(void)
{
	const struct privdrop_id root = { 0, 0, groups, 1 };
	gid_t g[4];

	NEED(privdrop_forever(&root, NULL) == 0);
	NEED(getgroups(4, g) == 1 && g[0] == 5001);
	return 0;
}

static void test_forever(void **state)
{
	struct privdrop_id me = { getuid(), getgid(), NULL, 0 };
	struct err e = { 0 };

	if (getuid() != 0) {
		assert_int_equal(privdrop_forever(&me, &e), 0);
		assert_int_equal(privdrop_forever(&someone, &e), ERR_IO);
		return;
	}
	in_child(forever);
	in_child(forever_from_effective);
	in_child(forever_as_root);
}

static int for_a_while(void)
{
	struct privdrop_saved saved;
	struct err e = { 0 };
	gid_t before[64], g[64];
	int n, fd;
	char dir[] = "/tmp/wsprivXXXXXX", name[64];
	struct stat st;

	NEED(mkdtemp(dir) != NULL && chmod(dir, 0777) == 0);
	snprintf(name, sizeof(name), "%s/f", dir);
	NEED(setgroups(1, (gid_t[]){ 6001 }) == 0);
	n = getgroups(64, before);
	NEED(privdrop_assume(&saved, &someone, &e) == 0);
	NEED(geteuid() == 4321 && getegid() == 4322 && getuid() == 0);
	NEED(getgroups(64, g) == 2 && g[0] == 5001);
	fd = open(name, O_CREAT | O_WRONLY, 0600);
	NEED(fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == 4321 && st.st_gid == 4322);
	NEED(open("/etc/shadow", O_RDONLY) < 0 && errno == EACCES);
	NEED(privdrop_return(&saved, &e) == 0);
	NEED(geteuid() == 0 && getegid() == 0);
	NEED(getgroups(64, g) == n && g[0] == before[0]);
	NEED(privdrop_return(&saved, &e) == 0);
	NEED(unlink(name) == 0 && rmdir(dir) == 0);
	return 0;
}

static void test_for_a_while(void **state)
{
	struct privdrop_saved saved;
	struct privdrop_id me = { getuid(), getgid(), NULL, 0 };
	struct err e = { 0 };

	if (getuid() == 0) {
		in_child(for_a_while);
		return;
	}
	assert_int_equal(privdrop_assume(&saved, &me, &e), 0);
	assert_int_equal(privdrop_return(&saved, &e), 0);
	assert_int_equal(privdrop_assume(&saved, &someone, &e), ERR_DENIED);
}

static void test_groups(void **state)
{
	struct passwd *pw = getpwuid(0);
	struct err e = { 0 };
	gid_t *g;
	size_t n;

	assert_int_equal(privdrop_groups(pw->pw_name, 7777, &g, &n, &e), 0);
	assert_true(n >= 1);
	assert_int_equal(g[0], 7777);
	free(g);
	/* Someone whom nobody knows is in his own group. */
	assert_int_equal(privdrop_groups("no-such-user", 7778, &g, &n, &e), 0);
	assert_int_equal(n, 1);
	free(g);
}

static int in_chroot(void)
{
	struct err e = { 0 };
	char dir[] = "/tmp/wsrootXXXXXX";
	struct stat st, here;

	NEED(mkdtemp(dir) != NULL && stat(dir, &st) == 0);
	NEED(privdrop_chroot("/no/such/place", &e) == ERR_IO);
	NEED(privdrop_chroot(dir, &e) == 0);
	NEED(stat("/", &here) == 0 && here.st_ino == st.st_ino);
	NEED(stat("..", &here) == 0 && here.st_ino == st.st_ino);
	NEED(access("/etc/passwd", F_OK) != 0);
	return 0;
}

static void test_chroot(void **state)
{
	if (getuid() == 0) {
		in_child(in_chroot);
		assert_int_equal(system("rmdir /tmp/wsroot??????"), 0);
	} else {
		assert_int_equal(privdrop_chroot("/", NULL), ERR_IO);
	}
}

/* A core file would be all of its memory. The limit stays what it was, for programs that it starts. */
static int no_core(void)
{
	struct err e = { 0 };
	struct rlimit rl, now;
	int status;
	pid_t pid;

	NEED(getrlimit(RLIMIT_CORE, &rl) == 0);
	rl.rlim_cur = rl.rlim_max;
	NEED(setrlimit(RLIMIT_CORE, &rl) == 0 && chdir("/tmp") == 0);
	pid = fork();
	if (pid == 0) {
		if (privdrop_undumpable(&e) != 0 || getrlimit(RLIMIT_CORE, &now) != 0 || now.rlim_cur != rl.rlim_cur ||
		    now.rlim_max != rl.rlim_max)
			_exit(1);
		(void)signal(SIGABRT, SIG_DFL);
		abort();
	}
	NEED(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && !WCOREDUMP(status));
	return 0;
}

static int undumpable(void)
{
	struct err e = { 0 };
	int go[2], ready[2], status;
	pid_t target, other;
	char c;

	if (getuid() == 0)
		NEED(privdrop_forever(&someone, &e) == 0);
	NEED(pipe(go) == 0 && pipe(ready) == 0);
	target = fork();
	if (target == 0) {
		close(go[1]);
		if (privdrop_undumpable(&e) != 0 || prctl(PR_GET_DUMPABLE) != 0)
			_exit(1);
		if (write(ready[1], "r", 1) != 1 || read(go[0], &c, 1) < 0)
			_exit(2);
		_exit(0);
	}
	NEED(read(ready[0], &c, 1) == 1);
	/* A process of the same user cannot look into it, not even its parent. */
	NEED(ptrace(PTRACE_ATTACH, target, NULL, NULL) == -1);
	other = fork();
	if (other == 0) {
		char name[64];

		snprintf(name, sizeof(name), "/proc/%d/mem", (int)target);
		_exit(ptrace(PTRACE_ATTACH, target, NULL, NULL) == -1 && open(name, O_RDONLY) < 0 ? 0 : 1);
	}
	NEED(waitpid(other, &status, 0) == other && status == 0);
	close(go[1]);
	NEED(waitpid(target, &status, 0) == target && status == 0);
	return 0;
}

/* In the place of the C library's: a system where whoever changes ids can be dumped (fs.suid_dumpable). */
static int changed(long r)
{
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	return (int)r;
}
int seteuid(uid_t uid) { return changed(syscall(SYS_setresuid, -1, uid, -1)); }
int setegid(gid_t gid) { return changed(syscall(SYS_setresgid, -1, gid, -1)); }

static int stays_undumpable(void)
{
	struct privdrop_saved saved;
	struct err e = { 0 };

	NEED(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0 && privdrop_assume(&saved, &someone, &e) == 0);
	/* nobody has asked for it */
	NEED(prctl(PR_GET_DUMPABLE) == 1 && privdrop_return(&saved, &e) == 0 && privdrop_undumpable(&e) == 0);
	NEED(privdrop_assume(&saved, &someone, &e) == 0 && geteuid() == someone.uid && prctl(PR_GET_DUMPABLE) == 0);
	NEED(privdrop_return(&saved, &e) == 0 && geteuid() == 0 && prctl(PR_GET_DUMPABLE) == 0);
	return 0;
}

static void test_undumpable(void **state)
{
	in_child(undumpable);
	if (getuid() == 0)
		in_child(stays_undumpable);
	in_child(no_core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forever), cmocka_unit_test(test_for_a_while), cmocka_unit_test(test_groups),
		cmocka_unit_test(test_chroot), cmocka_unit_test(test_undumpable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
