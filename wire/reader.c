/* wire/reader.c: reads of RFC 4251 section 5 types from borrowed bytes. */
#include "wire/reader.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "wire/buf.h"

/* Where empty views point: a valid address, so that no caller hands NULL to memcpy(). */
static const uint8_t reader_nothing[1];

void reader_init(struct reader *r, const void *p, size_t n)
{
	r->p = n != 0 ? p : reader_nothing;
	r->end = r->p + n;
	r->failed = false;
}

void reader_fail(struct reader *r)
{
	/* Nothing is left either, so that loops over reader_left() end. */
	r->p = r->end;
	r->failed = true;
}

/* n bytes, or NULL and failed. After a failure nothing is left, so that only reads of no bytes get through. */
static inline const uint8_t *reader_take(struct reader *r, size_t n)
{
	const uint8_t *p = r->p;

	if (__builtin_expect(n > reader_left(r), 0)) {
		reader_fail(r);
		return NULL;
	}
	r->p = p + n;
	return p;
}

uint8_t reader_u8(struct reader *r)
{
	const uint8_t *p = reader_take(r, 1);

	return p != NULL ? *p : 0;
}

bool reader_bool(struct reader *r)
{
	return reader_u8(r) != 0;
}

uint32_t reader_u32(struct reader *r)
{
	const uint8_t *p = reader_take(r, 4);

	return p != NULL ? wire_load_u32(p) : 0;
}

uint64_t reader_u64(struct reader *r)
{
	const uint8_t *p = reader_take(r, 8);

	return p != NULL ? wire_load_u64(p) : 0;
}

struct view reader_bytes(struct reader *r, size_t n)
{
	const uint8_t *p = reader_take(r, n);

	return p != NULL ? (struct view){ p, n } : (struct view){ reader_nothing, 0 };
}

struct view reader_string(struct reader *r)
{
	uint32_t n = reader_u32(r);

	return reader_bytes(r, n);
}

struct view reader_rest(struct reader *r)
{
	return reader_bytes(r, reader_left(r));
}

char *reader_cstring(struct reader *r, size_t max)
{
	struct view v = reader_string(r);

	if (r->failed)
		return NULL;
	if (v.n > max || view_has_nul(v)) {
		reader_fail(r);
		return NULL;
	}
	return view_strdup(v);
}

struct view reader_mpint(struct reader *r, size_t max_bytes)
{
	struct view v = reader_string(r);

	if (v.n == 0)
		return v;
	/* RFC 4251 section 5: a set top bit means negative; bytes that the value does not need must not be there, so a
	 * leading zero stands only before a set top bit and zero itself is the empty string. */
	if (v.p[0] & 0x80)
		goto fail;
	if (v.p[0] == 0) {
		if (v.n == 1 || !(v.p[1] & 0x80))
			goto fail;
		v.p++;
		v.n--;
	}
	if (v.n > max_bytes)
		goto fail;
	return v;
fail:
	reader_fail(r);
	return (struct view){ reader_nothing, 0 };
}

struct reader reader_child(struct reader *r)
{
	struct view v = reader_string(r);
	struct reader child;

	reader_init(&child, v.p, v.n);
	child.failed = r->failed;
	return child;
}

int reader_end(const struct reader *r, struct err *e, const char *what)
{
	if (r->failed)
		return err_set(e, ERR_PEER, "%s is too short or malformed", what);
	if (reader_left(r) != 0)
		return err_set(e, ERR_PEER, "%s has %zu bytes too many", what, reader_left(r));
	return 0;
}

bool view_equal(struct view a, struct view b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool view_is(struct view v, const char *z)
{
	return str_is(v.p, v.n, z);
}

char *view_strdup(struct view v)
{
	char *s = mem_alloc(v.n + 1);

	if (v.n != 0)
		memcpy(s, v.p, v.n);
	s[v.n] = '\0';
	return s;
}

bool view_has_nul(struct view v)
{
	return v.n != 0 && memchr(v.p, 0, v.n) != NULL;
}
