/* Key blobs and signatures: key_from_blob, key_get_private, key_verify. The first byte chooses. */
#include <stdint.h>
#include <stdlib.h>
#include "keys/key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_public(struct view v)
{
	struct key *k = key_from_blob(v, NULL);

	/* There is one way to write a key: what was accepted comes out as it was. */
	if (k != NULL && !view_equal(key_blob(k), v))
		abort();
	key_free(k);
}

static void fuzz_private(struct view v)
{
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);
	struct reader r;
	struct key *k;

	reader_init(&r, v.p, v.n);
	k = key_get_private(&r, NULL);
	if (k != NULL) {
		key_put_private(k, &b);
		if (!buf_ok(&b) || !key_is_private(k))
			abort();
	}
	buf_free(&b);
	key_free(k);
}

/* string key blob, string signature, message; nobody can forge one by chance but the seeds' own. */
static void fuzz_signature(struct view v)
{
	struct view blob, sig, message;
	const struct sig_alg *alg;
	struct reader r;
	struct key *k;

	reader_init(&r, v.p, v.n);
	blob = reader_string(&r);
	sig = reader_string(&r);
	message = reader_rest(&r);
	k = reader_ok(&r) ? key_from_blob(blob, NULL) : NULL;
	for (size_t i = 0; k != NULL && (alg = sig_alg_at(i)) != NULL; i++)
		if (key_verify(k, alg, message, sig) > 0)
			abort();
	key_free(k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const targets[])(struct view) = { fuzz_public, fuzz_private, fuzz_signature };

	if (size > 0)
		targets[data[0] % 3]((struct view){ data + 1, size - 1 });
	return 0;
}
