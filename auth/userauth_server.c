/* auth/userauth_server.c: order of the authentication messages on the server's side. */
#include "auth/userauth_server.h"

#include <stdlib.h>
#include <string.h>
#include "auth/userauth_msg.h"
#include "base/log.h"
#include "base/mem.h"
#include "transport.h"

enum { MESSAGE_MAX = 256 * 1024 };

struct userauth_server {
	struct transport *t;
	struct userauth_judge judge;
	bool service_started;    /* "ssh-userauth" was asked for and granted */
	bool question_open;      /* an INFO_REQUEST waits for its response */
	bool dismissed;
	struct view alg, key_blob;       /* of the request being judged, for PK_OK */
};

struct userauth_server *userauth_server_new(struct transport *t, const struct userauth_judge *judge)
{
	struct userauth_server *s = mem_zalloc(sizeof(*s));

	s->t = t;
	s->judge = *judge;
	return s;
}

void userauth_server_free(struct userauth_server *s)
{
	free(s);
}

bool userauth_server_dismissed(const struct userauth_server *s)
{
	return s->dismissed;
}

static int send_body(struct userauth_server *s, uint8_t type, struct buf *body, struct err *e)
{
	int rc = transport_send(s->t, type, body);

	buf_free(body);
	return rc < 0 ? err_set(e, rc, "%s", err_text(transport_err(s->t))) : 0;
}

static int break_off(struct userauth_server *s, uint32_t reason, struct err *e, const char *text)
{
	transport_disconnect(s->t, reason, text);
	return err_set(e, ERR_PEER, "%s", text);
}

/* ---- service */

static int take_service(struct userauth_server *s, struct reader *r, struct err *e)
{
	struct buf b = BUF_INIT(1024);
	struct view service;

	if (userauth_service_get(r, &service, e) < 0)
		return break_off(s, DISCONNECT_PROTOCOL_ERROR, e, "malformed service request");
	/* RFC 4253 §10: a service that is not there ends the connection. */
	if (!view_is(service, USERAUTH_SERVICE))
		return break_off(s, DISCONNECT_SERVICE_NOT_AVAILABLE, e, "there is no such service before authentication");
	s->service_started = true;
	userauth_service_put(&b, USERAUTH_SERVICE);
	return send_body(s, MSG_SERVICE_ACCEPT, &b, e);
}

/* ---- verdicts as messages */

static int send_question(struct userauth_server *s, struct view question, struct err *e)
{
	struct buf b = BUF_INIT(MESSAGE_MAX);

	buf_put(&b, question.p, question.n);
	s->question_open = true;
	return send_body(s, MSG_USERAUTH_INFO_REQUEST, &b, e);
}

static int send_success(struct userauth_server *s, struct err *e)
{
	if (transport_send(s->t, MSG_USERAUTH_SUCCESS, NULL) < 0)
		return err_set(e, ERR_PEER, "%s", err_text(transport_err(s->t)));
	transport_set_authenticated(s->t);
	return 1;
}

static int carry_out(struct userauth_server *s, const struct userauth_verdict *v, struct err *e)
{
	struct buf b = BUF_INIT(MESSAGE_MAX);
	int rc = 0;

	/* RFC 4252 §5.4: a banner may come any time before success. */
	if (v->banner != NULL && *v->banner != '\0') {
		userauth_banner_put(&b, v->banner);
		rc = send_body(s, MSG_USERAUTH_BANNER, &b, e);
	}
	if (rc < 0)
		return rc;
	if (v->sig_algs != NULL && *v->sig_algs != '\0' && transport_send_sig_algs(s->t, v->sig_algs) < 0)
		return err_set(e, ERR_PEER, "%s", err_text(transport_err(s->t)));
	b = BUF_INIT(MESSAGE_MAX);
	switch (v->kind) {
	case USERAUTH_ACCEPTED:
		return send_success(s, e);
	case USERAUTH_KEY_OK:
		userauth_pk_ok_put(&b, s->alg, s->key_blob);
		return send_body(s, MSG_USERAUTH_PK_OK, &b, e);
	case USERAUTH_QUESTION:
		return send_question(s, v->question, e);
	case USERAUTH_DISCONNECT:
		s->dismissed = true;
		return break_off(s, v->reason, e, v->text);
	default:
		userauth_failure_put(&b, v->methods, v->partial);
		return send_body(s, MSG_USERAUTH_FAILURE, &b, e);
	}
}

/* ---- requests */

/* A new request instead of answers ends the conversation (RFC 4256 §3.1). */
static int drop_question(struct userauth_server *s, struct err *e)
{
	struct userauth_verdict v = { 0 };
	int rc;

	s->question_open = false;
	rc = s->judge.abandon(s->judge.ctx, &v, e);
	if (rc == 0 && v.kind == USERAUTH_DISCONNECT)
		return carry_out(s, &v, e);
	return rc;
}

static int take_request(struct userauth_server *s, const struct message *m, struct err *e)
{
	struct userauth_verdict v = { 0 };
	struct userauth_request q;
	struct reader r;
	int rc;

	if (m->body.n > USERAUTH_REQUEST_MAX)
		return break_off(s, DISCONNECT_PROTOCOL_ERROR, e, "authentication request is too long");
	reader_init(&r, m->body.p, m->body.n);
	if (userauth_request_get(&r, &q, e) < 0)
		return break_off(s, DISCONNECT_PROTOCOL_ERROR, e, "malformed authentication request");
	if (s->question_open) {
		rc = drop_question(s, e);
		if (rc != 0)
			return rc;
	}
	s->alg = q.alg;
	s->key_blob = q.key_blob;
	rc = s->judge.request(s->judge.ctx, m->body, &v, e);
	return rc < 0 ? rc : carry_out(s, &v, e);
}

static int check_answers(struct view body, struct err *e)
{
	struct userauth_info_response *a = mem_zalloc(sizeof(*a));
	struct reader r;
	int rc;

	reader_init(&r, body.p, body.n);
	rc = body.n <= USERAUTH_ANSWERS_MAX ? userauth_info_response_get(&r, a, e) : ERR_PEER;
	free(a);
	return rc;
}

static int take_answers(struct userauth_server *s, const struct message *m, struct err *e)
{
	struct userauth_verdict v = { 0 };
	int rc;

	/* Here, where it is the peer's fault; the judge takes no excuse. */
	if (check_answers(m->body, e) < 0)
		return break_off(s, DISCONNECT_PROTOCOL_ERROR, e, "malformed answers");
	s->question_open = false;
	rc = s->judge.answers(s->judge.ctx, m->body, &v, e);
	return rc < 0 ? rc : carry_out(s, &v, e);
}

int userauth_server_message(struct userauth_server *s, const struct message *m, struct err *e)
{
	struct reader r;

	reader_init(&r, m->body.p, m->body.n);
	if (m->type == MSG_SERVICE_REQUEST)
		return take_service(s, &r, e);
	if (s->service_started && m->type == MSG_USERAUTH_REQUEST)
		return take_request(s, m, e);
	if (s->question_open && m->type == MSG_USERAUTH_INFO_RESPONSE)
		return take_answers(s, m, e);
	log_debug("message %u is not for now", m->type);
	return transport_unimplemented(s->t, m) < 0 ? err_set(e, ERR_PEER, "%s", err_text(transport_err(s->t))) : 0;
}
