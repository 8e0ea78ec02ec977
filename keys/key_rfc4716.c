/* keys/key_rfc4716.c: public keys in the format of RFC 4716. */
#include "keys/key_rfc4716.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

#define BEGIN_LINE "---- BEGIN SSH2 PUBLIC KEY ----"
#define END_LINE "---- END SSH2 PUBLIC KEY ----"
enum { LINE_WIDTH = 70, COMMENT_WIDTH = 60 };

bool key_rfc4716_is(const char *text, size_t n)
{
	return n >= strlen(BEGIN_LINE) && strncmp(text, BEGIN_LINE, strlen(BEGIN_LINE)) == 0;
}

/* The next line, ended by CR, LF or both (RFC 4716 §3.1). */
static bool next_line(struct view *rest, struct view *line)
{
	size_t n = 0;

	if (rest->n == 0)
		return false;
	while (n < rest->n && rest->p[n] != '\n' && rest->p[n] != '\r')
		n++;
	*line = (struct view){ rest->p, n };
	if (n < rest->n && rest->p[n] == '\r')
		n++;
	if (n < rest->n && rest->p[n] == '\n' && (n == line->n || rest->p[n - 1] == '\r'))
		n++;
	*rest = (struct view){ rest->p + n, rest->n - n };
	return true;
}

/* Collects the base64 of the body. False without an END line. */
static bool collect(struct view rest, struct buf *base64)
{
	bool header = false, first = true;
	struct view line;

	while (next_line(&rest, &line)) {
		if (first) {
			first = false;
			if (!view_is(line, BEGIN_LINE))
				return false;
			continue;
		}
		if (view_is(line, END_LINE))
			return true;
		/* §3.3: a header goes on in the next line after a backslash. */
		if (header || memmem(line.p, line.n, ": ", 2) != NULL) {
			header = line.n > 0 && line.p[line.n - 1] == '\\';
			continue;
		}
		buf_put(base64, line.p, line.n);
	}
	return false;
}

int key_rfc4716_parse(const char *text, size_t n, struct key **out, struct err *e)
{
	struct buf base64 = BUF_INIT(BUF_LIMIT_DEFAULT);
	struct err inner = { 0 };
	uint8_t *bytes = NULL;
	long size = -1;

	*out = NULL;
	if (collect((struct view){ (const uint8_t *)text, n }, &base64) && buf_ok(&base64)) {
		bytes = mem_alloc(base64.size / 4 * 3 + 3);
		size = str_base64_decode(buf_cstr(&base64), base64.size, bytes);
	}
	buf_free(&base64);
	if (size >= 0)
		*out = key_from_blob((struct view){ bytes, (size_t)size }, &inner);
	free(bytes);
	if (size < 0)
		return err_set(e, ERR_PEER, "invalid format: not a public key of RFC 4716");
	return *out != NULL ? 0 : err_set(e, inner.code, "%s", err_text(&inner));
}

void key_rfc4716_put(const struct key *k, const char *comment, struct buf *out)
{
	struct view blob = key_blob(k);
	char *base64 = str_base64_encode(blob.p, blob.n);
	size_t n = strlen(base64);

	buf_printf(out, "%s\n", BEGIN_LINE);
	if (comment != NULL && *comment != '\0') {
		buf_printf(out, "Comment: \"");
		for (size_t i = 0; i < COMMENT_WIDTH && comment[i] != '\0'; i++)
			if (comment[i] != '"' && (unsigned char)comment[i] >= ' ')
				buf_put_u8(out, (uint8_t)comment[i]);
		buf_printf(out, "\"\n");
	}
	for (size_t i = 0; i < n; i += LINE_WIDTH) {
		buf_put(out, base64 + i, n - i < LINE_WIDTH ? n - i : LINE_WIDTH);
		buf_put_u8(out, '\n');
	}
	buf_printf(out, "%s\n", END_LINE);
	free(base64);
}
