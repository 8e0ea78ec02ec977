/* server/password.h: passwords without PAM: the shadow file and crypt(). */
#ifndef SERVER_PASSWORD_H
#define SERVER_PASSWORD_H

#include <stdbool.h>
#include <stdint.h>

/* What the system holds about a user's password; owned. */
struct password_entry {
	char *hash;              /* NULL: not known to us (no such user, or we may not read it) */
	char *salt;              /* of the kind that others here have, so that a check without hash costs as much; or NULL */
	bool prepared;           /* it has been looked for */
	bool locked;             /* the field starts with '!' */
	bool expired_account;    /* the account, not the password */
	bool must_change;        /* the password has expired */
};
/* Reads shadow (or passwd). Without rights or entry: hash NULL. today: days since 1970. */
void password_lookup(const char *user, const char *passwd_field, int64_t today, struct password_entry *out);
/* Before the first check, for every user alike: looks for a salt, which takes time and which most logins never need. */
void password_prepare(struct password_entry *p);
void password_entry_clear(struct password_entry *p);

/* Whether password is the right one. Takes as long for an entry without hash as for a real one. */
bool password_check(const struct password_entry *p, const char *password, bool permit_empty);
/* The dates of a shadow line as arithmetic: -1 fields are unset (shadow(5)). */
struct password_dates { long last_change, max, inactive, expire; };
void password_judge_dates(const struct password_dates *d, int64_t today, struct password_entry *out);

#endif
