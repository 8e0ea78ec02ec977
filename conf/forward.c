/* conf/forward.c: what is to be forwarded where: LocalForward, RemoteForward, DynamicForward, -L -R -D and ~C
 * (ssh_config(5), LocalForward). */
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/mem.h"
#include "base/path.h"
#include "conf/types.h"

enum {
	FORWARD_TEXT_MAX = 255,
	FORWARD_FIELDS = 4,
	FORWARD_HOST_MAX = 1024,        /* of a name or an address */
	FORWARD_PATH_MAX = sizeof(((struct sockaddr_un *)0)->sun_path) - 1
};

struct forward_fields {
	char text[FORWARD_FIELDS][FORWARD_TEXT_MAX + 1];
	bool path[FORWARD_FIELDS];
	size_t count;
};

/* One field up to the next colon: [in brackets] colons are part of it, a backslash takes the next character as it
 * is. NULL: an open bracket, or something between "]" and the colon. */
static const char *forward_field(const char *p, char *dst, bool *path)
{
	size_t n = 0;

	*path = false;
	if (*p == '[') {
		const char *end = strchr(p + 1, ']');

		if (end == NULL || (end[1] != '\0' && end[1] != ':'))
			return NULL;
		n = (size_t)(end - p - 1);
		memcpy(dst, p + 1, n);
		p = end + 1;
	} else {
		for (; *p != '\0' && *p != ':'; p++) {
			if (*p == '\\' && p[1] != '\0')
				p++;
			dst[n++] = *p;
		}
	}
	dst[n] = '\0';
	*path = strchr(dst, '/') != NULL;
	return p;
}

static int forward_split(const char *spec, struct forward_fields *f)
{
	const char *p = spec;

	*f = (struct forward_fields){ .count = 0 };
	if (strlen(spec) > FORWARD_TEXT_MAX)
		return ERR_USAGE;
	for (;;) {
		if (f->count == FORWARD_FIELDS)
			return ERR_USAGE;
		p = forward_field(p, f->text[f->count], &f->path[f->count]);
		if (p == NULL)
			return ERR_USAGE;
		f->count++;
		if (*p == '\0')
			return 0;
		p++;
	}
}

static int forward_take_path(const char *text, char **out)
{
	if (strlen(text) > FORWARD_PATH_MAX)
		return ERR_USAGE;
	*out = mem_strdup(text);
	return 0;
}

/* The listening side out of the first fields: how many they were, or ERR_USAGE. */
static int forward_listen(const struct forward_fields *f, size_t fields, enum conf_forward_kind kind,
	struct conf_forward *out)
{
	unsigned min = kind == CONF_FORWARD_REMOTE ? 0 : 1;

	if (f->path[0])
		return fields == 1 ? forward_take_path(f->text[0], &out->listen_path) : ERR_USAGE;
	if (fields == 2) {
		if (strlen(f->text[0]) > FORWARD_HOST_MAX)
			return ERR_USAGE;
		out->listen_host = mem_strdup(f->text[0]);
	}
	return conf_parse_port(f->text[fields - 1], min, &out->listen_port);
}

/* The target out of the last fields. */
static int forward_connect(const struct forward_fields *f, size_t fields, struct conf_forward *out)
{
	const char *last = f->text[f->count - 1];

	if (fields == 1)
		return f->path[f->count - 1] ? forward_take_path(last, &out->connect_path) : ERR_USAGE;
	if (f->path[f->count - 1] || f->path[f->count - 2] || f->text[f->count - 2][0] == '\0')
		return ERR_USAGE;
	out->connect_host = mem_strdup(f->text[f->count - 2]);
	return conf_parse_port(last, 1, &out->connect_port);
}

/* How many fields belong to the target. Paths take one field each, host and port two. */
static size_t forward_target_fields(const struct forward_fields *f, enum conf_forward_kind kind)
{
	size_t n = f->count;

	if (kind == CONF_FORWARD_DYNAMIC || n == 1)
		return 0;
	if (f->path[n - 1])
		return 1;
	/* "bind:port" of a remote SOCKS, "port:host" of a mistake */
	return n == 2 ? 0 : 2;
}

int conf_forward_parse(const char *spec, enum conf_forward_kind kind, struct conf_forward *out, struct err *e)
{
	struct forward_fields f;
	size_t target;
	int r;

	*out = (struct conf_forward){ 0 };
	r = forward_split(spec, &f);
	if (r == 0) {
		target = forward_target_fields(&f, kind);
		out->socks = target == 0;
		if (f.count - target > 2 || f.count == target || (target == 0 && kind == CONF_FORWARD_LOCAL))
			r = ERR_USAGE;
		if (r == 0)
			r = forward_listen(&f, f.count - target, kind, out);
		if (r == 0 && target != 0)
			r = forward_connect(&f, target, out);
	}
	if (r == 0)
		return 0;
	conf_forward_clear(out);
	return err_set(e, ERR_USAGE, "Bad forwarding specification '%s'", spec);
}

void conf_forward_clear(struct conf_forward *f)
{
	free(f->listen_host);
	free(f->listen_path);
	free(f->connect_host);
	free(f->connect_path);
	*f = (struct conf_forward){ 0 };
}

static bool forward_same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool conf_forward_equal(const struct conf_forward *a, const struct conf_forward *b)
{
	return forward_same(a->listen_host, b->listen_host) && a->listen_port == b->listen_port &&
		forward_same(a->listen_path, b->listen_path) && forward_same(a->connect_host, b->connect_host) &&
		a->connect_port == b->connect_port && forward_same(a->connect_path, b->connect_path) &&
			a->socks == b->socks;
}

bool conf_forwards_add(struct conf_forwards *l, struct conf_forward *f)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		if (conf_forward_equal(&l->v[i], f))
			return false;
	l->v = mem_resize(l->v, l->count + 1, sizeof(*l->v));
	l->v[l->count++] = *f;
	*f = (struct conf_forward){ 0 };
	return true;
}

void conf_forwards_clear(struct conf_forwards *l)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		conf_forward_clear(&l->v[i]);
	free(l->v);
	*l = (struct conf_forwards){ 0 };
}

static void forwards_clear(void *field)
{
	conf_forwards_clear(field);
}

static char *forward_dup(const char *s)
{
	return s == NULL ? NULL : mem_strdup(s);
}

static void forwards_copy(void *dst, const void *src)
{
	const struct conf_forwards *from = src;
	size_t i;

	for (i = 0; i < from->count; i++) {
		struct conf_forward one = from->v[i];

		one.listen_host = forward_dup(one.listen_host);
		one.listen_path = forward_dup(one.listen_path);
		one.connect_host = forward_dup(one.connect_host);
		one.connect_path = forward_dup(one.connect_path);
		if (!conf_forwards_add(dst, &one))
			conf_forward_clear(&one);
	}
}

static int forwards_parse(struct conf_line *l, void *field)
{
	enum conf_forward_kind kind = *(const enum conf_forward_kind *)l->row->arg;
	const char *listen = conf_line_need(l), *target = NULL;
	struct conf_forward one;
	struct err e = { 0 };
	char *spec, *plain;
	int r = 0;

	if (listen == NULL)
		return ERR_USAGE;
	if (kind != CONF_FORWARD_DYNAMIC)
		target = conf_line_next(l);
	/* -L gives it all in one word. */
	if (target == NULL && kind == CONF_FORWARD_LOCAL && l->origin != CONF_COMMAND_LINE)
		return conf_line_bad(l, "%s needs a target", l->keyword);
	spec = target != NULL ? str_printf("%s:%s", listen, target) : mem_strdup(listen);
	plain = path_expand_env(spec, &e);
	if (plain == NULL && l->active)
		r = conf_line_bad(l, "%s: %s", l->keyword, err_text(&e));
	if (plain != NULL && conf_forward_parse(plain, kind, &one, &e) != 0)
		r = conf_line_bad(l, "%s", err_text(&e));
	else if (plain != NULL && !conf_forwards_add(field, &one))
		conf_forward_clear(&one);
	free(plain);
	free(spec);
	return r;
}

static char *forward_listen_text(const struct conf_forward *f)
{
	if (f->listen_path != NULL)
		return mem_strdup(f->listen_path);
	if (f->listen_host == NULL)
		return str_printf("%u", f->listen_port);
	return conf_format_host_port(f->listen_host, f->listen_port);
}

static char *forward_connect_text(const struct conf_forward *f)
{
	if (f->connect_path != NULL)
		return mem_strdup(f->connect_path);
	if (f->socks)
		return conf_format_host_port("socks", 0);
	return conf_format_host_port(f->connect_host, f->connect_port);
}

static void forwards_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct conf_forwards *l = field;
	enum conf_forward_kind kind = *(const enum conf_forward_kind *)row->arg;
	char *listen, *connect;
	size_t i;

	for (i = 0; i < l->count; i++) {
		listen = forward_listen_text(&l->v[i]);
		connect = forward_connect_text(&l->v[i]);
		if (kind == CONF_FORWARD_DYNAMIC)
			conf_dump_value(d, row, "%s", listen);
		else
			conf_dump_value(d, row, "%s %s", listen, connect);
		free(listen);
		free(connect);
	}
}

const struct conf_type conf_forwards_type = {
	sizeof(struct conf_forwards), forwards_parse, forwards_clear, forwards_copy, forwards_show
};
