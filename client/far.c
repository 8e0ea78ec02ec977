/* Programs on the far side as byte links. Layer: client. */
#include "client/far.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "channel/session_msg.h"
#include "client/client.h"
#include "client/profile.h"
#include "io/link.h"
#include "io/loop.h"
#include "io/spawn.h"
#include "transport.h"

enum { CHILD_END_MS = 5000 };

struct far {
	struct loop *loop;
	char *program, *ssh_program, *local_server, *host;
	struct str_list child_args;      /* of -S: flags before the host */
	/* our own connection */
	struct client_profile profile;
	struct client *client;
	bool has_profile, ready, over;
	bool unopened;                   /* the last channel was refused */
	struct channel *channel;
	/* of the open link */
	struct link *link;
	void (*refused)(void *ctx);
	void *refused_ctx;
	pid_t child;
	struct loop_child *watch;
	bool child_over, late;
	int status;
};

/* ---- flags */

/* Flags whose value wins over lines of -o, and those that join them. */
static const struct { char flag; const char *keyword, *value; bool joins; } flag_rows[] = {
	{ '4', "AddressFamily", "inet", false }, { '6', "AddressFamily", "inet6", false }, { 'A', "ForwardAgent", "yes", false },
	{ 'C', "Compression", "yes", false }, { 'c', "Ciphers", NULL, false }, { 'q', "LogLevel", "QUIET", false },
	{ 'i', "IdentityFile", NULL, true }, { 'J', "ProxyJump", NULL, true }, { 'l', "User", NULL, true },
	{ 'p', "Port", NULL, true },
};

/* What a copy never wants (scp(1)). These come first, and the first wins. */
static const char *const fixed_lines[] = {
	"ForwardX11=no", "PermitLocalCommand=no", "ClearAllForwardings=yes", "RemoteCommand=none", "RequestTTY=no",
	"ControlMaster=no",
};

static int apply_flag(struct far *f, const struct far_flag *flag, unsigned *verbose, struct err *e)
{
	static const char *const levels[] = { "DEBUG1", "DEBUG2", "DEBUG3" };
	struct client_options *o = &f->profile.options;

	if (flag->flag == 'o')
		return client_options_line(o, flag->value, e);
	if (flag->flag == 'v') {
		*verbose += *verbose < 3;
		return client_options_force(o, "LogLevel", levels[*verbose - 1], e);
	}
	for (size_t i = 0; i < MEM_COUNT(flag_rows); i++) {
		const char *value = flag_rows[i].value != NULL ? flag_rows[i].value : flag->value;

		if (flag_rows[i].flag != flag->flag)
			continue;
		return flag_rows[i].joins ? client_options_add(o, flag_rows[i].keyword, value, e) :
			client_options_force(o, flag_rows[i].keyword, value, e);
	}
	return err_set(e, ERR_USAGE, "unknown flag -%c", flag->flag);
}

static int load_profile(struct far *f, const struct far_setup *s, struct err *e)
{
	struct client_options *o = &f->profile.options;
	unsigned verbose = 0;
	int r = client_profile_init(&f->profile, e);

	f->has_profile = r == 0;
	for (size_t i = 0; i < MEM_COUNT(fixed_lines) && r == 0; i++)
		r = client_options_line(o, fixed_lines[i], e);
	for (size_t i = 0; i < s->flag_count && r == 0; i++)
		r = apply_flag(f, &s->flags[i], &verbose, e);
	if (r == 0)
		r = client_options_line(o, "ForwardAgent=no", e);
	if (r == 0 && s->user != NULL)
		r = client_options_force(o, "User", s->user, e);
	if (r == 0 && s->port > 0) {
		char port[12];

		(void)snprintf(port, sizeof port, "%d", s->port);
		r = client_options_force(o, "Port", port, e);
	}
	if (r == 0 && !client_host_arg_ok(s->host))
		r = err_set(e, ERR_USAGE, "hostname contains invalid characters");
	if (r == 0)
		r = client_profile_load(&f->profile, s->config, s->host, NULL, e);
	if (r == 0)
		r = client_profile_start_log(&f->profile, s->program, NULL, false, e);
	return r;
}

static void child_args(struct far *f, const struct far_setup *s)
{
	str_list_add(&f->child_args, s->ssh_program);
	str_list_add(&f->child_args, "-x");
	for (size_t i = 1; i < MEM_COUNT(fixed_lines); i++)
		str_list_add_take(&f->child_args, str_printf("-o%s", fixed_lines[i]));
	if (s->config != NULL) {
		str_list_add(&f->child_args, "-F");
		str_list_add(&f->child_args, s->config);
	}
	for (size_t i = 0; i < s->flag_count; i++) {
		str_list_add_take(&f->child_args, str_printf("-%c", s->flags[i].flag));
		if (s->flags[i].value != NULL)
			str_list_add(&f->child_args, s->flags[i].value);
	}
	str_list_add(&f->child_args, "-oForwardAgent=no");
	if (s->port > 0) {
		str_list_add(&f->child_args, "-p");
		str_list_add_take(&f->child_args, str_printf("%d", s->port));
	}
	if (s->user != NULL) {
		str_list_add(&f->child_args, "-l");
		str_list_add(&f->child_args, s->user);
	}
}

/* ---- our own connection */

static void on_ready(void *ctx, struct client *c)
{
	struct far *f = ctx;

	(void)c;
	f->ready = true;
	loop_stop(f->loop);
}

static void on_ended(void *ctx, struct client *c, const struct err *e)
{
	struct far *f = ctx;

	if (f->over)
		return;
	f->over = true;
	client_report_end(c, e);
	loop_stop(f->loop);
}

static bool connect_client(struct far *f, const struct far_setup *s)
{
	struct client_setup setup = {
		.options = &f->profile.options, .tokens = &f->profile.tokens, .program = f->program,
		.events = { .ctx = f, .ready = on_ready, .ended = on_ended },
	};
	struct err e = { 0 };

	(void)s;
	f->client = client_new(f->loop, &setup, &e);
	if (f->client == NULL) {
		log_error("%s: %s", f->program, err_text(&e));
		return false;
	}
	while (!f->ready && !f->over)
		if (loop_run(f->loop, &e) < 0) {
			log_error("%s", err_text(&e));
			return false;
		}
	return !f->over;
}

struct far *far_new(const struct far_setup *s)
{
	struct far *f = mem_zalloc(sizeof *f);
	struct err e = { 0 };

	f->loop = s->loop;
	f->program = mem_strdup(s->program);
	f->host = mem_strdup(s->host != NULL ? s->host : "");
	f->status = -1;
	if (s->local_server != NULL) {
		f->local_server = mem_strdup(s->local_server);
		return f;
	}
	if (s->ssh_program != NULL) {
		f->ssh_program = mem_strdup(s->ssh_program);
		child_args(f, s);
		return f;
	}
	if (load_profile(f, s, &e) < 0) {
		if (e.code != 0)         /* else it has been reported */
			log_error("%s", err_text(&e));
		far_free(f);
		return NULL;
	}
	if (!connect_client(f, s)) {
		far_free(f);
		return NULL;
	}
	return f;
}

bool far_alive(const struct far *f)
{
	return f->client == NULL || !f->over;
}

bool far_refused_channel(const struct far *f)
{
	return f->unopened;
}

bool far_known_server(const struct far *f)
{
	enum peer_kind kind;

	if (f->client == NULL)
		return f->local_server != NULL;
	kind = transport_peer_kind(client_transport(f->client));
	return kind == PEER_WIRESPEED || kind == PEER_OPENSSH || kind == PEER_HPN;
}

bool far_windows_grow(const struct far *f)
{
	enum peer_kind kind = f->client != NULL ? transport_peer_kind(client_transport(f->client)) : PEER_OTHER;

	return kind == PEER_WIRESPEED || kind == PEER_HPN;
}

static void say_refused(struct far *f)
{
	if (f->refused != NULL)
		f->refused(f->refused_ctx);
}

static void on_open_failed(void *ctx, struct channel *c, uint32_t reason, const char *text)
{
	struct far *f = ctx;

	(void)reason;
	log_error("channel %u: open failed: %s", channel_id(c), text);
	f->channel = NULL;
	f->link = NULL;
	f->unopened = true;
	say_refused(f);
}

static bool on_request(void *ctx, struct channel *c, struct view name, struct reader *body, bool want_reply)
{
	struct far *f = ctx;
	uint32_t status;

	(void)c;
	(void)want_reply;
	if (!view_is(name, "exit-status") || session_exit_status_get(body, &status, NULL) < 0)
		return false;
	f->status = (int)status;
	return true;
}

static void on_channel_closed(void *ctx, struct channel *c)
{
	struct far *f = ctx;

	if (f->channel != c)
		return;
	f->channel = NULL;
	f->link = NULL;
	loop_stop(f->loop);
}

static void on_started(void *ctx, struct channel *c, bool ok)
{
	if (!ok && channel_is_open(c))
		say_refused(ctx);
}

typedef void started_fn(void *ctx, struct channel *c, bool ok);

static struct channel *open_channel(struct far *f, const struct far_start *start, const struct channel_user *user,
	started_fn *started, struct err *e)
{
	struct buf body = BUF_INIT(BUF_LIMIT_DEFAULT);
	struct channel *c;
	int r;

	if (f->over) {
		err_set(e, ERR_CLOSED, "Connection closed");
		return NULL;
	}
	c = channel_open(client_channels(f->client), "session", NULL, false, user, e);
	if (c == NULL)
		return NULL;
	session_string_put(&body, start->command);
	r = buf_ok(&body) ? channel_request(c, start->subsystem ? "subsystem" : "exec", &body, started, f) : ERR_MEMORY;
	buf_free(&body);
	if (r < 0) {
		err_set(e, r, "the request for \"%s\" could not be sent", start->command);
		channel_close(c);
		return NULL;
	}
	return c;
}

static struct link *open_first(struct far *f, const struct far_start *start, struct err *e)
{
	struct channel_user user = { .ctx = f, .open_failed = on_open_failed, .request = on_request, .closed = on_channel_closed };

	f->channel = open_channel(f, start, &user, on_started, e);
	return f->channel != NULL ? channel_link(f->channel, STDERR_FILENO) : NULL;
}

/* ---- channels beside it */

static void on_beside_failed(void *ctx, struct channel *c, uint32_t reason, const char *text)
{
	(void)ctx;
	(void)reason;
	log_verbose("channel %u: open failed: %s", channel_id(c), text);
}

static void on_beside_started(void *ctx, struct channel *c, bool ok)
{
	(void)ctx;
	if (!ok && channel_is_open(c))
		channel_close(c);
}

struct link *far_open_beside(struct far *f, const struct far_start *start, struct err *e)
{
	struct channel_user user = { .ctx = f, .open_failed = on_beside_failed };
	struct channel *c;

	if (f->client == NULL) {
		err_set(e, ERR_USAGE, "every link is a child's");
		return NULL;
	}
	c = open_channel(f, start, &user, on_beside_started, e);
	return c != NULL ? channel_link(c, STDERR_FILENO) : NULL;
}

/* ---- children */

static void on_child(void *ctx, pid_t pid, int wait_status)
{
	struct far *f = ctx;

	(void)pid;
	f->child_over = true;
	f->watch = NULL;
	f->status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
	loop_stop(f->loop);
}

static char *find_program(const char *name)
{
	const char *path = getenv("PATH"), *end;

	if (strchr(name, '/') != NULL || path == NULL)
		return mem_strdup(name);
	for (; *path != '\0'; path = *end == ':' ? end + 1 : end) {
		char *full;

		end = path + strcspn(path, ":");
		full = str_printf("%.*s/%s", (int)(end - path), path, name);
		if (end > path && access(full, X_OK) == 0)
			return full;
		free(full);
	}
	return mem_strdup(name);
}

static void log_command(const struct str_list *args)
{
	char *line = str_list_join(args, " ");

	log_debug("Executing: %s", line);
	free(line);
}

static pid_t spawn_child(struct far *f, const struct str_list *args, int in, int out, struct err *e)
{
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	char *path = find_program(args->v[0]);
	pid_t pid;

	(void)f;
	o.path = path;
	o.argv = args->v;
	o.fd_in = in;
	o.fd_out = out;
	o.fd_err = STDERR_FILENO;
	log_command(args);
	pid = spawn_start(&o, e);
	free(path);
	return pid;
}

static struct link *open_child(struct far *f, const struct far_start *start, struct err *e)
{
	struct str_list args = { 0 };
	int to[2], from[2];
	struct link *l = NULL;

	if (f->local_server != NULL)
		str_list_add(&args, f->local_server);
	else {
		str_list_copy(&args, &f->child_args);
		if (start->subsystem)
			str_list_add(&args, "-s");
		str_list_add(&args, "--");
		str_list_add(&args, f->host);
		str_list_add(&args, start->command);
	}
	if (pipe2(to, O_CLOEXEC) < 0) {
		err_set_errno(e, "pipe");
		str_list_clear(&args);
		return NULL;
	}
	if (pipe2(from, O_CLOEXEC) < 0) {
		err_set_errno(e, "pipe");
		close(to[0]);
		close(to[1]);
		str_list_clear(&args);
		return NULL;
	}
	spawn_widen_pipe(to[1]);
	spawn_widen_pipe(from[1]);
	f->child_over = false;
	f->child = spawn_child(f, &args, to[0], from[1], e);
	close(to[0]);
	close(from[1]);
	if (f->child > 0) {
		f->watch = loop_child_add(f->loop, f->child, on_child, f, e);
		l = link_fd_new(f->loop, from[0], to[1], 0, e);
	}
	if (l == NULL) {
		close(to[1]);
		close(from[0]);
	}
	str_list_clear(&args);
	return l;
}

/* ---- links */

struct link *far_open(struct far *f, const struct far_start *start, struct err *e)
{
	f->status = -1;
	f->unopened = false;
	f->refused = start->refused;
	f->refused_ctx = start->ctx;
	f->link = f->client != NULL ? open_first(f, start, e) : open_child(f, start, e);
	return f->link;
}

static void on_late(void *ctx)
{
	struct far *f = ctx;

	f->late = true;
	loop_stop(f->loop);
}

/* Turns the loop until the child or the channel has ended, but not for ever. */
static void wait_for_end(struct far *f)
{
	struct loop_timer *timer = loop_timer_add(f->loop, on_late, f);
	struct err e = { 0 };

	f->late = false;
	loop_timer_arm(timer, CHILD_END_MS);
	while (!f->late && (f->client != NULL ? f->channel != NULL && !f->over : !f->child_over))
		if (loop_run(f->loop, &e) < 0)
			break;
	loop_timer_remove(timer);
}

static void no_news(void *ctx)
{
	(void)ctx;
}

static void drop_input(void *ctx)
{
	struct far *f = ctx;
	const uint8_t *p;
	size_t n;

	while (f->link != NULL && (n = link_peek(f->link, &p)) > 0)
		link_consume(f->link, n);
}

static void link_gone(void *ctx, const struct err *e)
{
	(void)ctx;
	(void)e;
}

int far_close(struct far *f, bool wait)
{
	if (f->link != NULL && (wait || f->client == NULL)) {
		f->link->user = (struct link_user){ .readable = drop_input, .writable = no_news, .closed = link_gone, .ctx = f };
		link_finish(f->link);
		drop_input(f);
		wait_for_end(f);
	}
	if (f->link != NULL) {
		/* A channel that is still there ends by this; a child gets end of file. */
		link_close(f->link);
		f->link = NULL;
		f->channel = NULL;
	}
	if (f->client == NULL && f->child > 0 && !f->child_over) {
		loop_child_remove(f->watch);
		(void)kill(f->child, SIGTERM);
	}
	f->watch = NULL;
	f->child = 0;
	return f->status;
}

void far_free(struct far *f)
{
	if (f == NULL)
		return;
	if (f->link != NULL)
		(void)far_close(f, false);
	if (f->client != NULL) {
		if (f->ready && !f->over) {
			f->over = true;
			client_log_totals(f->client);
			client_disconnect(f->client);
		}
		client_free(f->client);
	}
	if (f->has_profile)
		client_profile_clear(&f->profile);
	str_list_clear(&f->child_args);
	free(f->program);
	free(f->ssh_program);
	free(f->local_server);
	free(f->host);
	free(f);
}
