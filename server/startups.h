/* server/startups.h: MaxStartups and PerSourceMaxStartups (sshd_config(5)): numbers in, decision out. */
#ifndef SERVER_STARTUPS_H
#define SERVER_STARTUPS_H

#include <stdbool.h>
#include <stdint.h>

struct startups_limits { unsigned start, rate, full, per_source; };      /* per_source UINT_MAX: none */

/* Per cent of new connections to refuse while n have not authenticated yet: 0 below start, 100 from full on. */
unsigned startups_refuse_percent(const struct startups_limits *l, unsigned n);
/* random: uniform in 0..99. same_source: how many of the n come from where the new one comes from. */
bool startups_admit(const struct startups_limits *l, unsigned n, unsigned same_source, unsigned random);

/* Log lines about refusals: the first one at once, then at most one a minute with how many there were in between. */
struct drop_log { uint64_t last_ms; unsigned suppressed; bool used; };
/* True: log this one now. *suppressed: how many earlier ones were not logged (say so first if not 0). */
bool drop_log_ask(struct drop_log *d, uint64_t now_ms, unsigned *suppressed);

#endif
