/* client/destination.c: operands that name a user, a host and a port. Layer: client. */
#include "client/destination.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

void destination_clear(struct destination *d)
{
	free(d->user);
	free(d->host);
	free(d->port);
	*d = (struct destination){ 0 };
}

/* %-decoding in place (RFC 3986 §2.1); no NUL may come out. */
static int percent_decode(char *s)
{
	char *out = s;

	for (; *s; s++) {
		if (*s != '%') {
			*out++ = *s;
			continue;
		}
		int high = str_hex_digit(s[1]), low = high < 0 ? -1 : str_hex_digit(s[2]);

		if (low < 0 || (high == 0 && low == 0))
			return ERR_USAGE;
		*out++ = (char)(high << 4 | low);
		s += 2;
	}
	*out = '\0';
	return 0;
}

/* ssh://[user[;params]@]host[:port][/] */
static int destination_parse_uri(const char *text, struct destination *out, struct err *e)
{
	char *copy = mem_strdup(text), *host = copy, *at = strrchr(copy, '@'), *slash, *colon;
	int rc = 0;

	if (at) {
		char *params;

		*at = '\0';
		host = at + 1;
		params = strchr(copy, ';');
		if (params)
			*params = '\0';
		out->user = mem_strdup(copy);
		rc = percent_decode(out->user);
	}
	slash = strchr(host, '/');
	if (slash && slash[1])
		rc = ERR_USAGE;
	if (slash)
		*slash = '\0';
	if (*host == '[' && strchr(host, ']')) {
		char *end = strchr(host, ']');

		*end = '\0';
		out->host = mem_strdup(host + 1);
		colon = end[1] == ':' ? end + 1 : NULL;
		if (end[1] && !colon)
			rc = ERR_USAGE;
	} else {
		colon = strrchr(host, ':');
		out->host = mem_strndup(host, colon ? (size_t)(colon - host) : strlen(host));
	}
	if (colon)
		out->port = mem_strdup(colon + 1);
	if (!*out->host || (colon && !colon[1]))
		rc = ERR_USAGE;
	free(copy);
	return rc < 0 ? err_set(e, rc, "not a valid destination: %s", text) : 0;
}

int destination_parse(const char *text, const char *scheme, struct destination *out, struct err *e)
{
	size_t n = strlen(scheme);
	const char *at;
	int rc = 0;

	*out = (struct destination){ 0 };
	if (strncmp(text, scheme, n) == 0 && strncmp(text + n, "://", 3) == 0) {
		rc = destination_parse_uri(text + n + 3, out, e);
	} else {
		at = strrchr(text, '@');
		if (at)
			out->user = mem_strndup(text, (size_t)(at - text));
		out->host = mem_strdup(at ? at + 1 : text);
		if (!*out->host || (out->user && !*out->user))
			rc = err_set(e, ERR_USAGE, "not a valid destination: %s", text);
	}
	if (rc < 0)
		destination_clear(out);
	return rc;
}
