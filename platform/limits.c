/* platform/limits.c: rlimits of a process that talks to unauthenticated peers. */
#include "platform/limits.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LIMITS_FDS_LEAST = 4 };

static int limits_set(int what, rlim_t most, const char *name, struct err *e)
{
	struct rlimit rl = { most, most };

	if (setrlimit(what, &rl) != 0)
		return err_set_errno(e, "cannot limit %s", name);
	return 0;
}

/* The limit is not a number of descriptors but one more than the highest: with the lowest free number as the limit no new
 * one can be made. poll() refuses to look at more descriptors than the limit says, so a few must be allowed. */
static int limits_set_descriptors(struct err *e)
{
	int free_fd = dup(STDIN_FILENO);

	if (free_fd < 0)
		return errno == EMFILE ? 0 : err_set_errno(e, "dup");
	close(free_fd);
	return limits_set(RLIMIT_NOFILE, (rlim_t)(free_fd > LIMITS_FDS_LEAST ? free_fd : LIMITS_FDS_LEAST), "descriptors", e);
}

int limits_set_untrusted(bool may_write_files, struct err *e)
{
	int r = limits_set_descriptors(e);

	if (r == 0)
		r = limits_set(RLIMIT_CORE, 0, "core files", e);
	if (r == 0 && !may_write_files)
		r = limits_set(RLIMIT_FSIZE, 0, "file sizes", e);
#ifdef RLIMIT_NPROC
	if (r == 0)
		r = limits_set(RLIMIT_NPROC, 0, "processes", e);
#endif
	return r;
}
