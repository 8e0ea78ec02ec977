/* server/monitor_msg.h: the structured messages of monitor_wire.h in pairs. Strings are owned after get. */
#ifndef SERVER_MONITOR_MSG_H
#define SERVER_MONITOR_MSG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"
#include "base/str.h"
#include "keys/authorized_keys.h"
#include "proposal.h"
#include "wire/buf.h"
#include "wire/reader.h"

/* Both ends of a connection, as text. */
struct endpoints {
	char *remote_ip, *local_ip;      /* "UNKNOWN" and 65535 if it is no internet socket */
	uint16_t remote_port, local_port;
};
void endpoints_put(const struct endpoints *p, struct buf *out);
int endpoints_get(struct reader *r, struct endpoints *out) MUST_USE;
void endpoints_clear(struct endpoints *p);

/* MON_SETUP to a pre-auth process: all it gets to know. */
struct preauth_setup {
	bool drop;                       /* to uid and gid, inside chroot; false when not root */
	uid_t uid;
	gid_t gid;
	char *chroot_dir;
	bool trap;                       /* of the sandbox: say which call was forbidden */
	bool log_to_file;                /* stderr may be a file */
	int log_level;
	struct endpoints ends;
	char *software;                  /* of our version line */
	struct proposal proposal;
	struct str_list host_keys;       /* base64 of public blobs */
	char *server_sig_algs;
	char *moduli_file;               /* read before chroot if the proposal has group exchange; "" none */
};
void preauth_setup_put(const struct preauth_setup *s, struct buf *out);
int preauth_setup_get(struct reader *r, struct preauth_setup *out, struct err *e) MUST_USE;
void preauth_setup_clear(struct preauth_setup *s);

/* MON_VERDICT. */
enum mon_verdict_kind { MON_NO, MON_YES, MON_KEY_OK, MON_DISCONNECT, MON_VERDICT_COUNT };
struct mon_verdict {
	enum mon_verdict_kind kind;
	char *banner;                    /* to be sent first; "" none */
	char *sig_algs;                  /* for a second EXT_INFO; "" none */
	char *methods;                   /* MON_NO: that can continue */
	bool partial;
	uint32_t reason;                 /* MON_DISCONNECT */
	char *text;
};
void mon_verdict_put(const struct mon_verdict *v, struct buf *out);
int mon_verdict_get(struct reader *r, struct mon_verdict *out, struct err *e) MUST_USE;
void mon_verdict_clear(struct mon_verdict *v);

/* MON_SETUP to a user process. */
struct user_setup {
	/* identity; read before it is dropped */
	bool drop;
	uid_t uid;
	gid_t gid;
	char *chroot_dir;                /* NULL: none; tokens expanded, ownership checked by the user process */
	char *ciphers;                   /* the configured list: what it needs is loaded before chroot */
	char *moduli_file;               /* read before chroot; "" none, or not needed */
	/* the account */
	char *user, *home, *shell;
	bool user_is_root;
	/* the connection */
	struct endpoints ends;
	char *host;                      /* name (UseDNS) or address of the peer */
	char *software;                  /* of our version line: part of every exchange hash */
	struct view session_id, host_key;        /* as the monitor knows them; borrowed from the reader */
	struct str_list group_names;     /* for Match */
	/* what the key allows */
	struct key_options key_options;
	/* the rest */
	bool password_expired;
	bool use_pam;
	struct str_list pam_environment; /* NAME=VALUE */
	char *login_messages;            /* of PAM, for the terminal */
	char *auth_info;                 /* lines for ExposeAuthInfo; "" none */
	struct str_list host_keys;       /* base64 of public blobs */
	int log_level;
	bool debug;
	struct view config;              /* server_config_put; borrowed from the reader */
};
void user_setup_put(const struct user_setup *s, struct buf *out);
int user_setup_get(struct reader *r, struct user_setup *out, struct err *e) MUST_USE;
void user_setup_clear(struct user_setup *s);

/* MON_PTY_GRANT; two descriptors follow when ok. */
struct pty_grant {
	bool ok;
	char *name;                      /* "/dev/pts/3" */
	int64_t last_login;              /* 0: none known */
	char *last_host;
};
void pty_grant_put(const struct pty_grant *g, struct buf *out);
int pty_grant_get(struct reader *r, struct pty_grant *out, struct err *e) MUST_USE;
void pty_grant_clear(struct pty_grant *g);

#endif
