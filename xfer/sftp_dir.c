/* Folders on the far side. */
#include "xfer/sftp_dir.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { UNDER_WAY_START = 2, UNDER_WAY_MAX = 16 };

struct sftp_dir {
	struct sftp_client *client;
	sftp_dir_entry_fn *entry;
	sftp_dir_end_fn *end;
	void *ctx;
	uint8_t handle[SFTP_HANDLE_MAX];
	size_t handle_size;
	unsigned under_way, allowed, bad;
	bool paused, ended;              /* ended: EOF or an error came */
	uint32_t status;
	char text[300];
};

static void ask(struct sftp_dir *d);

static void finish(struct sftp_dir *d)
{
	sftp_dir_end_fn *end = d->end;

	if (d->handle_size > 0)
		sftp_client_handle(d->client, SFTP_CLOSE, (struct view){ d->handle, d->handle_size }, NULL, NULL);
	end(d->ctx, d->status, d->text, d->bad);
}

static void fail(struct sftp_dir *d, const struct sftp_result *r)
{
	d->ended = true;
	d->status = r->status;
	(void)sftp_result_text(r, d->text, sizeof d->text);
}

/* A name that could lead out of the folder must not reach anyone. */
static bool is_name(struct view v)
{
	return v.n > 0 && !view_has_nul(v) && memchr(v.p, '/', v.n) == NULL;
}

static void take_names(struct sftp_dir *d, const struct sftp_result *r)
{
	struct reader names = r->names;

	for (uint32_t i = 0; i < r->count && reader_ok(&names); i++) {
		struct sftp_name n = sftp_name_get(&names);
		char *name;

		if (!reader_ok(&names))
			break;
		if (!is_name(n.name)) {
			d->bad++;
			continue;
		}
		name = view_strdup(n.name);
		d->entry(d->ctx, name, &n);
		free(name);
	}
	if (!reader_ok(&names)) {
		d->ended = true;
		d->status = SFTP_BAD_MESSAGE;
		(void)str_copy(d->text, sizeof d->text, "malformed list of names");
	} else if (r->count == 0)
		d->ended = true;                 /* nothing, for ever: an end in other words */
}

static void on_names(void *ctx, const struct sftp_result *r)
{
	struct sftp_dir *d = ctx;

	d->under_way--;
	if (r->status == SFTP_OK) {
		take_names(d, r);
		if (d->allowed < UNDER_WAY_MAX)
			d->allowed++;
	} else if (r->status == SFTP_EOF)
		d->ended = true;
	else if (!d->ended)
		fail(d, r);
	if (d->ended && d->under_way == 0)
		finish(d);
	else
		ask(d);
}

static void ask(struct sftp_dir *d)
{
	while (!d->ended && !d->paused && d->under_way < d->allowed) {
		d->under_way++;
		sftp_client_handle(d->client, SFTP_READDIR, (struct view){ d->handle, d->handle_size }, on_names, d);
	}
}

static void on_opened(void *ctx, const struct sftp_result *r)
{
	struct sftp_dir *d = ctx;

	if (r->status != SFTP_OK) {
		fail(d, r);
		finish(d);
		return;
	}
	memcpy(d->handle, r->handle.p, r->handle.n);
	d->handle_size = r->handle.n;
	ask(d);
}

struct sftp_dir *sftp_dir_start(struct sftp_client *c, const char *path, sftp_dir_entry_fn *entry, sftp_dir_end_fn *end,
	void *ctx)
{
	struct sftp_dir *d = mem_zalloc(sizeof *d);

	d->client = c;
	d->entry = entry;
	d->end = end;
	d->ctx = ctx;
	d->allowed = UNDER_WAY_START;
	sftp_client_path(c, SFTP_OPENDIR, path, on_opened, d);
	return d;
}

void sftp_dir_pause(struct sftp_dir *d, bool paused)
{
	d->paused = paused;
	if (d->handle_size > 0)
		ask(d);
}

void sftp_dir_free(struct sftp_dir *d)
{
	free(d);
}
