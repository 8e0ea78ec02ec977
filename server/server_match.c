/* server/server_match.c: Match of sshd_config (BLOCKS AND OTHER FILES there). */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/match.h"
#include "base/mem.h"
#include "server/server_options.h"
#include "server/server_types.h"
#include "version.h"

/* Whether the criterion holds for who, which is NULL in the global pass: then arguments are only checked. Below
 * zero: the line is bad. */
typedef int match_fn(struct conf_line *l, const struct server_subject *who, const char *arg);

static int match_text(const char *value, const char *list, bool lower)
{
	return value != NULL && match_list(value, list, lower) == 1;
}

static int match_user(struct conf_line *l, const struct server_subject *who, const char *arg)
{
	(void)l;
	return match_text(who != NULL ? who->user : NULL, arg, false);
}

/* A group that a negated pattern names ends the search. */
static int match_group(struct conf_line *l, const struct server_subject *who, const char *arg)
{
	int found = 0, r;
	size_t i;

	(void)l;
	if (who == NULL || who->groups == NULL || who->invalid_user)
		return 0;
	for (i = 0; i < who->groups->count; i++) {
		r = match_list(who->groups->v[i], arg, false);
		if (r < 0)
			return 0;
		if (r == 1)
			found = 1;
	}
	return found;
}

static int match_host(struct conf_line *l, const struct server_subject *who, const char *arg)
{
	(void)l;
	return match_text(who != NULL ? who->host : NULL, arg, true);
}

static int match_addr(struct conf_line *l, const char *address, const char *arg)
{
	int r = match_address(address, arg);

	if (r == -2)
		return conf_line_bad(l, "Invalid Match address argument '%s'", arg);
	return address != NULL && r == 1;
}

static int match_remote(struct conf_line *l, const struct server_subject *who, const char *arg)
{
	return match_addr(l, who != NULL ? who->address : NULL, arg);
}

static int match_local(struct conf_line *l, const struct server_subject *who, const char *arg)
{
	return match_addr(l, who != NULL ? who->local_address : NULL, arg);
}

static int match_port(struct conf_line *l, const struct server_subject *who, const char *arg)
{
	uint64_t port;

	if (str_to_u64(arg, 1, 65535, &port) != 0)
		return conf_line_bad(l, "Invalid LocalPort '%s' on Match line", arg);
	return who != NULL && who->local_port == (int)port;
}

static int match_rdomain(struct conf_line *l, const struct server_subject *who, const char *arg)
{
	(void)l;
	return match_text(who != NULL ? who->rdomain : NULL, arg, false);
}

static int match_version(struct conf_line *l, const struct server_subject *who, const char *arg)
{
	(void)l;
	(void)who;
	return match_text(WS_IDENT, arg, false);
}

static const struct {
	const char *name;
	match_fn *fn;
} match_criteria[] = {
	{ "user", match_user }, { "group", match_group }, { "host", match_host }, { "address", match_remote },
	{ "localaddress", match_local }, { "localport", match_port }, { "rdomain", match_rdomain },
	{ "version", match_version },
};

static int match_one(struct conf_line *l, const char *word)
{
	const struct server_parse *p = l->ctx;
	size_t i, n = strcspn(word, "=");
	const char *arg;
	int r;

	for (i = 0; i < MEM_COUNT(match_criteria); i++) {
		char *name = mem_strndup(word, n);
		bool same = str_equal_nocase(name, match_criteria[i].name);

		free(name);
		if (same)
			break;
	}
	arg = word[n] == '=' ? word + n + 1 : conf_line_next(l);
	if (arg == NULL || *arg == '\0')
		return conf_line_bad(l, "Missing Match criteria for %.*s", (int)n, word);
	if (i == MEM_COUNT(match_criteria))
		return conf_line_bad(l, "Unsupported Match attribute %.*s", (int)n, word);
	r = match_criteria[i].fn(l, p != NULL ? p->who : NULL, arg);
	if (r >= 0)
		log_debug3("%s line %u: Match %s \"%s\": %s", l->file, l->number, match_criteria[i].name, arg,
			r ? "yes" : "no");
	return r;
}

static int match_parse(struct conf_line *l, void *field)
{
	const struct server_parse *p = l->ctx;
	const struct server_subject *who = p != NULL ? p->who : NULL;
	const char *word;
	unsigned seen = 0;
	bool result = true;
	int r = 1;

	(void)field;
	while ((word = conf_line_next(l)) != NULL) {
		if (str_equal_nocase(word, "all")) {
			if (seen != 0 || l->next < l->count)
				return conf_line_bad(l, "'all' cannot be combined with other Match attributes");
			r = 1;
		} else if (str_equal_nocase(word, "invalid-user")) {
			r = who != NULL && who->invalid_user;
		} else {
			r = match_one(l, word);
		}
		if (r < 0)
			return ERR_USAGE;
		result = result && r != 0;
		seen++;
	}
	if (seen == 0)
		return conf_line_bad(l, "One or more attributes required for Match");
	conf_line_block(l, result);
	return 0;
}

const struct conf_type server_type_match = { 0, match_parse, NULL, NULL, NULL };
