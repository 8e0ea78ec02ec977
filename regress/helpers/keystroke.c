/* keystroke: how long a typed byte takes to come back while bulk data flows over the same connection.
 *
 *   keystroke [-n COUNT] [-e EVERY_MS] [-b down|up|both|none] [-p PACE_MS] [-c] [-o OPTION]... [USER@]HOST
 *
 * One process, one connection, two sessions on it: a terminal whose far end is cat, and bulk data through a command of their
 * own: cat of zeros, cat to nowhere, or both. Types COUNT (200) bytes, one every EVERY_MS (20), each when the one before has
 * come back. -p: this end rests for so long after each time that bytes came, which makes it the slow one, whatever the
 * machine does. OPTION as ssh has them; no configuration file is read.
 *
 * Prints one line: milliseconds (median, 99th percentile, greatest), kilobytes of bulk data that
 * arrived or went between a key and its echo (median and greatest), bulk data in MB/s each way, the
 * socket's round trip. -c: the kilobytes alone: median, greatest. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "channel/session_msg.h"
#include "client/client.h"
#include "client/profile.h"
#include "io/loop.h"

enum { LEND = 1024 * 1024, SETTLE_MS = 1500, GIVE_UP_MS = 60 * 1000 };

struct sample { uint64_t us, bytes; };

struct run {
	struct loop *loop;
	struct client *client;
	struct loop_timer *next, *rest, *give_up;
	struct link *terminal, *down, *up;
	unsigned count, every_ms, rest_ms, done;
	bool down_wanted, up_wanted, counts_only, typed, held;
	struct sample *samples;
	uint64_t typed_us, typed_bytes;          /* at the key that is under way */
	uint64_t got, sent, start_us, start_got, start_sent;
};

static _Noreturn void give_up(const char *what, const struct err *e)
{
	(void)fprintf(stderr, "keystroke: %s%s%s\n", what, e ? ": " : "", e ? err_text(e) : "");
	exit(1);
}

static int by_us(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return x->us < y->us ? -1 : x->us > y->us;
}

static int by_bytes(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static void report(struct run *r)
{
	double seconds = (double)(clock_mono_us() - r->start_us) / 1e6;
	size_t n = r->count;
	struct sample *v = r->samples;
	double median, high, most;

	qsort(v, n, sizeof(*v), by_us);
	median = (double)v[n / 2].us / 1e3;
	high = (double)v[n * 99 / 100].us / 1e3;
	most = (double)v[n - 1].us / 1e3;
	qsort(v, n, sizeof(*v), by_bytes);
	if (r->counts_only) {
		printf("%llu %llu\n", (unsigned long long)(v[n / 2].bytes / 1024), (unsigned long long)(v[n - 1].bytes / 1024));
	} else {
		printf("ms %.2f %.2f %.2f  KB between %llu %llu  down %.1f up %.1f MB/s  rtt %.2f ms\n", median, high, most,
			(unsigned long long)(v[n / 2].bytes / 1024), (unsigned long long)(v[n - 1].bytes / 1024),
			(double)(r->got - r->start_got) / seconds / 1e6, (double)(r->sent - r->start_sent) / seconds / 1e6,
			carrier_rtt(client_carrier(r->client)).now_us / 1e3);
	}
	loop_stop(r->loop);
}

/* ---- bulk data ---- */

static void down_readable(void *ctx)
{
	struct run *r = ctx;
	const uint8_t *p;
	size_t n;

	while ((n = link_peek(r->down, &p)) > 0) {
		r->got += n;
		link_consume(r->down, n);
	}
	if (r->rest_ms > 0) {
		carrier_pause(client_carrier(r->client), true);
		loop_timer_arm(r->rest, r->rest_ms);
	}
}

static void rest_over(void *ctx)
{
	struct run *r = ctx;

	carrier_pause(client_carrier(r->client), false);
}

static void up_writable(void *ctx)
{
	struct run *r = ctx;
	struct iovec iov[LINK_IOV];
	int count;
	size_t n = link_lend(r->up, LEND, iov, &count);

	if (n == 0)
		return;
	for (int i = 0; i < count; i++)
		memset(iov[i].iov_base, 0, iov[i].iov_len);
	r->sent += n;
	if (link_commit(r->up, n) < 0)
		give_up("bulk data could not be sent", NULL);
}

static void link_closed(void *ctx, const struct err *e)
{
	(void)ctx;
	give_up("a session ended", e);
}

/* ---- the terminal ---- */

static void type_one(void *ctx)
{
	struct run *r = ctx;
	struct iovec iov[LINK_IOV];
	int count;

	if (r->done == r->count) {
		report(r);
		return;
	}
	r->held = link_lend(r->terminal, 1, iov, &count) == 0;   /* as while keys are exchanged: later */
	if (r->held)
		return;
	*(char *)iov[0].iov_base = 'x';
	if (link_commit(r->terminal, 1) < 0)
		give_up("a key could not be sent", NULL);
	r->typed = true;
	r->typed_us = clock_mono_us();
	r->typed_bytes = r->got + r->sent;
}

static void terminal_writable(void *ctx)
{
	struct run *r = ctx;

	if (r->held)
		type_one(r);
}

static void terminal_readable(void *ctx)
{
	struct run *r = ctx;
	const uint8_t *p;
	size_t n;
	bool echo = false;

	while ((n = link_peek(r->terminal, &p)) > 0) {
		echo |= memchr(p, 'x', n) != NULL;
		link_consume(r->terminal, n);
	}
	if (!echo)
		return;
	if (!r->typed) {         /* cat is there: the bulk data may flow */
		r->start_us = 0;
		if (r->up)
			up_writable(r);
		loop_timer_arm(r->next, SETTLE_MS);
		return;
	}
	r->typed = false;
	if (r->start_us == 0) {  /* the first key after the start is not counted */
		r->start_us = clock_mono_us();
		r->start_got = r->got;
		r->start_sent = r->sent;
	} else {
		r->samples[r->done++] = (struct sample){ .us = clock_mono_us() - r->typed_us,
			.bytes = r->got + r->sent - r->typed_bytes };
	}
	loop_timer_arm(r->next, r->every_ms);
}

/* ---- sessions ---- */

static struct link *open_session(struct run *r, const char *command, bool tty, const struct link_user *user)
{
	struct channel_user none = { 0 };
	struct session_pty pty = { .term = (char *)"vt100", .columns = 80, .rows = 24 };
	struct buf body = BUF_INIT(BUF_LIMIT_DEFAULT);
	struct err e = { 0 };
	struct channel *c = channel_open(client_channels(r->client), "session", NULL, tty, &none, &e);
	struct link *l;

	if (!c)
		give_up("open", &e);
	if (tty) {
		session_pty_put(&body, &pty);
		if (channel_request(c, "pty-req", &body, NULL, NULL) < 0)
			give_up("pty-req", NULL);
		buf_reset(&body);
	}
	session_string_put(&body, command);
	if (channel_request(c, "exec", &body, NULL, NULL) < 0)
		give_up("exec", NULL);
	buf_free(&body);
	l = channel_link(c, STDERR_FILENO);
	l->user = *user;
	return l;
}

static void client_ready(void *ctx, struct client *c)
{
	struct run *r = ctx;
	struct link_user terminal = { terminal_readable, terminal_writable, link_closed, r }, down = { down_readable, NULL, link_closed, r },
		up = { NULL, up_writable, link_closed, r };

	r->client = c;
	r->terminal = open_session(r, "stty raw -echo; printf x; exec cat", true, &terminal);
	if (r->down_wanted)
		r->down = open_session(r, "exec cat /dev/zero", false, &down);
	if (r->up_wanted)
		r->up = open_session(r, "exec cat >/dev/null", false, &up);
}

static void client_ended(void *ctx, struct client *c, const struct err *e)
{
	(void)ctx;
	client_report_end(c, e);
	give_up("the connection ended", e);
}

static void too_long(void *ctx)
{
	(void)ctx;
	give_up("no echo", NULL);
}

/* ---- main ---- */

static void take_arguments(struct run *r, struct client_profile *p, int argc, char **argv)
{
	struct err e = { 0 };
	int option;

	while ((option = getopt(argc, argv, "n:e:b:p:co:")) != -1) {
		switch (option) {
		case 'n': r->count = (unsigned)atoi(optarg); break;
		case 'e': r->every_ms = (unsigned)atoi(optarg); break;
		case 'p': r->rest_ms = (unsigned)atoi(optarg); break;
		case 'c': r->counts_only = true; break;
		case 'b':
			r->down_wanted = strcmp(optarg, "down") == 0 || strcmp(optarg, "both") == 0;
			r->up_wanted = strcmp(optarg, "up") == 0 || strcmp(optarg, "both") == 0;
			break;
		case 'o':
			if (client_options_line(&p->options, optarg, &e) < 0)
				give_up(optarg, &e);
			break;
		default:
			exit(2);
		}
	}
	if (optind + 1 != argc || r->count == 0)
		give_up("one host and at least one key are wanted", NULL);
}

int main(int argc, char **argv)
{
	struct client_profile profile;
	struct run r = { .count = 200, .every_ms = 20, .down_wanted = true };
	struct client_setup setup = { .options = &profile.options, .tokens = &profile.tokens, .program = "keystroke",
		.events = { .ctx = &r, .ready = client_ready, .ended = client_ended } };
	struct err e = { 0 };
	char *at;

	(void)signal(SIGPIPE, SIG_IGN);
	log_init("keystroke", LOG_LEVEL_ERROR);
	if (client_profile_init(&profile, &e) < 0)
		give_up("start", &e);
	take_arguments(&r, &profile, argc, argv);
	at = strchr(argv[optind], '@');
	if (at) {
		*at = '\0';
		if (client_options_add(&profile.options, "User", argv[optind], &e) < 0)
			give_up("user", &e);
	}
	if (client_profile_load(&profile, "none", at ? at + 1 : argv[optind], NULL, &e) < 0)
		give_up("options", &e);
	r.samples = mem_array(r.count, sizeof(*r.samples));
	r.loop = loop_new(&e);
	if (!r.loop)
		give_up("loop", &e);
	r.next = loop_timer_add(r.loop, type_one, &r);
	r.rest = loop_timer_add(r.loop, rest_over, &r);
	r.give_up = loop_timer_add(r.loop, too_long, &r);
	loop_timer_arm(r.give_up, GIVE_UP_MS + (uint64_t)r.count * r.every_ms);
	r.client = client_new(r.loop, &setup, &e);
	if (!r.client)
		give_up("connect", &e);
	if (loop_run(r.loop, &e) < 0)
		give_up("loop", &e);
	client_free(r.client);
	loop_timer_remove(r.next);
	loop_timer_remove(r.rest);
	loop_timer_remove(r.give_up);
	loop_free(r.loop);
	client_profile_clear(&profile);
	free(r.samples);
	return 0;
}
