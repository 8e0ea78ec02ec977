/* keys/key_time.h: times in authorized_keys, allowed_signers and certificates. */
#ifndef KEYS_KEY_TIME_H
#define KEYS_KEY_TIME_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

/* YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS, local unless Z or UTC (any case) follows. ERR_USAGE otherwise, and for what
 * is no date or lies before 1970. */
int key_time_parse(const char *s, int64_t *out) MUST_USE;
/* YYYY-MM-DDTHH:MM:SS, local; size >= 32. */
void key_time_format(int64_t t, char *dst, size_t size);

#endif
