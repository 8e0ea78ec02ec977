/* server/role_listener.c: the listener as a process: into the background, pid file, restart by SIGHUP, the service manager. */
#include "server/roles.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "io/spawn.h"
#include "platform/privdrop.h"
#include "platform/sdnotify.h"
#include "server/listener.h"

/* How an image of this process tells the next one what it leaves behind. */
#define ENV_SOCKETS "WIRESPEED_SSHD_SOCKETS"
#define ENV_CHILDREN "WIRESPEED_SSHD_CHILDREN"

enum { CHILDREN_MAX = 16384 };

struct role {
	struct listener_start *s;
	struct listener *listener;
	bool restarted;          /* we follow an earlier image of the same process */
	int cwd;                 /* where we were started, for relative names in argv */
};

/* ---- what an earlier image left */

/* Numbers of a comma separated environment variable, which is removed. */
static size_t take_numbers(const char *name, long *out, size_t max)
{
	const char *text = getenv(name), *cursor = text, *item;
	size_t n = 0, size;

	while (cursor != NULL && n < max && str_next_name(&cursor, &item, &size)) {
		char *end;
		long v = strtol(item, &end, 10);

		if (end == item + size && v >= 0)
			out[n++] = v;
	}
	(void)unsetenv(name);
	return n;
}

static void take_sockets(struct role *r, struct net_listeners *out)
{
	long fds[NET_LISTEN_MAX];
	size_t n;

	r->restarted = getenv(ENV_SOCKETS) != NULL;
	n = take_numbers(ENV_SOCKETS, fds, NET_LISTEN_MAX);
	out->count = 0;
	for (size_t i = 0; i < n; i++) {
		struct stat st;
		int fd = (int)fds[i];

		if (fd > 2 && fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode)) {
			(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
			out->fd[out->count++] = fd;
		}
	}
}

static void take_children(struct role *r)
{
	long *pids = mem_array(CHILDREN_MAX, sizeof(*pids));
	pid_t *v = mem_array(CHILDREN_MAX, sizeof(*v));
	size_t n = take_numbers(ENV_CHILDREN, pids, CHILDREN_MAX);

	for (size_t i = 0; i < n; i++)
		v[i] = (pid_t)pids[i];
	listener_adopt(r->listener, v, n);
	free(pids);
	free(v);
}

/* ---- into the background */

/* The sockets are open by now: whoever started us knows by our exit that we listen. */
static void go_background(void)
{
	int null;

	switch (fork()) {
	case -1:
		log_error("fork: %s", strerror(errno));
		exit(255);
	case 0:
		break;
	default:
		_exit(0);
	}
	(void)setsid();
	(void)!chdir("/");
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		(void)dup2(null, fd);
	if (null > 2)
		close(null);
}

static void write_pid_file(const char *path)
{
	FILE *f;

	if (path == NULL)
		return;
	f = fopen(path, "we");
	if (f == NULL) {
		log_error("Couldn't create pid file \"%s\": %s", path, strerror(errno));
		return;
	}
	(void)fprintf(f, "%ld\n", (long)getpid());
	(void)fclose(f);
}

/* ---- SIGHUP */

/* Asks the program at our path, which may be a new one, whether it likes the configuration. */
static bool new_configuration_is_good(struct role *r, struct str_list *argv)
{
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	struct str_list check = { 0 };
	struct err e = { 0 };
	char *out = NULL;
	int status = -1;

	str_list_copy(&check, argv);
	str_list_add(&check, "-t");
	o.path = r->s->path;
	o.argv = check.v;
	o.fd_err = r->s->common.log_fd >= 0 ? r->s->common.log_fd : 2;
	if (spawn_wait(&o, &out, 64 * 1024, &status, &e) < 0)
		log_error("%s", err_text(&e));
	free(out);
	str_list_clear(&check);
	return status == 0;
}

static void set_list(const char *name, const struct net_listeners *sockets)
{
	struct str_list l = { 0 };
	char *joined;

	for (size_t i = 0; i < sockets->count; i++) {
		(void)fcntl(sockets->fd[i], F_SETFD, 0);
		str_list_add_take(&l, str_printf("%d", sockets->fd[i]));
	}
	joined = str_list_join(&l, ",");
	(void)setenv(name, joined, 1);
	free(joined);
	str_list_clear(&l);
}

/* Becomes the program at our path, with the listening sockets and the children. Returns if that fails. */
static void restart(struct role *r)
{
	struct str_list argv = { 0 };
	const struct net_listeners *sockets = listener_sockets(r->listener);
	struct err e = { 0 };
	char *children;

	log_info("Received SIGHUP; restarting.");
	str_list_copy(&argv, r->s->argv);
	if (r->cwd >= 0)
		(void)!fchdir(r->cwd);
	if (!new_configuration_is_good(r, &argv)) {
		log_error("the new configuration has errors: the running one stays in force");
		str_list_clear(&argv);
		return;
	}
	if (sdnotify_reloading(&e) < 0)
		log_error("%s", err_text(&e));
	set_list(ENV_SOCKETS, sockets);
	children = listener_children(r->listener);
	(void)setenv(ENV_CHILDREN, children, 1);
	free(children);
	/* The program may have been replaced: by path, and not by the descriptor that serves connections. */
	(void)execv(r->s->path, argv.v);
	log_error("%s: %s", r->s->path, strerror(errno));
	(void)unsetenv(ENV_SOCKETS);
	(void)unsetenv(ENV_CHILDREN);
	for (size_t i = 0; i < sockets->count; i++)
		(void)fcntl(sockets->fd[i], F_SETFD, FD_CLOEXEC);
	err_clear(&e);
	if (sdnotify_ready(&e) < 0)
		log_error("%s", err_text(&e));
	str_list_clear(&argv);
}

/* ---- life */

static int stop(struct role *r, const char *pid_file)
{
	int signo = listener_signal(r->listener);
	struct err e = { 0 };

	log_info("Received signal %d; terminating.", signo);
	(void)sdnotify_stopping(&e);
	if (pid_file != NULL)
		(void)unlink(pid_file);
	return signo == SIGTERM ? 0 : 255;
}

static int run(struct role *r)
{
	const struct server_options *o = server_config_options(r->s->handover.config);
	char *pid_file = o->pid_file != NULL && !r->s->handover.debug ? mem_strdup(o->pid_file) : NULL;
	struct net_listeners inherited, sockets;
	enum listener_end why;
	struct err e = { 0 };
	int code = 255;

	take_sockets(r, &inherited);
	if (listener_open_sockets(o, &inherited, &sockets, &e) < 0) {
		log_error("%s", err_text(&e));
		return 255;
	}
	if (!r->s->foreground && !r->restarted)
		go_background();
	r->listener = listener_new(r->s, &sockets, &e);
	if (r->listener == NULL) {
		log_error("%s", err_text(&e));
		return 255;
	}
	take_children(r);
	write_pid_file(pid_file);
	if (sdnotify_ready(&e) < 0)
		log_error("%s", err_text(&e));
	for (;;) {
		if (listener_run(r->listener, &why, &e) < 0) {
			log_error("%s", err_text(&e));
			break;
		}
		if (why == LISTENER_RESTART) {
			restart(r);
			continue;
		}
		code = why == LISTENER_SERVED ? listener_status(r->listener) : stop(r, pid_file);
		break;
	}
	free(pid_file);
	listener_free(r->listener);
	return code;
}

_Noreturn void role_listener(struct listener_start *s)
{
	struct role r = { .s = s };
	struct err e = { 0 };
	int code;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	s->common.stderr_too = true;     /* of monitors, for -e */
	role_start_log(&s->common, &s->handover, "sshd");
	server_config_prefer(s->handover.config);
	if (privdrop_undumpable(&e) < 0)
		log_error("%s", err_text(&e));
	r.cwd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	procname_set_title(s->common.procname, "sshd: %s [listener]", s->path != NULL ? s->path : "sshd");
	code = run(&r);
	handover_clear(&s->handover);
	exit(code);
}
