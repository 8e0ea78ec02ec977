/* server/password.c: shadow entries and crypt(). */
#include "server/password.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_CRYPT_H
#include <crypt.h>
#endif
#ifdef HAVE_SHADOW_H
#include <shadow.h>
#endif
#include "base/mem.h"

#ifdef HAVE_CRYPT
/* What a check for nobody is made with where there is no better example. Its result is never looked at. */
static const char nobody_salt[] = "$6$kGk5dXvN0oW1aQxE$";
#endif

void password_judge_dates(const struct password_dates *d, int64_t today, struct password_entry *out)
{
	out->expired_account = d->expire >= 0 && today > d->expire;
	out->must_change = d->last_change == 0;
	if (d->last_change > 0 && d->max >= 0 && today > d->last_change + (int64_t)d->max) {
		out->must_change = true;
		/* Past the grace period it is the account that is closed. */
		if (d->inactive >= 0 && today > d->last_change + (int64_t)d->max + d->inactive)
			out->expired_account = true;
	}
}

#if defined(HAVE_SHADOW_H) && defined(HAVE_GETSPNAM)
/* The first real hash in the shadow file: an example of what a check costs here. */
static char *example_salt(void)
{
	struct spwd *sp;
	char *found = NULL;

	setspent();
	for (int i = 0; i < 200 && found == NULL && (sp = getspent()) != NULL; i++)
		if (sp->sp_pwdp != NULL && sp->sp_pwdp[0] == '$')
			found = mem_strdup(sp->sp_pwdp);
	endspent();
	return found;
}
#endif

void password_lookup(const char *user, const char *passwd_field, int64_t today, struct password_entry *out)
{
	memset(out, 0, sizeof(*out));
#if defined(HAVE_SHADOW_H) && defined(HAVE_GETSPNAM)
	struct spwd *sp = getspnam(user);

	if (sp != NULL) {
		struct password_dates d = { sp->sp_lstchg, sp->sp_max, sp->sp_inact, sp->sp_expire };

		password_judge_dates(&d, today, out);
		out->hash = mem_strdup(sp->sp_pwdp != NULL ? sp->sp_pwdp : "*");
		if (sp->sp_pwdp != NULL)
			mem_wipe(sp->sp_pwdp, strlen(sp->sp_pwdp));
	}
#else
	(void)user;
	(void)today;
#endif
	/* "x" says that the hash is elsewhere; if it could not be read there, there is none for us. */
	if (out->hash == NULL && passwd_field != NULL && strcmp(passwd_field, "x") != 0)
		out->hash = mem_strdup(passwd_field);
	out->locked = out->hash != NULL && out->hash[0] == '!';
}

void password_prepare(struct password_entry *p)
{
#if defined(HAVE_SHADOW_H) && defined(HAVE_GETSPNAM)
	if (!p->prepared)
		p->salt = example_salt();
#endif
	p->prepared = true;
}

void password_entry_clear(struct password_entry *p)
{
	mem_free_string(p->hash);
	mem_free_string(p->salt);
	memset(p, 0, sizeof(*p));
}

#ifdef HAVE_CRYPT
/* The hash of password by a setting, allocated; NULL if the setting is of no use. */
static char *hash_password(const char *password, const char *setting)
{
#ifdef CRYPT_OUTPUT_SIZE /* libxcrypt: nothing is left behind in a static buffer, and no failure token */
	struct crypt_data *data = mem_zalloc(sizeof(*data));
	char *got = crypt_rn(password, setting, data, (int)sizeof(*data));
	char *copy = got != NULL ? mem_strdup(got) : NULL;

	mem_free_secret(data, sizeof(*data));
	return copy;
#else
	char *got = crypt(password, setting);

	return got != NULL && got[0] != '*' ? mem_strdup(got) : NULL;
#endif
}
#endif

bool password_check(const struct password_entry *p, const char *password, bool permit_empty)
{
#ifdef HAVE_CRYPT
	bool known = p->hash != NULL && p->hash[0] != '\0' && p->hash[0] != '*' && p->hash[0] != '!';
	const char *salt = known ? p->hash : p->salt != NULL ? p->salt : nobody_salt;
	char *got = hash_password(password, salt);
	bool right = got != NULL && known && strlen(got) == strlen(p->hash) && mem_equal_ct(got, p->hash, strlen(got));

	mem_free_string(got);
	if (p->hash != NULL && p->hash[0] == '\0')
		return permit_empty && password[0] == '\0';
	if (password[0] == '\0' && !permit_empty)
		return false;
	return right;
#else
	(void)p; (void)password; (void)permit_empty;
	return false;
#endif
}
