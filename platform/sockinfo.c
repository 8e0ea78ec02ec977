/* platform/sockinfo.c: what the kernel knows about a socket. */
#include "platform/sockinfo.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef HAVE_UCRED_H
#include <ucred.h>
#endif

#ifdef __linux__
#include <linux/sockios.h>
#endif

#include "base/mem.h"

#if defined(__linux__) && HAVE_DECL_TCP_INFO

/* The kernel's struct tcp_info as bytes: its layout never changes, it only grows, and the headers of the C library (and of
 * an old kernel) know less of it than the running kernel gives. */
enum { SOCKINFO_RAW = 256, SOCKINFO_HEAD = 104 };

/* What stands in the first eight bytes, in parts of bytes for some. */
enum sockinfo_kind { SI_BYTES, SI_LOW_NIBBLE, SI_HIGH_NIBBLE, SI_BIT_0, SI_BITS_1_2 };

struct sockinfo_place { const char *name; uint16_t offset; uint8_t bytes, kind; };

#define SI32(name, offset) { name, offset, 4, SI_BYTES }
#define SI64(name, offset) { name, offset, 8, SI_BYTES }

static const struct sockinfo_place sockinfo_places[] = {
	{ "state", 0, 1, SI_BYTES }, { "ca_state", 1, 1, SI_BYTES }, { "retransmits", 2, 1, SI_BYTES },
	{ "probes", 3, 1, SI_BYTES }, { "backoff", 4, 1, SI_BYTES }, { "options", 5, 1, SI_BYTES },
	{ "snd_wscale", 6, 1, SI_LOW_NIBBLE }, { "rcv_wscale", 6, 1, SI_HIGH_NIBBLE },
	SI32("rto", 8), SI32("ato", 12), SI32("snd_mss", 16), SI32("rcv_mss", 20), SI32("unacked", 24), SI32("sacked", 28),
	SI32("lost", 32), SI32("retrans", 36), SI32("fackets", 40), SI32("last_data_sent", 44), SI32("last_ack_sent", 48),
	SI32("last_data_recv", 52), SI32("last_ack_recv", 56), SI32("pmtu", 60), SI32("rcv_ssthresh", 64), SI32("rtt", 68),
	SI32("rttvar", 72), SI32("snd_ssthresh", 76), SI32("snd_cwnd", 80), SI32("advmss", 84), SI32("reordering", 88),
	SI32("rcv_rtt", 92), SI32("rcv_space", 96), SI32("total_retrans", 100),
	SI64("max_pacing_rate", 112), SI64("pacing_rate", 104),                                  /* 3.15 */
	SI64("bytes_acked", 120), SI64("bytes_received", 128),                                   /* 4.1 */
	SI32("segs_in", 140), SI32("segs_out", 136),                                             /* 4.2 */
	SI32("notsent_bytes", 144), SI32("min_rtt", 148), SI32("data_segs_in", 152), SI32("data_segs_out", 156),   /* 4.6 */
	{ "delivery_rate_app_limited", 7, 1, SI_BIT_0 }, SI64("delivery_rate", 160),             /* 4.9 */
	SI64("busy_time", 168), SI64("sndbuf_limited", 184), SI64("rwnd_limited", 176),          /* 4.10 */
	SI32("delivered", 192), SI32("delivered_ce", 196),                                       /* 4.18 */
	SI64("bytes_sent", 200), SI64("bytes_retrans", 208), SI32("dsack_dups", 216), SI32("reord_seen", 220),     /* 4.19 */
	SI32("snd_wnd", 228), SI32("rcv_ooopack", 224),                                          /* 5.4 */
	{ "fastopen_client_fail", 7, 1, SI_BITS_1_2 },                                           /* 5.5 */
};
_Static_assert(MEM_COUNT(sockinfo_places) <= SOCKINFO_FIELDS, "SOCKINFO_FIELDS is too small");

/* Bits within a byte are laid out as the machine lays out bit fields. */
static uint64_t sockinfo_bits(uint8_t v, uint8_t kind)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	switch (kind) {
	case SI_LOW_NIBBLE: return v >> 4;
	case SI_HIGH_NIBBLE: return v & 15;
	case SI_BIT_0: return v >> 7;
	case SI_BITS_1_2: return v >> 5 & 3;
	}
#else
	switch (kind) {
	case SI_LOW_NIBBLE: return v & 15;
	case SI_HIGH_NIBBLE: return v >> 4;
	case SI_BIT_0: return v & 1;
	case SI_BITS_1_2: return v >> 1 & 3;
	}
#endif
	return v;
}

static uint64_t sockinfo_load(const uint8_t *raw, const struct sockinfo_place *p)
{
	uint32_t v32;
	uint64_t v64;

	switch (p->bytes) {
	case 8:
		memcpy(&v64, raw + p->offset, 8);
		return v64;
	case 4:
		memcpy(&v32, raw + p->offset, 4);
		return v32;
	}
	return sockinfo_bits(raw[p->offset], p->kind);
}

/* Bytes that the kernel filled in; 0 if this is no TCP socket. */
static size_t sockinfo_raw(int fd, uint8_t raw[SOCKINFO_RAW])
{
	socklen_t n = SOCKINFO_RAW;

	memset(raw, 0, SOCKINFO_RAW);
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, raw, &n) != 0 || n < SOCKINFO_HEAD)
		return 0;
	return n;
}

static uint32_t sockinfo_u32(const uint8_t *raw, size_t offset)
{
	uint32_t v;

	memcpy(&v, raw + offset, sizeof(v));
	return v;
}

static uint64_t sockinfo_u64(const uint8_t *raw, size_t offset)
{
	uint64_t v;

	memcpy(&v, raw + offset, sizeof(v));
	return v;
}

int sockinfo_tcp(int fd, struct sockinfo *out)
{
	uint8_t raw[SOCKINFO_RAW];

	*out = (struct sockinfo){ 0 };
	/* What an older kernel does not fill in is 0. */
	if (sockinfo_raw(fd, raw) == 0)
		return ERR_NONE_FOUND;
	out->mss_bytes = sockinfo_u32(raw, 16);
	out->unacked_packets = sockinfo_u32(raw, 24);
	out->lost_packets = sockinfo_u32(raw, 32);
	out->rtt_us = sockinfo_u32(raw, 68);
	out->rttvar_us = sockinfo_u32(raw, 72);
	out->cwnd_packets = sockinfo_u32(raw, 80);
	out->rcv_rtt_us = sockinfo_u32(raw, 92);
	out->rcv_space_bytes = sockinfo_u32(raw, 96);
	out->retransmits = sockinfo_u32(raw, 100);
	out->acked_bytes = sockinfo_u64(raw, 120);
	out->received_bytes = sockinfo_u64(raw, 128);
	out->notsent_bytes = sockinfo_u32(raw, 144);
	out->min_rtt_us = sockinfo_u32(raw, 148);
	out->delivery_bytes_per_s = sockinfo_u64(raw, 160);
	return 0;
}

size_t sockinfo_tcp_fields(int fd, struct sockinfo_field out[SOCKINFO_FIELDS])
{
	uint8_t raw[SOCKINFO_RAW];
	size_t have = sockinfo_raw(fd, raw), i, n = 0;
	const struct sockinfo_place *p;

	for (i = 0; i < MEM_COUNT(sockinfo_places); i++) {
		p = &sockinfo_places[i];
		if ((size_t)p->offset + p->bytes <= have)
			out[n++] = (struct sockinfo_field){ p->name, p->bytes, sockinfo_load(raw, p) };
	}
	return n;
}

uint32_t sockinfo_fields_version(void)
{
	/* The table above is that of Linux 5.5. */
	return 5u << 16 | 5u << 8;
}

#else

int sockinfo_tcp(int fd, struct sockinfo *out)
{
	(void)fd;
	*out = (struct sockinfo){ 0 };
	return ERR_NONE_FOUND;
}

size_t sockinfo_tcp_fields(int fd, struct sockinfo_field out[SOCKINFO_FIELDS])
{
	(void)fd;
	(void)out;
	return 0;
}

uint32_t sockinfo_fields_version(void)
{
	return 0;
}

#endif

#if HAVE_DECL_SO_PEERCRED && defined(__linux__)

int sockinfo_peer_ids(int fd, uid_t *uid, gid_t *gid, pid_t *pid, struct err *e)
{
	struct ucred c;
	socklen_t n = sizeof(c);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &n) != 0)
		return err_set_errno(e, "cannot tell who is at the other end");
	/* An internet socket answers too, with nobody. */
	if (n != sizeof(c) || c.uid == (uid_t)-1)
		return err_set(e, ERR_NONE_FOUND, "cannot tell who is at the other end");
	*uid = c.uid;
	*gid = c.gid;
	*pid = c.pid;
	return 0;
}

#elif defined(HAVE_GETPEEREID)

int sockinfo_peer_ids(int fd, uid_t *uid, gid_t *gid, pid_t *pid, struct err *e)
{
	if (getpeereid(fd, uid, gid) != 0)
		return err_set_errno(e, "cannot tell who is at the other end");
	*pid = -1;
	return 0;
}

#else

int sockinfo_peer_ids(int fd, uid_t *uid, gid_t *gid, pid_t *pid, struct err *e)
{
	(void)fd, (void)uid, (void)gid, (void)pid;
	return err_set(e, ERR_NONE_FOUND, "this system does not tell who is at the other end");
}

#endif

bool sockinfo_is_local(int fd)
{
	struct sockaddr_storage ours = { 0 }, theirs = { 0 };
	socklen_t n = sizeof(ours), m = sizeof(theirs);
	const struct sockaddr_in *a4 = (const void *)&ours, *b4 = (const void *)&theirs;
	const struct sockaddr_in6 *a6 = (const void *)&ours, *b6 = (const void *)&theirs;

	/* What is no socket is a pipe to a proxy, which runs here too. */
	if (getsockname(fd, (struct sockaddr *)&ours, &n) != 0)
		return errno == ENOTSOCK;
	if (ours.ss_family == AF_UNIX)
		return true;
	if (getpeername(fd, (struct sockaddr *)&theirs, &m) != 0 || ours.ss_family != theirs.ss_family)
		return false;
	if (ours.ss_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return ours.ss_family == AF_INET6 && memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr)) == 0;
}

size_t sockinfo_unsent(int fd)
{
#ifdef SIOCOUTQNSD
	int n = 0;

	return ioctl(fd, SIOCOUTQNSD, &n) == 0 && n > 0 ? (size_t)n : 0;
#else
	(void)fd;
	return 0;
#endif
}
