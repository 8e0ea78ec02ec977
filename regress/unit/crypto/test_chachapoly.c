/* chacha20-poly1305@openssh.com against vectors made by an independent pure Python computation, and by tampering.
 * Key: byte i is 7i+3; header: the body's size; body: byte i is 5i+seq (all mod 256). */
#include "crypto/chachapoly.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "regress/unit/crypto/unhex.h"
#include "wire/buf.h"

static const struct { uint32_t seq; size_t header_n, n; const char *sealed; } vectors[] = {
	{ 0x0, 4, 8,
	  "cded60ccdc72f7654f196723938fb15167ddb31a23a26b8971d8fd51" },
	{ 0x7, 4, 64,
	  "37ed40eb7641283edcc6e6de0116af7f30f0907734a08f3926eaf1190c9bc0366a31c4166be2c5ae8d20761914a5b6df"
	  "c7c756474f4352393a75b22bef21a55f3543a2fac3ea81d35e93e54f7ad8b8c19cf1a8a6" },
	{ 0x1020304, 4, 72,
	  "f2b44eca1de81c004cc4fa75bb44220529f8552907402d53bb40c9c5f076f944d4f7fb88f9c3a6d32d7b63145bfdcee3"
	  "63dbf12db04fb7fc5cb33f9711513dc95619d4d546a8d5be143934ff6ef214fd4527148ab991275dd19ffec0" },
	{ 0xffffffff, 4, 200,
	  "1ffe517c89298213789e0532312c26a1bdd1176cf54cf83b0c183aaecfbf0870151d8fa16bc8f1cb9df1f43e25554510"
	  "f2a07469bf5948a19b59268d2273771a72c2d3ce824ecd41bce829c6064f7ad9e9975e241485a29bcb16241cf298a4aa"
	  "8b31eec7115840443e05858631c4ddc2bd774493af4fa09cafb86e24a8931d03ec8ecb91315b3e1009b0785d496dc43a"
	  "c3f56f33d69c208e8fe5404a7217274fa6fa312a10ce137b230f2f0c6c9984b58149aaa45f9696d48bb17b28c2812321"
	  "3a4eab58e2e46ca28aab22babd284dd751fa95b4c702434acfbe5bb0" },
	{ 0, 0, 32,
	  "dc72f7654f196723a29dca2e10098749737006caab9c80fe7a53a2b7cda80061df50e07b87208553112190d43b3fc975" },
};

static void make_key(uint8_t *key)
{
	for (unsigned i = 0; i < CHACHAPOLY_KEY_SIZE; i++)
		key[i] = (uint8_t)(i * 7 + 3);
}

static void make_plain(uint8_t *p, uint32_t seq, size_t header_n, size_t n)
{
	if (header_n != 0)
		wire_store_u32(p, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		p[header_n + i] = (uint8_t)(i * 5 + seq);
}

static void known_answers(void **state)
{
	uint8_t key[CHACHAPOLY_KEY_SIZE], p[300], plain[300], want[300];
	struct chachapoly *c;
	uint32_t length;

	(void)state;
	make_key(key);
	c = chachapoly_new(key, NULL);
	assert_non_null(c);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < MEM_COUNT(vectors); i++) {
			size_t h = vectors[i].header_n, n = vectors[i].n;

			make_plain(plain, vectors[i].seq, h, n);
			memcpy(p, plain, h + n);
			assert_int_equal(unhex(vectors[i].sealed, want), h + n + 16);
			assert_int_equal(chachapoly_seal(c, vectors[i].seq, p, h, n), 0);
			assert_memory_equal(p, want, h + n + 16);
			if (h != 0) {
				assert_int_equal(chachapoly_peek(c, vectors[i].seq, p, &length), 0);
				assert_int_equal(length, n);
				assert_memory_equal(p, want, h + n + 16);
			}
			assert_int_equal(chachapoly_open(c, vectors[i].seq, p, h, n), 0);
			assert_memory_equal(p, plain, h + n);
		}
	}
	chachapoly_free(c);
}

/* Every bit of the packet counts, and a refused packet is left as it came. */
static void tampering(void **state)
{
	uint8_t key[CHACHAPOLY_KEY_SIZE], p[120], copy[120];
	struct chachapoly *c;

	(void)state;
	make_key(key);
	c = chachapoly_new(key, NULL);
	for (size_t n = 0; n <= 96; n += 8) {
		make_plain(p, 5, 4, n);
		assert_int_equal(chachapoly_seal(c, 5, p, 4, n), 0);
		for (size_t bit = 0; bit < (4 + n + 16) * 8; bit++) {
			p[bit / 8] ^= (uint8_t)(1 << bit % 8);
			memcpy(copy, p, sizeof(p));
			assert_int_equal(chachapoly_open(c, 5, p, 4, n), ERR_CRYPTO);
			assert_memory_equal(p, copy, sizeof(p));
			p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		assert_int_equal(chachapoly_open(c, 4, p, 4, n), ERR_CRYPTO);
		assert_int_equal(chachapoly_open(c, 5, p, 4, n), 0);
	}
	chachapoly_free(c);
}

static void wrong_keys(void **state)
{
	uint8_t key[CHACHAPOLY_KEY_SIZE], p[64], plain[64];
	struct chachapoly *c, *d;

	(void)state;
	make_key(key);
	c = chachapoly_new(key, NULL);
	make_plain(plain, 0, 4, 40);
	memcpy(p, plain, sizeof(p));
	assert_int_equal(chachapoly_seal(c, 0, p, 4, 40), 0);
	key[0] ^= 1;             /* main key */
	d = chachapoly_new(key, NULL);
	assert_int_equal(chachapoly_open(d, 0, p, 4, 40), ERR_CRYPTO);
	chachapoly_free(d);
	key[0] ^= 1;
	key[63] ^= 1;            /* header key: the tag is right, the length is not */
	d = chachapoly_new(key, NULL);
	assert_int_equal(chachapoly_open(d, 0, p, 4, 40), 0);
	assert_memory_not_equal(p, plain, 4);
	assert_memory_equal(p + 4, plain + 4, 40);
	chachapoly_free(d);
	chachapoly_free(c);
	chachapoly_free(NULL);
}

static void bad_sizes(void **state)
{
	uint8_t key[CHACHAPOLY_KEY_SIZE], p[64] = { 0 };
	struct chachapoly *c;

	(void)state;
	make_key(key);
	c = chachapoly_new(key, NULL);
	assert_int_equal(chachapoly_seal(c, 0, p, 5, 8), ERR_USAGE);
	assert_int_equal(chachapoly_open(c, 0, p, 5, 8), ERR_USAGE);
	assert_int_equal(chachapoly_seal(c, 0, p, 4, (size_t)1 << 31), ERR_USAGE);
	chachapoly_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(tampering),
		cmocka_unit_test(wrong_keys),
		cmocka_unit_test(bad_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
