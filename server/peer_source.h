/* server/peer_source.h: where a connection comes from, cut to PerSourceNetBlockSize, so that one network counts as one. */
#ifndef SERVER_PEER_SOURCE_H
#define SERVER_PEER_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum source_family { SOURCE_V4, SOURCE_V6, SOURCE_OTHER };
struct source {
	enum source_family family;
	uint8_t bits;            /* length of the mask */
	uint8_t addr[16];        /* masked, network order; 4 bytes for IPv4; an IPv4-mapped IPv6 address is IPv4 */
};
void source_from_sockaddr(struct source *out, const struct sockaddr *sa, unsigned v4_bits, unsigned v6_bits);
bool source_equal(const struct source *a, const struct source *b);
uint32_t source_hash(const struct source *s, uint32_t seed);
/* "192.0.2.0/24". */
void source_format(const struct source *s, char *dst, size_t size);
bool source_is_loopback(const struct source *s);

#endif
