/* sftp-server: the SFTP server as a program of its own, over stdin and stdout: for other servers' Subsystem lines, and as a
 * login shell that can do nothing else. */
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/link.h"
#include "io/loop.h"
#include "io/spawn.h"
#include "platform/privdrop.h"
#include "xfer/sftp_server.h"

enum { EXIT_FATAL = 255 };

struct program {
	struct loop *loop;
	struct link *link;
	int status;
};

static int fatal(const char *what, const struct err *e)
{
	log_at(LOG_LEVEL_FATAL, "%s: %s", what, err_text(e));
	return EXIT_FATAL;
}

static int usage(void)
{
	(void)fputs("usage: sftp-server [-ehR] [-d start_directory] [-f log_facility] [-l log_level]\n"
		"                   [-P denied_requests] [-p allowed_requests] [-u umask]\n"
		"       sftp-server -Q requests\n", stderr);
	return 1;
}

static int query(const char *what)
{
	const char *name;

	if (what == NULL || strcmp(what, "requests") != 0) {
		(void)fputs("sftp-server: -Q knows: requests\n", stderr);
		return 1;
	}
	for (size_t i = 0; (name = sftp_server_request_at(i)) != NULL; i++)
		(void)puts(name);
	return 0;
}

static void on_done(void *ctx, int status)
{
	struct program *p = ctx;

	p->status = status;
	loop_stop(p->loop);
}

/* Both directions have ended and everything has left, or cannot. */
static void on_closed(void *ctx, const struct err *e)
{
	struct program *p = ctx;

	(void)e;
	loop_stop(p->loop);
}

static int serve(const struct sftp_server_options *o)
{
	struct program p = { 0 };
	struct err e = { 0 };
	struct sftp_server *server;

	spawn_widen_pipe(STDIN_FILENO);
	spawn_widen_pipe(STDOUT_FILENO);
	p.loop = loop_new(&e);
	if (p.loop == NULL)
		return fatal("event loop", &e);
	p.link = link_fd_new(p.loop, STDIN_FILENO, STDOUT_FILENO, 0, &e);
	if (p.link == NULL)
		return fatal("standard input and output", &e);
	server = sftp_server_new(p.loop, p.link, NULL, o, on_done, &p);
	if (loop_run(p.loop, &e) < 0)
		return fatal("event loop", &e);
	sftp_server_free(server);
	/* The last replies still have to leave. */
	p.link->user = (struct link_user){ .closed = on_closed, .ctx = &p };
	link_finish(p.link);
	if (p.status == 0 && link_pending(p.link) > 0 && loop_run(p.loop, &e) < 0)
		return fatal("event loop", &e);
	link_close(p.link);
	loop_free(p.loop);
	return p.status;
}

/* The first word of SSH_CONNECTION is the client's address. */
static char *peer_address(void)
{
	const char *connection = getenv("SSH_CONNECTION");

	return connection == NULL || *connection == ' ' || *connection == '\0' ? mem_strdup("UNKNOWN") :
		mem_strndup(connection, strcspn(connection, " "));
}

int main(int argc, char **argv)
{
	struct sftp_server_options o;
	struct err e = { 0 };
	int facility, r, status;
	bool to_stderr;
	char *start_dir = NULL, *peer, *home, *user;
	const struct passwd *pw;

	if (argc >= 2 && strncmp(argv[1], "-Q", 2) == 0)
		return query(argv[1][2] != '\0' ? argv[1] + 2 : argv[2]);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	r = sftp_server_parse_args(argc, argv, &o, &facility, &to_stderr, &e);
	if (r < 0) {
		if (r != ERR_NONE_FOUND)
			(void)fprintf(stderr, "sftp-server: %s\n", err_text(&e));
		return usage();
	}
	log_init("sftp-server", (enum log_level)o.log_level);
	if (!to_stderr)
		log_to_syslog(facility >= 0 ? facility : LOG_AUTH);
#ifndef WITH_SANITIZERS  /* which look for leaks by tracing */
	/* Who may handle files and nothing else shall not get a program run by writing to /proc/self/mem. */
	if (privdrop_undumpable(&e) < 0)
		return fatal("start", &e);
#endif
	pw = getpwuid(getuid());
	if (pw == NULL) {
		(void)fprintf(stderr, "sftp-server: no user with uid %lu\n", (unsigned long)getuid());
		return EXIT_FATAL;
	}
	o.home = home = mem_strdup(pw->pw_dir);
	o.user = user = mem_strdup(pw->pw_name);
	o.peer = peer = peer_address();
	if (o.umask >= 0)
		(void)umask((mode_t)o.umask);
	if (o.start_dir != NULL) {
		start_dir = sftp_server_start_dir(o.start_dir, o.home, o.user, &e);
		if (start_dir == NULL)
			return fatal("start folder", &e);
		o.start_dir = start_dir;
	}
	status = serve(&o);
	free(start_dir);
	free(peer);
	free(home);
	free(user);
	str_list_clear(&o.allow);
	str_list_clear(&o.deny);
	return status;
}
