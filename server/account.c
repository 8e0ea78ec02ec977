/* server/account.c: accounts and the lists that allow or deny them. */
#include "server/account.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "base/match.h"
#include "base/mem.h"

static void lookup_groups(struct account *a)
{
	struct err e = { 0 };

	if (privdrop_groups(a->name, a->gid, &a->groups, &a->group_count, &e) < 0) {
		log_error("groups of %s: %s", a->name, err_text(&e));
		a->groups = mem_dup(&a->gid, sizeof(a->gid));
		a->group_count = 1;
	}
	for (size_t i = 0; i < a->group_count; i++) {
		struct group *g = getgrgid(a->groups[i]);

		if (g != NULL)
			str_list_add(&a->group_names, g->gr_name);
	}
}

void account_lookup(const char *name, struct account *out)
{
	struct passwd *pw;

	memset(out, 0, sizeof(*out));
	out->name = mem_strdup(name);
	pw = *name != '\0' ? getpwnam(name) : NULL;
	/* A database that ignores case must not make two names of one account. */
	if (pw == NULL || strcmp(pw->pw_name, name) != 0) {
		out->uid = (uid_t)-1;
		out->gid = (gid_t)-1;
		out->home = mem_strdup("/");
		out->shell = mem_strdup("/bin/false");
		return;
	}
	out->exists = true;
	out->uid = pw->pw_uid;
	out->gid = pw->pw_gid;
	out->home = mem_strdup(pw->pw_dir != NULL && *pw->pw_dir != '\0' ? pw->pw_dir : "/");
	out->shell = mem_strdup(pw->pw_shell != NULL && *pw->pw_shell != '\0' ? pw->pw_shell : "/bin/sh");
	out->passwd_field = pw->pw_passwd != NULL ? mem_strdup(pw->pw_passwd) : NULL;
	lookup_groups(out);
}

void account_clear(struct account *a)
{
	free(a->name);
	free(a->home);
	free(a->shell);
	mem_free_string(a->passwd_field);
	free(a->groups);
	str_list_clear(&a->group_names);
	memset(a, 0, sizeof(*a));
}

struct privdrop_id account_id(const struct account *a)
{
	return (struct privdrop_id){ .uid = a->uid, .gid = a->gid, .groups = a->groups, .group_count = a->group_count };
}

static bool user_in(const struct account *a, const struct account_rules *rules, const struct str_list *patterns)
{
	for (size_t i = 0; i < patterns->count; i++) {
		int rc = match_user_host(a->name, rules->host, rules->ip, patterns->v[i]);

		if (rc < 0) {
			/* The file was checked when it was read; if it is wrong all the same, nobody gets more for it. */
			log_error("invalid pattern \"%s\" in a list of users", patterns->v[i]);
			return patterns == &rules->options->deny_users;
		}
		if (rc == 1)
			return true;
	}
	return false;
}

static bool group_in(const struct account *a, const struct str_list *patterns)
{
	for (size_t i = 0; i < patterns->count; i++)
		for (size_t k = 0; k < a->group_names.count; k++)
			if (match_pattern(a->group_names.v[k], patterns->v[i]))
				return true;
	return false;
}

static bool shell_usable(const struct account *a, const struct server_options *o)
{
	struct stat st;

	if (o->chroot_directory != NULL)
		return true;     /* it is looked for in there */
	if (stat(a->shell, &st) < 0) {
		log_info("User %s not allowed because shell %s does not exist", a->name, a->shell);
		return false;
	}
	if (!S_ISREG(st.st_mode) || (st.st_mode & 0111) == 0) {
		log_info("User %s not allowed because shell %s is not executable", a->name, a->shell);
		return false;
	}
	return true;
}

static bool lists_permit(const struct account *a, const struct account_rules *rules)
{
	const struct server_options *o = rules->options;

	if (user_in(a, rules, &o->deny_users)) {
		log_info("User %s from %s not allowed because listed in DenyUsers", a->name, rules->host);
		return false;
	}
	if (o->allow_users.count > 0 && !user_in(a, rules, &o->allow_users)) {
		log_info("User %s from %s not allowed because not listed in AllowUsers", a->name, rules->host);
		return false;
	}
	if (o->deny_groups.count == 0 && o->allow_groups.count == 0)
		return true;
	if (a->group_names.count == 0) {
		log_info("User %s from %s not allowed because not in any group", a->name, rules->host);
		return false;
	}
	if (group_in(a, &o->deny_groups)) {
		log_info("User %s from %s not allowed because a group is listed in DenyGroups", a->name, rules->host);
		return false;
	}
	if (o->allow_groups.count > 0 && !group_in(a, &o->allow_groups)) {
		log_info("User %s from %s not allowed because none of user's groups are listed in AllowGroups", a->name,
			rules->host);
		return false;
	}
	return true;
}

bool account_permitted(const struct account *a, const struct account_rules *rules)
{
	if (!a->exists)
		return false;
	if (!rules->root && a->uid != geteuid()) {
		log_info("User %s not allowed because sshd was not started as root", a->name);
		return false;
	}
	if (rules->password != NULL && rules->password->locked) {
		log_info("User %s not allowed because account is locked", a->name);
		return false;
	}
	if (rules->password != NULL && rules->password->expired_account) {
		log_info("Account %s has expired", a->name);
		return false;
	}
	return shell_usable(a, rules->options) && lists_permit(a, rules);
}
