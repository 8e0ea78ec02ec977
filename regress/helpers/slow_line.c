/* slow_line: a line whose rate changes, for the scripts: a relay between two ports of 127.0.0.1 that takes no more than it may.
 *
 *   slow_line [-b BYTES] PORT STEP...     prints its own port, relays every connection to PORT and ends when it is killed
 *       STEP is KB/s:SECONDS, or KB/s for the last one, which does not end; 0 is without a limit. The clock starts when START
 *       bytes have passed one way, so that logins do not count. A relay that gets SIGUSR1 goes on to its next step at once.
 *       -b: the size of its buffers, for lines that are to be fast.
 *
 * Its buffers are small, smaller than the window of any peer, so that what has not been taken by the line waits at the sender. */
#include <sys/socket.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 64 * 1024, START = 16 * 1024, STEPS = 8, TICK_MS = 2, RECEIVE_BUFFER = 6 * 1024, SEGMENT = 1400 };

struct step { double rate, seconds; };           /* bytes a second */
static struct step steps[STEPS];
static int step_count, receive_buffer = RECEIVE_BUFFER;
static volatile sig_atomic_t next_step;

static void go_on(int sig)
{
	(void)sig;
	next_step = 1;
}

static void die(const char *what)
{
	fprintf(stderr, "slow_line: %s: %d\n", what, errno);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int new_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), room = receive_buffer, segment = SEGMENT;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room) < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment) < 0)
		die("socket");
	return fd;
}

struct way {
	int in, out, ended;
	size_t have, done, passed;
	double may;              /* bytes that may be read now */
	char data[BLOCK];
};

static double rate_after(double seconds)
{
	int i;

	for (i = 0; i < step_count - 1 && seconds >= steps[i].seconds; i++)
		seconds -= steps[i].seconds;
	return steps[i].rate;
}

/* When the step ends that is under way. */
static double end_of_step(double seconds)
{
	double end = 0;
	int i;

	for (i = 0; i < step_count - 1 && seconds >= end; i++)
		end += steps[i].seconds;
	return end;
}

/* What the last `passed` seconds allow; a reader that was late may not catch up on more than a few ticks. */
static void way_allow(struct way *w, double rate, double passed)
{
	double most = rate * TICK_MS * 4 / 1000;

	if (rate <= 0) {
		w->may = BLOCK;
		return;
	}
	w->may += rate * passed;
	if (w->may > most)
		w->may = most > 1 ? most : 1;
}

static int way_wants(const struct way *w, struct pollfd *p)
{
	*p = (struct pollfd){ -1, 0, 0 };
	if (w->have > w->done)
		*p = (struct pollfd){ w->out, POLLOUT, 0 };
	else if (!w->ended && w->may >= 1)
		*p = (struct pollfd){ w->in, POLLIN, 0 };
	return p->fd >= 0;
}

static void way_move(struct way *w)
{
	ssize_t n;

	if (w->have > w->done) {
		n = send(w->out, w->data + w->done, w->have - w->done, MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			exit(0);
		w->done += (size_t)n;
		return;
	}
	n = read(w->in, w->data, w->may < BLOCK ? (size_t)w->may : BLOCK);
	w->done = 0;
	w->have = n > 0 ? (size_t)n : 0;
	w->may -= (double)w->have;
	w->passed += w->have;
	if (n > 0)
		return;
	w->ended = 1;
	shutdown(w->out, SHUT_WR);
}

static void relay(int near_end, int far_end)
{
	static struct way ways[2];
	double start = 0, last = now(), t;

	ways[0].in = ways[1].out = near_end;
	ways[0].out = ways[1].in = far_end;
	while (!ways[0].ended || !ways[1].ended) {
		struct pollfd p[2];
		int i;

		t = now();
		if (start <= 0 && (ways[0].passed > START || ways[1].passed > START))
			start = t;
		if (next_step && start > 0) {
			next_step = 0;
			start = t - end_of_step(t - start);
		}
		for (i = 0; i < 2; i++) {
			way_allow(&ways[i], start <= 0 ? 0 : rate_after(t - start), t - last);
			way_wants(&ways[i], &p[i]);
		}
		last = t;
		if (poll(p, 2, TICK_MS) < 0 && errno != EINTR)
			die("poll");
		for (i = 0; i < 2; i++)
			if (p[i].revents)
				way_move(&ways[i]);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof a;
	int listener, fd, far_end;

	if (argc > 2 && strcmp(argv[1], "-b") == 0) {
		receive_buffer = atoi(argv[2]);
		argc -= 2;
		argv += 2;
	}
	if (argc < 3 || argc > 2 + STEPS) {
		fprintf(stderr, "usage: slow_line PORT KB/S:SECONDS... KB/S\n");
		return 2;
	}
	for (; step_count < argc - 2; step_count++) {
		if (sscanf(argv[2 + step_count], "%lf:%lf", &steps[step_count].rate, &steps[step_count].seconds) < 1)
			die("step");
		steps[step_count].rate *= 1000;
	}
	listener = new_socket();
	signal(SIGUSR1, go_on);
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	if (bind(listener, (struct sockaddr *)&a, sizeof a) < 0 || listen(listener, 16) < 0 ||
	    getsockname(listener, (struct sockaddr *)&a, &n) < 0)
		die("listen");
	printf("%d\n", ntohs(a.sin_port));
	fflush(stdout);
	a.sin_port = htons((uint16_t)atoi(argv[1]));
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		if (fork() == 0) {
			far_end = new_socket();
			if (connect(far_end, (struct sockaddr *)&a, sizeof a) < 0)
				die("connect");
			relay(fd, far_end);
			return 0;
		}
		close(fd);
	}
	return 1;
}
