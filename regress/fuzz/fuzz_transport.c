/* Targets: transport_next and all it calls, as client and as server: bytes before a handshake (bit 0 of the first byte clear),
 * or messages that are sealed with the right keys after one. First byte: bit 0 after, bit 1 server, bit 2 old peer, bit 3
 * not logged in, bits 4 to 6 cipher. Messages: type, length (2 bytes), body; type 0: a burst of garbage ends it. */
#include <stddef.h>
#include <stdint.h>

#include "engine_ends.h"
#include "transport_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct { const char *cipher, *mac; } suites[8] = {
	{ "chacha20-poly1305@openssh.com", "hmac-sha2-256" }, { "aes128-gcm@openssh.com", "hmac-sha2-256" },
	{ "aes128-ctr", "hmac-sha2-256" }, { "aes128-ctr", "umac-64-etm@openssh.com" },
	{ "aes256-ctr", "hmac-sha1" }, { "aes128-cbc", "hmac-sha2-256" },
	{ "aes128-cbc", "hmac-sha2-256-etm@openssh.com" }, { "aes256-gcm@openssh.com", "hmac-sha2-256" }
};

static void before(struct ends *e, int target, const uint8_t *p, size_t n)
{
	/* An identification is hard to guess, so that half of the inputs get one. */
	if (n != 0 && (p[0] & 1))
		(void)!ends_feed(e->t[target], (const uint8_t *)"SSH-2.0-x\r\n", 11);
	if (n != 0)
		(void)!ends_feed(e->t[target], p + 1, n - 1);
}

static void after(struct ends *e, int target, bool logged_in, const uint8_t *p, size_t n)
{
	struct transport *from = e->t[!target];
	size_t length;

	if (logged_in)
		ends_log_in(e);
	else
		ends_run(e);
	while (n >= 3 && from->err.code == 0) {
		length = (size_t)p[1] << 8 | p[2];
		if (length > n - 3)
			length = n - 3;
		if (p[0] == 0) {
			(void)!ends_feed(e->t[target], p + 3, n - 3);
			return;
		}
		if (transport_emit(from, p[0], (struct view){ p + 3, length }, false) < 0)
			return;
		p += 3 + length;
		n -= 3 + length;
		if (n & 1)
			ends_step(e, !target);
	}
	ends_step(e, !target);
	ends_run(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ends e;
	unsigned how;
	int target;

	if (size == 0)
		return 0;
	how = data[0];
	target = how >> 1 & 1;
	ends_init(&e, suites[how >> 4 & 7].cipher, suites[how >> 4 & 7].mac, (how & 4) != 0);
	if (how & 1)
		after(&e, target, (how & 8) == 0, data + 1, size - 1);
	else
		before(&e, target, data + 1, size - 1);
	ends_clear(&e);
	return 0;
}
