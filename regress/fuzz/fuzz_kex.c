/* Targets: kex_input of either side with the peer's message, and what reads values of sntrup761x25519. First byte: bit 0 client,
 * bits 1 to 3 method, bit 4 (sntrup761) the rest is cut or filled to the right size. The rest is the message, or that value. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "crypto/crypto.h"
#include "crypto/sntrup761.h"
#include "kex/kex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { POINT = 32 };

static const char *const names[8] = {
	"sntrup761x25519-sha512", "curve25519-sha256", "ecdh-sha2-nistp256", "ecdh-sha2-nistp384", "ecdh-sha2-nistp521",
	"diffie-hellman-group-exchange-sha256", "curve25519-sha256@libssh.org", "sntrup761x25519-sha512"
};

static int sign(void *ctx, struct view hash, struct buf *signature, struct err *e)
{
	buf_put(signature, hash.p, hash.n);
	return 0;
}

static void message(const struct kex_method *m, bool client, struct view body)
{
	const struct view text = { (const uint8_t *)"text", 4 };
	const struct kex_input in = { .client_version = text, .server_version = text, .client_kexinit = text,
		.server_kexinit = text, .host_key = text, .sign = sign };
	struct kex_message first = { .body = BUF_INIT(65536) }, out = { .body = BUF_INIT(65536) };
	struct kex *k = kex_new(m, !client);
	uint8_t key[40];

	if (client && kex_begin(k, &first, NULL) < 0)
		abort();
	if (kex_input(k, &in, body, &out, NULL) == 1 && kex_derive(k, text, 'A', key, sizeof(key)) < 0)
		abort();
	kex_free(k);
	buf_free(&first.body);
	buf_free(&out.body);
}

/* Without the message around it: a key pair takes long with sanitizers, and serves for all values. */
static void value(const struct kex_method *m, bool client, bool fit, const uint8_t *p, size_t n)
{
	static void *state;
	size_t right = (client ? SNTRUP761_CIPHERTEXT : SNTRUP761_PUBLIC) + POINT, take = fit ? right : n;
	struct buf offer = BUF_INIT(4096), ours = BUF_INIT(4096), secret = BUF_INIT(4096);
	uint8_t *copy = mem_zalloc(take + 1);
	int r;

	memcpy(copy, p, n < take ? n : take);
	if (state == NULL && kex_sntrup_ops.offer(m, &state, &offer, NULL) < 0)
		abort();
	if (client)
		r = kex_sntrup_ops.finish(m, state, (struct view){ copy, take }, &secret, NULL);
	else
		r = kex_sntrup_ops.answer(m, NULL, (struct view){ copy, take }, &ours, &secret, NULL);
	if ((r == 0) != (secret.size == 64) || (r == 0 && take != right))
		abort();
	buf_free(&offer);
	buf_free(&ours);
	buf_free(&secret);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct kex_method *m;
	const char *name;

	if (size == 0)
		return 0;
	log_init("fuzz", LOG_LEVEL_QUIET);
	crypto_init();
	name = names[data[0] >> 1 & 7];
	m = kex_find((struct view){ (const uint8_t *)name, strlen(name) });
	if (m == NULL)
		return 0;
	if (m->ops == &kex_sntrup_ops)
		value(m, data[0] & 1, (data[0] & 16) != 0, data + 1, size - 1);
	else
		message(m, data[0] & 1, (struct view){ data + 1, size - 1 });
	return 0;
}
