/* server/server_options.h: every keyword of sshd_config as a value (sshd_config(5)).
 * The rows are in server/server_rows.c. No other layer takes this struct: server/ fills each layer's own small
 * options from it. */
#ifndef SERVER_SERVER_OPTIONS_H
#define SERVER_SERVER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"
#include "conf/conf.h"
#include "conf/types.h"
#include "wire/buf.h"
#include "wire/reader.h"

/* Values of the word fields; which of them a field can have is said beside it. */
enum server_word {
	SERVER_NO, SERVER_YES, SERVER_LOCAL, SERVER_REMOTE, SERVER_PROHIBIT_PASSWORD, SERVER_FORCED_COMMANDS_ONLY,
	SERVER_SHOSTS_ONLY, SERVER_CLIENT_SPECIFIED, SERVER_ANY, SERVER_INET, SERVER_INET6, SERVER_AUTO, SERVER_FIXED,
	SERVER_DEFAULT, SERVER_FASTEST
};

struct server_ports { unsigned v[256]; size_t count; };
struct server_listen { char *host; unsigned port; };             /* host NULL: all; port 0: every Port */
struct server_listens { struct server_listen *v; size_t count; };        /* at most 16; empty: all addresses */
struct server_startups { unsigned start, rate, full; };
struct server_block_size { unsigned v4, v6; };
struct server_subsystem { char *name, *command; };               /* command: as one line, quoted again where needed */
struct server_subsystems { struct server_subsystem *v; size_t count; };
struct server_permit_env { bool yes; char *patterns; };          /* patterns: NULL: all when yes */

enum server_penalty {
	SERVER_PENALTY_CRASH, SERVER_PENALTY_AUTHFAIL, SERVER_PENALTY_NOAUTH, SERVER_PENALTY_INVALIDUSER,
	SERVER_PENALTY_GRACE, SERVER_PENALTY_REFUSE, SERVER_PENALTY_COUNT
};
struct server_penalties {
	bool enabled;
	uint64_t us[SERVER_PENALTY_COUNT];       /* 0: that one is off */
	uint64_t max_us, min_us;
	unsigned max_sources4, max_sources6;
	bool deny_all4, deny_all6;               /* overflow; otherwise permissive */
	unsigned given;                          /* private: which parts were set */
};
enum { SERVER_PENALTIES_GIVEN = 1 << 16 };

enum { SERVER_PUBKEY_TOUCH = 1, SERVER_PUBKEY_VERIFY = 2 };      /* PubkeyAuthOptions */

struct server_options {
	struct conf_marks marks;                 /* must be first */

	/* listening */
	struct server_ports port;                /* never empty once filled */
	int address_family;                      /* ANY INET INET6 */
	struct server_listens listen_address;
	struct str_list host_key, host_certificate;      /* absolute */
	char *host_key_agent;
	char *pid_file, *moduli_file;            /* NULL: none */
	unsigned login_grace_time_s;             /* 0: none */
	struct server_startups max_startups;
	unsigned per_source_max_startups;        /* UINT_MAX: none */
	struct server_block_size per_source_net_block_size;
	struct server_penalties per_source_penalties;
	char *per_source_penalty_exempt_list;
	bool tcp_keep_alive, use_dns;
	struct conf_ipqos ipqos;
	char *version_addendum;
	char *sshd_auth_path, *sshd_session_path;

	/* algorithms */
	struct conf_algs ciphers, macs, kex_algorithms;
	struct conf_algs host_key_algorithms, ca_signature_algorithms;
	struct conf_algs hostbased_accepted_algorithms, pubkey_accepted_algorithms;
	bool compression;
	struct conf_rekey rekey_limit;
	unsigned required_rsa_size;
	int fingerprint_hash;                    /* enum conf_hash */

	/* who may come in */
	struct str_list allow_users, deny_users, allow_groups, deny_groups;
	int permit_root_login;                   /* NO YES PROHIBIT_PASSWORD FORCED_COMMANDS_ONLY */
	bool refuse_connection;
	bool strict_modes;

	/* authentication */
	bool use_pam;
	char *pam_service_name;
	struct str_list authentication_methods;  /* "m1,m2"; empty: any */
	unsigned max_auth_tries;
	bool password_authentication, kbd_interactive_authentication, pubkey_authentication, hostbased_authentication;
	bool permit_empty_passwords;
	unsigned pubkey_auth_options;            /* SERVER_PUBKEY_* */
	struct str_list authorized_keys_file;    /* empty: none; %h %u %U not expanded */
	char *authorized_keys_command, *authorized_keys_command_user;
	char *authorized_principals_file, *authorized_principals_command, *authorized_principals_command_user;
	char *trusted_user_ca_keys;
	struct str_list revoked_keys;
	char *security_key_provider;
	bool hostbased_uses_name_from_packet_only, ignore_user_known_hosts;
	int ignore_rhosts;                       /* YES NO SHOSTS_ONLY */
	char *banner;                            /* NULL: none */
	bool expose_auth_info;

	/* session */
	unsigned max_sessions;
	bool permit_tty, permit_user_rc, print_motd, print_last_log;
	char *force_command, *chroot_directory;  /* NULL: none */
	struct str_list accept_env;
	struct str_list set_env;                 /* NAME=VALUE */
	struct server_permit_env permit_user_environment;
	struct server_subsystems subsystem;
	unsigned client_alive_interval_s, client_alive_count_max;
	struct conf_timeouts channel_timeout;
	unsigned unused_connection_timeout_s;    /* 0: none */
	char *rdomain;

	/* forwards */
	bool allow_agent_forwarding, disable_forwarding;
	int allow_tcp_forwarding, allow_stream_local_forwarding;         /* YES NO LOCAL REMOTE */
	int gateway_ports;                       /* NO YES CLIENT_SPECIFIED */
	struct conf_permits permit_open, permit_listen;
	int permit_tunnel;                       /* enum of conf/types.h */
	bool x11_forwarding, x11_use_localhost;
	unsigned x11_display_offset;
	char *xauth_location;                    /* NULL: none */
	unsigned stream_local_bind_mask;
	bool stream_local_bind_unlink;

	/* logging */
	int log_level, syslog_facility;
	struct str_list log_verbose;

	/* HPN (HPN-README); all but use_mptcp work in Match blocks */
	bool none_enabled, none_mac_enabled;     /* the second counts only with the first */
	bool hpn_disabled, tcp_rcv_buf_poll, hpn_buffer_limit, disable_mtaes;
	unsigned tcp_rcv_buf_kib, hpn_buffer_size_kib;   /* 0: not set */
	bool use_mptcp;
	unsigned compression_level;              /* 1..9 */

	/* our own */
	int compression_mode;                    /* AUTO FIXED */
	bool compression_zstd;
	int cipher_preference;                   /* DEFAULT FASTEST */
};

/* ---- the configuration of a server: its text, read once, and what the command line added */

struct server_config;

struct server_config *server_config_new(void);
void server_config_free(struct server_config *c);
/* -o "Keyword value" and, as such lines, -g -h -c -4 -6. Before server_config_load. ERR_NONE_FOUND: unknown keyword
 * or extra arguments (exit 1), ERR_USAGE: bad value (exit 255). */
int server_config_add_line(struct server_config *c, const char *text, struct err *e) MUST_USE;
/* -p: Port lines of the file do not count then. */
int server_config_add_port(struct server_config *c, unsigned port, struct err *e) MUST_USE;
/* Reads path ("none": no file) and everything it includes, once; evaluates the global part and fills it with defaults.
 * ERR_NONE_FOUND: no such file; ERR_USAGE: what is wrong has been reported, or is in e. */
int server_config_load(struct server_config *c, const char *path, struct err *e) MUST_USE;
/* The global part. Borrowed. */
const struct server_options *server_config_options(const struct server_config *c);
/* CipherPreference fastest: measures the ciphers and MACs for some milliseconds, and has them in that order from now on, for
 * those too that the configuration is handed over to. Otherwise does nothing. Once, after server_config_load. */
void server_config_prefer(struct server_config *c);

/* Hand-over to another process: lines, file names and texts; get evaluates them again and reads no file. */
void server_config_put(const struct server_config *c, struct buf *out);
struct server_config *server_config_get(struct reader *r, struct err *e);

/* Who is at the other end, for Match. A NULL (or -1) criterion does not match. */
struct server_subject {
	const char *user;
	bool invalid_user;                       /* no such account */
	const struct str_list *groups;           /* names, of a valid user */
	const char *host;                        /* name when UseDNS, else the address */
	const char *address, *local_address;     /* numeric */
	int local_port;
	const char *rdomain;
};
/* The options for a connection: a copy of the global ones in which those of matching blocks stand. out: zeroed;
 * clear it. */
int server_config_match(const struct server_config *c, const struct server_subject *who, struct server_options *out,
	struct err *e) MUST_USE;
/* -C "user=root,addr=::1,...": adds to a subject; strings are kept in keep. */
int server_subject_parse(struct server_subject *who, const char *spec, struct str_list *keep, struct err *e) MUST_USE;

void server_options_clear(struct server_options *o);
void server_options_copy(struct server_options *dst, const struct server_options *src);  /* dst: zeroed */

/* CONF_UNSET..CONF_COMMAND_LINE of a field. */
#define SERVER_ORIGIN(o, field) server_options_origin((o), offsetof(struct server_options, field))
enum conf_origin server_options_origin(const struct server_options *o, size_t offset);
/* Level of what is sent when it is compressed: 1..9, or 0: it adapts (CompressionLevel, CompressionMode). */
int server_options_compress_level(const struct server_options *o);

/* `sshd -T`: one line a call, without newline. */
void server_options_dump(const struct server_options *o, void (*line)(void *ctx, const char *text), void *ctx);

/* Whether some list of AuthenticationMethods needs only methods that are enabled. Without one nobody can come in. */
bool server_options_methods_usable(const struct server_options *o);
/* Whether method (and maybe submethod: "keyboard-interactive:pam") may be named in AuthenticationMethods. */
bool server_auth_method_known(const char *method);

extern const struct conf_table server_options_table;
extern const struct conf_alg_kind server_kind_ciphers, server_kind_macs, server_kind_kex, server_kind_keys,
	server_kind_ca_keys;

#endif
