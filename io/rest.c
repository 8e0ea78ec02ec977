/* io/rest.c: gives memory back when a connection comes to rest after its start. Layer: io. */
#include "io/rest.h"

#include <stdlib.h>

#include "base/mem.h"
#include "io/loop.h"
#include "platform/giveback.h"

enum { LOOK_MS = 1000, QUIET_BYTES = 64 * 1024 };

struct rest {
	struct loop_timer *timer;
	struct rest_user user;
	uint64_t before;
};

static void rest_look(void *ctx)
{
	struct rest *r = ctx;
	uint64_t now = r->user.moved(r->user.ctx);

	if (now - r->before < QUIET_BYTES) {
		r->user.resting(r->user.ctx);
		giveback();
		return;
	}
	r->before = now;
	loop_timer_arm(r->timer, LOOK_MS);
}

struct rest *rest_new(struct loop *l, const struct rest_user *u)
{
	struct rest *r = mem_zalloc(sizeof *r);

	r->user = *u;
	r->before = u->moved(u->ctx);
	r->timer = loop_timer_add(l, rest_look, r);
	loop_timer_arm(r->timer, LOOK_MS);
	return r;
}

void rest_free(struct rest *r)
{
	if (!r)
		return;
	loop_timer_remove(r->timer);
	free(r);
}
