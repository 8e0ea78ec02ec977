/* client/connect.c: the way to the server. Layer: client. Keywords: ssh_config(5). */
#include "client/connect.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "io/net.h"
#include "io/spawn.h"
#include "wire/buf.h"

static int family_of(const struct client_options *o)
{
	switch (o->address_family) {
	case CLIENT_INET:
		return AF_INET;
	case CLIENT_INET6:
		return AF_INET6;
	default:
		return AF_UNSPEC;
	}
}

static int connect_port(const struct client_options *o, uint16_t port, struct err *e)
{
	struct net_connect_options n = {
		.family = family_of(o), .bind_address = o->bind_address, .bind_interface = o->bind_interface,
		.timeout_ms = o->connect_timeout_s > 0 ? o->connect_timeout_s * 1000 : 0,
		.attempts = o->connection_attempts, .keepalive = o->tcp_keep_alive, .mptcp = o->use_mptcp,
		.happy_eyes = o->happy_eyes, .happy_delay_ms = (int)o->happy_delay_ms,
		.rcvbuf_bytes = (int)o->tcp_rcv_buf_kib * 1024, .tos = -1,
	};

	return net_connect(o->hostname, port, &n, e);
}

/* FallbackPort that was named and is another: a second try there (HPN-README 5). */
static int connect_or_fall_back(const struct client_options *o, uint16_t *port, struct err *e)
{
	struct err first = { 0 };
	int fd = connect_port(o, *port, &first);

	if (fd >= 0)
		return fd;
	if (!o->fallback || !client_options_was_set(CLIENT_ORIGIN(o, fallback_port)) || o->fallback_port == *port ||
	    o->fallback_port == 0)
		return err_set(e, first.code, "%s", err_text(&first));
	fprintf(stderr, "%s: server not available on default port %u\r\n", o->hostname, *port);
	fprintf(stderr, "Falling back to port %u\r\n", o->fallback_port);
	*port = (uint16_t)o->fallback_port;
	return connect_port(o, *port, e);
}

static int route_socket(const struct client_options *o, struct client_route *out, struct err *e)
{
	uint16_t port = (uint16_t)o->port;
	int fd = connect_or_fall_back(o, &port, e);

	if (fd < 0)
		return fd;
	out->fd_in = out->fd_out = fd;
	out->used_port = port;
	net_peer(fd, out->address, sizeof out->address, &out->port);
	return 0;
}

static const char *user_shell(void)
{
	const char *shell = getenv("SHELL");

	return shell && *shell ? shell : "/bin/sh";
}

static int spawn_proxy(const char *command, int child_in, int child_out, pid_t *pid, struct err *e)
{
	char *line = str_printf("exec %s", command);
	char *shell = mem_strdup(user_shell());
	char dash_c[] = "-c";
	char *argv[] = { shell, dash_c, line, NULL };
	struct spawn_options s = SPAWN_OPTIONS_INIT;

	s.path = shell;
	s.argv = argv;
	s.fd_in = child_in;
	s.fd_out = child_out;
	s.fd_err = STDERR_FILENO;
	*pid = spawn_start(&s, e);
	free(line);
	free(shell);
	return *pid < 0 ? ERR_IO : 0;
}

static int route_pipes(const char *command, struct client_route *out, struct err *e)
{
	int to[2] = { -1, -1 }, from[2] = { -1, -1 }, rc;

	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0) {
		rc = err_set_errno(e, "pipe");
	} else {
		rc = spawn_proxy(command, to[0], from[1], &out->proxy, e);
	}
	close(to[0]);
	close(from[1]);
	if (rc < 0) {
		close(to[1]);
		close(from[0]);
		return rc;
	}
	out->fd_in = from[0];
	out->fd_out = to[1];
	return 0;
}

/* The proxy connects, hands its socket over its stdout and ends. */
static int route_fdpass(const char *command, struct client_route *out, struct err *e)
{
	int pair[2], fd = -1, status, rc;
	size_t count = 0;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set_errno(e, "socketpair");
	rc = spawn_proxy(command, pair[0], pair[0], &pid, e);
	close(pair[0]);
	if (rc == 0)
		rc = net_recv_fds(pair[1], &fd, 1, &count, e);
	close(pair[1]);
	if (rc < 0)
		return rc;
	(void)waitpid(pid, &status, 0);
	if (count == 0)
		return err_set(e, ERR_IO, "the proxy command passed no descriptor");
	out->fd_in = out->fd_out = fd;
	return 0;
}

/* The ssh that a jump is run by. scp and sftp stand beside it: the one of the same folder. */
static char *jump_program(const char *program)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	char *self, *slash;

	if (n > 0) {
		path[n] = '\0';
		slash = strrchr(path, '/');
		if (slash)
			*slash = '\0';
		self = str_printf("%s/ssh", path);
		if (access(self, X_OK) == 0)
			return self;
		free(self);
	}
	return mem_strdup(strchr(program, '/') && access(program, X_OK) == 0 ? program : "ssh");
}

/* A word for the shell that stands for itself, in a text whose tokens will still be expanded. */
static void jump_quote(struct buf *b, const char *word)
{
	buf_put(b, "'", 1);
	for (; *word; word++) {
		if (*word == '\'')
			buf_put(b, "'\\''", 4);
		else if (*word == '%')
			buf_put(b, "%%", 2);
		else
			buf_put(b, word, 1);
	}
	buf_put(b, "'", 1);
}

static void jump_flag(struct buf *b, const char *flag, const char *value)
{
	if (!value || !*value)
		return;
	buf_put(b, flag, strlen(flag));
	jump_quote(b, value);
}

/* The command that ProxyJump stands for: ssh for the last hop, with the earlier hops as its own
 * jump, with our configuration file and our loudness. */
static char *jump_command(const struct client_options *o, const struct client_tokens *t, const char *program)
{
	static const char *const loud[] = { " -v", " -vv", " -vvv" };
	const struct client_jump *j = &o->proxy_jump;
	int level = (int)o->log_level - LOG_LEVEL_DEBUG1;
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);
	char *self = jump_program(program), port[16];
	char *command;

	snprintf(port, sizeof port, "%u", j->port);
	jump_quote(&b, self);
	jump_flag(&b, " -l ", j->user);
	jump_flag(&b, " -p ", j->port ? port : NULL);
	jump_flag(&b, " -J ", j->earlier);
	jump_flag(&b, " -F ", t->config);
	if (level >= 0)
		buf_put(&b, loud[level], strlen(loud[level]));
	command = str_printf("%s -W '[%%h]:%%p' %s", buf_cstr(&b), j->host);
	buf_free(&b);
	free(self);
	return command;
}

static int route_proxy(const struct client_options *o, const struct client_tokens *t, const char *text,
	struct client_route *out, struct err *e)
{
	char *command = client_tokens_expand(t, CLIENT_TOKENS_PROXY, text, e);
	int rc;

	if (!command)
		return ERR_USAGE;
	log_debug("Executing proxy command: exec %s", command);
	rc = o->proxy_use_fdpass ? route_fdpass(command, out, e) : route_pipes(command, out, e);
	free(command);
	return rc;
}

int client_connect(const struct client_options *o, const struct client_tokens *t, const char *program,
	struct client_route *out, struct err *e)
{
	char *jump;
	int rc;

	*out = (struct client_route){ .fd_in = -1, .fd_out = -1, .address = "UNKNOWN", .port = 65535,
		.used_port = (uint16_t)o->port };
	if (o->proxy_command && strcmp(o->proxy_command, "-") == 0) {
		out->fd_in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
		out->fd_out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return out->fd_in < 0 || out->fd_out < 0 ? err_set_errno(e, "dup") : 0;
	}
	if (o->proxy_command)
		return route_proxy(o, t, o->proxy_command, out, e);
	if (o->proxy_jump.host) {
		jump = jump_command(o, t, program);
		rc = route_proxy(o, t, jump, out, e);
		free(jump);
		return rc;
	}
	return route_socket(o, out, e);
}

void client_route_close(struct client_route *r)
{
	if (r->fd_in >= 0)
		close(r->fd_in);
	if (r->fd_out >= 0 && r->fd_out != r->fd_in)
		close(r->fd_out);
	r->fd_in = r->fd_out = -1;
	/* A proxy that does not notice that its input ended is told. */
	if (r->proxy > 0)
		(void)kill(r->proxy, SIGHUP);
	r->proxy = 0;
}
