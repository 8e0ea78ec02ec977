/* io/net.h: names, addresses, sockets. */
#ifndef IO_NET_H
#define IO_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include "base/err.h"

struct net_address { struct sockaddr_storage sa; socklen_t size; };
struct net_addresses { struct net_address *v; size_t count; char *canonical; };  /* canonical may be NULL */

/* Blocking lookup. family AF_UNSPEC, AF_INET, AF_INET6. Error: "Could not resolve hostname H: reason" without prefix. */
int net_resolve(const char *host, uint16_t port, int family, bool passive, struct net_addresses *out, struct err *e) MUST_USE;
void net_addresses_free(struct net_addresses *a);

/* Numeric host (no brackets, no scope for v4-mapped) and port of an address. */
void net_format(const struct net_address *a, char *host, size_t host_size, uint16_t *port);
/* Both ends of a socket; "UNKNOWN" 65535 if it is no internet socket. */
void net_local(int fd, char *host, size_t host_size, uint16_t *port);
void net_peer(int fd, char *host, size_t host_size, uint16_t *port);

struct net_connect_options {
	int family;
	const char *bind_address, *bind_interface;       /* NULL: none */
	int timeout_ms;                                  /* for everything together; 0: the system's */
	unsigned attempts;                               /* rounds over all addresses, 1 s apart; 0 is 1 */
	bool keepalive, mptcp, happy_eyes;
	int happy_delay_ms;
	int rcvbuf_bytes;                                /* 0: untouched (Linux tunes by itself) */
	int tos;                                         /* -1: untouched */
};
/* Blocking with timeout (poll inside). Tries the addresses in turn, or raced (RFC 8305). Returns a connected socket with
 * CLOEXEC and TCP_NODELAY, or a negative class; text "connect to host H port P: reason" of the last failure. */
int net_connect(const char *host, uint16_t port, const struct net_connect_options *o, struct err *e) MUST_USE;

/* The same for one address without waiting, for forwards: a socket that becomes writable (LOOP_WRITE) when connected or
 * refused; net_connect_finish tells which: 0, or ERR_IO with the reason. */
int net_connect_start(const struct net_address *a, struct err *e) MUST_USE;
int net_connect_finish(int fd, struct err *e) MUST_USE;

/* Unix sockets by path: connected (blocking) or listening (non-blocking, with exactly this mode); both CLOEXEC. */
int net_unix_connect(const char *path, struct err *e) MUST_USE;
int net_unix_listen(const char *path, mode_t mode, int backlog, struct err *e) MUST_USE;

struct net_listen_options { int family; bool mptcp; int backlog; };
enum { NET_LISTEN_MAX = 64 };
struct net_listeners { int fd[NET_LISTEN_MAX]; size_t count; };
/* One listening socket per address: CLOEXEC, non-blocking, SO_REUSEADDR, v6 only. Appended to out. Addresses that cannot be
 * bound are logged ("Bind to port N on A failed: reason."); ERR_IO when none could. host NULL: all. Port 0: a free
 * one, the same for all addresses. */
int net_listen(const char *host, uint16_t port, const struct net_listen_options *o, struct net_listeners *out, struct err *e)
	MUST_USE;

int net_set_nonblocking(int fd, bool on);
void net_set_nodelay(int fd);
void net_set_keepalive(int fd, bool on);
void net_set_tos(int fd, int tos);                       /* IP_TOS or IPV6_TCLASS, -1: nothing */
/* Keeps the kernel's queue of unsent bytes short (docs/OVERVIEW.md, Who may send). False: not here. */
bool net_set_notsent_lowat(int fd, int bytes);
size_t net_unsent(int fd);                               /* bytes in that queue; 0 if unknown */
/* Acknowledges what was read at once, once: a peer whose socket waits for that before it sends on (RFC 896) need not wait for
 * the kernel's delay too. */
void net_ack_now(int fd);
/* Lets the peer's TCP send so many bytes from the start, without ending the kernel's own tuning as SO_RCVBUF does. */
void net_open_receive_window(int fd, int bytes);

/* Round trip of a TCP socket, smoothed, and the least of the last minutes: without queues on the way. 0 if unknown. */
struct net_rtt { uint32_t now_us, least_us; };
struct net_rtt net_rtt(int fd);
/* What a TCP socket's sending side does: bytes acknowledged since its beginning, waiting in the system and not sent yet, sent and
 * not acknowledged; bytes a second as the system measured, 0 if it did not; how long bytes wait in queues on the way, where that
 * is more than half of their round trip, otherwise 0. ERR_NONE_FOUND if the system does not tell. */
struct net_line { uint64_t acked, unsent, inflight, rate, queue_us; };
int net_line(int fd, struct net_line *out) MUST_USE;

/* Descriptors over a unix socket: one byte of data and up to 4 of them. */
int net_send_fds(int sock, const int *fds, size_t count, struct err *e) MUST_USE;
int net_recv_fds(int sock, int *fds, size_t max, size_t *count, struct err *e) MUST_USE;

#endif
