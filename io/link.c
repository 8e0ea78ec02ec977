/* io/link.c: what is the same for every carrier of bytes. */
#include "io/link.h"

#include <string.h>

bool link_write(struct link *l, const void *p, size_t n)
{
	struct iovec iov[LINK_IOV];
	const uint8_t *from = p;
	size_t done = 0, part;
	int count = 0, i;

	if (n == 0)
		return true;
	if (link_room(l) < n)
		return false;
	if (link_lend(l, n, iov, &count) < n) {
		(void)!link_commit(l, 0);
		return false;
	}
	for (i = 0; i < count && done < n; i++, done += part) {
		part = iov[i].iov_len < n - done ? iov[i].iov_len : n - done;
		memcpy(iov[i].iov_base, from + done, part);
	}
	return link_commit(l, n) == 0;
}
