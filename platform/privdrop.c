/* platform/privdrop.c: who a process is, and who may look into it. */
#include "platform/privdrop.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif
#ifdef HAVE_SYS_PROCCTL_H
#include <sys/procctl.h>
#endif

#include "base/mem.h"

enum { PRIVDROP_GROUPS_MAX = 65536 };    /* Linux allows no more */

int privdrop_groups(const char *user, gid_t gid, gid_t **groups, size_t *count, struct err *e)
{
	int room = 32, n;
	gid_t *v = NULL;

	do {
		v = mem_resize(v, (size_t)room, sizeof(*v));
		n = room;
		if (getgrouplist(user, gid, v, &n) >= 0) {
			*groups = v;
			*count = (size_t)n;
			return 0;
		}
		/* Some systems say how many there are, others do not. */
		room = n > room ? n : room * 2;
	} while (room <= PRIVDROP_GROUPS_MAX);
	free(v);
	return err_set(e, ERR_MEMORY, "user %s is in too many groups", user);
}

static int privdrop_set_ids(const struct privdrop_id *id)
{
#if defined(HAVE_SETRESGID) && defined(HAVE_SETRESUID)
	if (setresgid(id->gid, id->gid, id->gid) != 0)
		return -1;
	return setresuid(id->uid, id->uid, id->uid);
#else
	/* As root these set all three ids (POSIX). */
	if (setgid(id->gid) != 0)
		return -1;
	return setuid(id->uid);
#endif
}

/* Are all ids, the saved ones too, what they should be, and is the way back closed? */
static int privdrop_verify(const struct privdrop_id *id, int had_root)
{
#if defined(HAVE_SETRESGID) && defined(HAVE_SETRESUID)
	uid_t ru, eu, su;
	gid_t rg, eg, sg;

	if (getresuid(&ru, &eu, &su) != 0 || getresgid(&rg, &eg, &sg) != 0)
		return -1;
	if (ru != id->uid || eu != id->uid || su != id->uid || rg != id->gid || eg != id->gid || sg != id->gid)
		goto refused;
#else
	if (getuid() != id->uid || geteuid() != id->uid || getgid() != id->gid || getegid() != id->gid)
		goto refused;
#endif
	if (id->uid == 0)
		return 0;
	/* Asked of the system itself, for capabilities and odd systems may keep a way open. */
	if (setuid(0) == 0 || seteuid(0) == 0)
		goto refused;
	if (had_root && id->gid != 0 && (setgid(0) == 0 || setegid(0) == 0))
		goto refused;
	return 0;
refused:
	errno = EPERM;
	return -1;
}

int privdrop_forever_raw(const struct privdrop_id *id)
{
	int root = geteuid() == 0;

	/* The groups first, while there is the right to. An ordinary user cannot change them, nor needs to. */
	if (root && setgroups(id->group_count, id->groups) != 0)
		return -1;
	if (privdrop_set_ids(id) != 0)
		return -1;
	return privdrop_verify(id, root);
}

int privdrop_forever(const struct privdrop_id *id, struct err *e)
{
	if (privdrop_forever_raw(id) != 0)
		return err_set_errno(e, "cannot become uid %lu, gid %lu", (unsigned long)id->uid, (unsigned long)id->gid);
	return 0;
}

/* ---- for a while */

/* Changing ids makes a process on Linux what fs.suid_dumpable says: one that was undumpable is made so again. */
static int privdrop_keep_undumpable(const struct privdrop_saved *saved)
{
#ifdef PR_SET_DUMPABLE
	if (saved->undumpable)
		return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#else
	(void)saved;
#endif
	return 0;
}

static void privdrop_saved_clear(struct privdrop_saved *saved)
{
	free(saved->groups);
	*saved = (struct privdrop_saved){ 0 };
}

int privdrop_assume(struct privdrop_saved *saved, const struct privdrop_id *id, struct err *e)
{
	*saved = (struct privdrop_saved){ .uid = geteuid(), .gid = getegid() };
	if (saved->uid != 0) {
		if (saved->uid != id->uid)
			return err_set(e, ERR_DENIED, "only root can act as another user");
		return 0;
	}
	saved->group_count = getgroups(0, NULL);
	if (saved->group_count < 0)
		return err_set_errno(e, "getgroups");
	saved->groups = mem_array((size_t)saved->group_count + 1, sizeof(gid_t));
	saved->group_count = getgroups(saved->group_count, saved->groups);
	if (saved->group_count < 0) {
		privdrop_saved_clear(saved);
		return err_set_errno(e, "getgroups");
	}
	saved->active = 1;
#ifdef PR_SET_DUMPABLE
	saved->undumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0;
#endif
	if (setgroups(id->group_count, id->groups) == 0 && setegid(id->gid) == 0 && seteuid(id->uid) == 0 &&
	    privdrop_keep_undumpable(saved) == 0)
		return 0;
	err_set_errno(e, "cannot act as uid %lu", (unsigned long)id->uid);
	/* A process that is nobody certain must not go on. */
	if (privdrop_return(saved, NULL) != 0)
		abort();
	return ERR_IO;
}

int privdrop_return(struct privdrop_saved *saved, struct err *e)
{
	int r = 0;

	if (!saved->active)
		return 0;
	/* The uid first: it gives back the right to change the others. */
	if (seteuid(saved->uid) != 0 || setegid(saved->gid) != 0 ||
	    setgroups((size_t)saved->group_count, saved->groups) != 0 || privdrop_keep_undumpable(saved) != 0)
		r = err_set_errno(e, "cannot return to uid %lu", (unsigned long)saved->uid);
	privdrop_saved_clear(saved);
	return r;
}

int privdrop_chroot(const char *path, struct err *e)
{
	if (chroot(path) != 0)
		return err_set_errno(e, "chroot(\"%s\")", path);
	if (chdir("/") != 0)
		return err_set_errno(e, "chdir to / of %s", path);
	return 0;
}

int privdrop_undumpable(struct err *e)
{
#ifdef PR_SET_DUMPABLE
	/* No limit on core files beside it: that would be inherited by the programs of users, who want theirs. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return err_set_errno(e, "cannot make the process undumpable");
#elif defined(PROC_TRACE_CTL_DISABLE)
	{
		int off = PROC_TRACE_CTL_DISABLE;

		if (procctl(P_PID, 0, PROC_TRACE_CTL, &off) != 0)
			return err_set_errno(e, "cannot forbid tracing");
	}
#else
	{
		struct rlimit none = { 0, 0 };

		if (setrlimit(RLIMIT_CORE, &none) != 0)
			return err_set_errno(e, "cannot forbid core files");
	}
#endif
	return 0;
}
