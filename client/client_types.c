/* client/client_types.c: kinds of values that only ssh_config has (ssh_config(5)), and how `ssh -G` shows them. */
#include "client/client_types.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/match.h"
#include "base/mem.h"
#include "client/client_options.h"

static char *dup_or_null(const char *s)
{
	return s == NULL ? NULL : mem_strdup(s);
}

/* yes, no and their synonyms in any case: 1, 0, or -1 for another word. */
static int yes_or_no(const char *word)
{
	if (str_equal_nocase(word, "yes") || str_equal_nocase(word, "true"))
		return 1;
	return str_equal_nocase(word, "no") || str_equal_nocase(word, "false") ? 0 : -1;
}

/* ---- Compression */

static int yes_no_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);

	if (word == NULL)
		return ERR_USAGE;
	if (!str_equal_nocase(word, "yes") && !str_equal_nocase(word, "no"))
		return conf_line_bad(l, "%s is yes or no, not \"%s\"", l->keyword, word);
	*(bool *)field = str_equal_nocase(word, "yes");
	return 0;
}

static void yes_no_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	conf_dump_value(d, row, "%s", *(const bool *)field ? "yes" : "no");
}

const struct conf_type client_type_yes_no = { sizeof(bool), yes_no_parse, NULL, NULL, yes_no_show };

/* ---- AddKeysToAgent */

static int add_keys_lifetime(struct conf_line *l, const char *word, struct client_add_keys *v)
{
	uint64_t seconds;

	if (str_to_seconds(word, &seconds) != 0 || seconds > INT_MAX)
		return conf_line_bad(l, "%s: invalid time value \"%s\"", l->keyword, word);
	v->lifetime_s = (uint32_t)seconds;
	return 0;
}

static int add_keys_parse(struct conf_line *l, void *field)
{
	struct client_add_keys *v = field;
	const char *word = conf_line_need(l);

	if (word == NULL)
		return ERR_USAGE;
	if (yes_or_no(word) >= 0) {
		v->mode = yes_or_no(word) == 1 ? CLIENT_YES : CLIENT_NO;
		return 0;
	}
	if (str_equal_nocase(word, "ask")) {
		v->mode = CLIENT_ASK;
		return 0;
	}
	if (!str_equal_nocase(word, "confirm")) {
		v->mode = CLIENT_YES;
		return add_keys_lifetime(l, word, v);
	}
	v->mode = CLIENT_CONFIRM;
	word = conf_line_next(l);
	return word == NULL ? 0 : add_keys_lifetime(l, word, v);
}

static void add_keys_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct client_add_keys *v = field;

	if (v->mode == CLIENT_CONFIRM && v->lifetime_s != 0)
		conf_dump_value(d, row, "confirm %u", v->lifetime_s);
	else if (v->mode == CLIENT_YES && v->lifetime_s != 0)
		conf_dump_value(d, row, "%u", v->lifetime_s);
	else
		conf_dump_value(d, row, "%s", v->mode == CLIENT_NO ? "false" : v->mode == CLIENT_YES ? "true" :
			v->mode == CLIENT_ASK ? "ask" : "confirm");
}

const struct conf_type client_type_add_keys = {
	sizeof(struct client_add_keys), add_keys_parse, NULL, NULL, add_keys_show
};

/* ---- ControlPersist: its words are known in lower case only */

static int persist_parse(struct conf_line *l, void *field)
{
	struct client_persist *v = field;
	const char *word = conf_line_need(l);
	uint64_t seconds;

	if (word == NULL)
		return ERR_USAGE;
	if (strcmp(word, "no") == 0 || strcmp(word, "false") == 0)
		return 0;
	v->on = true;
	if (strcmp(word, "yes") == 0 || strcmp(word, "true") == 0)
		return 0;
	if (str_to_seconds(word, &seconds) != 0 || seconds > INT_MAX)
		return conf_line_bad(l, "%s: invalid time value \"%s\"", l->keyword, word);
	v->seconds = (uint32_t)seconds;
	return 0;
}

static void persist_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct client_persist *v = field;

	if (v->on && v->seconds != 0)
		conf_dump_value(d, row, "%u", v->seconds);
	else
		conf_dump_value(d, row, "%s", v->on ? "yes" : "no");
}

const struct conf_type client_type_persist = { sizeof(struct client_persist), persist_parse, NULL, NULL, persist_show };

/* ---- ForwardAgent */

static int forward_agent_parse(struct conf_line *l, void *field)
{
	struct client_forward_agent *v = field;
	const char *word = conf_line_need(l);

	if (word == NULL)
		return ERR_USAGE;
	v->on = yes_or_no(word) != 0;
	if (yes_or_no(word) < 0)
		v->path = mem_strdup(word);
	return 0;
}

static void forward_agent_clear(void *field)
{
	free(((struct client_forward_agent *)field)->path);
}

static void forward_agent_copy(void *dst, const void *src)
{
	const struct client_forward_agent *from = src;

	*(struct client_forward_agent *)dst = (struct client_forward_agent){ from->on, dup_or_null(from->path) };
}

static void forward_agent_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct client_forward_agent *v = field;

	conf_dump_value(d, row, "%s", v->path != NULL ? v->path : v->on ? "yes" : "no");
}

const struct conf_type client_type_forward_agent = {
	sizeof(struct client_forward_agent), forward_agent_parse, forward_agent_clear, forward_agent_copy,
	forward_agent_show
};

/* ---- TunnelDevice: local[:remote], a number or any each */

static int tun_unit(const char *s, size_t n, int *out)
{
	char *word = mem_strndup(s, n);
	uint64_t v = 0;
	int r = 0;

	*out = CLIENT_TUN_ANY;
	if (!str_equal_nocase(word, "any")) {
		r = str_to_u64(word, 0, INT_MAX - 2, &v);
		*out = (int)v;
	}
	free(word);
	return r;
}

static int tun_parse(struct conf_line *l, void *field)
{
	struct client_tun *v = field;
	const char *word = conf_line_need(l);
	size_t n;

	if (word == NULL)
		return ERR_USAGE;
	n = strcspn(word, ":");
	v->remote = CLIENT_TUN_ANY;
	if (tun_unit(word, n, &v->local) != 0 ||
	    (word[n] == ':' && tun_unit(word + n + 1, strlen(word + n + 1), &v->remote) != 0))
		return conf_line_bad(l, "Bad tun device \"%s\"", word);
	return 0;
}

static void tun_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct client_tun *v = field;
	char *local = v->local == CLIENT_TUN_ANY ? mem_strdup("any") : str_printf("%d", v->local);
	char *remote = v->remote == CLIENT_TUN_ANY ? mem_strdup("any") : str_printf("%d", v->remote);

	conf_dump_value(d, row, "%s:%s", local, remote);
	free(local);
	free(remote);
}

const struct conf_type client_type_tun = { sizeof(struct client_tun), tun_parse, NULL, NULL, tun_show };

/* ---- CanonicalizePermittedCNAMEs */

static void cnames_add(struct client_cnames *c, char *source, char *target)
{
	c->v = mem_resize(c->v, c->count + 1, sizeof(*c->v));
	c->v[c->count++] = (struct client_cname){ source, target };
}

static int cnames_parse(struct conf_line *l, void *field)
{
	const char *word;
	size_t n;

	if (l->count == 1 && str_equal_nocase(l->arg[0], "none")) {
		l->next = 1;
		return 0;
	}
	while ((word = conf_line_next(l)) != NULL) {
		n = strcspn(word, ":");
		if (strcmp(word, "*") == 0 && l->count == 1)
			cnames_add(field, mem_strdup("*"), mem_strdup("*"));
		else if (n == 0 || word[n] != ':' || word[n + 1] == '\0')
			return conf_line_bad(l, "%s needs SOURCE:TARGET, not \"%s\"", l->keyword, word);
		else
			cnames_add(field, mem_strndup(word, n), mem_strdup(word + n + 1));
	}
	return 0;
}

static void cnames_clear(void *field)
{
	struct client_cnames *c = field;
	size_t i;

	for (i = 0; i < c->count; i++) {
		free(c->v[i].source);
		free(c->v[i].target);
	}
	free(c->v);
}

static void cnames_copy(void *dst, const void *src)
{
	const struct client_cnames *c = src;
	size_t i;

	for (i = 0; i < c->count; i++)
		cnames_add(dst, mem_strdup(c->v[i].source), mem_strdup(c->v[i].target));
}

static void cnames_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct client_cnames *c = field;
	struct str_list words = { 0 };
	char *text;
	size_t i;

	for (i = 0; i < c->count; i++)
		str_list_add_take(&words, str_printf("%s:%s", c->v[i].source, c->v[i].target));
	text = words.count != 0 ? str_list_join(&words, " ") : mem_strdup("none");
	conf_dump_value(d, row, "%s", text);
	free(text);
	str_list_clear(&words);
}

const struct conf_type client_type_cnames = {
	sizeof(struct client_cnames), cnames_parse, cnames_clear, cnames_copy, cnames_show
};

/* ---- ProxyJump: [user@]host[:port] or ssh://..., comma separated; the last hop is kept in parts */

static void jump_clear(void *field)
{
	struct client_jump *j = field;

	free(j->user);
	free(j->host);
	free(j->earlier);
	*j = (struct client_jump){ 0 };
}

static int jump_hop(const char *hop, struct client_jump *out)
{
	const char *rest = hop, *at;
	char *text;
	size_t n;
	int r;

	if (str_starts(rest, "ssh://"))
		rest += 6;
	n = strlen(rest);
	if (rest != hop && n > 0 && rest[n - 1] == '/')
		n--;
	text = mem_strndup(rest, n);
	at = strrchr(text, '@');
	if (at != NULL)
		out->user = mem_strndup(text, (size_t)(at - text));
	r = conf_parse_host_port(at != NULL ? at + 1 : text, &out->host, &out->port);
	free(text);
	if (r != 0)
		return r;
	if (!client_host_arg_ok(out->host))
		return ERR_USAGE;
	return out->user == NULL || (out->user[0] != '\0' && client_user_arg_ok(out->user)) ? 0 : ERR_USAGE;
}

/* Every hop is checked, the last one is kept in parts. */
static int jump_split(const char *text, struct client_jump *j)
{
	const char *p = text;
	size_t n;
	int r;

	for (;;) {
		char *hop;

		n = strcspn(p, ",");
		hop = mem_strndup(p, n);
		jump_clear(j);
		r = jump_hop(hop, j);
		free(hop);
		if (r != 0)
			return r;
		if (p[n] == '\0')
			break;
		p += n + 1;
	}
	if (p != text)
		j->earlier = mem_strndup(text, (size_t)(p - text - 1));
	return 0;
}

static int jump_parse(struct conf_line *l, void *field)
{
	struct client_jump *j = field;

	if (str_equal_nocase(l->rest, "none"))
		return 0;
	if (jump_split(l->rest, j) != 0)
		return conf_line_bad(l, "Invalid ProxyJump \"%s\"", l->rest);
	return 0;
}

static void jump_copy(void *dst, const void *src)
{
	const struct client_jump *j = src;

	*(struct client_jump *)dst = (struct client_jump){
		.user = dup_or_null(j->user), .host = dup_or_null(j->host), .earlier = dup_or_null(j->earlier),
		.port = j->port
	};
}

static void jump_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct client_jump *j = field;
	bool address;
	char port[16] = "";

	if (j->host == NULL)
		return;
	address = strchr(j->host, ':') != NULL || strspn(j->host, "0123456789.") == strlen(j->host);
	if (j->port != 0) {
		char *text = str_printf(":%u", j->port);

		(void)str_copy(port, sizeof(port), text);
		free(text);
	}
	conf_dump_value(d, row, "%s%s%s%s%s%s%s%s", j->earlier != NULL ? j->earlier : "", j->earlier != NULL ? "," : "",
		j->user != NULL ? j->user : "", j->user != NULL ? "@" : "", address ? "[" : "", j->host,
		address ? "]" : "", port);
}

const struct conf_type client_type_jump = { sizeof(struct client_jump), jump_parse, jump_clear, jump_copy, jump_show };

/* ---- IdentityFile, CertificateFile */

enum { FILES_MAX = 100 };

static void files_add(struct client_files *f, const char *path, enum conf_origin origin)
{
	f->v = mem_resize(f->v, f->count + 1, sizeof(*f->v));
	f->v[f->count++] = (struct client_file){ mem_strdup(path), origin };
}

static int files_parse(struct conf_line *l, void *field)
{
	struct client_files *f = field;
	const char *word = l->origin == CONF_DEFAULT ? conf_line_next(l) : conf_line_need(l);
	size_t i;

	if (word == NULL)
		return ERR_USAGE;
	/* The default is several names on one "line". */
	for (; word != NULL; word = l->origin == CONF_DEFAULT ? conf_line_next(l) : NULL) {
		for (i = 0; i < f->count; i++)
			if (f->v[i].origin == l->origin && strcmp(f->v[i].path, word) == 0)
				break;
		if (i < f->count)
			continue;
		if (f->count >= FILES_MAX)
			return conf_line_bad(l, "%s: more than %d in all", l->keyword, FILES_MAX);
		files_add(f, word, l->origin);
	}
	return 0;
}

static void files_clear(void *field)
{
	struct client_files *f = field;
	size_t i;

	for (i = 0; i < f->count; i++)
		free(f->v[i].path);
	free(f->v);
}

static void files_copy(void *dst, const void *src)
{
	const struct client_files *f = src;
	size_t i;

	for (i = 0; i < f->count; i++)
		files_add(dst, f->v[i].path, f->v[i].origin);
}

static void files_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct client_files *f = field;
	size_t i;

	for (i = 0; i < f->count; i++)
		conf_dump_value(d, row, "%s", f->v[i].path);
}

const struct conf_type client_type_files = {
	sizeof(struct client_files), files_parse, files_clear, files_copy, files_show
};

/* ---- SendEnv */

/* "-pattern" drops what was named before and matches. */
static void send_env_remove(struct str_list *list, const char *pattern)
{
	struct str_list kept = { 0 };
	size_t i;

	for (i = 0; i < list->count; i++)
		if (!match_pattern(list->v[i], pattern))
			str_list_add(&kept, list->v[i]);
	str_list_clear(list);
	*list = kept;
}

static int send_env_parse(struct conf_line *l, void *field)
{
	struct str_list *list = field;
	const char *word;

	while ((word = conf_line_next(l)) != NULL) {
		if (*word == '\0' || strchr(word, '=') != NULL)
			return conf_line_bad(l, "%s takes names, not \"%s\"", l->keyword, word);
		if (*word == '-')
			send_env_remove(list, word + 1);
		else
			str_list_add(list, word);
	}
	return 0;
}

static void send_env_clear(void *field)
{
	str_list_clear(field);
}

static void send_env_copy(void *dst, const void *src)
{
	str_list_copy(dst, src);
}

static void send_env_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const struct str_list *list = field;
	size_t i;

	for (i = 0; i < list->count; i++)
		conf_dump_value(d, row, "%s", list->v[i]);
}

const struct conf_type client_type_send_env = {
	sizeof(struct str_list), send_env_parse, send_env_clear, send_env_copy, send_env_show
};

/* ---- EscapeChar */

static int escape_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);
	unsigned char c;

	if (word == NULL)
		return ERR_USAGE;
	c = (unsigned char)word[word[0] == '^' ? 1 : 0];
	if (strcmp(word, "none") == 0)
		*(int *)field = CLIENT_ESCAPE_NONE;
	else if (strlen(word) == 1)
		*(int *)field = (unsigned char)word[0];
	else if (strlen(word) == 2 && word[0] == '^' && c >= 64 && c < 128)
		*(int *)field = c & 31;
	else
		return conf_line_bad(l, "Bad escape character \"%s\"", word);
	return 0;
}

/* As vis(3) writes a byte, white space in octal. */
static void escape_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	int c = *(const int *)field;
	const char *meta = c >= 128 ? "\\M" : "";
	int low = c & 127;

	if (c == CLIENT_ESCAPE_NONE)
		conf_dump_value(d, row, "none");
	else if (c == '\\')
		conf_dump_value(d, row, "\\\\");
	else if (low == ' ')
		conf_dump_value(d, row, "\\%03o", (unsigned)c);
	else if (low > 32 && low < 127)
		conf_dump_value(d, row, c >= 128 ? "%s-%c" : "%s%c", meta, low);
	else
		conf_dump_value(d, row, c >= 128 ? "%s^%c" : "%s\\^%c", meta, low ^ 64);
}

const struct conf_type client_type_escape = { sizeof(int), escape_parse, NULL, NULL, escape_show };

/* ---- ObscureKeystrokeTiming */

enum { OBSCURE_DEFAULT_MS = 20, OBSCURE_MAX_MS = 1000 };

static int obscure_parse(struct conf_line *l, void *field)
{
	unsigned *v = field;
	const char *word = conf_line_need(l);
	uint64_t ms;

	if (word == NULL)
		return ERR_USAGE;
	if (strcmp(word, "yes") == 0 || strcmp(word, "true") == 0)
		*v = OBSCURE_DEFAULT_MS;
	else if (strcmp(word, "no") == 0 || strcmp(word, "false") == 0)
		*v = 0;
	else if (str_starts(word, "interval:") && str_to_u64(word + 9, 1, OBSCURE_MAX_MS, &ms) == 0)
		*v = (unsigned)ms;
	else
		return conf_line_bad(l, "%s is yes, no or interval:MS up to %d, not \"%s\"", l->keyword,
			OBSCURE_MAX_MS, word);
	return 0;
}

static void obscure_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	unsigned v = *(const unsigned *)field;

	if (v == 0 || v == OBSCURE_DEFAULT_MS)
		conf_dump_value(d, row, "%s", v != 0 ? "yes" : "no");
	else
		conf_dump_value(d, row, "%u", v);
}

const struct conf_type client_type_obscure = { sizeof(unsigned), obscure_parse, NULL, NULL, obscure_show };

/* ---- RefuseConnection, LogVerbose, VersionAddendum */

static void text_clear(void *field)
{
	free(*(char **)field);
}

static void text_copy(void *dst, const void *src)
{
	*(char **)dst = dup_or_null(*(char *const *)src);
}

static int refuse_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);

	(void)field;
	if (word == NULL)
		return ERR_USAGE;
	if (!l->active)
		return 0;
	return err_set(l->err, ERR_DENIED, "%s line %u: RefuseConnection: %s", l->file, l->number, word);
}

const struct conf_type client_type_refuse = { sizeof(char *), refuse_parse, text_clear, text_copy, NULL };

/* Of several arguments the first counts. */
static int log_verbose_parse(struct conf_line *l, void *field)
{
	const char *word = conf_line_need(l);

	if (word == NULL)
		return ERR_USAGE;
	l->next = l->count;
	*(char **)field = l->count == 1 && str_equal_nocase(word, "none") ? NULL : mem_strdup(word);
	return 0;
}

static void log_verbose_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const char *s = *(char *const *)field;

	conf_dump_value(d, row, "%s", s != NULL ? s : "none");
}

const struct conf_type client_type_log_verbose = {
	sizeof(char *), log_verbose_parse, text_clear, text_copy, log_verbose_show
};

static int addendum_parse(struct conf_line *l, void *field)
{
	*(char **)field = str_equal_nocase(l->rest, "none") ? NULL : mem_strdup(l->rest);
	return 0;
}

/* Set to none it is shown without a value; not set at all it is left out. */
static void addendum_show(struct conf_dump *d, const struct conf_row *row, const void *field)
{
	const char *s = *(char *const *)field;

	if (conf_origin_at(d->table, d->options, row->offset) > CONF_DEFAULT)
		conf_dump_value(d, row, "%s", s != NULL ? s : "");
}

const struct conf_type client_type_addendum = { sizeof(char *), addendum_parse, text_clear, text_copy, addendum_show };
