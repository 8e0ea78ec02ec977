/* server/usession_program.c: the program of a session as a child: its descriptors, environment, ~/.ssh/rc, shell. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "io/loop.h"
#include "io/net.h"
#include "io/spawn.h"
#include "paths.h"
#include "server/usession_env.h"
#include "server/usession_private.h"

enum { ENV_FILE_MAX = 1024 * 1024, PIPE_WANTED = 1024 * 1024, DRAIN_MS = 10 };
#define SYSTEM_RC PATH_SYSCONFDIR "/sshrc"

/* ---- environment */

static char *read_user_environment(const struct usession *s)
{
	char *path, *text = NULL;
	size_t n;

	if (!s->u->options.permit_user_environment.yes)
		return NULL;
	path = str_printf("%s/.ssh/environment", s->u->setup.home);
	if (path_read_file(path, ENV_FILE_MAX, &text, &n, NULL) < 0)
		text = NULL;
	if (text != NULL && memchr(text, '\0', n) != NULL) {
		log_info("%s is not used: it holds a zero byte", path);
		mem_free_string(text);
		text = NULL;
	}
	free(path);
	return text;
}

void usession_build_env(struct usession *s)
{
	const struct user *u = s->u;
	const struct user_setup *setup = &u->setup;
	struct usession_env in = {
		.client = &s->client_env, .user = setup->user, .home = setup->home, .shell = setup->shell,
		.root = setup->user_is_root, .use_pam = setup->use_pam, .tz = getenv("TZ"),
		.term = s->has_tty ? s->term : NULL, .key_environment = &setup->key_options.environment,
		.permitted = &u->options.permit_user_environment, .file_text = read_user_environment(s),
		.pam = &setup->pam_environment, .set_env = &u->options.set_env, .remote_ip = setup->ends.remote_ip,
		.local_ip = setup->ends.local_ip, .remote_port = setup->ends.remote_port,
		.local_port = setup->ends.local_port, .user_auth = u->auth_info_file, .tty = s->tty,
		.original_command = s->original,
	};

	usession_env_build(&in, &s->env);
	mem_free_string(in.file_text);
}

/* ---- descriptors */

struct ends { int source, sink, err_source; };   /* ours */

static bool make_pipes(struct usession *s, struct ends *ours, struct err *e)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, err[2] = { -1, -1 };

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0) {
		const int all[] = { in[0], in[1], out[0], out[1] };

		err_set_errno(e, "pipe");
		for (size_t i = 0; i < MEM_COUNT(all); i++)
			if (all[i] >= 0)
				close(all[i]);
		return false;
	}
#ifdef F_SETPIPE_SZ
	(void)fcntl(in[1], F_SETPIPE_SZ, PIPE_WANTED);
	(void)fcntl(out[0], F_SETPIPE_SZ, PIPE_WANTED);
#endif
	s->child_in = in[0];
	s->child_out = out[1];
	s->child_err = err[1];
	*ours = (struct ends){ .source = out[0], .sink = in[1], .err_source = err[0] };
	return true;
}

static bool use_tty(struct usession *s, struct ends *ours, struct err *e)
{
	/* The pump owns copies; the master stays ours for its size and for looking whether something is left in it. */
	int source = fcntl(s->master, F_DUPFD_CLOEXEC, 3), sink = fcntl(s->master, F_DUPFD_CLOEXEC, 3);

	if (source < 0 || sink < 0) {
		err_set_errno(e, "terminal");
		if (source >= 0)
			close(source);
		return false;
	}
	*ours = (struct ends){ .source = source, .sink = sink, .err_source = -1 };
	s->child_in = s->slave;
	s->child_out = fcntl(s->slave, F_DUPFD_CLOEXEC, 3);
	s->child_err = fcntl(s->slave, F_DUPFD_CLOEXEC, 3);
	s->slave = -1;
	return true;
}

static void close_child_ends(struct usession *s)
{
	int *ends[] = { &s->child_in, &s->child_out, &s->child_err };

	for (size_t i = 0; i < MEM_COUNT(ends); i++) {
		if (*ends[i] >= 0)
			close(*ends[i]);
		*ends[i] = -1;
	}
}

/* ---- the end of the program */

/* The shell has gone. What it wrote is in the terminal's buffer; who else has the terminal open (a job in the background) does
 * not hold the session. */
static void drain_terminal(void *ctx)
{
	struct usession *s = ctx;
	struct pollfd p = { .fd = s->master, .events = POLLIN };

	if (s->c == NULL || s->sources_ended)
		return;
	if (poll(&p, 1, 0) <= 0) {
		channel_stop_source(s->c);
		s->sources_ended = true;
		usession_finish_when_done(s);
		return;
	}
	loop_timer_arm(s->drain, DRAIN_MS);
}

static void program_ended(struct usession *s, int status)
{
	s->exited = true;
	usession_send_exit(s, status);
	if (s->has_tty && !s->sources_ended && s->c != NULL) {
		s->drain = loop_timer_add(s->u->loop, drain_terminal, s);
		loop_timer_arm(s->drain, DRAIN_MS);
	}
	usession_finish_when_done(s);
}

static bool start_main(struct usession *s, struct err *e);

static void child_ended(void *ctx, pid_t pid, int status)
{
	struct usession *s = ctx;
	struct err e = { 0 };

	log_debug("process %ld ended with status 0x%x", (long)pid, (unsigned)status);
	s->child = NULL;
	s->pid = 0;
	if (!s->rc_running) {
		program_ended(s, status);
		return;
	}
	s->rc_running = false;
	if (!start_main(s, &e)) {
		log_error("session of %s: %s", s->u->setup.user, err_text(&e));
		usession_fail(s, 255, "%s\n", err_text(&e));
	}
}

/* ---- starting */

static bool spawn(struct usession *s, const char *path, char *const *argv, bool with_terminal, struct err *e)
{
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	char *const none[] = { NULL };

	o.path = path;
	o.argv = argv;
	o.envp = s->env.count > 0 ? s->env.v : none;
	o.fd_in = s->child_in;
	o.fd_out = s->child_out;
	o.fd_err = s->child_err;
	o.cwd = s->u->setup.home;
	o.new_session = true;
	o.controlling_tty = with_terminal && s->has_tty ? s->child_in : -1;
	s->pid = spawn_start(&o, e);
	if (s->pid < 0) {
		s->pid = 0;
		return false;
	}
	s->child = loop_child_add(s->u->loop, s->pid, child_ended, s, e);
	return s->child != NULL;
}

static bool start_main(struct usession *s, struct err *e)
{
	const char *shell = s->u->setup.shell, *base = path_base_name(shell);
	char *argv[4] = { NULL };
	bool ok;

	argv[0] = s->command == NULL ? str_printf("-%s", base) : mem_strdup(base);
	if (s->command != NULL) {
		argv[1] = mem_strdup("-c");
		argv[2] = mem_strdup(s->command);
	}
	ok = spawn(s, shell, argv, true, e);
	close_child_ends(s);
	for (size_t i = 0; argv[i] != NULL; i++)
		free(argv[i]);
	return ok;
}

/* The script to run before the program; NULL: none. Allocated. */
static char *rc_command(const struct usession *s, bool *by_shell)
{
	const struct user *u = s->u;
	char *rc = str_printf("%s/.ssh/rc", u->setup.home);
	struct stat st;
	bool user_rc = !s->is_subsystem && u->options.force_command == NULL && u->options.permit_user_rc &&
		u->setup.key_options.user_rc && stat(rc, &st) == 0;

	free(rc);
	*by_shell = user_rc;
	if (user_rc)
		return mem_strdup("/bin/sh ~/.ssh/rc");
	return stat(SYSTEM_RC, &st) == 0 ? mem_strdup(SYSTEM_RC) : NULL;
}

static bool start_rc(struct usession *s, const char *command, bool by_shell, struct err *e)
{
	const char *shell = by_shell ? s->u->setup.shell : "/bin/sh";
	char *argv[4] = { mem_strdup(path_base_name(shell)), mem_strdup(by_shell ? "-c" : command),
		by_shell ? mem_strdup(command) : NULL, NULL };
	int in = s->child_in;
	bool ok;

	s->child_in = -1;        /* what the peer sends is for the program */
	s->rc_running = ok = spawn(s, shell, argv, false, e);
	s->child_in = in;
	for (size_t i = 0; argv[i] != NULL; i++)
		free(argv[i]);
	return ok;
}

bool usession_start_program(struct usession *s, struct err *e)
{
	struct ends ours;
	struct channel_pump pump = { .own = true, .err_sink = -1 };
	bool by_shell, ok;
	char *rc;

	if (!(s->has_tty ? use_tty(s, &ours, e) : make_pipes(s, &ours, e)))
		return false;
	usession_build_env(s);
	rc = rc_command(s, &by_shell);
	ok = rc != NULL ? start_rc(s, rc, by_shell, e) : start_main(s, e);
	free(rc);
	pump.source = ours.source;
	pump.sink = ours.sink;
	pump.err_source = ours.err_source;
	channel_set_interactive(s->c, s->has_tty);
	/* The status is owed also to a peer that closes before the program has ended; a terminal is hung up by that. */
	channel_hold_close(s->c, !s->has_tty);
	if (channel_attach(s->c, &pump, e) < 0)
		return false;
	return ok;
}
