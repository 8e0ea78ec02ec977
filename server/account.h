/* server/account.h: the account that somebody wants to use, and whether the rules let it in (sshd_config(5), sshd(8)). For
 * the monitor, which looks it up once. */
#ifndef SERVER_ACCOUNT_H
#define SERVER_ACCOUNT_H

#include <stdbool.h>
#include <sys/types.h>
#include "base/err.h"
#include "base/str.h"
#include "platform/privdrop.h"
#include "server/password.h"
#include "server/server_options.h"

struct account {
	bool exists;
	char *name;              /* as asked for, without style */
	uid_t uid;
	gid_t gid;
	char *home, *shell;
	char *passwd_field;
	gid_t *groups;           /* supplementary, gid included */
	size_t group_count;
	struct str_list group_names;
};
/* Always fills *out: a name that is not there gives an account that does not exist. */
void account_lookup(const char *name, struct account *out);
void account_clear(struct account *a);
struct privdrop_id account_id(const struct account *a);

struct account_rules {
	const struct server_options *options;
	const char *host, *ip;           /* of the peer; host may be the ip */
	bool root;                       /* we are root; otherwise only our own account can be served */
	const struct password_entry *password;   /* NULL: not looked at (UsePAM) */
};
/* Logs why, in the words that fail2ban knows, when the answer is no. */
bool account_permitted(const struct account *a, const struct account_rules *rules);

#endif
