/* Targets: packet_next, seal_open, and packet_end before them. First byte: bits 0 to 3 the suite (0: none), bit 4 the rest
 * is fed as it is, otherwise it is sealed as messages (length, bytes) and one byte of the result is changed; bit 5 zlib;
 * bit 6 byte by byte. A changed packet with a MAC must not be a message. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "crypto/crypto.h"
#include "compress.h"
#include "packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct { const char *cipher, *mac; } suites[16] = {
	{ "none", "none" }, { "none", "hmac-sha2-256" }, { "none", "umac-64-etm@openssh.com" },
	{ "chacha20-poly1305@openssh.com", NULL }, { "aes128-gcm@openssh.com", NULL }, { "aes256-gcm@openssh.com", NULL },
	{ "aes128-ctr", "hmac-sha2-256" }, { "aes192-ctr", "hmac-sha1-etm@openssh.com" }, { "aes256-ctr", "umac-64@openssh.com" },
	{ "aes128-ctr", "umac-128-etm@openssh.com" }, { "aes128-cbc", "hmac-sha2-512" },
	{ "aes256-cbc", "hmac-sha2-512-etm@openssh.com" }, { "3des-cbc", "hmac-sha1" }, { "aes128-ctr", "none" },
	{ "arcfour256", "hmac-md5" }, { "blowfish-cbc", "hmac-sha1-96" }
};

static const uint8_t secret[64] = "the keys of this harness are no secret, but long enough for all";

static struct view text(const char *s)
{
	return (struct view){ (const uint8_t *)s, strlen(s) };
}

static void set_keys(struct packet *p, enum packet_dir dir, unsigned which, bool zlib)
{
	const struct packet_keys k = { secret, secret, secret };
	struct packet_suite s = { .cipher = cipher_find(text(suites[which].cipher)), .compress = zlib ? compress_find(text("zlib@openssh.com")) : NULL };

	if (suites[which].mac != NULL)
		s.mac = mac_find(text(suites[which].mac));
	/* what this build, or this libcrypto, does not have */
	if (s.cipher == NULL || (suites[which].mac != NULL && s.mac == NULL)) {
		s.cipher = cipher_find(text("aes128-ctr"));
		s.mac = mac_find(text("hmac-sha2-256"));
	}
	if (s.cipher == NULL || packet_set_keys(p, dir, &s, &k, false) < 0)
		abort();
	if (zlib)
		packet_start_compression(p, dir, 6);
}

/* Returns how many messages there were. */
static unsigned feed(struct packet *p, const uint8_t *bytes, size_t n, bool slowly)
{
	unsigned count = 0;
	struct message m;
	uint8_t *at, sum = 0;
	size_t room, i;

	while (n != 0) {
		if (packet_in_space(p, &at, &room) < 0)
			return count;
		if (room > n)
			room = n;
		if (slowly)
			room = 1;
		memcpy(at, bytes, room);
		packet_in_added(p, room);
		bytes += room;
		n -= room;
		while (packet_next(p, &m) == 1) {
			for (i = 0; i < m.body.n; i++)
				sum ^= m.body.p[i];
			count++;
		}
	}
	return count + (sum & 0);
}

static void sealed(unsigned which, bool zlib, bool slowly, const uint8_t *data, size_t size)
{
	struct packet *out = packet_new(), *in = packet_new();
	struct buf b = BUF_INIT(1 << 20);
	struct iovec iov[2];
	uint8_t *at;
	unsigned sent = 0, got, whole;
	size_t n, where = size >= 2 ? (size_t)data[0] << 8 | data[1] : 0, first = 0;

	set_keys(out, PACKET_OUT, which, zlib);
	set_keys(in, PACKET_IN, which, zlib);
	for (data += size >= 2 ? 2 : size, size -= size >= 2 ? 2 : size; size != 0; data += n, size -= n, sent++) {
		n = (size_t)data[0] + 1 < size ? (size_t)data[0] + 1 : size;
		at = packet_begin(out, data[0], n - 1);
		if (at == NULL)
			abort();
		memcpy(at, data + 1, n - 1);
		if (packet_end(out, n - 1) < 0)
			abort();
	}
	for (n = (size_t)packet_out_view(out, iov, 2); first < n; first++)
		buf_put(&b, iov[first].iov_base, iov[first].iov_len);
	whole = sent;
	if (b.size != 0 && (where & 1)) {
		b.data[where % b.size] ^= 0x40;
		whole = sent - 1;
	}
	got = feed(in, b.data, b.size, slowly);
	if (whole == sent ? got != sent : got > whole && suites[which].mac != NULL && strcmp(suites[which].mac, "none") != 0)
		abort();
	packet_free(out);
	packet_free(in);
	buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct packet *in;
	unsigned which;

	if (size == 0)
		return 0;
	log_init("fuzz", LOG_LEVEL_QUIET);
	cipher_prepare_all();
	which = data[0] & 15;
	if (data[0] & 16) {
		in = packet_new();
		set_keys(in, PACKET_IN, which, (data[0] & 32) != 0);
		feed(in, data + 1, size - 1, (data[0] & 64) != 0);
		packet_free(in);
	} else {
		sealed(which, (data[0] & 32) != 0, (data[0] & 64) != 0, data + 1, size - 1);
	}
	return 0;
}
