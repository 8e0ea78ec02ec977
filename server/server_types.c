/* server/server_types.c: kinds of values that only sshd_config has (sshd_config(5)), and how `sshd -T` shows them. */
#include "server/server_types.h"

#include <limits.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/match.h"
#include "base/mem.h"
#include "base/path.h"
#include "server/server_options.h"

/* ---- Port */

static int ports_parse(struct conf_line *l, void *field)
{
	struct server_ports *p = field;
	const char *word = conf_line_need(l);
	unsigned port;

	if (word == NULL)
		return ERR_USAGE;
	if (conf_parse_port(word, 1, &port) != 0)
		return conf_line_bad(l, "Badly formatted port number \"%s\"", word);
	if (p->count == MEM_COUNT(p->v))
		return conf_line_bad(l, "too many ports");
	p->v[p->count++] = port;
	return 0;
}

static void ports_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct server_ports *p = field;
	size_t i;

	for (i = 0; i < p->count; i++)
		conf_dump_value(d, row, "%u", p->v[i]);
}

const struct conf_type server_type_ports = { sizeof(struct server_ports), ports_parse, NULL, NULL, ports_show };

/* ---- ListenAddress */

enum { LISTENS_MAX = 16 };

static int listens_parse(struct conf_line *l, void *field)
{
	struct server_listens *a = field;
	const char *word = conf_line_need(l);
	struct server_listen one = { NULL, 0 };

	if (word == NULL)
		return ERR_USAGE;
	if (l->next < l->count && str_equal_nocase(l->arg[l->next], "rdomain"))
		return conf_line_bad(l, "%s: routing domains are not supported on this system", l->keyword);
	if (a->count == LISTENS_MAX)
		return conf_line_bad(l, "%s: more than %d in all", l->keyword, LISTENS_MAX);
	if (conf_parse_host_port(word, &one.host, &one.port) != 0)
		return conf_line_bad(l, "%s: bad address \"%s\"", l->keyword, word);
	a->v = mem_resize(a->v, a->count + 1, sizeof(*a->v));
	a->v[a->count++] = one;
	return 0;
}

static void listens_clear(void *field)
{
	struct server_listens *a = field;
	size_t i;

	for (i = 0; i < a->count; i++)
		free(a->v[i].host);
	free(a->v);
}

static void listens_copy(void *dst, const void *src)
{
	const struct server_listens *from = src;
	struct server_listens *to = dst;
	size_t i;

	if (from->count == 0)
		return;
	to->v = mem_array(from->count, sizeof(*to->v));
	to->count = from->count;
	for (i = 0; i < from->count; i++)
		to->v[i] = (struct server_listen){ from->v[i].host == NULL ? NULL : mem_strdup(from->v[i].host),
			from->v[i].port };
}

/* Numeric addresses of a name, in the order of the resolver; the name itself when there are none. */
static void listen_addresses(const char *host, int family, struct str_list *out)
{
	struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *list, *i;
	char text[NI_MAXHOST];

	if (getaddrinfo(host, "22", &hints, &list) != 0) {
		str_list_add(out, host);
		return;
	}
	for (i = list; i != NULL; i = i->ai_next)
		if (getnameinfo(i->ai_addr, i->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST) == 0)
			str_list_add(out, text);
	freeaddrinfo(list);
}

static void listen_show_one(struct conf_dump *d, const struct conf_row *row, const char *address, unsigned port)
{
	if (strchr(address, ':') != NULL)
		conf_dump_value(d, row, "[%s]:%u", address, port);
	else
		conf_dump_value(d, row, "%s:%u", address, port);
}

static void listens_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct server_listens *a = field;
	const struct server_options *o = d->options;
	int family = o->address_family == SERVER_INET ? AF_INET :
		o->address_family == SERVER_INET6 ? AF_INET6 : AF_UNSPEC;
	size_t i, j, k;

	for (i = 0; a->count == 0 && i < o->port.count; i++) {
		if (family != AF_INET)
			listen_show_one(d, row, "::", o->port.v[i]);
		if (family != AF_INET6)
			listen_show_one(d, row, "0.0.0.0", o->port.v[i]);
	}
	for (i = 0; i < a->count; i++) {
		struct str_list addresses = { 0 };

		listen_addresses(a->v[i].host, family, &addresses);
		for (j = 0; j < addresses.count; j++) {
			if (a->v[i].port != 0)
				listen_show_one(d, row, addresses.v[j], a->v[i].port);
			for (k = 0; a->v[i].port == 0 && k < o->port.count; k++)
				listen_show_one(d, row, addresses.v[j], o->port.v[k]);
		}
		str_list_clear(&addresses);
	}
}

const struct conf_type server_type_listens = {
	sizeof(struct server_listens), listens_parse, listens_clear, listens_copy, listens_show
};

/* ---- numbers in groups */

/* "a:b:c" into numbers; how many, or 0 if malformed. */
static unsigned numbers(const char *text, unsigned *v, unsigned max)
{
	const char *p = text;
	unsigned n = 0;

	for (;;) {
		size_t size = strcspn(p, ":");
		char *word = mem_strndup(p, size);
		uint64_t value;
		int r = str_to_u64(word, 0, INT_MAX, &value);

		free(word);
		if (r != 0 || n == max)
			return 0;
		v[n++] = (unsigned)value;
		if (p[size] == '\0')
			return n;
		p += size + 1;
	}
}

static int startups_parse(struct conf_line *l, void *field)
{
	struct server_startups *s = field;
	const char *word = conf_line_need(l);
	unsigned v[3], n;

	if (word == NULL)
		return ERR_USAGE;
	n = numbers(word, v, 3);
	*s = (struct server_startups){ v[0], n == 3 ? v[1] : 30, n == 3 ? v[2] : v[0] };
	if ((n != 1 && n != 3) || s->rate < 1 || s->rate > 100 || s->start > s->full || s->full == 0)
		return conf_line_bad(l, "%s is NUMBER or START:RATE:FULL, not \"%s\"", l->keyword, word);
	return 0;
}

static void startups_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct server_startups *s = field;

	conf_dump_value(d, row, "%u:%u:%u", s->start, s->rate, s->full);
}

const struct conf_type server_type_startups = {
	sizeof(struct server_startups), startups_parse, NULL, NULL, startups_show
};

static int per_source_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);
	unsigned *v = field;

	if (word == NULL)
		return ERR_USAGE;
	*v = UINT_MAX;
	if (strcmp(word, "none") != 0 && numbers(word, v, 1) != 1)
		return conf_line_bad(l, "%s is a number or none, not \"%s\"", l->keyword, word);
	return 0;
}

static void per_source_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	unsigned v = *(const unsigned *)field;

	if (v == UINT_MAX)
		conf_dump_value(d, row, "none");
	else
		conf_dump_value(d, row, "%u", v);
}

const struct conf_type server_type_per_source = { sizeof(unsigned), per_source_parse, NULL, NULL, per_source_show };

static int block_size_parse(struct conf_line *l, void *field)
{
	struct server_block_size *b = field;
	const char *word = conf_line_need(l);
	unsigned v[2] = { 32, 128 }, n;

	if (word == NULL)
		return ERR_USAGE;
	n = numbers(word, v, 2);
	if (n == 0 || v[0] > 32 || v[1] > 128)
		return conf_line_bad(l, "%s is V4BITS[:V6BITS], not \"%s\"", l->keyword, word);
	*b = (struct server_block_size){ v[0], v[1] };
	return 0;
}

static void block_size_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct server_block_size *b = field;

	conf_dump_value(d, row, "%u:%u", b->v4, b->v6);
}

const struct conf_type server_type_block_size = {
	sizeof(struct server_block_size), block_size_parse, NULL, NULL, block_size_show
};

/* ---- lists of addresses */

static void text_clear(void *field)
{
	free(*(char **)field);
}

static void text_copy(void *dst, const void *src)
{
	const char *s = *(char *const *)src;

	*(char **)dst = s == NULL ? NULL : mem_strdup(s);
}

static void text_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const char *s = *(char *const *)field;

	conf_dump_value(d, row, "%s", s != NULL ? s : "none");
}

static int addresses_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);

	if (word == NULL)
		return ERR_USAGE;
	if (str_equal_nocase(word, "none"))
		return 0;
	if (match_address(NULL, word) == -2)
		return conf_line_bad(l, "%s: bad address list \"%s\"", l->keyword, word);
	*(char **)field = mem_strdup(word);
	return 0;
}

const struct conf_type server_type_addresses = { sizeof(char *), addresses_parse, text_clear, text_copy, text_show };

/* ---- Subsystem: name and a command line, quoted again where its words need it */

static char *quote_word(const char *word)
{
	char *out, *p;

	if (*word != '\0' && strpbrk(word, " \t\"'\\#") == NULL)
		return mem_strdup(word);
	out = p = mem_alloc(2 * strlen(word) + 3);
	*p++ = '"';
	for (; *word != '\0'; word++) {
		if (strchr("\"'\\", *word) != NULL)
			*p++ = '\\';
		*p++ = *word;
	}
	*p++ = '"';
	*p = '\0';
	return out;
}

static int subsystems_parse(struct conf_line *l, void *field)
{
	struct server_subsystems *s = field;
	const char *name = conf_line_need(l), *word;
	struct str_list words = { 0 };
	size_t i;

	if (name == NULL)
		return ERR_USAGE;
	while ((word = conf_line_next(l)) != NULL)
		str_list_add_take(&words, quote_word(word));
	if (words.count == 0)
		return conf_line_bad(l, "%s needs a name and a command", l->keyword);
	for (i = 0; i < s->count; i++)
		if (strcmp(s->v[i].name, name) == 0)
			break;
	/* The first definition of a name counts. */
	if (i == s->count) {
		s->v = mem_resize(s->v, s->count + 1, sizeof(*s->v));
		s->v[s->count++] = (struct server_subsystem){ mem_strdup(name), str_list_join(&words, " ") };
	}
	str_list_clear(&words);
	return 0;
}

static void subsystems_clear(void *field)
{
	struct server_subsystems *s = field;
	size_t i;

	for (i = 0; i < s->count; i++) {
		free(s->v[i].name);
		free(s->v[i].command);
	}
	free(s->v);
}

static void subsystems_copy(void *dst, const void *src)
{
	const struct server_subsystems *from = src;
	struct server_subsystems *to = dst;
	size_t i;

	if (from->count == 0)
		return;
	to->v = mem_array(from->count, sizeof(*to->v));
	to->count = from->count;
	for (i = 0; i < from->count; i++)
		to->v[i] = (struct server_subsystem){ mem_strdup(from->v[i].name), mem_strdup(from->v[i].command) };
}

static void subsystems_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct server_subsystems *s = field;
	size_t i;

	for (i = 0; i < s->count; i++)
		conf_dump_value(d, row, "%s %s", s->v[i].name, s->v[i].command);
}

const struct conf_type server_type_subsystems = {
	sizeof(struct server_subsystems), subsystems_parse, subsystems_clear, subsystems_copy, subsystems_show
};

/* ---- PermitUserEnvironment: yes and no in lower case; anything else is a pattern list */

static int permit_env_parse(struct conf_line *l, void *field)
{
	struct server_permit_env *v = field;
	const char *word = conf_line_need(l);

	if (word == NULL)
		return ERR_USAGE;
	v->yes = strcmp(word, "no") != 0;
	if (v->yes && strcmp(word, "yes") != 0)
		v->patterns = mem_strdup(word);
	return 0;
}

static void permit_env_clear(void *field)
{
	free(((struct server_permit_env *)field)->patterns);
}

static void permit_env_copy(void *dst, const void *src)
{
	const struct server_permit_env *from = src;

	*(struct server_permit_env *)dst = (struct server_permit_env){
		from->yes, from->patterns == NULL ? NULL : mem_strdup(from->patterns)
	};
}

static void permit_env_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct server_permit_env *v = field;

	conf_dump_value(d, row, "%s", v->patterns != NULL ? v->patterns : v->yes ? "yes" : "no");
}

const struct conf_type server_type_permit_env = {
	sizeof(struct server_permit_env), permit_env_parse, permit_env_clear, permit_env_copy, permit_env_show
};

/* ---- PubkeyAuthOptions */

static int pubkey_options_parse(struct conf_line *l, void *field)
{
	unsigned *v = field;
	const char *word;

	while ((word = conf_line_next(l)) != NULL) {
		if (str_equal_nocase(word, "touch-required"))
			*v |= SERVER_PUBKEY_TOUCH;
		else if (str_equal_nocase(word, "verify-required"))
			*v |= SERVER_PUBKEY_VERIFY;
		else if (!str_equal_nocase(word, "none"))
			return conf_line_bad(l, "%s does not take the value \"%s\"", l->keyword, word);
	}
	return 0;
}

static void pubkey_options_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	unsigned v = *(const unsigned *)field;
	const char *touch = (v & SERVER_PUBKEY_TOUCH) != 0 ? "touch-required" : "";
	const char *verify = (v & SERVER_PUBKEY_VERIFY) != 0 ? "verify-required" : "";

	conf_dump_value(d, row, "%s%s%s", v == 0 ? "none" : touch, *touch != '\0' && *verify != '\0' ? " " : "",
		verify);
}

const struct conf_type server_type_pubkey_options = {
	sizeof(unsigned), pubkey_options_parse, NULL, NULL, pubkey_options_show
};

/* ---- AuthenticationMethods */

bool server_auth_method_known(const char *method)
{
	static const char *const known[] = {
		"none", "publickey", "password", "keyboard-interactive", "hostbased", "gssapi-with-mic"
	};
	size_t i, n = strcspn(method, ":");

	for (i = 0; i < MEM_COUNT(known); i++)
		if (str_is(method, n, known[i]))
			return true;
	return false;
}

static bool methods_valid(const char *list)
{
	const char *cursor = list, *name;
	size_t n;
	bool any = false, good = true;

	while (good && str_next_name(&cursor, &name, &n)) {
		char *method = mem_strndup(name, n);

		good = server_auth_method_known(method);
		any = true;
		free(method);
	}
	return good && any;
}

static int methods_parse(struct conf_line *l, void *field)
{
	const char *word;

	if (l->count == 1 && strcmp(l->arg[0], "any") == 0) {
		l->next = 1;
		return 0;
	}
	while ((word = conf_line_next(l)) != NULL) {
		if (strcmp(word, "any") == 0)
			return conf_line_bad(l, "%s: any must stand alone", l->keyword);
		if (!methods_valid(word))
			return conf_line_bad(l, "%s: invalid method list \"%s\"", l->keyword, word);
		str_list_add(field, word);
	}
	return 0;
}

static void list_clear(void *field)
{
	str_list_clear(field);
}

static void list_copy(void *dst, const void *src)
{
	str_list_copy(dst, src);
}

static void methods_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct str_list *list = field;
	char *text = list->count != 0 ? str_list_join(list, " ") : mem_strdup("any");

	conf_dump_value(d, row, "%s", text);
	free(text);
}

const struct conf_type server_type_methods = {
	sizeof(struct str_list), methods_parse, list_clear, list_copy, methods_show
};

/* ---- UnusedConnectionTimeout, Compression */

static int unused_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);
	uint64_t v = 0;

	if (word == NULL)
		return ERR_USAGE;
	if (strcmp(word, "none") != 0 && (str_to_seconds(word, &v) != 0 || v > INT_MAX))
		return conf_line_bad(l, "%s: invalid time value \"%s\"", l->keyword, word);
	*(unsigned *)field = (unsigned)v;
	return 0;
}

static void unused_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	unsigned v = *(const unsigned *)field;

	if (v == 0)
		conf_dump_value(d, row, "none");
	else
		conf_dump_value(d, row, "%u", v);
}

const struct conf_type server_type_unused = { sizeof(unsigned), unused_parse, NULL, NULL, unused_show };

static int yes_delayed_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);

	if (word == NULL)
		return ERR_USAGE;
	*(bool *)field = !str_equal_nocase(word, "no");
	if (*(bool *)field && !str_equal_nocase(word, "yes") && !str_equal_nocase(word, "delayed"))
		return conf_line_bad(l, "%s does not take the value \"%s\"", l->keyword, word);
	return 0;
}

static void yes_delayed_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	conf_dump_value(d, row, "%s", *(const bool *)field ? "yes" : "no");
}

const struct conf_type server_type_yes_delayed = { sizeof(bool), yes_delayed_parse, NULL, NULL, yes_delayed_show };

/* ---- file names */

/* ~ is the daemon's user here. Relative names count from where the first process was started: others stand
 * elsewhere. */
static char *path_of(struct conf_line *l, const char *word, bool absolute)
{
	const struct server_parse *p = l->ctx;
	struct err e = { 0 };
	char *path = path_expand_tilde(word, p != NULL ? p->home : NULL, &e), *full;

	if (path == NULL) {
		conf_line_bad(l, "%s: %s", l->keyword, err_text(&e));
		return NULL;
	}
	if (!absolute || path[0] == '/' || p == NULL || p->cwd == NULL)
		return path;
	full = str_printf("%s/%s", strcmp(p->cwd, "/") == 0 ? "" : p->cwd, path);
	free(path);
	return full;
}

/* Words that stand for something else than a file. */
static bool path_is_word(const struct conf_line *l, const char *word)
{
	const char *cursor = l->row->arg, *name;
	size_t n;

	while (cursor != NULL && str_next_name(&cursor, &name, &n))
		if (str_is(name, n, word))
			return true;
	return false;
}

static int path_parse_as(struct conf_line *l, char **out, bool absolute)
{
	const char *word = conf_line_need(l);

	if (word == NULL)
		return ERR_USAGE;
	if (str_equal_nocase(word, "none"))
		return 0;
	*out = path_is_word(l, word) ? mem_strdup(word) : path_of(l, word, absolute);
	return *out != NULL ? 0 : ERR_USAGE;
}

static int path_parse(struct conf_line *l, void *field)
{
	return path_parse_as(l, field, true);
}

static int home_path_parse(struct conf_line *l, void *field)
{
	return path_parse_as(l, field, false);
}

const struct conf_type server_type_path = { sizeof(char *), path_parse, text_clear, text_copy, text_show };
const struct conf_type server_type_home_path = { sizeof(char *), home_path_parse, text_clear, text_copy, text_show };

static void items_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct str_list *list = field;
	size_t i;

	for (i = 0; i < list->count; i++)
		conf_dump_value(d, row, "%s", list->v[i]);
}

/* One a line; the default has several. */
static int paths_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);

	if (word == NULL)
		return ERR_USAGE;
	for (; word != NULL; word = l->origin == CONF_DEFAULT ? conf_line_next(l) : NULL) {
		char *path = str_equal_nocase(word, "none") ? mem_strdup("none") : path_of(l, word, true);

		if (path == NULL)
			return ERR_USAGE;
		str_list_add_take(field, path);
	}
	return 0;
}

const struct conf_type server_type_paths = { sizeof(struct str_list), paths_parse, list_clear, list_copy, items_show };

static int home_paths_parse(struct conf_line *l, void *field)
{
	const char *word;

	if (l->count == 1 && str_equal_nocase(l->arg[0], "none")) {
		l->next = 1;
		return 0;
	}
	while ((word = conf_line_next(l)) != NULL) {
		char *path;

		if (*word == '\0' || str_equal_nocase(word, "none"))
			return conf_line_bad(l, "%s: none must stand alone, and no name may be empty", l->keyword);
		path = path_of(l, word, false);
		if (path == NULL)
			return ERR_USAGE;
		str_list_add_take(field, path);
	}
	return 0;
}

static void list_opt_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct str_list *list = field;
	char *text;

	if (list->count == 0)
		return;
	text = str_list_join(list, " ");
	conf_dump_value(d, row, "%s", text);
	free(text);
}

const struct conf_type server_type_home_paths = {
	sizeof(struct str_list), home_paths_parse, list_clear, list_copy, list_opt_show
};

static int list_opt_parse(struct conf_line *l, void *field)
{
	return conf_list.parse(l, field);
}

const struct conf_type server_type_list_opt = {
	sizeof(struct str_list), list_opt_parse, list_clear, list_copy, list_opt_show
};

/* ---- commands */

static int command_parse(struct conf_line *l, void *field)
{
	if (str_equal_nocase(l->rest, "none"))
		return 0;
	if (l->rest[0] != '/')
		return conf_line_bad(l, "%s must be an absolute path", l->keyword);
	*(char **)field = mem_strdup(l->rest);
	return 0;
}

const struct conf_type server_type_command = { sizeof(char *), command_parse, text_clear, text_copy, text_show };

/* ---- AllowUsers, DenyUsers, AcceptEnv */

static int users_parse(struct conf_line *l, void *field)
{
	const char *word;

	while ((word = conf_line_next(l)) != NULL) {
		if (*word == '\0' || match_user_host(NULL, NULL, NULL, word) == -2)
			return conf_line_bad(l, "%s: invalid pattern \"%s\"", l->keyword, word);
		str_list_add(field, word);
	}
	return 0;
}

const struct conf_type server_type_users = { sizeof(struct str_list), users_parse, list_clear, list_copy, items_show };

static int env_names_parse(struct conf_line *l, void *field)
{
	const char *word;

	while ((word = conf_line_next(l)) != NULL) {
		if (*word == '\0' || strchr(word, '=') != NULL)
			return conf_line_bad(l, "%s takes names, not \"%s\"", l->keyword, word);
		str_list_add(field, word);
	}
	return 0;
}

const struct conf_type server_type_env_names = {
	sizeof(struct str_list), env_names_parse, list_clear, list_copy, items_show
};

/* ---- RDomain: there are none on Linux, and the line asks for separation */

static int rdomain_parse(struct conf_line *l, void *field)
{
	(void)field;
	return conf_line_bad(l, "%s: routing domains are not supported on this system", l->keyword);
}

const struct conf_type server_type_rdomain = { sizeof(char *), rdomain_parse, text_clear, text_copy, NULL };
