/* platform/loginrec.h: who is logged in (utmp), who was (wtmp), and each user's last login (lastlog). */
#ifndef PLATFORM_LOGINREC_H
#define PLATFORM_LOGINREC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"

struct sockaddr;

struct loginrec {
	pid_t pid;                       /* of the session: the same at login and logout */
	const char *tty;                 /* "/dev/pts/3" or "pts/3" */
	const char *user;
	uid_t uid;
	const char *host;                /* where from; "" if unknown; cut to what the files hold */
	const struct sockaddr *address;  /* the same as an address; NULL if unknown */
};

/* Where the records are; NULL members: the system's files. For tests and for systems with other places. ("utmp" alone is a
 * macro of some C libraries.) */
struct loginrec_files { const char *utmp_file, *wtmp_file, *lastlog_file; };

/* Writes all three. A file that is missing is not created (the administrator does not want it) and no error; other
 * failures are logged at debug level: no login fails because of them. Needs root. files may be NULL. */
void loginrec_login(const struct loginrec *r, const struct loginrec_files *files);
void loginrec_logout(const struct loginrec *r, const struct loginrec_files *files);

/* A failed login in btmp, if that file is there. */
void loginrec_failure(const char *user, const char *tty, const char *host, const struct sockaddr *address, const char *btmp);

struct loginrec_last { int64_t when; char tty[40], host[300]; };
/* Last login of a user, to be read before loginrec_login: from lastlog, or from wtmp where there is none. false: never, or
 * not known. */
bool loginrec_read_last(uid_t uid, const char *user, const struct loginrec_files *files, struct loginrec_last *out);

#endif
