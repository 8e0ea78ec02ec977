/* The old scp protocol: what both ends share, and how they are started. */
#include "xfer/rcp.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/link.h"
#include "io/loop.h"

enum { OUT_LIMIT = 256 * 1024 };

/* ---- bytes */

bool rcp_flush(struct rcp *r)
{
	while (r->out.size > 0) {
		size_t n = r->out.size, room = link_room(r->link);

		if (n > room)
			n = room;
		/* The room may be there in a form that takes less. */
		while (n > 0 && !link_write(r->link, r->out.data, n))
			n /= 2;
		if (n == 0) {
			struct iovec iov[LINK_IOV];
			int count = 0;

			/* Asks to be told when there is room. */
			if (link_lend(r->link, r->out.size, iov, &count) > 0 && link_commit(r->link, 0) < 0)
				rcp_end(r, 1);
			return false;
		}
		buf_consume(&r->out, n);
	}
	return true;
}

void rcp_send(struct rcp *r, const void *p, size_t n)
{
	buf_put(&r->out, p, n);
	if (!buf_ok(&r->out))
		rcp_end(r, 1);
	else
		(void)rcp_flush(r);
}

int rcp_take_byte(struct rcp *r)
{
	const uint8_t *p;
	int byte;

	if (link_peek(r->link, &p) == 0)
		return -1;
	byte = *p;
	link_consume(r->link, 1);
	return byte;
}

char *rcp_take_line(struct rcp *r)
{
	const uint8_t *p, *lf;
	size_t n;
	char *line;

	for (;;) {
		n = link_peek(r->link, &p);
		if (n == 0)
			return NULL;
		lf = memchr(p, '\n', n);
		buf_put(&r->line, p, lf != NULL ? (size_t)(lf - p) : n);
		link_consume(r->link, lf != NULL ? (size_t)(lf - p) + 1 : n);
		if (!buf_ok(&r->line) || (r->line.size > 0 && memchr(r->line.data, '\0', r->line.size) != NULL)) {
			rcp_error(r, "protocol error: %s", buf_ok(&r->line) ? "NUL in a record" : "record too long");
			rcp_end(r, 1);
			return NULL;
		}
		if (lf == NULL)
			continue;
		line = mem_strdup(buf_cstr(&r->line));
		buf_reset(&r->line);
		return line;
	}
}

/* ---- errors */

void rcp_error(struct rcp *r, const char *fmt, ...)
{
	char text[2048], record[2200];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (r->server)
		r->copy->errors++;
	else
		copy_error(r->copy, "%s", text);
	/* One line, whatever a name holds. */
	for (char *p = text; *p != '\0'; p++)
		if (*p == '\n' || *p == '\r')
			*p = '?';
	(void)snprintf(record, sizeof record, "\001scp: %s\n", text);
	if (!r->over)
		rcp_send(r, record, strlen(record));
}

void rcp_peer_error(struct rcp *r, const char *text)
{
	char *shown;

	r->copy->errors++;
	if (r->server)
		return;
	shown = str_escape_terminal(text, strlen(text));
	meter_clear(r->copy->meter);
	(void)fprintf(stderr, "%s\n", shown);
	free(shown);
}

/* ---- the drive */

void rcp_end(struct rcp *r, int status)
{
	if (r->over)
		return;
	r->over = true;
	copy_stop(r->copy, status);
}

static void run_now(void *ctx)
{
	struct rcp *r = ctx;

	r->wanted = false;
	if (r->over)
		return;
	if (rcp_flush(r))
		r->run(r);
}

void rcp_run_soon(struct rcp *r)
{
	if (r->wanted || r->over)
		return;
	r->wanted = true;
	loop_defer(r->loop, run_now, r);
}

bool rcp_may_move(struct rcp *r)
{
	uint64_t wait = throttle_wait(&r->copy->throttle, clock_mono_us());

	if (wait == 0)
		return true;
	loop_timer_arm(r->timer, (wait + 999) / 1000);
	return false;
}

static void on_closed(void *ctx, const struct err *e)
{
	struct rcp *r = ctx;

	(void)e;
	if (r->over) {
		r->link = NULL;
		return;
	}
	run_now(r);                              /* what came before the end counts */
	if (!r->over && !r->server)
		(void)fputs("lost connection\n", stderr);
	rcp_end(r, 1);
	r->link = NULL;                          /* the carrier frees it now */
}

void rcp_free(struct rcp *r)
{
	if (r == NULL)
		return;
	if (r->link != NULL)
		r->link->user = (struct link_user){ 0 };
	loop_defer_cancel(r->loop, run_now, r);
	r->free_end(r);
	loop_timer_remove(r->timer);
	buf_free(&r->out);
	buf_free(&r->line);
	free(r);
}

static struct copy *start(const struct copy_setup *s, bool server, bool sink)
{
	struct copy *c = copy_new_bare(s);
	struct rcp *r = mem_zalloc(sizeof *r);

	c->rcp = r;
	r->copy = c;
	r->loop = s->loop;
	r->link = s->link;
	r->server = server;
	r->out = BUF_INIT(OUT_LIMIT);
	r->line = BUF_INIT(RCP_LINE_MAX);
	r->timer = loop_timer_add(s->loop, run_now, r);
	if (sink)
		rcp_sink_init(r);
	else
		rcp_source_init(r);
	s->link->user = (struct link_user){ .readable = run_now, .writable = run_now, .closed = on_closed, .ctx = r };
	rcp_run_soon(r);
	return c;
}

struct copy *copy_start_rcp(const struct copy_setup *s, struct err *e)
{
	if (s->link_to != NULL) {
		err_set(e, ERR_USAGE, "the old scp protocol copies between two other machines only with -R");
		return NULL;
	}
	return start(s, false, !s->job->upload);
}

char *copy_rcp_command(const struct copy_job *job, const struct copy_options *o)
{
	const char *path = job->upload ? job->target : job->sources.v[0];

	if (*path == '\0')
		path = ".";
	return str_printf("scp%s%s%s%s %s %s%s", o->verbose ? " -v" : "", o->recursive ? " -r" : "", o->preserve ? " -p" : "",
		job->upload && job->target_must_be_dir ? " -d" : "", job->upload ? "-t" : "-f", *path == '-' ? "-- " : "", path);
}

/* ---- the far side */

static void on_served(void *ctx, int status)
{
	(void)status;
	loop_stop(ctx);
}

static void on_drained(void *ctx, const struct err *e)
{
	(void)e;
	loop_stop(ctx);
}

int copy_serve_rcp(struct loop *l, struct link *link, bool sink, const struct copy_job *job, const struct copy_options *o,
	struct err *e)
{
	struct copy_setup setup = { .loop = l, .link = link, .job = job, .options = o, .done = on_served, .ctx = l };
	struct copy *c = start(&setup, true, sink);
	int status;

	if (loop_run(l, e) < 0)
		return 1;
	status = c->status;
	copy_free(c);
	link->user = (struct link_user){ .closed = on_drained, .ctx = l };
	link_finish(link);
	if (link_pending(link) > 0 && loop_run(l, e) < 0)
		return 1;
	link_close(link);
	return status;
}
