/* platform/fskind.h: what kind of file system a path is on. */
#ifndef PLATFORM_FSKIND_H
#define PLATFORM_FSKIND_H

#include <stdbool.h>

/* True if calls on files there may wait for another machine or program (NFS, SMB, FUSE and the like). False if it cannot be
 * found out. */
bool fskind_may_block(const char *path);

#endif
