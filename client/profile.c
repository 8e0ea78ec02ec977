/* client/profile.c: what is known before connecting. Layer: client. ssh_config(5). */
#include "client/profile.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

int client_profile_init(struct client_profile *p, struct err *e)
{
	/* The passwd entry of the real uid, not $HOME, as OpenSSH takes it. */
	struct passwd *pw = getpwuid(getuid());

	memset(p, 0, sizeof *p);
	if (!pw)
		return err_set(e, ERR_NONE_FOUND, "No user exists for uid %ld", (long)getuid());
	p->home = mem_strdup(pw->pw_dir);
	p->local_user = mem_strdup(pw->pw_name);
	p->who = (struct client_subject){ .local_user = p->local_user, .home = p->home, .uid = getuid() };
	client_options_init(&p->options);
	return 0;
}

int client_profile_load(struct client_profile *p, const char *config, const char *host_arg, const char *command,
	struct err *e)
{
	struct client_options *o = &p->options;
	int rc;

	p->host_arg = mem_strdup(host_arg);
	p->command = command ? mem_strdup(command) : NULL;
	p->who.host_arg = p->host_arg;
	p->who.command = p->command;
	if ((rc = client_options_read_files(o, config, &p->who, e)) < 0)
		return rc;
	if ((rc = client_options_expand_hostname(o, &p->who, e)) < 0)
		return rc;
	if (client_options_need_final(o, &p->who)) {
		p->who.final_pass = true;
		p->who.host = o->hostname;
		if ((rc = client_options_read_files(o, config, &p->who, e)) < 0)
			return rc;
	}
	if ((rc = client_options_fill(o, &p->who, e)) < 0)
		return rc;
	client_tokens_fill(&p->tokens, o, &p->who);
	p->tokens.config = config;
	return client_options_expand(o, &p->tokens, e);
}

int client_profile_start_log(const struct client_profile *p, const char *program, const char *log_file, bool syslog,
	struct err *e)
{
	log_set_ident(program);
	log_set_level((enum log_level)p->options.log_level);
	if (syslog)
		log_to_syslog(p->options.syslog_facility);
	return log_file ? client_profile_open_log(log_file, e) : 0;
}

int client_profile_open_log(const char *log_file, struct err *e)
{
	int fd = open(log_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_set_errno(e, "Couldn't open logfile %s", log_file);
	log_to_fd(fd);
	return 0;
}

void client_profile_clear(struct client_profile *p)
{
	client_options_clear(&p->options);
	free(p->home);
	free(p->local_user);
	free(p->host_arg);
	free(p->command);
}
