/* net_tool: small network jobs for the scripts.
 *
 *   net_tool free-port                   prints a port of 127.0.0.1 that nobody listens on, outside the range of outgoing ones
 *   net_tool relay HOST PORT [CHUNK [FILE]]   stdin and stdout to a connection, as a ProxyCommand; with CHUNK (not 0) no read or
 *                                        write takes more bytes than that, in either direction; all that passes is added to FILE
 *   net_tool serve [connections=N] STEP...   prints its port, then plays the steps to each of N connections (1):
 *       send=TEXT     \r \n \\ \xHH stand for bytes
 *       line          waits for a line of the peer
 *       read=N        waits for N bytes
 *       disconnect=N:TEXT   an unencrypted SSH_MSG_DISCONNECT with that reason
 *       relay=PORT    goes on as a relay to that port of 127.0.0.1
 *       no-haste      waits for a line and closes if anything follows it within 200 ms; nothing is consumed
 *       hang          until the peer closes
 *       shut          ends our stream and waits for the end of theirs
 *       reset         closes so that the peer gets a reset
 */
#include <sys/socket.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 65536, FIRST_PORT = 12000, LAST_PORT = 31999 };

static void die(const char *what)
{
	fprintf(stderr, "net_tool: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int listen_on(unsigned port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		die("socket");
	if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 16) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static int free_port(unsigned *port)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	srandom((unsigned)now.tv_nsec ^ (unsigned)getpid() << 8);
	for (int i = 0; i < 1000; i++) {
		*port = FIRST_PORT + (unsigned)random() % (LAST_PORT - FIRST_PORT);
		int fd = listen_on(*port);

		if (fd >= 0)
			return fd;
	}
	die("no free port");
	return -1;
}

static int connect_to(const char *host, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
	int fd = -1, one = 1;

	if (getaddrinfo(host, port, &hints, &list) != 0)
		die(host);
	for (struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, SOCK_STREAM, 0);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(list);
	if (fd < 0)
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	return fd;
}

/* ---- relay */

static int record = -1;

struct way {
	int in, out;
	size_t chunk, have, done;
	int ended;
	char data[BLOCK];
};

static void way_read(struct way *w)
{
	ssize_t n = read(w->in, w->data, w->chunk);

	if (n <= 0) {
		w->ended = 1;
		if (shutdown(w->out, SHUT_WR) < 0)
			close(w->out);
		return;
	}
	if (record >= 0 && write(record, w->data, (size_t)n) != n)
		die("record");
	w->have = (size_t)n;
	w->done = 0;
}

static void way_write(struct way *w)
{
	size_t n = w->have - w->done;
	ssize_t wrote = write(w->out, w->data + w->done, n < w->chunk ? n : w->chunk);

	if (wrote < 0)
		exit(1);
	w->done += (size_t)wrote;
	if (w->done == w->have)
		w->have = 0;
}

static void relay(int in, int out, int sock, size_t chunk)
{
	static struct way up, down;

	up.in = in; up.out = sock; down.in = sock; down.out = out;
	up.chunk = down.chunk = chunk > 0 && chunk < BLOCK ? chunk : BLOCK;
	while (!down.ended) {
		struct pollfd p[2] = {
			{ up.ended ? -1 : up.have ? up.out : up.in, up.have ? POLLOUT : POLLIN, 0 },
			{ down.have ? down.out : down.in, down.have ? POLLOUT : POLLIN, 0 },
		};

		if (poll(p, 2, -1) < 0)
			die("poll");
		if (p[0].revents) {
			if (up.have) way_write(&up); else way_read(&up);
		}
		if (p[1].revents) {
			if (down.have) way_write(&down); else way_read(&down);
		}
	}
}

/* ---- serve */

static size_t unescape(const char *text, char *out)
{
	size_t n = 0;
	unsigned byte;

	for (; *text; text++) {
		if (*text != '\\') {
			out[n++] = *text;
			continue;
		}
		text++;
		if (*text == 'x' && sscanf(text + 1, "%2x", &byte) == 1) {
			out[n++] = (char)byte;
			text += 2;
		} else {
			out[n++] = *text == 'n' ? '\n' : *text == 'r' ? '\r' : *text;
		}
	}
	return n;
}

static void send_all(int fd, const char *data, size_t n)
{
	while (n > 0) {
		ssize_t wrote = send(fd, data, n, MSG_NOSIGNAL);

		if (wrote <= 0)
			return;
		data += wrote;
		n -= (size_t)wrote;
	}
}

static void put_u32(char *at, size_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (char)(v >> (24 - 8 * i));
}

/* RFC 4253 §6 and §11.1, before any keys. */
static void send_disconnect(int fd, const char *arg)
{
	char packet[1024] = { 0 };
	const char *text = strchr(arg, ':') ? strchr(arg, ':') + 1 : "";
	size_t n = strlen(text) < 512 ? strlen(text) : 512;
	size_t body = 1 + 4 + 4 + n + 4, pad = 8 - (5 + body) % 8;

	if (pad < 4)
		pad += 8;
	put_u32(packet, 1 + body + pad);
	packet[4] = (char)pad;
	packet[5] = 1;
	put_u32(packet + 6, (size_t)atoi(arg));
	put_u32(packet + 10, n);
	memcpy(packet + 14, text, n);
	send_all(fd, packet, 5 + body + pad);
}

static void read_bytes(int fd, size_t n)
{
	char c;

	while (n-- > 0 && read(fd, &c, 1) == 1)
		;
}

static void read_line(int fd)
{
	char c;

	while (read(fd, &c, 1) == 1 && c != '\n')
		;
}

/* A server that takes what comes too early for an attack. */
static int is_hasty(int fd)
{
	static char seen[BLOCK];
	struct pollfd p = { fd, POLLIN, 0 };
	ssize_t n = 0;
	char *end = NULL;

	for (int i = 0; i < 1000 && end == NULL && poll(&p, 1, 10000) == 1; i++) {
		n = recv(fd, seen, sizeof seen, MSG_PEEK);
		end = n > 0 ? memchr(seen, '\n', (size_t)n) : NULL;
		if (n <= 0)
			return 1;
	}
	for (int i = 0; i < 20 && end != NULL && seen + n == end + 1; i++) {
		poll(NULL, 0, 10);
		n = recv(fd, seen, sizeof seen, MSG_PEEK);
		end = n > 0 ? memchr(seen, '\n', (size_t)n) : NULL;
	}
	return end == NULL || seen + n != end + 1;
}

/* False: the connection is over. */
static int play(int fd, char *step)
{
	static const struct linger at_once = { 1, 0 };
	static char text[BLOCK];
	char *arg = strchr(step, '=') ? strchr(step, '=') + 1 : step + strlen(step);

	if (strncmp(step, "send=", 5) == 0) {
		if (strlen(arg) < sizeof text)
			send_all(fd, text, unescape(arg, text));
	} else if (strcmp(step, "line") == 0) {
		read_line(fd);
	} else if (strncmp(step, "read=", 5) == 0) {
		read_bytes(fd, (size_t)atol(arg));
	} else if (strncmp(step, "disconnect=", 11) == 0) {
		send_disconnect(fd, arg);
	} else if (strncmp(step, "relay=", 6) == 0) {
		relay(fd, fd, connect_to("127.0.0.1", arg), 0);
	} else if (strcmp(step, "no-haste") == 0) {
		return !is_hasty(fd);
	} else if (strcmp(step, "hang") == 0) {
		read_bytes(fd, (size_t)-1);
	} else if (strcmp(step, "shut") == 0) {
		shutdown(fd, SHUT_WR);
		read_bytes(fd, (size_t)-1);
	} else if (strcmp(step, "reset") == 0) {
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	} else {
		fprintf(stderr, "net_tool: %s: no such step\n", step);
		exit(1);
	}
	return 1;
}

static void serve(int argc, char **argv)
{
	unsigned port;
	int fd = free_port(&port), connections = 1, first = 0;

	if (argc > 0 && strncmp(argv[0], "connections=", 12) == 0) {
		connections = atoi(argv[0] + 12);
		first = 1;
	}
	printf("%u\n", port);
	fflush(stdout);
	while (connections-- > 0) {
		int c = accept(fd, NULL, NULL);

		for (int i = first; c >= 0 && i < argc && play(c, argv[i]); i++)
			;
		close(c);
	}
}

int main(int argc, char **argv)
{
	unsigned port;

	if (argc == 2 && strcmp(argv[1], "free-port") == 0) {
		close(free_port(&port));
		printf("%u\n", port);
	} else if (argc >= 4 && argc <= 6 && strcmp(argv[1], "relay") == 0) {
		if (argc == 6 && (record = open(argv[5], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) < 0)
			die(argv[5]);
		relay(0, 1, connect_to(argv[2], argv[3]), argc > 4 ? (size_t)atol(argv[4]) : 0);
	} else if (argc > 2 && strcmp(argv[1], "serve") == 0) {
		serve(argc - 2, argv + 2);
	} else {
		fprintf(stderr, "usage: net_tool free-port | relay HOST PORT [CHUNK [FILE]] | serve [connections=N] STEP...\n");
		return 2;
	}
	return 0;
}
