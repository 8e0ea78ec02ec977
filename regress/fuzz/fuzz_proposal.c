/* Targets: proposal_get and proposal_agree, both ways round, with what we offer; ident_find on the same bytes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/log.h"
#include "crypto/crypto.h"
#include "ident.h"
#include "proposal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void agree(const struct proposal *peer)
{
	static struct proposal own;
	struct agreement a = { .kex = NULL };
	struct err e;
	int i;

	if (own.list[0] == NULL) {
		crypto_init();
		proposal_set(&own, PROPOSAL_KEX, proposal_default_kex(false));
		proposal_set(&own, PROPOSAL_HOST_KEY, "ssh-ed25519,rsa-sha2-512");
		for (i = 0; i < 2; i++) {
			proposal_set(&own, (enum proposal_list)(PROPOSAL_CIPHER_C2S + i), proposal_default_ciphers());
			proposal_set(&own, (enum proposal_list)(PROPOSAL_MAC_C2S + i), proposal_default_macs());
			proposal_set(&own, (enum proposal_list)(PROPOSAL_COMPRESS_C2S + i), "none,zlib@openssh.com");
		}
	}
	for (i = 0; i < 3; i++) {
		e = (struct err){ .code = 0 };
		if (proposal_agree(i == 0 ? peer : &own, i == 1 ? peer : &own, i == 1, &a, &e) == 0 &&
		    (a.kex == NULL || a.mac_s2c == NULL))
			abort();
		agreement_clear(&a);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proposal p = { .guess_follows = false };
	struct buf again = BUF_INIT(1 << 20);
	struct ident_scan scan = { .lines = 0 };
	struct err e = { .code = 0 };
	struct reader r;
	struct view line;
	size_t taken;

	log_init("fuzz", LOG_LEVEL_QUIET);
	reader_init(&r, data, size);
	if (proposal_get(&r, &p, &e) == 0) {
		agree(&p);
		/* What was read is what would be written, but for the cookie. */
		proposal_put(&p, &again);
		if (again.size != size)
			abort();
	}
	e = (struct err){ .code = 0 };
	if (ident_find(&scan, size & 1, (struct view){ data, size }, &taken, &line, &e) == 1 && (taken > size ||
	    line.n >= taken || ident_software(line).n == 0))
		abort();
	proposal_clear(&p);
	buf_free(&again);
	return 0;
}
