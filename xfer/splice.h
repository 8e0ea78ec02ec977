/* xfer/splice.h: two byte links joined through here: what one brings goes on to the other, both ways (scp -3 -O). */
#ifndef XFER_SPLICE_H
#define XFER_SPLICE_H

#include <stdint.h>

struct link;
struct loop;
struct splice;
/* done is called once, from the loop, when both directions have ended. The links stay the caller's. */
struct splice *splice_new(struct loop *l, struct link *a, struct link *b, void (*done)(void *ctx), void *ctx);
void splice_free(struct splice *s);

#endif
