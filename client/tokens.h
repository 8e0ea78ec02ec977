/* client/tokens.h: what %h, %r, ${NAME} and ~ become in each keyword (spec options-client 3). */
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
	char local_host[256];            /* %l; %L is its first label */
	char hash[41];                   /* %C; "" until client_tokens_fill() */
	/* KnownHostsCommand, LocalCommand */
	const char *lookup_name, *lookup_reason, *key_type, *fingerprint, *key_base64;   /* %H %I %t %f %K */
	const char *tun;                 /* %T */
};

enum client_token_set {
	CLIENT_TOKENS_DEFAULT,           /* %C %d %h %i %j %k %L %l %n %p %r %u */
	CLIENT_TOKENS_USER,              /* the same without %r %C */
	CLIENT_TOKENS_PROXY,             /* %h %k %n %p %r */
	CLIENT_TOKENS_HOSTNAME,          /* %h */
	CLIENT_TOKENS_LOCAL_COMMAND,     /* default and %T */
	CLIENT_TOKENS_KNOWN_HOSTS        /* default and %H %I %t %f %K */
};

/* From filled options (host = o->hostname after expansion). */
void client_tokens_fill(struct client_tokens *t, const struct client_options *o, const struct client_subject *who);
/* Allocated; NULL: unknown token, the text names it. */
char *client_tokens_expand(const struct client_tokens *t, enum client_token_set set, const char *text, struct err *e);

/* Hostname: %h and %%. Lower-cased unless it is an address. Sets o->hostname. */
int client_options_expand_hostname(struct client_options *o, const struct client_subject *who, struct err *e) MUST_USE;
/* Everything else that has tokens, in place, once: what -G shows expanded, and o->user. IdentityFile, GlobalKnownHostsFile and the commands stay as
 * they are: whoever uses one calls client_tokens_path() or client_tokens_expand(). */
int client_options_expand(struct client_options *o, struct client_tokens *t, struct err *e) MUST_USE;
/* For a file name keyword: ~, then tokens, then ${NAME}. Allocated; NULL and error. */
char *client_tokens_path(const struct client_tokens *t, const char *path, struct err *e);

#endif
