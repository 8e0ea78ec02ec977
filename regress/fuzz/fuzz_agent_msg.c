/* Messages of the agent protocol, by their type byte: what an agent answers and what it is asked. */
#include <stdint.h>
#include <stdlib.h>
#include "keys/agent_msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_identities(struct reader *r)
{
	struct agent_identity *v;
	size_t count;

	if (agent_get_identities(r, &v, &count, NULL) == 0)
		agent_identities_free(v, count);
}

static void fuzz_add(struct reader *r)
{
	struct agent_add m;

	if (agent_get_add(r, &m, NULL) == 0)
		agent_add_clear(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct agent_sign sign;
	struct agent_bind bound;
	struct reader r;
	struct view v;
	int rc = 0;

	reader_init(&r, data, size);
	switch (reader_u8(&r)) {
	case AGENT_IDENTITIES_ANSWER: fuzz_identities(&r); break;
	case AGENT_SIGN_RESPONSE: rc = agent_get_signature(&r, &v, NULL); break;
	case AGENT_SIGN_REQUEST: rc = agent_get_sign(&r, &sign, NULL); break;
	case AGENT_ADD_IDENTITY:
	case AGENT_ADD_ID_CONSTRAINED: fuzz_add(&r); break;
	case AGENT_EXTENSION:
		v = reader_string(&r);
		rc = agent_get_bind(&r, &bound, NULL);
		break;
	default: break;
	}
	if (rc > 0)
		abort();
	return 0;
}
