/* conf/lex.c: one line of a configuration file into a keyword and words. */
#include "conf/lex.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool lex_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* What a line may end in, and what may stand around a keyword. */
static bool lex_is_space(char c)
{
	return lex_is_blank(c) || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

/* Walks over one word. Writes it unquoted to dst (NULL: nowhere), returns its end, or NULL if a quote stays open. */
static const char *lex_word(const char *p, char *dst, size_t *size)
{
	char quote = '\0';
	size_t n = 0;

	for (; *p != '\0'; p++) {
		char c = *p;

		if (c == '\\' && p[1] != '\0' &&
		    (p[1] == '"' || p[1] == '\'' || p[1] == '\\' || (p[1] == ' ' && quote == '\0'))) {
			c = *++p;
		} else if (quote == '\0' && lex_is_blank(c)) {
			break;
		} else if (quote == '\0' && (c == '"' || c == '\'')) {
			quote = c;
			continue;
		} else if (quote != '\0' && c == quote) {
			quote = '\0';
			continue;
		}
		if (dst != NULL)
			dst[n] = c;
		n++;
	}
	if (size != NULL)
		*size = n;
	return quote == '\0' ? p : NULL;
}

int conf_split_words(const char *text, bool comments, struct str_list *out)
{
	char *word = mem_alloc(strlen(text) + 1);
	size_t n;

	for (;;) {
		while (lex_is_blank(*text))
			text++;
		if (*text == '\0' || (comments && *text == '#'))
			break;
		text = lex_word(text, word, &n);
		if (text == NULL) {
			free(word);
			str_list_clear(out);
			return ERR_USAGE;
		}
		str_list_add_n(out, word, n);
	}
	free(word);
	return 0;
}

size_t conf_comment_start(const char *text)
{
	const char *p = text;

	for (;;) {
		while (lex_is_blank(*p))
			p++;
		if (*p == '\0' || *p == '#')
			return (size_t)(p - text);
		p = lex_word(p, NULL, NULL);
		if (p == NULL)
			return strlen(text);
	}
}

/* The keyword ends at white space or at "="; in double quotes only at the closing one. NULL: there is none. */
static char *lex_keyword(const char **cursor)
{
	const char *p = *cursor, *end;
	char *keyword;

	while (lex_is_space(*p))
		p++;
	if (*p == '\0' || *p == '#')
		return NULL;
	if (*p == '"') {
		end = strchr(++p, '"');
		if (end == NULL)
			return NULL;
		*cursor = end + 1;
	} else {
		for (end = p; *end != '\0' && !lex_is_space(*end) && *end != '='; end++)
			;
		*cursor = end;
	}
	if (end == p && *end != '=')
		return NULL;
	keyword = mem_strndup(p, (size_t)(end - p));
	return keyword;
}

enum conf_lex_result conf_lex(const char *text, struct conf_lexed *out)
{
	const char *p = text;
	size_t n;

	*out = (struct conf_lexed){ 0 };
	out->keyword = lex_keyword(&p);
	if (out->keyword == NULL)
		return CONF_LEX_EMPTY;
	while (lex_is_space(*p))
		p++;
	if (*p == '=')
		p++;
	while (lex_is_space(*p))
		p++;
	n = strlen(p);
	while (n > 0 && lex_is_space(p[n - 1]))
		n--;
	out->rest = mem_strndup(p, n);
	if (conf_split_words(out->rest, true, &out->words) == 0)
		return CONF_LEX_LINE;
	return CONF_LEX_BAD_QUOTES;
}

void conf_lexed_clear(struct conf_lexed *x)
{
	free(x->keyword);
	free(x->rest);
	str_list_clear(&x->words);
	*x = (struct conf_lexed){ 0 };
}
