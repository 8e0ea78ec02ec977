/* client/peer_memory.c: the file of what is known about servers. Layer: client.
 *
 * Fields of a line, separated by one blank: hash, kind, kex, host key, guess, method, key, alg, before, first; older files lack
 * the last. "-" is empty. */
#include "client/peer_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/own_file.h"
#include "base/str.h"
#include "crypto/digest.h"
#include "crypto/rand.h"
#include "wire/buf.h"

#define MAGIC "wirespeed-peers"
#define FORMAT "1"

enum {
	FIELDS = 10, FIELDS_OLD = 9,
	LINE_MAX_BYTES = 700,
	HEAD_FIELDS = 3,
	/* Records this near the front are not moved there: no write for every connection. */
	FRONT = 64
};

static const char *const kinds[] = {
	[PEER_OTHER] = "other", [PEER_WIRESPEED] = "wirespeed", [PEER_OPENSSH] = "openssh", [PEER_HPN] = "hpn"
};
static const char *const firsts[] = { [PEER_FIRST_UNKNOWN] = "-", [PEER_FIRST_ZERO] = "0", [PEER_FIRST_OTHER] = "other" };

void peer_memory_clear(struct peer_memory *m)
{
	free(m->v);
	*m = (struct peer_memory){ .salted = false };
}

/* ---- reading ---- */

/* One line into fields, cut up in place: how many, 0 if that is more than `most` or one is empty. */
static size_t split_fields(char *line, char **fields, size_t most)
{
	size_t count = 0;
	char *field;

	while ((field = strsep(&line, " ")) != NULL) {
		if (count == most || *field == '\0')
			return 0;
		fields[count++] = field;
	}
	return count;
}

static bool is_plain(const char *s)
{
	for (; *s != '\0'; s++)
		if (*s <= ' ' || *s > '~')
			return false;
	return true;
}

/* "-" is "". */
static bool take_field(char *dst, size_t size, const char *field)
{
	return is_plain(field) && str_copy(dst, size, strcmp(field, "-") == 0 ? "" : field);
}

/* Which of the names; count: none. */
static size_t find_name(const char *const *names, size_t count, const char *s)
{
	size_t i = 0;

	while (i < count && strcmp(s, names[i]) != 0)
		i++;
	return i;
}

static bool take_record(struct peer_entry *out, char *line)
{
	struct peer_record *r = &out->record;
	char *f[FIELDS];
	size_t count = split_fields(line, f, FIELDS), kind, first;

	memset(out, 0, sizeof(*out));
	if (count < FIELDS_OLD || !str_unhex(f[0], out->hash, sizeof(out->hash)))
		return false;
	kind = find_name(kinds, MEM_COUNT(kinds), f[1]);
	first = count == FIELDS ? find_name(firsts, MEM_COUNT(firsts), f[9]) : PEER_FIRST_UNKNOWN;
	if (kind == MEM_COUNT(kinds) || first == MEM_COUNT(firsts))
		return false;
	r->kind = (enum peer_kind)kind;
	r->first = (enum peer_first)first;
	if (strcmp(f[4], "yes") != 0 && strcmp(f[4], "no") != 0)
		return false;
	r->guess = f[4][0] == 'y';
	return take_field(r->kex, sizeof(r->kex), f[2]) && take_field(r->host_key, sizeof(r->host_key), f[3]) &&
		take_field(r->login.method, sizeof(r->login.method), f[5]) &&
		take_field(r->login.key, sizeof(r->login.key), f[6]) && take_field(r->login.alg, sizeof(r->login.alg), f[7]) &&
		take_field(r->login.before, sizeof(r->login.before), f[8]);
}

static bool take_head(struct peer_memory *m, char *line)
{
	char *f[HEAD_FIELDS];

	return split_fields(line, f, HEAD_FIELDS) == HEAD_FIELDS && strcmp(f[0], MAGIC) == 0 && strcmp(f[1], FORMAT) == 0 &&
		str_unhex(f[2], m->salt, sizeof(m->salt));
}

static bool add_line(void *ctx, char *line)
{
	struct peer_memory *m = ctx;

	if (m->count == PEER_MEMORY_RECORDS_MAX || !take_record(&m->v[m->count], line))
		return false;
	m->count++;
	return true;
}

int peer_memory_parse(struct peer_memory *m, const char *text, size_t n, struct err *e)
{
	char line[LINE_MAX_BYTES];
	size_t bad;

	*m = (struct peer_memory){ .salted = true };
	if (str_next_line(&text, &n, line, sizeof(line)) != 1 || !take_head(m, line)) {
		*m = (struct peer_memory){ .salted = false };
		return err_set(e, ERR_PEER, "not a file of this kind and version");
	}
	m->v = mem_array(PEER_MEMORY_RECORDS_MAX, sizeof(*m->v));
	bad = str_each_line(text, n, (struct str_line_room){ line, sizeof(line) }, add_line, m);
	if (bad == 0)
		return 0;
	err_set(e, ERR_PEER, "line %zu is not understood", bad + 1);
	peer_memory_clear(m);
	return ERR_PEER;
}

void peer_memory_load(struct peer_memory *m, const char *path)
{
	struct err e = { 0 };
	char *text = NULL;
	size_t n = 0;

	*m = (struct peer_memory){ .salted = false };
	if (own_file_read(path, PEER_MEMORY_FILE_MAX, &text, &n, &e) < 0 || peer_memory_parse(m, text, n, &e) < 0)
		log_debug2("peer memory %s: %s", path, err_text(&e));
	free(text);
}

/* ---- looking up ---- */

static void hash_name(const struct peer_memory *m, const struct peer_name *who, uint8_t out[PEER_MEMORY_HASH])
{
	char *name = str_printf("%s\n%s\n%u", who->user, who->host, who->port);
	uint8_t hash[DIGEST_MAX] = { 0 };

	if (digest_hmac(DIGEST_SHA256, m->salt, sizeof(m->salt), name, strlen(name), hash) < 0)
		memset(hash, 0, sizeof(hash));
	memcpy(out, hash, PEER_MEMORY_HASH);
	free(name);
}

static size_t find(const struct peer_memory *m, const uint8_t hash[PEER_MEMORY_HASH])
{
	size_t i = 0;

	while (i < m->count && memcmp(m->v[i].hash, hash, PEER_MEMORY_HASH) != 0)
		i++;
	return i;
}

const struct peer_record *peer_memory_find(const struct peer_memory *m, const struct peer_name *who)
{
	uint8_t hash[PEER_MEMORY_HASH];
	size_t i;

	if (m->count == 0)
		return NULL;
	hash_name(m, who, hash);
	i = find(m, hash);
	return i < m->count ? &m->v[i].record : NULL;
}

/* ---- changing ---- */

static bool record_equal(const struct peer_record *a, const struct peer_record *b)
{
	return a->kind == b->kind && a->guess == b->guess && a->first == b->first && strcmp(a->kex, b->kex) == 0 &&
		strcmp(a->host_key, b->host_key) == 0 && strcmp(a->login.method, b->login.method) == 0 &&
		strcmp(a->login.key, b->login.key) == 0 && strcmp(a->login.alg, b->login.alg) == 0 &&
		strcmp(a->login.before, b->login.before) == 0;
}

bool peer_memory_put(struct peer_memory *m, const struct peer_name *who, const struct peer_record *r)
{
	struct peer_entry new = { .record = *r };
	size_t at;

	if (!m->salted) {
		rand_bytes(m->salt, sizeof(m->salt));
		m->salted = true;
	}
	if (m->v == NULL)
		m->v = mem_array(PEER_MEMORY_RECORDS_MAX, sizeof(*m->v));
	hash_name(m, who, new.hash);
	at = find(m, new.hash);
	if (at < FRONT && at < m->count && record_equal(&m->v[at].record, r))
		return false;
	if (at == m->count && m->count < PEER_MEMORY_RECORDS_MAX)
		m->count++;
	else if (at == m->count)
		at--;            /* the oldest makes room */
	memmove(m->v + 1, m->v, at * sizeof(*m->v));
	m->v[0] = new;
	return true;
}

/* ---- writing ---- */

static const char *shown(const char *field)
{
	return *field != '\0' ? field : "-";
}

char *peer_memory_text(const struct peer_memory *m)
{
	struct buf b = BUF_INIT(PEER_MEMORY_FILE_MAX * 2);
	char *hex = str_hex(m->salt, sizeof(m->salt)), *text;

	buf_printf(&b, MAGIC " " FORMAT " %s\n", hex);
	free(hex);
	for (size_t i = 0; i < m->count; i++) {
		const struct peer_record *r = &m->v[i].record;

		hex = str_hex(m->v[i].hash, PEER_MEMORY_HASH);
		buf_printf(&b, "%s %s %s %s %s %s %s %s %s %s\n", hex, kinds[r->kind], shown(r->kex), shown(r->host_key),
			r->guess ? "yes" : "no", shown(r->login.method), shown(r->login.key), shown(r->login.alg),
			shown(r->login.before), firsts[r->first]);
		free(hex);
	}
	text = mem_strndup((const char *)b.data, b.size);
	buf_free(&b);
	return text;
}

void peer_memory_store(const char *path, const struct peer_name *who, const struct peer_record *r)
{
	struct peer_memory m;
	struct err e = { 0 };
	char *text;

	peer_memory_load(&m, path);
	if (peer_memory_put(&m, who, r)) {
		text = peer_memory_text(&m);
		if (own_file_replace(path, text, &e) < 0)
			log_debug2("peer memory %s is not written: %s", path, err_text(&e));
		free(text);
	}
	peer_memory_clear(&m);
}

char *peer_memory_path(const char *home)
{
	return own_file_cache_path(home, "peers");
}
