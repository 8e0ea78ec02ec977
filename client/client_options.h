/* client/client_options.h: every keyword of ssh_config as a value (ssh_config(5)).
 * The rows are in client/client_rows.c. No other layer takes this struct: client/ fills each layer's own small
 * options from it. */
#ifndef CLIENT_CLIENT_OPTIONS_H
#define CLIENT_CLIENT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"
#include "base/str.h"
#include "conf/conf.h"
#include "conf/types.h"

/* Values of the word fields; which of them a field can have is said beside it. */
enum client_word {
	CLIENT_NO, CLIENT_YES, CLIENT_ASK, CLIENT_AUTO, CLIENT_AUTO_ASK, CLIENT_ALWAYS, CLIENT_FORCE, CLIENT_CONFIRM,
	CLIENT_ACCEPT_NEW, CLIENT_UNBOUND, CLIENT_HOST_BOUND, CLIENT_NO_PQ_KEX, CLIENT_ANY, CLIENT_INET, CLIENT_INET6,
	CLIENT_SESSION_NONE, CLIENT_SESSION_SUBSYSTEM, CLIENT_SESSION_DEFAULT, CLIENT_DEFAULT, CLIENT_FASTEST,
	CLIENT_FIXED
};

enum { CLIENT_ESCAPE_NONE = -1, CLIENT_TUN_ANY = -1, CLIENT_TIMEOUT_NONE = -1 };

struct client_add_keys { int mode; uint32_t lifetime_s; };       /* NO YES ASK CONFIRM; 0: for ever */
struct client_persist { bool on; uint32_t seconds; };            /* 0: for ever */
struct client_forward_agent { bool on; char *path; };            /* NULL: $SSH_AUTH_SOCK; "$NAME" before expansion */
struct client_tun { int local, remote; };
/* IdentityFile, CertificateFile: as written; equal names are dropped only when they have one origin. */
struct client_file { char *path; enum conf_origin origin; };
struct client_files { struct client_file *v; size_t count; };
struct client_cname { char *source, *target; };                  /* pattern lists */
struct client_cnames { struct client_cname *v; size_t count; };  /* empty: none */
/* ProxyJump: the last hop, and the hops before it as text. host NULL: none. */
struct client_jump { char *user, *host, *earlier; unsigned port; };      /* port 0: not given */

struct client_options {
	struct conf_marks marks;                 /* must be first */

	/* where to */
	char *user;                              /* NULL until filled: local user */
	char *hostname;                          /* as in the file, %h not expanded; NULL until filled */
	unsigned port;
	int address_family;                      /* ANY INET INET6 */
	char *bind_address, *bind_interface;
	char *tag;
	unsigned connection_attempts;
	int connect_timeout_s;                   /* CLIENT_TIMEOUT_NONE */
	bool tcp_keep_alive;
	struct conf_ipqos ipqos;
	char *proxy_command;                     /* NULL: none; "-": stdin and stdout */
	struct client_jump proxy_jump;
	bool proxy_use_fdpass;
	struct str_list canonical_domains;
	bool canonicalize_fallback_local;
	int canonicalize_hostname;               /* NO YES ALWAYS */
	unsigned canonicalize_max_dots;
	struct client_cnames canonicalize_permitted_cnames;
	char *version_addendum;
	char *refuse_connection;                 /* never kept: fatal where it is met */

	/* algorithms */
	struct conf_algs ciphers, macs, kex_algorithms;
	struct conf_algs host_key_algorithms, ca_signature_algorithms;
	struct conf_algs hostbased_accepted_algorithms, pubkey_accepted_algorithms;
	bool compression;
	struct conf_rekey rekey_limit;
	unsigned required_rsa_size;
	int warn_weak_crypto;                    /* YES NO NO_PQ_KEX */
	int fingerprint_hash;                    /* enum conf_hash */

	/* host keys */
	int strict_host_key_checking;            /* NO YES ASK ACCEPT_NEW */
	bool check_host_ip, hash_known_hosts, visual_host_key, no_host_authentication_for_localhost;
	char *host_key_alias;
	struct str_list global_known_hosts_file, user_known_hosts_file, revoked_host_keys;
	char *known_hosts_command;
	int verify_host_key_dns;                 /* NO YES ASK */
	int update_host_keys;                    /* NO YES ASK */

	/* authentication */
	bool batch_mode;
	unsigned number_of_password_prompts;
	char *preferred_authentications;         /* NULL: our order */
	bool password_authentication, kbd_interactive_authentication;
	char *kbd_interactive_devices;
	int pubkey_authentication;               /* NO YES UNBOUND HOST_BOUND */
	bool hostbased_authentication, enable_ssh_keysign;
	bool identities_only;
	struct client_files identity_file, certificate_file;
	char *identity_agent;                    /* NULL: $SSH_AUTH_SOCK; "none"; "SSH_AUTH_SOCK"; "$NAME" */
	char *pkcs11_provider, *security_key_provider;
	struct client_add_keys add_keys_to_agent;

	/* session */
	int request_tty;                         /* AUTO NO YES FORCE */
	int session_type;                        /* SESSION_* */
	bool stdin_null, fork_after_authentication;
	char *remote_command, *local_command;
	bool permit_local_command;
	struct str_list send_env;                /* patterns to send; removals are done */
	struct str_list set_env;                 /* NAME=VALUE */
	int escape_char;                         /* byte or CLIENT_ESCAPE_NONE */
	bool enable_escape_commandline;
	unsigned obscure_keystroke_timing_ms;    /* 0: no */
	unsigned server_alive_interval_s, server_alive_count_max;
	struct conf_timeouts channel_timeout;

	/* forwards */
	struct conf_forwards local_forward, remote_forward, dynamic_forward;
	bool clear_all_forwardings, exit_on_forward_failure, gateway_ports;
	struct conf_permits permit_remote_open;
	unsigned stream_local_bind_mask;
	bool stream_local_bind_unlink;
	struct client_forward_agent forward_agent;
	bool forward_x11, forward_x11_trusted;
	unsigned forward_x11_timeout_s;
	char *xauth_location;
	int tunnel;                              /* enum of conf/types.h */
	struct client_tun tunnel_device;

	/* multiplexing */
	int control_master;                      /* NO YES ASK AUTO AUTO_ASK */
	char *control_path;
	struct client_persist control_persist;

	/* logging */
	int log_level, syslog_facility;
	char *log_verbose;                       /* file:function:line patterns */
	char *ignore_unknown;

	/* HPN (HPN-README) */
	bool none_enabled, none_switch, none_mac_enabled;
	bool hpn_disabled, tcp_rcv_buf_poll, hpn_buffer_limit, disable_mtaes;
	unsigned tcp_rcv_buf_kib, hpn_buffer_size_kib;   /* 0: not set */
	bool metrics;
	unsigned metrics_interval_s;
	char *metrics_path;
	bool fallback, use_mptcp, happy_eyes;
	unsigned fallback_port, happy_delay_ms;
	unsigned compression_level;              /* 1..9 */

	/* our own */
	bool none_switch_from_file, none_switch_fallback, peer_memory;
	int compression_mode;                    /* AUTO FIXED */
	bool compression_zstd;
	int cipher_preference;                   /* DEFAULT FASTEST */
};

/* Who is connecting where, as far as known: for Host, Match, Include and tokens. Borrowed strings. */
struct client_subject {
	const char *host_arg;                    /* as typed */
	const char *host;                        /* canonical name in the final pass; NULL: host_arg */
	const char *local_user, *home;           /* of the passwd entry of the real uid */
	uid_t uid;
	const char *command;                     /* remote command or subsystem words, NULL: none */
	bool final_pass;
	bool want_final;                         /* OUT: some file holds a Match final */
	struct conf_source files;                /* what the first pass read, for the final one; private */
};

/* ---- reading, in this order */

void client_options_init(struct client_options *o);
void client_options_clear(struct client_options *o);
void client_options_copy(struct client_options *dst, const struct client_options *src);  /* dst: init */
/* A line as of -o. What is wrong has been logged when it fails. */
int client_options_line(struct client_options *o, const char *text, struct err *e) MUST_USE;
/* The same from a keyword and a value that needs no quoting: for -i -L -R -D, -p -P -l and user@, which count like
 * -o. */
int client_options_add(struct client_options *o, const char *keyword, const char *value, struct err *e) MUST_USE;
/* For the other flags: the value wins over every -o before and after it. */
int client_options_force(struct client_options *o, const char *keyword, const char *value, struct err *e) MUST_USE;
/* One pass over the files: file NULL: ~/.ssh/config, then the system's; "none": no file; else that file alone (which
 * must be there). Call again with who->final_pass set when client_options_need_final() says so. */
int client_options_read_files(struct client_options *o, const char *file, struct client_subject *who,
	struct err *e) MUST_USE;
bool client_options_need_final(const struct client_options *o, const struct client_subject *who);
/* Defaults, values that depend on others, and checks (NoneSwitch rules, empty lists that cannot be). Then nothing is
 * unset. Tokens are not expanded: see client/tokens.h. */
int client_options_fill(struct client_options *o, const struct client_subject *who, struct err *e) MUST_USE;

/* CONF_UNSET..CONF_COMMAND_LINE of a field: CLIENT_ORIGIN(o, port). After the fill unset ones are CONF_DEFAULT. */
#define CLIENT_ORIGIN(o, field) client_options_origin((o), offsetof(struct client_options, field))
enum conf_origin client_options_origin(const struct client_options *o, size_t offset);
/* Level of what is sent when it is compressed: 1..9, or 0: it adapts (CompressionLevel, CompressionMode). */
int client_options_compress_level(const struct client_options *o);
static inline bool client_options_was_set(enum conf_origin origin) { return origin > CONF_DEFAULT; }

/* `ssh -G`: one line a call, without newline. */
void client_options_dump(const struct client_options *o, const char *host_arg,
	void (*line)(void *ctx, const char *text), void *ctx);

extern const struct conf_table client_options_table;
/* For -c, -m, -Q and re-key lists. */
extern const struct conf_alg_kind client_kind_ciphers, client_kind_macs, client_kind_kex, client_kind_keys,
	client_kind_ca_keys;

/* What may stand where a command is made of it: no signs that mean something to a shell. */
bool client_host_arg_ok(const char *host);
bool client_user_arg_ok(const char *user);

#endif
