/* client/client_blocks.c: Host and Match of ssh_config (ssh_config(5), BLOCKS AND OTHER FILES). */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/log.h"
#include "base/match.h"
#include "base/mem.h"
#include "client/client_options.h"
#include "client/client_types.h"
#include "client/tokens.h"
#include "io/spawn.h"
#include "version.h"

/* What the criteria are compared with. */
struct match_facts {
	const struct client_options *o;
	struct client_subject *who;
	char *host;                      /* after Hostname, lower case; owned */
};

/* One criterion: matches or not, without its negation. Below zero: reading stops. */
typedef int match_fn(struct conf_line *l, const struct match_facts *f, const char *arg);

static const char *subject_host(const struct client_subject *who)
{
	return who->host != NULL ? who->host : who->host_arg;
}

static int host_parse(struct conf_line *l, void *field)
{
	const struct client_subject *who = l->ctx;
	const char *pattern;
	bool found = false, refused = false;

	(void)field;
	while ((pattern = conf_line_next(l)) != NULL) {
		bool negated = *pattern == '!';

		if (!match_pattern(subject_host(who), pattern + negated))
			continue;
		if (negated)
			refused = true;
		else
			found = true;
	}
	conf_line_block(l, found && !refused);
	return 0;
}

const struct conf_type client_type_host = { 0, host_parse, NULL, NULL, NULL };

/* ---- criteria */

static int match_list_lower(const char *value, const char *list)
{
	char *lower = mem_strdup(value);
	int r;

	str_lower(lower);
	r = match_list(lower, list, true) == 1;
	free(lower);
	return r;
}

static int match_host(struct conf_line *l, const struct match_facts *f, const char *arg)
{
	(void)l;
	return match_list(f->host, arg, true) == 1;
}

static int match_original_host(struct conf_line *l, const struct match_facts *f, const char *arg)
{
	(void)l;
	return match_list_lower(f->who->host_arg, arg);
}

static int match_user(struct conf_line *l, const struct match_facts *f, const char *arg)
{
	(void)l;
	return match_list(f->o->user != NULL ? f->o->user : f->who->local_user, arg, false) == 1;
}

static int match_local_user(struct conf_line *l, const struct match_facts *f, const char *arg)
{
	(void)l;
	return match_list(f->who->local_user, arg, false) == 1;
}

static int match_local_network(struct conf_line *l, const struct match_facts *f, const char *arg)
{
	struct ifaddrs *list, *i;
	char text[INET6_ADDRSTRLEN];
	int found = 0;

	(void)f;
	if (match_address(NULL, arg) == -2)
		return conf_line_bad(l, "Match localnetwork: bad address list \"%s\"", arg);
	if (getifaddrs(&list) != 0)
		return 0;
	for (i = list; i != NULL && found == 0; i = i->ifa_next) {
		const void *addr;

		if (i->ifa_addr == NULL || (i->ifa_flags & IFF_UP) == 0)
			continue;
		if (i->ifa_addr->sa_family == AF_INET)
			addr = &((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr;
		else if (i->ifa_addr->sa_family == AF_INET6)
			addr = &((const struct sockaddr_in6 *)(const void *)i->ifa_addr)->sin6_addr;
		else
			continue;
		if (inet_ntop(i->ifa_addr->sa_family, addr, text, sizeof(text)) != NULL)
			found = match_address(text, arg) == 1;
	}
	freeifaddrs(list);
	return found;
}

static int match_tagged(struct conf_line *l, const struct match_facts *f, const char *arg)
{
	const char *tag = f->o->tag != NULL ? f->o->tag : "";

	(void)l;
	return *arg == '\0' ? *tag == '\0' : match_list(tag, arg, false) == 1;
}

static int match_command(struct conf_line *l, const struct match_facts *f, const char *arg)
{
	const char *command = f->who->command != NULL ? f->who->command : "";

	(void)l;
	return *arg == '\0' ? *command == '\0' : match_list(command, arg, false) == 1;
}

static int match_session_type(struct conf_line *l, const struct match_facts *f, const char *arg)
{
	bool set = CLIENT_ORIGIN(f->o, session_type) != CONF_UNSET;
	const char *type = f->who->command != NULL ? "exec" : "shell";

	(void)l;
	if (set && f->o->session_type == CLIENT_SESSION_SUBSYSTEM)
		type = "subsystem";
	else if (set && f->o->session_type == CLIENT_SESSION_NONE)
		type = "none";
	return match_list_lower(type, arg);
}

static int match_version(struct conf_line *l, const struct match_facts *f, const char *arg)
{
	(void)l;
	(void)f;
	return match_list(WS_IDENT, arg, false) == 1;
}

/* $SHELL -c command, seeing our stderr only. */
static int match_run(struct conf_line *l, const char *command)
{
	struct spawn_options s = SPAWN_OPTIONS_INIT;
	const char *shell = getenv("SHELL");
	char dash_c[] = "-c", *argv[4] = { NULL, dash_c, NULL, NULL };
	int status = 0, r;

	if (shell == NULL || *shell == '\0')
		shell = "/bin/sh";
	argv[0] = mem_strdup(shell);
	argv[2] = mem_strdup(command);
	s.path = shell;
	s.argv = argv;
	s.fd_err = 2;
	log_debug("%s line %u: running \"%s\"", l->file, l->number, command);
	r = spawn_wait(&s, NULL, 0, &status, l->err);
	free(argv[0]);
	free(argv[2]);
	if (r != 0) {
		err_prefix(l->err, "%s line %u: Match exec", l->file, l->number);
		return r;
	}
	if (!WIFEXITED(status))
		return err_set(l->err, ERR_IO, "%s line %u: Match exec '%s' was killed by signal %d", l->file,
			l->number, command, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	log_debug("%s line %u: \"%s\" returned %d", l->file, l->number, command, WEXITSTATUS(status));
	return WEXITSTATUS(status) == 0;
}

static int match_exec(struct conf_line *l, const struct match_facts *f, const char *arg)
{
	char *command = client_subject_expand(f->o, f->who, false, arg, l->err);
	int r;

	if (command == NULL) {
		err_prefix(l->err, "%s line %u: Match exec", l->file, l->number);
		return ERR_USAGE;
	}
	r = match_run(l, command);
	free(command);
	return r;
}

static const struct match_criterion {
	const char *name;
	match_fn *fn;
	bool equals;             /* the argument may stand behind "=" */
	bool may_be_empty;
} match_criteria[] = {
	{ "host", match_host, true, false },
	{ "originalhost", match_original_host, true, false },
	{ "user", match_user, true, false },
	{ "localuser", match_local_user, true, false },
	{ "localnetwork", match_local_network, true, false },
	{ "tagged", match_tagged, true, true },
	{ "command", match_command, true, true },
	{ "sessiontype", match_session_type, false, false },
	{ "version", match_version, true, false },
	{ "exec", match_exec, true, false },
};

/* ---- Match */

/* all stands alone or last behind exactly one other criterion. */
static int match_all(struct conf_line *l, unsigned seen, bool negated, bool *result)
{
	if (seen > 1 || l->next < l->count)
		return conf_line_bad(l, "Match: all stands alone, or last behind one other criterion");
	if (negated)
		*result = false;
	return 0;
}

/* canonical and final: both hold in the last pass; asking for final makes that pass happen. */
static void match_final(struct conf_line *l, const struct client_options *o, bool is_final, bool negated, bool *result)
{
	struct client_subject *who = l->ctx;

	(void)o;
	if (is_final && !negated)
		who->want_final = true;
	if (who->final_pass == negated)
		*result = false;
}

static const struct match_criterion *match_find(const char *word, size_t n)
{
	size_t i;

	for (i = 0; i < MEM_COUNT(match_criteria); i++) {
		char *name = mem_strndup(word, n);
		bool same = str_equal_nocase(name, match_criteria[i].name);

		free(name);
		if (same)
			return &match_criteria[i];
	}
	return NULL;
}

/* One criterion with an argument. */
static int match_one(struct conf_line *l, const struct match_facts *f, const char *word, bool *result)
{
	bool negated = *word == '!';
	const char *name = word + negated, *arg;
	size_t n = strcspn(name, "=");
	const struct match_criterion *c = match_find(name, n);
	int r;

	if (name[n] == '=' && c != NULL && c->equals)
		arg = name + n + 1;
	else
		arg = name[n] == '=' ? NULL : conf_line_next(l);
	if (arg == NULL || (*arg == '\0' && (c == NULL || !c->may_be_empty)))
		return conf_line_bad(l, "Missing Match criteria for %.*s", (int)n, name);
	if (c == NULL)
		return conf_line_bad(l, "Unsupported Match attribute %.*s", (int)n, name);
	/* A command is not run when the block is out anyway. */
	if (!*result && c->fn == match_exec)
		return 0;
	r = c->fn(l, f, arg);
	if (r < 0)
		return r;
	log_debug3("%s line %u: Match %s \"%s\": %s", l->file, l->number, c->name, arg, r != negated ? "yes" : "no");
	if ((r == 1) == negated)
		*result = false;
	return 0;
}

static int match_words(struct conf_line *l, const struct match_facts *f, bool *result)
{
	const char *word;
	unsigned seen = 0;
	int r = 0;

	while (r == 0 && (word = conf_line_next(l)) != NULL) {
		bool negated = *word == '!';

		if (str_equal_nocase(word + negated, "all"))
			r = match_all(l, seen, negated, result);
		else if (str_equal_nocase(word + negated, "canonical") || str_equal_nocase(word + negated, "final"))
			match_final(l, f->o, str_equal_nocase(word + negated, "final"), negated, result);
		else
			r = match_one(l, f, word, result);
		seen++;
	}
	if (r == 0 && seen == 0)
		r = conf_line_bad(l, "Match needs a criterion");
	return r;
}

static int match_parse(struct conf_line *l, void *field)
{
	struct match_facts f = { .o = l->options, .who = l->ctx };
	bool result = true;
	int r;

	(void)field;
	f.host = client_subject_host(l->options, l->ctx, l->err);
	if (f.host == NULL)
		return l->err->code;
	str_lower(f.host);
	r = match_words(l, &f, &result);
	free(f.host);
	/* Lines below a Match that makes no sense do not apply. */
	conf_line_block(l, r == 0 && result);
	return r;
}

const struct conf_type client_type_match = { 0, match_parse, NULL, NULL, NULL };
