/* client/tokens.c: what %h, %r, ${NAME} and ~ become in each keyword. */
#include "client/tokens.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "crypto/digest.h"
#include "wire/reader.h"

static const char *subject_host(const struct client_subject *who)
{
	return who->host != NULL ? who->host : who->host_arg;
}

/* Letters of the sets; path_expand_tokens() knows %%. */
static const char *const token_letters[] = {
	[CLIENT_TOKENS_DEFAULT] = "CdhijkLlnpru",
	[CLIENT_TOKENS_USER] = "dhijkLlnpu",
	[CLIENT_TOKENS_PROXY] = "hknpr",
	[CLIENT_TOKENS_HOSTNAME] = "h",
	[CLIENT_TOKENS_LOCAL_COMMAND] = "CdhijkLlnpruT",
	[CLIENT_TOKENS_KNOWN_HOSTS] = "CdhijkLlnpruHItfK",
};

enum { TOKENS_MAX = 20, HASH_TEXT_SIZE = 41 };

static const char *token_value(const struct client_tokens *t, char letter)
{
	switch (letter) {
	case 'd': return t->home;
	case 'h': return t->host;
	case 'i': return t->uid;
	case 'j': return t->jump_host != NULL ? t->jump_host : "";
	case 'k': return t->host_key_alias != NULL ? t->host_key_alias : t->host_arg;
	case 'L': return t->local_label;
	case 'l': return t->local_host;
	case 'n': return t->host_arg;
	case 'p': return t->port;
	case 'r': return t->remote_user;
	case 'u': return t->local_user;
	case 'H': return t->lookup_name;
	case 'I': return t->lookup_reason;
	case 't': return t->key_type;
	case 'f': return t->fingerprint;
	case 'K': return t->key_base64;
	case 'T': return t->tun;
	default: return NULL;
	}
}

/* %C: SHA-1 of %l%h%p%r%j in hex. A name for sockets, not a protection. */
static int token_hash(const struct client_tokens *t, char out[HASH_TEXT_SIZE], struct err *e)
{
	static const char letters[] = "lhprj";
	struct view parts[sizeof(letters) - 1];
	uint8_t sum[DIGEST_MAX];
	char *hex;
	size_t i;

	for (i = 0; i < MEM_COUNT(parts); i++) {
		const char *value = token_value(t, letters[i]);

		if (value == NULL)
			return err_set(e, ERR_USAGE, "%%C is not known here");
		parts[i] = (struct view){ (const uint8_t *)value, strlen(value) };
	}
	if (digest_of(DIGEST_SHA1, parts, MEM_COUNT(parts), sum) != 0)
		return err_set(e, ERR_CRYPTO, "%%C cannot be computed: libcrypto has no SHA-1");
	hex = str_hex(sum, digest_size(DIGEST_SHA1));
	(void)str_copy(out, HASH_TEXT_SIZE, hex);
	free(hex);
	return 0;
}

char *client_tokens_expand(const struct client_tokens *t, enum client_token_set set, const char *text, struct err *e)
{
	struct path_token table[TOKENS_MAX] = { { '\0', NULL } };
	char hash[HASH_TEXT_SIZE] = "";
	const char *letter;
	size_t n = 0;

	for (letter = token_letters[set]; *letter != '\0'; letter++, n++)
		table[n] = (struct path_token){ *letter, *letter == 'C' ? hash : token_value(t, *letter) };
	table[n] = (struct path_token){ '\0', NULL };
	if (strstr(text, "%C") != NULL && table[0].letter == 'C' && token_hash(t, hash, e) != 0)
		return NULL;
	return path_expand_tokens(text, table, e);
}

/* Both in one walk: what a token or a variable brings in is not expanded again. */
char *client_tokens_expand_env(const struct client_tokens *t, enum client_token_set set, const char *text,
	struct err *e)
{
	char *out = mem_strdup(""), *part, *plain, *joined;
	const char *p = text, *end;

	while (*p != '\0') {
		bool variable = strncmp(p, "${", 2) == 0;

		if (variable) {
			end = strchr(p, '}');
			end = end != NULL ? end + 1 : p + strlen(p);
		} else {
			end = strstr(p, "${");
			end = end != NULL ? end : p + strlen(p);
		}
		part = mem_strndup(p, (size_t)(end - p));
		plain = variable ? path_expand_env(part, e) : client_tokens_expand(t, set, part, e);
		free(part);
		if (plain == NULL) {
			free(out);
			return NULL;
		}
		joined = str_printf("%s%s", out, plain);
		free(plain);
		free(out);
		out = joined;
		p = end;
	}
	return out;
}

char *client_tokens_path(const struct client_tokens *t, const char *path, struct err *e)
{
	char *absolute = path_expand_tilde(path, t->home, e), *out;

	if (absolute == NULL)
		return NULL;
	out = client_tokens_expand_env(t, CLIENT_TOKENS_DEFAULT, absolute, e);
	free(absolute);
	return out;
}

static bool is_address(const char *host)
{
	unsigned char bytes[16];
	char *plain = mem_strndup(host, strcspn(host, "%"));
	bool yes = inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, plain, bytes) == 1;

	free(plain);
	return yes;
}

char *client_subject_host(const struct client_options *o, const struct client_subject *who, struct err *e)
{
	const struct path_token table[] = { { 'h', who->host_arg }, { '\0', NULL } };
	struct err local = { 0 };
	char *host;

	if (who->final_pass || o->hostname == NULL)
		host = mem_strdup(subject_host(who));
	else
		host = path_expand_tokens(o->hostname, table, &local);
	if (host == NULL)
		err_set(e, local.code, "Hostname: %s", local.text);
	else if (!is_address(host))
		str_lower(host);
	return host;
}

int client_options_expand_hostname(struct client_options *o, const struct client_subject *who, struct err *e)
{
	char *host = client_subject_host(o, who, e);

	if (host == NULL)
		return ERR_USAGE;
	free(o->hostname);
	o->hostname = host;
	if (CLIENT_ORIGIN(o, hostname) <= CONF_DEFAULT)
		conf_set_origin_at(&client_options_table, o, offsetof(struct client_options, hostname), CONF_USER_FILE);
	return 0;
}

void client_tokens_fill(struct client_tokens *t, const struct client_options *o, const struct client_subject *who)
{
	bool port_known = CLIENT_ORIGIN(o, port) != CONF_UNSET;

	*t = (struct client_tokens){
		.home = who->home, .host_arg = who->host_arg, .host_key_alias = o->host_key_alias,
		.jump_host = o->proxy_jump.host, .local_user = who->local_user,
		.host = o->hostname != NULL ? o->hostname : subject_host(who),
		.remote_user = o->user != NULL ? o->user : who->local_user
	};
	snprintf(t->uid, sizeof(t->uid), "%u", (unsigned)who->uid);
	snprintf(t->port, sizeof(t->port), "%u", port_known ? o->port : 22U);
	if (gethostname(t->local_host, sizeof(t->local_host) - 1) != 0)
		t->local_host[0] = '\0';
	t->local_host[sizeof(t->local_host) - 1] = '\0';
	(void)str_copy(t->local_label, sizeof(t->local_label), t->local_host);
	t->local_label[strcspn(t->local_label, ".")] = '\0';
}

char *client_subject_expand(const struct client_options *o, const struct client_subject *who, bool env,
	const char *text, struct err *e)
{
	struct client_tokens t;
	char *host = client_subject_host(o, who, e), *out;

	if (host == NULL)
		return NULL;
	client_tokens_fill(&t, o, who);
	t.host = host;
	/* here %k falls back to %h, as in OpenSSH */
	if (t.host_key_alias == NULL)
		t.host_key_alias = host;
	out = env ? client_tokens_expand_env(&t, CLIENT_TOKENS_DEFAULT, text, e) :
		client_tokens_expand(&t, CLIENT_TOKENS_DEFAULT, text, e);
	free(host);
	return out;
}

/* ---- all of it, for -G and for use */

struct expansion {
	const struct client_tokens *t;
	struct err *e;
};

/* Replaces *text by what it becomes. name is for the message. */
static int expand_text(const struct expansion *x, const char *name, bool is_path, char **text)
{
	struct err local = { 0 };
	char *out;

	if (*text == NULL)
		return 0;
	out = is_path ? client_tokens_path(x->t, *text, &local) :
		client_tokens_expand(x->t, CLIENT_TOKENS_DEFAULT, *text, &local);
	if (out == NULL)
		return err_set(x->e, local.code, "%s: %s", name, local.text);
	free(*text);
	*text = out;
	return 0;
}

/* "$NAME", the old form; NULL: it is not written so. An unset variable reads as empty. */
static const char *old_variable(const char *text)
{
	const char *value;

	if (text == NULL || text[0] != '$' || text[1] == '{' || text[1] == '\0')
		return NULL;
	value = getenv(text + 1);
	return value != NULL ? value : "";
}

static int expand_agent(const struct expansion *x, const char *name, char **text)
{
	const char *value = old_variable(*text);

	if (value != NULL) {
		free(*text);
		*text = mem_strdup(value);
		return 0;
	}
	if (*text != NULL && (strcmp(*text, "SSH_AUTH_SOCK") == 0 || str_equal_nocase(*text, "none")))
		return 0;
	return expand_text(x, name, true, text);
}

static int expand_list(const struct expansion *x, const char *name, struct str_list *list)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < list->count; i++)
		r = expand_text(x, name, true, &list->v[i]);
	return r;
}

/* Tokens in the value of NAME=VALUE, not in the name. */
static int expand_set_env(const struct expansion *x, struct str_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		char *line = list->v[i], *value = mem_strdup(strchr(line, '=') + 1);
		int r = expand_text(x, "SetEnv", false, &value);

		if (r == 0) {
			list->v[i] = str_printf("%.*s%s", (int)(strchr(line, '=') + 1 - line), line, value);
			free(line);
		}
		free(value);
		if (r != 0)
			return r;
	}
	return 0;
}

static int expand_forwards(const struct expansion *x, const char *name, struct conf_forwards *l)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < l->count; i++) {
		r = expand_text(x, name, false, &l->v[i].listen_path);
		if (r == 0)
			r = expand_text(x, name, false, &l->v[i].connect_path);
	}
	return r;
}

static int expand_user(struct client_options *o, struct client_tokens *t, struct err *e)
{
	struct err local = { 0 };
	char *user = client_tokens_expand_env(t, CLIENT_TOKENS_USER, o->user, &local);

	if (user == NULL)
		return err_set(e, local.code, "User: %s", local.text);
	free(o->user);
	o->user = user;
	t->remote_user = user;
	if (!client_user_arg_ok(user))
		return err_set(e, ERR_USAGE, "remote username contains invalid characters");
	return 0;
}

int client_options_expand(struct client_options *o, struct client_tokens *t, struct err *e)
{
	struct err local = { 0 };
	struct expansion x = { t, &local };
	int r = expand_user(o, t, &local);

	if (r == 0)
		r = expand_text(&x, "ControlPath", true, &o->control_path);
	if (r == 0)
		r = expand_agent(&x, "IdentityAgent", &o->identity_agent);
	if (r == 0)
		r = expand_agent(&x, "ForwardAgent", &o->forward_agent.path);
	if (r == 0)
		r = expand_list(&x, "UserKnownHostsFile", &o->user_known_hosts_file);
	if (r == 0)
		r = expand_list(&x, "RevokedHostKeys", &o->revoked_host_keys);
	if (r == 0)
		r = expand_set_env(&x, &o->set_env);
	if (r == 0)
		r = expand_text(&x, "VersionAddendum", false, &o->version_addendum);
	if (r == 0)
		r = expand_forwards(&x, "LocalForward", &o->local_forward);
	if (r == 0)
		r = expand_forwards(&x, "RemoteForward", &o->remote_forward);
	if (r == 0)
		r = expand_forwards(&x, "DynamicForward", &o->dynamic_forward);
	return r == 0 ? 0 : err_set(e, r, "%s", local.text);
}
