/* platform/privdrop.h: who a process is, and who may look into it. */
#ifndef PLATFORM_PRIVDROP_H
#define PLATFORM_PRIVDROP_H

#include <stddef.h>
#include <sys/types.h>
#include "base/err.h"

struct privdrop_id {
	uid_t uid;
	gid_t gid;
	const gid_t *groups;             /* supplementary ones, all of them; borrowed */
	size_t group_count;
};

/* Groups of a user by the group database, gid included: allocated. */
int privdrop_groups(const char *user, gid_t gid, gid_t **groups, size_t *count, struct err *e) MUST_USE;

/* Real, effective and saved ids, for good, and verified: afterwards root cannot be had back (unless uid is 0). Without root
 * it succeeds only when nothing would change. */
int privdrop_forever(const struct privdrop_id *id, struct err *e) MUST_USE;
/* The same between fork and exec: async-signal-safe; 0, or -1 and errno (EPERM when the check failed). */
int privdrop_forever_raw(const struct privdrop_id *id);

/* Effective ids only, for file access in the name of a user by a process of root's; privdrop_return goes back to root's own
 * with the groups that were there before. They do not nest. In between errors must not be answered by exec. A failing
 * return cannot be lived with: the caller must end the process. Without root: nothing happens if it is our own uid. */
struct privdrop_saved { uid_t uid; gid_t gid; gid_t *groups; int group_count; int active, undumpable; };
/* Whoever was undumpable stays so, both ways. */
int privdrop_assume(struct privdrop_saved *saved, const struct privdrop_id *id, struct err *e) MUST_USE;
int privdrop_return(struct privdrop_saved *saved, struct err *e) MUST_USE;

/* chroot and chdir to /. The caller has checked who owns the folders. */
int privdrop_chroot(const char *path, struct err *e) MUST_USE;

/* No core file, no ptrace, no /proc/self/mem for others of the same user. Every change of ids may undo it: call it after. */
int privdrop_undumpable(struct err *e) MUST_USE;

#endif
