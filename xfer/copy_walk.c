/* Walks over local sources: files come opened, folders to be entered. */
#include "xfer/copy_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

struct level { DIR *stream; struct copy_dir *dir; };

struct copy_walker {
	struct level level[COPY_DEPTH_MAX + 1];
	size_t depth;
	size_t source;                   /* next of the job's */
	char *target;
	bool target_is_dir;
};

struct copy_walker *copy_walker_new(struct copy *c)
{
	(void)c;
	return mem_zalloc(sizeof(struct copy_walker));
}

void copy_walker_free(struct copy_walker *w)
{
	if (w == NULL)
		return;
	/* The folders themselves are let go of without ceremony: files that pointed to them are gone. */
	while (w->depth > 0) {
		struct copy_dir *d = w->level[--w->depth].dir;

		closedir(w->level[w->depth].stream);
		free(d->from);
		free(d->to);
		free(d->real);
		free(d);
	}
	free(w->target);
	free(w);
}

void copy_walker_target(struct copy_walker *w, const char *target, bool is_dir)
{
	w->target = mem_strdup(target);
	w->target_is_dir = is_dir;
}

static bool is_own_ancestor(const struct copy_dir *d, const struct stat *st)
{
	for (; d != NULL; d = d->parent)
		if (d->dev == st->st_dev && d->ino == st->st_ino)
			return true;
	return false;
}

/* Without O_NONBLOCK a fifo that took the file's place would hold us. */
static int open_source(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), saved;

	if (fd < 0)
		return -1;
	if (fstat(fd, st) == 0 && S_ISREG(st->st_mode))
		return fd;
	saved = S_ISREG(st->st_mode) ? errno : EINVAL;
	close(fd);
	errno = saved;
	return -1;
}

/* What stands at it->from. True: an item. */
static bool examine(struct copy *c, struct copy_item *it, bool top)
{
	struct stat st;

	if (stat(it->from, &st) < 0) {
		copy_error(c, "local \"%s\": %s", it->from, strerror(errno));
		return false;
	}
	it->attrs = sftp_attrs_of_stat(&st);
	it->dev = st.st_dev;
	it->ino = st.st_ino;
	it->is_dir = S_ISDIR(st.st_mode);
	if (it->is_dir && c->o.recursive) {
		if (is_own_ancestor(it->dir, &st)) {
			copy_error(c, "local \"%s\": a link to a folder that it lies in", it->from);
			return false;
		}
		if (c->walker->depth > COPY_DEPTH_MAX) {
			copy_error(c, "local \"%s\": more than %d levels of folders", it->from, COPY_DEPTH_MAX);
			return false;
		}
		return true;
	}
	if (!S_ISREG(st.st_mode)) {
		/* One that was named is an error, one that was found on the way is passed over. */
		if (top)
			copy_error(c, "local \"%s\": not a regular file", it->from);
		else
			copy_note(c, "local \"%s\": not a regular file", it->from);
		return false;
	}
	it->fd = open_source(it->from, &st);
	if (it->fd < 0) {
		copy_error(c, "open local \"%s\": %s", it->from, errno == EINVAL ? "not a regular file" : strerror(errno));
		return false;
	}
	it->attrs = sftp_attrs_of_stat(&st);
	return true;
}

static void leave(struct copy *c, struct copy_walker *w)
{
	struct level *l = &w->level[--w->depth];

	closedir(l->stream);
	copy_dir_release(c, l->dir);
}

/* The next entry of the innermost folder. */
static enum copy_walk next_entry(struct copy *c, struct copy_walker *w, struct copy_item *it)
{
	struct level *l = &w->level[w->depth - 1];
	struct dirent *entry;

	if (l->dir->broken) {
		leave(c, w);
		return COPY_END;
	}
	/* Who may not serve requests in order must have made the folder first. */
	if (l->dir->creating && !c->o.known_server)
		return COPY_WAIT;
	errno = 0;
	entry = readdir(l->stream);
	if (entry == NULL) {
		if (errno != 0)
			copy_error(c, "read local folder \"%s\": %s", l->dir->from, strerror(errno));
		leave(c, w);
		return COPY_END;
	}
	if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
		return COPY_END;
	it->dir = l->dir;
	it->from = copy_join(l->dir->from, entry->d_name);
	it->to = copy_join(l->dir->to, entry->d_name);
	if (examine(c, it, false))
		return COPY_ITEM;
	copy_item_clear(it);
	return COPY_END;
}

static enum copy_walk next_source(struct copy *c, struct copy_walker *w, struct copy_item *it)
{
	const char *path = c->job.sources.v[w->source++];
	struct stat st;
	char *base;

	/* As ever, a source that is not there ends the job after what was begun (scp(1), EXIT STATUS). */
	if (stat(path, &st) < 0) {
		copy_error(c, "stat local \"%s\": %s", path, strerror(errno));
		c->status_at_end = 255;
		w->source = c->job.sources.count;
		return COPY_END;
	}
	base = copy_base_name(path);
	it->from = mem_strdup(path);
	it->to = w->target_is_dir ? copy_place(w->target, base) : mem_strdup(w->target);
	free(base);
	if (examine(c, it, true))
		return COPY_ITEM;
	copy_item_clear(it);
	return COPY_END;
}

enum copy_walk copy_walker_next(struct copy *c, struct copy_item *it)
{
	struct copy_walker *w = c->walker;

	while (w->depth > 0 || w->source < c->job.sources.count) {
		enum copy_walk r = w->depth > 0 ? next_entry(c, w, it) : next_source(c, w, it);

		if (r != COPY_END)
			return r;
	}
	return COPY_END;
}

void copy_walker_enter(struct copy *c, struct copy_dir *d)
{
	struct copy_walker *w = c->walker;
	DIR *stream = opendir(d->from);

	if (stream == NULL) {
		copy_error(c, "open local folder \"%s\": %s", d->from, strerror(errno));
		copy_dir_release(c, d);
		return;
	}
	w->level[w->depth++] = (struct level){ stream, d };
}
