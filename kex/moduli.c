/* kex/moduli.c: groups out of a moduli file: one a line, seven fields: time, type, tests, trials, size, generator, modulus. */
#include "kex/moduli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/str.h"
#include "crypto/dh_group.h"
#include "crypto/rand.h"

enum {
	FILE_MAX = 4 * 1024 * 1024,
	FIELDS = 7,
	TYPE_SAFE = 2,
	TEST_COMPOSITE = 1                       /* a bit: it was found to be no prime */
};

struct moduli {
	char *path;
	struct err why;                          /* the file could not be read */
	uint8_t *text;
	size_t size;
};

/* One line that may serve. */
struct line {
	unsigned bits;
	struct view generator, modulus;          /* hex digits */
};

static struct moduli *moduli_alloc(const char *path)
{
	struct moduli *m = mem_zalloc(sizeof(*m));

	m->path = mem_strdup(path);
	return m;
}

struct moduli *moduli_of_text(const char *path, struct view text)
{
	struct moduli *m = moduli_alloc(path);

	m->text = mem_alloc(text.n + 1);
	if (text.n != 0)
		memcpy(m->text, text.p, text.n);
	m->size = text.n;
	return m;
}

static void read_all(struct moduli *m, int fd)
{
	struct stat st;
	char *text;

	if (fstat(fd, &st) < 0)
		err_set(&m->why, ERR_IO, "%s", strerror(errno));
	else if (!S_ISREG(st.st_mode))
		err_set(&m->why, ERR_USAGE, "not a regular file");
	else if (path_read_fd(fd, FILE_MAX, &text, &m->size, &m->why) == 0)
		m->text = (uint8_t *)text;
}

struct moduli *moduli_new(const char *path)
{
	struct moduli *m = moduli_alloc(path);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0) {
		err_set(&m->why, ERR_IO, "%s", strerror(errno));
		return m;
	}
	read_all(m, fd);
	close(fd);
	return m;
}

void moduli_free(struct moduli *m)
{
	if (m == NULL)
		return;
	free(m->path);
	free(m->text);
	free(m);
}

bool moduli_wanted(const char *methods)
{
	return strstr(methods, "-group-exchange-") != NULL;
}

/* ---- lines ---- */

static bool number_of(struct view v, unsigned *out)
{
	unsigned n = 0;

	if (v.n == 0 || v.n > 8)
		return false;
	for (size_t i = 0; i < v.n; i++) {
		if (v.p[i] < '0' || v.p[i] > '9')
			return false;
		n = n * 10 + (unsigned)(v.p[i] - '0');
	}
	*out = n;
	return true;
}

/* Appends the magnitude that hex digits spell, without leading zeros. */
static bool put_hex(struct buf *out, struct view hex)
{
	uint8_t byte = 0;

	for (; hex.n != 0 && hex.p[0] == '0'; hex.n--)
		hex.p++;
	for (size_t i = 0; i < hex.n; i++) {
		int digit = str_hex_digit((char)hex.p[i]);

		if (digit < 0)
			return false;
		byte = (uint8_t)(byte << 4 | digit);
		if ((hex.n - i) % 2 == 1)
			buf_put_u8(out, byte);
	}
	return hex.n != 0 && buf_ok(out);
}

/* Bits of a number in hex; 0 if it is none. */
static unsigned hex_bits(struct view hex)
{
	unsigned bits;
	int first;

	for (size_t i = 0; i < hex.n; i++)
		if (str_hex_digit((char)hex.p[i]) < 0)
			return 0;
	for (; hex.n != 0 && hex.p[0] == '0'; hex.n--)
		hex.p++;
	if (hex.n == 0)
		return 0;
	first = str_hex_digit((char)hex.p[0]);
	for (bits = 4; (first >> (bits - 1)) == 0; bits--)
		;
	return (unsigned)(hex.n - 1) * 4 + bits;
}

/* Cuts the next line off *rest into fields; returns how many, FIELDS + 1 if there are more. */
static int next_line(struct view *rest, struct view *fields)
{
	const uint8_t *end = memchr(rest->p, '\n', rest->n);
	struct view line = { rest->p, end != NULL ? (size_t)(end - rest->p) : rest->n };
	int count = 0;

	rest->p += line.n + (end != NULL);
	rest->n -= line.n + (end != NULL);
	if (line.n != 0 && memchr(line.p, '\0', line.n) != NULL)
		return 0;
	while (line.n != 0) {
		size_t n = 0;

		while (n < line.n && line.p[n] != ' ' && line.p[n] != '\t' && line.p[n] != '\r')
			n++;
		if (n != 0) {
			if (count == FIELDS)
				return FIELDS + 1;
			fields[count++] = (struct view){ line.p, n };
		}
		n += n < line.n;
		line.p += n;
		line.n -= n;
	}
	return count;
}

/* moduli(5): safe primes, tested and not found wanting, of the size they say. */
static bool line_of(const struct view *f, struct line *out)
{
	unsigned type, tests, trials, size;

	if (!number_of(f[1], &type) || !number_of(f[2], &tests) || !number_of(f[3], &trials) || !number_of(f[4], &size))
		return false;
	if (type != TYPE_SAFE || (tests & TEST_COMPOSITE) != 0 || tests == 0 || trials == 0)
		return false;
	/* The size in the file is one less than the modulus has bits. */
	*out = (struct line){ .bits = size + 1, .generator = f[5], .modulus = f[6] };
	return hex_bits(out->modulus) == out->bits && hex_bits(out->generator) >= 2;
}

static bool next(struct view *rest, struct line *out)
{
	struct view fields[FIELDS];

	while (rest->n != 0)
		if (next_line(rest, fields) == FIELDS && fields[0].p[0] != '#' && line_of(fields, out))
			return true;
	return false;
}

/* ---- the choice ---- */

static bool fits(const struct kex_group_size *size, const struct line *l)
{
	return l->bits >= size->min && l->bits <= size->max;
}

/* Is a better than b (0: nothing yet)? */
static bool better(const struct kex_group_size *size, unsigned a, unsigned b)
{
	if (b == 0)
		return true;
	if (b < size->wanted)
		return a > b;
	return a >= size->wanted && a < b;
}

int moduli_choose(void *ctx, const struct kex_group_size *size, struct buf *p, struct buf *g, struct err *e)
{
	const struct moduli *m = ctx;
	struct view rest = { m->text, m->size };
	struct line l;
	unsigned best = 0;
	uint32_t count = 0, which;

	if (m->why.code != 0) {
		log_info("WARNING: could not open %s (%s), using fixed modulus", m->path, err_text(&m->why));
		return kex_builtin_group(size, p, g, e);
	}
	while (next(&rest, &l)) {
		if (!fits(size, &l))
			continue;
		if (better(size, l.bits, best)) {
			best = l.bits;
			count = 0;
		}
		count += l.bits == best;
	}
	if (count == 0) {
		log_info("WARNING: no suitable primes (size %u/%u/%u) in %s", size->min, size->wanted, size->max, m->path);
		return err_set(e, ERR_NONE_FOUND, "no matching DH grp found");
	}
	which = rand_below(count);
	for (rest = (struct view){ m->text, m->size }; next(&rest, &l);)
		if (fits(size, &l) && l.bits == best && which-- == 0)
			break;
	if (!put_hex(p, l.modulus) || !put_hex(g, l.generator))
		return err_set(e, ERR_USAGE, "%s: a line is malformed", m->path);
	return 0;
}
