/* Lines as of `ls -l`, laid out as OpenSSH does. */
#include "xfer/listing.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"

static char type_letter(mode_t mode)
{
	static const struct { mode_t type; char letter; } rows[] = {
		{ S_IFREG, '-' }, { S_IFDIR, 'd' }, { S_IFLNK, 'l' }, { S_IFCHR, 'c' }, { S_IFBLK, 'b' }, { S_IFIFO, 'p' },
		{ S_IFSOCK, 's' },
	};

	for (size_t i = 0; i < MEM_COUNT(rows); i++)
		if ((mode & S_IFMT) == rows[i].type)
			return rows[i].letter;
	return '?';
}

/* One triple; the special bit (setuid, setgid, sticky) shows in place of x. */
static void triple(char *dst, unsigned bits, bool special, char with_x, char without_x)
{
	dst[0] = bits & 4 ? 'r' : '-';
	dst[1] = bits & 2 ? 'w' : '-';
	if (special)
		dst[2] = bits & 1 ? with_x : without_x;
	else
		dst[2] = bits & 1 ? 'x' : '-';
}

void listing_mode(char *dst, mode_t mode)
{
	dst[0] = type_letter(mode);
	triple(dst + 1, mode >> 6 & 7, mode & S_ISUID, 's', 'S');
	triple(dst + 4, mode >> 3 & 7, mode & S_ISGID, 's', 'S');
	triple(dst + 7, mode & 7, mode & S_ISVTX, 't', 'T');
	dst[10] = '\0';
}

void listing_date(char *dst, size_t size, int64_t when, int64_t now)
{
	enum { HALF_YEAR = 365 * 24 * 3600 / 2 };
	time_t t = (time_t)when;
	struct tm tm;
	bool recent = when <= now && now - when < HALF_YEAR;

	/* The names of months are English whatever the locale: programs parse this. */
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

	if (localtime_r(&t, &tm) == NULL || tm.tm_mon < 0 || tm.tm_mon > 11) {
		(void)str_copy(dst, size, "            ");
		return;
	}
	if (recent)
		(void)snprintf(dst, size, "%.3s %2d %02d:%02d", months + 3 * tm.tm_mon, tm.tm_mday, tm.tm_hour, tm.tm_min);
	else
		(void)snprintf(dst, size, "%.3s %2d  %d", months + 3 * tm.tm_mon, tm.tm_mday, tm.tm_year + 1900);
}

char *listing_line(const struct listing_entry *entry, int64_t now)
{
	char mode[11], date[32], links[24], size[24];

	listing_mode(mode, entry->mode);
	listing_date(date, sizeof date, entry->mtime, now);
	if (entry->links > 0)
		(void)snprintf(links, sizeof links, "%" PRIu64, entry->links);
	else
		(void)str_copy(links, sizeof links, "?");
	(void)snprintf(size, sizeof size, "%" PRIu64, entry->size);
	return str_printf("%s  %3s %-8s %-8s %8s %s %s", mode, links, entry->user, entry->group,
		entry->size_text != NULL ? entry->size_text : size, date, entry->name);
}
