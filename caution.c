/* caution.c: what is wrong with each legacy algorithm, in words for users. */
#include "caution.h"

#include <string.h>

#include "base/log.h"
#include "base/match.h"
#include "base/mem.h"

/* The first pattern that matches. RFC 9142 says what is left of the methods of key exchange, RFC 8332 of ssh-rsa. */
static const struct { const char *pattern, *why; } cautions[] = {
	{ "arcfour*", "RC4 lets parts of what it encrypts be guessed (RFC 8758)" },
	{ "3des-cbc", "with blocks of 64 bits plaintext leaks after some gigabytes, and it is slow" },
	{ "blowfish-cbc", "with blocks of 64 bits plaintext leaks after some gigabytes" },
	{ "cast128-cbc", "with blocks of 64 bits plaintext leaks after some gigabytes" },
	{ "*-cbc", "CBC chains packets in a way that lets attackers test guesses; take a ctr or gcm cipher" },
	{ "hmac-md5*", "MD5 is broken; take a MAC of SHA-2" },
	{ "hmac-sha1-96*", "a tag of 96 bits of SHA-1 is weaker than any other that is left; take a MAC of SHA-2" },
	{ "diffie-hellman-group1-sha1", "its 1024 bits can be broken by those who can afford it, and it relies on SHA-1" },
	{ "diffie-hellman-*-sha1", "it relies on SHA-1, which is broken" },
	{ "ssh-rsa", "signatures over SHA-1 can be forged; take rsa-sha2-256 or rsa-sha2-512 (the same keys can)" },
};

const char *caution_of(const char *name)
{
	for (size_t i = 0; i < MEM_COUNT(cautions); i++)
		if (match_pattern(name, cautions[i].pattern))
			return cautions[i].why;
	return NULL;
}

void caution_log_name(const char *what, const char *name, const char *peer)
{
	const char *why = caution_of(name);

	if (why != NULL)
		log_info("warning: %s %s with %s: %s", what, name, peer, why);
}

void caution_log(const struct agreement *a, const char *peer)
{
	const struct { const char *what, *name, *said; } names[] = {
		{ "key exchange method", a->kex, NULL }, { "host key signature", a->host_key, NULL },
		{ "cipher", a->cipher_c2s, NULL }, { "cipher", a->cipher_s2c, a->cipher_c2s },
		{ "MAC", a->mac_c2s, NULL }, { "MAC", a->mac_s2c, a->mac_c2s },
	};

	for (size_t i = 0; i < MEM_COUNT(names); i++)
		if (names[i].name != NULL && (names[i].said == NULL || strcmp(names[i].said, names[i].name) != 0))
			caution_log_name(names[i].what, names[i].name, peer);
}
