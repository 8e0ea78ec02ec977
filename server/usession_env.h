/* server/usession_env.h: the environment of a session, in the order of OpenSSH: later values replace earlier ones. */
#ifndef SERVER_USESSION_ENV_H
#define SERVER_USESSION_ENV_H

#include <stdbool.h>
#include "base/str.h"
#include "server/server_options.h"

enum { USESSION_CLIENT_ENV_MAX = 129, USESSION_ENV_FILE_LINES = 1000 };

/* NAME=VALUE list. Sets or replaces. */
void usession_env_set(struct str_list *env, const char *name, const char *value);
const char *usession_env_get_value(const struct str_list *env, const char *name);

/* Whether the configuration lets a variable of the client's through (AcceptEnv). */
bool usession_env_accepted(const struct str_list *patterns, const char *name);
/* Whether users may set a variable themselves (PermitUserEnvironment). */
bool usession_env_user_may(const struct server_permit_env *p, const char *name);

/* Lines of ~/.ssh/environment: NAME=value, '#'. Malformed ones are skipped. text is changed. */
void usession_env_read_file(struct str_list *env, char *text, const struct server_permit_env *permitted);

struct usession_env {
	const struct str_list *client;           /* accepted already */
	const char *user, *home, *shell;
	bool root, use_pam;
	const char *tz, *term, *display, *auth_sock;     /* NULL: none */
	const struct str_list *key_environment;  /* of environment= */
	const struct server_permit_env *permitted;
	char *file_text;                         /* of ~/.ssh/environment, or NULL; is changed */
	const struct str_list *pam, *set_env;
	const char *remote_ip, *local_ip;
	unsigned remote_port, local_port;
	const char *user_auth, *tty, *original_command;  /* NULL: none */
};
void usession_env_build(const struct usession_env *in, struct str_list *out);

#endif
