/* conf/fields.c: options structs by their table: finding rows, where values came from, copying, merging, dumping. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "conf/conf.h"

static void *field_at(void *options, const struct conf_row *row)
{
	return (char *)options + row->offset;
}

static const void *field_at_const(const void *options, const struct conf_row *row)
{
	return (const char *)options + row->offset;
}

static bool row_has_field(const struct conf_row *row)
{
	return row->type != NULL && row->type->size != 0;
}

static bool row_is_named(const struct conf_row *row, const char *keyword)
{
	const char *cursor = row->aliases, *name;
	size_t n;

	if (str_equal_nocase(row->name, keyword))
		return true;
	while (cursor != NULL && str_next_name(&cursor, &name, &n)) {
		char *alias = mem_strndup(name, n);
		bool same = str_equal_nocase(alias, keyword);

		free(alias);
		if (same)
			return true;
	}
	return false;
}

const struct conf_row *conf_row_find(const struct conf_table *t, const char *keyword)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		if (row_is_named(&t->rows[i], keyword))
			return &t->rows[i];
	return NULL;
}

static const struct conf_row *row_at(const struct conf_table *t, size_t offset)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		if (row_has_field(&t->rows[i]) && t->rows[i].offset == offset)
			return &t->rows[i];
	return NULL;
}

enum conf_origin conf_origin_at(const struct conf_table *t, const void *options, size_t offset)
{
	const struct conf_marks *marks = options;
	const struct conf_row *row = row_at(t, offset);

	return row == NULL ? CONF_UNSET : (enum conf_origin)marks->origin[row - t->rows];
}

void conf_set_origin_at(const struct conf_table *t, void *options, size_t offset, enum conf_origin o)
{
	struct conf_marks *marks = options;
	const struct conf_row *row = row_at(t, offset);

	if (row != NULL)
		marks->origin[row - t->rows] = (uint8_t)o;
}

static void field_clear(const struct conf_row *row, void *field)
{
	if (row->type->clear != NULL)
		row->type->clear(field);
	memset(field, 0, row->type->size);
}

static void field_copy(const struct conf_row *row, void *dst, const void *src)
{
	field_clear(row, dst);
	if (row->type->copy != NULL)
		row->type->copy(dst, src);
	else
		memcpy(dst, src, row->type->size);
}

void conf_unset_at(const struct conf_table *t, void *options, size_t offset)
{
	const struct conf_row *row = row_at(t, offset);

	if (row == NULL)
		return;
	field_clear(row, field_at(options, row));
	conf_set_origin_at(t, options, offset, CONF_UNSET);
}

void conf_options_clear(const struct conf_table *t, void *options)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		if (row_has_field(&t->rows[i]))
			field_clear(&t->rows[i], field_at(options, &t->rows[i]));
	memset(options, 0, t->options_size);
}

void conf_options_copy(const struct conf_table *t, void *dst, const void *src)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		if (row_has_field(&t->rows[i]))
			field_copy(&t->rows[i], field_at(dst, &t->rows[i]), field_at_const(src, &t->rows[i]));
	memcpy(dst, src, sizeof(struct conf_marks));
}

void conf_options_merge(const struct conf_table *t, void *dst, const void *src)
{
	const struct conf_marks *from = src;
	struct conf_marks *to = dst;
	size_t i;

	for (i = 0; i < t->count; i++) {
		if (!row_has_field(&t->rows[i]) || from->origin[i] == CONF_UNSET)
			continue;
		field_copy(&t->rows[i], field_at(dst, &t->rows[i]), field_at_const(src, &t->rows[i]));
		to->origin[i] = from->origin[i];
	}
}

/* ---- dumping */

void conf_dump(const struct conf_table *t, const void *options, void (*line)(void *ctx, const char *text), void *ctx)
{
	struct conf_dump d = { .line = line, .ctx = ctx, .table = t, .options = options };
	size_t i;

	for (i = 0; i < t->count; i++) {
		const struct conf_row *row = &t->rows[i];

		if (row_has_field(row) && row->type->show != NULL && (row->flags & CONF_NO_DUMP) == 0)
			row->type->show(&d, row, field_at_const(options, row));
	}
}

void conf_dump_value(struct conf_dump *d, const struct conf_row *row, const char *fmt, ...)
{
	char *name = mem_strdup(row->shown != NULL ? row->shown : row->name), *text, *line;
	va_list ap;

	if (row->shown == NULL && d->table->lower_case)
		str_lower(name);
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	line = str_printf("%s %s", name, text != NULL ? text : "");
	d->line(d->ctx, line);
	free(line);
	free(text);
	free(name);
}
