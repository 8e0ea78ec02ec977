/* keys/fingerprint.c: what people compare: fingerprints, randomart, bubble babble. */
#include "keys/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"

enum { ART_COLUMNS = 17, ART_ROWS = 9 };

static char *fingerprint_hex(const uint8_t *d, size_t n, const char *name)
{
	struct buf b = BUF_INIT(1024);
	char *s;

	buf_printf(&b, "%s", name);
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, ":%02x", d[i]);
	s = mem_strdup(buf_cstr(&b));
	buf_free(&b);
	return s;
}

char *key_fingerprint_blob(struct view blob, enum digest_alg alg)
{
	uint8_t d[DIGEST_MAX];
	size_t n = digest_size(alg);
	char *base64, *s;

	if (digest_bytes(alg, blob.p, blob.n, d) != 0)
		return str_printf("%s:(not available)", digest_name(alg));
	if (alg == DIGEST_MD5)
		return fingerprint_hex(d, n, digest_name(alg));
	base64 = str_base64_encode(d, n);
	base64[strcspn(base64, "=")] = '\0';
	s = str_printf("%s:%s", digest_name(alg), base64);
	free(base64);
	return s;
}

char *key_fingerprint(const struct key *k, enum digest_alg alg)
{
	return key_fingerprint_blob(key_blob(k), alg);
}

/* The walk: how often each field was visited, and where it ended. */
static void art_walk(const uint8_t *d, size_t n, uint8_t field[ART_ROWS][ART_COLUMNS], int end[2])
{
	int x = ART_COLUMNS / 2, y = ART_ROWS / 2;

	for (size_t i = 0; i < n; i++) {
		unsigned moves = d[i];

		for (int k = 0; k < 4; k++, moves >>= 2) {
			x += (moves & 1) != 0 ? 1 : -1;
			y += (moves & 2) != 0 ? 1 : -1;
			x = x < 0 ? 0 : x >= ART_COLUMNS ? ART_COLUMNS - 1 : x;
			y = y < 0 ? 0 : y >= ART_ROWS ? ART_ROWS - 1 : y;
			if (field[y][x] < 14)
				field[y][x]++;
		}
	}
	end[0] = x;
	end[1] = y;
}

static void art_border(struct buf *out, const char *title)
{
	size_t n = strlen(title), left = (ART_COLUMNS - n) / 2;

	buf_put_u8(out, '+');
	for (size_t i = 0; i < ART_COLUMNS; i++)
		buf_put_u8(out, i < left || i >= left + n ? (uint8_t)'-' : (uint8_t)title[i - left]);
	buf_put_u8(out, '+');
}

/* "[TYPE BITS]", or "[TYPE]" when that is too long for the border; cut to 16 characters. size is 17. */
static void art_title(const struct key *k, char *title, size_t size)
{
	char *s = str_printf("[%s %u]", key_display_name(k), key_bits(k));

	if (strlen(s) > ART_COLUMNS) {
		free(s);
		s = str_printf("[%s]", key_display_name(k));
	}
	if (!str_copy(title, size, s))
		title[size - 1] = '\0';
	free(s);
}

char *key_randomart(const struct key *k, enum digest_alg alg)
{
	static const char marks[] = " .o+=*BOX@%&#/^";
	uint8_t field[ART_ROWS][ART_COLUMNS] = { 0 }, d[DIGEST_MAX];
	struct buf out = BUF_INIT(4096);
	struct view blob = key_blob(k);
	char title[ART_COLUMNS], *s;
	int end[2];

	if (digest_bytes(alg, blob.p, blob.n, d) != 0)
		return mem_strdup("");
	art_walk(d, digest_size(alg), field, end);
	art_title(k, title, sizeof(title));
	art_border(&out, title);
	for (int y = 0; y < ART_ROWS; y++) {
		buf_put(&out, "\n|", 2);
		for (int x = 0; x < ART_COLUMNS; x++) {
			char c = marks[field[y][x]];

			if (x == ART_COLUMNS / 2 && y == ART_ROWS / 2)
				c = 'S';
			if (x == end[0] && y == end[1])
				c = 'E';
			buf_put_u8(&out, (uint8_t)c);
		}
		buf_put_u8(&out, '|');
	}
	buf_put_u8(&out, '\n');
	snprintf(title, sizeof(title), "[%s]", digest_name(alg));
	art_border(&out, title);
	s = mem_strdup(buf_cstr(&out));
	buf_free(&out);
	return s;
}

char *key_bubblebabble(struct view d)
{
	static const char vowels[] = "aeiouy", consonants[] = "bcdfghklmnprstvzx";
	struct buf out = BUF_INIT(1024);
	size_t rounds = d.n / 2 + 1;
	unsigned seed = 1;
	char *s;

	buf_put_u8(&out, 'x');
	for (size_t i = 0; i < rounds; i++) {
		bool last = i + 1 == rounds;
		unsigned a, b;

		if (last && d.n % 2 == 0) {
			buf_printf(&out, "%c%c%c", vowels[seed % 6], consonants[16], vowels[seed / 6]);
			break;
		}
		a = d.p[2 * i];
		buf_printf(&out, "%c%c%c", vowels[((a >> 6 & 3) + seed) % 6], consonants[a >> 2 & 15],
			vowels[((a & 3) + seed / 6) % 6]);
		if (last)
			break;
		b = d.p[2 * i + 1];
		buf_printf(&out, "%c-%c", consonants[b >> 4 & 15], consonants[b & 15]);
		seed = (5 * seed + 7 * a + b) % 36;
	}
	buf_put_u8(&out, 'x');
	s = mem_strdup(buf_cstr(&out));
	buf_free(&out);
	return s;
}
