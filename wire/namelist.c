/* wire/namelist.c: name-lists (RFC 4251 sections 5 and 6) and the choice of RFC 4253 section 7.1. */
#include "wire/reader.h"

#include "base/mem.h"
#include "base/str.h"

enum { NAME_MAX_BYTES = 64 }; /* RFC 4251 section 6 */

bool namelist_valid(struct view v)
{
	size_t i, n = 0;

	if (v.n == 0)
		return true;
	for (i = 0; i < v.n; i++) {
		if (v.p[i] == ',') {
			if (n == 0)
				return false;
			n = 0;
		} else if (v.p[i] <= ' ' || v.p[i] >= 0x7f || ++n > NAME_MAX_BYTES) {
			return false;
		}
	}
	return n != 0;
}

char *namelist_first_common(const char *ours_or_client, const char *theirs_or_server)
{
	const char *name;
	size_t n;

	while (str_next_name(&ours_or_client, &name, &n))
		if (str_names_has(theirs_or_server, name, n))
			return mem_strndup(name, n);
	return NULL;
}
