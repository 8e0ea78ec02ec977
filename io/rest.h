/* io/rest.h: gives memory back when a connection comes to rest after its start. */
#ifndef IO_REST_H
#define IO_REST_H

#include <stdint.h>

struct loop;
struct rest;

/* moved: bytes that went over the connection so far. Looks every second; the first one in which hardly anything moved ends it,
 * with platform/giveback.h. */
struct rest *rest_new(struct loop *l, uint64_t (*moved)(void *ctx), void *ctx);
void rest_free(struct rest *r);                  /* NULL is fine */

#endif
