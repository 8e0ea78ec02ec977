/* What the server's processes send each other, as the receiving end reads it: setups, verdicts, grants, the hand-over. The first
 * byte chooses. (fuzz_handoff has the state of a transport.) */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "crypto/crypto.h"
#include "server/handover.h"
#include "server/monitor_msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void quiet(void *ctx, enum log_level level, const char *line)
{
	(void)ctx;
	(void)level;
	(void)line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;
	struct reader r;

	if (!ready) {
		crypto_init();
		log_init("fuzz", LOG_LEVEL_QUIET);
		log_to_sink(quiet, NULL);
		ready = true;
	}
	if (size == 0)
		return 0;
	reader_init(&r, data + 1, size - 1);
	switch (data[0] % 5) {
	case 0: {
		struct preauth_setup s;
		if (preauth_setup_get(&r, &s, NULL) == 0)
			preauth_setup_clear(&s);
		break;
	}
	case 1: {
		struct user_setup s;
		if (user_setup_get(&r, &s, NULL) == 0)
			user_setup_clear(&s);
		break;
	}
	case 2: {
		struct mon_verdict v;
		if (mon_verdict_get(&r, &v, NULL) == 0)
			mon_verdict_clear(&v);
		break;
	}
	case 3: {
		struct pty_grant g;
		if (pty_grant_get(&r, &g, NULL) == 0)
			pty_grant_clear(&g);
		break;
	}
	default: {
		struct handover h;
		struct err e = { 0 };
		if (handover_get(&r, &h, &e) == 0)
			handover_clear(&h);
		break;
	}
	}
	return 0;
}
