/* platform/procname.h: what ps and top show. */
#ifndef PLATFORM_PROCNAME_H
#define PLATFORM_PROCNAME_H

#include <stddef.h>
#include "base/err.h"

/* The memory that argv and environ begin with: the title is written over it. main() owns this. */
struct procname { char *area; size_t size; char *copies; };

/* To be called first in main(), before threads: argv[] and environ are made to point to copies, and may be used as ever. */
void procname_init(struct procname *p, int argc, char **argv);
/* Title as in "sshd: user@pts/0". Does nothing before procname_init. */
void procname_set_title(struct procname *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The short name (top, killall, core files), at most 15 bytes: execveat() on a descriptor leaves a number there. */
void procname_set_short(const char *name);

#endif
