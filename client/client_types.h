/* client/client_types.h: kinds of values that only ssh_config has; for client_rows.c. */
#ifndef CLIENT_CLIENT_TYPES_H
#define CLIENT_CLIENT_TYPES_H

#include "conf/conf.h"

extern const struct conf_type client_type_yes_no;        /* bool: yes or no only */
extern const struct conf_type client_type_add_keys;      /* struct client_add_keys */
extern const struct conf_type client_type_persist;       /* struct client_persist */
extern const struct conf_type client_type_forward_agent; /* struct client_forward_agent */
extern const struct conf_type client_type_tun;           /* struct client_tun */
extern const struct conf_type client_type_cnames;        /* struct client_cnames */
extern const struct conf_type client_type_jump;          /* struct client_jump */
extern const struct conf_type client_type_files;         /* struct client_files; CONF_COLLECTS */
extern const struct conf_type client_type_send_env;      /* struct str_list; CONF_COLLECTS */
extern const struct conf_type client_type_escape;        /* int */
extern const struct conf_type client_type_obscure;       /* unsigned, ms */
extern const struct conf_type client_type_refuse;        /* char *, never kept */
extern const struct conf_type client_type_log_verbose;   /* char * */
extern const struct conf_type client_type_addendum;      /* char *, CONF_RAW */

/* Host and Match (client_blocks.c): nothing is kept, the block state changes. */
extern const struct conf_type client_type_host, client_type_match;

#endif
