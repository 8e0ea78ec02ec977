/* server/monitor_table.c: the table of requests. */
#include "server/monitor_table.h"

#include "auth/userauth_msg.h"
#include "base/mem.h"
#include "server/monitor_private.h"
#include "server/monitor_wire.h"

#define AT(s) (1u << MON_AT_##s)
#define BEFORE_SESSION (AT(KEX) | AT(AUTH) | AT(PROMPT) | AT(ACCEPTED) | AT(OVER))

enum {
	SIGN_SIZE = 20 * 1024,           /* names, a host key's blob and a hash */
	LOG_SIZE = 8 * 1024
};

static const struct mon_rule rules[] = {
	{ MON_LOG, "log", BEFORE_SESSION | AT(SESSION), 0, LOG_SIZE, monitor_on_log },
	{ MON_END, "end", AT(KEX) | AT(AUTH) | AT(PROMPT) | AT(ACCEPTED), 1, LOG_SIZE, monitor_on_end },

	{ MON_SIGN, "sign", AT(KEX), 1, SIGN_SIZE, monitor_on_first_sign },
	{ MON_AUTH, "auth", AT(AUTH), MONITOR_REQUESTS_MAX, USERAUTH_REQUEST_MAX, monitor_on_auth },
	{ MON_ANSWERS, "answers", AT(PROMPT), 1024, USERAUTH_ANSWERS_MAX, monitor_on_answers },
	{ MON_ABORT, "abort", AT(PROMPT), 1024, 0, monitor_on_abort },
	{ MON_HANDOFF, "handoff", AT(ACCEPTED), 1, MON_BODY_MAX, monitor_on_handoff },

	{ MON_SIGN, "sign", AT(SESSION), 0, SIGN_SIZE, monitor_on_rekey_sign },
	{ MON_PROVE, "prove", AT(SESSION), MON_PROVE_TIMES, MON_PROVE_SIZE, monitor_on_prove },
	{ MON_PTY, "pty", AT(SESSION), 0, 0, monitor_on_pty },
	{ MON_PTY_DONE, "pty-done", AT(SESSION), 0, 256, monitor_on_pty_done },
};
_Static_assert(MEM_COUNT(rules) <= MON_RULES_MAX, "counters for every rule");

static const char *const state_names[MON_STATE_COUNT] = {
	[MON_AT_KEX] = "key exchange", [MON_AT_AUTH] = "authentication", [MON_AT_PROMPT] = "conversation",
	[MON_AT_ACCEPTED] = "accepted", [MON_AT_OVER] = "over", [MON_AT_SESSION] = "session",
};

const char *mon_state_name(enum mon_state s)
{
	return state_names[s];
}

const struct mon_rule *mon_rule_at(size_t i)
{
	return i < MEM_COUNT(rules) ? &rules[i] : NULL;
}

int mon_gate_admit(struct mon_gate *g, uint8_t type, uint32_t size, const struct mon_rule **rule, struct err *e)
{
	*rule = NULL;
	for (size_t i = 0; i < MEM_COUNT(rules); i++) {
		const struct mon_rule *r = &rules[i];

		if (r->type != type || (r->states & 1u << g->state) == 0)
			continue;
		if (r->times != 0 && g->used[i] >= r->times)
			return err_set(e, ERR_PEER, "request \"%s\" came more than %u times", r->name, r->times);
		if (size > r->size)
			return err_set(e, ERR_PEER, "request \"%s\" has %u bytes, more than %u", r->name, size, r->size);
		g->used[i]++;
		*rule = r;
		return 0;
	}
	return err_set(e, ERR_PEER, "request %u is not permitted now (%s)", type, state_names[g->state]);
}
