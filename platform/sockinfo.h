/* platform/sockinfo.h: what the kernel knows about a socket. */
#ifndef PLATFORM_SOCKINFO_H
#define PLATFORM_SOCKINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"

/* What the data path steers by. 0 where the kernel does not tell. */
struct sockinfo {
	uint32_t rtt_us, rttvar_us, min_rtt_us;
	uint32_t rcv_rtt_us;             /* as a receiver sees it; 0 until known */
	uint32_t rcv_space_bytes;        /* what the receiver's tuning aims at */
	uint32_t mss_bytes, cwnd_packets, unacked_packets, lost_packets;
	uint32_t retransmits;            /* all of this connection */
	uint32_t notsent_bytes;          /* in the kernel's queue, not sent yet */
	uint64_t delivery_bytes_per_s;   /* as measured by the kernel */
	uint64_t acked_bytes, received_bytes;
};
/* ERR_NONE_FOUND if fd is no TCP socket or the system has no such thing. Cheap: one call. */
int sockinfo_tcp(int fd, struct sockinfo *out) MUST_USE;

/* Every field of the kernel's struct tcp_info that it filled in, in the column order of HPN's metrics files; names
 * without "tcpi_". Returns how many were put into out (at most SOCKINFO_FIELDS), 0 if fd is no TCP socket. */
struct sockinfo_field { const char *name; unsigned bytes; uint64_t value; };
enum { SOCKINFO_FIELDS = 64 };
size_t sockinfo_tcp_fields(int fd, struct sockinfo_field out[SOCKINFO_FIELDS]);
/* Kernel version whose set of fields that is, as (major<<16)+(minor<<8)+patch; 0 if unknown. */
uint32_t sockinfo_fields_version(void);

/* Bytes that the kernel has taken for a TCP socket and not sent yet; 0 if unknown. Cheaper than sockinfo_tcp. */
size_t sockinfo_unsent(int fd);

/* Both ends are on this machine: a unix socket, a pipe, or addresses that are the same. False also where that is unknown, as
 * between network namespaces. */
bool sockinfo_is_local(int fd);

/* Who is at the other end of a unix socket. pid is -1 where the system does not tell. */
int sockinfo_peer_ids(int fd, uid_t *uid, gid_t *gid, pid_t *pid, struct err *e) MUST_USE;

#endif
