/* threads_always.h: for ssh_threads.c and sshd_threads.c: the programs as they are, but for what decides whether several threads
 * seal and open packets. Here they always do, three beside the caller's, whatever the machine, and every run waits a little for
 * one of them, so that it does take pieces. At the end each process that shared work appends a line to the file $WS_THREADS_TELL:
 * "PID PIECES-OF-THE-CALLER PIECES-OF-THE-OTHERS". What is defined here stands in for pace.o, platform/cores.o and
 * crypto/workers.o of the library. */
#include <fcntl.h>
#include <stdio.h>

#include "pace.h"
#include "platform/cores.h"
#define workers_run workers_run_plain
#include "crypto/workers.c"
#undef workers_run

bool pace_shares(const struct pace *p)
{
	(void)p;
	return true;
}

bool pace_add(struct pace *p, size_t n)
{
	(void)p;
	(void)n;
	return false;
}

bool pace_step(struct pace *p, uint64_t wall_us, uint64_t cpu_us)
{
	(void)p;
	(void)wall_us;
	(void)cpu_us;
	return false;
}

unsigned cores_usable(void)
{
	return WORKERS_LANES_MAX;
}

unsigned cores_to_spare(int fd)
{
	(void)fd;
	return WORKERS_MAX;
}

static _Atomic unsigned long of_caller, of_others;

struct counted { workers_job *job; void *ctx; _Atomic unsigned others; };

static void run_counted(void *ctx, unsigned lane, size_t item)
{
	struct counted *c = ctx;
	uint64_t until = clock_mono_us() + 1000;

	if (lane != 0) {
		atomic_fetch_add(&c->others, 1);
		atomic_fetch_add(&of_others, 1);
	} else {
		while (atomic_load(&c->others) == 0 && clock_mono_us() < until)
			cpu_pause();
		atomic_fetch_add(&of_caller, 1);
	}
	c->job(c->ctx, lane, item);
}

void workers_run(struct workers *w, workers_job *job, void *ctx, size_t n);
void workers_run(struct workers *w, workers_job *job, void *ctx, size_t n)
{
	struct counted c = { job, ctx, 0 };

	workers_run_plain(w, run_counted, &c, n);
}

static void __attribute__((destructor)) tell(void)
{
	const char *path = getenv("WS_THREADS_TELL");
	int fd = path != NULL && of_caller + of_others != 0 ? open(path, O_WRONLY | O_APPEND) : -1;

	if (fd < 0)
		return;
	(void)dprintf(fd, "%ld %lu %lu\n", (long)getpid(), of_caller, of_others);
	close(fd);
}
