/* server/monitor_signals.c: the clock over the pre-auth process, and a wait that misses no signal. */
#include "server/monitor_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/mem.h"

enum { GRACE_KILL_S = 5 };

static volatile sig_atomic_t grace_child, grace_over;
static volatile sig_atomic_t stop_signal, stop_pipe = -1;
static int stop_ends[2] = { -1, -1 };

/* ---- LoginGraceTime */

/* The process that serves the peer goes, and we see the end of its socket. If something keeps us from looking (a PAM module), the
 * next signal ends us too. */
static void on_grace(int signo)
{
	grace_over = 1;
	if (grace_child > 0)
		(void)kill((pid_t)grace_child, SIGKILL);
	(void)signal(signo, SIG_DFL);
	(void)alarm(GRACE_KILL_S);
}

void monitor_grace_start(pid_t child, unsigned seconds)
{
	grace_child = child;
	(void)signal(SIGALRM, on_grace);
	(void)alarm(seconds);
}

bool monitor_grace_is_over(void)
{
	return grace_over != 0;
}

static void end_grace(void)
{
	/* In this order: a signal that is on its way finds a handler, and one that came in between has set the clock again. */
	grace_child = 0;
	(void)alarm(0);
	(void)signal(SIGALRM, SIG_IGN);
	(void)alarm(0);
	(void)signal(SIGALRM, SIG_DFL);
}

int monitor_reap(pid_t child)
{
	siginfo_t info;
	int status = 0;

	while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	end_grace();
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* ---- the end of a session */

static void on_stop(int signo)
{
	int saved = errno;

	stop_signal = signo;
	/* A full pipe ends the wait as well. */
	(void)!write((int)stop_pipe, "", 1);
	errno = saved;
}

int monitor_stop_watch(struct err *e)
{
	static const int wanted[] = { SIGTERM, SIGHUP, SIGINT };
	const struct sigaction act = { .sa_handler = on_stop };

	if (pipe(stop_ends) != 0)
		return err_set_errno(e, "pipe");
	for (size_t i = 0; i < MEM_COUNT(stop_ends); i++) {
		(void)fcntl(stop_ends[i], F_SETFD, FD_CLOEXEC);
		(void)fcntl(stop_ends[i], F_SETFL, O_NONBLOCK);
	}
	stop_pipe = stop_ends[1];
	for (size_t i = 0; i < MEM_COUNT(wanted); i++)
		(void)sigaction(wanted[i], &act, NULL);
	return 0;
}

int monitor_stop_wait(int fd, struct err *e)
{
	struct pollfd p[] = { { .fd = fd, .events = POLLIN }, { .fd = stop_ends[0], .events = POLLIN } };
	char drained[16];
	int signo = 0;

	while (signo == 0) {
		if (poll(p, MEM_COUNT(p), -1) < 0) {
			if (errno != EINTR)
				return err_set_errno(e, "poll");
			continue;
		}
		if (p[1].revents == 0)
			return 0;
		/* Bytes first: a signal that comes in between has its flag seen now, and its byte leads to another turn. */
		(void)!read(stop_ends[0], drained, sizeof(drained));
		signo = (int)stop_signal;
		stop_signal = 0;
	}
	return signo;
}
