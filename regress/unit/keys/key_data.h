/* regress/unit/keys/key_data.h: the files of data/, for the tests of keys/. */
#ifndef KEY_DATA_H
#define KEY_DATA_H

#include <stddef.h>
#include "keys/key.h"

#define DATA_PASSPHRASE "open sesame"

char *data_path(const char *name);                       /* allocated */
char *data_read(const char *name, size_t *n);            /* allocated, NUL behind it; the test fails without the file */
char *data_line(const char *name, size_t number);        /* from 1; allocated, without its end */
struct key *data_public(const char *name);               /* of NAME.pub */
struct key *data_private(const char *name);              /* not encrypted */
char *data_temp_dir(void);                               /* allocated; remove with data_remove_dir */
void data_remove_dir(char *dir);                         /* and frees it */

#endif
