/* io/rest.h: gives memory back when a connection comes to rest after its start. */
#ifndef IO_REST_H
#define IO_REST_H

#include <stdint.h>

struct loop;
struct rest;

struct rest_user {
	uint64_t (*moved)(void *ctx);    /* bytes that went over the connection so far */
	void (*resting)(void *ctx);      /* frees what is not needed while it rests */
	void *ctx;
};

/* Looks every second; the first one in which hardly anything moved ends it: `resting` is called, once, and
 * then platform/giveback.h. */
struct rest *rest_new(struct loop *l, const struct rest_user *u);
void rest_free(struct rest *r);                  /* NULL is fine */

#endif
