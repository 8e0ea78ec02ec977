/* io/spawn.c: starting programs.
 *
 * The process may have threads and secrets, so between fork and exec nothing is allocated, logged or looked up: what the
 * child needs is worked out before, in a struct spawn_plan, and the child makes only async-signal-safe calls. */
#include "io/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HAVE_SYS_SYSCALL_H
#include <sys/syscall.h>
#endif

#include "base/mem.h"
#include "platform/privdrop.h"
#include "platform/pty.h"

extern char **environ;

enum { SPAWN_FDS_MAX = 65536 };  /* how far descriptors are closed one by one where there is no close_range */
enum { PIPE_BYTES = 1024 * 1024 };

enum spawn_stage { SPAWN_FDS, SPAWN_SESSION, SPAWN_TTY, SPAWN_DROP, SPAWN_EXEC };

static const char *const spawn_stage_text[] = {
	[SPAWN_FDS] = "cannot pass descriptors to", [SPAWN_SESSION] = "cannot begin a session for",
	[SPAWN_TTY] = "cannot set the controlling terminal of", [SPAWN_DROP] = "cannot change identity for",
	[SPAWN_EXEC] = "cannot execute",
};

struct spawn_report { int stage, why; };

struct spawn_plan {
	const struct spawn_options *o;
	char *const *argv, *const *envp;
	struct privdrop_id id;
	int std[3];                      /* sources of 0, 1, 2 */
	int null;                        /* /dev/null, or -1 */
	int exec_fd;                     /* at 3 or above, or -1 */
	int own_exec_fd;                 /* the same if it is our copy */
	int report[2];                   /* how the child tells of failure; closed by exec */
	int *open;                       /* what stays open beside 0, 1, 2: sorted, without doubles */
	size_t open_count;
	int above;                       /* higher than all of these */
	int limit;                       /* of descriptors */
};

/* ---- the child: async-signal-safe calls only */

static void spawn_fail(const struct spawn_plan *p, enum spawn_stage stage)
{
	struct spawn_report r = { .stage = (int)stage, .why = errno };
	ssize_t n = write(p->report[1], &r, sizeof(r));

	(void)n;
	_exit(127);
}

static void spawn_close_range(const struct spawn_plan *p, int from, int to)
{
	int fd;

	if (from > to)
		return;
#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned)from, (unsigned)to, 0u) == 0)
		return;
#endif
	for (fd = from; fd <= to && fd < p->limit; fd++)
		(void)close(fd);
}

static void spawn_child_fds(const struct spawn_plan *p)
{
	int moved[3], i, from = 3;
	size_t k;

	/* All three go out of the way first: the source of one may be the place of another. */
	for (i = 0; i < 3; i++) {
		moved[i] = fcntl(p->std[i], F_DUPFD, p->above);
		if (moved[i] < 0)
			spawn_fail(p, SPAWN_FDS);
	}
	for (i = 0; i < 3; i++)
		if (dup2(moved[i], i) < 0)
			spawn_fail(p, SPAWN_FDS);
	for (k = 0; k < p->open_count; k++) {
		spawn_close_range(p, from, p->open[k] - 1);
		from = p->open[k] + 1;
	}
	spawn_close_range(p, from, INT32_MAX);
	for (k = 0; k < p->o->keep_count; k++)
		if (fcntl(p->o->keep[k], F_SETFD, 0) < 0)
			spawn_fail(p, SPAWN_FDS);
}

static void spawn_child_signals(void)
{
	struct sigaction sa = { .sa_handler = SIG_DFL };
	sigset_t none;
	int i;

	for (i = 1; i < NSIG; i++)
		(void)sigaction(i, &sa, NULL);   /* fails for those that nobody can change */
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static void spawn_child_exec(const struct spawn_plan *p)
{
	if (p->exec_fd < 0) {
		(void)execve(p->o->path, p->argv, p->envp);
		return;
	}
#if defined(SYS_execveat) && defined(AT_EMPTY_PATH)
	(void)syscall(SYS_execveat, p->exec_fd, "", p->argv, p->envp, AT_EMPTY_PATH);
#else
	errno = ENOSYS;
#endif
}

static void spawn_child(const struct spawn_plan *p)
{
	const struct spawn_options *o = p->o;

	/* Handlers are gone before the mask is: none of the parent's may run here. */
	spawn_child_signals();
	if ((o->new_session || o->controlling_tty >= 0) && setsid() < 0)
		spawn_fail(p, SPAWN_SESSION);
	if (o->controlling_tty >= 0 && pty_set_controlling(o->controlling_tty) != 0)
		spawn_fail(p, SPAWN_TTY);
	spawn_child_fds(p);
	if (o->umask >= 0)
		(void)umask((mode_t)o->umask);
	if (o->drop && privdrop_forever_raw(&p->id) != 0)
		spawn_fail(p, SPAWN_DROP);
	/* With the identity of the new program: root may not be able to enter a home on a network. */
	if (o->cwd != NULL && chdir(o->cwd) != 0)
		errno = 0;
	spawn_child_exec(p);
	spawn_fail(p, SPAWN_EXEC);
}

/* ---- the parent */

static int spawn_compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static int spawn_plan_open(struct spawn_plan *p, struct err *e)
{
	const struct spawn_options *o = p->o;
	size_t i, n = 0, out = 0;
	struct rlimit rl;

	p->open = mem_array(o->keep_count + 2, sizeof(p->open[0]));
	for (i = 0; i < o->keep_count; i++) {
		if (o->keep[i] < 3)
			return err_set(e, ERR_USAGE, "descriptor %d cannot be kept at its number", o->keep[i]);
		p->open[n++] = o->keep[i];
	}
	p->open[n++] = p->report[1];
	if (p->exec_fd >= 0)
		p->open[n++] = p->exec_fd;
	qsort(p->open, n, sizeof(p->open[0]), spawn_compare);
	for (i = 0; i < n; i++)
		if (out == 0 || p->open[out - 1] != p->open[i])
			p->open[out++] = p->open[i];
	p->open_count = out;
	p->above = p->open[out - 1] + 1;
	p->limit = SPAWN_FDS_MAX;
	if (getrlimit(RLIMIT_NOFILE, &rl) == 0 && rl.rlim_cur < SPAWN_FDS_MAX)
		p->limit = (int)rl.rlim_cur;
	return 0;
}

/* Numbers below 3 will be taken by the child's standard descriptors. */
static int spawn_lift(int *fd)
{
	int high;

	if (*fd >= 3)
		return 0;
	high = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
	if (high < 0)
		return -1;
	close(*fd);
	*fd = high;
	return 0;
}

static int spawn_plan_report(struct spawn_plan *p, struct err *e)
{
	if (pipe(p->report) != 0) {
		p->report[0] = p->report[1] = -1;
		return err_set_errno(e, "pipe");
	}
	if (spawn_lift(&p->report[0]) != 0 || spawn_lift(&p->report[1]) != 0 ||
	    fcntl(p->report[0], F_SETFD, FD_CLOEXEC) != 0 || fcntl(p->report[1], F_SETFD, FD_CLOEXEC) != 0)
		return err_set_errno(e, "pipe");
	return 0;
}

static int spawn_plan_make(struct spawn_plan *p, const struct spawn_options *o, struct err *e)
{
	const int given[3] = { o->fd_in, o->fd_out, o->fd_err };
	int i;

	*p = (struct spawn_plan){ .o = o, .argv = o->argv, .envp = o->envp != NULL ? o->envp : environ, .null = -1,
		.exec_fd = o->exec_fd, .own_exec_fd = -1, .report = { -1, -1 } };
	p->id = (struct privdrop_id){ o->uid, o->gid, o->groups, o->group_count };
	if (o->argv == NULL || (o->exec_fd < 0 && o->path == NULL))
		return err_set(e, ERR_USAGE, "no program to start");
	if (spawn_plan_report(p, e) != 0)
		return ERR_IO;
	for (i = 0; i < 3; i++) {
		if (given[i] < 0 && p->null < 0 && (p->null = open("/dev/null", O_RDWR | O_CLOEXEC)) < 0)
			return err_set_errno(e, "/dev/null");
		p->std[i] = given[i] >= 0 ? given[i] : p->null;
	}
	/* Always a copy: it must close at exec whatever the caller's does. */
	if (o->exec_fd >= 0) {
		p->exec_fd = p->own_exec_fd = fcntl(o->exec_fd, F_DUPFD_CLOEXEC, 3);
		if (p->exec_fd < 0)
			return err_set_errno(e, "cannot pass the program's descriptor");
	}
	return spawn_plan_open(p, e);
}

static void spawn_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void spawn_plan_clear(struct spawn_plan *p)
{
	spawn_close(&p->null);
	spawn_close(&p->own_exec_fd);
	spawn_close(&p->report[0]);
	spawn_close(&p->report[1]);
	free(p->open);
	p->open = NULL;
}

/* 0 when exec has closed the pipe, else the error that the child told. */
static int spawn_listen(struct spawn_plan *p, pid_t pid, struct err *e)
{
	struct spawn_report r;
	ssize_t n;
	const char *name = p->o->path != NULL ? p->o->path : p->argv[0];

	spawn_close(&p->report[1]);
	do
		n = read(p->report[0], &r, sizeof(r));
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return 0;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (n != (ssize_t)sizeof(r) || r.stage < 0 || (size_t)r.stage >= MEM_COUNT(spawn_stage_text))
		return err_set(e, ERR_IO, "cannot execute %s", name);
	errno = r.why;
	return err_set_errno(e, "%s %s", spawn_stage_text[r.stage], name);
}

pid_t spawn_start(const struct spawn_options *o, struct err *e)
{
	struct spawn_plan p;
	sigset_t all, before;
	pid_t pid;
	int r;

	r = spawn_plan_make(&p, o, e);
	if (r != 0) {
		spawn_plan_clear(&p);
		return r;
	}
	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		spawn_child(&p);
	if (pid < 0)
		r = err_set_errno(e, "fork");
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	if (pid > 0)
		r = spawn_listen(&p, pid, e);
	spawn_plan_clear(&p);
	return r != 0 ? r : pid;
}

/* ---- run and wait */

/* Everything up to the end, at most max bytes. */
static int spawn_collect(int fd, char **out, size_t max, struct err *e)
{
	size_t used = 0, room = 4096;
	char *p = mem_alloc(room), *bigger;
	ssize_t n;

	for (;;) {
		if (room - used < 2) {
			bigger = mem_try(room * 2);
			if (bigger != NULL)
				memcpy(bigger, p, used);
			mem_free_secret(p, room);
			if (bigger == NULL)
				return err_set(e, ERR_MEMORY, "no memory for the output");
			p = bigger;
			room *= 2;
		}
		n = read(fd, p + used, room - used - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		used += (size_t)n;
		if (used > max) {
			mem_free_secret(p, room);
			return err_set(e, ERR_MEMORY, "more than %zu bytes of output", max);
		}
	}
	/* It is handed over as a string: what stands behind a zero byte would be lost without a word. */
	if (memchr(p, '\0', used) != NULL) {
		mem_free_secret(p, room);
		return err_set(e, ERR_PEER, "a zero byte in the output");
	}
	p[used] = '\0';
	*out = p;
	return 0;
}

int spawn_wait(const struct spawn_options *o, char **out, size_t max, int *status, struct err *e)
{
	struct spawn_options mine = *o;
	int p[2] = { -1, -1 }, r = 0;
	pid_t pid, got;

	if (out != NULL) {
		*out = NULL;
		if (pipe(p) != 0)
			return err_set_errno(e, "pipe");
		(void)fcntl(p[0], F_SETFD, FD_CLOEXEC);
		(void)fcntl(p[1], F_SETFD, FD_CLOEXEC);
		mine.fd_out = p[1];
	}
	pid = spawn_start(&mine, e);
	spawn_close(&p[1]);
	if (pid < 0) {
		spawn_close(&p[0]);
		return (int)pid;
	}
	if (out != NULL) {
		r = spawn_collect(p[0], out, max, e);
		if (r != 0)
			(void)kill(pid, SIGKILL);
		spawn_close(&p[0]);
	}
	do
		got = waitpid(pid, status, 0);
	while (got < 0 && errno == EINTR);
	if (got < 0 && r == 0)
		r = err_set_errno(e, "waitpid");
	if (r != 0 && out != NULL) {
		mem_free_string(*out);
		*out = NULL;
	}
	return r;
}

void spawn_fill_stdio(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

void spawn_widen_pipe(int fd)
{
#ifdef F_SETPIPE_SZ
	(void)fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
#else
	(void)fd;
#endif
}
