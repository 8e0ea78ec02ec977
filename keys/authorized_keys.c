/* keys/authorized_keys.c: lines of authorized_keys (sshd(8)). Their options: key_options.c. */
#include "keys/authorized_keys.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "keys/key_line.h"

int authorized_line_parse(const char *line, struct authorized_line *out, struct err *e)
{
	const char *s = key_line_skip_blanks(line);
	char *field = NULL;
	int rc;

	memset(out, 0, sizeof(*out));
	key_options_init(&out->options);
	if (*s == '\0' || *s == '#' || *s == '\r' || *s == '\n')
		return ERR_NONE_FOUND;
	if (!key_line_starts_key(s)) {
		size_t n = key_line_quoted_word(s);

		field = mem_strndup(s, n);
		s = key_line_skip_blanks(s + n);
		/* Said first: a line that is nothing at all should not be called a bad option. */
		if (*s == '\0') {
			free(field);
			return err_set(e, ERR_PEER, "no key in this line");
		}
	}
	rc = key_options_parse(field, &out->options, e);
	free(field);
	if (rc == 0)
		rc = key_line_read(&s, &out->key, NULL, e);
	if (rc == 0)
		out->comment = key_line_comment(s);
	else
		authorized_line_clear(out);
	return rc;
}

void authorized_line_clear(struct authorized_line *l)
{
	key_free(l->key);
	key_options_clear(&l->options);
	free(l->comment);
	l->key = NULL;
	l->comment = NULL;
}
