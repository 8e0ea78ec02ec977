/* keys/known_hosts.c: reading the files of host keys, and the verdict. Writing: known_hosts_write.c. */
#include "keys/known_hosts.h"

#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/match.h"
#include "base/mem.h"
#include "base/path.h"
#include "crypto/digest.h"
#include "crypto/rand.h"
#include "keys/key_line.h"

enum { SALT_SIZE = 20, HASH_SIZE = 20, FILE_MAX = 64 * 1024 * 1024, DEFAULT_PORT = 22 };
#define HASH_MAGIC "|1|"

char *known_hosts_name(const char *host, uint16_t port)
{
	char *name = port == DEFAULT_PORT || port == 0 ? mem_strdup(host) : str_printf("[%s]:%u", host, port);

	str_lower(name);
	return name;
}

static char *hash_with_salt(const uint8_t salt[SALT_SIZE], const char *name)
{
	uint8_t hash[HASH_SIZE];
	char *salt64, *hash64, *s;

	if (digest_hmac(DIGEST_SHA1, salt, SALT_SIZE, name, strlen(name), hash) != 0)
		return NULL;
	salt64 = str_base64_encode(salt, SALT_SIZE);
	hash64 = str_base64_encode(hash, HASH_SIZE);
	s = str_printf(HASH_MAGIC "%s|%s", salt64, hash64);
	free(salt64);
	free(hash64);
	return s;
}

char *known_hosts_hash_name(const char *name)
{
	uint8_t salt[SALT_SIZE];

	rand_bytes(salt, sizeof(salt));
	return hash_with_salt(salt, name);
}

/* The field is `|1|salt|hash`; compared as text, like it was written. */
static bool hashed_field_matches(const char *field, const char *name)
{
	const char *salt64 = field + strlen(HASH_MAGIC);
	size_t n = strcspn(salt64, "|");
	uint8_t salt[SALT_SIZE + 8];
	char *again;
	bool same;

	/* 28 characters hold 20 bytes; more would not fit. */
	if (salt64[n] != '|' || n != 28 || str_base64_decode(salt64, n, salt) != SALT_SIZE)
		return false;
	again = hash_with_salt(salt, name);
	same = again != NULL && strcmp(again, field) == 0;
	free(again);
	return same;
}

static bool field_matches(const char *field, const char *name)
{
	if (*field == '|')
		return str_starts(field, HASH_MAGIC) && hashed_field_matches(field, name);
	return match_list(name, field, true) == 1;
}

/* One line cut into its first parts; `rest` starts at the key type. */
struct host_line { int marker; char *field; const char *rest; };

/* ERR_NONE_FOUND: blank, comment. ERR_PEER: not a line of this file. */
static int host_line_split(const char *line, struct host_line *l, struct err *e)
{
	const char *s = key_line_skip_blanks(line);
	size_t n;

	l->marker = KNOWN_PLAIN;
	if (*s == '\0' || *s == '#')
		return ERR_NONE_FOUND;
	if (*s == '@') {
		n = strcspn(s, " \t");
		if (str_is(s, n, "@cert-authority"))
			l->marker = KNOWN_CA;
		else if (str_is(s, n, "@revoked"))
			l->marker = KNOWN_REVOKED;
		else
			return err_set(e, ERR_PEER, "unknown marker");
		s = key_line_skip_blanks(s + n);
		if (*s == '@')
			return err_set(e, ERR_PEER, "more than one marker");
	}
	n = strcspn(s, " \t");
	if (n == 0)
		return err_set(e, ERR_PEER, "no host names");
	l->rest = key_line_skip_blanks(s + n);
	if (*l->rest == '\0')
		return err_set(e, ERR_PEER, "no key");
	l->field = mem_strndup(s, n);
	return 0;
}

static void entry_add(struct known_hosts *k, const struct known_hosts_entry *entry)
{
	k->v = mem_resize(k->v, k->count + 1, sizeof(*k->v));
	k->v[k->count++] = *entry;
}

/* What scan() does with each usable line. */
typedef void line_fn(void *ctx, const struct host_line *l, const struct known_hosts_entry *entry);
struct scan { bool (*wanted)(void *ctx, const struct host_line *l); line_fn *found; void *ctx; };

static void scan_line(const struct scan *s, const char *path, unsigned number, const char *line)
{
	struct known_hosts_entry entry = { .path = path, .line = number };
	struct host_line l = { 0 };
	struct err inner = { 0 };
	const char *rest;
	int rc = host_line_split(line, &l, &inner);

	if (rc == 0 && s->wanted(s->ctx, &l)) {
		rest = l.rest;
		rc = key_line_read(&rest, &entry.key, &entry.key_type, &inner);
		if (rc == 0 || rc == ERR_NONE_FOUND) {
			entry.marker = l.marker;
			s->found(s->ctx, &l, &entry);
		}
	}
	if (rc == ERR_PEER)
		log_debug("%s:%u: line ignored: %s", path, number, err_text(&inner));
	free(l.field);
}

static void scan_text(const struct scan *s, const char *path, const char *text, size_t n)
{
	size_t cursor = 0;
	unsigned number = 0;
	char *line;

	while (key_line_next(text, n, &cursor, &line)) {
		number++;
		if (line != NULL)
			scan_line(s, path, number, line);
		else
			log_info("%s:%u: line ignored: %s", path, number, KEY_LINE_ZERO);
		free(line);
	}
}

static int scan_file(const struct scan *s, const char *path, struct err *e)
{
	struct err inner = { 0 };
	char *text;
	size_t n;
	int rc = path_read_file(path, FILE_MAX, &text, &n, &inner);

	if (rc == ERR_IO) {
		log_debug2("%s", err_text(&inner));
		return 0;
	}
	if (rc != 0)
		return err_set(e, rc, "%s", err_text(&inner));
	scan_text(s, path, text, n);
	free(text);
	return 0;
}

struct load { const char *name; struct known_hosts *out; };

static bool load_wants(void *ctx, const struct host_line *l)
{
	const struct load *load = ctx;

	return field_matches(l->field, load->name);
}

static void load_found(void *ctx, const struct host_line *l, const struct known_hosts_entry *entry)
{
	struct load *load = ctx;

	entry_add(load->out, entry);
}

int known_hosts_load(const struct str_list *paths, const char *name, struct known_hosts *out, struct err *e)
{
	struct load load = { name, out };
	struct scan scan = { load_wants, load_found, &load };
	int rc = 0;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < paths->count && rc == 0; i++)
		rc = scan_file(&scan, paths->v[i], e);
	if (rc != 0)
		known_hosts_free(out);
	return rc;
}

void known_hosts_load_text(const char *label, const char *text, size_t n, const char *name, struct known_hosts *out)
{
	struct load load = { name, out };
	struct scan scan = { load_wants, load_found, &load };

	scan_text(&scan, label, text, n);
}

void known_hosts_free(struct known_hosts *k)
{
	for (size_t i = 0; i < k->count; i++) {
		key_free(k->v[i].key);
		free(k->v[i].key_type);
	}
	free(k->v);
	memset(k, 0, sizeof(*k));
}

static const struct known_hosts_entry *find_equal(const struct known_hosts *k, const struct key *key, int marker)
{
	for (size_t i = 0; i < k->count; i++)
		if ((int)k->v[i].marker == marker && k->v[i].key != NULL && key_equal_public(k->v[i].key, key))
			return &k->v[i];
	return NULL;
}

/* The unmarked line that a changed key contradicts: one of the same type if there is one. */
static const struct known_hosts_entry *find_other(const struct known_hosts *k, const struct key *key)
{
	const struct known_hosts_entry *any = NULL;

	for (size_t i = 0; i < k->count; i++) {
		if (k->v[i].marker != KNOWN_PLAIN)
			continue;
		if (strcmp(k->v[i].key_type, key_type_name(key)) == 0)
			return &k->v[i];
		if (any == NULL)
			any = &k->v[i];
	}
	return any;
}

enum known_hosts_verdict known_hosts_check(const struct known_hosts *k, const struct key *key,
	const struct known_hosts_entry **entry)
{
	const struct known_hosts_entry *found;
	enum known_hosts_verdict verdict = KNOWN_HOSTS_NEW;

	/* Revocation wins over every other line, wherever it stands. */
	if ((found = find_equal(k, key, KNOWN_REVOKED)) != NULL)
		verdict = KNOWN_HOSTS_REVOKED;
	else if ((found = find_equal(k, key, KNOWN_PLAIN)) != NULL)
		verdict = KNOWN_HOSTS_OK;
	else if ((found = find_other(k, key)) != NULL)
		verdict = KNOWN_HOSTS_CHANGED;
	if (entry != NULL)
		*entry = found;
	return verdict;
}

struct others { const struct key *key; struct str_list *out; };

static bool others_want(void *ctx, const struct host_line *l)
{
	const struct others *o = ctx;

	return l->marker == KNOWN_PLAIN && str_starts(l->rest, key_type_name(o->key));
}

static void others_found(void *ctx, const struct host_line *l, const struct known_hosts_entry *entry)
{
	struct others *o = ctx;

	if (entry->key != NULL && key_equal_public(entry->key, o->key))
		str_list_add_take(o->out, str_printf("%s:%u: %s", entry->path, entry->line,
			*l->field == '|' ? "[hashed name]" : l->field));
	key_free(entry->key);
	free(entry->key_type);
}

void known_hosts_other_names(const struct str_list *paths, const struct key *key, struct str_list *out)
{
	struct others o = { key, out };
	struct scan scan = { others_want, others_found, &o };

	for (size_t i = 0; i < paths->count; i++)
		if (scan_file(&scan, paths->v[i], NULL) != 0)
			log_debug("%s: not read", paths->v[i]);
}
