/* client/client_options.c: ssh_config as a struct: where lines come from, in which order, defaults, -G. */
#include "client/client_options.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "cipher.h"
#include "client/tokens.h"
#include "keys/key.h"
#include "mac.h"
#include "paths.h"
#include "proposal.h"

/* ---- algorithms that this build knows */

static const char *kex_defaults(void)
{
	return proposal_default_kex(false);
}

static const char *key_defaults(void)
{
	return conf_default_keys;
}

static const char *ca_key_defaults(void)
{
	return conf_default_ca_keys;
}

const struct conf_alg_kind client_kind_ciphers = {
	.what = "cipher", .built_at = cipher_name_at, .unbuilt = conf_unbuilt_ciphers,
	.defaults = proposal_default_ciphers, .prepare = cipher_prepare,
	.none_hint = "cipher none cannot be chosen here: it is switched to after authentication, by NoneEnabled and "
		"NoneSwitch"
};
const struct conf_alg_kind client_kind_macs = {
	.what = "MAC", .built_at = mac_name_at, .unbuilt = conf_unbuilt_macs, .defaults = proposal_default_macs
};
const struct conf_alg_kind client_kind_kex = {
	.what = "key exchange method", .built_at = proposal_kex_at, .unbuilt = conf_unbuilt_kex,
	.defaults = kex_defaults
};
const struct conf_alg_kind client_kind_keys = {
	.what = "key algorithm", .built_at = sig_alg_name_at, .unbuilt = conf_unbuilt_keys, .defaults = key_defaults,
	.wildcards = true, .legacy = sig_alg_is_legacy
};
const struct conf_alg_kind client_kind_ca_keys = {
	.what = "CA key algorithm", .built_at = sig_alg_name_at, .unbuilt = conf_unbuilt_ca_keys,
	.defaults = ca_key_defaults, .wildcards = true, .legacy = sig_alg_is_legacy
};

/* ---- the struct */

void client_options_init(struct client_options *o)
{
	*o = (struct client_options){ .marks = { { 0 } } };
}

void client_options_clear(struct client_options *o)
{
	conf_options_clear(&client_options_table, o);
}

void client_options_copy(struct client_options *dst, const struct client_options *src)
{
	conf_options_copy(&client_options_table, dst, src);
}

enum conf_origin client_options_origin(const struct client_options *o, size_t offset)
{
	return conf_origin_at(&client_options_table, o, offset);
}

int client_options_compress_level(const struct client_options *o)
{
	return conf_compress_level(o->compression_level, CLIENT_ORIGIN(o, compression_level),
		o->compression_mode == CLIENT_AUTO, CLIENT_ORIGIN(o, compression_mode));
}

/* ---- lines */

/* Guides of twenty years write -o Cipher=NAME, after the keyword of protocol 1, and some of that protocol's names. NULL: the line
 * is none of these. */
static char *line_of_old_guides(const char *text)
{
	static const struct { const char *old, *name; } names[] = { { "3des", "3des-cbc" }, { "blowfish", "blowfish-cbc" } };
	const char *word = text + strspn(text, " \t"), *value;
	size_t n = strcspn(word, " \t=\"");

	if (n != 6 || strncasecmp(word, "cipher", n) != 0)
		return NULL;
	value = word + n + strspn(word + n, " \t=\"");
	n = strcspn(value, " \t\"");
	for (size_t i = 0; i < MEM_COUNT(names); i++)
		if (str_is(value, n, names[i].old))
			return str_printf("Ciphers=%s", names[i].name);
	return str_printf("Ciphers=%.*s", (int)n, value);
}

int client_options_line(struct client_options *o, const char *text, struct err *e)
{
	struct conf_reader r;
	char *line = line_of_old_guides(text);
	int code;

	if (line != NULL)
		log_info("Cipher is a keyword of protocol 1: taken as -o %s", line);
	conf_reader_init(&r, &client_options_table, o, NULL);
	code = conf_read_line(&r, line != NULL ? line : text, "command-line", CONF_COMMAND_LINE, e);
	free(line);
	return code;
}

/* "keyword value" so that the value is read back as it is. */
static char *line_of(const struct conf_row *row, const char *keyword, const char *value)
{
	char *quoted, *p, *line;

	if (row != NULL && (row->flags & CONF_RAW) != 0)
		return str_printf("%s %s", keyword, value);
	quoted = p = mem_alloc(2 * strlen(value) + 1);
	for (; *value != '\0'; value++) {
		if (*value == '"' || *value == '\\' || *value == '\'')
			*p++ = '\\';
		*p++ = *value;
	}
	*p = '\0';
	line = str_printf("%s \"%s\"", keyword, quoted);
	free(quoted);
	return line;
}

int client_options_add(struct client_options *o, const char *keyword, const char *value, struct err *e)
{
	char *line = line_of(conf_row_find(&client_options_table, keyword), keyword, value);
	int r = client_options_line(o, line, e);

	free(line);
	return r;
}

int client_options_force(struct client_options *o, const char *keyword, const char *value, struct err *e)
{
	const struct conf_row *row = conf_row_find(&client_options_table, keyword);

	if (row == NULL || row->type == NULL)
		return err_set(e, ERR_USAGE, "no keyword %s", keyword);
	conf_unset_at(&client_options_table, o, row->offset);
	return client_options_add(o, keyword, value, e);
}

/* ---- files */

static int include_pattern(struct conf_line *l, const char *arg, char **pattern)
{
	const struct client_subject *who = l->ctx;
	bool system = l->origin == CONF_SYSTEM_FILE;
	struct err local = { 0 };
	char *text;

	if (*arg == '\0')
		return conf_line_bad(l, "%s needs an argument", l->keyword);
	if (system && *arg == '~')
		return conf_line_bad(l, "%s: ~ has no meaning in the system's file: %s", l->keyword, arg);
	text = client_subject_expand(l->options, who, true, arg, &local);
	if (text == NULL && local.code == ERR_NONE_FOUND) {
		/* an unset variable: this argument is passed over, the others are not */
		log_error("%s line %u: %s %s: %s", l->file, l->number, l->keyword, arg, local.text);
		return 0;
	}
	if (text == NULL)
		return err_set(l->err, local.code, "%s line %u: %s: %s", l->file, l->number, l->keyword, local.text);
	if (*text == '/' || *text == '~')
		*pattern = mem_strdup(text);
	else if (system)
		*pattern = str_printf("%s/%s", PATH_SYSCONFDIR, text);
	else
		*pattern = str_printf("%s/.ssh/%s", who->home != NULL ? who->home : "", text);
	free(text);
	return 0;
}

static int read_one(struct client_options *o, const char *path, enum conf_origin origin, struct client_subject *who,
	bool check_owner, struct err *e)
{
	struct conf_reader r;

	conf_reader_init(&r, &client_options_table, o, &who->files);
	r.ctx = who;
	r.include_pattern = include_pattern;
	r.check_owner = check_owner;
	r.check_included = true;
	log_debug("Reading configuration data %s", path);
	return conf_read_file(&r, path, origin, e);
}

/* A default file may be missing, and one that we may not read is as good as missing. */
static int read_default(struct client_options *o, const char *path, enum conf_origin origin, struct client_subject *who,
	struct err *e)
{
	struct err local = { 0 };
	int r = read_one(o, path, origin, who, origin == CONF_USER_FILE, &local);

	if (r == ERR_NONE_FOUND || r == ERR_IO) {
		log_debug("%s", local.text);
		return 0;
	}
	return r == 0 ? 0 : err_set(e, r, "%s", local.text);
}

static int read_files(struct client_options *o, const char *file, struct client_subject *who, struct err *e)
{
	struct err local = { 0 };
	char *path;
	int r = 0;

	if (file != NULL) {
		r = read_one(o, file, CONF_USER_FILE, who, false, &local);
		if (r == ERR_NONE_FOUND || r == ERR_IO)
			return err_set(e, ERR_USAGE, "Can't open user config file %s", local.text);
		return r == 0 ? 0 : err_set(e, r, "%s", local.text);
	}
	if (who->home != NULL) {
		path = str_printf("%s/.ssh/config", who->home);
		r = read_default(o, path, CONF_USER_FILE, who, e);
		free(path);
	}
	return r != 0 ? r : read_default(o, PATH_SYSCONFDIR "/ssh_config", CONF_SYSTEM_FILE, who, e);
}

int client_options_read_files(struct client_options *o, const char *file, struct client_subject *who, struct err *e)
{
	int r;

	if (file != NULL && str_equal_nocase(file, "none"))
		return 0;
	r = read_files(o, file, who, e);
	/* A second pass reads the same text again: what came through a pipe (-F <(...)) is there but once. */
	if (r != 0 || !client_options_need_final(o, who))
		conf_source_clear(&who->files);
	return r;
}

bool client_options_need_final(const struct client_options *o, const struct client_subject *who)
{
	bool canonicalize = CLIENT_ORIGIN(o, canonicalize_hostname) != CONF_UNSET &&
		o->canonicalize_hostname != CLIENT_NO;

	return !who->final_pass && (canonicalize || who->want_final);
}

/* ---- defaults that rows cannot say */

static void fill_algs(struct client_options *o)
{
	const struct { struct conf_algs *list; const struct conf_alg_kind *kind; size_t offset; } lists[] = {
#define LIST(f, k) { &o->f, &(k), offsetof(struct client_options, f) }
		LIST(ciphers, client_kind_ciphers), LIST(macs, client_kind_macs), LIST(kex_algorithms, client_kind_kex),
		LIST(host_key_algorithms, client_kind_keys), LIST(hostbased_accepted_algorithms, client_kind_keys),
		LIST(pubkey_accepted_algorithms, client_kind_keys), LIST(ca_signature_algorithms, client_kind_ca_keys),
#undef LIST
	};
	size_t i;

	for (i = 0; i < MEM_COUNT(lists); i++) {
		if (lists[i].list->names != NULL)
			continue;
		lists[i].list->names = conf_algs_filter(lists[i].kind, lists[i].kind->defaults());
		conf_set_origin_at(&client_options_table, o, lists[i].offset, CONF_DEFAULT);
	}
}

/* A list that consists of the word none is empty. */
static void fill_drop_none(struct client_files *f)
{
	if (f->count != 1 || !str_equal_nocase(f->v[0].path, "none"))
		return;
	free(f->v[0].path);
	free(f->v);
	*f = (struct client_files){ 0 };
}

/* UpdateHostKeys: only where keys go to the usual file and DNS is not asked. */
static void fill_update_host_keys(struct client_options *o)
{
	const struct str_list *files = &o->user_known_hosts_file;
	bool usual = !client_options_was_set(CLIENT_ORIGIN(o, user_known_hosts_file)) ||
		(files->count == 1 && strcmp(files->v[0], "~/.ssh/known_hosts") == 0);

	if (CLIENT_ORIGIN(o, update_host_keys) != CONF_UNSET)
		return;
	o->update_host_keys = usual && o->verify_host_key_dns == CLIENT_NO ? CLIENT_YES : CLIENT_NO;
	conf_set_origin_at(&client_options_table, o, offsetof(struct client_options, update_host_keys), CONF_DEFAULT);
}

static void fill_clear_forwards(struct client_options *o)
{
	conf_forwards_clear(&o->local_forward);
	conf_forwards_clear(&o->remote_forward);
	conf_forwards_clear(&o->dynamic_forward);
	o->tunnel = CONF_TUNNEL_NO;
}

/* Forwards are not built: whoever asked to be told about a forward that fails is told. */
static int fill_check_forwards(const struct client_options *o, struct err *e)
{
	size_t n = o->local_forward.count + o->remote_forward.count + o->dynamic_forward.count;

	if (o->exit_on_forward_failure && n != 0)
		return err_set(e, ERR_DENIED, "ExitOnForwardFailure: forwards are not built into this program");
	return 0;
}

int client_options_fill(struct client_options *o, const struct client_subject *who, struct err *e)
{
	int r = conf_fill_defaults(&client_options_table, o, NULL, e);

	if (r != 0)
		return r;
	fill_algs(o);
	fill_drop_none(&o->identity_file);
	fill_drop_none(&o->certificate_file);
	fill_update_host_keys(o);
	if (o->clear_all_forwardings)
		fill_clear_forwards(o);
	if (o->user == NULL) {
		o->user = mem_strdup(who->local_user);
		conf_set_origin_at(&client_options_table, o, offsetof(struct client_options, user), CONF_DEFAULT);
	}
	if (o->host_key_alias != NULL)
		str_lower(o->host_key_alias);
	/* HPN: a path asks for metrics, and a delay is at least 1 ms. */
	if (client_options_was_set(CLIENT_ORIGIN(o, metrics_path)) &&
	    !client_options_was_set(CLIENT_ORIGIN(o, metrics)))
		o->metrics = true;
	if (o->happy_delay_ms == 0)
		o->happy_delay_ms = 250;
	return fill_check_forwards(o, e);
}

void client_options_dump(const struct client_options *o, const char *host_arg,
	void (*line)(void *ctx, const char *text), void *ctx)
{
	char *text = str_printf("host %s", host_arg);

	line(ctx, text);
	free(text);
	conf_dump(&client_options_table, o, line, ctx);
}

/* ---- arguments that reach shells and log files of others */

bool client_host_arg_ok(const char *host)
{
	const unsigned char *p;

	if (*host == '-' || *host == '\0')
		return false;
	for (p = (const unsigned char *)host; *p != '\0'; p++)
		if (strchr("'\"`$\\;&<>|(){},", *p) != NULL || *p <= ' ' || *p == 0x7f)
			return false;
	return true;
}

bool client_user_arg_ok(const char *user)
{
	const unsigned char *p;

	if (*user == '-')
		return false;
	for (p = (const unsigned char *)user; *p != '\0'; p++) {
		if (*p < ' ' || *p == 0x7f || strchr("'\"`;&<>|(){}", *p) != NULL)
			return false;
		if ((*p == ' ' || *p == '\t') && p[1] == '-')
			return false;
		if (*p == '\\' && p[1] == '\0')
			return false;
	}
	return true;
}
