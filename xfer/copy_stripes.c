/* Uploads over several channels of one connection, each with a window of its own (stripe_need.h says when). A large file is
 * opened by the SFTP server of each further channel (a stripe), and every WRITE goes where there is room.
 *
 * Data must never reach another file because a name has come to mean something else. So the file that was opened first is given
 * a date of access that no other has, and a stripe takes part only when what it has opened shows that date. Writing does not
 * change it. When all have looked it becomes a plausible date, in the end that of the last change; a copy that is interrupted in
 * between waits for the former. */
#include "xfer/copy_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/link.h"

enum {
	FILE_MIN = 4 * 1024 * 1024,      /* what is left of a file for which it is worth several round trips */
	WINDOW_SMALL = 64 * 1024,
	YEAR_S = 365 * 86400
};

struct stripe {
	struct copy *copy;
	struct sftp_client *client;
	bool gone;
};

struct copy_stripes {
	struct copy *copy;
	struct copy_more more;
	unsigned wanted, count;          /* beside the first channel */
	bool at_once, opened;
	struct stripe_need need;
	struct stripe stripe[COPY_STRIPES_MAX - 1];
};

enum part_state { PART_NONE, PART_OPENING, PART_OPEN };

struct part {                            /* a file at one stripe */
	struct copy_file *file;
	struct stripe *stripe;
	enum part_state state;
	uint8_t handle[SFTP_HANDLE_MAX];
	size_t handle_size;
};

struct copy_parts {
	struct part part[COPY_STRIPES_MAX - 1];
	uint32_t mark;                   /* the date of access that tells the file from others */
	unsigned unproven;               /* stripes that have not looked yet */
	bool odd;                        /* the file bears the mark, as far as we know */
	bool clearing;                   /* its removal is under way */
	bool marked, closed, dated;
	uint32_t mtime;                  /* dated: of the last change */
};

/* ---- the stripes */

static void on_event(void *ctx)
{
	struct stripe *s = ctx;

	copy_pump_soon(s->copy);
}

static void on_closed(void *ctx, const struct err *e)
{
	struct stripe *s = ctx;

	s->gone = true;
	copy_verbose(s->copy, "a further channel has ended: %s", err_text(e));
}

struct copy_stripes *copy_stripes_new(struct copy *c, const struct copy_more *more)
{
	struct copy_stripes *s;
	unsigned channels = c->o.stripes != 0 ? c->o.stripes : COPY_STRIPES_MAX;

	if (more->open == NULL || channels < 2)
		return NULL;
	s = mem_zalloc(sizeof *s);
	s->copy = c;
	s->more = *more;
	s->wanted = channels - 1;
	s->at_once = c->o.stripes != 0;
	return s;
}

static void open_stripes(struct copy_stripes *s)
{
	s->opened = true;
	while (s->count < s->wanted) {
		struct stripe *new = &s->stripe[s->count];
		struct sftp_client_events events = { .ready = on_event, .writable = on_event, .closed = on_closed, .ctx = new };
		struct link *l = s->more.open(s->more.ctx);

		if (l == NULL)
			break;
		*new = (struct stripe){ .copy = s->copy };
		new->client = sftp_client_new(s->copy->loop, l, s->copy->o.known_server, &events);
		s->count++;
	}
	if (s->count > 0)
		copy_verbose(s->copy, "large files go over %u channels", s->count + 1);
}

size_t copy_stripes_stop(struct copy_stripes *s)
{
	size_t asked = 0;

	for (unsigned i = 0; s != NULL && i < s->count; i++)
		asked += sftp_client_stop(s->stripe[i].client);
	return asked;
}

void copy_stripes_free(struct copy_stripes *s)
{
	for (unsigned i = 0; s != NULL && i < s->count; i++) {
		struct link *l = sftp_client_link(s->stripe[i].client);

		sftp_client_free(s->stripe[i].client);
		if (l != NULL)
			link_close(l);
	}
	free(s);
}

/* ---- a file */

static void part_close(struct part *p)
{
	struct copy_file *f = p->file;

	p->state = PART_NONE;
	if (p->stripe->gone)
		return;
	f->outstanding++;
	sftp_client_handle(p->stripe->client, SFTP_CLOSE, (struct view){ p->handle, p->handle_size }, copy_up_answered, f);
}

/* ---- the mark */

static void on_cleared(void *ctx, const struct sftp_result *r)
{
	struct copy_file *f = ctx;

	/* Whatever the answer was: more cannot be done. */
	f->parts->odd = f->parts->clearing = false;
	copy_left(f->copy);
	copy_up_answered(f, r);
}

static void clear_mark(struct copy_file *f)
{
	uint32_t now = (uint32_t)clock_wall();
	struct sftp_attrs a = { .flags = SFTP_ATTR_TIMES, .atime = now, .mtime = now };

	if (!f->parts->odd || f->parts->clearing || f->copy->stopped)
		return;
	f->parts->clearing = true;
	f->outstanding++;
	sftp_client_fsetstat(f->copy->client, copy_file_handle(f), &a, on_cleared, f);
}

bool copy_stripes_leave(struct copy *c)
{
	bool any = false;

	for (struct copy_file *f = c->first; f != NULL; f = f->next) {
		if (f->parts == NULL || !f->parts->odd || f->state == COPY_CLOSED)
			continue;
		any = true;
		clear_mark(f);
	}
	return any;
}

/* One stripe less that has to see it. */
static void has_looked(struct copy_file *f)
{
	if (--f->parts->unproven == 0)
		clear_mark(f);
}

static bool shows_mark(const struct sftp_attrs *a, uint32_t mark)
{
	return a->flags & SFTP_ATTR_MODE && S_ISREG(a->mode) && a->flags & SFTP_ATTR_TIMES && a->atime == mark;
}

static void on_part_looked_at(void *ctx, const struct sftp_result *r)
{
	struct part *p = ctx;
	struct copy_file *f = p->file;

	if (r->status == SFTP_OK && f->state == COPY_MOVING && shows_mark(&r->attrs, f->parts->mark)) {
		p->state = PART_OPEN;
		copy_pump_soon(f->copy);
	} else
		part_close(p);
	has_looked(f);
	copy_up_answered(f, r);
}

static void on_part_opened(void *ctx, const struct sftp_result *r)
{
	struct part *p = ctx;
	struct copy_file *f = p->file;

	p->state = PART_NONE;
	if (r->status == SFTP_OK) {
		memcpy(p->handle, r->handle.p, r->handle.n);
		p->handle_size = r->handle.n;
		p->state = PART_OPENING;
		f->outstanding++;
		sftp_client_handle(p->stripe->client, SFTP_FSTAT, r->handle, on_part_looked_at, p);
	} else
		has_looked(f);
	copy_up_answered(f, r);
}

static void on_marked(void *ctx, const struct sftp_result *r)
{
	struct copy_file *f = ctx;
	struct copy_stripes *s = f->copy->stripes;
	struct sftp_attrs none = { 0 };

	f->parts->marked = f->parts->odd = r->status == SFTP_OK;
	/* One for us, so that it does not come to nothing under way. */
	f->parts->unproven = 1;
	for (unsigned i = 0; f->parts->marked && f->state == COPY_MOVING && i < s->count; i++) {
		struct part *p = &f->parts->part[i];

		if (s->stripe[i].gone)
			continue;
		*p = (struct part){ .file = f, .stripe = &s->stripe[i], .state = PART_OPENING };
		f->outstanding++;
		f->parts->unproven++;
		sftp_client_open(p->stripe->client, f->to, SFTP_OPEN_WRITE, &none, on_part_opened, p);
	}
	has_looked(f);
	copy_up_answered(f, r);
}

static void share(struct copy_file *f)
{
	struct copy *c = f->copy;
	struct copy_parts *parts = mem_zalloc(sizeof *parts);
	uint32_t now = (uint32_t)clock_wall();
	struct sftp_attrs a = { .flags = SFTP_ATTR_TIMES, .mtime = now };

	/* In the last years before this one; one of a hundred million. */
	parts->mark = a.atime = now - YEAR_S - (uint32_t)(clock_mono_us() % 100000000);
	parts->odd = true;
	f->parts = parts;
	f->outstanding++;
	sftp_client_fsetstat(c->client, copy_file_handle(f), &a, on_marked, f);
}

static void consider(struct copy_stripes *s, struct copy_file *f)
{
	uint64_t left = f->size > f->at ? f->size - f->at : 0;

	if (f->parts != NULL || left < FILE_MIN)
		return;
	if (!s->opened && (s->at_once || stripe_need_more(&s->need, clock_mono_us(), sftp_client_rtt_us(s->copy->client))))
		open_stripes(s);
	if (s->opened && s->count > 0)
		share(f);
}

/* As sftp_client_write, by whichever stripe of the file has room. */
static long write_part(struct copy_stripes *s, struct copy_file *f, const struct sftp_write *w, sftp_reply_fn *fn)
{
	for (unsigned i = 0; f->parts != NULL && i < s->count; i++) {
		struct part *p = &f->parts->part[i];
		struct sftp_write here = *w;
		long n;

		if (p->state != PART_OPEN || s->stripe[i].gone)
			continue;
		here.handle = (struct view){ p->handle, p->handle_size };
		n = sftp_client_write(p->stripe->client, &here, fn, f);
		if (n != ERR_AGAIN && n != ERR_CLOSED)
			return n;
	}
	return ERR_AGAIN;
}

long copy_stripes_write(struct copy *c, struct copy_file *f, const struct sftp_write *w, sftp_reply_fn *fn)
{
	struct copy_stripes *s = c->stripes;
	long n = sftp_client_write(c->client, w, fn, f);

	if (s == NULL)
		return n;
	consider(s, f);
	if (n == ERR_AGAIN)
		n = write_part(s, f, w, fn);
	if (n > 0)
		stripe_need_sent(&s->need, clock_mono_us(), (uint64_t)n);
	else if (n == ERR_AGAIN && sftp_client_window(c->client) < WINDOW_SMALL)
		stripe_need_blocked(&s->need, clock_mono_us());
	return n;
}

void copy_stripes_sent(struct copy *c, uint64_t bytes)
{
	if (c->stripes != NULL)
		stripe_need_sent(&c->stripes->need, clock_mono_us(), bytes);
}

void copy_stripes_answered(struct copy *c, uint64_t bytes)
{
	if (c->stripes != NULL)
		stripe_need_answered(&c->stripes->need, bytes);
}

static void on_dated(void *ctx, const struct sftp_result *r)
{
	struct copy_file *f = ctx;

	f->parts->dated = r->status == SFTP_OK && r->attrs.flags & SFTP_ATTR_TIMES;
	f->parts->mtime = r->attrs.mtime;
	copy_up_answered(f, r);
}

bool copy_stripes_settled(struct copy *c, struct copy_file *f)
{
	struct copy_parts *parts = f->parts;
	struct sftp_attrs a = { .flags = SFTP_ATTR_TIMES };

	if (parts == NULL)
		return true;
	if (f->outstanding > 0)
		return false;
	if (!parts->closed) {
		parts->closed = true;
		for (unsigned i = 0; i < c->stripes->count; i++)
			if (parts->part[i].state == PART_OPEN)
				part_close(&parts->part[i]);
		/* With -p the dates of the source come anyhow. */
		if (parts->marked && (!c->o.preserve || f->failed)) {
			f->outstanding++;
			sftp_client_handle(c->client, SFTP_FSTAT, copy_file_handle(f), on_dated, f);
		}
		if (f->outstanding > 0)
			return false;
	}
	if (parts->dated) {
		parts->dated = false;
		a.atime = a.mtime = parts->mtime;
		f->outstanding++;
		sftp_client_fsetstat(c->client, copy_file_handle(f), &a, copy_up_answered, f);
	}
	parts->odd = false;
	return true;
}
