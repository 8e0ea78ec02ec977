/* Operands of scp (scp(1)). */
#include "xfer/operand.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* The colon that ends the host: before any slash, not the first character, behind the ] of an address in brackets. */
static const char *host_end(const char *s)
{
	bool bracket = *s == '[';

	if (*s == ':')
		return NULL;
	for (; *s != '\0'; s++) {
		if (*s == '@' && s[1] == '[')
			bracket = true;
		else if (*s == ']' && s[1] == ':' && bracket)
			return s + 1;
		else if (*s == ':' && !bracket)
			return s;
		else if (*s == '/')
			return NULL;
	}
	return NULL;
}

bool operand_user_valid(const char *user)
{
	if (*user == '\0' || *user == '-')
		return false;
	for (; *user != '\0'; user++)
		if (strchr("'\"` #", *user) != NULL || (unsigned char)*user >= 0x7f || (unsigned char)*user < 0x20)
			return false;
	return true;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* RFC 3986 section 2.1. NULL if a sequence is malformed or stands for NUL. */
static char *decode_percent(const char *s, size_t n)
{
	char *out = mem_alloc(n + 1), *p = out;

	for (size_t i = 0; i < n; i++) {
		int high, low;

		if (s[i] != '%') {
			*p++ = s[i];
			continue;
		}
		high = i + 2 < n ? hex_value(s[i + 1]) : -1;
		low = i + 2 < n ? hex_value(s[i + 2]) : -1;
		if (high < 0 || low < 0 || high * 16 + low == 0) {
			free(out);
			return NULL;
		}
		*p++ = (char)(high * 16 + low);
		i += 2;
	}
	*p = '\0';
	return out;
}

/* [user@]host or [user@][address] in s[0..n). */
static int take_host(struct operand *o, const char *s, size_t n, struct err *e)
{
	const char *at = memrchr(s, '@', n);
	const char *host = at != NULL ? at + 1 : s;
	size_t host_size = n - (size_t)(host - s);

	if (at != NULL) {
		o->user = mem_strndup(s, (size_t)(at - s));
		if (!operand_user_valid(o->user))
			return err_set(e, ERR_USAGE, "%s: invalid user name", o->user);
	}
	if (host_size >= 2 && host[0] == '[' && host[host_size - 1] == ']') {
		host++;
		host_size -= 2;
	}
	if (host_size == 0)
		return err_set(e, ERR_USAGE, "no host name in \"%.*s\"", (int)n, s);
	if (*host == '-')
		return err_set(e, ERR_USAGE, "host name \"%.*s\" begins with a dash", (int)host_size, host);
	o->host = mem_strndup(host, host_size);
	o->remote = true;
	return 0;
}

/* scp://[user@]host[:port][/path], the path being relative to the home unless it begins with another slash. */
static int take_uri(struct operand *o, const char *s, struct err *e)
{
	const char *authority = s + strlen("scp://"), *slash = strchr(authority, '/'), *at, *colon, *path;
	size_t n = slash != NULL ? (size_t)(slash - authority) : strlen(authority), host_size;
	char *host;
	int r;

	path = slash != NULL ? slash + 1 : "";
	at = memrchr(authority, '@', n);
	colon = memrchr(authority, ':', n);
	if (colon != NULL && (colon < at || memchr(colon, ']', n - (size_t)(colon - authority)) != NULL))
		colon = NULL;
	host_size = colon != NULL ? (size_t)(colon - authority) : n;
	if (colon != NULL) {
		char *digits = mem_strndup(colon + 1, n - host_size - 1);
		uint64_t port;

		r = str_to_u64(digits, 1, 65535, &port);
		free(digits);
		if (r < 0)
			return err_set(e, ERR_USAGE, "invalid port in \"%s\"", s);
		o->port = (int)port;
	}
	host = decode_percent(authority, host_size);
	if (host == NULL)
		return err_set(e, ERR_USAGE, "invalid URI \"%s\"", s);
	r = take_host(o, host, strlen(host), e);
	free(host);
	if (r < 0)
		return r;
	o->path = decode_percent(path, strlen(path));
	return o->path != NULL ? 0 : err_set(e, ERR_USAGE, "invalid URI \"%s\"", s);
}

int operand_parse(const char *s, struct operand *o, struct err *e)
{
	const char *end;
	int r = 0;

	*o = (struct operand){ .port = -1 };
	if (strncmp(s, "scp://", 6) == 0)
		r = take_uri(o, s, e);
	else if ((end = host_end(s)) != NULL) {
		r = take_host(o, s, (size_t)(end - s), e);
		o->path = mem_strdup(end + 1);
	} else
		o->path = mem_strdup(s);
	if (r < 0)
		operand_clear(o);
	return r;
}

void operand_clear(struct operand *o)
{
	free(o->user);
	free(o->host);
	free(o->path);
	*o = (struct operand){ .port = -1 };
}

static bool same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool operand_same_host(const struct operand *a, const struct operand *b)
{
	return a->remote && b->remote && same(a->user, b->user) && same(a->host, b->host) && a->port == b->port;
}
