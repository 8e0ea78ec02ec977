/* server/monitor_password.c: none, password and keyboard-interactive (RFC 4252 §8, RFC 4256): PAM, or the shadow file. Accounts
 * that do not exist or are not let in go through the same checks, with a password that cannot be right. */
#include "server/monitor_private.h"

#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "server/monitor_wire.h"

bool monitor_start_pam(struct monitor *m)
{
	struct pam_start s = {
		.service = m->options.pam_service_name, .user = m->user, .remote_host = m->host, .fake = !m->allowed,
		.permit_empty = m->options.permit_empty_passwords,
	};
	struct err e = { 0 };
	char *file;

	if (m->pam != NULL)
		return true;
	if (m->pam_tried)
		return false;
	m->pam_tried = true;
	file = pam_service_file(s.service);
	if (file == NULL)
		log_error("there is no PAM service file for \"%s\" (PAMServiceName): PAM answers by its service \"other\", which "
			"usually denies everything; create /etc/pam.d/%s", s.service, s.service);
	free(file);
	m->pam = pam_auth_new(&s, &e);
	if (m->pam == NULL)
		log_error("%s", err_text(&e));
	return m->pam != NULL;
}

/* True: whatever is typed must be treated as wrong. */
static bool must_fail(const struct monitor *m, const char *method)
{
	return !m->allowed || !monitor_root_permitted(m, method);
}

static bool shadow_password(struct monitor *m, const char *password, bool fail)
{
	char *fake = fail ? pam_fake_password(password) : NULL;
	bool right;

	password_prepare(&m->password);
	right = password_check(&m->password, fake != NULL ? fake : password,
		!fail && m->options.permit_empty_passwords);

	mem_free_string(fake);
	if (m->password.hash == NULL && !m->account.exists) {
		log_error("Could not get shadow information for NOUSER");
		return false;
	}
	if (right && !fail && m->password.must_change)
		m->password_expired = true;
	return right && !fail;
}

static bool pam_password(struct monitor *m, const char *password, bool fail)
{
	struct err e = { 0 };
	char *fake;
	int rc;

	if (!monitor_start_pam(m))
		return false;
	fake = fail ? pam_fake_password(password) : NULL;
	rc = pam_auth_password(m->pam, fake != NULL ? fake : password, &e);
	mem_free_string(fake);
	if (rc < 0)
		log_verbose("%s", err_text(&e));
	return rc == 0 && !fail;
}

static bool check_password(struct monitor *m, const char *password)
{
	bool fail = must_fail(m, "password");

	return m->options.use_pam ? pam_password(m, password, fail) : shadow_password(m, password, fail);
}

enum auth_outcome monitor_try_password(struct monitor *m, const struct userauth_request *q)
{
	char *password;
	bool right;

	if (q->change) {                 /* RFC 4252 §8: may be refused */
		log_info("password change not supported");
		return AUTH_NO;
	}
	if (view_has_nul(q->password))
		return AUTH_NO;
	password = view_strdup(q->password);
	right = check_password(m, password);
	mem_free_string(password);
	return right ? AUTH_YES : AUTH_NO;
}

/* "none" lets in who needs no password, if that is permitted at all. */
enum auth_outcome monitor_try_none(struct monitor *m)
{
	if (!m->options.permit_empty_passwords || !m->allowed || !auth_methods_may(&m->methods, "password", NULL))
		return AUTH_NO;
	return check_password(m, "") ? AUTH_YES : AUTH_NO;
}

/* ---- keyboard-interactive: a module's questions travel to the peer and its answers back */

static int send_prompts(struct monitor *m, const char *text, const struct pam_prompt *prompts, size_t count,
	struct err *e)
{
	struct userauth_info_request *q = mem_zalloc(sizeof(*q));
	struct buf b = BUF_INIT(BUF_LIMIT_DEFAULT);
	size_t mark;
	int rc;

	q->instruction = (struct view){ (const uint8_t *)text, strlen(text) };
	q->count = (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		q->prompt[i].text = (struct view){ (const uint8_t *)prompts[i].text, strlen(prompts[i].text) };
		q->prompt[i].echo = prompts[i].echo;
	}
	buf_put_cstring(&b, m->banner != NULL ? m->banner : "");
	buf_put_cstring(&b, "");
	mark = buf_begin_string(&b);
	userauth_info_request_put(&b, q);
	buf_end_string(&b, mark);
	rc = mon_send(m->peer, MON_PROMPT, &b, e);
	buf_free(&b);
	free(q);
	free(m->banner);
	m->banner = NULL;
	return rc;
}

/* Called by PAM from inside pam_authenticate. The table lets nothing through but answers, an abort and log lines. */
static int ask_peer(void *ctx, const char *text, const struct pam_prompt *prompts, size_t count, char **answers)
{
	struct monitor *m = ctx;

	if (m->err.code != 0 || m->aborted)
		return ERR_CLOSED;
	m->answers_wanted = count;
	m->answers_here = false;
	if (send_prompts(m, text, prompts, count, &m->err) < 0)
		return ERR_CLOSED;
	m->gate.state = MON_AT_PROMPT;
	while (m->gate.state == MON_AT_PROMPT)
		if (monitor_take(m, &m->err) < 0)
			return ERR_CLOSED;
	if (!m->answers_here)
		return ERR_CLOSED;
	for (size_t i = 0; i < count; i++) {
		answers[i] = m->answers[i];
		m->answers[i] = NULL;
	}
	return 0;
}

int monitor_on_answers(struct monitor *m, struct reader *r, struct err *e)
{
	struct userauth_info_response *a = mem_zalloc(sizeof(*a));
	int rc = userauth_info_response_get(r, a, e);

	m->gate.state = MON_AT_AUTH;
	if (rc < 0) {
		free(a);
		return ERR_PEER;
	}
	/* RFC 4256 §3.4: as many answers as there were questions, or the try has failed. */
	m->answers_here = a->count == m->answers_wanted;
	for (size_t i = 0; i < a->count; i++)
		m->answers_here &= !view_has_nul(a->answer[i]);
	if (!m->answers_here)
		log_info("wrong number of answers from %s port %u", m->ends.remote_ip, m->ends.remote_port);
	for (size_t i = 0; m->answers_here && i < m->answers_wanted; i++) {
		mem_free_string(m->answers[i]);
		m->answers[i] = view_strdup(a->answer[i]);
	}
	free(a);
	return 0;
}

int monitor_on_abort(struct monitor *m, struct reader *r, struct err *e)
{
	if (reader_end(r, e, "abort") < 0)
		return ERR_PEER;
	m->aborted = true;
	m->gate.state = MON_AT_AUTH;
	return 0;
}

enum auth_outcome monitor_try_kbdint(struct monitor *m)
{
	struct pam_talk talk = { m, ask_peer };
	struct err e = { 0 };
	int rc;

	if (!m->options.use_pam || !monitor_start_pam(m))
		return AUTH_NO;
	m->aborted = false;
	pam_auth_set_fake(m->pam, must_fail(m, "keyboard-interactive"));
	rc = pam_auth_converse(m->pam, &talk, &e);
	if (m->err.code != 0 || m->gate.state == MON_AT_OVER)
		return AUTH_BROKEN;
	if (rc < 0)
		log_verbose("%s", err_text(&e));
	return rc == 0 && !must_fail(m, "keyboard-interactive") ? AUTH_YES : AUTH_NO;
}

enum auth_outcome monitor_pam_account(struct monitor *m, bool conversation_possible)
{
	struct pam_talk talk = { m, ask_peer };
	struct err e = { 0 };
	char *messages;
	int rc;

	if (!monitor_start_pam(m))
		return AUTH_NO;
	rc = pam_auth_account(m->pam, &e);
	if (rc == ERR_AGAIN && conversation_possible) {
		/* An expired password is changed right here, while there is somebody to ask. */
		m->aborted = false;
		rc = pam_auth_change_password(m->pam, &talk, &e);
		if (m->err.code != 0)
			return AUTH_BROKEN;
	} else if (rc == ERR_AGAIN) {
		m->password_expired = true;
		return AUTH_YES;
	}
	if (rc == 0) {
		m->password_expired = false;
		return AUTH_YES;
	}
	log_info("%s", err_text(&e));
	messages = pam_auth_take_messages(m->pam);
	monitor_add_banner(m, messages);
	free(messages);
	return AUTH_NO;
}
