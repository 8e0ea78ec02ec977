/* sshd.c: the server's command line (sshd(8)): options, configuration, host keys; then one of the roles of server/. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "crypto/crypto.h"
#include "crypto/rand.h"
#include "io/spawn.h"
#include "paths.h"
#include "platform/procname.h"
#include "server/proposals.h"
#include "server/roles.h"
#include "version.h"

enum { EXIT_USAGE = 1, EXIT_CONFIG = 255, DEBUG_MAX = 3 };

struct args {
	struct str_list argv;            /* a copy: titles are written over the original */
	struct str_list lines;           /* -o and what stands for it */
	struct str_list ports, keys, subjects;
	const char *config;
	const char *log_file;
	bool test, dump, dump_only, foreground, inetd, log_stderr, quiet;
	int debug;
	unsigned host_length;
	const char *role;
};

static void args_clear(struct args *a)
{
	str_list_clear(&a->argv);
	str_list_clear(&a->lines);
	str_list_clear(&a->ports);
	str_list_clear(&a->keys);
	str_list_clear(&a->subjects);
}

static void usage(void)
{
	(void)fprintf(stderr, "%s, %s\n"
		"usage: sshd [-46DdeGiqTtV] [-C connection_spec] [-c host_cert_file]\n"
		"            [-E log_file] [-f config_file] [-g login_grace_time]\n"
		"            [-h host_key_file] [-o option] [-p port] [-u len]\n", WS_IDENT, crypto_version());
	exit(EXIT_USAGE);
}

static void add_line(struct args *a, const char *keyword, const char *value)
{
	str_list_add_take(&a->lines, str_printf("%s %s", keyword, value));
}

static bool one_option(struct args *a, int option, const char *value)
{
	uint64_t n;

	switch (option) {
	case '4': add_line(a, "AddressFamily", "inet"); return true;
	case '6': add_line(a, "AddressFamily", "inet6"); return true;
	case 'C': str_list_add(&a->subjects, value); return true;
	case 'c': add_line(a, "HostCertificate", value); return true;
	case 'D': a->foreground = true; return true;
	case 'd': a->debug += a->debug < DEBUG_MAX; return true;
	case 'E': a->log_file = value; return true;
	case 'e': a->log_stderr = true; return true;
	case 'f': a->config = value; return true;
	case 'G': a->dump_only = true; return true;
	case 'g': add_line(a, "LoginGraceTime", value); return true;
	case 'h': str_list_add(&a->keys, value); return true;
	case 'i': a->inetd = true; return true;
	case 'o': str_list_add(&a->lines, value); return true;
	case 'p': str_list_add(&a->ports, value); return true;
	case 'q': a->quiet = true; return true;
	case 'R': a->role = value; return true;
	case 'T': a->dump = true; return true;
	case 't': a->test = true; return true;
	case 'u':
		if (str_to_u64(value, 0, 255, &n) < 0)
			return false;
		a->host_length = (unsigned)n;
		return true;
	case 'b': case 'k': case 'Q': case 'r': /* of old, without meaning */
		return true;
	case 'V':
		(void)fprintf(stderr, "%s, %s\n", WS_IDENT, crypto_version());
		exit(0);
	default:
		return false;
	}
}

static void parse_args(struct args *a, int argc, char **argv)
{
	int option;

	a->config = PATH_SYSCONFDIR "/sshd_config";
	a->host_length = UINT_MAX;
	while ((option = getopt(argc, argv, "46b:C:c:DdE:ef:Gg:h:iko:p:QqR:rTtu:V")) != -1)
		if (!one_option(a, option, optarg))
			usage();
	if (optind < argc) {
		(void)fprintf(stderr, "Extra argument %s.\n", argv[optind]);
		exit(EXIT_USAGE);
	}
}

/* ---- configuration */

static void say(const struct err *e, int code)
{
	if (e->text[0] != '\0')
		log_error("%s", e->text);
	exit(code);
}

static struct server_config *load_config(const struct args *a)
{
	struct server_config *c = server_config_new();
	struct err e = { 0 };
	int rc;

	for (size_t i = 0; i < a->lines.count; i++) {
		rc = server_config_add_line(c, a->lines.v[i], &e);
		if (rc < 0)      /* as in OpenSSH: what is unknown is a mistake in calling us */
			say(&e, rc == ERR_NONE_FOUND ? EXIT_USAGE : EXIT_CONFIG);
	}
	for (size_t i = 0; i < a->ports.count; i++) {
		uint64_t port;

		if (str_to_u64(a->ports.v[i], 1, 65535, &port) < 0 || server_config_add_port(c, (unsigned)port, &e) < 0) {
			(void)fprintf(stderr, "Bad port number.\n");
			exit(EXIT_USAGE);
		}
	}
	rc = server_config_load(c, a->config, &e);
	if (rc == ERR_NONE_FOUND) {
		(void)fprintf(stderr, "%s\n", e.text);
		exit(EXIT_USAGE);
	}
	if (rc < 0)
		say(&e, EXIT_CONFIG);
	return c;
}

static void print_line(void *ctx, const char *text)
{
	(void)ctx;
	(void)puts(text);
}

/* -T and -G, with Match as for the connections that -C describes. */
static void dump(const struct args *a, struct server_config *c)
{
	struct server_subject who = { .local_port = -1 };
	struct server_options o = { 0 };
	struct str_list kept = { 0 };
	struct err e = { 0 };

	for (size_t i = 0; i < a->subjects.count; i++)
		if (server_subject_parse(&who, a->subjects.v[i], &kept, &e) < 0)
			say(&e, EXIT_USAGE);
	if (a->subjects.count > 0) {
		if (server_config_match(c, &who, &o, &e) < 0)
			say(&e, EXIT_CONFIG);
	} else {
		server_options_copy(&o, server_config_options(c));
	}
	server_options_dump(&o, print_line, NULL);
	server_options_clear(&o);
	str_list_clear(&kept);
}

/* ---- host keys and the like */

static void load_keys(const struct args *a, struct handover *h)
{
	const struct server_options *o = server_config_options(h->config);
	bool defaults = a->keys.count == 0 && SERVER_ORIGIN(o, host_key) <= CONF_DEFAULT;
	struct str_list given = { 0 };

	for (size_t i = 0; i < a->keys.count; i++)
		str_list_add_take(&given, path_absolute(a->keys.v[i]));
	if (host_keys_load(&h->keys, a->keys.count > 0 ? &given : &o->host_key, defaults) == 0) {
		(void)fprintf(stderr, "sshd: no hostkeys available -- exiting.\n");
		exit(EXIT_USAGE);
	}
	str_list_clear(&given);
}

static void check_privsep(void)
{
	struct err e = { 0 };

	if (geteuid() == 0 && server_privsep_check(&e) < 0) {
		(void)fprintf(stderr, "sshd: %s\n", err_text(&e));
		exit(EXIT_CONFIG);
	}
}

static int open_log(const char *path)
{
	int fd;
	char *pid = str_printf("%ld", (long)getpid());
	struct path_token tokens[] = { { 'p', pid }, { 'P', "sshd" }, { 0, NULL } };
	struct err e = { 0 };
	char *name = path_expand_tokens(path, tokens, &e);

	fd = name != NULL ? open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	if (fd < 0) {
		(void)fprintf(stderr, "Couldn't open logfile %s: %s\n", path, name != NULL ? strerror(errno) : err_text(&e));
		exit(EXIT_USAGE);
	}
	free(name);
	free(pid);
	return fd;
}

/* ---- who we are */

static int open_self(void)
{
#ifdef O_PATH
	return open("/proc/self/exe", O_PATH | O_CLOEXEC);
#else
	return -1;
#endif
}

/* The path that SIGHUP starts again. */
static const char *own_path(const struct args *a)
{
	const char *path = a->argv.v[0];

	if (*path != '/') {
		(void)fprintf(stderr, "sshd requires execution with an absolute path\n");
		exit(EXIT_USAGE);
	}
	return path;
}

/* inetd gives us the connection as stderr too; nothing may be written into it by accident. */
static void quiet_stderr(void)
{
	struct stat in, err;
	int null;

	if (fstat(0, &in) < 0 || fstat(2, &err) < 0 || in.st_ino != err.st_ino || in.st_dev != err.st_dev)
		return;
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null >= 0) {
		(void)dup2(null, 2);
		close(null);
	}
}

static void start_role(struct args *a, struct handover *h, struct procname *procname)
{
	struct role_start common = { procname, open_self(), a->log_file != NULL ? open_log(a->log_file) : -1, false };

	if (a->inetd) {
		struct monitor_start m = { .common = common, .handover = *h, .in = 0, .out = 1, .notify = -1 };
		struct stat in, out;

		if (fstat(0, &in) == 0 && fstat(1, &out) == 0 && in.st_ino == out.st_ino && in.st_dev == out.st_dev)
			m.out = 0;
		if (!a->log_stderr)
			quiet_stderr();
		server_config_prefer(m.handover.config);
		role_monitor(&m);
	}
	struct listener_start l = {
		.common = common, .handover = *h, .foreground = a->foreground || a->debug > 0,
		.one_connection = a->debug > 0, .path = own_path(a), .argv = &a->argv,
	};
	role_listener(&l);
}

int main(int argc, char **argv)
{
	struct args a = { 0 };
	struct handover h = { 0 };
	struct procname procname = { 0 };

	spawn_fill_stdio();
	procname_init(&procname, argc, argv);
	for (int i = 0; i < argc; i++)
		str_list_add(&a.argv, argv[i]);
	/* Files that sessions make must not be writable by others, whatever we were started with. */
	(void)umask(umask(077) | 022);
	parse_args(&a, argc, a.argv.v);
	if (a.role != NULL) {
		(void)role_run(a.role, &procname);
		(void)fprintf(stderr, "sshd: -R is for sshd's own use\n");
		args_clear(&a);
		return EXIT_CONFIG;
	}
	log_init("sshd", a.quiet ? LOG_LEVEL_QUIET : a.debug > 0 ? LOG_LEVEL_DEBUG1 + a.debug - 1 : LOG_LEVEL_INFO);
	if (a.subjects.count > 0 && !a.dump) {
		log_error("Config test connection parameter (-C) provided without test mode (-T)");
		return EXIT_CONFIG;
	}
	crypto_init();
	h.config = load_config(&a);
	if (a.dump_only) {
		dump(&a, h.config);
		handover_clear(&h);
		args_clear(&a);
		return 0;
	}
	h.debug = a.debug > 0;
	h.debug_level = a.debug;
	h.log_stderr = a.log_stderr || a.debug > 0;
	h.quiet = a.quiet;
	h.host_length = a.host_length;
	rand_bytes(h.secret, sizeof(h.secret));
	check_privsep();
	load_keys(&a, &h);
	if (a.dump)
		dump(&a, h.config);
	if (a.test || a.dump) {
		handover_clear(&h);
		args_clear(&a);
		return 0;
	}
	start_role(&a, &h, &procname);
}
