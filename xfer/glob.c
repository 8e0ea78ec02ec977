/* Patterns for names on the far side. */
#include "xfer/glob.h"

#include <string.h>

#include "base/mem.h"

bool glob_has_magic(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\\' && i + 1 < n)
			i++;
		else if (s[i] == '*' || s[i] == '?')
			return true;
		else if (s[i] == '[' && memchr(s + i + 1, ']', n - i - 1) != NULL)
			return true;
	}
	return false;
}

char *glob_unescape(const char *s, size_t n)
{
	char *out = mem_alloc(n + 1), *p = out;

	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\\' && i + 1 < n)
			i++;
		*p++ = s[i];
	}
	*p = '\0';
	return out;
}

char *glob_escape(const char *s)
{
	char *out = mem_alloc(2 * strlen(s) + 1), *p = out;

	for (; *s != '\0'; s++) {
		if (strchr("\\*?[", *s) != NULL)
			*p++ = '\\';
		*p++ = *s;
	}
	*p = '\0';
	return out;
}

static bool is_between(unsigned char c, char low, char high)
{
	return c >= (unsigned char)low && c <= (unsigned char)high;
}

static bool is_punct(unsigned char c)
{
	return is_between(c, '!', '/') || is_between(c, ':', '@') || is_between(c, '[', '`') || is_between(c, '{', '~');
}

static bool is_alpha(unsigned char c)
{
	return is_between(c, 'a', 'z') || is_between(c, 'A', 'Z');
}

/* [:name:] in a set. ASCII, whatever the locale. */
static bool in_class(const char *name, size_t n, unsigned char c)
{
	static const struct { const char *name; char ranges[7]; } rows[] = {
		{ "digit", "09" }, { "lower", "az" }, { "upper", "AZ" }, { "xdigit", "09afAF" }, { "blank", "  \t\t" },
		{ "space", "  \t\r" }, { "print", " ~" }, { "graph", "!~" }, { "cntrl", "\001\037\177\177" },
	};

	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		if (strlen(rows[i].name) != n || memcmp(rows[i].name, name, n) != 0)
			continue;
		for (const char *r = rows[i].ranges; *r != '\0'; r += 2)
			if (is_between(c, r[0], r[1]))
				return true;
		return false;
	}
	if (n == 5 && memcmp(name, "alpha", n) == 0)
		return is_alpha(c);
	if (n == 5 && memcmp(name, "alnum", n) == 0)
		return is_alpha(c) || is_between(c, '0', '9');
	return n == 5 && memcmp(name, "punct", n) == 0 && is_punct(c);
}

/* One character of a set at p; moves p behind it. */
static unsigned char set_char(const char **p, const char *end)
{
	if (**p == '\\' && *p + 1 < end)
		(*p)++;
	return (unsigned char)*(*p)++;
}

/* p stands behind the [. Returns the place behind the ], or NULL if there is none (then [ is itself). */
static const char *match_set(const char *p, const char *end, unsigned char c, bool *matches)
{
	bool negate = p < end && *p == '!', first = true;

	*matches = false;
	if (negate)
		p++;
	for (; p < end && (first || *p != ']'); first = false) {
		const char *close;
		unsigned char low, high;

		if (end - p >= 4 && p[0] == '[' && p[1] == ':' && (close = memchr(p + 2, ':', (size_t)(end - p - 2))) != NULL &&
		    close + 1 < end && close[1] == ']') {
			*matches = *matches || in_class(p + 2, (size_t)(close - p - 2), c);
			p = close + 2;
			continue;
		}
		low = high = set_char(&p, end);
		if (end - p >= 2 && p[0] == '-' && p[1] != ']') {
			p++;
			high = set_char(&p, end);
		}
		*matches = *matches || (c >= low && c <= high);
	}
	if (p >= end)
		return NULL;
	*matches = *matches != negate;
	return p + 1;
}

/* What one element of the pattern (not a *) does with one character: behind the element, or NULL if it does not match. */
static const char *match_one(const char *p, const char *end, unsigned char c)
{
	bool matches;
	const char *behind;

	if (*p == '?')
		return p + 1;
	if (*p == '[') {
		behind = match_set(p + 1, end, c, &matches);
		if (behind != NULL)
			return matches ? behind : NULL;
	}
	if (*p == '\\' && p + 1 < end)
		p++;
	return (unsigned char)*p == c ? p + 1 : NULL;
}

bool glob_match(const char *pattern, size_t pattern_size, const char *name)
{
	const char *p = pattern, *end = pattern + pattern_size, *star = NULL, *star_name = NULL;

	if (*name == '.' && !(pattern_size >= 1 && (*p == '.' || (*p == '\\' && pattern_size >= 2 && p[1] == '.'))))
		return false;
	/* One place to go back to is enough: what an earlier * could give, the last one can too. */
	while (*name != '\0') {
		const char *behind;

		if (p < end && *p == '*') {
			star = ++p;
			star_name = name;
			continue;
		}
		behind = p < end ? match_one(p, end, (unsigned char)*name) : NULL;
		if (behind != NULL) {
			p = behind;
			name++;
		} else if (star != NULL) {
			p = star;
			name = ++star_name;
		} else
			return false;
	}
	while (p < end && *p == '*')
		p++;
	return p == end;
}
