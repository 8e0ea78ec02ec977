/* crypto/umac.c: UMAC (RFC 4418) with 8 and 16 byte tags: key setup, the outer hashes, the pad. NH: umac_simd.c. */
#include "crypto/umac.h"

#include <string.h>
#include "base/mem.h"
#include "crypto/block.h"
#include "crypto/umac_simd.h"
#include "wire/buf.h"

enum {
	AES_BLOCK = 16,
	PADS = 16,                       /* AES blocks made at once */
	BATCH = 16,                      /* blocks of NH between two looks at the outer hash */
	L2_KEY = 24, L3_KEY1 = 64, L3_KEY2 = 4   /* bytes of key a stream */
};

/* RFC 4418 §5.4 */
static const uint64_t prime36 = 0xffffffffbULL, prime64 = 0xffffffffffffffc5ULL;
static const uint64_t mask64 = 0x01ffffff01ffffffULL, word_range64 = 0xffffffff00000000ULL;

struct umac {
	const struct nh *nh;
	size_t streams;                  /* 4 bytes of tag each */
	uint64_t l2_key[NH_STREAMS_MAX];
	uint64_t l3_key1[NH_STREAMS_MAX][4];     /* the last four: what the first four meet is always zero here */
	uint32_t l3_key2[NH_STREAMS_MAX];
	struct block *pdf;               /* AES under the pad key */
	uint64_t pads_first;             /* AES input number of pads[0] */
	bool pads_valid;
	uint8_t pads[PADS * AES_BLOCK];
	uint8_t nh_store[NH_KEY_SIZE + NH_ALIGN];
};

static void *nh_key(struct umac *u)
{
	return u->nh_store + (NH_ALIGN - (uintptr_t)u->nh_store % NH_ALIGN) % NH_ALIGN;
}

/* ---- keys ---- */

/* RFC 4418 §3.2.1: AES of (index, 1), (index, 2), ... out: n rounded up to whole blocks. */
static int derive(struct block *aes, uint64_t index, uint8_t *out, size_t n)
{
	size_t blocks = (n + AES_BLOCK - 1) / AES_BLOCK;

	for (size_t i = 0; i < blocks; i++) {
		wire_store_u64(out + i * AES_BLOCK, index);
		wire_store_u64(out + i * AES_BLOCK + 8, i + 1);
	}
	return block_run(aes, out, blocks * AES_BLOCK);
}

static int set_l1_key(struct umac *u, struct block *aes, uint8_t *scratch)
{
	uint32_t words[NH_KEY_WORDS];
	int r = derive(aes, 1, scratch, sizeof(words));

	for (size_t i = 0; i < NH_KEY_WORDS; i++)
		words[i] = wire_load_u32(scratch + 4 * i);
	u->nh->prepare(words, nh_key(u));
	mem_wipe(words, sizeof(words));
	return r;
}

static int set_outer_keys(struct umac *u, struct block *aes, uint8_t *scratch)
{
	if (derive(aes, 2, scratch, u->streams * L2_KEY) < 0)
		return ERR_CRYPTO;
	for (size_t j = 0; j < u->streams; j++)
		u->l2_key[j] = wire_load_u64(scratch + j * L2_KEY) & mask64;
	if (derive(aes, 3, scratch, u->streams * L3_KEY1) < 0)
		return ERR_CRYPTO;
	for (size_t j = 0; j < u->streams; j++)
		for (size_t i = 0; i < 4; i++)
			u->l3_key1[j][i] = wire_load_u64(scratch + j * L3_KEY1 + 32 + i * 8) % prime36;
	if (derive(aes, 4, scratch, u->streams * L3_KEY2) < 0)
		return ERR_CRYPTO;
	for (size_t j = 0; j < u->streams; j++)
		u->l3_key2[j] = wire_load_u32(scratch + j * L3_KEY2);
	return 0;
}

static int set_keys(struct umac *u, struct block *aes, struct err *e)
{
	uint8_t scratch[NH_KEY_WORDS * 4 + AES_BLOCK];
	int r = set_l1_key(u, aes, scratch);

	if (r == 0)
		r = set_outer_keys(u, aes, scratch);
	if (r == 0)
		r = derive(aes, 0, scratch, AES_BLOCK);
	if (r == 0) {
		u->pdf = block_new("AES-128-ECB", true, scratch, NULL, e);
		r = u->pdf != NULL ? 0 : ERR_CRYPTO;
	}
	mem_wipe(scratch, sizeof(scratch));
	return r;
}

struct umac *umac_new_with(const struct nh *nh, const uint8_t *key, size_t tag_size, struct err *e)
{
	struct block *aes;
	struct umac *u;
	int r;

	if (tag_size != 8 && tag_size != 16) {
		err_set(e, ERR_USAGE, "umac: tags of %zu bytes are not supported", tag_size);
		return NULL;
	}
	aes = block_new("AES-128-ECB", true, key, NULL, e);
	if (aes == NULL)
		return NULL;
	u = mem_zalloc(sizeof(*u));
	u->nh = nh;
	u->streams = tag_size / 4;
	r = set_keys(u, aes, e);
	block_free(aes);
	if (r == 0)
		return u;
	err_set(e, ERR_CRYPTO, "umac: key setup failed");
	umac_free(u);
	return NULL;
}

struct umac *umac_new(const uint8_t *key, size_t tag_size, struct err *e)
{
	return umac_new_with(nh_at(0), key, tag_size, e);
}

void umac_free(struct umac *u)
{
	if (u == NULL)
		return;
	block_free(u->pdf);
	mem_free_secret(u, sizeof(*u));
}

/* ---- hashes ---- */

/* x mod 2^64 - 59 for x = carry * 2^64 + low: 2^64 is 59. Without branches: y is secret. */
static inline uint64_t add_mod64(uint64_t a, uint64_t b)
{
	uint64_t sum, carry = __builtin_add_overflow(a, b, &sum);

	return sum + (59 & -carry);
}

/* k * y + m mod 2^64 - 59 (RFC 4418 §5.3.2 POLY). Result below the prime, k below 2^57. */
static inline uint64_t poly_add(uint64_t y, uint64_t k, uint64_t m)
{
	unsigned __int128 product = (unsigned __int128)k * y;
	/* 59 * high < 2^63: the first sum wraps at most once, and so does the second, as m is below word_range64. */
	uint64_t r = add_mod64((uint64_t)product, 59 * (uint64_t)(product >> 64));

	r = add_mod64(r, m);
	return r - (prime64 & -(uint64_t)(r >= prime64));
}

static inline uint64_t poly_step(uint64_t y, uint64_t k, uint64_t m)
{
	/* Words that do not fit below the prime are split; one in 2^32 is. */
	if (__builtin_expect(m >= word_range64, 0)) {
		y = poly_add(y, k, prime64 - 1);
		m -= 59;
		/* m may still be over the range that poly_add takes: it is below 2^64 - 59, which is enough. */
	}
	return poly_add(y, k, m);
}

/* RFC 4418 §5.4.1 over 8 zero bytes and a. */
static uint32_t l3_hash(const struct umac *u, size_t j, uint64_t a)
{
	const uint64_t *k = u->l3_key1[j];
	uint64_t y = (a >> 48) * k[0] + (a >> 32 & 0xffff) * k[1] + (a >> 16 & 0xffff) * k[2] + (a & 0xffff) * k[3];

	/* y is below 2^54 and 2^36 is 5. No division: its time would tell of y. */
	y = (y & 0xfffffffffULL) + 5 * (y >> 36);
	y -= prime36 & -(uint64_t)(y >= prime36);
	return (uint32_t)y ^ u->l3_key2[j];
}

/* NH of the last, possibly partial or empty, block: padded with zeros to 32 bytes; its length in bits is added. */
static void last_block(struct umac *u, const uint8_t *p, size_t n, uint64_t *out)
{
	uint8_t padded[NH_BLOCK];
	size_t size = n == 0 ? 32 : (n + 31) / 32 * 32;

	if (size != n) {
		if (n != 0)
			memcpy(padded, p, n);
		memset(padded + n, 0, size - n);
		p = padded;
	}
	u->nh->hash(nh_key(u), u->streams, p, size, 1, out);
	for (size_t j = 0; j < u->streams; j++)
		out[j] += n * 8;
}

static void outer(struct umac *u, uint64_t *y, const uint64_t *sums, size_t count, uint64_t add)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < u->streams; j++)
			y[j] = poly_step(y[j], u->l2_key[j], sums[i * u->streams + j] + add);
}

static void uhash(struct umac *u, const uint8_t *p, size_t n, uint64_t *y)
{
	uint64_t sums[BATCH * NH_STREAMS_MAX];

	if (n <= NH_BLOCK) {
		last_block(u, p, n, y);
		return;
	}
	for (size_t j = 0; j < u->streams; j++)
		y[j] = 1;
	while (n > NH_BLOCK) {
		size_t count = (n - 1) / NH_BLOCK;

		if (count > BATCH)
			count = BATCH;
		u->nh->hash(nh_key(u), u->streams, p, NH_BLOCK, count, sums);
		outer(u, y, sums, count, NH_BLOCK * 8);
		p += count * NH_BLOCK;
		n -= count * NH_BLOCK;
	}
	last_block(u, p, n, sums);
	outer(u, y, sums, 1, 0);
}

/* ---- the pad ---- */

/* RFC 4418 §3.3.1: with 8-byte tags one AES block serves two neighbouring nonces. Blocks are made PADS at a time, since
 * packets are numbered one after the other. */
static int pad_of(struct umac *u, uint64_t nonce, const uint8_t **pad)
{
	unsigned shift = u->streams == 2;
	uint64_t number = nonce >> shift;

	if (!u->pads_valid || number - u->pads_first >= PADS) {
		memset(u->pads, 0, sizeof(u->pads));
		u->pads_first = number - number % PADS;
		for (size_t i = 0; i < PADS; i++)
			wire_store_u64(u->pads + i * AES_BLOCK, (u->pads_first + i) << shift);
		u->pads_valid = block_run(u->pdf, u->pads, sizeof(u->pads)) == 0;
		if (!u->pads_valid)
			return ERR_CRYPTO;
	}
	*pad = u->pads + (number - u->pads_first) * AES_BLOCK + (shift != 0 ? (nonce & 1) * 8 : 0);
	return 0;
}

int umac_compute(struct umac *u, uint64_t nonce, const void *p, size_t n, uint8_t *tag)
{
	uint64_t y[NH_STREAMS_MAX];
	const uint8_t *pad;

	if (n > UMAC_MESSAGE_MAX)
		return ERR_USAGE;
	if (pad_of(u, nonce, &pad) < 0)
		return ERR_CRYPTO;
	uhash(u, p, n, y);
	for (size_t j = 0; j < u->streams; j++)
		wire_store_u32(tag + 4 * j, l3_hash(u, j, y[j]) ^ wire_load_u32(pad + 4 * j));
	return 0;
}
