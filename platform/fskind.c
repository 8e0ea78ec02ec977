/* platform/fskind.c: file systems that are not on this machine's disks. */
#include "platform/fskind.h"

#if defined(__linux__)

#include <stddef.h>
#include <sys/vfs.h>

bool fskind_may_block(const char *path)
{
	/* statfs(2); the numbers are part of the kernel's interface */
	static const unsigned long kinds[] = {
		0x6969,                  /* NFS */
		0x517b, 0xff534d42, 0xfe534d42,  /* SMB, CIFS, SMB2 */
		0x65735546,              /* FUSE */
		0x5346414f, 0x6b414653,  /* AFS */
		0x00c36400,              /* Ceph */
		0x01021997,              /* 9P */
		0x73757245,              /* Coda */
		0x0bd00bd0,              /* Lustre */
		0x7461636f, 0x01161970,  /* OCFS2, GFS2 */
		0x47504653,              /* GPFS */
		0x19830326,              /* BeeGFS */
		0x0187                   /* autofs */
	};
	struct statfs s;

	if (statfs(path, &s) < 0)
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (((unsigned long)s.f_type & 0xffffffff) == kinds[i])
			return true;
	return false;
}

#elif defined(__FreeBSD__) || defined(__OpenBSD__) || defined(__APPLE__) || defined(__DragonFly__)

#include <sys/param.h>
#include <sys/mount.h>

bool fskind_may_block(const char *path)
{
	struct statfs s;

	return statfs(path, &s) == 0 && (s.f_flags & MNT_LOCAL) == 0;
}

#else

bool fskind_may_block(const char *path)
{
	(void)path;
	return false;
}

#endif
