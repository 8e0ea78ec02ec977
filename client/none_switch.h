/* client/none_switch.h: shall this connection drop its cipher after authentication? A pure function with its reason
 * (HPN-README 1), and the proposal that asks for it. */
#ifndef CLIENT_NONE_SWITCH_H
#define CLIENT_NONE_SWITCH_H

#include <stdbool.h>
#include "proposal.h"

struct none_question {
	bool none_switch;                /* NoneSwitch yes */
	bool switch_from_file;           /* it came from a file, not from the command line */
	bool from_file_allowed;          /* NoneSwitchFromFile yes */
	bool enabled;                    /* NoneEnabled yes, in force */
	bool enabled_set;                /* it was said somewhere, either way */
	bool mac;                        /* NoneMacEnabled yes */
	bool tty;                        /* a terminal will be asked for, or -T is not given and one might be */
	bool built;                      /* configured with the none cipher */
};

enum none_answer {
	NONE_NOT_ASKED,
	NONE_ASK,                        /* re-key to none */
	NONE_KEEP_ENCRYPTED,             /* asked for, but not: the note says why; go on encrypted whatever the fallback */
	NONE_IMPOSSIBLE                  /* asked for and cannot be: NoneSwitchFallback decides */
};
/* reason: static text for the user, NULL when there is nothing to say. */
enum none_answer none_switch_decide(const struct none_question *q, const char **reason);

/* The lists for the re-key: none first, then the AEAD ciphers of the running list; MAC none first only with mac. Kex as the
 * user configured it; host key pinned to the algorithm of the first exchange (W5). */
void none_switch_proposal(const struct proposal *running, const char *host_key_alg, bool mac, struct proposal *out);

#endif
