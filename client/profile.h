/* client/profile.h: everything a program has to know before it connects: who the user is, what the command line and the
 * files say about a host. Shared by ssh, scp and sftp. Layer: client. */
#ifndef CLIENT_PROFILE_H
#define CLIENT_PROFILE_H

#include "base/err.h"
#include "client/client_options.h"
#include "client/tokens.h"

struct client_profile {
	struct client_options options;
	struct client_tokens tokens;
	struct client_subject who;
	char *home, *local_user, *host_arg, *command;
};

/* Looks the user up; options are as client_options_init leaves them: the caller feeds the command line into them. */
int client_profile_init(struct client_profile *p, struct err *e) MUST_USE;
/* Reads the files for host_arg (both passes), fills in defaults, expands tokens. config: -F, NULL for the usual files.
 * command: words of the remote command for Match, or NULL. */
int client_profile_load(struct client_profile *p, const char *config, const char *host_arg, const char *command,
	struct err *e) MUST_USE;
/* -E: the log goes to the end of that file from now on; before the configuration is read, so that what is wrong there goes too. */
int client_profile_open_log(const char *log_file, struct err *e) MUST_USE;
/* After log_init and load: the log as the options want it: LogLevel, -E file (NULL: where it goes already), -y. */
int client_profile_start_log(const struct client_profile *p, const char *program, const char *log_file, bool syslog,
	struct err *e) MUST_USE;
void client_profile_clear(struct client_profile *p);

#endif
