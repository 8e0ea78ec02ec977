/* client/client_auth_kbdint.c: the keyboard-interactive method (RFC 4256). */
#include "client/client_auth_private.h"

#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "platform/prompt.h"

enum { RESPONSE_MAX = 1024 * 1024 };

static bool kbdint_enabled(const struct client_auth *a)
{
	return a->s.options->kbd_interactive_authentication && auth_may_ask_secret(a);
}

static int kbdint_start(struct client_auth *a)
{
	const char *devices = a->s.options->kbd_interactive_devices;
	struct userauth_request q = { .kind = USERAUTH_KBDINT };

	if (a->kbdint_attempts >= a->s.options->number_of_password_prompts)
		return 0;
	/* A server that refused without a question will do so again. */
	if (a->kbdint_attempts > 0 && !a->kbdint_asked)
		return 0;
	if (a->kbdint_attempts++ > 0)
		log_debug("keyboard-interactive: attempt %u", a->kbdint_attempts);
	a->kbdint_rounds = 0;
	if (devices != NULL)
		q.submethods = (struct view){ (const uint8_t *)devices, strlen(devices) };
	return auth_send_request(a, &q, false);
}

/* The server's words are marked as such by "(user@host) " and cannot move the cursor. NULL: nobody answered. */
static char *kbdint_ask(const struct client_auth *a, const struct userauth_prompt *p)
{
	char *who = auth_who(a), *text = str_escape_terminal(p->text.p, p->text.n);
	char *prompt = str_printf("(%s) %s", who, text), *answer;
	struct err e = { 0 };

	answer = prompt_read_secret(prompt, p->echo ? PROMPT_ECHO : 0, &e);
	if (answer == NULL)
		log_debug("no answer: %s", err_text(&e));
	free(prompt);
	free(text);
	free(who);
	return answer;
}

/* 1 answered, 0 given up, negative. */
static int kbdint_answer(struct client_auth *a, const struct userauth_info_request *q)
{
	struct userauth_info_response response = { .count = 0 };
	struct buf body = BUF_INIT(RESPONSE_MAX);
	char *answers[USERAUTH_PROMPTS_MAX];
	uint32_t n = 0;
	int rc = 0;

	while (n < q->count && (answers[n] = kbdint_ask(a, &q->prompt[n])) != NULL) {
		response.answer[n] = (struct view){ (const uint8_t *)answers[n], strlen(answers[n]) };
		n++;
	}
	if (n == q->count) {
		response.count = n;
		userauth_info_response_put(&body, &response);
		rc = auth_send(a, MSG_USERAUTH_INFO_RESPONSE, &body, true);
	}
	while (n > 0)
		mem_free_string(answers[--n]);
	buf_free(&body);
	return rc;
}

static int kbdint_message(struct client_auth *a, const struct message *m)
{
	struct userauth_info_request q;
	struct err e = { 0 };
	struct reader r;

	if (m->type != MSG_USERAUTH_INFO_REQUEST)
		return auth_fail_peer(a, NULL, "unexpected message during keyboard-interactive authentication");
	reader_init(&r, m->body.p, m->body.n);
	if (userauth_info_request_get(&r, &q, &e) != 0)
		return auth_fail_peer(a, &e, NULL);
	if (++a->kbdint_rounds > AUTH_ROUNDS_MAX)
		return auth_fail_peer(a, NULL, "the server asks questions without end");
	a->kbdint_asked = true;
	auth_show_text(q.name);
	auth_show_text(q.instruction);
	return kbdint_answer(a, &q);
}

const struct auth_method auth_method_kbdint = {
	.name = "keyboard-interactive", .enabled = kbdint_enabled, .start = kbdint_start, .message = kbdint_message,
};
