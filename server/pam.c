/* server/pam.c: the one place that knows PAM. Conversations: modules call back from inside pam_authenticate; what they ask
 * goes to the peer through the pre-auth process and the call blocks until the answers are there. */
#include "server/pam.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "crypto/rand.h"
#include "wire/buf.h"

char *pam_fake_password(const char *given)
{
	static const char junk[] = "\b\n\r\177INCORRECT";
	size_t n = strlen(given);
	char *s;

	if (n < sizeof(junk) - 1)
		n = sizeof(junk) - 1;
	s = mem_zalloc(n + 1);
	memcpy(s, junk, sizeof(junk) - 1);
	for (size_t i = sizeof(junk) - 1; i < n; i++)
		s[i] = (char)('!' + rand_below(90));
	return s;
}

#ifdef HAVE_PAM

#include <security/pam_appl.h>

enum { MESSAGES_MAX = 64 * 1024 };

struct pam_auth {
	pam_handle_t *handle;
	char *user;
	bool fake, permit_empty;
	int last;                        /* status of the last call, which pam_end wants */
	bool account_asked, credentials, session;
	int account_result;
	struct err account_err;
	/* the conversation in force */
	const struct pam_talk *talk;     /* NULL: nobody to ask */
	const char *password;            /* answers any hidden question; or NULL */
	struct buf texts;                /* information that was not shown yet */
};

bool pam_built(void)
{
	return true;
}

char *pam_service_file(const char *service)
{
	static const char *const folders[] = { "/etc/pam.d", "/usr/lib/pam.d", "/usr/local/etc/pam.d", "/usr/etc/pam.d" };

	if (strchr(service, '/') != NULL)
		return NULL;
	for (size_t i = 0; i < MEM_COUNT(folders); i++) {
		char *path = str_printf("%s/%s", folders[i], service);

		if (access(path, R_OK) == 0)
			return path;
		free(path);
	}
	if (access("/etc/pam.d", F_OK) != 0 && access("/etc/pam.conf", R_OK) == 0)
		return mem_strdup("/etc/pam.conf");
	return NULL;
}

static void keep_text(struct pam_auth *p, const char *text)
{
	if (text == NULL || *text == '\0' || p->texts.size > MESSAGES_MAX / 2)
		return;
	buf_printf(&p->texts, "%s%s", text, text[strlen(text) - 1] == '\n' ? "" : "\n");
}

char *pam_auth_take_messages(struct pam_auth *p)
{
	char *s = mem_strdup(buf_cstr(&p->texts));

	buf_reset(&p->texts);
	return s;
}

static void free_answers(struct pam_response *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		mem_free_string(v[i].resp);
	free(v);
}

/* Puts the answers of the peer into the places of their questions. */
static int ask_peer(struct pam_auth *p, int count, const struct pam_message **msg, struct pam_response *out)
{
	struct pam_prompt prompts[PAM_PROMPTS_MAX];
	char *answers[PAM_PROMPTS_MAX] = { NULL };
	size_t n = 0, next = 0;
	char *text;
	int rc;

	for (int i = 0; i < count; i++)
		if (msg[i]->msg_style == PAM_PROMPT_ECHO_ON || msg[i]->msg_style == PAM_PROMPT_ECHO_OFF)
			prompts[n++] = (struct pam_prompt){ msg[i]->msg, msg[i]->msg_style == PAM_PROMPT_ECHO_ON };
	if (n == 0)
		return 0;        /* texts wait for the next question, or for the session */
	text = pam_auth_take_messages(p);
	rc = p->talk->ask(p->talk->ctx, text, prompts, n, answers);
	free(text);
	for (int i = 0; i < count && rc >= 0; i++) {
		bool hidden = msg[i]->msg_style == PAM_PROMPT_ECHO_OFF;

		if (!hidden && msg[i]->msg_style != PAM_PROMPT_ECHO_ON)
			continue;
		out[i].resp = answers[next];
		answers[next++] = NULL;
		if (hidden && (p->fake || (!p->permit_empty && out[i].resp[0] == '\0'))) {
			char *fake = pam_fake_password(out[i].resp);
			mem_free_string(out[i].resp);
			out[i].resp = fake;
		}
	}
	for (size_t i = 0; i < n; i++)
		mem_free_string(answers[i]);
	return rc;
}

static int converse(int count, const struct pam_message **msg, struct pam_response **resp, void *ctx)
{
	struct pam_auth *p = ctx;
	struct pam_response *out;

	if (count <= 0 || count > PAM_PROMPTS_MAX)
		return PAM_CONV_ERR;
	out = calloc((size_t)count, sizeof(*out));       /* PAM frees it with free() */
	if (out == NULL)
		return PAM_BUF_ERR;
	for (int i = 0; i < count; i++) {
		switch (msg[i]->msg_style) {
		case PAM_TEXT_INFO:
		case PAM_ERROR_MSG:
			keep_text(p, msg[i]->msg);
			break;
		case PAM_PROMPT_ECHO_ON:
		case PAM_PROMPT_ECHO_OFF:
			if (p->talk == NULL && p->password == NULL)
				goto refused;
			if (p->talk == NULL)
				out[i].resp = mem_strdup(msg[i]->msg_style == PAM_PROMPT_ECHO_OFF ? p->password : "");
			break;
		default:
			goto refused;
		}
	}
	if (p->talk != NULL && ask_peer(p, count, msg, out) < 0)
		goto refused;
	*resp = out;
	return PAM_SUCCESS;
refused:
	free_answers(out, (size_t)count);
	return PAM_CONV_ERR;
}

struct pam_auth *pam_auth_new(const struct pam_start *s, struct err *e)
{
	struct pam_auth *p = mem_zalloc(sizeof(*p));
	const struct pam_conv conv = { converse, p };
	int rc;

	p->texts = BUF_INIT(MESSAGES_MAX);
	p->user = mem_strdup(s->user);
	p->fake = s->fake;
	p->permit_empty = s->permit_empty;
	rc = pam_start(s->service, s->user, &conv, &p->handle);
	if (rc == PAM_SUCCESS && s->remote_host != NULL)
		rc = pam_set_item(p->handle, PAM_RHOST, s->remote_host);
	/* Some modules do not work without a terminal name; the real one is known only later, if ever. */
	if (rc == PAM_SUCCESS)
		rc = pam_set_item(p->handle, PAM_TTY, "ssh");
	p->last = rc;
	if (rc != PAM_SUCCESS) {
		err_set(e, ERR_USAGE, "PAM: %s", p->handle != NULL ? pam_strerror(p->handle, rc) : "cannot start");
		pam_auth_free(p);
		return NULL;
	}
	return p;
}

void pam_auth_free(struct pam_auth *p)
{
	if (p == NULL)
		return;
	p->talk = NULL;
	p->password = NULL;
	if (p->session)
		p->last = pam_close_session(p->handle, PAM_SILENT);
	if (p->credentials)
		p->last = pam_setcred(p->handle, PAM_DELETE_CRED);
	if (p->handle != NULL)
		(void)pam_end(p->handle, p->last);
	buf_free(&p->texts);
	free(p->user);
	free(p);
}

void pam_auth_set_tty(struct pam_auth *p, const char *tty)
{
	(void)pam_set_item(p->handle, PAM_TTY, tty);
}

void pam_auth_set_fake(struct pam_auth *p, bool fake)
{
	p->fake = fake;
}

/* Modules may map one name to another; what was decided for one account must not be used for another. */
static int check_user(struct pam_auth *p, struct err *e)
{
	const void *user = NULL;

	if (pam_get_item(p->handle, PAM_USER, &user) != PAM_SUCCESS || user == NULL || strcmp(user, p->user) != 0) {
		log_error("PAM: a module changed the user name, which is not supported");
		return err_set(e, ERR_DENIED, "PAM: the user name changed");
	}
	return 0;
}

static int authenticate(struct pam_auth *p, struct err *e)
{
	int flags = p->permit_empty ? 0 : PAM_DISALLOW_NULL_AUTHTOK;

	p->last = pam_authenticate(p->handle, flags);
	p->talk = NULL;
	p->password = NULL;
	if (p->last != PAM_SUCCESS)
		return err_set(e, ERR_DENIED, "PAM: authentication failed: %s", pam_strerror(p->handle, p->last));
	/* A module that says yes to everyone (pam_permit) must not let in who does not exist. */
	if (p->fake)
		return err_set(e, ERR_DENIED, "PAM: the account is not permitted");
	return check_user(p, e);
}

int pam_auth_password(struct pam_auth *p, const char *password, struct err *e)
{
	char *fake = p->fake || (!p->permit_empty && *password == '\0') ? pam_fake_password(password) : NULL;
	int rc;

	p->talk = NULL;
	p->password = fake != NULL ? fake : password;
	rc = authenticate(p, e);
	mem_free_string(fake);
	return rc;
}

int pam_auth_converse(struct pam_auth *p, const struct pam_talk *talk, struct err *e)
{
	p->talk = talk;
	p->password = NULL;
	return authenticate(p, e);
}

int pam_auth_account(struct pam_auth *p, struct err *e)
{
	if (!p->account_asked) {
		p->account_asked = true;
		p->last = pam_acct_mgmt(p->handle, 0);
		switch (p->last) {
		case PAM_SUCCESS:
			p->account_result = check_user(p, &p->account_err);
			break;
		case PAM_NEW_AUTHTOK_REQD:
			p->account_result = ERR_AGAIN;
			break;
		default:
			p->account_result = err_set(&p->account_err, ERR_DENIED, "PAM: account: %s",
				pam_strerror(p->handle, p->last));
		}
	}
	if (p->account_result < 0 && p->account_result != ERR_AGAIN)
		return err_set(e, p->account_result, "%s", err_text(&p->account_err));
	return p->account_result;
}

int pam_auth_change_password(struct pam_auth *p, const struct pam_talk *talk, struct err *e)
{
	p->talk = talk;
	p->password = NULL;
	p->last = pam_chauthtok(p->handle, PAM_CHANGE_EXPIRED_AUTHTOK);
	p->talk = NULL;
	if (p->last != PAM_SUCCESS)
		return err_set(e, ERR_DENIED, "PAM: password change: %s", pam_strerror(p->handle, p->last));
	p->account_result = 0;
	return check_user(p, e);
}

int pam_auth_open_session(struct pam_auth *p, struct err *e)
{
	p->last = pam_setcred(p->handle, PAM_ESTABLISH_CRED);
	if (p->last != PAM_SUCCESS)
		return err_set(e, ERR_DENIED, "PAM: credentials: %s", pam_strerror(p->handle, p->last));
	p->credentials = true;
	p->last = pam_open_session(p->handle, 0);
	if (p->last != PAM_SUCCESS)
		return err_set(e, ERR_DENIED, "PAM: session: %s", pam_strerror(p->handle, p->last));
	p->session = true;
	return 0;
}

void pam_auth_environment(struct pam_auth *p, struct str_list *out)
{
	char **v = pam_getenvlist(p->handle);

	for (char **s = v; s != NULL && *s != NULL; s++) {
		str_list_add(out, *s);
		free(*s);
	}
	free(v);
}

#else

bool pam_built(void) { return false; }
char *pam_service_file(const char *service) { (void)service; return NULL; }

static int not_built(struct err *e)
{
	return err_set(e, ERR_USAGE, "this sshd was built without PAM");
}

struct pam_auth *pam_auth_new(const struct pam_start *s, struct err *e)
{
	(void)s;
	(void)not_built(e);
	return NULL;
}

void pam_auth_free(struct pam_auth *p) { (void)p; }
void pam_auth_set_tty(struct pam_auth *p, const char *tty) { (void)p; (void)tty; }
void pam_auth_set_fake(struct pam_auth *p, bool fake) { (void)p; (void)fake; }
int pam_auth_password(struct pam_auth *p, const char *password, struct err *e)
{
	(void)p; (void)password;
	return not_built(e);
}
int pam_auth_converse(struct pam_auth *p, const struct pam_talk *talk, struct err *e)
{
	(void)p; (void)talk;
	return not_built(e);
}
int pam_auth_account(struct pam_auth *p, struct err *e) { (void)p; return not_built(e); }
int pam_auth_change_password(struct pam_auth *p, const struct pam_talk *talk, struct err *e)
{
	(void)p; (void)talk;
	return not_built(e);
}
int pam_auth_open_session(struct pam_auth *p, struct err *e) { (void)p; return not_built(e); }
void pam_auth_environment(struct pam_auth *p, struct str_list *out) { (void)p; (void)out; }
char *pam_auth_take_messages(struct pam_auth *p) { (void)p; return mem_strdup(""); }

#endif
