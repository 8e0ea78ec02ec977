/* xfer/operand.h: what stands on scp's command line: local paths, [user@]host:path, scp:// URIs. */
#ifndef XFER_OPERAND_H
#define XFER_OPERAND_H

#include <stdbool.h>
#include "base/err.h"

struct operand {
	bool remote;
	char *user;                      /* NULL: not given */
	char *host;                      /* without brackets; NULL if local */
	int port;                        /* -1: not given (only URIs can) */
	char *path;                      /* "" is the home of the far side */
};
/* ERR_USAGE with the reason: "... : invalid user name", a malformed URI, no host. */
int operand_parse(const char *s, struct operand *o, struct err *e) MUST_USE;
void operand_clear(struct operand *o);
/* The same account on the same machine. */
bool operand_same_host(const struct operand *a, const struct operand *b);
/* In the name of a user, as in OpenSSH: quotes, backquote, blank, # and 8-bit characters are refused; and a leading dash. */
bool operand_user_valid(const char *user);

#endif
