/* server/peer_source.c: masked peer addresses. */
#include "server/peer_source.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include "base/str.h"

static void mask_bytes(uint8_t *p, size_t n, unsigned bits)
{
	for (size_t i = 0; i < n; i++, bits = bits > 8 ? bits - 8 : 0)
		if (bits < 8)
			p[i] = (uint8_t)(p[i] & (0xff00 >> bits));
}

void source_from_sockaddr(struct source *out, const struct sockaddr *sa, unsigned v4_bits, unsigned v6_bits)
{
	const struct sockaddr_in *in4 = (const struct sockaddr_in *)(const void *)sa;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)sa;

	memset(out, 0, sizeof(*out));
	out->family = SOURCE_OTHER;
	if (sa->sa_family == AF_INET) {
		out->family = SOURCE_V4;
		memcpy(out->addr, &in4->sin_addr, 4);
	} else if (sa->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
		out->family = SOURCE_V4;
		memcpy(out->addr, in6->sin6_addr.s6_addr + 12, 4);
	} else if (sa->sa_family == AF_INET6) {
		out->family = SOURCE_V6;
		memcpy(out->addr, &in6->sin6_addr, 16);
	}
	if (out->family == SOURCE_V4)
		out->bits = (uint8_t)(v4_bits < 32 ? v4_bits : 32);
	else if (out->family == SOURCE_V6)
		out->bits = (uint8_t)(v6_bits < 128 ? v6_bits : 128);
	if (out->family != SOURCE_OTHER)
		mask_bytes(out->addr, out->family == SOURCE_V4 ? 4 : 16, out->bits);
}

bool source_equal(const struct source *a, const struct source *b)
{
	return a->family == b->family && a->bits == b->bits && memcmp(a->addr, b->addr, sizeof(a->addr)) == 0;
}

uint32_t source_hash(const struct source *s, uint32_t seed)
{
	uint32_t h = seed ^ (uint32_t)s->family;

	for (size_t i = 0; i < sizeof(s->addr); i++) {
		h = (h ^ s->addr[i]) * 0x01000193u;
		h ^= h >> 15;
	}
	return h;
}

void source_format(const struct source *s, char *dst, size_t size)
{
	char text[INET6_ADDRSTRLEN];

	if (s->family == SOURCE_OTHER ||
	    inet_ntop(s->family == SOURCE_V4 ? AF_INET : AF_INET6, s->addr, text, sizeof(text)) == NULL) {
		(void)str_copy(dst, size, "UNKNOWN");
		return;
	}
	(void)snprintf(dst, size, "%s/%u", text, s->bits);
}

bool source_is_loopback(const struct source *s)
{
	static const uint8_t one[16] = { [15] = 1 };

	if (s->family == SOURCE_V4)
		return s->addr[0] == 127;
	return s->family == SOURCE_V6 && memcmp(s->addr, one, sizeof(one)) == 0;
}
