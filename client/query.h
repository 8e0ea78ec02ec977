/* client/query.h: the lists of `ssh -Q` (spec options-client 4). Layer: client. */
#ifndef CLIENT_QUERY_H
#define CLIENT_QUERY_H

#include "base/err.h"

/* Prints one name a line. ERR_USAGE if the question is not known. */
int client_query_print(const char *what, struct err *e) MUST_USE;

#endif
