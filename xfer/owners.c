/* Names of users and groups, and home folders, from the account database. */
#include "xfer/owners.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"

enum { SCRATCH_FIRST = 4096, SCRATCH_MAX = 1024 * 1024 };

/* The reentrant calls, since this may run on the helper thread. A group of thousands of members needs a large scratch. */
static char *group_name(gid_t gid)
{
	char *name = NULL;

	for (size_t n = SCRATCH_FIRST; n <= SCRATCH_MAX; n *= 4) {
		char *scratch = mem_alloc(n);
		struct group gr, *found = NULL;
		int r = getgrgid_r(gid, &gr, scratch, n, &found);

		if (r == 0 && found != NULL)
			name = mem_strdup(gr.gr_name);
		free(scratch);
		if (r != ERANGE)
			break;
	}
	return name;
}

/* By name, or by uid if name is NULL; home: the folder instead of the name. */
static char *passwd_field(const char *name, uid_t uid, bool home)
{
	char *value = NULL;

	for (size_t n = SCRATCH_FIRST; n <= SCRATCH_MAX; n *= 4) {
		char *scratch = mem_alloc(n);
		struct passwd pw, *found = NULL;
		int r = name != NULL ? getpwnam_r(name, &pw, scratch, n, &found) : getpwuid_r(uid, &pw, scratch, n, &found);

		if (r == 0 && found != NULL)
			value = mem_strdup(home ? pw.pw_dir : pw.pw_name);
		free(scratch);
		if (r != ERANGE)
			break;
	}
	return value;
}

char *owners_home(const char *user)
{
	return passwd_field(user, 0, true);
}

enum { BUCKETS = 256, OWNERS_MAX = 4096 };
struct owner { struct owner *next; uint32_t id; bool known; char *text; };
struct table { struct owner *bucket[BUCKETS]; size_t count; };
struct owners { struct table users, groups; };

struct owners *owners_new(void)
{
	return mem_zalloc(sizeof(struct owners));
}

static void table_clear(struct table *t)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct owner *w = t->bucket[i], *next; w != NULL; w = next) {
			next = w->next;
			free(w->text);
			free(w);
		}
		t->bucket[i] = NULL;
	}
	t->count = 0;
}

void owners_free(struct owners *o)
{
	if (o == NULL)
		return;
	table_clear(&o->users);
	table_clear(&o->groups);
	free(o);
}

static const struct owner *table_find(const struct table *t, uint32_t id)
{
	const struct owner *w = t->bucket[id % BUCKETS];

	while (w != NULL && w->id != id)
		w = w->next;
	return w;
}

/* A peer may ask for any number of ids: the memory of them is bounded. */
static const struct owner *table_add(struct table *t, uint32_t id, char *name)
{
	struct owner *w = mem_zalloc(sizeof *w);

	if (t->count >= OWNERS_MAX)
		table_clear(t);
	w->id = id;
	w->known = name != NULL;
	w->text = name != NULL ? name : str_printf("%u", (unsigned)id);
	w->next = t->bucket[id % BUCKETS];
	t->bucket[id % BUCKETS] = w;
	t->count++;
	return w;
}

static const struct owner *user_of(struct owners *o, uid_t uid)
{
	const struct owner *w = table_find(&o->users, uid);

	return w != NULL ? w : table_add(&o->users, uid, passwd_field(NULL, uid, false));
}

static const struct owner *group_of(struct owners *o, gid_t gid)
{
	const struct owner *w = table_find(&o->groups, gid);

	return w != NULL ? w : table_add(&o->groups, gid, group_name(gid));
}

const char *owners_user(struct owners *o, uid_t uid) { return user_of(o, uid)->text; }
const char *owners_group(struct owners *o, gid_t gid) { return group_of(o, gid)->text; }

const char *owners_user_known(struct owners *o, uid_t uid)
{
	const struct owner *w = user_of(o, uid);

	return w->known ? w->text : NULL;
}

const char *owners_group_known(struct owners *o, gid_t gid)
{
	const struct owner *w = group_of(o, gid);

	return w->known ? w->text : NULL;
}
