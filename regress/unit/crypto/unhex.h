/* regress/unit/crypto/unhex.h: known answers are written in hex. */
#ifndef REGRESS_UNHEX_H
#define REGRESS_UNHEX_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static inline unsigned unhex_digit(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);
}

/* Blanks are skipped; returns how many bytes. out must hold strlen(hex) / 2. */
static inline size_t unhex(const char *hex, void *out)
{
	uint8_t *to = out;
	size_t n = 0;

	while (*hex != '\0') {
		if (*hex == ' ' || *hex == '\n') {
			hex++;
			continue;
		}
		to[n++] = (uint8_t)(unhex_digit(hex[0]) << 4 | unhex_digit(hex[1]));
		hex += 2;
	}
	return n;
}

#endif
