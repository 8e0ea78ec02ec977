/* keys/key_time.c: times in authorized_keys, allowed_signers and certificates. */
#include "keys/key_time.h"

#include <string.h>
#include <time.h>
#include "base/str.h"

static int digits(const char *s, size_t n)
{
	int v = 0;

	for (size_t i = 0; i < n; i++)
		v = v * 10 + (s[i] - '0');
	return v;
}

int key_time_parse(const char *s, int64_t *out)
{
	size_t n = strspn(s, "0123456789");
	struct tm tm = { .tm_isdst = -1 }, back;
	bool utc = str_equal_nocase(s + n, "z") || str_equal_nocase(s + n, "utc");
	time_t t;

	if ((n != 8 && n != 12 && n != 14) || (!utc && s[n] != '\0'))
		return ERR_USAGE;
	tm.tm_year = digits(s, 4) - 1900;
	tm.tm_mon = digits(s + 4, 2) - 1;
	tm.tm_mday = digits(s + 6, 2);
	tm.tm_hour = n >= 12 ? digits(s + 8, 2) : 0;
	tm.tm_min = n >= 12 ? digits(s + 10, 2) : 0;
	tm.tm_sec = n >= 14 ? digits(s + 12, 2) : 0;
	if (tm.tm_mon < 0 || tm.tm_mon > 11 || tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 59)
		return ERR_USAGE;
	back = tm;
	t = utc ? timegm(&tm) : mktime(&tm);
	/* The 31st of a short month would have become a day of the next. */
	if (t < 0 || tm.tm_mday != back.tm_mday || tm.tm_mon != back.tm_mon)
		return ERR_USAGE;
	*out = (int64_t)t;
	return 0;
}

void key_time_format(int64_t t, char *dst, size_t size)
{
	time_t when = (time_t)t;
	struct tm tm;

	dst[0] = '\0';
	if (localtime_r(&when, &tm) == NULL || strftime(dst, size, "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		str_copy(dst, size, "(a time out of range)");
}
