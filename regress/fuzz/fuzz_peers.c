/* The file of what is known about servers: peer_memory_parse, peer_memory_text, peer_memory_find, guess_apply. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "client/guess.h"
#include "client/peer_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct peer_record *r)
{
	struct proposal p = { .guess_follows = false };

	proposal_set(&p, PROPOSAL_KEX, "curve25519-sha256,ecdh-sha2-nistp256");
	proposal_set(&p, PROPOSAL_HOST_KEY, "ssh-ed25519,rsa-sha2-512");
	/* Whatever the file says, nothing comes into the lists that was not there. */
	if (guess_apply(r, true, &p) && (strlen(p.list[PROPOSAL_KEX]) != 36 || strlen(p.list[PROPOSAL_HOST_KEY]) != 24))
		abort();
	proposal_clear(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct peer_name who = { "alice", "host", 22 };
	struct peer_memory m, again;
	struct peer_record r;
	char *text, *second;

	log_set_level(LOG_LEVEL_QUIET);
	if (peer_memory_parse(&m, (const char *)data, size, NULL) != 0) {
		if (m.count != 0 || m.v != NULL)
			abort();
		return 0;
	}
	(void)peer_memory_find(&m, &who);
	for (size_t i = 0; i < m.count; i++)
		use(&m.v[i].record);
	/* What was read is written so that it reads the same. */
	text = peer_memory_text(&m);
	if (peer_memory_parse(&again, text, strlen(text), NULL) != 0)
		abort();
	second = peer_memory_text(&again);
	if (strcmp(text, second) != 0)
		abort();
	if (m.count > 0) {
		r = m.v[m.count - 1].record;
		(void)peer_memory_put(&m, &who, &r);
		if (peer_memory_find(&m, &who) == NULL || m.count > PEER_MEMORY_RECORDS_MAX)
			abort();
	}
	free(text);
	free(second);
	peer_memory_clear(&m);
	peer_memory_clear(&again);
	return 0;
}
