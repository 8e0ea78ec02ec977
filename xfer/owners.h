/* xfer/owners.h: names of users and groups, remembered: a folder has thousands of entries and few owners. */
#ifndef XFER_OWNERS_H
#define XFER_OWNERS_H

#include <sys/types.h>

struct owners;
struct owners *owners_new(void);
void owners_free(struct owners *o);
/* The name, or the number as text; NULL from the _known forms if there is no such id. Valid until the next
 * question of the same kind. */
const char *owners_user(struct owners *o, uid_t uid);
const char *owners_group(struct owners *o, gid_t gid);
const char *owners_user_known(struct owners *o, uid_t uid);
const char *owners_group_known(struct owners *o, gid_t gid);

/* Home folder of a user by name, allocated; NULL if there is no such user. */
char *owners_home(const char *user);

#endif
