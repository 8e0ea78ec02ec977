/* on_pty: runs a program on a terminal of its own and talks to it.
 *
 *   on_pty [STEP...] -- PROGRAM [ARGUMENT...]
 *       size=ROWSxCOLUMNS   of the terminal, at the start or later (then the program gets SIGWINCH)
 *       expect=TEXT         waits (20 s) until the text has come since the last expect; fails with status 98 otherwise
 *       send=TEXT           types it; \r \n \\ \xHH stand for bytes
 *       eof                 types ^D
 *       signal=N            to the program
 * What the program prints goes to stdout. After the steps it may run on until it ends (60 s, then 99); its status is ours, 128 + N
 * after a signal. */
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SEEN_MAX = 1 << 20, STEP_MS = 20000, END_MS = 60000, NOT_SEEN = 98, NO_END = 99 };

static char seen[SEEN_MAX];
static size_t seen_count, seen_from;
static int master;
static pid_t child;

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void give_up(int status, const char *what)
{
	fprintf(stderr, "on_pty: %s\n", what);
	kill(child, SIGHUP);
	kill(child, SIGKILL);
	exit(status);
}

/* Takes what has come; 0 when the terminal is closed. */
static int take(int ms)
{
	struct pollfd p = { master, POLLIN, 0 };
	char data[4096];
	ssize_t n;

	if (poll(&p, 1, ms) <= 0)
		return 1;
	n = read(master, data, sizeof data);
	if (n <= 0)
		return n < 0 && errno == EINTR;
	if (write(STDOUT_FILENO, data, (size_t)n) < 0)
		exit(1);
	if (seen_count + (size_t)n > sizeof seen)
		seen_count = seen_from = 0;
	memcpy(seen + seen_count, data, (size_t)n);
	seen_count += (size_t)n;
	return 1;
}

static void expect(const char *text)
{
	long end = now_ms() + STEP_MS;
	char *at;

	while (!(at = memmem(seen + seen_from, seen_count - seen_from, text, strlen(text)))) {
		if (!take(100) || now_ms() > end) {
			fprintf(stderr, "on_pty: \"%s\" did not come\n", text);
			give_up(NOT_SEEN, "no use to go on");
		}
	}
	seen_from = (size_t)(at - seen) + strlen(text);
}

static void type(const char *text)
{
	for (; *text; text++) {
		char c = *text;
		unsigned byte;

		if (c == '\\' && text[1] == 'x' && sscanf(text + 2, "%2x", &byte) == 1) {
			c = (char)byte;
			text += 3;
		} else if (c == '\\' && text[1]) {
			text++;
			c = *text == 'n' ? '\n' : *text == 'r' ? '\r' : *text;
		}
		if (write(master, &c, 1) < 0)
			give_up(NOT_SEEN, "the terminal is closed");
	}
}

static void set_size(const char *text)
{
	struct winsize w = { 0 };

	if (sscanf(text, "%hux%hu", &w.ws_row, &w.ws_col) == 2)
		ioctl(master, TIOCSWINSZ, &w);
}

static void play(const char *step)
{
	if (strncmp(step, "expect=", 7) == 0)
		expect(step + 7);
	else if (strncmp(step, "send=", 5) == 0)
		type(step + 5);
	else if (strncmp(step, "size=", 5) == 0)
		set_size(step + 5);
	else if (strncmp(step, "signal=", 7) == 0)
		kill(child, atoi(step + 7));
	else if (strcmp(step, "eof") == 0)
		type("\\x04");
	else
		give_up(2, step);
}

static int wait_for_end(void)
{
	long end = now_ms() + END_MS;
	int status, open = 1;

	for (;;) {
		if (open)
			open = take(100);
		else
			poll(NULL, 0, 10);
		if (waitpid(child, &status, WNOHANG) == child)
			break;
		if (now_ms() > end)
			give_up(NO_END, "the program does not end");
	}
	while (open && now_ms() < end) {
		struct pollfd p = { master, POLLIN, 0 };

		if (poll(&p, 1, 0) <= 0)
			break;
		open = take(0);
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	int first = 1, last = 1;

	while (last < argc && strcmp(argv[last], "--") != 0)
		last++;
	if (last + 1 >= argc) {
		fprintf(stderr, "usage: on_pty [STEP...] -- PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	if (strncmp(argv[first], "size=", 5) == 0)
		sscanf(argv[first++] + 5, "%hux%hu", &size.ws_row, &size.ws_col);
	child = forkpty(&master, NULL, NULL, &size);
	if (child < 0) {
		perror("on_pty: forkpty");
		return 2;
	}
	if (child == 0) {
		execvp(argv[last + 1], argv + last + 1);
		perror(argv[last + 1]);
		_exit(127);
	}
	while (first < last)
		play(argv[first++]);
	return wait_for_end();
}
