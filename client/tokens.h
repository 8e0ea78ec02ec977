/* client/tokens.h: what %h, %r, ${NAME} and ~ become in each keyword (ssh_config(5), TOKENS). */
#ifndef CLIENT_TOKENS_H
#define CLIENT_TOKENS_H

#include <sys/types.h>
#include "base/err.h"
#include "client/client_options.h"

/* The values. Borrowed strings; NULL: not known yet, an error if used. */
struct client_tokens {
	const char *home;                /* %d, ~ */
	const char *host;                /* %h: after Hostname and canonicalisation */
	const char *host_arg;            /* %n: as typed */
	const char *host_key_alias;      /* %k; NULL: host_arg */
	const char *jump_host;           /* %j; NULL: "" */
	const char *remote_user;         /* %r */
	const char *local_user;          /* %u */
	char uid[16], port[8];           /* %i %p */
	char local_host[256], local_label[256];  /* %l %L */
	/* KnownHostsCommand, LocalCommand: set by who runs them */
	const char *lookup_name, *lookup_reason, *key_type, *fingerprint, *key_base64;   /* %H %I %t %f %K */
	const char *tun;                 /* %T */
	const char *config;              /* no token: -F as given, for the ssh of a jump; NULL: the usual files */
};

enum client_token_set {
	CLIENT_TOKENS_DEFAULT,           /* %C %d %h %i %j %k %L %l %n %p %r %u */
	CLIENT_TOKENS_USER,              /* the same without %r %C */
	CLIENT_TOKENS_PROXY,             /* %h %k %n %p %r */
	CLIENT_TOKENS_HOSTNAME,          /* %h */
	CLIENT_TOKENS_LOCAL_COMMAND,     /* default and %T */
	CLIENT_TOKENS_KNOWN_HOSTS        /* default and %H %I %t %f %K */
};

/* From filled options whose Hostname has been expanded. */
void client_tokens_fill(struct client_tokens *t, const struct client_options *o, const struct client_subject *who);
/* Tokens only. Allocated; NULL: unknown token, the text names it. */
char *client_tokens_expand(const struct client_tokens *t, enum client_token_set set, const char *text, struct err *e);
/* Tokens and ${NAME}. */
char *client_tokens_expand_env(const struct client_tokens *t, enum client_token_set set, const char *text,
	struct err *e);
/* For a keyword that names a file: ~, then tokens and ${NAME}. Allocated; NULL and error. */
char *client_tokens_path(const struct client_tokens *t, const char *path, struct err *e);
/* Tokens and ${NAME} by options as far as they have been read: for Match and Include, where %k falls back to %h. */
char *client_subject_expand(const struct client_options *o, const struct client_subject *who, bool env,
	const char *text, struct err *e);
/* Hostname as far as read, with %h, in lower case unless it is an address; in the final pass the canonical name.
 * Allocated. */
char *client_subject_host(const struct client_options *o, const struct client_subject *who, struct err *e);

/* Puts that name into o->hostname; a later pass does not change it any more. */
int client_options_expand_hostname(struct client_options *o, const struct client_subject *who, struct err *e) MUST_USE;
/* Once, after client_tokens_fill(): in place, what -G shows expanded: User (which t then has), ControlPath,
 * IdentityAgent, ForwardAgent, UserKnownHostsFile, RevokedHostKeys, SetEnv, VersionAddendum, paths in forwards. The
 * rest stays as it is: who uses IdentityFile, CertificateFile, GlobalKnownHostsFile calls client_tokens_path(), who
 * runs a command client_tokens_expand(). */
int client_options_expand(struct client_options *o, struct client_tokens *t, struct err *e) MUST_USE;

#endif
