/* kex/moduli.h: the file of groups for group exchange (moduli(5)), as the system's ssh has it too. */
#ifndef KEX_MODULI_H
#define KEX_MODULI_H

#include "kex/kex.h"

struct moduli;
/* Reads a file now, as text; its lines are looked at when a group is asked for, so that this is cheap and works before a
 * chroot. Whatever is wrong with the file (missing, over 4 MiB) is told then, and the built-in groups serve. Never NULL. */
struct moduli *moduli_new(const char *path);
void moduli_free(struct moduli *m);                      /* NULL is fine */
/* The same for text that is there already. */
struct moduli *moduli_of_text(const char *path, struct view text);
/* kex_input.choose_group with a struct moduli as ctx: at random among the lines with the smallest size that is large enough, else
 * with the largest one. */
int moduli_choose(void *ctx, const struct kex_group_size *size, struct buf *p, struct buf *g, struct err *e) MUST_USE;
/* Whether a list of methods holds one that wants such a file. */
bool moduli_wanted(const char *methods);

#endif
