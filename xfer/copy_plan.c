/* Sources on the far side: each is expanded, all at once; what comes out becomes top items in the order of the job. */
#include "xfer/copy_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct source {
	struct copy *copy;
	const char *given;               /* the job's */
	struct copy_glob *glob;
	bool failed;                     /* has been said */
	bool done;                       /* the glob is complete */
};

struct copy_plan {
	struct source *source;
	size_t count, started, emitted;
	unsigned under_way;
	copy_place_fn *place;
};

enum { UNDER_WAY_MAX = 64 };

static void emit(struct copy *c, struct source *s)
{
	const struct copy_match *m;
	size_t count;
	const char *error;

	if (s->failed)
		return;
	m = copy_glob_matches(s->glob, &count);
	error = copy_glob_error(s->glob);
	if (error != NULL && (count > 0 || copy_glob_was_pattern(s->glob)))
		copy_error(c, "%s", error);
	else if (count == 0)
		copy_error(c, "%s: %s", s->given, error != NULL ? error : sftp_status_text(SFTP_NO_SUCH_FILE));
	for (size_t i = 0; i < count; i++) {
		char *name = copy_far_name(s->given, m[i].path), *to;

		/* The name of a match comes from the server (listings are checked), or from the user. */
		to = c->stopped ? NULL : c->plan->place(c, name, count);
		free(name);
		if (to == NULL)
			return;
		copy_lister_add(c->lister, m[i].path, to, &m[i].attrs);
	}
}

static void emit_ready(struct copy *c)
{
	struct copy_plan *p = c->plan;

	while (p->emitted < p->count && p->source[p->emitted].done) {
		struct source *s = &p->source[p->emitted++];

		emit(c, s);
		copy_glob_free(s->glob);
		s->glob = NULL;
	}
	if (p->emitted == p->count)
		copy_lister_complete(c->lister);
	copy_pump_soon(c);
}

static void start_more(struct copy *c);

static void source_done(struct source *s)
{
	struct copy *c = s->copy;

	s->done = true;
	c->plan->under_way--;
	emit_ready(c);
	start_more(c);
}

static void on_globbed(void *ctx, struct copy_glob *g)
{
	struct source *s = ctx;

	s->glob = g;
	source_done(s);
}

static void on_path(void *ctx, char *path)
{
	struct source *s = ctx;
	struct copy_glob *g;

	if (path == NULL) {
		s->failed = true;
		source_done(s);
		return;
	}
	g = copy_glob_start(s->copy->client, path, on_globbed, s);
	if (!s->done)
		s->glob = g;
	free(path);
}

static void start_more(struct copy *c)
{
	struct copy_plan *p = c->plan;

	while (p->started < p->count && p->under_way < UNDER_WAY_MAX && !c->lost) {
		struct source *s = &p->source[p->started++];

		p->under_way++;
		copy_far_expand_path(c, c->client, &(struct copy_path){ s->given, true }, on_path, s);
	}
}

void copy_plan_sources(struct copy *c, copy_place_fn *place)
{
	struct copy_plan *p = mem_zalloc(sizeof *p);

	p->count = c->job.sources.count;
	p->source = mem_array(p->count + 1, sizeof p->source[0]);
	p->place = place;
	c->plan = p;
	for (size_t i = 0; i < p->count; i++) {
		p->source[i].copy = c;
		p->source[i].given = c->job.sources.v[i];
	}
	c->lister = copy_lister_new(c);
	copy_planned(c);
	start_more(c);
	if (p->count == 0)
		copy_lister_complete(c->lister);
}

void copy_plan_free(struct copy_plan *p)
{
	if (p == NULL)
		return;
	for (size_t i = 0; i < p->count; i++)
		copy_glob_free(p->source[i].glob);
	free(p->source);
	free(p);
}
