/* client/query_speed.h: `ssh -Q speed`: every cipher with every MAC against the clock. Layer: client. */
#ifndef CLIENT_QUERY_SPEED_H
#define CLIENT_QUERY_SPEED_H

#include <stdbool.h>
#include "base/err.h"

/* Measures for about three seconds and prints a table, or JSON, the fastest first. cipher: only that one, "none" too; NULL: all,
 * and none. ERR_USAGE if there is no such cipher. */
int client_query_speed(const char *cipher, bool json, struct err *e) MUST_USE;

#endif
