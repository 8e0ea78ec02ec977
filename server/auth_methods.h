/* server/auth_methods.h: AuthenticationMethods as arithmetic on lists (sshd_config(5)). */
#ifndef SERVER_AUTH_METHODS_H
#define SERVER_AUTH_METHODS_H

#include <stdbool.h>
#include "base/err.h"
#include "base/str.h"

/* What is left of each list "m1,m2:sub,..."; zero-initialised and not started it permits nothing. */
struct auth_methods {
	bool any;                /* no lists: each enabled method alone is enough */
	char *enabled;           /* comma list in the order of offers */
	struct str_list left;
};
/* lists: of the configuration; empty or "any": any. Lists that name a method which is not enabled are left out; ERR_USAGE if
 * none remains. */
int auth_methods_start(struct auth_methods *m, const struct str_list *lists, const char *enabled, struct err *e) MUST_USE;
void auth_methods_clear(struct auth_methods *m);
/* May this method be tried now? sub may be NULL. */
bool auth_methods_may(const struct auth_methods *m, const char *method, const char *sub);
/* It succeeded: strikes it off the lists that begin with it. True: one list is complete. */
bool auth_methods_strike(struct auth_methods *m, const char *method, const char *sub);
/* Names that can continue, for USERAUTH_FAILURE. Allocated. */
char *auth_methods_offer(const struct auth_methods *m);

#endif
