/* Authentication messages. The first byte chooses the message: requests, answers to them, keyboard-interactive.
 * What a get accepts must be written back by put to the same bytes (requests of known methods without lax booleans). */
#include <stdint.h>
#include <stdlib.h>
#include "auth/userauth_msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_request(struct reader *r, const uint8_t *p, size_t n)
{
	struct userauth_request q;
	struct buf b = BUF_INIT(1 << 20);

	if (userauth_request_get(r, &q, NULL) == 0) {
		userauth_request_put(&b, &q);
		if (q.kind != USERAUTH_OTHER && (!buf_ok(&b) || b.size != n))
			abort();
		userauth_signed_data_put(&b, q.key_blob, &q);
	}
	(void)p;
	buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct userauth_info_request iq;
	static struct userauth_info_response ir;
	struct userauth_failure f;
	struct view v, w;
	struct reader r;
	struct err e = { 0 };
	int rc = 0;

	if (size == 0)
		return 0;
	reader_init(&r, data + 1, size - 1);
	switch (data[0] % 8) {
	case 0: fuzz_request(&r, data + 1, size - 1); break;
	case 1: rc = userauth_failure_get(&r, &f, &e); break;
	case 2: rc = userauth_banner_get(&r, &v, &e); break;
	case 3: rc = userauth_pk_ok_get(&r, &v, &w, &e); break;
	case 4: rc = userauth_changereq_get(&r, &v, &e); break;
	case 5: rc = userauth_info_request_get(&r, &iq, &e); break;
	case 6: rc = userauth_info_response_get(&r, &ir, &e); break;
	default: rc = userauth_service_get(&r, &v, &e); break;
	}
	(void)rc;
	return 0;
}
