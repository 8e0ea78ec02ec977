/* io/net_rtt.c: the round trip of a socket and what waits in it, for those who may not look into the platform. Layer: io. */
#include "io/net.h"

#include <stdint.h>

#include "platform/sockinfo.h"

static struct net_rtt rtt_of(const struct sockinfo *info)
{
	struct net_rtt rtt = { info->rtt_us, info->rtt_us };

	/* 0 or all ones: not known yet. */
	if (info->min_rtt_us != 0 && info->min_rtt_us < info->rtt_us)
		rtt.least_us = info->min_rtt_us;
	return rtt;
}

struct net_rtt net_rtt(int fd)
{
	struct sockinfo info;

	return sockinfo_tcp(fd, &info) < 0 ? (struct net_rtt){ 0 } : rtt_of(&info);
}

size_t net_unsent(int fd)
{
	return sockinfo_unsent(fd);
}

int net_line(int fd, struct net_line *out)
{
	struct sockinfo info;
	struct net_rtt rtt;

	if (sockinfo_tcp(fd, &info) < 0 || info.acked_bytes == 0)
		return ERR_NONE_FOUND;
	rtt = rtt_of(&info);
	*out = (struct net_line){ .acked = info.acked_bytes, .unsent = info.notsent_bytes,
		.inflight = (uint64_t)info.unacked_packets * info.mss_bytes, .rate = info.delivery_bytes_per_s,
		.queue_us = rtt.now_us / 2 > rtt.least_us ? rtt.now_us - rtt.least_us : 0 };
	return 0;
}
