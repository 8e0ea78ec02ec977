/* regress/unit/platform/test_sandbox.c: what a sandboxed process may do, is told no for, and dies of. */
#include "platform/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "platform/limits.h"
#include "platform/privdrop.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static int io[2], ep;

#define NEED(x) do { if (!(x)) return __LINE__ % 200 + 1; } while (0)
#define NEED_ERRNO(x, want) do { errno = 0; if ((x) != -1 || errno != (want)) return __LINE__ % 200 + 1; } while (0)

/* Each runs in a sandboxed child and returns 0, or the line that was not so. */
static int do_allowed(void)
{
	struct pollfd p = { .fd = io[0], .events = POLLIN };
	struct epoll_event ev = { .events = EPOLLIN };
	struct timespec ts;
	sigset_t set;
	char b[64];
	void *m;
	int i;

	NEED(write(io[1], "x", 1) == 1);
	NEED(poll(&p, 1, 1000) == 1);
	NEED(epoll_ctl(ep, EPOLL_CTL_ADD, io[0], &ev) == 0);
	NEED(epoll_wait(ep, &ev, 1, 1000) == 1);
	NEED(epoll_ctl(ep, EPOLL_CTL_DEL, io[0], &ev) == 0);
	NEED(read(io[0], b, sizeof(b)) == 1);
	NEED(send(io[1], "yz", 2, MSG_NOSIGNAL) == 2);
	NEED(recv(io[0], b, sizeof(b), MSG_DONTWAIT) == 2);
	NEED(clock_gettime(CLOCK_MONOTONIC, &ts) == 0);
	NEED(time(NULL) > 0);
	NEED(getrandom(b, sizeof(b), 0) == sizeof(b));
	NEED(snprintf(b, sizeof(b), "%d %s", getpid(), strerror(EIO)) > 0);
	for (i = 1; i < 24; i += 4) {
		m = malloc((size_t)1 << i);
		NEED(m != NULL);
		memset(m, 1, (size_t)1 << i);
		m = realloc(m, (size_t)2 << i);
		NEED(m != NULL);
		free(m);
	}
	NEED(sigemptyset(&set) == 0 && sigprocmask(SIG_SETMASK, &set, NULL) == 0);
	NEED(fcntl(io[0], F_SETFL, O_NONBLOCK) == 0);
	NEED(shutdown(io[1], SHUT_RDWR) == 0);
	NEED(close(io[1]) == 0);
	return 0;
}

static void *thread_main(void *arg)
{
	return arg;
}

static int do_refused(void)
{
	struct stat st;
	struct termios t;
	pthread_t th;
	int v = 0;
	socklen_t n = sizeof(v);

	NEED_ERRNO(open("/etc/passwd", O_RDONLY), EACCES);
	NEED_ERRNO(openat(AT_FDCWD, "/", O_RDONLY), EACCES);
	NEED_ERRNO(stat("/", &st), EACCES);
	NEED_ERRNO(access("/", F_OK), EACCES);
	NEED_ERRNO(socket(AF_UNIX, SOCK_STREAM, 0), EACCES);
	NEED_ERRNO(getsockopt(io[0], SOL_SOCKET, SO_ERROR, &v, &n), EPERM);
	NEED_ERRNO(tcgetattr(0, &t), ENOTTY);
	NEED_ERRNO(fcntl(io[0], F_DUPFD, 0), EPERM);
	NEED_ERRNO(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), EINVAL);
	NEED(pthread_create(&th, NULL, thread_main, NULL) != 0);
	return 0;
}

static int do_fork(void) { return fork() >= 0; }
static int do_exec(void) { return execl("/bin/true", "true", (char *)NULL); }
static int do_kill(void) { return kill(getppid(), 0); }
static int do_dup(void) { return dup(io[0]); }
static int do_pipe(void) { int p[2]; return pipe(p); }
static int do_unlink(void) { return unlink("/tmp/ws-no-such-file"); }
static int do_chdir(void) { return chdir("/"); }
static int do_setuid(void) { return setuid(getuid()); }
static int do_ptrace(void) { return (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL); }
static int do_seccomp(void) { return (int)prctl(PR_SET_SECCOMP, 0); }
static int do_bind(void) { return listen(io[0], 1); }
static int do_mmap_exec(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}
static int do_mmap_file(void) { return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, io[0], 0) == MAP_FAILED; }
static int do_mprotect_exec(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mprotect(p, 4096, PROT_READ | PROT_EXEC);
}
static int do_tgkill_other(void) { return raise(0) != 0 ? 1 : (int)syscall(SYS_tgkill, getppid(), getppid(), 0); }
static int do_abort(void) { abort(); }

/* Wait status of a child that enters the sandbox and calls fn; what violation() wrote is in text. */
static int run(int (*fn)(void), bool trap, char *text, size_t size);

static int report[2];

static void on_violation(const char *call)
{
	if (write(report[1], call, strlen(call)) < 0)
		abort();
}

static int run(int (*fn)(void), bool trap, char *text, size_t size)
{
	const struct sandbox_options o = { .trap = trap, .violation = on_violation };
	struct err e = { 0 };
	struct rlimit no_core = { 0, 0 };
	int status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, io), 0);
	ep = epoll_create1(EPOLL_CLOEXEC);
	assert_int_equal(pipe(report), 0);
	pid = fork();
	if (pid == 0) {
		signal(SIGABRT, SIG_DFL);
		(void)setrlimit(RLIMIT_CORE, &no_core);
		if (sandbox_enter(&o, &e) != 0)
			_exit(255);
		_exit(fn());
	}
	close(report[1]);
	n = read(report[0], text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	close(report[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(io[0]);
	close(io[1]);
	close(ep);
	return status;
}

static void check_seccomp(void)
{
	if (strcmp(sandbox_kind(), "seccomp") != 0)
		skip();
}

static void test_allowed(void **state)
{
	char text[100];
	int status;

	check_seccomp();
	status = run(do_allowed, false, text, sizeof(text));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_string_equal(text, "");
	status = run(do_abort, false, text, sizeof(text));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void test_refused(void **state)
{
	char text[100];
	int status;

	check_seccomp();
	status = run(do_refused, false, text, sizeof(text));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_killed(void **state)
{
	static const struct { const char *name; int (*fn)(void); } t[] = {
		{ "exec", do_exec }, { "kill", do_kill }, { "dup", do_dup }, { "pipe", do_pipe }, { "unlink", do_unlink },
		{ "chdir", do_chdir }, { "setuid", do_setuid }, { "ptrace", do_ptrace }, { "listen", do_bind },
		{ "mmap exec", do_mmap_exec }, { "mmap file", do_mmap_file }, { "mprotect exec", do_mprotect_exec },
		{ "tgkill", do_tgkill_other },
	};
	char text[100];
	size_t i;
	int status;

	check_seccomp();
	for (i = 0; i < MEM_COUNT(t); i++) {
		status = run(t[i].fn, false, text, sizeof(text));
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
			fail_msg("%s: status %#x", t[i].name, status);
	}
	/* No child: refused or dead, but none. */
	status = run(do_fork, false, text, sizeof(text));
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	status = run(do_seccomp, false, text, sizeof(text));
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 255);
}

static void test_trap_names_the_call(void **state)
{
	char text[100], want[100];
	int status;

	check_seccomp();
	status = run(do_dup, true, text, sizeof(text));
	snprintf(want, sizeof(want), "dup (%d)", (int)SYS_dup);
	assert_string_equal(text, want);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	status = run(do_mmap_exec, true, text, sizeof(text));
	assert_true(strncmp(text, "mmap", 4) == 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
	/* Allowed things are not reported. */
	status = run(do_allowed, true, text, sizeof(text));
	assert_int_equal(status, 0);
	assert_string_equal(text, "");
}

#ifdef __x86_64__
static int do_other_arch(void)
{
	long r = 20; /* getpid of 32-bit programs; on this machine's own list 20 is writev */

	__asm__ volatile("int $0x80" : "+a"(r) : : "memory");
	return r > 0 ? 0 : 1;
}

static int do_x32(void)
{
	return syscall(0x40000000 + SYS_getpid) > 0 ? 0 : 1;
}

static void test_other_tables_of_calls(void **state)
{
	char text[100];
	int status;

	check_seccomp();
	status = run(do_other_arch, false, text, sizeof(text));
	assert_true(WIFSIGNALED(status));
	status = run(do_x32, false, text, sizeof(text));
	assert_true(WIFSIGNALED(status));
}
#else
static void test_other_tables_of_calls(void **state)
{
	skip();
}
#endif

/* Lines of a child that has only the limits, as where there are no filters. */
static int limited(int fd)
{
	struct privdrop_id nobody = { .uid = 4321, .gid = 4321 };
	struct pollfd p[3] = { { .fd = 0 }, { .fd = 1 }, { .fd = fd } };

	if (getuid() == 0)
		NEED(privdrop_forever(&nobody, NULL) == 0);
	signal(SIGXFSZ, SIG_IGN);
	NEED(limits_set_untrusted(false, NULL) == 0);
	NEED_ERRNO(write(fd, "x", 1), EFBIG);
	NEED_ERRNO(dup(0), EMFILE);
	NEED_ERRNO(fork(), EAGAIN);
	NEED(poll(p, 3, 0) >= 0);
	return 0;
}

static void test_limits(void **state)
{
	char name[] = "/tmp/wslimitXXXXXX";
	int fd = mkstemp(name), status, more[3];
	pid_t pid;

	assert_true(fd >= 0);
	unlink(name);
	/* Below four descriptors the limit is not exact: have more. */
	more[0] = dup(0);
	more[1] = dup(0);
	more[2] = dup(0);
	pid = fork();
	if (pid == 0)
		_exit(limited(fd));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	close(fd);
	close(more[0]);
	close(more[1]);
	close(more[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allowed), cmocka_unit_test(test_refused), cmocka_unit_test(test_killed),
		cmocka_unit_test(test_trap_names_the_call), cmocka_unit_test(test_other_tables_of_calls),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
