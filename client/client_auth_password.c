/* client/client_auth_password.c: the password method (RFC 4252 §8), with the change of an expired password. */
#include "client/client_auth_private.h"

#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "platform/prompt.h"

static bool password_enabled(const struct client_auth *a)
{
	return a->s.options->password_authentication && auth_may_ask_secret(a);
}

/* NULL: nobody answered. Freed with mem_free_string. */
static char *ask(const char *prompt)
{
	struct err e = { 0 };
	char *answer = prompt_read_secret(prompt, 0, &e);

	if (answer == NULL)
		log_debug("no password: %s", err_text(&e));
	return answer;
}

static char *ask_for(const struct client_auth *a, const char *format_before, const char *format_after)
{
	char *who = auth_who(a), *prompt = str_printf("%s%s%s", format_before, who, format_after);
	char *answer = ask(prompt);

	free(prompt);
	free(who);
	return answer;
}

static int password_start(struct client_auth *a)
{
	struct userauth_request q = { .kind = USERAUTH_PASSWORD };
	char *password;
	int rc;

	if (a->password_attempts >= a->s.options->number_of_password_prompts)
		return 0;
	if (a->password_attempts++ > 0)
		log_error("Permission denied, please try again.");
	password = ask_for(a, "", "'s password: ");
	if (password == NULL)
		return 0;
	q.password = (struct view){ (const uint8_t *)password, strlen(password) };
	rc = auth_send_request(a, &q, true);
	mem_free_string(password);
	return rc;
}

/* The new password, typed twice the same; NULL: given up. */
static char *ask_new(const struct client_auth *a)
{
	for (unsigned i = 0; i < a->s.options->number_of_password_prompts; i++) {
		char *first = ask_for(a, "Enter ", "'s new password: ");
		char *second = first != NULL ? ask_for(a, "Retype ", "'s new password: ") : NULL;

		if (second == NULL) {
			mem_free_string(first);
			return NULL;
		}
		if (strlen(first) == strlen(second) && mem_equal_ct(first, second, strlen(first))) {
			mem_free_string(second);
			return first;
		}
		mem_free_string(first);
		mem_free_string(second);
		log_error("The two are not the same; please try again.");
	}
	return NULL;
}

/* PASSWD_CHANGEREQ. */
static int password_message(struct client_auth *a, const struct message *m)
{
	struct userauth_request q = { .kind = USERAUTH_PASSWORD, .change = true };
	struct err e = { 0 };
	struct reader r;
	struct view text;
	char *old, *new;
	int rc = 0;

	if (m->type != MSG_USERAUTH_PASSWD_CHANGEREQ)
		return auth_fail_peer(a, NULL, "unexpected message during password authentication");
	reader_init(&r, m->body.p, m->body.n);
	if (userauth_changereq_get(&r, &text, &e) != 0)
		return auth_fail_peer(a, &e, NULL);
	if (++a->password_changes > AUTH_CHANGES_MAX)
		return auth_fail_peer(a, NULL, "the server asks for one password change after the other");
	auth_show_text(text);
	old = ask_for(a, "Enter ", "'s old password: ");
	new = old != NULL ? ask_new(a) : NULL;
	if (new != NULL) {
		q.password = (struct view){ (const uint8_t *)old, strlen(old) };
		q.new_password = (struct view){ (const uint8_t *)new, strlen(new) };
		rc = auth_send_request(a, &q, true);
	}
	mem_free_string(old);
	mem_free_string(new);
	return rc;
}

const struct auth_method auth_method_password = {
	.name = "password", .enabled = password_enabled, .start = password_start, .message = password_message,
};
