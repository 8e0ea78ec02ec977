/* server/listener.c: the loop that accepts. It parses nothing a peer has sent. */
#include "server/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "crypto/rand.h"
#include "io/loop.h"
#include "server/listener_private.h"

enum { GRACE_SPREAD_MS = 4000, KILL_MS = 5000, ACCEPT_PAUSE_MS = 500, ACCEPTS_PER_TURN = 16 };

/* ---- connections */

static void unlink_connection(struct listener *l, struct connection *c)
{
	for (struct connection **p = &l->connections; *p != NULL; p = &(*p)->next)
		if (*p == c) {
			*p = c->next;
			break;
		}
}

static void close_notify(struct connection *c)
{
	loop_fd_remove(c->watch);
	c->watch = NULL;
	if (c->notify >= 0)
		close(c->notify);
	c->notify = -1;
}

static void free_connection(struct connection *c)
{
	close_notify(c);
	loop_timer_remove(c->timer);
	loop_child_remove(c->child);
	free(c->address);
	free(c->local_address);
	free(c);
}

static enum penalty_cause cause_of(const struct connection *c, int status)
{
	if (c->grace_over)
		return PENALTY_GRACE;
	if (WIFSIGNALED(status))
		return PENALTY_CRASH;
	switch (WEXITSTATUS(status)) {           /* monitor_exit_code() */
	case 3: return PENALTY_GRACE;
	case 4: return PENALTY_CRASH;
	case 5: return PENALTY_AUTHFAIL;
	case 6: return PENALTY_REFUSE;
	case 7: return PENALTY_INVALIDUSER;
	default: return PENALTY_NOAUTH;
	}
}

static void monitor_ended(void *ctx, pid_t pid, int status)
{
	struct connection *c = ctx;
	struct listener *l = c->listener;

	log_debug("process %ld ended with status 0x%x", (long)pid, (unsigned)status);
	c->child = NULL;
	if (!c->adopted && !c->authenticated && !(WIFEXITED(status) && WEXITSTATUS(status) == 0) && l->penalties != NULL)
		penalties_add(l->penalties, &c->source, c->address, cause_of(c, status), clock_mono_us());
	unlink_connection(l, c);
	free_connection(c);
	if (l->start->one_connection && l->served) {
		l->status = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
		l->why = LISTENER_SERVED;
		loop_stop(l->loop);
	}
}

/* A byte: somebody was let in. The end without one: nobody, and the process is about to end. */
static void monitor_speaks(void *ctx, int fd, unsigned what)
{
	struct connection *c = ctx;
	char byte;
	ssize_t n = read(fd, &byte, 1);

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	c->authenticated = n == 1;
	c->starting = false;
	if (c->authenticated)
		loop_timer_disarm(c->timer);
	close_notify(c);
}

static void grace_is_over(void *ctx)
{
	struct connection *c = ctx;

	if (!c->grace_over) {
		log_info("Timeout before authentication for connection from %s to %s, pid = %ld", c->address, c->local_address,
			(long)c->pid);
		c->grace_over = true;
		(void)kill(c->pid, SIGTERM);
		loop_timer_arm(c->timer, KILL_MS);
		return;
	}
	(void)kill(c->pid, SIGKILL);
}

static unsigned count_starting(const struct listener *l, const struct source *same, unsigned *same_count)
{
	unsigned n = 0;

	*same_count = 0;
	for (const struct connection *c = l->connections; c != NULL; c = c->next)
		if (c->starting) {
			n++;
			*same_count += source_equal(&c->source, same);
		}
	return n;
}

/* ---- admission */

struct arrival {
	int fd;
	struct source source;
	char remote_ip[128], local_ip[128];
	uint16_t remote_port, local_port;
};

static void log_drop(struct drop_log *limit, const struct arrival *a, unsigned n, const char *reason,
	const char *kind)
{
	unsigned suppressed;

	if (!drop_log_ask(limit, clock_mono_ms(), &suppressed))
		return;
	if (suppressed > 0)
		log_info("%s logging rate-limited: additional %u connections dropped", kind, suppressed);
	log_info("drop connection #%u from [%s]:%u on [%s]:%u %s", n, a->remote_ip, a->remote_port, a->local_ip, a->local_port,
		reason);
}

static bool admit(struct listener *l, const struct arrival *a)
{
	unsigned same, n = count_starting(l, &a->source, &same);
	uint64_t left_us = 0;
	const char *penalty = l->penalties != NULL ?
		penalties_check(l->penalties, &a->source, a->remote_ip, clock_mono_us(), &left_us) : NULL;

	if (penalty != NULL) {
		log_drop(&l->penalty_drops, a, n, penalty, "PerSourcePenalties");
		log_verbose("%s stays out for another %.1f s", a->remote_ip, (double)left_us / 1e6);
		return false;
	}
	if (!startups_admit(&l->limits, n, same, rand_below(100))) {
		log_drop(&l->startup_drops, a, n, "Maxstartups", "Maxstartups");
		return false;
	}
	return true;
}

static void refuse(int fd)
{
	static const char text[] = "Not allowed at this time\r\n";

	(void)!send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)shutdown(fd, SHUT_WR);
	close(fd);
}

/* ---- starting a monitor */

static struct connection *new_connection(struct listener *l, const struct arrival *a)
{
	struct connection *c = mem_zalloc(sizeof(*c));

	c->listener = l;
	c->source = a->source;
	c->address = mem_strdup(a->remote_ip);
	c->local_address = mem_strdup(a->local_ip);
	c->notify = -1;
	c->starting = true;
	c->timer = loop_timer_add(l->loop, grace_is_over, c);
	c->next = l->connections;
	l->connections = c;
	return c;
}

static int start_monitor(struct listener *l, struct connection *c, int fd, struct err *e)
{
	const struct role_start *common = &l->start->common;
	int pair[2];
	char *spec;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set_errno(e, "socketpair");
	spec = str_printf("monitor:%d,%d,%d,%d,%d,%d", common->self_fd, common->log_fd, l->handover_fd, fd, fd, pair[1]);
	c->pid = role_spawn(common, spec,
		(const int[]){ common->self_fd, common->log_fd, l->handover_fd, fd, pair[1] }, 5, e);
	free(spec);
	close(pair[1]);
	c->notify = pair[0];
	if (c->pid < 0)
		return ERR_IO;
	net_set_nonblocking(c->notify, true);
	c->watch = loop_fd_add(l->loop, c->notify, LOOP_READ, monitor_speaks, c, e);
	c->child = loop_child_add(l->loop, c->pid, monitor_ended, c, e);
	return c->watch != NULL && c->child != NULL ? 0 : ERR_IO;
}

static void serve(struct listener *l, const struct arrival *a)
{
	struct connection *c = new_connection(l, a);
	struct err e = { 0 };

	if (start_monitor(l, c, a->fd, &e) < 0) {
		log_error("cannot serve the connection from %s: %s", a->remote_ip, err_text(&e));
		if (c->pid > 0)
			(void)kill(c->pid, SIGKILL);
		if (c->child == NULL) {
			if (c->pid > 0)
				(void)waitpid(c->pid, NULL, 0);
			unlink_connection(l, c);
			free_connection(c);
		}
		close(a->fd);
		return;
	}
	close(a->fd);
	if (l->grace_ms > 0)
		loop_timer_arm(c->timer, l->grace_ms + rand_below(GRACE_SPREAD_MS));
	l->served = true;
}

static void listen_for(struct listener *l, unsigned what)
{
	for (size_t i = 0; i < l->sockets.count; i++)
		loop_fd_want(l->watches[i], what);
}

static void accept_again(void *ctx)
{
	listen_for(ctx, LOOP_READ);
}

/* 1: there may be more. */
static int accept_one(struct listener *l, int socket)
{
	struct arrival a = { 0 };
	struct sockaddr_storage sa = { 0 };
	socklen_t size = sizeof(sa);

	a.fd = accept4(socket, (struct sockaddr *)&sa, &size, SOCK_CLOEXEC);
	if (a.fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			log_error("accept: %s", strerror(errno));
			listen_for(l, 0);
			loop_timer_arm(l->pause, ACCEPT_PAUSE_MS);
			return 0;
		}
		return errno == EINTR || errno == ECONNABORTED;
	}
	source_from_sockaddr(&a.source, (const struct sockaddr *)&sa, l->v4_bits, l->v6_bits);
	net_peer(a.fd, a.remote_ip, sizeof(a.remote_ip), &a.remote_port);
	net_local(a.fd, a.local_ip, sizeof(a.local_ip), &a.local_port);
	if (!admit(l, &a)) {
		refuse(a.fd);
		return 1;
	}
	serve(l, &a);
	if (l->start->one_connection && l->served)
		listen_for(l, 0);
	return !l->start->one_connection;
}

static void somebody_calls(void *ctx, int fd, unsigned what)
{
	(void)what;
	for (int i = 0; i < ACCEPTS_PER_TURN && accept_one(ctx, fd) == 1; i++)
		;
}

/* ---- life */

static void signal_came(void *ctx, int signo)
{
	struct listener *l = ctx;

	l->signo = signo;
	l->why = signo == SIGHUP ? LISTENER_RESTART : LISTENER_STOPPED;
	loop_stop(l->loop);
}

static void take_options(struct listener *l, const struct server_options *o)
{
	struct penalties_config c = { .max_us = o->per_source_penalties.max_us, .min_us = o->per_source_penalties.min_us,
		.max_sources = { o->per_source_penalties.max_sources4, o->per_source_penalties.max_sources6 },
		.deny_all = { o->per_source_penalties.deny_all4, o->per_source_penalties.deny_all6 },
		.exempt = o->per_source_penalty_exempt_list };

	_Static_assert((int)PENALTY_REFUSE == (int)SERVER_PENALTY_REFUSE && (int)PENALTY_COUNT == (int)SERVER_PENALTY_COUNT,
		"the same order");
	memcpy(c.us, o->per_source_penalties.us, sizeof(c.us));
	l->limits = (struct startups_limits){ o->max_startups.start, o->max_startups.rate, o->max_startups.full,
		o->per_source_max_startups };
	l->v4_bits = o->per_source_net_block_size.v4;
	l->v6_bits = o->per_source_net_block_size.v6;
	l->grace_ms = l->start->handover.debug ? 0 : (uint64_t)o->login_grace_time_s * 1000;
	if (o->per_source_penalties.enabled)
		l->penalties = penalties_new(&c);
}

struct listener *listener_new(struct listener_start *start, const struct net_listeners *sockets, struct err *e)
{
	static const int signals[] = { SIGHUP, SIGTERM, SIGQUIT, SIGINT };
	struct listener *l = mem_zalloc(sizeof(*l));

	l->start = start;
	l->sockets = *sockets;
	l->loop = loop_new(e);
	l->handover_fd = handover_write(&start->handover, e);
	if (l->loop == NULL || l->handover_fd < 0) {
		listener_free(l);
		return NULL;
	}
	host_keys_clear(&start->handover.keys);
	take_options(l, server_config_options(start->handover.config));
	l->pause = loop_timer_add(l->loop, accept_again, l);
	for (size_t i = 0; i < l->sockets.count; i++) {
		l->watches[i] = loop_fd_add(l->loop, l->sockets.fd[i], LOOP_READ, somebody_calls, l, e);
		if (l->watches[i] == NULL) {
			listener_free(l);
			return NULL;
		}
	}
	for (size_t i = 0; i < MEM_COUNT(signals); i++)
		if (loop_signal_add(l->loop, signals[i], signal_came, l, e) < 0) {
			listener_free(l);
			return NULL;
		}
	return l;
}

void listener_free(struct listener *l)
{
	if (l == NULL)
		return;
	while (l->connections != NULL) {
		struct connection *c = l->connections;

		l->connections = c->next;
		free_connection(c);
	}
	for (size_t i = 0; i < l->sockets.count; i++) {
		loop_fd_remove(l->watches[i]);
		close(l->sockets.fd[i]);
	}
	loop_timer_remove(l->pause);
	penalties_free(l->penalties);
	loop_free(l->loop);
	if (l->handover_fd >= 0)
		close(l->handover_fd);
	free(l);
}

void listener_adopt(struct listener *l, const pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct connection *c = mem_zalloc(sizeof(*c));
		struct err e = { 0 };

		c->listener = l;
		c->pid = pids[i];
		c->notify = -1;
		c->adopted = true;
		c->next = l->connections;
		l->connections = c;
		c->child = loop_child_add(l->loop, c->pid, monitor_ended, c, &e);
		if (c->child == NULL)
			log_debug("process %ld: %s", (long)c->pid, err_text(&e));
	}
}

int listener_run(struct listener *l, enum listener_end *why, struct err *e)
{
	int rc = loop_run(l->loop, e);

	*why = l->why;
	return rc;
}

int listener_signal(const struct listener *l) { return l->signo; }
int listener_status(const struct listener *l) { return l->status; }
const struct net_listeners *listener_sockets(const struct listener *l) { return &l->sockets; }

char *listener_children(const struct listener *l)
{
	struct str_list pids = { 0 };
	char *joined;

	for (const struct connection *c = l->connections; c != NULL; c = c->next)
		if (c->pid > 0)
			str_list_add_take(&pids, str_printf("%ld", (long)c->pid));
	joined = pids.count > 0 ? str_list_join(&pids, ",") : mem_strdup("");
	str_list_clear(&pids);
	return joined;
}
