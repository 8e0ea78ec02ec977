/* server/user_timers.c: ClientAlive, ChannelTimeout, UnusedConnectionTimeout. */
#include "server/user_private.h"

#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/match.h"
#include "channel/carrier.h"
#include "io/loop.h"
#include "server/usession.h"
#include "transport.h"

enum { LOOK_MS = 1000 };

/* ---- is the client still there? */

static void alive_channel_reply(void *ctx, struct channel *c, bool ok)
{
	struct user *u = ctx;

	(void)c;
	(void)ok;                        /* any answer will do */
	u->alive_unanswered = 0;
}

static void alive_global_reply(void *ctx, bool ok, struct reader *body)
{
	(void)body;
	alive_channel_reply(ctx, NULL, ok);
}

static void ask_client(struct user *u)
{
	struct channel *c = usession_any_channel(u);
	int rc;

	u->alive_unanswered++;
	u->alive_asked_ms = clock_mono_ms();
	rc = c != NULL ? channel_request(c, "keepalive@openssh.com", NULL, alive_channel_reply, u) :
		channels_global_request(u->channels, "keepalive@openssh.com", NULL, alive_global_reply, u);
	if (rc < 0)
		log_debug("keepalive could not be sent");
}

static void alive_is_due(void *ctx)
{
	struct user *u = ctx;
	uint64_t interval = (uint64_t)u->options.client_alive_interval_s * 1000, now = clock_mono_ms();
	uint64_t last = carrier_last_input_ms(u->carrier);

	if (u->leaving)
		return;
	if (last > u->alive_asked_ms)
		u->alive_unanswered = 0; /* whatever came, it is alive */
	if (now - last < interval) {
		loop_timer_arm(u->alive, interval - (now - last));
		return;
	}
	if (u->alive_unanswered > 0 && u->alive_unanswered >= u->options.client_alive_count_max &&
	    u->options.client_alive_count_max > 0) {
		char *who = user_who(u);

		log_info("Timeout, client not responding from %s", who);
		free(who);
		(void)carrier_fail(u->carrier, ERR_IO, 0, "the client does not answer");
		return;
	}
	ask_client(u);
	loop_timer_arm(u->alive, interval);
}

/* ---- nothing happens */

static void close_idle_sessions(struct user *u)
{
	const struct conf_timeouts *t = &u->options.channel_timeout;

	for (struct usession *s = usession_first(u); s != NULL; s = usession_next(s)) {
		struct channel *c = usession_channel(s);

		for (size_t i = 0; c != NULL && i < t->count; i++) {
			bool global = strcmp(t->v[i].pattern, "global") == 0;
			uint64_t idle_ms = global ? channels_idle_ms(u->channels) : channel_idle_ms(c);

			if (!global && !match_pattern(usession_kind(s), t->v[i].pattern))
				continue;
			if (t->v[i].seconds > 0 && idle_ms >= (uint64_t)t->v[i].seconds * 1000) {
				log_verbose("channel %u: closing after %u seconds of inactivity", channel_id(c), t->v[i].seconds);
				channel_close(c);
			}
			break;
		}
	}
}

static void idle_is_due(void *ctx)
{
	struct user *u = ctx;

	if (u->leaving)
		return;
	close_idle_sessions(u);
	if (u->options.unused_connection_timeout_s > 0 && channels_count(u->channels) == 0 &&
	    channels_idle_ms(u->channels) >= (uint64_t)u->options.unused_connection_timeout_s * 1000) {
		char *who = user_who(u);

		log_info("terminating inactive connection from %s", who);
		free(who);
		carrier_disconnect(u->carrier, DISCONNECT_BY_APPLICATION, "the connection was not used", 1000);
		return;
	}
	loop_timer_arm(u->idle, LOOK_MS);
}

void user_start_timers(struct user *u)
{
	if (u->options.client_alive_interval_s > 0) {
		u->alive = loop_timer_add(u->loop, alive_is_due, u);
		loop_timer_arm(u->alive, (uint64_t)u->options.client_alive_interval_s * 1000);
	}
	if (u->options.unused_connection_timeout_s > 0 || u->options.channel_timeout.count > 0) {
		u->idle = loop_timer_add(u->loop, idle_is_due, u);
		loop_timer_arm(u->idle, LOOK_MS);
	}
}

void user_timers_free(struct user *u)
{
	loop_timer_remove(u->alive);
	loop_timer_remove(u->idle);
	loop_timer_remove(u->leave);
}
