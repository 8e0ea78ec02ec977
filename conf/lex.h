/* conf/lex.h: one line of a configuration file into a keyword and words (ssh_config(5), Lines). */
#ifndef CONF_LEX_H
#define CONF_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"

enum conf_lex_result {
	CONF_LEX_EMPTY,          /* blank, comment, or an unclosed quote in the keyword itself: nothing to do */
	CONF_LEX_LINE,
	CONF_LEX_BAD_QUOTES
};

struct conf_lexed {
	char *keyword;           /* unquoted, owned */
	struct str_list words;   /* unquoted arguments up to a comment, owned */
	char *rest;              /* everything behind the keyword and its "=", trailing white space cut, owned */
};

/* text: one line, with or without its newline. out needs clearing after CONF_LEX_LINE and CONF_LEX_BAD_QUOTES (which
 * has no words). */
enum conf_lex_result conf_lex(const char *text, struct conf_lexed *out);
void conf_lexed_clear(struct conf_lexed *x);
/* Splits text as arguments are split. ERR_USAGE on an unclosed quote. comments: an unquoted # that starts a word
 * ends it. */
int conf_split_words(const char *text, bool comments, struct str_list *out) MUST_USE;
/* Length of text up to an unquoted # that starts a word. */
size_t conf_comment_start(const char *text);

#endif
