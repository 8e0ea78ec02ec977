/* base/str_escape.c: text of the peer, made safe for a log and for a terminal; hexadecimal. */
#include "base/str.h"

#include <langinfo.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "base/mem.h"

static char *str_put_octal(char *out, uint8_t c)
{
	*out++ = '\\';
	*out++ = (char)('0' + (c >> 6));
	*out++ = (char)('0' + (c >> 3 & 7));
	*out++ = (char)('0' + (c & 7));
	return out;
}

char *str_escape_log(const void *p, size_t n, size_t max)
{
	const uint8_t *in = p;
	size_t i, shown = n < max ? n : max;
	char *s, *out;

	/* 4 characters for each byte, the dots and the end. */
	s = out = mem_array(shown + 1, 4);
	for (i = 0; i < shown; i++) {
		if (in[i] == '\\') {
			*out++ = '\\';
			*out++ = '\\';
		} else if (in[i] >= 0x20 && in[i] < 0x7f) {
			*out++ = (char)in[i];
		} else {
			out = str_put_octal(out, in[i]);
		}
	}
	if (shown < n) {
		memcpy(out, "...", 3);
		out += 3;
	}
	*out = '\0';
	return s;
}

/* Length of the well-formed UTF-8 sequence at p (RFC 3629: shortest form, no surrogates, up to U+10FFFF); 0 if it is
 * none. */
static size_t str_utf8_decode(const uint8_t *p, size_t n, uint32_t *out)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t v;
	size_t len, i;

	if (p[0] < 0x80) {
		*out = p[0];
		return 1;
	}
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		len = 2;
	else if ((p[0] & 0xf0) == 0xe0)
		len = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		len = 4;
	else
		return 0;
	if (len > n)
		return 0;
	v = p[0] & (0xffu >> (len + 1));
	for (i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (p[i] & 0x3fu);
	}
	if (v < least[len] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
		return 0;
	*out = v;
	return len;
}

/* May this character go to a terminal? Characters that reorder or hide others may not, though locales call them
 * printable: with them a prompt or a file name could be made to read as another. */
static bool str_char_shows(uint32_t c)
{
	if (c < 0x80)
		return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t';
	if ((c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
	    c == 0xfeff || c == 0x061c || c >= 0xe0000)
		return false;
	return iswprint((wint_t)c) && wcwidth((wchar_t)c) >= 0;
}

char *str_escape_terminal(const void *p, size_t n)
{
	const uint8_t *in = p;
	bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	size_t i = 0, len;
	uint32_t c;
	char *s, *out;

	s = out = mem_array(n + 1, 4);
	while (i < n) {
		if (in[i] == '\r' && i + 1 < n && in[i + 1] == '\n') {
			i++;
			continue;
		}
		len = str_utf8_decode(in + i, n - i, &c);
		if (len != 0 && str_char_shows(c) && (len == 1 || utf8)) {
			memcpy(out, in + i, len);
			out += len;
			i += len;
		} else {
			out = str_put_octal(out, in[i++]);
		}
	}
	*out = '\0';
	return s;
}

char *str_hex(const void *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *in = p;
	char *s = mem_array(n + 1, 2);
	size_t i;

	for (i = 0; i < n; i++) {
		s[2 * i] = digits[in[i] >> 4];
		s[2 * i + 1] = digits[in[i] & 15];
	}
	s[2 * n] = '\0';
	return s;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int str_hex_digit(char c)
{
	return hex_digit(c >= 'A' && c <= 'F' ? (char)(c | 0x20) : c);
}

bool str_unhex(const char *s, void *out, size_t n)
{
	uint8_t *bytes = out;

	if (strlen(s) != 2 * n)
		return false;
	for (size_t i = 0; i < n; i++) {
		int high = hex_digit(s[2 * i]), low = hex_digit(s[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}
