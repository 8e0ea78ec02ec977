/* platform/limits.h: rlimits of a process that talks to unauthenticated peers: part of every kind of sandbox. */
#ifndef PLATFORM_LIMITS_H
#define PLATFORM_LIMITS_H

#include <stdbool.h>
#include "base/err.h"

/* No file may grow (unless may_write_files), no process be made, no descriptor be opened; for good. */
int limits_set_untrusted(bool may_write_files, struct err *e) MUST_USE;

#endif
