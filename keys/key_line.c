/* keys/key_line.c: `TYPE BASE64` inside lines of text. */
#include "keys/key_line.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

#define BLANKS " \t\r\n"
enum { TYPE_MAX = 128 };

const char *key_line_skip_blanks(const char *s)
{
	while (key_line_is_blank(*s))
		s++;
	return s;
}

/* Decodes n base64 characters; NULL if they are none. */
static uint8_t *decode(const char *s, size_t n, size_t *size)
{
	uint8_t *bytes = mem_try(n / 4 * 3 + 3);
	long got;

	if (bytes == NULL)
		return NULL;
	got = str_base64_decode(s, n, bytes);
	if (got < 0) {
		free(bytes);
		return NULL;
	}
	*size = (size_t)got;
	return bytes;
}

/* The type inside the blob must be the word before it; for ECDSA that fixes the curve too. */
static bool blob_has_type(const uint8_t *bytes, size_t size, const char *type, size_t type_size)
{
	struct view word = { (const uint8_t *)type, type_size };
	struct reader r;

	reader_init(&r, bytes, size);
	return view_equal(reader_string(&r), word) && reader_ok(&r);
}

int key_line_read(const char **s, struct key **out, char **type, struct err *e)
{
	const char *word = key_line_skip_blanks(*s), *base64;
	size_t word_size = strcspn(word, BLANKS), n, size = 0;
	struct err inner = { 0 };
	uint8_t *bytes;

	*out = NULL;
	base64 = key_line_skip_blanks(word + word_size);
	n = strcspn(base64, BLANKS);
	if (word_size == 0 || word_size > TYPE_MAX || n == 0)
		return err_set(e, ERR_PEER, "no key type and key");
	bytes = decode(base64, n, &size);
	if (bytes == NULL)
		return err_set(e, ERR_PEER, "the key is not valid base64");
	if (!blob_has_type(bytes, size, word, word_size)) {
		free(bytes);
		return err_set(e, ERR_PEER, "the key is not of the type that stands before it");
	}
	*out = key_from_blob((struct view){ bytes, size }, &inner);
	free(bytes);
	if (*out == NULL && inner.code != ERR_NONE_FOUND)
		return err_set(e, ERR_PEER, "%s", err_text(&inner));
	*s = key_line_skip_blanks(base64 + n);
	if (type != NULL)
		*type = mem_strndup(word, word_size);
	return *out != NULL ? 0 : err_set(e, ERR_NONE_FOUND, "%s", err_text(&inner));
}

/* A known type name needs no look at what follows: a broken key is to be reported as such. */
bool key_line_starts_key(const char *s)
{
	const char *word = key_line_skip_blanks(s), *base64;
	size_t word_size = strcspn(word, BLANKS), n, size = 0;
	const struct sig_alg *alg;
	uint8_t *bytes;
	bool is;

	for (size_t i = 0; (alg = sig_alg_at(i)) != NULL; i++)
		if (str_is(word, word_size, alg->key_name))
			return true;
	base64 = key_line_skip_blanks(word + word_size);
	n = strcspn(base64, BLANKS);
	if (word_size == 0 || word_size > TYPE_MAX || n == 0)
		return false;
	bytes = decode(base64, n, &size);
	is = bytes != NULL && blob_has_type(bytes, size, word, word_size);
	free(bytes);
	return is;
}

size_t key_line_quoted_word(const char *s)
{
	bool quoted = false;
	size_t n;

	for (n = 0; s[n] != '\0' && (quoted || !key_line_is_blank(s[n])); n++) {
		if (s[n] == '\\' && s[n + 1] == '"')
			n++;
		else if (s[n] == '"')
			quoted = !quoted;
	}
	return n;
}

char *key_line_comment(const char *s)
{
	size_t n;

	s = key_line_skip_blanks(s);
	n = strlen(s);
	while (n > 0 && strchr(BLANKS, s[n - 1]) != NULL)
		n--;
	return mem_strndup(s, n);
}

bool key_line_next(const char *text, size_t n, size_t *cursor, char **line)
{
	const char *start = text + *cursor, *nl;
	size_t left = n - *cursor, size;

	if (left == 0)
		return false;
	nl = memchr(start, '\n', left);
	size = nl != NULL ? (size_t)(nl - start) : left;
	*cursor += size + (nl != NULL ? 1 : 0);
	if (size > 0 && start[size - 1] == '\r')
		size--;
	*line = memchr(start, '\0', size) != NULL ? NULL : mem_strndup(start, size);
	return true;
}
