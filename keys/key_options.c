/* keys/key_options.c: the options field of authorized_keys (sshd(8)). */
#include "keys/authorized_keys.h"

#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <arpa/inet.h>
#include "base/match.h"
#include "base/mem.h"
#include "keys/key_time.h"

enum { ENVIRONMENT_MAX = 1024, PERMIT_MAX = 4096, HOST_MAX = 1025, TUNNEL_ANY = 0x7fffffff, TUNNEL_MAX = 0x7ffffffd };
/* Bounds for what another process hands over. */
enum { TEXT_MAX = 128 * 1024 };

void key_options_init(struct key_options *o)
{
	memset(o, 0, sizeof(*o));
	o->agent_forwarding = o->port_forwarding = o->pty = o->user_rc = o->x11_forwarding = true;
	o->tunnel = -1;
}

void key_options_clear(struct key_options *o)
{
	free(o->command);
	free(o->from);
	free(o->principals);
	str_list_clear(&o->environment);
	str_list_clear(&o->permit_open);
	str_list_clear(&o->permit_listen);
	key_options_init(o);
}

static char *dup_or_null(const char *s)
{
	return s != NULL ? mem_strdup(s) : NULL;
}

void key_options_copy(struct key_options *dst, const struct key_options *src)
{
	*dst = *src;
	dst->command = dup_or_null(src->command);
	dst->from = dup_or_null(src->from);
	dst->principals = dup_or_null(src->principals);
	memset(&dst->environment, 0, sizeof(dst->environment));
	memset(&dst->permit_open, 0, sizeof(dst->permit_open));
	memset(&dst->permit_listen, 0, sizeof(dst->permit_listen));
	str_list_copy(&dst->environment, &src->environment);
	str_list_copy(&dst->permit_open, &src->permit_open);
	str_list_copy(&dst->permit_listen, &src->permit_listen);
}

/* ---- options without a value */

struct flag_row {
	const char *name;
	size_t offset;           /* of a bool */
	bool inverted;           /* the option's name says the opposite of the field's */
	bool negatable;          /* no-NAME exists */
};
static const struct flag_row flags[] = {
	{ "agent-forwarding", offsetof(struct key_options, agent_forwarding), false, true },
	{ "port-forwarding", offsetof(struct key_options, port_forwarding), false, true },
	{ "pty", offsetof(struct key_options, pty), false, true },
	{ "user-rc", offsetof(struct key_options, user_rc), false, true },
	{ "x11-forwarding", offsetof(struct key_options, x11_forwarding), false, true },
	{ "cert-authority", offsetof(struct key_options, cert_authority), false, false },
	{ "verify-required", offsetof(struct key_options, verify_required), false, true },
	{ "touch-required", offsetof(struct key_options, no_touch_required), true, true }
};

static void set_flag(struct key_options *o, const struct flag_row *row, bool on)
{
	*(bool *)((char *)o + row->offset) = on != row->inverted;
}

static bool take_flag(struct key_options *o, const char *name)
{
	bool on = strncasecmp(name, "no-", 3) != 0;

	if (str_equal_nocase(name, "restrict")) {
		o->agent_forwarding = o->port_forwarding = o->pty = o->user_rc = o->x11_forwarding = false;
		return true;
	}
	for (size_t i = 0; i < MEM_COUNT(flags); i++) {
		if (!str_equal_nocase(on ? name : name + 3, flags[i].name) || (!on && !flags[i].negatable))
			continue;
		set_flag(o, &flags[i], on);
		return true;
	}
	return false;
}

/* ---- options with a value; each takes over the value */

static int take_once(char **field, const char *name, char *value, struct err *e)
{
	if (*field != NULL) {
		free(value);
		return err_set(e, ERR_PEER, "more than one %s option", name);
	}
	*field = value;
	return 0;
}

static int take_command(struct key_options *o, char *value, struct err *e)
{
	return take_once(&o->command, "command", value, e);
}

static int take_principals(struct key_options *o, char *value, struct err *e)
{
	return take_once(&o->principals, "principals", value, e);
}

static int take_from(struct key_options *o, char *value, struct err *e)
{
	if (match_address(NULL, value) == -2) {
		free(value);
		return err_set(e, ERR_PEER, "from option: bad address and mask");
	}
	return take_once(&o->from, "from", value, e);
}

/* The first assignment of a name wins. */
static int take_environment(struct key_options *o, char *value, struct err *e)
{
	size_t n = strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	int rc = 0;

	if (n == 0 || value[n] != '=')
		rc = err_set(e, ERR_PEER, "environment option: not NAME=value");
	for (size_t i = 0; rc == 0 && i < o->environment.count; i++) {
		if (strncmp(o->environment.v[i], value, n + 1) != 0)
			continue;
		free(value);
		return 0;
	}
	if (rc == 0 && o->environment.count >= ENVIRONMENT_MAX)
		rc = err_set(e, ERR_PEER, "more than %d environment options", ENVIRONMENT_MAX);
	if (rc == 0)
		str_list_add_take(&o->environment, value);
	else
		free(value);
	return rc;
}

/* The earliest wins. 0 stands for "never", so a time of 0 becomes the next second. */
static int take_expiry_time(struct key_options *o, char *value, struct err *e)
{
	int64_t t;
	int rc = key_time_parse(value, &t);

	free(value);
	if (rc != 0)
		return err_set(e, ERR_PEER, "expiry-time option: not a valid time");
	if (t == 0)
		t = 1;
	if (o->valid_before == 0 || t < o->valid_before)
		o->valid_before = t;
	return 0;
}

/* A number, a service name or '*'; 0 if it is none. Written to text as a number or '*'. */
static bool parse_port(const char *s, char text[8])
{
	struct servent *service;
	uint64_t port;

	if (strcmp(s, "*") == 0)
		return str_copy(text, 8, "*");
	if (str_to_u64(s, 1, 65535, &port) != 0) {
		service = getservbyname(s, "tcp");
		if (service == NULL)
			return false;
		port = ntohs((uint16_t)service->s_port);
	}
	return snprintf(text, 8, "%u", (unsigned)port) > 0;
}

/* host:port or [host]:port; bare_port: also just a port. Allocated as host:port ("*" for the host of a bare port),
 * brackets kept around what holds a colon; NULL if it is none. */
static char *parse_permit(const char *s, bool bare_port)
{
	const char *host = s, *colon, *close;
	char port[8];
	size_t n;

	if (bare_port && strchr(s, ':') == NULL)
		return parse_port(s, port) ? str_printf("*:%s", port) : NULL;
	if (*s == '[') {
		close = strchr(s, ']');
		if (close == NULL || close[1] != ':')
			return NULL;
		host = s + 1;
		n = (size_t)(close - host);
		colon = close + 1;
	} else {
		colon = strchr(s, ':');
		if (colon == NULL || strchr(colon + 1, ':') != NULL)
			return NULL;
		n = (size_t)(colon - host);
	}
	if (n == 0 || n >= HOST_MAX || !parse_port(colon + 1, port))
		return NULL;
	return memchr(host, ':', n) != NULL ? str_printf("[%.*s]:%s", (int)n, host, port) :
		str_printf("%.*s:%s", (int)n, host, port);
}

static int take_permit(struct str_list *list, const char *name, char *value, struct err *e)
{
	char *permit = parse_permit(value, strcmp(name, "permitlisten") == 0);

	free(value);
	if (permit == NULL)
		return err_set(e, ERR_PEER, "%s option: not host:port", name);
	if (list->count >= PERMIT_MAX) {
		free(permit);
		return err_set(e, ERR_PEER, "more than %d %s options", PERMIT_MAX, name);
	}
	str_list_add_take(list, permit);
	return 0;
}

static int take_permit_open(struct key_options *o, char *value, struct err *e)
{
	return take_permit(&o->permit_open, "permitopen", value, e);
}

static int take_permit_listen(struct key_options *o, char *value, struct err *e)
{
	return take_permit(&o->permit_listen, "permitlisten", value, e);
}

static int take_tunnel(struct key_options *o, char *value, struct err *e)
{
	uint64_t unit = TUNNEL_ANY;
	int rc = str_equal_nocase(value, "any") ? 0 : str_to_u64(value, 0, TUNNEL_MAX, &unit);

	free(value);
	if (rc != 0)
		return err_set(e, ERR_PEER, "tunnel option: not a device number");
	o->tunnel = (int)unit;
	return 0;
}

static const struct value_row {
	const char *name;
	int (*take)(struct key_options *o, char *value, struct err *e);
} values[] = {
	{ "command", take_command }, { "environment", take_environment }, { "expiry-time", take_expiry_time },
	{ "from", take_from }, { "permitlisten", take_permit_listen }, { "permitopen", take_permit_open },
	{ "principals", take_principals }, { "tunnel", take_tunnel }
};

/* ---- the field */

/* *s stands behind the opening quote and is set behind the closing one. \" is a quote, any other \ stays. */
static char *take_quoted(const char **s)
{
	char *out = mem_alloc(strlen(*s) + 1);
	size_t n = 0;
	const char *p;

	for (p = *s; *p != '\0' && *p != '"'; p++) {
		if (p[0] == '\\' && p[1] == '"')
			p++;
		out[n++] = *p;
	}
	out[n] = '\0';
	if (*p != '"') {
		free(out);
		return NULL;
	}
	*s = p + 1;
	return out;
}

static int take_option(const char **s, struct key_options *o, struct err *e)
{
	size_t n = strcspn(*s, "=, \t\"");
	char *name = mem_strndup(*s, n), *value;
	const struct value_row *row = NULL;
	int rc;

	*s += n;
	for (size_t i = 0; i < MEM_COUNT(values); i++)
		if (str_equal_nocase(name, values[i].name))
			row = &values[i];
	if (row == NULL) {
		rc = **s != '=' && take_flag(o, name) ? 0 : err_set(e, ERR_PEER, "unknown key option \"%.64s\"", name);
	} else if ((*s)[0] != '=' || (*s)[1] != '"') {
		rc = err_set(e, ERR_PEER, "%s option: no value in double quotes", row->name);
	} else {
		*s += 2;
		value = take_quoted(s);
		rc = value != NULL ? row->take(o, value, e) :
			err_set(e, ERR_PEER, "%s option: the closing quote is missing", row->name);
	}
	free(name);
	return rc;
}

int key_options_parse(const char *field, struct key_options *out, struct err *e)
{
	const char *s = field != NULL ? field : "";
	int rc = 0;

	key_options_init(out);
	while (*s != '\0' && rc == 0) {
		rc = take_option(&s, out, e);
		if (rc != 0 || *s == '\0')
			break;
		if (*s != ',' || s[1] == '\0')
			rc = err_set(e, ERR_PEER, *s == ',' ? "a comma at the end of the options" :
				"no comma between two key options");
		s++;
	}
	if (rc == 0 && out->principals != NULL && !out->cert_authority)
		rc = err_set(e, ERR_PEER, "principals option without cert-authority");
	if (rc != 0)
		key_options_clear(out);
	return rc;
}

/* ---- hand-over between processes */

static void put_text(struct buf *out, const char *s)
{
	buf_put_bool(out, s != NULL);
	buf_put_cstring(out, s != NULL ? s : "");
}

static char *get_text(struct reader *r)
{
	bool there = reader_bool(r);
	char *s = reader_cstring(r, TEXT_MAX);

	if (!there) {
		free(s);
		s = NULL;
	}
	return s;
}

static void put_list(struct buf *out, const struct str_list *l)
{
	buf_put_u32(out, (uint32_t)l->count);
	for (size_t i = 0; i < l->count; i++)
		buf_put_cstring(out, l->v[i]);
}

static void get_list(struct reader *r, size_t max, struct str_list *out)
{
	uint32_t n = reader_u32(r);

	if (n > max)
		reader_fail(r);
	for (uint32_t i = 0; i < n && reader_ok(r); i++) {
		char *s = reader_cstring(r, TEXT_MAX);

		if (s != NULL)
			str_list_add_take(out, s);
	}
}

void key_options_put(const struct key_options *o, struct buf *out)
{
	for (size_t i = 0; i < MEM_COUNT(flags); i++)
		buf_put_bool(out, *(const bool *)((const char *)o + flags[i].offset));
	put_text(out, o->command);
	put_text(out, o->from);
	put_text(out, o->principals);
	put_list(out, &o->environment);
	put_list(out, &o->permit_open);
	put_list(out, &o->permit_listen);
	buf_put_u64(out, (uint64_t)o->valid_before);
	buf_put_u32(out, (uint32_t)o->tunnel);
}

int key_options_get(struct reader *r, struct key_options *out)
{
	key_options_init(out);
	for (size_t i = 0; i < MEM_COUNT(flags); i++)
		*(bool *)((char *)out + flags[i].offset) = reader_bool(r);
	out->command = get_text(r);
	out->from = get_text(r);
	out->principals = get_text(r);
	get_list(r, ENVIRONMENT_MAX, &out->environment);
	get_list(r, PERMIT_MAX, &out->permit_open);
	get_list(r, PERMIT_MAX, &out->permit_listen);
	out->valid_before = (int64_t)reader_u64(r);
	out->tunnel = (int)reader_u32(r);
	if (reader_ok(r) && out->tunnel >= -1)
		return 0;
	key_options_clear(out);
	return ERR_PEER;
}

int key_options_check(const struct key_options *o, const char *host, const char *address, int64_t now, struct err *e)
{
	char when[32];

	if (o->valid_before != 0 && now > o->valid_before) {
		key_time_format(o->valid_before, when, sizeof(when));
		return err_set(e, ERR_DENIED, "key expired at %s", when);
	}
	if (o->from == NULL)
		return 0;
	switch (match_host_or_address(host, address, o->from)) {
	case 1:
		return 0;
	case -2:
		return err_set(e, ERR_DENIED, "correct key but its from option is invalid: %s", o->from);
	default:
		return err_set(e, ERR_DENIED, "correct key but not from a permitted host (host=%s, ip=%s, required=%s)",
			host != NULL ? host : address, address, o->from);
	}
}
