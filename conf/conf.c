/* conf/conf.c: reads configuration files and lines by a table of rows: includes, blocks, first value wins. */
#include "conf/conf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/match.h"
#include "base/mem.h"

/* What became of a line: 0; a bad line, which has been reported and is counted; or a negative ERR_*, whose text is in
 * the struct err, and nothing more is read. */
enum { LINE_BAD_FORM = 1, LINE_BAD_VALUE = 2 };

/* Where lines come from. */
struct conf_place {
	const char *file;
	unsigned number;
	enum conf_origin origin;
	bool is_file;
};

void conf_reader_init(struct conf_reader *r, const struct conf_table *t, void *options, struct conf_source *s)
{
	*r = (struct conf_reader){ .table = t, .options = options, .source = s, .active = true };
}

/* ---- what parsers of rows call */

const char *conf_line_next(struct conf_line *l)
{
	return l->next < l->count ? l->arg[l->next++] : NULL;
}

const char *conf_line_need(struct conf_line *l)
{
	const char *word = conf_line_next(l);

	if (word != NULL && *word != '\0')
		return word;
	conf_line_bad(l, "%s needs an argument", l->keyword);
	return NULL;
}

int conf_line_bad(struct conf_line *l, const char *fmt, ...)
{
	char text[ERR_TEXT_SIZE];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (l->table->bad_value_is_fatal)
		return err_set(l->err, ERR_USAGE, "%s line %u: %s", l->file, l->number, text);
	log_error("%s line %u: %s", l->file, l->number, text);
	return ERR_USAGE;
}

void conf_line_block(struct conf_line *l, bool matches)
{
	l->reader->in_block = true;
	l->reader->active = matches && !l->reader->never;
}

/* ---- one line */

static size_t row_index(const struct conf_line *l)
{
	return (size_t)(l->row - l->table->rows);
}

static struct conf_marks *line_marks(const struct conf_line *l)
{
	return l->options;
}

/* Whether what the line says will be kept. */
static bool line_applies(const struct conf_line *l)
{
	const struct conf_reader *r = l->reader;
	unsigned flags = l->row->flags;

	if (r->blocks_only && (flags & CONF_IN_MATCH) == 0)
		return false;
	if (!l->active && (flags & CONF_ANY_BLOCK) == 0)
		return false;
	if (l->row->allowed != NULL && l->row->allowed(l) != 0)
		return l->row->allowed(l) > 0;
	return (flags & (CONF_COLLECTS | CONF_LAST_WINS)) != 0 || line_marks(l)->origin[row_index(l)] <= CONF_DEFAULT;
}

static void row_clear_field(const struct conf_row *row, void *field)
{
	if (row->type->clear != NULL)
		row->type->clear(field);
	memset(field, 0, row->type->size);
}

/* Parses into the field itself (collecting rows) or into a scratch field that then takes its place. */
static int line_parse_value(struct conf_line *l)
{
	const struct conf_type *type = l->row->type;
	void *field = (char *)l->options + l->row->offset;
	bool applies = line_applies(l), in_place;
	void *scratch;
	uint8_t *mark = &line_marks(l)->origin[row_index(l)];
	int r;

	in_place = applies && (l->row->flags & CONF_COLLECTS) != 0;
	scratch = in_place ? field : mem_zalloc(type->size);
	r = type->parse(l, scratch);
	if (!in_place) {
		if (r == 0 && applies) {
			row_clear_field(l->row, field);
			memcpy(field, scratch, type->size);
		} else {
			row_clear_field(l->row, scratch);
		}
		free(scratch);
	}
	l->kept = r == 0 && applies;
	if (l->kept)
		*mark = (uint8_t)l->origin;
	return r > 0 ? 0 : r;
}

/* A value that asks for nothing: "none", "no". */
static bool line_is_harmless(const struct conf_line *l)
{
	const char *cursor = l->row->harmless, *name;
	bool raw = (l->row->flags & CONF_RAW) != 0;
	const char *value;
	size_t n;

	if (cursor == NULL || (!raw && l->count != 1))
		return false;
	value = raw ? l->rest : l->arg[0];
	while (str_next_name(&cursor, &name, &n)) {
		char *word = mem_strndup(name, n);
		bool same = str_equal_nocase(word, value);

		free(word);
		if (same)
			return true;
	}
	return false;
}

/* Notes about features that are not there. A line that would restrict something must not be passed over: a server that
 * started without it would permit more than its administrator wrote, in whatever block it stands. */
static int line_check_built(struct conf_line *l)
{
	unsigned flags = l->row->flags;
	bool server = l->table->bad_value_is_fatal;

	if ((flags & CONF_UNBUILT_REFUSE) != 0 && (server || l->kept) && !l->reader->quiet && !line_is_harmless(l))
		return conf_line_bad(l,
			"%s is not built into this program, and going on without it would permit more than the "
			"file says", l->row->name);
	if (!l->active || l->reader->quiet)
		return 0;
	if ((flags & CONF_UNBUILT) != 0 && !line_is_harmless(l))
		log_verbose("%s line %u: %s is not built into this program and has no effect", l->file, l->number,
			l->row->name);
	if ((flags & CONF_NO_EFFECT) != 0)
		log_debug("%s line %u: %s is accepted and has no effect", l->file, l->number, l->row->name);
	return 0;
}

static int include_pattern(struct conf_line *l, const char *arg, char **pattern)
{
	const struct conf_reader *r = l->reader;

	if (r->include_pattern != NULL)
		return r->include_pattern(l, arg, pattern);
	*pattern = arg[0] == '/' || r->include_dir == NULL ? mem_strdup(arg) : str_printf("%s/%s", r->include_dir, arg);
	return 0;
}

static int reader_file(struct conf_reader *r, const char *path, enum conf_origin origin, bool check, struct err *e);

/* A file named by Include. It starts in the state of the block that it stands in and does not change it. */
static int line_include_file(struct conf_line *l, const char *path)
{
	struct conf_reader *r = l->reader, saved = *r;
	int code;

	if (r->depth >= CONF_INCLUDE_DEPTH)
		return err_set(l->err, ERR_USAGE, "%s line %u: Include goes deeper than %d files", l->file,
			l->number, CONF_INCLUDE_DEPTH);
	r->depth++;
	r->never = saved.never || (saved.in_block && !saved.active);
	log_debug2("%s line %u: reading %s", l->file, l->number, path);
	code = reader_file(r, path, l->origin, r->check_included, l->err);
	if (code == ERR_NONE_FOUND) {
		/* Gone since it was looked up. */
		err_clear(l->err);
		code = 0;
	}
	r->depth = saved.depth;
	r->never = saved.never;
	r->active = saved.active;
	r->in_block = saved.in_block;
	r->bad = saved.bad;
	return code;
}

static int line_include(struct conf_line *l)
{
	struct conf_reader *r = l->reader;
	const struct str_list *found;
	struct str_list paths = { 0 };
	const char *arg;
	char *pattern;
	size_t i;
	int code = 0;

	while (code == 0 && (arg = conf_line_next(l)) != NULL) {
		pattern = NULL;
		code = include_pattern(l, arg, &pattern);
		if (code != 0 || pattern == NULL)
			continue;
		code = conf_source_glob(r->source, pattern, r->check_included, &found, l->err);
		free(pattern);
		if (code != 0)
			break;
		/* Reading may look up more names, and the list that was given moves then. */
		str_list_copy(&paths, found);
		for (i = 0; code == 0 && i < paths.count; i++)
			code = line_include_file(l, paths.v[i]);
		str_list_clear(&paths);
	}
	return code;
}

/* Returns 0 when there is nothing more to do with such a keyword. */
static int line_unknown(struct conf_line *l)
{
	const struct conf_reader *r = l->reader;
	const char *ignore = NULL;
	char *lower = mem_strdup(l->keyword);
	int code = LINE_BAD_FORM;

	str_lower(lower);
	if (l->table->ignore_unknown != 0)
		ignore = *(char *const *)(const void *)((const char *)l->options + l->table->ignore_unknown);
	if (ignore != NULL && match_list(lower, ignore, true) == 1) {
		log_debug("%s line %u: ignored unknown option \"%s\"", l->file, l->number, l->keyword);
		code = 0;
	} else if (l->table->restricted_blocks && !r->active && !r->blocks_only) {
		code = err_set(l->err, ERR_USAGE, "%s line %u: Directive '%s' is not allowed within a Match block",
			l->file, l->number, l->keyword);
	} else if (!r->blocks_only) {
		log_error("%s: line %u: Bad configuration option: %s", l->file, l->number,
			l->table->lower_case ? lower : l->keyword);
	}
	free(lower);
	return code;
}

static int line_old_keyword(struct conf_line *l)
{
	if ((l->row->flags & CONF_SILENT) != 0 || l->reader->quiet)
		log_debug2("%s line %u: %s means nothing any more", l->file, l->number, l->keyword);
	else if ((l->row->flags & CONF_DEPRECATED) != 0)
		log_at(l->table->deprecated_level, "%s line %u: Deprecated option %s", l->file, l->number, l->keyword);
	else
		log_at(l->table->unsupported_level, "%s line %u: Unsupported option %s", l->file, l->number,
			l->keyword);
	return 0;
}

static int line_value(struct conf_line *l)
{
	int r;

	if ((l->row->flags & CONF_INCLUDE) != 0) {
		r = line_include(l);
	} else if (l->row->type == NULL) {
		l->next = l->count;
		r = 0;
	} else {
		r = (l->row->flags & CONF_BLOCK) != 0 ? l->row->type->parse(l, NULL) : line_parse_value(l);
	}
	if (r == 0)
		r = line_check_built(l);
	if (r == ERR_USAGE && l->err->code == 0)
		return LINE_BAD_VALUE;
	if (r != 0)
		return err_set(l->err, r, "%s line %u: %s", l->file, l->number, err_class_name(r));
	if ((l->row->flags & CONF_RAW) == 0 && l->next < l->count) {
		log_error("%s line %u: %s has more arguments than it takes", l->file, l->number, l->keyword);
		return LINE_BAD_FORM;
	}
	return 0;
}

static int line_known(struct conf_line *l, enum conf_lex_result lexed, const struct conf_place *at)
{
	struct conf_reader *r = l->reader;
	unsigned flags = l->row->flags;

	if (!at->is_file && (flags & CONF_FILE_ONLY) != 0) {
		log_error("%s line %u: %s is for files only", l->file, l->number, l->row->name);
		return LINE_BAD_FORM;
	}
	if (l->table->restricted_blocks && !r->active && (flags & (CONF_IN_MATCH | CONF_BLOCK | CONF_INCLUDE)) == 0) {
		if (r->blocks_only)
			return 0;
		return err_set(l->err, ERR_USAGE, "%s line %u: Directive '%s' is not allowed within a Match block",
			l->file, l->number, l->keyword);
	}
	if (*l->rest == '\0' || (*l->rest == '#' && l->count == 0 && (flags & (CONF_RAW | CONF_BLOCK)) == 0)) {
		log_error("%s line %u: no argument after keyword \"%s\"", l->file, l->number, l->keyword);
		return LINE_BAD_FORM;
	}
	if (lexed == CONF_LEX_BAD_QUOTES) {
		log_error("%s line %u: invalid quotes", l->file, l->number);
		return LINE_BAD_FORM;
	}
	if ((flags & (CONF_SILENT | CONF_DEPRECATED | CONF_UNSUPPORTED)) != 0)
		return line_old_keyword(l);
	return line_value(l);
}

static int reader_line(struct conf_reader *r, const struct conf_place *at, const char *text, struct err *e)
{
	struct conf_lexed x;
	struct conf_line l = {
		.file = at->file, .number = at->number, .origin = at->origin, .table = r->table, .options = r->options,
		.reader = r, .ctx = r->ctx, .err = e, .active = r->active
	};
	enum conf_lex_result lexed;
	int code;

	lexed = conf_lex(text, &x);
	if (lexed == CONF_LEX_EMPTY)
		return 0;
	l.keyword = x.keyword;
	l.arg = x.words.v;
	l.count = x.words.count;
	l.rest = x.rest;
	l.row = conf_row_find(r->table, x.keyword);
	if (l.row != NULL && (l.row->flags & CONF_RAW_CUT) != 0) {
		size_t n = conf_comment_start(x.rest);

		while (n > 0 && (x.rest[n - 1] == ' ' || x.rest[n - 1] == '\t'))
			n--;
		x.rest[n] = '\0';
	}
	code = l.row != NULL ? line_known(&l, lexed, at) : line_unknown(&l);
	conf_lexed_clear(&x);
	return code;
}

/* ---- files */

static int reader_text(struct conf_reader *r, const char *path, enum conf_origin origin, const char *text,
	struct err *e)
{
	struct conf_place at = { .file = path, .origin = origin, .is_file = true };
	const char *p = text, *end;
	char *line;
	int code = 0;

	r->bad = 0;
	while (code >= 0 && *p != '\0') {
		end = p + strcspn(p, "\n");
		line = mem_strndup(p, (size_t)(end - p));
		at.number++;
		code = reader_line(r, &at, line, e);
		if (code > 0)
			r->bad++;
		free(line);
		p = *end == '\0' ? end : end + 1;
	}
	if (code < 0)
		return code;
	if (r->bad != 0 && !r->blocks_only)
		return err_set(e, ERR_USAGE, "%s: terminating, %u bad configuration options", path, r->bad);
	return 0;
}

static int reader_file(struct conf_reader *r, const char *path, enum conf_origin origin, bool check, struct err *e)
{
	const char *text;
	int code;

	code = conf_source_read(r->source, path, check, &text, e);
	return code != 0 ? code : reader_text(r, path, origin, text, e);
}

int conf_read_file(struct conf_reader *r, const char *path, enum conf_origin origin, struct err *e)
{
	struct err local = { 0 };
	int code;

	r->depth = 0;
	r->active = !r->blocks_only;
	r->never = false;
	r->in_block = false;
	code = reader_file(r, path, origin, r->check_owner, &local);
	return code == 0 ? 0 : err_set(e, code, "%s", local.text);
}

int conf_read_line(struct conf_reader *r, const char *text, const char *name, enum conf_origin origin, struct err *e)
{
	struct conf_place at = { .file = name, .origin = origin };
	struct err local = { 0 };
	int code;

	r->active = true;
	r->in_block = false;
	code = reader_line(r, &at, text, &local);
	if (code == LINE_BAD_FORM)
		return ERR_NONE_FOUND;
	if (code == LINE_BAD_VALUE)
		return ERR_USAGE;
	return code == 0 ? 0 : err_set(e, code, "%s", local.text);
}

int conf_fill_defaults(const struct conf_table *t, void *options, void *ctx, struct err *e)
{
	struct conf_marks *marks = options;
	struct conf_reader r;
	size_t i;

	conf_reader_init(&r, t, options, NULL);
	r.ctx = ctx;
	for (i = 0; i < t->count; i++) {
		const struct conf_row *row = &t->rows[i];
		struct conf_line l = {
			.file = "defaults", .origin = CONF_DEFAULT, .row = row, .keyword = row->name, .rest = row->def,
			.active = true, .table = t, .options = options, .reader = &r, .ctx = ctx
		};
		struct str_list words = { 0 };
		struct err local = { 0 };
		int code;

		if (row->def == NULL || marks->origin[i] != CONF_UNSET)
			continue;
		l.err = &local;
		code = (row->flags & CONF_RAW) != 0 ? 0 : conf_split_words(row->def, false, &words);
		l.arg = words.v;
		l.count = words.count;
		if (code == 0)
			code = line_parse_value(&l);
		str_list_clear(&words);
		if (code != 0)
			return err_set(e, code, "default of %s: %s", row->name, err_text(&local));
	}
	return 0;
}
