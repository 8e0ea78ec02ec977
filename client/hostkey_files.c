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
#include "keys/key_file.h"

enum { DEFAULT_PORT = 22, REVOKED_FILE_MAX = 64 * 1024 * 1024, COMMAND_OUTPUT_MAX = 4 * 1024 * 1024 };

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

/* 0: another key, or nothing. ERR_DENIED: this key. ERR_PEER: not a line that we understand. */
static int revoked_line(const char *line, const struct key *k, struct err *e)
{
	struct key *revoked = NULL;
	const char *s = line + strspn(line, " \t");
	size_t n = strcspn(s, " \t");
	bool cert = n > 0 && memmem(s, n, "-cert-v0", 8) != NULL;
	int rc;

	if (*s == '\0' || *s == '#')
		return 0;
	/* A certificate would stand for its plain key, which is not looked for in it: that must not pass for "not revoked". */
	if (cert)
		return err_set(e, ERR_PEER, "a certificate, which is not understood here");
	rc = key_public_parse(s, &revoked, NULL, e);
	if (rc == ERR_NONE_FOUND) {
		/* A type that we do not know cannot be that of the key in front of us. */
		err_clear(e);
		return 0;
	}
	if (rc == 0 && key_equal_public(revoked, k))
		rc = ERR_DENIED;
	key_free(revoked);
	return rc;
}

static int revoked_text(const char *path, char *text, size_t n, const struct key *k, struct err *e)
{
	unsigned number = 0;
	char *line = text, *end;

	/* Binary KRLs are known by their first bytes. */
	if (n >= 6 && memcmp(text, "SSHKRL", 6) == 0)
		return err_set(e, ERR_DENIED, "RevokedHostKeys %s is a binary KRL, which this version cannot read: all host keys are "
			"refused; list the keys as text, one a line", path);
	if (memchr(text, '\0', n) != NULL)
		return err_set(e, ERR_DENIED, "RevokedHostKeys %s is no text: all host keys are refused", path);
	for (; *line != '\0'; line = end) {
		struct err inner = { 0 };
		int rc;

		end = line + strcspn(line, "\n");
		if (*end == '\n')
			*end++ = '\0';
		line[strcspn(line, "\r")] = '\0';
		number++;
		rc = revoked_line(line, k, &inner);
		if (rc == ERR_DENIED)
			return err_set(e, ERR_DENIED, "the %s host key is revoked by %s:%u", key_display_name(k), path, number);
		if (rc != 0)
			return err_set(e, ERR_DENIED, "RevokedHostKeys %s:%u: %s: all host keys are refused", path, number,
				err_text(&inner));
	}
	return 0;
}

int hostkey_check_revoked(const struct hostkey_where *w, const struct key *k, struct err *e)
{
	const struct str_list *files = &w->options->revoked_host_keys;

	for (size_t i = 0; i < files->count; i++) {
		struct err inner = { 0 };
		char *text;
		size_t n;
		int rc = path_read_file(files->v[i], REVOKED_FILE_MAX, &text, &n, &inner);

		if (rc != 0)
			return err_set(e, ERR_DENIED, "RevokedHostKeys cannot be read (%s): all host keys are refused",
				err_text(&inner));
		rc = revoked_text(files->v[i], text, n, k, e);
		free(text);
		if (rc != 0)
			return rc;
	}
	return 0;
}
