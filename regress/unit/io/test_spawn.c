/* regress/unit/io/test_spawn.c: programs started with exactly what they shall have. */
#include "io/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "io/worker.h"
#include "platform/pty.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* execve() is declared as if it could change its arguments. */
#define ARGV(...) ((char *const *)(uintptr_t)(const char *const[]){ __VA_ARGS__, NULL })

/* Runs a shell command; what it prints, to be freed. */
static char *shell(struct spawn_options *o, const char *command, int *status)
{
	struct err e = { 0 };
	char *out = NULL;

	o->path = "/bin/sh";
	o->argv = ARGV("sh", "-c", command);
	if (spawn_wait(o, &out, 100000, status, &e) != 0)
		fail_msg("%s", err_text(&e));
	return out;
}

static void check(struct spawn_options *o, const char *command, const char *want)
{
	int status = -1;
	char *out = shell(o, command, &status);

	assert_string_equal(out, want);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	free(out);
}

static void test_output_and_status(void **state)
{
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	struct err e = { 0 };
	int status;
	char *out;

	check(&o, "printf a; printf b >&2", "a");
	out = shell(&o, "exit 7", &status);
	assert_int_equal(WEXITSTATUS(status), 7);
	free(out);
	out = shell(&o, "kill -9 $$", &status);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	free(out);
	/* Standard descriptors that were not given are /dev/null. */
	check(&o, "cat; echo end", "end\n");
	o.argv = ARGV("sh", "-c", "while :; do echo 0123456789; done");
	assert_int_equal(spawn_wait(&o, &out, 1000, &status, &e), ERR_MEMORY);
	assert_null(out);
	assert_true(WIFSIGNALED(status));
	err_clear(&e);
	o.argv = ARGV("sh", "-c", "printf 'a\\000b'");
	assert_int_equal(spawn_wait(&o, &out, 1000, &status, &e), ERR_PEER);
	assert_null(out);
	o.argv = ARGV("sh", "-c", "exit 3");
	assert_int_equal(spawn_wait(&o, NULL, 0, &status, NULL), 0);
	assert_int_equal(WEXITSTATUS(status), 3);
}

static void test_exec_fails(void **state)
{
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	char *const *argv = ARGV("x");
	struct err e = { 0 };
	int status;

	o.path = "/no/such/program";
	o.argv = argv;
	assert_int_equal(spawn_start(&o, &e), ERR_IO);
	assert_string_equal(err_text(&e), "cannot execute /no/such/program: No such file or directory");
	assert_int_equal(waitpid(-1, &status, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	err_clear(&e);
	o.path = "/etc/passwd";
	assert_int_equal(spawn_wait(&o, NULL, 0, &status, &e), ERR_IO);
	err_clear(&e);
	o.path = NULL;
	assert_int_equal(spawn_start(&o, &e), ERR_USAGE);
	err_clear(&e);
	o.path = "/bin/sh";
	o.fd_in = 1000;
	assert_int_equal(spawn_start(&o, &e), ERR_IO);
	assert_non_null(strstr(err_text(&e), "cannot pass descriptors to /bin/sh"));
	err_clear(&e);
	o.fd_in = -1;
	o.keep = (const int[]){ 2 };
	o.keep_count = 1;
	assert_int_equal(spawn_start(&o, &e), ERR_USAGE);
}

static void test_descriptors(void **state)
{
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	int p[2], keep[2], stray, far, in[2], i;
	char c;

	/* Descriptors all over, with and without close-on-exec: only those asked for arrive. */
	assert_int_equal(pipe(p), 0);
	stray = open("/dev/null", O_RDONLY);
	far = fcntl(stray, F_DUPFD, 700);
	assert_true(stray >= 0 && far >= 700);
	assert_int_equal(dup3(p[1], 9, O_CLOEXEC), 9);
	keep[0] = keep[1] = 9;
	o.keep = keep;
	o.keep_count = 2;
	check(&o, "for f in 0 1 2 3 4 5 6 7 8 9 10 50 700; do [ -e /proc/$$/fd/$f ] && printf \"$f \"; done; :", "0 1 2 9 ");
	check(&o, "printf k >&9", "");
	assert_int_equal(read(p[0], &c, 1), 1);
	assert_int_equal(c, 'k');
	/* The caller's own stays close-on-exec. */
	assert_true(fcntl(keep[0], F_GETFD) & FD_CLOEXEC);
	close(keep[0]);
	o.keep_count = 0;
	/* 0, 1 and 2 swapped around: sources that are each other's places. */
	assert_int_equal(pipe(in), 0);
	assert_int_equal(write(in[1], "text", 4), 4);
	close(in[1]);
	i = dup(STDIN_FILENO);
	assert_int_equal(dup2(in[0], STDIN_FILENO), STDIN_FILENO);
	o.fd_in = STDIN_FILENO;
	o.fd_err = p[1];
	check(&o, "cat; printf e >&2", "text");
	assert_int_equal(read(p[0], &c, 1), 1);
	assert_int_equal(c, 'e');
	dup2(i, STDIN_FILENO);
	close(i);
	close(in[0]);
	close(stray);
	close(far);
	close(p[0]);
	close(p[1]);
}

/* Standard descriptors that the parent does not have open itself. */
static void test_without_standard_descriptors(void **state)
{
	int status = 0, p[2];
	pid_t pid;
	char b[16];
	ssize_t n;

	assert_int_equal(pipe(p), 0);
	pid = fork();
	if (pid == 0) {
		struct spawn_options o = SPAWN_OPTIONS_INIT;
		char *const *argv = ARGV("sh", "-c", "cat; echo out; echo err >&2");

		close(0);
		close(1);
		close(2);
		o.path = "/bin/sh";
		o.argv = argv;
		o.fd_out = p[1];
		o.exec_fd = open("/bin/sh", O_RDONLY);
		_exit(spawn_wait(&o, NULL, 0, &status, NULL) == 0 && status == 0 ? 0 : 1);
	}
	close(p[1]);
	n = read(p[0], b, sizeof(b));
	assert_int_equal(n, 4);
	assert_memory_equal(b, "out\n", 4);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(p[0]);
}

static void test_signals_are_reset(void **state)
{
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	sigset_t set, before;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	/* Signals 32 and 33 are the C library's own: some make programs start us with these ignored, and nobody can change that. */
	check(&o, "grep -E '^Sig(Blk|Ign)' /proc/self/status | tr -d '\\t\\n' | sed s/0000000180000000$/0000000000000000/",
		"SigBlk:0000000000000000SigIgn:0000000000000000");
	/* Ours are as they were. */
	sigprocmask(SIG_SETMASK, &before, &set);
	assert_int_equal(sigismember(&set, SIGUSR1), 1);
	assert_int_equal(sigismember(&set, SIGINT), 0);
	assert_ptr_equal(signal(SIGPIPE, SIG_DFL), SIG_IGN);
	signal(SIGTERM, SIG_DFL);
}

static void test_environment_cwd_umask(void **state)
{
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	char *const *env = ARGV("WS_ONE=1", "PATH=/usr/bin:/bin");

	o.envp = env;
	o.cwd = "/";
	o.umask = 027;
	check(&o, "echo $WS_ONE$HOME; pwd; umask", "1\n/\n0027\n");
	o.cwd = "/no/such/folder";
	o.envp = NULL;
	setenv("WS_TWO", "2", 1);
	check(&o, "echo $WS_TWO", "2\n");
}

static void test_exec_fd(void **state)
{
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	struct err e = { 0 };
	int fd = open("/bin/sh", O_PATH | O_CLOEXEC), status;
	char *const *argv = ARGV("sh", "-c", "[ ! -e /proc/$$/fd/3 ] && exit 5");

	o.exec_fd = fd;
	o.argv = argv;
	assert_int_equal(spawn_wait(&o, NULL, 0, &status, &e), 0);
	assert_int_equal(WEXITSTATUS(status), 5);
	close(fd);
	o.exec_fd = 1000;
	assert_int_equal(spawn_start(&o, &e), ERR_IO);
}

static void test_controlling_tty(void **state)
{
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	struct err e = { 0 };
	struct pty p;
	char *const *argv = ARGV("sh", "-c", "tty; ps -o tty= -p $$; [ $(ps -o sid= -p $$) -eq $$ ] && echo leader >/dev/tty");
	char b[200], got[400] = "";
	ssize_t n;
	pid_t pid;
	int status;

	assert_int_equal(pty_open(&p, &e), 0);
	o.path = "/bin/sh";
	o.argv = argv;
	o.fd_in = o.fd_out = o.fd_err = p.slave;
	o.controlling_tty = p.slave;
	pid = spawn_start(&o, &e);
	assert_true(pid > 0);
	close(p.slave);
	p.slave = -1;
	while ((n = read(p.master, b, sizeof(b) - 1)) > 0) {
		b[n] = '\0';
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s", b);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(str_starts(got, p.name));
	assert_non_null(strstr(got, "leader"));
	pty_close(&p);
	/* What is no terminal cannot be a controlling one. */
	err_clear(&e);
	o.fd_in = o.fd_out = o.fd_err = -1;
	o.controlling_tty = open("/dev/null", O_RDWR);
	assert_int_equal(spawn_start(&o, &e), ERR_IO);
	assert_non_null(strstr(err_text(&e), "cannot set the controlling terminal of /bin/sh"));
	close(o.controlling_tty);
}

static void test_drop(void **state)
{
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	gid_t groups[] = { 4322, 4323 };
	struct err e = { 0 };

	o.drop = true;
	o.uid = 4321;
	o.gid = 4322;
	o.groups = groups;
	o.group_count = 2;
	if (getuid() == 0) {
		check(&o, "id -u; id -g; id -G", "4321\n4322\n4322 4323\n");
		return;
	}
	o.path = "/bin/sh";
	o.argv = ARGV("sh");
	assert_int_equal(spawn_start(&o, &e), ERR_IO);
	assert_non_null(strstr(err_text(&e), "cannot change identity for /bin/sh"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output_and_status), cmocka_unit_test(test_exec_fails), cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_without_standard_descriptors), cmocka_unit_test(test_signals_are_reset),
		cmocka_unit_test(test_environment_cwd_umask), cmocka_unit_test(test_exec_fd),
		cmocka_unit_test(test_controlling_tty), cmocka_unit_test(test_drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
