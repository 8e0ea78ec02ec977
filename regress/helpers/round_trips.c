/* round_trips: how many round trips a program needs from connect() to its first byte of output, counted and not timed.
 *
 *   round_trips [-v] [-l PORT] [-s PID] [-q MS] [-r FILE] PORT COMMAND [ARGUMENT...]    counts; prints round trips, as 4 or 4.5
 *   round_trips -d MS [-l PORT] [-r FILE] PORT COMMAND [ARGUMENT...]    delays: each way takes MS; prints milliseconds
 *
 * Runs the command with every @PORT@ in its arguments replaced by the port of a relay (-l, or a free one) to 127.0.0.1:PORT.
 * The relay keeps a clock of its own, in half round trips. It stands still while anybody talks or works, whatever that takes
 * in real time; when both ends have been quiet for -q ms (50) it goes on by one, and everything that was said meanwhile
 * arrives. connect() itself counts as one round trip, and the server sees the connection together with the first bytes, as
 * over a real line.
 *
 * Quiet means: no bytes came, and where there is a /proc, no process of the command, or under the server whose process is
 * named with -s, has run meanwhile. So a busy machine does not change the count.
 *
 * -r: the result goes to FILE, not to stderr. -v: shows what arrived when. Exit status: the command's. */
#include <sys/socket.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

enum { QUIET_MS = 50, CHUNK = 64 * 1024, HALVES_MAX = 400, PROCESSES_MAX = 4096 };

struct piece {           /* on its way */
	struct piece *next;
	uint64_t due_ms;
	size_t n;                /* 0: the end */
	uint8_t bytes[];
};

struct way {
	int from, to;            /* -1: not there */
	bool ended, end_passed;
	struct piece *first, **last;
};

struct relay {
	int listener, output;    /* output: of the command */
	struct sockaddr_in server;
	struct way up, down;
	int client, upstream;
	unsigned halves, first_halves;
	uint64_t start_ms, accepted_ms, first_ms;
	int quiet_ms, delay_ms;  /* delay_ms -1: count */
	bool output_seen, verbose;
	pid_t command, daemon;
	uint64_t busy;           /* what the processes had done at the last look; 0: they are working */
};

static void die(const char *what)
{
	fprintf(stderr, "round_trips: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* ---- who is working ---- */

struct process { pid_t pid, parent; char state; };

/* All processes; 0 where there is no /proc. */
static size_t list_processes(struct process *v, size_t max)
{
	DIR *d = opendir("/proc");
	struct dirent *entry;
	size_t n = 0;

	while (d != NULL && n < max && (entry = readdir(d)) != NULL) {
		char path[300], text[512], *behind;
		int fd;
		ssize_t size;

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		size = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
		if (fd >= 0)
			close(fd);
		text[size > 0 ? size : 0] = '\0';
		behind = strrchr(text, ')');
		if (behind != NULL && sscanf(behind + 1, " %c %d", &v[n].state, &v[n].parent) == 2)
			v[n++].pid = atoi(entry->d_name);
	}
	if (d != NULL)
		closedir(d);
	return n;
}

/* How often the process was given the processor. */
static uint64_t count_runs(pid_t pid)
{
	char path[64], line[128];
	unsigned long long value, sum = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &value) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %llu", &value) == 1)
			sum += value;
	if (f != NULL)
		fclose(f);
	return sum;
}

static bool belongs(const struct relay *r, const struct process *v, size_t n, pid_t pid)
{
	for (int depth = 0; depth < 32 && pid > 1; depth++) {
		size_t i = 0;

		if (pid == r->command || pid == r->daemon)
			return true;
		while (i < n && v[i].pid != pid)
			i++;
		if (i == n)
			return false;
		pid = v[i].parent;
	}
	return false;
}

/* A number that changes when any of the processes has run; 0: one is running now. */
static uint64_t look_at_processes(const struct relay *r)
{
	static struct process v[PROCESSES_MAX];
	size_t n = list_processes(v, PROCESSES_MAX);
	uint64_t sum = 1;

	for (size_t i = 0; i < n; i++) {
		if (!belongs(r, v, n, v[i].pid))
			continue;
		if (v[i].state == 'R' || v[i].state == 'D')
			return 0;
		sum = sum * 1000003 + (uint64_t)v[i].pid * 31 + count_runs(v[i].pid);
	}
	return sum != 0 ? sum : 1;
}

/* ---- one direction ---- */

static void way_reset(struct way *w)
{
	struct piece *p;

	while ((p = w->first) != NULL) {
		w->first = p->next;
		free(p);
	}
	*w = (struct way){ .from = -1, .to = -1 };
	w->last = &w->first;
}

static void way_add(struct relay *r, struct way *w, const uint8_t *bytes, size_t n)
{
	struct piece *p = mem_alloc(sizeof(*p) + n);
	uint64_t due = clock_mono_ms() + (uint64_t)(r->delay_ms > 0 ? r->delay_ms : 0);
	/* What a client sends at once would have left one round trip later over a real line. */
	uint64_t least = r->accepted_ms + 3 * (uint64_t)(r->delay_ms > 0 ? r->delay_ms : 0);

	*p = (struct piece){ .due_ms = due < least ? least : due, .n = n };
	if (n != 0)
		memcpy(p->bytes, bytes, n);
	*w->last = p;
	w->last = &p->next;
}

static void way_read(struct relay *r, struct way *w)
{
	uint8_t bytes[CHUNK];
	ssize_t n = read(w->from, bytes, sizeof(bytes));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		w->ended = true;
	way_add(r, w, bytes, n > 0 ? (size_t)n : 0);
}

static void way_write(struct way *w, const struct piece *p)
{
	size_t done = 0;

	if (w->to < 0 || w->end_passed)
		return;
	if (p->n == 0) {
		w->end_passed = true;
		(void)shutdown(w->to, SHUT_WR);
		return;
	}
	while (done < p->n) {
		ssize_t n = write(w->to, p->bytes + done, p->n - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return;          /* it has hung up: what it would have said comes by the other way */
		done += (size_t)n;
	}
}

/* Everything that is due, or all of it. */
static void way_deliver(struct way *w, uint64_t now_ms)
{
	struct piece *p;

	while ((p = w->first) != NULL && p->due_ms <= now_ms) {
		w->first = p->next;
		if (w->first == NULL)
			w->last = &w->first;
		way_write(w, p);
		free(p);
	}
}

static size_t way_size(const struct way *w)
{
	size_t n = 0;

	for (const struct piece *p = w->first; p != NULL; p = p->next)
		n += p->n;
	return n;
}

/* ---- the connection ---- */

static void call_server(struct relay *r)
{
	int one = 1;

	if (r->upstream >= 0 || r->client < 0)
		return;
	r->upstream = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (r->upstream < 0 || connect(r->upstream, (struct sockaddr *)&r->server, sizeof(r->server)) < 0)
		die("connect");
	(void)setsockopt(r->upstream, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	r->down.from = r->up.to = r->upstream;
}

static void take_client(struct relay *r)
{
	int one = 1;

	if (r->client >= 0)
		close(r->client);
	if (r->upstream >= 0)
		close(r->upstream);
	r->upstream = -1;
	way_reset(&r->up);
	way_reset(&r->down);
	r->client = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC);
	if (r->client < 0)
		die("accept");
	(void)setsockopt(r->client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	r->up.from = r->down.to = r->client;
	r->accepted_ms = clock_mono_ms();
	r->halves += 2;
}

/* Nobody has said anything for a while: what is under way arrives. */
static void step(struct relay *r)
{
	uint64_t busy;

	if (r->up.first == NULL && r->down.first == NULL)
		return;
	busy = look_at_processes(r);
	if (busy == 0 || busy != r->busy) {
		r->busy = busy;
		return;
	}
	r->busy = 0;
	if (++r->halves > HALVES_MAX) {
		errno = ELOOP;
		die("no end in sight");
	}
	if (r->verbose)
		fprintf(stderr, "round_trips: %u%s: %zu bytes up, %zu down\n", r->halves / 2, r->halves % 2 ? ".5" : "",
			way_size(&r->up), way_size(&r->down));
	call_server(r);
	way_deliver(&r->up, UINT64_MAX);
	way_deliver(&r->down, UINT64_MAX);
}

static void deliver_due(struct relay *r)
{
	uint64_t now = clock_mono_ms();

	if (r->up.first != NULL && r->up.first->due_ms <= now)
		call_server(r);
	way_deliver(&r->up, now);
	way_deliver(&r->down, now);
}

static int wait_ms(const struct relay *r)
{
	uint64_t now = clock_mono_ms(), next = now + 1000;

	if (r->delay_ms < 0)
		return r->quiet_ms;
	if (r->up.first != NULL && r->up.first->due_ms < next)
		next = r->up.first->due_ms;
	if (r->down.first != NULL && r->down.first->due_ms < next)
		next = r->down.first->due_ms;
	return next > now ? (int)(next - now) : 0;
}

static void take_output(struct relay *r)
{
	uint8_t bytes[CHUNK];
	ssize_t n = read(r->output, bytes, sizeof(bytes));

	if (n > 0 && !r->output_seen) {
		r->output_seen = true;
		r->first_halves = r->halves;
		r->first_ms = clock_mono_ms();
	}
	if (n > 0 && write(STDOUT_FILENO, bytes, (size_t)n) != n)
		die("write");
	if (n == 0 || (n < 0 && errno != EINTR)) {
		close(r->output);
		r->output = -1;
	}
}

static void turn(struct relay *r)
{
	struct pollfd p[] = {
		{ .fd = r->listener, .events = POLLIN },
		{ .fd = r->up.ended ? -1 : r->up.from, .events = POLLIN },
		{ .fd = r->down.ended ? -1 : r->down.from, .events = POLLIN },
		{ .fd = r->output, .events = POLLIN },
	};
	int n = poll(p, MEM_COUNT(p), wait_ms(r));

	if (n < 0 && errno != EINTR)
		die("poll");
	if (n > 0 && p[1].revents != 0)
		way_read(r, &r->up);
	if (n > 0 && p[2].revents != 0)
		way_read(r, &r->down);
	if (n > 0 && p[3].revents != 0)
		take_output(r);
	if (n > 0 && p[0].revents != 0)
		take_client(r);
	if (r->delay_ms >= 0)
		deliver_due(r);
	else if (n == 0)
		step(r);
}

/* ---- the program ---- */

static void listen_at(struct relay *r, int at, char *port, size_t size)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)at) };
	socklen_t n = sizeof(a);
	int one = 1;

	r->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)setsockopt(r->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (r->listener < 0 || bind(r->listener, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(r->listener, 8) < 0 ||
	    getsockname(r->listener, (struct sockaddr *)&a, &n) < 0)
		die("listen");
	snprintf(port, size, "%u", ntohs(a.sin_port));
}

static char *with_port(const char *text, const char *port)
{
	const char *at = strstr(text, "@PORT@");

	return at == NULL ? mem_strdup(text) :
		str_printf("%.*s%s%s", (int)(at - text), text, port, at + strlen("@PORT@"));
}

static pid_t run_command(struct relay *r, char **argv, const char *port)
{
	int out[2];
	pid_t pid;

	for (size_t i = 0; argv[i] != NULL; i++)
		argv[i] = with_port(argv[i], port);
	if (pipe2(out, O_CLOEXEC) < 0)
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		(void)signal(SIGPIPE, SIG_DFL);
		dup2(out[1], STDOUT_FILENO);
		execvp(argv[0], argv);
		fprintf(stderr, "round_trips: %s: %s\n", argv[0], strerror(errno));
		_exit(126);
	}
	close(out[1]);
	r->output = out[0];
	return pid;
}

static void report(const struct relay *r, const char *path)
{
	FILE *f = path != NULL ? fopen(path, "w") : stderr;

	if (f == NULL)
		die(path);
	if (!r->output_seen)
		fprintf(f, "none\n");
	else if (r->delay_ms >= 0)
		fprintf(f, "%llu\n", (unsigned long long)(r->first_ms - r->start_ms));
	else
		fprintf(f, "%u%s\n", r->first_halves / 2, r->first_halves % 2 ? ".5" : "");
	if (path != NULL)
		fclose(f);
}

int main(int argc, char **argv)
{
	struct relay r = { .client = -1, .upstream = -1, .quiet_ms = QUIET_MS, .delay_ms = -1 };
	const char *path = NULL;
	char port[16];
	int c, at = 0, status = 0;

	while ((c = getopt(argc, argv, "+d:l:q:r:s:v")) != -1) {
		if (c == 'q')
			r.quiet_ms = atoi(optarg);
		else if (c == 'd')
			r.delay_ms = atoi(optarg);
		else if (c == 'r')
			path = optarg;
		else if (c == 'l')
			at = atoi(optarg);
		else if (c == 's')
			r.daemon = atoi(optarg);
		else if (c == 'v')
			r.verbose = true;
		else
			return 125;
	}
	if (argc - optind < 2) {
		fprintf(stderr, "usage: round_trips [-v] [-l port] [-s pid] [-q ms | -d ms] [-r file] port command [argument ...]\n");
		return 125;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	way_reset(&r.up);
	way_reset(&r.down);
	r.server = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)atoi(argv[optind])) };
	listen_at(&r, at, port, sizeof(port));
	r.start_ms = clock_mono_ms();
	r.command = run_command(&r, argv + optind + 1, port);
	/* Output that others hold open (a master in the background) does not keep us. */
	while (r.output >= 0)
		turn(&r);
	while (waitpid(r.command, &status, WNOHANG) == 0)
		turn(&r);
	report(&r, path);
	way_reset(&r.up);        /* what is still under way is lost */
	way_reset(&r.down);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 124;
}
