/* server/server_types.h: kinds of values that only sshd_config has; for server_rows.c. */
#ifndef SERVER_SERVER_TYPES_H
#define SERVER_SERVER_TYPES_H

#include <stdbool.h>
#include "conf/conf.h"

struct server_subject;

/* What parsers of this side need (conf_line.ctx). */
struct server_parse {
	const char *cwd, *home;          /* where the first process was started; home of its user */
	bool ports_from_flags;           /* -p: Port in a file does not count */
	const struct server_subject *who;        /* NULL: the global pass */
};

extern const struct conf_type server_type_ports;         /* struct server_ports; CONF_COLLECTS */
extern const struct conf_type server_type_listens;       /* struct server_listens; CONF_COLLECTS */
extern const struct conf_type server_type_startups;      /* struct server_startups */
extern const struct conf_type server_type_per_source;    /* unsigned, none is UINT_MAX */
extern const struct conf_type server_type_block_size;    /* struct server_block_size */
extern const struct conf_type server_type_penalties;     /* struct server_penalties; CONF_COLLECTS */
extern const struct conf_type server_type_addresses;     /* char *: list of addresses and CIDR, none is NULL */
extern const struct conf_type server_type_subsystems;    /* struct server_subsystems; CONF_COLLECTS */
extern const struct conf_type server_type_permit_env;    /* struct server_permit_env */
extern const struct conf_type server_type_pubkey_options;        /* unsigned */
extern const struct conf_type server_type_methods;       /* struct str_list */
extern const struct conf_type server_type_unused;        /* unsigned: a time, none is 0 */
extern const struct conf_type server_type_yes_delayed;   /* bool */
extern const struct conf_type server_type_path;          /* char *: made absolute; none is NULL */
extern const struct conf_type server_type_paths;         /* struct str_list: made absolute, one a line; CONF_COLLECTS */
extern const struct conf_type server_type_home_path;     /* char *: ~ expanded; none is NULL */
extern const struct conf_type server_type_home_paths;    /* struct str_list: ~ expanded; not shown when empty */
extern const struct conf_type server_type_list_opt;      /* struct str_list: not shown when empty */
extern const struct conf_type server_type_command;       /* char *, CONF_RAW: absolute; none is NULL */
extern const struct conf_type server_type_users;         /* struct str_list: user patterns; CONF_COLLECTS */
extern const struct conf_type server_type_env_names;     /* struct str_list: AcceptEnv; CONF_COLLECTS */
extern const struct conf_type server_type_rdomain;       /* char *: always refused */

/* Match (server_match.c). */
extern const struct conf_type server_type_match;

#endif
