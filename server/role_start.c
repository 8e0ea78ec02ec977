/* server/role_start.c: how roles are started and find what they were given; their logs. */
#include "server/roles.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "io/spawn.h"
#include "server/monitor_wire.h"

enum { LOG_TEXT_MAX = 1024, ROLE_FDS = 6 };

void role_start_log(const struct role_start *c, const struct handover *h, const char *ident)
{
	const struct server_options *o = server_config_options(h->config);
	int level = o->log_level;

	if (h->debug_level > 0)
		level = LOG_LEVEL_DEBUG1 + h->debug_level - 1;
	if (h->quiet)
		level = LOG_LEVEL_QUIET;
	log_init(ident, (enum log_level)level);
	if (c->log_fd >= 0)
		log_to_fd(c->log_fd);
	else if (!h->log_stderr)
		log_to_syslog(o->syslog_facility);
}

static void send_log(void *ctx, enum log_level level, const char *line)
{
	const int *fd = ctx;
	struct buf b = BUF_INIT(LOG_TEXT_MAX * 2);
	size_t n = strlen(line);

	buf_put_u8(&b, (uint8_t)level);
	buf_put_string(&b, line, n < LOG_TEXT_MAX ? n : LOG_TEXT_MAX);
	/* Nothing can be done about a monitor that is gone; the next request will tell. */
	(void)!mon_send(*fd, MON_LOG, &b, NULL);
	buf_free(&b);
}

void role_log_to_monitor(int *monitor_fd, int level)
{
	log_init("sshd-session", (enum log_level)level);
	log_to_sink(send_log, monitor_fd);
}

pid_t role_spawn(const struct role_start *c, const char *spec, const int *keep, size_t keep_count, struct err *e)
{
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	char *argv[] = { mem_strdup("sshd"), mem_strdup("-R"), mem_strdup(spec), NULL };
	int all[ROLE_FDS];
	size_t n = 0;
	pid_t pid;

	for (size_t i = 0; i < keep_count && n < MEM_COUNT(all); i++)
		if (keep[i] > 2)
			all[n++] = keep[i];
	o.path = "/proc/self/exe";
	o.exec_fd = c->self_fd;
	o.argv = argv;
	o.fd_in = -1;
	o.fd_out = -1;
	o.fd_err = c->stderr_too ? 2 : -1;
	for (size_t i = 0; i < keep_count; i++) {       /* inetd: the connection is there */
		if (keep[i] == 0)
			o.fd_in = 0;
		if (keep[i] == 1)
			o.fd_out = 1;
	}
	o.keep = all;
	o.keep_count = n;
	pid = spawn_start(&o, e);
	for (size_t i = 0; argv[i] != NULL; i++)
		free(argv[i]);
	return pid;
}

/* "3,7,-1" to numbers; each must be an open descriptor or -1. */
static bool parse_fds(const char *s, int fds[ROLE_FDS], size_t want)
{
	for (size_t i = 0; i < want; i++) {
		char *end;
		long v = strtol(s, &end, 10);

		if (end == s || v < -1 || v > 65535 || (*end != (i + 1 < want ? ',' : '\0')))
			return false;
		if (v >= 0 && fcntl((int)v, F_GETFD) < 0)
			return false;
		if (v > 2)
			(void)fcntl((int)v, F_SETFD, FD_CLOEXEC);
		fds[i] = (int)v;
		s = end + 1;
	}
	return true;
}

static void run_monitor(const int fds[ROLE_FDS], struct procname *procname)
{
	struct monitor_start s = { .common = { procname, fds[0], fds[1], false }, .in = fds[3], .out = fds[4], .notify = fds[5] };
	struct err e = { 0 };

	log_init("sshd-session", LOG_LEVEL_INFO);
	if (handover_read(fds[2], &s.handover, &e) < 0) {
		log_error("%s", err_text(&e));
		return;
	}
	close(fds[2]);
	role_monitor(&s);
}

bool role_run(const char *spec, struct procname *procname)
{
	int fds[ROLE_FDS];

	procname_set_short("sshd");
	if (str_starts(spec, "monitor:") && parse_fds(spec + strlen("monitor:"), fds, 6)) {
		run_monitor(fds, procname);
		return false;
	}
	if (str_starts(spec, "preauth:") && parse_fds(spec + strlen("preauth:"), fds, 5)) {
		struct worker_start s = { .common = { procname, fds[0], fds[1], false }, .monitor = fds[2], .in = fds[3], .out = fds[4] };
		role_preauth(&s);
	}
	if (str_starts(spec, "user:") && parse_fds(spec + strlen("user:"), fds, 5)) {
		struct worker_start s = { .common = { procname, fds[0], fds[1], false }, .monitor = fds[2], .in = fds[3], .out = fds[4] };
		role_user(&s);
	}
	return false;
}
