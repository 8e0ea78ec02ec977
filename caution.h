/* caution.h: algorithms that are built in for old peers and offered only where a list names them: why not to. Engine. */
#ifndef CAUTION_H
#define CAUTION_H

#include "proposal.h"

/* What is wrong with an algorithm of any kind; NULL: nothing that is known. */
const char *caution_of(const char *name);
/* A warning in the log if something is: "warning: WHAT NAME with PEER: why". */
void caution_log_name(const char *what, const char *name, const char *peer);
/* The same for each name of an agreement, each once. */
void caution_log(const struct agreement *a, const char *peer);

#endif
