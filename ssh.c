/* ssh.c: the remote login program (ssh(1)). */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "client/client.h"
#include "client/destination.h"
#include "client/profile.h"
#include "client/query.h"
#include "client/session.h"
#include "crypto/crypto.h"
#include "io/loop.h"
#include "io/spawn.h"
#include "transport.h"
#include "version.h"

enum { EXIT_SSH = 255 };

struct ssh {
	struct client_profile profile;
	struct loop *loop;
	struct client *client;
	struct session *session;
	char *command, *forward_host, *host;
	unsigned forward_port;
	const char *config_file, *log_file, *stdio_forward;
	bool syslog, dump, subsystem, no_session, force_tty, want_tty, tty, background;
	int verbosity, tty_requests, status;
	char forward_flag;                       /* one that asks for a forward; 0: none was given */
	bool done;
};

/* ---- flags ---- */

/* Flags that stand for a line of configuration; value NULL: the flag's argument. */
static const struct { char flag; const char *keyword, *value; } lines[] = {
	{ '4', "AddressFamily", "inet" }, { '6', "AddressFamily", "inet6" }, { 'A', "ForwardAgent", "yes" },
	{ 'a', "ForwardAgent", "no" }, { 'B', "BindInterface", NULL }, { 'b', "BindAddress", NULL },
	{ 'C', "Compression", "yes" }, { 'c', "Ciphers", NULL }, { 'e', "EscapeChar", NULL },
	{ 'g', "GatewayPorts", "yes" }, { 'I', "PKCS11Provider", NULL }, { 'm', "MACs", NULL },
	{ 'n', "StdinNull", "yes" }, { 'q', "LogLevel", "QUIET" }, { 'S', "ControlPath", NULL }, { 'X', "ForwardX11", "yes" },
	{ 'x', "ForwardX11", "no" },
};
/* Flags that join the lines of -o, where the first wins. */
static const struct { char flag; const char *keyword; } first_wins[] = {
	{ 'l', "User" }, { 'p', "Port" }, { 'i', "IdentityFile" }, { 'J', "ProxyJump" }, { 'L', "LocalForward" },
	{ 'R', "RemoteForward" }, { 'D', "DynamicForward" }, { 'P', "Tag" }, { 'w', "TunnelDevice" },
};

static const char flag_letters[] = "+1246AB:CD:E:F:GI:J:KL:MNO:P:Q:R:S:TVW:XYZab:c:e:fgi:kl:m:no:p:qstvw:xy";

static void usage(void) __attribute__((noreturn));
static void usage(void)
{
	fputs("usage: ssh [-46AaCfGgKkMNnqsTtVvXxYy] [-B interface] [-b address] [-c ciphers] [-D [bind:]port]\n"
		"           [-E log_file] [-e char] [-F config] [-I provider] [-i identity] [-J hops] [-L forward]\n"
		"           [-l user] [-m macs] [-O command] [-o option] [-P tag] [-p port] [-Q query] [-R forward]\n"
		"           [-S path] [-W host:port] [-w local[:remote]] destination [command [argument ...]]\n", stderr);
	exit(EXIT_SSH);
}

static void fail(const char *fmt, ...) PRINTF_LIKE(1, 2) __attribute__((noreturn));
static void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_vat(LOG_LEVEL_FATAL, fmt, ap);
	va_end(ap);
	exit(EXIT_SSH);
}

/* What is wrong with a line has been reported, and e is empty, or e tells why it could not be read. */
static void refuse_line(const struct err *e)
{
	if (e->code != 0)
		fail("%s", err_text(e));
	exit(EXIT_SSH);
}

static void set_line(struct ssh *s, const char *keyword, const char *value)
{
	struct err e = { 0 };

	if (client_options_force(&s->profile.options, keyword, value, &e) < 0)
		refuse_line(&e);
}

static void add_line(struct ssh *s, const char *text)
{
	struct err e = { 0 };

	if (client_options_line(&s->profile.options, text, &e) < 0)
		refuse_line(&e);
}

static void add_keyword(struct ssh *s, const char *keyword, const char *value)
{
	char *text = str_printf("%s=%s", keyword, value);

	add_line(s, text);
	free(text);
}

/* A name with ~, tokens or variables is looked at when it is known what they stand for. */
static bool identity_missing(const char *path)
{
	if (access(path, R_OK) == 0 || path[0] == '~' || strchr(path, '%') || strchr(path, '$'))
		return false;
	log_error("Warning: Identity file %s not accessible: %m.", path);
	return true;
}

static bool take_line_flag(struct ssh *s, int flag, const char *arg)
{
	for (size_t i = 0; i < MEM_COUNT(lines); i++) {
		if (lines[i].flag != flag)
			continue;
		set_line(s, lines[i].keyword, lines[i].value ? lines[i].value : arg);
		return true;
	}
	for (size_t i = 0; i < MEM_COUNT(first_wins); i++) {
		if (first_wins[i].flag != flag)
			continue;
		if (flag == 'i' && identity_missing(arg))
			return true;
		add_keyword(s, first_wins[i].keyword, arg);
		if (strchr("DLRw", flag))
			s->forward_flag = (char)flag;
		return true;
	}
	return false;
}

static void take_query(const char *what, const char *argument)
{
	struct err e = { 0 };

	if (client_query_print(what, argument, &e) < 0)
		fail("%s", err_text(&e));
	exit(0);
}

static void take_version(void)
{
	fprintf(stderr, "%s, %s\n", WS_IDENT, crypto_version());
	exit(0);
}

static void take_verbose(struct ssh *s)
{
	static const char *const levels[] = { "DEBUG1", "DEBUG2", "DEBUG3" };

	if (s->verbosity < 3)
		s->verbosity++;
	set_line(s, "LogLevel", levels[s->verbosity - 1]);
	log_set_level((enum log_level)(LOG_LEVEL_VERBOSE + s->verbosity));
}

/* next: the word behind the flag and its argument, or NULL. */
static void take_flag(struct ssh *s, int flag, char *arg, const char *next)
{
	switch (flag) {
	case '1': fail("SSH protocol v.1 is no longer supported");
	case '2': return;
	case 'E': s->log_file = arg; return;
	case 'F': s->config_file = arg; return;
	case 'f': set_line(s, "ForkAfterAuthentication", "yes"); set_line(s, "StdinNull", "yes"); return;
	case 'G': s->dump = true; return;
	case 'K': add_line(s, "GSSAPIAuthentication=yes"); return;
	case 'k': add_line(s, "GSSAPIDelegateCredentials=no"); return;
	case 'M': set_line(s, "ControlMaster", "yes"); return;
	case 'N': s->no_session = true; set_line(s, "SessionType", "none"); set_line(s, "RequestTTY", "no"); return;
	case 'O': fail("multiplexing is not built yet: -O %s cannot be done", arg);
	case 'o': add_line(s, arg); return;
	case 'Q': take_query(arg, next); return;
	case 's': s->subsystem = true; set_line(s, "SessionType", "subsystem"); return;
	case 'T': set_line(s, "RequestTTY", "no"); return;
	case 't': set_line(s, "RequestTTY", ++s->tty_requests > 1 ? "force" : "yes"); return;
	case 'V': take_version(); return;
	case 'v': take_verbose(s); return;
	case 'W': s->stdio_forward = arg; return;
	case 'Y': set_line(s, "ForwardX11", "yes"); set_line(s, "ForwardX11Trusted", "yes"); return;
	case 'y': s->syslog = true; return;
	default:
		if (!take_line_flag(s, flag, arg))
			usage();
	}
}

static void take_destination(struct ssh *s, const char *text)
{
	struct destination d;
	struct err e = { 0 };

	if (destination_parse(text, "ssh", &d, &e) < 0)
		usage();
	if (d.user)
		add_keyword(s, "User", d.user);
	if (d.port)
		add_keyword(s, "Port", d.port);
	s->host = mem_strdup(d.host);
	destination_clear(&d);
}

/* Flags, destination, more flags, command (ssh(1)). */
static void take_command_line(struct ssh *s, int argc, char **argv)
{
	struct str_list words = { 0 };
	bool ended = false;
	int flag;

	while (!ended) {
		optind = 0;              /* GNU getopt: start anew on this vector */
		while ((flag = getopt(argc, argv, flag_letters)) != -1)
			take_flag(s, flag, optarg, optind < argc ? argv[optind] : NULL);
		ended = s->host != NULL || (optind > 1 && strcmp(argv[optind - 1], "--") == 0);
		argc -= optind;
		argv += optind;
		if (argc > 0 && !s->host) {
			take_destination(s, argv[0]);
			/* argv[0] stands where getopt expects the program's name */
			ended = ended || argc < 2 || argv[1][0] != '-';
			if (ended) {
				argc--;
				argv++;
			}
		} else {
			ended = true;
		}
	}
	for (int i = 0; i < argc; i++)
		str_list_add(&words, argv[i]);
	if (words.count)
		s->command = str_list_join(&words, " ");
	str_list_clear(&words);
}

/* ---- what is to be done ---- */

static void decide_forward(struct ssh *s)
{
	struct conf_permit p;

	if (!s->stdio_forward)
		return;
	if (s->command)
		fail("stdin forwarding needs no command");
	if (strchr(s->stdio_forward, '/')) {
		s->forward_host = mem_strdup(s->stdio_forward);
	} else if (conf_permit_parse(s->stdio_forward, false, &p) == 0) {
		s->forward_host = p.host;
		s->forward_port = p.port;
	} else {
		fail("Bad stdio forwarding specification '%s'", s->stdio_forward);
	}
}

static void decide_tty(struct ssh *s)
{
	const struct client_options *o = &s->profile.options;
	bool may = isatty(STDIN_FILENO) && !o->stdin_null && !o->fork_after_authentication;

	if (o->request_tty == CLIENT_YES || o->request_tty == CLIENT_FORCE)
		s->tty = true;
	else if (o->request_tty == CLIENT_AUTO)
		s->tty = !s->command && !s->subsystem;
	if (s->no_session || s->stdio_forward)
		s->tty = false;
	if (s->tty && !may && o->request_tty != CLIENT_FORCE) {
		log_info("Pseudo-terminal will not be allocated because stdin is not a terminal.");
		s->tty = false;
	}
}

static void decide(struct ssh *s)
{
	struct client_options *o = &s->profile.options;

	if (o->session_type == CLIENT_SESSION_NONE)
		s->no_session = true;
	if (o->session_type == CLIENT_SESSION_SUBSYSTEM)
		s->subsystem = true;
	if (s->no_session && s->subsystem)
		fail("-N and -s cannot be used together");
	if (o->remote_command && s->command)
		fail("Cannot execute command-line and remote command.");
	if (o->remote_command) {
		struct err e = { 0 };

		s->command = client_tokens_expand(&s->profile.tokens, CLIENT_TOKENS_DEFAULT, o->remote_command, &e);
		if (!s->command)
			fail("RemoteCommand: %s", err_text(&e));
	}
	if (s->subsystem && !s->command) {
		fprintf(stderr, "You must specify a subsystem to invoke.\r\n");
		usage();
	}
	if (o->fork_after_authentication && !s->command && !s->no_session && !s->stdio_forward)
		fail("Cannot fork into background without a command to execute.");
	decide_forward(s);
	decide_tty(s);
}

/* ---- the connection ---- */

static void session_over(void *ctx, int status)
{
	struct ssh *s = ctx;

	s->status = status;
	s->done = true;
	if (s->tty)
		log_info("Connection to %s closed.", s->profile.options.hostname);
	client_log_totals(s->client);
	log_debug("Exit status %d", status);
	client_disconnect(s->client);
	loop_stop(s->loop);
}

static void session_quit(void *ctx)
{
	session_over(ctx, EXIT_SSH);
}

/* After authentication; stdin and stdout stay with the child. */
static void go_to_background(struct ssh *s)
{
	pid_t pid;

	if (!s->profile.options.fork_after_authentication)
		return;
	/* They would not be there in the child. */
	client_stop_threads(s->client);
	pid = fork();
	if (pid < 0)
		fail("fork: %m");
	if (pid > 0)
		exit(0);
	setsid();
}

static void start_session(struct ssh *s)
{
	struct session_setup setup = {
		.client = s->client, .loop = s->loop, .command = s->command, .forward_host = s->forward_host,
		.forward_port = s->forward_port, .tty = s->tty,
		.stdin_null = s->profile.options.stdin_null, .ctx = s, .done = session_over, .quit = session_quit,
	};
	struct err e = { 0 };

	setup.kind = s->forward_host ? SESSION_STDIO_FORWARD : s->subsystem ? SESSION_SUBSYSTEM :
		s->command ? SESSION_EXEC : SESSION_SHELL;
	s->session = session_new(&setup, &e);
	if (!s->session)
		fail("%s", err_text(&e));
}

static void client_is_ready(void *ctx, struct client *c)
{
	struct ssh *s = ctx;

	(void)c;
	go_to_background(s);
	if (!s->no_session)
		start_session(s);
}

static void client_has_ended(void *ctx, struct client *c, const struct err *e)
{
	struct ssh *s = ctx;

	if (s->done)
		return;
	session_free(s->session);
	s->session = NULL;
	s->done = true;
	s->status = EXIT_SSH;
	client_report_end(c, e);
	client_log_totals(c);
	loop_stop(s->loop);
}

static void signal_came(void *ctx, int signo)
{
	struct ssh *s = ctx;

	if (signo == SIGWINCH) {
		if (s->session)
			session_window_changed(s->session);
		return;
	}
	log_verbose("Killed by signal %d.", signo);
	s->done = true;
	s->status = s->no_session && signo == SIGTERM ? 0 : EXIT_SSH;
	loop_stop(s->loop);
}

static void watch_signals(struct ssh *s)
{
	static const int wanted[] = { SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGWINCH };
	struct err e = { 0 };

	(void)signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < MEM_COUNT(wanted); i++) {
		struct sigaction was;

		/* nohup: what is ignored stays so */
		if (sigaction(wanted[i], NULL, &was) == 0 && was.sa_handler == SIG_IGN)
			continue;
		if (loop_signal_add(s->loop, wanted[i], signal_came, s, &e) < 0)
			fail("%s", err_text(&e));
	}
}

static int run(struct ssh *s)
{
	struct client_setup setup = {
		.options = &s->profile.options, .tokens = &s->profile.tokens, .program = "ssh", .wants_tty = s->tty,
		.events = { .ctx = s, .ready = client_is_ready, .ended = client_has_ended },
	};
	struct err e = { 0 };

	/* Lines of files get a note at -v; who types a flag waits for what it does. */
	if (s->forward_flag)
		log_info("-%c has no effect: forwards are not built into this program", s->forward_flag);
	s->status = EXIT_SSH;
	s->loop = loop_new(&e);
	if (!s->loop)
		fail("%s", err_text(&e));
	s->client = client_new(s->loop, &setup, &e);
	if (!s->client)
		fail("ssh: %s", err_text(&e));
	watch_signals(s);
	if (loop_run(s->loop, &e) < 0)
		log_error("%s", err_text(&e));
	session_free(s->session);
	client_free(s->client);
	loop_free(s->loop);
	return s->status;
}

/* ---- main ---- */

static void dump_line(void *ctx, const char *text)
{
	(void)ctx;
	puts(text);
}

int main(int argc, char **argv)
{
	struct ssh s = { 0 };
	struct err e = { 0 };

	spawn_fill_stdio();
	umask(umask(077) | 022);
	log_init("ssh", LOG_LEVEL_INFO);
	if (client_profile_init(&s.profile, &e) < 0)
		fail("%s", err_text(&e));
	take_command_line(&s, argc, argv);
	if (!s.host)
		usage();
	if (!client_host_arg_ok(s.host))
		fail("hostname contains invalid characters");
	if (s.log_file && client_profile_open_log(s.log_file, &e) < 0) {
		fprintf(stderr, "%s\r\n", err_text(&e));
		return 1;
	}
	if (client_profile_load(&s.profile, s.config_file, s.host, s.command, &e) < 0 ||
			client_profile_start_log(&s.profile, "ssh", NULL, s.syslog, &e) < 0)
		fail("%s", err_text(&e));
	decide(&s);
	if (s.dump) {
		client_options_dump(&s.profile.options, s.host, dump_line, NULL);
	} else {
		log_debug("%s, %s", WS_IDENT, crypto_version());
		s.status = run(&s);
	}
	client_profile_clear(&s.profile);
	free(s.command);
	free(s.forward_host);
	free(s.host);
	return s.status;
}
