/* io/net_rtt.c: the round trip of a socket and what waits in it, for those who may not look into the platform. Layer: io. */
#include "io/net.h"

#include "platform/sockinfo.h"

uint32_t net_rtt_us(int fd)
{
	struct sockinfo info;

	return sockinfo_tcp(fd, &info) == 0 ? info.rtt_us : 0;
}

size_t net_unsent(int fd)
{
	return sockinfo_unsent(fd);
}
