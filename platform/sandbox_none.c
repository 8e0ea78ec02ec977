/* platform/sandbox_none.c: for systems whose calls cannot be filtered: only what rlimits can take away. */
#include "platform/sandbox.h"

#include "platform/limits.h"

int sandbox_enter(const struct sandbox_options *o, struct err *e)
{
	return limits_set_untrusted(o->may_write_files, e);
}

const char *sandbox_kind(void)
{
	return "none";
}
