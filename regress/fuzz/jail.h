/* A private root folder for harnesses whose input becomes file calls: whatever a path says, it stays inside. Entered at the
 * first input (seeds have been read by then). As an ordinary user through a user namespace; where even that is not to be had
 * the harness must do without writing. */
#ifndef FUZZ_JAIL_H
#define FUZZ_JAIL_H

#ifndef _GNU_SOURCE
# define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool jail_done, jail_holds;
static int jail_outside = -1;

static int jail_remove_one(const char *path, const struct stat *st, int flag, struct FTW *w)
{
	(void)st;
	(void)flag;
	if (w->level > 0 && remove(path) != 0)
		(void)chmod(path, 0700);
	return 0;
}

/* Empties the jail; only ever called inside. */
static void jail_clean(void)
{
	if (!jail_holds)
		return;
	(void)nftw("/", jail_remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* At the end: the leak checker needs /proc. Nothing that takes input runs any more. */
static void jail_leave(void)
{
	jail_clean();
	jail_holds = false;
	if (fchdir(jail_outside) != 0 || chroot(".") != 0)
		fprintf(stderr, "cannot leave the jail\n");
}

/* True if paths are held in a private root, which is the current folder. */
static bool jail_enter(void)
{
	static char dir[] = "/tmp/ws-fuzz-XXXXXX";
	static const struct rlimit size = { 1 << 20, 1 << 20 };
	pid_t inside;
	int up[2], status;

	if (jail_done)
		return jail_holds;
	jail_done = true;
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)setrlimit(RLIMIT_FSIZE, &size);
	if (mkdtemp(dir) == NULL || pipe(up) != 0)
		abort();
	/* Who goes in cannot remove the folder itself: the outer process waits for the inner, and does. */
	inside = fork();
	if (inside < 0)
		abort();
	if (inside > 0) {
		while (waitpid(inside, &status, 0) < 0)
			;
		if (rmdir(dir) != 0)
			fprintf(stderr, "left over: %s\n", dir);
		if (WIFSIGNALED(status)) {
			(void)signal(WTERMSIG(status), SIG_DFL);
			(void)raise(WTERMSIG(status));
		}
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
	}
	if (geteuid() != 0 && unshare(CLONE_NEWUSER) != 0)
		return false;
	jail_outside = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (jail_outside < 0 || chroot(dir) != 0 || chdir("/") != 0)
		return false;
	jail_holds = true;
	(void)atexit(jail_leave);
	return true;
}

#endif
