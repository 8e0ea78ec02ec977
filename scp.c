/* scp: copies files between machines, over SFTP or the old scp protocol (scp(1)). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "client/far.h"
#include "io/link.h"
#include "io/loop.h"
#include "io/spawn.h"
#include "wire/buf.h"
#include "xfer/copy.h"
#include "xfer/operand.h"
#include "xfer/splice.h"

enum { EXIT_FATAL = 255, REQUESTS_MAX = 262144, BUFFER_MAX = 256 * 1024, LIMIT_KBIT_MAX = 100 * 1024 * 1024, FILES_WANTED = 4096 };

struct scp {
	const char *program;
	struct loop *loop;
	struct far_flag flags[256];
	size_t flag_count;
	const char *config, *ssh_program, *local_server;
	int port;                                /* -P; 0: not given */
	struct copy_options copy;
	bool old_protocol, sftp_asked;           /* -O; -s */
	bool direct;                             /* -R: from the source machine to the target machine */
	bool quiet, batch;
	unsigned verbose;
	bool serve_from, serve_to, target_dir;   /* -f, -t, -d */

	struct operand *operand;                 /* the last is the target */
	size_t operand_count;

	struct far *source, *target;             /* connections; source serves downloads and the first half of -3 */
	struct operand source_at, target_at;     /* where they lead */
	struct copy *running;
	bool refused, finished;
	int result;                              /* of the running copy */
	int status;                              /* of the program */
	int signal;                              /* that ends us */
};

static void fail(const struct scp *s, const char *fmt, ...) PRINTF_LIKE(2, 3) __attribute__((noreturn));
static void fail(const struct scp *s, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	(void)fprintf(stderr, "%s: %s\n", s->program, text);
	exit(EXIT_FATAL);
}

static void usage(void) __attribute__((noreturn));
static void usage(void)
{
	(void)fputs("usage: scp [-346ABCOpqRrsTv] [-c cipher] [-D sftp_server_path] [-F ssh_config] [-i identity_file]\n"
		"           [-J destination] [-l limit] [-o ssh_option] [-P port] [-S program] [-X sftp_option] source ... target\n",
		stderr);
	exit(1);
}

/* ---- the command line */

static void add_flag(struct scp *s, char flag, const char *value)
{
	if (s->flag_count == MEM_COUNT(s->flags))
		fail(s, "too many options");
	s->flags[s->flag_count++] = (struct far_flag){ flag, value };
}

static void take_limit(struct scp *s, const char *value)
{
	uint64_t kbit;

	if (str_to_u64(value, 1, LIMIT_KBIT_MAX, &kbit) < 0)
		usage();
	s->copy.limit_bits = kbit * 1024;
}

static void take_port(struct scp *s, const char *value)
{
	uint64_t port;

	if (str_to_u64(value, 1, 65535, &port) < 0)
		fail(s, "bad port \"%s\"", value);
	s->port = (int)port;
}

static void take_tuning(struct scp *s, const char *value)
{
	uint64_t n;

	if (str_starts(value, "buffer=")) {
		if (str_to_bytes(value + 7, &n) < 0 || n < 1 || n > BUFFER_MAX)
			fail(s, "invalid buffer size \"%s\", must be between 1 and %dK", value + 7, BUFFER_MAX / 1024);
		s->copy.buffer = (unsigned)n;
	} else if (str_starts(value, "nrequests=")) {
		if (str_to_u64(value + 10, 1, REQUESTS_MAX, &n) < 0)
			fail(s, "invalid number of requests \"%s\", must be between 1 and %d", value + 10, REQUESTS_MAX);
		s->copy.requests = (unsigned)n;
	} else if (str_starts(value, "stripes=")) {
		if (str_to_u64(value + 8, 1, COPY_STRIPES_MAX, &n) < 0)
			fail(s, "invalid number of stripes \"%s\", must be between 1 and %d", value + 8, COPY_STRIPES_MAX);
		s->copy.stripes = (unsigned)n;
	} else
		fail(s, "invalid -X option \"%s\": buffer=, nrequests= or stripes=", value);
}

static void take_verbose(struct scp *s)
{
	static const enum log_level levels[] = { LOG_LEVEL_DEBUG1, LOG_LEVEL_DEBUG2, LOG_LEVEL_DEBUG3 };

	if (s->verbose < 3)
		log_set_level(levels[s->verbose++]);
	s->copy.verbose = true;
	add_flag(s, 'v', NULL);
}

/* Flags that only change one thing here. */
static bool take_switch(struct scp *s, int flag)
{
	const struct { char flag; bool *place; } rows[] = {
		{ 'O', &s->old_protocol }, { 'R', &s->direct }, { 'r', &s->copy.recursive }, { 'p', &s->copy.preserve },
		{ 'T', &s->copy.no_name_check }, { 'd', &s->target_dir }, { 'f', &s->serve_from }, { 't', &s->serve_to },
	};

	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		if (rows[i].flag != flag)
			continue;
		*rows[i].place = true;
		return true;
	}
	return false;
}

static void take_flag(struct scp *s, int flag, const char *value)
{
	switch (flag) {
	case '1': fail(s, "SSH protocol v.1 is no longer supported");
	case '2': return;
	case '3': s->direct = false; return;
	case '4': case '6': case 'A': case 'C': add_flag(s, (char)flag, NULL); return;
	case 'c': case 'i': case 'J': case 'o': add_flag(s, (char)flag, value); return;
	case 'B': s->batch = true; add_flag(s, 'o', "BatchMode=yes"); return;
	case 'D': s->local_server = value; return;
	case 'F': s->config = value; return;
	case 'l': take_limit(s, value); return;
	case 'P': take_port(s, value); return;
	case 'q': s->quiet = true; s->copy.quiet = true; add_flag(s, 'q', NULL); return;
	case 'S': s->ssh_program = value; return;
	case 's': s->old_protocol = false; s->sftp_asked = true; return;
	case 'v': take_verbose(s); return;
	case 'X': take_tuning(s, value); return;
	default:
		if (!take_switch(s, flag))
			usage();
	}
}

static void take_operands(struct scp *s, char **argv, size_t count)
{
	struct err e = { 0 };

	s->operand = mem_array(count, sizeof s->operand[0]);
	s->operand_count = count;
	for (size_t i = 0; i < count; i++)
		if (operand_parse(argv[i], &s->operand[i], &e) < 0) {
			(void)fprintf(stderr, "%s: %s\n", s->program, err_text(&e));
			exit(1);
		}
}

/* ---- signals */

static void on_signal(void *ctx, int signo)
{
	struct scp *s = ctx;

	if (signo == SIGWINCH) {
		if (s->running != NULL)
			copy_window_changed(s->running);
		return;
	}
	/* The second time it need not be orderly. */
	if (s->signal == 0)
		s->signal = signo;
	loop_stop(s->loop);
	if (s->running != NULL)
		copy_interrupt(s->running);
}

static void watch_signals(struct scp *s)
{
	static const int wanted[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH };
	struct err e = { 0 };

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < MEM_COUNT(wanted); i++) {
		struct sigaction was;

		/* nohup: what is ignored stays so. */
		if (sigaction(wanted[i], NULL, &was) == 0 && was.sa_handler == SIG_IGN)
			continue;
		if (loop_signal_add(s->loop, wanted[i], on_signal, s, &e) < 0)
			fail(s, "%s", err_text(&e));
	}
}

/* ---- one copy */

static void on_done(void *ctx, int status)
{
	struct scp *s = ctx;

	s->finished = true;
	s->result = status;
	loop_stop(s->loop);
}

static void on_refused(void *ctx)
{
	struct scp *s = ctx;

	s->refused = true;
	if (s->running != NULL)
		copy_abandon(s->running);
}

static struct far *connect_to(struct scp *s, const struct operand *at)
{
	struct far_setup setup = {
		.loop = s->loop, .program = s->program, .config = s->config, .flags = s->flags, .flag_count = s->flag_count,
		.ssh_program = s->ssh_program, .local_server = s->local_server, .host = at->host, .user = at->user, .port = at->port,
	};
	struct far *f;

	if (setup.port < 0 && s->port != 0)
		setup.port = s->port;
	f = far_new(&setup);
	if (f == NULL)
		(void)fprintf(stderr, "%s%s\n", s->old_protocol ? "" : s->program, s->old_protocol ? "lost connection" : ": Connection closed");
	return f;
}

/* The connection in *slot, or a new one if it leads elsewhere or has ended. */
static struct far *reach(struct scp *s, struct far **slot, struct operand *slot_at, const struct operand *at)
{
	if (*slot != NULL && far_alive(*slot) && operand_same_host(slot_at, at))
		return *slot;
	far_free(*slot);
	operand_clear(slot_at);
	*slot = connect_to(s, at);
	if (*slot != NULL) {
		*slot_at = *at;
		slot_at->user = at->user != NULL ? mem_strdup(at->user) : NULL;
		slot_at->host = mem_strdup(at->host);
		slot_at->path = mem_strdup("");
	}
	return *slot;
}

static int note(struct scp *s, int status)
{
	if (status != 0 && s->status != EXIT_FATAL)
		s->status = status;
	return status;
}

static int wait_for_copy(struct scp *s)
{
	struct err e = { 0 };

	while (!s->finished)
		if (loop_run(s->loop, &e) < 0)
			fail(s, "%s", err_text(&e));
	copy_free(s->running);
	s->running = NULL;
	return s->result;
}

static int run_copy(struct scp *s, const struct copy_setup *setup, bool sftp)
{
	struct err e = { 0 };

	s->finished = false;
	s->running = sftp ? copy_start_sftp(setup, &e) : copy_start_rcp(setup, &e);
	if (s->running == NULL) {
		(void)fprintf(stderr, "%s: %s\n", s->program, err_text(&e));
		return 1;
	}
	if (s->signal != 0)
		copy_interrupt(s->running);
	return wait_for_copy(s);
}

static struct link *open_far(struct scp *s, struct far *f, bool subsystem, const char *command)
{
	struct far_start start = { .subsystem = subsystem, .command = command, .refused = on_refused, .ctx = s };
	struct err e = { 0 };
	struct link *l;

	l = far_open(f, &start, &e);
	if (l == NULL)
		(void)fprintf(stderr, "%s: %s\n", s->program, err_text(&e));
	return l;
}

static int copy_old(struct scp *s, struct far *f, const struct copy_job *job)
{
	struct copy_setup setup = { .loop = s->loop, .job = job, .options = &s->copy, .done = on_done, .ctx = s };
	char *command = copy_rcp_command(job, &s->copy);
	int status = 1;

	setup.link = open_far(s, f, false, command);
	free(command);
	if (setup.link != NULL)
		status = run_copy(s, &setup, false);
	(void)far_close(f, status != 0);
	return status;
}

/* The old protocol downloads one source a session. */
static int copy_old_each(struct scp *s, struct far *f, const struct copy_job *job)
{
	int status = 0;

	if (job->upload)
		return copy_old(s, f, job);
	for (size_t i = 0; i < job->sources.count && s->signal == 0; i++) {
		struct copy_job one = *job;
		int r;

		one.sources = (struct str_list){ 0 };
		str_list_add(&one.sources, job->sources.v[i]);
		r = copy_old(s, f, &one);
		if (r != 0)
			status = r;
		str_list_clear(&one.sources);
	}
	return status;
}

static struct link *open_beside(void *ctx)
{
	struct far_start start = { .subsystem = true, .command = "sftp" };
	struct err e = { 0 };
	struct link *l = far_open_beside(ctx, &start, &e);

	if (l == NULL)
		log_verbose("no further channel: %s", err_text(&e));
	return l;
}

static int copy_sftp(struct scp *s, struct far *f, const struct copy_job *job)
{
	struct copy_setup setup = { .loop = s->loop, .job = job, .options = &s->copy, .done = on_done, .ctx = s };
	int status;

	s->refused = false;
	setup.link = open_far(s, f, true, "sftp");
	if (setup.link == NULL)
		return EXIT_FATAL;
	s->copy.known_server = far_known_server(f);
	if (s->copy.stripes != 0 || !far_windows_grow(f))
		setup.more = (struct copy_more){ open_beside, f };
	status = run_copy(s, &setup, true);
	/* Every answer has come: there is nothing to wait for. */
	(void)far_close(f, status != 0 && s->signal == 0);
	return status;
}

/* Behind a copy with SFTP: a server that has none gets what it understands, over the same connection. What there is to say otherwise
 * is said here. t: the second server; NULL: there is one only. */
static bool must_use_old(struct scp *s, const struct far *f, const struct far *t)
{
	const char *who = t != NULL ? "a" : "the";

	if (!s->refused)
		return false;
	if (far_refused_channel(f) || (t != NULL && far_refused_channel(t))) {
		(void)fprintf(stderr, "%s: Connection closed\n", s->program);
		return false;
	}
	if (s->sftp_asked || !far_alive(f) || (t != NULL && !far_alive(t))) {
		(void)fprintf(stderr, "%s: %s server has no SFTP subsystem\n", s->program, who);
		return false;
	}
	log_verbose("%s server has no SFTP: using the old scp protocol", who);
	s->old_protocol = true;
	return true;
}

static int copy_one_side(struct scp *s, const struct operand *at, const struct copy_job *job)
{
	struct far *f = reach(s, job->upload ? &s->target : &s->source, job->upload ? &s->target_at : &s->source_at, at);
	int status;

	if (f == NULL)
		return note(s, s->old_protocol ? 1 : EXIT_FATAL);
	if (s->old_protocol)
		return note(s, copy_old_each(s, f, job));
	status = copy_sftp(s, f, job);
	return note(s, must_use_old(s, f, NULL) ? copy_old_each(s, f, job) : status);
}

/* ---- from one machine to another */

static void on_spliced(void *ctx)
{
	struct scp *s = ctx;

	s->finished = true;
	loop_stop(s->loop);
}

/* One `scp -f` there talks to one `scp -t` elsewhere. Their exit statuses are all that is known here. */
static int relay_old_one(struct scp *s, const struct copy_job *from, const struct copy_job *to)
{
	char *source = copy_rcp_command(from, &s->copy), *sink = copy_rcp_command(to, &s->copy);
	struct link *a = open_far(s, s->source, false, source), *b = a != NULL ? open_far(s, s->target, false, sink) : NULL;
	struct splice *splice = b != NULL ? splice_new(s->loop, a, b, on_spliced, s) : NULL;
	struct err e = { 0 };
	int status;

	free(source);
	free(sink);
	s->finished = splice == NULL;
	while (!s->finished && s->signal == 0 && far_alive(s->source) && far_alive(s->target))
		if (loop_run(s->loop, &e) < 0)
			fail(s, "%s", err_text(&e));
	splice_free(splice);
	status = far_close(s->source, s->signal == 0);
	if (status == 0)
		status = far_close(s->target, true);
	else
		(void)far_close(s->target, s->signal == 0);
	/* The two have told each other what went wrong. */
	if (status != 0 && s->signal == 0)
		(void)fprintf(stderr, "%s: %s could not be copied to %s\n", s->program, from->sources.v[0], to->target);
	return status == 0 ? 0 : 1;
}

static int relay_old(struct scp *s, const struct copy_job *job)
{
	int status = 0;

	for (size_t i = 0; i < job->sources.count && s->signal == 0; i++) {
		struct copy_job from = { .upload = false }, to = { .upload = true, .target = job->target,
			.target_must_be_dir = job->target_must_be_dir };

		str_list_add(&from.sources, job->sources.v[i]);
		if (relay_old_one(s, &from, &to) != 0)
			status = 1;
		str_list_clear(&from.sources);
	}
	return status;
}

static int copy_relay(struct scp *s, const struct operand *from, const struct operand *to, const struct copy_job *job)
{
	struct copy_setup setup = { .loop = s->loop, .job = job, .options = &s->copy, .done = on_done, .ctx = s };
	struct far *f = reach(s, &s->source, &s->source_at, from), *t;
	int status = EXIT_FATAL;

	t = f != NULL ? reach(s, &s->target, &s->target_at, to) : NULL;
	if (t == NULL)
		return note(s, s->old_protocol ? 1 : EXIT_FATAL);
	if (s->old_protocol)
		return note(s, relay_old(s, job));
	s->refused = false;
	setup.link = open_far(s, f, true, "sftp");
	setup.link_to = setup.link != NULL ? open_far(s, t, true, "sftp") : NULL;
	s->copy.known_server = far_known_server(f) && far_known_server(t);
	if (setup.link_to != NULL)
		status = run_copy(s, &setup, true);
	(void)far_close(f, status != 0 && s->signal == 0);
	(void)far_close(t, status != 0 && s->signal == 0);
	return note(s, must_use_old(s, f, t) ? relay_old(s, job) : status);
}

/* For the far shell: everything between single quotes. */
static void put_quoted(struct buf *b, const char *word)
{
	buf_printf(b, "'");
	for (; *word != '\0'; word++)
		if (*word == '\'')
			buf_printf(b, "'\\''");
		else
			buf_put_u8(b, (uint8_t)*word);
	buf_printf(b, "'");
}

static char *direct_command(const struct scp *s, const struct operand *to, const struct copy_job *job)
{
	struct buf b = BUF_INIT(1024 * 1024);
	char *command;

	buf_printf(&b, "scp%s%s%s%s%s", s->verbose ? " -v" : "", s->copy.recursive ? " -r" : "", s->copy.preserve ? " -p" : "",
		s->quiet ? " -q" : "", s->old_protocol ? " -O" : "");
	if (job->target_must_be_dir)
		buf_printf(&b, " -d");
	buf_printf(&b, " --");
	for (size_t i = 0; i < job->sources.count; i++) {
		const char *path = job->sources.v[i];

		/* The far shell expands the pattern, as it does for the old protocol. */
		buf_printf(&b, " %s%s", *path == '-' ? "./" : "", *path != '\0' ? path : ".");
	}
	buf_printf(&b, " ");
	{
		char *text = str_printf("%s%s%s%s%s:%s", to->user != NULL ? to->user : "", to->user != NULL ? "@" : "",
			strchr(to->host, ':') != NULL ? "[" : "", to->host, strchr(to->host, ':') != NULL ? "]" : "", job->target);

		put_quoted(&b, text);
		free(text);
	}
	command = mem_strdup(buf_cstr(&b));
	buf_free(&b);
	return command;
}

struct output { struct loop *loop; struct link *link; bool over; };

static void on_output(void *ctx)
{
	struct output *o = ctx;
	const uint8_t *p;
	size_t n;

	while ((n = link_peek(o->link, &p)) > 0) {
		(void)fwrite(p, 1, n, stdout);
		link_consume(o->link, n);
	}
	if (link_at_end(o->link)) {
		o->over = true;
		loop_stop(o->loop);
	}
}

static void on_output_closed(void *ctx, const struct err *e)
{
	struct output *o = ctx;

	(void)e;
	o->over = true;
	loop_stop(o->loop);
}

/* -R: the source machine runs scp. */
static int copy_direct(struct scp *s, const struct operand *from, const struct operand *to, const struct copy_job *job)
{
	struct far *f = reach(s, &s->source, &s->source_at, from);
	struct output out = { .loop = s->loop };
	struct err e = { 0 };
	char *command;
	int status;

	if (f == NULL)
		return note(s, EXIT_FATAL);
	if (to->port > 0 && to->port != 22)
		fail(s, "the port of the target cannot be given with -R");
	command = direct_command(s, to, job);
	out.link = open_far(s, f, false, command);
	free(command);
	if (out.link == NULL)
		return note(s, EXIT_FATAL);
	out.link->user = (struct link_user){ .readable = on_output, .closed = on_output_closed, .ctx = &out };
	link_finish(out.link);
	while (!out.over && s->signal == 0 && far_alive(f))
		if (loop_run(s->loop, &e) < 0)
			fail(s, "%s", err_text(&e));
	status = far_close(f, s->signal == 0);
	return note(s, status < 0 ? EXIT_FATAL : status);
}

/* ---- local to local */

/* "name/" where there is none: cp would say of a file that it is not a directory. A folder gets that name, with -r. */
static bool lacks_folder(const struct copy_job *job)
{
	struct stat st;

	return str_ends(job->target, "/") && stat(job->target, &st) < 0 && errno == ENOENT &&
		(job->sources.count > 1 || (stat(job->sources.v[0], &st) == 0 && !S_ISDIR(st.st_mode)));
}

static int copy_local(struct scp *s, const struct copy_job *job)
{
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	struct str_list args = { 0 };
	struct err e = { 0 };
	int status = 0;

	if (lacks_folder(job)) {
		(void)fprintf(stderr, "%s: %s: no such folder\n", s->program, job->target);
		return note(s, 1);
	}
	str_list_add(&args, "cp");
	if (s->copy.recursive)
		str_list_add(&args, "-r");
	if (s->copy.preserve)
		str_list_add(&args, "-p");
	str_list_add(&args, "--");
	for (size_t i = 0; i < job->sources.count; i++)
		str_list_add(&args, job->sources.v[i]);
	str_list_add(&args, *job->target != '\0' ? job->target : ".");
	o.path = access("/bin/cp", X_OK) == 0 ? "/bin/cp" : "/usr/bin/cp";
	o.argv = args.v;
	o.fd_in = STDIN_FILENO;
	o.fd_out = STDOUT_FILENO;
	o.fd_err = STDERR_FILENO;
	if (spawn_wait(&o, NULL, 0, &status, &e) < 0)
		(void)fprintf(stderr, "%s: %s\n", s->program, err_text(&e));
	str_list_clear(&args);
	return note(s, WIFEXITED(status) && e.code == 0 ? WEXITSTATUS(status) : 1);
}

/* ---- all of it */

static bool same_kind(const struct operand *a, const struct operand *b)
{
	return a->remote ? operand_same_host(a, b) : !b->remote;
}

/* Sources that stand together and come from one place make one job. */
static void run_group(struct scp *s, size_t first, size_t end)
{
	const struct operand *from = &s->operand[first], *to = &s->operand[s->operand_count - 1];
	struct copy_job job = { .upload = to->remote, .target = to->path,
		.target_must_be_dir = s->operand_count > 2 || s->target_dir };

	for (size_t i = first; i < end; i++)
		str_list_add(&job.sources, s->operand[i].path);
	if (from->remote && to->remote)
		(void)(s->direct ? copy_direct(s, from, to, &job) : copy_relay(s, from, to, &job));
	else if (from->remote || to->remote)
		(void)copy_one_side(s, from->remote ? from : to, &job);
	else
		(void)copy_local(s, &job);
	str_list_clear(&job.sources);
}

static void run_all(struct scp *s)
{
	size_t first = 0, last = s->operand_count - 1;

	while (first < last && s->signal == 0) {
		size_t end = first + 1;

		while (end < last && same_kind(&s->operand[first], &s->operand[end]))
			end++;
		run_group(s, first, end);
		first = end;
	}
}

/* The far side of the old protocol. */
static int serve(struct scp *s, char **argv, size_t count)
{
	struct copy_job job = { .upload = s->serve_to, .target_must_be_dir = s->target_dir };
	struct err e = { 0 };
	struct link *l;
	int status;

	if (s->serve_from == s->serve_to || (s->serve_to && count != 1) || count < 1)
		usage();
	for (size_t i = 0; i < count; i++)
		str_list_add(&job.sources, argv[i]);
	job.target = argv[0];
	l = link_fd_new(s->loop, STDIN_FILENO, STDOUT_FILENO, 0, &e);
	if (l == NULL)
		fail(s, "%s", err_text(&e));
	s->copy.quiet = true;
	status = copy_serve_rcp(s->loop, l, s->serve_to, &job, &s->copy, &e);
	str_list_clear(&job.sources);
	return status;
}

/* Many files are open at once. */
static void want_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= FILES_WANTED)
		return;
	limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || limit.rlim_max > FILES_WANTED ? FILES_WANTED : limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static void clean_up(struct scp *s)
{
	far_free(s->source);
	far_free(s->target);
	operand_clear(&s->source_at);
	operand_clear(&s->target_at);
	for (size_t i = 0; i < s->operand_count; i++)
		operand_clear(&s->operand[i]);
	free(s->operand);
	loop_free(s->loop);
}

int main(int argc, char **argv)
{
	static struct scp s;
	struct err e = { 0 };
	int flag;

	spawn_fill_stdio();
	s.program = argc > 0 && argv[0] != NULL && *argv[0] != '\0' ? argv[0] : "scp";
	log_init(s.program, LOG_LEVEL_INFO);
	s.copy.program = s.program;
	s.copy.meter_fd = STDOUT_FILENO;
	s.source_at.port = s.target_at.port = -1;
	while ((flag = getopt(argc, argv, "+12346ABCTdfOpqRrstvD:F:J:P:S:c:i:l:o:X:")) != -1)
		take_flag(&s, flag, optarg);
	want_descriptors();
	s.loop = loop_new(&e);
	if (s.loop == NULL)
		fail(&s, "%s", err_text(&e));
	watch_signals(&s);
	if (s.serve_from || s.serve_to)
		return serve(&s, argv + optind, (size_t)(argc - optind));
	if (argc - optind < 2)
		usage();
	take_operands(&s, argv + optind, (size_t)(argc - optind));
	run_all(&s);
	clean_up(&s);
	if (s.signal != 0) {
		/* A shell loop around us shall end too. */
		(void)signal(s.signal, SIG_DFL);
		(void)raise(s.signal);
	}
	return s.status;
}
