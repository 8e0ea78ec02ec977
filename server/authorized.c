/* server/authorized.c: looking for a key in the user's files. */
#include "server/authorized.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "keys/key_line.h"
#include "keys/revoked.h"

enum { KEY_FILE_MAX = 16 * 1024 * 1024 };

static enum digest_alg hash_of(const struct server_options *o)
{
	switch (o->fingerprint_hash) {
	case CONF_HASH_MD5: return DIGEST_MD5;
	case CONF_HASH_SHA1: return DIGEST_SHA1;
	case CONF_HASH_SHA384: return DIGEST_SHA384;
	case CONF_HASH_SHA512: return DIGEST_SHA512;
	default: return DIGEST_SHA256;
	}
}

char *authorized_key_text(const struct key *k, const struct server_options *o)
{
	char *fp = key_fingerprint(k, hash_of(o));
	char *text = str_printf("%s %s", key_display_name(k), fp != NULL ? fp : "?");

	free(fp);
	return text;
}

/* ---- one file */

struct search {
	const struct authorized_query *q;
	char *base64;            /* of the key's blob: a line without it cannot be the key's */
	char *text;              /* for the log */
	struct key_options *out;
	struct err *e;
	bool found, denied;
};

static void judge_line(struct search *s, const char *path, unsigned number, struct authorized_line *line)
{
	const struct authorized_query *q = s->q;
	struct err why = { 0 };

	if (line->options.cert_authority || !key_equal_public(line->key, q->key))
		return;
	if (key_options_check(&line->options, q->host, q->ip, q->now, &why) < 0) {
		log_info("%s:%u: Authentication tried for %s with %s.", path, number, q->account->name, why.text);
		log_error("Refused by key options at %s:%u", path, number);
		s->denied = true;
		return;
	}
	log_verbose("Accepted key %s found at %s:%u", s->text, path, number);
	key_options_clear(s->out);
	key_options_copy(s->out, &line->options);
	s->found = true;
}

static void search_line(struct search *s, const char *path, unsigned number, const char *line)
{
	struct authorized_line parsed;
	struct err e = { 0 };
	int rc;

	if (line == NULL) {
		log_info("%s:%u: line is not used: %s", path, number, KEY_LINE_ZERO);
		return;
	}
	if (strstr(line, s->base64) == NULL)
		return;
	rc = authorized_line_parse(line, &parsed, &e);
	if (rc == ERR_PEER)
		log_info("%s:%u: line with this key is not used: %s", path, number, err_text(&e));
	if (rc < 0)
		return;
	judge_line(s, path, number, &parsed);
	authorized_line_clear(&parsed);
}

static void search_text(struct search *s, const char *path, const char *text, size_t n)
{
	unsigned number = 0;
	size_t cursor = 0;
	char *line;

	while (!s->found && key_line_next(text, n, &cursor, &line)) {
		search_line(s, path, ++number, line);
		free(line);
	}
}

static void search_file(struct search *s, const char *path)
{
	const struct account *a = s->q->account;
	struct err e = { 0 };
	struct stat st;
	char *text;
	size_t n;
	/* Not blocking: it may be a FIFO. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

	if (fd < 0) {
		log_debug("could not open authorized keys %s: %s", path, strerror(errno));
		return;
	}
	if (s->q->options->strict_modes && path_check_secure(fd, path, a->uid, a->home, &e) < 0)
		log_info("Authentication refused: %s", err_text(&e));
	else if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		log_info("authorized keys %s is not a regular file", path);
	else if (path_read_fd(fd, KEY_FILE_MAX, &text, &n, &e) < 0)
		log_info("authorized keys %s: %s", path, err_text(&e));
	else {
		search_text(s, path, text, n);
		free(text);
	}
	close(fd);
}

/* Patterns are expanded as the user, who may see less than root does. */
static void search_pattern(struct search *s, const char *path)
{
	glob_t g;
	int rc;

	if (strpbrk(path, "*?[") == NULL) {
		search_file(s, path);
		return;
	}
	rc = glob(path, 0, NULL, &g);
	for (size_t i = 0; rc == 0 && i < g.gl_pathc && !s->found; i++)
		search_file(s, g.gl_pathv[i]);
	if (rc == 0)
		globfree(&g);
}

/* "%h/.ssh/keys" and "keys" (under the home) to a path. Allocated; NULL after a log line. */
static char *user_path(const struct account *a, const char *template)
{
	char uid[32];
	struct path_token tokens[] = { { 'h', a->home }, { 'u', a->name }, { 'U', uid }, { 0, NULL } };
	struct err e = { 0 };
	char *tilde = path_expand_tilde(template, a->home, &e);
	char *path;

	(void)snprintf(uid, sizeof(uid), "%lu", (unsigned long)a->uid);
	path = tilde != NULL ? path_expand_tokens(tilde, tokens, &e) : NULL;
	free(tilde);
	if (path == NULL) {
		log_error("AuthorizedKeysFile %s: %s", template, err_text(&e));
		return NULL;
	}
	if (*path != '/') {
		char *under_home = str_printf("%s/%s", a->home, path);
		free(path);
		path = under_home;
	}
	return path;
}

static int search_as_user(struct search *s)
{
	const struct str_list *files = &s->q->options->authorized_keys_file;
	struct privdrop_id id = account_id(s->q->account);
	struct privdrop_saved saved;

	if (privdrop_assume(&saved, &id, s->e) < 0)
		return ERR_DENIED;
	for (size_t i = 0; i < files->count && !s->found; i++) {
		char *path = user_path(s->q->account, files->v[i]);

		if (path != NULL)
			search_pattern(s, path);
		free(path);
	}
	if (privdrop_return(&saved, s->e) < 0)
		abort();         /* neither the user nor root: nothing may go on like this */
	return 0;
}

/* ---- revoked keys */

/* A file that cannot be read, or understood, revokes everything: an attacker must not gain by spoiling it. */
static bool file_revokes(const char *path, const struct key *key)
{
	struct err e = { 0 };
	int rc = key_revoked_by_file(path, key, &e);

	if (rc != 0 && rc != ERR_DENIED)
		log_error("RevokedKeys: %s: all keys are refused", err_text(&e));
	return rc != 0;
}

static bool is_revoked(const struct authorized_query *q, const char *text)
{
	const struct str_list *files = &q->options->revoked_keys;

	for (size_t i = 0; i < files->count; i++)
		if (file_revokes(files->v[i], q->key)) {
			log_error("Authentication key %s revoked by file %s", text, files->v[i]);
			return true;
		}
	return false;
}

int authorized_find(const struct authorized_query *q, struct key_options *out, struct err *e)
{
	struct view blob = key_blob(q->key);
	struct search s = { .q = q, .out = out, .e = e };
	int rc = 0;

	key_options_init(out);
	s.text = authorized_key_text(q->key, q->options);
	s.base64 = str_base64_encode(blob.p, blob.n);
	if (is_revoked(q, s.text))
		rc = err_set(e, ERR_DENIED, "the key is revoked");
	if (rc == 0)
		rc = search_as_user(&s);
	if (rc == 0 && !s.found)
		rc = s.denied ? err_set(e, ERR_DENIED, "the options of the key forbid it") :
			err_set(e, ERR_NONE_FOUND, "the key is not authorized");
	free(s.text);
	free(s.base64);
	if (rc < 0)
		key_options_clear(out);
	return rc;
}

/* ---- several keys */

static void merge_list(struct str_list *dst, const struct str_list *src)
{
	for (size_t i = 0; i < src->count; i++)
		if (!str_list_has(dst, src->v[i]))
			str_list_add(dst, src->v[i]);
}

/* Both lists must allow; only entries that stand in both are sure to. An empty list allows everything. */
static void intersect_list(struct str_list *dst, const struct str_list *src)
{
	struct str_list both = { 0 };

	if (src->count == 0)
		return;
	if (dst->count == 0) {
		str_list_copy(dst, src);
		return;
	}
	for (size_t i = 0; i < dst->count; i++)
		if (str_list_has(src, dst->v[i]))
			str_list_add(&both, dst->v[i]);
	if (both.count == 0)
		str_list_add(&both, "none:0");   /* matches no request */
	str_list_clear(dst);
	*dst = both;
}

int key_options_restrict(struct key_options *o, const struct key_options *more, struct err *e)
{
	if (o->command != NULL && more->command != NULL && strcmp(o->command, more->command) != 0)
		return err_set(e, ERR_DENIED, "two keys force different commands");
	if (o->command == NULL && more->command != NULL)
		o->command = mem_strdup(more->command);
	o->agent_forwarding &= more->agent_forwarding;
	o->port_forwarding &= more->port_forwarding;
	o->pty &= more->pty;
	o->user_rc &= more->user_rc;
	o->x11_forwarding &= more->x11_forwarding;
	merge_list(&o->environment, &more->environment);
	intersect_list(&o->permit_open, &more->permit_open);
	intersect_list(&o->permit_listen, &more->permit_listen);
	if (more->valid_before != 0 && (o->valid_before == 0 || more->valid_before < o->valid_before))
		o->valid_before = more->valid_before;
	if (o->tunnel == -1)
		o->tunnel = more->tunnel;
	return 0;
}
