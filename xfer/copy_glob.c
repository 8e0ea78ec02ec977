/* Patterns on the far side, expanded component by component; what matches is looked at, so that its kind is known. */
#include "xfer/copy_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "xfer/glob.h"
#include "xfer/sftp_dir.h"

enum { MATCHES_MAX = 1000000, LISTS_MAX = 16, LOOKS_MAX = 128 };

struct search {                          /* a folder being listed */
	struct copy_glob *glob;
	struct search *next;
	char *prefix;                    /* "" or ending with a slash */
	struct sftp_dir *dir;
};

struct look { struct copy_glob *glob; char *path; };

struct copy_glob {
	struct sftp_client *client;
	copy_glob_fn *fn;
	void *ctx;
	char *pattern;
	const char *rest;                /* components that were not gone through yet */
	bool magic, last_magic;          /* any component; the last one */
	struct str_list now, next;       /* prefixes, before and behind the component at hand */
	size_t at;                       /* of `now`: those before it are being listed or were */
	unsigned under_way;
	struct search *searches;
	struct copy_match *match;
	size_t match_count;
	bool finished;
	char *error;
};

static void advance(struct copy_glob *g);
static void look_at_more(struct copy_glob *g);

static void finish(struct copy_glob *g)
{
	if (g->finished)
		return;
	g->finished = true;
	g->fn(g->ctx, g);
}

static void fail(struct copy_glob *g, const char *text)
{
	if (g->error == NULL)
		g->error = mem_strdup(text);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct copy_match *)a)->path, ((const struct copy_match *)b)->path);
}

/* ---- looking at what was found */

static void on_look(void *ctx, const struct sftp_result *r)
{
	struct look *look = ctx;
	struct copy_glob *g = look->glob;
	char text[300];

	g->under_way--;
	if (r->status == SFTP_OK)
		g->match[g->match_count++] = (struct copy_match){ look->path, r->attrs };
	else {
		/* Names that a pattern only led to need not be there; others are what the user asked for. */
		if (!g->magic || g->last_magic) {
			if (g->magic)
				(void)snprintf(text, sizeof text, "%s: ", look->path);
			else
				text[0] = '\0';
			(void)sftp_result_text(r, text + strlen(text), sizeof text - strlen(text));
			fail(g, text);
		}
		free(look->path);
	}
	free(look);
	look_at_more(g);
}

static void look_at_more(struct copy_glob *g)
{
	while (g->at < g->now.count && g->under_way < LOOKS_MAX) {
		struct look *look = mem_zalloc(sizeof *look);

		look->glob = g;
		look->path = mem_strdup(g->now.v[g->at++]);
		g->under_way++;
		sftp_client_path(g->client, SFTP_STAT, look->path, on_look, look);
	}
	if (g->under_way > 0)
		return;
	if (g->match_count > 1)
		qsort(g->match, g->match_count, sizeof g->match[0], by_path);
	finish(g);
}

static void look_at_all(struct copy_glob *g)
{
	g->at = 0;
	g->match = mem_array(g->now.count + 1, sizeof g->match[0]);
	look_at_more(g);
}

/* ---- components */

static void step(struct copy_glob *g)
{
	str_list_clear(&g->now);
	g->now = g->next;
	g->next = (struct str_list){ 0 };
	g->at = 0;
}

static size_t component_size(const struct copy_glob *g)
{
	return strcspn(g->rest, "/");
}

/* Behind a component: slashes are kept, as they are. */
static size_t slashes_behind(const struct copy_glob *g)
{
	return strspn(g->rest + component_size(g), "/");
}

static void on_entry(void *ctx, const char *name, const struct sftp_name *n)
{
	struct search *s = ctx;
	struct copy_glob *g = s->glob;
	size_t slashes = slashes_behind(g);

	(void)n;
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || !glob_match(g->rest, component_size(g), name))
		return;
	if (g->next.count >= MATCHES_MAX) {
		fail(g, "too many files match");
		return;
	}
	str_list_add_take(&g->next, str_printf("%s%s%.*s", s->prefix, name, (int)slashes, g->rest + component_size(g)));
}

static void list_more(struct copy_glob *g);

static void search_free(struct search *s)
{
	struct search **at = &s->glob->searches;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	sftp_dir_free(s->dir);
	free(s->prefix);
	free(s);
}

/* A folder that cannot be read matches nothing, as with glob(3). */
static void on_listed(void *ctx, uint32_t status, const char *text, unsigned bad)
{
	struct search *s = ctx;
	struct copy_glob *g = s->glob;

	(void)text;
	if (bad > 0)
		fail(g, "the server sent unacceptable file names");
	if (status == SFTP_CONNECTION_LOST)
		fail(g, "connection lost");
	g->under_way--;
	search_free(s);
	list_more(g);
}

static void list_more(struct copy_glob *g)
{
	while (g->at < g->now.count && g->under_way < LISTS_MAX) {
		struct search *s = mem_zalloc(sizeof *s);
		const char *prefix = g->now.v[g->at++];

		s->glob = g;
		s->prefix = mem_strdup(prefix);
		s->next = g->searches;
		g->searches = s;
		g->under_way++;
		s->dir = sftp_dir_start(g->client, *prefix != '\0' ? prefix : ".", on_entry, on_listed, s);
	}
	if (g->under_way > 0)
		return;
	g->rest += component_size(g) + slashes_behind(g);
	step(g);
	advance(g);
}

/* Goes through components without a pattern; at the first with one, lists. */
static void advance(struct copy_glob *g)
{
	while (*g->rest != '\0') {
		size_t n = component_size(g), slashes = slashes_behind(g);
		char *literal;

		if (glob_has_magic(g->rest, n)) {
			g->magic = true;
			g->last_magic = g->rest[n + slashes] == '\0';
			list_more(g);
			return;
		}
		g->last_magic = false;
		literal = glob_unescape(g->rest, n + slashes);
		for (size_t i = 0; i < g->now.count; i++)
			str_list_add_take(&g->next, str_printf("%s%s", g->now.v[i], literal));
		free(literal);
		g->rest += n + slashes;
		step(g);
	}
	look_at_all(g);
}

struct copy_glob *copy_glob_start(struct sftp_client *client, const char *pattern, copy_glob_fn *fn, void *ctx)
{
	struct copy_glob *g = mem_zalloc(sizeof *g);

	g->client = client;
	g->fn = fn;
	g->ctx = ctx;
	g->pattern = mem_strdup(pattern);
	g->rest = g->pattern;
	/* The leading slashes are the first prefix. */
	str_list_add_n(&g->now, g->rest, strspn(g->rest, "/"));
	g->rest += strspn(g->rest, "/");
	advance(g);
	return g;
}

void copy_glob_free(struct copy_glob *g)
{
	if (g == NULL)
		return;
	while (g->searches != NULL)
		search_free(g->searches);
	for (size_t i = 0; i < g->match_count; i++)
		free(g->match[i].path);
	free(g->match);
	str_list_clear(&g->now);
	str_list_clear(&g->next);
	free(g->pattern);
	free(g->error);
	free(g);
}

const struct copy_match *copy_glob_matches(const struct copy_glob *g, size_t *count)
{
	*count = g->match_count;
	return g->match;
}

const char *copy_glob_error(const struct copy_glob *g) { return g->error; }
bool copy_glob_was_pattern(const struct copy_glob *g) { return g->magic; }
