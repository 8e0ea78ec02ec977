/* Records of the old scp protocol, and which names of the other side are acceptable. */
#include "xfer/rcp.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "xfer/glob.h"

/* Digits at *p up to `end`, which is passed over. */
static bool take_number(const char **p, char end, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;
	const char *s = *p;

	if (*s < '0' || *s > '9')
		return false;
	for (; *s >= '0' && *s <= '9'; s++) {
		if (v > (max - (uint64_t)(*s - '0')) / 10)
			return false;
		v = v * 10 + (uint64_t)(*s - '0');
	}
	if (*s != end)
		return false;
	*p = end == '\0' ? s : s + 1;
	*out = v;
	return true;
}

/* T<mtime> <microseconds> <atime> <microseconds> */
int rcp_parse_times(const char *line, struct rcp_times *t)
{
	uint64_t mtime, mus, atime, aus;
	const char *p = line + 1;

	if (*line != 'T' || !take_number(&p, ' ', INT64_MAX, &mtime) || !take_number(&p, ' ', 999999, &mus) ||
	    !take_number(&p, ' ', INT64_MAX, &atime) || !take_number(&p, '\0', 999999, &aus))
		return ERR_PEER;
	*t = (struct rcp_times){ .mtime = (int64_t)mtime, .atime = (int64_t)atime };
	return 0;
}

/* C<4 octal> <size> <name>, D<4 octal> 0 <name> */
int rcp_parse_record(const char *line, struct rcp_record *r, const char **why)
{
	const char *p = line + 1;

	*r = (struct rcp_record){ .is_dir = *line == 'D' };
	*why = "mode not delimited";
	if (*line != 'C' && *line != 'D')
		return ERR_PEER;
	for (int i = 0; i < 4; i++, p++) {
		if (*p < '0' || *p > '7')
			return ERR_PEER;
		r->mode = r->mode * 8 + (unsigned)(*p - '0');
	}
	if (*p++ != ' ')
		return ERR_PEER;
	*why = "size not delimited";
	if (!take_number(&p, ' ', INT64_MAX, &r->size))
		return ERR_PEER;
	r->name = p;
	return 0;
}

bool rcp_name_acceptable(const char *name)
{
	return *name != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* ---- braces: {a,b{c,d}}x, as a shell expands them */

enum { ALTERNATIVES_MAX = 4096 };

/* The place of the brace that closes the one at p, or NULL. Backslashes and sets in brackets hide braces. */
static const char *closing_brace(const char *p)
{
	int depth = 0;

	for (; *p != '\0'; p++) {
		if (*p == '\\' && p[1] != '\0')
			p++;
		else if (*p == '[') {
			const char *close = strchr(p + 2 < p + strlen(p) ? p + 2 : p, ']');

			if (close != NULL && close > p)
				p = close;
		} else if (*p == '{')
			depth++;
		else if (*p == '}' && --depth == 0)
			return p;
	}
	return NULL;
}

static bool match_expanded(const char *pattern, const char *name, unsigned *budget);

/* prefix + each alternative between open and close + what is behind. */
static bool match_alternatives(const char *pattern, const char *open, const char *close, const char *name, unsigned *budget)
{
	const char *start = open + 1;
	int depth = 0;

	for (const char *p = start; p <= close; p++) {
		char *one;
		bool matches;

		if (*p == '\\' && p + 1 < close) {
			p++;
			continue;
		}
		if (*p == '{')
			depth++;
		if (*p == '}' && p < close)
			depth--;
		if (p < close && !(*p == ',' && depth == 0))
			continue;
		one = str_printf("%.*s%.*s%s", (int)(open - pattern), pattern, (int)(p - start), start, close + 1);
		matches = match_expanded(one, name, budget);
		free(one);
		if (matches)
			return true;
		start = p + 1;
	}
	return false;
}

static bool match_expanded(const char *pattern, const char *name, unsigned *budget)
{
	if (*budget == 0)
		return false;
	(*budget)--;
	for (const char *p = pattern; *p != '\0'; p++) {
		const char *close;

		if (*p == '\\' && p[1] != '\0') {
			p++;
			continue;
		}
		if (*p != '{' || p[1] == '}')
			continue;
		close = closing_brace(p);
		if (close != NULL)
			return match_alternatives(pattern, p, close, name, budget);
	}
	/* The shell over there has taken it relative to the last folder. */
	const char *slash = strrchr(pattern, '/');
	const char *last = slash != NULL ? slash + 1 : pattern;
	return glob_match(last, strlen(last), name);
}

bool rcp_name_matches(const char *asked, const char *name)
{
	unsigned budget = ALTERNATIVES_MAX;
	size_t n = strlen(asked);
	char *trimmed;
	bool matches;

	while (n > 1 && asked[n - 1] == '/')
		n--;
	trimmed = mem_strndup(asked, n);
	matches = match_expanded(trimmed, name, &budget);
	free(trimmed);
	return matches;
}

bool rcp_name_is_open(const char *asked)
{
	char *base = copy_base_name(asked);
	/* "." is what there is no name for. */
	bool is_open = strcmp(base, ".") == 0 || (*asked == '~' && asked[strcspn(asked, "/")] == '\0') ||
		(*asked == '~' && asked[strcspn(asked, "/") + 1] == '\0') || strpbrk(asked, "$`") != NULL;

	free(base);
	return is_open;
}
