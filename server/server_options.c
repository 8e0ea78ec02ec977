/* server/server_options.c: sshd_config as text and as a struct: read once, evaluated for the whole server and again
 * for each connection, handed to other processes. */
#include "server/server_options.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "cipher.h"
#include "keys/key.h"
#include "mac.h"
#include "paths.h"
#include "preference.h"
#include "proposal.h"
#include "server/server_types.h"

/* ---- algorithms that this build knows */

static const char *kex_defaults(void)
{
	return proposal_default_kex(true);
}

static const char *key_defaults(void)
{
	return conf_default_keys;
}

static const char *ca_key_defaults(void)
{
	return conf_default_ca_keys;
}

const struct conf_alg_kind server_kind_ciphers = {
	.what = "cipher", .built_at = cipher_name_at, .unbuilt = conf_unbuilt_ciphers,
	.defaults = proposal_default_ciphers, .prepare = cipher_prepare,
	.none_hint = "cipher none cannot be chosen here: NoneEnabled permits it to clients, after authentication"
};
const struct conf_alg_kind server_kind_macs = {
	.what = "MAC", .built_at = mac_name_at, .unbuilt = conf_unbuilt_macs, .defaults = proposal_default_macs
};
const struct conf_alg_kind server_kind_kex = {
	.what = "key exchange method", .built_at = proposal_kex_at, .unbuilt = conf_unbuilt_kex,
	.defaults = kex_defaults
};
const struct conf_alg_kind server_kind_keys = {
	.what = "key algorithm", .built_at = sig_alg_name_at, .unbuilt = conf_unbuilt_keys, .defaults = key_defaults,
	.wildcards = true, .legacy = sig_alg_is_legacy
};
const struct conf_alg_kind server_kind_ca_keys = {
	.what = "CA key algorithm", .built_at = sig_alg_name_at, .unbuilt = conf_unbuilt_ca_keys,
	.defaults = ca_key_defaults, .wildcards = true, .legacy = sig_alg_is_legacy
};

/* ---- the struct */

void server_options_clear(struct server_options *o)
{
	conf_options_clear(&server_options_table, o);
}

void server_options_copy(struct server_options *dst, const struct server_options *src)
{
	conf_options_copy(&server_options_table, dst, src);
}

enum conf_origin server_options_origin(const struct server_options *o, size_t offset)
{
	return conf_origin_at(&server_options_table, o, offset);
}

int server_options_compress_level(const struct server_options *o)
{
	return conf_compress_level(o->compression_level, SERVER_ORIGIN(o, compression_level),
		o->compression_mode == SERVER_AUTO, SERVER_ORIGIN(o, compression_mode));
}

void server_options_dump(const struct server_options *o, void (*line)(void *ctx, const char *text), void *ctx)
{
	conf_dump(&server_options_table, o, line, ctx);
}

/* ---- defaults that rows cannot say, and checks of values against each other */

static void fill_algs(struct server_options *o)
{
	const struct { struct conf_algs *list; const struct conf_alg_kind *kind; size_t offset; } lists[] = {
#define LIST(f, k) { &o->f, &(k), offsetof(struct server_options, f) }
		LIST(ciphers, server_kind_ciphers), LIST(macs, server_kind_macs), LIST(kex_algorithms, server_kind_kex),
		LIST(host_key_algorithms, server_kind_keys), LIST(hostbased_accepted_algorithms, server_kind_keys),
		LIST(pubkey_accepted_algorithms, server_kind_keys), LIST(ca_signature_algorithms, server_kind_ca_keys),
#undef LIST
	};
	size_t i;

	for (i = 0; i < MEM_COUNT(lists); i++) {
		if (lists[i].list->names != NULL)
			continue;
		lists[i].list->names = conf_algs_filter(lists[i].kind, lists[i].kind->defaults());
		conf_set_origin_at(&server_options_table, o, lists[i].offset, CONF_DEFAULT);
	}
}

/* A list that consists of the word none is empty. */
static void fill_drop_none(struct str_list *l)
{
	if (l->count == 1 && strcmp(l->v[0], "none") == 0)
		str_list_clear(l);
}

static bool method_enabled(const struct server_options *o, const char *name, size_t n)
{
	n = strcspn(name, ":") < n ? strcspn(name, ":") : n;
	if (str_is(name, n, "publickey"))
		return o->pubkey_authentication;
	if (str_is(name, n, "password"))
		return o->password_authentication;
	if (str_is(name, n, "keyboard-interactive"))
		return o->kbd_interactive_authentication;
	if (str_is(name, n, "hostbased"))
		return o->hostbased_authentication;
	return str_is(name, n, "none") && o->permit_empty_passwords;
}

bool server_options_methods_usable(const struct server_options *o)
{
	size_t i, n;

	for (i = 0; i < o->authentication_methods.count; i++) {
		const char *cursor = o->authentication_methods.v[i], *name;
		bool all = true;

		while (str_next_name(&cursor, &name, &n))
			all = all && method_enabled(o, name, n);
		if (all)
			return true;
	}
	return o->authentication_methods.count == 0;
}

static int fill_check(const struct server_options *o, struct err *e)
{
	if (!server_options_methods_usable(o))
		return err_set(e, ERR_USAGE,
			"AuthenticationMethods cannot be satisfied by enabled authentication methods");
	if (o->authorized_keys_command != NULL && o->authorized_keys_command_user == NULL)
		return err_set(e, ERR_USAGE, "AuthorizedKeysCommand set without AuthorizedKeysCommandUser");
	if (o->authorized_principals_command != NULL && o->authorized_principals_command_user == NULL)
		return err_set(e, ERR_USAGE, "AuthorizedPrincipalsCommand set without AuthorizedPrincipalsCommandUser");
	return 0;
}

/* ---- the configuration of a server */

struct server_config {
	struct conf_source files;
	struct str_list lines;           /* of -o and of flags, in order */
	struct server_ports ports;       /* of -p */
	char *path;                      /* NULL: not loaded; "none": no file */
	char *cwd, *home;                /* of the process that was started by hand */
	char *cipher_order, *mac_order;  /* of CipherPreference fastest; NULL: not measured */
	struct server_options options;
};

enum { CONFIG_STRING_MAX = 64 * 1024, CONFIG_ITEMS_MAX = 65536 };

static struct server_config *config_alloc(void)
{
	return mem_zalloc(sizeof(struct server_config));
}

struct server_config *server_config_new(void)
{
	struct server_config *c = config_alloc();
	const struct passwd *pw = getpwuid(geteuid());

	c->cwd = getcwd(NULL, 0);
	c->home = mem_strdup(pw != NULL && pw->pw_dir != NULL ? pw->pw_dir : "/");
	return c;
}

void server_config_free(struct server_config *c)
{
	if (c == NULL)
		return;
	conf_source_clear(&c->files);
	str_list_clear(&c->lines);
	free(c->path);
	free(c->cwd);
	free(c->home);
	free(c->cipher_order);
	free(c->mac_order);
	server_options_clear(&c->options);
	free(c);
}

static struct server_parse config_parse(const struct server_config *c, const struct server_subject *who)
{
	return (struct server_parse){ .cwd = c->cwd, .home = c->home, .ports_from_flags = c->ports.count != 0,
		.who = who };
}

static struct conf_reader config_reader(struct server_config *c, struct server_options *o, struct server_parse *parse)
{
	struct conf_reader r;

	conf_reader_init(&r, &server_options_table, o, &c->files);
	r.ctx = parse;
	r.include_dir = PATH_SYSCONFDIR;
	return r;
}

int server_config_add_line(struct server_config *c, const char *text, struct err *e)
{
	struct server_parse parse = config_parse(c, NULL);
	struct conf_reader r = config_reader(c, &c->options, &parse);
	int code = conf_read_line(&r, text, "command-line", CONF_COMMAND_LINE, e);

	if (code == 0)
		str_list_add(&c->lines, text);
	return code;
}

int server_config_add_port(struct server_config *c, unsigned port, struct err *e)
{
	char *text = str_printf("Port %u", port);
	int code = server_config_add_line(c, text, e);

	free(text);
	if (code == 0)
		c->ports.v[c->ports.count++] = port;
	return code;
}

static int config_evaluate(struct server_config *c, bool quiet, struct err *e)
{
	struct server_parse parse = config_parse(c, NULL);
	struct conf_reader r = config_reader(c, &c->options, &parse);
	int code;

	r.quiet = quiet;
	if (strcmp(c->path, "none") != 0) {
		code = conf_read_file(&r, c->path, CONF_SYSTEM_FILE, e);
		if (code != 0)
			return code;
	}
	code = conf_fill_defaults(&server_options_table, &c->options, &parse, e);
	if (code != 0)
		return code;
	fill_algs(&c->options);
	fill_drop_none(&c->options.host_key);
	fill_drop_none(&c->options.host_certificate);
	return fill_check(&c->options, e);
}

int server_config_load(struct server_config *c, const char *path, struct err *e)
{
	int code;

	free(c->path);
	c->path = mem_strdup(path);
	code = config_evaluate(c, false, e);
	/* From here on the text that was read is all there is. */
	c->files.sealed = code == 0;
	return code;
}

const struct server_options *server_config_options(const struct server_config *c)
{
	return &c->options;
}

int server_config_match(const struct server_config *c, const struct server_subject *who, struct server_options *out,
	struct err *e)
{
	/* Reading does not change a sealed source, and nothing else of c is written. */
	struct server_config *reading = (struct server_config *)(uintptr_t)c;
	struct server_options matched = { .marks = { { 0 } } };
	struct server_parse parse = config_parse(c, who);
	struct conf_reader r = config_reader(reading, &matched, &parse);
	int code = 0;

	r.blocks_only = true;
	r.quiet = true;
	if (strcmp(c->path, "none") != 0)
		code = conf_read_file(&r, c->path, CONF_SYSTEM_FILE, e);
	if (code == 0) {
		server_options_copy(out, &c->options);
		conf_options_merge(&server_options_table, out, &matched);
	}
	server_options_clear(&matched);
	return code;
}

/* ---- CipherPreference */

static void apply_order(struct conf_algs *list, const char *order)
{
	if (order == NULL)
		return;
	free(list->names);
	list->names = mem_strdup(order);
}

static void config_apply_order(struct server_config *c)
{
	apply_order(&c->options.ciphers, c->cipher_order);
	apply_order(&c->options.macs, c->mac_order);
}

void server_config_prefer(struct server_config *c)
{
	const char *ciphers = c->options.ciphers.names, *macs = c->options.macs.names;
	struct preference p = { .count = 0 };

	if (c->options.cipher_preference != SERVER_FASTEST)
		return;
	(void)preference_measure(&p, ciphers, macs);
	c->cipher_order = preference_ciphers(&p, ciphers, macs);
	c->mac_order = preference_macs(&p, macs);
	log_debug("CipherPreference fastest: %s; %s", c->cipher_order, c->mac_order);
	config_apply_order(c);
}

/* ---- hand-over */

/* NULL goes as an empty string. */
static void put_order(struct buf *out, const char *order)
{
	buf_put_cstring(out, order != NULL ? order : "");
}

static char *get_order(struct reader *r)
{
	char *order = reader_cstring(r, CONFIG_STRING_MAX);

	if (order != NULL && *order != '\0')
		return order;
	free(order);
	return NULL;
}

static void put_list(struct buf *out, const struct str_list *l)
{
	size_t i;

	buf_put_u32(out, (uint32_t)l->count);
	for (i = 0; i < l->count; i++)
		buf_put_cstring(out, l->v[i]);
}

static bool get_list(struct reader *r, struct str_list *l)
{
	uint32_t i, n = reader_u32(r);

	if (n > CONFIG_ITEMS_MAX)
		reader_fail(r);
	for (i = 0; reader_ok(r) && i < n; i++) {
		char *s = reader_cstring(r, CONFIG_STRING_MAX);

		if (s != NULL)
			str_list_add_take(l, s);
	}
	return reader_ok(r);
}

void server_config_put(const struct server_config *c, struct buf *out)
{
	size_t i;

	buf_put_cstring(out, c->path != NULL ? c->path : "none");
	buf_put_cstring(out, c->cwd != NULL ? c->cwd : "/");
	buf_put_cstring(out, c->home);
	put_list(out, &c->lines);
	buf_put_u32(out, (uint32_t)c->ports.count);
	buf_put_u32(out, (uint32_t)c->files.file_count);
	for (i = 0; i < c->files.file_count; i++) {
		buf_put_cstring(out, c->files.files[i].path);
		buf_put_string(out, c->files.files[i].text, c->files.files[i].size);
	}
	buf_put_u32(out, (uint32_t)c->files.glob_count);
	for (i = 0; i < c->files.glob_count; i++) {
		buf_put_cstring(out, c->files.globs[i].pattern);
		put_list(out, &c->files.globs[i].paths);
	}
	put_order(out, c->cipher_order);
	put_order(out, c->mac_order);
}

static void get_files(struct reader *r, struct conf_source *s)
{
	uint32_t i, n = reader_u32(r);

	if (n > CONF_FILES_MAX)
		reader_fail(r);
	for (i = 0; reader_ok(r) && i < n; i++) {
		char *path = reader_cstring(r, CONFIG_STRING_MAX);
		struct view text = reader_string(r);

		if (view_has_nul(text))
			reader_fail(r);
		if (reader_ok(r))
			conf_source_add_file(s, path, (const char *)text.p, text.n);
		free(path);
	}
}

static void get_globs(struct reader *r, struct conf_source *s)
{
	uint32_t i, n = reader_u32(r);

	if (n > CONFIG_ITEMS_MAX)
		reader_fail(r);
	for (i = 0; reader_ok(r) && i < n; i++) {
		struct str_list paths = { 0 };
		char *pattern = reader_cstring(r, CONFIG_STRING_MAX);

		if (pattern != NULL && get_list(r, &paths))
			conf_source_add_glob(s, pattern, &paths);
		str_list_clear(&paths);
		free(pattern);
	}
}

/* The lines of the command line once more; they were good when they were given. */
static int get_lines(struct server_config *c, const struct str_list *lines, struct err *e)
{
	struct server_parse parse = config_parse(c, NULL);
	struct conf_reader r = config_reader(c, &c->options, &parse);
	size_t i;
	int code = 0;

	r.quiet = true;
	for (i = 0; code == 0 && i < lines->count; i++) {
		code = conf_read_line(&r, lines->v[i], "command-line", CONF_COMMAND_LINE, e);
		if (code == 0)
			str_list_add(&c->lines, lines->v[i]);
	}
	return code;
}

struct server_config *server_config_get(struct reader *r, struct err *e)
{
	struct server_config *c = config_alloc();
	struct str_list lines = { 0 };
	struct err local = { 0 };
	uint32_t ports;
	int code;

	c->path = reader_cstring(r, CONFIG_STRING_MAX);
	c->cwd = reader_cstring(r, CONFIG_STRING_MAX);
	c->home = reader_cstring(r, CONFIG_STRING_MAX);
	(void)get_list(r, &lines);
	ports = reader_u32(r);
	if (ports > MEM_COUNT(c->ports.v))
		reader_fail(r);
	get_files(r, &c->files);
	get_globs(r, &c->files);
	c->cipher_order = get_order(r);
	c->mac_order = get_order(r);
	c->files.sealed = true;
	c->ports.count = reader_ok(r) ? ports : 0;
	code = reader_ok(r) ? 0 : err_set(&local, ERR_PEER, "the configuration that was handed over cannot be read");
	if (code == 0)
		code = get_lines(c, &lines, &local);
	if (code == 0)
		code = config_evaluate(c, true, &local);
	if (code == 0)
		config_apply_order(c);
	str_list_clear(&lines);
	if (code == 0)
		return c;
	err_set(e, code, "%s", err_text(&local));
	server_config_free(c);
	return NULL;
}

/* ---- -C */

static int subject_set(struct server_subject *who, const char *key, const char *value)
{
	const struct { const char *key; const char **field; } texts[] = {
		{ "addr", &who->address }, { "user", &who->user }, { "host", &who->host },
		{ "laddr", &who->local_address }, { "rdomain", &who->rdomain },
	};
	uint64_t port;
	size_t i;

	for (i = 0; i < MEM_COUNT(texts); i++) {
		if (strcmp(key, texts[i].key) == 0) {
			*texts[i].field = value;
			return 0;
		}
	}
	if (strcmp(key, "lport") != 0 || str_to_u64(value, 1, 65535, &port) != 0)
		return ERR_USAGE;
	who->local_port = (int)port;
	return 0;
}

int server_subject_parse(struct server_subject *who, const char *spec, struct str_list *keep, struct err *e)
{
	const char *cursor = spec, *name;
	size_t n;

	while (str_next_name(&cursor, &name, &n)) {
		char *word = mem_strndup(name, n), *equals = strchr(word, '=');

		str_list_add_take(keep, word);
		if (equals == NULL && strcmp(word, "invalid-user") == 0) {
			who->invalid_user = true;
			continue;
		}
		if (equals != NULL)
			*equals = '\0';
		if (equals == NULL || subject_set(who, word, equals + 1) != 0)
			return err_set(e, ERR_USAGE, "Invalid test mode specification %s", spec);
	}
	return 0;
}
