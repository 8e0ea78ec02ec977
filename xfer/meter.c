/* The progress meter on a terminal: one line that is drawn again once a second, and stays when its file is done. */
#include "xfer/progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "io/loop.h"

enum { TICK_MS = 1000, COLUMNS_DEFAULT = 80, COLUMNS_MAX = 512 };

struct meter {
	struct loop *loop;
	struct loop_timer *timer;
	int fd;
	unsigned columns;
	struct progress figures;
	char *name;                      /* NULL: no line is shown */
	bool drawn;                      /* the cursor stands in our line */
};

static void measure(struct meter *m)
{
	struct winsize w;

	m->columns = COLUMNS_DEFAULT;
	if (ioctl(m->fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
		m->columns = w.ws_col < COLUMNS_MAX ? w.ws_col : COLUMNS_MAX;
}

static void put(struct meter *m, const char *text)
{
	size_t n = strlen(text);

	while (n > 0) {
		ssize_t k = write(m->fd, text, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return;                  /* a meter that cannot be shown stops nothing */
		text += k;
		n -= (size_t)k;
	}
}

static void draw(struct meter *m)
{
	char line[4 * COLUMNS_MAX + 8];

	/* In the background it would disturb whoever is in front. */
	if (tcgetpgrp(m->fd) != getpgrp())
		return;
	line[0] = '\r';
	progress_line(&m->figures, clock_mono_us(), m->name, m->columns - 1, line + 1, sizeof line - 1);
	put(m, line);
	m->drawn = true;
}

static void on_tick(void *ctx)
{
	struct meter *m = ctx;

	if (m->name == NULL)
		return;
	progress_tick(&m->figures, clock_mono_us());
	draw(m);
	loop_timer_arm(m->timer, TICK_MS);
}

struct meter *meter_new(struct loop *l, int fd)
{
	struct meter *m;

	if (fd < 0 || !isatty(fd))
		return NULL;
	m = mem_zalloc(sizeof *m);
	m->loop = l;
	m->fd = fd;
	m->timer = loop_timer_add(l, on_tick, m);
	measure(m);
	return m;
}

void meter_free(struct meter *m)
{
	if (m == NULL)
		return;
	loop_timer_remove(m->timer);
	free(m->name);
	free(m);
}

void meter_begin(struct meter *m, const char *name, uint64_t size, uint64_t at)
{
	if (m == NULL)
		return;
	free(m->name);
	m->name = str_escape_terminal(name, strlen(name));
	progress_begin(&m->figures, clock_mono_us(), size, at);
	draw(m);
	loop_timer_arm(m->timer, TICK_MS);
}

void meter_move(struct meter *m, uint64_t at)
{
	if (m != NULL)
		progress_move(&m->figures, at);
}

void meter_end(struct meter *m, bool complete)
{
	if (m == NULL || m->name == NULL)
		return;
	if (complete) {
		progress_end(&m->figures, clock_mono_us());
		draw(m);
	}
	meter_clear(m);
	loop_timer_disarm(m->timer);
	free(m->name);
	m->name = NULL;
}

void meter_resized(struct meter *m)
{
	if (m != NULL)
		measure(m);
}

void meter_clear(struct meter *m)
{
	if (m == NULL || !m->drawn)
		return;
	put(m, "\n");
	m->drawn = false;
}
