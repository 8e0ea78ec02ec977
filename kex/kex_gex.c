/* kex/kex_gex.c: Diffie-Hellman in a group that the server names (RFC 4419, group sizes as RFC 8270 wants them). The old request,
 * message 30 with one number, is not spoken. */
#include "kex/kex.h"

#include "base/mem.h"
#include "crypto/agree.h"
#include "crypto/dh_group.h"

enum { GROUP_BITS_MIN = 2048, GROUP_BITS_MAX = 8192, GROUP_BYTES_MAX = GROUP_BITS_MAX / 8 };

struct gex {
	uint32_t min, wanted, max;               /* as they were asked for: the hash covers them */
	struct buf p, g;                         /* magnitudes */
	struct agree *agree;                     /* client, once there is a group */
};

static struct gex *gex_new(void)
{
	struct gex *x = mem_zalloc(sizeof(*x));

	x->p = BUF_INIT(GROUP_BYTES_MAX);
	x->g = BUF_INIT(GROUP_BYTES_MAX);
	return x;
}

static void gex_release(void *state)
{
	struct gex *x = state;

	agree_free(x->agree);
	buf_free(&x->p);
	buf_free(&x->g);
	mem_free_secret(x, sizeof(*x));
}

static struct view view_of(const struct buf *b)
{
	return (struct view){ b->data, b->size };
}

/* A group whose logarithms cost about what guessing a key costs (NIST SP 800-57). */
static unsigned bits_for(unsigned key_bits)
{
	static const struct { unsigned key, group; } sizes[] = { { 112, 2048 }, { 128, 3072 }, { 192, 7680 } };

	for (size_t i = 0; i < MEM_COUNT(sizes); i++)
		if (key_bits <= sizes[i].key)
			return sizes[i].group;
	return GROUP_BITS_MAX;
}

static int gex_request(const struct kex_method *m, unsigned key_bits, void **state, struct buf *body, struct err *e)
{
	struct gex *x = gex_new();

	*state = x;
	x->min = GROUP_BITS_MIN;
	x->wanted = bits_for(key_bits);
	x->max = GROUP_BITS_MAX;
	buf_put_u32(body, x->min);
	buf_put_u32(body, x->wanted);
	buf_put_u32(body, x->max);
	return buf_ok(body) ? 0 : err_set(e, ERR_MEMORY, "the request of %s is too long", m->name);
}

int kex_builtin_group(const struct kex_group_size *size, struct buf *p, struct buf *g, struct err *e)
{
	static const unsigned sizes[] = { 2048, 3072, 4096, 6144, 8192 };
	unsigned bits = 0;

	/* The smallest that is large enough, else the largest that may be. */
	for (size_t i = 0; i < MEM_COUNT(sizes) && sizes[i] <= size->max && bits < size->wanted; i++)
		if (sizes[i] >= size->min)
			bits = sizes[i];
	if (bits == 0)
		return err_set(e, ERR_NONE_FOUND, "no matching DH grp found");
	return dh_group_builtin(bits, p, g) < 0 ? err_set(e, ERR_CRYPTO, "a built-in group is missing") : 0;
}

static int gex_choose(const struct kex_input *in, struct reader *r, void **state, struct buf *body, struct err *e)
{
	struct gex *x = gex_new();
	struct kex_group_size size;
	int code;

	*state = x;
	x->min = reader_u32(r);
	x->wanted = reader_u32(r);
	x->max = reader_u32(r);
	if ((code = reader_end(r, e, "group exchange request")) < 0)
		return code;
	/* RFC 4419 §3; RFC 8270: nothing below 2048. */
	size = (struct kex_group_size){
		.min = x->min < GROUP_BITS_MIN ? GROUP_BITS_MIN : x->min, .wanted = x->wanted,
		.max = x->max > GROUP_BITS_MAX ? GROUP_BITS_MAX : x->max
	};
	if (x->min > x->wanted || x->wanted > x->max || size.min > size.max)
		return err_set(e, ERR_PEER, "a group of %u to %u bits, best %u, was asked for: that cannot be", x->min, x->max,
			x->wanted);
	size.wanted = size.wanted < size.min ? size.min : size.wanted > size.max ? size.max : size.wanted;
	code = in->choose_group != NULL ? in->choose_group(in->group_ctx, &size, &x->p, &x->g, e)
		: kex_builtin_group(&size, &x->p, &x->g, e);
	if (code < 0)
		return code;
	buf_put_mpint(body, x->p.data, x->p.size);
	buf_put_mpint(body, x->g.data, x->g.size);
	return buf_ok(&x->p) && buf_ok(&x->g) ? 0 : err_set(e, ERR_USAGE, "the group is too large");
}

static int gex_take_group(void *state, struct reader *r, struct buf *out, struct err *e)
{
	struct gex *x = state;
	struct view p = reader_mpint(r, GROUP_BYTES_MAX), g = reader_mpint(r, GROUP_BYTES_MAX), ours;
	int code = reader_end(r, e, "group of the key exchange");

	if (code == 0)
		code = dh_group_check(p, g, x->min, x->max, e);
	if (code < 0)
		return code;
	buf_put(&x->p, p.p, p.n);
	buf_put(&x->g, g.p, g.n);
	x->agree = agree_new_group(p, g, e);
	if (x->agree == NULL)
		return ERR_CRYPTO;
	ours = agree_public(x->agree);
	buf_put(out, ours.p, ours.n);
	return 0;
}

static void gex_hashed(const void *state, struct buf *out)
{
	const struct gex *x = state;

	buf_put_u32(out, x->min);
	buf_put_u32(out, x->wanted);
	buf_put_u32(out, x->max);
	buf_put_mpint(out, x->p.data, x->p.size);
	buf_put_mpint(out, x->g.data, x->g.size);
}

static int gex_answer(const struct kex_method *m, void *state, struct view theirs, struct buf *ours, struct buf *secret,
	struct err *e)
{
	const struct gex *x = state;
	struct agree *a = agree_new_group(view_of(&x->p), view_of(&x->g), e);
	struct view pub;
	int code;

	if (a == NULL)
		return err_set(e, ERR_CRYPTO, "%s is not available", m->name);
	pub = agree_public(a);
	buf_put(ours, pub.p, pub.n);
	code = agree_shared(a, theirs, secret, e);
	agree_free(a);
	return code < 0 ? err_set(e, code, "%s: the peer's value is not valid", m->name) : 0;
}

static int gex_finish(const struct kex_method *m, void *state, struct view theirs, struct buf *secret, struct err *e)
{
	const struct gex *x = state;
	int code = agree_shared(x->agree, theirs, secret, e);

	return code < 0 ? err_set(e, code, "%s: the peer's value is not valid", m->name) : 0;
}

const struct kex_ops kex_gex_ops = {
	.answer = gex_answer, .finish = gex_finish, .release = gex_release, .request = gex_request, .choose = gex_choose,
	.take_group = gex_take_group, .hashed = gex_hashed
};
