/* server/auth_delay.c: how long a refusal takes: the same for every user that exists or does not. */
#include <string.h>
#include "crypto/digest.h"
#include "server/monitor_private.h"

enum { DELAY_MIN_US = 5000, DELAY_SPREAD_US = 4000, DELAY_GIVE_UP_US = 5 * 1000 * 1000 };

uint64_t auth_delay_base_us(const uint8_t *secret, size_t secret_size, const char *user)
{
	uint8_t hash[DIGEST_MAX] = { 0 };
	uint64_t us = DELAY_MIN_US;

	if (digest_hmac(DIGEST_SHA256, secret, secret_size, user, strlen(user), hash) == 0)
		us += wire_load_u32(hash) % DELAY_SPREAD_US;
	return us;
}

uint64_t auth_delay_us(uint64_t base_us, uint64_t elapsed_us)
{
	uint64_t until = base_us;

	if (elapsed_us > DELAY_GIVE_UP_US)
		return 0;
	while (until < elapsed_us)
		until *= 2;
	return until - elapsed_us;
}
