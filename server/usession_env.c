/* server/usession_env.c: building environments: arithmetic on lists of strings. */
#include "server/usession_env.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/match.h"
#include "base/mem.h"
#include "paths.h"

#define MAIL_FOLDER "/var/mail"
/* Our own programs come first, so that the other end of scp and the like is found without a login shell. */
#define PATH_USER PATH_BINDIR ":/usr/local/bin:/usr/bin:/bin"
#define PATH_ROOT PATH_USER ":/usr/local/sbin:/usr/sbin:/sbin"

static char **find(const struct str_list *env, const char *name, size_t n)
{
	for (size_t i = 0; i < env->count; i++)
		if (strncmp(env->v[i], name, n) == 0 && env->v[i][n] == '=')
			return &env->v[i];
	return NULL;
}

void usession_env_set(struct str_list *env, const char *name, const char *value)
{
	char **old = find(env, name, strlen(name));
	char *text = str_printf("%s=%s", name, value);

	if (old == NULL) {
		str_list_add_take(env, text);
		return;
	}
	free(*old);
	*old = text;
}

const char *usession_env_get_value(const struct str_list *env, const char *name)
{
	char **v = find(env, name, strlen(name));

	return v != NULL ? *v + strlen(name) + 1 : NULL;
}

/* One "NAME=VALUE". */
static void set_pair(struct str_list *env, const char *pair)
{
	const char *equals = strchr(pair, '=');
	char *name;

	if (equals == NULL || equals == pair)
		return;
	name = mem_strndup(pair, (size_t)(equals - pair));
	usession_env_set(env, name, equals + 1);
	free(name);
}

bool usession_env_accepted(const struct str_list *patterns, const char *name)
{
	if (*name == '\0' || strchr(name, '=') != NULL)
		return false;
	for (size_t i = 0; i < patterns->count; i++)
		if (match_pattern(name, patterns->v[i]))
			return true;
	return false;
}

bool usession_env_user_may(const struct server_permit_env *p, const char *name)
{
	if (!p->yes)
		return false;
	return p->patterns == NULL || match_list(name, p->patterns, false) == 1;
}

static void set_if_permitted(struct str_list *env, const char *pair, const struct server_permit_env *permitted)
{
	const char *equals = strchr(pair, '=');
	char *name;

	if (equals == NULL)
		return;
	name = mem_strndup(pair, (size_t)(equals - pair));
	if (usession_env_user_may(permitted, name))
		usession_env_set(env, name, equals + 1);
	else
		log_debug("environment variable %s is not permitted by PermitUserEnvironment", name);
	free(name);
}

void usession_env_read_file(struct str_list *env, char *text, const struct server_permit_env *permitted)
{
	unsigned lines = 0;

	for (char *line = text, *next; line != NULL; line = next) {
		next = strchr(line, '\n');
		if (next != NULL)
			*next++ = '\0';
		if (++lines > USESSION_ENV_FILE_LINES) {
			log_info("too many lines in ~/.ssh/environment: the rest is not read");
			return;
		}
		while (*line == ' ' || *line == '\t')
			line++;
		if (*line == '\0' || *line == '#')
			continue;
		if (strchr(line, '=') == NULL)
			log_info("bad line %u in ~/.ssh/environment", lines);
		else
			set_if_permitted(env, line, permitted);
	}
}

static void set_optional(struct str_list *env, const char *name, const char *value)
{
	if (value != NULL)
		usession_env_set(env, name, value);
}

static void set_account(const struct usession_env *in, struct str_list *out)
{
	usession_env_set(out, "USER", in->user);
	usession_env_set(out, "LOGNAME", in->user);
	usession_env_set(out, "HOME", in->home);
	usession_env_set(out, "PATH", in->root ? PATH_ROOT : PATH_USER);
	if (!in->use_pam) {
		char *mail = str_printf("%s/%s", MAIL_FOLDER, in->user);

		usession_env_set(out, "MAIL", mail);
		free(mail);
	}
	usession_env_set(out, "SHELL", in->shell);
	set_optional(out, "TZ", in->tz);
	set_optional(out, "TERM", in->term);
	set_optional(out, "DISPLAY", in->display);
	set_optional(out, "SSH_AUTH_SOCK", in->auth_sock);
}

static void set_connection(const struct usession_env *in, struct str_list *out)
{
	char *text = str_printf("%s %u %u", in->remote_ip, in->remote_port, in->local_port);

	usession_env_set(out, "SSH_CLIENT", text);
	free(text);
	text = str_printf("%s %u %s %u", in->remote_ip, in->remote_port, in->local_ip, in->local_port);
	usession_env_set(out, "SSH_CONNECTION", text);
	free(text);
}

void usession_env_build(const struct usession_env *in, struct str_list *out)
{
	for (size_t i = 0; i < in->client->count; i++)
		set_pair(out, in->client->v[i]);
	set_account(in, out);
	for (size_t i = 0; i < in->key_environment->count; i++)
		set_if_permitted(out, in->key_environment->v[i], in->permitted);
	if (in->file_text != NULL)
		usession_env_read_file(out, in->file_text, in->permitted);
	for (size_t i = 0; i < in->pam->count; i++)
		if (!str_starts(in->pam->v[i], "SSH_AUTH_INFO") && !str_starts(in->pam->v[i], "SSH_CONNECTION"))
			set_pair(out, in->pam->v[i]);
	for (size_t i = 0; i < in->set_env->count; i++)
		set_pair(out, in->set_env->v[i]);
	set_connection(in, out);
	set_optional(out, "SSH_USER_AUTH", in->user_auth);
	set_optional(out, "SSH_TTY", in->tty);
	set_optional(out, "SSH_ORIGINAL_COMMAND", in->original_command);
}
