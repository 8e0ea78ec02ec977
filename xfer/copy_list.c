/* Walks over sources on the far side: folders are listed, several at once, links are followed, and what is found waits in
 * one bounded queue for its turn. */
#include "xfer/copy_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "xfer/sftp_dir.h"

enum { LISTING_MAX = 16, QUEUE_HIGH = 4096, QUEUE_LOW = 2048, LINKS_MAX = 256 };

struct entry {
	struct entry *next;
	char *from, *to, *real;
	struct copy_dir *dir;            /* holds a reference */
	struct sftp_attrs attrs;
};

struct listing {                         /* a folder that is listed now, or waits for that */
	struct listing *next;
	struct copy *copy;
	struct copy_dir *dir;            /* holds the walk's reference */
	struct sftp_dir *reading;
};

struct link_check {                      /* a link that leads somewhere */
	struct link_check *next;
	struct copy *copy;
	struct entry *entry;
	unsigned answers;                /* still to come */
};

struct copy_lister {
	struct copy *copy;
	struct entry *first, *last;
	size_t queued;
	struct listing *listing, *waiting, *waiting_last;
	unsigned listing_count, links;
	struct link_check *checks;
	bool complete, paused;
};

struct copy_lister *copy_lister_new(struct copy *c)
{
	struct copy_lister *l = mem_zalloc(sizeof *l);

	l->copy = c;
	return l;
}

static void entry_free(struct entry *e)
{
	free(e->from);
	free(e->to);
	free(e->real);
	free(e);
}

static void dir_free_bare(struct copy_dir *d)
{
	free(d->from);
	free(d->to);
	free(d->real);
	free(d);
}

/* The job is over, complete or not. References are let go of without what usually follows. */
static void drop_reference(struct copy_dir *d)
{
	while (d != NULL && --d->refs == 0) {
		struct copy_dir *parent = d->parent;

		dir_free_bare(d);
		d = parent;
	}
}

void copy_lister_free(struct copy_lister *l)
{
	if (l == NULL)
		return;
	while (l->first != NULL) {
		struct entry *e = l->first;

		l->first = e->next;
		drop_reference(e->dir);
		entry_free(e);
	}
	while (l->checks != NULL) {
		struct link_check *k = l->checks;

		l->checks = k->next;
		drop_reference(k->entry->dir);
		entry_free(k->entry);
		free(k);
	}
	for (int i = 0; i < 2; i++) {
		struct listing **list = i == 0 ? &l->listing : &l->waiting;

		while (*list != NULL) {
			struct listing *x = *list;

			*list = x->next;
			sftp_dir_free(x->reading);
			drop_reference(x->dir);
			free(x);
		}
	}
	free(l);
}

static void queue(struct copy_lister *l, struct entry *e)
{
	e->next = NULL;
	if (l->last != NULL)
		l->last->next = e;
	else
		l->first = e;
	l->last = e;
	l->queued++;
	copy_pump_soon(l->copy);
}

void copy_lister_add(struct copy_lister *l, const char *from, char *to, const struct sftp_attrs *a)
{
	struct entry *e = mem_zalloc(sizeof *e);

	e->from = mem_strdup(from);
	e->to = to;
	e->attrs = *a;
	queue(l, e);
}

void copy_lister_complete(struct copy_lister *l)
{
	l->complete = true;
	copy_pump_soon(l->copy);
}

/* ---- links */

static void check_free(struct link_check *k)
{
	struct link_check **at = &k->copy->lister->checks;

	while (*at != k)
		at = &(*at)->next;
	*at = k->next;
	k->copy->lister->links--;
	free(k);
}

static void drop_entry(struct copy *c, struct entry *e)
{
	copy_dir_release(c, e->dir);
	entry_free(e);
}

/* Canonical name of a folder of the walk: known where a link led, put together below. Allocated; NULL if not known. */
static char *real_of(const struct copy_dir *d)
{
	char *above, *real, *name;

	if (d->real != NULL)
		return mem_strdup(d->real);
	if (d->parent == NULL)
		return NULL;
	above = real_of(d->parent);
	if (above == NULL)
		return NULL;
	name = copy_base_name(d->from);
	real = copy_join(above, name);
	free(above);
	free(name);
	return real;
}

static bool lies_in(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 && (path[n] == '\0' || path[n] == '/' || (n > 0 && folder[n - 1] == '/'));
}

/* A link to a folder that we are in leads round and round. */
static bool leads_round(const struct entry *e)
{
	for (const struct copy_dir *d = e->dir; d != NULL; d = d->parent) {
		char *real = real_of(d);
		bool round = real != NULL && e->real != NULL && lies_in(real, e->real);

		free(real);
		if (round)
			return true;
	}
	return false;
}

static void check_answered(struct link_check *k)
{
	struct copy *c = k->copy;
	struct entry *e = k->entry;

	if (--k->answers > 0)
		return;
	check_free(k);
	if (leads_round(e)) {
		copy_error(c, "remote \"%s\": a link to a folder that it lies in", e->from);
		drop_entry(c, e);
	} else
		queue(c->lister, e);
	copy_pump_soon(c);
}

static char *first_name(const struct sftp_result *r)
{
	struct reader names = r->names;
	struct sftp_name n;

	if (r->status != SFTP_OK || r->count < 1)
		return NULL;
	n = sftp_name_get(&names);
	return reader_ok(&names) && !view_has_nul(n.name) ? view_strdup(n.name) : NULL;
}

static struct copy_dir *top_of(struct copy_dir *d)
{
	while (d->parent != NULL)
		d = d->parent;
	return d;
}

static void on_real_top(void *ctx, const struct sftp_result *r)
{
	struct link_check *k = ctx;
	struct copy_dir *top = top_of(k->entry->dir);

	if (top->real == NULL)
		top->real = first_name(r);
	check_answered(k);
}

static void on_real_link(void *ctx, const struct sftp_result *r)
{
	struct link_check *k = ctx;

	k->entry->real = first_name(r);
	check_answered(k);
}

static void on_link_target(void *ctx, const struct sftp_result *r)
{
	struct link_check *k = ctx;
	struct copy *c = k->copy;
	struct entry *e = k->entry;
	char text[300];

	if (r->status != SFTP_OK) {
		check_free(k);
		copy_error(c, "stat remote \"%s\": %s", e->from, sftp_result_text(r, text, sizeof text));
		drop_entry(c, e);
		copy_pump_soon(c);
		return;
	}
	e->attrs = r->attrs;
	if (!sftp_attrs_is_dir(&e->attrs)) {
		check_free(k);
		queue(c->lister, e);
		return;
	}
	k->answers = 1;
	if (top_of(e->dir)->real == NULL) {
		k->answers = 2;
		sftp_client_path(c->client, SFTP_REALPATH, top_of(e->dir)->from, on_real_top, k);
	}
	sftp_client_path(c->client, SFTP_REALPATH, e->from, on_real_link, k);
}

/* A link, or something whose kind the server did not tell. */
static void check_link(struct copy *c, struct entry *e)
{
	struct copy_lister *l = c->lister;
	struct link_check *k = mem_zalloc(sizeof *k);

	k->copy = c;
	k->entry = e;
	k->next = l->checks;
	l->checks = k;
	l->links++;
	sftp_client_path(c->client, SFTP_STAT, e->from, on_link_target, k);
}

/* ---- folders */

static void list_waiting(struct copy *c);

static void pause_all(struct copy_lister *l, bool paused)
{
	if (l->paused == paused)
		return;
	l->paused = paused;
	for (struct listing *x = l->listing; x != NULL; x = x->next)
		sftp_dir_pause(x->reading, paused);
}

static void on_entry(void *ctx, const char *name, const struct sftp_name *n)
{
	struct listing *x = ctx;
	struct copy *c = x->copy;
	struct entry *e;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return;
	e = mem_zalloc(sizeof *e);
	e->from = copy_join(x->dir->from, name);
	e->to = copy_join(x->dir->to, name);
	e->dir = x->dir;
	e->dir->refs++;
	e->attrs = n->attrs;
	if (!(e->attrs.flags & SFTP_ATTR_MODE) || S_ISLNK(e->attrs.mode))
		check_link(c, e);
	else
		queue(c->lister, e);
	if (c->lister->queued >= QUEUE_HIGH || c->lister->links >= LINKS_MAX)
		pause_all(c->lister, true);
}

static void on_listed(void *ctx, uint32_t status, const char *text, unsigned bad)
{
	struct listing *x = ctx, **at = &x->copy->lister->listing;
	struct copy *c = x->copy;

	if (bad > 0)
		copy_error(c, "remote \"%s\": the server sent %u unacceptable file names", x->dir->from, bad);
	if (status != SFTP_OK)
		copy_error(c, "read remote folder \"%s\": %s", x->dir->from, text);
	while (*at != x)
		at = &(*at)->next;
	*at = x->next;
	c->lister->listing_count--;
	copy_dir_release(c, x->dir);
	sftp_dir_free(x->reading);
	free(x);
	list_waiting(c);
	copy_pump_soon(c);
}

static void list_waiting(struct copy *c)
{
	struct copy_lister *l = c->lister;

	while (l->waiting != NULL && l->listing_count < LISTING_MAX && !l->paused && !c->lost) {
		struct listing *x = l->waiting;

		l->waiting = x->next;
		if (l->waiting == NULL)
			l->waiting_last = NULL;
		x->next = l->listing;
		l->listing = x;
		l->listing_count++;
		x->reading = sftp_dir_start(c->client, x->dir->from, on_entry, on_listed, x);
	}
}

void copy_lister_enter(struct copy *c, struct copy_dir *d)
{
	struct copy_lister *l = c->lister;
	struct listing *x = mem_zalloc(sizeof *x);

	x->copy = c;
	x->dir = d;
	if (l->waiting_last != NULL)
		l->waiting_last->next = x;
	else
		l->waiting = x;
	l->waiting_last = x;
	list_waiting(c);
}

/* ---- the walk */

/* False: it has been said why it is none. */
static bool to_item(struct copy *c, struct entry *e, struct copy_item *it)
{
	bool top = e->dir == NULL, dir = sftp_attrs_is_dir(&e->attrs);
	bool regular = !(e->attrs.flags & SFTP_ATTR_MODE) || S_ISREG(e->attrs.mode) || (e->attrs.mode & S_IFMT) == 0;

	if (dir && c->o.recursive && e->dir != NULL && e->dir->depth + 1 >= COPY_DEPTH_MAX) {
		copy_error(c, "remote \"%s\": more than %d levels of folders", e->from, COPY_DEPTH_MAX);
		return false;
	}
	if (dir ? !c->o.recursive : !regular) {
		if (top)
			copy_error(c, "download \"%s\": not a regular file", e->from);
		else
			copy_note(c, "download \"%s\": not a regular file", e->from);
		return false;
	}
	*it = (struct copy_item){ .is_dir = dir, .from = e->from, .to = e->to, .dir = e->dir, .attrs = e->attrs, .fd = -1,
		.real = e->real };
	e->from = e->to = e->real = NULL;
	return true;
}

enum copy_walk copy_lister_next(struct copy *c, struct copy_item *it)
{
	struct copy_lister *l = c->lister;

	while (l->first != NULL) {
		struct entry *e = l->first;
		bool ok, broken = e->dir != NULL && e->dir->broken;

		/* Who may not serve requests in order must have made the folder first. */
		if (e->dir != NULL && e->dir->creating && !c->o.known_server)
			return COPY_WAIT;
		l->first = e->next;
		if (l->first == NULL)
			l->last = NULL;
		l->queued--;
		if (l->queued < QUEUE_LOW && l->links < LINKS_MAX / 2 && l->paused) {
			pause_all(l, false);
			list_waiting(c);
		}
		ok = !broken && to_item(c, e, it);
		if (ok) {
			/* The item takes the entry's reference to the folder for a moment: whoever starts it takes its own. */
			struct copy_dir *d = e->dir;

			entry_free(e);
			if (d != NULL)
				d->refs--;
			return COPY_ITEM;
		}
		drop_entry(c, e);
	}
	if (l->paused && l->links < LINKS_MAX / 2) {
		pause_all(l, false);
		list_waiting(c);
	}
	return l->complete && l->listing_count == 0 && l->waiting == NULL && l->links == 0 ? COPY_END : COPY_WAIT;
}
