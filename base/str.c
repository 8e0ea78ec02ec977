/* base/str.c: strings and numbers in text. Lists are in str_list.c, escapes in str_escape.c, base64 in base64.c. */
#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

bool str_copy(char *dst, size_t size, const char *src)
{
	size_t n = strnlen(src, size);
	bool fits = n < size;

	if (!fits)
		n = size - 1;
	memcpy(dst, src, n);
	dst[n] = '\0';
	return fits;
}

char *str_printf(const char *fmt, ...)
{
	va_list ap;
	int n;
	char *s;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return mem_strdup("");
	s = mem_alloc((size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return s;
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && strcmp(s + n - m, suffix) == 0;
}

static char str_lower_char(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool str_equal_nocase(const char *a, const char *b)
{
	while (*a != '\0' && str_lower_char(*a) == str_lower_char(*b)) {
		a++;
		b++;
	}
	return str_lower_char(*a) == str_lower_char(*b);
}

void str_lower(char *s)
{
	for (; *s != '\0'; s++)
		*s = str_lower_char(*s);
}

bool str_is(const void *s, size_t n, const char *z)
{
	return strlen(z) == n && (n == 0 || memcmp(s, z, n) == 0);
}

/* Digits at *s; advances. false: none there, or too large. */
static bool str_scan_u64(const char **s, uint64_t *out)
{
	const char *p = *s;
	uint64_t v = 0;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return false;
	*s = p;
	*out = v;
	return true;
}

int str_to_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t v;

	if (!str_scan_u64(&s, &v) || *s != '\0' || v < min || v > max)
		return ERR_USAGE;
	*out = v;
	return 0;
}

/* A fraction ".ddd" at *s as billionths; advances. Digits beyond the ninth are dropped. */
static uint64_t str_scan_fraction(const char **s, bool *present)
{
	const char *p = *s;
	uint64_t v = 0, scale = 100000000;

	*present = *p == '.';
	if (!*present)
		return 0;
	for (p++; *p >= '0' && *p <= '9'; p++, scale /= 10)
		v += (uint64_t)(*p - '0') * scale;
	*s = p;
	return v;
}

int str_to_seconds(const char *s, uint64_t *out)
{
	static const struct {
		char unit;
		uint32_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };
	uint64_t total = 0, v, factor;
	bool fraction, seconds_seen = false;
	size_t i;

	if (*s == '\0')
		return ERR_USAGE;
	while (*s != '\0') {
		if (!str_scan_u64(&s, &v))
			return ERR_USAGE;
		(void)str_scan_fraction(&s, &fraction);
		factor = 1;
		if (*s != '\0') {
			for (i = 0; i < MEM_COUNT(units) && units[i].unit != str_lower_char(*s); i++)
				;
			if (i == MEM_COUNT(units))
				return ERR_USAGE;
			factor = units[i].seconds;
			s++;
		}
		if ((factor == 1 && seconds_seen) || (factor != 1 && fraction))
			return ERR_USAGE;
		seconds_seen |= factor == 1;
		if (__builtin_mul_overflow(v, factor, &v) || __builtin_add_overflow(total, v, &total) ||
		    total > UINT32_MAX)
			return ERR_USAGE;
	}
	*out = total;
	return 0;
}

int str_to_bytes(const char *s, uint64_t *out)
{
	static const char suffixes[] = "bkmgtpe";
	uint64_t v, part, unit = 1;
	bool fraction;
	const char *at;

	if (!str_scan_u64(&s, &v))
		return ERR_USAGE;
	part = str_scan_fraction(&s, &fraction);
	if (*s != '\0') {
		at = strchr(suffixes, str_lower_char(*s));
		if (at == NULL || s[1] != '\0')
			return ERR_USAGE;
		unit = UINT64_C(1) << (10 * (at - suffixes));
	}
	/* unit * part / 10^9 in two steps, neither of which overflows for units up to 2^60. */
	part = unit / 1000000000 * part + unit % 1000000000 * part / 1000000000;
	if (__builtin_mul_overflow(v, unit, &v) || __builtin_add_overflow(v, part, &v))
		return ERR_USAGE;
	*out = v;
	return 0;
}

void str_from_seconds(char *dst, size_t size, uint64_t seconds)
{
	uint64_t m = seconds / 60 % 60, h = seconds / 3600 % 24, d = seconds / 86400 % 7, w = seconds / 604800;

	if (w != 0)
		snprintf(dst, size, "%02" PRIu64 "w%" PRIu64 "d%02" PRIu64 "h", w, d, h);
	else if (d != 0)
		snprintf(dst, size, "%" PRIu64 "d%02" PRIu64 "h%02" PRIu64 "m", d, h, m);
	else
		snprintf(dst, size, "%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64, h, m, seconds % 60);
}

int str_next_line(const char **at, size_t *left, char *line, size_t size)
{
	const char *end;
	size_t n;

	if (*left == 0)
		return 0;
	end = memchr(*at, '\n', *left);
	n = end != NULL ? (size_t)(end - *at) : 0;
	if (end == NULL || n >= size || memchr(*at, '\0', n) != NULL)
		return ERR_PEER;
	memcpy(line, *at, n);
	line[n] = '\0';
	*left -= n + 1;
	*at = end + 1;
	return 1;
}

size_t str_each_line(const char *at, size_t left, struct str_line_room room, bool (*take)(void *ctx, char *line), void *ctx)
{
	int r;

	for (size_t number = 1; (r = str_next_line(&at, &left, room.line, room.size)) != 0; number++)
		if (r < 0 || !take(ctx, room.line))
			return number;
	return 0;
}
