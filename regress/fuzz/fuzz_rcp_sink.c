/* The old scp protocol: the input is what the other side sends to a sink, or answers to a source. Target: xfer/rcp*.c. */
#include "jail.h"

#include <stdint.h>
#include <string.h>

#include "base/log.h"
#include "io/link.h"
#include "io/loop.h"
#include "xfer/copy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct session { struct link *there; bool done; };

static void on_readable(void *ctx)
{
	struct session *s = ctx;
	const uint8_t *p;
	size_t n;

	while ((n = link_peek(s->there, &p)) > 0)
		link_consume(s->there, n);
}

static void on_done(void *ctx, int status)
{
	struct session *s = ctx;

	(void)status;
	s->done = true;
}

static void turn(struct loop *l)
{
	if (loop_turn(l, 0, NULL) != 0)
		abort();
}

/* What the engine says about bad input. The sanitizers write to descriptor 2 itself. */
static bool hush(void)
{
	static bool done;

	if (!done)
		stderr = fopen("/dev/null", "w");
	done = true;
	return stderr != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned runs;
	bool jailed = hush() && jail_enter();
	struct session s = { 0 };
	struct copy_options o = { .meter_fd = -1, .quiet = true, .program = "scp" };
	struct copy_job job = { .target = "target" };
	struct copy_setup setup = { .job = &job, .options = &o, .done = on_done, .ctx = &s };
	struct link *here;
	struct loop *l;
	struct copy *c;
	size_t piece;

	if (size < 1 || !jailed)
		return 0;
	log_init("fuzz", LOG_LEVEL_QUIET);
	if (runs++ % 32 == 0) {
		int fd;

		jail_clean();
		(void)mkdir("src", 0755);
		(void)mkdir("target", 0755);
		fd = open("src/file", O_CREAT | O_WRONLY, 0644);
		if (fd < 0 || write(fd, "0123456789", 10) != 10)
			abort();
		close(fd);
	}
	job.upload = data[0] & 1;
	o.recursive = data[0] & 2;
	o.preserve = data[0] & 4;
	o.no_name_check = data[0] & 8;
	piece = data[0] & 16 ? 1 + (size_t)(data[0] >> 5) : 1 << 20;
	str_list_add(&job.sources, job.upload ? "src" : data[0] & 32 ? "f*" : "{a,f}");
	l = loop_new(NULL);
	if (l == NULL || link_pair_new(l, 8192, &here, &s.there, NULL) != 0)
		abort();
	s.there->user = (struct link_user){ .readable = on_readable, .ctx = &s };
	setup.loop = l;
	setup.link = here;
	c = copy_start_rcp(&setup, NULL);
	if (c == NULL)
		abort();
	for (size_t at = 1; at < size && !s.done; ) {
		size_t room = link_room(s.there), n = size - at;

		n = n < piece ? n : piece;
		n = n < room ? n : room;
		while (n > 0 && !link_write(s.there, data + at, n))
			n /= 2;
		at += n;
		turn(l);
	}
	link_finish(s.there);
	for (int i = 0; i < 3000 && !s.done; i++)
		turn(l);
	if (!s.done)
		abort();
	copy_free(c);
	link_close(s.there);
	link_close(here);
	for (int i = 0; i < 3; i++)
		turn(l);
	loop_free(l);
	str_list_clear(&job.sources);
	return 0;
}
