/* base/base64.c: RFC 4648 section 4. Key files hold secrets in it, so neither direction looks values up in a table
 * that a secret indexes, nor branches on them. */
#include "base/str.h"

#include "base/mem.h"

/* All ones if lo <= v <= hi, else 0; for values under 256. */
static unsigned base64_in_range(unsigned v, unsigned lo, unsigned hi)
{
	return ~((v - lo) >> 8 | (hi - v) >> 8) & 0xff;
}

static char base64_char(unsigned v)
{
	return (char)((base64_in_range(v, 0, 25) & (v + 'A')) | (base64_in_range(v, 26, 51) & (v - 26 + 'a')) |
		      (base64_in_range(v, 52, 61) & (v - 52 + '0')) | (base64_in_range(v, 62, 62) & '+') |
		      (base64_in_range(v, 63, 63) & '/'));
}

/* The value of a character; *bad becomes non-zero if it has none. */
static unsigned base64_value(unsigned c, unsigned *bad)
{
	unsigned upper = base64_in_range(c, 'A', 'Z'), lower = base64_in_range(c, 'a', 'z');
	unsigned digit = base64_in_range(c, '0', '9'), plus = base64_in_range(c, '+', '+');
	unsigned slash = base64_in_range(c, '/', '/');

	*bad |= ~(upper | lower | digit | plus | slash) & 0xff;
	return (upper & (c - 'A')) | (lower & (c - 'a' + 26)) | (digit & (c - '0' + 52)) | (plus & 62) | (slash & 63);
}

char *str_base64_encode(const void *p, size_t n)
{
	const uint8_t *in = p;
	char *s, *out;
	unsigned v;
	size_t i;

	s = out = mem_array(n / 3 + 2, 4);
	for (i = 0; i < n; i += 3) {
		v = (unsigned)in[i] << 16;
		if (i + 1 < n)
			v |= (unsigned)in[i + 1] << 8;
		if (i + 2 < n)
			v |= in[i + 2];
		*out++ = base64_char(v >> 18 & 63);
		*out++ = base64_char(v >> 12 & 63);
		*out++ = i + 1 < n ? base64_char(v >> 6 & 63) : '=';
		*out++ = i + 2 < n ? base64_char(v & 63) : '=';
	}
	*out = '\0';
	return s;
}

long str_base64_decode(const char *s, size_t n, uint8_t *out)
{
	const uint8_t *in = (const uint8_t *)s;
	unsigned v, bad = 0;
	size_t i, j, pad = 0, size = 0;

	if (n % 4 != 0)
		return ERR_PEER;
	if (n != 0 && in[n - 1] == '=')
		pad = in[n - 2] == '=' ? 2 : 1;
	for (i = 0; i < n; i += 4) {
		v = 0;
		for (j = 0; j < 4; j++) {
			v <<= 6;
			if (i + j < n - pad)
				v |= base64_value(in[i + j], &bad);
		}
		out[size++] = (uint8_t)(v >> 16);
		if (i + 4 < n || pad < 2)
			out[size++] = (uint8_t)(v >> 8);
		else
			bad |= v & 0xffff;
		if (i + 4 < n || pad < 1)
			out[size++] = (uint8_t)v;
		else
			bad |= v & 0xff; /* RFC 4648 section 3.5: pad bits must be zero */
	}
	return bad != 0 ? ERR_PEER : (long)size;
}
