/* conf/types.h: kinds of values that both configuration languages know. Each is a struct conf_type for rows. */
#ifndef CONF_TYPES_H
#define CONF_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/str.h"
#include "conf/conf.h"

extern const struct conf_type conf_bool;         /* bool: yes, no (client also true, false), any case */
extern const struct conf_type conf_string;       /* char *: one word */
extern const struct conf_type conf_string_none;  /* char *: one word; none gives NULL; a dump shows none */
extern const struct conf_type conf_string_opt;   /* char *: one word; none gives NULL; a dump leaves it out then */
extern const struct conf_type conf_raw;          /* char *: CONF_RAW text; none gives NULL; a dump leaves it out then */
extern const struct conf_type conf_raw_none;     /* the same; a dump shows none */
extern const struct conf_type conf_port;         /* unsigned: 1..65535 or a service name */
extern const struct conf_type conf_octal;        /* unsigned: 0..0777 */
extern const struct conf_type conf_log_level;    /* int: enum log_level */
extern const struct conf_type conf_facility;     /* int: of <syslog.h> */
extern const struct conf_type conf_list;         /* struct str_list: all words of one line; none gives an empty list */
/* struct str_list, CONF_COLLECTS, a dump line each: one word a line; all words of each line. */
extern const struct conf_type conf_items, conf_words_items;

/* int out of a table: arg is struct conf_word[], ended by a NULL word; any case; the first word of a value is shown. */
extern const struct conf_type conf_word_type;
extern const struct conf_type conf_word_exact;   /* the same; words in lower case only */
struct conf_word { const char *word; int value; };

/* unsigned: arg is struct conf_range, or NULL for 0..INT_MAX. */
extern const struct conf_type conf_int;
struct conf_range { unsigned min, max; };
extern const struct conf_type conf_level;        /* the same; 0 is "auto", on the command line only */

extern const struct conf_type conf_seconds;      /* unsigned: a time; none is not known */
/* int: a time, or none which leaves the row unset; -1 is "none". */
extern const struct conf_type conf_seconds_none;

/* RekeyLimit. 0 is the default of each. */
struct conf_rekey { uint64_t bytes; uint32_t seconds; };
extern const struct conf_type conf_rekey_type;

/* IPQoS: values of the TOS byte, or CONF_IPQOS_NONE: leave it to the system. */
enum { CONF_IPQOS_NONE = -1 };
struct conf_ipqos { int interactive, bulk; };
extern const struct conf_type conf_ipqos_type;

/* ChannelTimeout: channel type patterns; "global" means all channels together. First match counts. */
struct conf_timeout { char *pattern, *text; uint32_t seconds; };  /* text: as written */
struct conf_timeouts { struct conf_timeout *v; size_t count; };
extern const struct conf_type conf_timeouts_type;

/* SetEnv: "NAME=VALUE", checked. Shown one a line. */
extern const struct conf_type conf_setenv;

/* FingerprintHash: the numbers are this enum's, not crypto/digest.h's. */
enum conf_hash { CONF_HASH_MD5, CONF_HASH_SHA1, CONF_HASH_SHA256, CONF_HASH_SHA384, CONF_HASH_SHA512 };
extern const struct conf_word conf_hash_words[];

/* Tunnel, PermitTunnel: bits of the modes (numbers on the wire, OpenSSH's PROTOCOL). */
enum { CONF_TUNNEL_NO = 0, CONF_TUNNEL_POINT_TO_POINT = 1, CONF_TUNNEL_ETHERNET = 2, CONF_TUNNEL_BOTH = 3 };

/* ---- algorithm lists */

enum { CONF_ALG_MAX = 64 };
struct conf_algs {
	char *names;             /* comma separated, built ones only, in order; "" is a list without names; owned */
	char prefix;             /* 0, '+', '-' or '^': how it was written */
};
extern const struct conf_type conf_algs_type;    /* arg: struct conf_alg_kind */
struct conf_alg_kind {
	const char *what;                        /* for messages: "cipher" */
	const char *(*built_at)(size_t i);       /* names that this build knows; NULL past the end */
	const char *const *unbuilt;              /* names that are accepted and dropped; NULL-terminated */
	const char *(*defaults)(void);           /* comma separated; may be filtered by what is built */
	bool wildcards;                          /* patterns may stand after nothing, + and ^ too */
	bool (*legacy)(const char *name);        /* matched by no pattern, only taken when it is named; or NULL */
	/* Called for a name in a list that applies, before built_at: makes it available if that takes something. Negative, with
	 * the reason: it is not offered, which is said. Or NULL. */
	int (*prepare)(const char *name, struct err *e);
	bool quiet;                              /* of lists that were read before: nothing is said */
	const char *none_hint;                   /* what to say about the name "none", which is refused then; or NULL */
};
/* Names that OpenSSH knows and that may not be built. */
extern const char *const conf_unbuilt_kex[], *const conf_unbuilt_ciphers[], *const conf_unbuilt_macs[],
	*const conf_unbuilt_keys[], *const conf_unbuilt_ca_keys[];
/* The default lists of signature algorithms, before dropping what is not built. */
extern const char conf_default_keys[], conf_default_ca_keys[];
/* A list applied to defaults, as the type does it: for -c and -m. Allocated; NULL and error if it is not valid. */
char *conf_algs_apply(const struct conf_alg_kind *k, const char *text, struct err *e);
/* The names of list that k has built; allocated. */
char *conf_algs_filter(const struct conf_alg_kind *k, const char *list);

/* CompressionLevel and CompressionMode as one number: 1..9, or 0: it adapts. A level alone fixes it, and one of the command line
 * wins over a mode in a file. */
int conf_compress_level(unsigned level, enum conf_origin level_from, bool adapts, enum conf_origin adapts_from);

/* ---- forwards (ssh_config(5), LocalForward) */

enum conf_forward_kind { CONF_FORWARD_LOCAL, CONF_FORWARD_REMOTE, CONF_FORWARD_DYNAMIC };
struct conf_forward {
	char *listen_host;       /* NULL: none given; "" and "*" mean all; owned */
	unsigned listen_port;    /* 0 only for remote: the server picks */
	char *listen_path;       /* instead of host and port */
	char *connect_host;      /* NULL with connect_path, or when the target is SOCKS */
	unsigned connect_port;
	char *connect_path;
	bool socks;              /* DynamicForward, or RemoteForward without a target */
};
struct conf_forwards { struct conf_forward *v; size_t count; };
extern const struct conf_type conf_forwards_type;        /* CONF_COLLECTS; arg: const enum conf_forward_kind * */
/* One spec as of -L, -R, -D and ~C: the two arguments of a file are joined by ':'. ERR_USAGE with what is wrong. */
int conf_forward_parse(const char *spec, enum conf_forward_kind kind, struct conf_forward *out, struct err *e) MUST_USE;
void conf_forward_clear(struct conf_forward *f);
bool conf_forward_equal(const struct conf_forward *a, const struct conf_forward *b);
/* Takes what *f owns; false and nothing taken if it is there already. */
bool conf_forwards_add(struct conf_forwards *l, struct conf_forward *f);
void conf_forwards_clear(struct conf_forwards *l);

/* ---- permissions: PermitOpen, PermitListen, PermitRemoteOpen */

enum conf_permit_kind { CONF_PERMIT_ANY, CONF_PERMIT_NONE, CONF_PERMIT_LIST };
/* host: "*" is any (for listening it may be a pattern); port 0: any. text: as it is shown. */
struct conf_permit { char *host, *text; unsigned port; };
struct conf_permits { enum conf_permit_kind kind; struct conf_permit *v; size_t count; };
extern const struct conf_type conf_permits_type;         /* PermitOpen, PermitRemoteOpen: host:port */
extern const struct conf_type conf_permits_listen_type;  /* PermitListen: [host:]port */
/* "host:port", "[v6]:port", "*:*"; listen: "port" alone too. ERR_USAGE. */
int conf_permit_parse(const char *text, bool listen, struct conf_permit *out) MUST_USE;
void conf_permit_clear(struct conf_permit *p);

/* ---- small parsers, for programs too */

int conf_parse_port(const char *text, unsigned min, unsigned *out) MUST_USE;     /* number or service name */
/* "host", "host:port", "[v6]", "[v6]:port", "v6": host is allocated, without brackets; *port is 0 if there is none. */
int conf_parse_host_port(const char *text, char **host, unsigned *port) MUST_USE;
/* "[host]:port" for a dump. Allocated. */
char *conf_format_host_port(const char *host, unsigned port);

#endif
