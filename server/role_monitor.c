/* server/role_monitor.c: root for the life of one connection: starts the pre-auth process, decides by what that asks,
 * then starts the user process and serves its few requests until it ends. */
#include "server/roles.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "crypto/crypto.h"
#include "crypto/rand.h"
#include "io/net.h"
#include "platform/giveback.h"
#include "platform/privdrop.h"
#include "server/account.h"
#include "server/monitor.h"
#include "server/monitor_signals.h"
#include "server/monitor_wire.h"

enum {
	EXIT_GRACE = 3, EXIT_CRASH = 4, EXIT_OTHER = 255, GRACE_SPREAD_S = 5,
	GRACE_BEHIND_S = 10              /* how much later than a listener, which has its own clock for us */
};

struct role {
	struct monitor_start *s;
	struct monitor *monitor;
	pid_t child;             /* the unprivileged process being served; 0: none */
	int child_fd;
};

static void set_title(void *ctx, const char *text)
{
	procname_set_title(ctx, "sshd: %s", text);
}

/* A child with a socketpair to us and the connection. */
static int start_child(struct role *r, const char *kind, struct err *e)
{
	int pair[2];
	char *spec;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set_errno(e, "socketpair");
	spec = str_printf("%s:-1,-1,%d,%d,%d", kind, pair[1], r->s->in, r->s->out);
	pid = role_spawn(&r->s->common, spec, (const int[]){ pair[1], r->s->in, r->s->out }, 3, e);
	free(spec);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return ERR_IO;
	}
	r->child = pid;
	r->child_fd = pair[0];
	return 0;
}

/* Closes the socket to the child, which is the sign to end, and waits for it. Returns its wait status. */
static int end_child(struct role *r, bool kill_it)
{
	int status;

	if (r->child_fd >= 0)
		close(r->child_fd);
	r->child_fd = -1;
	if (r->child <= 0)
		return 0;
	if (kill_it)
		(void)kill(r->child, SIGKILL);
	status = monitor_reap(r->child);
	r->child = 0;
	return status;
}

static int send_setup(struct role *r, int (*put)(struct monitor *, struct buf *, struct err *), struct err *e)
{
	struct buf b = BUF_INIT(MON_BODY_MAX);
	int rc = put(r->monitor, &b, e);

	if (rc == 0)
		rc = mon_send(r->child_fd, MON_SETUP, &b, e);
	buf_free(&b);
	return rc;
}

static void log_connection(struct role *r)
{
	const struct endpoints *ends = monitor_endpoints(r->monitor);

	log_verbose("Connection from %s port %u on %s port %u rdomain \"\"", ends->remote_ip, ends->remote_port,
		ends->local_ip, ends->local_port);
}

/* The clock is watched by the listener; by us when there is none, and in case that it ends or becomes another one. */
static void start_own_grace(struct role *r)
{
	unsigned seconds = monitor_options(r->monitor)->login_grace_time_s;

	if (seconds == 0 || r->s->handover.debug)
		return;
	monitor_grace_start(r->child, seconds + rand_below(GRACE_SPREAD_S) + (r->s->notify >= 0 ? GRACE_BEHIND_S : 0));
}

static void log_grace(const struct role *r)
{
	const struct endpoints *ends = monitor_endpoints(r->monitor);

	log_info("Timeout before authentication for connection from %s to %s, pid = %ld", ends->remote_ip, ends->local_ip,
		(long)getpid());
}

/* 1: somebody may come in. Otherwise *code is our exit status. */
static int authenticate(struct role *r, int *code)
{
	const struct endpoints *ends = monitor_endpoints(r->monitor);
	struct err e = { 0 };
	int rc, status;

	*code = EXIT_OTHER;
	if (send_setup(r, monitor_put_preauth_setup, &e) < 0) {
		log_error("%s", err_text(&e));
		(void)end_child(r, true);
		return 0;
	}
	start_own_grace(r);
	rc = monitor_serve_preauth(r->monitor, r->child_fd, &e);
	status = end_child(r, rc < 0);
	if (rc == 1)
		return 1;
	if (monitor_grace_is_over()) {
		log_grace(r);
		*code = EXIT_GRACE;
		return 0;
	}
	*code = monitor_exit_code(r->monitor);
	if (rc < 0) {
		log_error("Connection with %s port %u ended by the monitor: %s", ends->remote_ip, ends->remote_port, err_text(&e));
		*code = EXIT_CRASH;
	} else if (WIFSIGNALED(status)) {
		log_error("Connection with %s port %u ended: its pre-auth process died of signal %d", ends->remote_ip,
			ends->remote_port, WTERMSIG(status));
		*code = EXIT_CRASH;
	} else if (!monitor_is_over(r->monitor)) {
		log_error("Connection with %s port %u ended: its pre-auth process went without a word (exit status %d)",
			ends->remote_ip, ends->remote_port, WEXITSTATUS(status));
		*code = EXIT_CRASH;
	}
	return 0;
}

/* setcred, PAM session, fork, exec as root (SECURITY.md). */
static int start_session(struct role *r, struct err *e)
{
	const struct account *a = monitor_account(r->monitor);
	struct buf blob;
	gid_t *saved = NULL;
	int saved_count = 0, rc;

	if (geteuid() == 0) {
		/* pam_setcred may add groups to those of the database; the new process keeps what it finds. */
		saved_count = getgroups(0, NULL);
		saved = mem_array(saved_count > 0 ? (size_t)saved_count : 1, sizeof(*saved));
		saved_count = getgroups(saved_count, saved);
		if (setgroups(a->group_count, a->groups) < 0)
			log_error("setgroups: %s", strerror(errno));
	}
	rc = monitor_open_session(r->monitor, e);
	/* PAM modules change ids for a while, and that may have undone it. */
	if (rc == 0)
		rc = privdrop_undumpable(e);
	if (rc == 0)
		rc = start_child(r, "user", e);
	if (saved != NULL && setgroups(saved_count > 0 ? (size_t)saved_count : 0, saved) < 0)
		log_error("setgroups: %s", strerror(errno));
	free(saved);
	if (rc == 0)
		rc = send_setup(r, monitor_put_user_setup, e);
	monitor_take_handoff(r->monitor, &blob);
	if (rc == 0)
		rc = mon_send(r->child_fd, MON_BLOB, &blob, e);
	buf_free(&blob);         /* wipes */
	return rc;
}

static void run_session(struct role *r)
{
	struct err e = { 0 };
	int rc;

	/* A session is taken down in order: the signal goes to who runs it, and its end is ours. */
	rc = monitor_stop_watch(&e);
	/* The connection is the user process's alone now. */
	close(r->s->in);
	if (r->s->out != r->s->in)
		close(r->s->out);
	log_verbose("User child is on pid %ld", (long)r->child);
	giveback();
	while (rc >= 0) {
		rc = monitor_stop_wait(r->child_fd, &e);
		if (rc > 0)
			(void)kill(r->child, SIGTERM);
		else if (rc == 0)
			rc = monitor_serve_user(r->monitor, r->child_fd, &e);
	}
	if (rc != ERR_CLOSED)
		log_error("session ended by the monitor: %s", err_text(&e));
	(void)end_child(r, rc != ERR_CLOSED);
}

static int run(struct role *r)
{
	struct monitor_options o = { .handover = &r->s->handover, .connection = r->s->in, .title = set_title,
		.ctx = r->s->common.procname };
	struct err e = { 0 };
	int code;

	/* First of all: it prepares itself while we do. */
	if (start_child(r, "preauth", &e) < 0) {
		log_error("%s", err_text(&e));
		return EXIT_OTHER;
	}
	crypto_init_signing();
	net_set_nodelay(r->s->in);
	net_set_keepalive(r->s->in, server_config_options(r->s->handover.config)->tcp_keep_alive);
	r->monitor = monitor_new(&o, &e);
	log_connection(r);
	if (authenticate(r, &code) != 1)
		return code;
	if (r->s->notify >= 0) {
		if (write(r->s->notify, "", 1) != 1)
			log_debug("the listener does not hear us");
		close(r->s->notify);
	}
	if (start_session(r, &e) < 0) {
		log_error("session of %s: %s", monitor_account(r->monitor)->name, err_text(&e));
		(void)end_child(r, true);
		return EXIT_OTHER;
	}
	run_session(r);
	return 0;
}

_Noreturn void role_monitor(struct monitor_start *s)
{
	struct role r = { .s = s, .child_fd = -1 };
	struct err e = { 0 };
	int code;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);  /* pam_limits may set a limit that the log is over */
	(void)signal(SIGCHLD, SIG_DFL);
	/* Whoever owns the unprivileged process shall not write into a log, or read from a terminal, that stderr may be. */
#ifdef WITH_SANITIZERS
	s->common.stderr_too = true;
#else
	s->common.stderr_too = s->handover.debug;
#endif
	procname_set_title(s->common.procname, "sshd: [accepted]");
	role_start_log(&s->common, &s->handover, "sshd-session");
	if (privdrop_undumpable(&e) < 0)
		log_error("%s", err_text(&e));
	code = run(&r);
	monitor_free(r.monitor);
	handover_clear(&s->handover);
	exit(code);
}
