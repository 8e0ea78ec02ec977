/* io/net_rtt.c: the round trip of a socket and what waits in it, for those who may not look into the platform. Layer: io. */
#include "io/net.h"

#include <stdint.h>

#include "platform/sockinfo.h"

struct net_rtt net_rtt(int fd)
{
	struct net_rtt rtt = { 0 };
	struct sockinfo info;

	if (sockinfo_tcp(fd, &info) < 0)
		return rtt;
	rtt.now_us = rtt.least_us = info.rtt_us;
	/* 0 or all ones: not known yet. */
	if (info.min_rtt_us != 0 && info.min_rtt_us < info.rtt_us)
		rtt.least_us = info.min_rtt_us;
	return rtt;
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
