/* Target: transport_import. Even first byte: the rest is the blob. Odd: the rest edits a good blob, three bytes each: where
 * (2) and what; then some bytes are fed to what came out. */
#include <stddef.h>
#include <stdint.h>

#include "cipher.h"
#include "engine_ends.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A good blob with unread bytes, made once for each of some ciphers. */
static struct buf *good_blob(unsigned which)
{
	static const struct { const char *cipher, *mac; } suites[6] = {
		{ "aes128-gcm@openssh.com", "hmac-sha2-256" }, { "aes128-ctr", "hmac-sha2-256" },
		{ "aes128-cbc", "umac-64-etm@openssh.com" }, { "chacha20-poly1305@openssh.com", "hmac-sha1" },
		{ "arcfour128", "hmac-sha2-256" }, { "cast128-cbc", "hmac-sha2-256" }
	};
	static struct buf blobs[6];
	struct buf *b = &blobs[which % 6], body = BUF_INIT(64);
	struct ends e;
	struct iovec iov[2];
	uint8_t *at;
	size_t room;
	struct view name;

	if (b->size != 0)
		return b;
	*b = BUF_INIT(1 << 20);
	cipher_prepare_all();
	name = (struct view){ (const uint8_t *)suites[which % 6].cipher, strlen(suites[which % 6].cipher) };
	if (cipher_find(name) == NULL)
		which = 0;
	ends_init(&e, suites[which % 6].cipher, suites[which % 6].mac, false);
	ends_log_in(&e);
	if (transport_send(e.t[0], MSG_CHANNEL_OPEN, &body) < 0 || transport_out_view(e.t[0], iov, 2) != 1 ||
	    transport_in_space(e.t[1], &at, &room) < 0)
		abort();
	memcpy(at, iov[0].iov_base, 20);
	transport_in_added(e.t[1], 20);
	if (transport_export(e.t[1], b) < 0)
		abort();
	ends_clear(&e);
	return b;
}

static void import(const struct ends *e, const uint8_t *p, size_t n)
{
	static const uint8_t garbage[2000] = { 1, 2, 3 };
	struct reader r;
	struct err err = { .code = 0 };
	struct transport *t;

	reader_init(&r, p, n);
	t = transport_import(&e->opt[1], &r, &err);
	if (t != NULL)
		(void)!ends_feed(t, garbage, sizeof(garbage));
	transport_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ends e;
	struct buf b = BUF_INIT(1 << 20);
	struct buf *good;

	if (size == 0)
		return 0;
	ends_init(&e, "aes128-ctr", "hmac-sha2-256", false);
	if (data[0] & 1) {
		good = good_blob(data[0] >> 1);
		buf_put(&b, good->data, good->size);
		for (data++, size--; size >= 3; data += 3, size -= 3)
			b.data[((size_t)data[0] << 8 | data[1]) % b.size] = data[2];
		import(&e, b.data, b.size);
	} else {
		import(&e, data + 1, size - 1);
	}
	buf_free(&b);
	ends_clear(&e);
	return 0;
}
