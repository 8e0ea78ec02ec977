/* one_end [-m MIB] [-a] [NAME PART]: one end of a connection alone, as if the other one were on another machine: file -> packets -> TCP to
 * a process that throws away, and TCP from a process that sends what was sealed before -> packets -> file. MB/s by one thread, and
 * by several as the packet layer decides while it goes on (-a: always). Prints numbers and judges nothing. */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/mem.h"
#include "crypto/crypto.h"
#include "packet.h"
#include "platform/cores.h"

enum { MIB = 1024 * 1024, STREAM = 64 * MIB, HIGH = 768 * 1024, BARRIER = 4 * MIB, IOVS = 32, RUNS = 5 };

static const uint8_t secret[64] = "sixty-four bytes of keys for both directions, whatever they need";
static const struct packet_keys keys = { secret, secret, secret };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(bool ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

static void write_head(void *ctx, uint8_t *head, size_t size)
{
	(void)ctx;
	wire_store_u32(head, 0);
	wire_store_u32(head + 4, (uint32_t)size);
}

static const struct packet_bulk bulk = { .type = 94, .head_size = 8, .write_head = write_head };

/* Payload spaces filled from the file, sealed. */
static size_t fill(struct packet *p, int file, size_t body, size_t want, size_t *at)
{
	struct iovec iov[IOVS];
	size_t n = 0;
	int count = packet_lend(p, &bulk, body, want, iov, IOVS);

	for (int i = 0; i < count; i++)
		n += iov[i].iov_len;
	if (*at + n > STREAM)
		*at = 0;
	must(count > 0 && preadv(file, iov, count, (off_t)*at) == (ssize_t)n, "preadv");
	must(packet_commit(p, n) == 0, "commit");
	*at += n;
	return n;
}

static void tcp_pair(int sv[2])
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t n = sizeof(sin);
	int l = socket(AF_INET, SOCK_STREAM, 0);

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(bind(l, (const struct sockaddr *)&sin, sizeof(sin)) == 0 && listen(l, 1) == 0, "listen");
	must(getsockname(l, (struct sockaddr *)&sin, &n) == 0, "getsockname");
	sv[0] = socket(AF_INET, SOCK_STREAM, 0);
	must(connect(sv[0], (const struct sockaddr *)&sin, sizeof(sin)) == 0, "connect");
	sv[1] = accept(l, NULL, NULL);
	must(sv[1] >= 0, "accept");
	close(l);
}

static int data_file(void)
{
	uint8_t *block = mem_zalloc(MIB);
	int fd = memfd_create("data", 0);

	memset(block, 0x5a, MIB);
	for (int i = 0; i < STREAM / MIB; i++)
		must(fd >= 0 && write(fd, block, MIB) == MIB, "memfd");
	free(block);
	return fd;
}

struct setting {
	struct packet_suite suite;
	unsigned helpers;
	enum packet_share how;
	size_t body, bytes;
	int file;
};

static double send_end(const struct setting *s)
{
	struct packet *p = packet_new();
	struct iovec iov[4];
	size_t done = 0, at = 0;
	double from;
	int sv[2];
	pid_t child;

	tcp_pair(sv);
	child = fork();
	if (child == 0) {
		uint8_t *mem = malloc(MIB);

		close(sv[0]);
		while (recv(sv[1], mem, MIB, MSG_TRUNC) > 0)
			;
		_exit(0);
	}
	close(sv[1]);
	packet_use_helpers(p, s->helpers, s->how);
	must(packet_set_keys(p, PACKET_OUT, &s->suite, &keys, false) == 0, "keys");
	from = now();
	while (done < s->bytes) {
		ssize_t n;

		if (packet_out_pending(p) < HIGH / 2)
			done += fill(p, s->file, s->body, HIGH - packet_out_pending(p), &at);
		n = writev(sv[0], iov, packet_out_view(p, iov, 4));
		must(n > 0, "writev");
		packet_out_sent(p, (size_t)n);
	}
	from = now() - from;
	close(sv[0]);
	waitpid(child, NULL, 0);
	packet_free(p);
	return (double)done / from / 1e6;
}

/* What a sender with these packets sends, without end. */
static void source(const int sv[2], const struct setting *s, size_t *length, size_t *payload)
{
	uint8_t *mem = mem_alloc(STREAM + 8 * MIB);
	struct packet *p = packet_new();
	struct iovec iov[4];
	size_t n = 0, at = 0, in = 0;

	must(packet_set_keys(p, PACKET_OUT, &s->suite, &keys, false) == 0, "keys");
	while (in < STREAM - 4 * MIB) {
		in += fill(p, s->file, s->body, MIB, &at);
		for (int count = packet_out_view(p, iov, 4), i = 0; i < count; i++) {
			memcpy(mem + n, iov[i].iov_base, iov[i].iov_len);
			n += iov[i].iov_len;
		}
		packet_out_sent(p, packet_out_pending(p));
	}
	*length = n;
	*payload = in;
	packet_free(p);
	if (fork() == 0) {
		close(sv[1]);
		for (;;)
			for (size_t sent = 0; sent < n; ) {
				ssize_t r = write(sv[0], mem + sent, n - sent < MIB ? n - sent : MIB);

				if (r <= 0)
					_exit(0);
				sent += (size_t)r;
			}
	}
	free(mem);
}

static double receive_end(const struct setting *s)
{
	struct packet *p = packet_new();
	size_t length, payload, got = 0, in_stream = 0, all = 0;
	struct message m;
	uint8_t *at;
	size_t room;
	double from;
	int sv[2], r;

	tcp_pair(sv);
	source(sv, s, &length, &payload);
	close(sv[0]);
	packet_use_helpers(p, s->helpers, s->how);
	must(packet_set_keys(p, PACKET_IN, &s->suite, &keys, true) == 0, "keys");
	from = now();
	while (all < s->bytes) {
		ssize_t n;

		must(packet_in_space(p, &at, &room) == 0, "space");
		n = read(sv[1], at, room);
		must(n > 0, "read");
		packet_in_added(p, (size_t)n);
		for (;;) {
			/* Where the stream begins again the keys do: nothing may be opened beyond. */
			packet_allow_ahead(p, payload - in_stream > BARRIER);
			if ((r = packet_next(p, &m)) != 1)
				break;
			must(pwrite(s->file, m.body.p + 8, m.body.n - 8, (off_t)in_stream) == (ssize_t)(m.body.n - 8), "pwrite");
			in_stream += m.body.n - 8;
			got += m.body.n - 8;
			if (in_stream == payload) {
				in_stream = 0;
				must(packet_set_keys(p, PACKET_IN, &s->suite, &keys, true) == 0, "keys");
			}
		}
		must(r == 0, err_text(packet_err(p)));
		all = got;
	}
	from = now() - from;
	close(sv[1]);
	waitpid(-1, NULL, 0);
	packet_free(p);
	return (double)got / from / 1e6;
}

/* The middle one. */
static double median(double *v, int n)
{
	for (int i = 1; i < n; i++)
		for (int j = i; j > 0 && v[j - 1] > v[j]; j--) {
			double t = v[j];

			v[j] = v[j - 1];
			v[j - 1] = t;
		}
	return v[n / 2];
}

/* In turn, so that a machine that changes changes for both. */
static void row(struct setting *s, const char *name, double (*end)(const struct setting *))
{
	double v[2][RUNS], one, several;

	for (int i = 0; i < RUNS; i++)
		for (int with = 0; with < 2; with++) {
			s->helpers = with ? cores_usable() - 1 : 0;
			v[with][i] = end(s);
		}
	one = median(v[0], RUNS);
	several = median(v[1], RUNS);
	printf("%-52s %-8s %4zu KiB %7.0f %7.0f  %.2f\n", name, end == send_end ? "send" : "receive", s->body / 1024, one, several,
		several / one);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct { const char *cipher, *mac; } rows[] = {
		{ "aes128-gcm@openssh.com", NULL }, { "chacha20-poly1305@openssh.com", NULL },
		{ "aes128-ctr", "umac-64-etm@openssh.com" }, { "aes128-ctr", "hmac-sha2-256-etm@openssh.com" },
		{ "none", "umac-64@openssh.com" },
	};
	struct setting s = { .bytes = 1024UL * MIB };
	const char *part = "";
	char name[100];
	int o;

	while ((o = getopt(argc, argv, "m:a")) != -1) {
		if (o == 'm')
			s.bytes = strtoul(optarg, NULL, 10) * MIB;
		else
			s.how = PACKET_SHARE_ALWAYS;
	}
	if (optind < argc)
		part = argv[optind];
	signal(SIGPIPE, SIG_IGN);
	crypto_init();
	s.file = data_file();
	printf("%-52s %-8s %8s %7s %7s\n", "MB/s", "", "packets", "one", "several");
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		const char *cipher = rows[i].cipher, *mac = rows[i].mac;

		s.suite = (struct packet_suite){ .cipher = cipher_find((struct view){ (const uint8_t *)cipher, strlen(cipher) }) };
		if (mac != NULL)
			s.suite.mac = mac_find((struct view){ (const uint8_t *)mac, strlen(mac) });
		snprintf(name, sizeof(name), "%s %s", cipher, mac != NULL ? mac : "");
		if (strstr(name, part) == NULL)
			continue;
		s.body = 255 * 1024;
		row(&s, name, send_end);
		row(&s, name, receive_end);
		s.body = 32 * 1024;
		row(&s, name, receive_end);
	}
	return 0;
}
