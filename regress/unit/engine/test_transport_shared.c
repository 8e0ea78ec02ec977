/* Two transports whose packets are sealed and opened by several threads, always: bulk data both ways while keys change again and
 * again, by either side; what a NEWKEYS parts is never opened together. */
#include "transport.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "crypto/workers.h"
#include "packet_private.h"
#include "pair.h"
#include "transport_private.h"
#include "wire/messages.h"

enum { BYTES = 3 * 1000 * 1000 };

static void flow(struct pair *p, uint64_t seed)
{
	uint8_t *data[2] = { malloc(BYTES), malloc(BYTES) };
	size_t sent[2] = { 0, 0 }, want, i;
	bool moved = true;

	for (i = 0; i < 2 * (size_t)BYTES; i++)
		data[i % 2][i / 2] = (uint8_t)(i * 7 + (i >> 9));
	while (sent[0] < BYTES || sent[1] < BYTES || moved) {
		moved = false;
		for (i = 0; i < 2; i++) {
			want = 100000 + pair_random(&seed) % 600000;
			if (want > BYTES - sent[i])
				want = BYTES - sent[i];
			if (want != 0)
				sent[i] += pair_send(&p->end[i], data[i] + sent[i], want, 255 * 1024);
			p->end[i].step = 200000 + pair_random(&seed) % 700000;
			moved |= pair_step(p, (int)i);
			if (p->end[i].result != 0)
				fail_msg("%d: %s", (int)i, err_text(transport_err(p->end[i].t)));
		}
	}
	for (i = 0; i < 2; i++) {
		assert_int_equal(p->end[!i].data.size, BYTES);
		assert_memory_equal(p->end[!i].data.data, data[i], BYTES);
		buf_reset(&p->end[!i].data);
		free(data[i]);
	}
}

static void flow_with(const char *cipher, const char *mac, bool strict, const unsigned rekey[2], uint64_t seed)
{
	struct pair p;
	unsigned i;

	pair_init(&p, "ssh-ed25519");
	pair_set_cipher(&p, cipher, mac);
	pair_set(&p, PROPOSAL_COMPRESS_C2S, "none");
	pair_set(&p, PROPOSAL_COMPRESS_S2C, "none");
	for (i = 0; i < 2; i++) {
		p.end[i].opt.rekey_bytes = rekey[i];
		p.end[i].opt.omit_strict = !strict;
	}
	pair_open(&p);
	for (i = 0; i < 2; i++)
		packet_use_helpers(p.end[i].t->packet, 1 + i, PACKET_SHARE_ALWAYS);
	pair_run(&p);
	pair_authenticate(&p);
	flow(&p, seed);
	if (rekey[0] != 0 || rekey[1] != 0)
		assert_true(transport_exchange_count(p.end[0].t) >= 3);
	for (i = 0; i < 2; i++) {
		assert_true(workers_running(p.end[i].t->packet->workers));
		assert_non_null(p.end[i].t->packet->ahead);
		/* As before a fork, in the middle of it all. */
		transport_stop_helpers(p.end[i].t);
		assert_false(workers_running(p.end[i].t->packet->workers));
	}
	flow(&p, seed + 1);
	pair_close(&p);
}

static void test_keys_change(void **state)
{
	static const struct { const char *cipher, *mac; } suites[] = {
		{ "aes128-gcm@openssh.com", "hmac-sha2-256" }, { "chacha20-poly1305@openssh.com", "hmac-sha2-256" },
		{ "aes256-ctr", "umac-128-etm@openssh.com" },
	};
	static const unsigned rekey[][2] = { { 0, 0 }, { 700000, 0 }, { 0, 500000 }, { 600000, 600000 } };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(suites); i++)
		for (size_t k = 0; k < MEM_COUNT(rekey); k++)
			flow_with(suites[i].cipher, suites[i].mac, (i + k) % 2 == 0, rekey[k], 77 + i * 10 + k);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_keys_change) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
