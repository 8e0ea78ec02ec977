/* client/none_switch.c: the decision to drop encryption after authentication. Layer: client. HPN-README 1, SECURITY.md. */
#include "client/none_switch.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cipher.h"
#include "wire/buf.h"

enum none_answer none_switch_decide(const struct none_question *q, const char **reason)
{
	*reason = NULL;
	if (!q->none_switch)
		return NONE_NOT_ASKED;
	if (!q->built) {
		*reason = "this build has no NONE cipher (--disable-none-cipher)";
		return NONE_IMPOSSIBLE;
	}
	if (q->switch_from_file && !q->from_file_allowed) {
		*reason = "NoneSwitch in a configuration file is only honoured after \"NoneSwitchFromFile yes\"; "
			"give -oNoneSwitch=yes on the command line, or add that line";
		return NONE_KEEP_ENCRYPTED;
	}
	/* On the command line the switch implies the permission, unless somebody said no. */
	if (!q->enabled && (q->enabled_set || q->switch_from_file)) {
		*reason = q->enabled_set ? "NoneEnabled is no" : "NoneSwitch needs NoneEnabled yes";
		return NONE_IMPOSSIBLE;
	}
	if (q->tty) {
		*reason = "NONE cipher switch disabled: a terminal is requested; the session stays encrypted";
		return NONE_KEEP_ENCRYPTED;
	}
	return NONE_ASK;
}

static char *aead_names(const char *list)
{
	struct str_list out = { 0 };
	const char *name, *cursor = list;
	char *joined;
	size_t n;

	str_list_add(&out, "none");
	while (str_next_name(&cursor, &name, &n)) {
		const struct cipher_alg *c = cipher_find((struct view){ (const uint8_t *)name, n });

		if (c && cipher_is_aead(c))
			str_list_add_n(&out, name, n);
	}
	joined = str_list_join(&out, ",");
	str_list_clear(&out);
	return joined;
}

static char *with_none_first(const char *list)
{
	return str_printf("none%s%s", *list ? "," : "", list);
}

static void set_take(struct proposal *p, enum proposal_list which, char *names)
{
	proposal_set(p, which, names);
	free(names);
}

void none_switch_proposal(const struct proposal *running, const char *host_key_alg, bool mac, struct proposal *out)
{
	proposal_copy(out, running);
	proposal_set(out, PROPOSAL_HOST_KEY, host_key_alg);
	set_take(out, PROPOSAL_CIPHER_C2S, aead_names(running->list[PROPOSAL_CIPHER_C2S]));
	set_take(out, PROPOSAL_CIPHER_S2C, aead_names(running->list[PROPOSAL_CIPHER_S2C]));
	if (!mac)
		return;
	set_take(out, PROPOSAL_MAC_C2S, with_none_first(running->list[PROPOSAL_MAC_C2S]));
	set_take(out, PROPOSAL_MAC_S2C, with_none_first(running->list[PROPOSAL_MAC_S2C]));
}
