/* conf/types.c: the plain kinds of values: yes and no, words, numbers, times, texts, lists. */
#include "conf/types.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"

/* ---- yes and no */

static int bool_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);
	bool *v = field;

	if (word == NULL)
		return ERR_USAGE;
	if (str_equal_nocase(word, "yes") || (l->table->true_false && str_equal_nocase(word, "true")))
		*v = true;
	else if (str_equal_nocase(word, "no") || (l->table->true_false && str_equal_nocase(word, "false")))
		*v = false;
	else
		return conf_line_bad(l, "%s is yes or no, not \"%s\"", l->keyword, word);
	return 0;
}

static void bool_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	conf_dump_value(d, row, "%s", *(const bool *)field ? "yes" : "no");
}

const struct conf_type conf_bool = { sizeof(bool), bool_parse, NULL, NULL, bool_show };

/* ---- words */

static int word_find(struct conf_line *l, void *field, bool exact)
{
	const struct conf_word *w = l->row->arg;
	const char *word = conf_line_need(l);

	if (word == NULL)
		return ERR_USAGE;
	for (; w->word != NULL; w++) {
		if (exact ? strcmp(w->word, word) == 0 : str_equal_nocase(w->word, word)) {
			*(int *)field = w->value;
			return 0;
		}
	}
	return conf_line_bad(l, "%s does not take the value \"%s\"", l->keyword, word);
}

static int word_parse(struct conf_line *l, void *field)
{
	return word_find(l, field, false);
}

static int word_exact_parse(struct conf_line *l, void *field)
{
	return word_find(l, field, true);
}

static void word_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct conf_word *w = row->arg;

	while (w->word != NULL && w->value != *(const int *)field)
		w++;
	conf_dump_value(d, row, "%s", w->word != NULL ? w->word : "unknown");
}

const struct conf_type conf_word_type = { sizeof(int), word_parse, NULL, NULL, word_show };
const struct conf_type conf_word_exact = { sizeof(int), word_exact_parse, NULL, NULL, word_show };

const struct conf_word conf_hash_words[] = {
	{ "MD5", CONF_HASH_MD5 }, { "SHA1", CONF_HASH_SHA1 }, { "SHA256", CONF_HASH_SHA256 },
	{ "SHA384", CONF_HASH_SHA384 }, { "SHA512", CONF_HASH_SHA512 }, { NULL, 0 }
};

/* ---- numbers */

static int int_parse(struct conf_line *l, void *field)
{
	static const struct conf_range any = { 0, INT_MAX };
	const struct conf_range *range = l->row->arg != NULL ? l->row->arg : &any;
	const char *word = conf_line_need(l);
	uint64_t v;

	if (word == NULL)
		return ERR_USAGE;
	if (str_to_u64(word, range->min, range->max, &v) != 0)
		return conf_line_bad(l, "%s is a number from %u to %u, not \"%s\"", l->keyword, range->min,
			range->max, word);
	*(unsigned *)field = (unsigned)v;
	return 0;
}

static void int_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	conf_dump_value(d, row, "%u", *(const unsigned *)field);
}

const struct conf_type conf_int = { sizeof(unsigned), int_parse, NULL, NULL, int_show };

/* A stock keyword takes no new value in a file, which stock programs may read too. */
static int level_parse(struct conf_line *l, void *field)
{
	if (l->origin == CONF_COMMAND_LINE && l->next < l->count && str_equal_nocase(l->arg[l->next], "auto")) {
		conf_line_next(l);
		*(unsigned *)field = 0;
		return 0;
	}
	return int_parse(l, field);
}

static void level_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	if (*(const unsigned *)field == 0)
		conf_dump_value(d, row, "auto");
	else
		int_show(d, row, field);
}

const struct conf_type conf_level = { sizeof(unsigned), level_parse, NULL, NULL, level_show };

int conf_parse_port(const char *text, unsigned min, unsigned *out)
{
	const struct servent *service;
	uint64_t v;

	if (str_to_u64(text, min, 65535, &v) == 0) {
		*out = (unsigned)v;
		return 0;
	}
	/* A number that is out of range is not looked for among the services. */
	if (text[0] == '\0' || strspn(text, "0123456789") == strlen(text))
		return ERR_USAGE;
	service = getservbyname(text, "tcp");
	if (service == NULL)
		return ERR_USAGE;
	*out = ntohs((uint16_t)service->s_port);
	return *out >= min ? 0 : ERR_USAGE;
}

static int port_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);

	if (word == NULL)
		return ERR_USAGE;
	if (conf_parse_port(word, 1, field) != 0)
		return conf_line_bad(l, "Bad port '%s'", word);
	return 0;
}

const struct conf_type conf_port = { sizeof(unsigned), port_parse, NULL, NULL, int_show };

static int octal_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l), *p;
	unsigned v = 0;

	if (word == NULL)
		return ERR_USAGE;
	for (p = word; *p >= '0' && *p <= '7' && v <= 0777; p++)
		v = v * 8 + (unsigned)(*p - '0');
	if (*p != '\0' || v > 0777)
		return conf_line_bad(l, "%s is an octal number up to 0777, not \"%s\"", l->keyword, word);
	*(unsigned *)field = v;
	return 0;
}

static void octal_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	conf_dump_value(d, row, "0%o", *(const unsigned *)field);
}

const struct conf_type conf_octal = { sizeof(unsigned), octal_parse, NULL, NULL, octal_show };

/* ---- times */

static int seconds_of(struct conf_line *l, const char *word, uint64_t max, uint64_t *v)
{
	if (str_to_seconds(word, v) != 0 || *v > max)
		return conf_line_bad(l, "%s: invalid time value \"%s\"", l->keyword, word);
	return 0;
}

static int seconds_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);
	uint64_t v;

	if (word == NULL || seconds_of(l, word, INT_MAX, &v) != 0)
		return ERR_USAGE;
	*(unsigned *)field = (unsigned)v;
	return 0;
}

const struct conf_type conf_seconds = { sizeof(unsigned), seconds_parse, NULL, NULL, int_show };

static int seconds_none_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);
	uint64_t v;

	if (word == NULL)
		return ERR_USAGE;
	if (strcmp(word, "none") == 0) {
		*(int *)field = -1;
		return l->origin == CONF_DEFAULT ? 0 : 1;
	}
	if (seconds_of(l, word, INT_MAX, &v) != 0)
		return ERR_USAGE;
	*(int *)field = (int)v;
	return 0;
}

static void seconds_none_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	int v = *(const int *)field;

	if (v < 0)
		conf_dump_value(d, row, "none");
	else
		conf_dump_value(d, row, "%d", v);
}

const struct conf_type conf_seconds_none = { sizeof(int), seconds_none_parse, NULL, NULL, seconds_none_show };

/* ---- texts */

static void string_clear(void *field)
{
	free(*(char **)field);
}

static void string_copy(void *dst, const void *src)
{
	const char *s = *(char *const *)src;

	*(char **)dst = s == NULL ? NULL : mem_strdup(s);
}

static int string_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);

	if (word == NULL)
		return ERR_USAGE;
	*(char **)field = mem_strdup(word);
	return 0;
}

static int string_none_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);

	if (word == NULL)
		return ERR_USAGE;
	*(char **)field = str_equal_nocase(word, "none") ? NULL : mem_strdup(word);
	return 0;
}

static int raw_parse(struct conf_line *l, void *field)
{
	*(char **)field = str_equal_nocase(l->rest, "none") ? NULL : mem_strdup(l->rest);
	return 0;
}

static void string_none_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const char *s = *(char *const *)field;

	conf_dump_value(d, row, "%s", s != NULL ? s : "none");
}

static void string_opt_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const char *s = *(char *const *)field;

	if (s != NULL)
		conf_dump_value(d, row, "%s", s);
}

const struct conf_type conf_string = { sizeof(char *), string_parse, string_clear, string_copy, string_opt_show };
const struct conf_type conf_string_none = {
	sizeof(char *), string_none_parse, string_clear, string_copy, string_none_show
};
const struct conf_type conf_string_opt = {
	sizeof(char *), string_none_parse, string_clear, string_copy, string_opt_show
};
const struct conf_type conf_raw = { sizeof(char *), raw_parse, string_clear, string_copy, string_opt_show };
const struct conf_type conf_raw_none = { sizeof(char *), raw_parse, string_clear, string_copy, string_none_show };

/* ---- log level and facility */

static int log_level_parse_line(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);
	enum log_level level;

	if (word == NULL)
		return ERR_USAGE;
	if (str_equal_nocase(word, "SILENT"))
		level = LOG_LEVEL_QUIET;
	else if (log_level_parse(word, &level) != 0)
		return conf_line_bad(l, "unsupported log level '%s'", word);
	*(int *)field = (int)level;
	return 0;
}

/* Stock shows QUIET by its older name. */
static void log_level_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	enum log_level level = (enum log_level)*(const int *)field;

	conf_dump_value(d, row, "%s", level == LOG_LEVEL_QUIET ? "SILENT" : log_level_name(level));
}

const struct conf_type conf_log_level = { sizeof(int), log_level_parse_line, NULL, NULL, log_level_show };

static int facility_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);

	if (word == NULL)
		return ERR_USAGE;
	if (log_facility_parse(word, field) != 0)
		return conf_line_bad(l, "unsupported log facility '%s'", word);
	return 0;
}

static void facility_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const char *name = log_facility_name(*(const int *)field);

	conf_dump_value(d, row, "%s", name != NULL ? name : "unknown");
}

const struct conf_type conf_facility = { sizeof(int), facility_parse, NULL, NULL, facility_show };

/* ---- lists of words */

static void list_clear(void *field)
{
	str_list_clear(field);
}

static void list_copy(void *dst, const void *src)
{
	str_list_copy(dst, src);
}

static int list_parse(struct conf_line *l, void *field)
{
	const struct conf_range *limits = l->row->arg;
	const char *word;

	if (l->count == 1 && str_equal_nocase(l->arg[0], "none")) {
		l->next = 1;
		return 0;
	}
	while ((word = conf_line_next(l)) != NULL) {
		if (*word == '\0')
			return conf_line_bad(l, "%s has an empty argument", l->keyword);
		if (str_equal_nocase(word, "none"))
			return conf_line_bad(l, "%s: none must stand alone", l->keyword);
		if (limits != NULL && l->next > limits->max)
			return conf_line_bad(l, "%s takes at most %u arguments", l->keyword, limits->max);
		str_list_add(field, word);
	}
	return 0;
}

static void list_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct str_list *list = field;
	char *text = list->count != 0 ? str_list_join(list, " ") : NULL;

	conf_dump_value(d, row, "%s", text != NULL ? text : "none");
	free(text);
}

const struct conf_type conf_list = { sizeof(struct str_list), list_parse, list_clear, list_copy, list_show };

static int items_add(struct conf_line *l, struct str_list *list, const char *word)
{
	const struct conf_range *limits = l->row->arg;

	if (*word == '\0')
		return conf_line_bad(l, "%s has an empty argument", l->keyword);
	if (limits != NULL && list->count >= limits->max)
		return conf_line_bad(l, "%s: more than %u in all", l->keyword, limits->max);
	str_list_add(list, word);
	return 0;
}

static int items_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);

	return word == NULL ? ERR_USAGE : items_add(l, field, word);
}

static int words_items_parse(struct conf_line *l, void *field)
{
	const char *word;

	while ((word = conf_line_next(l)) != NULL)
		if (items_add(l, field, word) != 0)
			return ERR_USAGE;
	return 0;
}

static void items_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct str_list *list = field;
	size_t i;

	for (i = 0; i < list->count; i++)
		conf_dump_value(d, row, "%s", list->v[i]);
}

const struct conf_type conf_items = { sizeof(struct str_list), items_parse, list_clear, list_copy, items_show };
const struct conf_type conf_words_items = {
	sizeof(struct str_list), words_items_parse, list_clear, list_copy, items_show
};

/* ---- SetEnv */

static bool setenv_has_name(const struct str_list *list, const char *word, size_t name_size)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (strncmp(list->v[i], word, name_size + 1) == 0)
			return true;
	return false;
}

static int setenv_parse(struct conf_line *l, void *field)
{
	struct str_list *list = field;
	const char *word;
	size_t n;

	while ((word = conf_line_next(l)) != NULL) {
		n = strcspn(word, "=");
		if (n == 0 || word[n] != '=')
			return conf_line_bad(l, "%s needs NAME=VALUE, not \"%s\"", l->keyword, word);
		/* Of two values for a name in a line the first counts. */
		if (!setenv_has_name(list, word, n))
			str_list_add(list, word);
	}
	return 0;
}

const struct conf_type conf_setenv = { sizeof(struct str_list), setenv_parse, list_clear, list_copy, items_show };
