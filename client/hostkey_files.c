/* client/hostkey_files.c: where host keys are looked up: known_hosts files, KnownHostsCommand, RevokedHostKeys. */
#include "client/hostkey_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "conf/lex.h"
#include "io/spawn.h"
#include "keys/revoked.h"

enum { DEFAULT_PORT = 22, COMMAND_OUTPUT_MAX = 4 * 1024 * 1024 };

/* ---- names and files */

static int add_global_files(const struct hostkey_where *w, struct str_list *out, struct err *e)
{
	const struct str_list *global = &w->options->global_known_hosts_file;

	for (size_t i = 0; i < global->count; i++) {
		char *path = path_expand_tilde(global->v[i], w->tokens->home, e);

		if (path == NULL)
			return ERR_USAGE;
		str_list_add_take(out, path);
	}
	return 0;
}

/* A key that is filed by address is of use only where the address was chosen by a name service. */
static bool address_counts(const struct hostkey_where *w)
{
	return w->options->check_host_ip && w->address != NULL && !w->loopback && strcmp(w->address, w->host) != 0;
}

int hostkey_files_make(const struct hostkey_where *w, struct hostkey_files *out, struct err *e)
{
	const struct client_options *o = w->options;

	*out = (struct hostkey_files){ .w = w };
	for (size_t i = 0; i < o->user_known_hosts_file.count; i++) {
		str_list_add(&out->user, o->user_known_hosts_file.v[i]);
		str_list_add(&out->all, o->user_known_hosts_file.v[i]);
	}
	if (o->host_key_alias != NULL) {
		/* The alias stands for host and port together. */
		out->name = mem_strdup(o->host_key_alias);
		str_lower(out->name);
	} else {
		out->name = known_hosts_name(w->host, w->port);
		if (w->port != DEFAULT_PORT)
			out->plain_name = known_hosts_name(w->host, DEFAULT_PORT);
	}
	if (address_counts(w))
		out->address_name = known_hosts_name(w->address, w->port);
	if (add_global_files(w, &out->all, e) == 0)
		return 0;
	hostkey_files_clear(out);
	return ERR_USAGE;
}

void hostkey_files_clear(struct hostkey_files *f)
{
	str_list_clear(&f->user);
	str_list_clear(&f->all);
	free(f->name);
	free(f->plain_name);
	free(f->address_name);
	memset(f, 0, sizeof(*f));
}

bool hostkey_files_is_user(const struct hostkey_files *f, const struct known_hosts_entry *entry)
{
	return entry != NULL && str_list_has(&f->user, entry->path);
}

/* ---- KnownHostsCommand */

/* Words of the command; all but the first have tokens and ${NAME} (ssh_config(5), TOKENS). */
static int command_words(const struct client_tokens *t, const char *command, struct str_list *out, struct err *e)
{
	struct str_list words = { 0 };
	int rc = conf_split_words(command, false, &words);

	if (rc != 0 || words.count == 0)
		rc = err_set(e, ERR_USAGE, "KnownHostsCommand: invalid quotes, or no command");
	for (size_t i = 0; i < words.count && rc == 0; i++) {
		char *word = i == 0 ? mem_strdup(words.v[0]) :
			client_tokens_expand_env(t, CLIENT_TOKENS_KNOWN_HOSTS, words.v[i], e);

		if (word == NULL)
			rc = ERR_USAGE;
		else
			str_list_add_take(out, word);
	}
	str_list_clear(&words);
	return rc;
}

static int command_run(const struct str_list *words, char **out, struct err *e)
{
	struct spawn_options o = SPAWN_OPTIONS_INIT;
	int status = 0, rc;

	o.path = words->v[0];
	o.argv = words->v;
	o.fd_err = STDERR_FILENO;
	rc = spawn_wait(&o, out, COMMAND_OUTPUT_MAX, &status, e);
	if (rc < 0) {
		err_prefix(e, "KnownHostsCommand");
		return rc;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	free(*out);
	*out = NULL;
	if (WIFEXITED(status))
		return err_set(e, ERR_DENIED, "KnownHostsCommand %s failed with exit status %d", words->v[0],
			WEXITSTATUS(status));
	return err_set(e, ERR_DENIED, "KnownHostsCommand %s was ended by a signal", words->v[0]);
}

/* What the command prints for name is added to out. */
static int command_load(const struct hostkey_where *w, const char *name, const char *reason, const struct key *k,
	struct known_hosts *out, struct err *e)
{
	struct client_tokens t = *w->tokens;
	struct str_list words = { 0 };
	char *fingerprint = k != NULL ? key_fingerprint(k, hostkey_digest(w->options)) : NULL;
	char *base64 = k != NULL ? str_base64_encode(key_blob(k).p, key_blob(k).n) : NULL, *text = NULL;
	int rc;

	t.lookup_name = name;
	t.lookup_reason = reason;
	t.key_type = k != NULL ? key_type_name(k) : "NONE";
	t.fingerprint = fingerprint != NULL ? fingerprint : "NONE";
	t.key_base64 = base64 != NULL ? base64 : "NONE";
	rc = command_words(&t, w->options->known_hosts_command, &words, e);
	if (rc == 0)
		rc = command_run(&words, &text, e);
	if (rc == 0)
		known_hosts_load_text("KnownHostsCommand", text, strlen(text), name, out);
	free(text);
	free(fingerprint);
	free(base64);
	str_list_clear(&words);
	return rc;
}

int hostkey_files_load(const struct hostkey_files *f, const char *name, const char *reason,
	const struct key *k, struct known_hosts *out, struct err *e)
{
	int rc = known_hosts_load(&f->all, name, out, e);

	if (rc == 0 && f->w->options->known_hosts_command != NULL) {
		rc = command_load(f->w, name, reason, k, out, e);
		if (rc != 0)
			known_hosts_free(out);
	}
	return rc;
}

/* ---- RevokedHostKeys */

int hostkey_check_revoked(const struct hostkey_where *w, const struct key *k, struct err *e)
{
	const struct str_list *files = &w->options->revoked_host_keys;

	for (size_t i = 0; i < files->count; i++) {
		struct err inner = { 0 };
		int rc = key_revoked_by_file(files->v[i], k, &inner);

		if (rc == ERR_DENIED)
			return err_set(e, ERR_DENIED, "the %s host key is revoked by %s", key_display_name(k), err_text(&inner));
		if (rc != 0)
			return err_set(e, ERR_DENIED, "RevokedHostKeys: %s: all host keys are refused", err_text(&inner));
	}
	return 0;
}
