/* conf/types_more.c: kinds of values with a syntax of their own: RekeyLimit, IPQoS, ChannelTimeout, Permit*. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "conf/types.h"

/* ---- RekeyLimit */

enum { REKEY_BYTES_MIN = 16 };

static int rekey_parse(struct conf_line *l, void *field)
{
	struct conf_rekey *v = field;
	const char *word = conf_line_need(l);
	uint64_t seconds;

	if (word == NULL)
		return ERR_USAGE;
	if (strcmp(word, "default") != 0) {
		if (str_to_bytes(word, &v->bytes) != 0)
			return conf_line_bad(l, "%s: invalid size \"%s\"", l->keyword, word);
		if (v->bytes != 0 && v->bytes < REKEY_BYTES_MIN)
			return conf_line_bad(l, "%s too small", l->keyword);
	}
	word = conf_line_next(l);
	if (word == NULL || strcmp(word, "none") == 0)
		return 0;
	if (str_to_seconds(word, &seconds) != 0 || seconds > INT_MAX)
		return conf_line_bad(l, "%s: invalid time value \"%s\"", l->keyword, word);
	v->seconds = (uint32_t)seconds;
	return 0;
}

static void rekey_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct conf_rekey *v = field;

	conf_dump_value(d, row, "%llu %u", (unsigned long long)v->bytes, v->seconds);
}

const struct conf_type conf_rekey_type = { sizeof(struct conf_rekey), rekey_parse, NULL, NULL, rekey_show };

/* ---- IPQoS: code points of RFC 2474, 2597, 3246, 5865, 8622, shifted into the TOS byte. The first name of a value
 * is shown; the names of RFC 1349, which no router honours, leave the byte to the system. */

static const struct conf_word qos_words[] = {
	{ "none", CONF_IPQOS_NONE }, { "lowdelay", CONF_IPQOS_NONE }, { "throughput", CONF_IPQOS_NONE },
	{ "reliability", CONF_IPQOS_NONE },
	{ "af11", 10 << 2 }, { "af12", 12 << 2 }, { "af13", 14 << 2 }, { "af21", 18 << 2 }, { "af22", 20 << 2 },
	{ "af23", 22 << 2 }, { "af31", 26 << 2 }, { "af32", 28 << 2 }, { "af33", 30 << 2 }, { "af41", 34 << 2 },
	{ "af42", 36 << 2 }, { "af43", 38 << 2 },
	{ "cs0", 0 << 2 }, { "cs1", 8 << 2 }, { "cs2", 16 << 2 }, { "cs3", 24 << 2 }, { "cs4", 32 << 2 },
	{ "cs5", 40 << 2 }, { "cs6", 48 << 2 }, { "cs7", 56 << 2 },
	{ "ef", 46 << 2 }, { "le", 1 << 2 }, { "va", 44 << 2 }, { NULL, 0 }
};

static int qos_value(struct conf_line *l, const char *word, int *out)
{
	const struct conf_word *w;
	uint64_t v;

	for (w = qos_words; w->word != NULL; w++) {
		if (str_equal_nocase(w->word, word)) {
			*out = w->value;
			return 0;
		}
	}
	if (str_to_u64(word, 0, 255, &v) != 0)
		return conf_line_bad(l, "Bad IPQoS value: %s", word);
	*out = (int)v;
	return 0;
}

static int qos_parse(struct conf_line *l, void *field)
{
	struct conf_ipqos *v = field;
	const char *word = conf_line_need(l);

	if (word == NULL || qos_value(l, word, &v->interactive) != 0)
		return ERR_USAGE;
	word = conf_line_next(l);
	if (word == NULL) {
		v->bulk = v->interactive;
		return 0;
	}
	return qos_value(l, word, &v->bulk);
}

static char *qos_name(int value)
{
	const struct conf_word *w;

	for (w = qos_words; w->word != NULL; w++)
		if (w->value == value)
			return mem_strdup(w->word);
	return str_printf("0x%02x", (unsigned)value);
}

static void qos_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct conf_ipqos *v = field;
	char *interactive = qos_name(v->interactive), *bulk = qos_name(v->bulk);

	conf_dump_value(d, row, "%s %s", interactive, bulk);
	free(interactive);
	free(bulk);
}

const struct conf_type conf_ipqos_type = { sizeof(struct conf_ipqos), qos_parse, NULL, NULL, qos_show };

/* ---- ChannelTimeout */

static void timeouts_clear(void *field)
{
	struct conf_timeouts *t = field;
	size_t i;

	for (i = 0; i < t->count; i++) {
		free(t->v[i].pattern);
		free(t->v[i].text);
	}
	free(t->v);
}

static void timeouts_add(struct conf_timeouts *t, const char *text, size_t pattern_size, uint32_t seconds)
{
	t->v = mem_resize(t->v, t->count + 1, sizeof(*t->v));
	t->v[t->count++] = (struct conf_timeout){
		.pattern = mem_strndup(text, pattern_size), .text = mem_strdup(text), .seconds = seconds
	};
}

static void timeouts_copy(void *dst, const void *src)
{
	const struct conf_timeouts *t = src;
	size_t i;

	for (i = 0; i < t->count; i++)
		timeouts_add(dst, t->v[i].text, strlen(t->v[i].pattern), t->v[i].seconds);
}

static int timeouts_parse(struct conf_line *l, void *field)
{
	const char *word;
	uint64_t seconds;
	size_t n;

	if (l->count == 1 && str_equal_nocase(l->arg[0], "none")) {
		l->next = 1;
		return 0;
	}
	while ((word = conf_line_next(l)) != NULL) {
		n = strcspn(word, "=");
		if (n == 0 || word[n] != '=' || str_to_seconds(word + n + 1, &seconds) != 0 || seconds > INT_MAX)
			return conf_line_bad(l, "%s needs TYPE=TIME, not \"%s\"", l->keyword, word);
		timeouts_add(field, word, n, (uint32_t)seconds);
	}
	return 0;
}

static void timeouts_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct conf_timeouts *t = field;
	struct str_list words = { 0 };
	char *text;
	size_t i;

	for (i = 0; i < t->count; i++)
		str_list_add(&words, t->v[i].text);
	text = words.count != 0 ? str_list_join(&words, " ") : mem_strdup("none");
	conf_dump_value(d, row, "%s", text);
	free(text);
	str_list_clear(&words);
}

const struct conf_type conf_timeouts_type = {
	sizeof(struct conf_timeouts), timeouts_parse, timeouts_clear, timeouts_copy, timeouts_show
};

/* ---- host and port */

int conf_parse_host_port(const char *text, char **host, unsigned *port)
{
	const char *end, *colon;

	*port = 0;
	if (*text == '[') {
		end = strchr(++text, ']');
		if (end == NULL || end == text || (end[1] != '\0' && end[1] != ':'))
			return ERR_USAGE;
		colon = end[1] == ':' ? end + 1 : NULL;
	} else {
		colon = strchr(text, ':');
		/* Several colons without brackets: an IPv6 address alone. */
		if (colon != NULL && strchr(colon + 1, ':') != NULL)
			colon = NULL;
		end = colon != NULL ? colon : text + strlen(text);
		if (end == text)
			return ERR_USAGE;
	}
	if (colon != NULL && conf_parse_port(colon + 1, 1, port) != 0)
		return ERR_USAGE;
	*host = mem_strndup(text, (size_t)(end - text));
	return 0;
}

char *conf_format_host_port(const char *host, unsigned port)
{
	return str_printf("[%s]:%u", host, port);
}

/* ---- PermitOpen, PermitListen, PermitRemoteOpen */

void conf_permit_clear(struct conf_permit *p)
{
	free(p->host);
	free(p->text);
	*p = (struct conf_permit){ 0 };
}

/* The port behind the last colon; "*" is any. */
static int permit_port(const char *text, unsigned *port)
{
	*port = 0;
	return strcmp(text, "*") == 0 ? 0 : conf_parse_port(text, 1, port);
}

int conf_permit_parse(const char *text, bool listen, struct conf_permit *out)
{
	const char *host = text, *end, *port;

	*out = (struct conf_permit){ 0 };
	if (*text == '[') {
		end = strchr(++host, ']');
		if (end == NULL || end == host || end[1] != ':')
			return ERR_USAGE;
		port = end + 2;
	} else {
		end = strrchr(text, ':');
		if (end == NULL && !listen)
			return ERR_USAGE;
		if (end == text)
			return ERR_USAGE;
		port = end != NULL ? end + 1 : text;
	}
	if (permit_port(port, &out->port) != 0)
		return ERR_USAGE;
	if (end == NULL) {
		out->host = mem_strdup("*");
		out->text = str_printf("*:%s", text);
	} else {
		out->host = mem_strndup(host, (size_t)(end - host));
		out->text = mem_strdup(text);
	}
	return 0;
}

static void permits_clear(void *field)
{
	struct conf_permits *p = field;
	size_t i;

	for (i = 0; i < p->count; i++)
		conf_permit_clear(&p->v[i]);
	free(p->v);
}

static void permits_add(struct conf_permits *p, const struct conf_permit *one)
{
	p->v = mem_resize(p->v, p->count + 1, sizeof(*p->v));
	p->v[p->count++] = *one;
}

static void permits_copy(void *dst, const void *src)
{
	const struct conf_permits *from = src;
	struct conf_permits *to = dst;
	size_t i;

	to->kind = from->kind;
	for (i = 0; i < from->count; i++) {
		struct conf_permit one = from->v[i];

		one.host = mem_strdup(one.host);
		one.text = mem_strdup(one.text);
		permits_add(to, &one);
	}
}

static int permits_read(struct conf_line *l, struct conf_permits *p, bool listen)
{
	struct conf_permit one;
	const char *word;

	if (l->count == 1 && (strcmp(l->arg[0], "any") == 0 || strcmp(l->arg[0], "none") == 0)) {
		p->kind = l->arg[0][0] == 'a' ? CONF_PERMIT_ANY : CONF_PERMIT_NONE;
		l->next = 1;
		return 0;
	}
	p->kind = CONF_PERMIT_LIST;
	while ((word = conf_line_next(l)) != NULL) {
		if (conf_permit_parse(word, listen, &one) != 0)
			return conf_line_bad(l, "%s needs %s, not \"%s\"", l->keyword,
				listen ? "[HOST:]PORT" : "HOST:PORT", word);
		permits_add(p, &one);
	}
	return 0;
}

static int permits_parse(struct conf_line *l, void *field)
{
	return permits_read(l, field, false);
}

static int permits_listen_parse(struct conf_line *l, void *field)
{
	return permits_read(l, field, true);
}

static void permits_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct conf_permits *p = field;
	struct str_list words = { 0 };
	char *text;
	size_t i;

	if (p->kind != CONF_PERMIT_LIST) {
		conf_dump_value(d, row, "%s", p->kind == CONF_PERMIT_ANY ? "any" : "none");
		return;
	}
	for (i = 0; i < p->count; i++)
		str_list_add(&words, p->v[i].text);
	text = str_list_join(&words, " ");
	conf_dump_value(d, row, "%s", text);
	free(text);
	str_list_clear(&words);
}

const struct conf_type conf_permits_type = {
	sizeof(struct conf_permits), permits_parse, permits_clear, permits_copy, permits_show
};
const struct conf_type conf_permits_listen_type = {
	sizeof(struct conf_permits), permits_listen_parse, permits_clear, permits_copy, permits_show
};

/* ---- compression */

int conf_compress_level(unsigned level, enum conf_origin level_from, bool adapts, enum conf_origin adapts_from)
{
	return adapts && level_from <= adapts_from ? 0 : (int)level;
}
