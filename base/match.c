/* base/match.c: patterns, lists of patterns, address ranges. */
#include "base/match.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/str.h"

enum { MATCH_ITEM_SIZE = 1024 }; /* an item of a list: 1022 characters, a mark for "too long" and the end */

bool match_pattern(const char *s, const char *pattern)
{
	const char *star = NULL, *retry = NULL;

	/* Only the last star seen can usefully be made longer, so time is at most the product of both lengths. */
	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = s;
		} else if (*s == '\0') {
			return *pattern == '\0';
		} else if (*pattern == *s || *pattern == '?') {
			pattern++;
			s++;
		} else if (star != NULL) {
			pattern = star;
			s = ++retry;
		} else {
			return false;
		}
	}
}

/* Copies the next item of a comma separated list without its '!'. 1 if there is one, 0 at the end, -1 if too long. */
static int match_next_item(const char **cursor, char item[MATCH_ITEM_SIZE], bool *negated)
{
	const char *p = *cursor;
	size_t n;

	p += strspn(p, ",");
	if (*p == '\0')
		return 0;
	*negated = *p == '!';
	if (*negated)
		p++;
	n = strcspn(p, ",");
	*cursor = p + n;
	if (n > MATCH_ITEM_SIZE - 2)
		return -1;
	memcpy(item, p, n);
	item[n] = '\0';
	return 1;
}

int match_list(const char *s, const char *list, bool lower)
{
	char item[MATCH_ITEM_SIZE];
	bool negated;
	int found = 0, r;

	while ((r = match_next_item(&list, item, &negated)) == 1) {
		if (lower)
			str_lower(item);
		if (!match_pattern(s, item))
			continue;
		if (negated)
			return -1;
		found = 1;
	}
	return r < 0 ? 0 : found;
}

struct match_addr {
	int family;
	uint8_t bytes[16];
	unsigned bits; /* 32 or 128 */
	char scope[64]; /* of fe80::1%scope; "" if none */
};

static bool match_addr_parse(const char *s, struct match_addr *a)
{
	char text[INET6_ADDRSTRLEN];
	size_t n = strcspn(s, "%");

	*a = (struct match_addr){ 0 };
	if (n >= sizeof(text))
		return false;
	memcpy(text, s, n);
	text[n] = '\0';
	if (s[n] == '%' && (s[n + 1] == '\0' || !str_copy(a->scope, sizeof(a->scope), s + n + 1)))
		return false;
	if (inet_pton(AF_INET6, text, a->bytes) == 1) {
		a->family = AF_INET6;
		a->bits = 128;
		return true;
	}
	if (a->scope[0] == '\0' && inet_pton(AF_INET, text, a->bytes) == 1) {
		a->family = AF_INET;
		a->bits = 32;
		return true;
	}
	return false;
}

static uint8_t match_byte_mask(unsigned bits, unsigned byte)
{
	if (bits >= 8 * (byte + 1))
		return 0xff;
	return bits <= 8 * byte ? 0 : (uint8_t)(0xff << (8 - (bits - 8 * byte)));
}

static bool match_addr_in(const struct match_addr *a, const struct match_addr *net, unsigned bits)
{
	unsigned i;

	if (a->family != net->family || (net->scope[0] != '\0' && strcmp(a->scope, net->scope) != 0))
		return false;
	for (i = 0; i < net->bits / 8; i++)
		if ((a->bytes[i] ^ net->bytes[i]) & match_byte_mask(bits, i))
			return false;
	return true;
}

/* "address/bits" in place. false if it is malformed or has bits set beyond its length. */
static bool match_cidr_parse(char *item, struct match_addr *net, unsigned *bits)
{
	char *slash = strchr(item, '/');
	uint64_t v;
	unsigned i;

	*slash = '\0';
	if (!match_addr_parse(item, net) || str_to_u64(slash + 1, 0, net->bits, &v) != 0)
		return false;
	*bits = (unsigned)v;
	for (i = 0; i < net->bits / 8; i++)
		if (net->bytes[i] & ~match_byte_mask(*bits, i) & 0xff)
			return false;
	return true;
}

/* 1, 0, or -2 for a bad CIDR. a is NULL if addr is not an address, addr NULL to check only. */
static int match_address_item(const char *addr, const struct match_addr *a, char *item)
{
	struct match_addr net;
	unsigned bits;

	if (strchr(item, '/') != NULL) {
		if (!match_cidr_parse(item, &net, &bits))
			return -2;
		return a != NULL && match_addr_in(a, &net, bits);
	}
	if (addr == NULL)
		return 0;
	/* An address is compared as such first: it has more than one spelling. */
	if (a != NULL && match_addr_parse(item, &net) && match_addr_in(a, &net, net.bits))
		return 1;
	return match_pattern(addr, item);
}

int match_address(const char *addr, const char *list)
{
	char item[MATCH_ITEM_SIZE];
	struct match_addr a;
	bool is_addr, negated;
	int found = 0, r;

	is_addr = addr != NULL && match_addr_parse(addr, &a);
	while ((r = match_next_item(&list, item, &negated)) == 1) {
		r = match_address_item(addr, is_addr ? &a : NULL, item);
		if (r == -2)
			return -2;
		/* The rest of the list is still checked after a negated match: a bad one is always reported. */
		if (r == 1 && found != -1)
			found = negated ? -1 : 1;
	}
	return r < 0 ? -2 : found;
}

int match_host_or_address(const char *host, const char *addr, const char *list)
{
	int by_addr, by_host = 0;

	by_addr = match_address(addr, list);
	if (by_addr < 0)
		return by_addr;
	if (host != NULL)
		by_host = match_list(host, list, true);
	if (by_host < 0)
		return -1;
	return by_addr == 1 || by_host == 1;
}

int match_user_host(const char *user, const char *host, const char *addr, const char *pattern)
{
	char user_part[MATCH_ITEM_SIZE];
	const char *at = strrchr(pattern, '@');
	size_t n;
	int r;

	if (at == NULL)
		return user != NULL && match_pattern(user, pattern);
	/* The host part is judged first so that a bad address range is reported for every user. */
	r = match_host_or_address(host, addr, at + 1);
	if (r == -2)
		return -2;
	n = (size_t)(at - pattern);
	if (user == NULL || n >= sizeof(user_part))
		return 0;
	memcpy(user_part, pattern, n);
	user_part[n] = '\0';
	return r == 1 && match_pattern(user, user_part);
}
