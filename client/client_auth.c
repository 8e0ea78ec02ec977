/* client/client_auth.c: the client's side of RFC 4252 as a state machine: service request, "none", then one method after
 * the other as the server permits and the user prefers. Layer: client. */
#include "client/client_auth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "channel/carrier.h"
#include "client/client_auth_private.h"
#include "wire/messages.h"

/* Rows by preference, unless PreferredAuthentications says otherwise. "none" comes first and is never chosen. */
static const struct auth_method *const methods[] = {
	&auth_method_none, &auth_method_publickey, &auth_method_kbdint, &auth_method_password,
};
#define DEFAULT_ORDER "publickey,keyboard-interactive,password"

enum { REQUEST_MAX = 64 * 1024, LATE_NONE_MAX = 2 };

/* ---- sending */

int auth_send(struct client_auth *a, uint8_t type, struct buf *body, bool secret)
{
	int (*send)(struct transport *t, uint8_t type, const struct buf *body) = secret ? transport_send_padded : transport_send;
	const struct err *e;

	if (buf_ok(body) && send(a->transport, type, body) == 0) {
		carrier_kick(a->s.carrier);
		return 1;
	}
	e = transport_err(a->transport);
	return carrier_fail(a->s.carrier, e->code != 0 ? e->code : ERR_MEMORY, 0, "%s",
		e->code != 0 ? err_text(e) : "authentication request too large");
}

int auth_send_request(struct client_auth *a, struct userauth_request *q, bool secret)
{
	struct buf body = BUF_INIT(REQUEST_MAX);
	int rc;

	q->user = (struct view){ (const uint8_t *)a->s.user, strlen(a->s.user) };
	q->service = (struct view){ (const uint8_t *)USERAUTH_CONNECTION, strlen(USERAUTH_CONNECTION) };
	userauth_request_put(&body, q);
	rc = auth_send(a, MSG_USERAUTH_REQUEST, &body, secret);
	buf_free(&body);
	return rc;
}

/* ---- what methods share */

int auth_fail_peer(struct client_auth *a, const struct err *e, const char *what)
{
	if (e != NULL && e->code != 0)
		return carrier_fail(a->s.carrier, ERR_PEER, DISCONNECT_PROTOCOL_ERROR, "%s", err_text(e));
	return carrier_fail(a->s.carrier, ERR_PEER, DISCONNECT_PROTOCOL_ERROR, "%s", what);
}

void auth_show_text(struct view text)
{
	char *shown, *rest, *line;

	if (text.n == 0)
		return;
	shown = str_escape_terminal(text.p, text.n);
	rest = shown;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line != '\0' || rest != NULL)
			log_info("%s", line);
	free(shown);
}

bool auth_may_ask_secret(const struct client_auth *a)
{
	/* RFC 4252 §8: nothing of the kind without encryption; without a MAC somebody else could be asking. */
	return !a->s.weakened && !a->s.options->batch_mode && !transport_cipher_none(a->transport) &&
		!transport_mac_none(a->transport);
}

char *auth_who(const struct client_auth *a)
{
	return str_printf("%s@%s", a->s.user, a->s.prompt_host);
}

/* ---- none (RFC 4252 §5.2): lets in where nothing is asked, and otherwise brings the list of methods */

static bool none_enabled(const struct client_auth *a)
{
	(void)a;
	return true;
}

static int none_start(struct client_auth *a)
{
	struct userauth_request q = { .kind = USERAUTH_NONE };

	a->none_tried = true;
	return auth_send_request(a, &q, false);
}

const struct auth_method auth_method_none = { .name = "none", .enabled = none_enabled, .start = none_start };

/* ---- the choice */

static int denied(struct client_auth *a)
{
	struct err e = { 0 };

	err_set(&e, ERR_DENIED, "%s@%s: Permission denied (%s).", a->s.user, a->s.options->hostname,
		a->can_continue != NULL ? a->can_continue : "");
	a->phase = AUTH_DONE;
	a->s.failure(a->s.ctx, &e);
	return ERR_DENIED;
}

static const struct auth_method *method_find(const char *name, size_t n, unsigned *bit)
{
	for (size_t i = 1; i < MEM_COUNT(methods); i++)
		if (str_is(name, n, methods[i]->name)) {
			*bit = 1u << i;
			return methods[i];
		}
	return NULL;
}

/* The first by preference that the server takes, that is enabled and has something left to try. */
static const struct auth_method *method_choose(const struct client_auth *a, unsigned *bit)
{
	const char *preferred = a->s.options->preferred_authentications, *cursor, *name;
	size_t n;

	cursor = preferred != NULL ? preferred : DEFAULT_ORDER;
	while (str_next_name(&cursor, &name, &n)) {
		const struct auth_method *m = method_find(name, n, bit);

		if (m != NULL && (a->exhausted & *bit) == 0 && str_names_has(a->can_continue, name, n) && m->enabled(a))
			return m;
	}
	return NULL;
}

static int send_none(struct client_auth *a)
{
	int rc;

	a->method = &auth_method_none;
	rc = none_start(a);
	return rc < 0 ? rc : 0;
}

/* Sends the next request, whatever it may be. 0, or negative when the connection is over. */
static int auth_go_on(struct client_auth *a)
{
	const struct auth_method *m;
	unsigned bit = 0;
	int rc;

	/* The key that went first was given up before the server has said what it takes. */
	if (a->can_continue == NULL)
		return send_none(a);
	while ((m = method_choose(a, &bit)) != NULL) {
		if (a->method != m)
			log_debug("Next authentication method: %s", m->name);
		a->method = m;
		rc = m->start(a);
		if (rc < 0)
			return rc;
		if (rc > 0)
			return 0;
		a->exhausted |= bit;
	}
	/* A key went first in place of "none", which may be all that the account asks for. Only when nothing else is left: it
	 * counts as a failure now, and servers allow few. */
	if (!a->none_tried && a->failures <= LATE_NONE_MAX)
		return send_none(a);
	return denied(a);
}

/* ---- messages */

/* The server took the request: what to ask first next time. */
static void remember(struct client_auth *a)
{
	if (a->login.method[0] != '\0')
		return;
	str_copy(a->login.method, sizeof(a->login.method), a->method->name);
	if (a->method == &auth_method_publickey && a->keys.current != NULL && a->keys.current->public != NULL)
		auth_keys_remember(a, a->keys.current, &a->login);
}

static int on_service_accept(struct client_auth *a, struct reader *r)
{
	struct err e = { 0 };
	struct view service;

	if (userauth_service_get(r, &service, &e) != 0)
		return auth_fail_peer(a, &e, NULL);
	if (!view_is(service, USERAUTH_SERVICE))
		return auth_fail_peer(a, NULL, "the server accepted a service that was not asked for");
	a->phase = AUTH_ASKED;
	return 0;
}

static int on_failure(struct client_auth *a, struct reader *r)
{
	struct userauth_failure f;
	struct err e = { 0 };

	if (userauth_failure_get(r, &f, &e) != 0)
		return auth_fail_peer(a, &e, NULL);
	free(a->can_continue);
	a->can_continue = view_strdup(f.methods);
	a->failures++;
	if (f.partial) {
		log_verbose("Authenticated using \"%s\" with partial success.", a->method->name);
		if (++a->partials > AUTH_PARTIALS_MAX)
			return auth_fail_peer(a, NULL, "the server asks for one authentication after the other without end");
		remember(a);
		if (a->method->used != NULL)
			a->method->used(a);
		/* What did not do before may do as the second of two, a key that went first among it. */
		auth_keys_try_again(&a->keys);
		a->exhausted = 0;
		a->password_attempts = a->kbdint_attempts = 0;
	}
	log_debug("Authentications that can continue: %s", a->can_continue);
	return auth_go_on(a);
}

static int on_success(struct client_auth *a, struct reader *r)
{
	struct err e = { 0 };

	if (userauth_success_get(r, &e) != 0)
		return auth_fail_peer(a, &e, NULL);
	a->phase = AUTH_DONE;
	remember(a);
	log_verbose("Authenticated to %s (%s) using \"%s\".", a->s.options->hostname, a->s.via, a->method->name);
	/* a may be gone after this. */
	a->s.success(a->s.ctx);
	return 0;
}

/* RFC 4252 §5.4: at any time before success. */
static int on_banner(struct client_auth *a, struct reader *r)
{
	struct err e = { 0 };
	struct view text;
	char *shown;

	if (userauth_banner_get(r, &text, &e) != 0)
		return auth_fail_peer(a, &e, NULL);
	a->banner_bytes += text.n;
	if (++a->banners > AUTH_BANNERS_MAX || a->banner_bytes > AUTH_BANNER_BYTES_MAX)
		return auth_fail_peer(a, NULL, "the server sends banners without end");
	if (text.n == 0 || log_level_get() < LOG_LEVEL_INFO)
		return 0;
	shown = str_escape_terminal(text.p, text.n);
	fputs(shown, stderr);
	fflush(stderr);
	free(shown);
	return 0;
}

/* Messages of the method whose request is out. */
static int on_method(struct client_auth *a, const struct message *m)
{
	unsigned bit = 0;
	int rc;

	if (a->method->message == NULL)
		return auth_fail_peer(a, NULL, "the server answered a method that was not asked for");
	rc = a->method->message(a, m);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	/* Given up. RFC 4252 §5.1: a new request ends the one that was being answered. */
	if (method_find(a->method->name, strlen(a->method->name), &bit) != NULL)
		a->exhausted |= bit;
	return auth_go_on(a);
}

int client_auth_message(struct client_auth *a, const struct message *m)
{
	struct reader r;

	reader_init(&r, m->body.p, m->body.n);
	if (a->phase == AUTH_WAITS_FOR_SERVICE && m->type == MSG_SERVICE_ACCEPT)
		return on_service_accept(a, &r);
	if (a->phase == AUTH_ASKED) {
		switch (m->type) {
		case MSG_USERAUTH_FAILURE:
			return on_failure(a, &r);
		case MSG_USERAUTH_SUCCESS:
			return on_success(a, &r);
		case MSG_USERAUTH_BANNER:
			return on_banner(a, &r);
		default:
			if (m->type >= MSG_USERAUTH_60 && m->type < MSG_GLOBAL_REQUEST)
				return on_method(a, m);
		}
	}
	return carrier_fail(a->s.carrier, ERR_PEER, DISCONNECT_PROTOCOL_ERROR,
		"unexpected message %u during authentication", m->type);
}

/* ---- making */

static const struct auth_method *method_preferred(const struct client_auth *a)
{
	const char *preferred = a->s.options->preferred_authentications, *cursor, *name;
	const struct auth_method *m;
	unsigned bit;
	size_t n;

	cursor = preferred != NULL ? preferred : DEFAULT_ORDER;
	while (str_next_name(&cursor, &name, &n))
		if ((m = method_find(name, n, &bit)) != NULL && m->enabled(a))
			return m;
	return NULL;
}

/* Whether a key may go first. What comes out of it is what "none" first would have led to: the same key is asked about that
 * would be first after it. Programs that we do not know hear "none" first, as they always did, unless a key is known
 * to do. */
static bool key_goes_first(const struct client_auth *a)
{
	const struct auth_login *l = a->s.remembered;

	if (a->s.weakened || method_preferred(a) != &auth_method_publickey)
		return false;
	if (l != NULL && strcmp(l->method, "none") == 0)
		return false;
	if (l != NULL && strcmp(l->method, "publickey") == 0)
		return true;
	return transport_peer_kind(a->transport) != PEER_OTHER;
}

static int send_first_request(struct client_auth *a)
{
	int rc = 0;

	a->method = &auth_method_publickey;
	if (key_goes_first(a))
		rc = auth_pubkey_first(a, a->s.remembered);
	if (rc != 0)
		return rc;
	a->method = &auth_method_none;
	return none_start(a);
}

static int start(struct client_auth *a)
{
	struct buf body = BUF_INIT(BUF_LIMIT_DEFAULT);
	int rc;

	userauth_service_put(&body, USERAUTH_SERVICE);
	rc = auth_send(a, MSG_SERVICE_REQUEST, &body, false);
	buf_free(&body);
	if (rc < 0)
		return rc;
	/* Design 4: the first request does not wait for SERVICE_ACCEPT, which is one round trip less. */
	return send_first_request(a);
}

struct client_auth *client_auth_new(const struct client_auth_setup *s, struct err *e)
{
	struct client_auth *a = mem_zalloc(sizeof(*a));

	a->s = *s;
	a->user = mem_strdup(s->user);
	a->prompt_host = mem_strdup(s->prompt_host);
	a->via = mem_strdup(s->via);
	a->s.user = a->user;
	a->s.prompt_host = a->prompt_host;
	a->s.via = a->via;
	a->transport = carrier_transport(s->carrier);
	if (start(a) < 0) {
		err_set(e, ERR_PEER, "authentication cannot begin: %s", err_text(carrier_err(s->carrier)));
		client_auth_free(a);
		return NULL;
	}
	a->s.remembered = NULL;
	return a;
}

void client_auth_login(const struct client_auth *a, struct auth_login *out)
{
	*out = a->login;
}

void client_auth_free(struct client_auth *a)
{
	if (a == NULL)
		return;
	auth_keys_clear(&a->keys);
	free(a->can_continue);
	free(a->user);
	free(a->prompt_host);
	free(a->via);
	free(a);
}

const char *client_auth_method(const struct client_auth *a)
{
	return a->method->name;
}
