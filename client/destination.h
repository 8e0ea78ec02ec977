/* client/destination.h: [user@]host and ssh:// operands (ssh(1)). Layer: client. */
#ifndef CLIENT_DESTINATION_H
#define CLIENT_DESTINATION_H

#include "base/err.h"

struct destination { char *user, *host, *port; };        /* owned; user and port NULL if not given */
int destination_parse(const char *text, const char *scheme, struct destination *out, struct err *e) MUST_USE;
void destination_clear(struct destination *d);

#endif
