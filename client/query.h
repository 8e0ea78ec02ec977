/* client/query.h: the lists of `ssh -Q`. Layer: client. */
#ifndef CLIENT_QUERY_H
#define CLIENT_QUERY_H

#include "base/err.h"

/* Prints one name a line. ERR_USAGE if the question is not known. argument: the word behind it on the command line, NULL if
 * there is none; "speed" and "speed=json" take a cipher from it, the others do not look at it. */
int client_query_print(const char *what, const char *argument, struct err *e) MUST_USE;

#endif
