/* io/rest.c: gives memory back when a connection comes to rest after its start. Layer: io. */
#include "io/rest.h"

#include <stdlib.h>

#include "base/mem.h"
#include "io/loop.h"
#include "platform/giveback.h"

enum { LOOK_MS = 1000, QUIET_BYTES = 64 * 1024 };

struct rest {
	struct loop_timer *timer;
	uint64_t (*moved)(void *ctx);
	void *ctx;
	uint64_t before;
};

static void rest_look(void *ctx)
{
	struct rest *r = ctx;
	uint64_t now = r->moved(r->ctx);

	if (now - r->before < QUIET_BYTES) {
		giveback();
		return;
	}
	r->before = now;
	loop_timer_arm(r->timer, LOOK_MS);
}

struct rest *rest_new(struct loop *l, uint64_t (*moved)(void *ctx), void *ctx)
{
	struct rest *r = mem_zalloc(sizeof *r);

	r->moved = moved;
	r->ctx = ctx;
	r->before = moved(ctx);
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
