/* platform/loginrec.c: utmp, wtmp, btmp and lastlog. */
#include "platform/loginrec.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <paths.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_UTMPX_H
#include <utmpx.h>
#endif
#ifdef HAVE_LASTLOG_H
#include <lastlog.h>
#endif

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

#ifndef _PATH_WTMP
#define _PATH_WTMP "/var/log/wtmp"
#endif
#ifndef _PATH_LASTLOG
#define _PATH_LASTLOG "/var/log/lastlog"
#endif

enum { LOGINREC_WTMP_SEARCH = 4096 };    /* records at the end of wtmp that are looked at */

static const char *loginrec_line(const char *tty)
{
	return str_starts(tty, "/dev/") ? tty + 5 : tty;
}

static const char *loginrec_wtmp_name(const struct loginrec_files *files)
{
	return files != NULL && files->wtmp_file != NULL ? files->wtmp_file : _PATH_WTMP;
}

static const char *loginrec_lastlog_name(const struct loginrec_files *files)
{
	return files != NULL && files->lastlog_file != NULL ? files->lastlog_file : _PATH_LASTLOG;
}

#if defined(HAVE_UTMPX_H) || defined(HAVE_LASTLOG_H)

/* These fields need no terminator when full. */
static void loginrec_field(char *dst, size_t size, const char *src)
{
	size_t n = strnlen(src, size);

	memset(dst, 0, size);
	memcpy(dst, src, n);
}

static void loginrec_text(char *dst, size_t size, const char *field, size_t field_size)
{
	size_t n = strnlen(field, field_size);

	if (n > size - 1)
		n = size - 1;
	memcpy(dst, field, n);
	dst[n] = '\0';
}

#endif

#ifdef HAVE_UTMPX_H

static void loginrec_address(struct utmpx *u, const struct sockaddr *sa)
{
#ifdef HAVE_STRUCT_UTMPX_UT_ADDR_V6
	struct sockaddr_in four;
	struct sockaddr_in6 six;

	if (sa == NULL)
		return;
	if (sa->sa_family == AF_INET) {
		memcpy(&four, sa, sizeof(four));
		memcpy(&u->ut_addr_v6[0], &four.sin_addr, 4);
	} else if (sa->sa_family == AF_INET6) {
		memcpy(&six, sa, sizeof(six));
		/* As an IPv4 address where it is one. */
		if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr))
			memcpy(&u->ut_addr_v6[0], &six.sin6_addr.s6_addr[12], 4);
		else
			memcpy(&u->ut_addr_v6[0], &six.sin6_addr, 16);
	}
#else
	(void)u;
	(void)sa;
#endif
}

static void loginrec_fill(struct utmpx *u, const struct loginrec *r, bool login)
{
	const char *line = loginrec_line(r->tty);
	size_t n = strlen(line);

	memset(u, 0, sizeof(*u));
	u->ut_type = login ? USER_PROCESS : DEAD_PROCESS;
	u->ut_pid = r->pid;
	loginrec_field(u->ut_line, sizeof(u->ut_line), line);
	/* The end of the name tells terminals apart: "ts/3". */
	loginrec_field(u->ut_id, sizeof(u->ut_id), n > sizeof(u->ut_id) ? line + n - sizeof(u->ut_id) : line);
	/* On some systems these are 32 bits wide in a file format that stays. */
	u->ut_tv.tv_sec = (__typeof__(u->ut_tv.tv_sec))clock_wall();
	if (!login)
		return;
	loginrec_field(u->ut_user, sizeof(u->ut_user), r->user);
#ifdef HAVE_STRUCT_UTMPX_UT_HOST
	loginrec_field(u->ut_host, sizeof(u->ut_host), r->host);
#endif
	loginrec_address(u, r->address);
}

static void loginrec_put(const struct utmpx *u, const struct loginrec_files *files)
{
#ifdef HAVE_UPDWTMPX
	if (files != NULL && files->utmp_file != NULL)
		(void)utmpxname(files->utmp_file);
#endif
	setutxent();
	if (pututxline(u) == NULL && errno != ENOENT)
		log_debug("utmp: %s", strerror(errno));
	endutxent();
#ifdef HAVE_UPDWTMPX
	updwtmpx(loginrec_wtmp_name(files), u);
#endif
}

void loginrec_failure(const char *user, const char *tty, const char *host, const struct sockaddr *address, const char *btmp)
{
#ifdef HAVE_UPDWTMPX
	struct loginrec r = { .pid = getpid(), .tty = tty, .user = user, .host = host, .address = address };
	struct utmpx u;

	loginrec_fill(&u, &r, true);
	u.ut_type = LOGIN_PROCESS;
	updwtmpx(btmp != NULL ? btmp : "/var/log/btmp", &u);
#else
	(void)user, (void)tty, (void)host, (void)address, (void)btmp;
#endif
}

static bool loginrec_is(const char *field, size_t size, const char *s)
{
	size_t n = strlen(s);

	return n <= size && memcmp(field, s, n) == 0 && (n == size || field[n] == '\0');
}

static bool loginrec_read_wtmp(const char *user, const char *path, struct loginrec_last *out)
{
	struct utmpx u;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC), tries = LOGINREC_WTMP_SEARCH;
	bool found = false;
	off_t at;

	if (fd < 0)
		return false;
	at = fstat(fd, &st) == 0 ? st.st_size - st.st_size % (off_t)sizeof(u) : 0;
	while (!found && at > 0 && tries-- > 0) {
		at -= (off_t)sizeof(u);
		if (pread(fd, &u, sizeof(u), at) != (ssize_t)sizeof(u))
			break;
		found = u.ut_type == USER_PROCESS && loginrec_is(u.ut_user, sizeof(u.ut_user), user);
	}
	close(fd);
	if (!found)
		return false;
	out->when = u.ut_tv.tv_sec;
	loginrec_text(out->tty, sizeof(out->tty), u.ut_line, sizeof(u.ut_line));
#ifdef HAVE_STRUCT_UTMPX_UT_HOST
	loginrec_text(out->host, sizeof(out->host), u.ut_host, sizeof(u.ut_host));
#endif
	return true;
}

#else

void loginrec_failure(const char *user, const char *tty, const char *host, const struct sockaddr *address, const char *btmp)
{
	(void)user, (void)tty, (void)host, (void)address, (void)btmp;
}

static bool loginrec_read_wtmp(const char *user, const char *path, struct loginrec_last *out)
{
	(void)user, (void)path, (void)out;
	return false;
}

#endif

#ifdef HAVE_LASTLOG_H

static void loginrec_put_lastlog(const struct loginrec *r, const char *path)
{
	struct lastlog ll;
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0) {
		if (errno != ENOENT)
			log_debug("%s: %s", path, strerror(errno));
		return;
	}
	memset(&ll, 0, sizeof(ll));
	ll.ll_time = (__typeof__(ll.ll_time))clock_wall();
	loginrec_field(ll.ll_line, sizeof(ll.ll_line), loginrec_line(r->tty));
	loginrec_field(ll.ll_host, sizeof(ll.ll_host), r->host);
	/* One record for each uid, at its place. */
	if (pwrite(fd, &ll, sizeof(ll), (off_t)r->uid * (off_t)sizeof(ll)) != (ssize_t)sizeof(ll))
		log_debug("%s: %s", path, strerror(errno));
	close(fd);
}

/* 1 found, 0 never, -1 there is no such file. */
static int loginrec_read_lastlog(uid_t uid, const char *path, struct loginrec_last *out)
{
	struct lastlog ll;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = pread(fd, &ll, sizeof(ll), (off_t)uid * (off_t)sizeof(ll));
	close(fd);
	if (n != (ssize_t)sizeof(ll) || ll.ll_time == 0)
		return 0;
	out->when = ll.ll_time;
	loginrec_text(out->tty, sizeof(out->tty), ll.ll_line, sizeof(ll.ll_line));
	loginrec_text(out->host, sizeof(out->host), ll.ll_host, sizeof(ll.ll_host));
	return 1;
}

#else

static void loginrec_put_lastlog(const struct loginrec *r, const char *path)
{
	(void)r, (void)path;
}

static int loginrec_read_lastlog(uid_t uid, const char *path, struct loginrec_last *out)
{
	(void)uid, (void)path, (void)out;
	return -1;
}

#endif

void loginrec_login(const struct loginrec *r, const struct loginrec_files *files)
{
#ifdef HAVE_UTMPX_H
	struct utmpx u;

	loginrec_fill(&u, r, true);
	loginrec_put(&u, files);
#endif
	loginrec_put_lastlog(r, loginrec_lastlog_name(files));
}

void loginrec_logout(const struct loginrec *r, const struct loginrec_files *files)
{
#ifdef HAVE_UTMPX_H
	struct utmpx u;

	loginrec_fill(&u, r, false);
	loginrec_put(&u, files);
#else
	(void)r, (void)files;
#endif
}

bool loginrec_read_last(uid_t uid, const char *user, const struct loginrec_files *files, struct loginrec_last *out)
{
	int r;

	*out = (struct loginrec_last){ 0 };
	r = loginrec_read_lastlog(uid, loginrec_lastlog_name(files), out);
	if (r >= 0)
		return r == 1;
	return loginrec_read_wtmp(user, loginrec_wtmp_name(files), out);
}
