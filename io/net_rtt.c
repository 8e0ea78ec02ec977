/* io/net_rtt.c: the round trip of a socket and what waits in it, for those who may not look into the platform. Layer: io. */
#include "io/net.h"

#include <stdint.h>

#include "platform/sockinfo.h"

/* What is measured while bulk data flows holds the queues that it makes itself: a window that followed these would make them longer,
 * and keys typed would wait for them. Four times the shortest round trip leaves room for lines that really vary. */
enum { OVER_SHORTEST = 4 };

uint32_t net_rtt_us(int fd)
{
	struct sockinfo info;

	if (sockinfo_tcp(fd, &info) < 0)
		return 0;
	if (info.min_rtt_us != 0 && info.min_rtt_us < UINT32_MAX / OVER_SHORTEST && info.rtt_us > OVER_SHORTEST * info.min_rtt_us)
		return OVER_SHORTEST * info.min_rtt_us;
	return info.rtt_us;
}

size_t net_unsent(int fd)
{
	return sockinfo_unsent(fd);
}

int net_line(int fd, struct net_line *out)
{
	struct sockinfo info;

	if (sockinfo_tcp(fd, &info) < 0 || info.acked_bytes == 0)
		return ERR_NONE_FOUND;
	*out = (struct net_line){ .acked = info.acked_bytes, .unsent = info.notsent_bytes,
		.inflight = (uint64_t)info.unacked_packets * info.mss_bytes, .rate = info.delivery_bytes_per_s };
	return 0;
}
